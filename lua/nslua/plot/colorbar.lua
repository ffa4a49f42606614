-- nslua.plot.colorbar: the bar of colours beside a panel.

local core = require "nslua.core"
local scales = require "nslua.plot.scales"
local style = require "nslua.plot.style"
local text = require "nslua.plot.text"
local ticks = require "nslua.plot.ticks"
local words = require "nslua.plot.words"

local format, rows = core.number_support.format, core.process_support.rows

local colorbar = {}

local GAP, WIDTH = 1.2, 1.3 -- between the panel and the bar; of the bar, in em

-- The range of colours of an artist. Equal limits are widened.
local function range_of(artist)
  local lo, hi = artist.range[1], artist.range[2]
  if lo == hi then return ticks.widen(lo, hi, 0) end
  return lo, hi
end

-- The ticks of the bar, for a panel of this height: the script's ticks, or places between bands, or round numbers.
function colorbar.ticks(bar, height, em)
  local lo, hi = range_of(bar.artist)
  local count, levels = math.max(2, math.min(7, height // (1.9 * em))), bar.ticks or bar.artist.levels
  local list = ticks.make(math.min(lo, hi), math.max(lo, hi), count)
  if not levels or list.note and not bar.ticks then return list end
  local every, first = bar.ticks and 1 or math.ceil(#levels / count), 1
  for k = 1, math.min(every, #levels - 1) do -- 0 has a tick
    local steps = levels[k] / (levels[2] - levels[1]) / every
    if math.abs(steps - math.floor(steps + 0.5)) < 1e-6 then first = k end
  end
  list = {}
  for k = first, #levels, every do
    list[#list + 1] = { levels[k], (format("%.6g", levels[k]):gsub("^%-", "−")) }
  end
  return list
end

-- The room for the bar and its words at the right of a panel.
function colorbar.room(bar, list, em)
  local widest = 0
  for _, tick in ipairs(list) do widest = math.max(widest, (text.size(tick[2]))) end
  local _, lines = text.size(bar.label or "")
  if list.note then widest = math.max(widest, text.size(list.note) - WIDTH) end
  return (GAP + WIDTH + 1.2 + widest + (bar.label and 0.8 + 1.15 * lines or 0)) * em
end

-- The rectangles "x y left right low high colour" of the bar.
-- A rectangle reaches below those after it, so that no seams are seen.
local function rectangles(artist, w, p)
  local lo, hi = range_of(artist)
  local edges = artist.levels or core.linspace(lo, hi, 129)
  local places = w.dot and scales.on_dots(edges, { lo, hi }, false, p.y0, p.y1, w.dot.y) or edges
  local list = { {}, {}, {}, {}, {}, {}, {} }
  for k = 1, #edges - 1 do
    local middle = 0.5 * (edges[k] + edges[k + 1])
    local color = tonumber(style.map_color(artist.map, (middle - lo) / (hi - lo)):sub(2), 16)
    local high = places[math.min(k + 2, #places)]
    for i, v in ipairs { 0.5, middle, 0, 1, places[k], high, color } do list[i][k] = v end
  end
  for i = 1, 7 do list[i] = core.vector(list[i]) end
  return rows(list)
end

-- Draws the bar of a panel p. ink: the colours of words and of lines.
function colorbar.write(w, p, em, ink, line)
  local bar, list, marks = p.axes.color_bar, p.ticks.bar, {}
  local lo, hi = range_of(bar.artist)
  local edge = p.x1 + (p.beside or 0)
  local left = edge + GAP * em
  for i, tick in ipairs(list) do marks[i] = format("%s %.12g", w:quote((tick[2]:gsub("%%", "%%%%"))), tick[1]) end
  w:line "reset"
  w:line("set lmargin at screen %.6g", left / p.fw)
  w:line("set rmargin at screen %.6g", (left + WIDTH * em) / p.fw)
  w:line("set bmargin at screen %.6g", p.y0 / p.fh)
  w:line("set tmargin at screen %.6g", p.y1 / p.fh)
  w:line('set border 15 lw 0.5 lc rgb "%s"', line)
  w:line "unset key; unset xtics; unset ytics; set xrange [0:1]"
  w:line("set yrange [%.15g:%.15g]", lo, hi)
  w:line("set y2range [%.15g:%.15g]", lo, hi)
  if #marks > 0 then
    w:line('set y2tics scale 0.5 nomirror out offset -0.4,0 textcolor rgb "%s" (%s)', ink, table.concat(marks, ", "))
  end
  if list.note then
    words.put(w, p.fw, p.fh, list.note, left, p.y1 + 1.2 * em, { size = em, color = line })
  end
  if bar.label then
    local _, lines = text.size(bar.label)
    local at = edge + colorbar.room(bar, list, em) - (0.5 + 0.575 * lines) * em
    words.put(w, p.fw, p.fh, bar.label, at, (p.y0 + p.y1) / 2, { size = em, align = "center", angle = 90,
      color = ink })
  end
  w:line("plot %s using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable fs solid 1 noborder",
    w:block(rectangles(bar.artist, w, p)))
end

return colorbar
