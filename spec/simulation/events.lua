-- Event-driven simulations in one call, for specs.
local ns = require "nslua"

local events = { g = 9.81 }

-- simulation{ systems = {..}, links = { { law, relation, name, ds [, ds2] }, .. }, T =, h =, rtol =, atol =, osi = }: the
-- simulation and its interactions by name.
function events.simulation(o)
  local nsds, interactions = ns.NonSmoothDynamicalSystem(0, o.T), {}
  for _, ds in ipairs(o.systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(o.links or {}) do
    local inter = ns.Interaction(link[1], link[2], link[3])
    nsds:link(inter, link[4], link[5])
    interactions[link[3]] = inter
  end
  local osi = o.osi or ns.RungeKuttaOSI(o.rtol, o.atol)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h or 0.1), osi, o.problem), interactions
end

-- A ball of mass m that falls from H on the floor.
function events.ball(o)
  local m = o.m or 1
  local ball = ns.LagrangianLinearTIDS({ o.H or 1 }, { o.v or 0 }, { { m } })
  ball:setFExtPtr { -m * events.g }
  local simu, inters = events.simulation { systems = { ball }, T = o.T or 3, h = o.h, osi = o.osi,
    links = { { ns.NewtonImpactNSL(o.e), ns.LagrangianLinearTIR { { 1 } }, "floor", ball } } }
  return simu, ball, inters.floor
end

-- Beads of diameter 1 above each other, the first at height H over the floor, with gaps between them.
function events.column(o)
  local systems, links = {}, {}
  for i = 1, o.n do
    systems[i] = ns.LagrangianLinearTIDS({ o.H + (i - 1) * (1 + o.gap) }, { 0 }, { { 1 } })
    systems[i]:setFExtPtr { -events.g }
    local rel = i == 1 and ns.LagrangianLinearTIR { { 1 } } or ns.LagrangianLinearTIR({ { -1, 1 } }, { -1 })
    links[i] = { ns.NewtonImpactNSL(o.e), rel, "contact " .. i, systems[i == 1 and 1 or i - 1], i > 1 and systems[i] or nil }
  end
  local simu, inters = events.simulation { systems = systems, links = links, T = o.T, h = 0.05 }
  return simu, systems, inters
end

-- A particle of mass m in the plane under gravity, from q0 with v0.
function events.particle(q0, v0, m)
  m = m or 1
  local ds = ns.LagrangianDS(q0, v0, { { m, 0 }, { 0, m } })
  ds:setFExtPtr { 0, -m * events.g }
  return ds
end

-- The kinds of the events of a list, in their order.
function events.kinds(list)
  local kinds = {}
  for i, event in ipairs(list) do kinds[i] = event.kind end
  return table.concat(kinds, " ")
end

return events
