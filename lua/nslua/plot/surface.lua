-- nslua.plot.surface: faces of surfaces in space.
--
-- A face is a flat list of coordinates { x1, y1, z1, x2, y2, z2, ... } of 3 or 4 corners in a cycle.
-- Implicit surfaces are found by marching tetrahedra: each cube of a grid is cut into six tetrahedra around its
-- diagonal, the same way everywhere, so that neighbours fit; a tetrahedron whose corners differ in sign holds one
-- or two triangles.

local core = require "nslua.core"
local data = require "nslua.plot.data"

local surface = {}

-- The faces of a grid of points, three matrices of one shape; faces with a corner that is not finite are left
-- out.
function surface.quads(X, Y, Z)
  local faces = {}
  for i = 1, Z:rows() - 1 do
    for j = 1, Z:cols() - 1 do
      local face, sum = {}, 0
      for _, c in ipairs { { i, j }, { i, j + 1 }, { i + 1, j + 1 }, { i + 1, j } } do
        for _, M in ipairs { X, Y, Z } do
          local w = M[c[1]][c[2]]
          face[#face + 1], sum = w, sum + w
        end
      end
      if sum - sum == 0 then faces[#faces + 1] = face end
    end
  end
  return faces
end

-- The coordinates of all corners, three vectors.
function surface.columns(faces)
  local lists = { {}, {}, {} }
  for _, face in ipairs(faces) do
    for k = 1, #face do
      local list = lists[(k - 1) % 3 + 1]
      list[#list + 1] = face[k]
    end
  end
  return { core.vector(lists[1]), core.vector(lists[2]), core.vector(lists[3]) }
end

-- The corners of a cube by number, and the tetrahedra: ways from corner 0 to corner 7 along the axes in any order.
local corners = { [0] = { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 }, { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 },
  { 1, 1, 1 } }
local tetrahedra = { { 0, 1, 3, 7 }, { 0, 1, 5, 7 }, { 0, 2, 3, 7 }, { 0, 2, 6, 7 }, { 0, 4, 5, 7 }, { 0, 4, 6, 7 } }

-- The root of f between p (value a) and q (value b), whose signs differ, by false position (Illinois).
local function crossing(f, p, q, a, b)
  local s0, s1, side = 0, 1, 0
  local x, y, z
  for _ = 1, 8 do
    local s = a == b and 0.5 or s0 + (s1 - s0) * a / (a - b)
    x, y, z = p[1] + s * (q[1] - p[1]), p[2] + s * (q[2] - p[2]), p[3] + s * (q[3] - p[3])
    local value = f(x, y, z)
    if not (value < 0 or value > 0) then break end
    if (value < 0) == (a < 0) then
      s0, a = s, value
      if side == 1 then b = b / 2 end
      side = 1
    else
      s1, b = s, value
      if side == -1 then a = a / 2 end
      side = -1
    end
    if s1 - s0 < 1e-6 then break end
  end
  return x, y, z
end

local function put(face, x, y, z)
  local n = #face
  face[n + 1], face[n + 2], face[n + 3] = x, y, z
end

-- Appends the face of one tetrahedron: points p and values v of its four corners.
local function march(f, p, v, faces)
  local inside, outside = {}, {}
  for k = 1, 4 do
    if v[k] ~= v[k] then return end
    if v[k] < 0 then inside[#inside + 1] = k else outside[#outside + 1] = k end
  end
  if #inside == 0 or #outside == 0 then return end
  local face = {}
  local function cut(i, j) put(face, crossing(f, p[i], p[j], v[i], v[j])) end
  if #inside == 2 then
    cut(inside[1], outside[1])
    cut(inside[1], outside[2])
    cut(inside[2], outside[2])
    cut(inside[2], outside[1])
  else
    local one, others = inside[1], outside
    if #outside == 1 then one, others = outside[1], inside end
    for _, other in ipairs(others) do cut(one, other) end
  end
  faces[#faces + 1] = face
end

-- f at the points of a grid of n x n x n cubes in the box b, flat.
local function sample(f, b, n)
  local values, m = {}, n + 1
  for k = 0, n do
    local z = b[5] + (b[6] - b[5]) * k / n
    for j = 0, n do
      local y = b[3] + (b[4] - b[3]) * j / n
      for i = 0, n do
        local value = f(b[1] + (b[2] - b[1]) * i / n, y, z)
        if type(value) ~= "number" then data.fail("implicit: f: expected a number, got %s", data.describe(value)) end
        values[(k * m + j) * m + i] = value
      end
    end
  end
  return values
end

-- The faces of f(x, y, z) = 0 in the box b = {x0, x1, y0, y1, z0, z1}, on a grid of n cubes along each side.
function surface.implicit(f, b, n)
  local values, m, faces = sample(f, b, n), n + 1, {}
  local function place(i, j, k)
    return { b[1] + (b[2] - b[1]) * i / n, b[3] + (b[4] - b[3]) * j / n, b[5] + (b[6] - b[5]) * k / n }
  end
  local function cube(i, j, k)
    local v, positive, negative = {}, false, false
    for c = 0, 7 do
      local d = corners[c]
      v[c] = values[((k + d[3]) * m + j + d[2]) * m + i + d[1]]
      if v[c] < 0 then negative = true else positive = true end
    end
    if not (positive and negative) then return end
    local p = {}
    for c = 0, 7 do p[c] = place(i + corners[c][1], j + corners[c][2], k + corners[c][3]) end
    for _, t in ipairs(tetrahedra) do
      march(f, { p[t[1]], p[t[2]], p[t[3]], p[t[4]] }, { v[t[1]], v[t[2]], v[t[3]], v[t[4]] }, faces)
    end
  end
  for k = 0, n - 1 do
    for j = 0, n - 1 do
      for i = 0, n - 1 do cube(i, j, k) end
    end
  end
  return faces
end

return surface
