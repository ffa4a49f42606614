--
-- models.lua
-- The models of the benches: the clutch, linear models, mechanics. bench/peers has the same models.
--
local ns = require "nslua"

local models = { relation = {} }

-- The loop by hand, storing nothing.
function models.stepping(simu)
  return function()
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
    end
  end
end

-- ---- the clutch, engaging (s = -1) and disengaging (1); Jacobians given, h and g alone, or these compiled ----

-- luacheck: push ignore 212/self
function models.relation.given(s)
  local Clutch = ns.class(ns.FirstOrderNonLinearR, "clutch")
  function Clutch:computeh(_, x, _, _, y) y[1] = s * x[1] end
  function Clutch:computeg(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end
  function Clutch:computeJachx(_, _, _, _, C) C[1][1] = s end
  function Clutch:computeJachlambda() end
  function Clutch:computeJacgx(_, _, lambda, _, K)
    K[4][2] = -lambda[1]
    K[4][3] = lambda[1]
    K[4][4] = lambda[1]
  end
  function Clutch:computeJacglambda(_, x, _, _, B) B[4][1] = x[4] - x[2] + x[3] end
  return Clutch()
end

-- luacheck: pop

function models.relation.duals(s)
  return ns.FirstOrderNonLinearR {
    h = function(_, x, _, _, y) y[1] = s * x[1] end,
    g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
  }
end

function models.relation.compiled(s)
  return ns.FirstOrderNonLinearR {
    h = ns.compile(function(_, x, _, _, y) y[1] = s * x[1] end),
    g = ns.compile(function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end),
  }
end

-- Returns the simulation, its system and its interaction.
function models.clutch(relation)
  local A = { { 0, 0, 0, 0 }, { 0, 0, 0, 1 }, { 0, 0, 0, -4 }, { 0, 1, -1, 0 } }
  local dyn = ns.FirstOrderLinearTIDS({ 5, 10, 5, 0.5 }, A)
  dyn:setbPtr { -1, 10, -40, 0 }
  dyn:setMPtr(ns.diag { 1, 1, 1, 0 })
  local nsds = ns.NonSmoothDynamicalSystem(0, 20)
  nsds:insertDynamicalSystem(dyn)
  local inter = ns.Interaction(ns.RelayNSL(1, 0, 1), relation)
  nsds:link(inter, dyn)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(1, 1), ns.Relay())
  simu:setNewtonMaxIteration(100)
  simu:setNewtonTolerance(1e-10)
  return simu, dyn, inter
end

-- ---- linear models without callbacks ----

local root2 = math.sqrt(2)
models.linear = {
  {
    name = "filippov", h = 1e-3, steps = 1999, theta = 0.5, x0 = { 3, 3 },
    A = { { 0, 0 }, { 0, 0 } }, B = { { 2, -52 }, { 52, 2 } }, C = { { 1, 0 }, { 0, 1 } }, D = { { 0, 0 }, { 0, 0 } },
    relays = 2,
  },
  {
    name = "relay_oscillator", h = 1e-2, steps = 9999, theta = 0.5, x0 = { 0, 3 * root2 / (2 * math.pi), 0 },
    A = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, -3, -2 } }, B = { { 0 }, { 0 }, { 1 } }, C = { { 1, 0, 0 } }, D = { { 0 } },
    relays = 1,
  },
  {
    name = "circuit_rlcd", h = 1e-5, steps = 499, theta = 0.5000000000001, x0 = { 10, 0 },
    A = { { 0, -1e6 }, { 100, 0 } }, B = { { -1e6 }, { 0 } }, C = { { -1, 0 } }, D = { { 1000 } },
    pairs = 1,
  },
  {
    name = "diode_bridge", h = 1e-6, steps = 4999, theta = 0.5, x0 = { 10, 0 },
    A = { { 0, -1e6 }, { 100, 0 } },
    B = { { 0, 0, -1e6, 1e6 }, { 0, 0, 0, 0 } },
    C = { { 0, 0 }, { 0, 0 }, { -1, 0 }, { 1, 0 } },
    D = { { 1e-3, 1e-3, -1, 0 }, { 1e-3, 1e-3, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    pairs = 4,
  },
}

-- Returns the simulation, its system and its interaction.
function models.linear_simulation(model)
  local dyn = ns.FirstOrderLinearTIDS(model.x0, model.A)
  local nsds = ns.NonSmoothDynamicalSystem(0, model.steps * model.h)
  nsds:insertDynamicalSystem(dyn)
  local relation = ns.FirstOrderLinearTIR { C = model.C, D = model.D, B = model.B }
  local law = model.relays and ns.RelayNSL(model.relays, -1, 1) or ns.ComplementarityConditionNSL(model.pairs)
  local inter = ns.Interaction(law, relation)
  nsds:link(inter, dyn)
  local problem = model.relays and ns.Relay() or ns.LCP()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, model.h), ns.EulerMoreauOSI(model.theta), problem)
  return simu, dyn, inter
end

-- ---- mechanics: each gives its simulation and its system ----

local function simulation(ds, inter, h, steps, osi)
  local nsds = ns.NonSmoothDynamicalSystem(0, steps * h)
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi or ns.MoreauJeanOSI(0.5)), ds
end

function models.ball()
  local ds = ns.LagrangianLinearTIDS({ 1, 0, 0 }, { 0, 0, 0 }, ns.diag { 1, 1, 0.004 })
  ds:setFExtPtr { -9.81, 0, 0 }
  return simulation(ds, ns.Interaction(ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 1, 0, 0 } }), 5e-3, 2000)
end

-- A column of beads at rest: one system, a sparse relation. They overlap by 1e-6, so that each contact is closed.
function models.beads(n)
  local q0, i, j, v = {}, {}, {}, {}
  local function put(r, c, x) i[#i + 1], j[#j + 1], v[#v + 1] = r, c, x end
  for k = 1, n do
    q0[k] = k * (1 - 1e-6)
    put(k, k, 1)
    if k > 1 then put(k, k - 1, -1) end
  end
  local ds = ns.LagrangianLinearTIDS(q0, ns.zeros(n), ns.speye(n))
  ds:setFExtPtr(-9.81 * ns.ones(n))
  local C = ns.sparse { rows = n, cols = n, i = i, j = j, v = v }
  local contacts = ns.Interaction(ns.NewtonImpactNSL(n, 0.5), ns.LagrangianLinearTIR(C, -1 * ns.ones(n)))
  return simulation(ds, contacts, 5e-3, n <= 100 and 100 or 20)
end

-- An elastic bar of n finite elements that hits a wall.
function models.bar(n)
  local size = 1 / n
  local mass, main, side = size * ns.ones(n + 1), 2 / size * ns.ones(n + 1), -1 / size * ns.ones(n)
  mass[1], mass[n + 1], main[1], main[n + 1] = size / 2, size / 2, 1 / size, 1 / size
  local K = ns.spdiags({ side, main, side }, { -1, 0, 1 }, n + 1)
  local q0, v0 = 0.01 * ns.ones(n + 1), -1 * ns.ones(n + 1)
  local ds = ns.LagrangianLinearTIDS(q0, v0, ns.spdiags({ mass }, { 0 }, n + 1), K)
  local row = ns.sparse { rows = 1, cols = n + 1, i = { 1 }, j = { 1 }, v = { 1 } }
  local wall = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR(row))
  return simulation(ds, wall, 1e-3, n <= 200 and 200 or 20)
end

-- Two point masses on rods, a wall; Lua callbacks give every matrix and force; Jacobians given or by dual numbers.
function models.double_pendulum(given)
  local g, sin, cos = 9.81, math.sin, math.cos
  local o = {
    q0 = { 1.5, 1.2 }, v0 = { 0, 0 },
    mass = function(q, _, M)
      local c = cos(q[1] - q[2])
      M[1][1], M[1][2], M[2][1], M[2][2] = 2, c, c, 1
    end,
    fGyr = function(q, v, _, f)
      local s = sin(q[1] - q[2])
      f[1], f[2] = v[2] ^ 2 * s, -v[1] ^ 2 * s
    end,
    fInt = function(_, q, _, _, f) f[1], f[2] = 2 * g * sin(q[1]), g * sin(q[2]) end,
  }
  if given then
    o.jacobianFIntq = function(_, q, _, _, J) J[1][1], J[2][2] = 2 * g * cos(q[1]), g * cos(q[2]) end
    o.jacobianFIntqDot = ns.zeros(2, 2)
    o.jacobianFGyrq = function(q, v, _, J)
      local c = cos(q[1] - q[2])
      J[1][1], J[1][2], J[2][1], J[2][2] = v[2] ^ 2 * c, -v[2] ^ 2 * c, -v[1] ^ 2 * c, v[1] ^ 2 * c
    end
    o.jacobianFGyrqDot = function(q, v, _, J)
      local s = sin(q[1] - q[2])
      J[1][2], J[2][1] = 2 * v[2] * s, -2 * v[1] * s
    end
  end
  local wall = ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = sin(q[1]) + sin(q[2]) + 0.3 end,
    Jachq = given and function(q, _, C) C[1][1], C[1][2] = cos(q[1]), cos(q[2]) end or nil,
  }
  return simulation(ns.LagrangianDS(o), ns.Interaction(ns.NewtonImpactNSL(0.8), wall), 1e-3, 2000)
end

return models
