-- First-order models with nonlinear relations, and the equations of their steps by Lua alone.
local ns = require "nslua"
local abs, exp, max, min, sin, sqrt = math.abs, math.exp, math.max, math.min, math.sin, math.sqrt
local nonlinear = {}

local shapes = {
  sin, math.cos, abs, function(x) return x * x end, function(x) return x * abs(x) end, function(x) return max(x, 0) end,
  function(x) return x / (1 + x * x) end, function(x) return sqrt(abs(x)) end, function(x) return exp(-x * x) end,
  function(x) return max(x, 0) ^ 1.5 end, function(x) return exp(min(x, 3)) end,
}

-- Numbers in [0, 1), the same on every machine.
local function generator(seed)
  local state = seed
  return function()
    state = (state * 1103515245 + 12345) % 2147483648
    return (state // 256) / 8388608
  end
end

-- A function of n numbers: a linear part, a curved one and a constant.
local function curved(random, n)
  local a, b = {}, {}
  for i = 1, n do a[i], b[i] = 2 * random() - 1, 2 * random() - 1 end
  local shape = shapes[1 + random() * #shapes // 1]
  local c, d = 2 * random() - 1, 0.4 * random() - 0.2
  return function(x, lambda)
    local s, t = 0, 0
    for i = 1, n do
      local v = i <= #x and x[i] or lambda[i - #x]
      s, t = s + a[i] * v, t + b[i] * v
    end
    return 0.5 * s + c * shape(t) + d
  end
end

-- x' = f + r with a relay or complementarity between y = h(x, lambda) and lambda.
function nonlinear.random(seed)
  local random = generator(seed)
  for _ = 1, 5 do random() end
  local n, m = 1 + random() * 3 // 1, 1 + random() * 2 // 1
  local relay, weight = random() < 0.5, random()
  local F, G, H, x0 = {}, {}, {}, {}
  for i = 1, n do F[i], G[i], x0[i] = curved(random, n), curved(random, n + m), 2 * random() - 1 end
  for j = 1, m do H[j] = curved(random, n + m) end
  return {
    n = n, m = m, x0 = x0, steps = 40, h = random() < 0.5 and 0.1 or 0.03, theta = random() < 0.5 and 1 or 0.5, gamma = 1,
    lower = relay and -1 or 0, upper = relay and 0.7 or math.huge,
    f = function(t, x, _, f) for i = 1, n do f[i] = F[i](x) + 0.3 * sin(t + i) end end,
    g_of = function(_, x, lambda, _, r)
      for i = 1, n do r[i] = 0.3 * G[i](x, lambda) + (i <= m and lambda[i] or 0) end
    end,
    h_of = function(_, x, lambda, _, y)
      for j = 1, m do y[j] = 0.3 * H[j](x, lambda) + (j <= n and x[j] or 0) + weight * lambda[j] end
    end,
  }
end

-- One unknown in a relay; y is continuous in lambda and strictly increasing, with slope c / (2 sqrt(eps)) at 0.
function nonlinear.steep(eps, c, theta, h, gamma, steps)
  return {
    n = 1, m = 1, x0 = { 0.5 }, h = h, theta = theta, gamma = gamma or 1, steps = steps or 6 / h, lower = -1, upper = 0.7,
    f = function(t, x, _, f) f[1] = -x[1] + 2 * sin(3 * t) end,
    g_of = function(_, _, lambda, _, r) r[1] = lambda[1] end,
    h_of = function(_, x, lambda, _, y)
      y[1] = x[1] + c * (lambda[1] < 0 and -1 or 1) * (sqrt(abs(lambda[1]) + eps) - sqrt(eps))
    end,
  }
end

function nonlinear.simulate(model)
  local ds = ns.FirstOrderNonLinearDS(model.x0, model.f)
  local nsds = ns.NonSmoothDynamicalSystem(0, model.steps * model.h * (1 + 1e-12))
  nsds:insertDynamicalSystem(ds)
  local law = model.upper == math.huge and ns.ComplementarityConditionNSL(model.m)
    or ns.RelayNSL(model.m, model.lower, model.upper)
  nsds:link(ns.Interaction(law, ns.FirstOrderNonLinearR { h = model.h_of, g = model.g_of }), ds)
  local osi = ns.EulerMoreauOSI(model.theta, model.gamma)
  if model.gamma ~= 1 then osi:setUseGammaForRelation(true) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, model.h), osi)
end

-- How far row k of a run is from the step's equations, and from the law, of which the output is that at the gamma-point.
function nonlinear.residuals(model, sol, k)
  local x, from, lambda, t, h = sol.x[k], sol.x[k - 1], sol.lambda[k], sol.t[k], model.h
  local f, f_k, r, y, at, state, law = {}, {}, {}, {}, {}, 0, 0
  model.f(t, x, nil, f)
  model.f(sol.t[k - 1], from, nil, f_k)
  model.g_of(t, x, lambda, nil, r)
  for i = 1, model.n do
    state = max(state, abs(x[i] - from[i] - h * (model.theta * f[i] + (1 - model.theta) * f_k[i] + r[i])) / max(1, abs(x[i])))
    at[i] = model.gamma * x[i] + (1 - model.gamma) * from[i]
  end
  model.h_of(t, at, lambda, nil, y)
  for j = 1, model.m do
    local l = lambda[j]
    law = max(law, abs(l - min(max(l - y[j], model.lower), model.upper)) / max(1, abs(l)))
  end
  return state, law
end

return nonlinear
