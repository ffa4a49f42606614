-- A mass on a spring that hits a stop at q = 0.
local ns = require "nslua"

return function()
  local ds = ns.LagrangianLinearTIDS({ 0.4 }, { 0.4 }, { { 1.221 } }, { { 1430.8 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR { { 1 } }), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-4), ns.MoreauJeanOSI(0.5), ns.LCP())
  local sol = simu:run()
  return { t = sol.t, q = sol.q1, v = sol.v1, lambda = sol.lambda1 }, simu
end
