--
-- bench_events.lua
-- Events that act: a spiral whose sense of rotation switches on the unit circle, by restarts written by hand and by
-- `apply`; evaluations, time and error for each tolerance, and what a restart costs.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local problems = dofile(directory .. "problems.lua")

local f, switch, T, y0, exact = problems.disc()

local function error_of(y1, y2) return math.max(math.abs(y1 - exact[1]), math.abs(y2 - exact[2])) end

local function row(name, rtol, run)
  local nfev, steps, off
  local seconds = common.best(7, function() nfev, steps, off = run(rtol) end)
  return { ("%s, %g"):format(name, rtol), common.us(seconds), nfev, steps, ("%.1e"):format(off) }
end

local function by_apply(method)
  return function(rtol)
    switch(1)
    local sol = ns.solve_ivp(f, { 0, T }, y0, { method = method, rtol = rtol, atol = rtol,
      events = { g = function(_, y) return y[1] ^ 2 + y[2] ^ 2 - 1 end, apply = function() switch(-1) end } })
    local last = #sol.t
    return sol.nfev, sol.nsteps, error_of(sol.y[1][last], sol.y[2][last])
  end
end

local rows = {}
for _, rtol in ipairs { 1e-6, 1e-9, 1e-12 } do
  rows[#rows + 1] = row("DOP853 by hand", rtol, function(tolerance)
    local nfev, steps, y1, y2 = problems.disc_by_hand("DOP853", tolerance)
    return nfev, steps, error_of(y1, y2)
  end)
  for _, method in ipairs { "DOP853", "RK45", "Radau", "BDF" } do
    rows[#rows + 1] = row(method .. " with apply", rtol, by_apply(method))
  end
end
common.table("A switch on the unit circle: microseconds in all", { "", "nslua", "nfev", "steps", "error" }, rows)

-- ---- the cost of a restart ----

-- Evaluations and steps of n restarts that change nothing, beyond those of the same run with events that do not act.
local function restarts(method, n)
  local function nearest(t) return math.sin(n * math.pi * t / 9.9) end
  local function run(apply)
    return ns.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0.01, 9.99 }, { 1, 0 },
      { method = method, rtol = 1e-9, atol = 1e-11, events = { g = nearest, apply = apply } })
  end
  local plain, acting = run(nil), run(function() end)
  local count = #acting.t_events[1]
  local each = ("%.1f"):format((acting.nfev - plain.nfev) / count)
  return { method, count, plain.nfev, acting.nfev, each, acting.nrejected }
end

rows = {}
for _, method in ipairs { "DOP853", "RK45", "Radau", "BDF" } do rows[#rows + 1] = restarts(method, 20) end
common.table("Restarts", { "", "restarts", "nfev without", "nfev", "per restart", "rejected" }, rows)
