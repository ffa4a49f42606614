-- The plant 1 / (s (s + 1) (s + 2)) under relay feedback: a limit cycle.
local ns = require "nslua"

return function()
  local A = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, -3, -2 } }
  local ds = ns.FirstOrderLinearTIDS({ 0, 3 * math.sqrt(2) / (2 * math.pi), 0 }, A)
  local relation = ns.FirstOrderLinearTIR({ { 1, 0, 0 } }, { { 0 }, { 0 }, { 1 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 99.99)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.EulerMoreauOSI(0.5), ns.Relay())
  local sol = simu:run()
  return { t = sol.t, x1 = sol.x1, x2 = sol.x2, x3 = sol.x3, lambda = sol.lambda1, y = sol.y1 }, simu
end
