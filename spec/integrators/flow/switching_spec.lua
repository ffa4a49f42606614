-- Event-driven runs of models of first order: located events, sliding, accumulations; against closed forms.
local campaign = require "campaign"
local ns = require "nslua"
local expect = require "expect"
local models = require "bind.models"
local message = models.message

-- A linear model x' = A x + b(t) + B lambda, y = C x with one law.
local function linear(o)
  local make = o.b and ns.FirstOrderLinearDS or ns.FirstOrderLinearTIDS
  local ds = make { x0 = o.x0, A = o.A, b = o.b, M = o.M }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(o.law or ns.RelayNSL(#o.C), ns.FirstOrderLinearTIR { C = o.C, B = o.B, D = o.D }, o.name or "switch")
  nsds:link(inter, ds)
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h or o.T), o.osi or ns.RungeKuttaOSI())
  return simu, ds, inter
end

-- The kinds and the times of the events.
local function told(simu)
  local kinds, times = {}, {}
  for i, e in ipairs(simu:events()) do kinds[i], times[i] = e.kind, e.t end
  return kinds, times
end

local function near(expected, got, tolerance)
  assert.equal(#expected, #got)
  for i = 1, #expected do assert.near(expected[i], got[i], tolerance) end
end

local methods = { { "RungeKuttaOSI", ns.RungeKuttaOSI, 1e-12 }, { "RadauOSI", ns.RadauOSI, 1e-9 } }

for _, method in ipairs(methods) do
  local name, osi, tolerance = table.unpack(method)
  describe(name .. " in EventDriven, first order,", function()
    it("crosses a switch: arcs of circles", function()
      local simu, ds = linear { x0 = { 0, 1 }, A = { { 0, 1 }, { -1, 0 } }, C = { { 1, 0 } }, B = { { 0 }, { 0.4 } }, T = 20,
        b = function(_, _, b) b[2] = -0.1 end, osi = osi(), h = 5 }
      simu:run()
      local kinds, times = told(simu)
      near({ 2.214297435588181, 4.77297650022224, 6.987273935810421, 9.54595300044448, 11.760250436032662, 14.31892950066672,
        16.533226936254902, 19.09190600088896 }, times, 100 * tolerance)
      for _, kind in ipairs(kinds) do assert.equal("cross", kind) end
      near({ 0.5959572206783322, 0.2210831753956539 }, ds:x(), 100 * tolerance)
    end)

    it("enters, slides and leaves: x' = t - sign(x)", function()
      local simu, ds, inter = linear { x0 = { -0.5 }, A = { { 0 } }, b = function(t, _, b) b[1] = t end, C = { { 1 } },
        B = { { 1 } }, T = 3, h = 0.75, osi = osi() }
      for step in simu:steps() do
        if step == 1 then
          assert.near(0, ds:x()[1], 1e-15)
          assert.near(-0.75, inter:lambda(0)[1], tolerance)
        end
      end
      local kinds, times = told(simu)
      assert.same({ "slide", "leave" }, kinds)
      near({ math.sqrt(2) - 1, 1 }, times, tolerance)
      assert.near(2, ds:x()[1], tolerance)
    end)
  end)
end

describe("EventDriven, first order,", function()
  it("locates events that the step control can not see: a smooth force holds x at 0", function()
    local simu, ds = linear { x0 = { 0.3 }, A = { { 0 } }, b = function(t, _, b) b[1] = 1.5 * math.sin(t) end, C = { { 1 } },
      B = { { 1 } }, T = 10 }
    simu:run()
    local kinds, times = told(simu)
    assert.same({ "slide", "leave", "slide", "leave", "slide", "leave", "slide" }, kinds)
    near({ 0.4480775326360005, 0.7297276562269663, 3.3231163036778026, 3.8713203098167597, 6.464708957267596, 7.012912963406553,
      9.60630161085739 }, times, 1e-12)
    assert.near(0, ds:x()[1], 1e-15)
  end)

  it("does not depend on the grid", function()
    for _, h in ipairs { 4, 1, 0.25 } do
      local simu, ds = linear { x0 = { 0, 1 }, A = { { 0, 1 }, { 0, 0 } }, b = function(t, _, b) b[2] = math.sin(3 * t) end,
        C = { { 0, 1 } }, B = { { 0 }, { 0.5 } }, T = 4, h = h }
      simu:run()
      local kinds, times = told(simu)
      assert.same({ "slide", "leave", "cross" }, kinds)
      near({ 2.017609848283204, 2.2689280275926285, 3.366662407757486 }, times, 1e-12)
      near({ 1.764126324707501, -0.22480791227718935 }, ds:x(), 1e-12)
    end
  end)

  -- The simulation of a file in spec/cases, from event to event, after its run.
  local function case(name)
    local simu, _
    expect.with(ns, "TimeStepping", function(nsds, td) return ns.EventDriven(nsds, td, ns.RungeKuttaOSI()) end, function()
      _, simu = assert(loadfile("spec/cases/" .. name .. ".lua"))()()
    end)
    return simu
  end

  it("keeps sliding from one step of the grid to the next: six relays on six states end in six slides", function()
    local kinds = told(case "coupled_relays")
    assert.same({ "slide", "slide", "slide", "slide", "slide", "slide" }, kinds)
  end)

  it("commutates a bridge of four diodes 16 times", function()
    local count = {}
    for _, e in ipairs(case "diode_bridge":events()) do count[e.kind] = (count[e.kind] or 0) + 1 end
    assert.same({ open = 32, close = 32 }, count)
  end)

  it("passes over an accumulation: infinitely many crossings until t = 1", function()
    local simu, ds, inter = linear { x0 = { 1, 1 }, A = ns.zeros(2, 2), C = ns.eye(2), B = { { 1, -2 }, { 2, 1 } }, T = 2,
      name = "spiral" }
    simu:run()
    assert.same({ 0, 0 }, ds:x():totable())
    assert.same({ 0, 0 }, inter:lambda(0):totable())
    local last
    for k, e in ipairs(simu:events()) do
      if k <= 20 then
        assert.equal("cross", e.kind)
        assert.near(1 - 2 / 3 * 3.0 ^ (1 - k), e.t, 1e-14)
      end
      last = e
    end
    assert.equal("accumulation", last.kind)
    assert.near(1, last.t, 1e-12)
  end)

  it("ends sliding where the surface is tangential to what lambda can do, in any unit: bang-bang into a rest", function()
    -- x' = v - w, v' = -s, s in Sgn(x + (v - w) |v - w| / (2 a)), a < 1: slides into (0, w), where s jumps from a to 0 and lambda
    -- of the rate of y is |v - w| / a.
    local function rests(a, w, h, osi, unit)
      local ds, calls = ns.FirstOrderLinearTIDS({ unit, 0.5 + w }, { { 0, unit }, { 0, 0 } }, { -w * unit, 0 }), 0
      local nsds = ns.NonSmoothDynamicalSystem(0, 4)
      nsds:insertDynamicalSystem(ds)
      local inter = ns.Interaction(ns.RelayNSL(1), ns.FirstOrderNonLinearR { h = function(_, x, _, _, y)
        calls = calls + 1
        y[1] = x[1] / unit + (x[2] - w) * math.abs(x[2] - w) / (2 * a)
      end, g = function(_, _, lambda, _, r) r[2] = lambda[1] end })
      nsds:link(inter, ds)
      ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), osi):run()
      assert.near(0, ds:x()[1] / unit, 1e-15)
      assert.near(w, ds:x()[2], 1e-15)
      assert.near(0, inter:lambda(0)[1], 1e-9)
      assert.is_true(calls < 200000)
    end
    for _, h in ipairs { 0.25, 4 } do
      for _, w in ipairs { 0, 1 / 3 } do
        for _, rtol in ipairs { 1e-6, 1e-12 } do rests(0.8, w, h, ns.RungeKuttaOSI(rtol), 1) end
        rests(0.8, w, h, ns.RadauOSI(), 2.0 ^ -30)
      end
    end
  end)

  it("passes over accumulations of rows whose rates vanish there, near t = 0 and far from it", function()
    for _, h in ipairs { 10, 0.1 } do
      local simu, ds = linear { x0 = { 1, 0 }, A = { { 0, 1 }, { 0, 0 } }, C = ns.eye(2), B = { { 0, 0 }, { 5, 3 } },
        T = 10, h = h }
      simu:run() -- x'' = -5 sign(x) - 3 sign(x'): twisting, at rest at t = 2.5
      local events = simu:events()
      assert.equal("accumulation", events[#events].kind)
      assert.near(2.5, events[#events].t, 1e-12)
      assert.same({ 0, 0 }, ds:x():totable())
    end
    for _, t0 in ipairs { -1, 1e6 } do
      local ds = ns.FirstOrderLinearTIDS({ 1, 1 }, ns.zeros(2, 2))
      local nsds = ns.NonSmoothDynamicalSystem(t0, t0 + 2)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(2), ns.FirstOrderLinearTIR(ns.eye(2), { { 1, -2 }, { 2, 1 } })), ds)
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(t0, 2), ns.RungeKuttaOSI())
      simu:run()
      local events = simu:events()
      assert.equal("accumulation", events[#events].kind)
      assert.near(t0 + 1, events[#events].t, 1e-12 + 4e-16 * math.abs(t0))
      assert.same({ 0, 0 }, ds:x():totable())
    end
  end)

  it("passes over the accumulation of twisting for any gains, whatever the grid", function()
    for _, K in ipairs { { 5, 3 }, { 1.7937793861358, 0.47004531098943 }, { 2.0818620093242, 0.44040315844078 } } do
      for _, osi in ipairs { ns.RungeKuttaOSI(1e-6), ns.RadauOSI(1e-6), ns.RadauOSI(1e-8), ns.RadauOSI(1e-10) } do
        for _, h in ipairs { 20, 0.1 } do
          local simu, ds = linear { x0 = { 1, 0 }, A = { { 0, 1 }, { 0, 0 } }, C = ns.eye(2), B = { { 0, 0 }, K }, T = 20,
            h = h, osi = osi }
          simu:run()
          local events = simu:events()
          assert.equal("accumulation", events[#events].kind)
          -- From 1 at rest to the next rest, at -rho; then both times and places shrink.
          local fall, rise = K[1] - K[2], K[1] + K[2]
          local first, ratio = math.sqrt(2 / fall) + math.sqrt(2 * fall) / rise, math.sqrt(fall / rise)
          assert.near(first / (1 - ratio), events[#events].t, 1e-5)
          assert.same({ 0, 0 }, ds:x():totable())
        end
      end
    end
  end)

  it("keeps its order through a switch, at little cost", function()
    local w, calls = 2 * math.pi, 0
    local ds = ns.FirstOrderLinearTIDS({ math.exp(-1), 0 }, ns.eye(2))
    local disc = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = 1 - x[1] ^ 2 - x[2] ^ 2 end,
      g = function(_, x, lambda, _, r)
        calls = calls + 1
        r[1], r[2] = -w * lambda[1] * x[2], w * lambda[1] * x[1]
      end,
    }
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1), disc, "disc"), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 2), ns.RungeKuttaOSI(1e-12))
    simu:run()
    near({ math.exp(1), 0 }, ds:x(), 1e-10)
    assert.near(1, simu:events()[1].t, 1e-11)
    assert.is_true(calls < 2500)
  end)

  it("tells a motion that is not unique, and takes the one that is asked for", function()
    local function repelled(rule)
      local osi = ns.RungeKuttaOSI()
      osi:setAmbiguity(rule)
      return linear { x0 = { 0 }, A = { { 0 } }, C = { { 1 } }, B = { { -1 } }, T = 1, osi = osi }
    end
    local simu = repelled "error"
    assert.truthy(message(simu.run, simu):find("the next mode is not unique at t=0: ", 1, true))
    for rule, x in pairs { stay = 0, up = 1, down = -1, leave = 1 } do
      local run, ds = repelled(rule)
      run:run()
      assert.near(x, ds:x()[1], 1e-14)
    end
  end)

  -- Two rows slide with lambda = (-t, -0.16) until lambda[1] is at its bound, at t = 1. There the second row may leave, too,
  -- although its lambda is between its bounds: with lambda = (1, 1), dy/dt is (-0.36, -9.88); with the first row sliding,
  -- lambda[1] is 0.856.
  it("tells where a row leaves, and another one that slides may leave in the same moment", function()
    local function slides(rule, make)
      local osi = make()
      osi:setAmbiguity(rule)
      local ds = ns.FirstOrderLinearTIDS({ 0, 0, 0 }, { { 0, 0, -2.5 }, { 0, 0, -9 }, { 0, 0, 0 } }, { 0.64, 1.12, 1 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1.2)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), ns.FirstOrderLinearTIR({ { 1, 0, 0 }, { 0, 1, 0 } },
        { { -2.5, 4 }, { -9, 7 }, { 0, 0 } }), "relays"), ds)
      local class = make == ns.FESDOSI and "TimeStepping" or "EventDriven"
      return ns[class](nsds, ns.TimeDiscretisation(0, 0.3), osi), ds
    end
    for _, make in ipairs { ns.RungeKuttaOSI, ns.RadauOSI, ns.FESDOSI } do
      local simu = slides("error", make)
      assert.truthy(message(simu.run, simu):find("the next mode is not unique at t=1: 'relays'[1] y < 0 and 'relays'[2] y < 0; "
        .. "'relays'[1] slides (y = 0) and 'relays'[2] y < 0; 'relays'[1] y > 0 and 'relays'[2] slides (y = 0)", 1, true))
      -- dy[1]/dt is 37 / 14 (t - 1) where only the first row leaves.
      for rule, x in pairs { stay = { 0.37 / 7, 0 }, up = { 0.37 / 7, 0 }, down = { -0.122, -2.156 } } do
        local run, ds = slides(rule, make)
        run:run()
        assert.near(x[1], ds:x()[1], 1e-9)
        assert.near(x[2], ds:x()[2], 1e-9)
      end
    end
  end)

  it("sees a clutch slip where its capacity dips for a moment, whatever the grid is", function()
    local rng = ns.rng(4)
    for trial = 1, campaign(3, 0.01) do
      local at, width, depth = rng:uniform(20, 80), rng:uniform(0.3, 1), rng:uniform(4.2, 4.8)
      local function capacity(t) return 5 - depth * math.exp(-((t - at) / width) ^ 2) end
      for _, h in ipairs { 2, 50, 100 } do
        local shafts = ns.FirstOrderLinearTIDS({ 0, 0 }, ns.zeros(2, 2), { 2, 0 })
        local nsds = ns.NonSmoothDynamicalSystem(0, 100)
        nsds:insertDynamicalSystem(shafts)
        nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearR { C = { { -1, 1 } },
          B = function(t, _, B) B[1][1], B[2][1] = -capacity(t), capacity(t) end }, "clutch"), shafts)
        local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), trial % 2 == 0 and ns.RadauOSI() or ns.RungeKuttaOSI())
        simu:run()
        local kinds, times = told(simu)
        assert.same({ "leave", "slide" }, kinds)
        assert.near(at - width * math.sqrt(math.log(depth / 4)), times[1], 1e-8)
        assert.near(100, shafts:x()[1], 1e-8)
      end
    end
  end)

  it("ends a run with too many events", function()
    local osi = ns.RungeKuttaOSI()
    osi:setMaxEvents(3)
    local simu = linear { x0 = { 0, 1 }, A = { { 0, 1 }, { -1, 0 } }, C = { { 1, 0 } }, B = { { 0 }, { 0.4 } }, T = 20, osi = osi }
    assert.truthy(message(simu.run, simu):find("EventDriven: more than 3 events in a step of the grid", 1, true))
  end)

  it("takes models with mechanics beside", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local ball = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ball:setFExtPtr { -9.81 }
    local tank = ns.FirstOrderLinearTIDS({ 0.5 }, { { 0 } })
    nsds:insertDynamicalSystem(ball)
    nsds:insertDynamicalSystem(tank)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }, "floor"), ball)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "valve"), tank)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    local before = simu:energy()
    assert.near(9.81, before.total, 1e-14)
    simu:run()
    local account = simu:energy()
    assert.near(-15 / 16 * 9.81, account.impacts + account.numerical, 1e-9)
    assert.near(account.total - before.total, account.impacts + account.forces + account.numerical, 1e-11)
    local kinds, times = told(simu)
    assert.same({ "impact", "slide", "impact" }, kinds)
    near({ math.sqrt(2 / 9.81), 0.5, 2 * math.sqrt(2 / 9.81) }, times, 1e-12)
    assert.equal(0, tank:x()[1])
  end)

  it("refuses what it can not take", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.NormalConeNSL(1, { { 1 } }, { 0 }), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "cone"), ds)
    assert.equal("interaction 'cone': EventDriven takes laws with a lower and an upper bound for each lambda; " ..
      "use TimeStepping for a NormalConeNSL",
      message(ns.EventDriven, nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI()))
    local ball = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
    ball:setName "ball"
    nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    assert.equal("RadauOSI: dynamical system 'ball' is a mechanical one; use RungeKuttaOSI",
      message(ns.EventDriven, nsds, ns.TimeDiscretisation(0, 1), ns.RadauOSI()))
  end)
end)
