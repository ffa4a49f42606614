--
-- bench_compiled.lua
-- Compiled callbacks: ns.solve_ivp with ns.compile beside a loop in C, and beside SciPy's.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local problems = dofile(directory .. "problems.lua")

-- Seconds of a run, and its solution; the first call traces and compiles the callback.
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
