-- Models for the specs of adaptive steps: each function (theta) returns a graph, the length of a step of the grid, an integrator,
-- and the system whose state is compared. simulate(name, options [, theta [, h]]) makes a simulation of one.
local ns = require "nslua"

local models = {}
local sin, cos = math.sin, math.cos

local function graph(T, ds, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  for _, interaction in ipairs { ... } do nsds:link(interaction, ds) end
  return nsds
end

function models.oscillator(theta)
  local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } })
  return graph(10, ds), 1, ns.EulerMoreauOSI(theta), ds
end

-- The plant 1 / (s (s + 1) (s + 2)) under relay feedback.
models["relay oscillator"] = function(theta)
  local A = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, -3, -2 } }
  local ds = ns.FirstOrderLinearTIDS({ 0, 3 * math.sqrt(2) / (2 * math.pi), 0 }, A)
  local relation = ns.FirstOrderLinearTIR({ { 1, 0, 0 } }, { { 0 }, { 0 }, { 1 } })
  return graph(20, ds, ns.Interaction(ns.RelayNSL(1, -1, 1), relation)), 0.5, ns.EulerMoreauOSI(theta), ds
end

-- An LC oscillator that feeds a resistor through a bridge of four diodes.
models["diode bridge"] = function(theta)
  local L, C, R = 1e-2, 1e-6, 1000
  local ds = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local relation = ns.FirstOrderLinearTIR {
    C = { { 0, 0 }, { 0, 0 }, { -1, 0 }, { 1, 0 } },
    D = { { 1 / R, 1 / R, -1, 0 }, { 1 / R, 1 / R, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 } },
  }
  return graph(1e-3, ds, ns.Interaction(ns.ComplementarityConditionNSL(4), relation)), 1e-4, ns.EulerMoreauOSI(theta, theta), ds
end

-- Sliding along x1 + x2 / 2 = 0, under a force that changes in time.
function models.sliding(theta)
  local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 0.3 }, f = function(t, x, _, d)
    d[1], d[2] = 0.5 * sin(3 * t) - 0.2 * x[2], x[1] - x[2]
  end }
  local relation = ns.FirstOrderLinearTIR({ { 1, 0.5 } }, { { 1 }, { 0 } })
  return graph(6, ds, ns.Interaction(ns.RelayNSL(1, -1, 1), relation)), 0.5, ns.EulerMoreauOSI(theta), ds
end

-- x'' + x = lambda, -x' in N_[-1,1](lambda): half swings about -1 and 1 in turn.
models["friction oscillator"] = function(theta)
  local ds = ns.FirstOrderLinearTIDS({ 12, 0 }, { { 0, 1 }, { -1, 0 } })
  local relation = ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 } })
  return graph(14, ds, ns.Interaction(ns.RelayNSL(1, -1, 1), relation)), 1, ns.EulerMoreauOSI(theta), ds
end

function models.ball(theta, e)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ball:setFExtPtr { -10 }
  return graph(2, ball, ns.Interaction(ns.NewtonImpactNSL(e or 0.8), ns.LagrangianLinearTIR { { 1 } })), 0.1,
    ns.MoreauJeanOSI(theta), ball
end

-- A pendulum that hits a wall at sin q = 0.
function models.pendulum(theta)
  local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, fInt = function(_, q, _, _, f) f[1] = 10 * sin(q[1]) end }
  local wall = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = sin(q[1]) end }
  return graph(4, ds, ns.Interaction(ns.NewtonImpactNSL(0.9), wall)), 0.2, ns.MoreauJeanOSI(theta), ds
end

-- A block that falls on two of its corners; q = (x, y, angle).
models["rocking block"] = function(theta)
  local Lb, Hb = 0.2, 0.1
  local ds = ns.LagrangianDS({ 0, 1, 0.2 }, { 0, 0, 0 }, ns.diag { 1, 1, (1.5 ^ 2 + 1) / 12 })
  ds:setFExtPtr { 0, -9.81, 0 }
  local corners = {}
  for i, side in ipairs { -1, 1 } do
    corners[i] = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianScleronomousR {
      h = function(q, _, y) y[1] = q[2] + side * Lb / 2 * sin(q[3]) - Hb / 2 * cos(q[3]) end })
  end
  return graph(0.7, ds, table.unpack(corners)), 0.05, ns.MoreauJeanOSI(theta), ds
end

-- A mass on a spring on a belt of velocity 0.5.
models["stick-slip"] = function(theta)
  local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0.5, 0 }, ns.eye(2), { { 1, 0 }, { 0, 0 } })
  ds:setFExtPtr { 0, -10 }
  local belt = ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1], y[2] = q[2], q[1] - 0.5 * t end }
  return graph(10, ds, ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), belt)), 0.5, ns.MoreauJeanOSI(theta), ds
end

local function simulate(name, options, theta, h)
  local nsds, grid, osi, ds = models[name](theta or 0.5)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h or grid), osi, options), ds
end

return { models = models, simulate = simulate, graph = graph }
