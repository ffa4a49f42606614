--
-- bench_ode.lua
-- Initial value problems: ns.solve_ivp beside SciPy's; compiled, beside CVODE by hand in C, at the same error.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local problems = dofile(directory .. "problems.lua")

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

local SAMPLES = 10
local flags = (os.getenv "CPPFLAGS" or "") .. " -O2"
local libraries = " -lsundials_cvode -lsundials_sunlinsoldense -lsundials_sunmatrixdense -lsundials_nvecserial "
  .. "-lsundials_sunnonlinsolfixedpoint -lm"
local program, no_program = common.compile("cvode.c", "cc", flags, (os.getenv "LDFLAGS" or "") .. libraries)

-- {seconds, error} of runs with rtol from 1e-4 to 1e-12: of a method of nslua, and of one of CVODE in C.
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
  { "four_bar", explicit, "adams", 10 }, { "four_bar", implicit, "bdf", 10 },
  { "pinned", explicit, "adams", 4 }, { "pinned", implicit, "bdf", 4 }, { "vdp", implicit, "bdf", 2000 },
} do
  local name, methods, way, T = table.unpack(case)
  local plain, _, y0 = problems[name]()
  local f, exact = ns.compile(plain), {}
  local sol = ns.solve_ivp(f, { 0, T }, y0, { method = name == "vdp" and "Radau" or "DOP853", rtol = 1e-13,
    atol = 1e-15, t_eval = ns.linspace(0, T, SAMPLES + 1) })
  for k = 1, SAMPLES + 1 do exact[k] = sol.y:column(k) end
  local ways = {}
  for i, method in ipairs(methods) do
    ways[i] = (has_cvode or i < 3) and of_method(f, T, y0, exact, method) or {}
  end
  local peer = of_peer(name, way, exact, #y0)
  for k = 4, 8, 2 do
    local e, times, least = 10.0 ^ -k, {}, nil
    for i = 1, 3 do times[i] = common.at_error(ways[i], e) end
    for i = 1, 2 do least = math.min(times[i] or math.huge, least or math.huge) end
    local c = common.at_error(peer, e)
    rows[#rows + 1] = { ("%s, %g"):format(name, e), ("%s %s"):format(methods[1], common.us(times[1])),
      ("%s %s"):format(methods[2], common.us(times[2])), ("%s %s"):format(methods[3], common.us(times[3])),
      common.us(c), common.ratio(times[3], c), least < math.huge and common.ratio(c, least) or "-" }
  end
end
common.table("solve_ivp with compiled callbacks beside CVODE in C, by the error: microseconds", {
  "", "", "", "CVODE here", "in C", "here / C", "C / best of ours",
}, rows)
common.skipped(no_scipy, no_program, not has_cvode and "nslua.sundials is not built (make sundials)" or nil)
