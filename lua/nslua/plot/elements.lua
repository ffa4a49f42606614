-- nslua.plot.elements: the plotting elements of gnuplot for areas, arrows, faces and bars of errors.
-- nslua.plot.gnuplot has those for curves. Each function gets the writer, the axes, an artist, its number and its
-- panel; it returns a list.

local cells = require "nslua.plot.cells"
local core = require "nslua.core"
local scales = require "nslua.plot.scales"
local style = require "nslua.plot.style"
local words = require "nslua.plot.words"

local rows, format = core.process_support.rows, core.number_support.format
local transparent = style.transparent
local min, max, floor = math.min, math.max, math.floor

local function number(x) return format("%.6g", x) end

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

-- The line through a point with a direction, from edge to edge of the panel.
function elements.axline(w, axes, a, k, p)
  local x, y, dx, dy = table.unpack(a.ray)
  local lx, ly, xs, ys = p.limits.x, p.limits.y, {}, {}
  if scales.of(axes, "x") or scales.of(axes, "y") then -- it is curved there
    local n = 200
    for i = 0, n do
      local t = scales.at(i / n, lx, scales.of(axes, "x"))
      xs[i + 1], ys[i + 1] = dx == 0 and x or t, dx == 0 and scales.at(i / n, ly, scales.of(axes, "y"))
        or y + (t - x) * dy / dx
    end
  elseif dx == 0 then
    xs, ys = { x, x }, { ly[1], ly[2] }
  else
    xs, ys = { lx[1], lx[2] }, { y + (lx[1] - x) * dy / dx, y + (lx[2] - x) * dy / dx }
  end
  return { format('%s using 1:2 with lines lt %d lw %.6g lc rgb "%s"%s', w:block(rows { xs, ys }), k, a.linewidth,
    transparent(a.color, a.alpha), style.dash_part(a.dash, a.linewidth)) }
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

function elements.fill(w, _, a, k)
  local x, y = a.columns[1]:totable(), a.columns[2]:totable()
  x[#x + 1], y[#y + 1] = x[1], y[1]
  local name = w:block(rows { x, y })
  local list = { ('%s using 1:2 with filledcurves closed lt %d fc rgb "%s" fs solid 1 noborder'):format(name, k,
    transparent(a.color, a.alpha)) }
  if a.edge then list[2] = ('%s using 1:2 with lines lt %d lw %s lc rgb "%s"'):format(name, k, number(a.linewidth),
    a.edge) end
  return list
end

function elements.cells(w, axes, a, _, p)
  local edges = { x = a.x_edges, y = a.y_edges }
  for axis, list in pairs(w.dot and edges or {}) do
    local scale, from, to = scales.of(axes, axis), p[axis .. "0"], p[axis .. "1"]
    edges[axis] = scales.on_dots(list, p.limits[axis], scale, from, to, w.dot[axis])
  end
  local name = w:block(rows(cells.rows(a, edges)))
  return { name .. " using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid 1 noborder" }
end

function elements.between(w, _, a, k)
  local name = w:block(rows { a.columns[1], a.columns[2], a.other })
  return { ('%s using 1:2:3 with filledcurves lt %d fc rgb "%s" fs solid 1 noborder'):format(name, k,
    transparent(a.color, a.alpha)) }
end

function elements.vectors(w, _, a, k, p)
  local name = w:block(rows { a.columns[1], a.columns[2], a.vectors[1], a.vectors[2] })
  return { ('%s using 1:2:3:4 with vectors %s filled size screen %s,18 %slt %d lw %s lc rgb "%s"'):format(name,
    a.heads or "head", number(a.head * 460 / p.fw), a.fixed and "fixed " or "", k, number(a.linewidth), a.color) }
end

-- The normal of a face, with all axes scaled to the same length, and the height of the face between 0 and 1.
local function face_look(face, l)
  local function at(k)
    local base = 3 * ((k - 1) % (#face // 3))
    return (face[base + 1] - l.x[1]) / (l.x[2] - l.x[1]), (face[base + 2] - l.y[1]) / (l.y[2] - l.y[1]),
      (face[base + 3] - l.z[1]) / (l.z[2] - l.z[1])
  end
  local nx, ny, nz, height, n = 0, 0, 0, 0, #face // 3
  for k = 1, n do -- Newell's method
    local x, y, z = at(k)
    local u, v, t = at(k + 1)
    nx, ny, nz, height = nx + (y - v) * (z + t), ny + (z - t) * (x + u), nz + (x - u) * (y + v), height + z / n
  end
  local length = math.sqrt(nx * nx + ny * ny + nz * nz)
  if length == 0 then return 0, 0, 1, height end
  return nx / length, ny / length, nz / length, height
end

local function shaded(color, light)
  local rgb = {}
  for k = 1, 3 do
    local c = tonumber(color:sub(2 * k, 2 * k + 1), 16)
    rgb[k] = floor(min(255, c * light) + 0.5)
  end
  return rgb[1] << 16 | rgb[2] << 8 | rgb[3]
end

-- Writes a block of 2 x 2 points for each face; a triangle has one corner twice. gnuplot sorts the faces by depth.
function elements.faces(w, _, a, _, p)
  local out = {}
  local opacity = floor((1 - min(1, a.alpha)) * 255 + 0.5) << 24
  for i, f in ipairs(a.faces) do
    local nx, ny, nz, height = face_look(f, p.limits)
    local light = a.shade and 0.72 + 0.34 * math.abs(0.35 * nx - 0.45 * ny + 0.82 * nz) or 1
    local color = a.color or style.map_color(a.map, max(0, min(1, height)))
    local c, last = opacity | shaded(color, light), #f == 12 and 10 or 7
    local corner = "%.9g %.9g %.9g %d\n"
    out[i] = table.concat { format(corner, f[1], f[2], f[3], c), format(corner, f[4], f[5], f[6], c), "\n",
      format(corner, f[last], f[last + 1], f[last + 2], c), format(corner, f[7], f[8], f[9], c), "\n\n" }
  end
  if #out == 0 then return {} end
  w.edge = a.edge and { a.edge, a.linewidth } or w.edge
  return { w:block(table.concat(out)) .. " using 1:2:3:4 with pm3d fc rgb variable" }
end

return elements
