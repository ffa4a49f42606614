-- Helpers of the specs of notebooks.
local host = require "host"
local install = require "nslua.notebook.install"

local jupyter = {}

local python = install.python()
local tested = python and select(3, host.run(python .. " -c 'import jupyter_kernel_test, nbconvert, nbformat'")) == 0

jupyter.missing = not tested and "Jupyter is not installed: make kernel" or nil

-- `it` with Jupyter, else a replacement that reports that it is not installed.
jupyter.it = tested and require "busted".it or function(name)
  require "busted".pending(("%s (%s)"):format(name, jupyter.missing))
end

-- Runs a command with the kernel of the build under test, in the root folder; "%s" in it is Python. Returns the output,
-- the error output and the exit status.
function jupyter.run(command)
  local directory = host.new_directory()
  assert(install.write(directory .. "/jupyter/kernels/nslua", host.nslua))
  local out, err, status = host.run(("cd %s && env HOME=%s JUPYTER_PATH=%s/jupyter PYDEVD_DISABLE_FILE_VALIDATION=1 %s"):format(
    host.quote(host.root), directory, directory, command:format(python)))
  host.remove(directory)
  return out, err, status
end

return jupyter
