-- nslua.dynamics.simulation_rate: x' of a simulation's model at a point, from the terms of its equations.
--
-- First order: x' = M^-1 (f + r(x, lambda)). Mechanics: q' = v, v' = M^-1 (f(q, v) + C' lambda). lambda are the
-- multipliers there: in mechanics forces.
local core = require "nslua.core"

local rates = {}

-- The accelerations, or x' of first order, of one system; nil where M is singular.
local function solved(system)
  local good, rate = pcall(core.solve, system.M, system.f)
  return good and rate or nil
end

-- Adds the input of an interaction to f of its systems.
local function add_input(systems, sizes, interaction, lambda)
  local input = systems[1].mechanical and interaction.C:transpose() * lambda or interaction.r
  local at = 0
  for _, k in ipairs(interaction.systems) do
    for i = 1, sizes[k] do systems[k].f[i] = systems[k].f[i] + input[at + i] end
    at = at + sizes[k]
  end
end

-- x' at (t, x) with the multipliers lambda; or nil and why it is not known. A model of both kinds and bodies with
-- quaternions have none here.
function rates.at(nsds, t, x, lambda)
  local systems, interactions = core.graph_support.terms(nsds, t, x, lambda)
  local sizes, row = {}, 0
  for k, system in ipairs(systems) do
    if system.turns then return nil, "a body with a quaternion" end
    if system.mechanical ~= systems[1].mechanical then return nil, "systems of first order and mechanics" end
    sizes[k] = #system.f
  end
  for _, interaction in ipairs(interactions) do
    local m = #interaction.y
    if m > 0 then add_input(systems, sizes, interaction, lambda:slice(row + 1, row + m)) end
    row = row + m
  end
  local out, at = core.zeros(#x), 0
  for k, system in ipairs(systems) do
    local rate = solved(system)
    if not rate then return nil, "a singular M" end
    local n = sizes[k]
    if system.mechanical then
      for i = 1, n do out[at + i], out[at + n + i] = x[at + n + i], rate[i] end
      at = at + 2 * n
    else
      for i = 1, n do out[at + i] = rate[i] end
      at = at + n
    end
  end
  return out
end

return rates
