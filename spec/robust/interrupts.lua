-- SIGINT at random moments of long calls: nslua spec/robust/interrupts.lua NAME COUNT SEED.
--
-- NAME is a kind of robust/kinds.lua or a call below. The signal comes from a timer; the call must then raise that it was
-- interrupted. A run continues to its end, and a call is repeated; the results must have the bits of an undisturbed run or
-- call. Prints how many signals stopped a call, how many came while no engine ran, and the longest time in seconds from a
-- signal to the line after the call: by the wall clock, and in CPU time of this process (which leaves out what else the
-- machine does).
local ns = require "nslua"
local alarm = require "alarm"
local kinds = require "robust.kinds"
local models = require "bind.models"

local name, count, seed = arg[1], tonumber(arg[2]), tonumber(arg[3] or 1)
math.randomseed(seed)

local stopped, outside, longest, most_used = 0, 0, 0, 0

-- Calls f() with a signal after at most `most` seconds; returns its result, or nil when it was stopped.
local function disturbed(most, f)
  alarm.set(1 + math.floor(1e6 * most * math.random()))
  local good, result = pcall(f)
  local early, elapsed, used = alarm.elapsed()
  if early then outside = outside + 1 end
  if good then return result end
  if not tostring(result):find "interrupted" or not elapsed then error(result, 0) end
  stopped = stopped + 1
  longest, most_used = math.max(longest, elapsed), math.max(most_used, used)
end

local function numbers(list, out)
  for i = 1, #list do
    if type(list[i]) == "number" then out[#out + 1] = ("%a"):format(list[i]) else numbers(list[i], out) end
  end
  return out
end

local function digest(...)
  local out = {}
  for _, part in ipairs { ... } do numbers(part, out) end
  return table.concat(out, " ")
end

-- ---- runs, which go on ----

local function state(simu)
  local ds = simu:nsds():dynamicalSystem(1)
  return simu:step() .. " " .. digest(ds:x(), simu:nsds():interaction(1):lambda(), simu:nsds():interaction(1):y(0))
end

-- Makes at most so many steps; returns whether the simulation is at its end.
local function by_hand(simu, most)
  local last = simu:step() + most
  while simu:hasNextEvent() and simu:step() < last do
    simu:computeOneStep()
    simu:nextStep()
  end
  return not simu:hasNextEvent()
end

local function in_one_call(simu)
  return simu:run { record = 1000 }
end

-- The number of steps that take about a fifth of a second.
local function steps_of(make)
  local start, simu = os.clock(), make(200)
  simu:run()
  return math.min(1000000, math.max(400, math.floor(200 * 0.2 / (os.clock() - start))))
end

local function runs(make)
  local steps = steps_of(make)
  local start, undisturbed = os.clock(), make(steps)
  by_hand(undisturbed, steps)
  local seconds = os.clock() - start
  while stopped < count do
    local simu = make(steps)
    repeat
      local go, before = math.random(4) == 1 and by_hand or in_one_call, simu:step()
      local result = disturbed(seconds / 4, function() return go(simu, steps // 8) end)
      assert(simu:step() >= before, "went back")
    until result or stopped >= count
    by_hand(simu, steps)
    assert(state(simu) == state(undisturbed), "not the same bits after it")
  end
end

-- ---- calls, which are made again ----

local function matrix(n, entry)
  local A = ns.zeros(n, n)
  for i = 1, n do
    for j = 1, n do A[i][j] = entry(i, j) end
  end
  return A
end

local calls = {}

function calls.solve_ivp()
  return function()
    local sol = ns.solve_ivp(function(t, y) return { y[2], math.sin(t) - 9 * math.sin(y[1]) - 0.1 * y[2] } end, { 0, 60 },
      { 1, 0 }, { rtol = 1e-8, atol = 1e-8, method = "DOP853" })
    return digest(sol.t, sol.y[1], sol.y[2])
  end
end

calls["solve_ivp, stiff"] = function()
  return function()
    local sol = ns.solve_ivp(function(_, y) return { y[2], 100 * (1 - y[1] ^ 2) * y[2] - y[1] } end, { 0, 400 }, { 2, 0 },
      { rtol = 1e-6, atol = 1e-8, method = "Radau" })
    return digest(sol.t, sol.y[1], sol.y[2])
  end
end

function calls.dae()
  local pendulum = require "pendulum"(3)
  return function()
    local solution = ns.dae("radau", pendulum, { rtol = 1e-7, atol = 1e-7 }):solve({ 0, 3 }, { 1, 0, 0, 0, 0 },
      { 0, 0, 0, -9.81, 0 })
    if solution.message:find "interrupted" then error(solution.message) end
    return digest(solution.values.y[2])
  end
end

-- The solver's own time is most of it, and the last call is made in the session that IPOPT was stopped in.
calls["optimal control"] = function()
  return function()
    local best = ns.optimal_control { states = { "x", "v" }, controls = { "u" },
      relays = { { "s", function(x) return x.v end } }, rhs = function(x, u, s) return { x.v, u.u - 2 * s.s } end,
      start = { x = 0, v = 0 }, goal = { x = 1, v = 0 }, T = 1.5, cost = function(_, u) return u.u ^ 2 end, elements = 12 }
    return digest(best.t, best.u)
  end
end

function calls.minimize()
  local function f(x)
    local sum = 0
    for i = 1, 29 do sum = sum + 100 * (x[i + 1] - x[i] ^ 2) ^ 2 + (1 - x[i]) ^ 2 end
    return sum
  end
  return function() return digest(ns.minimize(f, ns.full(30, -1)).x) end
end

calls["least squares"] = function()
  local function f(p)
    local r = {}
    for i = 1, 400 do
      local t = i / 100
      r[i] = p[1] * math.exp(-p[2] * t) + p[3] * math.exp(-p[4] * t) - math.exp(-t / 1.5) - 0.1 * math.sin(i)
    end
    return r
  end
  return function() return digest(ns.least_squares(f, { 1, 0.2, 0.5, 3 }).x) end
end

function calls.mcp()
  local n = 40
  local function F(z)
    local f = {}
    for i = 1, n do
      f[i] = 4 * z[i] - (i > 1 and z[i - 1] or 0) - (i < n and z[i + 1] or 0) + z[i] ^ 3 + math.sin(7 * i)
    end
    return f
  end
  return function() return digest(ns.numerics.mcp { F = F, z0 = ns.zeros(n) }.z) end
end

function calls.lcp()
  local n = 220
  local M = matrix(n, function(i, j) return math.sin(i * j) + (i == j and 2 * math.sqrt(n) or 0) end)
  local q = {}
  for i = 1, n do q[i] = math.cos(3 * i) end
  return function() return digest(ns.numerics.lcp { M = M, q = q, solver = "lemke" }.z) end
end

local function again(f)
  local start, expected = os.clock(), f()
  local seconds = os.clock() - start
  while stopped < count do
    local result = disturbed(seconds, f)
    assert(not result or result == expected, "not the same result after it")
  end
  assert(f() == expected, "not the same result after it")
end

-- A run that allocates memory for more rows than it will ever have.
calls["a thousand million rows"] = function()
  return function()
    local simu = models.relay(1e7)
    simu:setVerbose(false)
    return simu:run() and ""
  end, 0.03
end

if kinds.make[name] then
  runs(kinds.make[name])
else
  local f, most = calls[name]()
  if most then
    while stopped < count do disturbed(most, f) end
  else
    again(f)
  end
end
print(("%d stopped, %d outside, at most %.6f s, of the processor %.6f s"):format(stopped, outside, longest, most_used))
