-- A disk that slides, rolls, and is stopped by rolling friction; q = (height, way, angle); the gap counts from the start.
local ns = require "nslua"

return function()
  local m, R = 1204.2771838760873, 0.5
  local disk = ns.LagrangianLinearTIDS({ 0.499, 0, 0 }, { 0, 2.5, 5 }, ns.diag { m, m, 0.4 * m * R ^ 2 })
  disk:setFExtPtr { -9.81 * m, 0, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 6)
  nsds:insertDynamicalSystem(disk)
  local rows = ns.LagrangianLinearTIR({ { 1, 0, 0 }, { 0, 1, -R }, { 0, 0, 1 } }, { -0.499, 0, 0 })
  nsds:link(ns.Interaction(ns.NewtonImpactRollingFrictionNSL(0.9, 0, 0.05, 0.04, 3), rows), disk)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5), ns.RollingFrictionContact(3))
  return simu:run(), simu
end
