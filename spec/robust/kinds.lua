-- A model of each kind that runs for any number of steps without coming to rest.
local ns = require "nslua"
local models = require "bind.models"

local kinds = {}

local function simulation(steps, h, osi, ds, law, relation, kind)
  local nsds = ns.NonSmoothDynamicalSystem(0, steps * h)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation), ds)
  return (kind or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, h), osi)
end

-- A ball on a floor that keeps all of its energy.
local function ball(steps, h, osi, kind)
  local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ds:setFExtPtr { -9.81 }
  return simulation(steps, h, osi, ds, ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1 } }, kind)
end

-- Three lags in a row under a relay: a limit cycle.
kinds["first order, linear"] = function(steps)
  local ds = ns.FirstOrderLinearTIDS({ 1, 0, 0 }, { { -1, 1, 0 }, { 0, -1, 1 }, { 0, 0, -1 } })
  local relation = ns.FirstOrderLinearTIR({ { 1, 0, 0 } }, { { 0 }, { 0 }, { 1 } })
  return simulation(steps, 0.01, ns.EulerMoreauOSI(0.5), ds, ns.RelayNSL(1), relation)
end

kinds["first order, Lua callbacks"] = function(steps) return (models.clutch(steps * 0.05)) end

-- Heat in a rod; a relay heats one end, switched by the temperature further along.
kinds["first order, sparse"] = function(steps)
  local n, rows, cols, values = 100, {}, {}, {}
  local function add(i, j, v) rows[#rows + 1], cols[#cols + 1], values[#values + 1] = i, j, v end
  for i = 1, n do
    add(i, i, -2)
    if i > 1 then add(i, i - 1, 1) end
    if i < n then add(i, i + 1, 1) end
  end
  local C, B, x0 = { {} }, {}, {}
  for i = 1, n do C[1][i], B[i], x0[i] = i == 5 and 1 or 0, { i == 1 and 1 or 0 }, math.sin(i) end
  local ds = ns.FirstOrderLinearTIDS(x0, ns.sparse { rows = n, cols = n, i = rows, j = cols, v = values })
  return simulation(steps, 0.01, ns.EulerMoreauOSI(0.5), ds, ns.RelayNSL(1), ns.FirstOrderLinearTIR(C, B))
end

-- A driven block on a nonlinear spring that hits a stop.
kinds["mechanics, Lua callbacks"] = function(steps)
  local ds = ns.LagrangianDS { q0 = { 1, 0.5 }, v0 = { 0, 0 }, mass = { { 1, 0 }, { 0, 2 } },
    fInt = function(_, q, v, _, f) f[1], f[2] = math.sin(q[1]) + 0.01 * v[1], 2 * q[2] ^ 3 + 0.1 * v[2] end,
    fExt = function(t, _, f) f[1], f[2] = math.sin(1.3 * t), math.cos(0.7 * t) end }
  return simulation(steps, 5e-3, ns.MoreauJeanOSI(0.5), ds, ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR { { 1, -0.5 } })
end

-- A ball that is shaken on a plane with friction.
kinds["mechanics, friction"] = function(steps)
  local ds = ns.NewtonEulerDS({ 0, 0, 0.6, 1, 0, 0, 0 }, { 1, 0, 0, 0, 1, 0 }, 1, { { 0.1, 0, 0 }, { 0, 0.1, 0 }, { 0, 0, 0.1 } })
  ds:setFExt(function(t, _, f) f[1], f[2], f[3] = math.sin(t), math.cos(1.7 * t), -9.81 + 5 * math.sin(3 * t) end)
  local relation = ns.NewtonEuler3DR { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
  return simulation(steps, 5e-3, ns.MoreauJeanOSI(0.5), ds, ns.NewtonImpactFrictionNSL(0.3, 0, 0.3, 3), relation)
end

kinds["mechanics, Moreau-Jean"] = function(steps) return ball(steps, 5e-3, ns.MoreauJeanOSI(0.5)) end
kinds["mechanics, Schatzman-Paoli"] = function(steps) return ball(steps, 5e-3, ns.SchatzmanPaoliOSI(0.5)) end
kinds["mechanics, D1MinusLinear"] = function(steps) return ball(steps, 5e-3, ns.D1MinusLinearOSI()) end
kinds["mechanics, global form"] = function(steps) return ball(steps, 5e-3, ns.MoreauJeanGOSI(0.5)) end
kinds["event-driven"] = function(steps) return ball(steps, 0.1, ns.RungeKuttaOSI(1e-8, 1e-10), ns.EventDriven) end

local names = require "sorted_names"(kinds)

return { make = kinds, names = names }
