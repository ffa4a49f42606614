-- Derivatives of runs through the instants of clocks: run { sensitivities = }, simulation:gradient.
local ns = require "nslua"
local campaign = require "campaign"
local expect = require "expect"

local near, fails = expect.near_number, expect.fails

-- x' = -x (1 + c x) + cos(2 pi t) + z1, z1 = -z2 x - 0.2 i^2 held, i += 0.1 x; z2 and z1(0) are parameters.
local function loop(p, more)
  local ds = ns.FirstOrderNonLinearDS { x0 = { p[1] }, z = ns.vector { p[2], p[3] }, f = function(t, x, z, f)
    f[1] = -x[1] * (1 + 0.1 * x[1]) + math.cos(2 * math.pi * t) + z[1]
  end }
  local nsds = ns.NonSmoothDynamicalSystem(0, 3)
  nsds:insertDynamicalSystem(ds)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI(1e-12))
  simu:every { name = "sample", period = 0.7, offset = 0.2, state = { u = 0, i = 0, rng = ns.rng(3) }, act = function(t, s)
    local x = ds:x()[1]
    if more then x = more(t, x, s, ds) end
    s.i = s.i + 0.1 * x
    s.u = -ds:z()[2] * x - 0.2 * s.i ^ 2 + 0.1 * s.rng:normal()
    ds:z()[1] = s.u
  end }
  return simu, ds
end

-- The derivative of f(p) by p[j].
local function slope(f, p, j)
  local sum, h = 0, 1e-3
  for _, term in ipairs { { -2, 1 }, { -1, -8 }, { 1, 8 }, { 2, -1 } } do
    local q = { table.unpack(p) }
    q[j] = q[j] + term[1] * h
    sum = sum + term[2] * f(q)
  end
  return sum / (12 * h)
end

describe("a run through instants of clocks", function()
  local p = { 0.7, 0.4, 1.3 }

  it("has the derivatives of its rows, and between them #once", function()
    local sol = loop(p):run { sensitivities = { "x0", "z" }, dense = true }
    for _, t in ipairs { 0.1, 0.2, 1.23, 3 } do
      for j = 1, 3 do
        near(slope(function(q) return loop(q):run({ dense = true }):at(t).x[1] end, p, j), sol:at(t).S[1][j], 1e-9)
      end
    end
    assert.equal(3, #sol:sensitivity "z" + 1)
  end)

  it("has the gradient of a cost #once", function()
    local function cost(t, x) return x[1] ^ 2 + t end
    local function terminal(x) return x[1] end
    local function value(q) return (loop(q):gradient { cost = cost, terminal = terminal, parameters = { "x0" } }) end
    local _, gradient = loop(p):gradient { cost = cost, terminal = terminal, parameters = { "x0", "z" } }
    for j = 1, 3 do near(slope(value, p, j), gradient[j], 1e-8) end
    local function of_z(q) -- z1 is written over, and is in the cost what it was at the start
      return (loop(q):gradient { terminal = function(x, z) return x[1] + z[1] * z[2] end, parameters = { "z" } })
    end
    local v, by_z = loop(p):gradient { terminal = function(x, z) return x[1] + z[1] * z[2] end, parameters = { "z" } }
    near(of_z(p), v)
    for j = 1, 2 do near(slope(of_z, p, j + 1), by_z[j], 1e-8) end
  end)

  it("knows the times of events between instants", function()
    local function make(q)
      local ds = ns.FirstOrderLinearTIDS({ q[1] }, { { 0 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ds)
      ds:setzPtr(ns.vector { q[2] })
      nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 0.25 } }), "relay"), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI(1e-12))
      local s = simu:every { name = "c", period = 0.5, state = { u = { 0 } }, act = function(_, s)
        s.u[1] = -ds:z()[1] * (1 + ds:x()[1])
      end }
      ds:setbPtr(s.u)
      return simu
    end
    local q = { 1, 0.4 }
    local sol = make(q):run { sensitivities = { "x0", "z" } }
    for j = 1, 2 do
      near(slope(function(r) return make(r):run().events[1].t end, q, j), sol.events[1].dt[j], 1e-8)
      near(slope(function(r)
        local s = make(r):run()
        return s.x[#s][1]
      end, q, j), sol.S[#sol][1][j], 1e-8)
    end
  end)

  it("of time stepping has those of its steps", function()
    local function make(q)
      local ds = ns.FirstOrderLinearTIDS({ q[1], 0.2 }, { { 0, 1 }, { -1, -0.1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ds)
      ds:setzPtr(ns.vector { q[2] })
      local relation = ns.FirstOrderLinearR { C = { { 1, 0.5 } }, D = { { -1 } }, B = { { 0 }, { 0.3 } } }
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.7, 0.8))
      local s = simu:every { period = 0.705, state = { u = { 0, 0 } }, act = function(_, s) s.u[2] = -ds:z()[1] * ds:x()[1] end }
      ds:setbPtr(s.u)
      return simu
    end
    local q = { 1, 1.3 }
    local sol = make(q):run { sensitivities = { "x0", "z" } }
    for column, j in ipairs { 1, 2 } do
      local S = slope(function(r)
        local s = make(r):run()
        return s.x[#s][1]
      end, q, j)
      near(S, sol.S[#sol][1][column == 1 and 1 or 3], 1e-9)
    end
  end)

  it("knows sensors with delay, observers, saturations and sliding modes #once", function()
    local function make(q, sliding)
      local plant = ns.FirstOrderLinearTIDS({ 1.5, 0 }, { { 0, 1 }, { sliding and 0 or 1, -0.2 } })
      local sim = ns.ControlZOHSimulation(0, 4, 0.05)
      sim:addDynamicalSystem(plant)
      local sensor = sliding and ns.LinearSensor(plant) or ns.LinearSensor(plant, { 1, 0 }, { delay = 0.05 })
      sim:addSensor(sensor, 0.05)
      if sliding then
        sim:addActuator(ns.LinearSMC(sensor, { 0, 1 }, { Csurface = { 1, 1 }, ueq = "exact" }), 0.05)
      else
        local observer = ns.LuenbergerObserver(sensor, { 0, 0 }, nil, { -4, -5 })
        sim:addObserver(observer, 0.05)
        local function law(_, x) return { -8 * x[1] - 5 * x[2] } end
        sim:addActuator(ns.Actuator(observer, { 0, 1 }, { law = law, saturation = 3 }), 0.05)
      end
      plant:setX0 { q[1], 0 } -- what the sensor holds at the start is as made
      sim.simulation:reset()
      return sim.simulation
    end
    for _, sliding in ipairs { false, true } do
      local sol = make({ 1.5 }, sliding):run { sensitivities = { "x0" } }
      for i = 1, 2 do
        near(slope(function(q)
          local other = make(q, sliding):run()
          return other.x[#other][i]
        end, { 1.5 }, 1), sol.S[#sol][i][1], 1e-8)
      end
    end
  end)

  it("refuses what it does not know, naming the clock", function()
    local function refused(text, more)
      fails(text, function() loop(p, more):run { sensitivities = { "x0" } } end)
    end
    refused("the action of clock 'sample' has no derivative at t=0.2: it jumps or has a kink there", function(_, x, s)
      s.i = s.i + ns.vector { math.abs(s.i) }[1] -- takes no dual numbers
      return x
    end)
    refused("the action of clock 'sample' changes states at t=0.2: derivatives are known through", function(_, x, _, ds)
      ds:x()[1] = x + 1
      return x
    end)
    local simu, ds = loop(p)
    local relation = ns.FirstOrderLinearR { C = { { 1 } }, D = { { -1 } }, B = { { 0.3 } } }
    local r = ns.Interaction(ns.EqualityConditionNSL(1), relation, "r")
    simu:nsds():link(r, ds)
    simu:every { name = "reader", period = 1, state = { y = 0 }, act = function(_, s) s.y = r:lambda(0)[1] end }
    fails("the action of clock 'reader' reads outputs or multipliers of interactions", simu.run, simu, { sensitivities = { "x0" } })
    simu = loop(p)
    simu:addEvent { name = "user", g = function(t) return t - 1.1 end, action = type }
    fails("run: sensitivities: the event 'user' has an action, whose derivative is not known", simu.run, simu,
      { sensitivities = { "x0" } })
  end)

  it("agrees with differences of runs for random loops #once", function()
    local count, tell = campaign(4, 0.005)
    for seed = 1, count do
      math.randomseed(seed)
      local q = { math.random() - 0.5, math.random(), 2 * math.random() }
      local c = math.random()
      local function more(_, x, s) return x + c * s.u * s.i end
      local sol = loop(q, more):run { sensitivities = { "x0", "z" } }
      for j = 1, 3 do
        near(slope(function(r)
          local s = loop(r, more):run()
          return s.x[#s][1]
        end, q, j), sol.S[#sol][1][j], 1e-8)
      end
    end
    tell("derivatives of sampled loops", count)
  end)
end)
