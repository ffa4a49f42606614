-- nslua.fmi.unit: the unit in a directory of resources. The module is a function (directory, guid, kind), called by
-- fmi2Instantiate (src/fmu), that returns an instance.
local instance = require "nslua.fmi.instance"
local scripts = require "nslua.fmi.unit_script"

local WORDS = { cosimulation = "co-simulation", modelexchange = "model exchange" }

return function(directory, guid, kind)
  local unit = dofile(directory .. "/unit.lua")
  if unit.guid ~= guid then
    error(("fmi2Instantiate: the guid is %s, and the importer's is %s"):format(unit.guid, guid), 0)
  elseif not unit.kinds[kind] then
    error(("fmi2Instantiate: the unit has no %s"):format(WORDS[kind]), 0)
  end
  local model = scripts.load(directory .. "/files/" .. unit.script, unit.script, directory .. "/files")
  scripts.complete(model, unit.kinds)
  local self = instance.new(model, kind)
  self.guid = guid
  return self
end
