-- A mass on a spring with dry friction as a relay: x'' + x = lambda, -x' in N_[-1,1](lambda).
local ns = require "nslua"

return function()
  local ds = ns.FirstOrderLinearTIDS({ 12, 6 }, { { 0, 1 }, { -1, 0 } })
  ds:setNames { "q", "v" }
  local relation = ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 99.99)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.EulerMoreauOSI(0.5), ns.Relay())
  local sol = simu:run()
  local x, v, lambda = sol:column "q", sol:column "v", sol.lambda1
  return { t = sol.t, x = x, v = v, lambda = lambda, y = sol.y1, dx = v, dv = lambda - x }, simu
end
