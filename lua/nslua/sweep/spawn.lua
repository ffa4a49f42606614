-- nslua.sweep.spawn: workers that run the script anew, up to the sweep that they work for, on other machines.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local settings = require "nslua.sweep.settings"

local fail = arguments.fail

local spawn = {}

-- The command that runs this script again, as a worker of its sweep number `ordinal`.
local function command_of(ordinal)
  local words, first = { "env", "NSLUA_SWEEP_WORKER=" .. ordinal }, -1
  local given = settings.command or settings.words
  if not given[0] then fail "sweep: this process runs no script: its workers can not be started" end
  while given[first - 1] do first = first - 1 end
  for i = first, #given do words[#words + 1] = given[i] end
  return words
end

-- Starts a worker of this machine. Returns its handle, or nil and a message.
function spawn.start(ordinal) return core.worker_support.spawn(command_of(ordinal)) end

-- In a process that was started as a worker: keeps quiet what the script prints on its way to the sweep.
function spawn.hush()
  local methods, print = getmetatable(io.stdout).__index, rawget(_G, "print")
  local function_write, method_write = io.write, methods.write
  rawset(_G, "print", function() end)
  rawset(io, "write", function(...) return io.output():write(...) end)
  function methods.write(file, ...) return file == io.stdout and file or method_write(file, ...) end
  function spawn.speak()
    rawset(_G, "print", print)
    rawset(io, "write", function_write)
    methods.write = method_write
  end
end

-- The end of that, when there was any.
function spawn.speak() end

return spawn
