-- A brake: x' = v, v' = sin 3t - s / 2, s in Sgn(v); the third state is the work of friction, w' = s v / 2.
local ns = require "nslua"

local ds = ns.FirstOrderNonLinearDS({ 0, 1, 0 }, function(t, x, _, f) f[1], f[2] = x[2], math.sin(3 * t) end)
local brake = ns.FirstOrderNonLinearR {
  h = function(_, x, _, _, y) y[1] = x[2] end,
  g = function(_, x, lambda, _, r) r[2], r[3] = lambda[1] / 2, -lambda[1] * x[2] / 2 end, -- lambda is -s
}
local nsds = ns.NonSmoothDynamicalSystem(0, 4)
nsds:insertDynamicalSystem(ds)
nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), brake, "brake"), ds)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())

local result, names = { times = {}, kinds = {} }, { slide = "stop", leave = "start", cross = "cross" }
for _, t in simu:steps() do
  if t == 1.5 then result.v_1p5 = ds:x()[2] end
end
for i, event in ipairs(simu:events()) do result.times[i], result.kinds[i] = event.t, names[event.kind] end
result.x_4, result.v_4, result.work = table.unpack(ds:x():totable())
return result
