-- The gene network reduced to its upper thresholds: x' = A x + 40 (1 - lambda), y = 8 - x.
local ns = require "nslua"

return function()
  local ds = ns.FirstOrderLinearTIDS({ 1, 6 }, ns.diag { -4.5, -1.5 })
  local relation = ns.FirstOrderType2R {
    h = function(_, x, _, y) y[1], y[2] = 8 - x[1], 8 - x[2] end,
    g = function(_, lambda, r) r[1], r[2] = 40 * (1 - lambda[1]), 40 * (1 - lambda[2]) end,
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, 2.999)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(2, 0, 1), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5), ns.Relay())
  local sol = simu:run()
  local dx1 = -4.5 * sol.x1 + 40 * (1 - sol.lambda1)
  local dx2 = -1.5 * sol.x2 + 40 * (1 - sol.lambda2)
  return { t = sol.t, x1 = sol.x1, x2 = sol.x2, lambda1 = sol.lambda1, dx1 = dx1, dx2 = dx2 }, simu
end
