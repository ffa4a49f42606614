-- nslua.film.film: an animation as a GIF or an MP4. gnuplot draws each picture and ffmpeg puts them together.
-- Without ffmpeg, gnuplot alone makes a GIF, with rough edges. This file does what painter.js does on a page: it
-- turns everything into polygons, lines and labels, in pixels. Both programs get their data through pipes, without a
-- shell.

local colours = require "nslua.plot.style"
local fonts = require "nslua.plot.fonts"
local format = require "nslua.core".number_support.format
local text = require "nslua.plot.text"

local film = {}

local function fail(message, ...) error(format(message, ...), 0) end

-- "#rrggbb" of a colour. A transparent colour is mixed with the paper's.
local function rgb(name, alpha)
  local value, mixed = tonumber((colours.page[name] or name):sub(2), 16), 0
  for shift = 16, 0, -8 do
    local part = value >> shift & 255
    mixed = mixed << 8 | math.floor(255 + alpha * (part - 255) + 0.5)
  end
  return ("#%06x"):format(mixed)
end

-- ---- a picture as a list of polygons, lines and labels ----

local Picture = {}
Picture.__index = Picture

function Picture:fill(points, colour)
  self[#self + 1] = { points,
    style = ("filledcurves closed fc rgb '%s' fs solid noborder"):format(rgb(colour, self.alpha)) }
end

function Picture:stroke(points, op, width)
  local w = (op.width or width or 2) * self.unit
  local dash = op.dash == "dashed" and format("dt (%g,%g)", 3 * w + 2, 2 * w + 3)
    or op.dash == "dotted" and format("dt (%g,%g)", 1, 2 * w + 1) or "dt solid"
  self[#self + 1] = { points,
    style = format("lines lc rgb '%s' lw %g %s", rgb(op.color or "ink", self.alpha), w, dash) }
end

-- Fills a polygon; draws its outline when it has a colour or no fill.
function Picture:finish(points, op)
  if op.fill then self:fill(points, op.fill) end
  if op.color or not op.fill then self:stroke(points, op) end
end

-- Adds a label. Its text is not interpreted.
function Picture:label(x, y, words, style)
  local labels = self.labels
  local line = 'set label %d %s at %.2f,%.2f %s %s noenhanced front font "DejaVu Sans%s,%.1f" tc rgb "%s"'
  labels[#labels + 1] = format(line, #labels + 1, text.line(words), x, y, style.align or "left",
    style.turn and "rotate by 90" or "", style.bold and " Bold" or "", (style.size or 15) * 0.75,
    rgb(style.color or "ink", self.alpha))
end

local function round_points(x, y, rx, ry, from, to)
  local points = {}
  local count = math.max(8, math.ceil(math.abs(to - from) / (2 * math.pi) * 64))
  for i = 0, count do
    local angle = from + (to - from) * i / count
    points[i + 1] = { x + rx * math.cos(angle), y + ry * math.sin(angle) }
  end
  return points
end

-- ---- operations: (picture, operation, its numbers, the texts) ----

local draw = {}

local function path(p, n, close)
  local points = {}
  for i = 1, #n, 2 do points[#points + 1] = { p.x(n[i]), p.y(n[i + 1]) } end
  if close then points[#points + 1] = points[1] end
  return points
end

function draw.line(p, op, n) p:stroke(path(p, n), op) end
function draw.polyline(p, op, n) p:stroke(path(p, n), op) end
function draw.polygon(p, op, n) p:finish(path(p, n, true), op) end

function draw.circle(p, op, n)
  local x, y, rx, ry = p.x(n[1]), p.y(n[2]), n[3] * p.sx, n[3] * p.sy
  p:finish(round_points(x, y, rx, ry, 0, 2 * math.pi), op)
  if op.turned then
    p:stroke({ { x, y }, { x + rx * math.cos(n[4]), y + ry * math.sin(n[4]) } },
      { color = op.color or "paper", width = op.width or 1.5 })
  end
end

function draw.rectangle(p, op, n)
  local x, y, w, h, c, s = n[1], n[2], n[3], n[4], math.cos(n[5]) / 2, math.sin(n[5]) / 2
  local corners = {}
  for _, side in ipairs { { -w, -h }, { w, -h }, { w, h }, { -w, h } } do
    corners[#corners + 1] = x + side[1] * c - side[2] * s
    corners[#corners + 1] = y + side[1] * s + side[2] * c
  end
  p:finish(path(p, corners, true), op)
end

function draw.arc(p, op, n)
  local r = math.abs(n[3])
  p:stroke(round_points(p.x(n[1]), p.y(n[2]), r * p.sx, r * p.sy, n[4], n[5]), op)
end

function draw.point(p, op, n)
  local r = (op.size or 8) / 2 * p.unit
  local style = { fill = op.fill or op.color or "ink", color = op.fill and op.color, width = op.width }
  p:finish(round_points(p.x(n[1]), p.y(n[2]), r, r, 0, 2 * math.pi), style)
end

function draw.text(p, op, n, texts)
  local size = (op.size or 15) * p.unit
  local up = op.valign == "top" and -size / 2 or op.valign == "bottom" and size / 2 or 0
  p:label(p.x(n[1]) + (op.dx or 0), p.y(n[2]) + (op.dy or 0) + up, texts[n[3] + 1],
    { align = op.align, size = size, bold = op.bold, color = op.color })
end

-- Returns a function (s, side) of the point s along and `side` across the segment from (x0, y0), in pixels, and the
-- length of the segment.
local function along(p, n)
  local x0, y0, x1, y1 = p.x(n[1]), p.y(n[2]), p.x(n[3]), p.y(n[4])
  local length = math.max(math.sqrt((x1 - x0) ^ 2 + (y1 - y0) ^ 2), 1e-9)
  local ex, ey = (x1 - x0) / length, (y1 - y0) / length
  return function(s, side) return { x0 + s * ex - side * ey, y0 + s * ey + side * ex } end, length
end

function draw.arrow(p, op, n)
  local at, length = along(p, n)
  if length < 0.5 then return end
  local width = op.width or 2
  local head = math.min((op.size or 5 + 3 * width) * p.unit, length)
  p:stroke({ at(0, 0), at(length - head, 0) }, op)
  p:fill({ at(length, 0), at(length - head, 0.42 * head), at(length - head, -0.42 * head) }, op.color or "ink")
end

function draw.spring(p, op, n)
  local at, length = along(p, n)
  local coils, side = math.floor((op.coils or 8) + 0.5), (op.size or 16) * p.unit / 2
  local points = { at(0, 0), at(0.1 * length, 0) }
  for i = 0, 2 * coils - 1 do
    points[#points + 1] = at((0.1 + 0.8 * (i + 0.5) / (2 * coils)) * length, i % 2 == 0 and side or -side)
  end
  points[#points + 1] = at(0.9 * length, 0)
  points[#points + 1] = at(length, 0)
  p:stroke(points, op, 1.8)
end

function draw.ground(p, op, n)
  local at, length = along(p, n)
  local size = (op.size or 9) * p.unit
  local alpha = p.alpha
  p.alpha = 0.55 * alpha
  for i = 0, math.floor((length - 0.6 * size) / size) do
    local s = (0.6 + i) * size
    p:stroke({ at(s, 0), at(s - 0.7 * size, -size) }, { color = op.color, width = 1.2 })
  end
  p.alpha = alpha
  p:stroke({ at(0, 0), at(length, 0) }, op)
end

-- Draws the path of the point up to this frame, or its last part, which fades.
function draw.trace(p, op, n)
  local all, last = p.traces[op], p.frame
  local first = 1
  while op.seconds and first < last and p.times[first] < p.times[last] - op.seconds do first = first + 1 end
  local parts = op.seconds and math.min(24, last - first + 1) or 1
  local alpha = p.alpha
  for part = 1, parts do
    local points = {}
    local from = first + (part - 1) * (last - first + 1) // parts
    local to = math.min(first + part * (last - first + 1) // parts, last)
    for k = from, to do
      if all[k] then points[#points + 1] = { p.x(all[k][1]), p.y(all[k][2]) } end
    end
    p.alpha = op.seconds and alpha * part / parts or alpha
    if #points > 1 then p:stroke(points, op) end
  end
  p.alpha = alpha
end

-- ---- axes ----

-- Round numbers in [low, high], about `count`, and the format of their labels.
local function ticks(low, high, count)
  local raw = (high - low) / math.max(count, 1)
  local step = 10.0 ^ math.floor(math.log(raw, 10))
  local base = step
  for _, m in ipairs { 1, 2, 5, 10 } do
    step = m * base
    if step >= raw * (1 - 1e-9) then break end
  end
  local values = {}
  for i = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) do values[#values + 1] = i * step end
  local digits = math.ceil(math.log(math.max(math.abs(low), math.abs(high)) / step, 10)) + 1
  return values, ("%%.%dg"):format(math.min(math.max(1, digits), 15))
end

local function draw_axes(p, world)
  local f, b = p.box, { (p.box.left - p.ox) / p.sx, (p.box.right - p.ox) / p.sx }
  local across, form = ticks(b[1], b[2], (f.right - f.left) / 75)
  for _, value in ipairs(across) do
    p:stroke({ { p.x(value), f.bottom }, { p.x(value), f.top } }, { color = "grid", width = 1 / p.unit })
    p:label(p.x(value), f.bottom - 14, format(form, value), { align = "center", size = 12, color = "muted" })
  end
  local up, form_up = ticks((f.bottom - p.oy) / p.sy, (f.top - p.oy) / p.sy, (f.top - f.bottom) / 50)
  for _, value in ipairs(up) do
    p:stroke({ { f.left, p.y(value) }, { f.right, p.y(value) } }, { color = "grid", width = 1 / p.unit })
    p:label(f.left - 8, p.y(value), format(form_up, value), { align = "right", size = 12, color = "muted" })
  end
  p:label((f.left + f.right) / 2, f.bottom - 32, world.xlabel, { align = "center", size = 13 })
  p:label(14, (f.top + f.bottom) / 2, world.ylabel, { align = "center", size = 13, turn = true })
end

-- ---- pictures as commands ----

-- The map of the world into the picture below its title; y upwards, as gnuplot has it.
local function new_picture(animation, width, height)
  local world = animation.world
  local b, axes = world.bounds, world.axes
  local left, bottom = axes and 70 or 6, axes and 46 or 6
  local box = { left = left, right = width - (axes and 14 or 6), bottom = bottom, top = height - 36 }
  local sx, sy = (box.right - box.left) / (b[2] - b[1]), (box.top - box.bottom) / (b[4] - b[3])
  if world.equal then sx, sy = math.min(sx, sy), math.min(sx, sy) end
  local ox = (box.left + box.right) / 2 - sx * (b[1] + b[2]) / 2
  local oy = (box.bottom + box.top) / 2 - sy * (b[3] + b[4]) / 2
  return setmetatable({
    sx = sx, sy = sy, ox = ox, oy = oy, box = box, alpha = 1, labels = {},
    unit = math.min(math.max(math.sqrt(width * height) / 620, 0.72), 1.6),
    x = function(x) return ox + sx * x end, y = function(y) return oy + sy * y end,
    times = animation.times, traces = animation.traces,
  }, Picture)
end

local function draw_frame(p, paper, frame)
  local ops, slot = paper.shapes[frame.shape].ops, 0
  for i = 1, #ops, 2 do
    local op, count = paper.ops[ops[i] + 1], ops[i + 1]
    p.alpha = op.alpha or 1
    draw[op.kind](p, op, table.move(frame.numbers, slot + 1, slot + count, 1, {}), paper.texts)
    slot = slot + count
  end
  p.alpha = 1
end

local function commands_of(p)
  local lines, parts, data = { "unset label" }, {}, {}
  table.move(p.labels, 1, #p.labels, 2, lines)
  for i, item in ipairs(p) do
    parts[i] = "'-' with " .. item.style
    for _, point in ipairs(item[1]) do data[#data + 1] = format("%.2f %.2f", point[1], point[2]) end
    data[#data + 1] = "e"
  end
  lines[#lines + 1] = "plot " .. (#parts > 0 and table.concat(parts, ", ") or "NaN")
  return table.concat(lines, "\n") .. "\n" .. table.concat(data, "\n") .. "\n"
end

-- The points of each trace at each frame.
local function traces_of(paper)
  local traces = {}
  for k = 2, #paper.frames do
    local frame, slot = paper.frames[k], 0
    local ops = paper.shapes[frame.shape].ops
    for i = 1, #ops, 2 do
      local op = paper.ops[ops[i] + 1]
      if op.kind == "trace" then
        traces[op] = traces[op] or {}
        traces[op][k - 1] = { frame.numbers[slot + 1], frame.numbers[slot + 2] }
      end
      slot = slot + ops[i + 1]
    end
  end
  return traces
end

local function clock(animation, k)
  local options = animation.options
  if options.parameter then return ("%s = %s"):format(options.parameter, options.values[k]) end
  local times = animation.times
  local length = math.max(times[#times] - times[1], 1e-9)
  local digits = math.min(math.max(2 - math.floor(math.log(length / 4, 10)), 0), 9)
  return format(("t = %%.%df %s"):format(digits, (options.unit:gsub("%%", "%%%%"))), times[k])
end

local MOST = 20000 -- most pictures of a film

-- The number of the frame for each picture.
local function chosen(animation, fps)
  local times, list, k = animation.times, {}, 1
  local step, i = animation.options.speed / fps, 0
  local count = (times[#times] - times[1]) / step
  if count > MOST then
    fail("save: %.0f pictures, at most %d: take a larger speed for the animation or a lower fps", count, MOST)
  end
  repeat
    local t = times[1] + i * step
    while k < #times and times[k + 1] <= t + 1e-9 * step do k = k + 1 end
    list[#list + 1] = k
    i = i + 1
  until k == #times
  return list
end

local header = [[
set encoding utf8
unset border
unset tics
unset key
set clip two
]]

-- The plot area of gnuplot is the box of the picture, in pixels, so that gnuplot cuts what is outside.
local function set_box(box, width, height)
  local lines = "set lmargin at screen %.9g\nset rmargin at screen %.9g\nset bmargin at screen %.9g\n"
    .. "set tmargin at screen %.9g\nset xrange [%d:%d]\nset yrange [%d:%d]\n"
  return format(lines, box.left / width, box.right / width, box.bottom / height, box.top / height, box.left,
    box.right, box.bottom, box.top)
end

local function all_commands(animation, size, terminal)
  local paper, width, height = animation.paper, size.width, size.height
  animation.traces = traces_of(paper)
  local parts = { terminal, header, set_box(new_picture(animation, width, height).box, width, height) }
  for _, k in ipairs(chosen(animation, size.fps)) do
    local p = new_picture(animation, width, height)
    p.frame = k
    if animation.world.axes then draw_axes(p, animation.world) end
    draw_frame(p, paper, paper.frames[1])
    draw_frame(p, paper, paper.frames[k + 1])
    p:label(14, height - 18, animation.title, { size = 16, bold = true })
    p:label(width - 14, height - 18, clock(animation, k), { size = 15, align = "right" })
    parts[#parts + 1] = commands_of(p)
  end
  return table.concat(parts)
end

-- ---- the programs ----

local function first_line(message)
  for line in message:gmatch "[^\n]+" do
    if line:find "%a" and not line:find "%^$" then return line end
  end
  return "no message"
end

-- The output of a program. When the program is not installed: raises `missing`, or returns nil when that is nil.
local function run(process, file, program, input, missing)
  local result, message, absent = process.run(program, input)
  if absent and not missing then return nil end
  if absent then fail("animation: '%s': %s", file, missing) end
  if not result then fail("animation: '%s': %s", file, message) end
  if result.status ~= 0 or result.signal then
    fail("animation: '%s': %s: %s", file, program[1], first_line(result.err))
  end
  return result.out
end

local font = 'font "DejaVu Sans,11"'
local no_gnuplot = "gnuplot is not installed; GIF and MP4 need it: apt install gnuplot-nox (HTML does not)"
local no_ffmpeg = "ffmpeg is not installed; MP4 needs it: apt install ffmpeg (GIF and HTML do not)"

-- Pictures as PNG, one after the other.
local function pictures(process, file, animation, size)
  local terminal = ("set terminal pngcairo size %d,%d rounded %s\n"):format(size.width, size.height, font)
  local commands = fonts.shown("animation", all_commands(animation, size, terminal))
  return run(process, file, { "gnuplot", "--default-settings" }, commands, no_gnuplot)
end

local function ffmpeg(size, ...)
  return { "ffmpeg", "-v", "error", "-y", "-f", "image2pipe", "-framerate", format("%.6g", size.fps), "-c:v", "png",
    "-i", "-", ... }
end

local function has(process, program)
  local result = process.run { program, "-version" }
  return result ~= nil and result.status == 0
end

-- The bytes of a GIF of pictures, which make() returns; nil without ffmpeg.
local function gif_of(process, file, size, make)
  if not has(process, "ffmpeg") then return nil end
  local filter = "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none"
  return run(process, file, ffmpeg(size, "-vf", filter, "-f", "gif", "-"), make())
end

local function gif_bytes(process, file, animation, size, make)
  local bytes = gif_of(process, file, size, make)
  if bytes then return bytes end
  local terminal = ("set terminal gif animate delay %d loop 0 size %d,%d rounded %s\n"):format(
    math.max(2, math.floor(100 / size.fps + 0.5)), size.width, size.height, font)
  return run(process, file, { "gnuplot", "--default-settings" }, all_commands(animation, size, terminal), no_gnuplot)
end

-- Calls f(...). An error gets no position in this file.
local function call(f, ...)
  local good, result = pcall(f, ...)
  if not good then error(result, 0) end
  return result
end

-- ffmpeg seeks in the file that it writes, so it writes to a file in a temporary directory.
local function mp4_bytes(process, file, size, make)
  if not has(process, "ffmpeg") then fail("animation: '%s': %s", file, no_ffmpeg) end
  call(process.check, file)
  local scratch <close> = call(process.scratch)
  local part = tostring(scratch) .. "/film.mp4"
  run(process, file, ffmpeg(size, "-pix_fmt", "yuv420p", "-movflags", "+faststart", "file:" .. part),
    make(), no_ffmpeg)
  local handle, message = io.open(part, "rb")
  if not handle then fail("animation: '%s': ffmpeg has written nothing: %s", file, message) end
  local bytes = handle:read "a"
  handle:close()
  return bytes
end

-- Writes the animation to a file that ends in .gif or .mp4. size: width, height in pixels and fps.
function film.save(process, file, animation, size)
  local function make() return pictures(process, file, animation, size) end
  call(process.save, file, file:find "%.mp4$" and mp4_bytes(process, file, size, make)
    or gif_bytes(process, file, animation, size, make))
end

-- The same of pictures as PNG, one after the other, which make() returns.
function film.encode(process, file, size, make)
  call(process.save, file, file:find "%.mp4$" and mp4_bytes(process, file, size, make)
    or gif_of(process, file, size, make) or fail("animation: '%s': %s", file, no_ffmpeg))
end

return film
