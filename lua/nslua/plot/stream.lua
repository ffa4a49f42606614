-- nslua.plot.stream: lines along a field in the plane, evenly spaced.
--
-- The method of Jobard and Lefer (1997): a line starts a fixed distance beside one that is there, and goes on in both
-- directions until it comes too near to another, to the border or to a place where the field is 0. So lines are long
-- and evenly spaced. Steps have a fixed length (midpoint rule), so that jumps of the field cause no trouble.

local data = require "nslua.plot.data"

local stream = {}

local NAN = 0 / 0
local CELLS = 26 -- distances of lines along each side at density 1
local NEAREST = 0.45 -- a line ends so near to another, in distances of lines
local STEPS = 8 -- steps along a line in a distance of lines
local SHORTEST = 3 -- shorter lines are left out, in distances of lines

-- A function that interpolates a field on a grid bilinearly.
function stream.interpolate(x, y, u, v)
  local nx, ny = #x, #y
  local function cell(list, n, at)
    local lo, hi = 1, n - 1
    while lo < hi do
      local middle = (lo + hi + 1) // 2
      if list[middle] <= at then lo = middle else hi = middle - 1 end
    end
    return lo, (at - list[lo]) / (list[lo + 1] - list[lo])
  end
  return function(px, py)
    local j, s = cell(x, nx, px)
    local i, t = cell(y, ny, py)
    local function at(w)
      return (1 - t) * ((1 - s) * w[i][j] + s * w[i][j + 1]) + t * ((1 - s) * w[i + 1][j] + s * w[i + 1][j + 1])
    end
    return at(u), at(v)
  end
end

-- The direction of the field at (a, b) of the unit square, of unit length there; nil where it vanishes.
local function unit_field(f, x0, x1, y0, y1)
  return function(a, b)
    local u, v = data.pair("streamplot", f, x0 + a * (x1 - x0), y0 + b * (y1 - y0))
    u, v = u / (x1 - x0), v / (y1 - y0)
    local length = math.sqrt(u * u + v * v)
    if not (length > 0 and length < math.huge) then return nil end
    return u / length, v / length
  end
end

-- The points of lines, found by their places: cells as wide as the distance of lines.
local Field = {}
Field.__index = Field

function Field:put(p)
  local key = (p[2] * self.n // 1) * self.n + p[1] * self.n // 1
  local list = self.cells[key]
  if list then list[#list + 1] = p else self.cells[key] = { p } end
end

-- Whether a point of a line is nearer to (a, b) than `distance`.
function Field:near(a, b, distance)
  local n, i, j, limit = self.n, b * self.n // 1, a * self.n // 1, distance * distance
  for k = i - 1, i + 1 do
    for m = j - 1, j + 1 do
      for _, p in ipairs(self.cells[k * n + m] or {}) do
        if (p[1] - a) ^ 2 + (p[2] - b) ^ 2 < limit then return true end
      end
    end
  end
  return false
end

-- Whether a line comes back to one of its own points, other than the last ones.
local function comes_back(own, a, b, distance)
  local limit = distance * distance
  for k = 1, #own - 3 * STEPS do
    if (own[k][1] - a) ^ 2 + (own[k][2] - b) ^ 2 < limit then return true end
  end
  return false
end

-- Follows the field from (a, b) in one direction. Returns the points after the first.
local function follow(g, a, b, sign, field)
  local points, d = {}, field.distance
  local ds = d / STEPS
  for _ = 1, 40 * field.n do
    local u, v = g(a, b)
    if not u then break end
    local u2, v2 = g(a + sign * ds / 2 * u, b + sign * ds / 2 * v)
    if not u2 then break end
    a, b = a + sign * ds * u2, b + sign * ds * v2
    if a < 0 or a > 1 or b < 0 or b > 1 or field:near(a, b, NEAREST * d) then break end
    if #points % 4 == 0 and comes_back(points, a, b, NEAREST * d) then break end
    points[#points + 1] = { a, b }
  end
  return points
end

-- The line through (a, b), in the direction of the field; nil when it is short.
local function line_through(g, a, b, field)
  local back, line = follow(g, a, b, -1, field), {}
  local ahead = follow(g, a, b, 1, field)
  for k = #back, 1, -1 do line[#line + 1] = back[k] end
  line[#line + 1] = { a, b }
  for _, p in ipairs(ahead) do line[#line + 1] = p end
  if #line < SHORTEST * STEPS then return nil end
  for _, p in ipairs(line) do field:put(p) end
  return line
end

-- All lines in the unit square.
local function all_lines(g, n)
  local field = setmetatable({ n = n, distance = 1 / n, cells = {} }, Field)
  local lines, done = {}, 0
  local function start(a, b)
    if a < 0 or a > 1 or b < 0 or b > 1 or field:near(a, b, 0.98 / n) then return end
    lines[#lines + 1] = line_through(g, a, b, field)
  end
  local function beside_all() -- starts lines beside those that are there
    while done < #lines do
      done = done + 1
      local line = lines[done]
      for k = 2, #line, STEPS // 2 do
        local u, v = line[k][1] - line[k - 1][1], line[k][2] - line[k - 1][2]
        local length = math.sqrt(u * u + v * v) * n
        if length > 0 then
          start(line[k][1] - v / length, line[k][2] + u / length)
          start(line[k][1] + v / length, line[k][2] - u / length)
        end
      end
    end
  end
  for i = 0, n do -- the first starts are at the border, the others where there is still room
    for j = 0, n do
      local a, b = (j + n // 3) % (n + 1) / n, i / n
      start(a, b)
      beside_all()
    end
  end
  return lines
end

-- The lines as two lists of coordinates, separated by NaN, and arrows {x, y, dx, dy} (four lists) in their middles.
function stream.lines(f, x0, x1, y0, y1, density)
  local n = math.max(4, math.floor(CELLS * density + 0.5))
  local px, py, arrows = {}, {}, { {}, {}, {}, {} }
  for _, line in ipairs(all_lines(unit_field(f, x0, x1, y0, y1), n)) do
    for _, p in ipairs(line) do
      px[#px + 1], py[#py + 1] = x0 + p[1] * (x1 - x0), y0 + p[2] * (y1 - y0)
    end
    px[#px + 1], py[#py + 1] = NAN, NAN
    local m = #line // 2
    local p, q = line[m], line[m + 1]
    arrows[1][#arrows[1] + 1], arrows[2][#arrows[2] + 1] = x0 + p[1] * (x1 - x0), y0 + p[2] * (y1 - y0)
    arrows[3][#arrows[3] + 1], arrows[4][#arrows[4] + 1] = (q[1] - p[1]) * (x1 - x0), (q[2] - p[2]) * (y1 - y0)
  end
  return px, py, arrows
end

return stream
