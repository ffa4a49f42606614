-- ns.dynamics of simulations whose relays have bounds that are functions of time: against finite differences of the map of a
-- period, and against the same model with the bounds in its equations.
local campaign = require "campaign"
local expect = require "expect"
local numbers = require "random_numbers"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, uniform = expect.near_number, numbers.uniform

local function middle(n, t) return n.m * math.sin(n.w * t + n.phase) end

local function half(n, t) return n.h + n.depth * n.h * math.cos(2 * n.w * t) end

-- Whether friction can hold the mass at some x1 for ever: its orbits are a family then, of which none is the answer.
local function can_rest(n)
  local least, most = -math.huge, math.huge
  for i = 1, 1000 do
    local t = 2 * math.pi / n.w * i / 1000
    local needed = n.d * middle(n, t) + n.a * math.cos(n.w * t)
    least, most = math.max(least, needed - n.d * half(n, t)), math.min(most, needed + n.d * half(n, t))
  end
  return least <= most
end

-- Numbers of a forced oscillator x1' = x2, x2' = -k x1 - c x2 + a A cos(w t) + d lambda, lambda in -Sgn(x2), between the
-- bounds middle - half and middle + half, which have the period of the force.
local function numbers_of()
  local w = uniform(0.8, 1.6)
  local n = { w = w, k = uniform(0.5, 2), c = uniform(0.1, 0.4), a = uniform(0.5, 1.5), d = uniform(0.3, 0.6),
    m = uniform(-0.3, 0.3), phase = uniform(0, 6), h = uniform(0.7, 1.2), depth = uniform(-0.6, 0.6) }
  return can_rest(n) and numbers_of() or n
end

-- The model with the force's factor A. moving: with bounds that are functions of time; else they are in its equations.
local function model(n, moving, periods)
  local T = 2 * math.pi / n.w
  return function(A)
    local ds = ns.FirstOrderNonLinearDS({ 1, 0.3 }, function(t, x, _, f)
      f[1] = x[2]
      f[2] = -n.k * x[1] - n.c * x[2] + n.a * A * math.cos(n.w * t)
    end)
    local law, relation
    if moving then
      law = ns.RelayNSL(1, function(t) return middle(n, t) - half(n, t) end, function(t) return middle(n, t) + half(n, t) end)
      relation = ns.FirstOrderLinearTIR({ { 0, 1 } }, { { 0 }, { n.d } })
    else
      law = ns.RelayNSL(1)
      relation = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] end,
        g = function(t, _, lambda, _, r) r[2] = n.d * (middle(n, t) + half(n, t) * lambda[1]) end }
    end
    local nsds = ns.NonSmoothDynamicalSystem(0, (periods or 3) * T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "dry"), ds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 4), ns.RungeKuttaOSI(1e-12, 1e-14))
  end
end

-- The two models of the same numbers, with the options that both have.
local function both(n, f, options)
  local results = {}
  for i, moving in ipairs { true, false } do
    local own = { simulation = model(n, moving, options.periods), value = 1, guess = { 1, 0.3 } }
    for name, value in pairs(options) do
      if name ~= "periods" then own[name] = value end
    end
    results[i] = f(own)
  end
  return results[1], results[2]
end

local function near_vectors(a, b, tol)
  assert.equal(#a, #b)
  for i = 1, #a do near(a[i], b[i], tol) end
end

-- The state after a period from x at t0.
local function after_period(n, x)
  local simu = model(n, true, 1)(1)
  simu:nsds():dynamicalSystem(1):setX0(x)
  simu:reset()
  local sol = simu:run()
  return sol.x:row(#sol.t)
end

local function check_multipliers(orbit, n)
  local M, h = orbit.monodromy, 2e-4
  for j = 1, 2 do
    local function at(s)
      local x = orbit.x0:copy()
      x[j] = x[j] + s * h
      return after_period(n, x)
    end
    near_vectors(((at(1) - at(-1)) * 8 - (at(2) - at(-2))) * (1 / (12 * h)), M:column(j), 1e-7)
  end
end

describe("orbits with moving bounds", function()
  it("are those of the model with the bounds in its equations; multipliers are the map's #once", function()
    math.randomseed(30)
    local count, told = campaign(4, 0.01)
    local slides = 0
    for _ = 1, count do
      local n = numbers_of()
      local T = 2 * math.pi / n.w
      local orbit, other = both(n, dynamics.periodic, { period = T, transient = 8 * T })
      assert.equal("exact", orbit.derivative)
      assert.equal(other.sequence, orbit.sequence)
      near_vectors(other.x0, orbit.x0, 1e-8)
      for i = 1, 2 do near(other.multipliers[i].abs, orbit.multipliers[i].abs, 1e-7) end
      check_multipliers(orbit, n)
      if orbit.sequence:find "slide" then slides = slides + 1 end
    end
    assert.is_true(slides > 0)
    told("orbits with moving bounds", count)
  end)

  local n = { w = 1.1, k = 1, c = 0.2, a = 1, d = 0.5, m = 0.25, phase = 1, h = 1, depth = 0.5 }
  local T = 2 * math.pi / n.w

  -- The mass of the model as a system of mechanics: with a relay, or pressed on the ground by a force of 1 with mu(t).
  local function mechanical(own, pressed)
    return function(A)
      local mass = ns.LagrangianDS(pressed and { 1, 0 } or { 1 }, pressed and { 0.3, 0 } or { 0.3 }, ns.eye(pressed and 2 or 1))
      mass:setComputeFIntFunction(function(_, q, v, _, f) f[1] = own.k * q[1] + own.c * v[1] end)
      mass:setComputeFExtFunction(function(t, _, f)
        f[1] = own.a * A * math.cos(own.w * t)
        if pressed then f[2] = -1 end
      end)
      local function bound(sign)
        return function(t) return own.d * (middle(own, t) + sign * half(own, t)) end
      end
      local nsds = ns.NonSmoothDynamicalSystem(0, 3 * T)
      nsds:insertDynamicalSystem(mass)
      nsds:link(pressed and
        ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, bound(1), 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "dry") or
        ns.Interaction(ns.RelayNSL(1, bound(-1), bound(1)), ns.LagrangianLinearTIR { { 1 } }, "dry"), mass)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 4), ns.RungeKuttaOSI(1e-12, 1e-14))
    end
  end

  it("are those of mechanics, and of friction whose mu is a function of time #once", function()
    local centred = setmetatable({ m = 0 }, { __index = n })
    for _, case in ipairs { { n, false, 1 }, { n, false, 0.6 }, { centred, true, 1 } } do
      local own, pressed, A = table.unpack(case)
      local options = { value = A, period = T, transient = 8 * T }
      local function orbit(simulation, guess, drift, scale)
        local all = { simulation = simulation, guess = guess, drift = drift, scale = scale }
        for name, value in pairs(options) do all[name] = value end
        return dynamics.periodic(all)
      end
      local other = orbit(model(own, false), { 1, 0.3 })
      local found = pressed and orbit(mechanical(own, true), { 1, 0, 0.3, 0 }, { 2, 4 }, { 1, 1, 1, 1 }) or
        orbit(mechanical(own, false), { 1, 0.3 })
      assert.equal("exact", found.derivative)
      near(other.x0[1], found.x0[1], 1e-8)
      for i = 1, 2 do near(other.multipliers[i].abs, found.multipliers[i].abs, 1e-7) end
    end
  end)

  it("begin at any time, in segments #once", function()
    local orbit, other = both(n, dynamics.periodic, { period = T, transient = 8 * T, t0 = 0.3 * T, segments = 2 })
    near_vectors(other.x0, orbit.x0, 1e-8)
    for i = 1, 2 do near(other.multipliers[i].abs, orbit.multipliers[i].abs, 1e-6) end
  end)

  it("are followed in a parameter #once", function()
    local branch, other = both(n, dynamics.continuation, { period = T, transient = 8 * T, range = { 1, 0.4 }, max_points = 16 })
    assert.equal(#other.bifurcations, #branch.bifurcations)
    assert.is_true(#branch.bifurcations > 0)
    for i, found in ipairs(branch.bifurcations) do
      assert.equal(other.bifurcations[i].kind, found.kind)
      near(other.bifurcations[i].p, found.p, 1e-7)
    end
    local first, its = branch.points[2], other.points[2] -- later ones stand where the lengths of the steps have taken them
    near(its.p, first.p, 1e-9)
    near_vectors(its.x0, first.x0, 1e-7)
  end)

  it("have sections, diagrams and exponents #once", function()
    local points, its = both(n, dynamics.poincare, { section = function(_, x) return x[1] - 0.1 end, count = 3, periods = 8 })
    near_vectors(its.t, points.t, 1e-8)
    local x = points.x:row(1)
    local S, dt, reason = points:derivative(x, points.t[1])
    local R, ds = its:derivative(x, points.t[1])
    local _ = reason
    for i = 1, 2 do
      near_vectors(R:row(i), S:row(i), 1e-5)
      near(ds[i], dt[i], 1e-5)
    end
    local diagram, own = both(n, dynamics.diagram, { period = T, values = { 0.9, 1.1 }, transient = 3, keep = 2 })
    for k = 1, #own.p do near_vectors(own.x:row(k), diagram.x:row(k), 1e-8) end
    local exponents, theirs = both(n, dynamics.lyapunov, { time = 6 * T, window = T, periods = 8 })
    near(theirs.exponents[1], exponents.exponents[1], 1e-6)
    assert.equal(-math.huge, exponents.exponents[2]) -- a slide takes one direction away
  end)

  it("have the linear model of the mode at a time", function()
    local simu = model(n, true)(1)
    local function mode(t)
      return dynamics.linearise { simulation = simu, at = { x = { 1, 0 }, t = t } }.mode[1]
    end
    -- lambda = (k x1 - a cos(w t)) / d would hold x2 at 0.
    for t = 0.05, 6, 0.05 do
      local needed = (n.k - n.a * math.cos(n.w * t)) / n.d
      local fits = math.abs(needed - middle(n, t)) < half(n, t)
      local good, word = pcall(mode, t)
      if fits then assert.equal("active", word) else assert.is_false(good and word == "active") end
    end
  end)

  it("move what a row that slides feels of another one's bound", function()
    local function upper(t) return 1 + 0.5 * math.sin(t) end
    -- y2 = x2 + 0.4 lambda1 slides while lambda1 is at its moving bound: x2' = -0.4 lambda1'.
    local ds = ns.FirstOrderLinearTIDS({ -0.5, -0.4 }, { { -1, 0 }, { 0.3, -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 10)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(2, { -1, -5 }, { upper, 5 }), ns.FirstOrderLinearTIR({ { 1, 0 }, { 0, 1 } },
      { { 0, 0 }, { 0.4, 0 } }, nil, nil, { { 1, 0 }, { 0, 1 } }), "both"), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.01), ns.RungeKuttaOSI())
    simu:computeOneStep()
    local modes = require("nslua.core").mode
    local m = modes.new(simu)
    local mode, x = modes.present(m), ns.vector { 0.5, -0.4 * upper(0.7) }
    assert.same({ "upper", "active" }, { table.unpack(mode) })
    modes.take(m, mode.block, 0.7, x)
    local rate = modes.rate(m, 0.7, x)
    near(-0.4 * 0.5 * math.cos(0.7), rate[2], 1e-11)
    near(-0.5 + upper(0.7), rate[1], 1e-12)
  end)
end)
