-- nslua.plot.inset: panels at free places: in another panel, or anywhere on a figure.
--
-- Such axes have the field `rect`, { left, low, width, height } in parts of the panel `parent`, or of the figure when
-- there is none.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local scales = require "nslua.plot.scales"
local style = require "nslua.plot.style"

local fail, number = data.fail, data.number
local format = core.number_support.format

local inset = { methods = {} }
local methods = inset.methods

-- { left, low, width, height } from a script.
function inset.rectangle(who, rect)
  local good = type(rect) ~= "number" and (type(rect) == "table" or core.isvector(rect)) and #rect == 4
  for k = 1, good and 4 or 0 do
    good = good and type(rect[k]) == "number" and math.abs(rect[k]) < math.huge and (k < 3 or rect[k] > 0)
  end
  data.reject(not good, rect,
    "%s: expected {left, bottom, width, height} in parts of the %s", who, who == "inset_axes" and "panel" or "figure")
  return { rect[1], rect[2], rect[3], rect[4] }
end

-- inset_axes{left, bottom, width, height}: new axes in the panel; the rectangle is in parts of it.
function methods:inset_axes(rect, more)
  artists.in_plane(self, "inset_axes")
  data.nothing("inset_axes", more)
  local axes = getmetatable(self).new(self.figure, 1, 1, 1, 1)
  axes.rect, axes.parent, axes.framed = inset.rectangle("inset_axes", rect), self.twin or self, true
  table.insert(self.figure.panels, axes)
  self.figure.current = axes
  return axes
end

-- indicate_inset_zoom(inset [, {color =, linewidth =, alpha =}]): marks in this panel what the inset shows: a
-- rectangle with the limits of the inset, and lines to it. These axes may be the inset, too.
function methods:indicate_inset_zoom(axes, options)
  artists.in_plane(self, "indicate_inset_zoom")
  options = data.options("indicate_inset_zoom", options)
  if axes == self and self.parent then self = self.parent end
  if getmetatable(axes) ~= getmetatable(self) or axes.parent ~= self then
    fail("indicate_inset_zoom: expected axes from inset_axes of this panel, got %s",
      getmetatable(axes) == getmetatable(self) and "other axes" or data.describe(axes))
  end
  axes.zoom = { color = style.color("indicate_inset_zoom", options.color or options.edgecolor or "0.5"),
    linewidth = number("indicate_inset_zoom", "linewidth", options.linewidth or 0.8, 0),
    alpha = number("indicate_inset_zoom", "alpha", options.alpha or 1, 0) }
  return self
end

-- ---- layout ----

-- Places a panel with a rectangle. frame: left, low, right, high of the panel or the figure around it; margins: the
-- room of its words. A panel in another one gets smaller where its words would leave the other one.
function inset.place(p, frame, margins)
  local rect, w, h = p.axes.rect, frame[3] - frame[1], frame[4] - frame[2]
  local x0, y0 = frame[1] + rect[1] * w, frame[2] + rect[2] * h
  local x1, y1 = x0 + rect[3] * w, y0 + rect[4] * h
  local function within(lo, hi) return lo >= 0 and hi <= 1 + 1e-9 end
  if within(rect[1], rect[1] + rect[3]) then
    x0, x1 = math.max(x0, frame[1] + margins[1]), math.min(x1, frame[3] - math.min(margins[2], 4))
  end
  if within(rect[2], rect[2] + rect[4]) then
    y0, y1 = math.max(y0, frame[2] + margins[3]), math.min(y1, frame[4] - math.min(margins[4], 4))
  end
  p.x0, p.y0, p.x1, p.y1 = x0, y0, math.max(x1, x0 + 10), math.max(y1, y0 + 10)
  p.left = p.words and p.words.left or 0
  p.margins = { left = margins[1], right = margins[2], bottom = margins[3], top = margins[4] }
  p.cell = { p.x0 - margins[1], p.y0 - margins[3], p.x1 + margins[2], p.y1 + margins[4] }
end

-- ---- drawing ----

-- White or coloured paper behind a panel, as it is needed by one that lies on another.
function inset.write_paper(w, p, color)
  w:line('set object rectangle from screen %.6g,screen %.6g to screen %.6g,screen %.6g behind fc rgb "%s" '
    .. 'fs solid 1 noborder', p.x0 / p.fw, p.y0 / p.fh, p.x1 / p.fw, p.y1 / p.fh, color or "#FFFFFF")
end

-- The corner (i, j) of a rectangle { x0, y0, x1, y1 }: i, j = 1 for the lower one, 2 for the upper.
local function corner(r, i, j) return r[2 * i - 1], r[2 * j] end

-- Whether the line from the corner (i, j) of one rectangle to the same corner of another goes through one of them.
local function crosses(a, b, i, j)
  local x, y = corner(a, i, j)
  local u, v = corner(b, i, j)
  local right, up = u - x, v - y
  local function goes_in(dx, dy)
    return (i == 1 and dx > 0 or i == 2 and dx < 0) and (j == 1 and dy > 0 or j == 2 and dy < 0)
  end
  return goes_in(right, up) or goes_in(-right, -up)
end

-- Draws in a panel what one of its insets shows.
function inset.write_zoom(w, p, child)
  local look, l, r = child.axes.zoom, child.limits, {}
  for k, axis in ipairs { "x", "y", "x", "y" } do
    local from, to = axis == "x" and p.x0 or p.y0, axis == "x" and p.x1 or p.y1
    local a = scales.fraction(l[axis][1], p.limits[axis], scales.of(p.axes, axis))
    local b = scales.fraction(l[axis][2], p.limits[axis], scales.of(p.axes, axis))
    local at = k < 3 and math.min(a, b) or k > 2 and math.max(a, b)
    r[k] = from + math.max(0, math.min(1, at)) * (to - from)
  end
  local stroke = format('nohead front lw %.6g lc rgb "%s"', look.linewidth, style.transparent(look.color, look.alpha))
  local function line(x0, y0, x1, y1)
    w:line("set arrow from screen %.6g,screen %.6g to screen %.6g,screen %.6g %s", x0 / p.fw, y0 / p.fh, x1 / p.fw,
      y1 / p.fh, stroke)
  end
  line(r[1], r[2], r[3], r[2])
  line(r[3], r[2], r[3], r[4])
  line(r[3], r[4], r[1], r[4])
  line(r[1], r[4], r[1], r[2])
  local target = { child.x0, child.y0, child.x1, child.y1 }
  for i = 1, 2 do
    for j = 1, 2 do
      if not crosses(r, target, i, j) then
        local x, y = corner(r, i, j)
        line(x, y, corner(target, i, j))
      end
    end
  end
end

return inset
