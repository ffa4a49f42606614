-- A disk that bounces on a rough floor and runs into a rough wall; q = (way, height, angle).
local ns = require "nslua"

return function()
  local m, R = 2, 0.5
  local disk = ns.LagrangianLinearTIDS({ 0, 0.6, 0 }, { 1.5, 0, 1 }, ns.diag { m, m, 0.3 })
  disk:setFExtPtr { 0.5, -9.81 * m, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(disk)
  local floor = ns.LagrangianLinearTIR({ { 0, 1, 0 }, { 1, 0, R } }, { -R, 0 })
  local wall = ns.LagrangianLinearTIR({ { -1, 0, 0 }, { 0, 1, -R } }, { 1, 0 })
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 2), floor), disk)
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0.8, 0, 0.6, 2), wall), disk)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5), ns.FrictionContact(2))
  return simu:run(), simu
end
