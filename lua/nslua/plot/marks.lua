-- nslua.plot.marks: methods of axes for lines between places, areas beside and on each other, pies and tables.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local style = require "nslua.plot.style"

local fail, column, text, number, spread = data.fail, data.column, data.text, data.number, data.spread
local add, in_plane = artists.add, artists.in_plane

local methods = {}
local plane = artists.methods(methods, artists.in_plane)

-- hlines(y, from, to [, options]), vlines(x, from, to [, options]): lines along an axis, from and to numbers or
-- lists.
local function lines(name, upright)
  methods[name] = function(self, at, from, to, options)
    in_plane(self, name)
    options = data.options(name, options)
    at = column(name, upright and "x" or "y", at)
    from, to = spread(name, "from", from, #at), spread(name, "to", to, #at)
    local along, across = {}, {}
    for i = 1, #at do
      local k = 3 * i - 2
      along[k], along[k + 1], along[k + 2] = from[i], to[i], 0 / 0
      across[k], across[k + 1], across[k + 2] = at[i], at[i], 0 / 0
    end
    local artist = artists.line_style(self, name, options)
    along, across = core.vector(along), core.vector(across)
    artist.kind, artist.columns, artist.loose, artist.paths = "line", upright and { across, along } or { along,
      across },
      true, true
    add(self, artist)
    return self
  end
end
lines("hlines", false)
lines("vlines", true)

-- axline({x, y}, {x, y} [, options]) or axline({x, y}, {slope =, ...}): the straight line through two points, or
-- through one with a slope, across the whole panel.
function plane:axline(p, q, options)
  if data.is_options(q) then q, options = nil, q end
  options = data.options("axline", options)
  local x, y = data.point("axline", "xy1", p)
  local slope = options.slope
  if (q == nil) == (slope == nil) then fail("axline: expected a second point or a slope") end
  local dx, dy = 1, slope and number("axline", "slope", slope)
  if q ~= nil then
    local u, v = data.point("axline", "xy2", q)
    dx, dy = u - x, v - y
    if dx == 0 and dy == 0 then fail("axline: expected two different points") end
  end
  local artist = artists.line_style(self, "axline", options)
  artist.kind, artist.direction, artist.ray = "axline", "both", { x, y, dx, dy }
  artist.columns = { core.vector { x }, core.vector { y } }
  add(self, artist)
end

-- stairs(values [, edges] [, {baseline =, fill =, and a line's}]): a value for each interval between edges.
function plane:stairs(values, edges, options)
  if data.is_options(edges) then edges, options = nil, edges end
  options = data.options("stairs", options)
  values = column("stairs", "values", values)
  edges = edges and column("stairs", "edges", edges) or core.linspace(0, #values, #values + 1)
  if #edges ~= #values + 1 then fail("stairs: edges: expected %d numbers, got %d", #values + 1, #edges) end
  local base = number("stairs", "baseline", options.baseline or 0)
  local xs, ys = { edges[1] }, { base }
  for k = 1, #values do
    xs[2 * k], ys[2 * k], xs[2 * k + 1], ys[2 * k + 1] = edges[k], values[k], edges[k + 1], values[k]
  end
  xs[#xs + 1], ys[#ys + 1] = edges[#edges], base
  if options.fill then
    return self:fill(xs, ys, { color = options.color, alpha = options.alpha, label = options.label })
  end
  local artist = artists.line_style(self, "stairs", options)
  artist.kind, artist.columns, artist.bases = "line", { core.vector(xs), core.vector(ys) }, { y = base }
  add(self, artist)
end

-- fill_betweenx(y, x1 [, x2] [, options]): what lies between two curves that are functions of y.
function plane:fill_betweenx(y, x1, x2, options)
  if data.is_options(x2) then x2, options = nil, x2 end
  options = data.options("fill_betweenx", options)
  y = column("fill_betweenx", "y", y)
  x1, x2 = spread("fill_betweenx", "x1", x1, #y), spread("fill_betweenx", "x2", x2 or 0, #y)
  local xs, ys = {}, {}
  for i = 1, #y do
    xs[i], ys[i] = x1[i], y[i]
    xs[2 * #y + 1 - i], ys[2 * #y + 1 - i] = x2[i], y[i]
  end
  return self:fill(xs, ys, options)
end

-- stackplot(x, y1, y2, ... [, {labels =, colors =, alpha =}]): areas on each other.
function plane:stackplot(x, ...)
  local rest = table.pack(...)
  local options = rest.n > 0 and data.is_options(rest[rest.n]) and table.remove(rest, rest.n) or nil
  options = data.options("stackplot", options)
  x = column("stackplot", "x", x)
  local list = rest
  if #rest == 1 and data.is_matrix(rest[1]) then
    list = {}
    local m = data.matrix("stackplot", "y", rest[1])
    for i = 1, m:rows() do list[i] = m:row(i):copy() end
  end
  if #list == 0 then fail "stackplot: expected x and at least one y" end
  for i, y in ipairs(list) do list[i] = spread("stackplot", ("y[%d]"):format(i), y, #x) end
  local low = core.full(#x, 0)
  for i, y in ipairs(list) do
    local high = low + y
    self:fill_between(x, low, high, { alpha = options.alpha or 1, label = options.labels and options.labels[i],
      color = options.colors and options.colors[i] })
    low = high
  end
end

-- pie(x [, {labels =, colors =, explode =, startangle =, radius =, autopct =}]): parts of a whole, from the right
-- against the clock.
function plane:pie(x, options)
  options = data.options("pie", options)
  x = column("pie", "x", x)
  local sum, radius = 0, number("pie", "radius", options.radius or 1, 0)
  for i = 1, #x do sum = sum + number("pie", "x", x[i], 0) end
  if sum == 0 then fail "pie: x: expected a number above 0" end
  local angle = math.rad(number("pie", "startangle", options.startangle or 0))
  for i = 1, #x do
    local part = 2 * math.pi * x[i] / sum
    local c, s = math.cos(angle + part / 2), math.sin(angle + part / 2)
    local out = options.explode and number("pie", "explode", options.explode[i] or 0, 0) * radius or 0
    local xs, ys, n = { out * c }, { out * s }, math.max(2, math.ceil(part / 0.03))
    for k = 0, n do
      local a = angle + part * k / n
      xs[k + 2], ys[k + 2] = out * c + radius * math.cos(a), out * s + radius * math.sin(a)
    end
    self:fill(xs, ys, { color = options.colors and options.colors[i], alpha = 1, edgecolor = "w" })
    if options.labels and options.labels[i] then
      self:text((1.1 * radius + out) * c, (1.1 * radius + out) * s, options.labels[i],
        { align = c >= 0 and "left" or "right", valign = "center" })
    end
    if options.autopct then
      self:text((0.6 * radius + out) * c, (0.6 * radius + out) * s,
        text("pie", "autopct", options.autopct):format(100 * x[i] / sum), { align = "center", valign = "center" })
    end
    angle = angle + part
  end
  self.limits.x, self.limits.y = self.limits.x or { -1.35 * radius, 1.35 * radius },
    self.limits.y or { -1.2 * radius, 1.2 * radius }
  return self:axis "scaled":axis "off"
end

local places = { bottom = true, top = true, center = true }

-- The texts of a list, as texts; nil for nil.
local function texts_of(what, list, n)
  if list == nil then return nil end
  data.expect(list, "table", "table: %s: expected a list", what)
  if n and #list ~= n then fail("table: %s: expected %d texts, got %d", what, n, #list) end
  local result = {}
  for i = 1, #list do result[i] = text("table", what, list[i]) end
  return result
end

-- The colours of the cells; nil for none.
local function colors_of(list, rows, cols)
  if list == nil then return nil end
  local result = {}
  for i = 1, rows do
    result[i] = {}
    for j = 1, cols do
      local c = type(list) == "table" and type(list[i]) == "table" and list[i][j] or nil
      if not c then fail("table: colors: expected %d rows of %d colours", rows, cols) end
      result[i][j] = style.color("table", c)
    end
  end
  return result
end


-- table{ text = rows of texts, col_labels =, row_labels =, loc =, cell_align =, col_widths =, colors =, fontsize = }.
-- loc: "bottom" (below the panel), "top" (above it) or "center" (in it).
function plane:table(options)
  options = data.options("table", options)
  data.reject(type(options.text) ~= "table" or #options.text == 0, options.text,
    "table: text: expected a list of rows")
  local rows, cols = {}, nil
  for i = 1, #options.text do
    rows[i] = texts_of(("text[%d]"):format(i), options.text[i], cols)
    cols = cols or #rows[i]
  end
  local loc, align = options.loc or "bottom", options.cell_align or "right"
  if not places[loc] then fail("table: loc: expected one of bottom, top, center, got %s", data.describe(loc)) end
  data.one_of(align, "left, center, right", "table: cell_align")
  local wide = options.col_widths and column("table", "col_widths", options.col_widths)
  if wide and #wide ~= cols then fail("table: col_widths: expected %d numbers, got %d", cols, #wide) end
  self.cells_table = { rows = rows, cols = cols, loc = loc, align = align, widths = wide,
    heads = texts_of("col_labels", options.col_labels, cols), names = texts_of("row_labels", options.row_labels,
      #rows),
    colors = colors_of(options.colors, #rows, cols),
    size = options.fontsize and artists.fontsize("table", options.fontsize) }
end

return methods
