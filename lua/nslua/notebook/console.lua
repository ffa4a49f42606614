-- nslua.notebook.console: the command `nslua --console`, which starts `jupyter console` with this interpreter as its
-- kernel. Returns a function of the arguments (see nslua.notebook.install), which are passed on to jupyter.

local _ENV = require "nslua.base.env"()
local core = require "nslua.core"
local install = require "nslua.notebook.install"

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function fail(message)
  io.stderr:write("nslua --console: ", message, "\n")
  return false
end

return function(arguments)
  local run = core.process_support.run
  local found = run { "jupyter", "console", "--version" }
  if not found or found.status ~= 0 then
    return fail "there is no jupyter console: sudo apt-get install jupyter-console"
  end
  local made, message = run { "mktemp", "-d" }
  if not made or made.status ~= 0 then return fail(message or made.err) end
  local folder = made.out:gsub("\n$", "")
  local good, problem = install.write(folder .. "/kernels/nslua", arguments.program)
  local done = false
  if good then
    local path = "JUPYTER_PATH=" .. quote(folder) .. '"${JUPYTER_PATH:+:$JUPYTER_PATH}"'
    local words = { path, "NSLUA_PICTURES=text PYDEVD_DISABLE_FILE_VALIDATION=1 jupyter console --kernel nslua" }
    for _, word in ipairs(arguments) do words[#words + 1] = quote(word) end
    done = os.execute(table.concat(words, " ")) and true or false
  end
  run { "rm", "-rf", "--", folder }
  return good and done or not good and fail(problem)
end
