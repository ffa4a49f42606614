-- nslua.plot.spines: the lines at the edges of a panel: which are shown, where they are and how they look.
--
-- axes.spine_looks has for each side the look { shown =, place =, color =, linewidth = } that a script has asked for.
-- A place is { "data", x }, { "axes", part } or { "outward", points }; nil is the edge of the panel.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local scales = require "nslua.plot.scales"
local style = require "nslua.plot.style"

local fail, number = data.fail, data.number
local format = core.number_support.format

local spines = {}

local sides = { "left", "right", "top", "bottom" }
local is_side = { left = true, right = true, top = true, bottom = true }
local bits = { bottom = 1, left = 2, top = 4, right = 8 } -- of gnuplot's borders
local main = { x = "bottom", y = "left" } -- the side with the ticks of an axis

-- What the script has asked for a side; an empty table when nothing.
local function look_of(axes, side) return axes.spine_looks and axes.spine_looks[side] or {} end

-- Whether the line is drawn. Panels show those at the left and below; a twin shows the one of its own axis.
local function shown(axes, side)
  local asked = look_of(axes, side).shown
  if axes.twin then
    return (axes.own == "y" and side == "right" or axes.own == "x" and side == "top") and asked ~= false
  end
  if asked ~= nil then return asked end
  return side == "left" or side == "bottom" or axes.framed == true or axes.frame_sides[side] == true
end

-- ---- methods of axes ----

local kinds = { data = true, axes = true, outward = true }

local function place_of(who, x)
  if x == nil or x == "edge" then return nil end
  if x == "zero" then return { "data", 0 } end
  if x == "center" then return { "axes", 0.5 } end
  if type(x) ~= "table" or not kinds[x[1]] or #x ~= 2 then
    fail('%s: position: expected "zero", "center", "edge", {"data", x}, {"axes", part} or {"outward", points}, '
      .. "got %s", who, data.describe(x))
  end
  return { x[1], number(who, "position", x[2]) }
end

local LOOK = "visible position color linewidth"

-- Changes the look of a side. what: a boolean (shown or not), a place such as "zero", or a table of options.
local function change(axes, who, side, what)
  if type(what) ~= "table" or what[1] ~= nil then
    what = type(what) == "boolean" and { visible = what } or { position = what }
  end
  what = data.options(who .. ": " .. side, what, LOOK)
  axes.spine_looks = axes.spine_looks or {}
  local look = axes.spine_looks[side] or {}
  axes.spine_looks[side] = look
  if what.visible ~= nil then
    data.expect(what.visible, "boolean", "%s: visible: expected a boolean", who)
    look.shown = what.visible
  end
  if what.position ~= nil then look.place = place_of(who, what.position) end
  if what.color ~= nil then look.color = style.color(who, what.color) end
  if what.linewidth ~= nil then look.linewidth = number(who, "linewidth", what.linewidth, 0) end
end

local methods = {}

-- spines{left =, right =, top =, bottom =}: each true, false, a place such as "zero", or a table
-- { visible =, position =, color =, linewidth = }.
function methods:spines(options)
  artists.in_plane(self, "spines")
  for side, what in pairs(data.options("spines", options)) do change(self, "spines", side, what) end
  return self
end

-- ax.spines.top:set_visible(false), ax.spines[{"top", "right"}]:set_color "0.5": the sides as objects.
local Side = {}
Side.__index = Side
Side.__name = "spine"

for name, key in pairs { set_visible = "visible", set_position = "position", set_color = "color",
  set_linewidth = "linewidth" } do
  Side[name] = function(self, value, more)
    data.nothing(name, more)
    if value == nil then fail("%s: expected a value, got nil", name) end
    for _, side in ipairs(self.sides) do change(self.axes, name, side, { [key] = value }) end
    return self
  end
end

local function side_object(axes, names)
  for _, side in ipairs(names) do
    data.reject(not is_side[side], side, "spines: expected one of left, right, top, bottom")
  end
  return setmetatable({ axes = axes, sides = names }, Side)
end

-- The field `spines` of axes: it is called as the method, and it has the sides as fields.
function spines.object(axes)
  return setmetatable({}, {
    __call = function(_, self, options) return methods.spines(self, options) end,
    __index = function(_, key)
      if key == "values" then return function() return side_object(axes, sides) end end
      return side_object(axes, type(key) == "table" and key or { key })
    end,
  })
end

-- ---- drawing ----

-- How far a spine lies outside of the panel, in 1/72 inch.
function spines.outward(axes, side)
  local place = look_of(axes, side).place
  return place and place[1] == "outward" and place[2] or 0
end

-- Where the line of a side is, in 1/72 inch: x of the left and right ones, y of the others.
local function line_at(p, side)
  local upright = side == "left" or side == "right"
  local axis, low = upright and "x" or "y", side == "left" or side == "bottom"
  local from, to = upright and p.x0 or p.y0, upright and p.x1 or p.y1
  local place = look_of(p.axes, side).place
  if place and place[1] == "axes" then return from + place[2] * (to - from) end
  if place and place[1] == "outward" then return low and from - place[2] or not low and to + place[2] end
  if place then
    local at = scales.fraction(place[2], p.limits[axis], scales.of(p.axes, axis))
    return from + math.max(0, math.min(1, at)) * (to - from)
  end
  return low and from or to
end

-- The place of the line with the ticks of an axis that a script has moved; nil where it is at the edge.
function spines.moved(p, axis)
  local axes = p.axes
  if axes.twin or axes.three_d or not look_of(axes, main[axis]).place then return nil end
  return line_at(p, main[axis])
end

-- Draws the lines. Those that have no look of their own are gnuplot's border; ticks take the look of the border.
function spines.write(w, p, color)
  local axes, own, mask = p.axes, {}, 0
  for _, side in ipairs(sides) do
    local look = look_of(axes, side)
    if not axes.hidden and shown(axes, side) then
      if not w.bare and (look.place or look.color or look.linewidth) then own[#own + 1] = side
      else mask = mask + bits[side] end
    end
  end
  if axes.hidden then w:line "unset border" else w:line('set border %d lw 0.8 lc rgb "%s"', mask, color) end
  for _, side in ipairs(own) do
    local look, at, upright = look_of(axes, side), line_at(p, side), side == "left" or side == "right"
    local x0, y0, x1, y1 = p.x0, at, p.x1, at
    if upright then x0, y0, x1, y1 = at, p.y0, at, p.y1 end
    w:line('set arrow from screen %.6g,screen %.6g to screen %.6g,screen %.6g nohead lw %.6g lc rgb "%s"', x0 / p.fw,
      y0 / p.fh, x1 / p.fw, y1 / p.fh, look.linewidth or 0.8, look.color or color)
  end
end

local LONG, SHORT = 3.6, 2.2 -- lengths of ticks and of those between them, in 1/72 inch

-- Draws the ticks of an axis whose line has been moved. places: lists of numbers, those with labels and the others.
function spines.write_ticks(w, p, axis, places, color)
  local at, scale = spines.moved(p, axis), scales.of(p.axes, axis)
  for k, list in ipairs(places) do
    for _, place in ipairs(list) do
      local part = scales.fraction(place, p.limits[axis], scale)
      if part > -1e-9 and part < 1 + 1e-9 then
        local long = k == 1 and LONG or SHORT
        local x, y, dx, dy = p.x0 + part * (p.x1 - p.x0), at, 0, -long
        if axis == "y" then x, y, dx, dy = at, p.y0 + part * (p.y1 - p.y0), -long, 0 end
        w:line('set arrow from screen %s,screen %s to screen %s,screen %s nohead lw 0.8 lc rgb "%s"',
          format("%.6g", x / p.fw), format("%.6g", y / p.fh), format("%.6g", (x + dx) / p.fw),
          format("%.6g", (y + dy) / p.fh), color)
      end
    end
  end
end

spines.methods = methods

return spines
