-- A block that falls on two of its corners; q = (x, y, angle). One Newton iteration a step, as the reference takes.
local ns = require "nslua"

return function()
  local sin, cos = math.sin, math.cos
  local Lb, Hb, g = 0.2, 0.1, 9.81
  local I = (1.5 ^ 2 + 1) / 12
  local ds = ns.LagrangianDS({ 0, 1, 0.2 }, { 0, 0, 0 }, ns.diag { 1, 1, I })
  ds:setFExtPtr { 0, -g, 0 }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.99)
  nsds:insertDynamicalSystem(ds)
  for _, side in ipairs { -1, 1 } do
    local corner = ns.LagrangianScleronomousR {
      h = function(q, z, y) y[1] = q[2] + side * Lb / 2 * sin(q[3]) - Hb / 2 * cos(q[3]) end,
    }
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), corner), ds)
  end
  local osi = ns.MoreauJeanOSI(0.50001)
  osi:setLinearlyImplicit(true)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), osi, ns.LCP())
  local sol = simu:run()
  local n = #sol
  local kinetic, potential = ns.zeros(n), ns.zeros(n)
  for k = 1, n do
    kinetic[k] = 0.5 * (sol.v1[k] ^ 2 + sol.v2[k] ^ 2 + I * sol.v3[k] ^ 2)
    potential[k] = g * (sol.q2[k] - 0.75)
  end
  return {
    t = sol.t, x = sol.q1, y = sol.q2, angle = sol.q3, vx = sol.v1, vy = sol.v2, w = sol.v3, kinetic = kinetic,
    potential = potential,
  }, simu
end
