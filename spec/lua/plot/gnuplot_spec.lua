-- Figures as gnuplot draws them: characters, what crosses the limits, sizes of markers.
local host = require "host"
local ns = require "nslua"
local plot = ns.plot
local png = require "png"
local text = require "nslua.plot.text"

local function figure(width, height)
  local fig = plot.figure { figsize = { width or 2, height or 1.5 }, dpi = 100 }
  return fig, fig:subplot(1, 1, 1)
end

teardown(function() plot.close() end)

-- Every printable character of ASCII with each digit behind it, in pieces of `size` such pairs.
local function pieces(size)
  local list, piece = {}, {}
  for digit = 0, 9 do
    for code = 33, 126 do
      piece[#piece + 1] = string.char(code) .. digit
      if #piece == size then list[#list + 1], piece = table.concat(piece), {} end
    end
  end
  if #piece > 0 then list[#list + 1] = table.concat(piece) end
  return list
end

describe("characters", function()
  it("reach gnuplot as they are, whatever follows them", function()
    local lines, expected = { "set print '-'" }, {}
    for _, piece in ipairs(pieces(1)) do
      for _, s in ipairs { piece, "a" .. piece .. "77", piece .. "é", piece .. piece } do
        expected[#expected + 1] = s
        lines[#lines + 1] = "print " .. text.line(s)
      end
    end
    local out = host.run("gnuplot -", table.concat(lines, "\n") .. "\n")
    assert.equal(table.concat(expected, "\n") .. "\n", out)
  end)

  it("are shown as they are in every place", function()
    local nasty = { "Run #3", "50%7", "'x'", "a\\7", "3.00", "{5}", "\"1\"" }
    for _, piece in ipairs(pieces(20)) do nasty[#nasty + 1] = piece end
    local sizes = { "17.33", "13.33", "14.67", "13.33", "13.33", "13.33", "13.33", "13.33" } -- 13, 10, 11 points
    for k = 0, #nasty - 1, 8 do
      local function words(i) return nasty[(k + i - 1) % #nasty + 1] end
      local fig, ax = figure(14, 5)
      fig:suptitle(words(1))
      ax:plot({ 0, 1 }, { 0, 1 }, { label = words(2) }):legend():title(words(3)):xlabel(words(4)):ylabel(words(5))
      ax:text(0, 0.5, words(6)):xticks({ 0, 0.5, 1 }, { "", words(7), "" }):yticks({ 0, 1 }, { words(8), "" })
      local path, seen = os.tmpname(), {}
      fig:savefig(path .. ".svg")
      local svg = host.read(path .. ".svg")
      os.remove(path)
      os.remove(path .. ".svg")
      for size, body in svg:gmatch 'font%-size="([%d.]+)"[^>]*>%s*<text>(.-)</text>' do
        body = body:gsub("<.->", ""):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&quot;", '"'):gsub("&apos;", "'")
          :gsub("&amp;", "&")
        seen[body] = size
      end
      for i = 1, 8 do assert.equal(sizes[i], seen[words(i)], words(i)) end
      assert.is_nil(svg:find("[\196-\205][\128-\191]")) -- no character of another alphabet
    end
  end)

  it("change nothing of the picture but the words #once", function()
    local function draw(words)
      local fig = plot.figure { figsize = { 8, 3 }, dpi = 60 }
      local ax = fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }, { label = words(1) }):plot({ 0, 1 }, { 1, 0 })
      fig:suptitle(words(2))
      ax:title(words(3)):xlabel(words(4)):ylabel(words(5)):text(0, 0.3, words(6)):legend { loc = "upper left" }
      ax:xticks({ 0, 0.5, 1 }, { "0", words(7), "1" })
      return fig
    end
    local list, figures = pieces(10), { draw(function() return "x" end) }
    for k = 0, #list - 1, os.getenv "NSLUA_SOAK" and 7 or 21 do -- a third of the pieces, all of them in a long run
      figures[#figures + 1] = draw(function(i) return list[k + i] or "x" end)
    end
    local pictures = png.of_all(figures)
    local clean = table.remove(pictures, 1)
    assert.is_true(#pictures > 4)
    for k, picture in ipairs(pictures) do
      -- right of the words in the panel, from below the headings to above the numbers; the right end of the page
      assert.equal(0, png.differences(clean, picture, 200, 480, 40, 140), k)
      assert.equal(0, png.differences(clean, picture, 380, 480, 0, 180), k)
    end
  end)

  it("in names of columns are characters too", function()
    for _, name in ipairs { "Run #3", "50%7", "'x'", "a_1^2", "\\9" } do
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.2)
      local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 0 }, { 0, -1 } })
      ds:setNames { name, "b" }
      nsds:insertDynamicalSystem(ds)
      local sol = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)):run()
      local words = text.quote(name)
      assert.truthy(sol:plot { name, "b" }:commands():find("set label " .. words .. " at screen", 1, true))
      assert.truthy(sol:plot { name }:commands():find("set label " .. words, 1, true))
    end
  end)
end)

describe("limits", function()
  it("cut lines whose points all lie outside, in all kinds of curves #once", function()
    local figures = {}
    for _, draw in ipairs {
      function(ax) ax:plot({ -10, 10 }, { -5, 5 }, { color = "#FF0000" }) end,
      function(ax) ax:plot({ -10, 10, 20 }, { -5, 5, -80 }, "--", { color = "#FF0000" }) end,
      function(ax) ax:step({ -10, 10 }, { 0.5, 0.5 }, { color = "#FF0000" }) end,
      function(ax) ax:quiver({ -10, -10 }, { 0, 20 }, { 20, 20 }, { 0, 0 }, { scale = 1, color = "#FF0000" }) end,
    } do
      local fig, ax = figure()
      draw(ax)
      ax:xlim(-1, 1):ylim(-1, 1)
      figures[#figures + 1] = fig
    end
    local pictures = png.of_all(figures)
    assert.equal(4, #pictures)
    for _, picture in ipairs(pictures) do assert.is_true((png.red(picture)) > 60) end
  end)

  it("show a line that lies on one of them, whatever the number #once", function()
    math.randomseed(20)
    local figures, told = {}, {}
    for k = 1, 4 do
      local lo = (k <= 2 and 1 or 10.0 ^ math.random(-12, 12)) * (math.random() - 0.5)
      local hi = lo + 10.0 ^ math.random(-3, 3) * math.abs(lo) * (1 + math.random())
      for _, at in ipairs { lo, hi } do
        local fig, ax = figure()
        ax:plot({ 0.1, 1 / 3 }, { lo, hi }):ylim(lo, hi):axhline(at, { color = "#FF0000", linewidth = 5 })
        figures[#figures + 1], told[#told + 1] = fig, ("%.17g in %.17g .. %.17g"):format(at, lo, hi)
        fig, ax = figure()
        ax:plot({ lo, hi, lo }, { 0, 1, 2 }):xlim(lo, hi):axvline(at, { color = "#FF0000", linewidth = 5 })
        figures[#figures + 1] = fig
      end
    end
    local pictures = png.of_all(figures)
    assert.equal(16, #pictures)
    for k = 1, #pictures, 2 do
      local count, box = png.red(pictures[k])
      assert.is_true(count > 60 and box[2] - box[1] > 30, told[(k + 1) // 2])
      assert.is_true((png.red(pictures[k + 1])) > 60, told[(k + 1) // 2])
    end
  end)

  it("of automatic axes show a line at the end of the data", function()
    local fig, ax = figure()
    ax:plot({ 0, 1 }, { 0, 0.9 }):axhline(1, { color = "#FF0000", linewidth = 2 })
    assert.is_true((png.red(png.of(fig))) > 100)
  end)
end)

describe("markers", function()
  -- The areas of what functions of axes draw.
  local function disks(dpi, draw)
    local list, figures = {}, {}
    for k, one in ipairs(draw) do
      local fig, ax = figure(1.6, 1.6)
      one(ax)
      ax:xlim(-1, 1):ylim(-1, 1):axis "off"
      figures[k] = fig
    end
    for k, picture in ipairs(png.of_all(figures, { dpi = dpi })) do list[k] = png.red(picture) end
    return table.unpack(list, 1, #draw)
  end

  -- The diameter of a disk in points; its edge is a line of up to 1 point.
  local function diameter(cover, dpi) return 72 / dpi * 2 * math.sqrt(cover / math.pi) end

  it("of scatter have s points squared, in every resolution #once", function()
    for _, dpi in ipairs { 72, 150 } do
      for _, s in ipairs { 100, 400, 1600 } do
        local count, each = disks(dpi, {
          function(ax) ax:scatter({ 0 }, { 0 }, { s = s, c = "#FF0000" }) end,
          function(ax) ax:scatter({ 0, 0.5 }, { 0, 0.5 }, { s = { s, 0 }, c = "#FF0000" }) end,
        })
        assert.near(math.sqrt(s) + 0.5, diameter(count, dpi), 0.75)
        assert.is_true(math.abs(each - count) <= 4)
      end
    end
    local _, ax = figure()
    local message = require "bind.models".message
    assert.equal("scatter: x has 2 elements, s has 3", message(ax.scatter, ax, { 1, 2 }, { 1, 2 }, { s = { 1, 2, 3 } }))
    assert.equal("scatter: s: expected a number, at least 0, got number -1.0", message(ax.scatter, ax, { 1 }, { 1 },
      { s = { -1 } }))
  end)

  it("of curves are as many points wide as markersize says #once", function()
    for _, size in ipairs { 12, 30 } do
      local count = disks(144, { function(ax) ax:plot({ 0 }, { 0 }, "o", { markersize = size, color = "#FF0000" }) end })
      assert.near(size + 0.5, diameter(count, 144), 0.75)
    end
  end)

  it("have faces and edges of their own #once", function()
    local function face(options)
      options.markersize, options.color = 30, "#000000"
      return function(ax) ax:plot({ -0.5, 0.5 }, { 0, 0 }, "o-", options) end
    end
    local whole, edged, black, hollow, edge = disks(100, { face { markerfacecolor = "#FF0000", markeredgecolor = "none" },
      face { mfc = "#FF0000" }, face {}, face { markerfacecolor = "none" }, face { markerfacecolor = "none", mec = "#FF0000" } })
    assert.is_true(whole > 2 * 1100 and whole < 2 * 1500, whole)
    assert.is_true(edged > 0.8 * whole and edged < whole)
    assert.equal(0, black)
    assert.equal(0, hollow)
    assert.is_true(edge > 50 and edge < 0.2 * whole)
  end)
end)

describe("contour", function()
  it("takes bounds for a function", function()
    local fig, ax = figure()
    ax:contour({ -2, 2 }, { -1, 1 }, function(x, y) return x * x + 4 * y * y end, { levels = { 1 }, color = "#FF0000" })
    local count, box = png.red(png.of(fig))
    assert.is_true(count > 100)
    local p = fig:commands()
    local l, r = tonumber(p:match "lmargin at screen (%S+)") * 200, tonumber(p:match "rmargin at screen (%S+)") * 200
    assert.near(0.75 * l + 0.25 * r, box[1], 3) -- from -1 to 1
    assert.near(0.25 * l + 0.75 * r, box[2], 3)
    ax = plot.figure():subplot(1, 1, 1)
    ax:surface({ -1, 1 }, { -1, 1 }, function(x, y) return x * y end)
    assert.equal(1600, #ax.artists[1].faces)
    ax = plot.figure():subplot(1, 1, 1)
    ax:contour({ 0, 1 }, { 0, 1 }, { { 0, 0 }, { 1, 1 } }, { levels = { 0.5 } }) -- of numbers two are two
    assert.equal(3, #ax.artists[1].columns[1])
  end)
end)
