-- Distances of shapes of the plane: proved by points of both shapes and by lines that bound them, and by brute force.
local campaign = require "campaign"
local expect = require "expect"
local ns = require "nslua"
local numbers = require "random_numbers"

local C, P = ns.contact, ns.contact.outline
local huge, abs, sqrt, signed = math.huge, math.abs, math.sqrt, numbers.signed

local function dot(a, b) return a[1] * b[1] + a[2] * b[2] end
local function minus(a, b) return { a[1] - b[1], a[2] - b[2] } end
local function length(a) return sqrt(dot(a, a)) end

-- ---- an independent description: pieces { corners, counterclockwise, R }, of which a polyline has several ----

local function cross(o, a, b) return (a[1] - o[1]) * (b[2] - o[2]) - (a[2] - o[2]) * (b[1] - o[1]) end

local function hull(points)
  table.sort(points, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  local function chain(from, to, step)
    local list = {}
    for i = from, to, step do
      while #list > 1 and cross(list[#list - 1], list[#list], points[i]) <= 0 do list[#list] = nil end
      list[#list + 1] = points[i]
    end
    list[#list] = nil
    return list
  end
  local low, high = chain(1, #points, 1), chain(#points, 1, -1)
  return table.move(high, 1, #high, #low + 1, low)
end

local function random_points(n, size)
  local list = {}
  for i = 1, n do list[i] = { size * signed(), size * signed() } end
  return list
end

local makers = {
  function(size) return P.disk(size), { { { 0, 0 }, R = size } } end,
  function(size)
    local w, h = size * math.random(), size * math.random()
    return P.box(2 * w, 2 * h), { { { -w, -h }, { w, -h }, { w, h }, { -w, h }, R = 0 } }
  end,
  function(size)
    local R, half = size * math.random(), size * math.random()
    return P.capsule(R, 2 * half), { { { -half, 0 }, { half, 0 }, R = R } }
  end,
  function(size)
    local points, R = random_points(math.random(3, 8), size), math.random(0, 1) * size * math.random()
    local corners = hull({ table.unpack(points) })
    corners.R = R
    return P.polygon(points, R), { corners }
  end,
  function(size)
    local points, pieces, closed = random_points(math.random(3, 6), size), {}, math.random(2) == 1
    for i = 1, #points - (closed and 0 or 1) do pieces[i] = { points[i], points[i % #points + 1], R = 0 } end
    return P.polyline(points, closed), pieces
  end,
}

local function placed(pieces, q)
  local list, c, s = {}, math.cos(q[3]), math.sin(q[3])
  for i, piece in ipairs(pieces) do
    list[i] = { R = piece.R }
    for k, p in ipairs(piece) do list[i][k] = { q[1] + c * p[1] - s * p[2], q[2] + s * p[1] + c * p[2] } end
  end
  return list
end

-- The largest m . x of the points of a piece.
local function most(piece, m)
  local best = -huge
  for _, p in ipairs(piece) do best = math.max(best, dot(m, p)) end
  return best + piece.R
end

local function point_segment(p, a, b)
  local d, w = minus(b, a), minus(p, a)
  local s = dot(d, d) > 0 and math.max(0, math.min(1, dot(d, w) / dot(d, d))) or 0
  return length { w[1] - s * d[1], w[2] - s * d[2] }
end

-- How far a point is outside of a piece.
local function outside(piece, p)
  local best, within = huge, #piece > 2
  for k, a in ipairs(piece) do
    local b = piece[k % #piece + 1]
    best, within = math.min(best, point_segment(p, a, b)), within and cross(a, b, p) >= 0
  end
  return (within and 0 or best) - piece.R
end

-- By brute force: where corners are apart the least distance of a corner and a side; else the largest gap along a normal
-- of a side.
local function brute(A, B)
  local gap, apart = -huge, huge
  for _, pieces in ipairs { { A, B }, { B, A } } do
    local one, other = pieces[1], pieces[2]
    for k, a in ipairs(one) do
      local b = one[k % #one + 1]
      local d = minus(b, a)
      for sign = -1, length(d) > 0 and 1 or -2, 2 do
        local n = { sign * d[2] / length(d), -sign * d[1] / length(d) }
        gap = math.max(gap, -most(other, { -n[1], -n[2] }) - most(one, n) + one.R + other.R)
      end
      for _, p in ipairs(other) do apart = math.min(apart, point_segment(p, a, b)) end
    end
  end
  if gap == -huge then gap = apart end -- two discs
  return (gap > 0 and apart or gap) - A.R - B.R
end

local function check(a, b, A, B, size)
  local d, pa, pb, n = C.distance(a, b)
  local least, tolerance, certain = huge, 1e-12 * size, false
  for _, one in ipairs(A) do
    for _, other in ipairs(B) do
      least = math.min(least, brute(one, other))
      certain = certain or outside(one, pa) <= tolerance and outside(other, pb) <= tolerance
        and abs(dot(n, pa) + most(one, { -n[1], -n[2] })) <= tolerance and abs(dot(n, pb) - most(other, n)) <= tolerance
    end
  end
  assert.near(least, d, tolerance)
  assert.near(1, length(n), 1e-14)
  for k = 1, 2 do assert.near(d * n[k], pa[k] - pb[k], tolerance) end
  assert.is_true(certain)
  local back, qb, qa, m = C.distance(b, a)
  assert.near(d, back, tolerance)
  assert.is_true(#qa == 2 and #qb == 2 and #m == 2)
  return d, n
end

describe("distances in the plane", function()
  it("are the least of all, with points of both shapes; of all pairs and sizes, apart, touching and deep #once", function()
    math.randomseed(11)
    local runs, tell = campaign(300, 0.003)
    for _ = 1, runs do
      local i, j = math.random(#makers), math.random(#makers)
      if i < #makers or j < #makers then
        local sa, sb = 10 ^ (3 * signed()), 10 ^ (3 * signed())
        local a, A = makers[i](sa)
        local b, B = makers[j](sb)
        local q, r = { (sa + sb) * signed(), (sa + sb) * signed(), 7 * signed() }, { sb * signed(), sb * signed(), 7 * signed() }
        b, B = b:placed(r), placed(B, r)
        local d, n = check(a:placed(q), b, placed(A, q), B, 4 * (sa + sb))
        local touching = { q[1] - d * n[1], q[2] - d * n[2], q[3] }
        local now = C.distance(a:placed(touching), b)
        if i < #makers and j < #makers then assert.near(0, now, 1e-11 * (sa + sb)) end
        check(a:placed(touching), b, placed(A, touching), B, 4 * (sa + sb))
        local deep = { r[1] + 0.1 * sb * signed(), r[2] + 0.1 * sb * signed(), q[3] }
        check(a:placed(deep), b, placed(A, deep), B, 4 * (sa + sb))
      end
    end
    tell("pairs of outlines", runs)
  end)

  it("of a line are those of the lowest point, below 0 behind it", function()
    math.randomseed(12)
    for run = 1, 100 do
      local size = 10 ^ (3 * signed())
      local a, A = makers[run % #makers + 1](size)
      local q, n = { size * signed(), size * signed(), 7 * signed() }, numbers.uniform(-4, 4)
      local p, normal = { size * signed(), size * signed() }, { math.cos(n), math.sin(n) }
      local line, least = C.line(p, normal), huge
      for _, piece in ipairs(placed(A, q)) do
        least = math.min(least, -most(piece, { -normal[1], -normal[2] }) - dot(normal, p))
      end
      local d, pa, pb, m = C.distance(a:placed(q), line)
      assert.near(least, d, 1e-13 * size)
      assert.near(d, line:distance(pa[1], pa[2]), 1e-13 * size)
      assert.near(0, line:distance(pb[1], pb[2]), 1e-13 * size)
      expect.near(ns.vector(normal), ns.vector(m), 1e-15)
      local back, qb, _, away = C.distance(line, a:placed(q))
      assert.same({ d, pb, { -m[1], -m[2] } }, { back, qb, away })
    end
  end)

  it("grow along the normal when the first shape moves", function()
    local hexagon = P.polygon { { 1, 0 }, { 0.5, 0.8 }, { -0.5, 0.8 }, { -1, 0 }, { -0.5, -0.8 }, { 0.5, -0.8 } }
    for _, other in ipairs { P.disk(0.3), P.capsule(0.1, 1), P.polyline { { -3, -2 }, { 0, -1 }, { 4, -2 } } } do
      local a, step = hexagon:placed { 0.3, 1.1, 0.2 }, 1e-6
      local d, _, _, n = C.distance(a, other)
      for _, v in ipairs { { 1, 0 }, { 0, 1 } } do
        assert.near(dot(n, v), (C.distance(a:placed { step * v[1], step * v[2] }, other) - d) / step, 1e-5)
      end
    end
  end)

  it("tell what they do not take", function()
    local message = expect.message
    local disk, chain, line = P.disk(1), P.polyline { { 0, 0 }, { 1, 0 } }, C.line({ 0, 0 }, { 0, 1 })
    assert.equal("disk outline", tostring(disk))
    assert.equal("disk: R: expected a positive number, got -1", message(P.disk, -1))
    assert.equal("box: height: expected a positive number, got nil", message(P.box, 1))
    assert.equal("capsule: length: expected a positive number, got 0", message(P.capsule, 1, 0))
    assert.equal("polygon: expected points that are not all on a line", message(P.polygon, { { 0, 0 }, { 1, 0 }, { 2, 0 } }))
    assert.equal("polyline: points: expected a list of at least 2 points, got a list of 1", message(P.polyline, { { 0, 0 } }))
    assert.equal("placed: place: expected 2 or 3 finite numbers, got { 1 }", message(disk.placed, disk, { 1 }))
    assert.equal("placed: self: expected an outline and a colon, got nil", message(disk.placed))
    assert.equal("distance: b: expected an outline or a line, got 3", message(C.distance, disk, 3))
    assert.equal("distance: b: expected an outline or a line, got nil", message(C.distance, disk))
    assert.equal("distance: a: expected an outline or a line, got sphere", message(C.distance, C.sphere(1), disk))
    assert.equal("distance: b: expected an outline that is no polyline, got two polylines", message(C.distance, chain, chain))
    assert.equal("distance: a: expected a shape, got line", message(C.distance, line, line))
  end)
end)
