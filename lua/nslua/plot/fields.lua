-- nslua.plot.fields: methods of axes for fields of colour: imshow, pcolormesh, contourf, colorbar.

local artists = require "nslua.plot.artists"
local bands = require "nslua.plot.bands"
local cells = require "nslua.plot.cells"
local contour = require "nslua.plot.contour"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local histogram = require "nslua.analysis.histogram"
local style = require "nslua.plot.style"

local fail, column, text = data.fail, data.column, data.text
local add = artists.add

local methods = {}
local plane = artists.methods(methods, artists.in_plane)

-- pcolormesh([x, y,] z [, {cmap =, vmin =, vmax =}]): x and y are edges or middles of the cells.
function plane:pcolormesh(x, y, z, options)
  if z == nil then x, y, z, options = nil, nil, x, y end
  options = data.options("pcolormesh", options)
  data.one_of(options.shading or "auto", "auto, flat, nearest", "pcolormesh: shading")
  z = data.matrix("pcolormesh", "z", z)
  x = x or core.linspace(0, z:cols(), z:cols() + 1)
  y = y or core.linspace(0, z:rows(), z:rows() + 1)
  add(self, cells.mesh(self, "pcolormesh", x, y, z, options))
  self.sticky, self.show_grid = true, false
end


-- imshow(z [, {cmap =, vmin =, vmax =, origin =, extent =, aspect =}]): the first row is at the top, or at the bottom
-- with origin = "lower".
function plane:imshow(z, options)
  options = data.options("imshow", options)
  data.one_of(options.interpolation or "none", "nearest, none", "imshow: interpolation")
  z = data.matrix("imshow", "z", z)
  local origin, e = data.one_of(options.origin or "upper", "upper, lower", "imshow: origin"), options.extent
  local rows, cols = z:rows(), z:cols()
  if e then
    e = column("imshow", "extent", e)
    if #e ~= 4 or not (e[1] < e[2] and e[3] < e[4]) then
      fail("imshow: extent: expected {left, right, bottom, top}, each pair increasing")
    end
    if origin == "upper" then
      local turned = core.matrix(rows, cols)
      for i = 1, rows do
        for j = 1, cols do turned[i][j] = z[rows + 1 - i][j] end
      end
      z = turned
    end
  else
    e = { 0.5, cols + 0.5, 0.5, rows + 0.5 }
    if origin == "upper" then self.limits.y = { rows + 0.5, 0.5 } end
  end
  add(self, cells.mesh(self, "imshow", core.linspace(e[1], e[2], cols + 1), core.linspace(e[3], e[4], rows + 1), z,
    options))
  self.sticky, self.show_grid = true, false
  return self:axis(options.aspect == "auto" and "auto" or "scaled")
end

methods.matshow, methods.pcolor = methods.imshow, methods.pcolormesh

-- hist2d(x, y [, {bins =, range =, density =, cmap =, vmin =, vmax =}]): how many of the points lie in each cell.
-- bins: a number, or one for each axis, or edges for each axis.
function plane:hist2d(x, y, options)
  options = data.options("hist2d", options)
  x, y = column("hist2d", "x", x), column("hist2d", "y", y)
  data.same_length("hist2d", { "x", "y" }, { x, y })
  local bins, range, edges = options.bins or 10, options.range or {}, {}
  data.expect(range, "table", "hist2d: range: expected {{x0, x1}, {y0, y1}}")
  for k, values in ipairs { x, y } do
    local own = type(bins) == "table" and bins[k] or bins
    if type(own) == "number" then
      data.reject(math.type(own) ~= "integer" or own < 1 or own > 5000, own,
        "hist2d: bins: expected whole numbers from 1 to 5000, or edges")
      local lo, hi
      if range[k] then lo, hi = data.interval("hist2d", ("range[%d]"):format(k), range[k])
      else lo, hi = data.range { values } end
      edges[k] = histogram.edges(lo or 0, hi or 1, own)
    else
      edges[k] = column("hist2d", ("bins[%d]"):format(k), own)
      if #edges[k] < 2 or not data.rises(edges[k]) then fail("hist2d: bins[%d]: expected edges that increase", k) end
    end
  end
  local nx, ny = #edges[1] - 1, #edges[2] - 1
  local z, sum = core.zeros(ny, nx), 0
  for k = 1, #x do
    local i, j = histogram.place(y[k], edges[2]), histogram.place(x[k], edges[1])
    if i and j then z[i][j], sum = z[i][j] + 1, sum + 1 end
  end
  for i = 1, options.density and ny or 0 do
    for j = 1, nx do
      z[i][j] = z[i][j] / math.max(sum, 1) / ((edges[1][j + 1] - edges[1][j]) * (edges[2][i + 1] - edges[2][i]))
    end
  end
  add(self, cells.mesh(self, "hist2d", edges[1], edges[2], z, options))
  self.sticky, self.show_grid = true, false
end

-- The levels between bands. Those that follow from z reach beyond it on both sides.
local function levels_of(z, wanted)
  local list = contour.levels(z, wanted)
  if not list then fail("contourf: z has no finite number") end
  if type(wanted) == "table" or core.isvector(wanted) then
    if #list < 2 then fail("contourf: levels: expected at least 2, got %d", #list) end
    return list
  end
  local columns = {}
  for i = 1, z:rows() do columns[i] = z:row(i) end
  local lo, hi = data.range(columns)
  local step = #list > 1 and list[2] - list[1] or math.max(hi - lo, math.abs(hi), 1)
  if list[1] > lo or #list == 1 then table.insert(list, 1, list[1] - step) end
  if list[#list] < hi or #list == 2 then list[#list + 1] = list[#list] + step end
  return list
end

local FINE = 100 -- cells along each side of a grid between bounds

-- contourf(x, y, z [, {levels =, cmap =}]): as contour, with the areas between the lines.
function plane:contourf(x, y, z, options)
  options = data.options("contourf", options)
  x, y = column("contourf", "x", x), column("contourf", "y", y)
  if #x < 2 or #y < 2 then fail("contourf: expected a grid of at least 2 x 2, got %d x %d", #x, #y) end
  if type(z) == "function" and #x == 2 and #y == 2 then
    x, y = core.linspace(x[1], x[2], FINE + 1), core.linspace(y[1], y[2], FINE + 1)
  end
  z = data.grid("contourf", "z", z, x, y)
  local levels, map, list = levels_of(z, options.levels), self:colormap("contourf", options.cmap), {}
  local first, last = levels[1], levels[#levels]
  for k = 1, #levels - 1 do -- each covers the ones before it where z is higher, so that no seams are seen
    local middle = (levels[k] + levels[k + 1]) / 2
    list[k] = { style.map_color(map, (middle - first) / (last - first)),
      bands.polygons(x, y, z, levels[k], last) }
  end
  add(self, { kind = "bands", columns = { x, y }, bands = list, map = map, range = { first, last },
    levels = levels })
  self.sticky = true
end

local function finite(who, what, list)
  list = column(who, what, list)
  if not list:isfinite() then fail("%s: %s: expected finite numbers", who, what) end
  return list:totable()
end

-- colorbar([{label =, ticks =}]): a bar at the right with the colours of what was drawn last with a colour map.
function plane:colorbar(options)
  options = data.options("colorbar", options)
  local found
  for _, artist in ipairs(self.artists) do
    if artist.map and artist.range then found = artist end
  end
  if not found then fail("colorbar: these axes hold nothing with a colour map") end
  self.color_bar = { artist = found, label = options.label and text("colorbar", "label", options.label),
    ticks = options.ticks and finite("colorbar", "ticks", options.ticks) }
end

return methods
