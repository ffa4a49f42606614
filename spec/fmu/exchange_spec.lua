-- Units for model exchange, with an integrator that locates events, and co-simulation of the same equations.
local host = require "host"
local crossed = require("fmu.solver").crossed
local units = require "fmu.unit"

local BALL = [[
local ns = require "nslua"
return ns.fmi.model {
  parameters = { g = { start = 10, unit = "m/s2" }, e = { start = 0.5, unit = "1" } },
  states = { { name = "h", start = 1, unit = "m" }, { name = "v", start = 0, unit = "m/s" } },
  outputs = { energy = function(x, v) return x[2] ^ 2 / 2 + v.g * x[1] end, twice = function(x, v) return 2 * v.time end },
  rhs = function(t, x, v) return { x[2], -v.g } end,
  events = { g = function(t, x) return x[1] end, direction = "down",
    apply = function(t, x, v) return { 0, -v.e * x[2] } end },
}
]]

local PENDULUM = [[
local ns = require "nslua"
return ns.fmi.model {
  parameters = { L = 1 }, inputs = { T = 0 },
  outputs = { phi = function(m) return m.pendulum:q()[1] end },
  setup = function(v, run)
    local pendulum = ns.LagrangianDS({ 1 }, { 0 }, { { v.L ^ 2 } })
    pendulum:setComputeFIntFunction(function(t, q, vel, z, f) f[1] = 9.81 * v.L * math.sin(q[1]) - v.T end)
    local nsds = ns.NonSmoothDynamicalSystem(run.start, run.stop)
    nsds:insertDynamicalSystem(pendulum)
    local grid = ns.TimeDiscretisation(run.start, 0.1)
    return { simulation = ns.EventDriven(nsds, grid, ns.RungeKuttaOSI(1e-11, 1e-11)), pendulum = pendulum }
  end,
}
]]

-- ---- an importer's integrator: Runge and Kutta's method of order 4, events by bisection of the step ----

local function good(status, ...)
  assert.equal("OK", status)
  return ...
end

local function rate(c, n, t, x)
  good(c:set_time(t))
  good(c:set_states(x))
  return good(c:numbers("GetDerivatives", n))
end

local function moved(x, a, d)
  local y = {}
  for i = 1, #x do y[i] = x[i] + a * d[i] end
  return y
end

local function rk4(c, n, t, x, h)
  local a = rate(c, n, t, x)
  local b = rate(c, n, t + h / 2, moved(x, h / 2, a))
  local d = rate(c, n, t + h / 2, moved(x, h / 2, b))
  local e = rate(c, n, t + h, moved(x, h, d))
  local y = {}
  for i = 1, n do y[i] = x[i] + h / 6 * (a[i] + 2 * b[i] + 2 * d[i] + e[i]) end
  return y
end

local function indicators(c, nz, t, x)
  good(c:set_time(t))
  good(c:set_states(x))
  return good(c:numbers("GetEventIndicators", nz))
end

-- The states after an event, and whether it changed them.
local function updates(c)
  local jumps = false
  repeat
    local again, changed = good(c:update())
    jumps = jumps or changed
  until not again
  good(c:call "EnterContinuousTimeMode")
  return good(c:numbers("GetContinuousStates", 2)), jumps
end

-- Integrates from 0 to T. Returns the state and the times of events that changed it.
local function integrate(c, nz, T, h)
  local x, n, t, events = updates(c), 2, 0, {}
  while t < T - 1e-12 do
    local step = math.min(h, T - t)
    local z, y = indicators(c, nz, t, x), rk4(c, n, t, x, step)
    local event = crossed(z, indicators(c, nz, t + step, y))
    if event then
      local a, b = 0, step
      for _ = 1, 60 do
        local m = (a + b) / 2
        if crossed(z, indicators(c, nz, t + m, rk4(c, n, t, x, m))) then b = m else a = m end
      end
      step = b
      y = rk4(c, n, t, x, step)
    end
    t, x = t + step, y
    good(c:set_time(t))
    good(c:set_states(x))
    good(c:completed())
    if event then
      good(c:call "EnterEventMode")
      local jumps
      x, jumps = updates(c)
      if jumps then events[#events + 1] = t end
    end
  end
  return x, events
end

describe("a unit for model exchange #once", function()
  local directory, ball, pendulum

  setup(function()
    directory = host.new_directory()
    if units.here then
      ball = units.make(directory, "ball", BALL, { kind = "both" })
      pendulum = units.make(directory, "pendulum", PENDULUM, { kind = "both" })
    end
  end)
  teardown(function() host.remove(directory) end)
  local test = units.here and it or function(name) pending(name .. " (nslua.fmu is not built: make fmu)") end

  test("lets the importer locate the impacts of a ball", function()
    local one = assert(units.instance(ball, "modelexchange")):start(0, 2)
    local x, events = integrate(one.c, 1, 1.2, 0.01)
    local t1 = math.sqrt(2 / 10) -- the first impact; flights of 2 e^k t1 follow
    assert.equal(3, #events)
    for k = 1, 3 do assert.near(t1 * (3 - 4 * 0.5 ^ k), events[k], 1e-12) end
    local flown, speed = 1.2 - events[3], 0.125 * 10 * t1
    assert.near(speed * flown - 5 * flown ^ 2, x[1], 1e-11)
    assert.near(speed - 10 * flown, x[2], 1e-11)
    assert.near(x[2] ^ 2 / 2 + 10 * x[1], one:get "energy", 1e-12)
    assert.equal(2.4, (one:get "twice"))
    assert.equal(x[2], (one:get "der(h)"))
    assert.equal("", one:log())
  end)

  test("co-simulates the same equations", function()
    local one = assert(units.instance(ball)):start(0, 2, { e = 0.5 })
    for k = 1, 12 do good(one.c:step((k - 1) * 0.1, 0.1)) end
    local t1 = math.sqrt(2 / 10)
    local flown, speed = 1.2 - 2.5 * t1, 0.125 * 10 * t1
    assert.near(speed * flown - 5 * flown ^ 2, one:get "h", 1e-9)
    assert.equal("Discard", (one.c:step(1.2, 0.5)))
    local _, time = one.c:last_time()
    assert.near(3 * t1, time, 1e-6)
    assert.matches("its occurrences accumulate", one:log())
  end)

  test("gives the derivatives of a simulation that is smooth", function()
    local one = assert(units.instance(pendulum, "modelexchange")):start(0, 2, { T = 0.5 })
    local x = integrate(one.c, 0, 2, 0.002)
    local other = assert(units.instance(pendulum)):start(0, 2, { T = 0.5 })
    for k = 1, 20 do good(other.c:step((k - 1) * 0.1, 0.1)) end
    assert.near(x[1], other:get "phi", 1e-9)
    assert.equal(x[1], (one:get "phi"))
    assert.equal(x[1], (one:get "q1"))
    assert.near(x[2], other:get "v1", 1e-9)
    assert.near(0.5 - 9.81 * math.sin(x[1]), one:get "der(v1)", 1e-12)
  end)

  test("keeps and restores states", function()
    local one = assert(units.instance(ball, "modelexchange")):start(0, 2)
    local x = integrate(one.c, 1, 0.6, 0.01)
    good(one.c:get_state(0))
    good(one.c:set_states { 5, 5 })
    good(one.c:set_state(0))
    assert.same(x, (good(one.c:numbers("GetContinuousStates", 2))))
    assert.equal(0.6, one:get "twice" / 2)
  end)

  test("knows its modes", function()
    local one = assert(units.instance(ball, "modelexchange"))
    assert.equal("Error", one.c:set_time(1))
    assert.equal("one Error logStatusError: fmi2SetTime: it cannot be called now (model exchange: instantiated)", one:log())
    one:start(0, 2)
    assert.equal("OK", one.c:call "EnterEventMode")
    assert.equal("Error", one.c:set_states { 1, 0 })
    assert.matches("fmi2SetContinuousStates: it cannot be called now %(model exchange: event mode%)", one:log())
    assert.equal("Error", (one.c:step(0, 1)))
    assert.matches("fmi2DoStep: it cannot be called now %(model exchange: event mode%)", one:log())
    assert.equal("Error", (one.c:numbers("GetContinuousStates", 3)))
    assert.equal("one Error logStatusError: there are 2 numbers, not 3", one:log())
    assert.same({ 1, 1 }, (good(one.c:numbers("GetNominalsOfContinuousStates", 2))))
    good(one.c:call "EnterContinuousTimeMode")
    for _, name in ipairs { "NewDiscreteStates", "EnterContinuousTimeMode", "EnterInitializationMode",
      "ExitInitializationMode" } do
      local status = name == "NewDiscreteStates" and one.c:update() or name ~= "NewDiscreteStates" and one.c:call(name)
      assert.equal("Error", status)
      assert.matches("fmi2" .. name .. ": it cannot be called now %(model exchange: continuous%-time mode%)", one:log())
    end
    assert.equal("Error", one.c:setup(0, 1))
    good(one.c:call "Terminate")
    assert.equal("Error", one.c:set_time(1))
    assert.equal("Error", (one.c:completed()))
    assert.equal("Error", one.c:call "Terminate")
    good(one.c:call "Reset")
    one:start(0, 1)
    assert.same({ 1, 0 }, (good(one.c:numbers("GetContinuousStates", 2))))
  end)

  test("sets in continuous-time mode what is continuous alone", function()
    local unit = units.make(directory, "inputs", [[
      return require "nslua".fmi.model { inputs = { u = 0, on = { start = 0, variability = "discrete" } },
        parameters = { k = { start = 1, variability = "tunable" }, m = 1 }, states = { { name = "x", start = 0 } },
        rhs = function(t, x, v) return { v.u + v.on + v.k } end }]], { kind = "modelexchange" })
    local one = assert(units.instance(unit, "modelexchange")):start(0, 1)
    good(one:set("on", 1))
    good(one:set("k", 2))
    good(one.c:call "EnterContinuousTimeMode")
    good(one:set("u", 3))
    assert.equal("Error", one:set("on", 0))
    assert.matches("'on' is discrete: it can only be set in event mode", one:log())
    assert.equal("Error", one:set("k", 0))
    assert.matches("'k' is tunable: it can only be set in event mode", one:log())
    assert.equal("Error", one:set("m", 0))
    assert.matches("'m' can only be set before the initialization ends", one:log())
    assert.same({ 6 }, (good(one.c:numbers("GetDerivatives", 1))))
  end)
end)
