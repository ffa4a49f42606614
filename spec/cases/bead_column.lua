-- Five beads of growing mass that fall on a floor and on each other.
local ns = require "nslua"

return function()
  local n, q, v, mass, weight = 5, {}, {}, {}, {}
  for i = 0, n - 1 do
    q[i + 1], v[i + 1] = 0.5 + 0.2 * i + 0.02 * i * i, -0.3 * i
    mass[i + 1], weight[i + 1] = 1 + 0.5 * i, -9.81 * (1 + 0.5 * i)
  end
  local beads = ns.LagrangianLinearTIDS(q, v, ns.diag(mass))
  beads:setFExtPtr(weight)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(beads)
  for i = 1, n do
    local H = ns.zeros(1, n)
    H[1][i] = 1
    if i > 1 then H[1][i - 1] = -1 end
    local gap = ns.LagrangianLinearTIR(H, { i == 1 and -0.1 or -0.2 })
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), gap), beads)
  end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.MoreauJeanOSI(0.5), ns.LCP())
  return simu:run(), simu
end
