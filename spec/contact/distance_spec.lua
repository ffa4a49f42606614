-- contact/touch.h: distances of all shapes in space of all sizes, proved by independent geometry.
local ns = require "nslua"
local proofs = require "shape_proofs"
local numbers = require "random_numbers"
local campaign = require "campaign"

local c, huge, abs, sqrt = ns.contact, math.huge, math.abs, math.sqrt
local normal, uniform = numbers.normal, numbers.uniform

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local function add(a, s, b) return { a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3] } end
local function sub(a, b) return add(a, -1, b) end
local function length(a) return sqrt(dot(a, a)) end
local function unit(a) return length(a) > 0 and add({ 0, 0, 0 }, 1 / length(a), a) or nil end
local function direction() return unit { normal(), normal(), normal() } end

-- The half size of a part of a shape.
local function sizes(part) return proofs.convex(part).half end

-- ---- random shapes: needles, plates, far from the origin, nearly aligned ----

local function decade(low, high) return 10 ^ uniform(low, high) end

local function random_solid(kind, size)
  local flat = math.random(2) == 1
  local function l() return size * (flat and decade(-4, 0) or uniform(0.3, 1)) end
  local rounding = math.random(2) == 1 and size * decade(-4, -0.5) or nil
  if kind == 1 then return c.sphere(size) end
  if kind == 2 then return c.capsule(l(), l()) end
  if kind == 4 then return c.cylinder(l(), l()) end
  local x, y, z, grid = l(), l(), l(), math.random(3) == 1
  local function coordinate() return grid and math.random(-2, 2) / 2 or normal() end
  for _ = 1, kind == 5 and 9 or 0 do
    local points = {}
    for i = 1, math.random(4, 14) do points[i] = { x * coordinate(), y * coordinate(), z * coordinate() } end
    local good, shape = pcall(c.hull, points, rounding)
    if good then return shape end
  end
  return c.box(x, y, z, rounding)
end

local function random_triangle(size)
  local flat, p = math.random(0, 1) * decade(-4, 0), {}
  for k = 1, 3 do p[k] = { size * normal(), size * normal(), size * flat * normal() } end
  return c.mesh(p, { { 1, 2, 3 } })
end

-- A quaternion: any, a quarter turn, or nearly that.
local half = sqrt(0.5)
local quarters = { { 1, 0, 0, 0 }, { half, half, 0, 0 }, { half, 0, half, 0 }, { half, 0, 0, half }, { 0, 1, 0, 0 },
  { 0.5, 0.5, 0.5, 0.5 } }
local function random_turn(mode)
  local e = mode == 1 and { 0, 0, 0, 0 } or { table.unpack(quarters[math.random(#quarters)]) }
  local near = mode == 1 and 1 or mode == 2 and 0 or 10.0 ^ -math.random(2, 14)
  for k = 1, 4 do e[k] = e[k] + near * normal() end
  return e
end

-- Two shapes, b where it is; then a comes near, touches, or overlaps a little, or a lot.
local function random_pair(kind_a, kind_b, ratio)
  local size_a, mode = decade(-3, 3), math.random(3)
  local size_b = ratio and size_a * decade(-ratio, ratio) or math.random(2) == 1 and size_a or decade(-3, 3)
  local a, b = random_solid(kind_a, size_a), kind_b == 6 and random_triangle(size_b) or random_solid(kind_b, size_b)
  local larger = math.max(size_a, size_b)
  local far = add({ 0, 0, 0 }, math.random(3) == 1 and larger * decade(0, 3) or 0, direction())
  b = b:placed { far[1], far[2], far[3], table.unpack(random_turn(mode)) }
  local e, way = random_turn(mode), mode == 2 and math.random(2) == 1 and { 0, 0, 1 } or direction()
  local at, first = add(far, larger * uniform(0, 3), way), nil
  local target = ({ false, 0, 10.0 ^ -math.random(3, 14), -10.0 ^ -math.random(1, 12) })[math.random(4)]
  for round = 0, target and 2 or 0 do
    if round > 0 then
      local d, _, _, n = c.distance(first, b)
      at = add(at, target * math.min(size_a, size_b) - d, n)
    end
    first = a:placed { at[1], at[2], at[3], table.unpack(e) }
  end
  return first, b
end

local function first_part(shape)
  local S = shape.mesh and proofs.triangle(shape.mesh.points) or proofs.convex(shape.parts[1])
  S.hull = tostring(shape) == "hull"
  return S
end

-- Proves the distance in both orders, in which it is the same.
local function both(a, b, what)
  local A, B = first_part(a), first_part(b)
  local d, pa, pb, n = c.distance(a, b)
  local worst, why, tolerance = proofs.error(A, B, d, pa, pb, n)
  local other, qb, qa, m = c.distance(b, a)
  local worst_turned, why_turned = proofs.error(B, A, other, qb, qa, m)
  if worst_turned > worst then worst, why = worst_turned, "turned: " .. why_turned end
  if worst > 1 then error(("%s: d = %.17g: %s: %.3g times the tolerance"):format(what, d, why, worst)) end
  assert(abs(d - other) <= tolerance, what)
  return d
end

describe("distances of shapes in space", function()
  it("are proved by their normal and their points", function()
    math.randomseed(11)
    local count, told = campaign(120, 50)
    local apart, overlaps = 0, 0
    for case = 1, count do
      local a, b = random_pair(case % 5 + 1, case // 5 % 6 + 1)
      local d = both(a, b, ("case %d: %s and %s"):format(case, tostring(a), tostring(b)))
      if d > 0 then apart = apart + 1 else overlaps = overlaps + 1 end
    end
    assert.is_true(apart > count / 5 and overlaps > count / 5)
    told("distances of two shapes", 2 * count)
  end)

  it("are the least ones of the parts of compounds, and of the triangles of meshes and heightfields", function()
    math.randomseed(12)
    local count, told = campaign(30, 5)
    for case = 1, count do
      local one, other = random_pair(case % 5 + 1, (case // 5) % 5 + 1, 1)
      local size = sizes(other.parts[1])
      local third = random_solid(math.random(5), size):placed(add(other:corners()[1], size, direction()))
      local heights = {}
      for i = 1, 3 do heights[i] = { size * normal(), size * normal(), size * normal() } end
      local mesh = c.heightfield(heights, size, 0.5 * size):placed { size, 0, -size, table.unpack(random_turn(math.random(3))) }
      local least = huge
      for _, t in ipairs(mesh.mesh.triangles) do
        local corners = mesh:corners()
        local two = c.mesh({ corners[t[1]], corners[t[2]], corners[t[3]] }, { { 1, 2, 3 } })
        least = math.min(least, both(one, two, ("case %d: %s and a triangle"):format(case, tostring(one))))
      end
      assert.equal(least, (c.distance(one, mesh)))
      assert.equal(least, (c.distance(c.compound { one }, mesh)))
      least = math.min((c.distance(one, other)), (c.distance(one, third)))
      assert.equal(least, (c.distance(one, c.compound { other, third })))
      -- a plane: no point of the shape is farther along its normal
      local n = direction()
      local corner = other:corners()[1]
      local plane, low = c.plane({ corner[1], corner[2], corner[3] }, n), huge
      for _, part in ipairs { one, other, third } do
        local S, minus = proofs.convex(part.parts[1]), sub({ 0, 0, 0 }, n)
        local d, pa, pb, m = c.distance(part, plane)
        local far = 1e-13 * (abs(d) + S.R + length(plane.point))
        assert.near(dot(n, plane.point) + d, -proofs.most(S, minus) - S.R, far)
        assert.near(d, dot(sub(pa, pb), m), far)
        assert.is_true(proofs.outside(S, add(pa, S.R, n)) < 1e-9 * S.half + far)
        low = math.min(low, d)
      end
      assert.equal(low, (c.distance(plane, c.compound { one, other, third })))
    end
    told("distances of compounds, meshes and planes", count)
  end)

  it("are those across edges that are nearly parallel, along which faces would have to go much farther", function()
    math.randomseed(14)
    local count, told = campaign(100, 1)
    for case = 1, count do
      local lies = c.box(1, 1, decade(-2, 2)):placed { 0, 0, 0, math.cos(math.pi / 8), 0, 0, math.sin(math.pi / 8) }
      local turn, depth = decade(-12, -2), decade(-12, 0) * (2 * math.random(0, 1) - 1)
      local over, any = lies:placed { 0, 2 * half + depth, 0, 1, 0, turn / 2, 0 }, { 0, 0, 0, table.unpack(random_turn(1)) }
      both(lies:placed(any), over:placed(any), ("case %d: turned by %g, %g above"):format(case, turn, depth))
    end
    told("distances across edges that are nearly parallel", 2 * count)
  end)

  it("are those of cylinders deep in each other, also on one axis, and of thin bodies in them", function()
    math.randomseed(15)
    for case = 1, 60 do
      local size = decade(-4, 1)
      local long, needle = c.cylinder(1, uniform(1, 4)), random_solid(math.random(5), size)
      if case % 3 == 0 then needle = c.cylinder(size, size * decade(-2, 2)) end
      local e = random_turn(math.random(3))
      local at = case % 2 == 0 and { 0, 0, 0 } or { 0.1 * size * normal(), 0.1 * size * normal(), 0.3 * normal() }
      local any = { normal(), normal(), normal(), table.unpack(random_turn(1)) }
      both(needle:placed { at[1], at[2], at[3], table.unpack(e) }:placed(any), long:placed(any),
        ("case %d: %s in a cylinder"):format(case, tostring(needle)))
    end
  end)

  it("are below 0 where a capsule goes through a triangle, or a centre is on one, and have a normal where all are alike", function()
    local sheet = c.mesh({ { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } }, { { 1, 2, 3 } })
    local rod, ball = c.capsule(0.1, 1), c.sphere(0.1)
    for _, pair in ipairs { { rod:placed { 0.2, 0.2, 0 }, sheet, -0.3 }, { ball:placed { 0.2, 0.2, 0 }, sheet, -0.1 },
      { ball:placed { 0.5, 0, 0 }, sheet, -0.1 }, { rod:placed { 0.2, 0.2, 0, half, half, 0, 0 }, sheet, -0.1 },
      { ball:placed { -0.5, 0.5, 0 }, sheet, 0.4 }, { rod:placed { 2, 0, 0, half, 0, half, 0 }, sheet, 0.4 },
      { ball, c.sphere(1), -1.1 }, { rod, rod, -0.2 }, { rod, ball, -0.2 } } do
      assert.near(pair[3], both(pair[1], pair[2], "pair"), 1e-14)
    end
    local tilted = rod:placed { -1e-7, 0, 0.1, 1, 0, 0.5e-6, 0 } -- the axes cross, though they are nearly parallel
    assert.near(-0.2, both(rod, tilted, "capsules"), 1e-14)
  end)

  it("change as the normal says, with the places and the turns of both", function()
    math.randomseed(13)
    local count, told = campaign(40, 1)
    local smooth = 0
    for case = 1, count do
      local one, other = random_pair(case % 5 + 1, case // 5 % 6 + 1, 0.5)
      local size = math.min(first_part(one).half, first_part(other).half)
      local d, pa, pb, n = c.distance(one, other)
      local h = 1e-6 * size
      for body = 1, 2 do
        local at, sign = body == 1 and pa or pb, body == 1 and 1 or -1
        local spin, way = direction(), direction()
        -- a small motion with the velocity `way` of the point and the spin around it
        local function moved(t)
          local x = math.sin(t / size / 2)
          local e = { math.cos(t / size / 2), x * spin[1], x * spin[2], x * spin[3] }
          local turned = (body == 1 and one or other):placed(sub({ 0, 0, 0 }, at)):placed { 0, 0, 0, table.unpack(e) }
            :placed(add(at, t, way))
          if body == 1 then return (c.distance(turned, other)) end
          return (c.distance(one, turned))
        end
        local after, before = (moved(h) - d) / h, (d - moved(-h)) / h
        if abs(after - before) < 1e-4 then
          smooth = smooth + 1
          assert.near(sign * dot(n, way), (after + before) / 2, 2e-4)
        end
      end
    end
    assert.is_true(smooth > count, smooth)
    told("derivatives of distances", smooth)
  end)
end)
