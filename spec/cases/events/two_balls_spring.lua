-- Two balls, one above the other, joined by a stiff spring; the lower one bounces on the floor.
local ns = require "nslua"

local g, k = 9.81, 1e4
local balls = ns.LagrangianLinearTIDS({ 1, 2 }, { 0, 0 }, ns.eye(2), { { k, -k }, { -k, k } })
balls:setFExtPtr { -g - k, -g + k } -- the spring is free at q2 - q1 = 1
local nsds = ns.NonSmoothDynamicalSystem(0, 1)
nsds:insertDynamicalSystem(balls)
nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR({ { 1, 0 } }, { -0.2 }), "floor"), balls)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
simu:run()

local result = { n = 0, times = {}, impulse = 0 }
for i, event in ipairs(simu:events()) do
  result.n, result.times[i], result.impulse = i, event.t, result.impulse + event.impulse
end
local q, v = balls:q(), balls:velocity()
result.x_1 = { q[1], q[2], v[1], v[2] }
result.energy = v:dot(v) / 2 + g * (q[1] + q[2]) + k / 2 * (q[2] - q[1] - 1) ^ 2
return result
