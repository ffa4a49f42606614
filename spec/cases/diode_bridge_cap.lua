-- The bridge of diodes with a capacitor as filter: the oscillator (v, i) and the filter (vf) are two systems, tied
-- by one interaction. When all diodes block, the common potential is free: two of the multipliers are not unique.
local ns = require "nslua"

return function()
  local L, C, R, Cf = 1e-2, 1e-6, 1000, 300e-9
  local oscillator = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local filter = ns.FirstOrderLinearTIDS({ 0 }, { { -1 / (R * Cf) } })
  oscillator:setNames { "v", "i" }
  filter:setNames { "vf" }
  local relation = ns.FirstOrderLinearTIR {
    C = { { 0, 0, 1 }, { 0, 0, 0 }, { -1, 0, 1 }, { 1, 0, 0 } },
    D = { { 0, -1, 0, 0 }, { 1, 0, 1, -1 }, { 0, -1, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 }, { 1 / Cf, 0, 1 / Cf, 0 } },
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, 4.999e-3)
  nsds:insertDynamicalSystem(oscillator)
  nsds:insertDynamicalSystem(filter)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(4), relation), oscillator, filter)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-6), ns.EulerMoreauOSI(1), ns.LCP())
  local sol = simu:run()
  return { t = sol.t, v = sol.v, i = sol.i, iDR1 = sol.lambda1, vDR1 = -sol.y1, vDF2 = -sol.lambda2,
    iDF1 = sol.lambda3 }, simu
end
