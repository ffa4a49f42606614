-- Models of relays whose bounds are functions of time, for the specs of integrators.
local ns = require "nslua"

local moving = {}

-- Two shafts: a torque on the first, a clutch with a capacity. Returns the simulation, the system and the law.
function moving.clutch(o, class, osi, steps)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local sys = ns.FirstOrderNonLinearDS(o.x0, function(t, x, _, f) f[1], f[2] = o.torque(t) - (o.drag or 0) * x[1], 0 end)
  nsds:insertDynamicalSystem(sys)
  local law = ns.RelayNSL(1, function(t) return -o.capacity(t) end, o.capacity)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearR { C = { { -1, 1 } }, B = { { -1 }, { 1 } } }, "clutch"), sys)
  return ns[class](nsds, ns.TimeDiscretisation(0, o.T / steps), osi), sys, law
end

local function constant(value) return function() return value end end
local function falls(t) return math.max(0, 1 - t) end

-- Clutches with their events (kinds; times of the first ones), and the states at the end.
moving.clutches = {
  -- The slip has the rate 0.3 - 2 B, and B is 1 - t, 0, t - 2: it is 0.0225 at t = 1, 0.3225 at t = 2, and 0 again
  -- 0.15 + sqrt(0.345) later.
  ["a dip"] = { T = 6, x0 = { 0, 0 }, torque = constant(0.3),
    capacity = function(t) return math.max(0, math.abs(t - 1.5) - 0.5) end,
    events = "leave slide", times = { 0.85, 2.15 + math.sqrt(0.345) }, x = { 0.9, 0.9 } },
  -- A dip of 1/60 of the run in one step of the grid
  ["a short dip"] = { T = 50, x0 = { 0, 0 }, torque = constant(1),
    capacity = function(t) return 1 - 0.9 * math.exp(-((t - 25) / 0.3) ^ 2) end,
    events = "leave slide", times = { 25 - 0.3 * math.sqrt(math.log(1.8)) }, x = { 25, 25 } },
  ["a smooth touch of 0"] = { T = 6, x0 = { 1, 0 }, torque = constant(0.3), capacity = function(t) return math.cos(t) ^ 2 end,
    events = "slide leave slide leave slide", times = {}, x = { 1.4, 1.4 } },
  ["a kink at 0"] = { T = 6, x0 = { 1, 0 }, torque = constant(0.3), capacity = function(t) return math.abs(math.cos(t)) end,
    events = "slide leave slide leave slide", times = {}, x = { 1.4, 1.4 } },
  ["no capacity, no torque"] = { T = 3, x0 = { 0, 0 }, torque = constant(0), capacity = falls,
    events = "", times = {}, x = { 0, 0 } },
  ["no capacity, a late torque"] = { T = 3, x0 = { 0, 0 }, torque = function(t) return math.max(0, t - 2) end, capacity = falls,
    events = "leave", times = { 2 }, x = { 0.5, 0 } },
  -- 0.8 (t - 1) until t = 2, then it falls with the rate 3
  ["jumps"] = { T = 5, x0 = { 0, 0 }, torque = constant(1), capacity = function(t) return t < 1 and 1 or t < 2 and 0.1 or 2 end,
    events = "leave slide", times = { 1, 2 + 0.8 / 3 }, x = { 2.5, 2.5 }, steps = { 1, 3 } },
}

-- A relay on [mid - half, mid + half] is one on [-1, 1] whose input has the factor half, beside a force mid.
local function rows_of(seed)
  math.randomseed(seed)
  local function between(a, b) return a + (b - a) * math.random() end
  local rows, x0 = {}, {}
  for i = 1, math.random(1, 3) do
    local a, b, w1, p1 = between(0.6, 1.2), between(0, 0.55), between(1, 6), between(0, 6)
    local A, w3, p3, k = between(0.5, 1.5), between(1, 4), between(0, 6), between(-0.5, 0.5)
    local c, w2 = between(-0.5, 0.5), between(1, 6)
    rows[i] = {
      half = function(t) return a + b * math.sin(w1 * t + p1) end,
      mid = function(t) return c * math.sin(w2 * t) end,
      force = function(t) return A * math.sin(w3 * t + p3) end,
      couple = k,
    }
    x0[i] = math.random() < 0.5 and 0 or between(-1, 1)
  end
  return rows, x0
end

-- The states at the end and the events of a random system, stated by moving bounds or by an input that moves.
function moving.family(seed, by_bounds, class, osi, steps)
  local rows, x0 = rows_of(seed)
  local n, nsds = #rows, ns.NonSmoothDynamicalSystem(0, 4)
  local sys = ns.FirstOrderNonLinearDS(x0, function(t, x, _, f)
    for i, row in ipairs(rows) do
      f[i] = row.force(t) + row.couple * x[i % n + 1] - (by_bounds and 0 or row.mid(t))
    end
  end)
  nsds:insertDynamicalSystem(sys)
  for i, row in ipairs(rows) do
    local C, B = ns.zeros(1, n), ns.zeros(n, 1)
    C[1][i], B[i][1] = 1, 1
    local law = by_bounds and ns.RelayNSL(1, function(t) return -row.mid(t) - row.half(t) end,
      function(t) return -row.mid(t) + row.half(t) end) or ns.RelayNSL(1)
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearR { C = C,
      B = by_bounds and B or function(t, _, out) out[i][1] = row.half(t) end }, "row " .. i), sys)
  end
  local simu = ns[class](nsds, ns.TimeDiscretisation(0, 4 / steps), osi)
  simu:run()
  return sys:x(), simu:events()
end

return moving
