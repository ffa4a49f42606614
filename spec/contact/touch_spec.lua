-- contact/touch.h and contact/mesh.h: distances against independent ones, and which contacts there are.
local ns = require "nslua"
local numbers = require "random_numbers"
local campaign = require "campaign"

local c = ns.contact

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end

local function random_place(size)
  local q = { 0, 0, 0 }
  for k = 1, 3 do q[k] = numbers.uniform(-size, size) end
  for k = 4, 7 do q[k] = numbers.normal() end
  return q
end

local function random_shape(kind)
  local u = numbers.uniform
  if kind == 1 then return c.sphere(u(0.1, 1)) end
  if kind == 2 then return c.capsule(u(0.1, 0.5), u(0.1, 2)) end
  if kind == 3 then return c.box(u(0.2, 2), u(0.2, 2), u(0.2, 2), math.random(0, 1) * u(0.01, 0.3)) end
  if kind == 5 then return c.cylinder(u(0.1, 1), u(0.1, 2)) end
  local points = {}
  for i = 1, math.random(4, 20) do points[i] = { numbers.normal(), numbers.normal(), numbers.normal() } end
  return c.hull(points, math.random(0, 1) * u(0.01, 0.3))
end

-- The largest n . p of the points of a cylinder, from the corners of its prism.
local function cylinder_support(list, n)
  local low, high, half, axis, R = { 0, 0, 0 }, { 0, 0, 0 }, #list / 2, {}, 0
  for i, p in ipairs(list) do
    for k = 1, 3 do
      if i <= half then low[k] = low[k] + p[k] / half else high[k] = high[k] + p[k] / half end
    end
  end
  for k = 1, 3 do
    axis[k] = high[k] - low[k]
    R = R + (list[1][k] - low[k]) ^ 2
  end
  local x, y = axis[2] * n[3] - axis[3] * n[2], axis[3] * n[1] - axis[1] * n[3]
  local z = axis[1] * n[2] - axis[2] * n[1]
  return math.max(dot(low, n), dot(high, n)) + math.sqrt(R * (x * x + y * y + z * z) / dot(axis, axis))
end

-- The largest n . p of a list of points.
local function support_of(list, n)
  local best = -math.huge
  for _, p in ipairs(list) do best = math.max(best, dot(p, n)) end
  return best
end

-- Shapes and places on a coarse grid: faces, edges and corners that touch exactly, are parallel, or coincide.
local function aligned_shape()
  local kind = math.random(5)
  if kind == 1 then return c.sphere(math.random(2) / 2) end
  if kind == 2 then return c.capsule(math.random(2) / 4, math.random(3)) end
  if kind == 3 then return c.box(math.random(3), math.random(3), math.random(3)) end
  if kind == 5 then return c.cylinder(math.random(2) / 2, math.random(3)) end
  local points = {}
  for i = 1, math.random(5, 14) do points[i] = { math.random(-2, 2), math.random(-2, 2), math.random(-2, 2) } end
  local good, shape = pcall(c.hull, points)
  return good and shape or aligned_shape()
end

local half = math.sqrt(0.5)
local quarters = { { 1, 0, 0, 0 }, { half, half, 0, 0 }, { half, 0, half, 0 }, { half, 0, 0, half }, { 0, 1, 0, 0 },
  { 0.5, 0.5, 0.5, 0.5 } }
local function aligned_place()
  return { math.random(-6, 6) / 2, math.random(-6, 6) / 2, math.random(-6, 6) / 2,
    table.unpack(quarters[math.random(#quarters)]) }
end

local function random_direction()
  local m = { numbers.normal(), numbers.normal(), numbers.normal() }
  local length = math.sqrt(dot(m, m))
  return { m[1] / length, m[2] / length, m[3] / length }
end

-- The normal that is told proves the distance from below: along it all corners are that far apart. The points that are told
-- prove it from above: they are as far apart, and no direction finds them outside of their solids. In an overlap the normal
-- gives the depth along itself, and no direction has a smaller one.
local function prove(a, b)
  local d, pa, pb, n = c.distance(a, b)
  local as, bs = a:corners(), b:corners()
  local function support(shape, list, m)
    return (tostring(shape) == "cylinder" and cylinder_support or support_of)(list, m)
  end
  local Ra, Rb = as[1][4], bs[1][4]
  local function gap(m) return -support(a, as, { -m[1], -m[2], -m[3] }) - support(b, bs, m) - Ra - Rb end
  local core, way = d + Ra + Rb, { pa[1] - pb[1], pa[2] - pb[2], pa[3] - pb[3] }
  if core < 1e-9 and #as <= 2 and #bs <= 2 then return core end -- the axes of capsules meet: no normal is the best
  assert.near(1, dot(n, n), 1e-12)
  assert.near(d, gap(n), 1e-9)
  assert.near(d, dot(way, n), 1e-9)
  if core > 1e-9 then assert.near(math.abs(d), math.sqrt(dot(way, way)), 1e-9) end
  for _ = 1, 20 do
    local m = random_direction()
    if core > 1e-9 then
      assert.is_true(dot(pa, m) <= support(a, as, m) + Ra + 1e-9)
      assert.is_true(dot(pb, m) <= support(b, bs, m) + Rb + 1e-9)
    end
    assert.is_true(gap(m) <= d + 1e-9)
  end
  local e = c.distance(b, a)
  assert.near(d, e, 1e-12)
  return core
end

describe("distances of solids", function()
  it("are proved by their normal and their points, of random and of aligned solids", function()
    math.randomseed(11)
    local apart, overlaps = 0, 0
    for case = 1, campaign(300, 10) do
      local a = random_shape(case % 5 + 1):placed(random_place(1.2))
      local b = random_shape(case // 5 % 5 + 1):placed(random_place(1.2))
      if prove(a, b) > 0 then apart = apart + 1 else overlaps = overlaps + 1 end
      prove(aligned_shape():placed(aligned_place()), aligned_shape():placed(aligned_place()))
    end
    assert.is_true(apart > 50 and overlaps > 50)
  end)

  it("change as the normal says", function()
    math.randomseed(13)
    for case = 1, campaign(60, 1) do
      local a, b = random_shape(case % 5 + 1), random_shape(case // 5 % 5 + 1):placed(random_place(0.5))
      local place, step = random_place(0.5), 1e-6
      place[1] = place[1] + 2.5
      local _, _, _, n = c.distance(a:placed(place), b)
      for k = 1, 3 do
        local to, from = table.move(place, 1, 7, 1, {}), table.move(place, 1, 7, 1, {})
        to[k], from[k] = to[k] + step, from[k] - step
        assert.near(n[k], (c.distance(a:placed(to), b) - c.distance(a:placed(from), b)) / (2 * step), 1e-4)
      end
    end
  end)
end)

-- A manager with a box over a shape of the world; returns the names of the features that touch and their gaps.
local function touching(box, q, below, reach)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local ds = ns.NewtonEulerDS(q, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
  nsds:insertDynamicalSystem(ds)
  local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), reach = reach or 0.01 }
  contacts:add(nil, below)
  contacts:add(ds, box)
  contacts:update()
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
  simu:initialize()
  local kinds, gaps = {}, {}
  for i, inter in ipairs(contacts:interactions()) do
    kinds[i], gaps[i] = inter:name():match "%d (%l+_%l+)", inter:y(0)[1]
  end
  table.sort(kinds)
  return table.concat(kinds, " "), gaps, contacts, ds
end

describe("touches", function()
  local floor, box, s = c.box(4, 4, 1):placed { 0, 0, -0.5 }, c.box(1, 1, 1), math.sqrt(0.5)

  it("of a box are its four corners on a face, two of an edge, one of a corner, crossing edges", function()
    assert.equal("point_face point_face point_face point_face", (touching(box, { 0, 0, 0.505, 1, 0, 0, 0 }, floor)))
    local eighth = { math.cos(math.pi / 8), math.sin(math.pi / 8) }
    assert.equal("point_face point_face", (touching(box, { 0, 0, s + 0.005, eighth[1], eighth[2], 0, 0 }, floor)))
    local beam = c.box(4, 0.2, 0.2):placed { 0, 0, 0, eighth[1], eighth[2], 0, 0 } -- an edge is on top
    local kinds, gaps = touching(box, { 0, 0, s + 0.1 * math.sqrt(2) + 0.005, eighth[1], 0, eighth[2], 0 }, beam)
    assert.equal("line_line", kinds)
    assert.near(0.005, gaps[1], 1e-14)
    -- a box that hangs over: two corners, two places where its edges cross the border
    kinds, gaps = touching(box, { 2, 0.3, 0.502, 1, 0, 0, 0 }, floor)
    assert.equal("line_face line_face point_face point_face", kinds)
    for _, gap in ipairs(gaps) do assert.near(0.002, gap, 1e-14) end
    -- the floor's own corners under a larger box
    kinds = touching(c.box(6, 6, 1), { 0, 0, 0.505, 1, 0, 0, 0 }, floor)
    assert.equal("face_point face_point face_point face_point", kinds)
    assert.equal("", (touching(box, { 2.6, 2.6, 0.505, 1, 0, 0, 0 }, floor)))
  end)

  it("of a turned box on an equal one are at most five, and the same ones after rounding", function()
    local low = box:placed { 0, 0, -0.5 }
    local angle = math.pi / 8
    local q = { 0, 0, 0.5 + 1e-3, math.cos(angle), 0, 0, math.sin(angle) }
    local kinds, _, contacts, ds = touching(box, q, low)
    local names = {}
    for i, inter in ipairs(contacts:interactions()) do names[i] = inter:name() end
    assert.is_true(#names >= 4 and #names <= 5, kinds)
    for k = 1, 20 do
      for i = 1, 3 do ds:q()[i] = q[i] + 1e-14 * math.sin(k * i) end
      contacts:update()
      local again = {}
      for i, inter in ipairs(contacts:interactions()) do again[i] = inter:name() end
      assert.same(names, again)
    end
  end)

  it("of capsules are two where they lie side by side, else one", function()
    local down = { 0, 0, 0, s, 0, s, 0 }
    local lying = c.capsule(0.1, 1):placed(down)
    assert.equal("point_line point_line", (touching(c.capsule(0.1, 0.6), { 0, 0, 0.205, s, 0, s, 0 }, lying)))
    assert.equal("line_line", (touching(c.capsule(0.1, 0.6), { 0, 0, 0.205, s, s, 0, 0 }, lying)))
    assert.equal("point_point", (touching(c.capsule(0.1, 0.6), { 1, 0, 0.005, s, 0, s, 0 }, lying)))
    assert.equal("point_face point_face", (touching(c.capsule(0.1, 0.6), { 0, 0, 0.105, s, 0, s, 0 }, floor)))
    assert.equal("point_line", (touching(c.sphere(0.1), { 0, 0, 0.205, 1, 0, 0, 0 }, lying)))
  end)

  it("of a box on a flat mesh are those on a plane, wherever the triangles are", function()
    math.randomseed(5)
    local heights = ns.zeros(7, 7)
    local mesh = c.heightfield(heights, 0.3, 0.4):placed { -0.9, -1.2, 0 }
    for _ = 1, 20 do
      local angle = numbers.uniform(0, 3)
      local x, y = numbers.uniform(-0.2, 0.2), numbers.uniform(-0.2, 0.2)
      local q = { x, y, 0.502, math.cos(angle), 0, 0, math.sin(angle) }
      local kinds, gaps = touching(box, q, mesh)
      assert.equal("point_face point_face point_face point_face", kinds)
      for _, gap in ipairs(gaps) do assert.near(0.002, gap, 1e-14) end
    end
  end)

  it("of a box on a smaller flat mesh are the mesh's corners", function()
    local kinds, gaps = touching(box, { 0, 0, 0.502, 1, 0, 0, 0 }, c.heightfield(ns.zeros(3, 2), 0.2, 0.4):placed { -0.2, -0.2, 0 })
    assert.equal(6, #gaps, kinds)
    for _, gap in ipairs(gaps) do assert.near(0.002, gap, 1e-14) end
  end)

  it("of a ball that rolls over a mesh are one, but in a valley two, at a ridge its edge", function()
    local flat = c.heightfield({ { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } }, 1, 1)
    for _, at in ipairs { { 0.5, 0.2 }, { 1, 1 }, { 0.7, 0.7 }, { 1, 0.3 } } do
      assert.equal("point_face", (touching(c.sphere(0.2), { at[1], at[2], 0.2, 1, 0, 0, 0 }, flat)))
    end
    local valley = c.heightfield({ { 1, 1 }, { 0, 0 }, { 1, 1 } }, 1, 1)
    assert.equal("point_face point_face", (touching(c.sphere(0.2), { 1, 0.3, 0.2 / s, 1, 0, 0, 0 }, valley)))
    local ridge = c.heightfield({ { 0, 0 }, { 1, 1 }, { 0, 0 } }, 1, 1)
    assert.equal("point_line", (touching(c.sphere(0.2), { 1, 0.3, 1.2, 1, 0, 0, 0 }, ridge)))
    assert.equal("point_face", (touching(c.sphere(0.2), { 0.7, 0.3, 0.7 + 0.2 / s, 1, 0, 0, 0 }, ridge)))
  end)

  it("have the gap that the distance tells, of cylinders with all others, also over bent meshes", function()
    math.randomseed(5)
    local tried = 0
    for case = 1, campaign(60, 0.5) do
      local heights = {}
      for i = 1, 4 do
        heights[i] = {}
        for j = 1, 4 do heights[i][j] = numbers.uniform(-0.4, 0.4) end
      end
      local one, other = random_shape(5), random_shape(case % 5 + 1)
      if case % 6 == 0 then other = c.heightfield(heights, 0.7, 0.7):placed { -1, -1, 0 } end
      if case % 6 > 0 and case % 4 == 0 then one, other = other, one end
      local q, wanted = random_place(0.8), numbers.uniform(1e-4, 5e-3)
      local d, n
      q[3] = q[3] + 3
      local length = math.sqrt(q[4] ^ 2 + q[5] ^ 2 + q[6] ^ 2 + q[7] ^ 2)
      for k = 4, 7 do q[k] = q[k] / length end
      for _ = 1, 40 do -- towards the other one, up to the gap
        local answer = table.pack(c.distance(one:placed(q), other))
        d, n = answer[1], answer[4]
        if math.abs(d - wanted) < 1e-12 then break end
        for k = 1, 3 do q[k] = q[k] + (wanted - d) * n[k] end
      end
      if math.abs(d - wanted) < 1e-9 then
        local kinds, gaps = touching(one, q, other, 0.02)
        assert.is_true(#gaps > 0 and #gaps < 12, ("case %d: %s"):format(case, kinds))
        assert.near(d, math.min(table.unpack(gaps)), 1e-7)
        tried = tried + 1
      end
    end
    assert.is_true(tried > 40)
  end)
end)
