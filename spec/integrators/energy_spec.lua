-- Where the energy goes in a step of the theta scheme: each entry by its own formula, and nothing left over.
local ns = require "nslua"
local moving = require "moving"
local simulate, imbalance, impact, ball = moving.simulate, moving.imbalance, moving.impact, moving.ball

-- Runs, and gives at each step the velocity's mean by theta; the energies in the end, and the total before.
local function run(simu, ds, theta, each)
  local before, v, q = simu:energy().total, ds:velocity():copy(), ds:q():copy()
  for k, t in simu:steps() do
    local now, at = ds:velocity():copy(), ds:q():copy()
    if each then each { k = k, t = t, mean = theta * now + (1 - theta) * v, dv = now - v, dq = at - q, v = v, q = q } end
    v, q = now, at
    assert.is_true(imbalance(simu, before) < 1e-11 * math.max(1, math.abs(before)), "step " .. k)
  end
  return simu:energy(), before
end

describe("the account of the energy", function()
  it("closes to rounding over impacts", function()
    for _, theta in ipairs { 0.5, 0.7, 1 } do
      local ds = ns.LagrangianLinearTIDS({ 0.4 }, { 0.4 }, { { 1.221 } }, { { 1430 } }, { { 0.8 } })
      ds:setFExtPtr { 3 }
      local simu = simulate {
        systems = { ds }, links = { { impact(0.8, { 1 }), ds } }, T = 0.5, h = 1e-3, osi = ns.MoreauJeanOSI(theta),
      }
      local e, before = run(simu, ds, theta)
      assert.is_true(e.impacts < 0 and e.damping < 0)
      if theta == 0.5 then assert.is_true(math.abs(e.numerical) < 1e-12 * before) else assert.is_true(e.numerical < 0) end
    end
  end)

  it("has the work of a relay as friction, with every integrator", function()
    local h, bound = 0.01, 0.5
    for _, osi in ipairs { ns.MoreauJeanOSI(0.5), ns.MoreauJeanGOSI(0.5), ns.RungeKuttaOSI() } do
      local ds = ns.LagrangianLinearTIDS({ 0 }, { 1 }, { { 1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local located = tostring(osi):find "RungeKutta" -- there lambda is a force, else an impulse
      local most = located and bound or bound * h
      nsds:link(ns.Interaction(ns.RelayNSL(1, -most, most), ns.LagrangianLinearTIR { { 1 } }), ds)
      local simu = (located and ns.EventDriven or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, h), osi)
      simu:energy()
      simu:run()
      local e = simu:energy()
      assert.near(-0.375, e.friction, 1e-12) -- the velocity falls from 1 to 1/2
      assert.equal(0, e.impacts)
      assert.near(0, e.numerical, 1e-12)
    end
  end)

  it("has the scheme's own loss: (theta - 1/2) of the changes' energies, in linear models", function()
    local M, K, h = ns.matrix { { 2, 0.3 }, { 0.3, 1 } }, ns.matrix { { 50, -20 }, { -20, 30 } }, 0.02
    for _, theta in ipairs { 0.5, 0.8, 1 } do
      local ds, lost = ns.LagrangianLinearTIDS({ 1, -0.5 }, { 0, 2 }, M, K), 0
      local simu = simulate { systems = { ds }, T = 1, h = h, osi = ns.MoreauJeanOSI(theta) }
      local e = run(simu, ds, theta, function(s)
        lost = lost - (theta - 0.5) * (s.dv:dot(M * s.dv) + s.dq:dot(K * s.dq))
      end)
      assert.near(lost, e.numerical, 1e-10)
      assert.near(0, e.forces, 1e-10)
      assert.equal(0, e.damping)
    end
  end)

  it("has the work of damping, -h v' C v of the mean velocities", function()
    local C, h, theta, sum = ns.matrix { { 0.7, 0.1 }, { 0.1, 0.4 } }, 0.01, 0.6, 0
    local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 1 }, ns.eye(2), 9 * ns.eye(2), C)
    local simu = simulate { systems = { ds }, T = 1, h = h, osi = ns.MoreauJeanOSI(theta) }
    local e = run(simu, ds, theta, function(s) sum = sum - h * s.mean:dot(C * s.mean) end)
    assert.near(sum, e.damping, 1e-11)
    assert.near(0, e.forces, 1e-11)
  end)

  it("has the work of a force of time, theta's mean of it over the mean of the velocities", function()
    local h, theta, sum = 0.01, 0.7, 0
    local function force(t) return 3 * math.sin(5 * t) end
    local ds = ns.LagrangianDS { q0 = { 0 }, v0 = { 1 }, mass = { { 2 } }, fExt = function(t, _, f) f[1] = force(t) end }
    local simu = simulate { systems = { ds }, T = 1, h = h, osi = ns.MoreauJeanOSI(theta) }
    local e = run(simu, ds, theta, function(s)
      sum = sum + h * (theta * force(s.t) + (1 - theta) * force(s.t - h)) * s.mean[1]
    end)
    assert.near(sum, e.forces, 1e-11)
    assert.is_true(math.abs(sum) > 0.1)
  end)

  it("has the (1 - e^2)th part of the kinetic energy at an impact, shared among bodies", function()
    for _, e in ipairs { 0, 0.4, 1 } do
      local a, b = ball(0, 2, 0), ns.LagrangianLinearTIDS({ 1.003 }, { -1 }, { { 3 } })
      local meet = ns.Interaction(ns.NewtonImpactNSL(e), ns.LagrangianLinearTIR { { -1, 1 } })
      local simu = simulate { systems = { a, b }, links = { { meet, a, b } }, T = 1, h = 0.01 }
      local energy, before = run(simu, a, 0.5)
      assert.near(3.5, before, 1e-15)
      assert.near(-0.5 * (3 / 4) * 9 * (1 - e * e), energy.impacts, 1e-12) -- the reduced mass, the relative velocity
      assert.near(0, energy.forces + energy.numerical, 1e-12)
    end
  end)

  it("has the work of friction, -mu m g over the way, and that of the normal impulse apart from it", function()
    local mu, m, g = 0.3, 2, 9.81
    local ds, way = ns.LagrangianLinearTIDS({ 0, 0 }, { 1.5, 0 }, m * ns.eye(2)), 0
    ds:setFExtPtr { 0, -m * g }
    local floor = ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } })
    local simu = simulate { systems = { ds }, links = { { floor, ds } }, T = 0.4, h = 1e-3 }
    local e = run(simu, ds, 0.5, function(s) way = way + 1e-3 * s.mean[1] end)
    assert.near(-mu * m * g * way, e.friction, 1e-11)
    assert.near(0, e.impacts, 1e-12)
    assert.is_true(way > 0.2)
  end)

  it("has the work of what prescribes a velocity", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 0 }, ns.eye(2), { { 4, -4 }, { -4, 4 } })
    ds:setBoundaryConditions(ns.FixedBC { 1 })
    local simu = simulate { systems = { ds }, T = 1, h = 0.01 }
    local e, before = run(simu, ds, 0.5)
    assert.is_true(math.abs(e.boundary) > 0.1)
    assert.near(e.total - before, e.boundary, 1e-10)
  end)

  it("closes where the mass varies, with a potential", function()
    local function swing(theta, h)
      local ds = ns.LagrangianDS { q0 = { 1, 0.4 }, v0 = { 0.5, -1 },
        mass = function(q, _, M)
          local c = math.cos(q[1] - q[2])
          M[1][1], M[1][2], M[2][1], M[2][2] = 2, c, c, 1
        end,
        fGyr = function(q, v, _, f)
          local s = math.sin(q[1] - q[2])
          f[1], f[2] = v[2] ^ 2 * s, -v[1] ^ 2 * s
        end,
        fInt = function(_, q, _, _, f) f[1], f[2] = 19.62 * math.sin(q[1]), 9.81 * math.sin(q[2]) end,
        potential = function(q, _, e) e[1] = -19.62 * math.cos(q[1]) - 9.81 * math.cos(q[2]) end }
      local e, before = run(simulate { systems = { ds }, T = 1, h = h, osi = ns.MoreauJeanOSI(theta) }, ds, theta)
      return math.abs(e.total - before)
    end
    swing(1, 0.01)
    local ratio = swing(0.5, 0.01) / swing(0.5, 0.005) -- the mass is that of the end of the step: first order
    assert.is_true(math.abs(ratio - 2) < 0.2, "ratio " .. ratio)
  end)

  it("has the residual of a linearised step in the numerical error: forces do the work of the scheme's forces", function()
    local draw, hits = ns.rng(7), 0
    for trial = 1, 8 do
      local theta, h, linear = 0.5 + 0.5 * draw:uniform(), 0.05, trial % 4 > 0
      local a, b, c = 1 + 9 * draw:uniform(), draw:uniform(), draw:uniform()
      local function inner(q, v, f)
        f[1], f[2] = a * q[1] ^ 3 + b * v[1] * v[2] ^ 2, c * q[1] * q[2] + a * math.sin(q[2]) + v[2] ^ 3
        return f
      end
      local function force(ds) return -inner(ds:q(), ds:velocity(), ns.zeros(2)) end
      local M = ns.matrix { { 1 + c, 0.2 }, { 0.2, 1 } }
      local ds = ns.LagrangianDS({ 1, draw:uniform() }, { 0.3, -1 }, M)
      ds:setComputeFIntFunction(function(_, q, v, _, f) inner(q, v, f) end)
      local osi = ns.MoreauJeanOSI(theta)
      osi:setLinearlyImplicit(linear)
      local wall = { impact(0.5, { 1, 0.5 }), ds }
      local simu = simulate { systems = { ds }, links = { wall }, T = 2, h = h, osi = osi }
      local work, last = 0, force(ds)
      local e = run(simu, ds, theta, function(s)
        local now = force(ds)
        work, last = work + h * s.mean:dot(theta * now + (1 - theta) * last), now
      end)
      if e.impacts < 0 then hits = hits + 1 end
      assert.near(work, e.forces, 1e-9 * math.abs(work), "trial " .. trial)
    end
    assert.is_true(hits > 2, hits)
  end)

  it("begins with the first call, and is not there before", function()
    local ds = ball(1, 0)
    local simu = simulate { systems = { ds }, links = { { impact(0.5, { 1 }), ds } }, T = 2, h = 1e-2 }
    simu:run()
    local e = simu:energy()
    assert.equal(0, e.impacts)
    assert.equal(e.kinetic + e.potential, e.total)
  end)
end)
