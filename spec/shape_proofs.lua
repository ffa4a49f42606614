-- Proofs of distances of convex solids in space. A solid here: p corners, e edges { dx, dy, dz, corner }, f faces { nx, ny, nz,
-- corner }, all without the rounding R; of a cylinder `round`; of a triangle `sides` with their normals along it.
local support = require "nslua.core".contact_support
local normal = require "random_numbers".normal

local abs, sqrt, min, max, huge = math.abs, math.sqrt, math.min, math.max, math.huge
local proofs = {}

local function unit(x, y, z)
  local length = sqrt(x * x + y * y + z * z)
  return x / length, y / length, z / length
end
local function cross(ax, ay, az, bx, by, bz) return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx end

-- The largest x of a point of the solid along a vector.
local function most(S, x, y, z)
  local best, round = -huge, S.round
  for i = 1, #S.p do
    local q = S.p[i]
    local d = x * q[1] + y * q[2] + z * q[3]
    if d > best then best = d end
  end
  if round then
    local a = round.axis
    local s = x * a[1] + y * a[2] + z * a[3]
    local u, v, w = x - s * a[1], y - s * a[2], z - s * a[3]
    best = best + round.R * sqrt(u * u + v * v + w * w)
  end
  return best
end
function proofs.most(S, m) return most(S, m[1], m[2], m[3]) end

-- The gap along a vector, from B to A.
local function gap(A, B, x, y, z) return -most(A, -x, -y, -z) - most(B, x, y, z) end

-- Notes half of the size, and how far the farthest point is from the origin.
local function sized(S)
  local half, far = 0, 0
  for k = 1, 3 do
    local x, y, z = k == 1 and 1 or 0, k == 2 and 1 or 0, k == 3 and 1 or 0
    local high, low = most(S, x, y, z), -most(S, -x, -y, -z)
    half, far = max(half, (high - low) / 2), max(far, abs(high), abs(low))
  end
  S.half, S.far = half + S.R, far
  return S
end

local function face(p, loop)
  local a, nx, ny, nz = p[loop[1]], 0, 0, 0
  for k = 2, #loop - 1 do
    local b, c = p[loop[k]], p[loop[k + 1]]
    local x, y, z = cross(b[1] - a[1], b[2] - a[2], b[3] - a[3], c[1] - a[1], c[2] - a[2], c[3] - a[3])
    nx, ny, nz = nx + x, ny + y, nz + z
  end
  nx, ny, nz = unit(nx, ny, nz)
  return { nx, ny, nz, a }
end

-- A part of a shape.
function proofs.convex(part)
  local S = { p = support.corners(part), e = {}, f = {} }
  S.R = S.p[1][4]
  local rims = support.rims(part)
  if rims then
    local axis, from, to = rims[2][2], rims[1][1], rims[2][1]
    S.round = { axis = axis, from = from, R = rims[1][3] }
    S.e[1] = { axis[1], axis[2], axis[3], from }
    S.f = { { axis[1], axis[2], axis[3], to }, { -axis[1], -axis[2], -axis[3], from } }
    S.p = { from, to }
    return sized(S)
  end
  local edges, faces = support.surface(part)
  for i, e in ipairs(edges) do
    local a, b = S.p[e[1]], S.p[e[2]]
    S.e[i] = { b[1] - a[1], b[2] - a[2], b[3] - a[3], a }
  end
  for i, loop in ipairs(faces) do S.f[i] = face(S.p, loop) end
  return sized(S)
end

function proofs.triangle(p)
  local S = { p = p, R = 0, e = {}, f = { face(p, { 1, 2, 3 }), face(p, { 1, 3, 2 }) }, sides = {} }
  local n = S.f[1]
  for k = 1, 3 do
    local a, b = p[k], p[k % 3 + 1]
    local dx, dy, dz = b[1] - a[1], b[2] - a[2], b[3] - a[3]
    S.e[k] = { dx, dy, dz, a }
    local x, y, z = unit(cross(dx, dy, dz, n[1], n[2], n[3]))
    S.sides[k] = { x, y, z, a }
  end
  return sized(S)
end

-- How far a point is outside, at least.
local function outside(S, x, y, z)
  local round, out, p = S.round, -huge, S.p
  if not round and #p <= 2 then
    local a, b = p[1], p[#p]
    local dx, dy, dz, u, v, w = b[1] - a[1], b[2] - a[2], b[3] - a[3], x - a[1], y - a[2], z - a[3]
    local s = #p == 1 and 0 or max(0, min(1, (dx * u + dy * v + dz * w) / (dx * dx + dy * dy + dz * dz)))
    u, v, w = u - s * dx, v - s * dy, w - s * dz
    return sqrt(u * u + v * v + w * w)
  end
  if round then
    local a, c = round.axis, round.from
    local u, v, w = x - c[1], y - c[2], z - c[3]
    local s = u * a[1] + v * a[2] + w * a[3]
    u, v, w = u - s * a[1], v - s * a[2], w - s * a[3]
    out = sqrt(u * u + v * v + w * w) - round.R
  end
  for k = 1, 2 do
    for _, f in ipairs(k == 1 and S.f or S.sides or {}) do
      local c = f[4]
      out = max(out, f[1] * (x - c[1]) + f[2] * (y - c[2]) + f[3] * (z - c[3]))
    end
  end
  return out
end
function proofs.outside(S, q) return outside(S, q[1], q[2], q[3]) end

-- Climbs from a direction to one with a larger gap.
local function climb(A, B, g, x, y, z)
  local step, tries = 0.2, 0
  while step > 1e-8 and tries < 600 do
    local better = false
    for _ = 1, 6 do
      local u, v, w = unit(x + step * normal(), y + step * normal(), z + step * normal())
      local h = gap(A, B, u, v, w)
      if h > g then g, x, y, z, better = h, u, v, w, true end
    end
    tries = tries + 6
    if not better then step = step / 2 end
  end
  return g
end

-- The directions from which to climb where something is round: any, and those across edges and axes.
local function starts(A, B)
  local list = {}
  local function add(x, y, z)
    x, y, z = unit(x, y, z)
    list[#list + 1] = { gap(A, B, x, y, z), x, y, z }
  end
  for _ = 1, 48 do add(normal(), normal(), normal()) end
  for _, S in ipairs { A, B } do
    for i = 1, #S.e <= 12 and #S.e or 0 do
      local d, from = S.e[i], math.random()
      local ux, uy, uz = unit(cross(d[1], d[2], d[3], normal(), normal(), normal()))
      local vx, vy, vz = unit(cross(d[1], d[2], d[3], ux, uy, uz))
      for k = 0, 11 do
        local c, s = math.cos((k + from) * math.pi / 6), math.sin((k + from) * math.pi / 6)
        add(c * ux + s * vx, c * uy + s * vy, c * uz + s * vz)
      end
    end
  end
  table.sort(list, function(one, other) return one[1] > other[1] end)
  return list
end

-- The largest gap, at least `best`, along normals of faces and of pairs of edges, which are all that can have it; where something
-- is round of directions from which it climbs, too.
local function deepest(A, B, best)
  local bx, by, bz
  local function try(x, y, z, bound) -- bound: of the gap along the vector
    local length = sqrt(x * x + y * y + z * z)
    if bound and bound <= best * length then return end
    local g = gap(A, B, x, y, z) / length
    if g > best then best, bx, by, bz = g, x / length, y / length, z / length end
  end
  for _, S in ipairs { A, B } do
    for _, f in ipairs(S.f) do
      try(f[1], f[2], f[3])
      try(-f[1], -f[2], -f[3])
    end
  end
  local plain = not A.round and not B.round
  for _, d in ipairs(A.e) do
    local dx, dy, dz, p, square = d[1], d[2], d[3], d[4], d[1] * d[1] + d[2] * d[2] + d[3] * d[3]
    for _, e in ipairs(B.e) do
      local x, y, z = cross(dx, dy, dz, e[1], e[2], e[3])
      local m, q = x * x + y * y + z * z, e[4]
      if m > 1e-20 * square * (e[1] * e[1] + e[2] * e[2] + e[3] * e[3]) then
        local bound = plain and x * (p[1] - q[1]) + y * (p[2] - q[2]) + z * (p[3] - q[3]) -- the gap of the corners is no smaller
        try(x, y, z, bound)
        try(-x, -y, -z, bound and -bound)
      end
    end
  end
  if plain and #A.e > 1 and #B.e > 1 then return best end
  local list = starts(A, B)
  if bx then table.insert(list, 1, { best, bx, by, bz }) end
  for k = 1, 3 do best = max(best, climb(A, B, table.unpack(list[k]))) end
  return best
end

-- How wrong an answer of ns.contact.distance is, over the tolerance, and what is wrong. The normal proves the distance from below:
-- along it the solids are that far apart. The points prove it from above: they are as far apart, and belong to their solids. In an
-- overlap no direction has a smaller depth. All up to 1e-9 of the smaller solid and rounding of the larger one, or of its place;
-- corners of a hull (`hull`) are on a face that may be 1e-8 of it from them, see ns_solid_make_hull.
function proofs.error(A, B, d, pa, pb, n)
  local tolerance = 1e-9 * min(A.half, B.half) + 5e-13 * max(A.half, B.half, A.far, B.far)
  tolerance = tolerance + 1e-8 * ((A.hull and A.half or 0) + (B.hull and B.half or 0))
  local x, y, z, core, worst, what = n[1], n[2], n[3], d + A.R + B.R, 0, "nothing"
  local function small(text, value)
    if value ~= value then value = huge end
    if value > worst * tolerance then worst, what = value / tolerance, text end
  end
  local square = x * x + y * y + z * z - 1
  if square ~= square or abs(square) > 1e-12 then return huge, "the normal is no unit vector", tolerance end
  local u, v, w = pa[1] - pb[1], pa[2] - pb[2], pa[3] - pb[3]
  small("the normal has another gap", abs(gap(A, B, x, y, z) - core))
  small("the points along the normal", abs(u * x + v * y + w * z - d))
  small("the points", abs(sqrt(u * u + v * v + w * w) - abs(d)))
  small("the first point is outside", outside(A, pa[1] + A.R * x, pa[2] + A.R * y, pa[3] + A.R * z))
  small("the second point is outside", outside(B, pb[1] - B.R * x, pb[2] - B.R * y, pb[3] - B.R * z))
  if core <= tolerance then small("another normal is better", deepest(A, B, core) - core) end
  return worst, what, tolerance
end

return proofs
