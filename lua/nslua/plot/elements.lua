-- nslua.plot.elements: the plotting elements of gnuplot for areas and for bars of errors. nslua.plot.gnuplot has
-- those for curves. Each function gets the writer, the axes, an artist, its number and its panel; it returns a list.

local core = require "nslua.core"
local style = require "nslua.plot.style"
local words = require "nslua.plot.words"

local rows, format = core.process_support.rows, core.number_support.format
local transparent = style.transparent

local elements = {}

-- A column in which the numbers that a logarithmic axis can not show are its lower limit.
local function held(column, log, l)
  local least = math.min(l[1], l[2])
  return log and column:map(function(x) return x > 0 and x or least end) or column
end

-- Rectangles with these edges.
local function boxes(w, a, k, box)
  local name = w:block(rows { box[1], box[3], box[1], box[2], box[3], box[4] })
  local border = a.edge and a.linewidth > 0 and ('border lc rgb "%s"'):format(a.edge) or "noborder"
  return { format('%s using 1:2:3:4:5:6 with boxxyerror lt %d lw %.6g fc rgb "%s" fs solid 1 %s', name, k,
    a.linewidth, transparent(a.color, a.alpha), border) }
end

function elements.boxes(w, axes, a, k, p)
  local box = {}
  for i, column in ipairs(a.box) do
    local axis = i <= 2 and "x" or "y"
    box[i] = held(column, axes.logs[axis], p.limits[axis])
  end
  return boxes(w, a, k, box)
end

-- The part of the panel between two places on an axis.
function elements.span(w, _, a, k, p)
  local l = p.limits
  local at = { x = l.x, y = l.y, [a.direction] = a.ends }
  return boxes(w, a, k, { core.vector { at.x[1] }, core.vector { at.x[2] }, core.vector { at.y[1] },
    core.vector { at.y[2] } })
end

-- Bars of errors are vectors whose heads are at right angles: their caps.
function elements.errors(w, axes, a, k, p)
  local x, y, upright = a.at[1], a.at[2], a.axis == "y"
  local from = held(a.from, axes.logs[a.axis], p.limits[a.axis])
  local none = core.full(#x, 0)
  local name = w:block(rows { upright and x or from, upright and from or y, upright and none or a.to - from,
    upright and a.to - from or none })
  local head = a.cap > 0 and format("heads size screen %.6g,90", a.cap / p.fw) or "nohead"
  return { format('%s using 1:2:3:4 with vectors %s lt %d lw %.6g lc rgb "%s"', name, head, k, a.linewidth, a.color) }
end

-- Where the text of a key is: its shift from the start of the arrow, in arrows, its alignments and its shift in em.
local beside = { N = { 0.5, "center", "bottom", 0, 0.3 }, S = { 0.5, "center", "top", 0, -0.3 },
  E = { 1, "left", "center", 0.6, 0 }, W = { 0, "right", "center", -0.6, 0 } }

-- An arrow with a text. The middle of the arrow is at the place.
function elements.key(w, _, a, _, p)
  local long, place = a.length / math.abs(p.limits.x[2] - p.limits.x[1]), beside[a.side]
  local x = a.at[1] - long / 2
  if w.bare then return {} end
  w:line('set arrow from graph %.6g,%.6g rto graph %.6g,0 head filled size screen %.6g,18 lw %.6g ' ..
    'lc rgb "%s" front', x, a.at[2], long, a.head * 460 / p.fw, a.linewidth, a.color)
  words.put(w, p.fw, p.fh, a.text, p.x0 + (x + place[1] * long) * (p.x1 - p.x0) + place[4] * w.usual,
    p.y0 + a.at[2] * (p.y1 - p.y0) + place[5] * w.usual, { size = w.usual, align = place[2], valign = place[3],
      color = "#262626", layer = "front" })
  return {}
end

-- Bands of colour. Lines of the same colour hide the seams between polygons.
function elements.bands(w, _, a)
  local list = {}
  for _, band in ipairs(a.bands) do
    if band[2] ~= "" then
      local name = w:block(band[2])
      list[#list + 1] = ('%s using 1:2 with filledcurves closed fc rgb "%s" fs solid 1 noborder'):format(name,
        band[1])
      list[#list + 1] = ('%s using 1:2 with lines lw 0.4 lc rgb "%s"'):format(name, band[1])
    end
  end
  return list
end

return elements
