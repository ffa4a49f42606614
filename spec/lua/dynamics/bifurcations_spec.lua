-- ns.dynamics.continuation: period doublings and their branches, Neimark-Sacker bifurcations, walls that graze at once, the start.
local expect = require "expect"
local near, fails = expect.near_number, expect.fails
local ns = require "nslua"
local dynamics = ns.dynamics

local function kinds(branch)
  local list = {}
  for i, one in ipairs(branch.bifurcations) do list[i] = one.kind end
  return list
end

-- A ball on a table that moves by A sin(2 pi t), gravity 1, restitution e. The derivative of the map from impact to impact gives
-- the period doubling of the orbit with one impact in a period in closed form.
describe("a ball on a shaking table #once", function()
  local e, w = 0.5, 2 * math.pi
  local doubling = math.sqrt((2 * (1 + e * e) / (1 + e) ^ 2) ^ 2 + (math.pi * (1 - e) / (1 + e)) ^ 2) / w ^ 2

  local function ball(more)
    more.rhs = function(_, x) return { x[2], -1 } end
    more.events = { name = "table", direction = -1, g = function(t, x, A) return x[1] - A * ns.sin(w * t) end,
      apply = function(t, x, A) return { x[1], (1 + e) * A * w * ns.cos(w * t) - e * x[2] } end }
    more.period, more.t0 = 1, 0.5
    return more
  end

  it("doubles its period at the known amplitude; the new branch is that of long runs", function()
    local phase = math.acos((1 - e) / (1 + e) / 2 / (0.035 * w)) / w -- of the impact at A = 0.035
    local branch = dynamics.continuation(ball { range = { 0.035, 0.045 }, transient = 60, args = { 0.035 },
      guess = { 0.035 * math.sin(w * phase) + 0.5 * (0.5 - phase) - (0.5 - phase) ^ 2 / 2, 0.5 - (0.5 - phase) } })
    assert.same({ "period doubling" }, kinds(branch))
    near(doubling, branch.bifurcations[1].p, 1e-11)
    local m = branch.points[1].multipliers
    near(e * e, m[1].abs * m[2].abs, 1e-10)
    local second = branch:switch(nil, { max_points = 12 })
    local point
    for _, one in ipairs(second.points) do
      if one.stable and #one.orbit.events == 2 then point = one end
    end
    near(2, point.T, 1e-15)
    local run = ns.solve_ivp(function(_, x) return { x[2], -1 } end, { 0.5, 100.5 }, point.x0 * 1.0001, { method = "DOP853",
      rtol = 1e-12, atol = 1e-14, args = { point.p }, t_eval = { 99.5, 100.5 }, events = ball {}.events })
    local a, b = run.y:column(1), run.y:column(2)
    near(point.x0[1], b[1], 1e-8)
    near(point.x0[2], b[2], 1e-8)
    assert.is_true(math.abs(a[2] - b[2]) > 1e-3)
  end)
end)

-- The delayed logistic map (x, y) -> (a x (1 - y), x) as a jump in each period. Its fixed point x = 1 - 1/a has the multipliers
-- exp(+-i pi / 3) at a = 2.
describe("a map whose multipliers cross the circle #once", function()
  it("has its Neimark-Sacker bifurcation at a = 2", function()
    local branch = dynamics.continuation { rhs = function() return { 0, 0 } end, args = { 1.7 }, range = { 1.7, 2.1 }, period = 1,
      guess = { 0.41, 0.41 }, scale = { 1, 1 },
      events = { name = "jump", direction = 1, g = function(t) return -ns.cos(2 * math.pi * t + 1) end,
        apply = function(_, x, a) return { a * x[1] * (1 - x[2]), x[1] } end } }
    assert.same({ "Neimark-Sacker" }, kinds(branch))
    local found = branch.bifurcations[1]
    near(2, found.p, 1e-9)
    near(0.5, found.x0[1], 1e-9)
    near(0.5, found.multipliers[1].re, 1e-8)
    near(math.sqrt(3) / 2, found.multipliers[1].im, 1e-8)
    assert.is_true(branch.points[1].stable)
    assert.is_false(branch.points[#branch.points].stable)
  end)
end)

describe("two walls that the orbit touches at once #once", function()
  local w, damping = 0.7, 0.1

  local function walls(side)
    return { name = side > 0 and "right" or "left", direction = -1, g = function(_, x) return 1 - side * x[1] end,
      apply = function(_, x) return { x[1], -0.7 * x[2] } end }
  end

  local function branch_of(step)
    return dynamics.continuation { guess = { 0, 0.3 }, period = 2 * math.pi / w, events = { walls(1), walls(-1) }, step = step,
      rhs = function(t, x, A) return { x[2], A * math.cos(w * t) - x[1] - damping * x[2] } end, range = { 0.3, 0.8 },
      max_step = 4 * step }
  end

  it("are found as one grazing; the orbits beyond hit one wall, then both; with large steps, too #long", function()
    local branch, large = branch_of(1 / 64), branch_of(1 / 8)
    assert.same(kinds(branch), kinds(large))
    for i, one in ipairs(large.bifurcations) do near(branch.bifurcations[i].p, one.p, 1e-10) end
    local touch = math.sqrt((1 - w * w) ^ 2 + (damping * w) ^ 2)
    assert.same({ "grazing", "period doubling", "grazing", "fold", "branch point", "fold", "grazing", "period doubling",
      "grazing" }, kinds(branch))
    local found = branch.bifurcations
    near(touch, found[1].p, 1e-10)
    assert.equal("left right", found[1].events)
    assert.same({ "left", { "right", "left right" } }, { found[1].after, found[1].others })
    near(touch, found[9].p, 1e-10)
    -- The second half of the branch is the mirror image of the first: they meet where the orbit is its own mirror image. There
    -- the branch of the symmetric orbits crosses.
    for i = 2, 4 do near(found[i].p, found[10 - i].p, 1e-10) end
    local half = dynamics.continuation { guess = found[5].x0, period = 2 * math.pi / w, events = { walls(1), walls(-1) },
      rhs = function(t, x, A) return { x[2], A * math.cos(w * t) - x[1] - damping * x[2] } end, range = { 0.72, 0.7 },
      symmetry = { { -1, 0 }, { 0, -1 } } }
    assert.same({ "symmetry breaking" }, kinds(half))
    near(half.bifurcations[1].p, found[5].p, 1e-9)
    for i = 2, #branch.points do -- no jump to another branch
      assert.is_true(math.abs(branch.points[i].p - branch.points[i - 1].p) < 0.04)
    end
    assert.equal("the end of the range, p = 0.3", branch.message)
  end)
end)

-- With a law of friction in space the same walls have no equations of a fixed sequence: shooting finds the stable orbits that hit
-- both walls, which are no part of the branch that comes to the grazing.
describe("an orbit of another branch #once", function()
  local function oscillator(A)
    local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 } }, { { 0.1 } })
    mass:setComputeFExtFunction(function(t, _, f) f[1] = A * math.cos(0.7 * t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 40)
    nsds:insertDynamicalSystem(mass)
    for i, name in ipairs { "right", "left" } do
      local relation = ns.LagrangianLinearTIR({ { 2 * i - 3 }, { 0 }, { 0 } }, { 1, 0, 0 })
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0.7, 0, 0.1, 3), relation, name), mass)
    end
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
  end

  it("is not taken beyond a grazing #long", function()
    local branch = dynamics.continuation { simulation = oscillator, guess = { 0.4641, 0.4311 }, period = 2 * math.pi / 0.7,
      range = { 0.65, 0.7 }, value = 0.666, step = 1 / 16 }
    assert.same({ "grazing" }, kinds(branch))
    near(0.669849046893, branch.bifurcations[1].p, 1e-10)
    assert.is_true(branch.p:max() < 0.66985)
    assert.matches("could not be followed beyond p = 0.6698", branch.message, 1, true)
  end)
end)

-- The oscillator of dynamics_spec.lua as a simulation; k: the number of new units of length in an old one, c that of time.
describe("impacts of a simulation #once", function()
  local function oscillator(phase, k, c)
    return function(A)
      local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 / c ^ 2 } }, { { 0.1 / c } })
      mass:setComputeFExtFunction(function(t, _, f) f[1] = A * k / c ^ 2 * math.cos(t / c + phase) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 20 * c)
      nsds:insertDynamicalSystem(mass)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR({ { -1 } }, { k }), "wall"), mass)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, c), ns.RungeKuttaOSI())
    end
  end

  it("are followed through a fold, in any units", function()
    local k, c = 2 ^ -20, 2 ^ 10
    local branch = dynamics.continuation { simulation = oscillator(0, k, c), guess = { 0.0262 * k, 0.998358 * k / c },
      period = 2 * math.pi * c, range = { 0.1003, 0.0998 }, value = 0.09997203, step = 1 / 16, max_points = 7 }
    near(0.8 ^ 2 * math.exp(-0.2 * math.pi), branch.points[1].multipliers[1].abs * branch.points[1].multipliers[2].abs, 1e-8)
    assert.same({ "fold" }, kinds(branch))
    near(0.0999707536283, branch.bifurcations[1].p, 1e-11) -- that of the same oscillator as an ODE
    assert.equal("a fixed sequence of events of a simulation", branch.bifurcations[1].orbit.derivative_message)
    assert.same({ true, false }, { branch.points[1].stable, branch.points[#branch.points].stable })
  end)

  it("are followed beside a system of first order, which goes its own way", function()
    local function simulation(A)
      local simu, lag = oscillator(0, 1, 1)(A), ns.FirstOrderLinearDS({ 0 }, { { -1 } }, { 0 })
      lag:setComputebFunction(function(t, _, b) b[1] = math.cos(t) end)
      simu:nsds():insertDynamicalSystem(lag)
      return simu
    end
    local branch = dynamics.continuation { simulation = simulation, guess = { 0.0262, 0.998358, 0.5 },
      period = 2 * math.pi, range = { 0.1003, 0.0998 }, value = 0.09997203, step = 1 / 16, max_points = 7 }
    assert.same({ "fold" }, kinds(branch))
    near(0.0999707536283, branch.bifurcations[1].p, 1e-11)
    near(0.5, branch.bifurcations[1].x0[3], 1e-10)
    assert.equal("a fixed sequence of events of a simulation", branch.bifurcations[1].orbit.derivative_message)
  end)

  it("pass the start of the orbit", function()
    local branch = dynamics.continuation { simulation = oscillator(0.0759, 1, 1), guess = { 0.999, -1.36 }, period = 2 * math.pi,
      range = { 1.005, 0.99 } }
    assert.same({}, kinds(branch))
    assert.equal("the end of the range, p = 0.99", branch.message)
    local last = branch.points[#branch.points]
    local orbit = dynamics.periodic { simulation = oscillator(0.0759, 1, 1), value = 0.99, guess = last.x0, period = 2 * math.pi }
    near(orbit.x0[2], last.x0[2], 1e-9)
    near(orbit.multipliers[1].abs, last.multipliers[1].abs, 1e-7)
  end)
end)

-- Friction at the wall acts on a second motion and leaves the first one as it is: the grazing stays where it is.
describe("impacts with friction #once", function()
  it("are followed to the grazing where the orbit repels, in any units #long", function()
    local k, c = 2 ^ -20, 2 ^ 10
    local function oscillator(A)
      local mass = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2), ns.matrix { { 1, 0 }, { 0, 2 } } * (1 / c ^ 2),
        ns.matrix { { 0.1, 0 }, { 0, 0.5 } } * (1 / c))
      mass:setComputeFExtFunction(function(t, _, f)
        f[1], f[2] = A * k / c ^ 2 * math.cos(t / c), 0.4 * k / c ^ 2 * math.sin(t / c)
      end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 20 * c)
      nsds:insertDynamicalSystem(mass)
      local relation = ns.LagrangianLinearTIR({ { -1, 0 }, { 0, 1 } }, { k, 0 })
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0.8, 0, 0.3, 2), relation, "wall"), mass)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, c), ns.RungeKuttaOSI())
    end
    local guess = { 0.0166859 * k, -0.160129 * k, 0.999032 * k / c, 0.319622 * k / c }
    local branch = dynamics.continuation { simulation = oscillator, guess = guess, period = 2 * math.pi * c,
      range = { 0.0998, 0.1003 }, value = 0.09997231, step = 1 / 32, max_points = 10 }
    assert.is_false(branch.points[1].stable)
    local grazing = branch.bifurcations[1]
    assert.same({ "grazing" }, kinds(branch))
    near(0.1, grazing.p, 1e-11)
    assert.same({ "wall:impact", "", "wall" }, { grazing.before, grazing.after, grazing.events })
    local event = grazing.orbit.events[1]
    assert.equal("impact", event.kind)
    near(0, event.velocity_before * c / k, 1e-9)
    assert.equal("a fixed sequence of events of a simulation", grazing.orbit.derivative_message)
  end)
end)

describe("the start of an orbit #once", function()
  local function oscillator(A)
    local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 } }, { { 0.1 } })
    mass:setComputeFExtFunction(function(t, _, f) f[1] = A * math.cos(t + 0.0759) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 20)
    nsds:insertDynamicalSystem(mass)
    local relation = ns.LagrangianLinearTIR({ { -1 }, { 0 }, { 0 } }, { 1, 0, 0 })
    nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0.8, 0, 0.1, 3), relation, "wall"), mass)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
  end

  it("is told where an event comes to it #long", function()
    local branch = dynamics.continuation { simulation = oscillator, guess = { 0.97, -1.6 }, period = 2 * math.pi,
      range = { 1.02, 0.5 }, transient = 100 }
    assert.matches("event 'wall' comes to the start of the orbit, t0 = 0: give another t0", branch.message, 1, true)
    assert.same({}, kinds(branch))
  end)
end)

-- x'' + 0.2 x' + x^3 = A cos t has symmetric orbits x(t + T / 2) = -x(t), which lose their symmetry in a pitchfork.
describe("a pitchfork #once", function()
  local field = ns.compile(function(t, x, A) return { x[2], -x[1] ^ 3 - 0.2 * x[2] + A * math.cos(t) } end)

  local function symmetric(S, k)
    k = k or 1
    local function rhs(t, x, A) return { x[2], -x[1] ^ 3 / (k * k) - 0.2 * x[2] + A * math.cos(t) } end
    return dynamics.continuation { rhs = k == 1 and field or rhs, guess = { k, 0 }, period = 2 * math.pi, range = { k, 4 * k },
      transient = 300, symmetry = S }
  end

  it("is found without its symmetry; both branches that begin there are followed", function()
    local branch, half = symmetric(), symmetric { { -1, 0 }, { 0, -1 } }
    assert.same({ "branch point" }, kinds(branch))
    assert.same({ "symmetry breaking" }, kinds(half))
    local found = branch.bifurcations[1]
    near(half.bifurcations[1].p, found.p, 1e-10)
    near(1, found.multipliers[1].re, 1e-6)
    local one = branch:switch(nil, { side = 1, max_points = 8 })
    local other = branch:switch(1, { side = -1, max_points = 8 })
    local point = one.points[8]
    assert.is_true(point.stable)
    local function at(orbit, t)
      local run = ns.solve_ivp(field, { 0, t }, orbit.x0, { method = "DOP853", rtol = 1e-12, atol = 1e-13,
        args = { orbit.parameter }, t_eval = { t } })
      return run.y:column(1)
    end
    local far = at(point.orbit, math.pi) + point.x0 -- 0 of a symmetric orbit
    assert.is_true(far:norm() > 0.1)
    -- The other one has the mirror images: half a period later, with the other sign.
    local image = dynamics.periodic { rhs = field, guess = other.points[8].x0, period = 2 * math.pi, args = { point.p } }
    near(0, (at(image, math.pi) + point.x0):norm(), 1e-8)
  end)

  it("is the same in other units", function()
    local k = 2 ^ 20
    near(symmetric().bifurcations[1].p * k, symmetric(nil, k).bifurcations[1].p, 1e-9 * k)
  end)

  it("is told from what no branch begins at", function()
    local branch = symmetric()
    branch.bifurcations[2] = { kind = "fold" }
    fails("branch:switch: expected the number of a period doubling or a branch point, got 2, a fold", branch.switch, branch, 2)
    fails("branch:switch: expected a number of a bifurcation, 1 to 2, got 3", branch.switch, branch, 3)
    fails("branch:switch: side: expected 1 or -1, got 'left'", branch.switch, branch, 1, { side = "left" })
    branch.bifurcations = { { kind = "fold" } }
    fails("branch:switch: the branch has no period doubling and no branch point", branch.switch, branch)
    branch.bifurcations = {}
    fails("branch:switch: the branch has no bifurcations", branch.switch, branch, 1)
  end)
end)

-- The oscillator of dynamics_spec.lua: between its fold and its grazing, whose parameters differ by 3e-5, an orbit repels so much
-- that shooting comes to it from very near guesses only. A range of 7e-5 makes the fold a sharp turn.
describe("an orbit close to a grazing #once", function()
  it("is found by its sequence of events, and followed around a fold that is narrow in its range", function()
    local wall = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
      apply = function(_, x) return { x[1], -0.8 * x[2] } end }
    local function rhs(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.1 * x[2] } end
    local guess = { 0.00869, 0.99953 }
    local orbit = dynamics.periodic { rhs = rhs, events = wall, guess = guess, args = { 0.099981748 }, period = 2 * math.pi }
    assert.equal("wall", orbit.sequence)
    assert.is_false(orbit.stable)
    local branch = dynamics.continuation { rhs = rhs, events = wall, guess = guess, period = 2 * math.pi,
      range = { 0.099981748, 0.09991 }, args = { 0 }, step = 1 / 8, max_step = 1 / 2 }
    assert.same({ "fold" }, kinds(branch))
    near(0.0999707536283, branch.bifurcations[1].p, 1e-11)
    assert.is_true(branch.points[#branch.points].stable)
  end)
end)
