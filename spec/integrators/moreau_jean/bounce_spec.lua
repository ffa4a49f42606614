-- Impacts that would gain energy: no island gains any, and Newton's law stands to the last bit where it gains nothing.
local expect = require "expect"
local moving = require "moving"
local ns = require "nslua"

local sqrt, abs = math.sqrt, math.abs

local function linear(q, v, masses) return ns.LagrangianLinearTIDS(q, v, ns.diag(masses)) end

-- A relation with the gap h(q).
local function gap(h) return ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = h(q) end } end

local function impact(e, h) return ns.Interaction(ns.NewtonImpactNSL(e), gap(h)) end

-- A point outside of an ellipse with the half axes 2 and 1: the normal turns along the way and by the impulse.
local function ellipse(q) return sqrt(q[1] ^ 2 / 4 + q[2] ^ 2) - 1 end

-- H v of this gap.
local function along(q, v) return (q[1] * v[1] / 4 + q[2] * v[2]) / sqrt(q[1] ^ 2 / 4 + q[2] ^ 2) end

local function thrown(o)
  local ds = linear({ -3 + o.phase * o.h, o.aside }, { 1.7, 0.1 }, { 1, 3 })
  local contact = impact(o.e, ellipse)
  local simu = moving.with_projection(o.make or ns.TimeStepping,
    { systems = { ds }, links = { { contact, ds } }, T = 2, h = o.h, theta = o.theta, tolerance = 1e-12 })
  simu:setNewtonTolerance(1e-14)
  return simu, ds, contact
end

-- The change of the energy, relative, and whether there was an impact.
local function change(simu, contact)
  local before, hit = simu:energy().total, false
  for _ in simu:steps() do hit = hit or contact:lambda()[1] > 0 end
  assert.is_true(moving.imbalance(simu, before) < 1e-13 * before)
  return simu:energy().total / before - 1, hit
end

-- Two balls of radius 1, masses 1 and 2, that meet aside of their centres by `aside`, at the height z.
local function pair(nsds, o)
  local z = o.z or 0
  local a = ns.NewtonEulerDS({ -3 + o.phase * o.h, o.aside, z + 0.1, 1, 0, 0, 0 }, { 2, 0, 0, 0.3, 0, 1 }, 1, 0.4 * ns.eye(3))
  local b = ns.NewtonEulerDS({ 0, 0, z, 1, 0, 0, 0 }, { -0.5, 0.2, 0, 0, 0, 0 }, 2, 0.8 * ns.eye(3))
  nsds:insertDynamicalSystem(a)
  nsds:insertDynamicalSystem(b)
  local balls = { shape = "sphere_sphere", R1 = 1, R2 = 1 }
  local contact = ns.Interaction(o.law or ns.NewtonImpactNSL(o.e), o.law and ns.NewtonEuler3DR(balls) or ns.NewtonEuler1DR(balls))
  nsds:link(contact, a, b)
  return contact, a, b
end

local function stepped(nsds, o)
  local osi = ns.MoreauJeanOSI(o.theta or 0.5)
  if o.implicit then osi:setLinearlyImplicit(true) end
  return (o.make or ns.TimeStepping)(nsds, ns.TimeDiscretisation(0, o.h), osi)
end

local function balls(o)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  local contact, a, b = pair(nsds, o)
  return stepped(nsds, o), contact, a, b
end

-- 27 balls in a box of planes. Returns the simulation and its manager of contacts.
local function gas(o)
  math.randomseed(3)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local contacts = ns.contact.space { nsds = nsds, law = o.law or ns.NewtonImpactNSL(1), reach = 0.3 }
  local function speed() return 2 * math.random() - 1 end
  for i = 0, 26 do
    local q = { 1.3 * (i % 3) + 0.2 * speed(), 1.3 * (i // 3 % 3) + 0.2 * speed(), 1.3 * (i // 9), 1, 0, 0, 0 }
    local ball = ns.NewtonEulerDS(q, { speed(), speed(), speed(), 0, 0, 0 }, 1, 0.1 * ns.eye(3))
    if o.g then ball:setFExtPtr { 0, 0, -o.g, 0, 0, 0 } end
    nsds:insertDynamicalSystem(ball)
    contacts:add_sphere(ball, 0.4)
  end
  for axis = 1, 3 do
    for _, side in ipairs { -1, 4 } do
      local point, normal = { 0, 0, 0 }, { 0, 0, 0 }
      point[axis], normal[axis] = side, side < 0 and 1 or -1
      contacts:add_plane(ns.contact.plane(point, normal))
    end
  end
  contacts:update()
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.h), ns.MoreauJeanOSI(0.5)), contacts
end

-- Runs a gas: the change of its energy, the largest gain in a step, both relative, and the number of impacts.
local function run_gas(o)
  local simu, contacts = gas(o)
  local before, most, hits = simu:energy().total, 0, 0
  local last = before
  for _ in simu:steps() do
    contacts:update()
    for _, inter in ipairs(contacts:interactions()) do hits = hits + (inter:lambda()[1] > 0 and 1 or 0) end
    local now = simu:energy().total
    most, last = math.max(most, (now - last) / before), now
  end
  return last / before - 1, most, hits
end

describe("an elastic impact", function()
  it("of balls that meet aside of their centres keeps energy and momentum in steps of any length", function()
    local hits = 0
    for _, h in ipairs { 0.25, 0.1, 0.01 } do
      for _, aside in ipairs { 0, 0.6, 1.2, 1.7 } do
        for _, phase in ipairs { 0, 0.37, 0.81 } do
          local simu, contact, a, b = balls { h = h, aside = aside, phase = phase, e = 1 }
          local p = a:velocity() + 2 * b:velocity()
          local off, hit = change(simu, contact)
          hits = hits + (hit and 1 or 0)
          assert.near(0, off, 1e-13)
          local lost = a:velocity() + 2 * b:velocity() - p
          assert.is_true(lost:slice(1, 3):norm() < 1e-13)
        end
      end
    end
    assert.is_true(hits >= 34)
  end)

  it("keeps it in all kinds of steps: with projections, linearly implicit, with friction that is 0", function()
    local kinds = {
      { make = ns.TimeSteppingDirectProjection }, { make = ns.TimeSteppingCombinedProjection }, { implicit = true },
      { law = ns.NewtonImpactFrictionNSL(1, 0, 0, 3) },
    }
    for _, o in ipairs(kinds) do
      for _, aside in ipairs { 0.6, 1.2 } do
        o.h, o.e, o.aside, o.phase = 0.1, 1, aside, 0.4
        local off, hit = change(balls(o))
        assert.is_true(hit)
        assert.near(0, off, 1e-13)
      end
    end
  end)

  it("keeps it where the impulse turns the normal, with up to twice as many of Newton's iterations as with e = 0", function()
    local most, soft_most = 0, 0
    for _, theta in ipairs { 0.5, 0.7, 1 } do
      for _, h in ipairs { 0.2, 0.05, 0.0125 } do
        for _, aside in ipairs { 0.3, 0.6, 0.8 } do
          local simu, _, contact = thrown { h = h, aside = aside, phase = 0.37, e = 1, theta = theta }
          local off, hit = change(simu, contact)
          assert.is_true(hit)
          assert.near(0, off, 1e-13)
          local soft = thrown { h = h, aside = aside, phase = 0.37, e = 0, theta = theta }
          soft:run()
          most = math.max(most, simu:stats().max_newton_iterations)
          soft_most = math.max(soft_most, soft:stats().max_newton_iterations)
        end
      end
    end
    assert.is_true(most <= 2 * soft_most)
  end)

  it("keeps it in the plane: disks, and a disk at a corner", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(1, 0, 0, 2), reach = 1 }
    local a, b = linear({ -1.2, 0.1, 0 }, { 1, 0, 2 }, { 1, 1, 0.1 }), linear({ 0, 0.3, 0 }, { 0, 0.1, 0 }, { 3, 3, 0.4 })
    local c = linear({ 0, -1, 0 }, { 1, 0, 0 }, { 1, 1, 0.1 })
    for _, ds in ipairs { a, b, c } do nsds:insertDynamicalSystem(ds) end
    contacts:add_disk(a, 0.2)
    contacts:add_disk(b, 0.3)
    contacts:add_disk(c, 0.2)
    contacts:add_polygon(nil, { { 2, -0.5 }, { 0.6, -0.9 }, { 2, -1.5 } })
    contacts:update()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.MoreauJeanOSI(0.5))
    local before, hits = simu:energy().total, 0
    for _ in simu:steps() do
      contacts:update()
      for _, inter in ipairs(contacts:interactions()) do hits = hits + (inter:lambda()[1] > 0 and 1 or 0) end
    end
    assert.is_true(hits >= 2)
    assert.near(0, simu:energy().total / before - 1, 1e-13)
  end)

  it("keeps it in a gas of balls between walls", function()
    local off, most, hits = run_gas { h = 0.01, T = 12 }
    assert.is_true(hits > 250)
    assert.near(0, off, 1e-12)
    assert.is_true(most < 1e-13)
  end)

  it("keeps it over thousands of impacts, and gains nothing where three bodies and more meet at once #long", function()
    local off, most, hits = run_gas { h = 0.01, T = 100 }
    assert.is_true(hits > 2000)
    assert.near(0, off, 1e-12)
    assert.is_true(most < 1e-13)
    off, most, hits = run_gas { h = 0.05, T = 100 }
    assert.is_true(hits > 2000)
    assert.is_true(most < 1e-13)
    assert.is_true(off < 1e-12 and off > -0.01)
  end)

  it("gains next to nothing from contacts that are slower than what forces change in a step #long", function()
    local off, most, hits = run_gas { h = 0.01, T = 20, g = 9.81 }
    assert.is_true(hits > 3000)
    assert.is_true(most < 5e-5)
    assert.is_true(off < 1e-13 and off > -0.01)
  end)
end)

describe("an impact with friction", function()
  it("gains nothing along the normal, whatever friction takes", function()
    for _, h in ipairs { 0.1, 0.02 } do
      for _, aside in ipairs { 0.6, 1.2, 1.6 } do
        local simu = balls { h = h, aside = aside, phase = 0.37, law = ns.NewtonImpactFrictionNSL(1, 0, 0.3, 3) }
        simu:setNewtonTolerance(1e-14)
        simu:energy() -- begins the account
        simu:run()
        local energy = simu:energy()
        assert.is_true(energy.friction < -1e-3)
        assert.near(0, energy.impacts, 1e-11)
      end
    end
  end)
end)

describe("Newton's law", function()
  it("stands where it gains nothing, and else the body leaves with what came along the normal of the impulse", function()
    local function inside(q) return 2.5 - sqrt(q[1] ^ 2 + q[2] ^ 2) end
    local kept, less = 0, 0
    for _, e in ipairs { 0.3, 0.8, 0.95, 1 } do
      for _, h in ipairs { 0.02, 0.1, 0.25 } do
        for _, phase in ipairs { 0, 0.3, 0.6 } do
          local simu, ds, contact = thrown { h = h, aside = 0.8, phase = phase, e = e }
          local u_k, v_k, last = -1.7, ds:velocity():copy(), simu:energy().total
          for _ in simu:steps() do
            local u = contact:y(1)[1]
            if contact:lambda()[1] > 0 then
              local most = abs(along(ds:q(), v_k))
              if most < -e * u_k then less = less + 1 else kept = kept + 1 end
              assert.near(math.min(-e * u_k, most), u, 1e-12)
            end
            assert.is_true(simu:energy().total <= last + 1e-13 * last)
            u_k, v_k, last = u, ds:velocity():copy(), simu:energy().total
          end
          -- in a hollow |H v_k| is above |u_k|
          ds, contact = linear({ -1 + h * phase, 0.3 }, { 1, 0.7 }, { 1, 1 }), impact(e, inside)
          simu = moving.simulate { systems = { ds }, links = { { contact, ds } }, T = 6, h = h }
          u_k, last = 0, simu:energy().total
          for _ in simu:steps() do
            if contact:lambda()[1] > 0 and u_k < 0 then assert.near(-e * u_k, contact:y(1)[1], 1e-12) end
            assert.is_true(simu:energy().total <= last + 1e-13 * last)
            u_k, last = contact:y(1)[1], simu:energy().total
          end
        end
      end
    end
    assert.is_true(kept >= 9 and less >= 9)
  end)

  it("stands for a contact that alone would gain, while its island does not", function()
    -- a block that tilts comes down on a soft corner and a hard one: the soft one takes more than the hard one gains
    local function corner(side, e) return impact(e, function(q) return q[2] - side * q[3] - 0.2 * q[3] ^ 2 * side end) end
    local function block(e1, e2)
      local ds = linear({ 0, 0.02, 0.0 }, { 0, -1, 0.4 }, { 1, 1, 0.3 })
      local hard, soft = corner(1, e1), corner(-1, e2)
      local simu = moving.simulate { systems = { ds }, links = { { hard, ds }, { soft, ds } }, T = 0.3, h = 0.1 }
      simu:setNewtonTolerance(1e-14)
      return simu, ds, hard, soft
    end
    local simu, ds, hard, soft = block(1, 0)
    local gains = 0
    local v_k, u_k = ds:velocity():copy(), { -1.4, -0.6 }
    for _ in simu:steps() do
      local q = ds:q()
      for k, contact in ipairs { hard, soft } do
        local side, e = k == 1 and 1 or -1, k == 1 and 1 or 0
        local came = v_k[2] - side * v_k[3] * (1 + 0.4 * q[3])
        if hard:lambda()[1] > 0 and soft:lambda()[1] > 0 then
          assert.near(-e * u_k[k], contact:y(1)[1], 1e-12)
          if k == 1 and -e * u_k[k] > abs(came) + 1e-6 then gains = gains + 1 end
        end
        u_k[k] = contact:y(1)[1]
      end
      v_k = ds:velocity():copy()
    end
    assert.is_true(gains >= 1)
  end)

  it("stands for impacts beside one that gains, which no impulse connects: also by a table with prescribed velocities", function()
    -- two points on one carriage, whose velocity is prescribed: one strikes a bump aside of its top, one a floor with e = 0.5
    local carriage = linear({ 0 }, { 0.2 }, { 1 })
    carriage:setBoundaryConditions(ns.BoundaryCondition({ 1 }, { 0.2 }))
    local a, b = linear({ 0.5, 1.2 }, { 0.1, -1 }, { 1, 1 }), linear({ 3, 0.3 }, { 0, -1.1 }, { 1, 1 })
    local bump = impact(1, function(q) return sqrt((q[2] - q[1]) ^ 2 + q[3] ^ 2) - 1 end)
    local slope = impact(0.5, function(q) return q[3] - 0.05 * (q[2] - q[1]) ^ 2 + 0.4 end)
    local simu = moving.simulate {
      systems = { carriage, a, b }, links = { { bump, carriage, a }, { slope, carriage, b } }, T = 0.6, h = 0.05,
    }
    local u_k, hits = { 0, 0 }, { 0, 0 }
    for _ in simu:steps() do
      for k, contact in ipairs { bump, slope } do
        local u = contact:y(1)[1]
        if contact:lambda()[1] > 0 and u_k[k] < 0 then
          hits[k] = hits[k] + 1
          if k == 1 then assert.is_true(u < -u_k[1] - 1e-4) else assert.near(-0.5 * u_k[2], u, 1e-12) end
        end
        u_k[k] = u
      end
    end
    assert.same({ 1, 1 }, hits)
  end)

  it("stands to the bit in a system of its own: beside one that gains it moves as alone", function()
    local function run(both)
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      local _, a, b = pair(nsds, { e = 0.5, h = 0.1, aside = 0.6, phase = 0.3 })
      if both then pair(nsds, { e = 1, h = 0.1, aside = 1.2, phase = 0.3, z = 10 }) end
      stepped(nsds, { h = 0.1 }):run()
      return a:velocity():copy(), b:velocity():copy()
    end
    local a, b = run(false)
    local c, d = run(true)
    for i = 1, 6 do
      assert.equal(a[i], c[i])
      assert.equal(b[i], d[i])
    end
  end)

  it("stands for a bead in a ring and on a hill, which stay closed: they move as with e = 0", function()
    for side = -1, 1, 2 do
      local function slide(e)
        local ds = linear({ 0.1, side * sqrt(0.99) }, { sqrt(0.99), -0.1 * side }, { 1, 1 })
        ds:setFExtPtr { 0, -9.81 }
        local contact = impact(e, function(q) return side * (sqrt(q[1] ^ 2 + q[2] ^ 2) - 1) end)
        local simu = moving.simulate { systems = { ds }, links = { { contact, ds } }, T = 0.3, h = 0.01 }
        for _ in simu:steps() do end
        return ds, contact
      end
      local soft = slide(0)
      local bouncing, contact = slide(0.9)
      assert.is_true(contact:lambda()[1] > 0)
      for i = 1, 2 do assert.near(soft:q()[i], bouncing:q()[i], 1e-11) end
    end
  end)

  it("stands on a table that moves faster and faster: what it gives is no gain", function()
    local ds = linear({ 1 }, { -1 }, { 1 })
    local table_up = ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - 0.1 * t ^ 2 end }
    local contact = ns.Interaction(ns.NewtonImpactNSL(0.7), table_up)
    local simu, u_k, hits = moving.simulate { systems = { ds }, links = { { contact, ds } }, T = 2, h = 0.01 }, -1, 0
    for _ in simu:steps() do
      if contact:lambda()[1] > 0 then
        hits = hits + 1
        assert.near(-0.7 * u_k, contact:y(1)[1], 1e-13)
      end
      u_k = contact:y(1)[1]
    end
    assert.equal(1, hits)
  end)
end)

describe("bodies on a joint", function()
  it("gain nothing from impacts, with the work that the joint does for them", function()
    for _, h in ipairs { 0.1, 0.03, 0.01 } do
      for _, aside in ipairs { 0.3, 0.5, 0.8 } do
        local a, b = linear({ -2.5, aside }, { 1.7, 0.1 }, { 1, 1 }), linear({ -2.9, aside + 0.3 }, { 1.7, 0.1 }, { 2, 2 })
        local rod = ns.Interaction(ns.EqualityConditionNSL(1),
          gap(function(q) return sqrt((q[1] - q[3]) ^ 2 + (q[2] - q[4]) ^ 2) - 0.5 end))
        local contact = impact(1, ellipse)
        local simu = moving.simulate { systems = { a, b }, links = { { contact, a }, { rod, a, b } }, T = 1, h = h }
        local last, hits = simu:energy().impacts, 0
        for _ in simu:steps() do
          local now = simu:energy().impacts
          if contact:lambda()[1] > 0 then
            hits = hits + 1
            assert.is_true(now - last < 1e-12)
          end
          last = now
        end
        assert.is_true(hits >= 1)
      end
    end
  end)
end)

describe("a step that gained", function()
  it("leaves nothing behind: a run and its continuation from half way have the same bits", function()
    local function finish(stop)
      local simu, _, a, b = balls { h = 0.1, aside = 1.2, phase = 0.4, e = 1 }
      for _ = 1, stop do simu:computeOneStep() simu:nextStep() end
      local other, _, c, d = balls { h = 0.1, aside = 1.2, phase = 0.4, e = 1 }
      if stop > 0 then
        local file = os.tmpname()
        simu:save_state(file)
        other:load_state(file)
        os.remove(file)
      end
      other:run()
      return c:velocity():copy(), d:velocity():copy(), a, b
    end
    local a, b = finish(0)
    for stop = 4, 14 do
      local c, d = finish(stop)
      for i = 1, 6 do
        assert.equal(a[i], c[i])
        assert.equal(b[i], d[i])
      end
    end
  end)

  it("has no derivatives, and those of a contact that stays closed are without it", function()
    local simu, ds = thrown { h = 0.05, aside = 0.6, phase = 0.37, e = 1 }
    expect.fails("derivatives of time-stepping runs are wrong there", simu.run, simu, { sensitivities = { { ds, "mass", 1, 1 } } })
    local function slide(e, mass)
      local body = linear({ 0.1, sqrt(0.99) }, { 0, 0 }, { mass, 1 })
      body:setFExtPtr { 0, -9.81 }
      local contact = impact(e, function(q) return sqrt(q[1] ^ 2 + q[2] ^ 2) - 1 end)
      local run = moving.simulate { systems = { body }, links = { { contact, body } }, T = 0.3, h = 0.01 }
      run:setNewtonTolerance(1e-14)
      return run, body
    end
    local function ended(mass)
      local run, body = slide(0.8, mass)
      run:run()
      return body:q()[1]
    end
    local run, body = slide(0.8, 1)
    local S = run:run({ sensitivities = { { body, "mass", 1, 1 } } }).S
    assert.near((ended(1 + 1e-5) - ended(1 - 1e-5)) / 2e-5, S[#S][1][1], 1e-8)
  end)
end)
