-- Orbits at a section that is an event: guesses anywhere on the orbit, and starts on the surface of the event.
local campaign = require "campaign"
local numbers = require "random_numbers"
local ns = require "nslua"
local dynamics = ns.dynamics
local uniform = numbers.uniform

describe("a guess on the orbit, away from the section #once", function()
  -- x'' - 2 d x' + x = 0 with a wall at x = 1: an orbit with one impact, which attracts where e exp(2 pi d) < 1.
  it("gives the orbit once, in any units", function()
    math.randomseed(81)
    local count, report = campaign(8, 1 / 400)
    for i = 1, count do
      local d, e, k, c = uniform(0.02, 0.06), uniform(0.3, 0.6), numbers.power(20), numbers.power(10)
      local wall = { name = "wall", direction = 1, g = function(_, x) return x[1] - k end,
        apply = function(_, x) return { x[1], -e * x[2] } end }
      local function rhs(_, x) return { x[2], (2 * d * c * x[2] - x[1]) / (c * c) } end
      local first = dynamics.periodic { rhs = rhs, events = wall, section = "wall", guess = { k, -1 * k / c }, transient = 60 * c }
      assert.equal("wall", first.sequence)
      local sol = ns.solve_ivp(rhs, { 0, uniform(0.02, 0.98) * first.T }, first.x0,
        { method = "DOP853", rtol = 1e-12, atol = 1e-14 * k, events = wall })
      local n, told = #sol.t, ("orbit %d, d = %g, e = %g"):format(i, d, e)
      for _, section in ipairs { "wall", { "wall", count = 1 } } do
        local orbit = dynamics.periodic { rhs = rhs, events = wall, section = section, guess = { sol.y[1][n], sol.y[2][n] } }
        assert.equal("wall", orbit.sequence, told)
        assert.near(1, orbit.T / first.T, 1e-9, told)
        assert.near(first.multipliers[1].re, orbit.multipliers[1].re, 1e-6, told)
      end
    end
    report("guesses away from a section", count)
  end)
end)

describe("a section where a drill string comes off #once", function()
  local function drill(omega)
    local string_and_bit = ns.FirstOrderNonLinearDS({ 2, 0 }, function(_, x, _, f)
      f[1], f[2] = omega - x[2], x[1] + 0.05 * (omega - x[2])
    end)
    local friction = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] end,
      g = function(_, x, lambda, _, r) r[2] = lambda[1] * (1 + ns.exp(x[2] < 0 and x[2] or -x[2])) end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 100)
    nsds:insertDynamicalSystem(string_and_bit)
    nsds:link(ns.Interaction(ns.RelayNSL(1), friction, "bit"), string_and_bit)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI(1e-10))
  end

  it("has the events of the motion alone, along a branch", function()
    local orbit = dynamics.periodic { simulation = drill, value = 0.5, section = "bit:leave", guess = { 1, 0 }, scale = { 1, 1 },
      transient = 30 }
    assert.near(8.11298825695, orbit.T, 1e-9)
    assert.equal("bit:leave bit:slide", orbit.sequence)
    assert.equal(2, #orbit.events)
    assert.matches("^sensitivities: the run starts at t=0 where 'bit' switches", orbit.derivative_message)
    local branch = dynamics.continuation { simulation = drill, section = "bit:leave", guess = orbit.x0, scale = { 1, 1 },
      range = { 0.5, 0.6 }, max_step = 0.2, step = 0.2 }
    assert.same({}, branch.bifurcations)
    assert.equal("the end of the range, p = 0.6", branch.message)
  end)
end)

describe("a start where dry friction holds a mass #once", function()
  -- x'' + 0.3 x + sign x' = 1.5 sin(t + 0.4); u: the unit of length.
  local function held(u)
    return function()
      local mass = ns.FirstOrderNonLinearDS({ 0, 0 }, function(t, x, _, f)
        f[1], f[2] = x[2], 1.5 * u * math.sin(t + 0.4) - 0.3 * x[1]
      end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(mass)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -u, u), ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { 1 } }), "table"), mass)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI(1e-10, 1e-12 * u))
    end
  end

  it("has the same events, however small its velocity is", function()
    math.randomseed(83)
    local count, report = campaign(6, 1 / 1000)
    local first = dynamics.periodic { simulation = held(1), guess = { -0.6, 0 }, period = 2 * math.pi, transient = 12 }
    assert.equal("table:leave table:slide table:leave table:slide", first.sequence)
    local cases = { { 11, -1, 1.1e-9 } }
    for i = 2, count do cases[i] = { math.random(1, 12), numbers.signed(), uniform(0, 1e-9) } end
    for _, case in ipairs(cases) do
      local u = numbers.power(20)
      local orbit = dynamics.periodic { simulation = held(u), period = 2 * math.pi,
        guess = { first.x0[1] * u * (1 + case[3]), case[2] * u * 10 ^ (-3 * case[1]) } }
      assert.equal(first.sequence, orbit.sequence)
      assert.equal(4, #orbit.events)
    end
    report("held starts", count)
  end)
end)
