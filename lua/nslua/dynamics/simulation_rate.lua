-- nslua.dynamics.simulation_rate: x' of a simulation's model at a point, from the terms of its equations.
--
-- First order: x' = M^-1 (f + r(x, lambda)). Mechanics: q' = v, v' = M^-1 (f(q, v) + C' lambda). lambda are the
-- multipliers there: in mechanics forces.
local core = require "nslua.core"

local support = core.graph_support
local rates = {}

-- x' at (t, x) with the multipliers lambda; or nil and why it is not known. A model of both kinds and bodies with
-- quaternions have none here.
function rates.at(nsds, t, x, lambda)
  local systems = support.parts(nsds, t)
  local mechanical = systems[1].mechanical
  for _, system in ipairs(systems) do
    if system.turns then return nil, "a body with a quaternion" end
    if system.mechanical ~= mechanical then return nil, "systems of first order and mechanics" end
  end
  local at = support.terms(nsds, t, x, lambda, mechanical)
  local good, rate = pcall(core.solve, at.M, mechanical and #lambda > 0 and at.f + at.C:transpose() * lambda or at.f)
  if not good then return nil, "a singular M" end
  if not mechanical then return rate end
  local out, from, first = core.zeros(#x), 0, 0
  for _, system in ipairs(systems) do
    local n = system.n
    for i = 1, n do out[first + i], out[first + n + i] = x[first + n + i], rate[from + i] end
    from, first = from + n, first + 2 * n
  end
  return out
end

return rates
