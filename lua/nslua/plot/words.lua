-- nslua.plot.words: texts at places of a picture, line by line and piece by piece, and the boxes around them.
--
-- Places are in 1/72 inch from the lower left corner of the picture. gnuplot gets a label for each piece, so that
-- fractions, several lines and turned texts are the same in all its terminals.

local style = require "nslua.plot.style"
local text = require "nslua.plot.text"

local format = require "nslua.core".number_support.format
local transparent = style.transparent

local words = {}

local FEET = 0.325 -- gnuplot writes the feet of letters so much below the place of a label, in em

local shares = { left = 0, center = 0.5, right = 1 }

-- How far the first line's feet stand below the place, in em, for a text of that height.
local function drop_of(valign, height, up)
  if valign == "top" then return up end
  if valign == "bottom" then return up - height end
  if valign == "baseline" then return 0 end
  return up - height / 2
end

-- The frame of a text: its left and lower end, width and height, relative to its place and before it is turned, and
-- the drop of its first line; in units of 1/72 inch. look: { size =, align =, valign = }.
function words.frame(s, look)
  local lines, width, height = text.set(s), 0, 0
  for _, line in ipairs(lines) do width, height = math.max(width, line.width), height + line.up + line.down end
  local em, share = look.size, shares[look.align or "left"]
  local drop = drop_of(look.valign, height, lines[1].up)
  return -share * width * em, (lines[1].up - drop - height) * em, width * em, height * em, drop * em
end

-- The box on the picture that a turned frame fills: left, low, right, high.
function words.extent(s, look, x, y)
  local left, low, width, height = words.frame(s, look)
  local angle = math.rad(look.angle or 0)
  local c, sn = math.cos(angle), math.sin(angle)
  local x0, y0, x1, y1 = math.huge, math.huge, -math.huge, -math.huge
  for _, corner in ipairs { { left, low }, { left + width, low }, { left, low + height }, { left + width,
    low + height } } do
    local px, py = x + c * corner[1] - sn * corner[2], y + sn * corner[1] + c * corner[2]
    x0, y0, x1, y1 = math.min(x0, px), math.min(y0, py), math.max(x1, px), math.max(y1, py)
  end
  return x0, y0, x1, y1
end

-- The corners of a box with round corners of radius r; r = 0 for a plain one.
local function outline(left, low, right, high, r)
  local points = {}
  if r == 0 then return { { left, low }, { right, low }, { right, high }, { left, high } } end
  local centres = { { right - r, low + r, -90 }, { right - r, high - r, 0 }, { left + r, high - r, 90 },
    { left + r, low + r, 180 } }
  for _, c in ipairs(centres) do
    for k = 0, 6 do
      local a = math.rad(c[3] + 15 * k)
      points[#points + 1] = { c[1] + r * math.cos(a), c[2] + r * math.sin(a) }
    end
  end
  return points
end

-- Draws the box around a frame at (x, y). box: { face, edge, alpha, pad (1/72 inch), round, linewidth }.
local function put_box(w, fw, fh, s, look, x, y)
  local box, left, low, width, height = look.box, words.frame(s, look)
  local pad, angle, list = box.pad, math.rad(look.angle or 0), {}
  local c, sn = math.cos(angle), math.sin(angle)
  local points = outline(left - pad, low - pad, left + width + pad, low + height + pad, box.round
    and math.min(pad + 1,
    height / 2) or 0)
  points[#points + 1] = points[1]
  for i, p in ipairs(points) do
    list[i] = format("%s screen %.6g,screen %.6g", i == 1 and "from" or "to", (x + c * p[1] - sn * p[2]) / fw,
      (y + sn * p[1] + c * p[2]) / fh)
  end
  w:line("set object polygon %s front %s %s", table.concat(list, " "),
    box.face and format('fc rgb "%s" fs solid 1', transparent(box.face, box.alpha)) or "fs empty",
    box.edge and format('border lc rgb "%s" lw %.6g', box.edge, box.linewidth) or "noborder")
end

-- Writes a text at (x, y) of a picture of fw x fh. look: { size = 10, align = "left", valign = "center", angle = 0,
-- color =, box =, layer = "" }.
function words.put(w, fw, fh, s, x, y, look)
  if look.box then put_box(w, fw, fh, s, look, x, y) end
  local em, angle, share = look.size, look.angle or 0, shares[look.align or "left"]
  local c, sn = math.cos(math.rad(angle)), math.sin(math.rad(angle))
  local layer = look.box and "front" or look.layer or ""
  local _, _, _, _, drop = words.frame(s, look)
  local base = -drop
  local function place(u, v) return (x + c * u - sn * v) / fw, (y + sn * u + c * v) / fh end
  local function put(quoted, u, v, size, align)
    local px, py = place(u, v + FEET * size)
    w:line('set label %s at screen %.6g,screen %.6g %s%s textcolor rgb "%s"%s %s', quoted, px, py, align,
      angle % 360 ~= 0 and format(" rotate by %.6g", angle) or "", look.color,
      size == w.usual and "" or format(' font ",%.6g"', size * w.letter), layer)
  end
  for i, line in ipairs(text.set(s)) do
    if i > 1 then base = base - line.up * em end
    if #line.pieces == 1 and #line.bars == 0 then
      put(line.pieces[1].quoted, 0, base, em, look.align or "left")
    else
      local left = -share * line.width * em
      for _, piece in ipairs(line.pieces) do
        put(piece.quoted, left + piece.x * em, base + piece.y * em, em * piece.scale, "left")
      end
      for _, bar in ipairs(line.bars) do
        local x0, y0 = place(left + bar[1] * em, base + bar[3] * em)
        local x1, y1 = place(left + bar[2] * em, base + bar[3] * em)
        w:line('set arrow from screen %.6g,screen %.6g to screen %.6g,screen %.6g nohead lw %.6g lc rgb "%s" %s', x0,
          y0, x1, y1, 0.06 * em, look.color, layer)
      end
    end
    base = base - line.down * em
  end
end

return words
