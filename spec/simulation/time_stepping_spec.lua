local host = require "host"
local ns = require "nslua"
local models = require "models"
local simulation, oscillator = models.simulation, models.oscillator

describe("TimeStepping: the loop", function()
  it("goes on with nextStep; a step computed again is the same", function()
    local simu, ds = oscillator()
    assert.equal(40, simu:numberOfSteps())
    assert.equal(0, simu:step())
    simu:computeOneStep()
    local first = ds:x():totable()
    simu:computeOneStep()
    assert.same(first, ds:x():totable())
    assert.equal(0.1, simu:nextTime())
    simu:nextStep()
    assert.equal(0.1, simu:startingTime())
    assert.equal(1, simu:step())
    assert.equal(1, simu:stats().steps)
  end)

  it("is the same by hand, by steps() and by run()", function()
    local byhand = {}
    local simu, ds, inter = oscillator()
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
      byhand[#byhand + 1] = { simu:startingTime(), ds:x()[1], ds:x()[2], inter:lambda(0)[1] }
    end
    simu, ds, inter = oscillator()
    for k, t in simu:steps() do assert.same(byhand[k], { t, ds:x()[1], ds:x()[2], inter:lambda(0)[1] }) end
    assert.is_false(simu:hasNextEvent())
    simu = oscillator()
    local sol = simu:run()
    for k = 1, 40 do assert.same(byhand[k], { sol.t[k + 1], sol.x[k + 1][1], sol.x[k + 1][2],
      sol.lambda1[k + 1] }) end
    assert.equal("completed", sol.status)
    assert.is_nil(sol.message)
  end)

  describe("on a model that another simulation moves", function()
    local start = "%s: dynamical system 'ds 1' is not at its initial state any more: reset() the simulation that moved it, or "
      .. "work on a clone() of that"
    local after = "%s: another simulation has moved or reset the systems since t=0.1 (step 1) of this one: reset() it, or work "
      .. "on a clone() of the other"

    local function refused(simu, text, name)
      for _, try in ipairs { simu.computeOneStep, simu.run, function() for _ in simu:steps() do end end } do
        local good, message = pcall(try, simu)
        assert.is_false(good)
        assert.matches(text:format(name or "TimeStepping"), message, 1, true)
      end
    end

    local function two(second, osi)
      local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 1 } }, { { 0.1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)),
        ns[second or "TimeStepping"](nsds, ns.TimeDiscretisation(0, 0.2), osi or ns.MoreauJeanOSI(1)), ds
    end

    it("does not begin", function()
      local a, b = two()
      a:run()
      refused(b, start)
      assert.equal(0, b:step())
      a, b = two()
      a:computeOneStep() -- computed, not taken
      refused(b, start)
      a:nextStep()
      refused(b, start)
      a:run()
      a, b = two("EventDriven", ns.RungeKuttaOSI())
      a:computeOneStep()
      refused(b, start, "EventDriven")
      refused(b:clone(), start, "EventDriven")
    end)

    it("begins after a reset, with the bits of a simulation of its own", function()
      local _, alone = two()
      local bits = models.numbers(alone:run())
      for _, reset in ipairs { function(a) a:reset() end, function(_, b) b:reset() end,
        function(_, _, ds) ds:resetToInitialState() end } do
        local a, b, ds = two()
        a:run()
        reset(a, b, ds)
        assert.same(bits, models.numbers(b:run()))
      end
    end)

    it("does not go on from the state of the other", function()
      local a, b = two()
      a:computeOneStep()
      a:nextStep()
      b:reset()
      refused(a, after)
      b:run()
      refused(a, after)
      refused(a:clone(), after)
      a:reset()
      a:run()
      assert.equal(10, a:step())
    end)

    it("goes on from a checkpoint of its own", function()
      local file, a, b, ds = os.tmpname(), two()
      a:computeOneStep()
      a:nextStep()
      a:save_state(file)
      local x = ds:x():totable()
      a:reset()
      b:run()
      a:load_state(file)
      os.remove(file)
      assert.same(x, ds:x():totable())
      a:run()
      local alone, _, other = two()
      alone:run()
      assert.same(other:x():totable(), ds:x():totable())
    end)

    it("leaves the file of a stream as it is", function()
      local directory, a, b = host.new_directory(), two()
      local file = directory .. "/run.csv"
      a:run { stream = file }
      local before = host.read(file)
      assert.is_false(pcall(b.run, b, { stream = file }))
      assert.equal(before, host.read(file))
      host.remove(directory)
    end)
  end)

  it("says when there is no next step, and when none is computed", function()
    local simu = simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }) }, h = 1 }
    assert.error_matches(function() simu:nextStep() end, "the step from t=0 has not been computed", 1, true)
    simu:run()
    assert.error_matches(function() simu:computeOneStep() end,
      "end of the time interval is reached (t=1, step 1)", 1, true)
  end)

  it("runs on from where it is", function()
    local whole = models.numbers((oscillator()):run())
    local simu = oscillator()
    for k in simu:steps() do if k == 15 then break end end
    local rest = simu:run()
    assert.equal(26, #rest)
    assert.near(1.5, rest.t[1], 1e-15)
    local tail = models.numbers(rest)
    assert.equal(whole[41], tail[26])
    assert.equal(whole[82], tail[52])
  end)
end)

describe("TimeStepping: what a script changes between steps", function()
  local function scalar()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    return simulation { systems = { ds }, h = 0.5, T = 3 }, ds
  end
  local function step(simu)
    simu:computeOneStep()
    simu:nextStep()
  end

  it("is seen: the state, by element, assign and setX", function()
    local simu, ds = scalar()
    step(simu)
    ds:x()[1] = 3
    step(simu)
    assert.near(2, ds:x()[1], 1e-15)
    ds:x():assign { 6 }
    step(simu)
    assert.near(4, ds:x()[1], 1e-15)
    ds:setX { 9 }
    step(simu)
    assert.near(6, ds:x()[1], 1e-15)
  end)

  it("is seen: an entry of a matrix that was shared; of one that was copied it is not", function()
    local M, A, b = ns.matrix { { 1 } }, ns.matrix { { -1 } }, ns.vector { 0 }
    local ds = ns.FirstOrderLinearTIDS({ 1 })
    ds:setMPtr(M)
    ds:setAPtr(A)
    ds:setbPtr(b)
    local simu = simulation { systems = { ds }, h = 0.5, T = 9 }
    step(simu)
    assert.near(1 / 1.5, ds:x()[1], 1e-15)
    M[1][1] = 2
    ds:setX { 5 }
    step(simu)
    assert.near(4, ds:x()[1], 1e-15)
    A[1][1], b[1] = -2, 2
    step(simu)
    assert.near(3, ds:x()[1], 1e-15)
    ds:setM(M)
    M[1][1] = 100
    step(simu)
    assert.near(7 / 3, ds:x()[1], 1e-15)
  end)

  it("is seen: a relation's matrices and a law's bounds", function()
    local B, e = ns.matrix { { 1 } }, ns.vector { 0 }
    local relation = ns.FirstOrderLinearTIR { C = { { 1 } }, B = B, e = e }
    local law = ns.RelayNSL(1, -1, 1)
    local ds = ns.FirstOrderLinearTIDS({ 8 }, { { 0 } })
    local simu, inter = simulation { systems = { ds }, links = { { law, relation, ds } }, h = 1, T = 9 }
    step(simu)
    assert.equal(7, ds:x()[1])
    B[1][1] = 2
    step(simu)
    assert.equal(5, ds:x()[1])
    law:lb()[1] = -2
    step(simu)
    assert.equal(1, ds:x()[1])
    e[1] = -1.5
    step(simu)
    assert.equal(1.5, ds:x()[1])
    assert.equal(0.25, inter[1]:lambda(0)[1])
  end)

  it("is seen: parameters z of a system, and of two that share a relation", function()
    local z = ns.vector { 2 }
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = z, f = function(_, x, p, f) f[1] = -p[1] * x[1] end }
    local simu = simulation { systems = { ds }, h = 0.5, T = 9 }
    step(simu)
    assert.near(0.5, ds:x()[1], 1e-14)
    z[1] = 6
    step(simu)
    assert.near(0.125, ds:x()[1], 1e-14)

    local seen
    local function integrator(p) return ns.FirstOrderLinearTIDS { x0 = { 0 }, A = { { 0 } }, z = p } end
    local z1, z2 = ns.vector { 10, 20 }, ns.vector { 30 }
    local one, two = integrator(z1), integrator(z2)
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, p, y)
        seen = { p[1], p[2], p[3] }
        y[1] = x[1] - x[2] - p[3]
      end,
      g = function(_, _, lambda, _, r) r[1], r[2] = lambda[1], -lambda[1] end,
    }
    simu = simulation { systems = { one, two }, links = { { ns.EqualityConditionNSL(1), relation, one, two } }, h = 1,
      T = 9 }
    step(simu)
    assert.same({ 10, 20, 30 }, seen)
    assert.near(15, one:x()[1], 1e-12)
    assert.near(-15, two:x()[1], 1e-12)
    z2[1], z1[1] = 4, 11
    step(simu)
    assert.same({ 11, 20, 4 }, seen)
    assert.near(2, one:x()[1], 1e-12)
    assert.near(-2, two:x()[1], 1e-12)
  end)

  it("is seen: the callbacks of a relation", function()
    local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } })
    local relation = ns.FirstOrderType1R {
      h = function(_, x, _, y) y[1] = x[1] - 5 end,
      g = function(_, lambda, _, r) r[1] = lambda[1] end,
    }
    local simu = simulation { systems = { ds }, links = { { ns.EqualityConditionNSL(1), relation, ds } }, h = 1,
      T = 9 }
    step(simu)
    assert.near(5, ds:x()[1], 1e-14)
    relation:setComputehFunction(function(_, x, _, y) y[1] = x[1] + 3 end)
    step(simu)
    assert.near(-3, ds:x()[1], 1e-14)
  end)
end)

describe("TimeStepping: again", function()
  it("gives the same run bit for bit after reset", function()
    local simu, ds = oscillator()
    local first = models.numbers(simu:run())
    local stats = simu:stats()
    simu:reset()
    assert.equal(0, simu:step())
    assert.same({ 2, 0 }, ds:x():totable())
    assert.same(first, models.numbers(simu:run()))
    stats.factorizations = simu:stats().factorizations
    assert.same(stats, simu:stats())
    assert.same(first, models.numbers((oscillator()):run()))
  end)

  it("goes on in a clone bit for bit, and neither knows of the other", function()
    local simu, ds = oscillator()
    for k in simu:steps() do if k == 10 then break end end
    local copy = simu:clone()
    assert.is_false(copy:nsds() == simu:nsds())
    local rest = models.numbers(copy:run())
    assert.equal(9, simu:step())
    local x = ds:x():totable()
    local other = copy:nsds():dynamicalSystem(1)
    other:setX { 100, 100 }
    other:z()[1] = 50
    copy:reset()
    assert.same(x, ds:x():totable())
    assert.equal(1, ds:z()[1])
    assert.same(rest, models.numbers(simu:run()))
  end)

  it("does not let a clone see matrices that are changed later", function()
    local M = ns.matrix { { 1 } }
    local ds = ns.FirstOrderLinearTIDS { x0 = { 1 }, A = { { -1 } }, M = M }
    local simu = simulation { systems = { ds }, h = 0.5 }
    local copy = simu:clone()
    M[1][1] = 2
    copy:computeOneStep()
    simu:computeOneStep()
    assert.near(1 / 1.5, copy:nsds():dynamicalSystem(1):x()[1], 1e-15)
    assert.near(2 / 2.5, ds:x()[1], 1e-15)
  end)
end)

describe("TimeStepping: callbacks", function()
  it("are not called for what is preset", function()
    local calls = { Jachx = 0, Jacglambda = 0, Jachlambda = 0, Jacgx = 0 }
    local function make(presets)
      local ds = ns.FirstOrderLinearTIDS({ 2 }, { { -1 } })
      local options = {
        h = function(_, x, _, _, y) y[1] = x[1] end,
        g = function(_, _, lambda, _, r) r[1] = lambda[1] end,
        Jachx = function(_, _, _, _, C) calls.Jachx, C[1][1] = calls.Jachx + 1, 1 end,
        Jacglambda = function(_, _, _, _, B) calls.Jacglambda, B[1][1] = calls.Jacglambda + 1, 1 end,
        Jachlambda = function() calls.Jachlambda = calls.Jachlambda + 1 end,
        Jacgx = function() calls.Jacgx = calls.Jacgx + 1 end,
      }
      for name in pairs(calls) do calls[name] = 0 end
      local relation = ns.FirstOrderNonLinearR(options)
      for name, value in pairs(presets) do relation["set" .. name .. "Ptr"](relation, { { value } }) end
      simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), relation, ds } } }:run()
      return ds:x()[1]
    end
    local x = make {}
    for _, n in pairs(calls) do assert.is_true(n >= 10) end
    assert.near(x, make { C = 1 }, 1e-14)
    assert.equal(0, calls.Jachx)
    assert.is_true(calls.Jacglambda > 0 and calls.Jachlambda > 0 and calls.Jacgx > 0)
    assert.near(x, make { C = 1, B = 1, D = 0, K = 0 }, 1e-14)
    assert.same({ Jachx = 0, Jacglambda = 0, Jachlambda = 0, Jacgx = 0 }, calls)
  end)

  it("of coefficients get the time of the step", function()
    local asked = {}
    local ds = ns.FirstOrderLinearDS({ 0 }, { { 0 } }, function(t, _, b) asked[#asked + 1], b[1] = t, 0 end)
    simulation { systems = { ds }, h = 0.5, T = 1 }:run()
    assert.equal(1, asked[#asked])
    for _, t in ipairs(asked) do assert.is_true(t == 0 or t == 0.5 or t == 1) end
  end)
end)

describe("TimeStepping: check", function()
  it("names the entry of a given Jacobian that is wrong", function()
    local simu = oscillator()
    assert.is_true((simu:check()))
    local ds = ns.FirstOrderNonLinearDS({ 1, 2 }, function(_, x, _, f) f[1], f[2] = x[2] ^ 2, -x[1] end,
      function(_, _, _, J) J[1][2], J[2][1] = 5, -1 end)
    local good, report = simulation { systems = { ds } }:check()
    assert.is_false(good)
    assert.matches("[1][2]", tostring(report), 1, true)
  end)
end)
