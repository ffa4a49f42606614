-- Two signs that drive a spiral into the origin, which it reaches after infinitely many crossings, at t = 1:
-- x1' = -s1 + 2 s2, x2' = -2 s1 - s2, s in Sgn(x).
local ns = require "nslua"

local ds = ns.FirstOrderLinearTIDS({ 1, 1 }, ns.zeros(2, 2))
local signs = ns.Interaction(ns.RelayNSL(2, -1, 1), ns.FirstOrderLinearTIR(ns.eye(2), { { 1, -2 }, { 2, 1 } }), "signs")
local nsds = ns.NonSmoothDynamicalSystem(0, 2)
nsds:insertDynamicalSystem(ds)
nsds:link(signs, ds)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())

local result = { times = {} }
for step in simu:steps() do
  if step == 9 then result.x_0p9 = ds:x():copy() end
end
for _, event in ipairs(simu:events()) do
  if event.kind == "cross" and #result.times < 12 then result.times[#result.times + 1] = event.t end
  if event.kind == "accumulation" then result.t_accumulate = event.t end
end
result.x_2, result.s_2 = ds:x(), -signs:lambda_(0)
return result
