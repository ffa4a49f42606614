-- Events of the script in runs of bouncing masses, judged by exact recursions: a turning point (g = v), a place (g = q - c), an
-- energy (g = E - c), a time (g = t - c). None is listed twice, none is missed.
local campaign = require "campaign"
local events = require "simulation.events"
local ns = require "nslua"

local function uniform(rng, a, b) return a + (b - a) * rng:uniform() end

-- A mass in front of a wall at 0 under one of three forces, with its exact motion after an impact with the speed v.
-- q(s, v), v(s, v): the state at the time s after the impact; top(v): the time of the turning point; energy(q, v): the kinetic
-- energy and the potential, for a mass of 1.
local FORCES = {
  function(rng) -- a constant force
    local g = uniform(rng, 1, 10)
    return { q0 = uniform(rng, 0.3, 2), f = function() return -g end, q = function(s, v) return v * s - g * s * s / 2 end,
      v = function(s, v) return v - g * s end, top = function(v) return v / g end,
      energy = function(q, v) return v * v / 2 + g * q end }
  end,
  function(rng) -- q'' = -w^2 (q - a), a < 0
    local w, a = uniform(rng, 1, 4), -uniform(rng, 0.5, 4)
    return { q0 = uniform(rng, 0.1, 2), f = function(q) return -w * w * (q - a) end,
      q = function(s, v) return a - a * math.cos(w * s) + v / w * math.sin(w * s) end,
      v = function(s, v) return a * w * math.sin(w * s) + v * math.cos(w * s) end,
      top = function(v) return math.atan(v, -w * a) / w end,
      energy = function(q, v) return v * v / 2 + w * w * (q - a) ^ 2 / 2 end }
  end,
  function(rng) -- q'' = w^2 (q - a), q0 < a
    local w, a = uniform(rng, 1, 4), uniform(rng, 0.3, 1)
    local function cosh(x) return (math.exp(x) + math.exp(-x)) / 2 end
    local function sinh(x) return (math.exp(x) - math.exp(-x)) / 2 end
    return { q0 = a * uniform(rng, 0.1, 0.9), f = function(q) return w * w * (q - a) end,
      q = function(s, v) return a - a * cosh(w * s) + v / w * sinh(w * s) end,
      v = function(s, v) return -a * w * sinh(w * s) + v * cosh(w * s) end,
      top = function(v) return math.log((1 + v / (w * a)) / (1 - v / (w * a))) / (2 * w) end,
      energy = function(q, v) return v * v / 2 - w * w * (q - a) ^ 2 / 2 end }
  end,
}

-- The flights of the mass from rest at q0: a list of { t (of its start), v (its speed there), length } up to the time T. The
-- first one begins at the turning point: t is before 0.
local function flights_of(o, e, T)
  local function level(v) return o.energy(0, v) end
  local low, high = 0, 1 -- the speed at the wall: the energy at rest at q0
  while level(high) < o.energy(o.q0, 0) do high = 2 * high end
  for _ = 1, 200 do
    local v = (low + high) / 2
    if level(v) < o.energy(o.q0, 0) then low = v else high = v end
  end
  local v = low
  local list = { { t = -o.top(v), v = v, length = 2 * o.top(v) } }
  while list[#list].t + list[#list].length < T and #list < 12 do
    local last = list[#list]
    v = e * last.v
    list[#list + 1] = { t = last.t + last.length, v = v, length = 2 * o.top(v) }
  end
  return list
end

-- The time in a flight at which it rises to q = c: by bisection up to its turning point.
local function rise_to(o, flight, c)
  local low, high = 0, flight.length / 2
  for _ = 1, 80 do
    local s = (low + high) / 2
    if o.q(s, flight.v) < c then low = s else high = s end
  end
  return low
end

-- The kinds of events: g, and the exact times up to the end of the flights; `least` is the distance of g from being touched.
local function at_tops(_, flights)
  local list = {}
  for _, flight in ipairs(flights) do list[#list + 1] = flight.t + flight.length / 2 end
  list[1] = 0 -- the start is at rest: g leaves 0 there
  return { g = function(_, x) return x[2] end, times = list, direction = "down" }
end

local function at_place(o, flights, rng)
  local first, last = flights[1], flights[math.min(#flights, 6)]
  local function height(flight) return o.q(flight.length / 2, flight.v) end
  local c = uniform(rng, 0.3 * height(last), 0.95 * height(first))
  local list, least = {}, math.huge
  for _, flight in ipairs(flights) do
    local h = height(flight)
    least = math.min(least, math.abs(h / c - 1))
    if h > c then
      local s = rise_to(o, flight, c)
      if flight.t + s > 0 then list[#list + 1] = flight.t + s end
      list[#list + 1] = flight.t + flight.length - s
    end
  end
  return { g = function(_, x) return x[1] - c end, times = list, direction = "both", least = least }
end

-- The energy stays on a flight and falls at impacts.
local function at_energy(o, flights, rng)
  local k = rng:integers(1, math.min(#flights - 1, 5))
  local before, after = o.energy(0, flights[k].v), o.energy(0, flights[k + 1].v)
  local c = after + uniform(rng, 0.1, 0.9) * (before - after)
  return { g = function(_, x) return o.energy(x[1], x[2]) - c end, times = { flights[k + 1].t }, direction = "down" }
end

local function at_time(_, flights, rng)
  local c = uniform(rng, 0.01, 0.9) * (flights[#flights].t)
  return { g = function(t) return t - c end, times = { c }, direction = "up" }
end

local KINDS = { at_tops, at_place, at_energy, at_time }

local function simulation(o, e, T, h)
  local mass = ns.LagrangianDS { q0 = { o.q0 }, v0 = { 0 }, mass = { { 1 } },
    fInt = function(_, q, _, _, f) f[1] = -o.f(q[1]) end }
  return events.simulation { systems = { mass }, T = T, h = h, links = {
    { ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { { 1 } }, "wall", mass } } }
end

describe("events of the script in runs of bouncing masses", function()
  it("are those of the exact recursion", function()
    local count, told = campaign(16, 0.05)
    local rng = ns.rng(480)
    local seen = 0
    for trial = 1, count do
      local o, e = FORCES[rng:integers(1, #FORCES)](rng), uniform(rng, 0.5, 0.9)
      local flights = flights_of(o, e, 8)
      local last = table.remove(flights) -- the run ends where it begins
      local T = last.t - 0.2 * flights[#flights].length
      local kind = KINDS[rng:integers(1, #KINDS)](o, flights, rng)
      local times = {}
      for _, t in ipairs(kind.times) do
        if t < T then times[#times + 1] = t end
      end
      local h = T / rng:integers(1, 150)
      local clear = (kind.least or 1) > 1e-3 -- a place that the mass only just reaches is another question
      for k = 1, clear and 2 or 0 do
        local which = k == 2 and #times > 0 and rng:integers(1, #times)
        local simu = simulation(o, e, T, h)
        simu:addEvent { name = "mine", g = kind.g, direction = kind.direction, terminal = which or false }
        local sol, found = simu:run(), {}
        for _, event in ipairs(sol.events) do
          if event.name == "mine" then found[#found + 1] = event.t end
        end
        local where = ("trial %d, run %d"):format(trial, k)
        assert.equal(which or #times, #found, where)
        for i, t in ipairs(found) do assert.near(times[i], t, 1e-8 * T, where) end
        if which then assert.near(times[which], sol.t[#sol], 1e-8 * T, where) end
        seen = seen + #found
      end
    end
    assert.is_true(seen > count)
    told("runs with events of the script", count)
  end)
end)
