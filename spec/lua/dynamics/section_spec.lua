-- Sections of simulations and of ODEs: points, the map, its derivatives against differences, units.
local expect = require "expect"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, raises = expect.near_number, expect.fails

local TURN = 2 * math.pi

-- Two masses: one excites itself and strikes a floor, the other is dragged along with dry friction. u: units of length,
-- c: units of time.
local function masses(u, c)
  u, c = u or 1, c or 1
  local ds = ns.LagrangianDS({ 0.5 * u, 0.1 * u }, { 0.3 * u / c, 0 }, ns.eye(2))
  ds:setComputeFIntFunction(function(_, q, v, _, f)
    f[1] = (q[1] + 0.1 * (q[1] - q[2])) / c ^ 2 - 0.3 * (1 - (q[1] / u) ^ 2) * v[1] / c
    f[2] = (3 * q[2] + 0.1 * (q[2] - q[1])) / c ^ 2 + 0.2 * v[2] / c
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 60 * c)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR({ { 1, 0 } }, { 0.6 * u }), "floor"), ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -0.05 * u / c ^ 2, 0.05 * u / c ^ 2), ns.LagrangianLinearTIR({ { 0, 1 } }, { 0 }),
    "dry"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, c), ns.RungeKuttaOSI())
end

local function points_of(section, u, c, count)
  u, c = u or 1, c or 1
  return dynamics.poincare { simulation = masses(u, c), section = section, count = count or 4,
    guess = { 0.5 * u, 0.1 * u, 0.3 * u / c, 0.2 * u / c } }
end

-- Central differences of the map by x[i]; nil where the start may not move to both sides.
local function by_difference(points, x, i, h)
  local function at(s)
    local y = x:copy()
    y[i] = y[i] + s
    local point, time = points:map(y)
    return point, time
  end
  local a, ta = at(h)
  local b, tb = at(-h)
  local c, tc = at(2 * h)
  local d, td = at(-2 * h)
  return ((a - b) * 8 - (c - d)) * (1 / (12 * h)), ((ta - tb) * 8 - (tc - td)) / (12 * h)
end

describe("a section of a simulation #once", function()
  local sections = {
    ["a function"] = { function(_, x) return x[1] - 0.3 end, { 1, 2, 3, 4 } },
    ["a falling velocity"] = { { function(_, x) return x[3] end, direction = "down" }, { 2, 4 } },
    ["a velocity that jumps across it"] = { function(_, x) return x[3] end, { 2, 3, 4 } },
    ["an interaction"] = { "floor", { 2, 3, 4 } },
    ["a kind of event"] = { "floor:impact", { 2, 3, 4 } },
  }
  for name, case in pairs(sections) do
    it("has exact derivatives of the map and of its time: " .. name, function()
      local points = points_of(case[1])
      local x = points.x:row(3)
      local next_point, time = points:map(x)
      for i = 1, 4 do near(points.x[4][i], next_point[i], 1e-9) end
      near(points.t[4] - points.t[3], time, 1e-9)
      local S, dt, reason = points:derivative(x)
      assert.is_nil(reason)
      for _, i in ipairs(case[2]) do
        if name == "a function" and i == 1 then goto continue end -- that start crosses at once
        local column, slope = by_difference(points, x, i, 2e-4)
        for j = 1, 4 do near(column[j], S[j][i], 1e-8) end
        near(slope, dt[i], 1e-8)
        ::continue::
      end
    end)
  end

  it("has the same derivatives in other units, to the last bit", function()
    for _, section in ipairs { "floor", function(_, x) return x[3] end } do
      local base = points_of(section)
      local S, dt = base:derivative(base.x:row(3))
      local u, c = 2 ^ -30, 2 ^ 20
      local other = points_of(section, u, c)
      local R, ds = other:derivative(other.x:row(3))
      local unit = { u, u, u / c, u / c }
      for i = 1, 4 do
        assert.equal(base.x[3][i] * unit[i], other.x[3][i])
        assert.equal(dt[i] * c / unit[i], ds[i])
        for j = 1, 4 do assert.equal(S[j][i] * unit[j] / unit[i], R[j][i]) end
      end
    end
  end)
end)

describe("a section at a phase #once", function()
  local function driven(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.5 * x[2] } end

  it("is the state at a part of the period, of ODEs and of simulations", function()
    local function simulation(A)
      local mass = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, { { 1 } }, { { 0.5 } })
      mass:setComputeFExtFunction(function(t, _, f) f[1] = A * math.cos(t) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 20)
      nsds:insertDynamicalSystem(mass)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    end
    for _, model in ipairs { { rhs = driven, args = { 1 } }, { simulation = simulation, value = 1 } } do
      for _, phase in ipairs { 0, 0.25 } do
        local points = dynamics.poincare { rhs = model.rhs, args = model.args, simulation = model.simulation, value = model.value,
          guess = { 0, 0 }, period = TURN, phase = phase, skip = 20, count = 2 }
        -- The motion comes to 2 sin t.
        near(2 * math.sin(TURN * phase), points.x[2][1], 1e-8)
        near(2 * math.cos(TURN * phase), points.x[2][2], 1e-8)
        near(TURN * ((phase > 0 and 21 or 22) + phase), points.t[2], 1e-12 * points.t[2])
        local S, dt = points:derivative(points.x:row(2))
        near(math.exp(-0.5 * TURN), ns.det(S), 1e-9)
        near(0, dt:norm(), 0)
        local next_point, time = points:map(points.x:row(2))
        near(points.x[2][1], next_point[1], 1e-8)
        near(TURN, time, 0)
      end
    end
  end)

  it("says what is wrong", function()
    local options = { rhs = driven, args = { 1 }, guess = { 0, 0 }, period = 1, phase = 1 }
    raises("dynamics.poincare: phase: expected a part of the period, at least 0 and below 1, got 1", dynamics.poincare, options)
    options.period, options.section = nil, function(_, x) return x[1] end
    raises("dynamics.poincare: phase: it goes with period =, not with section =", dynamics.poincare, options)
    options.period = 1
    raises("dynamics.poincare: expected period = or section =, got both", dynamics.poincare, options)
  end)
end)

describe("a section of a forced model #once", function()
  it("has a map that begins at a time", function()
    local wall = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
      apply = function(_, x) return { x[1], -0.8 * x[2] } end }
    local points = dynamics.poincare { guess = { 0.9, 1.6 }, events = wall, args = { 1 }, section = "wall", count = 6,
      rhs = function(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.1 * x[2] } end }
    for k = 1, 5 do
      local next_point, time = points:map(points.x:row(k), points.t[k])
      near(points.t[k + 1], points.t[k] + time, 1e-9)
      near(points.x[k + 1][2], next_point[2], 1e-9)
    end
    raises("poincare.map: t: expected a number, got 'a'", points.map, points, { 1, -1 }, "a")
  end)
end)

describe("a diagram #once", function()
  -- Duffing's oscillator with a hardening spring has two stable orbits in a range of frequencies.
  local function duffing(t, x, w) return { x[2], 0.3 * math.cos(w * t) - x[1] - x[1] ^ 3 - 0.1 * x[2] } end

  it("goes forth and back, and shows hysteresis", function()
    local d = dynamics.diagram { rhs = ns.compile(duffing), guess = { 0, 0 }, values = ns.linspace(1.2, 1.8, 7), both = true,
      period = function(w) return TURN / w end, transient = 40, keep = 1, rtol = 1e-9 }
    assert.equal(14, #d.p)
    local forth, back = d.x[4], d.x[11]
    assert.same({ 1.5, 1.5, 1, -1 }, { d.p[4], d.p[11], d.direction[4], d.direction[11] })
    assert.is_true(math.abs(forth[1] - back[1]) > 0.5)
    near(d.x[1][1], d.x[14][1], 1e-5) -- one orbit at both ends of the range
    raises("dynamics.diagram: both: it needs motions that follow each other, got follow = false", dynamics.diagram,
      { rhs = duffing, guess = { 0, 0 }, values = { 1 }, period = 1, both = true, follow = false })
  end)

  it("of a forced model with an event as section keeps the time of the force", function()
    local wall = { name = "wall", direction = -1, g = function(_, x) return 1 - x[1] end,
      apply = function(_, x) return { x[1], -0.8 * x[2] } end }
    local d = dynamics.diagram { guess = { 0.9, 1.6 }, events = wall, section = "wall", values = { 1 }, transient = 60, keep = 2,
      rhs = function(t, x, A) return { x[2], A * math.cos(t) - x[1] - 0.1 * x[2] } end }
    near(-1.3565863500759057, d.x[2][2], 1e-8) -- the orbit with one impact
  end)
end)

describe("an antisymmetric cycle of a relay #once", function()
  local T = 3.6797506708648 -- of 20 / (s + 1)^3: x(T / 2) = -x(0)
  local S = { { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } }

  local function periodic(more)
    local plant = ns.FirstOrderLinearTIDS({ 0.1, 0, 0 }, { { 0, 1, 0 }, { 0, 0, 1 }, { -1, -3, -3 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 50)
    nsds:insertDynamicalSystem(plant)
    local relation = ns.FirstOrderLinearTIR({ { 1, 0, 0 } }, { { 0 }, { 0 }, { 20 } })
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), relation, "relay"), plant)
    more.simulation, more.guess = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), { 0, 1, -1 }
    return ns.dynamics.periodic(more)
  end

  it("is found with the relay as section, with a count, and with its symmetry", function()
    local function position(_, x) return x[1] end
    for _, options in ipairs { { section = "relay:cross" }, { section = { "relay:cross", count = 2 } },
      { section = "relay:cross", symmetry = S }, { section = { position, direction = "up" }, transient = 20 },
      { section = { position, direction = "up" }, transient = 20, symmetry = S } } do
      local orbit = periodic(options)
      near(T, orbit.T, 1e-9)
      near(0.147448, orbit.multipliers[1].re, 2e-6)
      near(0, orbit.x0[1], 1e-12)
      local half = options.symmetry and options.section == "relay:cross" -- both ends are on the relay's surface
      assert.equal(half and "the exact derivative disagrees with a difference: a field that "
        .. "switches without an event, or an orbit that begins on a surface of switching" or nil, orbit.derivative_message)
      if options.symmetry then -- a multiplier is the square of one of the half orbit
        local known
        for _, m in ipairs(orbit.half_multipliers) do known = known or math.abs(m.re ^ 2 - orbit.multipliers[1].re) < 1e-9 end
        assert.is_true(known)
      end
    end
  end)

  it("is not taken for a motion of the duration 0", function()
    local ok, message = pcall(periodic, { section = { function(_, x) return x[1] end, direction = "up" } })
    assert.is_false(ok)
    assert.matches("the period is 0.%d+ in an iteration", message)
  end)

  it("is told where a count is needed, or a symmetry is none", function()
    local ok, message = pcall(periodic, { section = { "relay:cross", count = 3 } })
    assert.is_false(ok)
    assert.matches("dynamics.periodic: no orbit found: ", message, 1, true)
    assert.is_false((pcall(periodic, { section = { "relay:cross", count = 1 } })))
    assert.matches("; if 'relay:cross' happens k times in a period, with k above 2, say so by section = { \"relay:cross\", "
      .. "count = k }", message, 1, true)
    raises("dynamics.periodic: symmetry: expected a matrix of 3 x 3, got one of 1 x 1", periodic,
      { section = "relay:cross", symmetry = { 1 } })
    raises("dynamics.periodic: symmetry: expected a matrix S with S S = 1; S S has 2 in row 2, column 1", periodic,
      { section = "relay:cross", symmetry = { { 1, 0, 0 }, { 1, 1, 0 }, { 0, 0, 1 } } })
    raises("dynamics.periodic: symmetry: it does not go with drift =", periodic, { period = 4, symmetry = S, drift = { 1 } })
    raises("dynamics.periodic: section: count: expected an integer of 1 or more, got 0", periodic,
      { section = { "relay:cross", count = 0 } })
    raises("dynamics.poincare: section: count: it goes with dynamics.periodic and dynamics.continuation", dynamics.poincare,
      { rhs = function(_, x) return { x[2], -x[1] } end, guess = { 1, 0 }, section = { "a", count = 2 } })
  end)

  it("may have a symmetry that the model lacks, which is told", function()
    raises("dynamics.periodic: symmetry: the model does not have it: after the second half of the orbit the state is off by 0.303 "
      .. "of its size", dynamics.periodic, { guess = { 0.5, 0 }, period = TURN, symmetry = { { -1, 0 }, { 0, -1 } },
      rhs = function(t, x) return { x[2], math.cos(t) + 0.3 - 0.1 * x[2] - x[1] ^ 3 } end })
  end)
end)

-- The antisymmetric orbits of an oscillator between two walls lose their stability where orbits without this symmetry begin:
-- the fold of those orbits in bifurcations_spec.lua.
describe("a symmetry breaking #once", function()
  it("is located", function()
    local w = 0.7
    local function wall(side)
      return { name = side > 0 and "right" or "left", direction = -1, g = function(_, x) return 1 - side * x[1] end,
        apply = function(_, x) return { x[1], -0.7 * x[2] } end }
    end
    local branch = dynamics.continuation { guess = { 0.5, 0.5 }, period = TURN / w, range = { 0.8, 0.7 }, transient = 300,
      symmetry = { { -1, 0 }, { 0, -1 } }, events = { wall(1), wall(-1) },
      rhs = function(t, x, A) return { x[2], A * math.cos(w * t + 1) - x[1] - 0.1 * x[2] } end }
    assert.equal(1, #branch.bifurcations)
    local found = branch.bifurcations[1]
    assert.equal("symmetry breaking", found.kind)
    near(0.712818964083, found.p, 1e-10)
    near(-1, found.orbit.half_multipliers[1].re, 1e-8)
    assert.same({ "left right", true, false },
      { found.orbit.sequence, branch.points[1].stable, branch.points[#branch.points].stable })
  end)
end)

-- A buck converter: the switch is on while a ramp is above a (v - r). Over its voltage the motion of one period of the ramp becomes
-- unstable near 24.516 (E. Fossas, G. Olivar, Study of chaos in the buck converter, IEEE Trans. Circuits Syst. I 43, 1996).
describe("a section that is an event, for a buck converter #once", function()
  local R, C, L, a, r, low, high, period = 22, 47e-6, 20e-3, 8.4, 11.3, 3.8, 8.2, 400e-6
  local slope = (high - low) / period
  local model = { section = { "reset", count = 1 }, scale = { 12, 0.5, 4, 1 }, args = { 20 }, guess = { 12, 0.55, low, 0 },
    rhs = function(_, x, V) return { x[2] / C - x[1] / (R * C), (V * x[4] - x[1]) / L, slope, 0 } end,
    events = {
      { name = "reset", direction = 1, g = function(_, x) return x[3] - high end,
        apply = function(_, x) return { x[1], x[2], low, a * (x[1] - r) < low and 1 or 0 } end },
      { name = "on", direction = 1, g = function(_, x) return x[3] - a * (x[1] - r) end,
        apply = function(_, x) return { x[1], x[2], x[3], 1 } end },
      { name = "off", direction = -1, g = function(_, x) return x[3] - a * (x[1] - r) end,
        apply = function(_, x) return { x[1], x[2], x[3], 0 } end } } }
  local function options(more)
    local all = {}
    for _, list in ipairs { model, more } do for k, v in pairs(list) do all[k] = v end end
    return all
  end

  local function root(f, from, to)
    local sign = f(from) > 0
    for _ = 1, 60 do
      local middle = (from + to) / 2
      if (f(middle) > 0) == sign then from = middle else to = middle end
    end
    return from
  end

  -- The voltage at which -1 is a multiplier, from exponentials of matrices: off up to the time s, then on.
  local function doubling()
    local A, I = ns.matrix { { -1 / (R * C), 1 / C }, { -1 / L, 0 } }, ns.matrix { { 1, 0 }, { 0, 1 } }
    local function orbit(s, V)
      local off, on = ns.expm(A * s), ns.expm(A * (period - s))
      local rest = ns.vector { V, V / R } -- where the motion ends that is always on
      local x = ns.solve(I - off * on, off * (rest - on * rest))
      return x, off, on
    end
    local function residual(V)
      local s = root(function(s) return a * (orbit(s, V)[1] - r) - low - slope * s end, 0, period)
      local x, off, on = orbit(s, V)
      local rate = A * x
      local jump = ns.matrix { { 1, 0 }, { V / L * a / (a * rate[1] - slope), 1 } }
      local M = on * jump * off
      return 1 + M[1][1] + M[2][2] + M[1][1] * M[2][2] - M[1][2] * M[2][1]
    end
    return root(residual, 22, 27)
  end

  it("is found from a transient that ends at the section", function()
    local orbit = dynamics.periodic(options { transient = 50 * period })
    near(period, orbit.T, 1e-12 * period)
    assert.equal("on reset", orbit.sequence)
    near(math.exp(-period / (R * C)), orbit.multipliers[1].abs * orbit.multipliers[2].abs, 1e-9)
    local branch = dynamics.continuation(options { guess = orbit.x0, range = { 20, 30 } })
    assert.equal("period doubling", branch.bifurcations[1].kind)
    near(doubling(), branch.bifurcations[1].p, 1e-8)
  end)

  -- The ramp is a function of time and of z, which the action of an event moves on by a period.
  local function converter(V)
    local plant = ns.FirstOrderLinearTIDS({ 12, 0.55 }, { { -1 / (R * C), 1 / C }, { -1 / L, 0 } }, { 0, V / (2 * L) })
    local ramp = ns.FirstOrderLinearR { C = { { a, 0 } }, B = { { 0 }, { V / (2 * L) } } }
    ramp:setzPtr(ns.vector { 0 })
    ramp:setComputeEFunction(function(t, z, e) e[1] = -a * r - low - slope * (t - z[1]) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 4 * period)
    nsds:insertDynamicalSystem(plant)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ramp, "switch"), plant)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, period / 10), ns.RungeKuttaOSI())
    simu:every { name = "ramp", period = period, act = function(t) ramp:z()[1] = t end }
    assert.is_true(simu:userEvents()[1].acts)
    return simu
  end

  it("is found from simulations whose ramp begins anew by a clock", function()
    local orbit = dynamics.periodic { simulation = converter, value = 20, guess = { 11.97, 0.59 }, period = period }
    local same = dynamics.periodic(options { transient = 50 * period })
    near(same.x0[1], orbit.x0[1], 1e-7)
    for k = 1, 2 do near(same.multipliers[k].re, orbit.multipliers[k].re, 1e-6) end
    near(orbit.x0[1], dynamics.periodic { simulation = converter, value = 20, guess = { 11.97, 0.59 }, period = period,
      segments = 2 }.x0[1], 1e-7)
    near(orbit.x0[1], dynamics.periodic { simulation = converter(20), guess = { 11.97, 0.59 }, period = period }.x0[1], 1e-9)
  end)
end)
