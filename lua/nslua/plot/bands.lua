-- nslua.plot.bands: the areas between contour lines, as polygons.

local format = require "nslua.core".number_support.format

local bands = {}

-- What is left of a polygon { x, y, z, x, y, z ... } where sign * (z - level) >= 0.
local function clip(polygon, level, sign)
  local result, n = {}, #polygon
  for k = 1, n, 3 do
    local m = k + 3 <= n and k + 3 or 1
    local x, y, z, u, v, w = polygon[k], polygon[k + 1], polygon[k + 2], polygon[m], polygon[m + 1], polygon[m + 2]
    local inside, next_inside = sign * (z - level) >= 0, sign * (w - level) >= 0
    if inside then
      result[#result + 1], result[#result + 2], result[#result + 3] = x, y, z
    end
    if inside ~= next_inside then
      local part = (level - z) / (w - z)
      result[#result + 1], result[#result + 2], result[#result + 3] = x + part * (u - x), y + part * (v - y), level
    end
  end
  return result
end

-- The lines of a closed polygon for gnuplot, and a blank line.
local function write(out, polygon)
  if #polygon < 9 then return end
  for k = 1, #polygon, 3 do out[#out + 1] = format("%.9g %.9g\n", polygon[k], polygon[k + 1]) end
  out[#out + 1] = format("%.9g %.9g\n\n", polygon[1], polygon[2])
end

-- The polygons of a cell with corners at (x0, y0) ... that is cut by a level. It is four triangles that meet in its
-- middle.
local function write_cut(out, x0, x1, y0, y1, a, b, c, d, lo, hi)
  local mx, my, mz = (x0 + x1) / 2, (y0 + y1) / 2, (a + b + c + d) / 4
  local corners = { x0, y0, a, x1, y0, b, x1, y1, c, x0, y1, d, x0, y0, a }
  for k = 1, 12, 3 do
    local triangle = { mx, my, mz, corners[k], corners[k + 1], corners[k + 2], corners[k + 3], corners[k + 4],
      corners[k + 5] }
    write(out, clip(clip(triangle, lo, 1), hi, -1))
  end
end

-- Where lo <= z <= hi on a grid: polygons, as text for gnuplot. z has a row for each y. Cells with a corner that is
-- nan stay empty. Whole cells beside each other are one polygon.
function bands.polygons(x, y, z, lo, hi)
  local out, nx = {}, #x
  local below = z[1]:totable()
  for i = 1, #y - 1 do
    local above, start = z[i + 1]:totable(), nil
    for j = 1, nx do
      local a, b, c, d = below[j], below[j + 1], above[j + 1], above[j]
      local whole, cut = false, false
      if j < nx and a == a and b == b and c == c and d == d then
        local least, most = math.min(a, b, c, d), math.max(a, b, c, d)
        whole = least >= lo and most <= hi
        cut = not whole and most >= lo and least <= hi
      end
      if whole then
        start = start or j
      elseif start then
        write(out, { x[start], y[i], 0, x[j], y[i], 0, x[j], y[i + 1], 0, x[start], y[i + 1], 0 })
        start = nil
      end
      if cut then write_cut(out, x[j], x[j + 1], y[i], y[i + 1], a, b, c, d, lo, hi) end
    end
    below = above
  end
  return table.concat(out)
end

return bands
