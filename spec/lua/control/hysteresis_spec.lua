-- ns.Hysteresis: a switch with two thresholds, in every simulation.
local ns = require "nslua"
local message = require "bind.models".message

local function thermostat(make, o)
  local room = ns.FirstOrderLinearTIDS({ o.x or 15 }, { { -0.5 } }, { 0 })
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(room)
  local simu = make(nsds)
  local heater = ns.Hysteresis(simu, { name = "heater", input = function(_, x) return x[1] end, on = 18, off = 20,
    values = { on = 15, off = 5 }, start = o.start })
  room:setbPtr(heater.output)
  return simu, heater, room
end

local makes = {
  function(nsds) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI(1e-10, 1e-12)) end,
  function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.FESDOSI()) end,
  function(nsds) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5)) end,
}

describe("ns.Hysteresis", function()
  it("is a thermostat, whose times are logarithms, in every simulation", function()
    local first, cool, heat = 2 * math.log(15 / 10), 2 * math.log(10 / 8), 2 * math.log(12 / 10)
    for k, make in ipairs(makes) do
      local simu, heater = thermostat(make, {})
      local sol = simu:run()
      local times = { first, first + cool, first + cool + heat, first + 2 * cool + heat }
      for i, t in ipairs(times) do assert.near(t, sol.events[i].t, k == 3 and 1e-5 or 1e-8) end
      assert.equal(1, sol["heater.on"][1])
      assert.equal(15, sol["heater.output[1]"][1])
      local on, output = heater.on, heater.output[1]
      assert.equal(on == 1 and 15 or 5, output)
      simu:reset()
      assert.equal(1, heater.on)
      simu:run()
      assert.same({ on, output }, { heater.on, heater.output[1] })
    end
  end)

  it("starts as the input says, or as it is told; between the thresholds it is off", function()
    local function starts(x, start)
      local _, heater = thermostat(makes[1], { x = x, start = start })
      return heater.on
    end
    assert.same({ 1, 0, 0, 1, 0 }, { starts(15), starts(25), starts(19), starts(19, "on"), starts(15, "off") })
  end)

  -- A ball that bounces on the floor is pushed up while it is below 0.5, until it is above 1.
  it("acts on mechanics with impacts: its force is a vector", function()
    local ends = {}
    for k = 1, 2 do
      local ball = ns.LagrangianLinearTIDS({ 0.8, 0 }, { 0, 0 }, ns.eye(2))
      local nsds = ns.NonSmoothDynamicalSystem(0, 3)
      nsds:insertDynamicalSystem(ball)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 1, 0 } }, "floor"), ball)
      local simu = k == 1 and ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI(1e-10, 1e-12)) or
        ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-4), ns.MoreauJeanOSI(0.5))
      local push = ns.Hysteresis(simu, { input = function(_, x) return x[1] end, on = 0.5, off = 0.7,
        values = { on = { -5, 1 }, off = { -10, 0 } } })
      ball:setFExtPtr(push.output)
      local sol, pushes = simu:run(), 0
      for _, event in ipairs(sol.events) do pushes = pushes + (event.name == "hysteresis" and 1 or 0) end
      assert.is_true(pushes > 1)
      ends[k] = { ball:q()[1], ball:q()[2] }
      assert.is_true(ball:velocity()[2] > 0.5)
    end
    assert.near(ends[1][1], ends[2][1], 0.02)
    assert.near(ends[1][2], ends[2][2], 0.02)
  end)

  it("has the orbit of a thermostat, by a section of the state, by its own event, by a guess of the period #once", function()
    local function simulation(heat)
      local room = ns.FirstOrderLinearTIDS({ 18.5 }, { { -0.5 } }, { 0 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(room)
      local simu = makes[1](nsds)
      local heater = ns.Hysteresis(simu, { name = "heater", input = function(_, x) return x[1] end, on = 18, off = 20,
        values = { on = heat, off = 5 } })
      room:setbPtr(heater.output)
      return simu
    end
    local section = { function(_, x) return x[1] - 19 end, direction = "up" }
    local function period(heat) return 2 * math.log((2 * heat - 18) / (2 * heat - 20)) + 2 * math.log(10 / 8) end
    for _, o in ipairs { { section = section }, { section = "heater" }, { autonomous = true, period = 0.8 } } do
      o.simulation, o.value, o.guess = simulation, 15, { 18.5 }
      local orbit = ns.dynamics.periodic(o)
      assert.near(period(15), orbit.T, 1e-9)
      assert.equal("stable", orbit.stability)
      for _, multiplier in ipairs(orbit.multipliers) do assert.near(0, multiplier.abs, 1e-6) end
    end
    local points = ns.dynamics.poincare { simulation = simulation, value = 15, guess = { 18.5 }, section = section, count = 3 }
    for k = 1, 3 do assert.near(0, (points.x:row(k) - ns.vector { 19, 1, 15 }):norm(), 1e-9) end
    local branch = ns.dynamics.continuation { simulation = simulation, range = { 15, 16 }, guess = { 18.5 }, section = "heater" }
    assert.near(period(16), branch.T[#branch.T], 1e-9)
  end)

  it("turns on above or below, and says what is wrong", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { 1 }))
    local simu = makes[1](nsds)
    local valve = ns.Hysteresis(simu, { input = function(_, x) return x[1] end, on = 0.5, off = 0.2 })
    simu:run()
    assert.same({ 1, 1 }, { valve.on, valve.output[1] })
    local function refused(text, o, other) assert.match(text, message(ns.Hysteresis, other or simu, o)) end
    local function input(_, x) return x[1] end
    refused("Hysteresis: expected a simulation, got 3", {}, 3)
    refused("Hysteresis: input: expected a function of %(t, x%), got nil", { on = 1, off = 2 })
    refused("Hysteresis: off: expected another value than on, got 1 twice; a relay has one", { input = input, on = 1, off = 1 })
    refused("Hysteresis: start: expected 'on' or 'off', got 'up'", { input = input, on = 1, off = 2, start = "up" })
    refused("Hysteresis: values: on has 2 numbers, off has 1",
      { input = input, on = 1, off = 2, values = { on = { 1, 2 }, off = 0 } })
    refused("Hysteresis: values: off: expected a number or a vector, got nil",
      { input = input, on = 1, off = 2, values = { on = 1 } })
    refused("addEvent: there is an event 'hysteresis' already", { input = input, on = 1, off = 2 })
  end)
end)
