--
-- bench_linalg.lua
-- Single parts: elements of vectors and matrices, callbacks, linear solves, complementarity problems.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

-- ---- elements ----

local v, A, list, rows = ns.zeros(8), ns.zeros(8, 8), {}, {}
for i = 1, 8 do
  list[i], rows[i] = 0.0, {}
  for j = 1, 8 do rows[i][j] = 0.0 end
end

-- Ten accesses in each turn, so that the loop itself costs little.
local function reader(a)
  return function(n)
    local s = 0
    for _ = 1, n do
      s = a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7] + a[8] + a[1] + a[2]
    end
    return s
  end
end

local function writer(a)
  return function(n)
    for i = 1, n do
      a[1] = i; a[2] = i; a[3] = i; a[4] = i; a[5] = i; a[6] = i; a[7] = i; a[8] = i; a[1] = i; a[2] = i
    end
  end
end

local function reader2(a)
  return function(n)
    local s = 0
    for _ = 1, n do
      s = a[1][1] + a[2][2] + a[3][3] + a[4][4] + a[5][5] + a[6][6] + a[7][7] + a[8][8] + a[1][2] + a[2][1]
    end
    return s
  end
end

local function writer2(a)
  return function(n)
    for i = 1, n do
      a[1][1] = i; a[2][2] = i; a[3][3] = i; a[4][4] = i; a[5][5] = i
      a[6][6] = i; a[7][7] = i; a[8][8] = i; a[1][2] = i; a[2][1] = i
    end
  end
end

local elements = {}
for _, case in ipairs {
  { "v[i], reading", reader, v, list },
  { "v[i] = x, writing", writer, v, list },
  { "A[i][j], reading", reader2, A, rows },
  { "A[i][j] = x, writing", writer2, A, rows },
} do
  local name, make, ours, plain = table.unpack(case)
  local a, b = common.turn(make(ours)) / 10, common.turn(make(plain)) / 10
  elements[#elements + 1] = { name, common.ns(a), common.ns(b), common.ratio(a, b) }
end
common.table("Elements, ns each", { "", "nslua", "Lua table", "times the table" }, elements)

-- ---- callbacks ----

-- A step of x' = b and a step of x' = b(t) with an empty callback: the difference is the cost of the call.
local function stepping(b)
  local dyn = ns.FirstOrderLinearDS { x0 = { 1, 1, 1, 1 }, A = ns.zeros(4, 4), b = b }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(dyn)
  local B = { { 1 }, { 0 }, { 0 }, { 0 } }
  local relation = ns.FirstOrderLinearTIR { C = { { 1, 0, 0, 0 } }, B = B, D = { { 1 } } }
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation), dyn)
  local grid = ns.TimeDiscretisation(0, 1e-3)
  local simu = ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1), ns.LCP())
  local steps = simu:numberOfSteps()
  return common.per_step(simu, steps, function() simu:run { progress = false } end, 60)
end

local calls = 0
stepping(function() calls = calls + 1 end)
calls = calls / 61 / 1000
local constant, empty = stepping { 0, 0, 0, 0 }, stepping(function() end)
local plain = common.turn(function(n)
  local f = function() end
  for _ = 1, n do f() end
end)
common.table("Callbacks", { "", "ns" }, {
  { ("one call of an empty b(t, z, b), %.2f of them a step"):format(calls), common.ns((empty - constant) / calls) },
  { "one call of an empty function within Lua", common.ns(plain) },
})

-- ---- linear systems ----

-- The same numbers in every run.
local state = 12345
local function random()
  state = (state * 1103515245 + 12345) % 2147483648
  return state / 2147483648 - 0.5
end

local function square(n)
  local M = {}
  for i = 1, n do
    M[i] = {}
    for j = 1, n do M[i][j] = random() + (i == j and n or 0) end
  end
  return M
end

-- Elimination with partial pivoting on copies of Lua tables.
local function eliminate(M, q)
  local n, a, x = #q, {}, table.move(q, 1, #q, 1, {})
  for i = 1, n do a[i] = table.move(M[i], 1, n, 1, {}) end
  for k = 1, n do
    local p = k
    for i = k + 1, n do
      if math.abs(a[i][k]) > math.abs(a[p][k]) then p = i end
    end
    a[k], a[p], x[k], x[p] = a[p], a[k], x[p], x[k]
    for i = k + 1, n do
      local f = a[i][k] / a[k][k]
      for j = k + 1, n do a[i][j] = a[i][j] - f * a[k][j] end
      x[i] = x[i] - f * x[k]
    end
  end
  for i = n, 1, -1 do
    for j = i + 1, n do x[i] = x[i] - a[i][j] * x[j] end
    x[i] = x[i] / a[i][i]
  end
  return x
end

local solves = {}
for _, n in ipairs { 4, 16, 64 } do
  local M, q = square(n), {}
  for i = 1, n do q[i] = random() end
  local E, b = ns.matrix(M), ns.vector(q)
  local factors = ns.lu(E)
  local full = common.turn(function(turns) for _ = 1, turns do ns.solve(E, b) end end)
  local again = common.turn(function(turns) for _ = 1, turns do factors:solve(b) end end)
  local lua = common.turn(function(turns) for _ = 1, turns do eliminate(M, q) end end, 3)
  solves[#solves + 1] = { "n = " .. n, common.us(full), common.us(again), common.us(lua), common.ratio(lua, full) }
end
common.table("A x = b, us", { "", "ns.solve(A, b)", "lu:solve(b)", "plain Lua", "solve: times faster" }, solves)

-- ---- complementarity ----

local problems = {}
for _, n in ipairs { 2, 4, 16, 64 } do
  local M, q = square(n), {}
  for i = 1, n do q[i] = 4 * random() end
  local row = { "n = " .. n, "-", "-", "-", "-" }
  for j, method in ipairs(common.box and { "default", "pivot", "pgs" } or {}) do
    local least, answer = math.huge, nil
    for _ = 1, 7 do
      answer = common.box { M = M, q = q, method = method, repeats = math.max(1, 20000 // (n * n)) }
      least = math.min(least, answer.seconds)
    end
    row[1 + j] = answer.status == "NS_OK" and common.us(least) or answer.status
    if j == 1 then row[5] = answer.solver end
  end
  problems[#problems + 1] = row
end
local heads = { "", "default", "pivot", "pgs", "default is" }
common.table("Linear complementarity, cold start, us (wall clock)", heads, problems)
if not common.box then common.skipped "complementarity: this build keeps the engine's solvers to itself" end
