-- ns.dynamics on oscillators and circuits, each against a closed form.
local expect = require "expect"
local ns = require "nslua"
local dynamics = ns.dynamics
local near = expect.near_number

describe("closed forms #once", function()
  -- det of the monodromy of an orbit with k impacts: e^(2 k) exp(-trace(M^-1 C) T).
  describe("two masses between stops", function()
    local e, w = 0.8, 2
    local T = 2 * math.pi / w

    local function masses(both)
      return function(A)
        local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, { { 1, 0 }, { 0, 2 } }, { { 2, -1 }, { -1, 3 } },
          { { 0.2, -0.05 }, { -0.05, 0.3 } })
        ds:setComputeFExtFunction(function(t, _, f) f[1], f[2] = A * math.cos(w * t), 0 end)
        local nsds = ns.NonSmoothDynamicalSystem(0, 10)
        nsds:insertDynamicalSystem(ds)
        nsds:link(ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ { -1, 0 } }, { 0.3 }), "stop"), ds)
        if both then nsds:link(ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ { 1, 0 } }, { 0.3 }), "back"), ds) end
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
      end
    end

    local function determinant(orbit)
      local re, im = 1, 0
      for _, m in ipairs(orbit.multipliers) do re, im = re * m.re - im * m.im, re * m.im + im * m.re end
      return re
    end

    it("have the determinant of their orbits", function()
      local orbit = dynamics.periodic { simulation = masses(false), value = 1.5, guess = { 0, 0, 0, 0.1 }, period = T,
        transient = 100 * T }
      assert.equal("stop:impact", orbit.sequence)
      near(1, determinant(orbit) / (e ^ 2 * math.exp(-0.35 * T)), 1e-12)
      assert.is_true(orbit.stable)
    end)

    it("have an antisymmetric orbit, also where it repels", function()
      local orbit = dynamics.periodic { simulation = masses(true), value = 2.5, period = T, symmetry = ns.eye(4) * -1,
        guess = { 0.254, -0.031, 1.112, -0.022 } }
      assert.equal("back:impact stop:impact", orbit.sequence)
      near(1, determinant(orbit) / (e ^ 4 * math.exp(-0.35 * T)), 1e-11)
      assert.is_false(orbit.stable)
      near(T / 2, orbit.events[2].t - orbit.events[1].t, 1e-10)
    end)
  end)

  it("a simulation without a parameter has an orbit with segments, and one with a symmetry", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 3 } }, { { 0.5 } }) -- q = sin t
    ds:setComputeFExtFunction(function(t, _, f) f[1] = 2 * math.sin(t) + math.cos(t) / 2 end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 20)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 20), ns.RungeKuttaOSI())
    for _, more in ipairs { { segments = 2 }, { symmetry = ns.eye(2) * -1 } } do
      more.simulation, more.period, more.guess = simu, 2 * math.pi, { 0.1, 0.9 }
      local orbit = dynamics.periodic(more)
      near(0, orbit.x0[1], 1e-11)
      near(1, orbit.x0[2], 1e-11)
    end
  end)

  it("a relay with hysteresis has the period 2 log((1 + h) / (1 - h))", function()
    local h = 0.4
    local function switch(name, direction)
      return { name = name, direction = direction, g = function(_, x) return x[1] - direction * h end,
        apply = function(_, x) return { x[1], -direction } end }
    end
    for _, more in ipairs { { autonomous = true, period = 2 }, { section = "up" } } do
      more.rhs, more.guess = function(_, x) return { x[2] - x[1], 0 } end, { 0.1, 1 }
      more.events = { switch("up", 1), switch("down", -1) }
      near(2 * math.log((1 + h) / (1 - h)), dynamics.periodic(more).T, 1e-11)
    end
  end)

  it("Colpitts' oscillator is chaotic, and its volume shrinks at the rate 1 / Q", function()
    local g, Q, k = 4.46, 1.38, 0.5
    local function f(_, x)
      local n = ns.exp(-x[2]) - 1
      return { g / (Q * (1 - k)) * (x[3] - n), g / (Q * k) * x[3], -Q * k * (1 - k) / g * (x[1] + x[2]) - x[3] / Q }
    end
    local rest = dynamics.equilibrium { rhs = f, guess = { 0.1, 0.1, 0.1 } }
    near(-1 / Q, dynamics.linearise { rhs = f, at = rest }.A:trace(), 1e-12)
    local result = dynamics.lyapunov { rhs = f, guess = { 0.02, 0.69, -0.53 }, time = 100, window = 0.5, transient = 50,
      rtol = 1e-9 }
    near(-1 / Q, result.exponents:sum(), 1e-6)
    assert.is_true(result.exponents[1] > 0.05)
  end)

  it("Chua's circuit has three equilibria; the logistic map the exponent log 2", function()
    local a, b, m0, m1 = 9, 100 / 7, -8 / 7, -5 / 7
    local function f(_, x)
      local current = m1 * x[1] + (m0 - m1) / 2 * (ns.abs(x[1] + 1) - ns.abs(x[1] - 1))
      return { a * (x[2] - x[1] - current), x[1] - x[2] + x[3], -b * x[2] }
    end
    local found = dynamics.equilibrium { rhs = f, guess = { { 0, 0, 0 }, { 2, 0, -2 }, { -2, 0, 2 } }, all = true }
    assert.equal(3, #found)
    near((m1 - m0) / (1 + m1), found[2].x[1], 1e-12)
    near(-a * (1 + m1) - 1, dynamics.linearise { rhs = f, at = found[2] }.A:trace(), 1e-12)
    local jump = { name = "jump", direction = 1, g = function(t) return -ns.cos(2 * math.pi * t + 1) end,
      apply = function(_, x) return { 4 * x[1] * (1 - x[1]) } end }
    local map = dynamics.lyapunov { rhs = function() return { 0 } end, guess = { 0.3 }, time = 1000, window = 1, events = jump }
    near(math.log(2), map.exponents[1], 1e-2)
  end)
end)
