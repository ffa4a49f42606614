-- nslua.plot.gnuplot: a figure as commands and data for gnuplot, and gnuplot as a process.
--
-- Commands go to gnuplot through a pipe. Pictures come back through a pipe and are written here, so that neither
-- gnuplot nor a shell gets the name of a file. Data are named blocks of numbers; texts are literals
-- (nslua.plot.text). Margins, limits and ticks are always set (nslua.plot.layout), so that all terminals draw the
-- same picture.

local cells = require "nslua.plot.cells"
local colorbar = require "nslua.plot.colorbar"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local layout = require "nslua.plot.layout"
local style = require "nslua.plot.style"
local text = require "nslua.plot.text"

local process, thin = core.process_support, core.thin_support
local format = core.number_support.format
local fail = data.fail
local max, min, floor = math.max, math.min, math.floor

local gnuplot = {}

local EM = layout.EM
local FONT_SIZE = EM -- points
local DARK, MIDDLE, LIGHT = "#262626", "#595959", "#E4E4E4"

-- ---- terminals ----

local function number(x) return format("%.6g", x) end

-- For each terminal: the command that sets it up for a figure of w x h inches.
local terminals = {}

-- Units of terminals that differ from the usual ones: `point` is the pointsize of 6/72 inch, `letter` the font size
-- of 1/72 inch.
local units = { svg = { point = 0.8, letter = 96 / 72 } }
local usual_units = { point = 1, letter = 1 }

function terminals.png(w, h, dpi)
  return ('set terminal pngcairo size %d,%d enhanced font "DejaVu Sans,%d" fontscale %s linewidth %s ' ..
    'pointscale %s dashlength %s background "#FFFFFF"'):format(floor(w * dpi + 0.5), floor(h * dpi + 0.5), FONT_SIZE,
      number(dpi / 96),
    number(dpi / 72), number(dpi / 72), number(0.8))
end

function terminals.svg(w, h)
  return ('set terminal svg size %d,%d enhanced font "DejaVu Sans, Helvetica, Arial, sans-serif,%s" linewidth %s ' ..
    'dashlength 0.6 background "#FFFFFF"'):format(floor(w * 96 + 0.5), floor(h * 96 + 0.5),
      number(FONT_SIZE * 96 / 72),
    number(96 / 72))
end

function terminals.pdf(w, h)
  return ('set terminal pdfcairo size %sin,%sin enhanced font "DejaVu Sans,%d" fontscale 1 linewidth 1 ' ..
    'pointscale 1 background "#FFFFFF"'):format(number(w), number(h), FONT_SIZE)
end

function terminals.sixel(w, h, dpi)
  return ('set terminal sixelgd size %d,%d enhanced truecolor font "DejaVu Sans,%d" fontscale %s ' ..
    'linewidth %s'):format(floor(w * dpi + 0.5), floor(h * dpi + 0.5), FONT_SIZE, number(dpi / 96), number(dpi / 72))
end

function terminals.dumb(_, _, _, figure)
  return ("set terminal dumb noenhanced mono size %d,%d"):format(figure.columns or 79, figure.lines or 24)
end

local function window(name)
  return function(w, h)
    return ('set terminal %s size %d,%d enhanced font "DejaVu Sans,%d" title "nslua" persist'):format(name,
      floor(w * 100 + 0.5), floor(h * 100 + 0.5), FONT_SIZE)
  end
end
for _, name in ipairs { "qt", "wxt", "x11", "aqua" } do terminals[name] = window(name) end

-- ---- commands ----

local Writer = {}
Writer.__index = Writer

function Writer:line(s, ...)
  self.lines[#self.lines + 1] = select("#", ...) > 0 and format(s, ...) or s
end

-- Writes a block of data and returns its name.
function Writer:block(rows)
  self.blocks = self.blocks + 1
  local name = "$d" .. self.blocks
  self:line("%s << END\n%sEND", name, rows)
  return name
end

function Writer:quote(s) return text.quote(s, self.bare) end

local transparent = style.transparent

local function line_part(a, k)
  local dash = a.dash and a.dash ~= "solid" and " dt " .. a.dash or ""
  return ("lt %d lw %s lc rgb \"%s\"%s"):format(k, number(a.linewidth), transparent(a.color, a.alpha), dash)
end

-- The size of a marker for gnuplot, from its size in points.
local function point_size(w, a) return w.point / 6 * a.marker[3] end

local function point_part(w, a, hollow)
  local size = a.sizes and "variable" or number(a.markersize * point_size(w, a))
  return ("pt %d ps %s"):format(hollow and a.marker[2] or a.marker[1], size)
end

-- Replaces numbers that a logarithmic axis cannot show by gaps.
local function shown(column, log)
  return log and column:map(function(x) return x > 0 and x or 0 / 0 end) or column
end

-- The columns that gnuplot is to draw.
local function rows_of(axes, columns)
  local list = {}
  for i, c in ipairs(columns) do list[i] = shown(c, axes.logs[i == 1 and "x" or i == 2 and "y" or "z"]) end
  return process.rows(list)
end

local MANY = 4000 -- curves with at most so many points are drawn as they are
local FINE = 0.1 -- distance that nobody sees, in 1/72 inch; longer curves lose points by which they differ less

-- The axes of a panel in the form that thin_support takes.
local function axes_of(w, axes, p)
  local l, logs = p.limits, axes.logs
  return l.x[1], l.x[2], (p.x1 - p.x0) / w.fine, logs.x or false, l.y[1], l.y[2], (p.y1 - p.y0) / w.fine, logs.y
end

-- The columns of a curve. A long curve loses the points that make no difference to the picture.
local function thinned(w, columns, axes, p)
  if #columns[1] <= MANY or axes.three_d then return columns end
  local x, y = columns[1], shown(columns[2], axes.logs.y)
  local u, v = thin.columns(x, y, axes_of(w, axes, p))
  return { thin.distance(u or x, v or y, axes_of(w, axes, p)) }
end

-- Writers of artists: each returns plotting elements "$d1 using 1:2 with ...", without titles.
local elements = setmetatable({}, { __index = require "nslua.plot.elements" })

local NARROW = 4 -- mean width of steps, in 1/72 inch, below which their corners need not be exact

-- The columns of a line. Steps are drawn as a line through their corners, since gnuplot draws its own steps in many
-- pieces. In a PNG gnuplot moves vertical and horizontal lines to whole dots; narrow steps would look ragged by
-- that.
local function path_of(w, a, axes, p)
  if not a.steps then return a.columns end
  local x, y = a.columns[1], shown(a.columns[2], axes.logs.y)
  local u, v = thin.corners(x, y, a.steps)
  if #u * NARROW > 2 * (p.x1 - p.x0) then u, v = thin.corners(x, y, a.steps, axes_of(w, axes, p)) end
  return { u, v }
end

-- Whether the edge of a marker has another colour than its face.
local function marker_of_two(a)
  return a.marker and not a.hollow and not a.edgeless and (a.face or a.color) ~= (a.marker_edge or a.color)
end

function elements.line(w, axes, a, k, p)
  local using = axes.three_d and " using 1:2:3" or " using 1:2"
  local drawn, list = a.dash and a.linewidth > 0, {}
  local points = a.marker and (w.bare and ("pt %d"):format(k) or point_part(w, a, a.hollow))
  local two = marker_of_two(a)
  local marked = a.marker and w:block(rows_of(axes, a.columns)) .. using
  if drawn and marked and not a.steps and not a.hollow and not a.face and not two then
    return { ("%s with linespoints %s %s pi %d"):format(marked, line_part(a, k), points, a.markevery or 1) }
  end
  if drawn then
    local name = w:block(rows_of(axes, thinned(w, path_of(w, a, axes, p), axes, p)))
    list[1] = ("%s%s with lines %s"):format(name, using, line_part(a, k))
  end
  if marked then
    local every = a.markevery and (" every " .. a.markevery) or ""
    local ink = a.hollow and a.marker_edge or a.face or a.color
    list[#list + 1] = ('%s%s with points lt %d lc rgb "%s" lw %s %s'):format(marked, every, k,
      transparent(ink, a.alpha), number(a.hollow and 1.2 or 0.7), points)
    if two and not w.bare then
      list[#list + 1] = ('%s%s with points lt %d lc rgb "%s" lw 1 %s'):format(marked, every, k,
        transparent(a.marker_edge or a.color, a.alpha), point_part(w, a, true))
    end
  end
  return list
end

elements.step = elements.line

function elements.scatter(w, axes, a, k)
  local sizes, points = a.sizes and a.sizes * point_size(w, a), point_part(w, a, a.hollow)
  if not a.values then
    local name = w:block(rows_of(axes, { a.columns[1], a.columns[2], sizes }))
    return { ('%s using 1:2%s with points lt %d lc rgb "%s" %s'):format(name, sizes and ":3" or "", k,
      transparent(a.color, a.alpha), points) }
  end
  local lo, hi = data.range { a.values }
  local colors = a.values:map(function(v)
    local c = style.map_color(a.map, hi and hi > lo and v == v and (v - lo) / (hi - lo) or 0)
    return tonumber(transparent(c, a.alpha):sub(2), 16)
  end)
  local name = w:block(process.rows { a.columns[1], a.columns[2], sizes or colors, sizes and colors })
  return { ("%s using 1:2:3%s with points lc rgb variable %s"):format(name, sizes and ":4" or "", points) }
end

function elements.fill(w, _, a, k)
  local x, y = a.columns[1]:totable(), a.columns[2]:totable()
  x[#x + 1], y[#y + 1] = x[1], y[1]
  local name = w:block(process.rows { x, y })
  local list = { ('%s using 1:2 with filledcurves closed lt %d fc rgb "%s" fs solid 1 noborder'):format(name, k,
    transparent(a.color, a.alpha)) }
  if a.edge then list[2] = ('%s using 1:2 with lines lt %d lw %s lc rgb "%s"'):format(name, k, number(a.linewidth),
    a.edge) end
  return list
end

function elements.cells(w, _, a)
  local name = w:block(process.rows(cells.rows(a)))
  return { name .. " using 1:2:3:4:5:6:7 with boxxyerror lw 0.4 lc rgb variable fs solid 1" }
end

function elements.between(w, _, a, k)
  local name = w:block(process.rows { a.columns[1], a.columns[2], a.other })
  return { ('%s using 1:2:3 with filledcurves lt %d fc rgb "%s" fs solid 1 noborder'):format(name, k,
    transparent(a.color, a.alpha)) }
end

function elements.vectors(w, _, a, k, p)
  local name = w:block(process.rows { a.columns[1], a.columns[2], a.vectors[1], a.vectors[2] })
  return { ('%s using 1:2:3:4 with vectors %s filled size screen %s,18 %slt %d lw %s lc rgb "%s"'):format(name,
    a.heads or "head", number(a.head * 460 / p.fw), a.fixed and "fixed " or "", k, number(a.linewidth), a.color) }
end

function elements.across(w, _, a, k, p)
  local l = p.limits[a.direction]
  local x, y = { l[1], l[2] }, { a.at, a.at }
  if a.direction == "y" then x, y = y, x end
  return { ("%s using 1:2 with lines %s"):format(w:block(process.rows { x, y }), line_part(a, k)) }
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

-- ---- words ----

-- The font of a look, or of the size `usual`; empty when it is the size of the terminal.
local function font_part(w, look, usual)
  local size = look and look.fontsize or usual
  return size == EM and "" or (' font ",%s"'):format(number(size * w.letter))
end

-- The colour and the font of a text with a look.
local function look_part(w, look, usual)
  return (' textcolor rgb "%s"%s'):format(look and look.color or DARK, font_part(w, look, usual or EM))
end

-- ---- the legend ----

local spots = {
  ["upper right"] = "top right", ["upper left"] = "top left", ["lower right"] = "bottom right",
    ["lower left"] = "bottom left",
  ["upper center"] = "top center", ["lower center"] = "bottom center", ["center right"] = "center right",
  ["center left"] = "center left",
}

-- How many points of the curves of a panel lie between x0 and x1, y0 and y1, which are fractions of the panel.
local function points_within(p, x0, x1, y0, y1)
  local fraction, count = layout.fraction, 0
  for _, a in ipairs(p.axes.artists) do
    local x, y = a.columns[1], a.columns[2]
    local n = a.direction and 0 or min(#x, #y)
    local before_x, before_y
    for i = 1, n, max(1, n // 400) do
      local u, v = fraction(x[i], p.limits.x, p.axes.logs.x), fraction(y[i], p.limits.y, p.axes.logs.y)
      local parts = before_x and 4 or 1
      for k = 1, parts do -- points between the data count too, so that curves of few points are seen
        local s, t = u, v
        if k < parts then s, t = before_x + (u - before_x) * k / parts, before_y + (v - before_y) * k / parts end
        if s >= x0 and s <= x1 and t >= y0 and t <= y1 then count = count + 1 end
      end
      before_x, before_y = u, v
    end
  end
  return count
end

-- The corner where the legend hides the fewest points, also those of a twin, whose legend stands elsewhere. w, h: its
-- size as fractions of the panel.
local function best_spot(p, w, h)
  local best, fewest
  for _, name in ipairs { "upper right", "upper left", "lower right", "lower left", "center right",
    "upper center" } do
    local x0 = name:find "right" and 1 - w or name:find "left" and 0 or 0.5 - w / 2
    local y0 = name:find "upper" and 1 - h or name:find "lower" and 0 or 0.5 - h / 2
    local count = points_within(p, x0, x0 + w, y0, y0 + h)
    for _, mate in ipairs(p.mates or {}) do
      count = count + points_within(mate, x0, x0 + w, y0, y0 + h)
      if mate.spot == name or mate.axes.legend_at and mate.axes.legend_at.loc == name then count = count + 1e6 end
    end
    if not fewest or count < (name:find "center" and fewest / 2 or fewest) then best, fewest = name, count end
  end
  p.spot = best
  return best
end

-- The place of a legend in space: a corner of the panel, beside the box, whose edges it does not cover.
local function spot_in_space(p, loc)
  local c, gap = p.cell, EM
  local x = loc:find "left" and c[1] + gap or loc:find "right" and c[3] - gap or (c[1] + c[3]) / 2
  local y = loc:find "upper" and c[4] - gap or loc:find "lower" and c[2] + gap or (c[2] + c[4]) / 2
  return format("at screen %.6g,%.6g %s", x / p.fw, y / p.fh, spots[loc])
end

local function write_legend(w, p)
  local at, words, count = p.axes.legend_at, 0, 0
  for _, a in ipairs(p.axes.artists) do
    if a.label then words, count = max(words, (text.size(a.label))), count + 1 end
  end
  if not at or count == 0 then return w:line "unset key" end
  local columns, em = at.ncol or 1, at.fontsize or EM
  local loc = at.loc
  if loc == "best" then
    local lines = math.ceil(count / columns)
    loc = p.axes.three_d and "upper right" or
      best_spot(p, (words + 4) * columns * em / (p.x1 - p.x0), (1.35 * lines + 1.2) * em / (p.y1 - p.y0))
  end
  local in_space = p.axes.three_d and loc ~= "outside"
  local place = loc == "outside" and "outside right top" or in_space and spot_in_space(p, loc) or
    "inside " .. spots[loc]
  w:line('set key %s Left reverse vertical maxcols %d samplen 2 spacing 1.15 width 0 height 0.3 %s nobox ' ..
    'textcolor rgb "%s"%s', place, columns, in_space and "noopaque" or 'opaque fc rgb "#40FFFFFF"', DARK,
    font_part(w, at, EM))
end

-- ---- a panel ----

-- A limit, written with the same digits as data, so that a point on it is not outside.
local function exact(x)
  local short = format("%.15g", x)
  return tonumber(short) == x and short or format("%.17g", x)
end

-- A place on an axis. It is moved to a limit that differs from it only by rounding.
local function place_on(x, l, log)
  local at = layout.fraction(x, l, log)
  if math.abs(at) <= 1e-9 then return exact(l[1]) end
  if math.abs(at - 1) <= 1e-9 then return exact(l[2]) end
  return format("%.12g", x)
end

-- Rotated labels end at their ticks. Others are centred below the ticks of the x axis and end beside those of y.
local function turn_part(look)
  local angle = look and look.rotation or 0
  return angle % 360 == 0 and "norotate" or ("rotate by %s right"):format(number(angle))
end

local function write_ticks(w, p, axis, list, bare)
  local axes, words, look, l, log = p.axes, {}, p.axes.tick_looks[axis], p.limits[axis], p.axes.logs[axis]
  for i, tick in ipairs(list) do
    local label = bare and '""' or w:quote((tick[2]:gsub("%%", "%%%%")))
    words[i] = ("%s %s"):format(label, place_on(tick[1], l, log))
  end
  for _, place in ipairs(list.minor or {}) do words[#words + 1] = ('"" %s 1'):format(place_on(place, l, log)) end
  if axes.hidden or #words == 0 then return w:line("unset %stics", axis) end
  local name = axes.twin and axis .. "2" or axis
  local offset = not axes.three_d and "0,0" or axis == "x" and "-0.5,-0.5" or axis == "y" and "0.5,-0.3" or "0,0.2"
  w:line('set %stics scale 0.5,0.3 nomirror out %s offset %s%s (%s)', name, turn_part(look), offset,
    look_part(w, look), table.concat(words, ", "))
end

-- The grid of a panel, for the axes in `list`.
local function write_grid(w, axes, list, more)
  local look, words = axes.grid_look or {}, {}
  local which, only = look.which or "major", look.axis or "both"
  if axes.hidden or not axes.show_grid or look.dash == "none" then return end
  for _, axis in ipairs(list) do
    if only == "both" or only == axis or axis == "z" then
      if which ~= "minor" then words[#words + 1] = axis .. "tics" end
      if which ~= "major" then words[#words + 1] = "m" .. axis .. "tics" end
    end
  end
  local dash = look.dash and look.dash ~= "solid" and " dt " .. look.dash or ""
  local line = ('lt 1 lw %s%s lc rgb "%s"'):format(number(look.linewidth or 0.6), dash,
    transparent(look.color or LIGHT, look.alpha))
  if which ~= "major" then line = line .. ", " .. line end
  w:line("set grid %s%s %s", table.concat(words, " "), more, line)
end

local function write_scales(w, p)
  for _, axis in ipairs(p.axes.three_d and { "x", "y", "z" } or { "x", "y" }) do
    local l = p.limits[axis]
    if p.axes.logs[axis] then w:line("set logscale %s 10", axis) end
    w:line("set %srange [%s:%s]", axis, exact(l[1]), exact(l[2]))
  end
  if p.axes.twin then
    if p.axes.logs.y then w:line "set logscale y2 10" end
    w:line("set y2range [%s:%s]", exact(p.limits.y[1]), exact(p.limits.y[2]))
    w:line "unset xtics; unset ytics"
  end
end

local function write_frame(w, p)
  local axes, fw, fh = p.axes, p.fw, p.fh
  if w.bare then
    local c = p.cell
    w:line("set origin %s,%s", number(c[1] / fw), number(c[2] / fh))
    w:line("set size %s,%s", number((c[3] - c[1]) / fw), number((c[4] - c[2]) / fh))
    if #p.mates > 0 then w:line "set lmargin 9; set rmargin 9; set tmargin 2; set bmargin 3" end -- twins coincide
  else
    w:line("set lmargin at screen %s", number(p.x0 / fw))
    w:line("set rmargin at screen %s", number(p.x1 / fw))
    w:line("set bmargin at screen %s", number(p.y0 / fh))
    w:line("set tmargin at screen %s", number(p.y1 / fh))
  end
  if axes.hidden then
    w:line "unset border"
  else
    w:line('set border %d lw 0.8 lc rgb "%s"', axes.twin and 8 or 3, MIDDLE)
  end
  if not w.bare then write_grid(w, axes, { "x", "y" }, "") end
end

-- A text beside the panel, at (x, y) in 1/72 inch. It is a label, since some terminals leave out the name of an
-- axis.
local function put_words(w, p, words, x, y, more)
  w:line('set label %s at screen %s,screen %s %s', w:quote(words), number(x / p.fw), number(y / p.fh), more)
end

local function write_exponents(w, p)
  for _, axis in ipairs { "x", "y" } do
    local e = p.ticks[axis].exponent
    if e and not p.axes.hidden and not (axis == "x" and (p.bare_x or p.axes.twin) or axis == "y" and p.bare_y) then
      local words = w.bare and ("x10^%d"):format(e) or ("$×10^{%s}$"):format((tostring(e):gsub("-", "−")))
      local ink = (' textcolor rgb "%s"'):format(MIDDLE)
      if w.bare then
        w:line("set label %s at graph %s", w:quote(words), axis == "y" and "0, graph 1 left offset 0,0.6" or
          "1, graph 0 right offset 0,-2")
      elseif axis == "y" then
        local twin = p.axes.twin
        put_words(w, p, words, twin and p.x1 or p.x0, p.y1 + 0.75 * EM, (twin and "right" or "left") .. ink)
      else
        put_words(w, p, words, p.x1, p.y0 - 1.55 * EM - p.tick_height, "right" .. ink)
      end
    end
  end
end

local function turned(look, usual)
  local angle = look.rotation or usual
  return angle == 0 and "center" or "center rotate by " .. number(angle)
end

-- The name of the x axis: its first line stands 1.6 em below the numbers.
local function write_name_below(w, p, name, look)
  if not name then return end
  local below = (p.bare_x or p.axes.hidden) and 1.4 * EM or 1.6 * EM + p.tick_height
  local _, height = layout.box(name, look)
  local _, lines = text.size(name)
  local upright = (look.rotation or 0) % 180 == 0
  local more = (upright and height / lines or height) / 2 - 0.575 * EM
  put_words(w, p, name, (p.x0 + p.x1) / 2, p.y0 - below - more, turned(look, 0) .. look_part(w, look))
end

local function write_name_beside(w, p, name, look)
  if not name then return end
  local room = layout.box(name, look, 90)
  local x = p.x0 - p.left + 0.375 * EM + room / 2
  if p.axes.twin then x = p.x1 + p.right - 0.375 * EM - room / 2 end
  put_words(w, p, name, x, (p.y0 + p.y1) / 2,
    turned(look, 90) .. look_part(w, look))
end

local function write_heading(w, axes)
  if not axes.heading then return end
  w:line('set title %s%s offset 0,-0.4', w:quote(axes.heading), look_part(w, axes.heading_look, FONT_SIZE + 1))
end

-- Names of the axes and the heading, in the plane.
local function write_names(w, p)
  if w.bare then
    for axis, name in pairs(p.axes.names) do
      w:line("set %slabel %s", p.axes.twin and axis .. "2" or axis, w:quote(name))
    end
  else
    if not p.axes.twin then write_name_below(w, p, p.axes.names.x, p.axes.looks.x) end
    write_name_beside(w, p, p.axes.names.y, p.axes.looks.y)
  end
  write_heading(w, p.axes)
end

local function write_names_in_space(w, p)
  local axes = p.axes
  for axis, name in pairs(axes.names) do
    local angle = axes.looks[axis].rotation
    local turn = angle and "rotate by " .. number(angle) or "rotate parallel"
    w:line('set %slabel %s%s %s', axis, w:quote(name), look_part(w, axes.looks[axis]),
      w.bare and "" or axis == "z" and turn or "offset 0,-0.4 " .. turn)
  end
  write_heading(w, axes)
end

-- A style for the box around a text, and the words that give it to a label; empty for a text without box.
local function box_part(w, box)
  if not box or w.bare then return "" end
  w.boxes = (w.boxes or 0) + 1
  w:line('set style textbox %d %s margins %s,%s %s', w.boxes,
    box.face and ('opaque fillcolor rgb "%s"'):format(transparent(box.face, box.alpha)) or "noopaque",
    number(box.pad), number(box.pad),
    box.edge and ('border rgb "%s" lw %s'):format(box.edge, number(box.linewidth)) or "noborder")
  return (" boxed bs %d"):format(w.boxes)
end

local function write_texts(w, p)
  for _, a in ipairs(p.axes.artists) do
    if a.kind == "text" then
      local place = {}
      for i, c in ipairs(a.columns) do place[i] = format("%.15g", c[1]) end
      w:line('set label %s at %s %s front textcolor rgb "%s" rotate by %s%s%s', w:quote(a.text), table.concat(place,
        ","),
        a.align, a.color or DARK, number(a.rotation or 0), font_part(w, { fontsize = a.size }, EM),
        box_part(w, a.box))
    end
  end
end

local function title_of(w, axes, artist, first)
  if not (first and artist.label and axes.legend_at) then return "notitle" end
  return "title " .. w:quote(artist.label)
end

-- The elements of all artists, faces first, each with its title.
local function elements_of(w, p)
  local list, drawn, index = {}, {}, {}
  for _, a in ipairs(p.axes.artists) do
    if a.kind == "faces" then table.insert(drawn, #index + 1, a) index[#index + 1] = a else drawn[#drawn + 1] = a end
  end
  for k, a in ipairs(drawn) do
    local write = elements[a.kind]
    for i, element in ipairs(write and write(w, p.axes, a, k, p) or {}) do
      list[#list + 1] = element .. " " .. title_of(w, p.axes, a, i == 1)
    end
  end
  if #list == 0 then list[1] = p.axes.three_d and "1/0 notitle" or "1/0 notitle" end
  return list
end

local function write_space(w, p)
  local axes, c, fw, fh = p.axes, p.cell, p.fw, p.fh
  local elevation, azimuth = axes.elevation or 28, axes.azimuth or -60
  p.ticks = {}
  for _, axis in ipairs { "x", "y", "z" } do p.ticks[axis] = layout.ticks(axes, axis, p.limits[axis], 5) end
  w:line("set origin %s,%s", number(c[1] / fw), number(c[2] / fh))
  w:line("set size %s,%s", number((c[3] - c[1]) / fw), number((c[4] - c[2]) / fh))
  w:line("set view %s,%s,%s,1", number(90 - elevation), number((azimuth + 90) % 360), number(1.0))
  w:line("set xyplane at %.15g", min(p.limits.z[1], p.limits.z[2]))
  w:line('set border 127+256+512 lw 0.8 lc rgb "%s"', "#9A9A9A")
  write_grid(w, axes, { "x", "y", "z" }, " vertical")
  write_scales(w, p)
  for _, axis in ipairs { "x", "y", "z" } do write_ticks(w, p, axis, p.ticks[axis]) end
  write_names_in_space(w, p)
  write_texts(w, p)
  write_legend(w, p)
  local list = elements_of(w, p)
  local edge = w.edge
  w.edge = nil
  w:line("set pm3d depthorder corners2color c1%s",
    edge and (' border lc rgb "%s" lw %s'):format(edge[1], number(edge[2])) or " noborder")
  w:line "unset colorbox"
  w:line("splot " .. table.concat(list, ", \\\n  "))
end

local function write_plane(w, p)
  write_frame(w, p)
  write_scales(w, p)
  if not p.axes.twin then write_ticks(w, p, "x", p.ticks.x, p.bare_x) end
  write_ticks(w, p, "y", p.ticks.y, p.bare_y)
  write_exponents(w, p)
  write_names(w, p)
  write_texts(w, p)
  write_legend(w, p)
  w:line("plot " .. table.concat(elements_of(w, p), ", \\\n  "))
  if p.axes.color_bar and not w.bare then colorbar.write(w, p, EM, DARK, MIDDLE) end
end

-- The commands that draw a figure of w x h inches in a terminal.
function gnuplot.commands(figure, terminal, w, h, dpi)
  local fw, fh = w * 72, h * 72
  local unit = units[terminal] or usual_units
  local writer = setmetatable({ lines = {}, blocks = 0, bare = terminal == "dumb", point = unit.point,
    letter = unit.letter }, Writer)
  writer.fine = min(FINE, 36 / dpi) -- at most half a dot
  if not terminals[terminal] then
    local known = {}
    for name in pairs(terminals) do known[#known + 1] = name end
    table.sort(known)
    fail("commands: kind: expected one of %s, got %s", table.concat(known, ", "), data.describe(terminal))
  end
  writer:line "set encoding utf8"
  writer:line(terminals[terminal](w, h, dpi, figure))
  writer:line "set multiplot"
  for i, p in ipairs(layout.panels(figure, fw, fh)) do
    writer:line "reset"
    writer:line "set clip two" -- the middle of a line whose ends lie outside
    if i == 1 and figure.heading then
      writer:line("set label %s at screen 0.5,screen %s center%s", writer:quote(figure.heading),
        number(1 - 1.5 * EM / fh), look_part(writer, figure.heading_look, layout.HEADING))
    end
    (p.axes.three_d and write_space or write_plane)(writer, p)
  end
  writer:line "unset multiplot"
  return table.concat(writer.lines, "\n") .. "\n"
end

-- ---- the process ----

local MISSING = [[gnuplot is not installed; pictures need it: apt install gnuplot-nox (or gnuplot-qt, for windows).
Data can be saved without it: sol:save("run.csv")]]

-- The message of gnuplot without the lines of the commands that it repeats.
local function reason(err)
  local lines = {}
  for line in (err .. "\n"):gmatch "(.-)\n" do
    line = line:gsub("^%s+", ""):gsub("%s+$", "")
    if line ~= "" and line ~= "^" and not line:find "^gnuplot>" then lines[#lines + 1] = line end
  end
  return #lines > 0 and table.concat(lines, "; ") or "no reason given"
end

-- Runs gnuplot with these commands and returns what it has written.
function gnuplot.run(who, commands, ...)
  local result, message, missing = process.run({ "gnuplot", "--default-settings", ... }, commands)
  if missing then fail("%s: %s", who, MISSING) end
  if not result then fail("%s: %s", who, message) end
  if result.signal then fail("%s: gnuplot was ended by signal %d", who, result.signal) end
  if result.status ~= 0 then fail("%s: gnuplot: %s", who, reason(result.err)) end
  return result.out, result.err
end

-- The first terminal of gnuplot here that opens windows, or nil.
function gnuplot.window()
  local _, err = gnuplot.run("show", "print GPVAL_TERMINALS\n")
  for _, name in ipairs { "qt", "wxt", "aqua", "x11" } do
    if (" " .. err .. " "):find("[%s]" .. name .. "[%s]") then return name end
  end
end

return gnuplot
