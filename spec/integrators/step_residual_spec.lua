-- The test of a step: rows by their terms, unknowns by their sizes, whatever else is in the system.
local campaign = require "campaign"
local ns = require "nslua"
local real = require "random_numbers".signed

local function step_through(nsds, osi, h)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi)
  return simu, simu:run()
end

describe("a step's unknowns", function()
  -- A valve's lift (m) that settles at L, beside a pressure (Pa), in one system and in two.
  it("are judged by their own sizes: a lift in m beside a pressure in Pa", function()
    local L, P = 1e-3, 1e7
    local function rate(s) return 10 * L * (1 - (s / L) ^ 5) end
    local both = ns.FirstOrderNonLinearDS({ P, 0.1 * L }, function(_, x, _, f)
      f[1], f[2] = -0.01 * (x[1] - P), rate(x[2])
    end)
    local lift = ns.FirstOrderNonLinearDS({ 0.1 * L }, function(_, x, _, f) f[1] = rate(x[1]) end)
    local ends = {}
    for _, ds in ipairs { both, lift } do
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ds)
      step_through(nsds, ns.EulerMoreauOSI(1), 0.5)
      ends[#ends + 1] = ds:x()[#ds:x()] / L
    end
    assert.near(ends[2], ends[1], 1e-13)
    -- the equation of the last step, s - s_k = h f(s), would be off by what the first iteration left
    assert.near(0.9999978787563, ends[1], 1e-12)
  end)

  local function pendulum(others, make)
    local q0, v0, m = { 1 }, { 0 }, { 1 }
    for i = 1, others do q0[i + 1], v0[i + 1], m[i + 1] = 1e8, 1e12, 1 end
    local ds = ns.LagrangianDS {
      q0 = q0, v0 = v0, mass = ns.diag(m),
      fInt = function(_, q, v, _, f) f[1] = 1e3 * math.sin(q[1]) + v[1] ^ 3 end,
    }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = step_through(nsds, make(), 0.1)
    return ds:q()[1], ds:velocity()[1], simu:stats().newton_iterations
  end

  it("are judged by their own sizes: an angle beside a coordinate of 1e8 m", function()
    for _, make in ipairs { function() return ns.MoreauJeanOSI(0.5) end, function() return ns.SchatzmanPaoliOSI(0.5) end } do
      assert.same({ pendulum(0, make) }, { pendulum(1, make) })
    end
  end)

  it("may be tiny: nothing is absolute that was not asked for", function()
    for _, size in ipairs { 1, 1e-15, 1e-150 } do
      local ds = ns.FirstOrderNonLinearDS({ 2 * size }, function(_, x, _, f) f[1] = -x[1] * (x[1] / size) ^ 2 end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      step_through(nsds, ns.EulerMoreauOSI(1), 1)
      assert.near(1, ds:x()[1] / size, 1e-14) -- u + u^3 = 2
    end
  end)

  it("that cancel to 0 do not keep a step from passing", function()
    local ds = ns.FirstOrderNonLinearDS({ 0, 1e-3, 1e5 }, function(_, x, _, f)
      local a, b = 1e5 * math.sin(x[3] / 1e5), 1e5 * math.sin(x[3] / 1e5 + x[1])
      f[1], f[2], f[3] = a - b, x[1] - x[2], -x[3]
    end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = step_through(nsds, ns.EulerMoreauOSI(1), 0.01)
    assert.is_true(math.abs(ds:x()[1]) < 1e-13)
    assert.is_true(simu:stats().max_newton_iterations <= 5)
  end)
end)

describe("a step's tolerance", function()
  local function simulation(atol, residual)
    local ds = ns.FirstOrderNonLinearDS({ 2 }, function(_, x, _, f) f[1] = -x[1] ^ 3 end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1))
    simu:setNewtonTolerance(1e-15, atol)
    if residual then simu:setNewtonAbsoluteResidual(residual) end
    simu:run()
    return math.abs(ds:x()[1] - 1), simu:newtonIterations()
  end

  it("is absolute where a script says so", function()
    local exact, most = simulation(0)
    local rough, few = simulation(0.01)
    assert.is_true(exact < 1e-15)
    assert.is_true(few < most and rough < 0.01)
    local _, default = simulation()
    assert.equal(most, default)
  end)

  it("may be one of the residuals themselves", function()
    local _, most = simulation(0)
    local rough, few = simulation(0, 0.1)
    assert.is_true(few < most and rough > 1e-8 and rough < 0.1)
    local simu = ns.TimeStepping(ns.NonSmoothDynamicalSystem(0, 1), ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1))
    assert.error_matches(function() simu:setNewtonAbsoluteResidual(-1) end,
      "setNewtonAbsoluteResidual: residual: expected 0 or more, got %-1.0")
    assert.error_matches(function() simu:setNewtonAbsoluteResidual() end, "setNewtonAbsoluteResidual: residual: expected")
  end)
end)

-- Points on a floor with friction, joined by rods, some of whose coefficients are callbacks: a tree of 1 to 4.
describe("contacts with friction beside equations", function()
  local function points(seed)
    math.randomseed(seed)
    local random = math.random
    local h, all = ({ 1e-3, 5e-3, 1e-2, 5e-2 })[random(4)], {}
    local nsds = ns.NonSmoothDynamicalSystem(0, 20 * h)
    for i = 1, random(1, 4) do
      local m = 10 ^ (4 * random() - 2)
      local q0 = { i + 0.3 * random(), random(), random() < 0.7 and 0 or 0.1 * random() }
      local v0 = { 2 * random() - 1, 2 * random() - 1, random() < 0.5 and -random() or 0 }
      local ds
      if random() < 0.7 or i == 1 then
        ds = ns.LagrangianDS { q0 = q0, v0 = v0, mass = ns.diag { m, m, m },
          fInt = function(_, _, v, _, f) f[1], f[2], f[3] = 0.1 * m * v[1], 0, 9.81 * m end }
      else
        ds = ns.LagrangianLinearTIDS(q0, v0, ns.diag { m, m, m })
        ds:setFExtPtr { 0, 0, -9.81 * m }
      end
      nsds:insertDynamicalSystem(ds)
      local law = ns.NewtonImpactFrictionNSL(random() < 0.5 and 0 or 0.5, 0, random(), 3)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }), ds)
      if i > 1 then
        local other = all[random(1, i - 1)]
        local d = { 2 * random() - 1, 2 * random() - 1, 2 * random() - 1 }
        local a, b = other:q(), ds:q()
        local square = (a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2
        local rod = random() < 0.5 and ns.LagrangianLinearTIR { { d[1], d[2], d[3], -d[1], -d[2], -d[3] } }
          or ns.LagrangianScleronomousR { h = function(q, _, y)
            y[1] = (q[1] - q[4]) ^ 2 + (q[2] - q[5]) ^ 2 + (q[3] - q[6]) ^ 2 - square
          end }
        nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), rod), other, ds)
      end
      all[i] = ds
    end
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(({ 0.5, 1, 0.75 })[random(3)]))
  end

  it("are not tested more tightly than their solver was asked for #once", function()
    for seed = 1, (campaign(200, 0.1)) do
      local simu = points(seed)
      local good, why = pcall(simu.run, simu)
      assert.is_true(good, seed .. ": " .. tostring(why))
    end
  end)
end)

describe("a step of smooth spheres, whose spin is rounding alone,", function()
  local random = math.random

  -- Spheres of about R that fall into a trough of three planes, `away` from the origin: what steps took, and the spin.
  local function falling(R, away, tau)
    local count, m, law = random(2, 6), 2.0 ^ random(-30, 30), ns.NewtonImpactNSL(random() < 0.5 and 0 or random())
    local place = { away * real(), away * real(), away * real() }
    local a, b = 0.5 * real(), 0.5 * real()
    local c, planes, balls = math.sqrt(1 - a * a - b * b), {}, {}
    for i, n in ipairs { { a, b, c }, { -a, b, c }, { a, -b, c } } do planes[i] = ns.contact.plane(place, n) end
    local nsds = ns.NonSmoothDynamicalSystem(0, 80 * 0.02 * tau)
    for i = 1, count do
      local r = R * (0.8 + 0.2 * random())
      local q0 = { place[1] + 2 * R * real(), place[2] + 2 * R * real(), place[3] + R * (4 + 2.2 * i), 1, 0, 0, 0 }
      local v0 = { R / tau * real(), R / tau * real(), R / tau * real(), 0, 0, 0 }
      local ds = ns.NewtonEulerDS(q0, v0, m, 0.4 * m * r * r * ns.eye(3))
      ds:setFExtPtr { 0, 0, -10 * m * R / tau / tau }
      nsds:insertDynamicalSystem(ds)
      for _, plane in ipairs(planes) do nsds:link(ns.Interaction(law, ns.contact.sphere_plane(r, plane, 1)), ds) end
      for j = 1, i - 1 do nsds:link(ns.Interaction(law, ns.contact.sphere_sphere(r, 0.9 * R, 1)), ds, balls[j]) end
      balls[i] = ds
    end
    local simu, most, spin = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02 * tau), ns.MoreauJeanOSI(0.5)), 0, 0
    for _ in simu:steps() do most = math.max(most, simu:newtonIterations()) end
    for _, ds in ipairs(balls) do
      for j = 4, 6 do spin = math.max(spin, math.abs(ds:velocity()[j]) * tau) end
    end
    return most, spin
  end

  it("converges, wherever they are and whatever their size is #once", function()
    local slow, count = 0, campaign(150, 0.1)
    for seed = 1, count do
      math.randomseed(seed)
      local R, away = 2.0 ^ random(-20, 20), ({ 0, 1, 1, 1e3, 1e5 })[random(5)]
      local most, spin = falling(R, away * R, 2.0 ^ random(-10, 10))
      if most > 20 then slow = slow + 1 end
      assert.is_true(spin <= 1e-12 * (1 + away))
    end
    assert.equal(0, slow)
  end)
end)

describe("a step of bodies that hang still from ball joints, where only rounding turns them,", function()
  local random = math.random

  -- The vector c of a body with the quaternion (q[k], ...), in space.
  local function turned(q, k, c)
    local w, x, y, z = q[k], q[k + 1], q[k + 2], q[k + 3]
    local a, b, d = 2 * (y * c[3] - z * c[2]), 2 * (z * c[1] - x * c[3]), 2 * (x * c[2] - y * c[1])
    return c[1] + w * a + y * d - z * b, c[2] + w * b + z * a - x * d, c[3] + w * d + x * b - y * a
  end

  local function joint(up, down, anchor)
    return ns.NewtonEulerR { h = function(_, q, _, y)
      local a, b, c = turned(q, 4, up)
      local d, e, f = anchor[1], anchor[2], anchor[3]
      if down then
        d, e, f = turned(q, 11, down)
        d, e, f = q[8] + d, q[9] + e, q[10] + f
      end
      y[1], y[2], y[3] = q[1] + a - d, q[2] + b - e, q[3] + c - f
    end }
  end

  -- One to three bodies of about R, each at any angle, below each other and `away` from the origin: what steps took.
  local function hanging(R, away, tau)
    local m, nsds, down, above = 2.0 ^ random(-20, 20), ns.NonSmoothDynamicalSystem(0, 40 * 0.02 * tau), nil, nil
    local at, kick = { away * real(), away * real(), away * real() }, random() < 0.5 and 0 or real() / tau
    for _ = 1, random(3) do
      local e, l = ns.vector { real(), real(), real(), real() }, R * (0.5 + random())
      e = (e / ns.norm(e)):totable()
      local up = { turned({ e[1], -e[2], -e[3], -e[4] }, 1, { 0, 0, l }) }
      local inertia = 0.4 * m * l * l * ns.diag { 1, 1 + 0.3 * random(), 1 }
      local ds = ns.NewtonEulerDS({ at[1], at[2], at[3] - l, table.unpack(e) }, { 0, 0, 0, above and 0 or kick, 0, 0 }, m, inertia)
      ds:setFExtPtr { 0, 0, -10 * m * R / tau / tau }
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(3), joint(up, down, { table.unpack(at) })), ds, above)
      above, down, at[3] = ds, { -up[1], -up[2], -up[3] }, at[3] - 2 * l
    end
    local simu, most = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02 * tau), ns.MoreauJeanOSI(0.5)), 0
    for _ in simu:steps() do most = math.max(most, simu:newtonIterations()) end
    return most
  end

  it("converges, wherever they are and whatever their size is #once", function()
    for seed = 1, (campaign(25, 0.01)) do
      math.randomseed(seed)
      local R, away = 2.0 ^ random(-20, 20), ({ 0, 1, 1, 1e3, 1e5 })[random(5)]
      assert.is_true(hanging(R, away * R, 2.0 ^ random(-10, 10)) <= 20)
    end
  end)
end)

describe("a step of planar bodies that hang still from pins", function()
  local random = math.random

  -- Pins of body b to the place `at`, or to the lower end of the body above it.
  local function pin(b, above, at)
    return ns.LagrangianScleronomousR { h = function(q, _, y)
      local x, z = at[1], at[2]
      if above then x, z = q[4] + above.l * math.cos(q[6] + above.off), q[5] + above.l * math.sin(q[6] + above.off) end
      y[1], y[2] = q[1] - b.l * math.cos(q[3] + b.off) - x, q[2] - b.l * math.sin(q[3] + b.off) - z
    end }
  end

  local function hanging(R, away, tau)
    local m, nsds, above = 2.0 ^ random(-20, 20), ns.NonSmoothDynamicalSystem(0, 40 * 0.02 * tau), nil
    local at = { away * real(), away * real() }
    local angle = random() < 0.5 and -math.pi / 2 or random(-3, 3) * math.pi / 2 + (random() < 0.5 and 0 or real())
    for _ = 1, random(3) do
      local b = { l = R * (0.5 + random()), off = -math.pi / 2 - angle }
      local own = m * (1 + random())
      b.ds = ns.LagrangianDS({ at[1], at[2] - b.l, angle }, { 0, 0, 0 }, ns.diag { own, own, own * b.l * b.l / 3 })
      b.ds:setFExtPtr { 0, -10 * own * R / tau / tau, 0 }
      nsds:insertDynamicalSystem(b.ds)
      local joint = ns.Interaction(ns.EqualityConditionNSL(2), pin(b, above, { at[1], at[2] }))
      nsds:link(joint, b.ds, above and above.ds)
      above, at[2] = b, at[2] - 2 * b.l
    end
    local simu, most, q = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02 * tau), ns.MoreauJeanOSI(0.5)), 0, above.ds:q()[2]
    for _ in simu:steps() do most = math.max(most, simu:newtonIterations()) end
    return most, math.abs(above.ds:q()[2] - q)
  end

  it("converges, wherever they are and whatever their size is #once", function()
    local slow, count = 0, campaign(150, 0.1)
    for seed = 1, count do
      math.randomseed(seed)
      local R, away = 2.0 ^ random(-20, 20), ({ 0, 1, 1, 1e3, 1e5 })[random(5)]
      local most, moved = hanging(R, away * R, 2.0 ^ random(-10, 10))
      assert.is_true(moved <= 1e-12 * R * (1 + away))
      if most > 20 then slow = slow + 1 end
    end
    assert.is_true(slow <= 1 + count // 100, slow .. " are slow")
  end)
end)
