-- nslua.notebook.install: the command `nslua kernel install [--user | --prefix DIR]`, which makes nslua known to
-- Jupyter. Returns a table that is called with the arguments, a list with the path of the interpreter under
-- `program`; it returns whether all went well.

local _ENV = require "nslua.base.env"()
local core = require "nslua.core"
local html = require "nslua.web.html"

local run = core.process_support.run

local install = {}

local _, here = ...
local directory = here:match "^(.*[/\\])" or "./"

local USAGE = [[
usage: nslua kernel install [--user | --prefix DIR]
  --user         for this user (the default): ~/.local/share/jupyter
  --prefix DIR   for all who use DIR, as /usr/local: DIR/share/jupyter
"jupyter kernelspec remove nslua" takes it away.]]

local PACKAGES = "sudo apt-get install jupyter-notebook python3-ipykernel"

-- The path of a Python that has ipykernel; nil when there is none.
function install.python()
  for _, name in ipairs { "python3", "/usr/bin/python3" } do
    local found = run { name, "-c", "import sys, ipykernel; print(sys.executable)" }
    if found and found.status == 0 then return (found.out:match "^[^\n]+") end
  end
end

local function absolute(path)
  local found = run { "realpath", "--", path }
  return found and found.status == 0 and found.out:gsub("\n$", "") or path
end

-- The text of kernel.json: an interpreter of Python, the file of the kernel, and the program that it starts. Jupyter
-- takes its own interpreter for "python3".
function install.text(python, file, program)
  return html.json { argv = { python, file, "-f", "{connection_file}" }, display_name = "nslua", language = "lua",
    interrupt_mode = "signal", env = { NSLUA = program } } .. "\n"
end

-- Writes the files of a kernel into a folder. Returns true, or nil and a message.
function install.write(folder, program)
  local python = install.python()
  if not python then return nil, "python3 has no module ipykernel: " .. PACKAGES end
  local made, message = run { "mkdir", "-p", "--", folder }
  if not made or made.status ~= 0 then return nil, message or (made.err:gsub("\n$", "")) end
  local spec = install.text(python, absolute(directory .. "nslua_kernel.py"), program)
  local good, problem = pcall(core.process_support.save, folder .. "/kernel.json", spec)
  if not good then return nil, tostring(problem) end
  return true
end

-- The folder of a user's kernels, by the rules of Jupyter.
local function of_user()
  local data, xdg, home = os.getenv "JUPYTER_DATA_DIR", os.getenv "XDG_DATA_HOME", os.getenv "HOME"
  if data and data ~= "" then return data end
  if xdg and xdg ~= "" then return xdg .. "/jupyter" end
  return home and home ~= "" and home .. "/.local/share/jupyter" or nil
end

local function fail(message)
  io.stderr:write("nslua kernel: ", message, "\n")
  return false
end

-- The folder that the arguments ask for; nil and a message when they are wrong.
local function folder_of(arguments)
  local option, prefix = arguments[2], arguments[3]
  if option == "--prefix" and prefix and #arguments == 3 then return prefix .. "/share/jupyter" end
  if option ~= nil and (option ~= "--user" or #arguments > 2) then
    return nil, ("'%s' is not expected\n%s"):format(arguments[option == "--user" and 3 or 2], USAGE)
  end
  return of_user(), "HOME is not set: use --prefix DIR"
end

local function command(_, arguments)
  if arguments[1] ~= "install" then
    if arguments[1] == nil or arguments[1] == "--help" then return print(USAGE) or arguments[1] ~= nil end
    return fail(("'%s' is not expected\n%s"):format(arguments[1], USAGE))
  end
  local data, message = folder_of(arguments)
  if not data then return fail(message) end
  local folder = data .. "/kernels/nslua"
  local good, problem = install.write(folder, arguments.program)
  if not good then return fail(problem) end
  print("the kernel nslua is in " .. folder)
  if arguments[2] == "--prefix" then
    print("where Jupyter does not look there by itself (jupyter --paths): export JUPYTER_PATH=" .. absolute(data))
  end
  print "start it with: jupyter notebook, and New > nslua; or nslua --console"
  return true
end

return setmetatable(install, { __call = command })
