--
-- bench_compiled.lua
-- Compiled callbacks: ns.solve_ivp with ns.compile beside a loop in C, and beside SciPy's.
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

-- Van der Pol's.
function problems.oscillator()
  return function(_, y, f)
    f[1] = y[2]
    f[2] = 5 * (1 - y[1] ^ 2) * y[2] - y[1]
  end, 50, { 2, 0 }
end

-- A link pinned at one end: B' M B theta'' = B' Q, B the rates of its coordinates (x, y, theta) by theta.
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
  local la, lb, lc, ln = 0.8, 2, 1, 2
  local q1 = math.rad(10)
  local r = ns.fsolve(function(r)
    local b, c = q1 + r[1], q1 + r[1] + r[2]
    return { la * cos(q1) + lb * cos(b) + lc * cos(c) - ln, la * sin(q1) + lb * sin(b) + lc * sin(c) }
  end, { math.rad(20), math.rad(-150) }, { xtol = 1e-14 })
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
  end, 30, { q1, r[1], r[2], 0 }
end

-- Seconds of a run, and its solution; at the first call the callback is traced and compiled.
local function run(f, T, y0, options)
  local sol = ns.solve_ivp(f, { 0, T }, y0, options)
  return common.best(12, function() ns.solve_ivp(f, { 0, T }, y0, options) end), sol
end

local function apart(y, sol)
  return y and ("%.1e"):format(math.abs(y - sol.y[1][#sol.t])) or "-"
end

-- ---- a loop in C ----

local program, no_program = common.compile("ode.c", "cc", "-O2 -std=c11 -D_XOPEN_SOURCE=700", "-lm")
local rows = {}
for _, case in ipairs { { "oscillator", 1e-6 }, { "pendulum", 1e-6 }, { "lorenz", 1e-6 }, { "pinned", 1e-6 } } do
  local name, rtol = table.unpack(case)
  local f, T, y0 = problems[name]()
  local options = { rtol = rtol, atol = 1e-2 * rtol }
  local plain = run(f, T, y0, options)
  local tape = run(ns.compile(f, { native = false }), T, y0, options)
  local native, sol = run(ns.compile(f), T, y0, options)
  local c = common.peer(program, name, rtol)
  rows[#rows + 1] = { ("%s, RK45, %g"):format(name, rtol), common.us(plain), common.us(tape), common.us(native),
    common.us(c.time), common.ratio(native, c.time), ("%d / %d"):format(sol.nfev, c.nfev or 0),
    apart(c.y, sol) }
end
common.table("solve_ivp beside a loop in C: microseconds of a run (goal: native within 5 C loops)", {
  "", "plain Lua", "tape", "native", "C", "native / C", "nfev", "y1 apart",
}, rows)

-- ---- SciPy ----

local scipy, no_scipy = common.scipy "ode.py"
rows = {}
for _, case in ipairs {
  { "four_bar", "four_bar", "RK45", 1e-6 }, { "four_bar", "four_bar", "DOP853", 1e-10 },
  { "four_bar", "four_bar", "Radau", 1e-6 }, { "four_bar", "kane", "RK45", 1e-6 },
  { "four_bar", "kane", "DOP853", 1e-10 }, { "pinned", "embedded", "RK45", 1e-6 },
  { "pinned", "pinned", "RK45", 1e-6 }, { "pinned", "pinned", "DOP853", 1e-10 },
  { "pinned", "pinned", "Radau", 1e-6 },
  { "pendulum", "pendulum", "DOP853", 1e-10 }, { "oscillator", "oscillator", "Radau", 1e-6 },
} do
  local name, theirs, method, rtol = table.unpack(case)
  local f, T, y0 = problems[name]()
  local options = { rtol = rtol, atol = 1e-2 * rtol, method = method }
  local plain = run(f, T, y0, options)
  local native, sol = run(ns.compile(f), T, y0, options)
  local py = common.peer(scipy, theirs, method, rtol)
  rows[#rows + 1] = { ("%s, %s, %g"):format(theirs, method, rtol), common.us(native), common.us(plain),
    common.us(py.time), common.ratio(py.time, native), common.ratio(py.time, plain),
    ("%d / %d"):format(sol.nfev, py.nfev or 0), apart(py.y, sol) }
end
local goals = "(goal: 100 times with compiled callbacks, 20 with plain ones)"
common.table("solve_ivp beside SciPy's: microseconds of a run " .. goals, {
  "", "compiled", "plain Lua", "SciPy", "ratio", "plain ratio", "nfev", "y1 apart",
}, rows)

-- ---- what compiling costs ----

rows = {}
for _, name in ipairs { "oscillator", "four_bar" } do
  for _, native in ipairs { false, "tcc", "cc" } do
    local f, _, y0 = problems[name]()
    local y, ydot = ns.vector(y0), ns.zeros(#y0)
    local c = ns.compile(f, { native = native })
    local start = os.time()
    local clock = common.clock()
    local good = pcall(c, 0, y, ydot)
    local trace = c:traces()[1]
    if good then
      rows[#rows + 1] = { name, native or "tape", tostring(trace.operations), common.us(common.clock() - clock),
        ("%d"):format(os.time() - start), common.ns(common.turn(function(n) for _ = 1, n do c(0, y, ydot) end end)),
        common.ns(common.turn(function(n) for _ = 1, n do f(0, y, ydot) end end)) }
    end
  end
end
common.table("Compiling: microseconds of this process (not the compiler's own), and a call from Lua in ns", {
  "", "", "operations", "us", "s in all", "call", "plain call",
}, rows)
common.skipped(no_program, no_scipy)
