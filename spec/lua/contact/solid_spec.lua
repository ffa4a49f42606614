-- nslua.contact.solid: motion of bodies with shapes, by their laws.
local ns = require "nslua"
local trail = require "trail"

local c, g = ns.contact, 9.81

local function scene(mu, reach, T)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 10)
  return nsds, c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 3), reach = reach }
end

local function body(nsds, q, inertia, v)
  local ds = ns.NewtonEulerDS(q, v or { 0, 0, 0, 0, 0, 0 }, 1, inertia)
  ds:setFExtPtr { 0, 0, -g }
  nsds:insertDynamicalSystem(ds)
  return ds
end

local function simulation(nsds, h, tolerance, dim)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5),
    ns.FrictionContact(dim or 3, { tolerance = tolerance }))
end

local cube = ns.eye(3) / 6

-- A tower of boxes on something; the most that a coordinate differs from its start at any step.
local function tower(count, T, add_ground)
  local nsds, contacts = scene(0.5, 0.05, T)
  add_ground(contacts)
  local bodies, drift = {}, 0
  for k = 1, count do
    bodies[k] = body(nsds, { 0, 0, k - 0.5, 1, 0, 0, 0 }, cube)
    contacts:add_box(bodies[k], 1, 1, 1)
  end
  contacts:update()
  for _ in simulation(nsds, 5e-3):steps() do
    contacts:update()
    for k, ds in ipairs(bodies) do
      local q = ds:q()
      drift = math.max(drift, math.abs(q[1]), math.abs(q[2]), math.abs(q[3] - k + 0.5), math.abs(q[5]), math.abs(q[6]),
        math.abs(q[7]))
    end
  end
  return drift, contacts:count()
end

local function on_plane(contacts) contacts:add_plane(c.plane({ 0, 0, 0 }, { 0, 0, 1 })) end

local function on_mesh(contacts)
  contacts:add(nil, c.heightfield(ns.zeros(8, 8), 0.7, 0.7):placed { -2.5, -2.6, 0 })
end

describe("towers of boxes", function()
  -- The contact of two boxes that would fall alike stays closed although rounding opens it: ten boxes fell after 0.02.
  it("stand, on a plane and on a mesh", function()
    for _, ground in ipairs { on_plane, on_mesh } do
      local drift, count = tower(10, 0.2, ground)
      assert.is_true(drift < 1e-10, drift)
      assert.equal(40, count)
    end
  end)

  it("stand where masses differ by 1e8, in any order", function()
    for _, masses in ipairs { { 1, 1e8 }, { 1e8, 1 }, { 1, 1, 1e8 }, { 1, 1e8, 1, 1e8 }, { 1e-4, 1, 1e4 } } do
      local nsds, contacts = scene(0.5, 0.05, 0.05)
      on_plane(contacts)
      local bodies = {}
      for k, m in ipairs(masses) do
        bodies[k] = ns.NewtonEulerDS({ 0, 0, k - 0.5, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, m, m * cube)
        bodies[k]:setFExtPtr { 0, 0, -m * g }
        nsds:insertDynamicalSystem(bodies[k])
        contacts:add_box(bodies[k], 1, 1, 1)
      end
      contacts:update()
      for _ in simulation(nsds, 5e-3):steps() do contacts:update() end
      for _, ds in ipairs(bodies) do assert.is_true(ds:velocity():norm() < 1e-5 * g * 5e-3) end -- 1e8 roundings
    end
  end)

  it("of ten stand for ten seconds #long", function()
    local drift, count = tower(10, 10, on_plane)
    assert.is_true(drift < 1e-9, drift)
    assert.equal(40, count)
  end)
end)

-- A box on a plane that is inclined by 0.3, with mu = factor tan(0.3): its coordinates and its velocity downwards after 0.2.
local function slide(factor, ground, shape, lift, v)
  local alpha = 0.3
  local s, k = math.sin(alpha), math.cos(alpha)
  local turned = { math.cos(alpha / 2), 0, math.sin(alpha / 2), 0 }
  local nsds, contacts = scene(factor * math.tan(alpha), 0.05, 0.2)
  local function tilt(x, y, z) return { k * x + s * z, y, k * z - s * x, table.unpack(turned) } end
  ground(contacts, tilt, { s, 0, k })
  local ds = body(nsds, tilt(0, 0, lift), cube, v and { k * v, 0, -s * v, 0, 0, 0 })
  contacts:add(ds, shape)
  contacts:update()
  for _ in simulation(nsds, 1e-3):steps() do contacts:update() end
  local speed = ds:velocity()
  return ds:q():totable(), k * speed[1] - s * speed[3], g * (s - factor * math.tan(alpha) * k) * 0.2
end

local grounds = {
  plane = function(contacts, _, normal) contacts:add_plane(c.plane({ 0, 0, 0 }, normal)) end,
  box = function(contacts, tilt) contacts:add(nil, c.box(20, 20, 1):placed(tilt(0, 0, -0.5))) end,
  mesh = function(contacts, tilt)
    contacts:add(nil, c.heightfield(ns.zeros(12, 12), 0.61, 0.53):placed(tilt(-3.1, -2.9, 0)))
  end,
}

describe("a box on a slope", function()
  it("stays where mu is above tan, and slides with the exact acceleration below, on a plane, a box and a mesh", function()
    for _, factor in ipairs { 1.01, 1.0001, 0.9999, 0.99, 0.5 } do
      local reference
      for _, name in ipairs { "plane", "box", "mesh" } do
        local q, v, expected = slide(factor, grounds[name], c.box(1, 1, 1), 0.5)
        assert.near(math.max(0, expected), v, 1e-8 * g * 0.2)
        reference = reference or q
        for i = 1, 7 do assert.near(reference[i], q[i], 1e-10) end
      end
    end
  end)

  it("in the plane stays and slides where mu differs from tan by 1e-9 of it, whatever the mass", function()
    local s, k, T = math.sin(0.3), math.cos(0.3), 0.1
    for _, m in ipairs { 1, 1e6 } do
      for _, excess in ipairs { 1e-9, -1e-9, -1e-8 } do
        local mu, nsds = math.tan(0.3) * (1 + excess), ns.NonSmoothDynamicalSystem(0, T)
        local ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, { { m, 0, 0 }, { 0, m, 0 }, { 0, 0, m * 5 / 12 } })
        ds:setFExtPtr { m * g * s, -m * g * k, 0 }
        nsds:insertDynamicalSystem(ds)
        for side = -1, 1, 2 do
          local law, relation = ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR { { 0, 1, side }, { 1, 0, 0.5 } }
          nsds:link(ns.Interaction(law, relation), ds)
        end
        simulation(nsds, 1e-3, 1e-10, 2):run()
        local expected = math.max(0, (s - mu * k) * g * T)
        assert.near(expected, ds:velocity()[1], 1e-6 * math.abs(excess) * g * T)
      end
    end
  end)

  it("slides over the triangles of a mesh as over a plane, also fast and turned", function()
    local turned = c.box(0.8, 0.7, 1):placed { 0, 0, 0, 0.9, 0, 0, 0.3 }
    local reference = slide(0.5, grounds.plane, turned, 0.5, 3)
    local q = slide(0.5, grounds.mesh, turned, 0.5, 3)
    for i = 1, 7 do assert.near(reference[i], q[i], 1e-10) end
  end)
end)

describe("bodies of many shapes", function()
  -- Boxes, capsules, hulls and compounds that fall into a container; a trail of the bits of their coordinates.
  local function pour(count, T, h, stop)
    local nsds, contacts = scene(0.4, 0.05, T)
    for _, plane in ipairs(c.walls({ -0.6, -0.6, 0 }, { 0.6, 0.6, 20 })) do contacts:add_plane(plane) end
    local shapes = { c.box(0.5, 0.4, 0.3), c.capsule(0.15, 0.3),
      c.hull { { 0.2, 0, 0 }, { -0.2, 0.1, 0 }, { 0, 0.3, 0 }, { 0, -0.2, 0.1 }, { 0, 0, 0.3 }, { 0.1, 0, -0.2 } },
      c.compound { c.box(0.4, 0.1, 0.1), c.box(0.1, 0.4, 0.1) }, c.sphere(0.2) }
    math.randomseed(2)
    local bodies, bits = {}, {}
    for k = 1, count do
      local e, length = {}, 0
      for i = 1, 4 do
        e[i] = math.random() - 0.5
        length = length + e[i] ^ 2
      end
      for i = 1, 4 do e[i] = e[i] / math.sqrt(length) end
      local x, y = (k % 2 - 0.5) * 0.6, (k // 2 % 2 - 0.5) * 0.6
      bodies[k] = body(nsds, { x, y, 0.4 + 0.7 * ((k - 1) // 4), table.unpack(e) }, 0.02 * ns.eye(3))
      contacts:add(bodies[k], shapes[k % #shapes + 1])
    end
    contacts:update()
    local osi = ns.MoreauJeanOSI(0.5)
    osi:setLinearlyImplicit(true)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi, ns.FrictionContact(3, { tolerance = 1e-6 }))
    local deepest = 0
    for step, t in simu:steps() do
      if stop and t > stop then break end
      contacts:update()
      for _, inter in ipairs(contacts:interactions()) do
        if inter:lambda(1)[1] > 0 then deepest = math.min(deepest, inter:y(0)[1]) end
      end
      if step % 20 == 0 then
        for _, ds in ipairs(bodies) do
          for i = 1, 7 do bits[#bits + 1] = ("%a"):format(ds:q()[i]) end
        end
      end
    end
    return bits, bodies, deepest, simu, contacts
  end

  it("stay in their container, overlap by the way of a step at most, and do the same twice #once", function()
    local h, T = 2e-3, 0.8
    local bits, bodies, deepest = pour(8, T, h)
    local way = h * math.sqrt(2 * g * 1.5) -- of a fall, with the turning of a body
    assert.is_true(deepest > -3 * way, deepest)
    for _, ds in ipairs(bodies) do
      local q = ds:q()
      assert.is_true(q[3] > 0.02 and math.abs(q[1]) < 0.6 and math.abs(q[2]) < 0.6)
    end
    assert.same(bits, (pour(8, T, h)))
  end)

  it("go on with the same bits in a clone and from a checkpoint #once", function()
    local _, _, _, simu, contacts = pour(6, 0.52, 2e-3, 0.5)
    assert.is_true(contacts:count() > 6)
    local file, copy = os.tmpname(), simu:clone()
    simu:save_state(file)
    local steps = trail.of(simu)
    assert.is_true(#steps >= 8)
    assert.same(steps, trail.of(copy))
    simu:load_state(file)
    os.remove(file)
    assert.same(steps, trail.of(simu))
  end)
end)

describe("contacts of features", function()
  it("keep the momentum of two boxes that meet with their edges, corners and faces", function()
    local places = { { 1.02, 0.1, 0.2, 1, 0, 0, 0 }, { 1.25, 0, 0, 0.9, 0, 0, 0.5 }, { 1.3, 0.1, 0.3, 0.8, 0.3, 0.5, 0.1 } }
    for case, q in ipairs(places) do
      local length = math.sqrt(q[4] ^ 2 + q[5] ^ 2 + q[6] ^ 2 + q[7] ^ 2)
      for i = 4, 7 do q[i] = q[i] / length end
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
      local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 3), reach = 0.1 }
      local a = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 1, 0.1, 0, 0, 0.2, 0 }, 2, cube)
      local b = ns.NewtonEulerDS(q, { -1, 0, 0, 0.5, 0, 0 }, 1, cube)
      for _, ds in ipairs { a, b } do
        nsds:insertDynamicalSystem(ds)
        contacts:add_box(ds, 1, 1, 1)
      end
      contacts:update()
      local hit = 0
      for _ in simulation(nsds, 1e-3):steps() do
        contacts:update()
        for _, inter in ipairs(contacts:interactions()) do hit = math.max(hit, inter:lambda(1)[1]) end
      end
      assert.is_true(hit > 0, case)
      for i, sum in ipairs { 1, 0.2, 0 } do assert.near(sum, 2 * a:velocity()[i] + b:velocity()[i], 1e-11) end
      assert.is_true(b:velocity()[1] > a:velocity()[1])
    end
  end)
end)

describe("managers", function()
  it("leave out the bodies that a filter names", function()
    local nsds, contacts = scene(0.5, 0.1)
    local bodies = {}
    for k = 1, 3 do
      bodies[k] = body(nsds, { 0, 0, k - 0.5, 1, 0, 0, 0 }, cube)
      contacts:add_box(bodies[k], 1, 1, 1)
    end
    on_plane(contacts)
    contacts:filter(function(a, b) return not (a == bodies[2] or b == bodies[2]) end)
    assert.equal(4, contacts:update())
    for _, inter in ipairs(contacts:interactions()) do assert.matches("^box 1 corner %d plane 1$", inter:name()) end
    assert.error_matches(function() contacts:filter(3) end, "filter: filter: expected a function, got 3")
  end)

  it("link what a script's own generator names, and unlink what it names no more", function()
    local nsds, contacts = scene(0.5, 0.1)
    local a, b = body(nsds, { 0, 0, 1, 1, 0, 0, 0 }, cube), body(nsds, { 0, 0, 3, 1, 0, 0, 0 }, cube)
    local near = { ball = c.sphere_sphere(0.5, 0.5) }
    contacts:pair(a, b, function(first, second)
      assert.is_true(first == a and second == b)
      return near
    end)
    assert.equal(1, contacts:update())
    local first = contacts:interactions()[1]
    assert.equal("pair 1 ball", first:name())
    near = { ball = near.ball, other = c.sphere_sphere(1, 1) }
    assert.equal(2, contacts:update())
    assert.is_true(contacts:interactions()[1] == first)
    near = {}
    assert.equal(0, contacts:update())
    assert.equal(0, nsds:numberOfInteractions())
    near = { ball = 1 }
    assert.error_matches(function() contacts:update() end, "pair: contacts: [ball]: expected a relation, got 1", 1, true)
    near = nil
    assert.error_matches(function() contacts:update() end,
      "pair: contacts: expected a function that returns a table of relations, got nil")
    assert.error_matches(function() contacts:pair(3, nil, print) end, "pair: first: expected a mechanical system, got 3")
    assert.error_matches(function() contacts:pair(a, nil, 3) end, "pair: contacts: expected a function, got 3")
  end)

  it("slide over a mesh as if its triangles without an area were not there, also where each has points of its own", function()
    local function apart(points, triangles)
      local own, numbers = {}, {}
      for i, t in ipairs(triangles) do
        for k = 1, 3 do own[3 * i + k - 3] = points[t[k]] end
        numbers[i] = { 3 * i - 2, 3 * i - 1, 3 * i }
      end
      own[1] = { own[1][1], own[1][2], -0.0 }
      return own, numbers
    end
    local function cross(shape, more, alone)
      local nsds, contacts = scene(0.4, 0.05, 0.3)
      local points = { { -2, -2, 0 }, { 2, -2, 0 }, { 2, 2, 0 }, { -2, 2, 0 }, { 0, -2, 0 }, { 0, 0, 0 }, { 0, 2, 0 } }
      local triangles = { { 1, 5, 7 }, { 1, 7, 4 }, { 5, 2, 3 }, { 5, 3, 7 } }
      table.move(more, 1, #more, #triangles + 1, triangles)
      if alone then points, triangles = apart(points, triangles) end
      contacts:add(nil, c.mesh(points, triangles):placed { 0, 0, 0 })
      local ds = body(nsds, { -0.1, 0, 0.5, 1, 0, 0, 0 }, cube, { 1, 0.2, 0, 0, 0, 0 })
      contacts:add(ds, shape)
      contacts:update()
      for _ in simulation(nsds, 5e-3):steps() do contacts:update() end
      return { ds:q(), ds:velocity() }
    end
    for _, shape in ipairs { c.sphere(0.5), c.box(1, 1, 1) } do
      local expected = cross(shape, {})
      assert.same(expected, cross(shape, { { 5, 6, 7 }, { 5, 7, 6 }, { 5, 5, 7 }, { 1, 1, 1 } }))
      assert.same(expected, cross(shape, {}, true))
    end
    assert.error_matches(function() c.mesh({ { 0, 0, 0 }, { 1, 1, 1 }, { 3, 3, 3 } }, { { 1, 2, 3 } }) end,
      "mesh: expected triangles, got none")
  end)

  it("say what is wrong with shapes", function()
    local nsds, contacts = scene(0.5, 0.1)
    local ds = body(nsds, { 0, 0, 0, 1, 0, 0, 0 }, cube)
    assert.error_matches(function() contacts:add(ds, 3) end, "add: shape: expected a shape, got 3")
    assert.error_matches(function() contacts:add(3, c.sphere(1)) end, "add: ds: expected a NewtonEulerDS, got 3")
    assert.error_matches(function() contacts:add(ds, c.heightfield(ns.zeros(2, 2), 1, 1)) end,
      "add: ds: expected nil, as a mesh belongs to the world, got NewtonEulerDS")
    local particle = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
    contacts:add_sphere(particle, 0.1)
    assert.error_matches(function() contacts:add(nil, c.box(1, 1, 1)) end,
      "add: there is no contact between a box and a particle: they would pass through each other")
  end)

  it("come and go after reset() as in the first run, to the same bits", function()
    local nsds, contacts = scene(0.8, 0.05, 0.8)
    on_plane(contacts)
    local bodies, simu = {}, nil
    for k = 1, 8 do
      local turn = { math.cos(k), 0.6 * math.sin(k), 0.8 * math.sin(k), 0 }
      bodies[k] = body(nsds, { 0.11 * math.sin(k * k), 0.11 * math.cos(3 * k), 0.5 * k, table.unpack(turn) }, cube / 9)
      contacts:add(bodies[k], k % 2 == 0 and c.box(0.4, 0.3, 0.2) or c.capsule(0.12, 0.3))
    end
    local function run()
      local linked, bits = { contacts:update() }, {}
      simu = simu or simulation(nsds, 4e-3)
      for _ in simu:steps() do linked[#linked + 1] = contacts:update() end
      for k, b in ipairs(bodies) do bits[k] = ("%a %a %a"):format(b:q()[1], b:q()[4], b:velocity()[6]) end
      return linked, bits
    end
    local linked, bits = run()
    simu:reset()
    local again, same = run()
    assert.same(linked, again)
    assert.same(bits, same)
    assert.is_true(linked[1] < linked[#linked])
  end)
end)
