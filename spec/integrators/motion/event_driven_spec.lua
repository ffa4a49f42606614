-- Event-driven simulation: the loop, its options, its errors; accuracy of what happens in between.
local ns = require "nslua"
local fails = require "expect".fails
local events = require "simulation.events"
local g = events.g

describe("EventDriven", function()
  it("locates every bounce of a ball, down to the last", function()
    local e, H = 0.5, 1
    local simu, ball, floor = events.ball { e = e, H = H, h = 0.1 }
    simu:energy()
    for _, t in simu:steps() do
      assert.is_true(floor:y(0)[1] >= -2e-12)
      if t > 3 * math.sqrt(2 * H / g) then
        assert.equal(0, ball:q()[1])
        assert.equal(0, ball:velocity()[1])
        assert.near(g, floor:lambda(1)[1], 1e-14)
      end
    end
    local log, t1 = simu:events(), math.sqrt(2 * H / g)
    for i = 1, #log - 1 do
      local exact = t1 * (1 + 2 * e * (1 - e ^ (i - 1)) / (1 - e))
      assert.equal("impact", log[i].kind)
      assert.equal("floor", log[i].interaction)
      assert.equal(1, log[i].component)
      assert.near(exact, log[i].t, 1e-13)
      assert.near(-e * log[i].before, log[i].after, 1e-14)
      assert.near(log[i].after - log[i].before, log[i].impulse, 1e-14)
    end
    assert.equal("rest", log[#log].kind)
    assert.near(3 * t1, log[#log].accumulation, 1e-12)
    local energy = simu:energy()
    assert.near(-g * H, energy.impacts, 1e-9)
    assert.near(0, energy.numerical, 1e-10)
  end)

  it("gives up where a force jumps at each evaluation or swings without end, and stays at the last accepted step #once", function()
    local calls = 0
    local function driven(force)
      local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
      ball:setComputeFExtFunction(force)
      local simu = events.simulation { systems = { ball }, T = 1, h = 0.5 }
      return simu, ball
    end
    local function gives_up(message, force)
      local simu, ball = driven(force)
      fails(message, simu.run, simu)
      assert.equal(0, simu:step())
      assert.equal(1, ball:q()[1])
    end
    gives_up("too small to go on (t=", function(_, _, f)
      calls = calls + 1
      f[1] = calls % 2 == 0 and 1 or -1e9
    end)
    gives_up("more than 100000 steps of the integrator to the next event or time of the grid (t=",
      function(t, _, f) f[1] = math.cos(1e8 * t) end)
  end)

  it("gives the same events on any grid, and again after a reset", function()
    local function times(h)
      local simu = events.ball { e = 0.7, T = 2.9, h = h }
      simu:run()
      return simu:events(), simu
    end
    local a, b = times(2.9), times(0.01)
    assert.equal(#a, #b)
    for i = 1, #a do assert.near(a[i].t, b[i].t, 1e-12) end
    local log, simu = times(0.1)
    simu:reset()
    assert.equal(0, #simu:events())
    simu:run()
    assert.same(log, simu:events())
    local copy = simu:clone()
    copy:reset()
    copy:run()
    assert.same(log, copy:events())
    assert.truthy(tostring(copy):find("EventDriven", 1, true))
  end)

  it("is as exact in nonlinear systems with impacts as its tolerances", function()
    -- an angle with a wall, against tighter tolerances
    local function run(rtol)
      local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
      ds:setComputeFIntFunction(function(t, q, v, z, f) f[1] = g * math.sin(q[1]) end)
      local wall = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = math.sin(q[1]) + 0.3 end }
      local simu = events.simulation { systems = { ds }, T = 6, h = 6, rtol = rtol, atol = rtol / 100,
        links = { { ns.NewtonImpactNSL(0.8), wall, "wall", ds } } }
      simu:run()
      return simu:events(), ds:q()[1]
    end
    local best, end_best = run(1e-13)
    for _, rtol in ipairs { 1e-6, 1e-9, 1e-12 } do
      local log, q = run(rtol)
      assert.equal(#best, #log)
      for i = 1, #log do assert.near(best[i].t, log[i].t, 50 * rtol) end
      assert.near(end_best, q, 300 * rtol)
    end
  end)

  it("turns rigid bodies with unit quaternions and keeps their energy and momentum", function()
    local body = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0.1, 0, 0, 0.1, 2, 0.1 }, 2, { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } })
    local simu = events.simulation { systems = { body }, T = 20, h = 0.5 }
    local start = simu:energy().total
    for _, t in simu:steps() do
      local q = body:q()
      assert.near(1, q[4] ^ 2 + q[5] ^ 2 + q[6] ^ 2 + q[7] ^ 2, 1e-15)
      assert.near(0.1 * t, q[1], 1e-12)
      assert.near(start, simu:energy().total, 1e-10)
    end
  end)

  it("takes a clock's forces: fExt as a function of time", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
    ds:setComputeFExtFunction(function(t, z, f) f[1] = math.cos(t) end)
    local simu = events.simulation { systems = { ds }, T = 3, h = 1 }
    simu:run()
    assert.near(1 - math.cos(3), ds:q()[1], 1e-12)
  end)

  it("refuses what it has no events for, and says what would do", function()
    local ds = events.particle({ 0, 1 }, { 0, 0 })
    local rel = ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }
    fails("RungeKuttaOSI: interaction 'slip' has a FremondImpactFrictionNSL; it takes NewtonImpactNSL, NewtonImpactFrictionNSL, " ..
      "NewtonImpactRollingFrictionNSL, NewtonImpactSpinningFrictionNSL, MultipleImpactNSL, PoissonImpactNSL, RelayNSL, " ..
      "JointFrictionNSL, DampingNSL and " ..
      "EqualityConditionNSL (TimeStepping with a MoreauJeanOSI takes it)", events.simulation,
      { systems = { ds }, T = 1, links = { { ns.FremondImpactFrictionNSL(0, 0, 0.3, 2), rel, "slip", ds } } })
    ds = events.particle({ 0, 1 }, { 0, 0 })
    fails("RungeKuttaOSI: interaction 'rows' has a MixedComplementarityConditionNSL; it takes NewtonImpactNSL, " ..
      "NewtonImpactFrictionNSL, NewtonImpactRollingFrictionNSL, NewtonImpactSpinningFrictionNSL, MultipleImpactNSL, " ..
      "PoissonImpactNSL, RelayNSL, " ..
      "JointFrictionNSL, DampingNSL and EqualityConditionNSL (write equations as an interaction with EqualityConditionNSL, and " ..
      "0 <= y _|_ lambda >= 0 as one with NewtonImpactNSL(0); TimeStepping with a MoreauJeanOSI takes it)",
      events.simulation, { systems = { ds }, T = 1, links = {
        { ns.MixedComplementarityConditionNSL(1, 1), ns.LagrangianLinearTIR(ns.eye(2)), "rows", ds } } })
    ds = events.particle({ 0, 1 }, { 0, 0 })
    local soft = ns.LagrangianCompliantLinearTIR({ { 0, 1 } }, { { 1 } })
    fails("RungeKuttaOSI: interaction 'soft' has a LagrangianCompliantLinearTIR, which computes a force from a position " ..
      "and is not a contact",
      events.simulation, { systems = { ds }, T = 1, links = { { ns.EqualityConditionNSL(1), soft, "soft", ds } } })
    fails("EventDriven: expected an integrator such as RungeKuttaOSI, got a MoreauJeanOSI", events.simulation,
      { systems = {}, T = 1, osi = ns.MoreauJeanOSI(0.5) })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    fails("TimeStepping: a RungeKuttaOSI goes with EventDriven", ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 0.1),
      ns.RungeKuttaOSI())
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    fails("events: a TimeStepping with a MoreauJeanOSI has none; EventDriven locates them", simu.events, simu)
  end)

  it("refuses a negative restitution, also one that comes later; time stepping takes it", function()
    fails("RungeKuttaOSI: interaction 'floor' has the restitution -1; where impacts are located it is 0 or more", events.ball,
      { e = -1 })
    local simu, ball, floor = events.ball { e = 0.5, H = 1, h = 0.1, T = 1 }
    simu:computeOneStep()
    simu:nextStep()
    local x = ball:x():totable()
    floor:nonSmoothLaw():setE(-0.5)
    fails("EventDriven: interaction 'floor' has the restitution -0.5; where impacts are located it is 0 or more", simu.run, simu)
    assert.same(x, ball:x():totable())
    floor:nonSmoothLaw():setE(0)
    simu:run()
    assert.near(0, ball:q()[1], 1e-12)
    ball = ns.LagrangianLinearTIDS({ 1 }, { -1 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(-0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.D1MinusLinearOSI()):run()
  end)

  it("says where bodies overlap at the start, and keeps the state", function()
    local simu, ball = events.ball { H = -0.5, e = 0 }
    fails("EventDriven: interaction 'floor': the bodies overlap at the start: y = -0.5 (t=0.1 step 1)", simu.computeOneStep,
      simu)
    assert.equal(-0.5, ball:q()[1])
    ball:q()[1] = 1
    simu:computeOneStep()
    simu:nextStep()
    ball:q()[1] = -0.25
    fails("EventDriven: interaction 'floor': the bodies overlap already where the step begins (a contact that is " ..
      "linked too late, or a state that was set): y = -0.25 (t=0.2 step 2)", simu.computeOneStep, simu)
  end)

  it("says when there are too many events", function()
    local osi = ns.RungeKuttaOSI()
    osi:setMaxEvents(2)
    local simu, ball = events.ball { e = 0.9, T = 3, h = 3, osi = osi }
    fails("EventDriven: more than 2 events in a step of the grid (t=", simu.computeOneStep, simu)
    assert.equal(1, ball:q()[1])
    assert.equal(0, #simu:events())
    osi:setMaxEvents(1000)
    simu:computeOneStep()
  end)

  it("hands on what callbacks raise, with the time", function()
    local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
    ds:setComputeFIntFunction(function(t) if t > 0.55 then error "too late" end end)
    local simu = events.simulation { systems = { ds }, T = 1, h = 0.5 }
    simu:computeOneStep()
    simu:nextStep()
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.truthy(message:find("too late", 1, true), message)
    assert.truthy(message:find("dynamical system 'ds 1' computeFInt: t=0.", 1, true), message)
    assert.equal(0.5, simu:startingTime())
  end)
end)

describe("RungeKuttaOSI", function()
  it("has tolerances", function()
    local osi = ns.RungeKuttaOSI()
    assert.same({ 1e-12, 1e-14 }, { osi:tolerances() })
    assert.equal(1e-12, osi:contactTolerance())
    osi:setTolerances(1e-8, 1e-9)
    osi:setContactTolerance(1e-10)
    assert.same({ 1e-8, 1e-9 }, { osi:tolerances() })
    assert.equal("RungeKuttaOSI: rtol 1e-08, atol 1e-09", tostring(osi))
    fails("RungeKuttaOSI: rtol: expected a number in [1e-14, 0.1], got 0.0", ns.RungeKuttaOSI, 0)
    fails("RungeKuttaOSI: atol: expected a positive number, got -1.0", ns.RungeKuttaOSI, 1e-6, -1)
    fails("setContactTolerance: contactTolerance: expected a positive number, got 0.0", osi.setContactTolerance, osi, 0)
    fails("setMaxEvents: maxEvents: expected 1..1000000000, got 0", osi.setMaxEvents, osi, 0)
    fails("setTolerances: rtol: expected a number in [1e-14, 0.1], got 1.0", osi.setTolerances, osi, 1)
    fails("setTolerances: expected at most 2 arguments, got 3", osi.setTolerances, osi, 1e-6, 1e-6, 1)
    osi:setTolerances(nil, 1e-7)
    assert.same({ 1e-8, 1e-7 }, { osi:tolerances() })
    osi:setMaxEvents(7)
    assert.equal(7, osi:maxEvents())
    for _, name in ipairs { "theta", "setGamma", "rtol", "setAtol" } do
      fails("RungeKuttaOSI: it has no method '" .. name .. "'", function() return osi[name] end)
    end
  end)
end)

describe("the energy of an EventDriven", function()
  local function bits(simu, systems)
    local out = {}
    for _, event in ipairs(simu:events()) do
      out[#out + 1] = ("%s %s %a %a %a"):format(event.kind, event.interaction, event.t, event.before, event.after)
    end
    for _, ds in ipairs(systems) do
      for _, x in ipairs(ds:q():totable()) do out[#out + 1] = ("%a"):format(x) end
      for _, x in ipairs(ds:velocity():totable()) do out[#out + 1] = ("%a"):format(x) end
    end
    return out
  end

  local models = {
    function()
      local simu, ball = events.ball { e = 0.5, T = 1.2, h = 0.1 }
      return simu, { ball }
    end,
    function()
      local simu, beads = events.column { n = 4, H = 0.5, gap = 0.1, e = 0.4, T = 1 }
      return simu, beads
    end,
    function() -- a damped pendulum that meets a wall
      local ds = events.particle({ math.sin(1), -math.cos(1) }, { 0, 0 })
      ds:setComputeFIntFunction(function(_, _, v, _, f) f[1], f[2] = 0.3 * v[1], 0.3 * v[2] end)
      local simu = events.simulation { systems = { ds }, T = 3, h = 0.15, links = {
        { ns.EqualityConditionNSL(1),
          ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }, "rod", ds },
        { ns.NewtonImpactNSL(0.6), ns.LagrangianLinearTIR({ { 1, 0 } }, { 0.2 }), "wall", ds } } }
      return simu, { ds }
    end,
  }

  it("is a query: the motion has the same bits, asked for or not, once or after each step", function()
    for k, model in ipairs(models) do
      local simu, systems = model()
      simu:run()
      local want = bits(simu, systems)
      assert.is_true(#simu:events() > 0, k)
      for _, asked in ipairs { 0, 1, 5 } do
        simu, systems = model()
        if asked == 0 then simu:energy() end
        for step in simu:steps() do
          if asked > 0 and step % asked == 0 then simu:energy() end
        end
        assert.same(want, bits(simu, systems))
      end
    end
  end)
end)

describe("the longest step of an EventDriven", function()
  it("is an option of RungeKuttaOSI", function()
    local osi = ns.RungeKuttaOSI()
    assert.is_nil(osi:maxStep())
    osi:setMaxStep(0.01)
    assert.equal(0.01, osi:maxStep())
    osi:setMaxStep(nil)
    assert.is_nil(osi:maxStep())
    assert.equal(0.5, ns.RungeKuttaOSI(nil, nil, 0.5):maxStep())
    fails("RungeKuttaOSI: maxStep: expected a positive number, got 0.0", ns.RungeKuttaOSI, nil, nil, 0)
    fails("setMaxStep: maxStep: expected a positive number, got -1.0", osi.setMaxStep, osi, -1)
  end)

  -- A body on a floor, and one that floats, with a force that lasts as long as `width` at t = c.
  local function pulsed(width, c, max_step)
    local evaluations, body = 0, ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
    body:setComputeFExtFunction(function(t, _, f)
      local s = (t - c) / (width / 2)
      local push = math.abs(s) < 1 and (1 - s * s) ^ 2 or 0
      evaluations = evaluations + 1
      f[1], f[2] = 50 * push - g, push
    end)
    local links = { { ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1, 0 } }, "floor", body } }
    local simu = events.simulation { systems = { body }, T = 1, h = 1, links = links,
      osi = ns.RungeKuttaOSI(nil, nil, max_step) }
    simu:run()
    return simu:events(), body:velocity()[2], evaluations
  end

  it("is found so that a force is seen that lasts 1/1000 of the run, wherever it is #once", function()
    for k = 1, 40 do
      local c = 0.05 + 0.9 * ((k * 0.6180339887498949) % 1)
      local log, v = pulsed(2e-3, c)
      assert.equal("rest", log[1].kind)
      assert.equal("release", log[2].kind)
      assert.near(c - 1e-3 * math.sqrt(1 - math.sqrt(g / 50)), log[2].t, 1e-12)
      assert.near(1e-3 * 16 / 15, v, 1e-12)
    end
  end)

  it("bounds the steps of the integrator", function()
    local _, _, few = pulsed(0.1, 0.5)
    local log, _, many = pulsed(0.1, 0.5, 1e-3)
    assert.equal("release", log[2].kind)
    assert.is_true(many > 12000 and few < 10000, ("%d %d"):format(few, many))
  end)
end)

describe("an EventDriven far from the origin, or of any mass", function()
  it("keeps a constraint and a contact", function()
    for _, m in ipairs { 93, 99, 186, 198, 1e9, 1e-12, 1e12 } do
      for _, offset in ipairs { 0, 1e5, 1e6, 1e7 } do
        local ball = ns.LagrangianLinearTIDS({ offset + 1 }, { 0 }, { { m } })
        ball:setFExtPtr { -m * g }
        local simu, inters = events.simulation { systems = { ball }, T = 3, h = 0.01,
          links = { { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }, { -offset }), "floor", ball } } }
        simu:run()
        local log = simu:events()
        assert.equal("rest", log[#log].kind)
        assert.near(3 * math.sqrt(2 / g), log[#log].accumulation, 1e-12 + 2e-4 * math.sqrt(offset / 1e7))
        assert.near(offset, ball:q()[1], 1e-30 + 2e-15 * offset)
        assert.equal(0, math.abs(ball:velocity()[1]) > 1e-20 and 1 or 0)
        assert.near(m * g, inters.floor:lambda(1)[1], 1e-13 * m * g)
      end
    end
  end)

  it("goes on from a checkpoint and a clone with the same bits and the same rest", function()
    local function ball() return events.ball { e = 0.5, T = 2, h = 0.25 } end
    local simu, a = ball()
    local path = os.tmpname()
    for step in simu:steps() do
      if step == 3 then simu:save_state(path) end
    end
    local log = simu:events()
    local again, b = ball()
    again:load_state(path)
    os.remove(path)
    again:run()
    assert.same(log, again:events())
    assert.equal(a:q()[1], b:q()[1])
    assert.equal("rest", log[#log].kind)
  end)
end)
