-- Six states, each with a relay that acts on all.
local ns = require "nslua"

return function()
  local n = 6
  local A, B = ns.zeros(n, n), ns.zeros(n, n)
  for i = 0, n - 1 do
    for j = 0, n - 1 do
      A[i + 1][j + 1] = 0.5 * math.cos(i + 2 * j) - (i == j and 1 or 0)
      B[i + 1][j + 1] = 0.4 * math.sin(1 + i * j) + (i == j and 3 or 0)
    end
  end
  local ds = ns.FirstOrderLinearTIDS({ 1, -2, 0.5, 0.1, -1, 2 }, A)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(n, -1, 1), ns.FirstOrderLinearTIR(ns.eye(n), B)), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5), ns.Relay())
  return simu:run(), simu
end
