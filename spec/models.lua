-- Simulations in one call, for specs.
local ns = require "nslua"

local models = {}

-- A graph of the systems, from t0 = 0 to T.
function models.graph(T, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs { ... } do nsds:insertDynamicalSystem(ds) end
  return nsds
end

-- simulation{ systems = { ds, ... }, links = { { law, relation, ds [, ds2] }, ... }, t0 = 0, T = 1, h = 0.1, theta =
-- 1, gamma = 1, grid = nil, relation_gamma = false, problem = nil }: the simulation, and its interactions in order.
function models.simulation(o)
  local t0, h = o.t0 or 0, o.h or 0.1
  local nsds = ns.NonSmoothDynamicalSystem(t0, o.T or 1)
  for _, ds in ipairs(o.systems) do nsds:insertDynamicalSystem(ds) end
  local interactions = {}
  for i, link in ipairs(o.links or {}) do
    interactions[i] = ns.Interaction(link[1], link[2])
    nsds:link(interactions[i], link[3], link[4])
  end
  local osi = ns.EulerMoreauOSI(o.theta or 1, o.gamma or 1)
  if o.relation_gamma then osi:setUseGammaForRelation(true) end
  local td = o.grid and ns.TimeDiscretisation(o.grid) or ns.TimeDiscretisation(t0, h)
  return ns.TimeStepping(nsds, td, osi, o.problem), interactions
end

-- A nonlinear system with a relay: state, multiplier, parameters and a step that takes several iterations.
function models.oscillator(o)
  local ds = ns.FirstOrderNonLinearDS({ 2, 0 }, function(_, x, z, f)
    f[1], f[2] = x[2], z[1] * (1 - x[1] * x[1]) * x[2] - x[1]
  end)
  ds:setzPtr(ns.vector { 1 })
  local relation = ns.FirstOrderType2R {
    h = function(_, x, _, y) y[1] = x[2] end,
    g = function(_, lambda, r) r[2] = 0.3 * lambda[1] end,
  }
  o = o or {}
  o.systems, o.links, o.T, o.theta = { ds }, { { ns.RelayNSL(1, -1, 1), relation, ds } }, 4, 0.5
  local simu, inter = models.simulation(o)
  return simu, ds, inter[1]
end

-- A simulation of x1' = -x1, x2' = -2 x2 from (1, 2), with names for the two; o: names, T (2), fail: when f raises.
function models.two_decays(names, o)
  o = o or {}
  local ds = ns.FirstOrderNonLinearDS({ 1, 2 }, function(t, x, _, f)
    if o.fail and t > o.fail then error "stop here" end
    f[1], f[2] = -x[1], -2 * x[2]
  end)
  ds:setNames(o.names or names)
  return (models.simulation { systems = { ds }, T = o.T or 2 })
end

-- A simulation by MoreauJeanOSI(0.5) of systems of mechanics with links { interaction, ds [, ds2] }, and its graph.
function models.moving(T, h, systems, links)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links or {}) do nsds:link(table.unpack(link)) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5)), nsds
end

-- The rows of a solution as one flat list of numbers, for comparing runs bit by bit.
function models.numbers(sol)
  local list = {}
  for _, name in ipairs(sol:names()) do
    for _, v in ipairs(sol:column(name):totable()) do list[#list + 1] = v end
  end
  return list
end

return models
