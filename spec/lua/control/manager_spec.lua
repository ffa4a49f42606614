-- Control simulations: exact holds; reset, clones, checkpoints, orbits.
local ns = require "nslua"
local expect = require "expect"
local matrices = require "linalg.matrices"

local fails, random = expect.fails, matrices.random

-- A loop with all that has a state, and what it is made of.
local function loop(T)
  local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, -0.2 } })
  local sim = ns.ControlZOHSimulation(0, T or 2, 0.05)
  sim:addDynamicalSystem(ds, "cart")
  local sensor = ns.LinearSensor(ds, { 1, 0 }, { noise = 0.01, seed = 3, delay = 0.12, quantisation = 1e-3, dropout = 0.2 })
  sim:addSensor(sensor, 0.1)
  local observer = ns.SlidingReducedOrderObserver(sensor, { 0, 0 }, { 1, 0 }, { -1, -1 })
  sim:addObserver(observer, 0.1)
  sim:addActuator(ns.PID(sensor, { 0, 1 }, { K = { 1, 0.5, 0.1 }, saturation = 0.5, rate = 2, dead_zone = 0.01, delay = 0.03 }),
    0.1)
  sim:addActuator(ns.SuperTwisting(observer, { 0, 1 }, { Csurface = { 1, 1 }, k1 = 0.3, k2 = 0.2, delay = 0.1 }), 0.2)
  return sim
end

-- The last row of a run, bit by bit.
local function bits(sol)
  local list = {}
  for _, name in ipairs(sol:names()) do
    if name ~= "newton_iterations" then list[#list + 1] = name .. ("=%a"):format(sol[name][#sol]) end
  end
  return table.concat(list, " ")
end

describe("a control simulation", function()
  setup(function() math.randomseed(4) end)

  it("holds exactly: x(k + 1) = exp(A h) x + integral B u to 1e-13", function()
    for _ = 1, 8 do
      local n = math.random(1, 5)
      local A, B, K = random(n, n) - ns.eye(n), random(n, 2), random(2, n)
      local ds = ns.FirstOrderLinearTIDS(random(n, 1):column(1), A)
      local sim, sensor, x = ns.ControlZOHSimulation(0, 5, 0.1), ns.LinearSensor(ds), ds:x():copy()
      sim:addDynamicalSystem(ds)
      sim:addSensor(sensor, 0.1)
      sim:addActuator(ns.Actuator(sensor, B, { law = function(t, y) return math.sin(t) * (K * y) end }), 0.1)
      local sol, d, size = sim:run(), ns.control.c2d({ A, B }, 0.1), 0
      for k = 1, #sol do
        size = math.max(size, x:norm())
        assert.is_true((sol.x[k] - x):norm() <= 1e-13 * size, (sol.x[k] - x):norm() / size)
        x = d.A * x + math.sin(sol.t[k]) * (d.B * (K * x))
      end
    end
  end)

  it("is the same run after reset, in a clone and from a checkpoint, and by hand", function()
    local want = bits(loop():run())
    local sim, file = loop(), os.tmpname()
    sim:run()
    sim:reset()
    assert.are.equal(want, bits(sim:run()))
    sim = loop()
    local count = 0
    while sim:hasNextEvent() do
      sim:computeOneStep()
      sim:nextStep()
      count = count + 1
      if count % 7 == 3 then
        assert.are.equal(want, bits(sim:clone():run { rows = "grid" }))
        sim:save_state(file)
        local other = loop()
        other:load_state(file)
        assert.are.equal(want, bits(other:run()))
      end
    end
    os.remove(file)
    assert.are.equal(40, count)
  end)

  it("has orbits with the multipliers of the sampled loop", function()
    local function make(K)
      local ds = ns.FirstOrderLinearDS({ 0 }, { { -1 } })
      ds:setComputebFunction(function(t, _, b) b[1] = math.cos(2 * math.pi * t) end)
      local sim, sensor = ns.ControlLsodarSimulation(0, 3, 0.25), ns.LinearSensor(ds)
      sim:addDynamicalSystem(ds)
      sim:addSensor(sensor, 1)
      sim:addActuator(ns.Actuator(sensor, { { 1 } }, { law = function(_, y) return { -K * y[1] } end }), 1)
      return sim.simulation
    end
    for _, K in ipairs { 1, 2.5 } do
      local orbit = ns.dynamics.periodic { simulation = make, value = K, period = 1, guess = { 0 } }
      expect.near_number(math.exp(-1) - K * (1 - math.exp(-1)), orbit.multipliers[1].re, 1e-8)
    end
  end)

  it("is linearised at rest: the matrix of the sampled loop", function()
    local K, h = { 1, 0.2, 2 }, 0.1
    local function make()
      local ds = ns.FirstOrderLinearTIDS({ 0, 0 }, { { 0, 1 }, { 0, 0 } })
      local sim, sensor = ns.ControlZOHSimulation(0, 1, h), ns.LinearSensor(ds, { 1, 0 })
      sim:addDynamicalSystem(ds)
      sim:addSensor(sensor, h)
      sim:addActuator(ns.PID(sensor, { 0, 1 }, { K = K, ref = 1 }), h)
      return sim.simulation
    end
    local orbit = ns.dynamics.periodic { simulation = make, period = h, guess = { 1, 0 }, scale = { 1, 1 } }
    local a, b, c = K[1] + K[3] / h + K[2] * h, -K[1] - 2 * K[3] / h, K[3] / h
    -- x1, x2, u, e1, e2, with e = -x1 beside rest
    local B = { h * h / 2, h }
    local matrix = ns.matrix { { 1 - B[1] * a, h, B[1], B[1] * b, B[1] * c }, { -B[2] * a, 1, B[2], B[2] * b, B[2] * c },
      { -a, 0, 1, b, c }, { -1, 0, 0, 0, 0 }, { 0, 0, 0, 1, 0 } }
    local system, want = ns.control.ss(orbit), ns.control.poles { A = matrix, dt = h }
    assert.are.equal(h, system.dt)
    for i = 1, 4 do
      local pole = ns.control.poles(system)[i]
      expect.near({ want[i].re, want[i].im }, ns.vector { pole.re, pole.im }, 1e-9)
    end
  end)

  it("has data in columns, and names", function()
    local sim = loop(0.2)
    fails("data: there was no run", sim.data, sim)
    local sol = sim:run()
    assert.are.same({ 5, 3 + 2 + 2 + 1 }, { sim:data():shape() })
    assert.are.equal(sol["SuperTwisting.u[1]"][5], sim:data()[5][5])
    assert.are.equal("ControlZOHSimulation with 2 controllers", tostring(sim))
    assert.is_truthy(table.concat(sol:names(), " "):find "cart.input%[1%]")
  end)

  it("is a manager of a simulation of one's own", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.125), ns.EulerMoreauOSI(0.5))
    local manager, sensor = ns.ControlManager(simu), ns.LinearSensor(ds)
    manager:addSensor(sensor, 0.125)
    manager:addActuator(ns.LinearSMC(sensor, { { 1 } }, { Csurface = { { 1 } }, name = "smc" }), 0.125)
    manager:initialize()
    local sol = simu:run { rows = "grid" }
    assert.are.equal(-1, sol["smc.u[1]"][1])
    expect.near_number(0, ds:x()[1], 1e-15)
    assert.are.equal("ControlManager with 1 controllers", tostring(manager))
  end)

  it("refuses", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local sim, sensor = ns.ControlZOHSimulation(0, 1, 0.1), ns.LinearSensor(ds, nil, { name = "eye" })
    sim:addDynamicalSystem(ds)
    local function call(method, ...) return pcall(sim[method], sim, ...) end
    local pid = ns.PID(sensor, { { 1 } }, { K = { 1, 0, 0 } })
    assert.is_truthy(select(2, call("addActuator", pid, 0.1)):find("addActuator: its sensor comes first: add that before", 1, true))
    fails("addSensor: period: expected a number above 0, got 0", sim.addSensor, sim, ns.LinearSensor(ds), 0)
    sim:addSensor(sensor, 0.1)
    fails("addSensor: it has been added before", sim.addSensor, sim, sensor, 0.1)
    fails("addSensor: the name 'eye' is taken", sim.addSensor, sim, ns.LinearSensor(ds, nil, { name = "eye" }), 0.1)
    fails("addSensor: expected a sensor, got 3", sim.addSensor, sim, 3, 0.1)
    fails("ControlManager: expected a simulation, got nil", ns.ControlManager)
    fails("ControlZOHSimulation: expected t0, T and h", ns.ControlZOHSimulation, 0, 1)
    fails("it has no method 'runn'", function() return sim.runn end)
    -- a law that writes to a variable of the script
    local count = 0
    sim:addActuator(ns.Actuator(sensor, { { 1 } }, { law = function()
      count = count + 1
      return { 0 }
    end }), 0.1)
    fails("count", sim.run, sim)
  end)
end)
