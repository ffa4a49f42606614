-- Two decoupled integrators under sign control: each reaches 0 at t = 0.5 and stays.
local ns = require "nslua"

return function()
  local ds = ns.FirstOrderLinearTIDS { x0 = { 1, -1 }, A = ns.zeros(2, 2) }
  local relation = ns.FirstOrderLinearTIR { C = ns.eye(2), B = 2 * ns.eye(2) }
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.799)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5), ns.Relay())
  local sol = simu:run()
  return { t = sol.t, x1 = sol.x1, x2 = sol.x2, lambda1 = sol.lambda1, lambda2 = sol.lambda2, y1 = sol.y1,
    y2 = sol.y2 }, simu
end
