-- An oscillator whose force jumps where x1 = 0: x1' = x2, x2' = -x1 - a, a = 1/2 where x1 > 0, -3/10 where x1 < 0.
local ns = require "nslua"

local right, left = 1 / 2, -3 / 10
local ds = ns.FirstOrderLinearTIDS({ 0, 1 }, { { 0, 1 }, { -1, 0 } })
local nsds = ns.NonSmoothDynamicalSystem(0, 20)
nsds:insertDynamicalSystem(ds)
nsds:link(ns.Interaction(ns.RelayNSL(1, -right, -left), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 1 } }), "line"), ds)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 20), ns.RungeKuttaOSI())
simu:run()

local result = { t_cross = {}, x_20 = ds:x() }
for i, event in ipairs(simu:events()) do
  assert(event.kind == "cross", event.kind)
  result.t_cross[i] = event.t
end
result.period = result.t_cross[3] - result.t_cross[1]
return result
