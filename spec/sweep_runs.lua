-- Scripts with a sweep, run as processes of their own, for the specs of sweeps.
local host = require "host"

local runs = {}

-- A script: the head, then the body. `file` is its first argument.
runs.head = [[
local ns = require "nslua"
local file, workers = arg[1], tonumber(arg[2] or 2)
]]

-- Writes a script into a directory; returns run(arguments [, before [, after]]), which gives output, errors and status.
-- before: words before the interpreter; after: words behind the arguments ("&").
function runs.script(directory, body, name)
  local path = directory .. "/" .. (name or "script.lua")
  host.write(path, runs.head .. body)
  return function(arguments, before, after)
    return host.run(("cd %s || exit; %s %s %s %s %s"):format(host.quote(directory), before or "", host.quote(host.nslua),
      name or "script.lua", arguments or "", after or ""))
  end
end

-- The bytes of a result file and of its errors.
function runs.bytes(path) return host.read(path), host.read(path .. ".errors") end

return runs
