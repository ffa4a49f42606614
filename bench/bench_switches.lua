--
-- bench_switches.lua
-- Switches: errors and costs of event-driven runs, of finite elements with switch detection, of time stepping, and of
-- ns.solve_ivp restarted by hand at the switch. The tables of docs/numerics.md are its output.
--
-- The model: x' = x - 2 pi s J x, J = (0 -1; 1 0), s in Sgn(|x|^2 - 1), x(0) = (1/e, 0). It switches at t = 1;
-- x(2) = (e, 0).
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

local exp, pi = math.exp, math.pi
local calls -- of right-hand sides: f of the system, and the fields of solve_ivp

local function graph()
  local ds = ns.FirstOrderNonLinearDS({ exp(-1), 0 }, function(_, x, _, f)
    calls = calls + 1
    f[1], f[2] = x[1], x[2]
  end)
  local circle = ns.FirstOrderNonLinearR {
    h = function(_, x, _, _, y) y[1] = x[1] ^ 2 + x[2] ^ 2 - 1 end,
    g = function(_, x, lambda, _, r)
      local w = 2 * pi * lambda[1]
      r[1], r[2] = w * x[2], -w * x[1]
    end,
  }
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), circle, "circle"), ds)
  return nsds, ds
end

local function off(x) return math.max(math.abs(x[1] - exp(1)), math.abs(x[2])) end

-- Error, evaluations and seconds of a simulation that make(nsds) gives.
local function simulated(make)
  local nsds, ds = graph()
  local simu, evaluations = make(nsds), nil
  local function run()
    calls = 0
    simu:run { record = 1000000 }
    evaluations = calls
  end
  run()
  local seconds = common.best(5, run, function() simu:reset() end)
  return off(ds:x()), evaluations, seconds
end

local function by_hand(rtol)
  local x, evaluations
  local function field(s)
    local w = 2 * pi * s
    return function(_, y)
      calls = calls + 1
      return { y[1] + w * y[2], y[2] - w * y[1] }
    end
  end
  local function run()
    calls = 0
    local o = { method = "DOP853", rtol = rtol, atol = 1e-2 * rtol,
      events = { function(_, y) return y[1] ^ 2 + y[2] ^ 2 - 1 end, terminal = true, direction = 1 } }
    local one = ns.solve_ivp(field(1), { 0, 2 }, { exp(-1), 0 }, o)
    local at = one.y_events[1]
    o.events = nil
    local two = ns.solve_ivp(field(-1), { one.t_events[1][1], 2 }, { at[1][1], at[1][2] }, o)
    x = { two.y[1][#two.t], two.y[2][#two.t] }
    evaluations = calls
  end
  run()
  return off(x), evaluations, common.best(5, run)
end

local rows = {}
local function add(what, error, evaluations, seconds)
  rows[#rows + 1] = { what, ("%.1e"):format(error), ("%d"):format(evaluations), common.us(seconds) }
end

for _, rtol in ipairs { 1e-6, 1e-9, 1e-12 } do
  add(("DOP853 restarted by hand, rtol %g"):format(rtol), by_hand(rtol))
  add(("EventDriven, RungeKuttaOSI, rtol %g"):format(rtol), simulated(function(nsds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2), ns.RungeKuttaOSI(rtol))
  end))
end
add("EventDriven, RadauOSI", simulated(function(nsds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2), ns.RadauOSI())
end))
for _, case in ipairs { { 2, 1000 }, { 3, 100 }, { 3, 400 }, { 4, 100 } } do
  add(("FESDOSI, Radau IIA, %d stages, %d steps"):format(case[1], case[2]), simulated(function(nsds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2 / case[2]), ns.FESDOSI("radau_iia", case[1]))
  end))
end
for _, n in ipairs { 1e4, 1e5 } do
  add(("EulerMoreauOSI(0.5), %g steps"):format(n), simulated(function(nsds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2 / n), ns.EulerMoreauOSI(0.5))
  end))
end
common.table("the unit circle, T = 2: error at T, evaluations of f, microseconds in all",
  { "", "error", "evaluations", "time" }, rows)

-- ---- orders of FESDOSI ----

rows = {}
local schemes = { radau_iia = function(s) return 2 * s - 1 end, gauss = function(s) return 2 * s end,
  lobatto = function(s) return 2 * s - 2 end }
for _, scheme in ipairs { "radau_iia", "gauss", "lobatto" } do
  for s = scheme == "lobatto" and 2 or 1, 4 do
    local row, last = { ("%s, %d stages: %d"):format(scheme, s, schemes[scheme](s)) }, nil
    for _, n in ipairs { 27, 53, 107, 211, 421 } do
      local error = simulated(function(nsds)
        return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2 / n), ns.FESDOSI(scheme, s))
      end)
      row[#row + 1] = last and ("%.1e (%.2f)"):format(error, math.log(last / error, 2)) or ("%.1e"):format(error)
      last = error
    end
    rows[#rows + 1] = row
  end
end
common.table("FESDOSI on it: errors (and orders) with 27 to 421 steps",
  { "scheme: nominal order", "27", "53", "107", "211", "421" }, rows)
