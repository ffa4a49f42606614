--
-- bench_ode.lua
-- Initial value problems: ns.solve_ivp beside SciPy's.
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
common.skipped(no_scipy)
