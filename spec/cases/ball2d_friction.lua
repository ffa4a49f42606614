-- A disk that falls spinning on a floor with friction; q = (height, way, angle). Contacts are forecast with gamma = 1.
local ns = require "nslua"

return function()
  local R, m = 0.5, 1
  local disk = ns.LagrangianLinearTIDS({ 1, 0, 0 }, { 0, 0, 2 }, ns.diag { m, m, 0.4 * m * R * R })
  disk:setFExtPtr { -9.81 * m, 0, 0 }
  local relation = ns.LagrangianLinearTIR({ { 1, 0, 0 }, { 0, 1, -R } }, { -R, 0 })
  local inter = ns.Interaction(ns.NewtonImpactFrictionNSL(0.9, 0, 0.1, 2), relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(disk)
  nsds:link(inter, disk)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5, 1), ns.FrictionContact(2))
  local sol = simu:run()
  return {
    t = sol.t, q1 = sol.q1, v1 = sol.v1, w = sol.v3, p1 = sol.lambda1, lambda_n = sol.lambda1, q2 = sol.q2,
    angle = sol.q3, v2 = sol.v2,
  }, simu
end
