--
-- bench_gradient.lua
-- simu:gradient by p parameters, backwards and by forward derivatives, in plain runs: goal 5 runs for any p.
--
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local ns = require "nslua"

-- A linear system of n states with n relays: the first p numbers of A.
local function relays(n, p)
  math.randomseed(3)
  local function around(width) return (math.random() - 0.5) * width end
  local A, x0, b, parameters = {}, {}, {}, {}
  for i = 1, n do
    A[i] = {}
    for j = 1, n do A[i][j] = around(0.6) - (i == j and 0.5 or 0) end
    x0[i], b[i] = around(2), around(1)
  end
  local ds = ns.FirstOrderLinearTIDS(x0, A, b)
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  for r = 1, n do
    local C, B = {}, {}
    for i = 1, n do C[i], B[i] = i == r and 1 or around(0.3), { i == r and 0.3 or 0 } end
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ C }, B), "relay" .. r), ds)
  end
  for k = 0, p - 1 do parameters[#parameters + 1] = { ds, "A", k // n + 1, k % n + 1 } end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI()), parameters
end

-- n bodies on springs above a floor with friction, in the plane: e and mu of the law, then numbers of the stiffness.
local function bodies(n, p)
  math.randomseed(5)
  local q0, v0, M, K, F = {}, {}, {}, {}, {}
  for i = 1, 2 * n do
    M[i], K[i] = {}, {}
    for j = 1, 2 * n do M[i][j], K[i][j] = i == j and 1 or 0, i == j and 0.5 or (math.random() - 0.5) * 0.02 end
    q0[i], v0[i], F[i] = i % 2 == 0 and 0.5 + math.random() or 0, math.random() - 0.5, i % 2 == 0 and -9.81 or 0
  end
  local ds = ns.LagrangianLinearTIDS(q0, v0, M)
  ds:setKPtr(ns.matrix(K))
  ds:setFExtPtr(ns.vector(F))
  local nsds, law = ns.NonSmoothDynamicalSystem(0, 1.5), ns.NewtonImpactFrictionNSL(0.6, 0, 0.3, 2)
  nsds:insertDynamicalSystem(ds)
  for b = 1, n do
    local normal, tangent = {}, {}
    for i = 1, 2 * n do normal[i], tangent[i] = i == 2 * b and 1 or 0, i == 2 * b - 1 and 1 or 0 end
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ normal, tangent }), "floor" .. b), ds)
  end
  local parameters = { { law, "en" }, { law, "mu" } }
  for k = 0, p - 3 do parameters[#parameters + 1] = { ds, "K", k // (2 * n) + 1, k % (2 * n) + 1 } end
  if p == 1 then parameters[2] = nil end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI()), parameters
end

-- Time stepping: a linear system of n states with a relay: the first p numbers of A; an oscillator with callbacks and
-- p numbers z.
local function stepped(n, p)
  math.randomseed(3)
  local A, x0, B, C, parameters = {}, {}, {}, { {} }, {}
  for i = 1, n do
    A[i], x0[i], B[i], C[1][i] = {}, i / n, { i == 2 and 1 or 0.2 }, i == 1 and 1 or 0.1
    for j = 1, n do A[i][j] = i == j and -1 or (math.random() - 0.5) * 0.2 end
  end
  local ds = ns.FirstOrderLinearTIDS(x0, A)
  local nsds = ns.NonSmoothDynamicalSystem(0, 5)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -0.01, 0.01), ns.FirstOrderLinearTIR(C, B)), ds)
  for k = 0, p - 1 do parameters[#parameters + 1] = { ds, "A", k // n + 1, k % n + 1 } end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5)), parameters
end

local function oscillator(compile)
  return function(_, p)
    local ds = ns.FirstOrderNonLinearDS({ 1, 0.5 }, compile(function(t, x, z, f)
      local load = 0
      for k = 1, p do load = load + z[k] * math.sin(k * t) end
      f[1], f[2] = x[2], (1 - x[1] ^ 2) * x[2] - x[1] + load
    end))
    local z = ns.zeros(p)
    for k = 1, p do z[k] = 0.1 / k end
    ds:setzPtr(z)
    local nsds = ns.NonSmoothDynamicalSystem(0, 5)
    nsds:insertDynamicalSystem(ds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5)), { "z" }
  end
end

local rows = {}
for _, case in ipairs { { "time stepping: 10 states, a relay", stepped, 10 },
  { "time stepping: callbacks in Lua", oscillator(function(f) return f end) },
  { "time stepping: compiled callbacks", oscillator(ns.compile) },
  { "10 relays", relays, 10 }, { "5 bodies, impacts and friction", bodies, 5 } } do
  local name, make, n = table.unpack(case)
  for _, p in ipairs { 1, 10, 100 } do
    local function terminal(x) return x[1] + x[2] ^ 2 end
    local function cost(_, x) return x[1] ^ 2 end
    local plain = common.best(5, function() make(n, p):run() end) - common.best(5, function() make(n, p) end)
    local function runs(options, count)
      local time = common.best(count, function()
        local simu
        simu, options.parameters = make(n, p)
        simu:gradient(options)
      end) - common.best(5, function() make(n, p) end)
      return common.ratio(time, plain)
    end
    rows[#rows + 1] = { name, tostring(p), common.us(plain), runs({ terminal = terminal }, 5),
      runs({ cost = cost }, 5), runs({ terminal = terminal, method = "forward" }, 1) }
  end
end
common.table("Microseconds of a plain run; gradients by p parameters of a terminal and of an integral, in runs", {
  "", "p", "plain", "terminal", "integral", "terminal, forward",
}, rows)
