-- The simplest walking model (Garcia and others 1998) on a slope of 0.009: theta'' = sin(theta - gamma),
-- phi'' = theta'' + (theta'^2 - cos(theta - gamma)) sin phi; heel strike at phi = 2 theta, theta < 0, where the legs change
-- their parts. The orbit of the map from one strike to the next.
local ns = require "nslua"

local gamma = 0.009
local function walk(_, x)
  local swing = math.sin(x[1] - gamma)
  return { x[2], swing, x[4], swing + (x[2] ^ 2 - math.cos(x[1] - gamma)) * math.sin(x[3]) }
end
local strike = { name = "strike", direction = 1, g = function(_, x) return x[3] - 2 * x[1] end,
  apply = function(_, x)
    if x[1] > -0.05 then return nil end -- the legs pass each other
    local c = math.cos(2 * x[1])
    return { -x[1], c * x[2], -2 * x[1], c * (1 - c) * x[2] }
  end }
local gait = ns.dynamics.periodic { rhs = walk, events = strike, guess = { 0.2, -0.2, 0.4, -0.016 }, section = "strike" }
local m = gait.multipliers
return { state = { gait.x0[1], gait.x0[2] }, step_time = gait.T, multipliers = { { m[1].re, m[1].im }, { m[2].re, m[2].im } } }
