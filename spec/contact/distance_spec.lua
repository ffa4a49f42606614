-- contact/touch.h: distances of all shapes in space of all sizes, proved by independent geometry.
local ns = require "nslua"
local support = require "nslua.core".contact_support
local numbers = require "random_numbers"
local campaign = require "campaign"

local c, huge, abs, sqrt = ns.contact, math.huge, math.abs, math.sqrt
local normal, uniform = numbers.normal, numbers.uniform

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] end
local function add(a, s, b) return { a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3] } end
local function sub(a, b) return add(a, -1, b) end
local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end
local function length(a) return sqrt(dot(a, a)) end
local function unit(a) return length(a) > 0 and add({ 0, 0, 0 }, 1 / length(a), a) or nil end
local function direction() return unit { normal(), normal(), normal() } end

-- ---- convex solids, without their rounding R: p corners, e directions of edges, f normals of faces with a corner each ----

local function face(p, loop)
  local n = { 0, 0, 0 }
  for k = 2, #loop - 1 do n = add(n, 1, cross(sub(p[loop[k]], p[loop[1]]), sub(p[loop[k + 1]], p[loop[1]]))) end
  return { n = unit(n), at = p[loop[1]] }
end

local function convex(part)
  local S = { p = support.corners(part), e = {}, f = {} }
  S.R = S.p[1][4]
  local rims = support.rims(part)
  if rims then
    local axis, from, to = rims[2][2], rims[1][1], rims[2][1]
    S.round, S.e[1] = { axis = axis, from = from, to = to, R = rims[1][3] }, axis
    S.f = { { n = axis, at = to }, { n = sub({ 0, 0, 0 }, axis), at = from } }
    return S
  end
  local edges, faces = support.surface(part)
  for i, e in ipairs(edges) do S.e[i] = sub(S.p[e[2]], S.p[e[1]]) end
  for i, loop in ipairs(faces) do S.f[i] = face(S.p, loop) end
  return S
end

local function triangle(p)
  local S = { p = p, R = 0, e = {}, f = { face(p, { 1, 2, 3 }), face(p, { 1, 3, 2 }) }, sides = {} }
  for k = 1, 3 do
    S.e[k] = sub(p[k % 3 + 1], p[k])
    S.sides[k] = { n = unit(cross(S.e[k], S.f[1].n)), at = p[k] }
  end
  return S
end

-- The largest m . x of its points.
local function most(S, m)
  local r, best = S.round, -huge
  if r then
    return math.max(dot(m, r.from), dot(m, r.to)) + r.R * length(add(m, -dot(m, r.axis), r.axis))
  end
  for _, p in ipairs(S.p) do best = math.max(best, dot(m, p)) end
  return best
end

-- The gap along m, from B to A.
local function gap(A, B, m) return -most(A, sub({ 0, 0, 0 }, m)) - most(B, m) end

-- How far the point q is outside, at least.
local function outside(S, q)
  local r, out = S.round, -huge
  if #S.p <= 2 then
    local d, w = sub(S.p[#S.p], S.p[1]), sub(q, S.p[1])
    local s = #S.p == 1 and 0 or math.max(0, math.min(1, dot(d, w) / dot(d, d)))
    return length(add(w, -s, d))
  end
  if r then out = length(add(sub(q, r.from), -dot(sub(q, r.from), r.axis), r.axis)) - r.R end
  for _, list in ipairs { S.f, S.sides or {} } do
    for _, f in ipairs(list) do out = math.max(out, dot(f.n, sub(q, f.at))) end
  end
  return out
end

-- The largest gap of all normals of faces and pairs of edges; where something is round, of random directions, too, from
-- the best of which it climbs.
local function deepest(A, B)
  local best, at = -huge, nil
  local function try(m)
    m = unit(m)
    for sign = -1, 1, 2 do
      local n = m and add({ 0, 0, 0 }, sign, m)
      local g = n and gap(A, B, n) or -huge
      if g > best then best, at = g, n end
    end
  end
  for _, f in ipairs(A.f) do try(f.n) end
  for _, f in ipairs(B.f) do try(f.n) end
  for _, d in ipairs(A.e) do
    for _, e in ipairs(B.e) do
      local m = cross(d, e)
      if length(m) > 1e-10 * length(d) * length(e) then try(m) end
    end
  end
  local step = (A.round or B.round or #A.e < 2 or #B.e < 2) and 0.3 or 0
  for _ = 1, step > 0 and 100 or 0 do try(direction()) end
  while step > 1e-7 do
    local old = best
    for _ = 1, 6 do try(add(at, step, { normal(), normal(), normal() })) end
    if best == old then step = step / 2 end
  end
  return best
end

-- Half of the size, and how far the farthest point is from the origin.
local function sizes(S)
  local half, far = 0, 0
  for k = 1, 3 do
    local m = { k == 1 and 1 or 0, k == 2 and 1 or 0, k == 3 and 1 or 0 }
    local high, low = most(S, m), -most(S, sub({ 0, 0, 0 }, m))
    half, far = math.max(half, (high - low) / 2), math.max(far, abs(high), abs(low))
  end
  return half + S.R, far
end

-- The normal proves the distance from below: along it the solids are that far apart. The points prove it from above: they
-- are as far apart, and belong to their solids. In an overlap no direction has a smaller depth. All up to 1e-9 of the smaller
-- solid and rounding of the larger one; cylinders, which are found by rounds of corners on their rims, up to 1e-7.
local function prove(A, B, d, pa, pb, n, what)
  local size_a, far_a = sizes(A)
  local size_b, far_b = sizes(B)
  local tolerance = 1e-9 * math.min(size_a, size_b) + 1e-13 * math.max(size_a, size_b, far_a, far_b)
  if A.round or B.round then tolerance = 100 * tolerance end
  -- the corners of a hull are on a face that is up to 1e-8 of the hull from them, see ns_solid_make_hull
  tolerance = tolerance + 1e-8 * ((A.hull and size_a or 0) + (B.hull and size_b or 0))
  local core = d + A.R + B.R
  local function small(text, x)
    if x > tolerance or x ~= x then
      error(("%s: d = %.17g: %s: %.3g, more than %.3g"):format(what, d, text, x, tolerance))
    end
  end
  assert.near(1, length(n), 1e-12)
  small("the normal has another gap", abs(gap(A, B, n) - core))
  small("the points along the normal", abs(dot(sub(pa, pb), n) - d))
  if core > tolerance then
    small("the points", abs(length(sub(pa, pb)) - abs(d)))
    small("the first point is outside", outside(A, add(pa, A.R, n)))
    small("the second point is outside", outside(B, add(pb, -B.R, n)))
  else
    small("another normal is better", deepest(A, B) - core)
  end
end

-- ---- random shapes: needles, plates, far from the origin, nearly aligned ----

local function decade(low, high) return 10 ^ uniform(low, high) end

local function random_solid(kind, size)
  local flat = math.random(2) == 1
  local function l() return size * (flat and decade(-3, 0) or uniform(0.3, 1)) end
  local rounding = math.random(2) == 1 and size * decade(-3, -0.5) or nil
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
  local flat, p = math.random(0, 1) * decade(-3, 0), {}
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
  local S = shape.mesh and triangle(shape.mesh.points) or convex(shape.parts[1])
  S.hull = tostring(shape) == "hull"
  return S
end

local function both(a, b, what)
  local A, B = first_part(a), first_part(b)
  local d, pa, pb, n = c.distance(a, b)
  prove(A, B, d, pa, pb, n, what)
  local other
  other, pa, pb, n = c.distance(b, a)
  prove(B, A, other, pa, pb, n, what)
  return d
end

describe("distances of shapes in space", function()
  it("are proved by their normal and their points", function()
    math.randomseed(11)
    local count, told = campaign(120, 3)
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
    local count, told = campaign(30, 1)
    for case = 1, count do
      local one, other = random_pair(case % 5 + 1, (case // 5) % 5 + 1, 1)
      local size = sizes(convex(other.parts[1]))
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
        local S, minus = convex(part.parts[1]), sub({ 0, 0, 0 }, n)
        local d, pa, pb, m = c.distance(part, plane)
        local far = 1e-13 * (abs(d) + S.R + length(plane.point))
        assert.near(dot(n, plane.point) + d, -most(S, minus) - S.R, far)
        assert.near(d, dot(sub(pa, pb), m), far)
        assert.is_true(outside(S, add(pa, S.R, n)) < 1e-9 * sizes(S) + far)
        low = math.min(low, d)
      end
      assert.equal(low, (c.distance(plane, c.compound { one, other, third })))
    end
    told("distances of compounds, meshes and planes", count)
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
      local size = math.min((sizes(first_part(one))), (sizes(first_part(other))))
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
