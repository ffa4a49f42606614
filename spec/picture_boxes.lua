-- What stands where in a picture: the boxes of its texts, its data and its legends, from the coordinates that gnuplot
-- writes into an SVG. Lengths are in pixels, y downwards.
local letters = require "nslua.plot.letters"

local boxes = {}

local entities = { ["&amp;"] = "&", ["&lt;"] = "<", ["&gt;"] = ">", ["&quot;"] = '"', ["&#39;"] = "'", ["&apos;"] = "'",
  ["&#160;"] = " " }

local UP, DOWN = 0.72, 0.2 -- how far letters reach above and below their feet, in sizes of the font

-- The width of a text element and how far it reaches up and down. Its parts are raised, lowered, or moved back.
local function measure(element, size)
  local at, feet, widest, up, down, words = 0, 0, 0, 0, 0, {}
  local current = size
  for attributes, inside in element:gmatch "<tspan([^>]*)>([^<]*)</tspan>" do
    local s = inside:gsub("&#?%w+;", entities)
    current = tonumber(attributes:match 'font%-size="([%d.]+)"') or current
    feet = feet - (tonumber(attributes:match 'dy="(-?[%d.]+)') or 0)
    at = at + (tonumber(attributes:match 'dx="(-?[%d.]+)em"') or 0) * current
    if s:find "%S" then up, down = math.max(up, feet + UP * current), math.max(down, DOWN * current - feet) end
    at = at + letters.width(s) * current
    widest = math.max(widest, at)
    words[#words + 1] = s
  end
  return widest, up, down, table.concat(words)
end

-- The corners of a turned rectangle, and the box around them.
local function turned(x, y, angle, left, right, up, down)
  local c, s = math.cos(angle), math.sin(angle)
  local corners = {}
  for k, p in ipairs { { left, -up }, { right, -up }, { right, down }, { left, down } } do
    corners[k] = { x + c * p[1] - s * p[2], y + s * p[1] + c * p[2] }
  end
  return corners
end

-- The texts of a picture: a list of { words, corners }.
function boxes.texts(svg)
  local list = {}
  for transform, rest, element in svg:gmatch '<g transform="([^"]*)"([^>]*)>%s*<text[^>]*>(.-)</text>' do
    local size, anchor = tonumber(rest:match 'font%-size="([%d.]+)"'), rest:match 'text%-anchor="(%a+)"'
    local width, up, down, words = measure(element, size)
    local x, y = transform:match "translate%((-?[%d.]+),(-?[%d.]+)%)"
    local angle = math.rad(tonumber(transform:match "rotate%((-?[%d.]+)%)") or 0)
    local share = anchor == "middle" and 0.5 or anchor == "end" and 1 or 0
    if words:find "%S" then
      list[#list + 1] = { words = words,
        corners = turned(tonumber(x), tonumber(y), angle, -share * width, (1 - share) * width, up, down) }
    end
  end
  return list
end

-- Whether two convex polygons overlap by more than `slack` pixels (separating axes).
local function overlap(a, b, slack)
  for _, polygon in ipairs { a, b } do
    for k = 1, #polygon do
      local p, q = polygon[k], polygon[k % #polygon + 1]
      local nx, ny = q[2] - p[2], p[1] - q[1]
      local length = math.sqrt(nx * nx + ny * ny)
      if length > 0 then
        local function reach(points)
          local lo, hi = math.huge, -math.huge
          for _, r in ipairs(points) do
            local d = (r[1] * nx + r[2] * ny) / length
            lo, hi = math.min(lo, d), math.max(hi, d)
          end
          return lo, hi
        end
        local lo1, hi1 = reach(a)
        local lo2, hi2 = reach(b)
        if hi1 < lo2 + slack or hi2 < lo1 + slack then return false end
      end
    end
  end
  return true
end

-- What is wrong with the texts of a picture: a list of sentences. kept: a set of texts that a script has put where
-- they are; they may overlap others.
function boxes.faults(svg, kept)
  local list, texts = {}, boxes.texts(svg)
  local w, h = tonumber(svg:match ' width="(%d+)"'), tonumber(svg:match 'height="(%d+)"')
  for i, a in ipairs(texts) do
    for _, p in ipairs(a.corners) do
      if p[1] < -0.5 or p[2] < -0.5 or p[1] > w + 0.5 or p[2] > h + 0.5 then
        list[#list + 1] = ("'%s' leaves the picture"):format(a.words)
        break
      end
    end
    for k = i + 1, #texts do
      local b = texts[k]
      local free = kept and (kept[a.words] or kept[b.words])
      if not free and overlap(a.corners, b.corners, 1) then
        list[#list + 1] = ("'%s' overlaps '%s'"):format(a.words, b.words)
      end
    end
  end
  return list
end

-- The part of the SVG from a place after "<g ...>" to the "</g>" that closes it.
local function inside_group(svg, at)
  local depth, from = 1, at
  while depth > 0 do
    local open, close = svg:find("<g[ >]", at), svg:find("</g>", at, true)
    if not close then return svg:sub(from) end
    if open and open < close then depth, at = depth + 1, open + 2 else depth, at = depth - 1, close + 4 end
  end
  return svg:sub(from, at - 5)
end

-- The segments of the curves of a picture, as { x0, y0, x1, y1 }, and its points, as { x, y, x, y }.
function boxes.data(svg)
  local list = {}
  for at in svg:gmatch '<g id="gnuplot_plot_%d+[a-z]?"%s*>()' do list[#list + 1] = inside_group(svg, at) end
  local segments = {}
  for _, group in ipairs(list) do
    for path in group:gmatch "<path[^>]- d='([^']*)'" do
      local x, y
      for command, u, v in path:gmatch "([ML])%s*(-?[%d.]+),(-?[%d.]+)" do
        u, v = tonumber(u), tonumber(v)
        if command == "L" and x then segments[#segments + 1] = { x, y, u, v } end
        x, y = u, v
      end
    end
    for x, y in group:gmatch "<use xlink:href='#gpPt%d+' transform='translate%((-?[%d.]+),(-?[%d.]+)%)" do
      segments[#segments + 1] = { tonumber(x), tonumber(y), tonumber(x), tonumber(y) }
    end
  end
  return segments
end

-- The frames of legends: rectangles { left, top, right, bottom } of white that lets data be seen.
function boxes.legends(svg)
  local list = {}
  for points in svg:gmatch "<polygon fill = 'rgb%(255, 255, 255%)' fill%-opacity='0.75'%s+points = '([^']*)'" do
    local x0, y0, x1, y1 = math.huge, math.huge, -math.huge, -math.huge
    for x, y in points:gmatch "(-?[%d.]+),(-?[%d.]+)" do
      x0, x1 = math.min(x0, tonumber(x)), math.max(x1, tonumber(x))
      y0, y1 = math.min(y0, tonumber(y)), math.max(y1, tonumber(y))
    end
    list[#list + 1] = { x0, y0, x1, y1 }
  end
  return list
end

-- Whether a segment passes through a rectangle (Liang and Barsky).
local function passes(s, r)
  local t0, t1, dx, dy = 0, 1, s[3] - s[1], s[4] - s[2]
  for _, pq in ipairs { { -dx, s[1] - r[1] }, { dx, r[3] - s[1] }, { -dy, s[2] - r[2] }, { dy, r[4] - s[2] } } do
    local p, q = pq[1], pq[2]
    if p == 0 then
      if q < 0 then return false end
    else
      local t = q / p
      if p < 0 then t0 = math.max(t0, t) else t1 = math.min(t1, t) end
      if t0 > t1 then return false end
    end
  end
  return true
end

-- How many of the segments pass through a rectangle.
function boxes.hidden(segments, r)
  local count = 0
  for _, s in ipairs(segments) do
    if passes(s, r) then count = count + 1 end
  end
  return count
end

-- A rectangle as large as r in the panel, with room around it, that no segment passes; nil when there is none. The
-- places are tried in steps of the panel's size over `steps`.
function boxes.free_place(segments, r, panel, steps, room)
  local w, h = r[3] - r[1] + 2 * room, r[4] - r[2] + 2 * room
  for i = 0, steps do
    for j = 0, steps do
      local x = panel[1] + (panel[3] - panel[1] - w) * i / steps
      local y = panel[2] + (panel[4] - panel[2] - h) * j / steps
      local place = { x, y, x + w, y + h }
      if x >= panel[1] and y >= panel[2] and boxes.hidden(segments, place) == 0 then return place end
    end
  end
end

return boxes
