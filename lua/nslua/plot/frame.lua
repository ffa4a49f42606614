-- nslua.plot.frame: the methods of axes for what stands around the data: names, limits, ticks, grid, legend.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local defaults = require "nslua.plot.defaults"
local kinds = require "nslua.plot.kinds"
local lists = require "nslua.base.lists"
local share = require "nslua.plot.share"
local style = require "nslua.plot.style"

local fail, column, text, number = data.fail, data.column, data.text, data.number

local Axes = {} -- the methods, which the class of axes takes

-- The look of a text, {fontsize =, color =, rotation =}, from its options.
local function look_of(who, options)
  options = data.options(who, options)
  return {
    fontsize = options.fontsize and artists.fontsize(who, options.fontsize),
    color = options.color and style.color(who, options.color),
    rotation = options.rotation and number(who, "rotation", options.rotation),
  }
end

local function above(who, what, x, least)
  number(who, what, x, least)
  if x == least then fail("%s: %s: expected a number above %g, got %g", who, what, least, x) end
  return x
end

-- The scale "symlog" with these options: see nslua.plot.scales.
local function symlog_of(who, options)
  return { threshold = above(who, "linthresh", options.linthresh or 2, 0),
    share = above(who, "linscale", options.linscale or 1, 0), base = above(who, "base", options.base or 10, 1) }
end

local set = artists.methods(Axes, nil, true)
local ends = { x = { "left", "right" }, y = { "bottom", "top" }, z = { "bottom", "top" } }

-- The limits {lo, hi} that stand, with those that the options change. An end that nobody has set is nil.
local function one_sided(who, axis, old, options)
  local limits = old and { old[1], old[2] } or {}
  for k = 1, 2 do
    local value = options[ends[axis][k]]
    if value ~= nil then limits[k] = number(who, ends[axis][k], value) end
    if limits[k] == -math.huge then fail("%s: %s: expected a finite number, got -inf", who, ends[axis][k]) end
  end
  if limits[1] and limits[1] == limits[2] then
    fail("%s: limits: expected two numbers, the first not the second, got %g and %g", who, limits[1], limits[2])
  end
  return limits
end

for _, axis in ipairs { "x", "y", "z" } do
  local label, lim, scale, tick_name = axis .. "label", axis .. "lim", axis .. "scale", axis .. "ticks"
  -- xlabel(s [, {fontsize=, color=, rotation=}])
  Axes[label] = function(self, s, options)
    s = text(label, "text", s)
    self.names[axis], self.looks[axis] = s, look_of(label, options)
    if defaults["axes.labelsize"] ~= 10 then
      self.looks[axis].fontsize = self.looks[axis].fontsize or defaults["axes.labelsize"] * 10 / defaults["font.size"]
    end
    return self
  end
  -- xlim(a, b) or xlim{a, b}; with a above b the axis is reversed. xlim{left = a} leaves the other end to the data.
  Axes[lim] = function(self, a, b, more)
    local owner = share.root(self, axis)
    if data.is_options(a) then
      data.nothing(lim, b)
      owner.limits[axis] = one_sided(lim, axis, owner.limits[axis], data.options(lim, a))
      return self
    end
    if a == nil and b ~= nil then return self[lim](self, { [ends[axis][2]] = b }, more) end
    if type(a) ~= "number" then a, b, more = a, nil, b end
    data.nothing(lim, more)
    if b ~= nil then a = { a, b } end
    local lo, hi = data.interval(lim, "limits", a, true)
    owner.limits[axis] = { lo, hi }
    return self
  end
  -- xscale "log", "linear" or "symlog"; xscale("symlog", {linthresh=, linscale=, base=}).
  Axes[scale] = function(self, kind, options)
    data.reject(kind ~= "log" and kind ~= "linear" and kind ~= "symlog", kind,
      '%s: expected "log", "linear" or "symlog"', scale)
    if kind ~= "symlog" then
      data.nothing(scale, options)
      share.set_scale(self, axis, kind == "log")
    else
      if self.three_d then fail("%s: axes in space are not symlog", scale) end
      share.set_scale(self, axis, false, symlog_of(scale, data.options(scale, options)))
    end
    return self
  end
  -- xticks(places [, labels] [, {fontsize=, color=, rotation=, align=}]); xticks{} removes them; with
  -- options only, the places do not change. align, of x: the part of a label that is at its tick.
  Axes[tick_name] = function(self, places, labels, options)
    if data.is_options(places) then places, labels, options = nil, places, labels end
    if data.is_options(labels) then
      data.nothing(tick_name, options)
      labels, options = nil, labels
    end
    local look, align = look_of(tick_name, options), data.options(tick_name, options).align
    look.align = align and data.one_of(align, "left, center, right", "%s: align", tick_name)
    if options ~= nil then self.tick_looks[axis] = look end
    if options ~= nil and places == nil then return self end
    local list = {}
    places = column(tick_name, "places", places)
    data.optional(labels, "table", "%s: labels: expected a table", tick_name)
    if labels and #labels ~= #places then
      fail("%s: %d places and %d labels", tick_name, #places, #labels)
    end
    for i = 1, #places do
      list[i] = { number(tick_name, "place", places[i]), labels and text(tick_name, "label", labels[i]) or
        core.number_support.format("%g", places[i]) }
    end
    self.tick_lists[axis] = list
    return self
  end
end

-- title(s [, {fontsize=, color=, loc=}]); loc: "left", "center" or "right".
function Axes:title(s, options)
  self.heading, self.heading_look = text("title", "text", s), look_of("title", options)
  local loc = options and options.loc
  self.heading_look.loc = loc and data.one_of(loc, "left, center, right", "title: loc")
  if defaults["axes.titlesize"] ~= 11 then
    self.heading_look.fontsize = self.heading_look.fontsize or defaults["axes.titlesize"] * 10 / defaults["font.size"]
  end
  return self
end

-- grid([on] [, {which=, axis=, color=, linestyle=, linewidth=, alpha=}]); which: "major", "minor", "both".
function Axes:grid(on, options)
  if type(on) == "table" then
    data.nothing("grid", options)
    on, options = nil, on
  end
  data.optional(on, "boolean", "grid: expected a boolean")
  options = data.options("grid", options)
  self.show_grid = on ~= false
  self.grid_look = {
    which = data.one_of(options.which or "major", "major, minor, both", "grid: which"),
    axis = data.one_of(options.axis or "both", "x, y, both", "grid: axis"),
    color = options.color and style.color("grid", options.color),
    dash = style.dash("grid", options.linestyle or "-") or "none",
    linewidth = options.linewidth and number("grid", "linewidth", options.linewidth, 0),
    alpha = options.alpha and number("grid", "alpha", options.alpha, 0),
  }
  return self
end

-- The places of a legend, in matplotlib's order of their numbers from 0 on.
local places = { [0] = "best", "upper right", "upper left", "lower left", "lower right", "center right",
  "center left",
  "center right", "lower center", "upper center", "center", "outside" }
local is_place = {}
for k = 0, #places do is_place[places[k]] = true end
is_place["right"] = true

-- The options of a legend that may stand after the list of its labels.
local BESIDE_LABELS = "loc ncol fontsize title frameon framealpha facecolor edgecolor labelcolor bbox_to_anchor"

-- The labels and the options of a legend: options may stand in the list of labels or after it.
local function legend_options(list, options)
  if type(list) ~= "table" or list[1] == nil then
    data.nothing("legend", options)
    return data.options("legend", list)
  end
  local labels, all = {}, {}
  for key, value in pairs(data.options("legend", options, BESIDE_LABELS)) do all[key] = value end
  for key, value in pairs(list) do
    if math.type(key) == "integer" then labels[key] = value else all[key] = value end
  end
  all.labels = labels
  return data.options("legend", all)
end

-- The size of the letters of a legend that has none of its own.
local function default_legend()
  local size = defaults["legend.fontsize"]
  return size == 10 and defaults["font.size"] or size
end

local function place_of(loc)
  if math.type(loc) == "integer" then loc = loc < #places and places[loc] or loc end
  if not is_place[loc] then
    fail("legend: loc: expected one of best, outside, upper right, upper left, upper center, lower right, "
      .. "lower left, lower center, center right, center left, center, got %s", data.describe(loc))
  end
  return loc == "right" and "center right" or loc
end

local function anchor_of(anchor)
  if anchor == nil then return nil end
  local good = type(anchor) == "table" and #anchor == 2 and type(anchor[1]) == "number"
    and type(anchor[2]) == "number"
  data.reject(not good, anchor, "legend: bbox_to_anchor: expected {x, y} in parts of the panel")
  return { anchor[1], anchor[2] }
end

-- legend([{loc=, ncol=, labels=, fontsize=, title=, ...}]) or legend({"first", "second"} [, {loc=, ...}]): of the
-- artists that have labels. loc is "best" by default.
function Axes:legend(list, more)
  local options = legend_options(list, more)
  local loc, anchor = place_of(options.loc or "best"), anchor_of(options.bbox_to_anchor)
  if anchor and loc == "best" then loc = "upper left" end
  if options.labels ~= nil then
    data.expect(options.labels, "table", "legend: labels: expected a table")
    local k = 0
    for _, artist in ipairs(self.artists) do
      if not kinds[artist.kind].words and not artist.note and options.labels[k + 1] then
        k = k + 1
        artist.label = text("legend", "label", options.labels[k])
      end
    end
  end
  data.optional(options.frameon, "boolean", "legend: frameon: expected a boolean")
  self.legend_at = { loc = loc, ncol = options.ncol and number("legend", "ncol", options.ncol, 1),
    fontsize = artists.fontsize("legend", options.fontsize or default_legend()), anchor = anchor,
    title = options.title and text("legend", "title", options.title), frame = options.frameon,
    alpha = options.framealpha and number("legend", "framealpha", options.framealpha, 0),
    face = options.facecolor and style.color("legend", options.facecolor),
    edge = options.edgecolor and style.color("legend", options.edgecolor),
    color = options.labelcolor and style.color("legend", options.labelcolor) }
  return self
end

-- minorticks_on(): small ticks between the ticks of both axes. minorticks_off() removes them.
function set:minorticks_on()
  self.minor = { x = true, y = true }
end

function set:minorticks_off()
  self.minor = { x = false, y = false }
end

-- For each axis, the options of tick_params that show its ticks and its labels.
local shows = { x = { "bottom", "labelbottom" }, y = { "left", "labelleft" } }

local function flag(options, name)
  local x = options[name]
  data.optional(x, "boolean", "tick_params: %s: expected a boolean", name)
  return x
end

-- tick_params([axis,] {axis=, labelsize=, labelcolor=, labelrotation=, direction=, bottom=, left=, labelbottom=,
-- labelleft=}): the look of ticks, and whether they and their labels are shown.
function Axes:tick_params(axis, options)
  if type(axis) == "table" then
    data.nothing("tick_params", options)
    axis, options = nil, axis
  end
  options = data.options("tick_params", options)
  axis = data.one_of(axis or options.axis or "both", "x, y, both", "tick_params: axis")
  local direction = options.direction
  if direction then data.one_of(direction, "in, out", "tick_params: direction") end
  for _, name in ipairs { "x", "y" } do
    if axis == "both" or axis == name then
      local look = lists.copy(self.tick_looks[name])
      if options.labelsize then look.fontsize = artists.fontsize("tick_params", options.labelsize) end
      if options.labelcolor then look.color = style.color("tick_params", options.labelcolor) end
      if options.labelrotation then look.rotation = number("tick_params", "labelrotation", options.labelrotation) end
      look.direction = direction or look.direction
      local marks, labels = flag(options, shows[name][1]), flag(options, shows[name][2])
      if marks ~= nil then look.marks = marks end
      if labels ~= nil then look.labels = labels end
      self.tick_looks[name] = look
    end
  end
  return self
end

-- facecolor(color): what is behind the data of the panel.
function set:facecolor(color)
  artists.in_plane(self, "facecolor")
  self.face = style.color("facecolor", color)
end

-- get_xlim(), get_ylim(): the limits of an axis, as they are now.
for _, axis in ipairs { "x", "y", "z" } do
  Axes["get_" .. axis .. "lim"] = function(self, more)
    data.nothing("get_" .. axis .. "lim", more)
    local l = require "nslua.plot.layout".limits(self, axis)
    return l[1], l[2]
  end
end

-- invert_xaxis(), invert_yaxis(): the axis goes the other way.
for _, axis in ipairs { "x", "y" } do
  set["invert_" .. axis .. "axis"] = function(self)
    local owner = share.root(self, axis)
    owner.inverted[axis] = not owner.inverted[axis]
  end
end

-- margins(m) or margins(mx, my): the free space beside the data, in parts of their range.
function set:margins(x, y)
  x = number("margins", "x", x, 0)
  self.spare = { x = x, y = y == nil and x or number("margins", "y", y, 0) }
end

local aspects = { equal = true, scaled = true, image = true, tight = true, auto = true, off = true, on = true }

-- axis("equal"): a unit has the same length on both axes, by wider limits; "scaled": the same by the shape of the
-- panel; "image": that, without margins; "tight": no margins; "off" hides the axes and "on" shows them;
-- "auto" undoes "equal" and "scaled". axis{x0,
-- x1, y0, y1} sets the limits.
function set:axis(kind)
  if type(kind) == "table" and #kind == 4 then return self:xlim(kind[1], kind[2]):ylim(kind[3], kind[4]) end
  data.reject(not aspects[kind], kind,
    "axis: expected one of equal, scaled, image, tight, auto, off, on, or {x0, x1, y0, y1}")
  if kind == "off" or kind == "on" then self.hidden = kind == "off"
  elseif kind == "tight" then self.tight = true
  elseif kind == "image" then self.tight, self.aspect = true, "scaled"
  else self.aspect = kind ~= "auto" and kind or nil end
end

-- set{xlabel =, ylim =, title = ...}: calls the method of each name with the value.
function Axes:set(options)
  for key, value in pairs(data.options("set", options)) do self[key](self, value) end
  return self
end

return Axes
