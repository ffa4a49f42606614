-- Controllers and their actuators.
local ns = require "nslua"
local expect = require "expect"

local fails = expect.fails

-- x' = 0: the outputs of an actuator for the commands law(t), with the period 0.1.
local function outputs(law, options, T)
  local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } })
  local sim = ns.ControlZOHSimulation(0, T or 1, 0.05)
  sim:addDynamicalSystem(ds, "plant")
  local sensor = ns.LinearSensor(ds)
  sim:addSensor(sensor, 0.1)
  options.law = function(t) return { law(t) } end
  sim:addActuator(ns.Actuator(sensor, { { 1 } }, options), 0.1)
  local sol = sim:run()
  return sol["plant.input[1]"], sol.t, sol
end

describe("an actuator", function()
  local function square(t) return math.floor(t / 0.5 + 1e-9) % 2 == 0 and 2 or -2 end

  it("has a dead zone, saturation, steps and a limit of the rate", function()
    local u, t = outputs(square, { saturation = 1.5 })
    for k = 1, #t - 1 do assert.are.equal(t[k] < 0.5 - 1e-9 and 1.5 or -1.5, u[k]) end
    u = outputs(square, { saturation = { -0.5, 1 } })
    assert.are.equal(1, u[1])
    assert.are.equal(-0.5, u[15])
    u = outputs(square, { dead_zone = 0.5 })
    assert.are.equal(1.5, u[1])
    assert.are.equal(-1.5, u[15])
    u = outputs(function(now) return now end, { quantisation = 0.25, dead_zone = 0.1 })
    assert.are.equal(0, u[1])
    expect.near_number(0.15, u[7])
    u = outputs(square, { rate = 10 })
    expect.near({ 1, 1, 2, 2, 2 }, u:slice(1, 5))
    expect.near({ 1, 1, 0, 0, -1, -1, -2, -2 }, u:slice(11, 18))
  end)

  it("has a delay, of whole periods and of parts", function()
    for _, delay in ipairs { 0.1, 0.05, 0.25 } do
      local u, t, sol = outputs(function(now) return 1 + now end, { delay = delay })
      for k = 1, #t do
        local sample = math.floor((t[k] - delay) / 0.1 + 1e-9) * 0.1
        expect.near_number(t[k] - delay > -1e-9 and 1 + sample or 0, u[k], 1e-12)
      end
      assert.are.equal(1, sol["Actuator.u[1]"][1])
    end
  end)

  it("refuses", function()
    fails("Actuator: saturation: expected a number of 0 or more or { lower, upper }, got { 2, 1 }", outputs, square,
      { saturation = { 2, 1 } })
    fails("Actuator: saturation: expected a number of 0 or more or { lower, upper }, got -1", outputs, square, { saturation = -1 })
    fails("Actuator: rate: expected a number of 0 or more, got -1", outputs, square, { rate = -1 })
    fails("Actuator: unknown option 'stiction' (known: B, dead_zone, delay, law, model, name, quantisation, rate, saturation, "
      .. "state)", outputs, square, { stiction = 1 })
  end)
end)

describe("a controller", function()
  -- The same plant once as a mechanical system, once as one of first order; also where the mass depends on the place.
  it("and an observer have the model of a mechanical plant, which forces move", function()
    local A = { { 0, 1 }, { -1.5, -0.25 } }
    local function plant(kind)
      if kind == "first order" then return ns.FirstOrderLinearTIDS({ 1, 0 }, A, { 0, 0.7 }), { 0, 1 } end
      local cart = kind == "linear" and ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 2 } }, { { 3 } }, { { 0.5 } })
        or ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = function(_, _, M) M[1][1] = 2 end,
          fInt = function(_, q, v, _, f) f[1] = 3 * q[1] + 0.5 * v[1] end }
      cart:setFExtPtr { 1.4 }
      return cart, { { 2 } }
    end
    local function states(kind, part)
      local ds, B = plant(kind)
      local sim, model = ns.ControlZOHSimulation(0, 2, 0.05), kind == "curved" and A or nil
      sim:addDynamicalSystem(ds)
      local observed = part:find "Observer"
      local sensor = ns.LinearSensor(ds, observed and { 1, 0 } or nil)
      sim:addSensor(sensor, 0.05)
      if observed then
        local observer = ns[part](sensor, { 0.3, -0.4 }, nil, { -3, -4 }, { model = model })
        sim:addObserver(observer, 0.05)
        sim:addActuator(ns.Actuator(observer, B, { law = function(_, x) return { -3 * x[1] - 2 * x[2] } end }), 0.05)
      else
        sim:addActuator(ns[part](sensor, B, { Csurface = { { 1, 1 } }, model = model }), 0.05)
      end
      local sol = sim.simulation:run { sensitivities = { "x0" } }
      return ds:x(), sol.S[#sol]
    end
    for _, part in ipairs { "LuenbergerObserver", "SlidingReducedOrderObserver", "LinearSMC", "LinearSMCOT2" } do
      local x, S = states("first order", part)
      for _, kind in ipairs { "linear", "curved" } do
        local found, slopes = states(kind, part)
        expect.near(x, found, 1e-9)
        for i = 1, 2 do expect.near(S:row(i), slopes:row(i), 1e-8) end
      end
    end
  end)

  it("sets the parameters of a nonlinear plant, and forces in mechanics", function()
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = ns.vector { 0 }, f = function(_, x, z, f) f[1] = -x[1] ^ 3 + z[1] end }
    local sim = ns.ControlLsodarSimulation(0, 5, 0.1)
    sim:addDynamicalSystem(ds)
    local sensor = ns.LinearSensor(ds)
    sim:addSensor(sensor, 0.1)
    sim:addActuator(ns.Actuator(sensor, { law = function(_, y) return { y[1] ^ 3 - y[1] } end }), 0.1)
    sim:run()
    assert.is_true(math.abs(ds:x()[1]) < 0.01)
    local cart = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
    cart:setFExtPtr { 0, 3 }
    sim = ns.ControlZOHSimulation(0, 1, 0.5)
    sim:addDynamicalSystem(cart)
    sensor = ns.LinearSensor(cart)
    sim:addSensor(sensor, 0.5)
    sim:addActuator(ns.Actuator(sensor, { 1, 0 }, { law = function() return { 2 } end }), 0.5)
    sim:run()
    expect.near({ 2, 1.5 }, cart:q(), 1e-13)
  end)

  it("is held exactly: random plants and gains agree with exponentials of matrices to 1e-13", function()
    math.randomseed(4)
    for _ = 1, 10 do
      local n, h = math.random(1, 5), 0.1 + 0.2 * math.random()
      local A, B, K, x = ns.matrix(n, n), ns.matrix(n, 1), ns.matrix(1, n), ns.ones(n)
      for i = 1, n do
        for j = 1, n do A[i][j] = math.random() - 0.5 - (i == j and 1 or 0) end
        B[i][1], K[1][i] = math.random(), math.random() - 0.5
      end
      local plant = ns.FirstOrderLinearTIDS(x, A)
      local sim = ns.ControlZOHSimulation(0, 20 * h, h)
      sim:addDynamicalSystem(plant)
      local sensor = ns.LinearSensor(plant)
      sim:addSensor(sensor, h)
      sim:addActuator(ns.Actuator(sensor, B, { law = function(_, y) return K * y end }), h)
      local sol, big = sim:run(), ns.zeros(n + 1, n + 1)
      for i = 1, n do
        for j = 1, n do big[i][j] = h * A[i][j] end
        big[i][n + 1] = h * B[i][1]
      end
      local E = ns.expm(big)
      for k = 2, 21 do
        x = E:slice(1, n, 1, n) * x + E:slice(1, n, n + 1, n + 1) * (K * x)
        assert.is_true((sol.x[k] - x):norm(math.huge) <= 1e-13 * math.max(1, x:norm(math.huge)), tostring(k))
      end
    end
  end)

  it("adds to a b that is a function of the time: held with its value at the end, or as it is", function()
    for class, want in pairs { ControlZOHSimulation = 0.5 * (0.5 + 1) + 2, ControlLsodarSimulation = 0.5 + 2 } do
      local ds = ns.FirstOrderLinearDS({ 0 }, { { 0 } })
      ds:setComputebFunction(function(t, _, b) b[1] = t end)
      local sim = ns[class](0, 1, 0.5)
      sim:addDynamicalSystem(ds)
      local sensor = ns.LinearSensor(ds)
      sim:addSensor(sensor, 0.5)
      for _ = 1, 2 do sim:addActuator(ns.Actuator(sensor, { { 1 } }, { law = function() return { 1 } end }), 0.5) end
      sim:run()
      expect.near_number(want, ds:x()[1], 1e-13)
    end
  end)

  it("refuses", function()
    local ds = ns.FirstOrderLinearTIDS({ 0, 0 }, { { 0, 1 }, { 0, 0 } })
    local sensor = ns.LinearSensor(ds)
    local sim = ns.ControlZOHSimulation(0, 1, 0.5)
    sim:addDynamicalSystem(ds)
    sim:addSensor(sensor, 0.5)
    local function add(controller) return function() sim:addActuator(controller, 0.5) end end
    fails("PID: B is missing: how u acts on the plant", add(ns.PID(sensor, { K = { 1, 1, 1 } })))
    fails("PID: K: expected a vector", add(ns.PID(sensor, { 0, 1 })))
    fails("PID: B: expected a matrix of 2 rows and 1 columns, got 3 x 1", add(ns.PID(sensor, { 0, 1, 0 }, { K = { 1, 1, 1 } })))
    fails("Actuator: law: expected a function law(t, y, s), got nil", add(ns.Actuator(sensor, { 0, 1 })))
    fails("PID: expected a sensor or an observer, got nil", ns.PID)
    local Plant = ns.class(ns.FirstOrderLinearDS)
    function Plant.computeb(_, _, _, b) b[1] = 1 end
    local other = Plant({ 0 }, { { 0 } })
    sim:addDynamicalSystem(other)
    sensor = ns.LinearSensor(other)
    sim:addSensor(sensor, 0.5)
    local cart = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    cart:setComputeFExtFunction(function(t, _, f) f[1] = t end)
    sim:addDynamicalSystem(cart)
    local seen = ns.LinearSensor(cart)
    sim:addSensor(seen, 0.5)
    fails("external forces of a controlled plant must be constants", add(ns.PID(seen, { { 1 } }, { K = { 1, 1, 1 } })))
    local curved = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, fInt = function(_, q, _, _, f) f[1] = q[1] ^ 3 end }
    sim:addDynamicalSystem(curved)
    local watched = ns.LinearSensor(curved)
    sim:addSensor(watched, 0.5)
    fails("the plant is not linear: give model = A", add(ns.LinearSMC(watched, { { 1 } }, { Csurface = { { 1, 1 } } })))
    local timed = ns.FirstOrderLinearDS({ 0 }, { { 0 } })
    timed:setComputebFunction(function(t, z, b) b[1] = t + z[1] end)
    timed:setz { 1 }
    local other_sim = ns.ControlLsodarSimulation(0, 1, 0.5)
    other_sim:addDynamicalSystem(timed)
    local watch = ns.LinearSensor(timed)
    other_sim:addSensor(watch, 0.5)
    fails("the parameters z of a controlled plant, whose b is a function, hold its input", other_sim.addActuator, other_sim,
      ns.PID(watch, { { 1 } }, { K = { 1, 1, 1 } }), 0.5)
    fails("computeb of a controlled plant must be a function of Lua, as by a setter", add(ns.PID(sensor, { { 1 } },
      { K = { 1, 1, 1 } })))
  end)
end)
