-- Mechanical models in one call, and the measurements of their specs.
local ns = require "nslua"

local moving = {}

local function graph(o)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  for _, ds in ipairs(o.systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(o.links or {}) do nsds:link(table.unpack(link)) end
  return nsds
end

-- simulate{ systems = { ds, ... }, links = { { interaction, ds [, ds2] }, ... }, T =, h =, osi = MoreauJeanOSI(0.5),
-- projection = false, problem = nil }: the simulation.
function moving.simulate(o)
  local make = o.projection and ns.TimeSteppingDirectProjection or ns.TimeStepping
  return make(graph(o), ns.TimeDiscretisation(0, o.h), o.osi or ns.MoreauJeanOSI(0.5), o.problem)
end

-- The same made by `make`, with the tolerance of its projection if there is one; theta: of MoreauJeanOSI.
function moving.with_projection(make, o)
  local simu = make(graph(o), ns.TimeDiscretisation(0, o.h), ns.MoreauJeanOSI(o.theta or 0.5))
  if o.tolerance and make ~= ns.TimeStepping then simu:setConstraintTolerance(o.tolerance) end
  return simu
end

-- The error of the energy balance: 0 up to rounding.
function moving.imbalance(simu, before)
  local e = simu:energy()
  return math.abs(e.total - before - e.forces - e.damping - e.impacts - e.friction - e.boundary - e.numerical)
end

-- An interaction: impact with restitution e on the gap row' q + offset.
function moving.impact(e, row, offset)
  return ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ row }, offset))
end

-- A unit mass that falls.
function moving.ball(q0, v0, g)
  local ds = ns.LagrangianLinearTIDS({ q0 }, { v0 or 0 }, { { 1 } })
  ds:setFExtPtr { -(g or 9.81) }
  return ds
end

-- The largest residual after k = 1, 2, ... count iterations of Newton's method in the first step of make().
function moving.residuals(make, count)
  local out = {}
  for k = 1, count do
    local simu = make()
    simu:setNewtonMaxIteration(k)
    simu:setNewtonTolerance(1e-16)
    pcall(simu.computeOneStep, simu)
    local state, output = simu:newtonResidual()
    out[k] = math.max(state, output or 0)
  end
  return out
end

return moving
