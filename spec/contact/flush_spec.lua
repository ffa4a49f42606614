-- contact/flush.h: solids of one owner with faces in one plane have one surface, as a plane or one larger solid has.
local ns = require "nslua"
local numbers = require "random_numbers"
local campaign = require "campaign"

local c, u = ns.contact, numbers.uniform

local makers = {
  sphere = function() return c.sphere(u(0.1, 0.3)) end,
  capsule = function() return c.capsule(u(0.05, 0.15), u(0.1, 0.4)) end,
  cylinder = function() return c.cylinder(u(0.05, 0.2), u(0.1, 0.4)) end,
  box = function() return c.box(u(0.1, 0.5), u(0.1, 0.5), u(0.1, 0.5)) end,
  hull = function()
    local points = {}
    for i = 1, 8 do points[i] = { u(-0.2, 0.2), u(-0.2, 0.2), u(-0.2, 0.2) } end
    return c.hull(points)
  end,
}
local names = { "sphere", "capsule", "cylinder", "box", "hull" }

-- The quaternion of a turn about the axis { 0.6, 0.8, 0 }, and a vector turned by it.
local function tilted(angle)
  local s = math.sin(angle / 2)
  return { math.cos(angle / 2), 0.6 * s, 0.8 * s, 0 }
end
local function turned(e, v)
  local w, x, y = e[1], e[2], e[3]
  local tx, ty, tz = 2 * y * v[3], -2 * x * v[3], 2 * (x * v[2] - y * v[1])
  return { v[1] + w * tx + y * tz, v[2] + w * ty - x * tz, v[3] + w * tz + x * ty - y * tx }
end

-- Boxes { x0, x1, y0, y1, z0, z1 } of the world, all turned about the origin, in another unit of length.
local function add(space, boxes, e, unit)
  for _, b in ipairs(boxes) do
    local p = turned(e, { unit * (b[1] + b[2]) / 2, unit * (b[3] + b[4]) / 2, unit * (b[5] + b[6]) / 2 })
    local box = c.box(unit * (b[2] - b[1]), unit * (b[4] - b[3]), unit * (b[6] - b[5]))
    space:add(nil, box:placed { p[1], p[2], p[3], e[1], e[2], e[3], e[4] })
  end
end

-- A floor with its top at z = 0 between -6 and 6, cut at random, in a random order.
local function floor_of_tiles()
  local function cuts(n)
    local list = { -6, 6 }
    for _ = 1, n do list[#list + 1] = u(-6, 6) end
    table.sort(list)
    return list
  end
  local tiles, xs = {}, cuts(12)
  for i = 1, #xs - 1 do
    local ys = cuts(math.random(0, 8))
    for j = 1, #ys - 1 do tiles[#tiles + 1] = { xs[i], xs[i + 1], ys[j], ys[j + 1], -1, 0 } end
  end
  for i = #tiles, 2, -1 do
    local k = math.random(i)
    tiles[i], tiles[k] = tiles[k], tiles[i]
  end
  return tiles
end

-- Runs a body over a ground: a function that adds it. Returns the places of all steps, the body, and the largest gain of
-- energy in a step.
local function run(o)
  local unit, e, way = o.unit or 1, o.e or { 1, 0, 0, 0 }, {}
  local q, v = o.q, o.v or { 0, 0, 0, 0, 0, 0 }
  local ds = ns.NewtonEulerDS({ unit * q[1], unit * q[2], unit * q[3], q[4] or 1, q[5] or 0, q[6] or 0, q[7] or 0 },
    { unit * v[1], unit * v[2], unit * v[3], v[4], v[5], v[6] }, 1, 0.02 * unit ^ 2 * ns.eye(3))
  local g = turned(e, { 0, 0, -9.81 * unit })
  ds:setFExtPtr(g)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 0.6)
  nsds:insertDynamicalSystem(ds)
  local law = ns.NewtonImpactFrictionNSL(o.restitution or 0, 0, o.mu or 0.1, 3)
  local space = c.space { nsds = nsds, law = law, reach = 0.1 * unit }
  o.ground(space)
  space:add(ds, o.shape)
  space:update()
  local simu
  if o.events then
    simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.005), ns.RungeKuttaOSI(1e-10, 1e-10))
  else
    simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.002), ns.MoreauJeanOSI(0.5), ns.FrictionContact(3))
  end
  local before, gain = nil, 0
  for _ in simu:steps() do
    space:update()
    local s, w = ds:q(), ds:velocity()
    local energy = (w[1] ^ 2 + w[2] ^ 2 + w[3] ^ 2) / 2 - g[1] * s[1] - g[2] * s[2] - g[3] * s[3]
    for k = 4, 6 do energy = energy + 0.01 * unit ^ 2 * w[k] ^ 2 end
    if before then gain = math.max(gain, energy - before) end
    before = energy
    way[#way + 1] = { s[1], s[2], s[3], s[4], s[5], s[6], s[7] }
  end
  return way, ds, gain
end

local function difference(one, other)
  local most = 0
  assert.equal(#one, #other)
  for k, q in ipairs(one) do
    for i = 1, 7 do most = math.max(most, math.abs(q[i] - other[k][i])) end
  end
  return most
end

-- A body of a kind that is thrown at the ground.
local function thrown(name, e)
  local p = turned(e, { u(-1, 1), u(-1, 1), 0.6 })
  local v = turned(e, { u(-3, 3), u(-3, 3), u(-2, 0) })
  local q = { p[1], p[2], p[3], u(-1, 1), u(-1, 1), u(-1, 1), u(-1, 1) }
  local length = math.sqrt(q[4] ^ 2 + q[5] ^ 2 + q[6] ^ 2 + q[7] ^ 2)
  for k = 4, 7 do q[k] = q[k] / length end
  return { shape = makers[name](), e = e, q = q, v = { v[1], v[2], v[3], u(-5, 5), u(-5, 5), u(-5, 5) },
    mu = u(0.05, 0.5), restitution = math.random(0, 1) * 0.5 }
end

local level = { 1, 0, 0, 0 }
local brick = { box = c.box(0.4, 0.4, 0.2), sphere = c.sphere(0.1), cylinder = c.cylinder(0.1, 0.2) }
-- What slides at 2.36 to the right over boxes of the world.
local function slide(shape, boxes, events, T)
  return select(2, run { shape = shape, q = { -0.5, 0, 0.1 }, v = { 2.36, 0, 0, 0, 0, 0 }, events = events, T = T or 1,
    ground = function(space) add(space, boxes, level, 1) end })
end
local function tiles(from, to, low, high)
  local list = {}
  for x = from, to - 1 do list[#list + 1] = { x, x + 1, -2, 2, low or -1, high or 0 } end
  return list
end
local function joined(...)
  local all = {}
  for _, list in ipairs { ... } do table.move(list, 1, #list, #all + 1, all) end
  return all
end

describe("solids beside each other", function()
  it("are as one of them: a box slides over their joints, also from event to event #once", function()
    for _, events in ipairs { false, true } do
      for name, shape in pairs(brick) do
        local one, many = slide(shape, { { -2, 5, -2, 2, -1, 0 } }, events), slide(shape, tiles(-2, 5), events)
        assert.near(one:q()[1], many:q()[1], 1e-12, name)
        assert.near(2.36 - 0.981, many:velocity()[1], 1e-9, name)
      end
    end
  end)

  it("are a plane for all shapes that fall, slide, roll and tumble over them, tilted, too #once", function()
    math.randomseed(61)
    for round = 1, campaign(2, 1) do
      for _, name in ipairs(names) do
        local e, floor = tilted(round % 2 * 0.3), floor_of_tiles()
        local o = thrown(name, e)
        o.ground = function(space) add(space, { { -6, 6, -6, 6, -1, 0 } }, e, 1) end
        local one = run(o)
        o.ground = function(space) add(space, floor, e, 1) end
        local many = run(o)
        o.ground = function(space) space:add_plane(c.plane({ 0, 0, 0 }, turned(e, { 0, 0, 1 }))) end
        local plane = run(o)
        -- a solid keeps four or five corners, a plane all: so where these two agree
        if difference(one, plane) < 1e-12 then assert.near(0, difference(one, many), 1e-10, name) end
      end
    end
  end)

  -- An end or a rim that has sunk in a solid touches it by its lowest point, and not its edges from within.
  it("are a plane for capsules and cylinders that turn over on them #once", function()
    for name, seed in pairs { capsule = 73, cylinder = 8 } do
      math.randomseed(seed)
      for _ = 1, campaign(6, 1) do
        local o, floor = thrown(name, level), floor_of_tiles()
        o.ground = function(space) space:add_plane(c.plane({ 0, 0, 0 }, { 0, 0, 1 })) end
        local plane = run(o)
        o.ground = function(space) add(space, floor, level, 1) end
        assert.near(0, difference(plane, (run(o))), 1e-10, name)
      end
    end
  end)

  -- The box around this tetrahedron has its middle outside of it, and below the floor.
  it("are as one of them for a hull with its middle far from its corners", function()
    local s, half = 0.3, math.acos(-1 / math.sqrt(3)) / 2
    local turn = math.sin(half) / math.sqrt(2)
    local o = { shape = c.hull { { 0, 0, 0 }, { s, 0, 0 }, { 0, s, 0 }, { 0, 0, s } }, v = { 2, 0.7, 0, 0, 0, 0.5 },
      q = { -0.4, 0.1, s / math.sqrt(3) + 1e-3, math.cos(half), -turn, turn, 0 } }
    o.ground = function(space) add(space, { { -2, 3, -2, 2, -1, 0 } }, level, 1) end
    local one = run(o)
    o.ground = function(space) add(space, tiles(-2, 3), level, 1) end
    assert.near(0, difference(one, (run(o))), 1e-10)
  end)

  it("are the same in other units #once", function()
    math.randomseed(62)
    local floor, unit = floor_of_tiles(), 1024
    for _, name in ipairs { "sphere", "box" } do
      local o = thrown(name, level)
      local sizes = { u(0.1, 0.3), u(0.1, 0.3), u(0.1, 0.3) }
      local function shape(s)
        return name == "sphere" and c.sphere(s * sizes[1]) or c.box(s * sizes[1], s * sizes[2], s * sizes[3])
      end
      o.ground, o.shape = function(space) add(space, floor, level, 1) end, shape(1)
      local way = run(o)
      o.ground, o.shape, o.unit = function(space) add(space, floor, level, unit) end, shape(unit), unit
      local far = run(o)
      for k, q in ipairs(far) do
        for i = 1, 3 do assert.equal(way[k][i], q[i] / unit, name) end
      end
    end
  end)

  it("with a step of rounding are flat, and with one of a thousandth they are not", function()
    local uneven = tiles(-2, 5)
    for i, b in ipairs(uneven) do b[6] = i % 2 * 1e-12 end
    assert.near(2.36 - 0.981, slide(brick.box, uneven):velocity()[1], 1e-3)
    local ds = slide(brick.box, joined(tiles(-2, 1), tiles(1, 4, -1, 0.001)))
    assert.is_true(ds:q()[1] < 0.85 and math.abs(ds:velocity()[1]) < 0.1)
  end)

  it("have their pits: what comes there falls in", function()
    for name, shape in pairs(brick) do
      local ds = slide(shape, joined(tiles(-2, 1), tiles(2, 4)), false, 1.4)
      assert.is_true(ds:q()[3] < -0.5, name)
    end
  end)

  it("have walls on them and through them, at which bodies stop without a turn", function()
    local walls = {
      on = joined(tiles(-2, 4), { { 1.5, 2, -2, 2, 0, 1 } }),
      through = joined(tiles(-2, 1), { { 1, 1.5, -2, 2, -1, 0 }, { 1.5, 2, -2, 2, -1, 1 } }),
      narrow = joined(tiles(-2, 1), { { 1, 1.5, -2, 2, -1, 0 }, { 1.5, 2, -0.1, 0.1, -1, 1 } },
        { { 1.5, 2, -2, -0.1, -1, 0 }, { 1.5, 2, 0.1, 2, -1, 0 } }),
    }
    for name, boxes in pairs(walls) do
      local ds = slide(brick.box, boxes)
      assert.near(1.3, ds:q()[1], 0.005, name)
      assert.near(0.1, ds:q()[3], 1e-3, name)
      for k = 1, 6 do assert.near(0, ds:velocity()[k], 1e-9, name) end
      ds = slide(brick.sphere, boxes, false, 1.3)
      assert.near(1.4, ds:q()[1], 0.005, name)
    end
  end)

  it("give no energy to what slides over them", function()
    math.randomseed(63)
    for _, name in ipairs { "sphere", "box" } do
      local _, _, gain = run { shape = brick[name], q = { -0.5, 0, 0.1 }, v = { u(1, 3), u(-1, 1), 0, 0, 0, u(-3, 3) },
        ground = function(space) add(space, floor_of_tiles(), level, 1) end }
      assert.is_true(gain < 1e-13, name)
    end
  end)

  it("make a body that strikes as the whole one does #once", function()
    math.randomseed(64)
    local whole = c.box(0.6, 0.4, 0.2)
    local halves = c.compound { c.box(0.25, 0.4, 0.2):placed { -0.175, 0, 0 }, c.box(0.35, 0.4, 0.2):placed { 0.125, 0, 0 } }
    local grounds = {
      function(space) space:add_plane(c.plane({ 0, 0, 0 }, { 0, 0, 1 })) end,
      function(space) add(space, { { -6, 6, -6, 6, -1, 0 } }, level, 1) end,
      function(space) add(space, tiles(-6, 6), level, 1) end,
    }
    for _, ground in ipairs(grounds) do
      local o = thrown("box", level)
      o.ground, o.shape = ground, whole
      local one = run(o)
      o.shape = halves
      assert.near(0, difference(one, (run(o))), 1e-10)
    end
  end)

  it("name the first face of their flat part, so that a contact goes on over a joint", function()
    local ds = ns.NewtonEulerDS({ -0.15, 0, 0.1, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local space = c.space { nsds = nsds, law = ns.NewtonImpactNSL(0), reach = 0.05 }
    add(space, { { -1, 0, -2, 2, -1, 0 }, { 0, 1, -2, 2, -1, 0 } }, level, 1)
    space:add(ds, brick.box)
    assert.equal(4, space:update())
    local before, named = space:interactions(), {}
    for k, contact in ipairs(before) do named[k] = contact:name() end
    table.sort(named)
    for k, name in ipairs(named) do assert.equal(("box 3 box 1 point_face 1 %d 6 1"):format(k), name) end
    ds:setQ { 0.5, 0, 0.1, 1, 0, 0, 0 }
    assert.equal(4, space:update())
    local seen = {}
    for _, contact in ipairs(before) do seen[contact] = true end
    for _, contact in ipairs(space:interactions()) do assert.is_true(seen[contact]) end
  end)
end)

describe("polygons beside each other in the plane", function()
  local function slides(boxes, disk)
    local ds = ns.LagrangianLinearTIDS({ -0.5, 0.1, 0 }, { 2.36, 0, 0 }, ns.diag { 1, 1, 0.02 })
    ds:setFExtPtr { 0, -9.81, 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local contacts = c.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.1, 2), reach = 0.1 }
    for _, b in ipairs(boxes) do
      contacts:add_polygon(nil, { { b[1], b[5] }, { b[2], b[5] }, { b[2], b[6] }, { b[1], b[6] } })
    end
    if disk then contacts:add_disk(ds, 0.1) else contacts:add_box(ds, 0.4, 0.2) end
    contacts:update()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.002), ns.MoreauJeanOSI(0.5), ns.FrictionContact(2))
    for _ in simu:steps() do contacts:update() end
    return ds
  end

  it("are flat, stop what slides against a wall on them, and have their pits", function()
    for _, disk in ipairs { false, true } do
      local ds = slides(tiles(-2, 5), disk)
      assert.near(2.36 - 0.981, ds:velocity()[1], 1e-9)
      assert.near(0.1, ds:q()[2], 1e-12)
      ds = slides(joined(tiles(-2, 5), { { 1.2, 1.6, -2, 2, 0, 1 } }), disk)
      assert.near(disk and 1.1 or 1, ds:q()[1], 0.005)
      ds = slides(joined(tiles(-2, 1), tiles(2, 4)), disk)
      assert.is_true(ds:q()[2] < 0)
    end
  end)
end)
