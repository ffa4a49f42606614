--
-- bench_scale.lua
-- Growth with the size: steps of a circuit ladder, sweeps of PSOR and NSGS, sparse complementarity problems.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local sizes = { 100, 1000, 10000, 100000 }

-- The slope of log seconds over log n, by least squares; 1 means proportional to n.
local function exponent(points)
  local sx, sy, sxx, sxy, count = 0, 0, 0, 0, #points
  for _, p in ipairs(points) do
    local x, y = math.log(p[1]), math.log(p[2])
    sx, sy, sxx, sxy = sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (count * sxy - sx * sy) / (count * sxx - sx * sx)
end

local function say(what, points)
  local above = {}
  for _, p in ipairs(points) do
    if p[1] >= 900 then above[#above + 1] = p end
  end
  print(("  %s grows like n^%.2f (from 1e3 on: n^%.2f)"):format(what, exponent(points), exponent(above)))
end

local function wave(n, frequency)
  local v = ns.vector(n)
  for i = 1, n do v[i] = math.sin(frequency * i) end
  return v
end

-- ---- a ladder: n cells with a diode each, state and multipliers in one sparse problem of order 2 n ----

local function ladder(n)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local ds = ns.FirstOrderLinearTIDS(wave(n, 0.37), ns.spdiags({ 1, -2, 1 }, { -1, 0, 1 }, n), wave(n, 0.11))
  nsds:insertDynamicalSystem(ds)
  local one = ns.speye(n)
  local relation = ns.FirstOrderLinearTIR { C = one, B = one, D = one * 0.1 }
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(n), relation), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5), ns.LCP())
end

local rows, points = {}, {}
for _, n in ipairs(sizes) do
  local simu, iterations = ladder(n), 0
  local start = os.clock()
  simu:computeOneStep()
  simu:nextStep()
  local first, steps, least = os.clock() - start, math.max(5, math.min(90, 200000 // n)), math.huge
  for _ = 1, 3 do
    simu:reset()
    simu:computeOneStep()
    simu:nextStep()
    iterations = 0
    start = os.clock()
    for _ = 1, steps do
      simu:computeOneStep()
      iterations = iterations + simu:osnspb():info().iterations
      simu:nextStep()
    end
    least = math.min(least, (os.clock() - start) / steps)
  end
  points[#points + 1] = { n, least }
  rows[#rows + 1] = { "n = " .. n, common.us(first), common.us(least), common.ns(least / n),
    ("%.1f"):format(iterations / steps), simu:osnspb():info().solver }
end
common.table("A ladder of n diodes, theta = 0.5, sparse",
  { "", "first step, us", "a step, us", "a step and diode, ns", "active sets", "solver" }, rows)
say("a step", points)

-- ---- sweeps ----

-- Seconds of a sweep: from the difference of two runs with few sweeps, so that the setup does not count.
local function sweep(solve)
  local few, many = 10, 40
  local a, b = math.huge, math.huge
  for _ = 1, 3 do
    a, b = math.min(a, solve(few)), math.min(b, solve(many))
  end
  return math.max(b - a, 1e-9) / (many - few)
end

rows, points = {}, {}
for _, n in ipairs(sizes) do
  local M, q = ns.spdiags({ -1, 2, -1 }, { -1, 0, 1 }, n), wave(n, 20 / n)
  local seconds = sweep(function(count)
    local r = ns.numerics.lcp { M = M, q = q, solver = "psor", max_iterations = count, tolerance = 1e-14 }
    return r.time
  end)
  points[#points + 1] = { n, seconds }
  rows[#rows + 1] = { "n = " .. n, 3 * n - 2, common.us(seconds), common.ns(seconds / (3 * n - 2)) }
end
common.table("PSOR on an obstacle problem", { "", "non-zeros", "a sweep, us", "a sweep and non-zero, ns" }, rows)
say("a sweep", points)

package.path = directory .. "../spec/?.lua;" .. package.path
local random_friction = require "random_friction"
for dim = 2, 3 do
  rows, points = {}, {}
  for _, n in ipairs(sizes) do
    math.randomseed(8)
    local p = random_friction.pile(dim, n // dim // 2 * 2)
    local W = ns.sparse { rows = p.n, cols = p.n, i = p.i, j = p.j, v = p.v }
    local o = { W = W, q = p.q, mu = p.mu, solver = "nsgs", tolerance = 1e-15 }
    local iterations
    local seconds = sweep(function(count)
      o.max_iterations = count
      local r = ns.numerics[dim == 2 and "fc2d" or "fc3d"](o)
      iterations = r.iterations
      return r.time
    end)
    points[#points + 1] = { p.n, seconds }
    rows[#rows + 1] = { "n = " .. p.n, p.nc, W:nnz(), common.us(seconds), common.ns(seconds / W:nnz()), iterations }
    p, W, o = nil, nil, nil -- luacheck: ignore
    collectgarbage()
  end
  common.table(("NSGS on piles of bodies, %dD"):format(dim), { "", "contacts", "non-zeros", "a sweep, us",
    "a sweep and non-zero, ns", "sweeps" }, rows)
  say("a sweep", points)
end

-- ---- whole problems ----

local function grid(k)
  local n = k * k
  local x, y, v = {}, {}, {}
  local function put(i, j, a) x[#x + 1], y[#y + 1], v[#v + 1] = i, j, a end
  for i = 1, n do
    put(i, i, 4)
    if i % k ~= 0 then
      put(i, i + 1, -1)
      put(i + 1, i, -1)
    end
    if i + k <= n then
      put(i, i + k, -1)
      put(i + k, i, -1)
    end
  end
  return ns.sparse { rows = n, cols = n, i = x, j = y, v = v }
end

local function whole(title, most, make)
  for _, method in ipairs { "default", "newton_min", "newton_fb", "interior" } do
    rows, points = {}, {}
    for k = 1, most do
      local n = sizes[k]
      local M, q = make(n)
      local r = ns.numerics.lcp { M = M, q = q, solver = method }
      if r.success then points[#points + 1] = { #q, r.time } end
      rows[#rows + 1] = { "n = " .. #q, r.success and "yes" or r.status, ("%.0e"):format(r.relative),
        ("%.4f"):format(r.time), r.iterations, r.solver }
      if not r.success then break end
    end
    common.table(title .. ", " .. method, { "", "solved", "residual", "s", "iterations", "solver" }, rows)
    if #points > 2 then say("the time", points) end
  end
end

whole("An obstacle under a string, far away", 4, function(n)
  return ns.spdiags({ -1, 2, -1 }, { -1, 0, 1 }, n), wave(n, 20 / n)
end)
whole("An obstacle under a membrane", 3, function(n)
  local k = math.floor(math.sqrt(n))
  local q = ns.vector(k * k)
  for i = 1, k * k do q[i] = math.sin(7 * i / k / k) * math.cos(11 * (i % k) / k) - 0.1 end
  return grid(k), q
end)
