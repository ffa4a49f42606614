-- nslua.driveline.motions: the motions of sources: position(t), speed(t), acceleration(t). A speed that has no
-- integral in closed form has no position(t): it is a state of the model.

local arguments = require "nslua.base.arguments"
local values = require "nslua.network.values"

local fail = arguments.fail

local motions = {}

local function rate_of(source)
  if type(source.f) == "function" then return source.f end
  return function() return source.f end
end

-- A motion by its speed, which does not jump.
function motions.by_speed(ns, value, who)
  local source = values.read(value, who, nil, ns)
  if not source.slope then fail("%s: expected a speed that does not jump, got %s", who, source.is) end
  return { position = source.integral, speed = rate_of(source), acceleration = source.slope }, source
end

-- A motion by its position, whose speed does not jump.
function motions.by_position(ns, value, who)
  local source = values.read(value, who, nil, ns)
  if not source.second then
    fail("%s: expected a number, a function or a sine, whose speed does not jump, got %s", who, source.is)
  end
  return { position = rate_of(source), speed = source.slope, acceleration = source.second }, source
end

return motions
