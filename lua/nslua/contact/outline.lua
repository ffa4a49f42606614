-- nslua.contact.outline: shapes of the plane, for their distances.
--
--   local square = ns.contact.outline.box(1, 1):placed { 3, 0, 0.5 }  -- x, y, angle
--   ns.contact.distance(square, ns.contact.outline.disk(0.5))         -- the distance, the two points, the normal
--   ns.contact.distance(square, ns.contact.line({ 0, 0 }, { 0, 1 }))
--
-- They are those that a manager of contacts takes (contact/shape/), and are measured as solids are: as polygons in
-- the plane with a rounding; a polyline as its segments. A line has all points behind it.

local where = require "nslua.base.where"

local huge = math.huge

-- Outline: kind; points { x, y, 0 } with the rounding R; a solid, or the mesh of a polyline (closed or not).
local Outline = {}
Outline.__index = Outline
Outline.__name = "outline"
where.strict(Outline)

local function is_outline(x) return getmetatable(x) == Outline end

return function(contact, classes, parts)
  local support, fail, is_line = parts.support, parts.fail, parts.is_line

  local function new(kind, points, R, closed)
    local self = setmetatable({ kind = kind, points = points, R = R, closed = closed }, Outline)
    self.polyline = kind == "polyline"
    if self.polyline then
      self.solid = where.call(kind, support.polyline, points, closed or false)
    else
      self.solid = where.call(kind, support.polygon, points, R)
    end
    return self
  end

  contact.outline = {}
  for _, class in ipairs(classes) do
    contact.outline[class.kind] = function(...)
      local shape, points = class.read(class.kind, ...), {}
      for i, p in ipairs(shape.points) do points[i] = { p[1], p[2], 0 } end
      return new(class.kind, points, shape.R, shape.closed)
    end
  end

  function Outline:__tostring() return self.kind .. " outline" end

  -- The shape elsewhere: a place { x, y }, or { x, y, angle }.
  function Outline:placed(place)
    if not is_outline(self) then fail("placed", "self", "an outline and a colon", self, 2) end
    local good, n, q = where.try(function() return #place, { place[1], place[2], place[3] or 0 } end)
    good = good and (n == 2 or n == 3)
    for k = 1, 3 do
      local x = good and q[k]
      if type(x) ~= "number" or x ~= x or math.abs(x) == huge then
        fail("placed", "place", "2 or 3 finite numbers", place, 2)
      end
    end
    local c, s, points = math.cos(q[3]), math.sin(q[3]), {}
    for i, p in ipairs(self.points) do
      points[i] = { q[1] + c * p[1] - s * p[2], q[2] + s * p[1] + c * p[2], 0 }
    end
    return new(self.kind, points, self.R, self.closed)
  end

  -- The distance of a shape and a line: its lowest point.
  local function line_distance(a, line)
    local best, at, nx, ny = huge, nil, line.nx, line.ny
    for _, p in ipairs(a.points) do
      local d = (p[1] - line.px) * nx + (p[2] - line.py) * ny - a.R
      if d < best then best, at = d, p end
    end
    local x, y = at[1] - a.R * nx, at[2] - a.R * ny
    return best, { x, y }, { x - best * nx, y - best * ny }, { nx, ny }
  end

  local in_space = contact.distance

  -- The distance in the plane, or in space.
  function contact.distance(a, b)
    if not (is_outline(a) or is_outline(b)) then return in_space(a, b) end
    for i, one in ipairs { a or false, b or false } do
      if not (is_outline(one) or is_line(one)) then
        fail("distance", i == 1 and "a" or "b", "an outline or a line", one or nil, 2)
      end
    end
    if is_line(b) then return line_distance(a, b) end
    if is_line(a) then
      local d, pb, pa, n = line_distance(b, a)
      return d, pa, pb, { -n[1], -n[2] }
    end
    if a.polyline and b.polyline then
      fail("distance", "b", "an outline that is no polyline", parts.said "two polylines", 2)
    end
    local d, pa, pb, n = support.distance(a.solid, b.solid)
    return d, { pa[1], pa[2] }, { pb[1], pb[2] }, { n[1], n[2] }
  end
end
