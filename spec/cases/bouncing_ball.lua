-- A ball of three coordinates (height, way, angle) that falls on the floor: restitution 0.9, rest after infinitely many
-- impacts.
local ns = require "nslua"

return function()
  local ball = ns.LagrangianLinearTIDS({ 1, 0, 0 }, { 0, 0, 0 }, ns.diag { 1, 1, 0.004 })
  ball:setFExtPtr { -9.81, 0, 0 }
  local inter = ns.Interaction(ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 1, 0, 0 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ball)
  nsds:link(inter, ball)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5), ns.LCP())
  local sol = simu:run()
  return { t = sol.t, q = sol.q1, v = sol.v1, p = sol.lambda1, lambda = sol.lambda1 }, simu
end
