-- nslua.plot.entries: what a legend holds, and how large it is. Lengths are in 1/72 inch.

local text = require "nslua.plot.text"

local entries = { SAMPLE = 2, BESIDE = 0.6, BETWEEN = 1.4, PAD = 0.45 }
-- in em: the widths of a sample, of the gap after it and of that after a column; from the frame to the texts

local max, min, ceil = math.max, math.min, math.ceil

-- The places in the order in which "best" tries them: parts of the free width and height.
entries.spots = { { "upper right", 1, 1 }, { "upper left", 0, 1 }, { "lower right", 1, 0 }, { "lower left", 0, 0 },
  { "center right", 1, 0.5 }, { "center left", 0, 0.5 }, { "upper center", 0.5, 1 }, { "lower center", 0.5, 0 },
  { "center", 0.5, 0.5 } }
entries.spot = {} -- the same by name
for _, spot in ipairs(entries.spots) do entries.spot[spot[1]] = spot end

-- What the legend of axes holds and how large it is: { artists, columns, rows, widths, heights, title, em, w, h };
-- nil when they have none. em: the usual size of texts. columns: how many, instead of what the axes say; there are
-- fewer where the legend would be wider than `widest`.
function entries.measure(axes, em, columns, widest)
  local at, artists = axes.legend_at, {}
  for _, artist in ipairs(at and axes.artists or {}) do
    if artist.label and artist.label ~= "" then artists[#artists + 1] = artist end
  end
  if #artists == 0 then return nil end
  local usual = em
  em = at.fontsize or em
  local count = ceil(#artists / min(columns or at.ncol or 1, #artists))
  local found = { artists = artists, columns = ceil(#artists / count), rows = count, em = em, widths = {},
    heights = {},
    title = at.title }
  for k, artist in ipairs(artists) do
    local width, lines = text.size(artist.label)
    local column, row = (k - 1) // count + 1, (k - 1) % count + 1
    found.widths[column] = max(found.widths[column] or 0, width * em)
    found.heights[row] = max(found.heights[row] or 0, lines * text.LINE * em)
  end
  found.w = (2 * entries.PAD + (found.columns - 1) * entries.BETWEEN) * em
  found.h = 2 * entries.PAD * em
  for _, width in ipairs(found.widths) do found.w = found.w + width + (entries.SAMPLE + entries.BESIDE) * em end
  for _, height in ipairs(found.heights) do found.h = found.h + height end
  if found.title then
    local width, lines = text.size(found.title)
    found.w, found.h = max(found.w, (width + 2 * entries.PAD) * em), found.h + lines * text.LINE * em
  end
  if widest and found.w > widest and found.columns > 1 then
    return entries.measure(axes, usual, found.columns - 1, widest)
  end
  return found
end

-- ---- legends at an anchor ----

-- For each side of the panel: the coordinate, and whether the side is its upper end.
local sides = { left = { 1, false }, right = { 1, true }, bottom = { 2, false }, top = { 2, true } }

-- The anchor and the part of the legend that lies inwards of it, counted towards a side: 1 is the side itself.
local function towards(at, side)
  local k, up = sides[side][1], sides[side][2]
  local anchor, spot = at.anchor[k], entries.spot[at.loc][k + 1]
  return up and anchor or 1 - anchor, up and spot or 1 - spot
end

-- How far the near end of a legend is beyond a side of the panel: as its anchor says, but past the words that stand
-- there; nil when the legend is not wholly beyond it. words: how far they reach; length, extent: of the panel and of
-- the legend, across the side.
function entries.beyond(at, side, extent, length, words)
  local anchor, part = towards(at, side)
  local near = (anchor - 1) * length - part * extent
  if near >= 0 then return max(near, words) end
end

-- The room beyond one side. total: the length of the panel with the room that it has there now. The room is such that
-- the legend fits when the panel gets smaller by it; 0 where that is no help.
local function room_beyond(at, side, extent, length, total, words)
  if entries.beyond(at, side, extent, length, words) == words then return words + extent end
  local anchor, part = towards(at, side)
  local fixed = (1 - part) * extent
  if anchor <= 0 or fixed >= total then return 0 end
  return max(0, total - (total - fixed) / anchor)
end

-- The room (left, right, bottom, top) of a legend of that size beyond a panel of w x h with these margins.
-- One that is wholly beyond a side needs none along it: it is moved into the picture.
function entries.rooms(at, size, w, h, margins, words)
  local function along(low, high, extent, length)
    local function room(side) return room_beyond(at, side, extent, length, length + margins[side], words[side]) end
    local beyond = entries.beyond(at, low, extent, length, 0) or entries.beyond(at, high, extent, length, 0)
    return beyond ~= nil, { room(low), room(high) }
  end
  local beside, x = along("left", "right", size.w, w)
  local above, y = along("bottom", "top", size.h, h)
  if above and not beside then x = { 0, 0 } elseif beside and not above then y = { 0, 0 } end
  return x[1], x[2], y[1], y[2]
end

return entries
