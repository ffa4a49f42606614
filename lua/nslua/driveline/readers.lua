-- nslua.driveline.readers: what parts of drivelines take: motions, capacities, characteristics, curves. They are
-- checks as nslua.network.drawing calls them.
--
-- A motion has position(t), speed(t) and acceleration(t). A speed that has no integral in closed form has no
-- position(t): it is a state of the model.

local arguments = require "nslua.base.arguments"
local values = require "nslua.network.values"

local fail, reject = arguments.fail, arguments.reject

local readers = { not_negative = values.at_least(0) }
local not_negative = readers.not_negative

local function rate_of(source)
  if type(source.f) == "function" then return source.f end
  return function() return source.f end
end

-- A motion by its speed, which does not jump.
function readers.by_speed(value, who, _, part, _, ns)
  local source = values.read(value, who, nil, ns)
  if not source.slope then fail("%s: expected a speed that does not jump, got %s", who, source.is) end
  part.source = source
  return { position = source.integral, speed = rate_of(source), acceleration = source.slope, part = part }
end

-- A motion by its position, whose speed does not jump.
function readers.by_position(value, who, _, part, _, ns)
  local source = values.read(value, who, nil, ns)
  if not source.second then
    fail("%s: expected a number, a function or a sine, whose speed does not jump, got %s", who, source.is)
  end
  part.source = source
  return { position = rate_of(source), speed = source.slope, acceleration = source.second, part = part }
end

-- A number, or a function of time that gives numbers from 0 on; part.source becomes its source. A jump gives the
-- larger number.
function readers.capacity(value, who, name, part)
  local source = values.read(value, who, name)
  local f, jump = source.f, source.jump
  part.source = source
  if jump then return math.max(not_negative(jump.before, who, name), not_negative(jump.after, who, name)) end
  if type(f) == "number" then return not_negative(f, who, name) end
  if type(value) == "function" then f = value end -- checked here, with the time
  return function(t)
    local now = f(t)
    if type(now) == "number" and now >= 0 then return now end
    reject(true, now, "%s: %s: t=%g: expected a number of 0 or more", who, name, t)
  end
end

-- A number that is not negative, or a function.
function readers.characteristic(value, who, name)
  if type(value) == "function" then return values.checked(value, who, name) end
  return not_negative(value, who, name)
end

-- A curve over the size of a speed, or nil: a function, or points { speeds =, values = }.
function readers.curve(value, who)
  if value == nil or type(value) == "function" then return value end
  arguments.expect(value, "table", "%s: curve: expected a function or a table", who)
  local o = values.fields(value, "speeds values", who)
  return values.read({ times = o.speeds or {}, values = o.values }, who .. ": curve").f
end

-- The torque of a curve at a speed over the torque at rest, less 1.
function readers.over_rest(value, who)
  local curve = readers.curve(value, who)
  if not curve then return nil end
  local rest = values.positive(curve(0), who, "curve at speed 0")
  return function(speed) return curve(speed) / rest - 1 end
end

function readers.effort(value, who, _, part)
  part.source = values.read(value, who)
  return part.source.jump and part.source.jump.before or part.source.f
end

function readers.radius(value, who, _, part)
  local radii = part.radii or {}
  radii[#radii + 1] = values.not_zero(value, who, "radius")
  return radii
end

function readers.check_pull(part, who)
  if part.grip ~= nil and (part.stiffness or part.damping) then
    fail("%s: expected grip or stiffness, got both", who)
  end
end

return readers
