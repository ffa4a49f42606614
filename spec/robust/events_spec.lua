-- EventDriven in random situations: it misses no impact, release or rest, for any grid, offset, mass and units.
-- 150 situations; more in a long run (see campaign.lua).
local ns = require "nslua"
local events = require "simulation.events"

local count, told = require "campaign"(80, 0.1)
local random, g = math.random, events.g

local function between(a, b) return a + (b - a) * random() end

-- A random number between a and b, with uniform logarithm.
local function logarithmic(a, b) return math.exp(between(math.log(a), math.log(b))) end

-- Runs `place` for a fifth of the count; an error that it raises is reported with the number of the run.
local function places(place, part)
  for k = 1, math.ceil(count * (part or 0.2)) do
    math.randomseed(1000 + k)
    local ok, message = pcall(place, k)
    if not ok then error(("place %d: %s"):format(k, message), 0) end
  end
end

local function demand(condition, ...)
  if not condition then error(string.format(...), 2) end
end

local function near(want, got, off, what)
  demand(got and math.abs(got - want) <= off, "%s: wanted %.17g, got %s, off by %.3g, allowed %.3g", what, want,
    tostring(got), got and math.abs(got - want) or math.huge, off)
end

local function kinds(log)
  local out = {}
  for i, event in ipairs(log) do out[i] = event.kind:sub(1, 3) end
  return table.concat(out, " ")
end

describe("events in random places", function()
  it("are grazing impacts: every dip is found, no miss is taken for one", function()
    places(function()
      local w, T = logarithmic(0.1, 10), between(1, 7)
      local depth, phase, A, M = logarithmic(1e-6, 1e-1), between(0, 6.28), logarithmic(1e-6, 1e6), logarithmic(1e-12, 1e12)
      local h = T / w / math.ceil(logarithmic(1, 100))
      local sign = random() < 0.3 and -1 or 1 -- a miss
      local ds = ns.LagrangianLinearTIDS({ A * math.cos(phase) }, { -A * w * math.sin(phase) }, { { M } }, { { M * w * w } })
      if math.cos(phase) < -1 + 2 * depth then return end
      local simu = events.simulation { systems = { ds }, T = T / w, h = h,
        links = { { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }, { A * (1 - sign * depth) }), "wall", ds } } }
      simu:run()
      local log, first = simu:events(), math.acos(-1 + depth) - phase
      while first < 0 do first = first + 2 * math.pi end -- phase + w t = acos(-1 + depth) + 2 pi k
      local last = simu:nextTime() * w
      if sign < 0 then demand(#log == 0, "a miss by %g has %d events", depth, #log)
      elseif first < last - 1e-6 then near(first, log[1] and log[1].t * w, 1e-11 + 3e-12 / math.sqrt(depth), "depth " .. depth)
      elseif first > last + 1e-6 then demand(#log == 0, "%d events before the first", #log) end
    end)
  end)

-- The force that throws a body of mass m from the floor at t = c: m g (1 + lift) (1 - s^2)^2 upwards, s = (t - c) / w.
  local function kick(o)
    local body = ns.LagrangianLinearTIDS({ o.offset }, { 0 }, { { o.m } })
    local peak = o.m * g * (1 + o.lift)
    body:setComputeFExtFunction(function(t, _, f)
      local s = (t - o.c) / o.w
      f[1] = -o.m * g + (math.abs(s) < 1 and peak * (1 - s * s) ^ 2 or 0)
    end)
    local simu, inters = events.simulation { systems = { body }, T = o.T, h = o.h, osi = ns.RungeKuttaOSI(nil, nil, o.max_step),
      links = { { ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { 1 } }, { -o.offset }), "floor", body } } }
    simu:run()
    return simu:events(), body, inters.floor
  end

  -- The exact times of the release and of the landing.
  local function flight(o)
    local A = g * (1 + o.lift)
    local s1 = -math.sqrt(1 - math.sqrt(1 / (1 + o.lift)))
    local function once(s) return A * (s - 2 * s ^ 3 / 3 + s ^ 5 / 5) - g * s end
    local function twice(s) return A * (s ^ 2 / 2 - s ^ 4 / 6 + s ^ 6 / 30) - g * s ^ 2 / 2 end
    local v = o.w * (once(1) - once(s1))
    local y = o.w ^ 2 * (twice(1) - twice(s1) - once(s1) * (1 - s1))
    return o.c + o.w * s1, y > 0 and o.c + o.w + (v + math.sqrt(v * v + 2 * g * y)) / g or nil
  end

  local function thrown(o)
    local log, body, floor = kick(o)
    local release, landing = flight(o)
    if not landing then return end -- it is back within the pulse
    local rounding = 4e-16 * o.offset
    demand(kinds(log) == "res rel imp res", "lift %g: events %s", o.lift, kinds(log))
    -- the force passes zero with the slope 4 A |s| (1 - s^2) / w
    near(release, log[2].t, o.w * 1e-10 / math.sqrt(o.lift) + 1e-15 * o.c, "release")
    near(landing, log[3].t, (landing - release) * 1e-7 + 1e-11 * landing + 1e3 * rounding + 1e-3 * math.sqrt(rounding), "landing")
    near(o.offset, body:q()[1], 8 * rounding + 1e-30, "place")
    near(o.m * g, floor:lambda(1)[1], 1e-12 * o.m * g, "force")
  end

  it("are kicks of a resting body: the release is where the force ends", function()
    places(function()
      local T = between(1, 3)
      local o = { m = logarithmic(1e-12, 1e12), lift = logarithmic(0.5, 1e4), T = T, w = T * logarithmic(2e-3, 3e-2) }
      o.c = between(o.w, T / 2)
      o.offset = random() < 0.5 and 0 or logarithmic(1, 1e7)
      o.h = T / math.ceil(logarithmic(1, 100))
      local _, landing = flight(o)
      if not landing or landing > T * 0.99 then return end
      if o.offset > 0 and g * (landing - o.c) ^ 2 < 1e6 * 4e-16 * o.offset then return end
      thrown(o)
    end)
  end)

  it("are pulses of 1e-4 of a step of the grid, with a max_step as long as they are", function()
    places(function()
      local T = between(1, 3)
      local o = { m = logarithmic(1e-12, 1e12), lift = logarithmic(100, 1e3), T = T, h = T, w = 0.5e-4 * T, offset = 0 }
      o.c, o.max_step = between(0.1, 0.9) * T, 2e-4 * T
      thrown(o)
    end, 0.04)
  end)

-- The first root of y0 + v t - pull t^2 / 2 - A sin(w t + phase) up to T. A bound of the second derivative gives steps that
  -- cannot pass the root.
  local function first_hit(o)
    local bend, t = o.pull + o.A * o.w ^ 2, 0
    while t < o.T do
      local angle = o.w * t + o.phase
      local y = o.y0 + o.v * t - o.pull * t * t / 2 - o.A * math.sin(angle)
      local u = o.v - o.pull * t - o.A * o.w * math.cos(angle)
      if y < 1e-13 then return t, math.abs(u) end
      t = t + (u + math.sqrt(u * u + 2 * bend * y)) / bend * 0.999
    end
  end

  it("are first impacts on a table that vibrates, on any grid", function()
    places(function()
      local o = { A = logarithmic(0.01, 0.3), w = logarithmic(5, 200), phase = between(0, 6.28), T = 4 }
      o.pull, o.y0 = random() < 0.5 and 0 or logarithmic(0.01, 10), o.A + between(0.1, 2)
      o.v = o.pull * 2 - o.y0 / between(0.5, 3.5)
      local grid = ({ 4, 2, 0.5, 0.05 })[random(4)]
      local ball = ns.LagrangianLinearTIDS({ o.y0 }, { o.v }, { { 1 } })
      ball:setFExtPtr { -o.pull }
      local simu = events.simulation { systems = { ball }, T = o.T, h = grid, links = { { ns.NewtonImpactNSL(0.5),
        ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - o.A * math.sin(o.w * t + o.phase) end,
          hDot = function(t, _, _, r) r[1] = -o.A * o.w * math.cos(o.w * t + o.phase) end }, "table", ball } } }
      local want, u = first_hit(o)
      while simu:hasNextEvent() and #simu:events() == 0 do
        simu:computeOneStep()
        simu:nextStep()
      end
      local first = simu:events()[1]
      if want then near(want, first and first.t, 1e-10 + 1e-11 / u, "first impact, h = " .. grid) end
    end, 0.3)
  end)

  it("are those of a bouncing ball of any mass, far from the origin too, until it rests and is kept", function()
    places(function()
      local e, H, m = between(0.1, 0.8), logarithmic(1e-3, 1e3), logarithmic(1e-12, 1e12)
      local offset = random() < 0.4 and 0 or logarithmic(1, 1e7)
      local fall = math.sqrt(2 * H / g)
      local stop = fall * (1 + e) / (1 - e)
      local ball = ns.LagrangianLinearTIDS({ offset + H }, { 0 }, { { m } })
      ball:setFExtPtr { -m * g }
      local simu, inters = events.simulation { systems = { ball }, T = 1.5 * stop, h = 1.5 * stop / math.ceil(logarithmic(1, 50)),
        links = { { ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ { 1 } }, { -offset }), "floor", ball } } }
      simu:run()
      local log, rounding = simu:events(), 4e-16 * offset
      local slow = math.sqrt(g * (1e-12 * H + rounding)) -- near to which rounding decides on the time
      for i = 1, #log - 1 do
        demand(log[i].kind == "impact", "event %d is %s", i, log[i].kind)
        local off = 1e-11 * stop + 30 * (slow * slow / g + rounding) / math.abs(log[i].before)
        near(fall * (1 + 2 * e * (1 - e ^ (i - 1)) / (1 - e)), log[i].t, off, "impact " .. i)
      end
      demand(log[#log].kind == "rest", "the last event is %s", log[#log].kind)
      near(stop, log[#log].accumulation, 1e-6 * stop + 30 * slow / g, "end of the bounces")
      near(offset, ball:q()[1], 8 * rounding + 1e-30 * H, "place")
      near(m * g, inters.floor:lambda(1)[1], 1e-12 * m * g, "force")
    end)
  end)

  -- A ball on a spring over a floor that is kicked, a bead above it: in units of time 2^a, of length 2^b, of mass 2^c.
  local function in_units(o, a, b, c)
    local time, length, mass = 2.0 ^ a, 2.0 ^ b, 2.0 ^ c
    local force = mass * length / time ^ 2
    local ball = ns.LagrangianLinearTIDS({ o.q * length }, { o.v * length / time }, { { mass } }, { { o.k * mass / time ^ 2 } })
    ball:setComputeFExtFunction(function(t, _, f)
      local s = (t / time - 1) / 0.1
      f[1] = (-o.weight + (math.abs(s) < 1 and o.kick * (1 - s * s) ^ 2 or 0)) * force
    end)
    local bead = ns.LagrangianLinearTIDS({ (o.q + o.gap) * length }, { 0 }, { { 0.3 * mass } })
    bead:setFExtPtr { -0.3 * o.weight * force }
    local simu = events.simulation { systems = { ball, bead }, T = 2 * time, h = 2 * time / o.n, links = {
      { ns.NewtonImpactNSL(o.e), ns.LagrangianLinearTIR { { 1 } }, "floor", ball },
      { ns.NewtonImpactNSL(o.e), ns.LagrangianLinearTIR { { -1, 1 } }, "beads", ball, bead } } }
    simu:run()
    local log = simu:events()
    for _, event in ipairs(log) do
      event.t, event.before, event.after = event.t / time, event.before / length * time, event.after / length * time
      event.impulse = event.impulse and event.impulse / mass / length * time
      event.accumulation = event.accumulation and event.accumulation / time
    end
    return log, ball:q()[1] / length
  end

  -- Calls run(o, a, b, c) in the units 2^0 and in random ones up to 2^most: the events and the last place must be equal.
  local function same_in_units(run, o, most)
    local want, place = run(o, 0, 0, 0)
    local a, b, c = random(-most, most), random(-most, most), random(-most, most)
    local got, there = run(o, a, b, c)
    demand(kinds(want) == kinds(got), "in units of 2^%d, 2^%d, 2^%d: %s, not %s", a, b, c, kinds(got), kinds(want))
    demand(place == there, "in units of 2^%d, 2^%d, 2^%d: it ends at %.17g, not %.17g", a, b, c, there, place)
    for i, event in ipairs(want) do
      for name, value in pairs(event) do
        demand(value == got[i][name], "in units of 2^%d, 2^%d, 2^%d: event %d, %s: %s, not %s", a, b, c, i, name,
          tostring(got[i][name]), tostring(value))
      end
    end
  end

  it("are the same in any units of time, length and mass, to the last bit", function()
    places(function()
      local o = { q = random() < 0.3 and 0 or between(0.1, 1), v = between(-1, 1), k = between(0, 20), weight = between(5, 15),
        kick = between(0, 200), gap = between(0.1, 1), e = between(0, 0.7), n = math.ceil(logarithmic(1, 40)) }
      if o.q == 0 then o.v = math.abs(o.v) end
      same_in_units(in_units, o, 100)
    end)
    told("event-driven runs in other units", math.ceil(count * 0.2))
  end)

  -- Two blocks with friction on the floor and on each other, a spring, a relay, a force of time, a fall from o.y: in units of
  -- time 2^a, of length 2^b, of mass 2^c. In space the lower block has two tangents.
  local function rubbing_in_units(o, a, b, c)
    local time, length, mass = 2.0 ^ a, 2.0 ^ b, 2.0 ^ c
    local force, k = mass * length / time ^ 2, mass / time ^ 2
    local lower = ns.LagrangianLinearTIDS({ o.x * length, 0, o.y * length }, { o.v * length / time, o.side * length / time, 0 },
      { { mass, 0, 0 }, { 0, mass, 0 }, { 0, 0, mass } }, { { o.k * k, 0, 0 }, { 0, o.k * k, 0 }, { 0, 0, 0 } })
    lower:setComputeFExtFunction(function(t, _, f)
      f[1], f[3] = o.push * math.sin(o.w * t / time) * force, -10 * force
    end)
    local upper = ns.LagrangianLinearTIDS({ 0, (1 + o.y) * length }, { 0, 0 }, { { o.m * mass, 0 }, { 0, o.m * mass } })
    upper:setFExtPtr { 0, -10 * o.m * force }
    local simu = events.simulation { systems = { lower, upper }, T = 2 * time, h = 2 * time / o.n, links = {
      { ns.NewtonImpactFrictionNSL(o.e, 0, o.mu, 3), ns.LagrangianLinearTIR { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } },
        "floor", lower },
      { ns.NewtonImpactFrictionNSL(0, 0, o.mu2, 2), ns.LagrangianLinearTIR({ { 0, 0, -1, 0, 1 }, { -1, 0, 0, 1, 0 } },
        { -length, 0 }), "blocks", lower, upper },
      { ns.RelayNSL(1, -o.bound * force, o.bound * force), ns.LagrangianLinearTIR { { 1, 0 } }, "rub", upper } } }
    simu:run()
    local log = simu:events()
    for _, event in ipairs(log) do
      local unit = (event.kind == "stick" or event.kind == "slip" or event.kind == "cross") and force or length / time
      event.t, event.before, event.after = event.t / time, event.before / unit, event.after / unit
      event.impulse = event.impulse and event.impulse / mass / length * time
      event.accumulation = event.accumulation and event.accumulation / time
    end
    return log, lower:q()[1] / length
  end

  it("are the same with friction in any units, to the last bit", function()
    places(function()
      local o = { x = between(-0.3, 0.3), y = random() < 0.5 and 0 or between(0, 0.3), v = between(-1, 1), k = between(0, 20),
        side = random() < 0.5 and 0 or between(-1, 1), push = between(0, 20), w = between(1, 6), m = between(0.3, 2),
        e = random() < 0.5 and 0 or between(0, 0.5), mu = between(0.1, 0.6), mu2 = between(0.1, 0.6), bound = between(0, 2),
        n = math.ceil(logarithmic(1, 40)) }
      same_in_units(rubbing_in_units, o, 60)
    end, 0.04)
    told("event-driven runs with friction in other units", math.ceil(count * 0.04))
  end)
end)
