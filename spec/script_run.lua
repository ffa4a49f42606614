-- Running a script of scripts/ in a process of its own, with the columns that it writes.
local columns = require "columns"
local host = require "host"

-- Two functions for scripts/NAME.lua: script(arguments) returns its output, its errors and its status; run(arguments) adds
-- --csv, expects no error, and returns the columns and the output. It reuses an earlier run with the same arguments, except
-- with `anew`. To be called inside a describe.
return function(name, before, after)
  local directory
  before(function() directory = host.new_directory() end)
  after(function() host.remove(directory) end)
  local function script(arguments) return host.nslua_run(("scripts/%s.lua %s"):format(name, arguments)) end
  local done = {}
  local function run(arguments, anew)
    if done[arguments] and not anew then return done[arguments].columns, done[arguments].out end
    local path = directory .. "/run.csv"
    os.remove(path)
    local out, err, status = script(arguments .. " --csv " .. path)
    if err ~= "" or status ~= 0 then error(("status %s: %s"):format(status, err), 2) end
    done[arguments] = { columns = columns.read(path), out = out }
    return done[arguments].columns, out
  end
  return script, run
end
