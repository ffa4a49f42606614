-- Cylinders, on planes, boxes and meshes: they roll, stand and fall as smooth ones.
local ns = require "nslua"

local c, g = ns.contact, 9.81
local R, length = 0.5, 1

local grounds = {
  plane = function(contacts) contacts:add_plane(c.plane({ 0, 0, 0 }, { 0, 0, 1 })) end,
  box = function(contacts) contacts:add(nil, c.box(20, 20, 1):placed { 0, 0, -0.5 }) end,
  mesh = function(contacts) contacts:add(nil, c.heightfield(ns.zeros(40, 12), 0.31, 0.43):placed { -3.03, -2.17, 0 }) end,
  beam = function(contacts) contacts:add(nil, c.box(20, 0.6, 1):placed { 0, 0, -0.5 }) end,
}

-- A cylinder of mass 1 at q, with gravity that is inclined by alpha; `seen` is called after each step.
local function motion(ground, q, alpha, T, seen)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.8, 3), reach = 0.05 }
  local volume, _, inertia = c.cylinder(R, length):mass()
  local ds = ns.NewtonEulerDS(q, { 0, 0, 0, 0, 0, 0 }, 1, ns.matrix(inertia) / volume)
  ds:setFExtPtr { g * math.sin(alpha), 0, -g * math.cos(alpha) }
  nsds:insertDynamicalSystem(ds)
  contacts:add(ds, c.cylinder(R, length))
  grounds[ground](contacts)
  contacts:update()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5),
    ns.FrictionContact(3, { tolerance = 1e-12 }))
  for _ in simu:steps() do
    contacts:update()
    if seen then seen(ds) end
  end
  return ds, contacts
end

local half = math.sqrt(0.5)

describe("a cylinder", function()
  it("has the volume and the inertia of one, also elsewhere in its body", function()
    local volume, centre, I = c.cylinder(0.3, 2):placed({ 1, 2, 3, half, half, 0, 0 }):mass()
    assert.near(math.pi * 0.09 * 2, volume, 1e-14)
    for k = 1, 3 do assert.near(k, centre[k], 1e-14) end
    local across = volume * (0.09 / 4 + 4 / 12)
    for i, expected in ipairs { across, volume * 0.09 / 2, across } do
      for j = 1, 3 do assert.near(i == j and expected or 0, I[i][j], 1e-14) end
    end
  end)

  it("rolls down a slope by 2/3 of g sin(alpha), on two points of its side, and keeps its height", function()
    for ground in pairs(grounds) do
      local ds, contacts = motion(ground, { 0, 0, R, half, half, 0, 0 }, 0.2, 0.1, function(ds)
        assert.near(R, ds:q()[3], 1e-14)
      end)
      assert.near(2 / 3 * g * math.sin(0.2) * 0.1, ds:velocity()[1], 1e-13)
      assert.near(-ds:velocity()[1] / R, ds:velocity()[6], 1e-12)
      assert.equal(2, contacts:count())
    end
  end)

  it("stands on a slope without drift, on four points of its cap", function()
    for ground in pairs(grounds) do
      local ds, contacts = motion(ground, { 0, 0, length / 2, 1, 0, 0, 0 }, 0.2, 0.1)
      for i, expected in ipairs { 0, 0, length / 2, 1, 0, 0, 0 } do assert.near(expected, ds:q()[i], 1e-13) end
      assert.is_true(contacts:count() >= 4 and contacts:count() <= 5)
    end
  end)

  it("that is let go on its rim falls back onto its cap #once", function()
    local a = 0.3
    local z = length / 2 * math.cos(a) + R * math.sin(a)
    for _, ground in ipairs { "plane", "box", "mesh" } do
      local ds = motion(ground, { 0, 0, z, math.cos(a / 2), math.sin(a / 2), 0, 0 }, 0, 0.8)
      assert.near(length / 2, ds:q()[3], 1e-3)
      assert.near(0, ds:q()[5], 2e-3)
    end
  end)

  it("is measured from planes by its rims", function()
    local floor, a = c.plane({ 0, 0, 0 }, { 0, 0, 1 }), 0.7
    local d, on_it, _, n = c.distance(c.cylinder(R, length):placed { 0, 0, 2, math.cos(a / 2), math.sin(a / 2), 0, 0 }, floor)
    assert.near(2 - length / 2 * math.cos(a) - R * math.sin(a), d, 1e-14)
    assert.near(d, on_it[3], 1e-14)
    assert.same({ 0, 0, 1 }, n)
    assert.near(2 - length / 2, (c.distance(c.cylinder(R, length):placed { 0, 0, 2 }, floor)), 1e-14)
  end)

  it("falls onto others in a heap, with linearised turns #once", function()
    math.randomseed(5)
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
    local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = 0.02 }
    local shape, bodies, energy = c.cylinder(0.1, 0.3), {}, 0
    local volume, _, inertia = shape:mass()
    for i = 0, 7 do
      local turn = ns.vector { math.random() - 0.5, math.random() - 0.5, math.random() - 0.5, math.random() - 0.5 }
      turn = turn / turn:norm()
      bodies[i + 1] = ns.NewtonEulerDS({ i % 2 * 0.38 - 0.19, 0, 0.25 + i // 2 * 0.38, turn[1], turn[2], turn[3], turn[4] },
        { 0, 0, 0, 0, 0, 0 }, 1, ns.matrix(inertia) / volume)
      bodies[i + 1]:setFExtPtr { 0, 0, -g }
      nsds:insertDynamicalSystem(bodies[i + 1])
      contacts:add(bodies[i + 1], shape)
      energy = energy + g * bodies[i + 1]:q()[3]
    end
    for i, wall in ipairs(c.walls({ -0.4, -0.22, 0 }, { 0.4, 0.22, 9 })) do
      if i ~= 6 then contacts:add_plane(wall) end
    end
    contacts:update()
    local osi = ns.MoreauJeanOSI(0.5)
    osi:setLinearlyImplicit(true)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), osi, ns.FrictionContact(3, { tolerance = 1e-8 }))
    for _ in simu:steps() do contacts:update() end
    local now, I = 0, ns.matrix(inertia) / volume
    for _, ds in ipairs(bodies) do
      local v, w = ds:velocity(), ns.vector { ds:velocity()[4], ds:velocity()[5], ds:velocity()[6] }
      now = now + g * ds:q()[3] + 0.5 * (v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2) + 0.5 * w:dot(I * w)
      assert.is_true(ds:q()[3] > 0.099)
    end
    assert.is_true(now < energy and contacts:count() >= 8, contacts:count())
  end)

  it("fall in a heap by Newton's method, too: where touching points jump a step is linear, and counted #once", function()
    math.randomseed(7)
    local nsds, m, radius, height = ns.NonSmoothDynamicalSystem(0, 0.6), 2, 0.1, 0.25
    local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = 0.05 }
    for i, wall in ipairs(c.walls({ -0.5, -0.5, 0 }, { 0.5, 0.5, 9 })) do
      if i ~= 6 then contacts:add_plane(wall) end
    end
    for k = 1, 6 do
      local e = ns.vector { math.random() * 2 - 1, math.random() * 2 - 1, math.random() * 2 - 1, math.random() * 2 - 1 }
      e = e / e:norm()
      local across = m * (3 * radius ^ 2 + height * height) / 12
      local ds = ns.NewtonEulerDS({ math.random() * 0.6 - 0.3, math.random() * 0.6 - 0.3, 0.2 + 0.28 * k, e[1], e[2], e[3], e[4] },
        { 0, 0, 0, 0, 0, 0 }, m, ns.diag { across, across, m * radius ^ 2 / 2 })
      ds:setFExtPtr { 0, 0, -9.81 * m }
      nsds:insertDynamicalSystem(ds)
      contacts:add(ds, c.cylinder(radius, height))
    end
    contacts:update()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanOSI(0.5))
    local before = simu:energy()
    for _ in simu:steps() do contacts:update() end
    local after, sum = simu:energy(), 0
    for name, value in pairs(after) do
      if name ~= "kinetic" and name ~= "potential" and name ~= "total" then sum = sum + value end
    end
    assert.near(after.total - before.total, sum, 1e-10 * math.abs(before.total))
    assert.is_true(after.total < before.total)
    assert.is_true(simu:stats().linear_steps > 0)
  end)

  it("needs a radius and a length", function()
    assert.error_matches(function() c.cylinder(0, 1) end, "cylinder: R: expected a positive number, got 0")
    assert.error_matches(function() c.cylinder(1) end, "cylinder: length: expected a positive number, got nil")
  end)
end)
