--
-- bench_ode.lua
-- Initial value problems: ns.solve_ivp beside SciPy's; compiled, beside CVODE by hand in C, at the same error.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local sin, cos = math.sin, math.cos

local problems = {}

function problems.lorenz()
  return function(_, y, f)
    f[1] = 10 * (y[2] - y[1])
    f[2] = y[1] * (28 - y[3]) - y[2]
    f[3] = y[1] * y[2] - 8 / 3 * y[3]
  end, 10, { 1, 1, 1 }
end

-- The angles and speeds of a double pendulum of unit masses and lengths.
function problems.pendulum()
  return function(_, y, f)
    local d = y[1] - y[2]
    local c, s = cos(d), sin(d)
    local a, b = -s * y[4] ^ 2 - 2 * 9.81 * sin(y[1]), s * y[3] ^ 2 - 9.81 * sin(y[2])
    local det = 2 - c * c
    f[1], f[2] = y[3], y[4]
    f[3], f[4] = (a - c * b) / det, (2 * b - c * a) / det
  end, 5, { 1, 0.5, 0, 0 }
end

function problems.vdp()
  return function(_, y, f)
    f[1] = y[2]
    f[2] = 1000 * (1 - y[1] ^ 2) * y[2] - y[1]
  end, 3000, { 2, 0 }
end

function problems.robertson()
  return function(_, y, f)
    local a, b, c = 0.04 * y[1], 1e4 * y[2] * y[3], 3e7 * y[2] ^ 2
    f[1], f[2], f[3] = -a + b, a - b - c, c
  end, 1e6, { 1, 0, 0 }
end

-- A rod of 50 points, its left end heated.
function problems.heat()
  local n, y0 = 50, {}
  for i = 1, n do y0[i] = 0 end
  return function(_, y, f)
    local k = (n + 1) ^ 2
    f[1] = k * (1 - 2 * y[1] + y[2])
    for i = 2, n - 1 do f[i] = k * (y[i - 1] - 2 * y[i] + y[i + 1]) end
    f[n] = k * (y[n - 1] - 2 * y[n])
  end, 1, y0
end

local cases = {
  { "lorenz", "RK45", 1e-6 }, { "lorenz", "DOP853", 1e-10 },
  { "pendulum", "RK45", 1e-6 }, { "pendulum", "DOP853", 1e-10 },
  { "pendulum", "Radau", 1e-8 }, { "vdp", "Radau", 1e-6 }, { "vdp", "BDF", 1e-6 }, { "robertson", "Radau", 1e-6 },
  { "robertson", "BDF", 1e-6 }, { "heat", "Radau", 1e-6 }, { "heat", "BDF", 1e-6 },
}

local scipy, no_scipy = common.scipy "ode.py"
local rows = {}
for _, case in ipairs(cases) do
  local name, method, rtol = table.unpack(case)
  local f, T, y0 = problems[name]()
  local options, sol = { method = method, rtol = rtol, atol = 1e-2 * rtol }, nil
  local mine = common.best(5, function() sol = ns.solve_ivp(f, { 0, T }, y0, options) end)
  local py = common.peer(scipy, name, method, rtol)
  local last = #sol.t
  rows[#rows + 1] = {
    ("%s, %s, %g"):format(name, method, rtol), common.us(mine), common.us(py.time), common.ratio(py.time, mine),
    ("%d / %d"):format(sol.nfev, py.nfev or 0), ("%d / %d"):format(sol.njev, py.njev or 0),
    ("%d / %d"):format(sol.nlu, py.nlu or 0), ("%d / %d"):format(last - 1, py.steps or 0),
    py.y and ("%.1e"):format(math.abs(py.y - sol.y[1][last])) or "-",
  }
end
common.table("solve_ivp: microseconds in all; counts are ours / SciPy's", {
  "", "nslua", "SciPy", "ratio", "nfev", "njev", "nlu", "steps", "y1 apart",
}, rows)

-- ---- CVODE ----

function problems.stiff()
  local f, _, y0 = problems.vdp()
  return f, 2000, y0
end

-- A link pinned at one end, by its angle.
function problems.pinned()
  local l, m = 1, 0.1
  return function(_, y, f)
    local bx, by = -l / 2 * sin(y[1]), l / 2 * cos(y[1])
    f[1] = y[2]
    f[2] = -by * m * 9.81 / (m * bx ^ 2 + m * by ^ 2 + m * l ^ 2 / 12)
  end, 4, { 0, 0 }
end

-- A four-bar linkage by Kane's equation: scripts/four_bar.lua has it in full.
function problems.four_bar()
  local la, lb, lc = 0.8, 2, 1
  return function(_, x, f)
    local a, b, c, u1 = x[1], x[1] + x[2], x[1] + x[2] + x[3], x[4]
    local beta, gamma = -la * sin(c - a) / (lb * sin(c - b)), -la * sin(b - a) / (lc * sin(b - c))
    local wb, wc = beta * u1, gamma * u1
    local rate = beta * ((wc - u1) * cos(c - a) / sin(c - a) - (wc - wb) * cos(c - b) / sin(c - b))
    local vx, vy = -la * sin(a) - lb * beta * sin(b), la * cos(a) + lb * beta * cos(b)
    local dx = -la * u1 * cos(a) - lb * (beta * wb * cos(b) + rate * sin(b))
    local dy = -la * u1 * sin(a) - lb * (beta * wb * sin(b) - rate * cos(b))
    f[1], f[2], f[3] = u1, (beta - 1) * u1, (gamma - beta) * u1
    f[4] = -((vx * dx + vy * dy) * u1 + 9.81 * (la * cos(a) + vy)) / (la ^ 2 + vx ^ 2 + vy ^ 2)
  end, 10, { 0.1745329251994329576, 0.1147600367903035488, -2.642142839876820962, 0 }
end

local SAMPLES = 10
local flags = (os.getenv "CPPFLAGS" or "") .. " -O2"
local libraries = " -lsundials_cvode -lsundials_sunlinsoldense -lsundials_sunmatrixdense -lsundials_nvecserial "
  .. "-lsundials_sunnonlinsolfixedpoint -lm"
local program, no_program = common.compile("cvode.c", "cc", flags, (os.getenv "LDFLAGS" or "") .. libraries)

-- {seconds, error} of runs from rtol 1e-4 to 1e-12, of a method here and of one of CVODE in C.
local function of_method(f, T, y0, exact, method)
  local points, samples = {}, ns.linspace(0, T, SAMPLES + 1)
  for k = 4, 12 do
    local options = { method = method, rtol = 10.0 ^ -k, atol = 10.0 ^ -(k + 2), t_eval = samples }
    local sol
    local seconds = common.best(7, function() sol = ns.solve_ivp(f, { 0, T }, y0, options) end)
    points[#points + 1] = { seconds, common.off(exact, #y0, function(i, j) return sol.y[j][i] end) }
  end
  return points
end

local function of_peer(name, way, exact, n)
  local points = {}
  for k = 4, program and 12 or 0 do
    local c = common.peer(program, name, way, 10.0 ^ -k)
    if c.time then
      points[#points + 1] = { c.time, common.off(exact, n, function(i, j) return c[("y%d_%d"):format(i - 1, j)] end) }
    end
  end
  return points
end

local has_cvode = pcall(ns.solve_ivp, function() return { 0 } end, { 0, 1 }, { 0 }, { method = "CVODE_BDF" })
rows = {}
local explicit, implicit = { "RK45", "DOP853", "CVODE_Adams" }, { "Radau", "BDF", "CVODE_BDF" }
for _, case in ipairs {
  { "four_bar", "four_bar", explicit, "adams" }, { "four_bar", "four_bar", implicit, "bdf" },
  { "pinned", "pinned", explicit, "adams" }, { "pinned", "pinned", implicit, "bdf" },
  { "stiff", "vdp", implicit, "bdf" },
} do
  local name, theirs, methods, way = table.unpack(case)
  local plain, T, y0 = problems[name]()
  local f, exact = ns.compile(plain), {}
  local sol = ns.solve_ivp(f, { 0, T }, y0, { method = name == "stiff" and "Radau" or "DOP853", rtol = 1e-13,
    atol = 1e-15, t_eval = ns.linspace(0, T, SAMPLES + 1) })
  for k = 1, SAMPLES + 1 do exact[k] = sol.y:column(k) end
  local ways = {}
  for i, method in ipairs(methods) do
    ways[i] = (has_cvode or i < 3) and of_method(f, T, y0, exact, method) or {}
  end
  local peer = of_peer(theirs, way, exact, #y0)
  for k = 4, 8, 2 do
    local e, times, least = 10.0 ^ -k, {}, nil
    for i = 1, 3 do times[i] = common.at_error(ways[i], e) end
    for i = 1, 2 do least = math.min(times[i] or math.huge, least or math.huge) end
    local c = common.at_error(peer, e)
    rows[#rows + 1] = { ("%s, %g"):format(theirs, e), ("%s %s"):format(methods[1], common.us(times[1])),
      ("%s %s"):format(methods[2], common.us(times[2])), ("%s %s"):format(methods[3], common.us(times[3])),
      common.us(c), common.ratio(times[3], c), least < math.huge and common.ratio(c, least) or "-" }
  end
end
common.table("solve_ivp with compiled callbacks beside CVODE in C, by the error: microseconds", {
  "", "", "", "CVODE here", "in C", "here / C", "C / best of ours",
}, rows)
common.skipped(no_scipy, no_program, not has_cvode and "nslua.sundials is not built (make sundials)" or nil)
