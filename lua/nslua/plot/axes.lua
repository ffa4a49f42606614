-- nslua.plot.axes: a panel of a figure, and what is drawn in it.
--
-- A method that draws appends an artist, a table with the style and a copy of the data:
--   { kind =, columns = { x, y [, z] }, color =, linewidth =, dash =, marker =, label =, ... }
-- nslua.plot.gnuplot turns artists into commands. Labels, limits and scales are fields of the axes.

local artists = require "nslua.plot.artists"
local cells = require "nslua.plot.cells"
local contour = require "nslua.plot.contour"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local defaults = require "nslua.plot.defaults"
local inset = require "nslua.plot.inset"
local kinds = require "nslua.plot.kinds"
local polar = require "nslua.plot.polar"
local share = require "nslua.plot.share"
local spines = require "nslua.plot.spines"
local stream = require "nslua.plot.stream"
local style = require "nslua.plot.style"
local surface = require "nslua.plot.surface"

local Axes = {}
Axes.__index = Axes
Axes.__name = "axes"

local fail, column, text, number = data.fail, data.column, data.text, data.number

function Axes.new(figure, rows, cols, first, last)
  local axes = setmetatable({
    figure = figure, rows = rows, cols = cols, first = first, last = last, artists = {}, used_colors = 0,
    three_d = false, polar = false, names = {}, limits = {}, logs = {}, symlogs = {}, tick_lists = {}, looks = {},
    tick_looks = {}, shares = {},
      inverted = {},
    show_grid = defaults["axes.grid"],
    frame_sides = { right = defaults["axes.spines.right"], top = defaults["axes.spines.top"] },
    minor = (defaults["xtick.minor.visible"] or defaults["ytick.minor.visible"])
      and { x = defaults["xtick.minor.visible"] or nil, y = defaults["ytick.minor.visible"] or nil } or nil,
  }, Axes)
  axes.spines = spines.object(axes)
  return axes
end

function Axes:__tostring()
  return ("axes %d of %d x %d with %d artists"):format(self.first, self.rows, self.cols, #self.artists)
end

-- twinx(): other axes on the same panel, with the same x and an axis y of their own at the right. twiny(): with the
-- same y and an axis x of their own at the top. `own` is the axis that the twin does not share.
local function twins(name, shared, own)
  Axes[name] = function(self, options)
    data.nothing(name, options)
    artists.in_plane(self, name)
    if self.twin then fail("%s: these axes are twins of others already", name) end
    local twin = Axes.new(self.figure, self.rows, self.cols, self.first, self.last)
    twin.twin, twin.own, twin.show_grid, twin.used_colors = self, own, false, self.used_colors
    table.insert(self.figure.panels, twin)
    share.join(twin, self, shared)
    self.figure.current = twin
    return twin
  end
end
twins("twinx", "x", "y")
twins("twiny", "y", "x")

-- ---- artists ----

local add, next_color, in_plane = artists.add, artists.next_color, artists.in_plane
local line_style, fill_style = artists.line_style, artists.fill_style

local function to_3d(self, who)
  for _, artist in ipairs(self.artists) do
    if not artist.columns[3] and not kinds[artist.kind].words then
      fail("%s: these axes hold curves in the plane already", who)
    end
  end
  self.three_d = true
end

local plane, space = artists.methods(Axes, in_plane), artists.methods(Axes, to_3d)
local set = artists.methods(Axes, nil, true)

-- Makes these axes three-dimensional. Raises when they hold curves in the plane.
function Axes:in_space(who)
  if not self.three_d then to_3d(self, who) end
end

-- The ways to draw a curve, by matplotlib's names: false for straight lines, else where its steps are.
local drawstyles = { default = false, steps = "pre", ["steps-pre"] = "pre", ["steps-mid"] = "mid",
  ["steps-post"] = "post" }

-- Adds one curve, or one for each column of a matrix.
local function add_curves(self, who, x, y, format, options, kind)
  local curves, labels = { y }, { options.label }
  if core.ismatrix(y) then
    for j = 1, y:cols() do curves[j] = y:column(j):copy() end
    if type(options.label) == "table" then labels = options.label end
  end
  x = x or core.linspace(1, #curves[1], #curves[1])
  local made, draw = {}, options.drawstyle and drawstyles[options.drawstyle]
  data.reject(options.drawstyle and draw == nil, options.drawstyle,
    "%s: drawstyle: expected one of default, steps, steps-pre, steps-mid, steps-post", who)
  for j, c in ipairs(curves) do
    data.same_length(who, { "x", "y" }, { x, c })
    local own = setmetatable({ label = labels[j] or false }, { __index = options })
    local artist = line_style(self, who, own, format)
    artist.kind, artist.columns = draw and "step" or kind or "line", { x, c }
    if draw then artist.steps = draw end
    made[j] = add(self, artist)
  end
  return made
end

local function x_or_matrix(who, what, v)
  if data.is_matrix(v) and not (core.ismatrix(v) and (v:rows() == 1 or v:cols() == 1)) then
    return data.matrix(who, what, v)
  end
  return column(who, what, v)
end

-- Reads the arguments ([x,] y [, format]), once or several times, and the options for all curves.
local function curves_of(self, who, arguments, kind)
  local n, options = arguments.n, {}
  if n > 0 and data.is_options(arguments[n]) then options, n = arguments[n], n - 1 end
  options = data.options(who, options)
  if n == 0 then fail("%s: expected x and y", who) end
  local i, made = 1, {}
  while i <= n do
    local first, second, format = arguments[i], nil, nil
    i = i + 1
    if i <= n and type(arguments[i]) ~= "string" then second, i = arguments[i], i + 1 end
    if i <= n and type(arguments[i]) == "string" then format, i = arguments[i], i + 1 end
    local x = second ~= nil and column(who, "x", first) or nil
    local y = x_or_matrix(who, "y", second == nil and first or second)
    for _, artist in ipairs(add_curves(self, who, x, y, format, options, kind)) do made[#made + 1] = artist end
  end
  return made, options
end

-- plot([x,] y [, format] [, x2, y2, format2 ...] [, options]); in space plot(x, y, z [, format] [, options]).
function Axes:plot(...)
  if self.three_d then return self:plot3D(...) end
  curves_of(self, "plot", table.pack(...))
  return self
end


-- step(x, y, ..., {where = "pre"}): pre: y[i] up to x[i]; post: y[i] from x[i] on; mid: around it.
function plane:step(...)
  local made, options = curves_of(self, "step", table.pack(...), "step")
  local where = data.one_of(options.where or "pre", "pre, post, mid", "step: where")
  for _, artist in ipairs(made) do artist.steps = where end
end

local function with_logs(name, x, y)
  Axes[name] = function(self, ...)
    in_plane(self, name)
    curves_of(self, name, table.pack(...))
    if x then share.set_scale(self, "x", true) end
    if y then share.set_scale(self, "y", true) end
    return self
  end
end
with_logs("semilogx", true, false)
with_logs("semilogy", false, true)
with_logs("loglog", true, true)

-- The diameters of points from their areas s, in points squared: one for all or one for each.
local function diameters(s, x)
  if s == nil or type(s) == "number" then return math.sqrt(number("scatter", "s", s or 36, 0)) end
  local sizes = column("scatter", "s", s)
  data.same_length("scatter", { "x", "s" }, { x, sizes })
  return 0, sizes:map(function(area) return math.sqrt(number("scatter", "s", area, 0)) end)
end

-- scatter(x, y [, z] [, {s=, c=, marker=, cmap=, alpha=, label=}]); s: points squared, for all or for each; c: a
-- colour or a number for each point. With z in space.
function Axes:scatter(x, y, z, options)
  if z == nil or type(z) == "table" and z[1] == nil then
    data.nothing("scatter", z ~= nil and options or nil)
    z, options = nil, z or options
    in_plane(self, "scatter")
  else
    to_3d(self, "scatter")
  end
  options = data.options("scatter", options)
  local artist = { kind = "scatter", columns = { column("scatter", "x", x), column("scatter", "y", y),
    z ~= nil and column("scatter", "z", z) or nil } }
  local c = options.c or options.color
  artist.marker = style.marker("scatter", options.marker or "o")
  artist.markersize, artist.sizes = diameters(options.s, artist.columns[1])
  if options.edgecolor and options.edgecolor ~= "none" and options.edgecolor ~= "face" then
    artist.marker_edge = style.color("scatter", options.edgecolor)
  end
  artist.hollow, artist.alpha = options.hollow, options.alpha and number("scatter", "alpha", options.alpha, 0)
  artist.label, artist.zorder = options.label and text("scatter", "label", options.label),
    artists.zorder("scatter", options)
  data.same_length("scatter", { "x", "y", "z" }, artist.columns)
  if c ~= nil and type(c) ~= "string" and (core.isvector(c) or #c ~= 3 or #x == 3) then
    artist.values = column("scatter", "c", c)
    data.same_length("scatter", { "x", "c" }, { artist.columns[1], artist.values })
    artist.map = self:colormap("scatter", options.cmap)
    local lo, hi = data.range { artist.values }
    lo, hi = options.vmin and number("scatter", "vmin", options.vmin) or lo,
      options.vmax and number("scatter", "vmax", options.vmax) or hi
    artist.range = lo and { lo, hi }
  else
    artist.color = c and style.color("scatter", c) or next_color(self)
  end
  add(self, artist)
  return self
end

function Axes.colormap(_, who, name) return style.map(who, name or defaults["image.cmap"]) end

-- fill(x, y [, {color=, alpha=, edgecolor=, linewidth=, label=}]), or fill(polygon of points {x, y}, ...).
function plane:fill(x, y, options)
  if type(x) == "table" and type(x[1]) == "table" then
    local px, py = {}, {}
    for i, point in ipairs(x) do px[i], py[i] = point[1], point[2] end
    x, y, options = px, py, y
  end
  local artist = fill_style(self, "fill", data.options("fill", options))
  artist.kind, artist.columns = "fill", { column("fill", "x", x), column("fill", "y", y) }
  data.same_length("fill", { "x", "y" }, artist.columns)
  for i = 1, 2 do
    if not artist.columns[i]:isfinite() then fail("fill: %s: expected finite numbers", i == 1 and "x" or "y") end
  end
  if #artist.columns[1] < 3 then fail("fill: expected at least 3 points, got %d", #artist.columns[1]) end
  add(self, artist)
end

-- fill_between(x, y1 [, y2] [, options]): y2 a number or a vector, 0 by default.
function plane:fill_between(x, y1, y2, options)
  if data.is_options(y2) then y2, options = nil, y2 end
  options = data.options("fill_between", options)
  local artist = fill_style(self, "fill_between", options)
  x, y1 = column("fill_between", "x", x), type(y1) == "number" and y1 or column("fill_between", "y1", y1)
  if type(y1) == "number" then y1 = core.full(#x, y1) end
  y2 = type(y2) == "number" and core.full(#x, y2) or column("fill_between", "y2", y2 or 0)
  if #y2 == 1 and #x ~= 1 then y2 = core.full(#x, y2[1]) end
  data.same_length("fill_between", { "x", "y1", "y2" }, { x, y1, y2 })
  if options.where ~= nil then
    local list = options.where -- booleans, or numbers of which 0 is false
    data.reject(type(list) ~= "table" and not core.isvector(list) or #list ~= #x, list,
      "fill_between: where: expected a list of %d booleans", #x)
    for i = 1, #x do
      if not list[i] or list[i] == 0 then y1[i] = 0 / 0 end
    end
  end
  artist.kind, artist.columns, artist.other = "between", { x, y1 }, y2
  add(self, artist)
end

local FINE, COARSE = 100, 40 -- cells along each side of a grid between bounds: for contours, for surfaces

-- The grid on which a function is evaluated: evenly spaced when x and y are bounds of two numbers.
local function within(x, y, z, count)
  if type(z) ~= "function" or #x ~= 2 or #y ~= 2 then return x, y end
  return core.linspace(x[1], x[2], count + 1), core.linspace(y[1], y[2], count + 1)
end

-- contour(x, y, z [, {levels=, color=, cmap=, linewidth=, linestyle=, label=}]): z a matrix with a row for each y,
-- or a function of (x, y); for a function x and y may be bounds {x0, x1}, {y0, y1}. levels: a list, or about how
-- many.
function plane:contour(x, y, z, options)
  options = data.options("contour", options)
  x, y = column("contour", "x", x), column("contour", "y", y)
  if #x < 2 or #y < 2 then fail("contour: expected a grid of at least 2 x 2, got %d x %d", #x, #y) end
  x, y = within(x, y, z, FINE)
  z = data.grid("contour", "z", z, x, y)
  local levels = contour.levels(z, options.levels)
  if not levels then fail("contour: z has no finite number") end
  local map = self:colormap("contour", options.cmap)
  self.sticky = true
  for k, level in ipairs(levels) do
    local color = options.color or style.map_color(map, #levels > 1 and (k - 1) / (#levels - 1) or 0.4)
    local dashes = options.color and level < 0 and options.linestyle == nil and "--" or nil -- of one colour
    local own = setmetatable({ color = color, label = k == 1 and options.label or false, linestyle = dashes },
      { __index = options })
    local artist = line_style(self, "contour", own)
    local px, py = contour.lines(x, y, z, level)
    artist.kind, artist.columns, artist.level = "line", { core.vector(px), core.vector(py) }, level
    artist.extent = { x = { x[1], x[#x] }, y = { y[1], y[#y] } }
    add(self, artist)
  end
end

-- heatmap(x, y, z [, {cmap=, limits=}]): see nslua.plot.cells.
function plane:heatmap(x, y, z, options)
  add(self, cells.artist(self, x, y, z, options))
  self.sticky = true
end

-- The points of the grid of a field and its values (u, v), as flat lists. f(x, y) returns u and v.
local function field(who, x, y, u, v)
  x, y = x_or_matrix(who, "x", x), x_or_matrix(who, "y", y)
  local X, Y = x, y
  if core.isvector(x) and core.isvector(y) and (type(u) == "function" or data.is_matrix(u)) then
    X, Y = core.meshgrid(x, y)
  end
  if type(u) == "function" then
    local f = u
    u, v = X:copy(), X:copy()
    for i = 1, X:rows() do
      for j = 1, X:cols() do
        local a, b = data.pair(who, f, X[i][j], Y[i][j])
        u[i][j], v[i][j] = a, b
      end
    end
  end
  local function flat(what, w)
    w = x_or_matrix(who, what, w)
    return core.ismatrix(w) and core.vector(w:reshape(1, -1)) or w
  end
  return flat("x", X), flat("y", Y), flat("u", u), flat("v", v)
end

-- quiver(x, y, u, v [, options]) or quiver(x, y, f [, options]): arrows. The longest one is as long as a cell of the
-- grid is wide, times `scale`.
function plane:quiver(x, y, u, v, options)
  if type(u) == "function" then options, v = v, nil end
  options = data.options("quiver", options)
  local columns = { field("quiver", x, y, u, v) }
  data.same_length("quiver", { "x", "y", "u", "v" }, columns)
  local longest = 0
  for i = 1, #columns[1] do
    local l = columns[3][i] ^ 2 + columns[4][i] ^ 2
    if l > longest then longest = l end
  end
  local x0, x1 = data.range { columns[1] }
  local y0, y1 = data.range { columns[2] }
  local mesh = x0 and math.max(x1 - x0, y1 - y0) / math.max(1, math.sqrt(#columns[1]) - 1) or 1
  local factor = longest > 0 and number("quiver", "scale", options.scale or 0.9, 0) * mesh / math.sqrt(longest) or 0
  add(self, {
    kind = "vectors", columns = { columns[1], columns[2] }, vectors = { columns[3] * factor, columns[4] * factor },
    color = options.color and style.color("quiver", options.color) or next_color(self),
    linewidth = number("quiver", "linewidth", options.linewidth or 1, 0), head = 0.009, unit = factor,
    label = options.label and text("quiver", "label", options.label),
  })
end

-- quiverkey(x, y, u, label [, {labelpos =, color =}]): an arrow of the length that u has in the last quiver, and a
-- text beside it. x and y are parts of the panel, 0 to 1. labelpos: "N", "S", "E" or "W" of the arrow.
-- The axes that quiver gives back may come first, as in matplotlib.
function plane:quiverkey(x, y, u, label, options, more)
  if getmetatable(x) == Axes then return x:quiverkey(y, u, label, options, more) end
  options = data.options("quiverkey", options)
  local found
  for _, artist in ipairs(self.artists) do
    if artist.unit then found = artist end
  end
  if not found then fail("quiverkey: these axes hold no quiver") end
  local side = data.one_of(options.labelpos or "E", "N, S, E, W", "quiverkey: labelpos")
  add(self, {
    kind = "key", columns = { core.vector {}, core.vector {} }, note = true, side = side, head = found.head,
    at = { number("quiverkey", "x", x), number("quiverkey", "y", y) },
    length = number("quiverkey", "u", u, 0) * found.unit, text = text("quiverkey", "label", label),
    color = options.color and style.color("quiverkey", options.color) or found.color, linewidth = found.linewidth,
  })
end

-- streamplot(x, y, f [, options]) or streamplot(x, y, u, v [, options]) with matrices: lines along the field in the
-- rectangle of x and y, evenly spaced.
function plane:streamplot(x, y, u, v, options)
  if type(u) == "function" then options, v = v, nil end
  options = data.options("streamplot", options)
  x, y = column("streamplot", "x", x), column("streamplot", "y", y)
  if #x < 2 or #y < 2 or not data.rises(x) or not data.rises(y) or x[1] == x[#x] or y[1] == y[#y] then
    fail("streamplot: expected x and y that rise, at least 2 each")
  end
  local f = u
  if type(u) ~= "function" then
    u, v = data.matrix("streamplot", "u", u, #y, #x), data.matrix("streamplot", "v", v, #y, #x)
    f = stream.interpolate(x, y, u, v)
  end
  local density = number("streamplot", "density", options.density or 1, 0.1)
  if density > 20 then fail("streamplot: density: expected a number, at most 20, got %s", data.describe(density)) end
  local artist = line_style(self, "streamplot", options)
  local px, py, arrows = stream.lines(f, x[1], x[#x], y[1], y[#y], density)
  artist.kind, artist.columns = "line", { core.vector(px), core.vector(py) }
  artist.linewidth, self.sticky = options.linewidth or 1, true
  artist.extent = { x = { x[1], x[#x] }, y = { y[1], y[#y] } }
  if options.cmap then -- the colour at each point stands for the length of the field there
    local speeds = {}
    for i = 1, #px do
      local a, b = 0, 0
      if px[i] == px[i] then a, b = data.pair("streamplot", f, px[i], py[i]) end
      speeds[i] = px[i] == px[i] and math.sqrt(a * a + b * b) or 0 / 0
    end
    artist.values, artist.map = core.vector(speeds), self:colormap("streamplot", options.cmap)
    local lo, hi = data.range { artist.values }
    artist.range, artist.color = lo and { lo, hi }, style.map_color(artist.map, 0.5)
  end
  add(self, artist)
  add(self, { kind = "vectors", columns = { core.vector(arrows[1]), core.vector(arrows[2]) }, color = artist.color,
    vectors = { core.vector(arrows[3]), core.vector(arrows[4]) }, linewidth = artist.linewidth, head = 0.011,
      fixed = true })
end

-- ---- in space ----

-- plot3D(x, y, z [, format] [, options])
function space:plot3D(x, y, z, format, options)
  if type(format) == "table" then format, options = nil, format end
  options = data.options("plot3D", options)
  local artist = line_style(self, "plot3D", options, format)
  artist.kind, artist.columns = "line", { column("plot3D", "x", x), column("plot3D", "y", y), column("plot3D", "z",
    z) }
  data.same_length("plot3D", { "x", "y", "z" }, artist.columns)
  add(self, artist)
end

local function face_style(self, who, options)
  local map = not options.color and self:colormap(who, options.cmap) or nil
  return {
    map = map, color = options.color and style.color(who, options.color) or nil,
    alpha = number(who, "alpha", options.alpha or 1, 0), shade = options.shade ~= false,
    edge = options.edgecolor ~= "none" and style.color(who, options.edgecolor or "#FFFFFF") or nil,
    linewidth = number(who, "linewidth", options.linewidth or 0.35, 0),
    label = options.label and text(who, "label", options.label),
  }
end

-- surface(x, y, z [, {color=, cmap=, alpha=, edgecolor=, linewidth=}]): z is a matrix with a row for each y, or a
-- function of (x, y). x and y are vectors, matrices as large as z or, for a function, bounds.
function space:surface(x, y, z, options)
  options = data.options("surface", options)
  local X, Y = x_or_matrix("surface", "x", x), x_or_matrix("surface", "y", y)
  local Z
  if core.isvector(X) then
    if not core.isvector(Y) then fail("surface: y: expected a vector as x is, got %s", data.describe(y)) end
    X, Y = within(X, Y, z, COARSE)
    Z = data.grid("surface", "z", z, X, Y)
    X, Y = core.meshgrid(X, Y)
  else
    Y = data.matrix("surface", "y", y, X:rows(), X:cols())
    Z = data.matrix("surface", "z", z, X:rows(), X:cols())
  end
  if Z:rows() < 2 or Z:cols() < 2 then fail("surface: expected a grid of at least 2 x 2, got %d x %d", Z:cols(),
    Z:rows()) end
  local artist = face_style(self, "surface", options)
  artist.kind, artist.faces = "faces", surface.quads(X, Y, Z)
  artist.columns = surface.columns(artist.faces)
  add(self, artist)
end

-- implicit(f, {bounds = {x0, x1, y0, y1, z0, z1}, n = 24, ...}): the surface f(x, y, z) = 0 in the box.
function space:implicit(f, options)
  data.expect(f, "function", "implicit: f: expected a function")
  options = data.options("implicit", options)
  local b, n = options.bounds or { -1, 1, -1, 1, -1, 1 }, options.n or 24
  if type(b) ~= "table" or #b ~= 6 then fail("implicit: bounds: expected {x0, x1, y0, y1, z0, z1}, got %s",
    data.describe(b)) end
  for k = 1, 5, 2 do data.interval("implicit", ("bounds[%d], bounds[%d]"):format(k, k + 1), { b[k], b[k + 1] }) end
  data.reject(math.type(n) ~= "integer" or n < 2 or n > 200, n, "implicit: n: expected a whole number from 2 to 200")
  local artist = face_style(self, "implicit", options)
  if not options.edgecolor then artist.edge = nil end
  artist.kind, artist.faces = "faces", surface.implicit(f, b, n)
  artist.columns = surface.columns(artist.faces)
  artist.extent = { x = { b[1], b[2] }, y = { b[3], b[4] }, z = { b[5], b[6] } }
  add(self, artist)
end

-- view(elevation, azimuth): in degrees, as matplotlib's view_init.
function set:view(elevation, azimuth)
  self.elevation = number("view", "elevation", elevation)
  if math.abs(elevation) > 90 then fail("view: elevation: expected a number from -90 to 90, got %g", elevation) end
  self.azimuth = number("view", "azimuth", azimuth)
end

-- ---- words and lines in a picture ----

local shapes = { square = false, round = true }

-- The shape and the pad of matplotlib's boxstyle, "round,pad=0.3" (in sizes of the font), for a text of that size.
local function shape_of(who, style_text, size)
  local name, pad = "square", nil
  if type(style_text) == "string" then
    name = style_text:match "^%s*(%a+)"
    pad = tonumber(style_text:match "pad%s*=%s*([%d.]+)")
  end
  data.reject(shapes[name] == nil, style_text,
    '%s: bbox: boxstyle: expected "square" or "round", also "round,pad=0.3"', who)
  return shapes[name], (pad or 0.3) * size
end

-- The box around a text, { boxstyle =, facecolor =, edgecolor =, alpha =, pad =, linewidth = }; nil for none.
local function box_of(who, box, size)
  if box == nil then return nil end
  box = data.options(who .. ": bbox", box, "boxstyle facecolor edgecolor alpha pad linewidth")
  local face, edge = box.facecolor or "w", box.edgecolor or "k"
  local round, pad = false, 2
  if box.boxstyle ~= nil then round, pad = shape_of(who, box.boxstyle, size) end
  return {
    face = face ~= "none" and style.color(who, face) or nil, edge = edge ~= "none" and style.color(who, edge) or nil,
    alpha = number(who, "alpha", box.alpha or 1, 0), pad = number(who, "pad", box.pad or pad, 0), round = round,
    linewidth = number(who, "linewidth", box.linewidth or 0.8, 0),
  }
end

-- The artist of a text. Its place is { x, y } in the data, or in parts of the panel with `inside`.
local function text_artist(self, who, s, columns, options)
  local align = data.one_of(options.align or "left", "left, center, right", "%s: align", who)
  local valign = data.one_of(options.valign or "baseline", "top, center, bottom, baseline", "%s: valign", who)
  local inside = options.transform
  data.reject(inside ~= nil and inside ~= "axes" and inside ~= "data", inside,
    '%s: transform: expected "data" or "axes"', who)
  local size = options.fontsize and artists.fontsize(who, options.fontsize)
  local at = inside == "axes" and { columns[1][1], columns[2][1] } or nil
  if at then columns = { core.vector {}, core.vector {} } end
  return add(self, { kind = "text", columns = columns, at = at, text = text(who, "s", s),
    box = box_of(who, options.bbox, size or 10), align = align, valign = valign, size = size,
    rotation = options.rotation and number(who, "rotation", options.rotation),
    color = options.color and style.color(who, options.color) })
end

-- text(x, y, s [, {color=, align=, valign=, fontsize=, rotation=, bbox=, transform=}]); in space
-- text(x, y, z, s [, options]).
function Axes:text(x, y, ...)
  local z, s, options
  if self.three_d then z, s, options = ... else s, options = ... end
  options = data.options("text", options)
  text_artist(self, "text", s, { column("text", "x", number("text", "x", x)),
    column("text", "y", number("text", "y", y)), z and column("text", "z", number("text", "z", z)) }, options)
  return self
end

-- The heads of an arrow from the text to the point, by matplotlib's name of its style.
local heads = { ["->"] = "head", ["-|>"] = "head", ["<-"] = "backhead", ["<|-"] = "backhead", ["<->"] = "heads",
  ["<|-|>"] = "heads", ["-"] = "nohead" }

-- annotate(s, {xy = {x, y}, xytext = {x, y}, arrowprops =, bbox =}): a text with an arrow from it to xy. arrowprops:
-- { arrowstyle =, color =, linewidth = }.
function plane:annotate(s, options)
  options = data.options("annotate", options)
  local x, y = data.point("annotate", "xy", options.xy)
  local tx, ty = x, y
  local color = options.color or "#404040"
  local arrow = data.options("annotate: arrowprops", options.arrowprops, "arrowstyle color linewidth")
  local head = heads[arrow.arrowstyle or "->"]
  data.reject(not head, arrow.arrowstyle, "annotate: arrowstyle: expected one of -> -|> <- <|- <-> <|-|> -")
  if options.xytext then
    tx, ty = data.point("annotate", "xytext", options.xytext)
    add(self, { kind = "vectors", columns = { core.vector { tx }, core.vector { ty } }, head = 0.010,
      vectors = { core.vector { x - tx }, core.vector { y - ty } }, heads = head,
      color = style.color("annotate", arrow.color or color),
      linewidth = number("annotate", "linewidth", arrow.linewidth or 1, 0), fixed = true, note = true })
  end
  local own = setmetatable({ color = color, align = options.align or (tx > x and "left" or tx < x and "right"
    or "center"),
    valign = options.valign or (ty > y and "bottom" or ty < y and "top" or "center") }, { __index = options })
  text_artist(self, "annotate", s, { core.vector { tx }, core.vector { ty } }, own)
end

local function across(name, direction)
  -- axhline(y [, options]), axvline(x [, options]): through the whole panel, or from xmin to xmax (ymin to ymax) in
  -- parts of it.
  local from, to = direction .. "min", direction .. "max"
  Axes[name] = function(self, at, options)
    in_plane(self, name)
    options = data.options(name, options)
    local own = setmetatable({ color = options.color or "#808080", linewidth = options.linewidth or 1 },
      { __index = options })
    local artist = line_style(self, name, own)
    artist.part = { number(name, from, options[from] or 0), number(name, to, options[to] or 1) }
    artist.kind, artist.direction, artist.at = "across", direction, number(name, "place", at)
    artist.columns = { core.vector(direction == "x" and {} or { at }), core.vector(direction == "x" and { at } or
      {}) }
    add(self, artist)
    return self
  end
end

-- axhspan(y0, y1 [, {color=, alpha=, label=}]), axvspan(x0, x1 [, options]): what lies between, through the panel.
local function span(name, axis)
  Axes[name] = function(self, from, to, options)
    in_plane(self, name)
    from, to = number(name, "from", from), number(name, "to", to)
    local artist = fill_style(self, name, data.options(name, options))
    artist.kind, artist.direction, artist.ends = "span", axis, { from, to }
    artist.columns = { core.vector(axis == "x" and { from, to } or {}), core.vector(axis == "y" and { from, to } or
      {}) }
    add(self, artist)
    return self
  end
end
span("axvspan", "x")
span("axhspan", "y")

across("axhline", "x")
across("axvline", "y")

-- The files with more methods.
local more = { "frame", "bars", "fields", "marks", "violin" }
local all = { spines.methods, polar.methods, inset.methods }
for _, name in ipairs(more) do all[#all + 1] = require("nslua.plot." .. name) end
for _, methods in ipairs(all) do
  for name, method in pairs(methods) do Axes[name] = method end
end

-- cla(): empties the axes and forgets all that has been set.
function set:cla()
  local fresh = Axes.new(self.figure, self.rows, self.cols, self.first, self.last)
  for _, name in ipairs { "rect", "parent", "framed", "three_d", "polar", "twin", "own", "shares" } do
    fresh[name] = self[name]
  end
  for key in pairs(self) do self[key] = nil end
  for key, value in pairs(fresh) do self[key] = value end
  self.spines = spines.object(self)
end

-- matplotlib's names for methods of axes: set_xlabel is xlabel, set_aspect is axis.
Axes.set_aspect = Axes.axis
for _, name in ipairs { "title", "xlabel", "ylabel", "zlabel", "xlim", "ylim", "zlim", "xscale", "yscale", "zscale",
  "xticks", "yticks", "zticks", "theta_zero_location", "theta_direction", "rlabel_position", "rmax", "thetagrids",
  "rgrids", "rticks", "rlim", "facecolor" } do
  Axes["set_" .. name] = Axes[name]
end
for _, axis in ipairs { "x", "y", "z" } do Axes["set_" .. axis .. "lim3d"] = Axes[axis .. "lim"] end

require "nslua.base.where".methods(Axes, "axes", "ax")

return Axes
