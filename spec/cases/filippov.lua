-- Two integrators driven by two signs: x' = B lambda, y = x; spirals into the origin and stays there.
local ns = require "nslua"

return function()
  local c = 25
  local ds = ns.FirstOrderLinearTIDS({ 3, 3 }, ns.zeros(2, 2))
  local relation = ns.FirstOrderLinearTIR(ns.eye(2), { { 2, -2 * (1 + c) }, { 2 * (1 + c), 2 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.999)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5), ns.Relay())
  local sol = simu:run()
  return { t = sol.t, x1 = sol.x1, x2 = sol.x2, lambda1 = sol.lambda1, lambda2 = sol.lambda2, y1 = sol.y1,
    y2 = sol.y2 }, simu
end
