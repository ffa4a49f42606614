-- nslua.plot.legend: the legend of a panel: its size, the place where it hides least, and its samples and texts.
--
-- It is drawn on the picture itself, after the panel, so that its box is known before. Lengths are in 1/72 inch.

local core = require "nslua.core"
local entries = require "nslua.plot.entries"
local kinds = require "nslua.plot.kinds"
local layout = require "nslua.plot.layout"
local scales = require "nslua.plot.scales"
local spines = require "nslua.plot.spines"
local style = require "nslua.plot.style"
local text = require "nslua.plot.text"
local words = require "nslua.plot.words"

local format = core.number_support.format
local max, min, floor, ceil = math.max, math.min, math.floor, math.ceil
local transparent = style.transparent

local legend = {}

local SAMPLE, BESIDE, BETWEEN, PAD = entries.SAMPLE, entries.BESIDE, entries.BETWEEN, entries.PAD
local INSET = 0.5 -- from the panel to the frame, in em

-- ---- where data are ----

local CELLS = 72 -- the panel is divided into so many cells along each side, in which data are counted

-- Counts the cells that the data of the panel touch, into `taken`.
local function mark(p, taken)
  local function cell(i, j)
    if i >= 0 and i < CELLS and j >= 0 and j < CELLS then taken[i * CELLS + j] = (taken[i * CELLS + j] or 0) + 1 end
  end
  local function segment(u0, v0, u1, v1)
    if max(u0, u1) < 0 or min(u0, u1) > 1 or max(v0, v1) < 0 or min(v0, v1) > 1 then return end
    local steps = min(4 * CELLS, ceil(2 * CELLS * max(math.abs(u1 - u0), math.abs(v1 - v0))) + 1)
    for k = 0, steps do cell(floor((u0 + (u1 - u0) * k / steps) * CELLS),
      floor((v0 + (v1 - v0) * k / steps) * CELLS)) end
  end
  local lx, ly, sx, sy = p.limits.x, p.limits.y, scales.of(p.axes, "x"), scales.of(p.axes, "y")
  for _, a in ipairs(p.axes.artists) do
    local x, y = a.columns[1], a.columns[2]
    local kind = kinds[a.kind]
    local n, joined = min(#x, #y), not (kind.apart or a.loose or kind.steep and not a.dash)
    if kind.points and not a.direction then
      local u, v
      local every = max(1, n // 4000)
      for i = 1, n, every do
        local u1, v1 = scales.fraction(x[i], lx, sx), scales.fraction(y[i], ly, sy)
        local good = u1 - u1 == 0 and v1 - v1 == 0
        if good and joined and u then
          if a.steps then segment(u, v, u1, v) segment(u1, v, u1, v1) else segment(u, v, u1,
            v1) end
        elseif good then
          cell(floor(u1 * CELLS), floor(v1 * CELLS))
        end
        u, v = good and u1 or nil, v1
        if a.vectors then
          segment(u1, v1, scales.fraction(x[i] + a.vectors[1][i], lx, sx), scales.fraction(y[i] + a.vectors[2][i],
            ly, sy))
          u = nil
        end
      end
    end
    if kind.filled then
      for i = 1, #a.box[1] do
        local u0, u1 = scales.fraction(a.box[1][i], lx, sx), scales.fraction(a.box[2][i], lx, sx)
        local v0, v1 = scales.fraction(a.box[3][i], ly, sy), scales.fraction(a.box[4][i], ly, sy)
        for k = 0, CELLS / 2 do segment(u0, v0 + (v1 - v0) * 2 * k / CELLS, u1, v0 + (v1 - v0) * 2 * k / CELLS) end
      end
    end
    if kind.words then -- its frame
      local px, py = layout.place_of_text(p, a)
      if px then
        local x0, y0, x1, y1 = words.extent(a.text, layout.look_of_text(a), px, py)
        local u0, u1 = (x0 - p.x0) / (p.x1 - p.x0), (x1 - p.x0) / (p.x1 - p.x0)
        for k = 0, 4 do
          local v = (y0 + (y1 - y0) * k / 4 - p.y0) / (p.y1 - p.y0)
          segment(u0, v, u1, v)
        end
      end
    end
  end
end

-- Counts the cells in a rectangle { x0, y0, x1, y1 } so many times.
local function mark_rectangle(p, taken, r, times)
  local i0, i1 = (r[1] - p.x0) / (p.x1 - p.x0) * CELLS, (r[3] - p.x0) / (p.x1 - p.x0) * CELLS
  local j0, j1 = (r[2] - p.y0) / (p.y1 - p.y0) * CELLS, (r[4] - p.y0) / (p.y1 - p.y0) * CELLS
  for i = max(0, floor(i0)), min(CELLS - 1, floor(i1)) do
    for j = max(0, floor(j0)), min(CELLS - 1, floor(j1)) do
      taken[i * CELLS + j] = (taken[i * CELLS + j] or 0) + times
    end
  end
end

-- Counts the cells of panels in the panel, and the cells of numbers along lines that have been moved into it.
local function mark_words(p, taken)
  for _, child in ipairs(p.insets or {}) do mark_rectangle(p, taken, child.cell, 10) end
  for _, axis in ipairs { "x", "y" } do
    local line = spines.moved(p, axis)
    for _, tick in ipairs(line and p.ticks[axis] or {}) do
      local w, h = layout.box(tick[2], layout.tick_look(p, axis))
      local part = scales.fraction(tick[1], p.limits[axis], scales.of(p.axes, axis))
      local x, y = p.x0 + part * (p.x1 - p.x0), line - layout.EM
      if axis == "y" then x, y = line - layout.EM - w / 2, p.y0 + part * (p.y1 - p.y0) end
      mark_rectangle(p, taken, { x - w / 2, y - h / 2, x + w / 2, y + h / 2 }, 100)
    end
  end
end

-- Sums of counts over the cells below and left of each, so that the sum of a rectangle takes four look-ups.
local function sums_of(taken)
  local sums, m = {}, CELLS + 1
  for i = 0, CELLS do sums[i * m], sums[i] = 0, 0 end
  for i = 1, CELLS do
    for j = 1, CELLS do
      sums[i * m + j] = sums[(i - 1) * m + j] + sums[i * m + j - 1] - sums[(i - 1) * m + j - 1]
        + (taken[(i - 1) * CELLS + j - 1] or 0)
    end
  end
  return function(u0, v0, u1, v1)
    local i0, i1 = max(0, min(CELLS, floor(u0 * CELLS))), max(0, min(CELLS, ceil(u1 * CELLS)))
    local j0, j1 = max(0, min(CELLS, floor(v0 * CELLS))), max(0, min(CELLS, ceil(v1 * CELLS)))
    return sums[i1 * m + j1] - sums[i0 * m + j1] - sums[i1 * m + j0] + sums[i0 * m + j0]
  end
end

-- ---- the place ----

local GRID = 16 -- where all nine places hide data, so many steps along each side are tried

-- The lower left corner of the legend where it hides the fewest data; data of twins count too, and their legends
-- most.
local function best(p, size, inset)
  local taken = {}
  mark(p, taken)
  for _, mate in ipairs(p.mates or {}) do mark(mate, taken) end
  mark_words(p, taken)
  local count = sums_of(taken)
  local pw, ph = p.x1 - p.x0, p.y1 - p.y0
  local free_w, free_h = pw - size.w - 2 * inset, ph - size.h - 2 * inset
  local found, fewest
  local function try(s, t)
    local x, y = inset + s * free_w, inset + t * free_h
    local hidden = count(x / pw, y / ph, (x + size.w) / pw, (y + size.h) / ph)
    for _, mate in ipairs(p.mates or {}) do
      local r = mate.legend_box
      local apart = not r or r[1] > p.x0 + x + size.w or r[3] < p.x0 + x or r[2] > p.y0 + y + size.h
        or r[4] < p.y0 + y
      if not apart then hidden = hidden + 1e6 end
    end
    if not fewest or hidden < fewest then found, fewest = { p.x0 + x, p.y0 + y }, hidden end
  end
  for _, spot in ipairs(entries.spots) do
    try(spot[2], spot[3])
    if fewest == 0 then return found end
  end
  if free_w > 0 and free_h > 0 then
    for j = GRID, 0, -1 do
      for i = GRID, 0, -1 do try(i / GRID, j / GRID) end
    end
  end
  return found
end

-- The lower left corner of a legend one of whose corners, named by `loc`, is at a part of an area. Beyond the
-- area it keeps clear of the words there, and it stays in the picture.
local function anchored(p, at, size, area)
  local spot, place = entries.spot[at.loc], {}
  for k, extent in ipairs { size.w, size.h } do
    local length = area[k + 2] - area[k]
    local low, high = k == 1 and "left" or "bottom", k == 1 and "right" or "top"
    local below = entries.beyond(at, low, extent, length, p.words[low])
    local above = entries.beyond(at, high, extent, length, p.words[high])
    place[k] = below and area[k] - below - extent or above and area[k + 2] + above
      or area[k] + at.anchor[k] * length - spot[k + 1] * extent
    place[k] = max(0, min(place[k], (k == 1 and p.fw or p.fh) - extent))
  end
  return place
end

-- The lower left corner of a legend.
local function corner(p, size)
  local at, inset, area = p.axes.legend_at, INSET * layout.EM, { p.x0, p.y0, p.x1, p.y1 }
  if p.axes.three_d then area = p.space end
  if at.anchor then return anchored(p, at, size, area) end
  if at.loc == "outside" then
    return { area[3] + (p.outside or 0) + 0.8 * layout.EM, max(0.3 * layout.EM, area[4] - size.h + PAD * size.em) }
  end
  if at.loc == "best" and p.axes.three_d then -- in a row of its own, above the space
    return { area[3] - size.w - inset, area[4] }
  end
  if at.loc == "best" then return best(p, size, inset) end
  local spot, around = entries.spot[at.loc], p.around
  if around and at.loc ~= "center" then -- in the corner of the square around a disc and its numbers
    area = { area[1] - around.left, area[2] - around.bottom, area[3] + around.right, area[4] + around.top }
    inset = 0
  end
  return { area[1] + inset + spot[2] * (area[3] - area[1] - size.w - 2 * inset),
    area[2] + inset + spot[3] * (area[4] - area[2] - size.h - 2 * inset) }
end

-- ---- samples ----

local function patch(w, p, x, y, em, a)
  local color, edge = a.color or style.map_color(a.map, 0.5), a.edge and format('border lc rgb "%s" lw %.6g', a.edge,
    a.linewidth) or "noborder"
  w:line('set object rectangle from screen %.6g,screen %.6g to screen %.6g,screen %.6g front '
    .. 'fc rgb "%s" fs solid 1 %s',
    x / p.fw, (y - 0.3 * em) / p.fh, (x + SAMPLE * em) / p.fw, (y + 0.3 * em) / p.fh, transparent(color, a.alpha),
      edge)
end

local function stroke(w, p, x0, y0, x1, y1, more)
  w:line("set arrow from screen %.6g,screen %.6g to screen %.6g,screen %.6g %s front", x0 / p.fw, y0 / p.fh,
    x1 / p.fw,
    y1 / p.fh, more)
end

local function dot(w, p, x, y, kind, size, color, width)
  w:line('set label "" at screen %.6g,screen %.6g point pt %d ps %.6g lc rgb "%s" lw %.6g front', x / p.fw, y / p.fh,
    kind, size, color, width)
end

local function marker(w, p, x, y, a)
  local size = (a.markersize > 0 and a.markersize or 6) * w.point / 6 * a.marker[3]
  local color = a.color or style.map_color(a.map, 0.5)
  local face = transparent(a.hollow and a.marker_edge or a.face or color, a.alpha)
  dot(w, p, x, y, a.marker[a.hollow and 2 or 1], size, face, a.hollow and 1.2 or 0.7)
  if not a.hollow and a.marker_edge then dot(w, p, x, y, a.marker[2], size, transparent(a.marker_edge, a.alpha),
    1) end
end

local samples = { patch = patch }

function samples.arrow(w, p, x, y, em, a)
  stroke(w, p, x, y, x + SAMPLE * em, y, format('head filled size screen %.6g,18 lw %.6g lc rgb "%s"',
    0.5 * em / p.fw, a.linewidth, a.color))
end

function samples.bar(w, p, x, y, em, a)
  local middle = x + SAMPLE * em / 2
  stroke(w, p, middle, y - 0.45 * em, middle, y + 0.45 * em, format('nohead lw %.6g lc rgb "%s"', a.linewidth,
    a.color))
end

-- The sample of an artist, from x on, around the height y.
local function sample(w, p, x, y, em, a)
  local kind = kinds[a.kind]
  if kind.sample then return samples[kind.sample](w, p, x, y, em, a) end
  local right, middle = x + SAMPLE * em, x + SAMPLE * em / 2
  if not kind.apart and a.dash and a.linewidth > 0 then
    stroke(w, p, x, y, right, y, format('nohead lw %.6g lc rgb "%s"%s', a.linewidth, transparent(a.color, a.alpha),
      style.dash_part(a.dash, a.linewidth)))
  end
  if a.marker then marker(w, p, middle, y, a) end
end

local function frame(w, p, at, x, y, size)
  if at.frame == false then return end
  w:line('set object rectangle from screen %.6g,screen %.6g to screen %.6g,screen %.6g front '
    .. 'fc rgb "%s" fs solid 1 %s',
    x / p.fw, y / p.fh, (x + size.w) / p.fw, (y + size.h) / p.fh, transparent(at.face or "#FFFFFF", at.alpha or 0.75),
    (at.frame or at.edge) and format('border lc rgb "%s" lw 0.8', at.edge or "#CCCCCC") or "noborder")
end

-- Draws the legend of a panel p. ink: the colour of words.
function legend.write(w, p, ink)
  local size = entries.measure(p.axes, layout.EM, p.legend_columns, p.fw)
  if not size then return end
  local at, em = p.axes.legend_at, size.em
  local place = corner(p, size)
  local x, y = place[1], place[2]
  p.legend_box = { x, y, x + size.w, y + size.h }
  frame(w, p, at, x, y, size)
  local top, color = y + size.h - PAD * em, at.color or ink
  if size.title then
    local _, lines = text.size(size.title)
    local height = lines * text.LINE * em
    words.put(w, p.fw, p.fh, size.title, x + size.w / 2, top - height / 2, { size = em, align = "center",
      color = color,
      layer = "front" })
    top = top - height
  end
  local left, k = x + PAD * em, 0
  for column = 1, size.columns do
    local below = top
    for row = 1, size.rows do
      k = k + 1
      local artist = size.artists[k]
      if not artist then break end
      local middle = below - size.heights[row] / 2
      sample(w, p, left, middle, em, artist)
      words.put(w, p.fw, p.fh, artist.label, left + (SAMPLE + BESIDE) * em, middle, { size = em, color = color,
        layer = "front" })
      below = below - size.heights[row]
    end
    left = left + (SAMPLE + BESIDE + BETWEEN) * em + size.widths[column]
  end
end

return legend
