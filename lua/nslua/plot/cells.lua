-- nslua.plot.cells: a heat map: a cell of colour for each element of a matrix.

local core = require "nslua.core"
local data = require "nslua.plot.data"
local style = require "nslua.plot.style"

local cells = {}

-- The edges of cells around places: halfway to the neighbours, and as far beyond the ends.
local function edges_of(places)
  local n, edges = #places, {}
  if n == 1 then return { places[1] - 0.5, places[1] + 0.5 } end
  for i = 2, n do edges[i] = 0.5 * (places[i - 1] + places[i]) end
  edges[1], edges[n + 1] = 1.5 * places[1] - 0.5 * places[2], 1.5 * places[n] - 0.5 * places[n - 1]
  return edges
end

local function increasing(who, what, v)
  for i = 2, #v do
    if v[i] ~= v[i] or v[i] <= v[i - 1] then data.fail("%s: %s: expected increasing numbers", who, what) end
  end
  return v
end

-- The least and the largest finite element of a matrix.
local function range_of(who, z)
  local columns = {}
  for i = 1, z:rows() do columns[i] = z:row(i) end
  local lo, hi = data.range(columns)
  if not lo then data.fail("%s: z has no finite number", who) end
  return lo, hi
end

local function make(axes, who, x_edges, y_edges, z, range, cmap)
  local x, y = {}, {}
  for j = 1, #x_edges - 1 do x[j] = 0.5 * (x_edges[j] + x_edges[j + 1]) end
  for i = 1, #y_edges - 1 do y[i] = 0.5 * (y_edges[i] + y_edges[i + 1]) end
  return { kind = "cells", columns = { core.vector(x), core.vector(y) }, values = z, range = range,
    x_edges = x_edges, y_edges = y_edges, map = axes:colormap(who, cmap),
    extent = { x = { x_edges[1], x_edges[#x_edges] }, y = { y_edges[1], y_edges[#y_edges] } } }
end

-- The artist of heatmap(x, y, z [, {cmap=, limits=}]): z has a row for each y. limits: the values of the first and
-- the last colour. A cell that is nan stays empty.
function cells.artist(axes, x, y, z, options)
  options = data.options("heatmap", options)
  x, y = increasing("heatmap", "x", data.column("heatmap", "x", x)), increasing("heatmap", "y", data.column("heatmap",
    "y", y))
  z = data.grid("heatmap", "z", z, x, y)
  local lo, hi = range_of("heatmap", z)
  if options.limits then
    local given = data.column("heatmap", "limits", options.limits)
    if #given ~= 2 then data.fail("heatmap: limits: expected two numbers, got %d", #given) end
    lo, hi = given[1], given[2]
  end
  return make(axes, "heatmap", edges_of(x), edges_of(y), z, { lo, hi }, options.cmap)
end

-- The edges of n cells from n middles or n + 1 edges.
local function edges_or_middles(who, what, v, n)
  v = increasing(who, what, data.column(who, what, v))
  if #v == n + 1 then return v:totable() end
  if #v ~= n then data.fail("%s: %s: expected %d middles or %d edges, got %d", who, what, n, n + 1, #v) end
  return edges_of(v)
end

-- The artist of a matrix z with a row for each y; x and y are middles or edges of the cells. options: cmap, vmin,
-- vmax.
function cells.mesh(axes, who, x, y, z, options)
  z = data.matrix(who, "z", z)
  local lo, hi = range_of(who, z)
  if options.vmin then lo = data.number(who, "vmin", options.vmin) end
  if options.vmax then hi = data.number(who, "vmax", options.vmax) end
  return make(axes, who, edges_or_middles(who, "x", x, z:cols()), edges_or_middles(who, "y", y, z:rows()), z,
    { lo, hi }, options.cmap)
end

-- The rows "x y left right low high colour" of all cells that are not nan. A cell reaches below its neighbours at the
-- right and above, which are drawn after it, so that no seams are seen between them. edges: where the edges are
-- drawn, { x =, y = }.
function cells.rows(artist, edges)
  local lo, hi = artist.range[1], artist.range[2]
  local list = { {}, {}, {}, {}, {}, {}, {} }
  local xs, ys, x_edges, y_edges = artist.columns[1]:totable(), artist.columns[2]:totable(), edges.x, edges.y
  local rows = {}
  for i = 1, #ys do rows[i] = artist.values[i]:totable() end
  local function there(i, j) return rows[i] and rows[i][j] and rows[i][j] == rows[i][j] end
  for i, y in ipairs(ys) do
    for j, x in ipairs(xs) do
      local v = rows[i][j]
      if v == v then
        local color = style.map_color(artist.map, hi > lo and math.max(0, math.min(1, (v - lo) / (hi - lo))) or 0.5)
        local right, high = x_edges[j + 1], y_edges[i + 1]
        local beside, above = there(i, j + 1), there(i + 1, j)
        if beside and (not above or there(i + 1, j + 1)) then right = 0.5 * (right + x_edges[j + 2]) end
        if above and (not beside or there(i + 1, j + 1)) then high = 0.5 * (high + y_edges[i + 2]) end
        local cell = { x, y, x_edges[j], right, y_edges[i], high, tonumber(color:sub(2), 16) }
        for k = 1, 7 do list[k][#list[k] + 1] = cell[k] end
      end
    end
  end
  for k = 1, 7 do list[k] = core.vector(list[k]) end
  return list
end

return cells
