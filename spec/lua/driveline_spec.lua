-- Drivelines from their parts: closed forms, published runs of machines, derivatives, and the text of every error.
local campaign = require "campaign"
local drivelines = require "random_drivelines"
local message = require "expect".message_of
local ns = require "nslua"

local pi, exp = math.pi, math.exp

local function last(columns, name) return columns[name][#columns] end

-- The largest sum of the powers, as a part of the sum of their sizes.
local function imbalance(d, columns)
  local worst = 0
  for k = 1, #columns do
    local sum, size = 0, 0
    for _, part in ipairs(d.parts) do
      local p = columns["p." .. part.name][k]
      sum, size = sum + p, size + math.abs(p)
    end
    if size > 0 then worst = math.max(worst, math.abs(sum) / size) end
  end
  return worst
end

local function kinds(sol)
  local list = {}
  for _, event in ipairs(sol.events) do list[#list + 1] = event.name .. " " .. event.kind end
  return table.concat(list, ", ")
end

describe("ns.driveline", function()
  it("accelerates a rigid train of gears", function()
    local d = ns.driveline():inertia("J1", "a", 2):gear("G1", "a", "b", 3):gear("G2", "b", "c", -2)
    d:inertia("J2", "c", 6):torque("T", "a", 5)
    local c = d:run { stop = 2, step = 0.5 }
    local rate = 5 / (2 + 6 / 36)
    assert.near(rate * 2, last(c, "w.a"), 1e-12)
    assert.near(-rate * 2 / 6, last(c, "w.c"), 1e-12)
    assert.near(5 - 2 * rate, last(c, "tau.G1"), 1e-12) -- the torque that enters the gear
    assert.is_true(imbalance(d, c) < 1e-14)
    assert.equal("driveline 'driveline' of 5 parts and 3 nodes", tostring(d))
  end)

  it("has the equations of planetary gears, belts and racks", function()
    local d = ns.driveline():inertia("S", "sun", 1):inertia("C", "carrier", 2):inertia("R", "ring", 3)
    d:planetary("P", "sun", "carrier", "ring", 2):torque("T", "sun", 1):belt("B", "ring", "wheel", 0.1, 0.2)
    d:inertia("W", "wheel", 0.5):rack("K", "wheel", "rod", 0.3):mass("m", "rod", 4)
    local c = d:run { stop = 1, step = 0.5 }
    assert.near(0, last(c, "w.sun") + 2 * last(c, "w.ring") - 3 * last(c, "w.carrier"), 1e-13)
    assert.near(0.1 * last(c, "w.ring"), 0.2 * last(c, "w.wheel"), 1e-14)
    assert.near(0.3 * last(c, "w.wheel"), last(c, "v.rod"), 1e-14)
    assert.near(0.3 * last(c, "phi.wheel"), last(c, "s.rod"), 1e-14)
    assert.near(4 * last(c, "v.rod"), -last(c, "f.K"), 1e-12) -- the rack pushes the rod, all the time alike
    assert.is_true(imbalance(d, c) < 1e-14)
  end)

  it("moves nodes by sources of speed and position, in closed form or by a function", function()
    for _, speed in ipairs { { amplitude = 3, frequency = 0.5 / pi }, function(t) return 3 * math.sin(t) end } do
      local d = ns.driveline():speed("V", "a", speed):gear("G", "a", "b", 2):inertia("J", "b", 4)
      d:inertia("K", "free", 1)
      local c = d:run { stop = 2, step = 0.5 }
      assert.near(3 * math.sin(2), last(c, "w.a"), 1e-12)
      assert.near(3 - 3 * math.cos(2), last(c, "phi.a"), 1e-9)
      assert.near(3 * math.cos(2), last(c, "tau.V"), 1e-9) -- J w' / ratio^2
      assert.is_true(imbalance(d, c) < 1e-14)
    end
    local d = ns.translational():position("P", "a", { amplitude = 1, frequency = 1 / (2 * pi) }):spring("S", "a", "b", 4)
    d:mass("m", "b", 1)
    assert.near((math.sin(2) - math.sin(4) / 2) * 4 / 3, last(d:run { stop = 2, step = 0.1 }, "s.b"), 1e-8)
  end)

  it("takes each kind of source for a torque, and those that do not jump for a speed", function()
    local sources = { { step = 2, time = 0.7, offset = 1 }, { ramp = 2, duration = 0.5, time = 0.7 },
      { high = 2, rise = 0.1, fall = 0.2, width = 0.3, period = 1 }, { times = { 0.2, 1.4 }, values = { 1, 2 } },
      ns.clock { period = 0.5, low = 0, high = 2 } }
    for i, impulse in ipairs { 2 + 2 * 1.3, 2 * (0.25 + 0.8), 2 * 0.9, 0.2 + 1.5 * 1.2 + 2 * 0.6, 2 } do
      local d = ns.driveline():inertia("J", "a", 4):torque("T", "a", sources[i]):inertia("K", "b", 3)
      local moves = i > 1 and i < 5
      if moves then d:speed("V", "c", sources[i]):spring("S", "c", "b", 1e-9) end
      local c = d:run { stop = 2, step = 0.5 }
      assert.near(impulse / 4, last(c, "w.a"), 1e-9)
      if moves then assert.near(impulse, last(c, "phi.c"), 1e-9) end
      assert.is_true(imbalance(d, c) < 1e-12)
    end
  end)

  it("lets nodes have no inertia where a damper determines their speed", function()
    local d = ns.driveline():inertia("J", "a", 1, { speed = 1 }):damper("D1", "a", "m", 3):damper("D2", "m", "0", 6)
    local c = d:run { stop = 1, step = 0.1 }
    assert.near(exp(-2), last(c, "w.a"), 1e-9)
    assert.near(exp(-2) / 3, last(c, "w.m"), 1e-9)
    assert.is_true(imbalance(d, c) < 1e-14)
  end)

  it("lets a clutch slip and stick, with a capacity that is a number, a function, a jump or set by an action", function()
    for _, capacity in ipairs { 2, function() return 2 end, { step = 2, time = 0.5 } } do
      local late = type(capacity) == "table" and 0.5 or 0
      local d = ns.driveline():inertia("J1", "a", 1, { speed = 3 }):inertia("J2", "b", 2):clutch("C", "a", "b", capacity)
      local c, sol = d:run { stop = 2, step = 0.25 }
      assert.near(late + 1, sol.events[#sol.events].t, 1e-10) -- the slip has the rate -3
      assert.near(1, last(c, "w.b"), 1e-10)
      assert.near(late, 0.5 * (1 - c["mode.C"][1] / -1) + late, 1e-12)
      assert.equal(0, last(c, "mode.C"))
      assert.near(-2, c["tau.C"]:min(), 1e-12)
      assert.is_true(imbalance(d, c) < 1e-13)
    end
    local d = ns.driveline():inertia("J1", "a", 1, { speed = 3 }):inertia("J2", "b", 2):clutch("C", "a", "b", 0)
    local simu = d:simulation { stop = 2, step = 0.25 }
    simu:addEvent { at = 0.5, action = function(s) d:set(s, "C", 2) end }
    local clone = simu:clone()
    local sol, copy = simu:run(), clone:run()
    assert.near(1.5, sol.events[#sol.events].t, 1e-10)
    assert.same(sol.x[#sol]:totable(), copy.x[#copy]:totable())
    assert.near(-2, d:columns(sol)["tau.C"]:min(), 1e-12)
  end)

  it("breaks away at static friction, and slides with the torque of a curve", function()
    local d = ns.driveline():inertia("J", "a", 1):friction("F", "a", { coulomb = 2, static = 3 })
    d:torque("T", "a", function(t) return t end)
    local c, sol = d:run { stop = 4, step = 0.25 }
    assert.equal("F leave", kinds(sol))
    assert.near(3, sol.events[1].t, 1e-12)
    assert.near(8 - 4.5 - 2, last(c, "w.a"), 1e-10)
    -- w' = - (1 + exp(-w)) from w = 2
    d = ns.driveline():inertia("J", "a", 1, { speed = 2 }):friction("F", "a", { coulomb = 1, stribeck = 1, speed = 1 })
    c = d:run { stop = 0.5, step = 0.1 }
    assert.near(math.log((exp(2) + 1) * exp(-0.5) - 1), last(c, "w.a"), 1e-9)
    d = ns.driveline():inertia("J", "a", 1, { speed = 2 }):brake("B", "a", 2, { curve = function(w) return 0.5 + w / 4 end })
    c = d:run { stop = 0.5, step = 0.1 } -- w' = - 2 (1 + w / 2)
    assert.near(4 * exp(-0.5) - 2, last(c, "w.a"), 1e-9)
  end)

  it("has freewheels and dog clutches", function()
    local d = ns.driveline():inertia("J1", "a", 1):inertia("J2", "b", 1):freewheel("F", "a", "b")
    d:torque("T", "a", function(t) return 2 - 2 * t end)
    local c, sol = d:run { stop = 2, step = 0.1 }
    assert.near(1, sol.events[1].t, 1e-10)
    assert.near(0.5, last(c, "w.b"), 1e-10)
    assert.near(-0.5, last(c, "w.a"), 1e-10)
    assert.equal("1 0", ("%d %d"):format(last(c, "mode.F"), c["mode.F"][3]))
    d = ns.driveline():inertia("J1", "a", 1, { speed = 4 }):inertia("J2", "b", 3)
    d:dog("D", "a", "b", { period = 2, delay = 1 }):torque("T", "a", 1)
    c = d:run { stop = 3, step = 0.5 }
    assert.near(5 / 4 + 1 / 4, last(c, "w.b"), 1e-12) -- 5 at t = 1, then 1/4 more
    assert.near(5 / 4 + 1 / 4 + 1, last(c, "w.a"), 1e-12)
    assert.is_true(imbalance(d, c) < 1e-14)
  end)

  it("bounces between rigid stops, and on elastic ones", function()
    local function ball(o)
      return ns.translational():mass("m", "x", 2, { position = 1 }):force("g", "x", -20):stop("S", "0", "x", o)
    end
    local d = ball { lower = 0, restitution = 0.5 }
    local c, sol = d:run { stop = 0.8, step = 0.1 }
    assert.near(math.sqrt(0.2), sol.events[1].t, 1e-12)
    local v, t = math.sqrt(20) / 2, 0.8 - math.sqrt(0.2)
    assert.near(v * t - 5 * t * t, last(c, "s.x"), 1e-11)
    -- on a spring of stiffness k: half a period of k / m with the depth of the weight
    d = ball { lower = 0, stiffness = 200 }
    c, sol = d:run { stop = 2, step = 0.1 }
    local w, speed = 10, math.sqrt(20)
    local contact = 2 * (pi - math.atan(speed * w / 10)) / w
    assert.near(math.sqrt(0.2) + contact, sol.events[2].t, 1e-8)
    assert.is_true(imbalance(d, c) < 1e-13)
    local soft = ball { lower = 0, stiffness = 200, damping = 3, soft = true }:run { stop = 2, step = 0.1 }
    local hard = ball { lower = 0, stiffness = 200, damping = 3, exponent = 1.5 }:run { stop = 2, step = 0.1 }
    assert.is_true(soft["s.x"]:min() > c["s.x"]:min() and hard["f.S"]:min() < 0)
  end)

  it("plays in a backlash, beside friction, in mechanics", function()
    local d = ns.driveline():inertia("J1", "a", 1, { speed = 1 }):inertia("J2", "b", 2)
    d:backlash("B", "a", "b", 0.2, { restitution = 0.4 }):friction("F", "b", { coulomb = 0.1 })
    local c, sol = d:run { stop = 0.5, step = 0.05 }
    assert.equal("B_lower impact, F slip", kinds(sol))
    assert.near(0.1, sol.events[1].t, 1e-12)
    assert.near((1 - 2 * 0.4) / 3, last(c, "w.a"), 1e-12)
    assert.near((1 + 0.4) / 3 - 0.05 * 0.4, last(c, "w.b"), 1e-12)
    assert.near(last(c, "w.b"), last(d:run { stop = 0.5, step = 1e-3, method = ns.TimeStepping }, "w.b"), 2e-3)
  end)

  it("loses a part of the torque in a gear, both ways", function()
    local function rate(torque, load)
      local d = ns.driveline():inertia("J1", "a", 1, { speed = 10 }):inertia("J2", "b", 3)
      d:gear("G", "a", "b", 2, { efficiency = { 0.8, 0.6 } }):torque("T", "a", torque):torque("L", "b", load)
      local c = d:run { stop = 0.1, step = 0.05 }
      assert.is_true(imbalance(d, c) < 1e-13 and c["p.G"]:min() > 0)
      return (last(c, "w.a") - 10) / 0.1
    end
    -- power forward: J2 w' / 2 = 2 * 0.8 tau + load; backward: tau = 0.6 of what comes from b
    assert.near((5 * 1.6 - 1) / (1.6 + 1.5), rate(5, -1), 1e-9)
    assert.near((-5 * 2 / 0.6 + 1) / (2 / 0.6 + 1.5), rate(-5, 1), 1e-9)
  end)

  it("locks a worm gear whose efficiency is 0 in one direction", function()
    local ratio, Ja, Jb, Ld, f, eta = 20, 0.1, 8, 1, 0.1, 0.4
    local function hoist(T, w0, efficiency)
      local d = ns.driveline():inertia("Ja", "a", Ja, { speed = w0 }):inertia("Jb", "b", Jb):torque("T", "a", T)
      d:gear("G", "a", "b", ratio, { efficiency = efficiency, friction = f }):torque("L", "b", -Ld * ratio)
      local c, sol = d:run { stop = 1, step = 0.5 }
      assert.is_true(imbalance(d, c) < 1e-13)
      return last(c, "w.a"), sol
    end
    local J = Jb / ratio ^ 2
    assert.near((eta * 5 - f - Ld) / (J + eta * Ja), hoist(5, 0, { eta, 0 }), 1e-9) -- it lifts
    assert.near(0, hoist(0, 0, { eta, 0 }), 1e-12)                                  -- it holds the load
    assert.near(-1 / Ja, hoist(-1, 0, { eta, 0 }), 1e-9)                            -- the motor alone lets it down
    local w, sol = hoist(0, 5, { eta, 0 })                                          -- it runs out, and holds
    assert.near(0, w, 1e-12)
    assert.near(5 * (J + eta * Ja) / (Ld + f), sol.events[1].t, 1e-9)
    local back = -(Ld - f) * eta / (eta * J + Ja)
    assert.near(back, hoist(0, 0, { 0, eta }), 1e-9)                                -- the other way round: the load drives
    assert.near(0, hoist(2, 0, { 0, eta }), 1e-12)                                  -- and the motor does not
  end)

  it("starts gears with losses as the closed forms of both directions say #once", function()
    local count, tell = campaign(60, 0.05)
    math.randomseed(5)
    for k = 1, count do
      local Ja, Jb, r = 10 ^ (2 * math.random() - 1), 10 ^ (2 * math.random() - 1), 10 ^ (2 * math.random() - 0.5)
      local e, f, w0 = { math.random(), math.random() }, 0.2 * math.random(), k % 5 < 3 and 0 or 4 * math.random() - 2
      local T, L = 6 * math.random() - 3, 6 * math.random() - 3
      if k % 3 == 0 then e[1 + k % 2] = 0 end
      if k % 2 == 0 then r = -r end
      local function acceleration(s) -- while it turns with the sign s
        local a = (e[1] * T - f * s - L) / (Jb + e[1] * Ja)
        return (T - Ja * a) * s >= 0 and a or (T - e[2] * (L + f * s)) / (Ja + e[2] * Jb)
      end
      local up, down = acceleration(1), acceleration(-1)
      local wanted = (w0 > 0 and up) or (w0 < 0 and down) or (up > 0 and up) or (down < 0 and down) or 0
      local d = ns.driveline():inertia("Ja", "a", Ja, { speed = w0 }):inertia("Jb", "b", Jb * r * r):torque("T", "a", T)
      d:gear("G", "a", "b", r, { efficiency = e, friction = f }):torque("L", "b", -L * r)
      local c = d:run { stop = 1e-3, step = 1e-3 }
      assert.near(wanted, (last(c, "w.a") - w0) / 1e-3, 1e-8 * (1 + math.abs(wanted)), "gear " .. k)
    end
    tell("gears with losses", count)
  end)

  it("lists no events of a gear with friction alone but those of its motion", function()
    local d = ns.driveline():inertia("J1", "a", 1):inertia("J2", "b", 1):torque("T", "b", { amplitude = 5, frequency = 0.5 })
    d:gear("G", "a", "b", -2, { friction = 1 }):friction("F", "b", { coulomb = 0.2 })
    d:gear("H", "b", "c", 3, { efficiency = 1 })
    local _, sol = d:inertia("J3", "c", 1e-3):run { stop = 2, step = 0.5 }
    local names = {}
    for i, event in ipairs(sol.events) do names[i] = event.name .. " " .. event.kind end
    assert.same({ "F+G leave", "F+G cross" }, names)
  end)

  it("refuses drawings that say too much or too little, by name", function()
    local function run_of(d) return message(d, "run", { stop = 1, step = 0.1 }) end
    local function two() return ns.driveline():inertia("J1", "a", 1):inertia("J2", "b", 1) end
    assert.equal("driveline: it has no parts", run_of(ns.driveline()))
    assert.equal("gear 'G2': it closes a loop of rigid parts with 'G1': its torque is not determined; let one of them be elastic",
      run_of(two():gear("G1", "a", "b", 2):gear("G2", "a", "b", 2)))
    assert.equal("fixed 'F': both ends are the same or do not move", run_of(two():fixed("F", "0")))
    assert.equal("driveline: node 'm' has no inertia, and no damper determines its speed; give it one of them",
      run_of(two():spring("S", "a", "m", 1):spring("S2", "m", "b", 1)))
    assert.equal("inertia 'J2': speed: it follows from the other parts, as 2; got 3", run_of(ns.driveline()
      :inertia("J1", "a", 1, { speed = 4 }):inertia("J2", "b", 1, { speed = 3 }):gear("G", "a", "b", 2)))
    assert.equal("spring 'S': node 'a' is one of rotation, by inertia 'J1', and one of translation",
      run_of(two():mass("m", "x", 1):spring("S", "x", "a", 1)))
    assert.equal("gear 'G': with losses it can not stand in a drawing with the rigid stop 'B'; give that a stiffness",
      run_of(two():gear("G", "a", "b", 1, { efficiency = 0.9 }):backlash("B", "a", "0", 1)))
    assert.equal("driveline: node 'm' has no inertia, beside the rigid stop 'B'; give the stop a stiffness",
      run_of(two():damper("D", "a", "m", 1):backlash("B", "a", "0", 1)))
    assert.equal("driveline: expected a node whose speed is free", run_of(ns.driveline():inertia("J", "a", 1):fixed("F", "a")))
  end)

  it("checks the arguments of parts", function()
    local d = ns.driveline():inertia("J", "a", 1)
    for _, case in ipairs {
      { "inertia 'J': there is a part 'J' already, a inertia", "inertia", "J", "b", 1 },
      { "inertia 'K': J: expected a positive number, got 0", "inertia", "K", "b", 0 },
      { "mass 'K': unknown option 'velocity' (known: speed, position)", "mass", "K", "b", 1, { velocity = 1 } },
      { "spring 'S': stiffness: expected 0 or more, got -1", "spring", "S", "a", "b", -1 },
      { "spring 'S': expected different nodes, got 'a' twice", "spring", "S", "a", "a", 1 },
      { "gear 'G': ratio: expected a number other than 0", "gear", "G", "a", "b", 0 },
      { "gear 'G': efficiency: expected a positive number in one direction", "gear", "G", "a", "b", 1, { efficiency = 0 } },
      { "gear 'G': efficiency: expected at most 1, got 2", "gear", "G", "a", "b", 1, { efficiency = 2 } },
      { "planetary 'P': ratio: expected a positive number, got -2", "planetary", "P", "a", "b", "c", -2 },
      { "belt 'B': radius: expected a number other than 0", "belt", "B", "a", "b", 0, 1 },
      { "belt 'B': expected grip or stiffness, got both", "belt", "B", "a", "b", 1, 1, { grip = 1, stiffness = 1 } },
      { "clutch 'C': capacity: expected 0 or more, got -3", "clutch", "C", "a", "b", -3 },
      { "clutch 'C': static: expected 1 or more, got 0.5", "clutch", "C", "a", "b", 1, { static = 0.5 } },
      { "brake 'B': curve: expected a function or a table, got 3", "brake", "B", "a", 1, { curve = 3 } },
      { "friction 'F': expected coulomb, viscous, stribeck or curve", "friction", "F", "a", {} },
      { "friction 'F': static: expected coulomb, stribeck or curve beside it", "friction", "F", "a", { viscous = 1, static = 1 } },
      { "friction 'F': static: expected 2 or more, got 1", "friction", "F", "a", { coulomb = 2, static = 1 } },
      { "friction 'F': expected curve or coulomb and stribeck, got both", "friction", "F", "a",
        { curve = math.exp, coulomb = 1 } },
      { "friction 'F': coulomb: expected a number beside stribeck, curve or static", "friction", "F", "a",
        { coulomb = function() return 1 end, static = 2 } },
      { "stop 'S': expected lower or upper", "stop", "S", "a", "0", {} },
      { "stop 'S': expected lower below upper, got 1 and 0", "stop", "S", "a", "0", { lower = 1, upper = 0 } },
      { "stop 'S': restitution: expected at most 1, got 2", "stop", "S", "a", "0", { lower = 1, restitution = 2 } },
      { "stop 'S': damping: expected a stiffness beside it", "stop", "S", "a", "0", { lower = 1, damping = 2 } },
      { "stop 'S': expected stiffness or restitution, got both", "stop", "S", "a", "0",
        { lower = 1, stiffness = 1, restitution = 0 } },
      { "stop 'S': soft: expected true or false, got 1", "stop", "S", "a", "0", { lower = 1, stiffness = 1, soft = 1 } },
      { "speed 'V': expected a speed that does not jump, got a step", "speed", "V", "a",
        { step = 1, time = 1 } },
      { "position 'P': expected a number, a function or a sine, whose speed does not jump, got lines", "position", "P", "a",
        { times = { 0, 1 }, values = { 0, 1 } } },
      { "torque 'T': value: expected a number, a function of time or a table with frequency, period, times, step or ramp, got 'x'",
        "torque", "T", "a", "x" },
      { "set: expected a model: call simulation, system or run first", "set" },
      { "parameter: expected a model: call simulation, system or run first", "parameter", "J", "inertia" },
    } do assert.equal(case[1], message(d, table.unpack(case, 2))) end
    assert.equal(1, #d.parts)
    assert.equal("inertia 'K': node 'a' has the start of inertia 'L' already", message(ns.driveline()
      :inertia("L", "a", 1, { speed = 1 }), "inertia", "K", "a", 1, { speed = 2 }))
    local simu = d:clutch("C", "a", "0", 1):simulation { stop = 1, step = 0.5 }
    assert.equal("parameter: there is no part 'K'", message(d, "parameter", "K", "inertia"))
    assert.equal("parameter: inertia 'J' has no number 'mass' (known: inertia)", message(d, "parameter", "J", "mass"))
    assert.equal("set: expected a simulation, got nil", message(d, "set", nil, "C", 1))
    assert.equal("set: expected the name of a part with a capacity that is a number, got 'J'", message(d, "set", simu, "J", 1))
    d = ns.driveline():inertia("J", "a", 1):brake("B", "a", function(t) return 0.5 - t end)
    local text = message(d, "run", { stop = 1, step = 1 })
    assert.is_truthy(text:find "brake 'B': capacity: t=[%d.]+: expected a number of 0 or more, got %-", text)
  end)
end)

describe("ns.driveline, random ones,", function()
  local count, tell = campaign(6, 0.015)
  it("have the motion of the models written by hand #once", function()
    for seed = 1, count do
      local d, model, n = drivelines.make(seed)
      local c = d:run { stop = 3, step = 0.1 }
      local sol = model:simulation(3, 0.1):run()
      for i = 1, n do
        for name, x in pairs { phi = sol.x[#sol][i], w = sol.x[#sol][n + i] } do
          local off = math.abs(last(c, name .. ".n" .. i) - x)
          assert.is_true(off <= 1e-7 * (1 + math.abs(x)), ("seed %d, %s.n%d: %g"):format(seed, name, i, off))
        end
      end
      assert.is_true(imbalance(d, c) < 1e-12)
    end
    tell("drivelines", count)
  end)

  it("have the derivatives of differences by their numbers #once", function()
    local function draw(o)
      local d = ns.driveline():inertia("J1", "a", o.J1, { speed = 3 }):inertia("J2", "b", o.J2):inertia("J3", "c", 1)
      d:spring("K", "b", "c", o.K):damper("D", "c", "0", o.D):clutch("C", "a", "b", o.C):torque("T", "c", o.T)
      return d:friction("F", "c", { coulomb = o.F, viscous = 0.05 })
    end
    local options = { stop = 1.5, step = 0.25, integrator = ns.RungeKuttaOSI() }
    local fields = { J1 = "inertia", J2 = "inertia", K = "stiffness", D = "damping", C = "capacity", T = "value", F = "coulomb" }
    local base = { J1 = 1, J2 = 2, K = 30, D = 0.4, C = 3, T = 1, F = 0.7 }
    local d, list, order = draw(base), {}, {}
    local simu = d:simulation(options)
    for part, field in pairs(fields) do list[#list + 1], order[#order + 1] = d:parameter(part, field), part end
    local sol = simu:run { sensitivities = list }
    for i, part in ipairs(order) do
      local function final(factor)
        local o = setmetatable({ [part] = base[part] * factor }, { __index = base })
        local x = draw(o):simulation(options):run().x
        return x[#x]
      end
      local difference = (final(1 + 1e-4) - final(1 - 1e-4)) / (2e-4 * base[part])
      for j = 1, 6 do assert.near(difference[j], sol.S[#sol][j][i], 1e-6 * (1 + math.abs(difference[j]))) end
    end
  end)

  it("scale friction with stribeck by its capacity, the torque at rest: no number is called coulomb", function()
    local function draw(scale)
      local d = ns.driveline():inertia("J", "a", 1.5):springdamper("K", "top", "a", 10, 0.2):speed("V", "top", 1)
      return d:friction("F", "a", { coulomb = 2 * scale, stribeck = 1.5 * scale, speed = 0.5 })
    end
    local d, options = draw(1), { stop = 3.2, step = 0.1, integrator = ns.RungeKuttaOSI(1e-12, 1e-12) }
    local simu = d:simulation(options)
    assert.has_error(function() d:parameter("F", "coulomb") end,
      "parameter: friction 'F' has no number 'coulomb' (known: capacity)")
    local sol = simu:run { sensitivities = { d:parameter("F", "capacity") } }
    assert.equal(3, #sol.events) -- it slips, sticks and slips again
    local high, low = draw(1 + 1e-4):simulation(options):run().x, draw(1 - 1e-4):simulation(options):run().x
    for i = 1, 2 do assert.near((high[#high][i] - low[#low][i]) / (2e-4 * 3.5), sol.S[#sol][i][1], 1e-6) end
  end)
end)

describe("ns.driveline, machines of the Modelica Standard Library,", function()
  local function difference(columns, file, pairs_of)
    local reference, worst = ns.load("spec/reference/" .. file), 0
    for name, value in pairs(pairs_of) do
      local k, size, off = 1, 0, 0
      for i, t in ipairs(reference.t:totable()) do
        while columns.t[k] < t - 1e-9 do k = k + 1 end
        off, size = math.max(off, math.abs(value(k) - reference[name][i])), math.max(size, math.abs(reference[name][i]))
      end
      worst = math.max(worst, off / size)
    end
    return worst
  end

  it("coupled clutches #once", function()
    local d = ns.driveline()
    for i, speed in ipairs { 10, 0, 0, 0 } do d:inertia("J" .. i, "n" .. i, 1, { speed = speed }) end
    d:torque("T", "n1", { amplitude = 10, frequency = 5 })
    d:clutch("C1", "n1", "n2", function(t) return math.max(0, 10 * math.cos(0.4 * pi * t)) end, { static = 1.1 })
    d:clutch("C2", "n2", "n3", { step = 10, time = 0.4 }, { static = 1.1 })
    d:clutch("C3", "n3", "n4", { step = 10, time = 0.9 }, { static = 1.1 })
    local c = d:run { stop = 1.5, step = 0.006 }
    local values = { w1 = function(k) return c["w.n1"][k] end, phi1 = function(k) return c["phi.n1"][k] end }
    for i = 1, 3 do
      values["wrel" .. i] = function(k) return c["w.n" .. i + 1][k] - c["w.n" .. i][k] end
      values["phirel" .. i] = function(k) return c["phi.n" .. i + 1][k] - c["phi.n" .. i][k] end
    end
    assert.is_true(difference(c, "machine_coupled_clutches.csv", values) < 2e-5)
    assert.is_true(imbalance(d, c) < 1e-13)
  end)

  it("a gear with losses that gets stuck #once", function()
    local d = ns.driveline():inertia("J1", "a", 1):inertia("J2", "b", 1.5):gear("G", "a", "b", 2, { efficiency = 0.5 })
    d:torque("T1", "a", { amplitude = 10, frequency = 1 }):torque("T2", "b", function(t) return -10 + 2.5 * t end)
    local c, sol = d:run { stop = 0.5, step = 0.002 }
    assert.equal("G slide, G leave, G slide, G leave", kinds(sol))
    assert.is_true(difference(c, "machine_lossy_gear.csv", { phi = function(k) return c["phi.b"][k] end,
      w = function(k) return c["w.b"][k] end }) < 1e-5)
    assert.is_true(imbalance(d, c) < 1e-13)
  end)
end)
