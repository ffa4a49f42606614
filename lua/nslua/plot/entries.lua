-- nslua.plot.entries: what a legend holds, and how large it is. Lengths are in 1/72 inch.

local text = require "nslua.plot.text"

local entries = { SAMPLE = 2, BESIDE = 0.6, BETWEEN = 1.4, PAD = 0.45 }
-- in em: the widths of a sample, of the gap after it and of that after a column; from the frame to the texts

local max, min, ceil = math.max, math.min, math.ceil

-- What the legend of axes holds and how large it is: { artists, columns, rows, widths, heights, title, em, w, h };
-- nil when they have none. em: the usual size of texts. columns: how many, when the axes do not say.
function entries.measure(axes, em, columns)
  local at, artists = axes.legend_at, {}
  for _, artist in ipairs(at and axes.artists or {}) do
    if artist.label and artist.label ~= "" then artists[#artists + 1] = artist end
  end
  if #artists == 0 then return nil end
  em = at.fontsize or em
  local count = ceil(#artists / min(at.ncol or columns or 1, #artists))
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
  return found
end

return entries
