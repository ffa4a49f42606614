-- What stands where in rendered pictures: no two texts overlap, none leaves the picture, and no legend hides data
-- where it has a free place. NSLUA_FIGURES: how many random figures (6); NSLUA_GALLERY: a folder with the pictures of
-- the gallery as SVG files.
local boxes = require "picture_boxes"
local host = require "host"
local random_figure = require "random_figures"

local FIGURES = math.tointeger(tonumber(os.getenv "NSLUA_FIGURES" or 6))

-- The panels of a figure in its picture: { left, top, right, bottom } in pixels.
local function panels_of(fig, w, h)
  local list = {}
  for l, r, b, t in fig:commands "svg":gmatch
    "set lmargin at screen (%S+)\nset rmargin at screen (%S+)\nset bmargin at screen (%S+)\nset tmargin at screen (%S+)" do
    list[#list + 1] = { tonumber(l) * w, (1 - tonumber(t)) * h, tonumber(r) * w, (1 - tonumber(b)) * h }
  end
  return list
end

-- The legends that hide data though their panel has a free place for them.
local function hiding(fig, svg)
  local list, segments = {}, boxes.data(svg)
  local w, h = tonumber(svg:match ' width="(%d+)"'), tonumber(svg:match 'height="(%d+)"')
  for _, r in ipairs(boxes.legends(svg)) do
    for _, panel in ipairs(panels_of(fig, w, h)) do
      local inside = r[1] >= panel[1] and r[3] <= panel[3] and r[2] >= panel[2] and r[4] <= panel[4]
      if inside and boxes.hidden(segments, r) > 0 and boxes.free_place(segments, r, panel, 12, 0.03 * (panel[3] - panel[1])) then
        list[#list + 1] = ("the legend at (%.0f, %.0f)"):format(r[1], r[2])
        break
      end
    end
  end
  return list
end

describe("pictures #once", function()
  it("of random figures have no texts that overlap, none outside, no legend on data beside free space", function()
    local wrong = {}
    for seed = 1, FIGURES do
      local fig = random_figure(seed)
      local svg = fig:picture "svg"
      for _, list in ipairs { boxes.faults(svg), hiding(fig, svg) } do
        for _, fault in ipairs(list) do wrong[#wrong + 1] = ("figure %d: %s"):format(seed, fault) end
      end
      fig:close()
    end
    assert.equal("", table.concat(wrong, "\n"))
  end)

  it("of the gallery have no texts that overlap and none outside", function()
    local folder = os.getenv "NSLUA_GALLERY"
    if not folder then return pending "set NSLUA_GALLERY to a folder with the gallery as SVG files" end
    local wrong = {}
    for path in host.run("find " .. host.quote(folder) .. " -name '*.svg' | sort"):gmatch "[^\n]+" do
      local file = assert(io.open(path))
      for _, fault in ipairs(boxes.faults(file:read "a")) do wrong[#wrong + 1] = path .. ": " .. fault end
      file:close()
    end
    assert.equal("", table.concat(wrong, "\n"))
  end)
end)
