-- nslua.plot.frame: the methods of axes for what stands around the data: names, limits, ticks, grid, legend.

local core = require "nslua.core"
local data = require "nslua.plot.data"
local share = require "nslua.plot.share"
local style = require "nslua.plot.style"

local fail, column, text, number = data.fail, data.column, data.text, data.number

local Axes = {} -- the methods, which the class of axes takes

-- The look of a text, {fontsize =, color =, rotation =}, from its options.
local function look_of(who, options)
  options = data.options(who, options)
  return {
    fontsize = options.fontsize and number(who, "fontsize", options.fontsize, 1),
    color = options.color and style.color(who, options.color),
    rotation = options.rotation and number(who, "rotation", options.rotation),
  }
end

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
    if type(a) ~= "number" then a, b, more = a, nil, b end
    data.nothing(lim, more)
    if b ~= nil then a = { a, b } end
    local lo, hi = data.interval(lim, "limits", a, true)
    owner.limits[axis] = { lo, hi }
    return self
  end
  Axes[scale] = function(self, kind, more)
    data.nothing(scale, more)
    if kind ~= "log" and kind ~= "linear" then fail("%s: expected \"log\" or \"linear\", got %s", scale,
      data.describe(kind)) end
    share.set_log(self, axis, kind == "log")
    return self
  end
  -- xticks(places [, labels] [, {fontsize=, color=, rotation=}]); xticks{} removes them; with
  -- options only, the places do not change.
  Axes[tick_name] = function(self, places, labels, options)
    if data.is_options(places) then places, labels, options = nil, places, labels end
    if data.is_options(labels) then
      data.nothing(tick_name, options)
      labels, options = nil, labels
    end
    local look = look_of(tick_name, options)
    if options ~= nil then self.tick_looks[axis] = look end
    if options ~= nil and places == nil then return self end
    local list = {}
    places = column(tick_name, "places", places)
    if labels ~= nil and type(labels) ~= "table" then
      fail("%s: labels: expected a table, got %s", tick_name, data.describe(labels))
    end
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

-- title(s [, {fontsize=, color=}])
function Axes:title(s, options)
  self.heading, self.heading_look = text("title", "text", s), look_of("title", options)
  return self
end

local whichs, grid_axes = { major = true, minor = true, both = true }, { x = true, y = true, both = true }

local function one_of(who, what, value, set, words)
  if set[value] then return value end
  fail("%s: %s: expected one of %s, got %s", who, what, words, data.describe(value))
end

-- grid([on] [, {which=, axis=, color=, linestyle=, linewidth=, alpha=}]); which: "major", "minor", "both".
function Axes:grid(on, options)
  if type(on) == "table" then
    data.nothing("grid", options)
    on, options = nil, on
  end
  if on ~= nil and type(on) ~= "boolean" then fail("grid: expected a boolean, got %s", data.describe(on)) end
  options = data.options("grid", options)
  self.show_grid = on ~= false
  self.grid_look = {
    which = one_of("grid", "which", options.which or "major", whichs, "major, minor, both"),
    axis = one_of("grid", "axis", options.axis or "both", grid_axes, "x, y, both"),
    color = options.color and style.color("grid", options.color),
    dash = style.dash("grid", options.linestyle or "-") or "none",
    linewidth = options.linewidth and number("grid", "linewidth", options.linewidth, 0),
    alpha = options.alpha and number("grid", "alpha", options.alpha, 0),
  }
  return self
end

local places = { best = true, ["upper right"] = true, ["upper left"] = true, ["lower right"] = true,
  ["lower left"] = true,
  ["upper center"] = true, ["lower center"] = true, ["center right"] = true, ["center left"] = true, outside = true }

-- The labels and the options of a legend: options may stand in the list of labels or after it.
local function legend_options(list, options)
  if type(list) ~= "table" or list[1] == nil then
    data.nothing("legend", options)
    return data.options("legend", list)
  end
  local labels, all = {}, {}
  for key, value in pairs(data.options("legend", options, "loc ncol fontsize")) do all[key] = value end
  for key, value in pairs(list) do
    if math.type(key) == "integer" then labels[key] = value else all[key] = value end
  end
  all.labels = labels
  return data.options("legend", all)
end

-- legend([{loc=, ncol=, labels=, fontsize=}]) or legend({"first", "second"} [, {loc=, ncol=, fontsize=}]): of the
-- artists that have labels. loc is "best" by default.
function Axes:legend(list, more)
  local options = legend_options(list, more)
  local loc = options.loc or "best"
  if not places[loc] then
    fail("legend: loc: expected one of best, outside, upper right, upper left, upper center, lower right, "
      .. "lower left, lower center, center right, center left, got '%s'", tostring(loc))
  end
  if options.labels ~= nil then
    if type(options.labels) ~= "table" then
      fail("legend: labels: expected a table, got %s", data.describe(options.labels))
    end
    local k = 0
    for _, artist in ipairs(self.artists) do
      if artist.kind ~= "text" and not artist.note and options.labels[k + 1] then
        k = k + 1
        artist.label = text("legend", "label", options.labels[k])
      end
    end
  end
  self.legend_at = { loc = loc, ncol = options.ncol and number("legend", "ncol", options.ncol, 1),
    fontsize = options.fontsize and number("legend", "fontsize", options.fontsize, 1) }
  return self
end

local aspects = { equal = true, scaled = true, tight = true, auto = true, off = true, on = true }

-- axis("equal"): a unit has the same length on both axes, by wider limits; "scaled": the same by the shape of the
-- panel; "tight": no margins; "off" hides the axes and "on" shows them; "auto" undoes "equal" and "scaled". axis{x0,
-- x1, y0, y1} sets the limits.
function Axes:axis(kind, more)
  data.nothing("axis", more)
  if type(kind) == "table" and #kind == 4 then return self:xlim(kind[1], kind[2]):ylim(kind[3], kind[4]) end
  if not aspects[kind] then
    fail("axis: expected one of equal, scaled, tight, auto, off, on, or {x0, x1, y0, y1}, got %s",
      data.describe(kind))
  end
  if kind == "off" or kind == "on" then self.hidden = kind == "off"
  elseif kind == "tight" then self.tight = true
  else self.aspect = kind ~= "auto" and kind or nil end
  return self
end

-- set{xlabel =, ylim =, title = ...}: calls the method of each name with the value.
function Axes:set(options)
  for key, value in pairs(data.options("set", options)) do self[key](self, value) end
  return self
end

return function(class)
  for name, method in pairs(Axes) do class[name] = method end
end
