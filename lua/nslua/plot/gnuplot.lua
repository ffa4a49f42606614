-- nslua.plot.gnuplot: a figure as commands and data for gnuplot, and gnuplot as a process.
--
-- Commands go to gnuplot through a pipe. Pictures come back through a pipe and are written here, so that neither
-- gnuplot nor a shell gets the name of a file. Data are named blocks of numbers; texts are literals
-- (nslua.plot.text). Margins, limits and ticks are always set (nslua.plot.layout), so that all terminals draw the
-- same picture.

local colorbar = require "nslua.plot.colorbar"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local entries = require "nslua.plot.entries"
local fonts = require "nslua.plot.fonts"
local inset = require "nslua.plot.inset"
local kinds = require "nslua.plot.kinds"
local labels = require "nslua.plot.labels"
local layout = require "nslua.plot.layout"
local legend = require "nslua.plot.legend"
local lists = require "nslua.base.lists"
local scales = require "nslua.plot.scales"
local spines = require "nslua.plot.spines"
local style = require "nslua.plot.style"
local tables = require "nslua.plot.tables"
local terminals = require "nslua.plot.terminals"
local text = require "nslua.plot.text"
local words = require "nslua.plot.words"

local process, thin = core.process_support, core.thin_support
local format = core.number_support.format
local fail = data.fail
local max, min, floor = math.max, math.min, math.floor

local gnuplot = {}

local EM = layout.EM
local DARK, MIDDLE, LIGHT = "#262626", layout.INK.frame, layout.INK.grid

-- ---- commands ----

local function number(x) return format("%.6g", x) end

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
  return ("lt %d lw %s lc rgb \"%s\"%s"):format(k, number(a.linewidth), transparent(a.color, a.alpha),
    style.dash_part(a.dash, a.linewidth))
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
  if #columns[1] <= MANY or axes.three_d or next(axes.symlogs) then return columns end
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
  if #u * NARROW > 2 * (p.x1 - p.x0) and not next(axes.symlogs) then u, v = thin.corners(x, y, a.steps,
    axes_of(w, axes, p)) end
  return { u, v }
end

-- Whether the edge of a marker has another colour than its face.
local function marker_of_two(a)
  return a.marker and not a.hollow and not a.edgeless and (a.face or a.color) ~= (a.marker_edge or a.color)
end

-- A line whose colour goes with a number at each point.
local function coloured_line(w, a)
  local lo, hi = a.range[1], a.range[2]
  local colors = a.values:map(function(v)
    local c = style.map_color(a.map, hi > lo and v == v and (v - lo) / (hi - lo) or 0)
    return tonumber(transparent(c, a.alpha):sub(2), 16)
  end)
  return { ("%s using 1:2:3 with lines lw %s lc rgb variable"):format(
    w:block(process.rows { a.columns[1], a.columns[2], colors }), number(a.linewidth)) }
end

function elements.line(w, axes, a, k, p)
  if a.values and a.range and not w.bare then return coloured_line(w, a) end
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
  local columns, using = { table.unpack(a.columns) }, "1:2"
  for i, axis in ipairs { "x", "y", "z" } do columns[i] = columns[i] and shown(columns[i], axes.logs[axis]) end
  columns[#columns + 1] = sizes
  if not a.values then
    for i = 3, #columns do using = using .. ":" .. i end
    return { ('%s using %s with points lt %d lc rgb "%s" %s'):format(w:block(process.rows(columns)), using, k,
      transparent(a.color, a.alpha), points) }
  end
  local lo, hi = (a.range or {})[1], (a.range or {})[2]
  local colors = a.values:map(function(v)
    local c = style.map_color(a.map, hi and hi > lo and v == v and max(0, min(1, (v - lo) / (hi - lo))) or 0)
    return tonumber(transparent(c, a.alpha):sub(2), 16)
  end)
  columns[#columns + 1] = colors
  for i = 3, #columns do using = using .. ":" .. i end
  return { ("%s using %s with points lc rgb variable %s"):format(w:block(process.rows(columns)), using, points) }
end

function elements.across(w, _, a, k, p)
  local l, scale = p.limits[a.direction], scales.of(p.axes, a.direction)
  local part = a.part or { 0, 1 }
  local x, y = { l[1], l[2] }, { a.at, a.at }
  for i = 1, 2 do
    if part[i] ~= i - 1 then x[i] = scales.at(part[i], l, scale) end
  end
  if a.direction == "y" then x, y = y, x end
  return { ("%s using 1:2 with lines %s"):format(w:block(process.rows { x, y }), line_part(a, k)) }
end

-- ---- words ----

-- The font of a look, or of the size `usual`; empty when it is the size of the terminal.
local function font_part(w, look, usual)
  local size = look and look.fontsize or usual
  return size == EM and "" or (' font ",%s"'):format(number(size * w.letter))
end

-- The colour and the font of a text with a look.
local function look_part(w, look)
  return (' textcolor rgb "%s"%s'):format(look and look.color or DARK, font_part(w, look, EM))
end

-- ---- a panel ----

local exact = core.number_support.exact -- of limits: they have the digits of data, so that no point on one is outside

-- A place on an axis. It is moved to a limit that differs from it only by rounding.
local function place_on(x, l, scale)
  local at = scales.fraction(x, l, scale)
  if math.abs(at) <= 1e-9 then return exact(l[1]) end
  if math.abs(at - 1) <= 1e-9 then return exact(l[2]) end
  return format("%.12g", x)
end

local function write_moved_ticks(w, p, axis, list)
  local places = lists.map(list, function(tick) return tick[1] end)
  spines.write_ticks(w, p, axis, { places, list.minor or {} }, MIDDLE)
end

local function write_ticks(w, p, axis, list, bare)
  local axes, marks, look, l = p.axes, {}, layout.tick_look(p, axis), p.limits[axis]
  local scale = scales.of(axes, axis)
  if axes.hidden or #list == 0 then return w:line("unset %stics", axis) end
  local moved = not w.bare and spines.moved(p, axis)
  local aside = axis == "x" and select(2, layout.align_of(look, axes.own == axis))
  local apart = not bare and not w.bare and not axes.three_d
    and (w.own_labels or moved or aside or labels.is_tall(list))
  if apart then labels.put(w, p, axis, moved and labels.apart_from_x(p, axis, list) or list, look, DARK) end
  if moved and not (look and look.marks == false) then write_moved_ticks(w, p, axis, list) end
  for i, tick in ipairs(list) do
    local label = (bare or apart) and '""' or w:quote((tick[2]:gsub("%%", "%%%%")))
    marks[i] = ("%s %s"):format(label, place_on(tick[1], l, scale))
  end
  for _, place in ipairs(list.minor or {}) do marks[#marks + 1] = ('"" %s 1'):format(place_on(place, l, scale)) end
  local name = axes.twin and axis .. "2" or axis
  local offset = not axes.three_d and "0,0" or axis == "x" and "-0.5,-0.5" or axis == "y" and "0.5,-0.3" or "0,0.2"
  w:line('set %stics scale %s nomirror %s %s offset %s%s (%s)', name,
    (moved or look and look.marks == false) and "0" or "0.5,0.3",
    look and look.direction or "out", labels.turn_part(axes, axis, look), offset, look_part(w, look),
    table.concat(marks, ", "))
end

-- The grid of a panel, for the axes in `list`.
local function write_grid(w, axes, list, more)
  local look, names = axes.grid_look or {}, {}
  local which, only = look.which or "major", look.axis or "both"
  if axes.hidden or not axes.show_grid or look.dash == "none" then return end
  for _, axis in ipairs(list) do
    if only == "both" or only == axis or axis == "z" then
      if which ~= "minor" then names[#names + 1] = axis .. "tics" end
      if which ~= "major" then names[#names + 1] = "m" .. axis .. "tics" end
    end
  end
  local width = look.linewidth or 0.6
  local line = ('lt 1 lw %s%s lc rgb "%s"'):format(number(width), style.dash_part(look.dash, width),
    transparent(look.color or LIGHT, look.alpha))
  if which ~= "major" then line = line .. ", " .. line end
  w:line("set grid %s%s %s", table.concat(names, " "), more, line)
end

local function write_scales(w, p)
  local own, axes = p.axes.own, p.axes
  for _, axis in ipairs(axes.three_d and { "x", "y", "z" } or { "x", "y" }) do
    local l, scale = p.limits[axis], scales.of(axes, axis)
    if scale then w:line(scales.command(axis, scale)) end
    w:line("set %srange [%s:%s]", axis, exact(l[1]), exact(l[2]))
    if axis == own then -- gnuplot draws along the first axes; the second ones have the ticks
      if scale then w:line(scales.command(axis .. "2", scale)) end
      w:line("set %s2range [%s:%s]", axis, exact(l[1]), exact(l[2]))
    end
  end
  if axes.twin then w:line "unset xtics; unset ytics" end
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
  if (axes.rect or axes.face) and not w.bare and not axes.disc then inset.write_paper(w, p, axes.face) end
  for _, child in ipairs(w.bare and {} or p.insets) do
    if child.axes.zoom then inset.write_zoom(w, p, child) end
  end
  spines.write(w, p, MIDDLE)
  if not w.bare then write_grid(w, axes, { "x", "y" }, "") end
end

-- A text at (x, y), in 1/72 inch. It is a label, since some terminals leave out the name of an axis.
local function put_words(w, p, s, x, y, look)
  look.size, look.color = look.size or EM, look.color or DARK
  words.put(w, p.fw, p.fh, s, x, y, look)
end

-- Whether the panel shows the numbers of the axis.
local function has_numbers(p, axis)
  if p.axes.hidden or p.axes.twin and p.axes.own ~= axis then return false end
  return not (axis == "x" and p.bare_x or axis == "y" and p.bare_y)
end

-- What the numbers of the axes leave out: a power of ten, and a number to be added.
local function write_notes(w, p)
  local second = p.axes.own
  for _, axis in ipairs { "x", "y" } do
    local s = p.ticks[axis].note
    if s and has_numbers(p, axis) then
      if w.bare then
        s = s:gsub("×", "x"):gsub("−", "-")
        w:line("set label %s at graph %s textcolor rgb \"%s\"", w:quote(s), axis == "y"
          and "0, graph 1 left offset 0,0.6" or "1, graph 0 right offset 0,-2", MIDDLE)
      elseif axis == "y" then
        put_words(w, p, s, second and p.x1 or p.x0, p.y1 + (p.note_lift or 0) + 0.85 * EM, { align = second
          and "right" or "left",
          color = MIDDLE })
      elseif second then
        put_words(w, p, s, p.x1, p.y1 + p.tick_height + 0.95 * EM, { align = "right", valign = "bottom",
          color = MIDDLE })
      else
        local y = p.y0 - (p.drop or 0) - 0.95 * EM - p.tick_height - (p.note_drop or 0)
        put_words(w, p, s, p.x1, y, { align = "right",
          valign = "top", color = MIDDLE })
      end
    end
  end
end

local function name_look(look, usual)
  return { size = look.fontsize, color = look.color, angle = look.rotation or usual, align = "center" }
end

-- The name of the x axis, beyond the numbers.
local function write_name_along(w, p, name, look)
  if not name then return end
  local _, height = layout.box(name, look)
  local gap = (p.bare_x or p.axes.hidden) and 0.7 * EM or 1.05 * EM + p.tick_height
  local y = p.y0 - (p.drop or 0) - gap - height / 2
  if p.axes.own == "x" then y = p.y1 + gap + height / 2 + (p.ticks.x.note and 1.4 * EM or 0) end
  put_words(w, p, name, (p.x0 + p.x1) / 2, y, name_look(look, 0))
end

local function write_name_beside(w, p, name, look)
  if not name then return end
  local room = layout.box(name, look, 90)
  local x = p.x0 - p.left + 0.375 * EM + room / 2
  if p.axes.twin then x = p.x1 + p.outside - 0.375 * EM - room / 2 end
  put_words(w, p, name, x, (p.y0 + p.y1) / 2, name_look(look, 90))
end

-- The heading of a panel, whose lower end is at y.
local function write_heading(w, p, x, y)
  local axes = p.axes
  if not axes.heading then return end
  if w.bare then return w:line("set title %s", w:quote(axes.heading)) end
  local loc = not axes.three_d and axes.heading_look.loc or "center"
  x = loc == "left" and p.x0 or loc == "right" and p.x1 or x
  put_words(w, p, p.names.head or axes.heading, x, y, { size = axes.heading_look.fontsize or EM + 1, align = loc,
    valign = "bottom",
    color = axes.heading_look.color })
end

-- Names of the axes and the heading, in the plane.
local function write_names(w, p)
  if w.bare then
    for axis, name in pairs(p.axes.names) do
      w:line("set %slabel %s", p.axes.twin and axis .. "2" or axis, w:quote(name))
    end
  else
    local own, names, looks = p.axes.own, p.names, p.axes.looks
    if own ~= "y" then write_name_along(w, p, names.x, looks.x) end
    if own ~= "x" then write_name_beside(w, p, names.y, looks.y) end
  end
  write_heading(w, p, (p.x0 + p.x1) / 2, p.y1 + (p.lift or 0) + layout.HEAD)
end

local function write_names_in_space(w, p)
  local axes = p.axes
  local names = {}
  for _, axis in ipairs { "x", "y", "z" } do
    local name, note = axes.names[axis], p.ticks[axis].note
    names[axis] = name and note and ("%s (%s)"):format(name, note) or name or note
  end
  for axis, name in pairs(names) do
    local angle = (axes.looks[axis] or {}).rotation
    local letter = text.size(name) < 1.5 -- it stands upright
    local turn = angle and "rotate by " .. number(angle) or letter and "norotate" or "rotate parallel"
    local widest = 0
    for _, tick in ipairs(p.ticks[axis]) do widest = max(widest, (text.size(tick[2]))) end
    local offset = axis == "z" and format("offset screen %.6g,0 ", -max(0, widest - 2.4) * EM / p.fw)
      or "offset 0,-0.4 "
    w:line('set %slabel %s%s %s', axis, w:quote(name), look_part(w, axes.looks[axis]), w.bare and "" or offset
      .. turn)
  end
  write_heading(w, p, (p.space[1] + p.space[3]) / 2, p.cell[4] - layout.heading_height(p) - 0.3 * EM)
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

local lifts = { top = -0.45, center = 0, bottom = 0.55, baseline = 0.325 } -- of a line in space, in em

local function write_text_in_space(w, p, a)
  local place, em = {}, a.size or EM
  for i, c in ipairs(a.columns) do place[i] = format("%.15g", c[1]) end
  local lift = lifts[a.valign or "baseline"] * em / p.fh
  w:line('set label %s at %s %s front textcolor rgb "%s" rotate by %s%s offset screen 0,screen %.6g%s',
    w:quote(a.text),
    table.concat(place, ","), a.align, a.color or DARK, number(a.rotation or 0), font_part(w, { fontsize = a.size },
      EM),
    lift, box_part(w, a.box))
end

local function write_texts(w, p)
  for _, a in ipairs(p.axes.artists) do
    local words_of = kinds[a.kind].words
    if words_of and (w.bare or p.axes.three_d) and not a.at then
      write_text_in_space(w, p, a)
    elseif words_of then
      local x, y = layout.place_of_text(p, a)
      local look = layout.look_of_text(a)
      look.color, look.box, look.layer = a.color or DARK, a.box, "front"
      if x then words.put(w, p.fw, p.fh, a.text, x, y, look) end
    end
  end
end

local function title_of(w, axes, artist, first)
  if not (w.bare and first and artist.label and axes.legend_at) then return "notitle" end
  return "title " .. w:quote(artist.label)
end

-- The artists in the order of their zorder, when one has it. Without one it is 1 of areas and 2 of others.
local function in_order(list)
  local any, places = false, {}
  for k, a in ipairs(list) do any, places[a] = any or a.zorder, k end
  if not any then return list end
  local function order(a) return a.zorder or kinds[a.kind].area and 1 or 2 end
  table.sort(list, function(a, b)
    if order(a) ~= order(b) then return order(a) < order(b) end
    return places[a] < places[b]
  end)
  return list
end

-- The elements of all artists, faces first, each with its title.
local function elements_of(w, p)
  local list, drawn, index = {}, {}, {}
  for _, a in ipairs(p.axes.artists) do
    if kinds[a.kind].first then
      table.insert(drawn, #index + 1, a)
      index[#index + 1] = a
    else
      drawn[#drawn + 1] = a
    end
  end
  for k, a in ipairs(in_order(drawn)) do
    local write = elements[a.kind]
    for i, element in ipairs(write and write(w, p.axes, a, k, p) or {}) do
      list[#list + 1] = element .. " " .. title_of(w, p.axes, a, i == 1)
    end
  end
  if #list == 0 then list[1] = p.axes.three_d and "1/0 notitle" or "1/0 notitle" end
  return list
end

-- The legend: gnuplot's own where a picture is made of characters.
local function write_legend(w, p)
  local at = p.axes.legend_at
  if not w.bare or not at then
    w:line "unset key"
    return not w.bare and legend.write(w, p, DARK)
  end
  w:line("set key inside %s Left reverse vertical maxcols %d", at.loc:find "left" and "top left" or "top right",
    at.ncol or 1)
end

-- The place of the axes in space: its cell without the heading and the legend.
local function space_of(p)
  local axes, c = p.axes, p.cell
  local at, top = axes.legend_at, axes.heading and layout.heading_height(p) + 0.6 * EM or 0
  local right = c[3]
  if at and at.loc == "best" then
    local size = entries.measure(axes, EM, at.ncol or #axes.artists, c[3] - c[1] - EM)
    if size then p.legend_columns, top = size.columns, top + size.h end
  elseif at and at.loc == "outside" then
    local size = entries.measure(axes, EM)
    right = right - (size and size.w + EM or 0)
  end
  local area = { c[1], c[2], right, c[4] - top }
  local size = at and at.anchor and entries.measure(axes, EM, nil, p.fw)
  if not size then return area end
  local none = { left = 0, right = 0, bottom = 0, top = 0 }
  local l, r, b, t = entries.rooms(at, size, area[3] - area[1], area[4] - area[2], none, none)
  return { area[1] + l, area[2] + b, area[3] - r, area[4] - t }
end

local BESIDE = 0.11 -- the cube ends so far from the sides of its space, in parts of its width, as it is seen at first

-- Makes the space of the axes smaller where the numbers and the names of the axes would leave the picture.
local function make_room_in_space(p)
  local c, names, widest = p.space, p.axes.names, {}
  for _, axis in ipairs { "x", "y", "z" } do
    widest[axis] = 0
    for _, tick in ipairs(p.ticks[axis]) do widest[axis] = max(widest[axis], (text.size(tick[2]))) end
  end
  local left = max(widest.z, 2.4) + 1 + (names.z and 2.4 or 0)
  local right = 1.2 + widest.y + (names.y and min(1.5, text.size(names.y) / 2) + max(0, widest.y - 2) or 0)
  local spare = BESIDE * (c[3] - c[1])
  c[1] = c[1] + max(0, left * EM - spare)
  c[3] = c[3] - max(0, right * EM - spare)
end

local function write_space(w, p)
  local axes, fw, fh = p.axes, p.fw, p.fh
  local elevation, azimuth = axes.elevation or 28, axes.azimuth or -60
  p.ticks, p.space = {}, space_of(p)
  local c = p.space
  local long = { x = 0.4 * (c[3] - c[1]) / 32, y = 0.28 * (c[3] - c[1]) / 22, z = 0.4 * (c[4] - c[2]) / 19 }
  for axis, room in pairs(long) do p.ticks[axis] = layout.ticks(axes, axis, p.limits[axis], min(5, room)) end
  make_room_in_space(p)
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

local function write_table(w, p)
  local t = p.axes.cells_table
  if not t or w.bare then return end
  local high = tables.size(t, EM)
  local y = t.loc == "top" and p.y1 + p.table_at or t.loc == "bottom" and p.y0 + p.table_at
    or (p.y0 + p.y1 + high) / 2
  tables.write(w, p, t, y, EM, DARK)
end

local function write_plane(w, p)
  local own = p.axes.own
  write_frame(w, p)
  write_scales(w, p)
  if own ~= "y" then write_ticks(w, p, "x", p.ticks.x, p.bare_x) end
  if own ~= "x" then write_ticks(w, p, "y", p.ticks.y, p.bare_y) end
  write_notes(w, p)
  write_names(w, p)
  write_texts(w, p)
  write_legend(w, p)
  write_table(w, p)
  w:line("plot " .. table.concat(elements_of(w, p), ", \\\n  "))
  if p.axes.color_bar and not w.bare then colorbar.write(w, p, EM, DARK, MIDDLE) end
end

-- Moves the edges of a panel with cells of colour to places between dots, so that the outer cells are not blurred.
local function put_on_dots(p, dot)
  local any = false
  for _, a in ipairs(p.axes.three_d and {} or p.axes.artists) do any = any or kinds[a.kind].on_dots end
  for _, axis in ipairs(any and { "x", "y" } or {}) do
    for _, key in ipairs { axis .. "0", axis .. "1" } do p[key] = (floor(p[key] / dot[axis]) + 0.5) * dot[axis] end
  end
end

-- The commands that draw a figure of w x h inches in a terminal.
function gnuplot.commands(figure, terminal, w, h, dpi)
  local scale = figure.letter_scale or 1
  local fw, fh = w * 72 / scale, h * 72 / scale -- lengths go with the letters
  local unit = terminals.unit(terminal)
  local writer = setmetatable({ lines = {}, blocks = 0, bare = terminal == "dumb", point = unit.point,
    letter = unit.letter * scale, usual = EM, own_labels = unit.own_labels }, Writer)
  if terminal == "png" then -- how far dots are from each other
    writer.dot = { x = fw / (floor(w * dpi + 0.5) - 1), y = fh / (floor(h * dpi + 0.5) - 1) }
  end
  writer.fine = min(FINE, 36 / dpi) -- at most half a dot
  if not terminals.setup[terminal] then
    local known = lists.keys(terminals.setup)
    fail("commands: kind: expected one of %s, got %s", table.concat(known, ", "), data.describe(terminal))
  end
  writer:line "set encoding utf8"
  writer:line(terminals.on_paper(terminals.setup[terminal](w, h, dpi, figure, EM * scale), terminal, figure))
  writer:line "set multiplot"
  for i, p in ipairs(layout.panels(figure, fw, fh)) do
    if writer.dot then put_on_dots(p, writer.dot) end
    writer:line "reset"
    writer:line "set clip two" -- the middle of a line whose ends lie outside
    if i == 1 and figure.heading and writer.bare then
      writer:line("set label %s at screen 0.5,screen %s center", writer:quote(figure.heading),
        number(1 - 1.5 * EM / fh))
    elseif i == 1 and figure.heading then
      words.put(writer, fw, fh, layout.wrapped_heading(figure, fw), fw / 2, fh - 0.5 * EM, { align = "center",
        valign = "top",
        size = figure.heading_look.fontsize or layout.HEADING, color = figure.heading_look.color or DARK })
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
  if commands:find "set terminal p%a+cairo " then commands = fonts.shown(who, commands) end
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
