-- nslua.plot: pictures in matplotlib's manner, drawn by gnuplot.
--
--   local plot = ns.plot
--   plot.plot(sol.t, sol.x1, "r--o", { label = "$x_1$" })      -- in the current axes
--   plot.xlabel "t"  plot.legend()  plot.savefig "run.png"
--
--   local fig = plot.figure { figsize = { 8, 5 } }             -- or with objects
--   local ax = fig:subplot(2, 1, 1)
--   ax:plot(x, y):xlabel "x":grid(true)
--   fig:savefig "picture.pdf"   fig:show()
--
-- Data are copied when they are drawn; NaN is a gap. Every method of axes is also a function of ns.plot, which acts
-- on the current axes. The folder nslua/plot has the parts: axes (what is drawn), layout (where), gnuplot (the
-- commands that draw it), polar, inset, spines, and text, style, ticks, data, contour, share, stream, surface.

local artists = require "nslua.plot.artists"
local Axes = require "nslua.plot.axes"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local gnuplot = require "nslua.plot.gnuplot"
local inset = require "nslua.plot.inset"
local layout = require "nslua.plot.layout"
local option_names = require "nslua.base.option_names"
local screen = require "nslua.notebook.screen"
local series = require "nslua.base.series"
local share = require "nslua.plot.share"
local style = require "nslua.plot.style"
local where = require "nslua.base.where"

local fail = data.fail

local plot = { rcParams = require "nslua.plot.defaults" }

-- ---- figures ----

local Figure = {}
Figure.__index = Figure
Figure.__name = "figure"

local current -- the current figure

function Figure:__tostring()
  return ("figure with %d panel%s"):format(#self.panels, #self.panels == 1 and "" or "s")
end

local function check_size(who, what, size)
  local good = type(size) == "table" and #size == 2 and type(size[1]) == "number" and type(size[2]) == "number"
  data.reject(not good or not (size[1] >= 1 and size[1] <= 100 and size[2] >= 1 and size[2] <= 100), size,
    "%s: %s: expected {width, height} in inches, 1 to 100", who, what)
  return { size[1], size[2] }
end

-- figure([{figsize = {width, height} in inches, dpi =, title =}]): makes a figure, which becomes the current one.
function plot.figure(options)
  options = data.options("figure", options)
  local fig = setmetatable({ panels = {}, letter_scale = plot.rcParams["font.size"] / 10 }, Figure)
  if plot.rcParams["figure.figsize"] then fig.size = plot.rcParams["figure.figsize"] end
  if options.figsize then fig.size = check_size("figure", "figsize", options.figsize) end
  fig.face = options.facecolor and style.color("figure", options.facecolor)
  fig.dpi = options.dpi and data.number("figure", "dpi", options.dpi, 20)
  if options.title then fig:suptitle(options.title) end
  current = fig
  if screen.figures then table.insert(screen.figures, fig) end
  return fig
end

-- After it the next command of ns.plot makes a new figure.
screen.forget = function() current = nil end

function plot.gcf() return current or plot.figure() end

local function whole(who, what, x, least, most)
  local k = math.tointeger(x)
  data.reject(not k or k < least or k > most, x,
    "%s: %s: expected a whole number from %d to %d", who, what, least, most)
  return k
end

local function check_subplot(options)
  options = data.options("subplot", options)
  if options.projection ~= nil and options.projection ~= "3d" and options.projection ~= "polar" then
    fail('subplot: projection: expected "3d" or "polar", got %s', data.describe(options.projection))
  end
  data.optional(options.polar, "boolean", "subplot: polar: expected a boolean")
  for _, name in ipairs { "sharex", "sharey" } do
    data.reject(options[name] and getmetatable(options[name]) ~= Axes, options[name],
      "subplot: %s: expected axes", name)
  end
  return options
end

local function three_digits(number)
  local digits = math.tointeger(number)
  local rows, cols, i = tostring(digits):match "^([1-9])([1-9])([1-9])$"
  data.reject(not rows, number,
    "subplot: expected rows, columns and a panel's number, or these as three digits, as in 211")
  return math.tointeger(rows), math.tointeger(cols), math.tointeger(i)
end

-- Makes axes three-dimensional or polar, where the options of subplot say so.
local function shape(axes, options)
  if options.projection == "3d" then axes:in_space "subplot" end
  if options.polar or options.projection == "polar" then axes:make_polar "subplot" end
end

-- Lets axes share what the options of subplot say.
local function join(axes, options)
  if options.sharex then share.join(axes, options.sharex, "x") end
  if options.sharey then share.join(axes, options.sharey, "y") end
end

-- subplot(rows, cols, i [, {projection = "3d", sharex = axes, sharey = axes}]): panel number i, counted along
-- rows. With i = {i, j} one panel covers the panels from i to j. subplot(211) is subplot(2, 1, 1). A panel that
-- exists is returned again.
function Figure:subplot(rows, cols, i, options)
  if type(rows) == "number" and rows > 99 and (cols == nil or type(cols) == "table") then
    options = cols
    rows, cols, i = three_digits(rows)
  end
  options = check_subplot(options)
  rows, cols, i = rows or 1, cols or 1, i or 1
  rows, cols = whole("subplot", "rows", rows, 1, 50), whole("subplot", "cols", cols, 1, 50)
  local first = whole("subplot", "i", type(i) == "table" and i[1] or i, 1, rows * cols)
  local last = whole("subplot", "i", type(i) == "table" and i[2] or i, first, rows * cols)
  local axes, at = nil, #self.panels + 1
  for k, one in ipairs(self.panels) do
    local here = one.rows == rows and one.cols == cols and one.first == first and one.last == last
    if here and not one.rect and not axes then axes, at = one, k end
  end
  axes = axes or Axes.new(self, rows, cols, first, last)
  shape(axes, options)
  self.panels[at] = axes
  join(axes, options)
  self.current = axes
  return axes
end

-- Which panels share an axis, from an option of subplots: "all", "row", "col"; nil for none.
local function shared_by(name, value)
  if value == nil or value == false or value == "none" then return nil end
  if value == true then return "all" end
  data.reject(value ~= "all" and value ~= "row" and value ~= "col", value,
    "subplots: %s: expected a boolean or one of all, row, col, none", name)
  return value
end

-- The panel, of those made so far, with which panel (i, j) shares an axis; nil for none.
local function partner(all, i, j, by)
  local r, c = by ~= "row" and 1 or i, by ~= "col" and 1 or j
  if by and (r ~= i or c ~= j) then return all[r][c] end
end

-- subplots(rows, cols [, {sharex = true, sharey = "row", figsize =, dpi =, title =}]): returns a new figure and its
-- panels: one panel, a list when there is one row or column, else a list of rows.
function plot.subplots(rows, cols, options)
  if type(rows) == "table" then rows, options = nil, rows end
  options = data.options("subplots", options)
  local x, y = shared_by("sharex", options.sharex), shared_by("sharey", options.sharey)
  rows, cols = whole("subplots", "rows", rows or 1, 1, 50), whole("subplots", "cols", cols or 1, 1, 50)
  local fig = plot.figure { figsize = options.figsize, dpi = options.dpi, title = options.title }
  local all, flat, kind = {}, {}, data.options("subplots: subplot_kw", options.subplot_kw, "projection polar")
  for k = 1, rows * cols do
    local i, j = (k - 1) // cols + 1, (k - 1) % cols + 1
    all[i] = all[i] or {}
    flat[k] = fig:subplot(rows, cols, k, { projection = kind.projection, polar = kind.polar,
      sharex = partner(all, i, j, x), sharey = partner(all, i, j, y),
    })
    all[i][j] = flat[k]
  end
  if rows > 1 and cols > 1 then return fig, all end
  return fig, #flat > 1 and flat or flat[1]
end

-- The current axes. Without any, makes one panel on the whole figure.
function Figure:gca() return self.current or self:subplot(1, 1, 1) end

-- suptitle(s [, {fontsize =, color =}])
function Figure:suptitle(s, options)
  options = data.options("suptitle", options)
  self.heading = data.text("suptitle", "text", s)
  self.heading_look = {
    fontsize = options.fontsize and artists.fontsize("suptitle", options.fontsize),
    color = options.color and style.color("suptitle", options.color),
  }
  return self
end

-- add_axes{left, bottom, width, height}: axes at a free place; the rectangle is in parts of the figure.
function Figure:add_axes(rect, options)
  options = check_subplot(options)
  local axes = Axes.new(self, 1, 1, 1, 1)
  axes.rect = inset.rectangle("add_axes", rect)
  shape(axes, options)
  join(axes, options)
  self.panels[#self.panels + 1] = axes
  self.current = axes
  return axes
end

-- Names of matplotlib. tight_layout() does nothing: every figure has a tight layout.
Figure.add_subplot = Figure.subplot

function Figure:set_size_inches(width, height)
  self.size = check_size("set_size_inches", "size", height ~= nil and { width, height } or width)
  return self
end

function Figure:tight_layout(options)
  data.nothing("tight_layout", options)
  return self
end

-- The size in inches: as given, or by the number of panels.
local function size_of(fig)
  if fig.size then return fig.size[1], fig.size[2] end
  local rows, cols, space = 1, 1, false
  for _, axes in ipairs(fig.panels) do
    rows, cols, space = math.max(rows, axes.rows), math.max(cols, axes.cols), space or axes.three_d
  end
  local w = cols == 1 and 6.4 or math.min(5 * cols, 16)
  local h = rows == 1 and (cols == 1 and 4.4 or 4.2) or math.min(2.2 * rows + 0.6, 20)
  if space then h = math.max(h, math.min(4.6 * rows, 20)) end
  h = h + (fig.heading and 0.35 or 0)
  if rows * cols == 1 then return w, h end
  return layout.roomy(fig, w, h)
end

local function commands(fig, terminal, dpi)
  if #fig.panels == 0 then fig:subplot(1, 1, 1) end
  local w, h = size_of(fig)
  return gnuplot.commands(fig, terminal, w, h, dpi)
end

local function dpi_of(fig, who, options)
  return options.dpi and data.number(who, "dpi", options.dpi, 20) or fig.dpi or plot.rcParams["savefig.dpi"]
end

-- The commands of a picture with the options transparent and facecolor.
local function saved_commands(fig, who, kind, dpi, options)
  data.optional(options.transparent, "boolean", "%s: transparent: expected a boolean", who)
  local face = options.facecolor and style.color(who, options.facecolor) or fig.face
  local old = fig.face
  fig.transparent, fig.face = options.transparent, face
  local good, result = pcall(commands, fig, kind, dpi)
  fig.transparent, fig.face = nil, old
  if not good then error(result, 0) end
  return result
end

local kinds = { png = true, svg = true, pdf = true }

-- picture([kind [, {dpi =}]]): the bytes of a picture, "png", "svg" or "pdf"; its width and height in inches.
function Figure:picture(kind, options)
  options = data.options("picture", options)
  kind = kind or "png"
  if not kinds[kind] then fail("picture: kind: expected one of png, svg, pdf, got %s", data.describe(kind)) end
  local dpi = dpi_of(self, "picture", options)
  local picture = gnuplot.run("picture", saved_commands(self, "picture", kind, dpi, options))
  if picture == "" then fail("picture: gnuplot wrote no picture") end
  return picture, size_of(self)
end

-- savefig(file [, {dpi =}]): writes a .png, .svg or .pdf file, completely or not at all.
function Figure:savefig(file, options)
  data.expect(file, "string", "savefig: file: expected a string")
  options = data.options("savefig", options)
  local kind = (file:match "%.(%a+)$" or ""):lower()
  if not kinds[kind] then fail("savefig: '%s': expected a name that ends in .png, .svg or .pdf", file) end
  local dpi = dpi_of(self, "savefig", options)
  data.reject(options.bbox_inches ~= nil and options.bbox_inches ~= "tight", options.bbox_inches,
    'savefig: bbox_inches: expected "tight", as it always is')
  local picture = gnuplot.run("savefig", saved_commands(self, "savefig", kind, dpi, options))
  if picture == "" then fail("savefig: gnuplot wrote no picture") end
  local good, message = pcall(core.process_support.save, file, picture)
  if not good then fail("savefig: %s", message) end
  return self
end

-- The commands for gnuplot as text, to look at, or to change and run by hand.
function Figure:commands(kind) return commands(self, kind or "png", self.dpi or plot.rcParams["savefig.dpi"]) end

local function terminal_of(wanted)
  if wanted == nil and os.getenv "NSLUA_PLOT" then wanted = os.getenv "NSLUA_PLOT" end
  data.reject(wanted ~= nil and wanted ~= "window" and wanted ~= "sixel" and wanted ~= "text", wanted,
    "show: terminal: expected one of window, sixel, text")
  if wanted == "sixel" then return "sixel", true end
  if wanted == "text" then return "dumb", true end
  local display = os.getenv "DISPLAY" or os.getenv "WAYLAND_DISPLAY"
  local found = (wanted == "window" or (display and display ~= "")) and gnuplot.window() or nil
  if wanted == "window" and not found then
    fail "show: this gnuplot opens no windows: apt install gnuplot-qt, or show{terminal = \"text\"}"
  end
  return found or "dumb", wanted ~= nil
end

-- show([{terminal = "window" | "sixel" | "text", width =, height =}]): shows the figure in a window when there is a
-- display and gnuplot can open windows, else as text in the terminal. The environment variable NSLUA_PLOT is the
-- default of `terminal`.
function Figure:show(options)
  options = data.options("show", options)
  if screen.show and not options.terminal then
    require "nslua.notebook.cell".show_figure(self)
    return self
  end
  local terminal, asked = terminal_of(options.terminal)
  local rows = 1
  for _, axes in ipairs(self.panels) do rows = math.max(rows, axes.rows) end
  self.columns = options.width and whole("show", "width", options.width, 20, 1000) or
    math.min(math.tointeger(tonumber(os.getenv "COLUMNS")) or 79, 120)
  self.lines = options.height and whole("show", "height", options.height, 5, 1000) or math.min(24 * rows,
    24 + 10 * rows)
  local good, out = not asked and terminal ~= "dumb", nil
  if good then good, out = pcall(gnuplot.run, "show", commands(self, terminal, 100)) end
  if not good then -- a terminal was asked for, or the window could not be opened
    out = gnuplot.run("show", commands(self, asked and terminal or "dumb", 100))
  end
  out = out:gsub("^\f", "")
  if out ~= "" then io.stdout:write(out, out:sub(-1) == "\n" and "" or "\n") end
  io.stdout:flush()
  return self
end

-- clf(): empties the figure, which stays the current one.
function Figure:clf(more)
  data.nothing("clf", more)
  self.panels, self.current = {}, nil
  return self
end

-- subplots_adjust{...} does nothing, as tight_layout().
function Figure:subplots_adjust(options)
  data.options("subplots_adjust", options)
  return self
end

-- Empties the figure. If it was the current one, the next command makes a new figure.
function Figure:close()
  self.panels, self.current, self.shown = {}, nil, true
  if current == self then current = nil end
end

where.methods(Figure, "a figure", "fig")

-- ---- the current figure and axes ----

function plot.gca() return plot.gcf():gca() end

-- axes([{projection =, xlim =, ...}]): one panel on the whole figure; it takes the options of set{} too.
-- axes{left, bottom, width, height}: as add_axes.
function plot.axes(options)
  if type(options) == "table" and options[1] ~= nil then return plot.gcf():add_axes(options) end
  local rest, own = {}, {}
  for key, value in pairs(options == nil and {} or data.options("axes", options)) do
    ((key == "projection" or key == "polar") and own or rest)[key] = value
  end
  return plot.gcf():subplot(1, 1, 1, own):set(rest)
end

for _, name in ipairs { "subplot", "suptitle", "savefig", "picture", "show", "tight_layout", "clf",
  "subplots_adjust" } do
  plot[name] = function(...) return Figure[name](plot.gcf(), ...) end
end

-- close([figure]): closes the figure, by default the current one.
function plot.close(fig)
  fig = fig or current
  if fig ~= nil and getmetatable(fig) ~= Figure then fail("close: expected a figure, got %s", data.describe(fig)) end
  if fig then fig:close() end
end

-- polar(theta, r [, format] [, options]): plot() in polar axes; the current axes become polar when they are empty.
function plot.polar(...)
  local axes = plot.gca()
  axes:make_polar "polar"
  return axes:plot(...)
end

local private = { new = true, colormap = true, in_space = true, make_polar = true }

for name, method in pairs(Axes) do
  if type(method) == "function" and not name:find "^_" and not name:find "^set_" and not plot[name] and
    not private[name] then
    plot[name] = function(...) return method(plot.gca(), ...) end
  end
end

-- ---- solutions ----

-- The label of a column: "$x_{1}$" for x1; other names are not changed.
local function pretty(name)
  local stem, number = name:match "^(%a+)(%d+)$"
  if series.is_multiplier(name) and not stem then return (name:gsub("%.lambda(.-)$", ".λ%1")) end
  if stem == "lambda" then return ("$\\lambda_{%s}$"):format(number) end
  if stem == "x" or stem == "y" or stem == "q" or stem == "v" then return ("$%s_{%s}$"):format(stem, number) end
  return name
end

local function span_of(column)
  local lo, hi = data.range { column }
  return lo and math.max(hi - lo, 1e-12 * math.max(math.abs(lo), math.abs(hi))) or 0
end

-- Divides the names of a family into panels: columns with spans of similar size share a panel.
local function grouped(names, columns)
  if #names > 12 then return { names } end
  local groups = {}
  for _, name in ipairs(names) do
    local span, found = span_of(columns[name]), nil
    for _, group in ipairs(groups) do
      if #group < 6 and span <= 8 * group.least and span >= group.largest / 8 then found = found or group end
    end
    if found then
      found[#found + 1] = name
      found.least, found.largest = math.min(found.least, span), math.max(found.largest, span)
    else
      groups[#groups + 1] = { name, least = span, largest = span }
    end
  end
  return groups
end

-- The panels when no columns are given: coordinates, velocities, other states, multipliers. With `all` (the result
-- of an ODE, or a solution that has none of these) every column has a place.
local function default_panels(names, columns, all)
  local families = { q = {}, v = {}, x = {}, lambda = {} }
  for _, name in ipairs(names) do
    local stem = series.is_multiplier(name) and "lambda" or name:match "^(%a+)%d+$"
    if all or (not series.is_output(name, columns) and name ~= "newton_iterations") then
      table.insert(not all and families[stem] or families.x, name)
    end
  end
  local panels = {}
  for _, family in ipairs { "q", "v", "x", "lambda" } do
    for _, group in ipairs(#families[family] > 0 and grouped(families[family], columns) or {}) do
      group.steps = family == "lambda"
      if #panels < 8 then panels[#panels + 1] = group end
    end
  end
  return #panels == 0 and #names > 0 and not all and default_panels(names, columns, true) or panels
end

-- Separates columns and options: options may stand in the table of the names, or in a table of their own.
local function split_arguments(asked, options)
  data.reject(asked ~= nil and type(asked) ~= "string" and (type(asked) ~= "table" or next(asked) == nil), asked,
    "plot: columns: expected a list of names")
  local names, own = asked, {}
  if type(asked) == "table" then
    names = {}
    for key, value in pairs(asked) do
      if math.type(key) == "integer" then names[key] = value else own[key] = value end
    end
  end
  if next(own) ~= nil and options ~= nil then
    fail "plot: options: expected in one table, got some with the columns and some after them"
  end
  if type(names) == "table" and next(names) == nil then names = nil end
  return names, data.options("plot", options or own, option_names["plot.solution"])
end

-- The panels that are asked for; raises for a column that does not exist.
local function asked_panels(asked, columns, names)
  if type(asked) == "string" then asked = { asked } end
  local panels = type(asked[1]) == "table" and asked or { asked }
  local known = "t, " .. table.concat(names, ", ", 1, math.min(#names, 24))
  for i, panel in ipairs(panels) do
    data.reject(type(panel) ~= "table" or #panel == 0, panel, "plot: columns[%d]: expected a list of names", i)
    for key, name in pairs(panel) do
      if math.type(key) ~= "integer" then
        fail("plot: columns[%d]: %s: expected names alone; options stand beside the panels", i, tostring(key))
      end
      if not columns[name] then fail("plot: there is no column '%s' (known: %s)", tostring(name), known) end
    end
  end
  return panels
end

-- solution(sol [, columns] [, {title =, figsize =, dpi =}]), also sol:plot(...): draws columns over time in a new
-- figure and returns it. columns is a list of names, {"x1", "x2"}, for one panel, or a list of such lists, for a
-- panel each. The default is all states and multipliers, where columns of similar size share a panel. Options may
-- stand in the table of columns too.
function plot.solution(sol, asked, options)
  asked, options = split_arguments(asked, options)
  local names, columns, all = series.over_time(sol)
  if not names then fail("solution: expected a solution with t and y, got %s", data.describe(sol)) end
  local panels = asked and asked_panels(asked, columns, names) or default_panels(names, columns, all)
  local fig, first, holds = plot.figure(options), nil, series.holds(sol)
  for i, panel in ipairs(panels) do
    local axes = fig:subplot(#panels, 1, i, { sharex = first })
    first = first or axes
    for _, name in ipairs(panel) do
      local steps = holds and (panel.steps or (panel.steps == nil and not all and series.is_multiplier(name)))
      axes[steps and "step" or "plot"](axes, columns.t, steps and series.held(columns[name]) or columns[name],
        { label = #panel <= 12 and pretty(name) or nil, linewidth = #panel <= 12 and 1.6 or 0.7 })
    end
    if #panel == 1 then axes:ylabel(pretty(panel[1])) elseif #panel <= 12 then axes:legend() end
    axes.bare_x = i < #panels
    if i == #panels then axes:xlabel "$t$" end
  end
  return fig
end

return plot
