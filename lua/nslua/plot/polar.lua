-- nslua.plot.polar: axes of an angle and a radius.
--
-- The artists of polar axes hold angles in radians as x and radii as y. For a picture they become artists in the
-- plane (polar.plane), in which the largest radius is 1; circles, rays and their numbers are artists too
-- (polar.dress). So everything else treats a polar panel as a square one whose axes are hidden.

local artists = require "nslua.plot.artists"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local lists = require "nslua.base.lists"
local scales = require "nslua.plot.scales"
local text = require "nslua.plot.text"
local ticks = require "nslua.plot.ticks"

local fail, number, column = data.fail, data.number, data.column
local format = core.number_support.format
local pi, cos, sin, max, min, ceil, abs = math.pi, math.cos, math.sin, math.max, math.min, math.ceil, math.abs
local NAN = 0 / 0

local polar = {}

-- ---- methods of axes ----

local methods = {}

-- Makes these axes polar. Raises when they hold anything already, or when they are in space.
function methods:make_polar(who)
  if self.polar then return self end
  if self.three_d or self.twin or #self.artists > 0 then
    fail("%s: these axes are not polar and are in use already", who)
  end
  self.polar = { zero = 0, direction = 1, label_at = pi / 8 }
  return self
end

local function need(self, who)
  if not self.polar then
    fail('%s: these axes are not polar; make polar ones by subplot(1, 1, 1, { projection = "polar" })', who)
  end
end

local set = artists.methods(methods, need, true)

local corners = { E = 0, NE = 1, N = 2, NW = 3, W = 4, SW = 5, S = 6, SE = 7 }

-- theta_zero_location(where): where the angle 0 is: "E" (at the right), "N" (at the top) and so on.
function set:theta_zero_location(where)
  self.polar.zero = corners[data.one_of(where, "E, NE, N, NW, W, SW, S, SE", "theta_zero_location")] * pi / 4
end

-- theta_direction(d): 1 or "counterclockwise", -1 or "clockwise".
function set:theta_direction(direction)
  local sign = ({ clockwise = -1, counterclockwise = 1, anticlockwise = 1 })[direction] or direction
  data.reject(sign ~= 1 and sign ~= -1, direction,
    'theta_direction: expected 1, -1, "clockwise" or "counterclockwise"')
  self.polar.direction = sign
end

-- rlabel_position(degrees): the angle at which the numbers of the radius stand.
function set:rlabel_position(degrees)
  self.polar.label_at = math.rad(number("rlabel_position", "degrees", degrees))
end

-- rmax(r): the radius of the outer circle.
function set:rmax(r)
  return self:ylim { top = number("rmax", "r", r) }
end

-- thetagrids(degrees [, labels]): the rays; rgrids(radii [, labels]): the circles.
function set:thetagrids(degrees, labels)
  degrees = column("thetagrids", "degrees", degrees)
  local names = labels or {}
  if not labels then
    for i = 1, #degrees do names[i] = format("%g°", degrees[i]) end
  end
  return self:xticks(degrees * (pi / 180), names)
end

-- rticks(radii [, labels]) is the same as rgrids; matplotlib has both.
function set:rticks(radii, labels)
  return self:yticks(radii, labels)
end

function set:rgrids(radii, labels)
  return self:yticks(radii, labels)
end

-- rlim(a, b) or rlim{bottom =, top =}: the radii of the centre and of the outer circle.
function methods:rlim(...)
  need(self, "rlim")
  return self:ylim(...)
end

-- ---- in the plane ----

local FINE = 0.03 -- angle of the pieces of an arc, in radians

-- The limits of the radius, from what the script has set and from the data.
local function limits_of(axes)
  local columns, log = {}, axes.logs.y
  for _, a in ipairs(axes.artists) do
    columns[#columns + 1] = a.columns[2]
    if a.other then columns[#columns + 1] = a.other end
    if a.vectors and a.fixed then columns[#columns + 1] = a.columns[2] + a.vectors[2] end
    if a.extent and a.extent.y then columns[#columns + 1] = core.vector(a.extent.y) end
  end
  local lo, hi = data.range(columns, log)
  if not lo then lo, hi = log and 1 or 0, log and 10 or 1 end
  if log then
    lo, hi = ticks.widen(lo, hi, 0.05, true)
  else
    lo = min(0, lo)
    if hi <= lo then hi = lo + 1 end
    if not axes.sticky then hi = hi + 0.05 * (hi - lo) end
  end
  local asked = axes.limits.y or {}
  lo, hi = asked[1] or lo, asked[2] or hi
  if lo >= hi then fail("ylim: expected radii, the first below the second, got %g and %g", lo, hi) end
  if log and lo <= 0 then fail("ylim: expected numbers above 0 on a logarithmic axis, got %g and %g", lo, hi) end
  return { lo, hi }
end

-- A function that gives the place of (angle, radius) in the plane, and its radius there: 1 on the outer circle.
local function map_of(axes, l)
  local own, scale = axes.polar, scales.of(axes, "y")
  return function(theta, r)
    local part, angle = scales.fraction(r, l, scale), own.zero + own.direction * theta
    return part * cos(angle), part * sin(angle), part
  end
end

-- Where the segment from an inner point (x, y) to an outer one (u, v) meets the outer circle.
local function crossing(x, y, u, v)
  local dx, dy = u - x, v - y
  local a, b, c = dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - 1
  local s = a > 0 and (-b + math.sqrt(max(0, b * b - a * c))) / a or 0
  return x + s * dx, y + s * dy
end

local EDGE = 1 + 1e-9 -- a point on the outer circle is inside in spite of rounding

-- A curve in the plane, cut at the outer circle.
local function path(at, theta, r)
  local xs, ys = {}, {}
  local function put(x, y) xs[#xs + 1], ys[#ys + 1] = x, y end
  local u, v, inside
  for i = 1, #theta do
    local x, y, part = at(theta[i], r[i])
    local here = part >= 0 and part <= EDGE -- false for nan
    if here and inside == false and u == u then
      put(NAN, NAN)
      put(crossing(x, y, u, v))
    end
    if here then put(x, y) elseif inside and part > 1 and x == x then put(crossing(u, v, x, y)) put(NAN, NAN)
    else put(NAN, NAN) end
    u, v, inside = x, y, here
  end
  return { core.vector(xs), core.vector(ys) }
end

-- The points of a scatter; those outside are gaps.
local function points(at, theta, r)
  local xs, ys = core.full(#theta, NAN), core.full(#theta, NAN)
  for i = 1, #theta do
    local x, y, part = at(theta[i], r[i])
    if part >= 0 and part <= EDGE then xs[i], ys[i] = x, y end
  end
  return { xs, ys }
end

-- A polygon in the plane; what lies beyond the outer circle is drawn onto it.
local function polygon(at, list)
  local xs, ys = {}, {}
  for k, point in ipairs(list) do
    local x, y, part = at(point[1], point[2])
    local shrink = part > 1 and 1 / part or part < 0 and 0 or 1
    xs[k], ys[k] = x * shrink, y * shrink
  end
  return { core.vector(xs), core.vector(ys) }
end

-- Appends the points of an arc at the radius r to a list.
local function add_arc(list, from, to, r)
  local n = max(1, ceil(abs(to - from) / FINE))
  for k = 0, n do list[#list + 1] = { from + (to - from) * k / n, r } end
end

local function sector(at, from, to, low, high)
  local list = {}
  add_arc(list, from, to, low)
  add_arc(list, to, from, high)
  return polygon(at, list)
end

-- A copy of an artist with another kind and other columns.
local function turned(a, kind, columns)
  local copy = lists.copy(a)
  copy.kind, copy.columns, copy.extent, copy.bases = kind, columns, nil, nil
  return copy
end

-- For each kind: the artists in the plane. l: the limits of the radius.
local kinds = {}

function kinds.line(a, at)
  local whole = a.values or not a.dash or a.loose
  return { turned(a, "line", (whole and points or path)(at, a.columns[1], a.columns[2])) }
end

-- Steps are arcs and pieces of rays.
function kinds.step(a, at)
  local theta, r = core.thin_support.corners(a.columns[1], a.columns[2], a.steps)
  local list, us, vs = {}, {}, {}
  for i = 1, #theta do
    if i > 1 and r[i] == r[i - 1] then add_arc(list, theta[i - 1], theta[i], r[i])
    else list[#list + 1] = { theta[i], r[i] } end
  end
  for k, point in ipairs(list) do us[k], vs[k] = point[1], point[2] end
  return { turned(a, "line", path(at, us, vs)) }
end

function kinds.scatter(a, at) return { turned(a, "scatter", points(at, a.columns[1], a.columns[2])) } end

function kinds.fill(a, at)
  local list = {}
  for i = 1, #a.columns[1] do list[i] = { a.columns[1][i], a.columns[2][i] } end
  return { turned(a, "fill", polygon(at, list)) }
end

-- The stretches in which both curves are numbers.
function kinds.between(a, at)
  local result, list, back = {}, {}, {}
  local function close()
    for k = #back, 1, -1 do list[#list + 1] = back[k] end
    if #list > 2 then result[#result + 1] = turned(a, "fill", polygon(at, list)) end
    if #result > 1 then result[#result].label = nil end
    list, back = {}, {}
  end
  for i = 1, #a.columns[1] do
    local theta, y1, y2 = a.columns[1][i], a.columns[2][i], a.other[i]
    if y1 - y1 == 0 and y2 - y2 == 0 then
      list[#list + 1], back[#back + 1] = { theta, y1 }, { theta, y2 }
    else
      close()
    end
  end
  close()
  return result
end

function kinds.boxes(a, at)
  local result = {}
  for i = 1, #a.box[1] do
    result[i] = turned(a, "fill", sector(at, a.box[1][i], a.box[2][i], a.box[3][i], a.box[4][i]))
    if i > 1 then result[i].label = nil end
  end
  return result
end

function kinds.span(a, at, l)
  local from, to, low, high = 0, 2 * pi, l[1], l[2]
  if a.direction == "x" then from, to = a.ends[1], a.ends[2] else low, high = a.ends[1], a.ends[2] end
  local result = turned(a, "fill", sector(at, from, to, low, high))
  result.direction = nil
  return { result }
end

function kinds.across(a, at, l)
  local list = {}
  if a.direction == "x" then add_arc(list, 0, 2 * pi, a.at) else list = { { a.at, l[1] }, { a.at, l[2] } } end
  local theta, r = {}, {}
  for k, point in ipairs(list) do theta[k], r[k] = point[1], point[2] end
  return { turned(a, "line", path(at, theta, r)) }
end

function kinds.errors(a, at)
  local theta, r = {}, {}
  for i = 1, #a.from do
    local k = 3 * i - 2
    local upright = a.axis == "y"
    theta[k], r[k] = upright and a.at[1][i] or a.from[i], upright and a.from[i] or a.at[2][i]
    theta[k + 1], r[k + 1] = upright and a.at[1][i] or a.to[i], upright and a.to[i] or a.at[2][i]
    theta[k + 2], r[k + 2] = NAN, NAN
  end
  local result = turned(a, "line", path(at, theta, r))
  result.dash = "solid"
  return { result }
end

-- Arrows between two places of the axes, as annotate draws them.
function kinds.vectors(a, at)
  local from = points(at, a.columns[1], a.columns[2])
  local to = points(at, a.columns[1] + a.vectors[1], a.columns[2] + a.vectors[2])
  local result = turned(a, "vectors", from)
  result.vectors = { to[1] - from[1], to[2] - from[2] }
  return { result }
end

function kinds.text(a, at)
  if a.at then return { a } end
  return { turned(a, "text", points(at, a.columns[1], a.columns[2])) }
end

-- Cells of the same colour are one group of polygons, so that few of them have seams.
function kinds.cells(a, at)
  local lo, hi, groups, order = a.range[1], a.range[2], {}, {}
  local style = require "nslua.plot.style"
  for i = 1, #a.y_edges - 1 do
    for j = 1, #a.x_edges - 1 do
      local v = a.values[i][j]
      if v == v then
        local color = style.map_color(a.map, hi > lo and max(0, min(1, (v - lo) / (hi - lo))) or 0.5)
        local c = sector(at, a.x_edges[j], a.x_edges[j + 1], a.y_edges[i], a.y_edges[i + 1])
        local out = {}
        for k = 1, #c[1] do out[k] = format("%.9g %.9g", c[1][k], c[2][k]) end
        out[#out + 1] = out[1]
        if not groups[color] then order[#order + 1], groups[color] = color, {} end
        table.insert(groups[color], table.concat(out, "\n") .. "\n\n")
      end
    end
  end
  local result = turned(a, "bands", { core.vector {}, core.vector {} })
  result.bands = {}
  for k, color in ipairs(order) do result.bands[k] = { color, table.concat(groups[color]) } end
  return { result }
end

function kinds.bands(a, at)
  local result = turned(a, "bands", { core.vector {}, core.vector {} })
  result.bands = {}
  for k, band in ipairs(a.bands) do
    result.bands[k] = { band[1], (band[2]:gsub("(%S+) (%S+)\n", function(theta, r)
      local x, y, part = at(tonumber(theta), tonumber(r))
      local shrink = part > 1 and 1 / part or part < 0 and 0 or 1
      return format("%.9g %.9g\n", x * shrink, y * shrink)
    end)) }
  end
  return { result }
end

-- Raises for what polar axes can not show.
local function check(a)
  if a.vectors and not a.note then fail("polar axes do not show fields of arrows: quiver, streamplot") end
  if not kinds[a.kind] then fail("polar axes do not show what '%s' draws", a.kind) end
end

-- The axes in the plane that show polar axes: these axes with other artists and limits.
function polar.plane(axes)
  local l, list = limits_of(axes), {}
  local at = map_of(axes, l)
  for _, a in ipairs(axes.artists) do
    check(a)
    for _, one in ipairs(kinds[a.kind](a, at, l)) do list[#list + 1] = one end
  end
  return setmetatable({ artists = list, limits = { x = { -1, 1 }, y = { -1, 1 } }, logs = {}, symlogs = {},
    shares = {}, inverted = {}, tick_lists = {}, hidden = true, aspect = "scaled",
    disc = { axes = axes, limits = l }, spine_looks = false }, { __index = axes })
end

-- ---- circles, rays and numbers ----

local EM, GAP = 10, 0.55 -- the size of the font in 1/72 inch; from the outer circle to the numbers, in em
local STEP = 2.6 -- least distance of circles with numbers, in em

-- The rays { angle, label } of the panel.
local function rays_of(axes)
  if axes.tick_lists.x then return axes.tick_lists.x end
  local list = {}
  for k = 0, 7 do list[k + 1] = { k * pi / 4, format("%d°", 45 * k) } end
  return list
end

-- How far the numbers of the rays reach beyond the circle: beside it, and above or below it, in 1/72 inch.
function polar.room(disc)
  local wide, high = 0, 0
  for _, ray in ipairs(rays_of(disc.axes)) do
    local w, lines = text.size(ray[2])
    wide, high = max(wide, w * EM), max(high, lines * text.LINE * EM)
  end
  return wide + (GAP + 0.2) * EM, high + (GAP + 0.1) * EM
end

-- How far a legend of w x h at a named place reaches beyond the square of a disc of radius r with its numbers: to the
-- sides, and up or down. beside, over: the room of the numbers. In a corner of that square the disc leaves room.
function polar.legend_room(spot, w, h, r, beside, over)
  if spot[2] == 0.5 and spot[3] == 0.5 then return 0, 0 end
  if spot[3] == 0.5 then return w, 0 end
  local rx, ry = r + beside, r + over
  local u = min(1, max(0, 1 - w / rx)) -- the inner corner of the legend, from the centre of the disc, in parts
  if spot[2] == 0.5 then u = 0 end
  return 0, max(0, h - ry + ry * math.sqrt(1 - u * u))
end

local function grid_line(columns, color, width, dash)
  return { kind = "line", columns = columns, color = color, linewidth = width, dash = dash or "solid", note = true,
    direction = "grid", markersize = 0 }
end

local function circle(part)
  local xs, ys = {}, {}
  for k = 0, 120 do xs[k + 1], ys[k + 1] = part * cos(k * pi / 60), part * sin(k * pi / 60) end
  return { core.vector(xs), core.vector(ys) }
end

-- A text whose middle is at (x, y) in the plane, moved by (dx, dy) in 1/72 inch.
local function word(s, x, y, dx, dy, p)
  local w, h = p.x1 - p.x0, p.y1 - p.y0
  return { kind = "text", columns = { core.vector {}, core.vector {} }, text = s, align = "center", valign = "center",
    at = { (x + 1) / 2 + dx / w, (y + 1) / 2 + dy / h }, note = true }
end

-- Whether two texts of the panel touch each other.
local function touch(a, b, p)
  local w, lines = text.size(a.text)
  local ow, other_lines = text.size(b.text)
  return abs(a.at[1] - b.at[1]) * (p.x1 - p.x0) < 0.55 * (w + ow) * EM
    and abs(a.at[2] - b.at[2]) * (p.y1 - p.y0) < 0.55 * (lines + other_lines) * EM
end

-- Appends a text unless it touches one of those from number `first` on.
local function add_free(list, first, one, p)
  for k = first, #list do
    if touch(list[k], one, p) then return end
  end
  list[#list + 1] = one
end

-- Puts the circles, the rays and their numbers of a panel with a known place before and after its artists. ink: the
-- colours of the grid and of the outer circle.
function polar.dress(p, ink)
  local disc, list, behind = p.axes.disc, p.axes.artists, {}
  local axes, l = disc.axes, disc.limits
  local at, radius = map_of(axes, l), (p.x1 - p.x0) / 2
  local look, first = axes.grid_look or {}, #list + 1
  local function ring(columns)
    if axes.show_grid and look.dash ~= "none" then
      behind[#behind + 1] = grid_line(columns, look.color or ink.grid, look.linewidth or 0.6, look.dash)
    end
  end
  for _, ray in ipairs(rays_of(axes)) do
    local x, y = at(ray[1], l[2])
    ring { core.vector { 0, x }, core.vector { 0, y } }
    local w, lines = text.size(ray[2])
    local far = GAP * EM + 0.5 * (w * EM * abs(x) + lines * text.LINE * EM * abs(y))
    add_free(list, first, word(ray[2], x, y, far * x, far * y, p), p)
  end
  local scale, count = scales.of(axes, "y"), max(2, min(5, radius / (STEP * EM)))
  local circles = axes.tick_lists.y or ticks.make(l[1], l[2], count, scale)
  for _, tick in ipairs(circles) do
    local part = scales.fraction(tick[1], l, scale)
    if part > 1e-9 and part <= EDGE then
      if part < 1 - 1e-6 then ring(circle(part)) end
      local angle = axes.polar.zero + axes.polar.direction * axes.polar.label_at
      local label = circles.note and "$" .. ticks.written(tick[1]) .. "$" or tick[2]
      add_free(list, first, word(label, part * cos(angle), part * sin(angle), 0, 0, p), p)
    end
  end
  ring(circle(1))
  if axes.face then
    table.insert(behind, 1, { kind = "fill", columns = circle(1), color = axes.face, note = true,
      direction = "grid" })
  end
  if not axes.hidden then behind[#behind + 1] = grid_line(circle(1), ink.frame, 0.8) end
  for k, a in ipairs(behind) do table.insert(list, k, a) end
end

polar.methods = methods

return polar
