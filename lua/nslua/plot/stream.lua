-- nslua.plot.stream: lines along a field in the plane, evenly spaced.
--
-- The method of matplotlib: at most one line passes through each cell of a grid over the rectangle. Lines start at
-- free cells, from the border inwards, and go in both directions. They end at the border, at a cell that is taken,
-- or where the field is 0. Steps have a fixed length (midpoint rule), so that jumps of the field cause no trouble.

local data = require "nslua.plot.data"

local stream = {}

local NAN = 0 / 0
local CELLS = 24 -- cells along each side at density 1

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

-- The cells, ring by ring from the border inwards.
local function spiral(n)
  local order = {}
  for ring = 0, (n - 1) // 2 do
    local last = n - 1 - ring
    for k = ring, last do
      order[#order + 1] = { ring, k }
      if last > ring then order[#order + 1] = { last, k } end
      if k > ring and k < last then
        order[#order + 1] = { k, ring }
        order[#order + 1] = { k, last }
      end
    end
  end
  return order
end

-- Follows the field from (a, b) in one direction. Marks the cells on its way and lists them in `taken`. Returns the
-- points after the first.
local function follow(g, a, b, sign, n, mask, taken)
  local points, ds, cell = {}, 0.25 / n, (b * n // 1) * n + a * n // 1
  for _ = 1, 40 * n do
    local u, v = g(a, b)
    if not u then break end
    local u2, v2 = g(a + sign * ds / 2 * u, b + sign * ds / 2 * v)
    if not u2 then break end
    a, b = a + sign * ds * u2, b + sign * ds * v2
    if a < 0 or a > 1 or b < 0 or b > 1 then break end
    local now = math.min(b * n // 1, n - 1) * n + math.min(a * n // 1, n - 1)
    if now ~= cell then
      if mask[now] then break end
      mask[now], taken[#taken + 1], cell = true, now, now
    end
    points[#points + 1] = { a, b }
  end
  return points
end

-- The lines as two lists of coordinates, separated by NaN, and arrows {x, y, dx, dy} (four lists) in their middles.
function stream.lines(f, x0, x1, y0, y1, density)
  local n = math.max(4, math.floor(CELLS * density + 0.5))
  local g, mask = unit_field(f, x0, x1, y0, y1), {}
  local px, py, arrows = {}, {}, { {}, {}, {}, {} }
  local function put(p)
    px[#px + 1], py[#py + 1] = x0 + p[1] * (x1 - x0), y0 + p[2] * (y1 - y0)
  end
  local function keep(line)
    for _, p in ipairs(line) do put(p) end
    px[#px + 1], py[#py + 1] = NAN, NAN
    local m = #line // 2
    local p, q = line[m], line[m + 1]
    arrows[1][#arrows[1] + 1], arrows[2][#arrows[2] + 1] = x0 + p[1] * (x1 - x0), y0 + p[2] * (y1 - y0)
    arrows[3][#arrows[3] + 1], arrows[4][#arrows[4] + 1] = (q[1] - p[1]) * (x1 - x0), (q[2] - p[2]) * (y1 - y0)
  end
  for _, cell in ipairs(spiral(n)) do
    local i, j = cell[1], cell[2]
    if not mask[i * n + j] then
      local a, b, taken = (j + 0.5) / n, (i + 0.5) / n, { i * n + j }
      mask[i * n + j] = true
      local back, line = follow(g, a, b, -1, n, mask, taken), {}
      local ahead = follow(g, a, b, 1, n, mask, taken)
      for k = #back, 1, -1 do line[#line + 1] = back[k] end
      line[#line + 1] = { a, b }
      for _, p in ipairs(ahead) do line[#line + 1] = p end
      if #line >= 16 then
        keep(line)
      else
        for k = 2, #taken do mask[taken[k]] = nil end
      end
    end
  end
  return px, py, arrows
end

return stream
