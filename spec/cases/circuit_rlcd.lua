-- An LC oscillator with a resistor and a diode in series across the capacitor; x = (v, i).
local ns = require "nslua"

return function()
  local L, C, R = 1e-2, 1e-6, 1000
  local ds = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  ds:setNames { "v", "i" }
  local relation = ns.FirstOrderLinearTIR { C = { { -1, 0 } }, D = { { R } }, B = { { -1 / C }, { 0 } } }
  local nsds = ns.NonSmoothDynamicalSystem(0, 499e-5)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-5), ns.EulerMoreauOSI(0.5000000000001), ns.LCP())
  local sol = simu:run()
  return { t = sol.t, v = sol.v, i = sol.i, minus_y = -sol.y1, lambda = sol.lambda1 }, simu
end
