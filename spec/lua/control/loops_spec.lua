-- Loops as an expert would write them, each by what it must show.
local ns = require "nslua"
local expect = require "expect"

local near = expect.near_number

describe("a control loop", function()
  it("of a relay tunes a controller: its period solves the equation of Tsypkin #once", function()
    local A, B, C = ns.matrix { { -1, 0, 0 }, { 1, -1, 0 }, { 0, 1, -1 } }, ns.matrix { { 1 }, { 0 }, { 0 } }, ns.vector { 0, 0, 1 }
    local plant = ns.FirstOrderLinearTIDS({ 0.5, 0, 0 }, A)
    local nsds = ns.NonSmoothDynamicalSystem(0, 40)
    nsds:insertDynamicalSystem(plant)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 0, 0, 1 } }, B), "relay"), plant)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI())
    local sol = simu:run()
    local o = ns.dynamics.periodic { simulation = simu, section = "relay", guess = sol.x[#sol] }
    local E = ns.expm(A * (o.T / 2))
    local x = ns.solve(E + ns.eye(3), ns.solve(A, (E - ns.eye(3)) * B)):column(1) -- where the relay goes over
    near(0, C:dot(x), 1e-9)
    near(o.T, sol.events[#sol.events].t - sol.events[#sol.events - 2].t, 1e-6)
    assert.equal("stable", o.stability)
  end)

  it("of a buck converter with a saturated PI and anti-windup: no error on its stable orbit #once", function()
    local V, L, C, R, T = 24, 1e-3, 1e-4, 10, 5e-5
    local plant = ns.FirstOrderLinearTIDS({ 0, 0 }, { { 0, -1 / L }, { 1 / C, -1 / (R * C) } })
    local saw = ns.sawtooth { period = T }
    local switch = ns.FirstOrderNonLinearR { h = function(t, _, _, z, y) y[1] = saw(t) - z[1] end,
      g = function(_, _, lambda, _, r) r[1] = lambda[1] * V / L end }
    switch:setz { 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.01)
    nsds:insertDynamicalSystem(plant)
    nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), switch, "switch"), plant)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, T), ns.RungeKuttaOSI())
    ns.follow(simu, saw)
    local s = simu:every { name = "pi", period = T, state = { d = { 0 }, i = 0 }, act = function(_, s)
      local e = 12 - plant:x()[2]
      local u = 0.02 * e + s.i
      s.d[1] = math.max(0, math.min(0.9, u))
      s.i = s.i + (30 * e + 500 * (s.d[1] - u)) * T
    end }
    switch:setzPtr(s.d)
    local sol = simu:run()
    local o = ns.dynamics.periodic { simulation = simu, period = T, guess = sol.x[#sol] }
    near(12, o.x0[2], 1e-8)
    assert.equal("stable", o.stability)
    local most = 0
    for k = 1, #sol do most = math.max(most, sol["pi.i"][k]) end
    assert.is_true(most < 0.9) -- the integral does not wind up while the duty is at its limit
  end)

  it("of two rates: a supervisor that is declared first has set the point before the relay asks", function()
    local room = ns.FirstOrderLinearTIDS({ 20 }, { { -0.01 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 600)
    nsds:insertDynamicalSystem(room)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 60), ns.RungeKuttaOSI())
    simu:every { name = "supervisor", period = 60, state = { set = 20 }, act = function(t, s) s.set = t < 300 and 20 or 18 end }
    local relay = simu:every { name = "relay", period = 1, state = { b = { 0.3 } }, act = function(_, s, simulation)
      local T, set = room:x()[1], simulation:discrete("supervisor").set
      if T < set - 0.2 then s.b[1] = 0.3 elseif T > set + 0.2 then s.b[1] = 0.1 end
    end }
    room:setbPtr(relay.b)
    local sol = simu:run { rows = "grid" }
    near(20, sol.x1[6], 0.35) -- t = 300
    near(18, sol.x1[#sol], 0.35)
    assert.equal(18, sol["supervisor.set"][6])
  end)

  it("of twisting with an observer, on a measurement with noise and steps #once", function()
    local plant = ns.FirstOrderLinearDS({ 1, 0 }, { { 0, 1 }, { 0, 0 } })
    plant:setComputebFunction(function(t, _, b) b[2] = 0.3 * math.sin(t) end)
    local sim = ns.ControlLsodarSimulation(0, 10, 0.01)
    sim:addDynamicalSystem(plant)
    local sensor = ns.LinearSensor(plant, { 1, 0 }, { noise = 1e-4, seed = 2, quantisation = 1e-4 })
    sim:addSensor(sensor, 0.01)
    local observer = ns.LuenbergerObserver(sensor, { 0, 0 }, nil, { -41, -420 })
    sim:addObserver(observer, 0.01)
    sim:addActuator(ns.Twisting(observer, 4, 0.5, { saturation = 5 }), 0.01)
    local sol = sim:run()
    assert.is_true(sol.x[#sol]:norm() < 0.02, tostring(sol.x[#sol]))
    assert.is_true(ns.vector(sol["LuenbergerObserver.x[2]"])[#sol] - sol.x2[#sol] < 0.05)
  end)
end)
