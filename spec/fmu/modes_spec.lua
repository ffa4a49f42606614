-- Units for model exchange of models with laws: another tool's solver gets the motion that EventDriven computes.
local host = require "host"
local solver = require "fmu.solver"
local units = require "fmu.unit"

-- Scripts: each makes its graph in graph(v, nsds) and returns what its outputs need; T is the end of the run.
local HEAD = [[
local ns = require "nslua"
local function model(T, simulate, graph, outputs, parameters)
  return ns.fmi.model { parameters = parameters or { unused = 1 }, outputs = outputs, setup = function(v, run)
    local nsds = ns.NonSmoothDynamicalSystem(run.start, math.min(run.stop, T))
    local made = graph(nsds, v)
    made.simulation = simulate(nsds, ns.TimeDiscretisation(run.start, T / 100))
    return made
  end }
end
local function driven(nsds, grid) return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()) end
local function stepped(nsds, grid) return ns.TimeStepping(nsds, grid, ns.MoreauJeanOSI(0.5)) end
local function euler(nsds, grid) return ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1)) end
]]

local scripts = {
  ball = { T = 3, states = { "q1", "v1" }, script = [[
return model(3, stepped, function(nsds, v)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  ball:setFExtPtr { -9.81 }
  local floor = ns.Interaction(ns.NewtonImpactNSL(v.e), ns.LagrangianLinearTIR { { 1 } }, "floor")
  nsds:insertDynamicalSystem(ball)
  nsds:link(floor, ball)
  return { ball = ball, floor = floor }
end, { y = function(m) return m.ball:q()[1] end, force = function(m) return m.floor:lambda(1)[1] end }, { e = 0.5 })]] },
  -- A block on a belt, on a spring.
  stick_slip = { T = 3, states = { "q1", "q2", "v1", "v2" }, script = [[
return model(3, driven, function(nsds)
  local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0.1 }, ns.eye(2), ns.diag { 0, 100 })
  block:setFExtPtr { -9.81, 0 }
  local relation = ns.LagrangianRheonomousR {
    h = function(t, q, _, y) y[1], y[2] = q[1], q[2] - 0.1 * t end,
    hDot = function(_, _, _, y) y[1], y[2] = 0, -0.1 end }
  nsds:insertDynamicalSystem(block)
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), relation, "belt"), block)
  return { block = block }
end, { x = function(m) return m.block:q()[2] end })]] },
  -- A relay that switches, then slides.
  relay = { T = 4, states = { "x1", "x2" }, script = [[
return model(4, euler, function(nsds)
  local system = ns.FirstOrderLinearTIDS({ 1, 0.5 }, { { 0, 1 }, { -1, -0.2 } })
  local law = ns.RelayNSL(1, -1, 1)
  nsds:insertDynamicalSystem(system)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR { C = { { 0.5, 1 } }, B = { { 0 }, { 1.2 } } }, "relay"), system)
  return { system = system }
end, { x = function(m) return m.system:x()[1] end })]] },
  -- A coil and a capacitor with a resistor behind a bridge of four diodes.
  bridge = { T = 5e-3, states = { "x1", "x2" }, script = [[
return model(5e-3, euler, function(nsds)
  local C, L, R = 1e-6, 1e-2, 1e3
  local circuit = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local relation = ns.FirstOrderLinearTIR { C = { { 0, 0 }, { 0, 0 }, { -1, 0 }, { 1, 0 } },
    D = { { 1 / R, 1 / R, -1, 0 }, { 1 / R, 1 / R, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 } } }
  nsds:insertDynamicalSystem(circuit)
  nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(4), relation, "bridge"), circuit)
  return { circuit = circuit }
end, { voltage = function(m) return m.circuit:x()[1] end })]] },
  -- Two discs on shafts with a clutch between them, whose torque has a bound; one disc is driven.
  clutch = { T = 6, states = { "q1", "v1", "q2", "v2" }, script = [[
return model(6, stepped, function(nsds)
  local one = ns.LagrangianDS({ 0 }, { 3 }, { { 1 } })
  one:setComputeFExtFunction(function(t, _, f) f[1] = 2 * math.sin(1.3 * t) end)
  local two = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 2 } })
  nsds:insertDynamicalSystem(one)
  nsds:insertDynamicalSystem(two)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.LagrangianLinearTIR { { 1, -1 } }, "clutch"), one, two)
  return { one = one }
end, { speed = function(m) return m.one:velocity()[1] end })]] },
  -- A point on a plane with friction in space, pulled to and fro: it stops, and slips in other directions.
  plane = { T = 4, states = { "q1", "q2", "q3", "v1", "v2", "v3" }, script = [[
return model(4, stepped, function(nsds)
  local point = ns.LagrangianDS({ 0.1, 0, 0 }, { 0, 1, -0.5 }, ns.eye(3))
  point:setComputeFExtFunction(function(t, _, f)
    f[1], f[2], f[3] = -9.81, 1.6 * math.sin(1.3 * t), 1.1 * math.cos(2.1 * t)
  end)
  nsds:insertDynamicalSystem(point)
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0.3, 0, 0.15, 3), ns.LagrangianLinearTIR(ns.eye(3)), "plane"), point)
  return { point = point }
end, { x = function(m) return m.point:q()[2] end })]] },
}

-- The states at the end of a run of EventDriven, by their names in a unit.
local function reference(one)
  local source = one.script:gsub("return model%(([^,]*), %a+,", "return model(%1, driven,")
  local model = assert(load(HEAD .. source))()
  local made = model.data.setup(setmetatable({}, { __index = { e = 0.5 } }), { start = 0, stop = one.T })
  local sol = made.simulation:run()
  local states = {}
  for _, name in ipairs(one.states) do states[name] = assert(sol[name])[#sol.t] end
  return states, made.simulation:events()
end

describe("a unit of a model with laws #once", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)
  local test = units.here and it or function(name) pending(name .. " (nslua.fmu is not built: make fmu)") end

  local function start(name, kind, options)
    local one = scripts[name]
    one.unit = one.unit or units.make(directory, name, HEAD .. one.script, { kind = "both" })
    local instance = assert(units.instance(one.unit, kind or "modelexchange")):start(0, one.T, options)
    return instance, { n = #one.states, nz = tonumber(one.unit.xml:match 'numberOfEventIndicators="(%d+)"') }
  end

  for name, one in pairs(scripts) do
    test("lets another solver follow EventDriven: " .. name, function()
      local instance, o = start(name)
      local _, events = solver.integrate(instance.c, one.T, o)
      local expected, happened = reference(one)
      for state, value in pairs(expected) do
        assert.near(value, instance:get(state), 1e-6 * math.max(1, math.abs(value)), name .. ": " .. state)
      end
      assert.truthy(#events > 0 and #events <= #happened, #events .. " events, not " .. #happened)
      assert.equal("", instance:log())
    end)
  end

  test("comes to rest after infinitely many impacts", function()
    local instance, o = start "ball"
    local x, events = solver.integrate(instance.c, 3, o)
    local t1 = math.sqrt(2 / 9.81)
    assert.same({ 0.0, 0.0 }, x)
    for k = 1, 5 do assert.near(t1 * (3 - 4 * 0.5 ^ k), events[k], 1e-10) end
    assert.near(3 * t1, events[#events], 1e-4)
    assert.near(9.81, instance:get "force", 1e-12)
    assert.same({ 9.81 }, { (instance:get "force") })
  end)

  test("comes to rest with a solver that finds events only roughly", function()
    for _, apart in ipairs { 1e-6, 1e-3 } do
      for _, e in ipairs { 0, 0.5, 0.9 } do
        local instance, o = start("ball", nil, { e = e })
        o.apart, o.rtol, o.atol = apart, 1e-4, 1e-6
        local x = solver.integrate(instance.c, 12, o)
        assert.same({ 0.0, 0.0 }, x, ("e = %g, events to %g"):format(e, apart))
      end
    end
  end)

  test("stops and slips in space with a solver of little accuracy", function()
    local instance, o = start "plane"
    o.apart, o.rtol, o.atol = 1e-6, 1e-5, 1e-7
    solver.integrate(instance.c, 4, o)
    local expected = reference(scripts.plane)
    for state, value in pairs(expected) do assert.near(value, instance:get(state), 1e-3, state) end
  end)

  test("restores a stored state with its mode, also in another instance", function()
    for _, name in ipairs { "ball", "stick_slip", "relay", "bridge" } do
      local instance, o = start(name)
      local taken
      o.on = function(t, x)
        if t >= scripts[name].T / 3 and not taken then
          taken = x
          assert.equal("OK", instance.c:get_state(0))
        end
      end
      solver.integrate(instance.c, scripts[name].T, o)
      assert.equal("OK", instance.c:set_state(0))
      assert.same(taken, select(2, instance.c:numbers("GetContinuousStates", o.n)))
      local status, bytes = instance.c:serialize(0)
      assert.equal("OK", status)
      local other = start(name)
      assert.equal("OK", other.c:deserialize(bytes, 1))
      assert.equal("OK", other.c:set_state(1))
      for _, what in ipairs { "GetEventIndicators", "GetDerivatives" } do
        local n = what == "GetDerivatives" and o.n or o.nz
        assert.same(select(2, instance.c:numbers(what, n)), select(2, other.c:numbers(what, n)), name .. ": " .. what)
      end
    end
  end)

  test("has the same states in co-simulation", function()
    local instance = start("ball", "cosimulation")
    for k = 1, 100 do assert.equal("OK", (instance.c:step((k - 1) * 0.03, 0.03))) end
    assert.near(0, instance:get "q1", 1e-2)
    assert.near(0, instance:get "der(q1)", 1e-2, instance:log())
  end)

  test("tells what it cannot be", function()
    local function refused(name, body, expected)
      local message = select(2, pcall(units.make, directory, name, HEAD .. body, { kind = "modelexchange" }))
      assert.truthy(tostring(message):find(expected, 1, true), message)
    end
    refused("frozen", [[
return model(3, stepped, function(nsds)
  local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
  nsds:insertDynamicalSystem(ball)
  nsds:link(ns.Interaction(ns.FremondImpactFrictionNSL(0.5, 0, 0.1, 2), ns.LagrangianLinearTIR { { 1 }, { 0 } }, "floor"), ball)
  return {}
end, { y = function() return 1 end })]], "model exchange goes from event to event, which this simulation cannot: ")
  end)
end)
