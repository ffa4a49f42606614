-- nslua.plot.layout: where the panels of a figure are, their limits and ticks.
--
-- The edges of panels in one column are aligned: the space for texts is computed from the texts of all of them.
-- Lengths are in 1/72 inch.

local colorbar = require "nslua.plot.colorbar"
local core = require "nslua.core"
local entries = require "nslua.plot.entries"
local data = require "nslua.plot.data"
local inset = require "nslua.plot.inset"
local kinds = require "nslua.plot.kinds"
local polar = require "nslua.plot.polar"
local scales = require "nslua.plot.scales"
local share = require "nslua.plot.share"
local spines = require "nslua.plot.spines"
local tables = require "nslua.plot.tables"
local text = require "nslua.plot.text"
local ticks = require "nslua.plot.ticks"

local fail = data.fail
local max, min, floor = math.max, math.min, math.floor

local layout = { EM = 10, HEADING = 13 } -- the sizes of the font, of a figure's heading
layout.INK = { grid = "#E4E4E4", frame = "#595959" } -- the colours of grids and of the lines around panels

-- ---- limits ----

-- The artists of several panels.
local function artists_of(members)
  local list = {}
  for _, axes in ipairs(members) do table.move(axes.artists, 1, #axes.artists, #list + 1, list) end
  return list
end

local function extent_of(artists, axis, log)
  local index = axis == "x" and 1 or axis == "y" and 2 or 3
  local columns = {}
  for _, artist in ipairs(artists) do
    columns[#columns + 1] = artist.columns[index]
    if artist.vectors and index < 3 and #artist.vectors[index] > 0 then
      columns[#columns + 1] = artist.columns[index] + artist.vectors[index]
    end
    if artist.other and index == 2 then columns[#columns + 1] = artist.other end
    if artist.extent and artist.extent[axis] then columns[#columns + 1] = core.vector(artist.extent[axis]) end
  end
  return data.range(columns, log)
end

-- Whether x is like a time: in every curve it never decreases. Such panels have no margins at the left and right.
local function goes_right(artists)
  local any = false
  for _, artist in ipairs(artists) do
    local curve = not artist.note and kinds[artist.kind].curve
    if curve and not artist.loose then
      if not data.rises(artist.columns[1]) then return false end
      any = true
    elseif curve ~= nil and not artist.note then
      return false
    end
  end
  return any
end

local function without_margin(members, artists, axis)
  for _, axes in ipairs(members) do
    if axes.tight or axes.sticky or axes.three_d then return true end
  end
  return axis == "x" and goes_right(artists)
end

-- The margin that the script has set for an axis; nil when it has not.
local function spare_of(members, axis)
  for _, axes in ipairs(members) do
    if axes.spare then return axes.spare[axis] end
  end
end

local SPIKE = 0.02 -- margin of panels whose curves would run along the edge, in parts of the range
local NEAR, STEEP = 0.01, 0.3 -- so much of the range at an end of x, in which y changes by so much of its range

-- Whether a curve rises or falls so steeply at an end of x that it lies on the edge of the panel.
local function rises_at_end(artists, lo, hi)
  for _, artist in ipairs(artists) do
    local x, y = artist.columns[1], artist.columns[2]
    local a, b = data.range { y }
    if kinds[artist.kind].steep and #x > 20 and a and b > a then
      for _, ends in ipairs { { 1, #x, 1, lo }, { #x, 1, -1, hi } } do
        for i = ends[1], ends[2], ends[3] do
          if math.abs(x[i] - ends[4]) > NEAR * (hi - lo) then break end
          if math.abs(y[i] - y[ends[1]]) > STEEP * (b - a) then return true end
        end
      end
    end
  end
  return false
end

local CLOSE = 0.01 -- a tick so near to the end of the data, in parts of their range, becomes the end of the axis

-- The range, as far as the ticks that are close beyond its ends.
local function up_to_ticks(lo, hi)
  local list = ticks.make(lo, hi, 8)
  if #list < 2 then return lo, hi end
  local step, first, last = list[2][1] - list[1][1], list[1][1], list[#list][1]
  local below, above = first - step, last + step
  local slack = 1e-9 * (hi - lo)
  if below < lo - slack and lo - below < CLOSE * (hi - lo) then lo = below end
  if above > hi + slack and above - hi < CLOSE * (hi - lo) then hi = above end
  return lo, hi
end

-- The limits {lo, hi} of an axis that follow from the data.
local function limits_of_data(axes, axis)
  local members = share.members(axes, axis)
  local artists = artists_of(members)
  local lo, hi = extent_of(artists, axis, axes.logs[axis])
  if not lo then
    if axes.logs[axis] then return { 1, 10 } end
    return { 0, 1 }
  end
  local scale, margin = scales.of(axes, axis), 0.05
  if spare_of(members, axis) then margin = spare_of(members, axis)
  elseif without_margin(members, artists, axis) then
    margin = 0
    if axis == "x" and not scale and goes_right(artists) then
      if rises_at_end(artists, lo, hi) then margin = SPIKE else lo, hi = up_to_ticks(lo, hi) end
    end
  end
  local from, to = ticks.widen(lo, hi, margin, scale)
  for _, artist in ipairs(artists) do -- bars stand on the edge of the panel
    local base = artist.bases and artist.bases[axis]
    if base and base == lo and lo < hi then from = lo elseif base and base == hi and lo < hi then to = hi end
  end
  return { from, to }
end

-- The limits {lo, hi} of an axis, before it is turned around.
local function limits_as_asked(axes, axis)
  local l = share.root(axes, axis).limits[axis]
  if not l then return limits_of_data(axes, axis) end
  local lo, hi = l[1] or l[2], l[2] or l[1]
  if axes.logs[axis] and (lo <= 0 or hi <= 0) then
    fail("%slim: expected numbers above 0 on a logarithmic axis, got %g and %g", axis, lo, hi)
  end
  if l[1] and l[2] then return { lo, hi, given = true } end
  local found = limits_of_data(axes, axis)
  lo, hi = l[1] or found[1], l[2] or found[2]
  if lo == hi then lo, hi = ticks.widen(lo, hi, 0, scales.of(axes, axis)) end
  return { l[1] or lo, l[2] or hi, given = true }
end

-- The limits {lo, hi} of an axis.
local function limits_of(axes, axis)
  local l = limits_as_asked(axes, axis)
  if share.root(axes, axis).inverted[axis] then l[1], l[2] = l[2], l[1] end
  return l
end

layout.limits = limits_of

-- ---- rectangles ----

local EM = layout.EM

-- Width and height of the box around a text with a look, {fontsize =, rotation =}.
function layout.box(words, look, rotation)
  local w, lines = text.size(words)
  local em, angle = look and look.fontsize or EM, math.rad(look and look.rotation or rotation or 0)
  local c, s, h = math.abs(math.cos(angle)), math.abs(math.sin(angle)), text.LINE * lines
  return (w * c + h * s) * em, (w * s + h * c) * em
end

-- The look of a text in a panel, for nslua.plot.words.
function layout.look_of_text(artist)
  return { size = artist.size or EM, align = artist.align, valign = artist.valign, angle = artist.rotation }
end

-- Where a text of a panel is, in 1/72 inch; nil when the panel can not show it.
function layout.place_of_text(p, a)
  local at = a.at or { scales.fraction(a.columns[1][1], p.limits.x, scales.of(p.axes, "x")),
    scales.fraction(a.columns[2][1], p.limits.y, scales.of(p.axes, "y")) }
  local area = p.space or { p.x0, p.y0, p.x1, p.y1 }
  local x, y = area[1] + at[1] * (area[3] - area[1]), area[2] + at[2] * (area[4] - area[2])
  if a.shift then x, y = x + a.shift[1], y + a.shift[2] end
  if x >= 0 and x <= p.fw and y >= 0 and y <= p.fh then return x, y end
end

local GAP = 0.5 -- the least distance of two labels of an axis, in em

-- Whether the labels of an axis of this length stand apart from each other.
local function fit(axes, axis, l, list, length)
  local scale, before, reached = scales.of(axes, axis), nil, nil
  for _, tick in ipairs(list) do
    local w, h = layout.box(tick[2], axes.tick_looks[axis])
    local at, size = scales.fraction(tick[1], l, scale) * length, axis == "x" and w or h
    if before and math.abs(at - before) < (size + reached) / 2 + GAP * EM then return false end
    before, reached = at, size
  end
  return true
end

local FEW = 3 -- an axis has so many ticks when their labels fit

-- The ticks of an axis that has none of its own.
local function automatic_ticks(axes, axis, l, room, length)
  local lo, hi, scale, count = min(l[1], l[2]), max(l[1], l[2]), scales.of(axes, axis), max(2, floor(room))
  local best = ticks.make(lo, hi, count, scale)
  for fewer = count - 1, 2, -1 do
    if not length or fit(axes, axis, l, best, length) then break end
    best = ticks.make(lo, hi, fewer, scale)
  end
  for more = count + 1, length and #best < FEW and 3 * FEW or 0 do
    local list = ticks.make(lo, hi, more, scale)
    if #list > #best and fit(axes, axis, l, list, length) then best = list end
    if #best >= FEW then break end
  end
  return best
end

-- The ticks of an axis of `length` (nil when it is not known) with room for about `room` labels.
function layout.ticks(axes, axis, l, room, length)
  local given = axes.tick_lists[axis] or share.root(axes, axis).tick_lists[axis]
  if given then return given end
  local found = automatic_ticks(axes, axis, l, room, length)
  local minor = axes.minor and axes.minor[axis]
  if minor == false then found.minor = nil
  elseif minor then found.minor = ticks.between(found, min(l[1], l[2]), max(l[1], l[2])) end
  return found
end

-- The look of the labels of an axis of a panel: as asked for; those that would touch are turned.
function layout.tick_look(p, axis) return p.turned and p.turned[axis] or p.axes.tick_looks[axis] end

-- The end of a turned label that is at its tick on the x axis; nil for a label that is not turned. upper: the labels
-- are above the panel.
function layout.turned_end(look, upper)
  local angle = look and look.rotation or 0
  if angle % 180 == 0 then return nil end
  return (angle % 180 < 90 or angle % 360 == 90) == not upper and "right" or "left"
end

-- The part of the box around a label that is at its tick on the x axis, and whether a script has put another part of
-- a turned one there.
function layout.align_of(look, upper)
  local usual, asked = layout.turned_end(look, upper), look and look.align
  return asked or usual or "center", usual ~= nil and asked ~= nil and asked ~= usual
end

local TURN = 30 -- the angle of labels that would touch, in degrees

-- Turns the given labels of the x axis that would touch.
local function turn_labels(p, width)
  local axes, look = p.axes, p.axes.tick_looks.x or {}
  p.turned = nil
  if look.rotation or not axes.tick_lists.x or not width or fit(axes, "x", p.limits.x, p.ticks.x,
    width) then return end
  local turned = { rotation = TURN }
  for key, value in pairs(look) do turned[key] = value end
  p.turned = { x = turned }
end

-- The space of the labels of the x axis: how far they extend beyond the left and right ends of the panel, and their
-- height.
local function reach_of(p)
  local look, left, right, height = layout.tick_look(p, "x"), 0, 0, text.LINE * EM
  local width, align = p.x1 and p.x1 - p.x0 or 300, layout.align_of(look, p.axes.own == "x")
  for _, tick in ipairs(p.ticks.x) do
    local at = scales.fraction(tick[1], p.limits.x, scales.of(p.axes, "x"))
    if at > -1e-6 and at < 1 + 1e-6 then
      local w, h = layout.box(tick[2], look)
      local before, after = 0.55 * w, 0.55 * w
      if align == "right" then before, after = w, 0.5 * EM elseif align == "left" then before, after = 0.5 * EM, w end
      left, right = max(left, before - at * width), max(right, after - (1 - at) * width)
      height = max(height, h)
    end
  end
  return left, right, height
end

-- The names of the axes and the heading, on several lines where they are longer than the cell of the panel.
local function wrap_words(p)
  local axes, c = p.axes, p.cell
  p.names = { x = axes.names.x, y = axes.names.y, head = axes.heading }
  if not c then return end
  local mx, my = (p.x0 + p.x1) / 2, (p.y0 + p.y1) / 2
  local wide, high = 2 * min(mx - c[1], c[3] - mx), 2 * min(my - c[2], c[4] - my)
  local looks, head = axes.looks, axes.heading_look or {}
  if axes.names.x and not looks.x.rotation then
    p.names.x = text.wrap(axes.names.x, wide / (looks.x.fontsize or EM))
  end
  if axes.names.y and not looks.y.rotation then
    p.names.y = text.wrap(axes.names.y, high / (looks.y.fontsize or EM))
  end
  if axes.heading then p.names.head = text.wrap(axes.heading, wide / (head.fontsize or EM + 1)) end
end

-- The heading of a figure, on several lines where it is wider than the figure.
function layout.wrapped_heading(figure, w)
  return text.wrap(figure.heading, (w - EM) / (figure.heading_look.fontsize or layout.HEADING))
end

-- The space below the panel: for the numbers and for the name of the axis.
local function room_below(p, height)
  local axes = p.axes
  local bottom = axes.hidden and 0.5 * EM or p.bare_x and 0.8 * EM or 0.95 * EM + height
  if p.names.x then bottom = bottom + 0.45 * EM + select(2, layout.box(p.names.x, axes.looks.x)) end
  if p.ticks.x.note and not p.bare_x then
    local name = axes.names.x and layout.box(p.names.x, axes.looks.x) or 0
    local free = ((p.x1 and p.x1 - p.x0 or 300) - name) / 2
    if not axes.names.x or free < (text.size(p.ticks.x.note) + 1) * EM then
      p.note_drop = axes.names.x and bottom - 0.95 * EM - height or 0
      bottom = bottom + 1.4 * EM
    else
      p.note_drop = 0
    end
  end
  return bottom
end

-- The width of the numbers of the axis y.
local function width_of_numbers(p)
  local widest = 0
  for _, tick in ipairs(p.ticks.y) do widest = max(widest, (layout.box(tick[2], p.axes.tick_looks.y))) end
  return widest
end

-- The space at the right for the axis y of a twin.
local function room_beside(p)
  local axes, room = p.axes, width_of_numbers(p) + 1.4 * EM
  if p.names.y then room = room + 0.9 * EM + layout.box(p.names.y, axes.looks.y, 90) end
  return room
end

-- The space above the panel for the axis x of a twin.
local function room_above(p)
  local _, _, height = reach_of(p)
  p.tick_height = height
  local room = 0.95 * EM + height
  if p.names.x then room = room + 0.45 * EM + select(2, layout.box(p.names.x, p.axes.looks.x)) end
  if p.ticks.x.note then room = room + 1.4 * EM end
  return room
end

-- The space that a legend outside takes at the right of what is there already.
local function legend_beside(axes)
  local at = axes.legend_at
  local size = at and at.loc == "outside" and entries.measure(axes, EM)
  return size and size.w + 1.1 * EM or 0
end

-- The space for texts around a twin: its own axis alone.
local function margins_of_twin(p)
  if p.axes.own == "x" then
    local before, after = reach_of(p)
    return before + 0.2 * EM, after + 0.2 * EM, 0, room_above(p)
  end
  p.outside = room_beside(p)
  return 0, p.outside + legend_beside(p.axes), 0, p.ticks.y.note and 2 * EM or 0
end

-- How far the numbers of the rays of a polar panel, and a legend at a named place, are beyond the square of its disc.
local function room_around_disc(p)
  local beside, over = polar.room(p.axes.disc)
  local around = { left = beside, right = beside, bottom = over, top = over }
  local at = p.axes.legend_at
  local spot = at and not at.anchor and entries.spot[at.loc]
  local size = spot and entries.measure(p.axes, EM, nil, p.fw)
  if not size then return around end
  local x, y = polar.legend_room(spot, size.w, size.h, p.x1 and (p.x1 - p.x0) / 2 or 100, beside, over)
  around.left, around.right = beside + (spot[2] == 0 and x or 0), beside + (spot[2] == 1 and x or 0)
  around.bottom, around.top = over + (spot[3] == 0 and y or 0), over + (spot[3] == 1 and y or 0)
  return around
end

-- What stands between the panel and its heading.
local function lift_of(p)
  local axes, lift = p.axes, 0
  if axes.disc then lift = p.around.top end
  local em = axes.heading_look and axes.heading_look.fontsize or EM + 1
  local width = axes.heading and text.size(axes.heading) * em or 0
  local notes = p.ticks.y.note and 1 or 0
  for _, mate in ipairs(p.mates or {}) do
    if mate.axes.own == "x" then lift = max(lift, room_above(mate)) end
    if mate.axes.own == "y" and mate.ticks.y.note then notes = 2 end
  end
  p.note_lift = lift
  if notes > 0 and lift > 0 then lift = lift + 1.5 * EM end
  if notes > 0 and lift == 0 and width > (p.x1 and p.x1 - p.x0 or 300) - 8 * EM then lift = 1.5 * EM end
  for _, artist in ipairs(axes.artists) do -- a key may stand above the panel
    local side = artist.side
    if side and artist.at[2] > 1 then
      local above = p.x1 and (artist.at[2] - 1) * (p.y1 - p.y0) or 0
      lift = max(lift, min(above, 6 * EM) + (side == "N" and 1.9 or 0.7) * EM)
    end
  end
  if axes.cells_table and axes.cells_table.loc == "top" then
    p.table_at = lift + tables.size(axes.cells_table, EM) + 0.4 * EM
    lift = p.table_at
  end
  return lift
end

local HEAD = 0.45 -- between a panel and its heading, in em
layout.HEAD = HEAD * EM

-- The height of the heading of a panel.
function layout.heading_height(p)
  local axes = p.axes
  if not axes.heading then return 0 end
  return select(2, text.size(p.names.head)) * text.LINE * (axes.heading_look.fontsize or EM + 1)
end

-- The space for texts around the panel: left, right, bottom, top.
local function margins_of_words(p)
  wrap_words(p)
  if p.axes.twin then return margins_of_twin(p) end
  local axes, t = p.axes, p.axes.cells_table
  local left = (axes.hidden or p.bare_y) and 0.5 * EM or width_of_numbers(p) + 1.4 * EM
  if p.names.y then left = left + 0.9 * EM + layout.box(p.names.y, axes.looks.y, 90) end
  local before, after, height = reach_of(p)
  p.tick_height = #p.ticks.x > 0 and height or 0
  p.around = axes.disc and room_around_disc(p)
  p.lift = lift_of(p)
  p.drop = 0
  if axes.disc then
    left, p.drop, p.beside = left + p.around.left, p.around.bottom, p.around.right
  end
  local top = max(p.ticks.y.note and 2 * EM or 0.9 * EM, p.lift + 0.4 * EM)
  if axes.heading then top = max(top, p.lift + (HEAD + 0.35) * EM + layout.heading_height(p)) end
  local right = 1.3 * EM
  p.outside = 0
  if axes.color_bar then
    p.outside = colorbar.room(axes.color_bar, p.ticks.bar, EM)
    right = p.outside
    if p.ticks.bar.note then top = max(top, 2.4 * EM) end
  end
  for _, mate in ipairs(p.mates or {}) do
    if mate.axes.own == "y" then p.outside = max(p.outside, room_beside(mate)) end
  end
  if axes.disc then right, p.outside = right + p.beside, p.outside + p.beside end
  if legend_beside(axes) > 0 then right = p.outside + legend_beside(axes) end
  if not (axes.hidden or p.bare_x) then
    left, right = max(left, before + 0.2 * EM), max(right, after + 0.2 * EM)
  end
  left = left + spines.outward(axes, "left")
  p.drop = p.drop + spines.outward(axes, "bottom")
  local bottom = room_below(p, p.tick_height) + p.drop
  if t then
    local high, names = tables.size(t, EM)
    left = max(left, names + 0.4 * EM)
    if t.loc == "bottom" then
      p.table_at = -bottom + 0.3 * EM
      bottom = bottom + high + 0.3 * EM
    end
  end
  return left, right, bottom, top
end

-- How far words reach beyond each side of a panel, when these are their margins; a twin's words are with them.
local function reach_of_words(p, left, bottom, top)
  local axes = p.axes
  if axes.three_d then return { left = 0, right = 0, bottom = 0, top = 0 } end
  local above = (axes.heading or p.ticks.y.note or (p.lift or 0) > 0 or axes.own == "x") and top or 0
  local words = { left = left, right = p.outside or 0, bottom = bottom, top = above }
  for _, mate in ipairs(axes.twin and p.mates or {}) do
    for side, reach in pairs(mate.words or {}) do words[side] = max(words[side], reach) end
  end
  return words
end

-- The space around the panel: left, right, bottom, top. A legend at an anchor may ask for more than the words do.
local function margins_of(p)
  local left, right, bottom, top = margins_of_words(p)
  local at, axes = p.axes.legend_at, p.axes
  p.words = reach_of_words(p, left, bottom, top)
  local size = at and at.anchor and not axes.three_d and entries.measure(axes, EM, nil, p.fw)
  if not size then return left, right, bottom, top end
  local width, height = p.x1 and p.x1 - p.x0 or 300, p.x1 and p.y1 - p.y0 or 200
  local margins = p.margins or { left = left, right = right, bottom = bottom, top = top }
  local l, r, b, t = entries.rooms(at, size, width, height, margins, p.words)
  local function with(words, legend) return max(words, legend > 0 and legend + 0.3 * EM or 0) end
  return with(left, l), with(right, r), with(bottom, b), with(top, t)
end

local function place_in_grid(axes)
  local r0, c0 = (axes.first - 1) // axes.cols, (axes.first - 1) % axes.cols
  local r1, c1 = (axes.last - 1) // axes.cols, (axes.last - 1) % axes.cols
  return r0, r1, min(c0, c1), max(c0, c1)
end

-- Whether the panel shows no numbers on its x axis, since a panel below it shows them for the shared axis.
local function is_bare(axes, panels)
  if axes.bare_x or axes.names.x then return axes.bare_x end
  local _, r1, c0, c1 = place_in_grid(axes)
  for _, other in ipairs(panels) do
    local r, _, d0, d1 = place_in_grid(other)
    local same = share.root(other, "x") == share.root(axes, "x") and other.rows == axes.rows
      and other.cols == axes.cols
    if same and r > r1 and d0 == c0 and d1 == c1 then return true end
  end
  return false
end

-- Whether the panel shows no numbers on its y axis, since a panel left of it shows them for the shared axis.
local function is_bare_beside(axes, panels)
  if axes.names.y or axes.twin then return false end
  local r0, r1, c0 = place_in_grid(axes)
  for _, other in ipairs(panels) do
    local s0, s1, _, d1 = place_in_grid(other)
    local same = share.root(other, "y") == share.root(axes, "y") and other.rows == axes.rows
      and other.cols == axes.cols
    if same and not other.twin and d1 < c0 and s0 == r0 and s1 == r1 then return true end
  end
  return false
end

-- Divides `total` into n cells with margins before and after each. Returns the starts and the inner length.
local function cut(total, n, before, after)
  local free = total
  for i = 0, n - 1 do free = free - (before[i] or 0) - (after[i] or 0) end
  local inner, starts, at = max(free / n, 10), {}, 0
  for i = 0, n - 1 do
    starts[i] = at + (before[i] or 0)
    at = starts[i] + inner + (after[i] or 0)
  end
  return starts, inner
end

-- The rectangles of the panels of one grid.
local function lay_out(panels, w, h, head)
  local rows, cols = panels[1].axes.rows, panels[1].axes.cols
  local left, right, bottom, top, words = {}, {}, {}, {}, {}
  for _, p in ipairs(panels) do
    local l, r, b, t = margins_of(p)
    local r0, r1, c0, c1 = place_in_grid(p.axes)
    words[c0] = max(words[c0] or 0, p.words.left)
    left[c0], right[c1] = max(left[c0] or 0, l), max(right[c1] or 0, r)
    top[r0], bottom[r1] = max(top[r0] or 0, t), max(bottom[r1] or 0, b)
  end
  local xs, iw = cut(w, cols, left, right)
  local ys, ih = cut(h - head, rows, top, bottom)
  for _, p in ipairs(panels) do
    local r0, r1, c0, c1 = place_in_grid(p.axes)
    p.x0, p.x1, p.left = xs[c0], xs[c1] + iw, words[c0]
    p.margins = { left = left[c0], right = right[c1], bottom = bottom[r1], top = top[r0] }
    p.y1, p.y0 = h - head - ys[r0], h - head - ys[r1] - ih
    p.cell = { xs[c0] - (left[c0] or 0), h - head - ys[r1] - ih - (bottom[r1] or 0),
      xs[c1] + iw + (right[c1] or 0), h - head - ys[r0] + (top[r0] or 0) }
  end
end

-- Gives a unit the same length on both axes: by wider limits where they are not set, else by a smaller panel.
local function make_equal(p)
  local lx, ly = p.limits.x, p.limits.y
  local pw, ph = p.x1 - p.x0, p.y1 - p.y0
  local ux, uy = math.abs(lx[2] - lx[1]) / pw, math.abs(ly[2] - ly[1]) / ph -- data per pixel
  local shape, l = p.axes.aspect == "scaled", ux < uy and lx or ly
  if not shape and not l.given then
    local grow = max(ux, uy) / min(ux, uy)
    local middle, half = (l[1] + l[2]) / 2, (l[2] - l[1]) / 2
    l[1], l[2] = middle - half * grow, middle + half * grow
  elseif ux < uy then
    local spare = pw * (1 - ux / uy)
    p.x0, p.x1 = p.x0 + spare / 2, p.x1 - spare / 2
  else
    local spare = ph * (1 - uy / ux)
    p.y0, p.y1 = p.y0 + spare / 2, p.y1 - spare / 2
  end
end

local function make_ticks(p)
  local pw, ph = p.x1 and p.x1 - p.x0 or 300, p.x1 and p.y1 - p.y0 or 200
  p.ticks = { x = layout.ticks(p.axes, "x", p.limits.x, min(8, pw / (5.5 * EM)), pw),
    y = layout.ticks(p.axes, "y", p.limits.y, min(7, ph / (1.9 * EM)), ph),
    bar = p.axes.color_bar and colorbar.ticks(p.axes.color_bar, ph, EM) }
  turn_labels(p, p.x1 and pw)
end

local LEAST_WIDE, LEAST_HIGH = 80, 60 -- of a panel, where the figure's size is free, in 1/72 inch

-- The size in inches of a figure whose panels have room beside their texts, from a usual size.
function layout.roomy(figure, w, h)
  for _ = 1, 2 do
    local more_w, more_h = 0, 0
    for _, p in ipairs(layout.panels(figure, w * 72, h * 72)) do
      local axes = p.axes
      if not axes.three_d and not axes.twin and not axes.aspect and not axes.rect then
        more_w = max(more_w, (LEAST_WIDE - (p.x1 - p.x0)) * axes.cols)
        more_h = max(more_h, (LEAST_HIGH - (p.y1 - p.y0)) * axes.rows)
      end
    end
    if more_w <= 0 and more_h <= 0 then break end
    w, h = w + (more_w > 0 and more_w + LEAST_WIDE or 0) / 72, h + (more_h > 0 and more_h + LEAST_HIGH or 0) / 72
  end
  return w, h
end

-- Gives a panel with a rectangle of its own its place.
local function place_free(p, panels)
  local frame = { 0, 0, p.fw, p.fh }
  for _, other in ipairs(panels) do
    if other.axes == p.axes.parent then frame = { other.x0, other.y0, other.x1, other.y1 } end
  end
  if not p.x0 then inset.place(p, frame, { 0, 0, 0, 0 }) end
  inset.place(p, frame, { margins_of(p) })
end

-- The panels of a figure with limits, ticks and rectangles.
function layout.panels(figure, w, h)
  local panels, grids, order = {}, {}, {}
  for i, axes in ipairs(figure.panels) do
    if axes.polar then axes = polar.plane(axes) end
    local p = { axes = axes, limits = {}, bare_x = is_bare(axes, figure.panels),
      bare_y = is_bare_beside(axes, figure.panels), fw = w, fh = h }
    local looks = axes.tick_looks
    p.bare_x = p.bare_x or (looks.x or {}).labels == false
    p.bare_y = p.bare_y or (looks.y or {}).labels == false
    for _, axis in ipairs { "x", "y", "z" } do p.limits[axis] = limits_of(axes, axis) end
    make_ticks(p)
    wrap_words(p)
    panels[i] = p
    local key = axes.rows .. "x" .. axes.cols
    if axes.rect then key = "free" elseif not grids[key] then order[#order + 1] = key end
    grids[key] = grids[key] or {}
    table.insert(grids[key], p)
  end
  for _, p in ipairs(panels) do
    p.mates = {}
    for _, other in ipairs(panels) do
      local twins = other ~= p and (other.axes.twin or other.axes) == (p.axes.twin or p.axes)
      if twins then table.insert(p.mates, other) end
    end
  end
  local em = figure.heading and figure.heading_look.fontsize or layout.HEADING
  local head = figure.heading and (0.9 * EM + text.LINE * em * select(2, text.size(layout.wrapped_heading(figure,
    w))))
    or 0
  for _ = 1, 3 do -- the second and third time with the ticks that fit the panels
    for _, key in ipairs(order) do lay_out(grids[key], w, h, head) end
    for _, p in ipairs(grids.free or {}) do place_free(p, panels) end
    for _, p in ipairs(panels) do
      if p.axes.aspect and not p.axes.three_d then make_equal(p) end
      make_ticks(p)
    end
  end
  for _, p in ipairs(panels) do
    p.insets = {}
    for _, other in ipairs(panels) do
      if other.axes.parent == p.axes then table.insert(p.insets, other) end
    end
    if p.axes.disc then polar.dress(p, layout.INK) end
  end
  return panels
end

return layout
