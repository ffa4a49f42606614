-- Adaptive time stepping: errors in proportion to the tolerance, switches and impacts found and not stalled at, counts, messages,
-- accounts, bits.
local ns = require "nslua"
local host = require "host"
local trail = require "trail"
local given = require "simulation.adaptive_models"
local simulate, graph = given.simulate, given.graph

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local function message(f, ...)
  local good, err = pcall(f, ...)
  assert.is_false(good)
  return (tostring(err):gsub("^[^\n]-lua:%d+: ", ""):match "^[^\n]*")
end

local function state_of(name, rtol, theta)
  local simu, ds = simulate(name, { rtol = rtol }, theta)
  simu:run()
  return ns.vector(ds:x()), simu:stats()
end

-- The state at a tolerance of 1e-6 and theta = 1/2, computed once for each model.
local references = {}
local function reference_of(name)
  references[name] = references[name] or state_of(name, 1e-6)
  return references[name]
end

-- The largest error relative to the size of each state, at least 0.05 of the unit.
local function difference(x, reference)
  local most = 0
  for i = 1, #x do most = math.max(most, math.abs(x[i] - reference[i]) / math.max(math.abs(reference[i]), 0.05)) end
  return most
end

-- The height of the ball that falls from 1 with g = 10, and the impacts before t.
local function height(t, e)
  local at, v, count = math.sqrt(0.2), math.sqrt(20) * e, 1
  if t < at then return 1 - 5 * t * t, 0 end
  while at + v / 5 < t do at, v, count = at + v / 5, v * e, count + 1 end
  return v * (t - at) - 5 * (t - at) ^ 2, count
end

describe("adaptive steps", function()
  describe("have an error in proportion to the tolerance:", function()
    -- The largest ratio of the error to the tolerance, as measured, and half as much more.
    local cases = { oscillator = 6, ["relay oscillator"] = 18, ["diode bridge"] = 6, sliding = 1, ["friction oscillator"] = 22,
      ball = 32, pendulum = 14, ["rocking block"] = 8, ["stick-slip"] = 10 }
    for name, most in pairs(cases) do
      for theta, tolerances in pairs { [0.5] = { 1e-2, 1e-3, 1e-4 }, [1] = { 1e-2, 1e-3 } } do
        it(("%s, theta = %g"):format(name, theta), function()
          local reference = reference_of(name)
          for _, rtol in ipairs(tolerances) do
            local x, stats = state_of(name, rtol, theta)
            local ratio = difference(x, reference) / rtol
            assert.is_true(ratio <= most, ("rtol %g: error / rtol is %g"):format(rtol, ratio))
            assert.equal(0, stats.forced)
          end
        end)
      end
    end
  end)

  it("agree with exact solutions in every row", function()
    for _, rtol in ipairs { 1e-2, 1e-4, 1e-6 } do
      local simu, ball = simulate("ball", { rtol = rtol })
      local bounces = 0
      for _, t in simu:steps() do
        local q, count = height(t, 0.8)
        bounces = count
        assert.is_true(math.abs(ball:q()[1] - q) <= 32 * rtol, ("rtol %g, t %g: %g"):format(rtol, t, ball:q()[1] - q))
      end
      assert.equal(3, bounces)
      assert.is_true(simu:stats().newton_iterations < 60 * (1 - math.log(rtol, 10)))
    end
    for _, rtol in ipairs { 1e-3, 1e-5 } do -- half swings about 1, then about -1: 12, -10, 8 ...
      local simu, ds = simulate("friction oscillator", { rtol = rtol })
      for _, t in simu:steps() do
        local swing = math.floor(t / math.pi)
        local sign = swing % 2 == 0 and 1 or -1
        local x = swing < 6 and sign + (11 - 2 * swing) * sign * math.cos(t - swing * math.pi) or nil
        if x and swing < 5 then assert.is_true(math.abs(ds:x()[1] - x) <= 300 * rtol, ("rtol %g, t %g"):format(rtol, t)) end
      end
    end
  end)

  it("take rtol for the size of each unknown, and atol in its unit", function()
    local function run(options, size)
      local ds = ns.FirstOrderLinearTIDS({ size, 0 }, { { 0, 1 }, { -1, 0 } })
      local simu = ns.TimeStepping(graph(5, ds), ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(0.5), options)
      simu:run()
      return simu:stats().accepted, math.abs(ds:x()[1] / size - math.cos(5))
    end
    local steps = run({ rtol = 1e-4 }, 1)
    assert.equal(steps, (run({ rtol = 1e-4 }, 1e20)))
    assert.equal(steps, (run({ rtol = 1e-4 }, 1e-20)))
    assert.is_true(math.abs((run({ atol = 1e16 }, 1e20)) - steps) <= steps / 2)
    assert.equal(5, (run({ rtol = 1e-9, atol = 1 }, 1e-3)))
  end)

  it("find the size of unknowns that grow from 0", function()
    local function run(rtol, T, h)
      local ds = ns.LagrangianDS { q0 = { 0 }, v0 = { 0 }, fExt = function(t, _, f) f[1] = math.sin(t) end }
      local simu = ns.TimeStepping(graph(T, ds), ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5), { rtol = rtol })
      simu:run()
      return math.abs(ds:q()[1] - (T - math.sin(T))) / T, simu:stats()
    end
    local e, stats = run(1e-4, 10, 1)
    assert.is_true(e < 1e-3 and stats.newton_iterations < 6000, stats.newton_iterations)
    e = run(1e-4, 100, 100) -- a row after 16 periods: the first rate would lead far away
    assert.is_true(e < 1e-3, e)
  end)

  it("pass over accumulating impacts, and rest behind them", function()
    for _, rtol in ipairs { 1e-2, 1e-4, 1e-6 } do
      local nsds, _, osi, ball = given.models.ball(0.5, 0.5)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), osi, { rtol = rtol })
      simu:run()
      assert.is_true(math.abs(ball:q()[1]) <= 3 * rtol)
      assert.is_true(math.abs(ball:velocity()[1]) <= 1e-4 * rtol) -- it halves in each step
      assert.is_true(simu:stats().newton_iterations < 1000)
      assert.equal(0.1, simu:stats().h_most)
    end
  end)

  it("rest at once where a model rests", function()
    local ds = ns.FirstOrderLinearTIDS({ 3, 3 }, ns.zeros(2, 2)) -- spirals into the origin, infinitely many switches
    local relation = ns.FirstOrderLinearTIR(ns.eye(2), { { 2, -6 }, { 6, 2 } })
    local nsds = graph(3, ds, ns.Interaction(ns.RelayNSL(2, -1, 1), relation))
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25), ns.EulerMoreauOSI(1), { rtol = 1e-4 })
    simu:run()
    assert.is_true(ds:x():norm() < 1e-3)
    assert.is_true(simu:stats().newton_iterations < 1000)
  end)

  it("keep the factors of a linear model for every length", function()
    local simu = simulate("relay oscillator", { rtol = 1e-5 })
    simu:run()
    local stats = simu:stats()
    assert.is_true(stats.accepted > 1000 and stats.factorizations <= 60, stats.factorizations)
  end)

  it("stay between h_min and h_max", function()
    local simu = simulate("oscillator", { rtol = 1e-2, h_max = 0.01 })
    simu:run()
    assert.is_true(simu:stats().h_most <= 0.01)
    simu = simulate("relay oscillator", { rtol = 1e-6, h_min = 1e-3 })
    simu:run()
    local stats = simu:stats()
    assert.is_true(stats.h_least >= 0.5e-3 and stats.forced > 0)
  end)

  it("are not led astray by rounding", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 1, 0 }, { { -1 / 3, 0.1, 0 }, { 0.1, -1 / 3, 0 }, { 10 / 21, -10 / 21, -0.1 } })
    local simu = ns.TimeStepping(graph(5, ds), ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(0.5), { rtol = 1e-4 })
    simu:run()
    assert.is_true(math.abs(ds:x()[3]) < 1e-15)
    assert.is_true(simu:stats().accepted < 3000 and simu:stats().forced == 0)
  end)

  it("find a jump in f that no law tells", function()
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 0 }, f = function(t, x, _, d) d[1], d[2] = -x[1], t > 1.234567 and 1 or 0 end }
    local simu = ns.TimeStepping(graph(5, ds), ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(0.5), { rtol = 1e-4 })
    simu:run()
    assert.is_true(math.abs(ds:x()[2] - (5 - 1.234567)) < 1e-4)
  end)

  it("shrink when a step fails, and tell the length when none helps", function()
    local function model(from)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = function(_, x, _, d) d[1] = x[1] ^ 2 end } -- 1 / (1 - t)
      return ns.TimeStepping(graph(from, ds), ns.TimeDiscretisation(0, from), ns.EulerMoreauOSI(1), { rtol = 1e-2 }), ds
    end
    local simu, ds = model(0.9) -- one step of this length has no solution
    simu:run()
    assert.is_true(math.abs(ds:x()[1] - 10) < 1.5)
    simu = model(2)
    local err = message(simu.run, simu)
    assert.matches("; an inner step must not be shorter than h=", err, 1, true)
    assert.equal(0, simu:step())
    assert.same({ 1 }, simu:nsds():dynamicalSystem(1):x():totable())
  end)

  it("give up after a million, with a message #once", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, 0 } })
    local simu = ns.TimeStepping(graph(20, ds), ns.TimeDiscretisation(0, 20), ns.EulerMoreauOSI(1), { rtol = 3e-6 })
    assert.matches("TimeStepping: 1000000 inner steps are not enough for a step of the grid: h=%S+; "
      .. "a larger h_min or tolerance helps", message(simu.run, simu))
    assert.equal(0, simu:step())
  end)

  it("balance the account of energies, and add up the impulses of a row", function()
    local ball = ns.LagrangianLinearTIDS({ 0.3 }, { 0 }, { { 2 } }, nil, { { 0.1 } })
    ball:setFExtPtr { -20 }
    local floor = ns.Interaction(ns.NewtonImpactNSL(0.6), ns.LagrangianLinearTIR { { 1 } })
    local simu = ns.TimeStepping(graph(3, ball, floor), ns.TimeDiscretisation(0, 0.25), ns.MoreauJeanOSI(0.5), { rtol = 1e-4 })
    local before = simu:energy()
    for _ in simu:steps() do
      local now = simu:energy()
      local works = now.forces + now.damping + now.impacts + now.friction + now.boundary + now.numerical
      assert.is_true(math.abs(now.total - before.total - works) <= 1e-12)
    end
    assert.is_true(simu:stats().rejected > 10)
    assert.is_true(math.abs(floor:lambda()[1] - 20 * 0.25) <= 1e-12) -- at rest: the weight times the step of the grid
    assert.is_true(math.abs(ball:p()[1] - 20 * 0.25) <= 1e-12)
  end)

  it("go with both projections", function()
    for _, class in ipairs { "TimeSteppingDirectProjection", "TimeSteppingCombinedProjection" } do
      local rod = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
      rod:setFExtPtr { 0, -10 }
      local circle = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }
      local nsds = graph(1, rod, ns.Interaction(ns.EqualityConditionNSL(1), circle))
      local simu = ns[class] { nsds = nsds, grid = ns.TimeDiscretisation(0, 0.125), integrator = ns.MoreauJeanOSI(0.5),
        rtol = 1e-3 }
      simu:run()
      assert.is_true(math.abs(rod:q():norm() - 1) < 1e-9)
      assert.is_true(math.abs(0.5 * rod:velocity():norm() ^ 2 + 10 * rod:q()[2]) < 0.05)
      assert.is_true(simu:stats().accepted > 8)
    end
  end)

  it("give the same bits in a step computed again, in a clone, from a checkpoint, and after a reset", function()
    for _, name in ipairs { "relay oscillator", "diode bridge", "ball", "pendulum", "stick-slip" } do
      local simu = simulate(name, { rtol = 1e-3 })
      local expected = trail.of((simulate(name, { rtol = 1e-3 })))
      for _ = 1, 3 do
        simu:computeOneStep()
        local once = trail.state(simu)
        simu:computeOneStep()
        assert.equal(once, trail.state(simu))
        simu:nextStep()
      end
      simu:save_state(directory .. "/adaptive")
      local copy, loaded = simu:clone(), (simulate(name, { rtol = 1e-3 }))
      loaded:load_state(directory .. "/adaptive")
      assert.equal(1e-3, copy:rtol())
      for how, other in pairs { original = simu, clone = copy, loaded = loaded } do
        local rows = trail.of(other)
        for k = 4, #expected do assert.equal(expected[k], rows[k - 3], ("%s, %s, row %d"):format(name, how, k)) end
      end
      simu:reset()
      assert.equal(0, simu:stats().accepted)
      assert.same(expected, trail.of(simu))
    end
  end)

  it("refuse a checkpoint of another tolerance", function()
    local simu, other = simulate("ball", { rtol = 1e-3 }), simulate("ball", { rtol = 1e-4 })
    simu:computeOneStep()
    simu:nextStep()
    simu:save_state(directory .. "/other")
    assert.matches("is of another model: it has \"constants of adaptive stepping: rtol: 0.001", message(other.load_state, other,
      directory .. "/other"), 1, true)
  end)

  it("do not change by a bit when time and states are scaled by powers of two", function()
    local function rows(s, tau, rtol)
      local found = {}
      local function note(simu, ds)
        for _ in simu:steps() do
          for i = 1, 2 do found[#found + 1] = ds:x()[i] / (type(s) == "table" and s[i] or 1) end
        end
        found[#found + 1] = simu:stats().accepted
      end
      local ds = ns.FirstOrderLinearTIDS({ s[1], 0 }, { { -0.1 / tau, s[1] / s[2] / tau }, { -s[2] / s[1] / tau, 0 } })
      local relation = ns.FirstOrderLinearTIR({ { 1 / s[1], 0.5 / s[2] } }, { { 0 }, { s[2] / tau } })
      local law = ns.Interaction(ns.RelayNSL(1, -1, 1), relation)
      note(ns.TimeStepping(graph(8 * tau, ds, law), ns.TimeDiscretisation(0, tau), ns.EulerMoreauOSI(0.5), { rtol = rtol }), ds)
      local ball = ns.LagrangianLinearTIDS({ s[1] }, { 0 }, { { 1 } }) -- length s1, velocity s1 / tau
      ball:setFExtPtr { -10 * s[1] / tau / tau }
      local floor = ns.Interaction(ns.NewtonImpactNSL(0.75), ns.LagrangianLinearTIR { { 1 } })
      local simu = ns.TimeStepping(graph(2 * tau, ball, floor), ns.TimeDiscretisation(0, 0.125 * tau), ns.MoreauJeanOSI(0.5),
        { rtol = rtol })
      for _ in simu:steps() do found[#found + 1] = ball:q()[1] / s[1] found[#found + 1] = ball:velocity()[1] / s[1] * tau end
      found[#found + 1] = simu:stats().newton_iterations
      return found
    end
    local expected = rows({ 1, 1 }, 1, 1e-3)
    assert.same(expected, rows({ 2 ^ 60, 2 ^ -50 }, 2 ^ 30, 1e-3))
    assert.same(expected, rows({ 2 ^ -70, 2 ^ 20 }, 2 ^ -40, 1e-3))
  end)

  it("show the last one-step problem of a linear model", function()
    local simu = simulate("relay oscillator", { rtol = 1e-2 })
    simu:run()
    local problem = simu:osnspb()
    assert.equal(1, #problem:z())
    assert.equal(simu:nsds():interaction(1):lambda()[1], problem:z()[1])
  end)

  it("have options as arguments, as keys of one table, and as methods", function()
    local nsds, grid, osi = given.models.ball(0.5)
    local simu = ns.TimeStepping { nsds = nsds, grid = ns.TimeDiscretisation(0, grid), integrator = osi, problem = ns.LCP(),
      rtol = 1e-3, h_min = 1e-6 }
    assert.same({ 1e-3, 0, 1e-6 }, { simu:rtol(), simu:atol(), simu:hMin() })
    assert.is_nil(simu:hMax())
    local other_nsds, _, other_osi = given.models.ball(0.5)
    local ported = ns.TimeStepping { nsds = other_nsds, td = ns.TimeDiscretisation(0, grid), osi = other_osi, osnspb = ns.LCP() }
    assert.same({ 0, "LCP" }, { ported:rtol(), (tostring(ported:osnspb()):match "^%w+") })
    simu:setHMax(0.05)
    simu:setAtol(0.25)
    assert.same({ 0.25, 0.05 }, { simu:atol(), simu:hMax() })
    simu:setHMin(nil)
    assert.is_nil(simu:hMin())
    local other = simulate("ball")
    assert.is_nil(other:stats().accepted)
    other:setRtol(1e-3)
    other:run()
    assert.is_true(other:stats().accepted > 20)
    assert.equal(20, other:run().stats and other:numberOfSteps())
  end)

  it("raise for what does not go together", function()
    local simu = simulate "ball"
    assert.equal("setRtol: rtol: expected a number in [0, 0.5], got 2.0", message(simu.setRtol, simu, 2.0))
    assert.equal("TimeStepping: rtol: expected a number in [0, 0.5], got -1.0", message(simulate, "ball", { rtol = -1 }))
    for i, name in ipairs { "h_max", "h_min" } do
      local text = ("TimeStepping: %s bounds the lengths of adaptive steps, which need rtol or atol: give one of them"):format(name)
      assert.equal(text, message(simulate, "ball", { [name] = 0.1 }))
      assert.equal(text, message(i == 1 and simu.setHMax or simu.setHMin, simu, 0.1))
      assert.is_nil(simu:hMax())
    end
    simu:setRtol(1e-3)
    simu:setHMax(0.1)
    assert.equal("TimeStepping: h_max bounds the lengths of adaptive steps, which need rtol or atol: give one of them",
      message(simu.setRtol, simu, 0))
    assert.equal(1e-3, simu:rtol())
    assert.equal("TimeStepping: h_min = 1 is above h_max = 0.1", message(simu.setHMin, simu, 1))
    assert.is_nil(simu:hMin())
    assert.matches("unknown option 'tol'", message(simulate, "ball", { tol = 1 }), 1, true)
    local function with(class, osi, options)
      local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      return ns[class](graph(1, ball), ns.TimeDiscretisation(0, 0.1), osi, options)
    end
    for _, osi in ipairs { ns.SchatzmanPaoliOSI(0), ns.MoreauJeanBilbaoOSI() } do
      assert.equal(("TimeStepping: a %s takes no rtol, atol, h_min or h_max; use MoreauJeanOSI"):format(
        tostring(osi):match "^%w+"), message(with, "TimeStepping", osi, { rtol = 1e-3 }))
    end
    local events = with("EventDriven", ns.RungeKuttaOSI(1e-8))
    local text = "EventDriven: rtol, atol, h_min and h_max are for TimeStepping; here the integrator has tolerances, and maxStep"
    assert.equal(text, message(events.setRtol, events, 1e-3))
    assert.equal(text, message(with, "EventDriven", ns.RungeKuttaOSI(1e-8), { h_max = 1 }))
  end)
end)
