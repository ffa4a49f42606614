-- nslua.plot.labels: the labels of ticks: those that gnuplot writes, and those that are texts of the picture.

local layout = require "nslua.plot.layout"
local scales = require "nslua.plot.scales"
local spines = require "nslua.plot.spines"
local text = require "nslua.plot.text"
local words = require "nslua.plot.words"

local format = require "nslua.core".number_support.format

local labels = {}

local EM = layout.EM

-- How labels are turned, and which part of them is at the tick.
function labels.turn_part(axes, axis, look)
  local angle = look and look.rotation or 0
  local align = axis == "x" and not axes.three_d and layout.align_of(look, axes.own == "x") or "right"
  if angle % 360 == 0 then return "norotate" .. (look and look.align and " " .. align or "") end
  return ("rotate by %s %s"):format(format("%.6g", angle), align)
end

-- Whether a label of the list has a fraction, limits or several lines, which gnuplot does not write at a tick.
function labels.is_tall(list)
  for _, tick in ipairs(list) do
    local lines = text.set(tick[2])
    if #lines > 1 or #lines[1].pieces > 1 then return true end
  end
  return false
end

-- Writes a label of the x axis whose box is centred below (x, y), or begins or ends there; above it, if `upper`.
local function put_aside(w, p, s, x, y, look, align, upper)
  local x0, y0, x1, y1 = words.extent(s, look, 0, 0)
  local left = align == "left" and x0 or align == "right" and x1 or (x0 + x1) / 2
  words.put(w, p.fw, p.fh, s, x - left, y - (upper and y0 or y1), look)
end

-- Writes a label of the x axis at x. align: which part of it is there; aside: of its box.
local function put_x(w, p, s, x, upper, look, align, aside)
  local y = upper and p.y1 + 0.75 * EM or (spines.moved(p, "x") or p.y0) - 0.75 * EM
  if aside then return put_aside(w, p, s, x, y, look, align, upper) end
  local turned = look.angle % 180 ~= 0
  look.align, look.valign = align, turned and "center" or upper and "bottom" or "top"
  words.put(w, p.fw, p.fh, s, x, y, look)
end

-- Writes a label of the y axis at y.
local function put_y(w, p, s, y, upper, look)
  local x = upper and p.x1 + 0.85 * EM or (spines.moved(p, "y") or p.x0) - 0.85 * EM
  look.align = upper and "left" or "right"
  words.put(w, p.fw, p.fh, s, x, y, look)
end

-- Part of an axis by which rounding may move a tick at its end.
local NEAR = 1e-9

-- Writes the labels of ticks in the plane as texts of the picture, in the colour `ink` unless the look has one.
function labels.put(w, p, axis, list, look, ink)
  local size, color, angle = look and look.fontsize or EM, look and look.color or ink, look and look.rotation or 0
  local l, scale, upper = p.limits[axis], scales.of(p.axes, axis), p.axes.own == axis
  local align, aside = layout.align_of(look, upper)
  for _, tick in ipairs(list) do
    local at = scales.fraction(tick[1], l, scale)
    local inside = at > -NEAR and at < 1 + NEAR
    local own = { size = size, angle = angle, color = color }
    if inside and axis == "x" then
      put_x(w, p, tick[2], p.x0 + at * (p.x1 - p.x0), upper, own, align, aside)
    elseif inside then
      put_y(w, p, tick[2], p.y0 + at * (p.y1 - p.y0), upper, own)
    end
  end
end

-- The labels of a moved axis y that do not touch the labels of the axis x.
function labels.apart_from_x(p, axis, list)
  local line, below = spines.moved(p, "y"), spines.moved(p, "x") or p.y0
  if axis == "x" or p.axes.hidden then return list end
  local kept = {}
  for _, tick in ipairs(list) do
    local w, h = layout.box(tick[2], layout.tick_look(p, "y"))
    local right = line - 0.85 * EM
    local y = p.y0 + scales.fraction(tick[1], p.limits.y, scales.of(p.axes, "y")) * (p.y1 - p.y0)
    local free = true
    for _, other in ipairs(p.ticks.x) do
      local ow, oh = layout.box(other[2], layout.tick_look(p, "x"))
      local x = p.x0 + scales.fraction(other[1], p.limits.x, scales.of(p.axes, "x")) * (p.x1 - p.x0)
      local beside = x - ow / 2 > right or x + ow / 2 < right - w
      free = free and (beside or y - h / 2 > below - 0.75 * EM or y + h / 2 < below - 0.75 * EM - oh)
    end
    if free then kept[#kept + 1] = tick end
  end
  return kept
end

return labels
