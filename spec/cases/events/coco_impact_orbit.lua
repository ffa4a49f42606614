-- An oscillator with a hard wall: x'' + 0.1 x' + x = A cos t, x <= 1, restitution 0.8. Newton's method on the map of one period
-- finds its orbit with one impact. Without the wall x = A / 0.1 sin t, so the orbit that grazes has A = 0.1.
local ns = require "nslua"

local function period(A, x0, v0)
  local mass = ns.LagrangianLinearTIDS({ x0 }, { v0 }, { { 1 } }, { { 1 } }, { { 0.1 } })
  mass:setComputeFExtFunction(function(t, _, f) f[1] = A * math.cos(t) end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2 * math.pi)
  nsds:insertDynamicalSystem(mass)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR({ { -1 } }, { 1 }), "wall"), mass)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2 * math.pi), ns.RungeKuttaOSI())
  simu:run()
  return ns.vector { mass:q()[1], mass:velocity()[1] }, simu:events()
end

local state = ns.vector { 0.87, 1.7 }
for _ = 1, 6 do
  local f, d = period(1, state[1], state[2]) - state, 1e-6
  local J = ns.zeros(2, 2)
  for j = 1, 2 do
    local near = state:copy()
    near[j] = near[j] + d
    local column = (period(1, near[1], near[2]) - near - f) / d
    J[1][j], J[2][j] = column[1], column[2]
  end
  state = state - ns.solve(J, f)
end
local _, events = period(1, state[1], state[2])
-- The velocities of the log are those of the gap 1 - x.
return { a_state = state, a_t_impact = events[1].t, a_v = { -events[1].before, -events[1].after },
  b_A_graze = 0.1, b_state = period(0.1, 0, 1) }
