-- Balls that roll and bounce over the ends of faces and edges within steps of event-driven runs.
local ns = require "nslua"
local campaign = require "campaign"
local product = require "motion".multiply

local c, random, cos, sin, sqrt = ns.contact, math.random, math.cos, math.sin, math.sqrt
local R, T, inertia, g = 0.1, 0.4, 0.004, { 0, 0, -9.81 }
local half = sqrt(0.5)

local function ridge(slope)
  local points, triangles = {}, { { 1, 3, 2 }, { 2, 3, 4 }, { 3, 5, 4 }, { 4, 5, 6 } }
  for x = -2, 2, 2 do
    for y = -2, 2, 4 do points[#points + 1] = { x, y, -slope * math.abs(x) } end
  end
  return c.mesh(points, triangles)
end

local function waves()
  local rows = {}
  for i = 1, 9 do
    rows[i] = {}
    for j = 1, 9 do rows[i][j] = 0.15 * sin(1.3 * i) * cos(0.9 * j) - 0.15 end
  end
  return c.heightfield(rows, 0.5, 0.5)
end

local worlds = {
  box = { function() return c.box(1, 1, 1):placed { 0, 0, -0.5 } end, 0.4 },
  ["rounded box"] = { function() return c.box(0.8, 0.8, 0.8, 0.1):placed { 0, 0, -0.5 } end, 0.4 },
  hull = { function() return c.hull { { 0.5, 0, 0 }, { -0.5, 0.4, 0 }, { -0.4, -0.5, 0 }, { 0, 0, -1 } } end, 0.15 },
  ridge = { function() return ridge(0.4) end, 0.1 },
  ["flat mesh"] = { function()
    return c.mesh({ { -0.5, -0.5, 0 }, { 0.5, -0.5, 0 }, { 0, 0, 0 }, { 0.5, 0.5, 0 }, { -0.5, 0.5, 0 } },
      { { 1, 2, 3 }, { 2, 4, 3 }, { 4, 5, 3 }, { 5, 1, 3 } })
  end, 0.4 },
  heightfield = { waves, 0.3 },
  capsule = { function() return c.capsule(0.3, 0.6):placed { 0, 0, -0.3, half, 0, half, 0 } end, 0.25, lies = true },
}

-- A vector turned by a quaternion.
local function turned(e, v)
  local x = product(product(e, { 0, v[1], v[2], v[3] }), { e[1], -e[2], -e[3], -e[4] })
  return { x[2], x[3], x[4] }
end
local still = { 1, 0, 0, 0 }

-- Throws a ball; o: q, v, h, law, world, beside (other shapes), e (how all is turned), held: mass and inertia of the box that
-- is a body. Returns the position, turned back, the energy, and the energy at the start.
local function throw(o)
  local nsds, e = ns.NonSmoothDynamicalSystem(0, T), o.e or still
  local pull = turned(e, g)
  local function body(q, v, m, I, push)
    local x, u = turned(e, q), turned(e, v)
    local ds = ns.NewtonEulerDS({ x[1], x[2], x[3], e[1], e[2], e[3], e[4] }, { u[1], u[2], u[3], 0, 0, 0 }, m,
      ns.diag { I, I, I })
    ds:setFExtPtr { m * push[1], m * push[2], m * push[3] }
    nsds:insertDynamicalSystem(ds)
    return ds
  end
  local ds = body(o.q, o.v, 1, inertia, pull)
  local contacts = c.space { nsds = nsds, law = o.law, reach = 0.4 }
  contacts:add(ds, c.sphere(R))
  local other = o.held and body({ 0, 0, 0 }, { 0, 0, 0 }, o.held[1], o.held[2], { 0, 0, 0 })
  local placed = o.world
  if other == nil or not other then
    placed = placed.mesh and placed or placed:placed { 0, 0, 0, e[1], e[2], e[3], e[4] }
  end
  contacts:add(other or nil, placed)
  for _, beside in ipairs(o.beside or {}) do contacts:add(nil, beside) end
  local function energy()
    local q, v = ds:q(), ds:velocity()
    local sum = (v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2 + inertia * (v[4] ^ 2 + v[5] ^ 2 + v[6] ^ 2)) / 2
    for k = 1, 3 do sum = sum - pull[k] * q[k] end
    for k = 1, other and 6 or 0 do sum = sum + o.held[k > 3 and 2 or 1] * other:velocity()[k] ^ 2 / 2 end
    return sum
  end
  local before = energy()
  contacts:update()
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, o.h), ns.RungeKuttaOSI(1e-9, 1e-11))
  for _ in simu:steps() do contacts:update() end
  local q = ds:q()
  return turned({ e[1], -e[2], -e[3], -e[4] }, { q[1], q[2], q[3] }), energy(), before
end

local elastic, rough = ns.NewtonImpactFrictionNSL(1, 0, 0, 3), ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3)

-- A start near the end of a face: from there outwards; it rests on the face, or is above it.
local function start(world, high)
  local angle, speed = 2 * math.pi * random(), 0.5 + random()
  local way = angle + 0.6 * (random() - 0.5)
  local x, y = world[2] * cos(angle), world[2] * sin(angle)
  if world.lies then y = y / 10 end
  return { x, y, R + high }, { speed * cos(way), speed * sin(way), 0 }
end

local function assert_same(expected, got, tolerance, what)
  for k = 1, 3 do assert.near(expected[k], got[k], tolerance, what) end
end

describe("a ball", function()
  for name, world in pairs(worlds) do
    it(("rolls over the ends of a %s in long steps as in short ones #once"):format(name), function()
      math.randomseed(3)
      for i = 1, campaign(8, 1) do
        local q, v = start(world, (name == "ridge" or name == "heightfield") and 0.06 or 0)
        local o = { q = q, v = v, h = 0.1, law = rough, world = world[1]() }
        local long = throw(o)
        o.h = 0.005
        assert_same(throw(o), long, 1e-6, ("throw %d"):format(i))
      end
    end)

    it(("bounces from a %s at the same place in long and short steps, and keeps its energy #once"):format(name), function()
      math.randomseed(4)
      for i = 1, campaign(8, 1) do
        local q, v = start(world, 0.05 + 0.1 * random())
        local o, what = { q = q, v = v, h = 0.1, law = elastic, world = world[1]() }, ("throw %d"):format(i)
        local long, energy, before = throw(o)
        o.h = 0.005
        assert_same(throw(o), long, 1e-9, what)
        assert.near(before, energy, 1e-10, what)
      end
    end)
  end

  it("rolls over the ends of a box that moves freely, with its energy and in long steps as in short ones #once", function()
    math.randomseed(5)
    for i = 1, campaign(8, 1) do
      local q, v = start({ nil, 0.38 }, 0.5)
      local o = { q = q, v = v, h = 0.1, law = elastic, world = c.box(1, 1, 1), held = { 3, 0.5 } }
      local long, energy, before = throw(o)
      o.h = 0.005
      assert_same(throw(o), long, 1e-8, ("throw %d"):format(i))
      assert.near(before, energy, 1e-9, ("throw %d"):format(i))
    end
  end)

  it("goes the same way in a world that is turned or mirrored #once", function()
    math.randomseed(6)
    for i = 1, campaign(6, 1) do
      local q, v = start(worlds.box, 0)
      local o = { q = q, v = v, h = 0.1, law = rough, world = worlds.box[1]() }
      local expected, what = throw(o), ("throw %d"):format(i)
      local e, size = { random(), random(), random(), random() }, 0
      for k = 1, 4 do size = size + e[k] ^ 2 end
      for k = 1, 4 do e[k] = e[k] / sqrt(size) end
      o.e = e
      assert_same(expected, throw(o), 1e-6, what)
      o.e, o.q, o.v = nil, { -q[1], q[2], q[3] }, { -v[1], v[2], v[3] }
      local mirrored = throw(o)
      assert_same(expected, { -mirrored[1], mirrored[2], mirrored[3] }, 1e-6, what)
    end
  end)

  it("goes the same way in a clone, also when the original is gone", function()
    local function rolls(shape)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.6)
      local ds = ns.NewtonEulerDS({ 0.35, 0, R, 1, 0, 0, 0 }, { 1, 0.2, 0, 0, 0, 0 }, 1, ns.diag { inertia, inertia, inertia })
      ds:setFExtPtr(g)
      nsds:insertDynamicalSystem(ds)
      local contacts = c.space { nsds = nsds, law = rough, reach = 0.4 }
      contacts:add(ds, c.sphere(R))
      contacts:add(nil, shape())
      contacts:update()
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.3), ns.RungeKuttaOSI(1e-9, 1e-11))
    end
    local function finish(simu)
      for _ in simu:steps() do end
      local q = simu:nsds():dynamicalSystem(1):q()
      return { q[1], q[2], q[3] }
    end
    local function cloned(shape)
      local simu = rolls(shape)
      local copy = simu:clone()
      return copy, finish(simu)
    end
    for _, name in ipairs { "box", "flat mesh", "capsule" } do
      local copy, expected = cloned(worlds[name][1])
      collectgarbage()
      collectgarbage()
      assert.is_true(expected[3] < R - 0.05 and expected[1] > 0.5, name)
      assert_same(expected, finish(copy), 0, name)
    end
  end)

  it("stays above a mesh of one flat part with a hole that it rolls beside", function()
    local points, triangles = {}, {}
    for _, s in ipairs { 0.2, 1 } do
      for _, p in ipairs { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, 1 } } do points[#points + 1] = { s * p[1], s * p[2], 0 } end
    end
    for k = 0, 3 do
      local next = (k + 1) % 4
      triangles[#triangles + 1], triangles[#triangles + 2] = { 1 + k, 5 + k, 5 + next }, { 1 + k, 5 + next, 1 + next }
    end
    for k = 0, 7 do
      local angle = 2 * math.pi * k / 8 + 0.1
      local x, y = throw { q = { 0.6 * cos(angle), 0.6 * sin(angle), R }, v = { 0.4 * -sin(angle), 0.4 * cos(angle), 0 }, h = 0.1,
        law = elastic, world = c.mesh(points, triangles) }
      assert.near(R, x[3], 1e-12)
      assert.near(0.5 * 0.16 + 9.81 * R, y, 1e-12)
    end
  end)

  -- A rough floor with holes; turned: whether the corners of about half of the triangles are told the other way round.
  local function rubble(turned_round)
    local n, points, triangles = 6, {}, {}
    for j = 0, n do
      for i = 0, n do points[#points + 1] = { 2 * i / n - 1, 2 * j / n - 1, 0.15 * (random() - 0.5) } end
    end
    for j = 0, n - 1 do
      for i = 0, n - 1 do
        local a = j * (n + 1) + i + 1
        for _, t in ipairs { { a, a + 1, a + n + 2 }, { a, a + n + 2, a + n + 1 } } do
          local other, hole = random() < 0.5, random() < 0.03
          if other and turned_round then t[1], t[2] = t[2], t[1] end
          if not hole then triangles[#triangles + 1] = t end
        end
      end
    end
    return c.mesh(points, triangles)
  end

  it("stays outside of a rough mesh, whichever way round the corners of its triangles are told", function()
    for _, seed in ipairs { 32, 36, 39 } do
      local ends, angle = {}, 2.4 * seed
      for i, other in ipairs { false, true } do
        math.randomseed(seed)
        local world = rubble(other)
        local o = { q = { 0.3 * cos(angle), 0.3 * sin(angle), 0.25 }, v = { 0.6 * cos(1.7 * seed), 0.6 * sin(1.7 * seed), 0 },
          h = 0.02, law = rough, world = world }
        ends[i] = throw(o)
        assert.is_true(c.distance(c.sphere(R):placed(ends[i]), world) > -1e-9, seed)
      end
      assert_same(ends[1], ends[2], 1e-9, seed)
    end
  end)

  -- Floors of several shapes, whose sides meet at x = 0.
  local floors = {
    ["two boxes"] = function() return { c.box(2, 4, 1):placed { -1, 0, -0.5 }, c.box(2, 4, 1):placed { 1, 0, -0.5 } } end,
    ["small boxes"] = function()
      local list = {}
      for i = -4, 3 do
        for j = -4, 3 do list[#list + 1] = c.box(0.1, 0.1, 0.1):placed { i / 10 + 0.05, j / 10 + 0.05, -0.05 } end
      end
      return list
    end,
    ["two meshes"] = function()
      return { c.mesh({ { -2, -2, 0 }, { 0, -2, 0 }, { 0, 2, 0 }, { -2, 2, 0 } }, { { 1, 2, 3 }, { 1, 3, 4 } }),
        c.mesh({ { 0, -2, 0 }, { 2, -2, 0 }, { 2, 2, 0 }, { 0, 2, 0 } }, { { 1, 2, 3 }, { 1, 3, 4 } }) }
    end,
    ["a mesh with a corner on a side"] = function()
      return { c.mesh({ { -2, -2, 0 }, { 0, -2, 0 }, { 0, 2, 0 }, { -2, 2, 0 }, { 2, -2, 0 }, { 2, 0, 0 }, { 2, 2, 0 },
        { 0, 0, 0 } }, { { 1, 2, 3 }, { 1, 3, 4 }, { 2, 5, 8 }, { 5, 6, 8 }, { 8, 6, 7 }, { 8, 7, 3 } }) }
    end,
  }
  local ways = { across = { -0.12, -0.05, 0.7, 0.2 }, ["through a corner"] = { -0.1, -0.1, 0.6, 0.6 },
    ["along the side"] = { 0, 0, 0, 0.9 }, ["from the side"] = { 0, 0, 0.9, 0 } }
  for name, floor in pairs(floors) do
    it(("rolls and bounces on %s as on one #once"):format(name), function()
      for way, at in pairs(ways) do
        for _, law in ipairs { rough, ns.NewtonImpactFrictionNSL(0.5, 0, 0.3, 3) } do
          local o = { q = { at[1], at[2], law == rough and R or R + 0.03 }, v = { at[3], at[4], 0 }, law = law, h = 0.05,
            world = c.box(4, 4, 1):placed { 0, 0, -0.5 } }
          local expected, list = throw(o), floor()
          o.world, o.beside = table.remove(list, 1), list
          assert_same(expected, throw(o), 1e-8, way)
        end
      end
    end)
  end
end)
