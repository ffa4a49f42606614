-- Two masses with springs and dampers, pushed against stops on both sides of the first and between them.
local ns = require "nslua"

return function()
  local ds = ns.LagrangianLinearTIDS({ 0.1, 0 }, { 1, 0 }, ns.diag { 1, 2 }, { { 50, -20 }, { -20, 30 } },
    { { 0.3, -0.1 }, { -0.1, 0.2 } })
  ds:setFExtPtr { 3, -1 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 5)
  nsds:insertDynamicalSystem(ds)
  for _, stop in ipairs { { 0.7, { 1, 0 }, 0.2 }, { 0.3, { -1, 0 }, 0.15 }, { 0.9, { -1, 1 }, 0.25 } } do
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(stop[1]), ns.LagrangianLinearTIR({ stop[2] }, { stop[3] })), ds)
  end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.6), ns.LCP())
  return simu:run(), simu
end
