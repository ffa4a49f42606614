-- nslua.contact.polygon: intersections of half-planes.
--
--   local square = ns.polygon.intersection { { 1, 0, 1 }, { -1, 0, 0 }, { 0, 1, 1 }, { 0, -1, 0 } }
--   square.vertices    --> { {0, 0}, {1, 0}, {1, 1}, {0, 1} }, counterclockwise
--   square:area()      --> 1
--
-- A row { a1, a2, b } is the half-plane a1 x + a2 y <= b; intersection(H, k) takes the rows of a matrix and a
-- vector, H (x, y) <= k. The result has
--   vertices    the corners { x, y }, counterclockwise. When bounded, the first is the lowest (the left one of two)
--   rays        when unbounded, the unit directions { dx, dy } along which the boundary comes from infinity to the
--               first vertex and leaves from the last one. Empty when bounded, and for the whole plane
--   edges       in the same order, { point, direction, from, to, row }: a point on the line of the edge, the unit
--               direction, the two ends (nil at infinity), and the number of the half-plane
--   dimension   2, 1 (segment, ray, line), 0 (a point), -1 when it is empty
--   bounded, empty
-- Each line is cut by all other half-planes (n^2 operations). Points that are closer than 1e-12 times the size of
-- the data count as one point.

local format = require "nslua.core".number_support.format
local where = require "nslua.base.where"

local polygon = {}

local Polygon = {}
Polygon.__index = Polygon
Polygon.__name = "polygon"
where.strict(Polygon)

local huge = math.huge
local TOLERANCE = 1e-12
local DEGENERATE = 1e-14 -- sine of the angle between lines that count as parallel

local function check_row(row, i)
  local good = type(row) ~= "number" and row ~= nil and #row == 3
  if not good then error(("intersection: row %d: expected {a1, a2, b}"):format(i), 4) end
  for k = 1, 3 do
    local x = row[k]
    local finite = type(x) == "number" and x == x and math.abs(x) < huge
    if not finite and not (k == 3 and x == huge) then
      error(("intersection: row %d: expected finite numbers, got %s"):format(i, tostring(x)), 4)
    end
  end
  return { a = row[1], b = row[2], c = row[3] }
end

local function read_rows(H, k)
  local rows = {}
  if type(H) ~= "table" and type(H) ~= "userdata" then
    error(("intersection: expected half-planes {a1, a2, b} or a matrix and a vector, got %s"):format(type(H)), 3)
  end
  if k == nil then
    for i = 1, #H do rows[i] = check_row(H[i], i) end
    return rows
  end
  if type(k) ~= "table" and not (type(k) == "userdata" and where.try(function() return #k end)) then
    error(("intersection: k: expected a vector of right-hand sides, got %s"):format(type(k)), 3)
  end
  if #H ~= #k then error(("intersection: %d rows and %d right-hand sides"):format(#H, #k), 3) end
  for i = 1, #H do
    if #H[i] ~= 2 then error(("intersection: H: expected rows of 2, got one of %d"):format(#H[i]), 3) end
    rows[i] = check_row({ H[i][1], H[i][2], k[i] }, i)
  end
  return rows
end

-- The same half-plane, scaled where that is needed so that squares and products of its numbers stay in range.
local function scaled(row)
  local most = math.max(math.abs(row.a), math.abs(row.b))
  if most == 0 or most > 1e-70 and most < 1e70 then return row end
  return { a = row.a / most, b = row.b / most, c = row.c / most }
end

-- The lines nx x + ny y = d with unit normals. Rows 0 x + 0 y <= b are left out; the result is false when one of
-- these cannot hold (b < 0).
local function normalise(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    row = scaled(row)
    local length = math.sqrt(row.a * row.a + row.b * row.b)
    if length == 0 and row.c < 0 then return false end
    if length > 0 and row.c < huge then
      lines[#lines + 1] = { nx = row.a / length, ny = row.b / length, d = row.c / length, row = row, number = i }
    end
  end
  return lines
end

-- The common point of two lines, computed from the numbers as they were given. The result has the same bits when the
-- lines are swapped.
local function crossing(p, q)
  if p.number > q.number then p, q = q, p end
  local a, b = p.row, q.row
  local det = a.a * b.b - a.b * b.a
  return { (a.c * b.b - a.b * b.c) / det + 0.0, (a.a * b.c - a.c * b.a) / det + 0.0 }
end

-- The part of line p that satisfies every half-plane: an edge with its length and with the lines `from` and `to`
-- that end it (nil at infinity). nil when there is no such part. The inside is on the left of the direction.
local function cut(p, lines, tolerance)
  local dx, dy = -p.ny, p.nx
  local px, py = p.d * p.nx, p.d * p.ny
  local low, high, from, to = -huge, huge, nil, nil
  for _, q in ipairs(lines) do
    local slope = q.nx * dx + q.ny * dy
    local room = q.d - (q.nx * px + q.ny * py)
    if q ~= p and math.abs(slope) > DEGENERATE then
      local t = room / slope
      if slope > 0 and t < high then high, to = t, q end
      if slope < 0 and t > low then low, from = t, q end
    elseif q ~= p then
      local same = q.nx * p.nx + q.ny * p.ny > 0
      if room < -tolerance or same and math.abs(room) <= tolerance and q.number < p.number then return nil end
    end
  end
  if high - low < -tolerance then return nil end
  return { line = p, dx = dx, dy = dy, point = { px + 0.0, py + 0.0 }, length = high - low, from = from, to = to }
end

local function angle(edge) return math.atan(edge.dy, edge.dx) end

local function near(p, q, tolerance)
  return math.abs(p[1] - q[1]) <= tolerance and math.abs(p[2] - q[2]) <= tolerance
end

-- Turns the list so that it starts at position k.
local function rotate(list, k)
  local out = {}
  for i = 1, #list do out[i] = list[(k + i - 2) % #list + 1] end
  return out
end

local function first_edge(edges)
  local best = 1
  for i, edge in ipairs(edges) do
    local p, q = edge.from, edges[best].from
    if not p then return i end
    if p[2] < q[2] or p[2] == q[2] and p[1] < q[1] then best = i end
  end
  return best
end

local function collect_vertices(edges, tolerance)
  local vertices = {}
  local function add(p)
    for _, q in ipairs(vertices) do
      if near(p, q, tolerance) then return end
    end
    vertices[#vertices + 1] = p
  end
  for _, edge in ipairs(edges) do
    if edge.from then add(edge.from) end
    if edge.to then add(edge.to) end
  end
  return vertices
end

-- Whether two edges lie on one line, so that the set is a segment, a ray or a line.
local function is_flat(edges, tolerance)
  if #edges ~= 2 then return false end
  local p, q = edges[1], edges[2]
  if p.dx * q.dx + p.dy * q.dy >= 0 or math.abs(p.dx * q.dy - p.dy * q.dx) > DEGENERATE then return false end
  return math.abs(p.line.d + q.line.d) <= tolerance
end

local function new(rows, lines, fields)
  fields.rows, fields.lines = rows, lines
  fields.vertices, fields.rays, fields.edges = fields.vertices or {}, fields.rays or {}, fields.edges or {}
  fields.empty = fields.dimension < 0
  return setmetatable(fields, Polygon)
end

local function rays_of(edges)
  local first, last = edges[1], edges[#edges]
  if first.from then return {} end
  return { { -first.dx + 0.0, -first.dy + 0.0 }, { last.dx + 0.0, last.dy + 0.0 } }
end

local function public_edges(edges)
  local out = {}
  for i, e in ipairs(edges) do
    local direction = { e.dx + 0.0, e.dy + 0.0 }
    out[i] = { point = e.point, direction = direction, from = e.from, to = e.to, row = e.line.number }
  end
  return out
end

local function from_edges(rows, lines, edges, tolerance)
  table.sort(edges, function(p, q)
    local a, b = angle(p), angle(q)
    if a ~= b then return a < b end
    return p.line.number < q.line.number
  end)
  edges = rotate(edges, first_edge(edges))
  local rays = rays_of(edges)
  return new(rows, lines, {
    vertices = collect_vertices(edges, tolerance), rays = rays, edges = public_edges(edges),
    bounded = #rays == 0, dimension = is_flat(edges, tolerance) and 1 or 2,
  })
end

-- The intersection of half-planes: a list of rows { a1, a2, b }, or H and k. There may be none: the whole plane.
function polygon.intersection(H, k)
  local rows = read_rows(H, k)
  local lines = normalise(rows)
  if not lines then return new(rows, {}, { dimension = -1, bounded = true }) end
  if #lines == 0 then return new(rows, lines, { dimension = 2, bounded = false }) end
  local size = 0
  for _, line in ipairs(lines) do size = math.max(size, math.abs(line.d)) end
  local tolerance = TOLERANCE * (size > 0 and size or 1)
  local edges, touch = {}, nil
  for _, line in ipairs(lines) do
    local edge = cut(line, lines, tolerance)
    if edge then
      edge.from = edge.from and crossing(line, edge.from)
      edge.to = edge.to and crossing(line, edge.to)
      if edge.length > tolerance then edges[#edges + 1] = edge else touch = touch or edge.from end
    end
  end
  if #edges > 0 then return from_edges(rows, lines, edges, tolerance) end
  return new(rows, lines, { vertices = { touch }, dimension = touch and 0 or -1, bounded = true })
end

-- The area: infinite when unbounded and of dimension 2, 0 when the dimension is less than 2.
function Polygon:area()
  if self.dimension < 2 then return 0.0 end
  if not self.bounded then return huge end
  local v, twice = self.vertices, 0.0
  local o = v[1]
  for i = 2, #v - 1 do
    local p, q = v[i], v[i + 1]
    twice = twice + (p[1] - o[1]) * (q[2] - o[2]) - (p[2] - o[2]) * (q[1] - o[1])
  end
  return twice / 2
end

-- polygon:contains(x, y [, margin]) or contains({x, y} [, margin]): whether the point satisfies every half-plane, or
-- is at most `margin` (default 0) outside. A negative margin requires that distance from the boundary, inside.
function Polygon:contains(x, y, margin)
  if type(x) == "table" or type(x) == "userdata" then
    local good, x1, x2 = where.try(function() return x[1], x[2] end)
    if not good then error("contains: expected a point x, y", 2) end
    x, y, margin = x1, x2, y
  end
  if margin ~= nil and type(margin) ~= "number" then
    error(("contains: margin: expected a number, got %s"):format(type(margin)), 2)
  end
  if type(x) ~= "number" or type(y) ~= "number" then error("contains: expected a point x, y", 2) end
  if #self.lines == 0 then return not self.empty end
  for _, line in ipairs(self.lines) do
    local row = line.row
    local over = row.a * x + row.b * y - row.c
    local inside = over <= (margin or 0) * math.sqrt(row.a * row.a + row.b * row.b)
    if not inside then return false end
  end
  return true
end

-- The part inside the rectangle [x0, x1] x [y0, y1]; with it an unbounded polygon can be drawn.
function Polygon:clip(x0, x1, y0, y1)
  for i, name in ipairs { "x0", "x1", "y0", "y1" } do
    local v = ({ x0, x1, y0, y1 })[i]
    if type(v) ~= "number" then error(("clip: %s: expected a number, got %s"):format(name, type(v)), 2) end
  end
  local rows = {}
  for i, row in ipairs(self.rows) do rows[i] = { row.a, row.b, row.c } end
  for _, row in ipairs { { -1, 0, -x0 }, { 1, 0, x1 }, { 0, -1, -y0 }, { 0, 1, y1 } } do rows[#rows + 1] = row end
  return polygon.intersection(rows)
end

local function points(list)
  local parts = {}
  for i, p in ipairs(list) do parts[i] = format("(%.6g, %.6g)", p[1], p[2]) end
  return table.concat(parts, " ")
end

function Polygon:__tostring()
  local kinds = { [-1] = "empty", [0] = "point", [1] = "segment", [2] = "polygon" }
  if self.bounded then return kinds[self.dimension] .. (self.empty and "" or " " .. points(self.vertices)) end
  if #self.rays == 0 then return "whole plane" end
  local corners = #self.vertices > 0 and (" %s"):format(points(self.vertices)) or ""
  return ("unbounded%s, rays %s"):format(corners, points(self.rays))
end

return polygon
