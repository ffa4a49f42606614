-- nslua.plot.layout: where the panels of a figure are, their limits and ticks.
--
-- The edges of panels in one column are aligned: the space for texts is computed from the texts of all of them.
-- Lengths are in 1/72 inch.

local colorbar = require "nslua.plot.colorbar"
local core = require "nslua.core"
local data = require "nslua.plot.data"
local share = require "nslua.plot.share"
local text = require "nslua.plot.text"
local ticks = require "nslua.plot.ticks"

local fail = data.fail
local max, min, floor = math.max, math.min, math.floor

local layout = { EM = 10, HEADING = 13 } -- the sizes of the font, of a figure's heading

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
    if artist.kind == "vectors" and index < 3 and #artist.vectors[index] > 0 then
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
    local note = artist.note
    local path = artist.kind == "line" and not artist.loose
    if not note and (path or artist.kind == "step" or artist.kind == "between") then
      if not data.rises(artist.columns[1]) then return false end
      any = true
    elseif not note and (artist.kind == "scatter" or artist.kind == "vectors" or artist.kind == "fill" or
        artist.kind == "boxes" or artist.kind == "errors" or artist.loose) then
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

-- The limits {lo, hi} of an axis that follow from the data.
local function limits_of_data(axes, axis)
  local members = share.members(axes, axis)
  local artists = artists_of(members)
  local lo, hi = extent_of(artists, axis, axes.logs[axis])
  if not lo then
    if axes.logs[axis] then return { 1, 10 } end
    return { 0, 1 }
  end
  local margin = without_margin(members, artists, axis) and 0 or 0.05
  local from, to = ticks.widen(lo, hi, margin, axes.logs[axis])
  for _, artist in ipairs(artists) do -- bars stand on the edge of the panel
    local base = artist.bases and artist.bases[axis]
    if base and base == lo and lo < hi then from = lo elseif base and base == hi and lo < hi then to = hi end
  end
  return { from, to }
end

-- The limits {lo, hi} of an axis.
local function limits_of(axes, axis)
  local l = share.root(axes, axis).limits[axis]
  if not l then return limits_of_data(axes, axis) end
  local lo, hi = l[1] or l[2], l[2] or l[1]
  if axes.logs[axis] and (lo <= 0 or hi <= 0) then
    fail("%slim: expected numbers above 0 on a logarithmic axis, got %g and %g", axis, lo, hi)
  end
  if l[1] and l[2] then return { lo, hi, given = true } end
  local found = limits_of_data(axes, axis)
  lo, hi = l[1] or found[1], l[2] or found[2]
  if lo == hi then lo, hi = ticks.widen(lo, hi, 0, axes.logs[axis]) end
  return { l[1] or lo, l[2] or hi, given = true }
end

-- ---- rectangles ----

local EM = layout.EM

local LINE = 1.15 -- distance of two lines of text, in em

-- Width and height of the box around a text with a look, {fontsize =, rotation =}.
function layout.box(words, look, rotation)
  local w, lines = text.size(words)
  local em, angle = look and look.fontsize or EM, math.rad(look and look.rotation or rotation or 0)
  local c, s, h = math.abs(math.cos(angle)), math.abs(math.sin(angle)), LINE * lines
  return (0.95 * w * c + h * s) * em, (0.95 * w * s + h * c) * em
end

-- Where x is between the limits l: 0 at the first, 1 at the second.
function layout.fraction(x, l, log)
  if log then return x > 0 and math.log(x / l[1]) / math.log(l[2] / l[1]) or -1 end
  return (x - l[1]) / (l[2] - l[1])
end

local GAP = 0.5 -- the least distance of two labels of an axis, in em

-- Whether the labels of an axis of this length stand apart from each other.
local function fit(axes, axis, l, list, length)
  local log, before, reached = axes.logs[axis], nil, nil
  for _, tick in ipairs(list) do
    local w, h = layout.box(tick[2], axes.tick_looks[axis])
    local at, size = layout.fraction(tick[1], l, log) * length, axis == "x" and w or h
    if before and math.abs(at - before) < (size + reached) / 2 + GAP * EM then return false end
    before, reached = at, size
  end
  return true
end

local FEW = 3 -- an axis has so many ticks when their labels fit

-- The ticks of an axis of `length` (nil when it is not known) with room for about `room` labels.
function layout.ticks(axes, axis, l, room, length)
  local given = axes.tick_lists[axis] or share.root(axes, axis).tick_lists[axis]
  if given then return given end
  local lo, hi, log, count = min(l[1], l[2]), max(l[1], l[2]), axes.logs[axis], max(2, floor(room))
  local best = ticks.make(lo, hi, count, log)
  for more = count + 1, length and #best < FEW and 3 * FEW or 0 do
    local list = ticks.make(lo, hi, more, log)
    if #list > #best and fit(axes, axis, l, list, length) then best = list end
    if #best >= FEW then break end
  end
  return best
end

-- The space of the labels of the x axis: how far they extend beyond the left and right ends of the panel, and their
-- height.
local function reach_of(p)
  local look, left, right, height = p.axes.tick_looks.x, 0, 0, LINE * EM
  local width, turned = p.x1 and p.x1 - p.x0 or 300, look and look.rotation and look.rotation % 180 ~= 0
  for _, tick in ipairs(p.ticks.x) do
    local at = layout.fraction(tick[1], p.limits.x, p.axes.logs.x)
    if at > -1e-6 and at < 1 + 1e-6 then
      local w, h = layout.box(tick[2], look)
      local before, after = 0.55 * w, 0.55 * w
      if turned then before, after = w, 0.5 * EM end -- the end of turned words is at the tick
      left, right = max(left, before - at * width), max(right, after - (1 - at) * width)
      height = max(height, h)
    end
  end
  return left, right, height
end

local function words_outside(axes)
  local widest = 0
  for _, artist in ipairs(axes.artists) do widest = max(widest, artist.label and text.size(artist.label) or 0) end
  return (widest * 0.95 + 4.2) * (axes.legend_at.fontsize or EM)
end

-- The space below the panel: for the numbers and for the name of the axis.
local function room_below(p, height)
  local axes = p.axes
  local bottom = axes.hidden and 0.5 * EM or p.bare_x and 0.8 * EM or 0.95 * EM + height
  if axes.names.x then bottom = bottom + 0.45 * EM + select(2, layout.box(axes.names.x, axes.looks.x)) end
  if p.ticks.x.exponent and not axes.names.x and not p.bare_x then bottom = bottom + 1.4 * EM end
  return bottom
end

-- The space at the right for the axis y of a twin, and above it.
local function margins_of_twin(p)
  local axes, widest = p.axes, 0
  for _, tick in ipairs(p.ticks.y) do widest = max(widest, (layout.box(tick[2], axes.tick_looks.y))) end
  local right = widest + 1.4 * EM
  if axes.names.y then right = right + 0.9 * EM + layout.box(axes.names.y, axes.looks.y, 90) end
  return 0, right, 0, p.ticks.y.exponent and 1.7 * EM or 0
end

-- The space for texts around the panel: left, right, bottom, top.
local function margins_of(p)
  if p.axes.twin then return margins_of_twin(p) end
  local axes, widest = p.axes, 0
  for _, tick in ipairs(p.ticks.y) do widest = max(widest, (layout.box(tick[2], axes.tick_looks.y))) end
  local left = (axes.hidden or p.bare_y) and 0.5 * EM or widest + 1.4 * EM
  if axes.names.y then left = left + 0.9 * EM + layout.box(axes.names.y, axes.looks.y, 90) end
  local before, after, height = reach_of(p)
  p.tick_height = height
  local top = 0.9 * EM
  if p.ticks.y.exponent then top = 1.7 * EM end
  if axes.heading then
    local em = axes.heading_look.fontsize or EM + 1
    top = 0.8 * EM + 1.5 * select(2, text.size(axes.heading)) * em * EM / (EM + 1)
  end
  local right = axes.legend_at and axes.legend_at.loc == "outside" and words_outside(axes) or 1.3 * EM
  for _, artist in ipairs(axes.artists) do -- a key may stand above the panel
    if artist.kind == "key" and artist.at[2] > 1 then
      local above = p.x1 and (artist.at[2] - 1) * (p.y1 - p.y0) or 0
      top = max(top, min(above, 6 * EM) + (artist.side == "N" and 2 or 1) * EM)
    end
  end
  if axes.color_bar then
    right = right - (axes.legend_at and axes.legend_at.loc == "outside" and 0 or 1.3 * EM)
      + colorbar.room(axes.color_bar, p.ticks.bar, EM)
    if p.ticks.bar.exponent then top = max(top, 2 * EM) end
  end
  if not (axes.hidden or p.bare_x) then
    left, right = max(left, before + 0.2 * EM), max(right, after + 0.2 * EM)
  end
  return left, right, room_below(p, height), top
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
  local left, right, bottom, top = {}, {}, {}, {}
  for _, p in ipairs(panels) do
    local l, r, b, t = margins_of(p)
    local r0, r1, c0, c1 = place_in_grid(p.axes)
    left[c0], right[c1] = max(left[c0] or 0, l), max(right[c1] or 0, r)
    top[r0], bottom[r1] = max(top[r0] or 0, t), max(bottom[r1] or 0, b)
  end
  local xs, iw = cut(w, cols, left, right)
  local ys, ih = cut(h - head, rows, top, bottom)
  for _, p in ipairs(panels) do
    local r0, r1, c0, c1 = place_in_grid(p.axes)
    p.x0, p.x1, p.left, p.right = xs[c0], xs[c1] + iw, left[c0], right[c1]
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
end

-- The panels of a figure with limits, ticks and rectangles.
function layout.panels(figure, w, h)
  local panels, grids, order = {}, {}, {}
  for i, axes in ipairs(figure.panels) do
    local p = { axes = axes, limits = {}, bare_x = is_bare(axes, figure.panels),
      bare_y = is_bare_beside(axes, figure.panels), fw = w, fh = h }
    for _, axis in ipairs { "x", "y", "z" } do p.limits[axis] = limits_of(axes, axis) end
    make_ticks(p)
    panels[i] = p
    local key = axes.rows .. "x" .. axes.cols
    if not grids[key] then order[#order + 1] = key end
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
  local head = figure.heading and 2.4 * EM * select(2, text.size(figure.heading)) * em / layout.HEADING or 0
  for _ = 1, 3 do -- the second and third time with the ticks that fit the panels
    for _, key in ipairs(order) do lay_out(grids[key], w, h, head) end
    for _, p in ipairs(panels) do
      if p.axes.aspect and not p.axes.three_d then make_equal(p) end
      make_ticks(p)
    end
  end
  return panels
end

return layout
