-- A network of two genes with four step functions: x' = A x + g(lambda), thresholds 4 and 8; g is bilinear in lambda.
-- With the option "jacobians" the relation gives its own, else they are derived from h and g.
local ns = require "nslua"

local function h(_, x, _, _, y)
  y[1], y[2], y[3], y[4] = 4 - x[1], 4 - x[2], 8 - x[1], 8 - x[2]
end

local function g(_, _, lambda, _, r)
  r[1] = 40 * (1 - lambda[3]) * lambda[2]
  r[2] = 40 * lambda[1] * (1 - lambda[4])
end

local jacobians = {
  Jachx = function(_, _, _, _, C)
    C[1][1], C[2][2], C[3][1], C[4][2] = -1, -1, -1, -1
  end,
  Jachlambda = function() end,
  Jacgx = function() end,
  Jacglambda = function(_, _, lambda, _, B)
    B[1][2], B[1][3] = 40 * (1 - lambda[3]), -40 * lambda[2]
    B[2][1], B[2][4] = 40 * (1 - lambda[4]), -40 * lambda[1]
  end,
}

return function(variant)
  local ds = ns.FirstOrderLinearTIDS({ 1, 6 }, ns.diag { -4.5, -1.5 })
  local options = { h = h, g = g }
  for name, f in pairs(variant == "jacobians" and jacobians or {}) do options[name] = f end
  local nsds = ns.NonSmoothDynamicalSystem(0, 2.999)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(4, 0, 1), ns.FirstOrderNonLinearR(options)), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5), ns.Relay())
  local sol = simu:run()
  local l1, l2, l3, l4 = sol.lambda1, sol.lambda2, sol.lambda3, sol.lambda4
  local dx1, dx2 = {}, {}
  for k = 1, #sol do
    dx1[k] = -4.5 * sol.x[k][1] + 40 * (1 - l3[k]) * l2[k]
    dx2[k] = -1.5 * sol.x[k][2] + 40 * l1[k] * (1 - l4[k])
  end
  return { t = sol.t, x1 = sol.x1, x2 = sol.x2, lambda1 = l1, lambda2 = l2, lambda3 = l3, lambda4 = l4, dx1 = dx1,
    dx2 = dx2 }, simu
end
