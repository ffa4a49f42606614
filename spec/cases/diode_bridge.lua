-- An LC oscillator that feeds a resistor through a bridge of four diodes; x = (v, i).
local ns = require "nslua"

return function()
  local L, C, R = 1e-2, 1e-6, 1000
  local ds = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  ds:setNames { "v", "i" }
  local relation = ns.FirstOrderLinearTIR {
    C = { { 0, 0 }, { 0, 0 }, { -1, 0 }, { 1, 0 } },
    D = { { 1 / R, 1 / R, -1, 0 }, { 1 / R, 1 / R, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 } },
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, 4.999e-3)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(4), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-6), ns.EulerMoreauOSI(0.5), ns.LCP())
  local sol = simu:run()
  return { t = sol.t, v = sol.v, i = sol.i, iDR1 = sol.y1, vDR1 = -sol.lambda1, vDF2 = -sol.lambda2,
    iDF1 = sol.lambda3,
    iR = sol.y1 + sol.lambda3 }, simu
end
