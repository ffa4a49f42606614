-- nslua.contact in space: laws of motion of spheres and boxes, and contacts that come and go.
local ns = require "nslua"
local simulate = require "models".moving

local g = 9.81

local function ball(position, velocity, R, force, m)
  m = m or 1
  local q0 = { position[1], position[2], position[3], 1, 0, 0, 0 }
  local v = velocity or {}
  local v0 = { v[1] or 0, v[2] or 0, v[3] or 0, v[4] or 0, v[5] or 0, v[6] or 0 }
  local ds = ns.NewtonEulerDS(q0, v0, m, 0.4 * m * R * R * ns.eye(3))
  ds:setFExtPtr(force or { 0, 0, -m * g })
  return ds
end

local function friction(mu, en) return ns.NewtonImpactFrictionNSL(en or 0, 0, mu, 3) end

describe("contact geometry in space", function()
  -- A ball on a plane that falls by alpha, towards the direction `turned` about z, for a second.
  local function roll(alpha, turned, mu)
    local R, s = 0.3, math.sin(alpha)
    local n = { s * math.cos(turned), s * math.sin(turned), math.cos(alpha) }
    local down = { math.cos(alpha) * math.cos(turned), math.cos(alpha) * math.sin(turned), -s }
    local ds = ball({ R * n[1], R * n[2], R * n[3] }, nil, R)
    local contact = ns.Interaction(friction(mu), ns.contact.sphere_plane(R, ns.contact.plane({ 0, 0, 0 }, n)))
    simulate(1, 2e-3, { ds }, { { contact, ds } }):run()
    local v = ds:velocity()
    return v[1] * down[1] + v[2] * down[2] + v[3] * down[3], v[1] * n[1] + v[2] * n[2] + v[3] * n[3], contact:y(1),
      math.sqrt(v[4] ^ 2 + v[5] ^ 2 + v[6] ^ 2), R
  end

  it("lets a sphere roll down a plane with 5/7 g sin(alpha), and slide when mu < 2/7 tan(alpha)", function()
    for _, alpha in ipairs { 0.2, 0.6 } do
      for turned = 0, 5 do
        local least = 2 / 7 * math.tan(alpha)
        local v, lift, u, spin, R = roll(alpha, turned, 1.05 * least)
        assert.near(5 / 7 * g * math.sin(alpha), v, 1e-9)
        assert.near(v, R * spin, 1e-9)
        assert.near(0, math.abs(u[2]) + math.abs(u[3]), 1e-9)
        assert.near(0, lift, 1e-10)
        local mu = 0.7 * least
        v, lift, u, spin = roll(alpha, turned, mu)
        assert.near(g * (math.sin(alpha) - mu * math.cos(alpha)), v, 1e-8)
        assert.near(5 / 2 * mu * g * math.cos(alpha), R * spin, 1e-8)
        assert.near(v - R * spin, math.sqrt(u[2] ^ 2 + u[3] ^ 2), 1e-8)
        assert.near(0, lift, 1e-10)
      end
    end
  end)

  -- An oblique impact of two spheres of different mass.
  local function strike(law, rows)
    local a = ball({ 0, 0, 0 }, { 1, 0.2, -0.1, 2, -1, 3 }, 0.1, { 0, 0, 0 }, 2)
    local b = ball({ 0.3, 0.06, 0.05 }, { -0.5, 0, 0, 0, 1, 0 }, 0.12, { 0, 0, 0 }, 1)
    local contact = ns.Interaction(law, ns.contact.sphere_sphere(0.1, 0.12, rows))
    local simu = simulate(0.2, 1e-3, { a, b }, { { contact, a, b } })
    local before, frame, hit
    for _ in simu:steps() do
      local lambda = contact:lambda(1)
      if lambda[1] > 0 then
        assert.is_nil(hit) -- once
        hit, frame = lambda:totable(), contact:relation():nc():totable()
        assert.near(-0.8 * before, contact:y(1)[1], 0.01)
      end
      before = contact:y(1)[1]
    end
    assert.truthy(hit)
    return a:velocity(), b:velocity(), frame, hit
  end

  it("keeps momentum in a collision, and the restitution along the normal", function()
    for _, case in ipairs { { friction(0.3, 0.8), 3 }, { ns.NewtonImpactNSL(0.8), 1 } } do
      local va, vb, n, r = strike(table.unpack(case))
      assert.near(2 - 0.5, 2 * va[1] + vb[1], 1e-12)
      assert.near(0.4, 2 * va[2] + vb[2], 1e-12)
      assert.near(-0.2, 2 * va[3] + vb[3], 1e-12)
      if case[2] == 1 then
        local dv = { va[1] - 1, va[2] - 0.2, va[3] + 0.1 } -- the impulse is along the normal alone
        local sum = dv[1] * n[1] + dv[2] * n[2] + dv[3] * n[3]
        for i = 1, 3 do assert.near(sum * n[i], dv[i], 1e-3) end
        assert.near(r[1], 2 * sum, 1e-3)
        for i, spin in ipairs { 2, -1, 3 } do assert.near(spin, va[3 + i], 1e-12) end
      else
        assert.is_true(math.sqrt(r[2] ^ 2 + r[3] ^ 2) <= 0.3 * r[1] + 1e-12)
        assert.is_true(math.abs(va[5] + 1) > 1e-3)
      end
    end
  end)

  it("carries a stack of two spheres", function()
    local R, low, high = 0.2, ball({ 0, 0, 0.2 }, nil, 0.2), ball({ 0, 0, 0.6 }, nil, 0.2, nil, 3)
    local ground = ns.Interaction(friction(0.4), ns.contact.sphere_plane(R, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })))
    local between = ns.Interaction(friction(0.4), ns.contact.sphere_sphere(R, R))
    simulate(0.5, 5e-3, { low, high }, { { ground, low }, { between, high, low } }):run()
    assert.near(0.2, low:q()[3], 1e-12)
    assert.near(0.6, high:q()[3], 1e-12)
    assert.near(4 * g * 5e-3, ground:lambda(1)[1], 1e-9)
    assert.near(3 * g * 5e-3, between:lambda(1)[1], 1e-9)
  end)

  it("lets a box that falls flat rest without creep", function()
    local box = ns.NewtonEulerDS({ 0, 0, 0.5, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.diag { 0.3, 0.2, 0.4 })
    box:setFExtPtr { 0, 0, -g }
    local floor, links = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }), {}
    for i, corner in ipairs(ns.contact.box_corners(1, 1.4, 0.6)) do
      links[i] = { ns.Interaction(friction(0.5), ns.contact.corner_plane(corner, floor)), box }
    end
    local simu, rest = simulate(2, 5e-3, { box }, links), nil
    for _, t in simu:steps() do
      local q, v = box:q(), box:velocity()
      if t > 0.3 then
        rest = rest or q:totable()
        for i = 1, 7 do assert.near(rest[i], q[i], 1e-11) end
        for i = 1, 6 do assert.near(0, v[i], 1e-12) end
      end
    end
    assert.near(0.3, rest[3], 0.02)
    local sum = 0
    for _, link in ipairs(links) do sum = sum + link[1]:lambda(1)[1] end
    assert.near(g * 5e-3, sum, 1e-10)
  end)

  -- A capsule along its axis x, with the centres of its caps at -half and half, and its contacts with a plane.
  local function capsule(q, v, half, radius, inertia, plane, law)
    local ds, links = ns.NewtonEulerDS(q, v, 2, ns.diag(inertia)), {}
    for i = 1, 2 do
      local cap = ns.contact.cap_plane(radius, { i == 1 and half or -half, 0, 0 }, plane, law:size())
      links[i] = { ns.Interaction(law, cap), ds }
    end
    return ds, links
  end

  it("lets boxes that lie turned and shifted on each other rest in one Newton iteration a step", function()
    local law, shape, boxes = friction(0.5), ns.contact.box(0.3, 0.25, 0.2), {}
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.25)
    local contacts = ns.contact.space { nsds = nsds, law = law, reach = 0.05 }
    contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
    for i = 1, 10 do
      local place = { 0.01 * (i % 3), 0.01 * (i % 2), 0.2 * i - 0.1, math.cos(0.05 * i), 0, 0, math.sin(0.05 * i) }
      local ds = ns.NewtonEulerDS(place, { 0, 0, 0, 0, 0, 0 }, 1, ns.diag { 0.01, 0.01, 0.012 })
      ds:setFExtPtr { 0, 0, -g }
      nsds:insertDynamicalSystem(ds)
      contacts:add(ds, shape)
      boxes[i] = ds
    end
    contacts:update()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5))
    for _ in simu:steps() do contacts:update() end
    assert.equal(0, simu:stats().linear_steps)
    assert.is_true(simu:stats().newton_iterations <= 2 * simu:stats().steps)
    for _, ds in ipairs(boxes) do assert.near(0, (ds:q() - ds:q0()):norm(), 1e-11) end
  end)

  it("lets a tilted capsule hit the floor with one cap, as the impulse on a free body says", function()
    local half, R, tilt, inertia, v = 0.5, 0.2, 0.3, { 0.1, 0.4, 0.4 }, -3
    local low = R + half * math.sin(tilt)
    for _, e in ipairs { 0, 0.6 } do
      local ds, links = capsule({ 0, 0, low, math.cos(tilt / 2), 0, math.sin(tilt / 2), 0 }, { 0, 0, v, 0, 0, 0 }, half, R,
        inertia, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }), ns.NewtonImpactNSL(e))
      simulate(1e-9, 1e-9, { ds }, links):run() -- so short that nothing turns
      local lever = half * math.cos(tilt) -- the impulse goes through the centre of the cap
      local impulse = -(1 + e) * v / (1 / 2 + lever ^ 2 / inertia[2])
      assert.near(impulse, links[1][1]:lambda(1)[1], 1e-8 * impulse)
      assert.equal(0, links[2][1]:lambda(1)[1])
      assert.near(v + impulse / 2, ds:velocity()[3], 1e-8 * math.abs(v))
      assert.near(-lever * impulse / inertia[2], ds:velocity()[5], 1e-8 * lever * impulse / inertia[2])
    end
  end)

  it("lets a capsule that lies across a slope roll like a cylinder, on both of its caps", function()
    local R, slope, axial, h, T = 0.2, 0.2, 0.05, 5e-3, 0.5
    local ds, links = capsule({ 0, R * math.sin(slope), R * math.cos(slope), 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 0.5, R,
      { axial, 0.4, 0.4 }, ns.contact.plane({ 0, 0, 0 }, { 0, math.sin(slope), math.cos(slope) }), friction(0.8))
    ds:setFExtPtr { 0, 0, -2 * g }
    simulate(T, h, { ds }, links):run()
    local speed = g * math.sin(slope) / (1 + axial / (2 * R ^ 2)) * T
    local v = ds:velocity()
    assert.near(speed, v[2] * math.cos(slope) - v[3] * math.sin(slope), 1e-9 * speed)
    assert.near(0, v[2] * math.sin(slope) + v[3] * math.cos(slope), 1e-9 * speed)
    assert.near(-speed / R, v[4], 1e-9 * speed / R)
    for _, link in ipairs(links) do
      assert.near(g * math.cos(slope) * h, link[1]:lambda(1)[1], 1e-9 * g * h)
    end
  end)
end)

describe("contact.space", function()
  local R, reach = 0.1, 0.04

  -- Spheres in a container; radii differ.
  local function heap(n, T, law)
    local systems, radii = {}, {}
    for i = 0, n - 1 do
      radii[i + 1] = R * (1 - 0.1 * (i % 3))
      systems[i + 1] = ball({ 0.15 + 0.23 * (i % 3) + 0.01 * (i % 5), 0.15 + 0.23 * (i // 3 % 3) + 0.013 * (i % 2),
        0.12 + 0.22 * (i // 9) }, { 0.3, -0.2, 0 }, radii[i + 1])
    end
    local simu, nsds = simulate(T, 5e-3, systems)
    local contacts = ns.contact.space { nsds = nsds, law = law or friction(0.3), reach = reach }
    for i, ds in ipairs(systems) do contacts:add_sphere(ds, radii[i]) end
    for _, plane in ipairs(ns.contact.walls({ 0, 0, 0 }, { 0.8, 0.8, 4 })) do contacts:add_plane(plane) end
    return simu, nsds, contacts, systems, radii
  end

  it("has every pair that is near, and none that is far", function()
    local most = 0
    for _, law in ipairs { friction(0.3), ns.NewtonImpactNSL(0.2) } do
      local simu, nsds, contacts, systems, radii = heap(20, 0.4, law)
      contacts:update()
      for _ in simu:steps() do
        contacts:update()
        local near, far = 0, 0
        local function tally(gap)
          if gap <= reach then near = near + 1 elseif gap <= 2 * reach then far = far + 1 end
        end
        for i, a in ipairs(systems) do
          local p, r = a:q(), radii[i]
          for axis = 1, 3 do
            tally(p[axis] - r)
            tally((axis == 3 and 4 or 0.8) - p[axis] - r)
          end
          for j = i + 1, #systems do
            local s = systems[j]:q()
            tally(math.sqrt((p[1] - s[1]) ^ 2 + (p[2] - s[2]) ^ 2 + (p[3] - s[3]) ^ 2) - r - radii[j])
          end
        end
        assert.is_true(contacts:count() >= near and contacts:count() <= near + far)
        assert.equal(contacts:count(), nsds:numberOfInteractions())
        most = math.max(most, near)
      end
    end
    assert.is_true(most > 30)
  end)

  it("finds pairs over the borders of cells, at negative coordinates too", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local contacts = ns.contact.space { nsds = nsds, law = friction(0.3), reach = 0.01 }
    local places, near = {}, 0
    for i = 1, 120 do
      local x, y, z = math.sin(17 * i), math.sin(31 * i + 1), math.sin(53 * i + 2)
      local ds = ball({ x, y, z }, nil, 0.15)
      nsds:insertDynamicalSystem(ds)
      contacts:add_sphere(ds, 0.15)
      for _, p in ipairs(places) do
        if math.sqrt((x - p[1]) ^ 2 + (y - p[2]) ^ 2 + (z - p[3]) ^ 2) <= 0.31 then near = near + 1 end
      end
      places[i] = { x, y, z }
    end
    assert.is_true(near > 50)
    assert.equal(near, contacts:update())
  end)

  it("keeps a heap in its container, until it rests #once", function()
    local simu, _, contacts, systems, radii = heap(18, 2)
    contacts:update()
    for _ in simu:steps() do
      contacts:update()
      for _, inter in ipairs(contacts:interactions()) do assert.is_true(inter:y(0)[1] > -0.3 * R) end
    end
    for i, ds in ipairs(systems) do
      local q = ds:q()
      assert.is_true(math.abs(ds:velocity()[3]) < 0.05 and q[3] > 0.7 * radii[i])
      for axis = 1, 2 do assert.is_true(q[axis] > 0.7 * radii[i] and q[axis] < 0.8 - 0.7 * radii[i]) end
    end
  end)

  it("links again what is near when a script has unlinked it, and only that", function()
    local near, far = ball({ 0, 0, 0.1 }, nil, 0.1), ball({ 1, 0, 0.1 }, nil, 0.1)
    local simu, nsds = simulate(0.1, 0.01, { near, far })
    local contacts = ns.contact.space { nsds = nsds, law = friction(0.5), reach = 0.03 }
    contacts:add_sphere(near, 0.1)
    contacts:add_sphere(far, 0.1)
    contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
    assert.equal(2, contacts:update())
    for _, inter in ipairs(contacts:interactions()) do nsds:unlink(inter) end
    far:q()[3] = 5
    assert.equal(1, contacts:update())
    assert.equal(1, contacts:count())
    assert.equal(1, nsds:numberOfInteractions())
    assert.equal("sphere 1 plane 1", contacts:interactions()[1]:name())
    simu:run()
    assert.near(0.1, near:q()[3], 1e-12)
  end)

  it("has particles, and boxes with their corners", function()
    local particle = ns.LagrangianLinearTIDS({ 0, 0, 0.5 }, { 1, 0, 0 }, ns.eye(3))
    particle:setFExtPtr { 0, 0, -g }
    local turned = { 0.98, 0.1, 0.15, 0.05 }
    local box = ns.NewtonEulerDS({ 3, 0, 0.6, table.unpack(turned) }, { 0, 0, 0, 0, 0, 0 }, 1, 1 / 6 * ns.eye(3))
    box:setFExtPtr { 0, 0, -g }
    local simu, nsds = simulate(3, 5e-3, { particle, box })
    local contacts = ns.contact.space { nsds = nsds, law = friction(0.5), reach = 0.1 }
    local others = ns.contact.space { nsds = nsds, law = friction(0.5), reach = 0.1 } -- far away
    contacts:add_sphere(particle, 0.1)
    others:add_box(box, 1, 1, 1)
    for _, one in ipairs { contacts, others } do
      one:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      one:update()
    end
    for _ in simu:steps() do
      contacts:update()
      others:update()
    end
    assert.equal(5, contacts:count() + others:count())
    assert.near(0.1, particle:q()[3], 0.02)
    assert.near(0, particle:velocity()[1], 1e-9) -- it can not roll: friction stops it
    assert.near(0.5, box:q()[3], 0.03)
    for i = 1, 6 do assert.near(0, box:velocity()[i], 1e-6) end
  end)

  it("refuses shapes that would pass through each other", function()
    local q = { 0, 0, 0, 1, 0, 0, 0 }
    local function rigid() return ns.NewtonEulerDS(q, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3)) end
    local function particle() return ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3)) end
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local shapes = {
      sphere = function(m, ds) m:add_sphere(ds or rigid(), 0.1) end,
      particle = function(m) m:add_sphere(particle(), 0.1) end,
      box = function(m, ds) m:add_box(ds or rigid(), 1, 1, 1) end,
    }
    local nouns = { ["sphere particle"] = "a particle and a sphere", ["particle sphere"] = "a sphere and a particle",
      ["particle box"] = "a box and a particle", ["box particle"] = "a particle and a box" }
    for first, add in pairs(shapes) do
      for second, add_second in pairs(shapes) do
        local m = ns.contact.space { nsds = nsds, law = friction(0.5), reach = 0.1 }
        add(m)
        local good, said = pcall(add_second, m)
        local noun = nouns[first .. " " .. second]
        assert.equal(noun == nil, good, first .. " " .. second)
        if noun then
          assert.matches(("add_%s: there is no contact between %s: they would pass through each other (the other one: "):format(
            second == "box" and "box" or "sphere", noun), said, 1, true)
          if first ~= "box" then add(m) end -- what was refused has left nothing behind
        end
      end
    end
    local m, one = ns.contact.space { nsds = nsds, law = friction(0.5), reach = 0.1 }, rigid()
    shapes.sphere(m, one)
    shapes.box(m, one) -- of one body
    shapes.box(m, one)
  end)

  it("says what is wrong", function()
    local plane = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local law = friction(0.5)
    local space = ns.contact.space { nsds = nsds, law = law, reach = 0.1 }
    local particle = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
    local rigid = ball({ 0, 0, 0 }, nil, 1)
    local c = ns.contact
    local wrong = {
      { "plane: point: expected three finite numbers, got nil", c.plane },
      { "plane: point: expected three finite numbers, got { 0, 0 }", c.plane, { 0, 0 } },
      { "plane: normal: expected a direction, got zeros", c.plane, { 0, 0, 0 }, { 0, 0, 0 } },
      { "sphere_plane: R: expected a positive number, got 0", c.sphere_plane, 0, plane },
      { "sphere_plane: plane: expected a plane, got 5", c.sphere_plane, 1, 5 },
      { "sphere_plane: rows: expected 1, 3, 5 or 6, got 2", c.sphere_plane, 1, plane, 2 },
      { "sphere_sphere: R2: expected a positive number, got nil", c.sphere_sphere, 1 },
      { "corner_plane: corner: expected three finite numbers, got 3", c.corner_plane, 3, plane },
      { "cap_plane: R: expected a positive number, got 0", c.cap_plane, 0, { 1, 0, 0 }, plane },
      { "cap_plane: centre: expected three finite numbers, got 3", c.cap_plane, 1, 3, plane },
      { "cap_plane: plane: expected a plane, got nil", c.cap_plane, 1, { 1, 0, 0 } },
      { "cap_plane: rows: expected 1, 3, 5 or 6, got 2", c.cap_plane, 1, { 1, 0, 0 }, plane, 2 },
      { "box_corners: lz: expected a positive number, got nil", c.box_corners, 1, 1 },
      { "walls: high%[2%]: expected a number above 0, got %-1", c.walls, { 0, 0, 0 }, { 1, -1, 1 } },
      { "space: options: expected a table, got nil", c.space },
      { "space: unknown option 'laws' %(known: nsds, law, reach%)", c.space, { laws = 1 } },
      { "space: nsds: expected a NonSmoothDynamicalSystem, got nil", c.space, { law = law } },
      { "space: law: expected a nonsmooth law of size 1, 3, 5 or 6, got nil", c.space, { nsds = nsds } },
      { "space: law: expected a nonsmooth law of size 1, 3, 5 or 6, got size 2", c.space,
        { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2) } },
      { "space: law: expected a law of contacts in space, with two tangents, got NewtonImpactRollingFrictionNSL of size 3", c.space,
        { nsds = nsds, law = ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, 0.1, 3) } },
      { "space: reach: expected a positive number, got %-1", c.space, { nsds = nsds, law = law, reach = -1 } },
      { "add_sphere: ds: expected a NewtonEulerDS or a particle, got 7", space.add_sphere, space, 7, 1 },
      { "add_sphere: R: expected a positive number, got 0", space.add_sphere, space, rigid, 0 },
      { "add_box: ds: expected a NewtonEulerDS, got LagrangianLinearTIDS", space.add_box, space, particle, 1, 1, 1 },
      { "add_box: ly: expected a positive number, got nil", space.add_box, space, rigid, 1, nil, 1 },
      { "add_box: lx: expected a positive number, got { 1, 2, 3 }", space.add_box, space, rigid, { 1, 2, 3 } },
      { "add_plane: plane: expected a plane", space.add_plane, space, {} },
    }
    for _, case in ipairs(wrong) do assert.error_matches(function() case[2](table.unpack(case, 3, 7)) end, case[1]) end
    assert.error_matches(function() c.plane({ 0, 0, 0 }, { 0, 0, 1 }):distance(1, 2) end,
      "distance: z: expected a finite number, got nil")
    assert.error_matches(function() c.space { nsds = 3, law = law, reach = 1 } end,
      "space: nsds: expected a NonSmoothDynamicalSystem, got 3")
    assert.error_matches(function() space.update() end, "update: self: expected a contact manager in space and a colon, got nil")
    space:add_sphere(rigid, 0.5)
    assert.error_matches(function() space:add_sphere(rigid, 0.5) end, "add_sphere: ds: .* has a sphere already")
    rigid:q()[3] = 1 / 0
    assert.error_matches(function() space:update() end, "update: .*: expected a finite place near the others, got %(.*inf%)")
  end)

  it("names the key of a relation of pair() that does not fit", function()
    local function told(relation)
      local body = ns.NewtonEulerDS({ 0, 0, 1, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(body)
      local space = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), reach = 0.1 }
      space:pair(body, nil, function() return { a = relation } end)
      local good, text = pcall(space.update, space)
      assert.is_false(good)
      return text
    end
    local floor = { shape = "sphere_plane", R = 1, point = { 0, 0, 0 }, normal = { 0, 0, 1 } }
    assert.matches("pair: contacts: [a]: relation 'NewtonEuler1DR': a NewtonEuler1DR goes with a law of size 1, got 3",
      told(ns.NewtonEuler1DR(floor)), 1, true)
    assert.matches("pair: contacts: [a]: relation 'two spheres': sphere_sphere: expected 14 coordinates of two bodies",
      told(ns.contact.sphere_sphere(1, 1)), 1, true)
    assert.matches("pair: contacts: [a]: link: a FirstOrderLinearTIR goes with first-order systems",
      told(ns.FirstOrderLinearTIR({ 1 }, { 1 })), 1, true)
    assert.matches("pair: contacts: [a]: relation expected, got NewtonImpactNSL", told(ns.NewtonImpactNSL(1)), 1, true)
  end)
end)
