-- The theta scheme of mechanics, seen through TimeStepping: order, impacts, constraints, friction, energy, errors.
local ns = require "nslua"
local moving = require "moving"
local campaign = require "campaign"
local simulate, imbalance, impact, ball = moving.simulate, moving.imbalance, moving.impact, moving.ball

local function pendulum_rod(h, projection, T)
  local ds = ns.LagrangianDS({ 1, 0 }, { 0, 0 }, ns.eye(2))
  ds:setFExtPtr { 0, -9.81 }
  local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end,
  })
  return simulate { systems = { ds }, links = { { rod, ds } }, T = T or 1, h = h, projection = projection }, rod, ds
end

describe("MoreauJeanOSI on smooth motion", function()
  -- The error of a harmonic oscillator, given as K or as a callback, at t = 2.
  local function error_at(theta, h, nonlinear)
    local ds
    if nonlinear then
      ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, fInt = function(_, q, _, _, f) f[1] = 4 * q[1] end }
    else
      ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 4 } })
    end
    simulate({ systems = { ds }, T = 2, h = h, osi = ns.MoreauJeanOSI(theta) }):run()
    return math.abs(ds:q()[1] - math.cos(4))
  end

  for _, nonlinear in ipairs { false, true } do
    local kind = nonlinear and "nonlinear" or "linear"
    it("has order 2 with theta = 1/2, " .. kind, function()
      local ratio = error_at(0.5, 0.02, nonlinear) / error_at(0.5, 0.01, nonlinear)
      assert.is_true(math.abs(ratio - 4) < 0.1, "ratio " .. ratio)
    end)

    it("has order 1 with theta = 1, " .. kind, function()
      local ratio = error_at(1, 0.002, nonlinear) / error_at(1, 0.001, nonlinear)
      assert.is_true(math.abs(ratio - 2) < 0.1, "ratio " .. ratio)
    end)
  end

  -- q of a forced pendulum with damping at t = 2.
  local function pendulum_at(theta, h, linearly_implicit)
    local ds = ns.LagrangianDS {
      q0 = { 1 }, v0 = { 0 },
      fInt = function(_, q, v, _, f) f[1] = math.sin(q[1]) + 0.1 * v[1] end,
      fExt = function(t, _, f) f[1] = math.cos(3 * t) end,
    }
    local osi = ns.MoreauJeanOSI(theta)
    osi:setLinearlyImplicit(linearly_implicit)
    local simu = simulate { systems = { ds }, T = 2, h = h, osi = osi }
    simu:run()
    return ds:q()[1], simu:stats()
  end

  it("keeps its order under forces of time, with one iteration a step too", function()
    local exact = pendulum_at(0.5, 1e-4, false)
    for _, implicit in ipairs { false, true } do
      for theta, order in pairs { [0] = 2, [0.5] = 4, [1] = 2 } do
        local ratio = (pendulum_at(theta, 0.01, implicit) - exact) / (pendulum_at(theta, 0.005, implicit) - exact)
        assert.is_true(math.abs(ratio - order) < 0.1, ("theta %g: ratio %g"):format(theta, ratio))
      end
    end
    local _, stats = pendulum_at(1, 0.01, true)
    assert.equal(stats.steps, stats.newton_iterations)
  end)

  it("is the same linearly implicit where the model is linear", function()
    local function run(implicit)
      local ds = ns.LagrangianLinearTIDS({ 0.3 }, { 0.4 }, { { 1.2 } }, { { 140 } }, { { 0.8 } })
      local osi = ns.MoreauJeanOSI(0.6)
      osi:setLinearlyImplicit(implicit)
      return simulate({ systems = { ds }, links = { { impact(0.8, { 1 }), ds } }, T = 1, h = 1e-2, osi = osi }):run()
    end
    local one, two = run(false), run(true)
    for k = 1, #one do assert.equal(one.x[k], two.x[k]) end
  end)

  it("gives the same for a linear system stated by callbacks", function()
    assert.is_true(math.abs(error_at(0.7, 0.01, true) - error_at(0.7, 0.01, false)) < 1e-13)
  end)

  it("keeps a top's energy and quaternion", function()
    local top = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 1, 0, 0, 0.1, 2, 0.1 }, 2, ns.diag { 1, 2, 3 })
    local simu = simulate { systems = { top }, T = 10, h = 1e-3 }
    local before = simu:energy().kinetic
    simu:run()
    local q = top:q()
    assert.is_true(math.abs(simu:energy().kinetic / before - 1) < 1e-7)
    assert.is_true(math.abs(q[4] ^ 2 + q[5] ^ 2 + q[6] ^ 2 + q[7] ^ 2 - 1) < 1e-14)
    assert.near(10, q[1], 1e-12)
  end)

  it("moves a free fall of a varying mass as its equations say", function() -- q' M'(q) v^2 / 2 by hand in fGyr
    local ds = ns.LagrangianDS {
      q0 = { 1 }, v0 = { 1 },
      mass = function(q, _, M) M[1][1] = 1 + q[1] ^ 2 end,
      fGyr = function(q, v, _, f) f[1] = q[1] * v[1] ^ 2 end,
    }
    local simu = simulate { systems = { ds }, T = 1, h = 1e-4 }
    simu:run()
    local q, v = ds:q()[1], ds:velocity()[1]
    assert.near(math.sqrt(2), math.sqrt(1 + q ^ 2) * v, 1e-3) -- the energy
    assert.is_true(simu:stats().max_newton_iterations <= 6)
  end)
end)

describe("MoreauJeanOSI with impacts", function()
  it("turns the velocity by -e exactly", function()
    for _, e in ipairs { 0, 0.3, 1 } do
      local ds = ball(0.1, -1, 0)
      simulate({ systems = { ds }, links = { { impact(e, { 1 }), ds } }, T = 1, h = 1e-2 }):run()
      assert.near(e, ds:velocity()[1], 1e-15)
    end
  end)

  it("comes to rest after the time of infinitely many impacts, with an error of order h", function()
    local exact = 3 * math.sqrt(2 / 9.81)
    local function late(h)
      local ds = ball(1)
      local sol = simulate({ systems = { ds }, links = { { impact(0.5, { 1 }), ds } }, T = 2, h = h }):run()
      local k = #sol
      while math.abs(sol.v1[k]) < 1e-9 do k = k - 1 end
      return math.abs(sol.t[k] - exact)
    end
    assert.is_true(late(1e-3) < 0.03)
    assert.is_true(late(1e-4) < 0.004)
  end)

  it("has order 1 in the L1 norm over impacts", function()
    local g, v1 = 2, math.sqrt(4)
    local function exact(t) -- from height 1, e = 0.5: the first impact at t = 1 with speed 2
      if t < 1 then return 1 - t * t end
      local s = t - 1
      return 0.5 * v1 * s - s * s
    end
    local function error_of(h)
      local ds = ball(1, 0, g)
      local sol = simulate({ systems = { ds }, links = { { impact(0.5, { 1 }), ds } }, T = 1.9, h = h }):run()
      local sum = 0
      for k = 1, #sol do sum = sum + h * math.abs(sol.q1[k] - exact(sol.t[k])) end
      return sum
    end
    local function mean(n) -- over steps that meet the impact early and late
      local sum = 0
      for i = 0, 9 do sum = sum + error_of(1.9 / (n + i)) / 10 end
      return sum
    end
    local ratio = mean(400) / mean(3200)
    assert.is_true(ratio > 5 and ratio < 16, "ratio " .. ratio)
  end)

  it("keeps momentum between two bodies", function()
    local a = ns.LagrangianLinearTIDS({ 0 }, { 1 }, { { 2 } })
    local b = ns.LagrangianLinearTIDS({ 1 }, { -1 }, { { 1 } })
    simulate({ systems = { a, b }, links = { { impact(1, { -1, 1 }), a, b } }, T = 2, h = 1e-2 }):run()
    assert.near(1, 2 * a:velocity()[1] + b:velocity()[1], 1e-15)
    assert.near(2, b:velocity()[1] - a:velocity()[1], 1e-15)
  end)

  it("keeps the momentum of rigid bodies to rounding", function()
    local a = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 1, 0, 0, 0.1, 0.2, 0.5 }, 2, ns.diag { 0.1, 0.2, 0.3 })
    local b = ns.NewtonEulerDS({ 1, 0.1, 0, 1, 0, 0, 0 }, { -1, 0, 0.2, 0, 0.3, 0 }, 1, 0.1 * ns.eye(3))
    local touch = ns.Interaction(ns.NewtonImpactNSL(1), ns.NewtonEulerR(function(_, q, _, y)
      y[1] = math.sqrt((q[8] - q[1]) ^ 2 + (q[9] - q[2]) ^ 2 + (q[10] - q[3]) ^ 2) - 0.5
    end))
    local simu = simulate { systems = { a, b }, links = { { touch, a, b } }, T = 1, h = 1e-2 }
    local before = simu:energy().total
    simu:run()
    local v, w = a:velocity(), b:velocity()
    assert.is_true(v[1] < 0.5)
    for k, momentum in ipairs { 1, 0, 0.2 } do assert.near(momentum, 2 * v[k] + w[k], 1e-15) end
    assert.is_true(imbalance(simu, before) < 1e-12)
  end)

  it("turns a rigid body's velocity by -e, whatever its spin", function()
    local body = ns.NewtonEulerDS({ 0, 0, 0.5, 1, 0, 0, 0 }, { 0.3, 0, -1, 0.1, 0.2, 0.5 }, 2, ns.diag { 0.1, 0.2, 0.3 })
    local floor = ns.Interaction(ns.NewtonImpactNSL(0.5), ns.NewtonEulerR(function(_, q, _, y) y[1] = q[3] - 0.2 end))
    simulate({ systems = { body }, links = { { floor, body } }, T = 1, h = 1e-2 }):run()
    assert.near(0.5, body:velocity()[3], 1e-15)
    assert.near(0.3, body:velocity()[1], 1e-15)
  end)

  it("takes coefficients and forces that change between steps", function()
    local ds, law, force = ball(1, 0), ns.NewtonImpactNSL(1), ns.vector { -9.81 }
    ds:setFExtPtr(force)
    local floor = ns.Interaction(law, ns.LagrangianLinearTIR { { 1 } })
    local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 3, h = 1e-2 }
    for k in simu:steps() do
      if k == 100 then law:setE(0) end
      if k == 200 then force[1] = 4 end
    end
    assert.near(4, ds:velocity()[1], 0.041) -- at rest at t = 2, then lifted
    assert.near(2, ds:q()[1], 0.05)
  end)

  it("follows a floor that moves, with and without a given hDot", function()
    local A, w = 0.1, 3
    for _, given in ipairs { false, true } do
      local ds = ball(0.5)
      local floor = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianRheonomousR {
        h = function(t, q, _, y) y[1] = q[1] - A * math.sin(w * t) end,
        hDot = given and function(t, _, _, r) r[1] = -A * w * math.cos(w * t) end or nil,
      })
      simulate({ systems = { ds }, links = { { floor, ds } }, T = 3, h = 1e-3 }):run()
      assert.near(A * w * math.cos(w * 3), ds:velocity()[1], 1e-9)
    end
  end)
end)

describe("MoreauJeanOSI with constraints and forces", function()
  it("holds a bilateral constraint at the velocity level, with order 1", function()
    local function energy_error(h)
      local simu, rod = pendulum_rod(h)
      local before = simu:energy().total
      for _ in simu:steps() do assert.is_true(math.abs(rod:y(1)[1]) < 1e-8) end
      assert.is_true(imbalance(simu, before) < 1e-12)
      return math.abs(simu:energy().total - before)
    end
    local ratio = energy_error(2e-3) / energy_error(1e-3)
    assert.is_true(math.abs(ratio - 2) < 0.2, "ratio " .. ratio)
  end)

  it("holds it to rounding when the tolerance asks for that", function()
    local simu, rod, ds = pendulum_rod(1e-3)
    simu:setNewtonTolerance(1e-13)
    for _ in simu:steps() do
      local q, v = ds:q(), ds:velocity()
      assert.is_true(math.abs(2 * (q[1] * v[1] + q[2] * v[2])) < 1e-12)
      assert.is_true(math.abs(rod:y(1)[1]) < 1e-12)
    end
  end)

  it("solves mixed laws, the equations first", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { -1, 1, -1 }, ns.eye(3))
    local mixed = ns.Interaction(ns.MixedComplementarityConditionNSL(2, 1), ns.LagrangianLinearTIR(ns.eye(3)))
    local simu = simulate { systems = { ds }, links = { { mixed, ds } }, T = 0.1, h = 0.1 }
    simu:computeOneStep()
    assert.equal(ns.vector { 0, 1, 0 }, ds:velocity())
    assert.equal(ns.vector { 1, 0, 1 }, mixed:lambda())
  end)

  it("projects the coordinates on the constraints", function()
    local drifts, rod = pendulum_rod(1e-2)
    drifts:run()
    assert.is_true(math.abs(rod:y(0)[1]) > 1e-5)
    local holds, rod2 = pendulum_rod(1e-2, true)
    local before = holds:energy().total
    for _ in holds:steps() do assert.is_true(math.abs(rod2:y(0)[1]) <= 1e-10) end
    assert.is_true(imbalance(holds, before) < 1e-12)
  end)

  it("projects contacts out of the floor", function()
    local ds = ball(1)
    local floor = impact(0.5, { 1 })
    local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 2, h = 5e-3, projection = true }
    for _ in simu:steps() do assert.is_true(floor:y(0)[1] >= -1e-10) end
  end)

  it("holds a spring of a compliant contact", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }, nil, { { 20 } })
    ds:setFExtPtr { -9.81 }
    local spring = ns.Interaction(ns.ComplementarityConditionNSL(1), ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1e-3 } }))
    simulate({ systems = { ds }, links = { { spring, ds } }, T = 5, h = 1e-3 }):run()
    assert.near(9.81, spring:lambda()[1], 1e-9)
    assert.near(-9.81e-3, ds:q()[1], 1e-12)
    assert.near(9.81e-3, ds:p()[1], 1e-12) -- h lambda
  end)

  it("holds a spring that stiffens", function()
    local ds = ns.LagrangianLinearTIDS({ 0.5 }, { 0 }, { { 2 } }, nil, { { 30 } })
    ds:setFExtPtr { -19.62 }
    local spring = ns.Interaction(ns.ComplementarityConditionNSL(1), ns.LagrangianCompliantR(function(q, lambda, _, y)
      y[1] = q[1] + 1e-3 * lambda[1] + 1e-5 * lambda[1] ^ 2
    end))
    local simu = simulate { systems = { ds }, links = { { spring, ds } }, T = 10, h = 1e-3 }
    local before = simu:energy().total
    simu:run()
    assert.near(19.62, spring:lambda()[1], 1e-9)
    assert.near(-1e-3 * 19.62 - 1e-5 * 19.62 ^ 2, ds:q()[1], 1e-12)
    assert.near(0, spring:y()[1], 1e-12)
    assert.is_true(imbalance(simu, before) < 1e-11)
  end)

  it("is an oscillator of order 1 where a spring is an equation", function()
    local function error_of(h)
      local ds = ns.LagrangianLinearTIDS({ 0.1 }, { 0 }, { { 2 } })
      local spring = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 / 8 } }))
      simulate({ systems = { ds }, links = { { spring, ds } }, T = 1, h = h }):run()
      return ds:q()[1] - 0.1 * math.cos(2)
    end
    assert.near(2, error_of(1e-2) / error_of(5e-3), 0.02)
  end)

  it("bounds a relay's impulse", function()
    local ds = ns.LagrangianLinearTIDS({ 0 }, { 1 }, { { 1 } })
    local h = 1e-2
    local brake = ns.Interaction(ns.RelayNSL(1, -2 * h, 2 * h), ns.LagrangianLinearTIR { { 1 } })
    local simu = simulate { systems = { ds }, links = { { brake, ds } }, T = 1, h = h }
    local sol = simu:run()
    assert.near(1 - 2 * 0.25, sol.v1[26], 1e-13)
    for k = 55, #sol do assert.near(0, sol.v1[k], 1e-15) end
  end)

  it("sticks exactly on a slope, or slides with the exact acceleration", function()
    local alpha, g = math.rad(30), 9.81
    for _, mu in ipairs { 0.7, 0.5 } do
      local ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
      ds:setFExtPtr { -g * math.cos(alpha), 0.6 * g * math.sin(alpha), 0.8 * g * math.sin(alpha) }
      local slope = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, mu, 3), ns.LagrangianLinearTIR(ns.eye(3)))
      local simu = simulate { systems = { ds }, links = { { slope, ds } }, T = 1, h = 1e-2 }
      local before = simu:energy().total
      simu:run()
      local v = ds:velocity()
      local speed = math.max(0, g * (math.sin(alpha) - mu * math.cos(alpha)))
      assert.near(0.6 * speed, v[2], 1e-9)
      assert.near(0.8 * speed, v[3], 1e-9)
      if speed == 0 then assert.same({ 0, 0, 0 }, { ds:q()[1], v[2], v[3] }) end
      assert.is_true(imbalance(simu, before) < 1e-10)
    end
  end)

  it("brings a block on its corners to rest, where impulses are not unique", function()
    for _, legs in ipairs { { { 0.5, 0 }, { -0.5, 0.5 }, { -0.5, -0.5 } },
      { { 0.5, 0.5 }, { 0.5, -0.5 }, { -0.5, 0.5 }, { -0.5, -0.5 } } } do
      local block = ns.NewtonEulerDS({ 0, 0, 0.5, 1, 0, 0, 0 }, { 0.5, 0, 0, 0, 0, 0 }, 10, ns.eye(3))
      block:setFExtPtr { 0, 0, -98.1 }
      local links = {}
      for k, leg in ipairs(legs) do
        local a, b, c = leg[1], leg[2], -0.5
        links[k] = { ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), ns.NewtonEulerR(function(_, q, _, y)
          local w, i, j, l = q[4], q[5], q[6], q[7]
          local s, t, u = 2 * (j * c - l * b), 2 * (l * a - i * c), 2 * (i * b - j * a)
          y[1], y[2], y[3] = q[3] + c + w * u + i * t - j * s, q[1] + a + w * s + j * u - l * t, q[2] + b + w * t + l * s - i * u
        end)), block }
      end
      local simu = simulate { systems = { block }, links = links, T = 0.5, h = 1e-2 }
      local before = simu:energy().total
      simu:run()
      assert.is_true(block:velocity():norm() < 1e-12)
      assert.near(-0.5 * 10 * 0.5 ^ 2, simu:energy().friction, 1e-9)
      assert.is_true(imbalance(simu, before) < 1e-12)
    end
  end)

  it("takes friction, equations and impacts in one problem", function()
    local ds = ns.LagrangianLinearTIDS({ 0.1, 0, 0 }, { 0, 1, 0 }, ns.eye(3))
    ds:setFExtPtr { -9.81, 0, 0 }
    local floor = ns.Interaction(ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 2), ns.LagrangianLinearTIR { { 1, 0, 0 }, { 0, 1, 0 } })
    local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { { 0, 1, -1 } })
    local wall = impact(0.5, { 0, -1, 0 }, { 0.3 })
    local simu = simulate { systems = { ds }, links = { { floor, ds }, { rod, ds }, { wall, ds } }, T = 2, h = 1e-2 }
    local before = simu:energy().total
    for _ in simu:steps() do assert.is_true(math.abs(ds:velocity()[2] - ds:velocity()[3]) < 1e-9) end
    assert.is_true(imbalance(simu, before) < 1e-9)
    assert.is_true(simu:energy().friction < 0)
  end)
end)

describe("MoreauJeanOSI as a simulation", function()
  local function bouncing()
    local ds = ball(1)
    return simulate { systems = { ds }, links = { { impact(0.9, { 1 }), ds } }, T = 2, h = 5e-3 }, ds
  end

  it("gives the same bits after a reset, in a clone, and when a step is computed twice", function()
    local simu, ds = bouncing()
    local first = simu:run()
    simu:reset()
    local copy = simu:clone()
    local again, other = simu:run(), copy:run()
    for k = 1, #first do
      assert.equal(first.q1[k], again.q1[k])
      assert.equal(first.v1[k], other.v1[k])
    end
    simu:reset()
    simu:energy()
    simu:computeOneStep()
    local q, e = ds:q()[1], simu:energy()
    simu:computeOneStep()
    assert.equal(q, ds:q()[1])
    assert.same(e, simu:energy())
  end)

  it("goes on after an error in a callback, from the last good step", function()
    local broken
    local ds = ns.LagrangianDS {
      q0 = { 1 }, v0 = { 0 }, name = "arm",
      fInt = function(_, q, _, _, f)
        if broken then error("no power") end
        f[1] = 4 * q[1]
      end,
    }
    local simu = simulate { systems = { ds }, T = 1, h = 0.1 }
    simu:computeOneStep()
    simu:nextStep()
    local q = ds:q()[1]
    broken = true
    assert.error_matches(function() simu:computeOneStep() end, "dynamical system 'arm' computeFInt: t=0.%d step 2.*no power")
    assert.equal(q, ds:q()[1])
    broken = false
    simu:computeOneStep()
    assert.is_true(ds:q()[1] < q)
  end)

  it("names what goes wrong in a mass, a force, an output", function()
    local nan = 0 / 0
    local function run(o, relation)
      o.q0, o.v0, o.name = { 1 }, { -1 }, "arm"
      local ds = ns.LagrangianDS(o)
      local links = relation and { { ns.Interaction(ns.NewtonImpactNSL(0), relation), ds } }
      return function() simulate({ systems = { ds }, links = links, T = 1, h = 0.1 }):run() end
    end
    assert.error_matches(run { mass = function(_, _, M) M[1][1] = 0 end },
      "dynamical system 'arm': W = .* is singular %(row 1, h=0.1%) %(t=0.1 step 1 newton 1%)")
    assert.error_matches(run { mass = function(_, _, M) M[1][1] = nan end }, "computeMass: t=0.1 step 1.*mass%[1%]%[1%] is nan")
    assert.error_matches(run { fInt = function(_, _, _, _, f) f[1] = nan end }, "computeFInt.*fInt%[1%] is nan")
    assert.error_matches(run { fGyr = function(_, _, _, f) f[1] = 1 / 0 end }, "computeFGyr.*fGyr%[1%] is inf")
    assert.error_matches(run({}, ns.LagrangianScleronomousR { h = function(_, _, y) y[1] = nan end }), "computeh.*y%[1%] is nan")
  end)

  it("refuses what does not go together", function()
    local first, second = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ball(1)
    first:setName "tank"
    second:setName "ball"
    assert.error_matches(function() simulate { systems = { first }, T = 1, h = 0.1 } end,
      "MoreauJeanOSI: dynamical system 'tank' is a first%-order one; use EulerMoreauOSI")
    assert.error_matches(function() simulate { systems = { second }, T = 1, h = 0.1, osi = ns.EulerMoreauOSI(1) } end,
      "EulerMoreauOSI: dynamical system 'ball' is a mechanical one; use MoreauJeanOSI")
    local function link(law, relation, ds)
      return function() simulate { systems = { ds }, links = { { ns.Interaction(law, relation), ds } }, T = 1, h = 0.1 } end
    end
    local lagrangian, linear = ns.LagrangianLinearTIR { { 1 } }, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
    assert.error_matches(link(ns.NewtonImpactNSL(0), lagrangian, ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })),
      "link: a LagrangianLinearTIR goes with mechanical systems; dynamical system 'ds 1' is not one")
    assert.error_matches(link(ns.RelayNSL(1), linear, ball(1)),
      "goes with first%-order systems; dynamical system 'ds 1' is not one")
    assert.error_matches(link(ns.NewtonImpactNSL(0), linear, ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })),
      "link: a NewtonImpactNSL can not act through a FirstOrderLinearTIR: it takes relations between velocities")
    local compliant = ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 } })
    assert.error_matches(link(ns.NewtonImpactNSL(0), compliant, ball(1)),
      "can not act through a LagrangianCompliantLinearTIR: it takes relations between velocities")
    assert.error_matches(link(ns.NormalConeNSL(1, { { 1 } }, { 0 }), ns.LagrangianLinearTIR { { 1 } }, ball(1)),
      "link: a NormalConeNSL can not act through a LagrangianLinearTIR: it takes first%-order relations")
  end)

  it("names the contact and the time of a problem without solution", function()
    local ds = ball(1, 1)
    ds:setFExtPtr { 0 }
    local one = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianLinearTIR { { 1 } }, "bar")
    local two = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianRheonomousR {
      h = function(t, q, _, y) y[1] = q[1] - t end, Jachq = function(_, _, _, C) C[1][1] = 1 end,
    }, "slide")
    local simu = simulate { systems = { ds }, links = { { one, ds }, { two, ds } }, T = 1, h = 0.1 }
    assert.error_matches(function() simu:computeOneStep() end,
      "GenericMechanical: the one%-step problem has no accepted solution: .*2 unknowns from 'bar' on.*t=0.1 step 1")
    assert.equal(1, ds:velocity()[1])
  end)
end)

-- Two rods, a wall on the left: M, forces and the gap are functions. `o.given`: also the Jacobian of the gap.
local function arm(o)
  local g, sin, cos = 9.81, math.sin, math.cos
  local ds = ns.LagrangianDS {
    q0 = o.q0 or { 1.5, 1.2 }, v0 = o.v0 or { 0, 0 }, name = "arm",
    mass = function(q, _, M)
      local c = cos(q[1] - q[2])
      M[1][1], M[1][2], M[2][1], M[2][2] = 2, c, c, 1
    end,
    fGyr = function(q, v, _, f)
      local s = sin(q[1] - q[2])
      f[1], f[2] = v[2] ^ 2 * s, -v[1] ^ 2 * s
    end,
    fInt = o.fInt or function(_, q, _, _, f) f[1], f[2] = 2 * g * sin(q[1]), g * sin(q[2]) end,
  }
  local function gap(q) return sin(q[1]) + sin(q[2]) + (o.wall or 0.3) end
  local relation = ns.LagrangianScleronomousR { h = o.h or function(q, _, y) y[1] = gap(q) end }
  local wall = ns.Interaction(ns.NewtonImpactNSL(0.8), relation)
  local simu = simulate { systems = { ds }, links = { { wall, ds } }, T = o.T or 1, h = o.h_step or 1e-3 }
  return simu, ds, wall, gap
end

local function bits(ds)
  local q, v = ds:q(), ds:velocity()
  return ("%a %a %a %a"):format(q[1], q[2], v[1], v[2])
end

local function steps(simu, n)
  for _ = 1, n do
    simu:computeOneStep()
    simu:nextStep()
  end
end

describe("MoreauJeanOSI starts Newton where the motion goes on", function()
  it("takes one iteration a step in flight, and gives what it gives with a tolerance of rounding", function()
    local simu, ds = arm { wall = 9 }
    simu:run()
    local stats = simu:stats()
    -- some steps more where a velocity passes 0: it is judged by its own size there, not by that of the other one
    assert.is_true(stats.newton_iterations <= 1.02 * stats.steps, "iterations " .. stats.newton_iterations)
    local sharp, exact = arm { wall = 9 }
    sharp:setNewtonTolerance(1e-15)
    sharp:run()
    assert.near(exact:q()[1], ds:q()[1], 1e-13)
    assert.near(exact:velocity()[2], ds:velocity()[2], 1e-12)
  end)

  it("differs by no more than the tolerance of Newton's method over impacts", function()
    local last, impacts
    for _, tolerance in ipairs { 1e-15, 1e-10, 1e-7 } do
      local simu, ds, wall = arm { T = 0.8 }
      simu:setNewtonTolerance(tolerance)
      impacts = 0
      for _ in simu:steps() do impacts = impacts + (wall:lambda(1)[1] > 0 and 1 or 0) end
      last = last or ds:q()[1]
      assert.near(last, ds:q()[1], 10 * tolerance + 1e-13)
    end
    assert.is_true(impacts > 0)
  end)

  it("goes on alike after a reset, in a clone, from a checkpoint, and after a step that failed", function()
    local simu, ds = arm {}
    steps(simu, 700)
    local expected = bits(ds)
    simu:reset()
    steps(simu, 300)
    local twin = simu:clone()
    local file = os.tmpname()
    simu:save_state(file)
    steps(simu, 400)
    assert.equal(expected, bits(ds))
    local resumed, ds3 = arm {}
    resumed:load_state(file)
    os.remove(file)
    steps(resumed, 400)
    assert.equal(expected, bits(ds3))
    steps(twin, 400)
    assert.equal(expected, bits(twin:nsds():dynamicalSystem(1)))

    local broken = false
    local simu2, ds2 = arm { fInt = function(_, q, _, _, f)
      if broken then error "no power" end
      f[1], f[2] = 2 * 9.81 * math.sin(q[1]), 9.81 * math.sin(q[2])
    end }
    steps(simu2, 300)
    broken = true
    assert.error_matches(function() simu2:computeOneStep() end, "no power")
    broken = false
    steps(simu2, 400)
    assert.equal(expected, bits(ds2))
  end)

  it("forgets the motion when the state is written", function()
    local simu, ds = arm { wall = 9 }
    steps(simu, 50)
    ds:q():assign { 0.4, -0.7 }
    ds:velocity():assign { 0.3, 2 }
    steps(simu, 2)
    local new, expected = arm { wall = 9, q0 = { 0.4, -0.7 }, v0 = { 0.3, 2 } }
    steps(new, 2)
    assert.equal(bits(expected), bits(ds))
  end)

  it("starts again from the last velocities when that leads nowhere", function()
    -- v' = 2000 (1 - v)^2, nan beyond v = 1, where a line through the first two velocities leads.
    local beyond = 0
    local ds = ns.LagrangianDS {
      q0 = { 0 }, v0 = { 0 },
      fInt = function(_, _, v, _, f)
        if v[1] > 1 then beyond = beyond + 1 end
        f[1] = v[1] <= 1 and -2000 * (1 - v[1]) ^ 2 or 0 / 0
      end,
      jacobianFIntqDot = function(_, _, v, _, J) J[1][1] = 4000 * (1 - v[1]) end,
    }
    local simu, x = simulate { systems = { ds }, T = 0.1, h = 0.01, osi = ns.MoreauJeanOSI(1) }, 1
    for _ in simu:steps() do
      x = (math.sqrt(1 + 80 * x) - 1) / 40 -- 1 - v of an implicit step
      assert.near(1 - x, ds:velocity()[1], 1e-10)
    end
    assert.is_true(beyond > 0)
    assert.equal(0, simu:stats().damped_steps)
  end)

  it("has the outputs of contacts that take no part, at the end of each step", function()
    local simu, ds, wall, gap = arm {}
    for _ = 1, 20 do
      steps(simu, 10)
      local q, v = ds:q(), ds:velocity()
      assert.equal(gap(q), wall:y(0)[1])
      assert.near(math.cos(q[1]) * v[1] + math.cos(q[2]) * v[2], wall:y(1)[1], 1e-14)
    end
  end)

  it("sees a wall that a script moves between two steps", function()
    local place = 5
    local simu, ds, wall = arm { h = function(q, _, y) y[1] = math.sin(q[1]) + math.sin(q[2]) + place end }
    steps(simu, 200)
    assert.equal(0, wall:lambda(1)[1])
    place = -math.sin(ds:q()[1]) - math.sin(ds:q()[2])
    assert.is_true(wall:y(1)[1] < 0) -- on its way to the wall
    local before = wall:y(1)[1]
    steps(simu, 1)
    assert.is_true(wall:lambda(1)[1] > 0)
    assert.near(-0.8 * before, wall:y(1)[1], 1e-8)
  end)
end)

describe("MoreauJeanOSI with a mass that varies", function()
  it("converges quadratically with a mass that varies alone", function()
    local r = moving.residuals(function()
      local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 4 }, mass = function(q, _, M) M[1][1] = 1 + q[1] ^ 2 end,
        fGyr = function(q, v, _, f) f[1] = q[1] * v[1] ^ 2 end }
      return simulate { systems = { ds }, T = 1, h = 0.1 }
    end, 5)
    for k = 3, 4 do assert.is_true(r[k] < 2 * r[k - 1] ^ 2, ("r%d %g after %g"):format(k, r[k], r[k - 1])) end
  end)

  it("differentiates a mass by dual numbers however it is written, by differences where it takes none", function()
    local duals = 0
    local function count(q)
      if type(q[1]) == "userdata" then duals = duals + 1 end
      return 1 + q[1] ^ 2 + q[2] ^ 2, 0.2 * math.sin(q[1] * q[2])
    end
    local forms = {
      elements = function(q, _, M)
        local a, b = count(q)
        M[1][1], M[1][2], M[2][1], M[2][2] = a, b, b, 2 * a
      end,
      rows = function(q, _, M)
        local a, b = count(q)
        M[1], M[2] = { a, b }, ns.vector { 1, 2 } * a
        M[2][1] = b
      end,
      returned = function(q)
        local a, b = count(q)
        return { { a, b }, { b, 2 * a } }
      end,
      matrix = function(q, _, M)
        local a, b = count(q)
        M:assign(ns.matrix { { a, b }, { b, 2 * a } })
      end,
    }
    local first
    for form, mass in pairs(forms) do
      local function make()
        local ds = ns.LagrangianDS { q0 = { 1, 0.5 }, v0 = { 4, -2 }, mass = mass,
          fGyr = function(q, v, _, f) f[1], f[2] = q[1] * v[1] ^ 2, 2 * q[2] * v[2] ^ 2 end }
        return simulate { systems = { ds }, T = 1, h = 0.05 }, ds
      end
      local r = moving.residuals(make, 4)
      assert.is_true(r[3] < 3 * r[2] ^ 2 and r[4] < 1e-9, ("%s: %g, %g, %g"):format(form, r[2], r[3], r[4]))
      local simu, ds = make()
      duals = 0
      simu:run()
      assert.equal(form ~= "matrix", duals > 2, form) -- asked once, or once more with functions farther away
      first = first or ds:q()[1]
      assert.near(first, ds:q()[1], 1e-9)
    end
  end)
end)

describe("numbers of mechanics that overflow", function()
  it("are told, and the state stays", function()
    local stiff = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 1.7e308 } })
    local fast = ns.LagrangianLinearTIDS({ 0 }, { 1.7e308 }, { { 1 } })
    fast:setFExtPtr { 1.7e308 }
    local cases = {
      { stiff, 10, "dynamical system 'ds 1': W = M - h theta dF/dv - h^2 theta^2 dF/dq is not finite (t=10 step 1" },
      { fast, 1, "dynamical system 'ds 1': v[1] became inf (t=1 step 1 newton 1)" },
    }
    for _, case in ipairs(cases) do
      local ds, h, text = table.unpack(case)
      local simu, q = simulate { systems = { ds }, T = h, h = h, osi = ns.MoreauJeanOSI(1) }, ds:q()[1]
      local good, err = pcall(simu.computeOneStep, simu)
      assert.is_false(good)
      assert.truthy(err:find(text, 1, true), err)
      assert.equal(q, ds:q()[1])
    end
  end)
end)

describe("a pin between free bodies", function()
  -- What a link of length 1, let go where it is horizontal, has lost after 4 seconds.
  local function lost(make, h, osi)
    local sys = ns.mechanics.system { gravity = { 0, -9.81 } }
    sys:pin(sys:free_body { mass = 1, inertia = 1 / 12 }, { -0.5, 0 }, sys.ground)
    local ds, joint = sys:lagrangian { q0 = { 0.5, 0, 0 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 4)
    nsds:insertDynamicalSystem(ds)
    nsds:link(joint, ds)
    local simu = make(nsds, ns.TimeDiscretisation(0, h), osi)
    local before = simu:energy().total
    simu:run()
    return before - simu:energy().total
  end

  it("costs energy of first order, with a projection too, and none with EventDriven #once", function()
    assert.near(0.992, lost(ns.TimeStepping, 5e-3, ns.MoreauJeanOSI(0.5)), 1e-3)
    assert.near(0.535, lost(ns.TimeStepping, 2.5e-3, ns.MoreauJeanOSI(0.5)), 1e-3)
    assert.near(0.992, lost(ns.TimeSteppingCombinedProjection, 5e-3, ns.MoreauJeanOSI(0.5)), 1e-3)
    assert.near(0, lost(ns.EventDriven, 1e-2, ns.RungeKuttaOSI()), 1e-12)
  end)
end)

describe("What MoreauJeanOSI keeps from step to step", function()
  local contact = ns.contact

  local function body(q, inertia)
    local ds = ns.NewtonEulerDS(q, { 0, 0, 0, 3 * math.random(), 2, 1 }, 1, inertia)
    ds:setFExtPtr { 0, 0, -9.81 }
    return ds
  end

  -- Bodies that fall upon each other. `anew`: a stranger's contact comes and goes, so that each step has a new workspace.
  local function heap(seed, anew)
    math.randomseed(seed)
    local shapes = { contact.sphere(0.1), contact.box(0.1, 0.08, 0.06), contact.cylinder(0.08, 0.2), contact.capsule(0.05, 0.1) }
    local nsds, bodies = ns.NonSmoothDynamicalSystem(0, 1), {}
    local space = contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0.1, 0, 0.5, 3), reach = 0.05 }
    space:add_plane(contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
    for k = 1, 6 do
      local same = math.random() < 0.5
      bodies[k] = body({ 0.1 * math.random(), 0.1 * math.random(), 0.25 * k - 0.1, 1, 0, 0, 0 },
        { { 0.002, 0, 0 }, { 0, same and 0.002 or 0.003, 0 }, { 0, 0, same and 0.002 or 0.004 } })
      nsds:insertDynamicalSystem(bodies[k])
      space:add(bodies[k], shapes[math.random(#shapes)])
    end
    local stranger = ns.LagrangianLinearTIDS({ 5, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
    local far = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0, 3), ns.LagrangianLinearTIR(ns.eye(3)))
    nsds:insertDynamicalSystem(stranger)
    space:update()
    local osi = ns.MoreauJeanOSI(0.5)
    osi:setLinearlyImplicit(math.random() < 0.7)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.005), osi, ns.FrictionContact(3, { tolerance = 1e-8 }))
    local numbers = {}
    for k = 1, 60 do
      if anew and k % 2 == 1 then nsds:link(far, stranger) elseif anew then nsds:unlink(far) end
      simu:computeOneStep()
      simu:nextStep()
      space:update()
      for _, b in ipairs(bodies) do numbers[#numbers + 1] = table.concat(b:q():totable(), " ") end
    end
    return numbers, simu
  end

  it("changes no bit: a new workspace in each step gives the same motion", function()
    for seed = 1, campaign(2, 1) do
      local kept, new = heap(seed), heap(seed, true)
      for k = 1, #kept do assert.equal(kept[k], new[k], "seed " .. seed .. ", number " .. k) end
    end
  end)

  it("are the factors of a body whose W keeps its bits, and of no other", function()
    local function factorizations(inertia)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(body({ 0, 0, 0, 1, 0, 0, 0 }, inertia))
      local osi = ns.MoreauJeanOSI(0.5)
      osi:setLinearlyImplicit(true)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), osi, ns.FrictionContact(3))
      for _ = 1, 10 do simu:computeOneStep() simu:nextStep() end
      return simu:stats().factorizations
    end
    assert.equal(1, factorizations(0.002 * ns.eye(3)))
    assert.equal(10, factorizations { { 0.002, 0, 0 }, { 0, 0.003, 0 }, { 0, 0, 0.004 } })
  end)
end)
