-- Models with limit cycles that several specs follow.
local ns = require "nslua"

local cycles = {}

-- An oscillator with a wall, x'' + 0.1 x' + x = A cos t, x <= 1, restitution 0.8.
function cycles.impact_oscillator(A)
  local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 } }, { { 0.1 } })
  mass:setComputeFExtFunction(function(t, _, f) f[1] = A * math.cos(t) end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 20)
  nsds:insertDynamicalSystem(mass)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR({ { -1 } }, { 1 }), "wall"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
end

-- A mass on a belt, with friction that falls with the velocity of slip: it sticks in each period, up to a velocity of the
-- belt at which its slip only touches 0.
function cycles.belt(V)
  local mass = ns.FirstOrderNonLinearDS({ 1, 0 }, function(_, x, _, f)
    local u = x[2] - V
    f[1], f[2] = x[2], -x[1] + 0.5 * u - 0.15 * u ^ 3
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 200)
  nsds:insertDynamicalSystem(mass)
  local slip = ns.FirstOrderLinearTIR { C = { { 0, 1 } }, e = { -V }, B = { { 0 }, { 1 } } }
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), slip, "belt"), mass)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
end

-- The right side of the simplest walking model (Garcia, Chatterjee, Ruina and Coleman 1998).
function cycles.walker(_, x, slope)
  local leg = ns.sin(x[1] - slope)
  return { x[2], leg, x[4], leg + x[2] ^ 2 * ns.sin(x[3]) - ns.cos(x[1] - slope) * ns.sin(x[3]) }
end

-- The woodpecker toy of scripts/woodpecker.lua, with restitution e of the beak: from the state x, up to the time T (3).
function cycles.woodpecker(e, x, T)
  x = x or { 0, -0.1034482, -0.2788, -0.3411, 0, -7.4583 }
  local m_M, m_S, J_M, J_S, c, g = 3e-4, 4.5e-3, 5e-9, 7e-7, 5.6e-3, 9.81
  local r_O, r_M, h_M, l_M, l_G, h_S, l_S = 2.5e-3, 3.1e-3, 5.8e-3, 1e-2, 1.5e-2, 2e-2, 2.01e-2
  local toy = ns.LagrangianLinearTIDS({ x[1], x[2], x[3] }, { x[4], x[5], x[6] }, {
    { m_M + m_S, m_S * l_M, m_S * l_G },
    { m_S * l_M, J_M + m_S * l_M ^ 2, m_S * l_M * l_G },
    { m_S * l_G, m_S * l_M * l_G, J_S + m_S * l_G ^ 2 },
  }, { { 0, 0, 0 }, { 0, c, -c }, { 0, -c, c } })
  toy:setFExtPtr { -(m_M + m_S) * g, -m_S * l_M * g, -m_S * l_G * g }
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 3)
  nsds:insertDynamicalSystem(toy)
  local function contact(name, restitution, normal, gap, tangent)
    local relation = ns.LagrangianLinearTIR({ normal, tangent }, { gap, 0 })
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(restitution, 0, 0.3, 2), relation, name), toy)
  end
  contact("beak", e, { 0, 0, -h_S }, l_M + l_G - l_S - r_O, { 1, l_M, l_G - l_S })
  contact("low", 0, { 0, h_M, 0 }, r_M - r_O, { 1, r_M, 0 })
  contact("up", 0, { 0, -h_M, 0 }, r_M - r_O, { 1, r_M, 0 })
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.05), ns.RungeKuttaOSI())
end

return cycles
