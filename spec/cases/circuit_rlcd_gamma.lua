-- LC, resistor and diode with x = (q, i); gamma weights the output in the law, which keeps the energy account exact.
local ns = require "nslua"

return function()
  local L, C, R, h = 1, 1 / (4 * math.pi ^ 2), 10, 5e-2
  local ds = ns.FirstOrderLinearTIDS({ 1, 1 }, { { 0, -1 }, { 1 / (L * C), 0 } })
  ds:setNames { "q", "i" }
  local relation = ns.FirstOrderLinearTIR { C = { { 1 / C, 0 } }, D = { { R } }, B = { { 1 }, { 0 } } }
  local nsds = ns.NonSmoothDynamicalSystem(0, 99 * h)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation), ds)
  local osi = ns.EulerMoreauOSI(0.5, 0.5)
  osi:setUseGammaForRelation(true)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi, ns.LCP())
  local sol = simu:run()
  local q, i, lambda = sol.q, sol.i, sol.lambda1
  local storage, dissipated, total = {}, {}, {}
  for k = 1, #sol do
    storage[k] = (q[k] ^ 2 / C + L * i[k] ^ 2) / 2
    dissipated[k] = k == 1 and 0 or dissipated[k - 1] + h * R * lambda[k] ^ 2
    total[k] = storage[k] + dissipated[k]
  end
  return { t = sol.t, q = q, i = i, minus_y = -sol.y1, lambda = lambda, storage = storage, dissipated = dissipated,
    total = total }, simu
end
