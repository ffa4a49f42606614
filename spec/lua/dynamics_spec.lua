-- ns.dynamics: orbits, branches, sections, diagrams and exponents against closed forms and known values.
local cycles = require "cycles"
local expect = require "expect"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, raises = expect.near_number, expect.fails

local impact_oscillator = cycles.impact_oscillator

local TURN = 2 * math.pi

-- The oscillator with a wall, as an ODE: x'' + 0.1 x' + x = A cos t, x <= 1, restitution 0.8. Time and states may
-- have other units: k is the number of new units of x in an old one, c that of time.
local function wall(k, c)
  k, c = k or 1, c or 1
  return { direction = -1, name = "wall", g = function(_, x) return k - x[1] end,
    apply = function(_, x) return { x[1], -0.8 * x[2] } end }, function(t, x, A)
    return { x[2], (k * A * math.cos(t / c) - x[1] - 0.1 * c * x[2]) / (c * c) }
  end
end

describe("periodic", function()
  local event, f = wall()

  it("finds the orbit of the impact oscillator, from a simulation and from an ODE", function()
    for _, orbit in ipairs {
      dynamics.periodic { simulation = impact_oscillator, value = 1, guess = { 0.9, 1.6 }, period = TURN },
      dynamics.periodic { rhs = f, events = event, args = { 1 }, guess = { 0.9, 1.6 }, period = TURN, segments = 3 },
    } do
      near(0.8708351574636171, orbit.x0[1], 1e-12)
      near(1.7038211363751643, orbit.x0[2], 1e-12)
      near(0.341432378, orbit.multipliers[1].abs * orbit.multipliers[2].abs, 1e-9)
      near(-0.5842953143415296, orbit.multipliers[1].re, 1e-8)
      near(0.0056003514924735575, orbit.multipliers[1].im, 1e-7)
      assert.equal(1, #orbit.events)
      near(0.07595216493831239, orbit.events[1].t, 1e-11)
      near(1.695732937594882, orbit.events[1].before[2], 1e-11)
      near(-1.3565863500759057, orbit.events[1].after[2], 1e-11)
      assert.is_true(orbit.stable)
    end
  end)

  it("sees the same orbit in other units of states and time, to the last bit", function()
    local orbit = dynamics.periodic { rhs = f, events = event, args = { 1 }, guess = { 0.9, 1.6 }, period = TURN }
    local k, c = 2 ^ -30, 2 ^ 20
    local other_event, g = wall(k, c)
    local other = dynamics.periodic { rhs = g, events = other_event, args = { 1 }, guess = { 0.9 * k, 1.6 * k / c },
      period = TURN * c }
    assert.equal(orbit.x0[1] * k, other.x0[1])
    assert.equal(orbit.x0[2] * k / c, other.x0[2])
    assert.equal(orbit.multipliers[1].re, other.multipliers[1].re)
  end)

  it("finds van der Pol's cycle with a section and with an unknown phase", function()
    local function vdp(_, x) return { x[2], (1 - x[1] ^ 2) * x[2] - x[1] } end
    local a = dynamics.periodic { rhs = vdp, guess = { 2, 0 }, section = function(_, x) return x[2] end }
    local b = dynamics.periodic { rhs = vdp, guess = { 2, 0 }, autonomous = true, period = 6.6, segments = 2 }
    near(6.663286859323, a.T, 1e-10)
    near(a.T, b.T, 1e-10)
    near(2.00861986087, math.abs(a.x0[1]), 1e-9)
    assert.equal(1, #a.multipliers)
    near(0.000859695, a.multipliers[1].re, 1e-8)
    near(1, a.trivial.re, 1e-8)
  end)

  it("has exact multipliers of a walker, whose section is an event that acts", function()
    local found = {}
    for i, direction in ipairs { "up", "both" } do
      local heel = { name = "heel", direction = i == 1 and 1 or 0, g = function(_, x) return x[3] - 2 * x[1] end,
        apply = function(_, x)
          if x[1] > -0.05 then return x end -- the swing leg passes the other
          local c = ns.cos(2 * x[1])
          return { -x[1], c * x[2], -2 * x[1], c * (1 - c) * x[2] }
        end }
      found[i] = dynamics.periodic { rhs = cycles.walker, args = { 0.009 }, events = heel, section = "heel", period = 3.9,
        guess = { 0.2003, -0.1998, 0.4006, -0.0158 } }
      assert.equal("exact", found[i].derivative, direction)
    end
    near(0.20031090054424708, found[1].x0[1], 1e-11)
    near(3.882463752851374, found[1].T, 1e-11)
    near(-0.19009985, found[1].multipliers[1].re, 2e-8)
    near(0.55759874, found[1].multipliers[1].im, 5e-8)
    near(found[1].multipliers[1].re, found[2].multipliers[1].re, 1e-11)
  end)

  it("tells how derivatives were found, and takes those of {object, field} from the run", function()
    local law, mass = ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 } }, { { 0.1 } })
    mass:setComputeFExtFunction(function(t, _, force) force[1] = math.cos(t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 20)
    nsds:insertDynamicalSystem(mass)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { -1 } }, { 1 }), "wall"), mass)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    local branch = dynamics.continuation { simulation = simu, parameter = { law, "en" }, guess = { 0.87, 1.7 }, period = TURN,
      range = { 0.8, 0.75 }, max_points = 3 }
    for _, point in ipairs(branch.points) do
      assert.equal("exact", point.orbit.derivative)
      assert.equal("exact", point.parameter_derivative)
      local m = point.multipliers
      near(point.p ^ 2 * math.exp(-0.1 * TURN), m[1].abs * m[2].abs, 1e-9)
    end
    local silent = { name = "zero", g = function(_, x) return x[1] end }
    local orbit = dynamics.periodic { rhs = f, events = { event, silent }, args = { 1 }, guess = { 0.9, 1.6 }, period = TURN }
    assert.equal("differences", orbit.derivative)
    assert.equal("an event of the model does not act", orbit.derivative_message)
  end)

  it("leaves out a state that drifts", function()
    local function rolling(_, x) return { 1 + 0.5 * x[3], x[3], -x[2] + (1 - x[2] ^ 2) * x[3] } end
    local orbit = dynamics.periodic { rhs = rolling, guess = { 0, 2, 0 }, autonomous = true, period = 6.6, drift = { 1 } }
    near(orbit.T, orbit.drift[1], 1e-9)
    near(0, orbit.drift[2], 1e-10)
    assert.equal(1, #orbit.multipliers)
  end)

  -- Two rotors and a spring: the torque depends on the difference of the angles. The mean power balance gives the mean drift.
  it("takes states that drift together, and refuses a motion that depends on where they are", function()
    local function rotors(t, x, k)
      local twist = k * (x[1] - x[3])
      return { x[2], 3 + 4 * math.sin(TURN * t) - twist - x[2], x[4], twist / 2 - 0.2 * x[4] }
    end
    local model = { rhs = rotors, args = { 30 }, guess = { 0, 2, 0, 2 }, period = 1 }
    local function orbit(drift, segments)
      model.drift, model.segments = drift, segments
      return dynamics.periodic(model)
    end
    for segments = 1, 2 do
      local o = orbit({ { 1, 3 } }, segments)
      near(3 / 1.4, o.drift[1], 1e-9) -- torques, over a period: 3 = d w1 + 2 * 0.2 w2 of one mean speed
      near(o.drift[1], o.drift[3], 1e-10)
      assert.equal(3, #o.multipliers)
      local other = ns.solve_ivp(rotors, { 0, 1 }, o.x0 + ns.vector { 5, 0, 5, 0 }, { args = { 30 }, rtol = 1e-11, atol = 1e-11 })
      near(o.x0[2], other.y[2][#other.t], 1e-8)
    end
    local slope, near_by = orbit({ { 1, 3 } }):slope().x0, 1e-3
    model.args = { 30 + near_by }
    local right = orbit({ { 1, 3 } }).x0
    model.args = { 30 - near_by }
    local difference = (right - orbit({ { 1, 3 } }).x0) / (2 * near_by)
    for i = 2, 4 do near(difference[i], slope[i], 1e-6) end
    raises("drift: the motion depends on where these states are: in the next period state ", orbit, { 1, 3 })
  end)

  it("takes an angle that turns while the motion depends on it", function()
    local function pendulum(_, x, A) return { x[2], A - math.sin(x[1]) - 0.3 * x[2] } end
    local function orbit(drift)
      return dynamics.periodic { rhs = pendulum, args = { 1.2 }, guess = { 0, 4 }, transient = 20, autonomous = true, period = 1.6,
        drift = drift }
    end
    local o = orbit { { 1, by = TURN } }
    near(TURN, o.drift[1], 1e-10)
    near(math.exp(-0.3 * o.T), o.multipliers[1].abs, 1e-8) -- Liouville
    raises("drift: the motion depends on where these states are: in the next period state ", orbit, { 1 })
    for _, wrong in ipairs { { { 1, by = "x" } }, { { 3 } } } do
      raises("dynamics.periodic: drift: ", orbit, wrong)
    end
  end)

  it("tells families of orbits, and a state that keeps its value", function()
    local family = "the Jacobian is singular: orbits are a family there, as in a conservative system"
    local function pendulum(_, x) return { x[2], -math.sin(x[1]) } end
    local function resonant(t, x) return { x[2], math.cos(t) - x[1] } end
    raises(family, dynamics.periodic, { rhs = pendulum, guess = { 1, 0 }, autonomous = true, period = 6.7 })
    raises(family, dynamics.periodic, { rhs = resonant, guess = { 1, 0 }, period = TURN })
    local function driven(t, x) return { x[2], x[3] * math.cos(t) - x[1] - 0.1 * x[2], 0 } end
    raises("the Jacobian is singular: state 3 returns to whatever value it has, and drift = { 3 } leaves it out",
      dynamics.periodic, { rhs = driven, guess = { 0, 1, 1 }, period = TURN })
    near(10, dynamics.periodic { rhs = driven, guess = { 0, 1, 1 }, period = TURN, drift = { 3 } }.x0[2], 1e-9)
  end)

  it("says what is wrong", function()
    local function wrong(message, more)
      local o = { rhs = function(_, x) return { x[2], -x[1] } end, guess = { 1, 0 }, period = 6 }
      for name, value in pairs(more) do o[name] = value end
      raises("dynamics.periodic: " .. message, dynamics.periodic, o)
    end
    wrong("rhs: expected 2 numbers from f(t, x), got 1", { rhs = function() return { 1 } end })
    wrong("rhs: expected 2 numbers from f(t, x), got 'x'", { rhs = function() return "x" end })
    wrong("rhs: f(t, x)[1] is nan at t = 0, too large or no number for a motion from there",
      { rhs = function() return { 0 / 0, 1 } end })
    wrong("period: expected a number above 0 of the function, got nan", { period = function() return 0 / 0 end })
    wrong("drift: expected a list of numbers of states, got 'x'", { drift = "x" })
    wrong("drift: expected numbers of states, and by, got 'dy'", { drift = { { 1, dy = 1 } } })
    wrong("tol: expected a finite number, at least 0, got nan", { tol = 0 / 0 })
    wrong("t0: expected a finite number, got inf", { t0 = 1 / 0 })
    wrong("transient: expected a finite number, at least 0, got -1", { transient = -1 })
    wrong("max_iterations: expected an integer of 1 or more, got 0", { max_iterations = 0 })
    wrong("segments: expected at most 2048 for 2 states, got 1000000: the equations are one full matrix", { segments = 1000000 })
    wrong("the motion from the guess needs more than 100000 steps up to t = 10", { period = 1e300 })
    wrong("transient: expected at most 1e+06 periods of 6, got 1e+300", { transient = 1e300 })
    raises("solve_ivp: rtol: expected 0 or more, got -1.0", dynamics.periodic,
      { rhs = function(_, x) return { x[2], -x[1] } end, guess = { 1, 0 }, period = 6, rtol = -1 })
    raises("dynamics.periodic: expected simulation = or rhs =, got neither", dynamics.periodic, { guess = { 1 }, period = 1 })
    raises("dynamics.periodic: rhs: expected a function f(t, x), got 3", dynamics.periodic, { rhs = 3, guess = { 1 }, period = 1 })
    raises("dynamics.periodic: guess: expected the states, got nil", dynamics.periodic, { rhs = f, period = 1 })
    raises("dynamics.periodic: guess: expected the states, got an empty list", dynamics.periodic,
      { rhs = f, guess = {}, period = 1 })
    raises("dynamics.periodic: section: count: it goes with the name of an event, not with a function", dynamics.periodic,
      { rhs = f, guess = { 1, 2 }, section = { print, count = 2 } })
    raises("dynamics.periodic: expected period =, section =, or autonomous = true with a guess of the period",
      dynamics.periodic, { rhs = f, guess = { 1, 2 } })
    raises("dynamics.periodic: period: autonomous = true needs a guess of the period", dynamics.periodic,
      { rhs = f, guess = { 1, 2 }, autonomous = true })
    raises("dynamics.periodic: period: expected a number above 0", dynamics.periodic, { rhs = f, guess = { 1, 2 }, period = -1 })
    raises("dynamics.periodic: drift: expected numbers of states from 1 to 2, got 3", dynamics.periodic,
      { rhs = f, guess = { 1, 2 }, period = 1, drift = { 3 } })
    raises("dynamics.periodic: section: there is no event 'floor'", dynamics.periodic,
      { rhs = f, args = { 1 }, guess = { 1, 2 }, section = "floor" })
    raises("dynamics.periodic: section: direction: expected 'up', 'down', 'both', 1, -1 or 0, got 'left'", dynamics.periodic,
      { rhs = f, guess = { 1, 2 }, section = { print, direction = "left" } })
    raises("dynamics.periodic: segments: a section that is an event takes one segment, got 2", dynamics.periodic,
      { rhs = f, events = event, guess = { 1, 2 }, section = "wall", segments = 2 })
    raises("dynamics.periodic: unknown option 'perod'", dynamics.periodic, { rhs = f, guess = { 1, 2 }, perod = 1 })
    raises("dynamics.periodic: rtol: it goes with rhs =; a simulation has its own", dynamics.periodic,
      { simulation = impact_oscillator, value = 1, guess = { 1, 2 }, period = 1, rtol = 1 })
    raises("dynamics.periodic: args: it goes with rhs =; the parameter of a simulation is value =", dynamics.periodic,
      { simulation = impact_oscillator, args = { 1 }, guess = { 1, 2 }, period = 1 })
    raises("dynamics.periodic: parameter: a function of the parameter needs none, got 1; its number is value =",
      dynamics.periodic, { simulation = impact_oscillator, parameter = 1, guess = { 1, 2 }, period = 1 })
    raises("dynamics.periodic: simulation: it ends at T = 20, the flow goes on to t = 30: give it a later end",
      dynamics.periodic, { simulation = impact_oscillator, value = 1, guess = { 1, 2 }, period = 30 })
    raises("no orbit found: the Jacobian is singular in iteration 1", dynamics.periodic,
      { rhs = function() return { 1 } end, guess = { 0 }, period = 1 })
  end)
end)

describe("continuation #once", function()
  local event, f = wall()

  it("finds the grazing of the impact oscillator", function()
    local branch = dynamics.continuation { rhs = f, events = event, args = { 0 }, guess = { 0, 0.8 }, period = TURN,
      range = { 0.08, 0.2 } }
    local found = branch.bifurcations[1]
    assert.equal("grazing", found.kind)
    assert.equal("wall", found.events)
    near(0.1, found.p, 1e-10)
    near(0, found.x0[1], 1e-9)
    near(1, found.x0[2], 1e-9)
    local last = branch.points[#branch.points] -- the branch goes on with impacts
    assert.same({ "wall", 0.2 }, { last.sequence, last.p })
    local d = dynamics.diagram { rhs = f, events = event, args = { 0 }, guess = { 0, 0.8 }, values = { 0.2 }, period = TURN,
      keep = 1 }
    near(d.x[1][1], last.x0[1], 1e-9)
  end)

  it("goes with impacts through a fold to the grazing, and on without impacts; other units give the same", function()
    local function branch_in(k, c, unit)
      local wall_event, field = wall(k, c)
      return dynamics.continuation { rhs = function(t, x, A) return field(t, x, A / unit) end, events = wall_event, args = { 0 },
        guess = { 0.6 * k, 0.76 * k / c }, period = TURN * c, range = { 0.14 * unit, 0.09 * unit } }
    end
    local branch = branch_in(1, 1, 1)
    local fold, grazing = branch.bifurcations[1], branch.bifurcations[2]
    assert.same({ "fold", "grazing", "wall" }, { fold.kind, grazing.kind, grazing.events })
    near(0.1, grazing.p, 1e-12)
    near(0, grazing.orbit.events[1].before[2], 1e-12)
    near(1, fold.multipliers[1].re, 1e-6)
    assert.is_true(fold.p < 0.1)
    assert.same({ "", 0.09 }, { branch.points[#branch.points].sequence, branch.p[#branch.p] })
    local k, c, unit = 2 ^ -20, 2 ^ 10, 2 ^ 30
    local other = branch_in(k, c, unit)
    assert.equal(#branch.points, #other.points)
    for i, point in ipairs(branch.points) do
      assert.equal(point.p * unit, other.points[i].p)
      assert.equal(point.x0[2] * k / c, other.points[i].x0[2])
    end
  end)

  it("asks for sizes of states that do not move", function()
    local function still(_, x, a) return { x[2], a - x[1] - x[2], -x[3] } end
    local options = { rhs = still, args = { 0 }, guess = { 1, 0, 0 }, period = 1 }
    raises("dynamics.periodic: scale: state 3 stays 0 on the motion from the guess: give scale = {...}, the size of each state",
      dynamics.periodic, options)
    options.scale = { 1, 1, 0 }
    raises("dynamics.periodic: scale: expected numbers above 0, got 0", dynamics.periodic, options)
    options.scale = { 1, 1, 1 }
    near(0, dynamics.periodic(options).x0[1], 1e-9)
  end)

  it("finds it in a simulation, and with another unit of the parameter", function()
    local k = 2 ^ 20
    local branch = dynamics.continuation { simulation = function(A) return impact_oscillator(A / k) end, guess = { 0, 0.995 },
      period = TURN, range = { 0.0999 * k, 0.1002 * k }, step = 1 / 2, max_points = 3 }
    assert.equal("grazing", branch.bifurcations[1].kind)
    near(0.1, branch.bifurcations[1].p / k, 1e-10)
  end)

  it("goes around folds of Duffing's oscillator, finds its period doubling and the branch that begins there", function()
    local function duffing(t, x, A) return { x[2], x[1] - x[1] ^ 3 - 0.25 * x[2] + A * math.cos(t) } end
    local branch = dynamics.continuation { rhs = ns.compile(duffing), guess = { 1, 0 }, period = TURN, range = { 0.1, 0.3 } }
    local kinds = {}
    for i, one in ipairs(branch.bifurcations) do kinds[i] = one.kind end
    assert.same({ "fold", "fold", "period doubling" }, kinds)
    near(0.264979482481, branch.bifurcations[1].p, 1e-9)
    near(-1, branch.bifurcations[3].orbit.multipliers[1].re, 1e-7)
    near(0.3, branch.p[#branch.p], 1e-12)
    local doubled = branch:switch(nil, { max_points = 6 })
    near(2 * TURN, doubled.T[1], 1e-12)
    -- It stays a doubled orbit: half a period later the state is another one.
    local orbit = doubled.points[6].orbit
    local half = ns.solve_ivp(duffing, { 0, TURN }, orbit.x0, { method = "DOP853", rtol = 1e-10, args = { orbit.parameter } })
    assert.is_true(math.abs(half.y[1][#half.t] - orbit.x0[1]) > 1e-3)
    raises("branch:switch: expected the number of a period doubling or a branch point, got 1, a fold", branch.switch, branch, 1)
  end)

  it("says what is wrong", function()
    raises("dynamics.continuation: range: expected two different numbers, got 1 twice", dynamics.continuation,
      { rhs = f, guess = { 0, 0 }, period = 1, range = { 1, 1 } })
    raises("dynamics.continuation: step: expected a number in (0, 1]", dynamics.continuation,
      { rhs = f, guess = { 0, 0 }, period = 1, range = { 1, 2 }, step = 2 })
    raises("dynamics.continuation: parameter: expected { object, \"field\" }", dynamics.continuation,
      { simulation = impact_oscillator(1), guess = { 0, 0 }, period = 1, range = { 1, 2 } })
    raises("dynamics.continuation: no orbit found at p = 1", dynamics.continuation,
      { rhs = function() return { 1 } end, guess = { 0 }, period = 1, range = { 1, 2 } })
  end)
end)

describe("stick and slip", function()
  it("ends at a velocity of the belt that agrees with long runs on both sides", function()
    local branch = dynamics.continuation { simulation = cycles.belt, guess = { 1, 0.2 }, section = function(_, x) return x[2] end,
      range = { 0.945, 0.955 }, transient = 30, step = 1 / 4, max_points = 4 }
    local found = branch.bifurcations[1]
    assert.equal("sequence", found.kind)
    assert.equal("belt:leave belt:slide", found.before)
    near(0.949518368241, found.p, 1e-9)
    near(0, found.multipliers[1].abs, 1e-5) -- a cycle that sticks forgets where it came from
    for _, side in ipairs { -1, 1 } do
      local simu = cycles.belt(found.p + side * 2e-3)
      local sol, last = simu:run(), 0
      for _, event in ipairs(sol.events) do last = math.max(last, event.t) end
      assert.equal(side < 0, last > 180) -- events go on, or not
    end
  end)
end)

describe("the woodpecker toy #once", function()
  it("has a limit cycle that goes down the pole; a long run comes to it at the rate of its multiplier", function()
    local simu = cycles.woodpecker(0.5)
    local start = simu:nsds():dynamicalSystem(1):x():copy()
    local orbit = dynamics.periodic { simulation = cycles.woodpecker, value = 0.5, guess = start, period = 0.146, drift = { 1 },
      section = function(_, x) return x[3] + 0.1 end }
    assert.is_true(orbit.stable)
    near(0.0195, -orbit.drift[1], 1e-4)
    local knocks = {}
    for _, event in ipairs(simu:run().events) do
      if event.name == "beak" and event.kind == "impact" then knocks[#knocks + 1] = event.t end
    end
    local n = #knocks
    near(orbit.T, (knocks[n] - knocks[n - 4]) / 4, 1e-6)
    local function off(k) return knocks[k + 1] - knocks[k] - orbit.T end
    near(orbit.multipliers[1].re, off(9) / off(8), 1e-2)
  end)
end)

describe("poincare, diagram, lyapunov #once", function()
  local function lorenz(_, x) return { 10 * (x[2] - x[1]), x[1] * (28 - x[3]) - x[2], x[1] * x[2] - 8 / 3 * x[3] } end

  it("give Lorenz's exponents, and the contraction of the volume exactly", function()
    local result = dynamics.lyapunov { rhs = lorenz, guess = { 1, 1, 1 }, time = 100, window = 0.5, transient = 10, rtol = 1e-9 }
    near(0.9056, result.exponents[1], 0.05)
    near(0, result.exponents[2], 0.02)
    near(-14.572, result.exponents[3], 0.06)
    near(-41 / 3, result.exponents:sum(), 1e-4)
    near(2.062, result.dimension, 0.01)
  end)

  it("find the returns of a damped oscillator", function()
    local points = dynamics.poincare { guess = { 1, 0 }, section = function(_, x) return x[1] end, count = 3,
      rhs = function(_, x) return { x[2], -x[1] - 0.1 * x[2] } end }
    local w = math.sqrt(1 - 0.05 ^ 2)
    near(TURN / w, points.t[2] - points.t[1], 1e-10)
    near(math.exp(-0.05 * TURN / w), points.x[2][2] / points.x[1][2], 1e-10)
    near(math.exp(-0.05 * TURN / w), points:derivative(points.x:row(1))[2][2], 1e-8)
    local _, time = points:map { 0, 1 }
    near(TURN / w, time, 1e-10)
  end)

  it("keep what remains, as the orbit does", function()
    local event, f = wall()
    local d = dynamics.diagram { rhs = f, events = event, guess = { 0.9, 1.6 }, values = { 1, 0.9 }, period = TURN, transient = 60,
      keep = 2 }
    assert.equal(4, #d.p)
    near(0.8708351574636171, d.x[2][1], 1e-9)
    near(1, d.p[2], 0)
    assert.equal(0, #d.failures)
    raises("dynamics.diagram: expected period = or section =, got neither", dynamics.diagram,
      { rhs = f, guess = { 0, 0 }, values = { 1 } })
    raises("dynamics.diagram: period: expected a number above 0", dynamics.diagram,
      { rhs = f, guess = { 0, 0 }, values = { 1 }, period = 0 })
  end)

  it("say what is wrong", function()
    raises("dynamics.lyapunov: window: expected at most half of time = 1, got 2", dynamics.lyapunov,
      { rhs = lorenz, guess = { 1, 1, 1 }, time = 1, window = 2 })
    raises("dynamics.lyapunov: window: expected at least time / 1e+06 = 1e+294, got 1", dynamics.lyapunov,
      { rhs = lorenz, guess = { 1, 1, 1 }, time = 1e300, window = 1 })
    raises("dynamics.lyapunov: transient: expected at most 1e+06 windows of 1, got 1e+300", dynamics.lyapunov,
      { rhs = lorenz, guess = { 1, 1, 1 }, time = 10, window = 1, transient = 1e300 })
    raises("dynamics.lyapunov: time: expected a number, got nil", dynamics.lyapunov,
      { rhs = lorenz, guess = { 1, 1, 1 }, window = 2 })
    raises("dynamics.lyapunov: window: expected a number above 0, got -1", dynamics.lyapunov,
      { rhs = lorenz, guess = { 1, 1, 1 }, time = 1, window = -1 })
    raises("dynamics.poincare: expected period = or section =, got neither", dynamics.poincare,
      { rhs = lorenz, guess = { 1, 1, 1 } })
    raises("section: fewer than 1 crossings up to t =", dynamics.poincare,
      { rhs = function() return { -1 } end, guess = { 1 }, section = function(_, x) return x[1] - 2 end })
  end)
end)
