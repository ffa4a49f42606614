local ns = require "nslua"
local nsds = ns.NonSmoothDynamicalSystem(0, 20)
local dyn = ns.FirstOrderLinearTIDS({ 5, 10, 5, 0.5 }, { { 0, 0, 0, 0 }, { 0, 0, 0, 1 }, { 0, 0, 0, -4 }, { 0, 1, -1, 0 } })
dyn:setbPtr { -1, 10, -40, 0 }
dyn:setMPtr(ns.diag { 1, 1, 1, 0 })
nsds:insertDynamicalSystem(dyn)
local rel = ns.FirstOrderNonLinearR {
  h = function(t, x, lambda, z, y) y[1] = -x[1] end,
  g = function(t, x, lambda, z, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
}
local inter = ns.Interaction(ns.RelayNSL(1, 0, 1), rel)
nsds:link(inter, dyn)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(1, 1), ns.Relay())
local t=os.clock()
local sol = simu:run()
print((os.clock()-t)/400*1e6, "us/step")
print(sol, sol.x[401], sol.lambda[401], simu:stats().max_newton_iterations)
for k = 99, 104 do print(sol.t[k], sol.x[k], sol.lambda[k], sol.iterations[k]) end
print(simu:check())
