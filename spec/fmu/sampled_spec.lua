-- Units for model exchange of models with clocks, discrete states and events of the script: another tool's solver gets the run.
local host = require "host"
local solver = require "fmu.solver"
local units = require "fmu.unit"

-- Each script: T, the states, and a function graph(nsds) that gives the model and what adds its events to a simulation.
local HEAD = [[
local ns = require "nslua"
local function driven(nsds, grid) return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()) end
local function model(T, simulate, graph, outputs)
  return ns.fmi.model { parameters = { k = 1 }, outputs = outputs, setup = function(v, run)
    local nsds = ns.NonSmoothDynamicalSystem(run.start, math.min(run.stop, T))
    local made, act = graph(nsds, v)
    made.simulation = simulate(nsds, ns.TimeDiscretisation(run.start, T / 100))
    act(made.simulation)
    return made
  end }
end
]]

local scripts = {
  -- A PI controller of a lag at 4 Hz, a slower reference, and a filter at a third rate with an offset.
  multirate = { long = true, T = 3, states = { "x1", "x2" }, discrete = { "pi.u[1]", "pi.i", "reference.r", "filter.e[2]" },
    script = [[
return model(3, driven, function(nsds)
  local plant = ns.FirstOrderLinearTIDS({ 0, 0.3 }, { { 0, 1 }, { -1, -0.4 } })
  nsds:insertDynamicalSystem(plant)
  return { plant = plant }, function(simu)
    local reference = simu:every { name = "reference", period = 0.7, state = { r = 0 }, act = function(_, s) s.r = 1 - s.r end }
    local filter = simu:every { name = "filter", period = 0.11, offset = 0.05, state = { e = { 0, 0 } }, act = function(_, s)
      s.e = { reference.r - plant:x()[1], 0.9 * s.e[2] + 0.1 * s.e[1] }
    end }
    local pi = simu:every { name = "pi", period = 0.25, state = { u = { 0, 0 }, i = 0 }, act = function(t, s)
      s.i = s.i + 0.25 * filter.e[1]
      s.u = { 0, 2 * filter.e[2] + s.i }
    end }
    plant:setbPtr(pi.u)
  end
end, { u = { get = function(m) return m.simulation:discrete("pi").u[2] end, variability = "discrete" } })]] },
  -- A sampled controller of a relay's bounds: sliding that a smaller bound ends.
  relay = { T = 4, states = { "x1", "x2" }, discrete = { "bounds.b" }, script = [[
return model(4, driven, function(nsds)
  local plant = ns.FirstOrderLinearTIDS({ 1, 0.5 }, { { 0, 1 }, { -1, -0.2 } })
  local law = ns.RelayNSL(1, -1, 1)
  nsds:insertDynamicalSystem(plant)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR { C = { { 0.5, 1 } }, B = { { 0 }, { 1.2 } } }, "relay"), plant)
  return { plant = plant }, function(simu)
    simu:every { name = "bounds", period = 0.3, state = { b = 1 }, act = function(t, s)
      s.b = 0.2 + math.abs(plant:x()[1])
      law:setLb(-s.b)
      law:setUb(s.b)
    end }
  end
end, { x = function(m) return m.plant:x()[1] end })]] },
  -- A ball on a floor that is hit at instants and damped by a sampled force; an event counts its heights of 0.3.
  ball = { T = 2.2, states = { "q1", "v1" }, discrete = { "hit.n", "force.u[1]", "high.n", "floor:impact.n" }, script = [[
return model(2.2, driven, function(nsds)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  nsds:insertDynamicalSystem(ball)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.6), ns.LagrangianLinearTIR { { 1 } }, "floor"), ball)
  return { ball = ball }, function(simu)
    local force = simu:every { name = "force", period = 0.05, state = { u = { -9.81 } }, act = function(t, s)
      s.u[1] = -9.81 - 0.5 * ball:velocity()[1]
    end }
    ball:setFExtPtr(force.u)
    simu:every { name = "hit", period = 0.25, offset = 0.21, state = { n = 0 }, act = function(t, s)
      s.n = s.n + 1
      ball:velocity()[1] = ball:velocity()[1] + 1
    end }
    simu:addEvent { name = "high", g = function(t, x) return x[1] - 0.3 end, direction = "up", state = { n = 0 },
      action = function(_, s) s.n = s.n + 1 end }
    simu:on("floor", "impact", function(_, _, s) s.n = s.n + 1 end, { state = { n = 0 } })
  end
end, { height = function(m) return m.ball:q()[1] end })]] },
  -- A thermostat: hysteresis by two events that write one discrete state; a clock writes the outside temperature.
  thermostat = { long = true, T = 9, states = { "x1" }, discrete = { "outside.T", "heater.on" }, script = [[
return model(9, driven, function(nsds)
  local room = ns.FirstOrderLinearDS({ 15 }, { { -0.5 } })
  nsds:insertDynamicalSystem(room)
  return { room = room }, function(simu)
    local heater = ns.Hysteresis(simu, { name = "heater", input = function(t, x) return x[1] end, on = 18, off = 20,
      values = { on = 12, off = 0 } })
    local outside = simu:every { name = "outside", period = 1.3, state = { T = 8, b = { 0 } }, act = function(t, s)
      s.T = 8 + t
    end }
    room:setComputebFunction(function(t, z, b) b[1] = 0.5 * outside.T + heater.output[1] end)
  end
end, { T = function(m) return m.room:x()[1] end })]] },
  -- A block on a rough floor that a sampled controller pushes: it sticks and slips; a pulse width adds a force.
  friction = { T = 3, states = { "q1", "q2", "v1", "v2" }, discrete = { "push.u[2]" }, script = [[
return model(3, driven, function(nsds)
  local block = ns.LagrangianDS({ 0, 0 }, { 0, 0.2 }, ns.eye(2))
  local pulse = ns.pwm { duty = 0.4, carrier = { period = 0.5 } }
  nsds:insertDynamicalSystem(block)
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), ns.LagrangianLinearTIR(ns.eye(2)), "floor"), block)
  return { block = block }, function(simu)
    local push = simu:every { name = "push", period = 0.2, state = { u = { -9.81, 0 } }, act = function(t, s)
      s.u[2] = 20 * (0.2 * math.sin(t) - block:q()[2])
    end }
    ns.follow(simu, pulse)
    block:setComputeFExtFunction(function(t, z, F)
      F[1], F[2] = push.u[1], push.u[2] + (pulse(t) and 2.5 or 0)
    end)
  end
end, { x = function(m) return m.block:q()[2] end })]] },
}

-- The run of EventDriven: its solution and its model.
local function reference(one)
  local model = assert(load(HEAD .. one.script))()
  local made = model.data.setup(setmetatable({}, { __index = { k = 1 } }), { start = 0, stop = one.T })
  return made.simulation:run(), made
end

describe("a unit of a sampled model #once", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)
  local test = units.here and it or function(name) pending(name .. " (nslua.fmu is not built: make fmu)") end

  local function start(name)
    local one = scripts[name]
    one.unit = one.unit or units.make(directory, name, HEAD .. one.script, { kind = "both" })
    local instance = assert(units.instance(one.unit, "modelexchange")):start(0, one.T)
    return instance, { n = #one.states, nz = tonumber(one.unit.xml:match 'numberOfEventIndicators="(%d+)"') }
  end

  local function compare(one, instance, sol, name)
    for _, state in ipairs(one.states) do
      local value = sol[state][#sol.t]
      assert.near(value, instance:get(state), 1e-6 * math.max(1, math.abs(value)), name .. ": " .. state)
    end
    for _, state in ipairs(one.discrete) do
      assert.near(sol[state][#sol.t], instance:get(state), 1e-6, name .. ": " .. state)
    end
  end

  for name, one in pairs(scripts) do
    test("lets another solver follow the run, also from a stored state: " .. name .. (one.long and " #long" or ""), function()
      local instance, o = start(name)
      local sol = reference(one)
      local taken
      o.on = function(t)
        if t >= one.T / 3 and not taken then taken = t assert.equal("OK", instance.c:get_state(0)) end
      end
      local x = solver.integrate(instance.c, one.T, o)
      assert.equal("", instance:log())
      compare(one, instance, sol, name)
      local status, bytes = instance.c:serialize(0)
      assert.equal("OK", status)
      local other = start(name)
      for _, again in ipairs { instance, other } do
        assert.equal("OK", again.c:deserialize(bytes, 1))
        assert.equal("OK", again.c:set_state(1))
        local last = solver.integrate(again.c, one.T, { n = o.n, nz = o.nz, from = taken })
        assert.equal("", again:log())
        for i = 1, #x do assert.near(x[i], last[i], 1e-7, name) end
        compare(one, again, sol, name)
      end
    end)
  end

  test("describes the discrete states, which co-simulation has too", function()
    local one = scripts.multirate
    start "multirate"
    assert.truthy(one.unit.xml:find('name="pi.u[2]" valueReference="', 1, true))
    assert.match('name="pi.u%[2%]" valueReference="%d+" causality="local" variability="discrete"', one.unit.xml)
    local instance = assert(units.instance(one.unit, "cosimulation")):start(0, one.T)
    for k = 1, 30 do assert.equal("OK", (instance.c:step((k - 1) * 0.1, 0.1))) end
    compare(one, instance, reference(one), "co-simulation")
  end)

  test("ends at a terminal event, and tells of actions that fail", function()
    local function fall(name, act)
      local unit = units.make(directory, name, HEAD .. [[
return model(2, driven, function(nsds)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ball:setFExtPtr { -2 }
  nsds:insertDynamicalSystem(ball)
  return { ball = ball }, function(simu)
    simu:addEvent { name = "low", g = function(t, x) return x[1] - 0.36 end, terminal = true }
    simu:every { name = "late", period = 0.75, offset = 0.75, act = function() ]] .. act .. [[ end }
  end
end, { y = function(m) return m.ball:q()[1] end })]], { kind = "modelexchange" })
      local instance = assert(units.instance(unit, "modelexchange")):start(0, 2)
      local good, x, _, t = pcall(solver.integrate, instance.c, 2, { n = 2, nz = 1 })
      return good and t or x, instance:log()
    end
    local t, log = fall("ends", "")
    assert.near(0.8, t, 1e-9)
    assert.equal("", log)
    local status, told = fall("fails", "error 'no more'")
    assert.equal("status Error", status)
    assert.match("clock 'late' act: t=0.75 step 1: no more", told)
    status, told = fall("grows", "nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))")
    assert.equal("status Error", status)
    assert.match("an action of an event can not add a system", told)
  end)
end)
