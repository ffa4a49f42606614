-- A planar system that turns one way inside the unit circle and the other way outside: x' = x - s 2 pi J x, J = (0 -1; 1 0)
-- and s in Sgn(|x|^2 - 1).
local ns = require "nslua"

local ds = ns.FirstOrderLinearTIDS({ math.exp(-1), 0 }, ns.eye(2))
local circle = ns.FirstOrderNonLinearR {
  h = function(_, x, _, _, y) y[1] = x[1] ^ 2 + x[2] ^ 2 - 1 end,
  g = function(_, x, lambda, _, r)
    local w = 2 * math.pi * lambda[1] -- lambda is 1 inside, -1 outside
    r[1], r[2] = w * x[2], -w * x[1]
  end,
}
local nsds = ns.NonSmoothDynamicalSystem(0, 2)
nsds:insertDynamicalSystem(ds)
nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), circle, "circle"), ds)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-12))

local x_1p7
for step in simu:steps() do
  if step == 17 then x_1p7 = ds:x():copy() end
end
local events = simu:events()
assert(#events == 1 and events[1].kind == "cross")
return { t_switch = events[1].t, x_2 = ds:x(), x_1p7 = x_1p7 }
