-- Circuits whose switches are turned by actions: c:set.
local ns = require "nslua"
local message = require "expect".message
local random = require "random_numbers"

-- A buck converter that feeds a battery of E; the switch S is on at first.
local function buck(V, E, L, i, kind)
  local c = ns.circuit():voltage("V", "in", "0", V)
  return c[kind or "switch"](c, "S", "in", "x", true):diode("D", "0", "x"):inductor("L", "x", "out", L, { initial = i })
    :voltage("E", "out", "0", E)
end

local function turned(c, on)
  return function(simulation) c:set(simulation, "S", on) end
end

describe("circuit:set #once", function()
  it("makes hysteretic converters, whose instants have a closed form", function()
    math.randomseed(2)
    for k = 1, require "campaign"(4, 0.005) do
      local V, L, low = random.uniform(5, 20), random.uniform(1e-4, 1e-2), random.uniform(0.5, 2)
      local E, high = V * random.uniform(0.2, 0.8), low * random.uniform(1.1, 1.6)
      local c = buck(V, E, L, low, ({ "switch", "igbt", "mosfet" })[1 + k % 3])
      local rise, fall = L * (high - low) / (V - E), L * (high - low) / E
      local simu = c:simulation { stop = 5 * (rise + fall), step = rise + fall }
      simu:addEvent { name = "high", g = function(_, x) return x[1] - high end, direction = "up", action = turned(c, false) }
      simu:addEvent { name = "low", g = function(_, x) return x[1] - low end, direction = "down", action = turned(c, true) }
      local function instants(s)
        local list = {}
        for _, event in ipairs(s:run().events) do
          if event.kind == "user" then list[#list + 1] = event.t end
        end
        return list
      end
      local t = instants(simu)
      for i = 1, 6 do assert.near((i + 1) // 2 * rise + i // 2 * fall, t[i], 1e-9 * t[i]) end
      simu:reset()
      assert.same(t, instants(simu))
      local twin = simu:clone()
      twin:reset()
      assert.same(t, instants(twin))
    end
  end)

  it("makes control of the peak current, whose orbit has the multiplier -E / (V - E)", function()
    local V, E, L, T = 10, 4, 1e-3, 2e-4
    local c = buck(V, E, L, 1.5, "mosfet")
    local simu = c:simulation { stop = 2 * T, step = T }
    simu:every { name = "clock", period = T, act = function(_, _, simulation) c:set(simulation, "S", true) end }
    simu:addEvent { name = "peak", g = function(_, x) return x[1] - 2 end, direction = "up", action = turned(c, false) }
    local orbit = ns.dynamics.periodic { simulation = simu, period = T, guess = { 1.6 } }
    assert.near(2 - E / L * T * (1 - E / V), orbit.x0[1], 1e-9)
    assert.near(-E / (V - E), orbit.multipliers[1].re, 1e-6)
  end)

  it("fires thyristors and triacs by pulses, which conduct until their current ends", function()
    for _, kind in ipairs { "thyristor", "triac" } do
      local c = ns.circuit():voltage("V", "a", "0", { amplitude = 10, frequency = 50 })
      c[kind](c, "T", "a", "b", false):resistor("R", "b", "0", 5)
      local simu = c:simulation { stop = 0.04, step = 1e-3 }
      for word, offset in pairs { on = 0.003, off = 0.0032 } do
        simu:every { name = word, period = 0.01, offset = offset, act = function(_, _, simulation)
          c:set(simulation, "T", word == "on")
        end }
      end
      local columns = c:columns(simu:run { rows = "grid" })
      for k = 1, #columns.t do
        local t, since = columns.t[k], columns.t[k] % 0.01
        local positive = t % 0.02 < 0.01
        if since > 0.0035 and since < 0.0095 and (positive or kind == "triac") then
          assert.near(2 * math.sin(100 * math.pi * t), columns["i.R"][k], 1e-9)
        elseif since > 0.0005 and since < 0.0025 then
          assert.near(0, columns["i.R"][k], 1e-12)
        end
      end
    end
  end)

  it("says what is wrong", function()
    local c = buck(10, 4, 1e-3, 1)
    assert.equal("set: expected a model: call simulation, system or run first", message(c.set, c, nil, "S", true))
    local simu = c:simulation { stop = 1e-3, step = 1e-4 }
    local wanted = "set: expected the name of a switch, igbt or mosfet whose gate is true or false, or of a thyristor or triac "
      .. "whose gate is false, got "
    assert.equal(wanted .. "'L'", message(c.set, c, simu, "L", true))
    assert.equal(wanted .. "'Q'", message(c.set, c, simu, "Q", true))
    assert.equal(wanted .. "nil", message(c.set, c, simu, nil, true))
    assert.equal("set: expected true or false, got 1", message(c.set, c, simu, "S", 1))
    assert.equal("set: expected a simulation, got 3", message(c.set, c, 3, "S", true))
    local other = ns.circuit { name = "other" }:voltage("V", "a", "0", 1):resistor("R", "a", "0", 1)
    assert.equal("set: expected a simulation of this circuit, got one without a system 'circuit'",
      message(c.set, c, other:simulation { stop = 1, step = 1 }, "S", true))
    local clocked = ns.circuit():voltage("V", "a", "0", 1):switch("S", "a", "b", { period = 1 }):resistor("R", "b", "0", 1)
    assert.equal(wanted .. "'S'", message(clocked.set, clocked, clocked:simulation { stop = 1, step = 1 }, "S", true))
    local coil = ns.circuit():voltage("V", "in", "0", 10):switch("S", "in", "x", true)
    coil:inductor("L", "x", "0", 1e-3, { initial = 1 })
    local run = coil:simulation { stop = 1e-3, step = 1e-4 }
    run:addEvent { name = "off", at = 5e-4, action = turned(coil, false) }
    assert.truthy(message(run.run, run):find("S opens at t=0.0005 while the current 6 of L flows through it", 1, true))
  end)
end)
