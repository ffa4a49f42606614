-- nslua.plot.tables: the size and the drawing of the table of a panel. Lengths are in 1/72 inch.

local text = require "nslua.plot.text"
local words = require "nslua.plot.words"

local format = require "nslua.core".number_support.format

local tables = {}

local ROW, PAD = 1.5, 0.5 -- height of a row, free space beside a text, in em

-- The height of a table, and the width of the names of its rows. em: the usual size of texts.
function tables.size(t, em)
  em = t.size or em
  local lines, names = 1, 0
  local function see(list)
    for _, s in ipairs(list or {}) do lines = math.max(lines, (select(2, text.size(s)))) end
  end
  see(t.heads)
  for _, row in ipairs(t.rows) do see(row) end
  see(t.names)
  for _, s in ipairs(t.names or {}) do names = math.max(names, (text.size(s))) end
  local row = (ROW + (lines - 1) * text.LINE) * em
  return (#t.rows + (t.heads and 1 or 0)) * row, names > 0 and (names + 2 * PAD) * em or 0, row, em
end

-- The ends of the columns, from x0 to x1: as asked for, or by their texts.
local function ends_of(t, x0, x1)
  local parts, sum = {}, 0
  for j = 1, t.cols do
    parts[j] = t.widths and t.widths[j] * (x1 - x0) or (x1 - x0) / t.cols
    sum = sum + parts[j]
  end
  local at = { x0 + math.max(0, (x1 - x0 - sum) / 2) }
  for j = 1, t.cols do at[j + 1] = at[j] + parts[j] end
  return at
end

-- Draws the table of a panel p. y: the upper end; ink: the colour of words.
function tables.write(w, p, t, y, em, ink)
  local _, names, row
  _, names, row, em = tables.size(t, em)
  local ends = ends_of(t, p.x0, p.x1)
  local function cell(left, right, low, s, align, color)
    w:line('set object rectangle from screen %.6g,screen %.6g to screen %.6g,screen %.6g front %s '
      .. 'border lc rgb "%s" lw 0.6',
      left / p.fw, low / p.fh, right / p.fw, (low + row) / p.fh, color and format('fc rgb "%s" fs solid 1', color)
      or "fs empty", ink)
    local x = align == "left" and left + PAD * em or align == "right" and right - PAD * em or (left + right) / 2
    words.put(w, p.fw, p.fh, s, x, low + row / 2, { size = em, align = align, color = ink, layer = "front" })
  end
  local low = y - row
  for j, s in ipairs(t.heads or {}) do cell(ends[j], ends[j + 1], low, s, "center") end
  if t.heads then low = low - row end
  for i, list in ipairs(t.rows) do
    if t.names then cell(ends[1] - names, ends[1], low, t.names[i], "left") end
    for j, s in ipairs(list) do cell(ends[j], ends[j + 1], low, s, t.align, t.colors and t.colors[i][j]) end
    low = low - row
  end
end

return tables
