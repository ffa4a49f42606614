-- A pendulum that hits a wall at sin q = 0. One Newton iteration a step, as the reference takes.
local ns = require "nslua"

return function(variant)
  local sin, cos = math.sin, math.cos
  local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, fInt = function(_, q, _, _, f) f[1] = 10 * sin(q[1]) end }
  if variant == "jacobians" then
    ds:setComputeJacobianFIntqFunction(function(_, q, _, _, J) J[1][1] = 10 * cos(q[1]) end)
    ds:setJacobianFIntqDotPtr { { 0 } }
  end
  local wall = ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = sin(q[1]) end,
    Jachq = variant == "jacobians" and function(q, _, C) C[1][1] = cos(q[1]) end or nil,
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, 50)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.9), wall), ds)
  local osi = ns.MoreauJeanOSI(0.500001)
  osi:setLinearlyImplicit(true)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-4), osi, ns.LCP())
  local sol = simu:run()
  local n = #sol
  local x, y, vx = ns.zeros(n), ns.zeros(n), ns.zeros(n)
  for k = 1, n do
    x[k], y[k], vx[k] = sin(sol.q1[k]), -cos(sol.q1[k]), cos(sol.q1[k]) * sol.v1[k]
  end
  return { t = sol.t, q = sol.q1, w = sol.v1, x = x, y = y, vx = vx }, simu
end
