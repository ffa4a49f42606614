-- Finite elements with switch detection: the nominal order through switches and in sliding, events, messages.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local E = math.exp(1)

-- A simulation of one system with one law. o: x0, f or A, relation, law, T, steps.
local function simulation(o, osi)
  local ds = o.A and ns.FirstOrderLinearTIDS(o.x0, o.A, o.b) or ns.FirstOrderNonLinearDS { x0 = o.x0, f = o.f }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  nsds:insertDynamicalSystem(ds)
  if o.law then
    local inter = ns.Interaction(o.law, o.relation)
    inter:setName "switch"
    nsds:link(inter, ds)
  end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.T / o.steps), osi), ds
end

-- x' = A x with A = (1, 2 pi; -2 pi, 1) inside of the unit circle and (1, -2 pi; 2 pi, 1) outside; x(2) = (e, 0).
local function circle(steps)
  local w = 2 * math.pi
  return { x0 = { 1 / E, 0 }, A = { { 1, 0 }, { 0, 1 } }, T = 2, steps = steps, law = ns.RelayNSL(1, -1, 1),
    relation = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[1] ^ 2 + x[2] ^ 2 - 1 end,
      g = function(_, x, lambda, _, r) r[1], r[2] = w * lambda[1] * x[2], -w * lambda[1] * x[1] end } }
end

-- A motion that reaches the line x1 = 0 and slides along it.
local function sliding(steps)
  return { x0 = { 0.5, 0.2 }, T = 3, steps = steps, law = ns.RelayNSL(1, -1, 1),
    f = function(_, x, _, d)
      d[1], d[2] = -0.3 * math.cos(x[2]) + 0.2 * x[2], 1 + 0.5 * math.sin(x[1] + 3 * x[2])
    end,
    relation = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 }, { 0.7 } }) }
end

-- The least-squares slope of -log2(errors) over log2(steps).
local function order(errors, steps)
  local n, sx, sy, sxx, sxy = #errors, 0, 0, 0, 0
  for i, e in ipairs(errors) do
    local x, y = math.log(steps[i], 2), -math.log(e, 2)
    sx, sy, sxx, sxy = sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

local function errors_of(problem, exact, osi, steps)
  local errors = {}
  for i, n in ipairs(steps) do
    local simu, ds = simulation(problem(n), osi)
    simu:run()
    errors[i] = math.max(math.abs(ds:x()[1] - exact[1]), math.abs(ds:x()[2] - exact[2]))
  end
  return errors
end

-- Odd numbers of steps: t = 1 is in the middle of a step. Three or four halvings each, as coarse as the asymptotic range allows.
local halvings = {
  radau_iia = { { 3201, 6401, 12801, 25601 }, { 33, 65, 129, 257, 513 }, { 15, 31, 61, 123, 245 }, { 7, 13, 25, 49, 97 } },
  gauss = { { 129, 257, 513, 1025, 2049 }, { 23, 45, 91, 181, 363 }, { 9, 19, 37, 75, 149 }, { 5, 9, 17, 33, 65 } },
  lobatto = { false, { 401, 801, 1601, 3201 }, { 41, 81, 161, 321, 641 }, { 11, 21, 41, 81, 161 } },
}
local nominal = { radau_iia = function(s) return 2 * s - 1 end, gauss = function(s) return 2 * s end,
  lobatto = function(s) return 2 * s - 2 end }

describe("FESDOSI #once", function()
  for scheme, lists in pairs(halvings) do
    for stages, steps in ipairs(lists) do
      if steps then
        it(("keeps the order of %s with %d stages through a switch"):format(scheme, stages), function()
          local errors = errors_of(circle, { E, 0 }, ns.FESDOSI(scheme, stages), steps)
          assert.near(nominal[scheme](stages), order(errors, steps), 0.2)
        end)
      end
    end
  end

  it("keeps the order when the motion enters sliding and slides", function()
    local steps = { 7, 14, 28 }
    local simu, ds = simulation(sliding(200), ns.FESDOSI("gauss", 4))
    simu:run()
    local exact = { ds:x()[1], ds:x()[2] }
    for _, case in ipairs { { "radau_iia", 1 }, { "radau_iia", 2 }, { "radau_iia", 3 }, { "gauss", 1 }, { "gauss", 2 },
      { "lobatto", 2 }, { "lobatto", 3 }, { "lobatto", 4 } } do
      local errors = errors_of(sliding, exact, ns.FESDOSI(case[1], case[2]), steps)
      assert.near(nominal[case[1]](case[2]), order(errors, steps), 0.25)
    end
    assert.same({ "slide" }, { simu:events()[1].kind, simu:events()[2] })
    assert.near(0.414027065683903, simu:events()[1].t, 1e-13)
  end)

  it("goes into sliding and out of it: x' = t - sign(x)", function()
    for _, scheme in ipairs { "radau_iia", "gauss", "lobatto" } do
      local simu, ds = simulation({ x0 = { -0.5 }, T = 3, steps = 7, f = function(t, _, _, d) d[1] = t end,
        law = ns.RelayNSL(1, -1, 1), relation = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }) }, ns.FESDOSI(scheme, 3))
      simu:run()
      local events = simu:events()
      assert.same({ "slide", "leave", 2 }, { events[1].kind, events[2].kind, #events })
      assert.near(math.sqrt(2) - 1, events[1].t, 1e-14)
      assert.near(1, events[2].t, 1e-14)
      assert.near(2, ds:x()[1], 1e-14)
      assert.near(-1, events[2].after, 0)
    end
  end)

  it("tells both sides of each switch, and the course between rows", function()
    local simu = simulation({ x0 = { -0.5 }, T = 3, steps = 7, f = function(t, _, _, d) d[1] = t end,
      law = ns.RelayNSL(1, -1, 1), relation = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }) }, ns.FESDOSI())
    local sol, rows = simu:run { dense = true }, {}
    for i = 1, #sol.t - 1 do
      if sol.t[i] == sol.t[i + 1] then rows[#rows + 1] = { sol.t[i], sol.lambda1[i], sol.lambda1[i + 1] } end
    end
    local enter = math.sqrt(2) - 1
    assert.equal(2, #rows)
    for i, want in ipairs { { enter, 1, -enter }, { 1, -1, -1 } } do
      for k = 1, 3 do assert.near(want[k], rows[i][k], 1e-12) end
    end
    for t = 0.05, 2.95, 0.1 do
      local x = t < enter and -0.5 + t + t * t / 2 or t < 1 and 0 or (t - 1) ^ 2 / 2
      local lambda = t < enter and 1 or t < 1 and -t or -1
      local at = sol:at(t)
      assert.near(x, at.x[1], 1e-13)
      assert.near(lambda, at.lambda[1], 1e-12)
    end
  end)

  it("keeps the order in oscillators with relays and with dry friction", function()
    local oscillators = {
      { x0 = { 0, 3 * math.sqrt(2) / (2 * math.pi), 0 }, A = { { 0, 1, 0 }, { 0, 0, 1 }, { 0, -3, -2 } }, T = 20, steps = 20,
        C = { { 1, 0, 0 } }, B = { { 0 }, { 0 }, { 1 } }, events = 10 },
      -- It stops at t = 22.4.
      { x0 = { 12, 6 }, A = { { 0, 1 }, { -1, 0 } }, T = 30, steps = 30, C = { { 0, 1 } }, B = { { 0 }, { 1 } }, events = 8 },
    }
    for _, o in ipairs(oscillators) do
      local function final(class, n, osi)
        local ds, nsds = ns.FirstOrderLinearTIDS(o.x0, o.A), ns.NonSmoothDynamicalSystem(0, o.T)
        nsds:insertDynamicalSystem(ds)
        nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR(o.C, o.B)), ds)
        local simu = ns[class](nsds, ns.TimeDiscretisation(0, o.T / n), osi)
        simu:run()
        assert.equal(o.events, #simu:events())
        return ds:x()
      end
      local exact = final("EventDriven", 20, ns.RungeKuttaOSI(1e-13, 1e-14))
      for stages = 2, 3 do
        local errors, steps = {}, { 2 * o.steps, 4 * o.steps, 8 * o.steps }
        for k, n in ipairs(steps) do errors[k] = (final("TimeStepping", n, ns.FESDOSI("radau_iia", stages)) - exact):norm() end
        assert.near(2 * stages - 1, order(errors, steps), 0.2)
      end
    end
  end)

  it("ends a spiral with infinitely many switches at its accumulation, t = 1", function()
    local simu, ds = simulation({ x0 = { 1, 1 }, A = ns.zeros(2, 2), T = 2, steps = 7, law = ns.RelayNSL(2, -1, 1),
      relation = ns.FirstOrderLinearTIR(ns.eye(2), { { 1, -2 }, { 2, 1 } }) }, ns.FESDOSI())
    simu:run()
    local events = simu:events()
    assert.equal("accumulation", events[#events].kind)
    assert.near(1, events[#events].t, 1e-12)
    assert.near(0, ds:x()[1], 1e-15)
    assert.near(0, ds:x()[2], 1e-15)
  end)

  -- x'' = -2 sign x - sign x': both rows switch ever faster, and rest from then on.
  it("ends the switches of two rows that accumulate where EventDriven does", function()
    local function twisting(class, n, osi)
      local ds, nsds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { 0, 0 } }), ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), ns.FirstOrderLinearTIR(ns.eye(2), { { 0, 0 }, { 2, 1 } })), ds)
      local simu = ns[class](nsds, ns.TimeDiscretisation(0, 20 / n), osi)
      simu:run()
      return simu:events(), ds:x()
    end
    local expected = twisting("EventDriven", 40, ns.RungeKuttaOSI())
    for _, osi in ipairs { ns.FESDOSI(), ns.FESDOSI("gauss", 2), ns.FESDOSI("lobatto", 3) } do
      for _, n in ipairs { 7, 40 } do
        local events, x = twisting("TimeStepping", n, osi)
        assert.same({ 0, 0 }, x:totable())
        assert.equal(#expected, #events)
        for i, event in ipairs(events) do
          assert.equal(expected[i].kind, event.kind)
          assert.near(expected[i].t, event.t, 1e-11)
        end
      end
    end
  end)

  -- x'' = -x' - sign x: the relay acts on the second derivative of its output, so that a switch with x' ~= 0 is a crossing.
  it("does not slide where the output has a velocity", function()
    for _, case in ipairs { { ns.FESDOSI(), 40 }, { ns.FESDOSI(), 80 }, { ns.FESDOSI("gauss", 3), 40 } } do
      local simu = simulation({ x0 = { 1, 0 }, A = { { 0, 1 }, { 0, -1 } }, T = 20, steps = case[2], law = ns.RelayNSL(1, -1, 1),
        relation = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 1 } }) }, case[1])
      simu:run()
      assert.equal(749, #simu:events())
      for _, event in ipairs(simu:events()) do assert.equal("cross", event.kind) end
    end
  end)

  it("moves smooth systems, without laws", function()
    local simu, ds = simulation({ x0 = { 1, 0 }, A = { { 0, 1 }, { -1, 0 } }, T = 1, steps = 5 }, ns.FESDOSI("gauss", 4))
    simu:run()
    assert.near(math.cos(1), ds:x()[1], 1e-13)
    assert.near(-math.sin(1), ds:x()[2], 1e-13)
    assert.same({}, simu:events())
  end)

  it("shows and checks its options", function()
    local osi = ns.FESDOSI { scheme = "gauss", stages = 2, elements = 3 }
    assert.equal("FESDOSI: gauss, 2 stages, 3 elements", tostring(osi))
    assert.equal("FESDOSI: radau_iia, 3 stages, 2 elements", tostring(ns.FESDOSI()))
    assert.equal("FESDOSI: lobatto, 4 stages, 2 elements", tostring(ns.FESDOSI("lobatto", 4)))
    assert.equal("FESDOSI: lobatto needs 2 stages or more", message(ns.FESDOSI, "lobatto", 1))
    assert.equal("FESDOSI: unknown option 'order' (known: scheme, stages, elements)", message(ns.FESDOSI, { order = 2 }))
    osi:setStages(1)
    assert.equal("FESDOSI: lobatto needs 2 stages or more", message(osi.setScheme, osi, "lobatto"))
    assert.equal("gauss", osi:scheme())
    assert.equal(1, osi:stages())
    assert.equal(3, osi:elements())
  end)

  it("jumps at a start that violates the law, where an impulse mends it", function()
    local function start(B)
      return simulation({ x0 = { -1 }, A = { { 0 } }, T = 1, steps = 2, law = ns.ComplementarityConditionNSL(1),
        relation = ns.FirstOrderLinearTIR({ { 1 } }, { { B } }) }, ns.FESDOSI())
    end
    local simu, ds = start(1)
    simu:run()
    assert.equal(0, ds:x()[1])
    simu = start(0)
    assert.matches("FESDOSI: the start can not be made consistent: interaction 'switch': y = -1 at t=0 is not allowed by the law, "
      .. "and no impulse of its lambda changes that", message(simu.computeOneStep, simu), 1, true)
  end)

  it("jumps when a script has put the state where the law forbids it", function()
    local simu, ds = simulation({ x0 = { 1 }, A = { { 0 } }, T = 1, steps = 4, law = ns.ComplementarityConditionNSL(1),
      relation = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }) }, ns.FESDOSI())
    simu:computeOneStep()
    simu:nextStep()
    ds:x()[1] = -2
    simu:computeOneStep()
    assert.equal(0, ds:x()[1])
  end)

  -- At x = 0 the switch pushes to both sides; x = 0 stays, too.
  local function unstable(rule)
    local osi = ns.FESDOSI()
    if rule then osi:setAmbiguity(rule) end
    local simu, ds = simulation({ x0 = { 0 }, A = { { 0 } }, T = 1, steps = 4, law = ns.RelayNSL(1, -1, 1),
      relation = ns.FirstOrderLinearTIR({ { 1 } }, { { -1 } }) }, osi)
    simu:run()
    return ds:x()[1]
  end

  it("raises where several motions are possible, or takes the one of the rule", function()
    assert.equal("error", ns.FESDOSI():ambiguity())
    assert.matches("the next mode is not unique at t=0: 'switch' y > 0; 'switch' y < 0; 'switch' slides (y = 0)",
      message(unstable), 1, true)
    assert.near(0, unstable "stay", 0)
    assert.near(1, unstable "up", 1e-15)
    assert.near(-1, unstable "down", 1e-15)
  end)

  -- Random systems that reach an intersection of surfaces from which two motions go on.
  it("says where a switch leads to several motions what EventDriven says", function()
    local function between() return 2 * math.random() - 1 end
    local function matrix(rows, columns)
      local M = {}
      for i = 1, rows do
        M[i] = {}
        for j = 1, columns do M[i][j] = between() end
      end
      return M
    end
    for _, seed in ipairs { 1532, 2102, 2911 } do
      local told = {}
      for i, class in ipairs { "EventDriven", "TimeStepping" } do
        math.randomseed(seed)
        local n, m = math.random(2, 6), math.random(1, 3)
        local A, B, C, b, x0 = matrix(n, n), matrix(n, m), matrix(m, n), {}, {}
        for k = 1, n do
          A[k][k], b[k], x0[k] = A[k][k] - 1, 0.5 * between(), between()
          for j = 1, m do B[k][j] = B[k][j] + C[j][k] end
        end
        local ds, nsds = ns.FirstOrderLinearTIDS(x0, A, b), ns.NonSmoothDynamicalSystem(0, 2)
        nsds:insertDynamicalSystem(ds)
        nsds:link(ns.Interaction(ns.RelayNSL(m, -1, 1), ns.FirstOrderLinearTIR(C, B)), ds)
        local simu = ns[class](nsds, ns.TimeDiscretisation(0, 0.1), i == 1 and ns.RungeKuttaOSI() or ns.FESDOSI("radau_iia", 4))
        told[i] = message(simu.run, simu):match "the next mode is not unique at t=[^(]*"
      end
      assert.is_string(told[1])
      assert.equal(told[1], told[2])
    end
  end)

  it("refuses EventDriven, and laws that are no bounds of rows", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { 0 } }))
    assert.equal("EventDriven: expected an integrator such as RungeKuttaOSI, got a FESDOSI",
      message(ns.EventDriven, nsds, ns.TimeDiscretisation(0, 0.1), ns.FESDOSI()))
    local law = ns.NormalConeNSL(2, { { 1, 1 } }, { -1 })
    assert.matches("FESDOSI: interaction 'switch' has a NormalConeNSL; it takes laws with bounds for each row",
      message(simulation, { x0 = { 1, 1 }, A = ns.zeros(2, 2), T = 1, steps = 2, law = law,
        relation = ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2)) }, ns.FESDOSI()))
  end)

  it("takes steps that commute with units that are powers of two", function()
    local function run(a, b, l, tau)
      local ds = ns.FirstOrderLinearTIDS({ 0.7 * a, -0.4 * b },
        { { -0.3 / tau, 1.1 * a / b / tau }, { -1.2 * b / a / tau, -0.2 / tau } }, { 0.2 * a / tau, 0.1 * b / tau })
      local nsds = ns.NonSmoothDynamicalSystem(0, 4 * tau)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(2, -l, l), ns.FirstOrderLinearTIR({ { 1 / a, 0.3 / b }, { -0.2 / a, 1 / b } },
        { { a / l / tau, 0 }, { 0.2 * b / l / tau, 0.8 * b / l / tau } })), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25 * tau), ns.FESDOSI())
      simu:run()
      local events = simu:events()
      return { ds:x()[1] / a, ds:x()[2] / b, #events, events[1].t / tau, events[#events].t / tau }
    end
    local plain = run(1, 1, 1, 1)
    assert.is_true(plain[3] >= 2)
    for _, powers in ipairs { { 40, -30, 7, 20 }, { -60, 80, -90, -50 }, { 0, 0, 100, 0 }, { -100, -100, 3, 60 } } do
      local p = {}
      for i, k in ipairs(powers) do p[i] = 2.0 ^ k end
      assert.same(plain, run(table.unpack(p)))
    end
  end)

  it("refuses a singular M with gauss", function()
    local ds = ns.FirstOrderLinearDS({ 1, 0 }, { { 0, 1 }, { -1, -1 } })
    ds:setMPtr { { 1, 0 }, { 0, 0 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.FESDOSI("gauss", 2))
    assert.matches("FESDOSI: dynamical system 'ds 1': M is singular; gauss needs a regular M, use radau_iia",
      message(simu.computeOneStep, simu), 1, true)
    simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.FESDOSI("radau_iia", 3))
    simu:run()
    assert.near(math.exp(-1), ds:x()[1], 1e-10)
  end)

  it("keeps the order in circuits of diodes", function()
    local L, C, R = 1e-2, 1e-6, 1000
    local function circuit(osi, n)
      local simu, ds = simulation({ x0 = { 10, 0 }, A = { { 0, -1 / C }, { 1 / L, 0 } }, T = 2e-3, steps = n,
        law = ns.ComplementarityConditionNSL(1),
        relation = ns.FirstOrderLinearTIR { C = { { -1, 0 } }, D = { { R } }, B = { { -1 / C }, { 0 } } } }, osi)
      simu:run()
      return ds:x()[1], simu
    end
    local exact, simu = circuit(ns.FESDOSI("gauss", 4), 200)
    assert.same({ "open", "close" }, { simu:events()[1].kind, simu:events()[2].kind })
    for _, case in ipairs { { "radau_iia", 3 }, { "gauss", 2 }, { "lobatto", 3 } } do
      local errors, steps = {}, { 44, 88, 176 }
      for i, n in ipairs(steps) do errors[i] = math.abs(circuit(ns.FESDOSI(case[1], case[2]), n) - exact) end
      assert.near(nominal[case[1]](case[2]), order(errors, steps), 0.25)
    end
  end)
end)

describe("FESDOSI in mechanics #once", function()
  local function ball(osi, n, class, e, forces, account)
    local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
    if forces then ds:setComputeFIntFunction(forces) else ds:setFExtPtr { -9.81 } end
    local nsds = ns.NonSmoothDynamicalSystem(0, 1.1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR({ { 1 } })), ds)
    local simu = ns[class](nsds, ns.TimeDiscretisation(0, 1.1 / n), osi)
    if account then simu:energy() end
    simu:run()
    return { ds:q()[1], ds:velocity()[1] }, simu
  end

  it("keeps the order through impacts", function()
    local function forces(_, q, v, _, f) f[1] = 9.81 + 0.5 * v[1] + 3 * q[1] ^ 3 end
    local exact = ball(ns.RungeKuttaOSI(), 20, "EventDriven", 0.8, forces)
    for _, case in ipairs { { "radau_iia", 1, 28 }, { "radau_iia", 3, 7 }, { "gauss", 1, 14 }, { "gauss", 3, 7 },
      { "lobatto", 2, 14 }, { "lobatto", 4, 7 } } do
      local errors, steps = {}, { case[3], 2 * case[3], 4 * case[3], 8 * case[3] }
      for i, n in ipairs(steps) do
        local x = ball(ns.FESDOSI(case[1], case[2]), n, "TimeStepping", 0.8, forces)
        errors[i] = math.max(math.abs(x[1] - exact[1]), math.abs(x[2] - exact[2]))
      end
      assert.is_true(order(errors, steps) > nominal[case[1]](case[2]) - 0.5)
    end
  end)

  it("brings a ball to rest as EventDriven does", function()
    local x, simu = ball(ns.FESDOSI("radau_iia", 2), 20, "TimeStepping", 0.2)
    local y, other = ball(ns.RungeKuttaOSI(), 20, "EventDriven", 0.2)
    assert.near(y[1], x[1], 1e-14)
    assert.near(y[2], x[2], 1e-14)
    assert.equal(#other:events(), #simu:events())
    for i, event in ipairs(simu:events()) do
      assert.equal(other:events()[i].kind, event.kind)
      assert.near(other:events()[i].t, event.t, 1e-13)
    end
  end)

  -- The work of -(9.81 + v / 2 + 3 q^3) is measured at the stages: the account can fail, and closes with the order of the method.
  -- Gauss keeps quadratic energies, so that its account closes with few steps.
  it("closes the account of energies with its order", function()
    local function forces(_, q, v, _, f) f[1] = 9.81 + 0.5 * v[1] + 3 * q[1] ^ 3 end
    for _, case in ipairs { { "radau_iia", 2, 2.5e-4 }, { "radau_iia", 3, 2e-7 }, { "gauss", 2, 1e-11 }, { "lobatto", 3, 1e-6 } } do
      local last
      for _, n in ipairs { 10, 20, 40 } do
        local osi = ns.FESDOSI(case[1], case[2])
        local x, simu = ball(osi, n, "TimeStepping", 0.8, forces, true)
        local account = simu:energy()
        assert.near(x[2] ^ 2 / 2, account.total, 1e-12)
        assert.near(account.total, account.forces + account.impacts + account.numerical, 1e-12)
        local off = math.abs(account.numerical)
        assert.is_true(off < case[3] and (not last or off < last / 6 or off < 1e-11), off)
        last = off
      end
    end
  end)

  -- A body on the floor is lifted by a short pulse, of which the stages of long steps see nothing.
  it("sees a contact that opens between stages", function()
    for _, n in ipairs { 3, 5, 7, 10 } do
      local ds = ns.LagrangianDS({ 0 }, { 0 }, { { 1 } })
      ds:setComputeFExtFunction(function(t, _, f) f[1] = -10 + 25 * math.exp(-((t - 0.3333) / 0.005) ^ 2) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } })), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1 / n), ns.FESDOSI())
      simu:run()
      assert.equal("release", simu:events()[1].kind)
      assert.near(0.3333 - 0.005 * math.sqrt(math.log(2.5)), simu:events()[1].t, 1e-9)
      assert.equal("rest", simu:events()[#simu:events()].kind)
    end
  end)

  it("refuses friction and bodies that overlap", function()
    local ds = ns.LagrangianDS({ -1 }, { 0 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local inter = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }))
    inter:setName "floor"
    nsds:link(inter, ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.FESDOSI())
    assert.matches("FESDOSI: interaction 'floor': the bodies overlap at t=0: y = -1", message(simu.computeOneStep, simu), 1, true)
    local plane = ns.LagrangianDS({ 0, 1 }, { 0, 0 }, ns.eye(2))
    nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(plane)
    inter = ns.Interaction(ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 2), ns.LagrangianLinearTIR({ { 0, 1 }, { 1, 0 } }))
    inter:setName "floor"
    nsds:link(inter, plane)
    assert.matches("FESDOSI: interaction 'floor' has a NewtonImpactFrictionNSL; in mechanics it takes NewtonImpactNSL and "
      .. "EqualityConditionNSL", message(ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 0.1), ns.FESDOSI()), 1, true)
  end)

  it("takes entries of Jacobians that are too small to have an influence, as adaptive EulerMoreau steps do", function()
    for _, c in ipairs { 1e-60, 1e-200, 1e-300, 1e-320 } do
      for _, fesd in ipairs { true, false } do
        local ds = ns.FirstOrderNonLinearDS({ 10, 0, 0 }, function(t, x, _, f)
          local d = t > 0.5 and c * (x[2] - x[1]) or 0
          f[1], f[2] = -d, d
        end)
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(ds)
        nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { -1, 1, 0 } }, { { -1 }, { 1 }, { 0 } })), ds)
        nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 0, -1, 1 } }, { { 0 }, { -1 }, { 1 } })), ds)
        local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), fesd and ns.FESDOSI() or ns.EulerMoreauOSI(1), nil,
          not fesd and { rtol = 1e-3 } or nil)
        simu:run()
        assert.near(9, ds:x()[1], 1e-3)
        assert.near(0.5, ds:x()[2], 1e-3)
        assert(fesd or simu:stats().accepted < 1000)
      end
    end
  end)
end)
