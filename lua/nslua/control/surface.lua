-- nslua.control.surface: the output of a relay that acts on mechanics,
-- sigma = velocity . v + position . (q - target).
--
--   local sigma = ns.SlidingSurfaceR({ 1 }, { 2 })                                   -- v + 2 q
--   nsds:link(ns.Interaction(ns.JointFrictionNSL(1, 0, 0, U), sigma, "relay"), ds)   -- a force -U sgn(sigma)
--
-- A relation of mechanics gives laws the rate of its output, H v + hDot: here H = velocity, and hDot is
-- position . (q - target). The force acts along H, too: H' lambda.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"

local who = "SlidingSurfaceR"

local function row(value, what, n)
  local good, v = where.try(core.vector, type(value) == "number" and { value } or value)
  if not good or value == nil then
    arguments.fail("%s: %s: expected a list of numbers, got %s", who, what, arguments.describe(value))
  end
  if #v == 0 then arguments.fail("%s: %s: expected a list of numbers, got an empty one", who, what) end
  for i = 1, #v do
    if v[i] - v[i] ~= 0 then arguments.fail("%s: %s[%d] is %s", who, what, i, arguments.describe(v[i])) end
  end
  if n and #v ~= n then arguments.fail("%s: %s: expected %d numbers, got %d", who, what, n, #v) end
  return v:totable()
end

local function SlidingSurfaceR(velocity, position, target)
  velocity = row(velocity, "velocity")
  if core.vector(velocity):norm(math.huge) == 0 then
    arguments.fail("%s: velocity: expected a number other than 0 among them: the force acts along it", who)
  end
  position = row(position, "position", #velocity)
  target = target == nil and core.zeros(#velocity):totable() or row(target, "target", #velocity)
  local n = #velocity
  return core.LagrangianRheonomousR {
    h = function(_, q, _, y)
      local sum = 0
      for i = 1, n do sum = sum + velocity[i] * q[i] end
      y[1] = sum
    end,
    hDot = function(_, q, _, rate)
      local sum = 0
      for i = 1, n do sum = sum + position[i] * (q[i] - target[i]) end
      rate[1] = sum
    end,
    Jachq = function(_, _, _, C)
      for i = 1, n do C[1][i] = velocity[i] end
    end,
    dotJachq = function() end, -- H is constant; the rate of hDot comes by dual numbers
    states = n, name = "sliding surface",
  }
end

return { SlidingSurfaceR = SlidingSurfaceR }
