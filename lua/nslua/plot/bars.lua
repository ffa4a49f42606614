-- nslua.plot.bars: methods of axes for statistics: bar, barh, hist, errorbar, boxplot, stem.
--
-- An artist of the kind "boxes" has the edges of rectangles: box = { left, right, low, high }, four vectors. One of
-- the kind "errors" has bars from low to high along an axis through each point.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local histogram = require "nslua.analysis.histogram"
local of_sorted = require("nslua.analysis.statistics").of_sorted
local style = require "nslua.plot.style"
local text_size = require "nslua.plot.text"

local fail, column, text, number, spread = data.fail, data.column, data.text, data.number, data.spread
local add, line_style, in_plane = artists.add, artists.line_style, artists.in_plane

local methods = {}
local plane = artists.methods(methods, artists.in_plane)

-- The least and the largest number of columns, as an extent; nil when there is none.
local function extent_of(...)
  local lo, hi = data.range { ... }
  return lo and { lo, hi } or nil
end

-- The corners of rectangles in turn: what a legend should not hide.
local function outline_of(box)
  local xs, ys = {}, {}
  for i = 1, #box[1] do
    for k, corner in ipairs { { 1, 3 }, { 1, 4 }, { 2, 4 }, { 2, 3 } } do
      xs[4 * i - 4 + k], ys[4 * i - 4 + k] = box[corner[1]][i], box[corner[2]][i]
    end
  end
  return { core.vector(xs), core.vector(ys) }
end

-- Appends rectangles. across: the axis along which the bars stand beside each other; base: where they begin.
local function add_boxes(self, who, box, across, base, options)
  local own = setmetatable({ alpha = options.alpha or 1, label = options.label or nil }, { __index = function(_, key)
    return key ~= "label" and options[key] or nil
  end })
  local artist = artists.fill_style(self, who, own)
  artist.kind, artist.box, artist.columns = "boxes", box, outline_of(box)
  artist.bases = { [across == "x" and "y" or "x"] = base }
  return add(self, artist)
end

-- The rectangles of bars, { { box =, color = }, ... }: all of them, or one for each colour of a list. Colours are
-- taken in turn.
local function by_color(color, box)
  if type(color) ~= "table" or type(color[1]) == "number" or #color == 0 then
    return { { box = box, color = color } }
  end
  local parts = {}
  for i = 1, #box[1] do
    local one = {}
    for k = 1, 4 do one[k] = core.vector { box[k][i] } end
    parts[i] = { box = one, color = color[(i - 1) % #color + 1] }
  end
  return parts
end

-- The places of bars: of texts 1, 2, ..., with the texts as labels of the axis.
local function places_of(self, who, axis, places, labels)
  if type(places) == "table" and type(places[1]) == "string" then
    labels, places = places, core.linspace(1, #places, #places)
  end
  places = column(who, "places", places)
  if labels then self[axis .. "ticks"](self, places, labels) end
  return places
end

-- bar(x, height [, {width =, bottom =, align =, yerr =, capsize =, tick_label =, ...}]); barh: the same, turned.
local function bars(name, axis, thickness, start, err)
  methods[name] = function(self, x, values, options)
    in_plane(self, name)
    options = data.options(name, options)
    x = places_of(self, name, axis, x, options.tick_label)
    local n = #x
    values = spread(name, axis == "x" and "height" or "width", values, n)
    local wide = spread(name, thickness, options[thickness] or 0.8, n)
    local from = spread(name, start, options[start] or 0, n)
    local align = data.one_of(options.align or "center", "center, edge", "%s: align", name)
    local first = align == "center" and x - wide * 0.5 or x
    local box = { first, first + wide, from, from + values }
    if axis == "y" then box = { box[3], box[4], box[1], box[2] } end
    local base = type(options[start] or 0) == "number" and (options[start] or 0) or nil
    for k, part in ipairs(by_color(options.color, box)) do
      local label = k == 1 and options.label or false
      local own = setmetatable({ color = part.color, label = label }, { __index = options })
      add_boxes(self, name, part.box, axis, base, own).bars = axis
    end
    if options[err] then
      local middle, tips = first + wide * 0.5, from + values
      self:errorbar(axis == "x" and middle or tips, axis == "x" and tips or middle,
        { [err] = options[err], fmt = "none", ecolor = "k", capsize = options.capsize or 3 })
    end
    return self
  end
end
bars("bar", "x", "width", "bottom", "yerr")
bars("barh", "y", "height", "left", "xerr")

local TALL, WIDE = 0.08, 22 -- the room of a label: in parts of the range above a bar; of so many em beside one

-- bar_label([{fmt =, fontsize =, padding =, color =}]): the lengths of all bars, as texts at their ends.
function plane:bar_label(options)
  options = data.options("bar_label", options)
  local fmt, gap, found = text("bar_label", "fmt", options.fmt or "%g"),
    number("bar_label", "padding", options.padding or 2, 0), false
  local size = options.fontsize and artists.fontsize("bar_label", options.fontsize)
  local ends = { x = { 0 }, y = { 0 } } -- how far the bars reach
  for _, artist in ipairs(self.artists) do
    for i = 1, artist.bars and #artist.box[1] or 0 do
      local axis, k = artist.bars == "x" and "y" or "x", artist.bars == "x" and 4 or 2
      table.insert(ends[axis], artist.box[k][i])
    end
  end
  local function reach(list) return math.max(table.unpack(list)) - math.min(table.unpack(list)) end
  for _, artist in ipairs(self.artists) do
    for i = 1, artist.bars and #artist.box[1] or 0 do
      found = true
      local box, upright = artist.box, artist.bars == "x"
      local from, to = box[upright and 3 or 1][i], box[upright and 4 or 2][i]
      local middle = 0.5 * (box[upright and 1 or 3][i] + box[upright and 2 or 4][i])
      local good, s = pcall(core.number_support.format, fmt, to - from)
      if not good then fail("bar_label: fmt: expected a format for one number, got %s", data.describe(fmt)) end
      local sign = to >= from and 1 or -1
      local beyond, room = sign * gap, upright and TALL or text_size.size(s) / WIDE
      s = s:gsub("^%-", "−")
      local axis = upright and "y" or "x"
      add(self, { kind = "text", extent = { [axis] = { to, to + sign * room * reach(ends[axis]) } },
        columns = { column("bar_label", "x", upright and middle or to),
        column("bar_label", "y", upright and to or middle) }, text = s, size = size,
        shift = upright and { 0, beyond } or { beyond, 0 }, align = upright and "center" or to >= from and "left"
          or "right", valign = not upright and "center" or to >= from and "bottom" or "top",
        color = options.color and style.color("bar_label", options.color) })
    end
  end
  if not found then fail("bar_label: these axes hold no bars") end
end

-- The edges of bins for the numbers x.
local function edges_of(x, options)
  local bins = options.bins or 10
  if type(bins) ~= "number" then
    bins = column("hist", "bins", bins)
    if #bins < 2 then fail("hist: bins: expected at least 2 edges, got %d", #bins) end
    for i = 2, #bins do
      if bins[i] ~= bins[i] or bins[i] <= bins[i - 1] then fail("hist: bins: expected edges that increase") end
    end
    return bins
  end
  data.reject(math.type(bins) ~= "integer" or bins < 1, bins, "hist: bins: expected a whole number, at least 1")
  local lo, hi
  if options.range then lo, hi = data.interval("hist", "range", options.range) else lo, hi = data.range { x } end
  if not lo then lo, hi = 0, 1 end
  return histogram.edges(lo, hi, bins)
end

-- hist(x [, {bins =, range =, density =, cumulative =, histtype =, color =, alpha =, edgecolor =, label =}])
function plane:hist(x, options)
  options = data.options("hist", options)
  x = column("hist", "x", x)
  local edges = edges_of(x, options)
  local counts, sum, n = histogram.counts(x, edges), 0, #edges - 1
  for k = 1, n do sum = sum + counts[k] end
  local so_far = 0
  for k = 1, n do
    so_far = so_far + counts[k]
    if options.cumulative then counts[k] = options.density and so_far / math.max(sum, 1) or so_far
    elseif options.density then counts[k] = counts[k] / math.max(sum, 1) / (edges[k + 1] - edges[k]) end
  end
  local kind = data.one_of(options.histtype or "bar", "bar, step, stepfilled", "hist: histtype")
  local left, right, low = edges:slice(1, n), edges:slice(2, n + 1), core.full(n, 0)
  local box = { left, right, low, counts }
  if kind ~= "step" then
    add_boxes(self, "hist", box, "x", 0,
      setmetatable({ edgecolor = options.edgecolor or kind == "bar" and "#FFFFFF" or "none",
        linewidth = options.linewidth or 0.5 }, { __index = options }))
    return self
  end
  local artist = line_style(self, "hist", options)
  local xs, ys = { edges[1] }, { 0 }
  for k = 1, n do
    xs[2 * k], ys[2 * k], xs[2 * k + 1], ys[2 * k + 1] = edges[k], counts[k], edges[k + 1], counts[k]
  end
  xs[#xs + 1], ys[#ys + 1] = edges[n + 1], 0
  artist.kind, artist.columns, artist.bases = "line", { core.vector(xs), core.vector(ys) }, { y = 0 }
  add(self, artist)
end

-- The lengths of error bars below and above n points: a number, n numbers or two lists of them.
local function lengths(what, x, n)
  local low, high
  if type(x) == "table" and #x == 2 and type(x[1]) ~= "number" then
    low, high = spread("errorbar", what .. "[1]", x[1], n), spread("errorbar", what .. "[2]", x[2], n)
  else
    low = spread("errorbar", what, x, n)
    high = low
  end
  for i = 1, n do
    if low[i] < 0 or high[i] < 0 then fail("errorbar: %s: expected numbers, at least 0", what) end
  end
  return low, high
end

-- The ends of all bars in turn, with gaps: what a legend should not hide.
local function bars_of(x, y, axis, from, to)
  local xs, ys = {}, {}
  for i = 1, #x do
    local k = 3 * i - 2
    xs[k], xs[k + 1] = axis == "x" and from[i] or x[i], axis == "x" and to[i] or x[i]
    ys[k], ys[k + 1] = axis == "y" and from[i] or y[i], axis == "y" and to[i] or y[i]
    xs[k + 2], ys[k + 2] = 0 / 0, 0 / 0
  end
  return { core.vector(xs), core.vector(ys) }
end

-- errorbar(x, y [, {yerr =, xerr =, fmt =, capsize =, ecolor =, elinewidth =, and plot's}]): points with bars
-- of their errors.
function plane:errorbar(x, y, options)
  options = data.options("errorbar", options)
  x, y = column("errorbar", "x", x), column("errorbar", "y", y)
  data.same_length("errorbar", { "x", "y" }, { x, y })
  local bare = options.fmt == "none" or options.fmt == ""
  local artist = line_style(self, "errorbar", options, not bare and options.fmt or nil)
  artist.kind, artist.columns, artist.loose = "line", { x, y }, true
  if not bare then add(self, artist) end
  for axis, list in pairs { x = options.xerr or false, y = options.yerr or false } do
    if list then
      local low, high = lengths(axis .. "err", list, #x)
      local from, to = (axis == "x" and x or y) - low, (axis == "x" and x or y) + high
      add(self, { kind = "errors", columns = bars_of(x, y, axis, from, to), at = { x, y }, axis = axis,
        from = from, to = to, color = options.ecolor and style.color("errorbar", options.ecolor) or artist.color,
        note = not bare,
        linewidth = number("errorbar", "elinewidth", options.elinewidth or 1.2, 0),
        cap = number("errorbar", "capsize", options.capsize or 0, 0) })
    end
  end
end

-- The numbers that a box stands for: quartiles, ends of the whiskers, what lies outside, the mean.
local function five(x, reach)
  local sorted, outside = {}, {}
  for i = 1, #x do
    if x[i] == x[i] then sorted[#sorted + 1] = x[i] end
  end
  table.sort(sorted)
  if #sorted == 0 then return nil end
  local q1, q2, q3 = of_sorted(sorted, 0.25), of_sorted(sorted, 0.5), of_sorted(sorted, 0.75)
  local low, high = q1, q3
  for _, v in ipairs(sorted) do
    if v < q1 - reach * (q3 - q1) or v > q3 + reach * (q3 - q1) then outside[#outside + 1] = v
    else low, high = math.min(low, v), math.max(high, v) end
  end
  local mean = 0
  for _, v in ipairs(sorted) do mean = mean + v / #sorted end
  return { q1, q2, q3, low, high, outside, mean }
end

-- Appends lines through lists of points {x, y}; between the lists are gaps.
local function add_paths(self, paths, options, note, upright)
  local xs, ys = {}, {}
  for _, path in ipairs(paths) do
    for k = 1, #path, 2 do xs[#xs + 1], ys[#ys + 1] = path[k], path[k + 1] end
    xs[#xs + 1], ys[#ys + 1] = 0 / 0, 0 / 0
  end
  local artist = line_style(self, "boxplot", options)
  local u, v = core.vector(xs), core.vector(ys)
  artist.kind, artist.columns, artist.note, artist.loose = "line", upright and { u, v } or { v, u }, note, true
  return add(self, artist)
end

-- boxplot(x [, {positions =, widths =, labels =, whis =, vert =, showfliers =, showmeans =, color =, label =}]):
-- x is a list of numbers or of several such lists.
function plane:boxplot(x, options)
  options = data.options("boxplot", options)
  local list = data.samples("boxplot", x)
  local at, wide = data.seats("boxplot", options, #list)
  local reach = number("boxplot", "whis", options.whis or 1.5, 0)
  local boxes, medians, xs, ys, means = {}, {}, {}, {}, { {}, {} }
  local upright = options.vert ~= false
  for i, sample in ipairs(list) do
    local f, c, h = five(sample, reach), at[i], wide[i] / 2
    if f then
      boxes[#boxes + 1] = { c - h, f[1], c + h, f[1], c + h, f[3], c - h, f[3], c - h, f[1] }
      for k, v in ipairs { f[4], f[5] } do
        boxes[#boxes + 1] = { c, f[k == 1 and 1 or 3], c, v }
        boxes[#boxes + 1] = { c - h / 2, v, c + h / 2, v }
      end
      medians[#medians + 1] = { c - h, f[2], c + h, f[2] }
      for _, v in ipairs(f[6]) do xs[#xs + 1], ys[#ys + 1] = c, v end
      means[1][#means[1] + 1], means[2][#means[2] + 1] = c, f[7]
    end
  end
  local color = options.color or "#262626"
  local function turned(u, v) return upright and { u, v } or { v, u } end
  local function add_points(us, vs, look)
    local artist = line_style(self, "boxplot", look)
    artist.kind, artist.columns, artist.note = "line", turned(core.vector(us), core.vector(vs)), true
    add(self, artist)
  end
  add_paths(self, boxes, { color = color, linewidth = 1.1,
    label = options.label and text("boxplot", "label", options.label) }, nil, upright)
  add_paths(self, medians, { color = "C1", linewidth = 1.8 }, true, upright)
  if options.showfliers ~= false and #xs > 0 then
    add_points(xs, ys, { color = color, linestyle = "none", marker = "o", markersize = 4, hollow = true })
  end
  if options.showmeans then
    add_points(means[1], means[2], { color = "g", linestyle = "none", marker = "^", markersize = 6 })
  end
  self.artists[#self.artists].extent = { [upright and "x" or "y"] = extent_of(at - wide, at + wide) }
  return artists.name_places(self, at, options.labels, upright)
end

-- stem([x,] y [, {bottom =, color =, linestyle =, marker =, ...}]): a line from the bottom to each point.
function plane:stem(x, y, options)
  if y == nil or data.is_options(y) then x, y, options = nil, x, y end
  options = data.options("stem", options)
  y = column("stem", "y", y)
  x = x and column("stem", "x", x) or core.linspace(1, #y, #y)
  data.same_length("stem", { "x", "y" }, { x, y })
  local bottom = number("stem", "bottom", options.bottom or 0)
  local xs, ys = {}, {}
  for i = 1, #x do
    xs[3 * i - 2], xs[3 * i - 1], xs[3 * i] = x[i], x[i], 0 / 0
    ys[3 * i - 2], ys[3 * i - 1], ys[3 * i] = bottom, y[i], 0 / 0
  end
  local artist = line_style(self, "stem", setmetatable({ linewidth = options.linewidth or 1.2 },
    { __index = function(_, key) return key ~= "marker" and options[key] or nil end }))
  artist.kind, artist.columns, artist.note, artist.label = "line", { core.vector(xs), core.vector(ys) }, true, nil
  local points = line_style(self, "stem", { color = artist.color, linestyle = "none", marker = options.marker or "o",
    markersize = options.markersize, label = options.label, hollow = options.hollow, alpha = options.alpha })
  points.kind, points.columns, points.loose = "line", { x, y }, true
  add(self, artist)
  add(self, points)
  return self:axhline(bottom, { color = "#808080" })
end

return methods
