-- Fields of colour: imshow, pcolormesh, contourf, and the bar of their colours.
local bands = require "nslua.plot.bands"
local models = require "bind.models"
local ns = require "nslua"
local plot = ns.plot
local message = models.message

teardown(function() plot.close() end)

local lines = require "figure_lines"

local function panel() return plot.figure():subplot(1, 1, 1) end

describe("pcolormesh", function()
  it("takes edges, middles, or neither", function()
    local ax = panel():pcolormesh({ 0, 1, 3 }, { 5, 6 }, { { 1, 2 } })
    assert.same({ 0, 1, 3 }, ax.artists[1].x_edges)
    assert.same({ 0, 1, 2 }, panel():pcolormesh({ 0.5, 1.5 }, { 1 }, { { 1, 2 } }).artists[1].x_edges)
    assert.same({ 0, 1, 2 }, panel():pcolormesh({ { 1, 2 } }).artists[1].x_edges)
    assert.same({ 0, 9 }, panel():pcolormesh({ { 1, 2 } }, { vmin = 0, vmax = 9 }).artists[1].range)
    assert.equal("pcolormesh: x: expected 2 middles or 3 edges, got 4",
      message(ax.pcolormesh, ax, { 1, 2, 3, 4 }, { 1 }, { { 1, 2 } }))
    assert.equal("pcolormesh: x: expected increasing numbers", message(ax.pcolormesh, ax, { 2, 1 }, { 1 }, { { 1, 2 } }))
    assert.equal("pcolormesh: z has no finite number", message(ax.pcolormesh, ax, { { 0 / 0 } }))
  end)
end)

describe("imshow", function()
  it("has the first row at the top, or at the bottom", function()
    local ax = panel():imshow { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ "set xrange [0.5:3.5]", "set yrange [2.5:0.5]" }, lines(ax.figure, "^set [xy]range"))
    ax = panel():imshow({ { 1, 2, 3 }, { 4, 5, 6 } }, { origin = "lower" })
    assert.same({ "set yrange [0.5:2.5]" }, lines(ax.figure, "^set yrange"))
    ax = panel():imshow({ { 1 }, { 4 } }, { extent = { 0, 1, 0, 1 } })
    assert.same({ 4, 1 }, { ax.artists[1].values[1][1], ax.artists[1].values[2][1] })
    assert.same({ "set yrange [0:1]" }, lines(ax.figure, "^set yrange"))
    assert.equal("imshow: origin: expected one of upper, lower, got 'top'", message(ax.imshow, ax, { { 1 } }, { origin = "top" }))
    assert.equal("imshow: extent: expected {left, right, bottom, top}, each pair increasing",
      message(ax.imshow, ax, { { 1 } }, { extent = { 1, 0, 0, 1 } }))
  end)
end)

-- The area of the polygons in a text.
local function area(words)
  local sum = 0
  for polygon in words:gmatch "(.-)\n\n" do
    local x, y
    for line in polygon:gmatch "[^\n]+" do
      local u, v = line:match "(%S+) (%S+)"
      if x then sum = sum + (x * v - u * y) / 2 end
      x, y = u, v
    end
  end
  return sum
end

describe("scatter", function()
  it("gives the colours of vmin and vmax to what lies beyond them", function()
    local ax = panel():scatter({ 0, 1, 2, 3 }, { 0, 1, 2, 3 }, { c = { 0, 1, 2, 9 }, vmin = 1, vmax = 2 })
    local colors = {}
    for color in ax.figure:commands():gmatch "\n%d %d (%d+)" do colors[#colors + 1] = color end
    assert.equal(colors[1], colors[2])
    assert.equal(colors[3], colors[4])
    assert.is_true(colors[2] ~= colors[3])
  end)
end)

describe("contour", function()
  it("has about as many lines as asked for; those of negative height are dashed in one colour", function()
    local function f(u, v) return u + v end -- from -2 to 2
    local ax = panel():contour({ -1, 1 }, { -1, 1 }, f, { levels = 8, color = "k" })
    local heights, dashes = {}, {}
    for k, a in ipairs(ax.artists) do heights[k], dashes[k] = a.level, a.dash == "solid" end
    assert.same({ -1.5, -1, -0.5, 0, 0.5, 1, 1.5 }, heights)
    assert.same({ false, false, false, true, true, true, true }, dashes)
    assert.equal("solid", panel():contour({ -1, 1 }, { -1, 1 }, f, { levels = { -1 } }).artists[1].dash)
    assert.equal("solid", panel():contour({ -1, 1 }, { -1, 1 }, f, { levels = { -1 }, color = "k", ls = "-" }).artists[1].dash)
    assert.equal(9, #panel():contour({ 0, 1 }, { 0, 1 }, f, { levels = 8 }).artists) -- 0.2, 0.4 ...: 3 of 0.5 are too few
  end)
end)

describe("contourf", function()
  it("covers what lies between two heights", function()
    local x, z = ns.linspace(-1, 1, 41), ns.matrix(41, 41)
    for i = 1, 41 do
      for j = 1, 41 do z[i][j] = 2 * x[i] + x[j] end
    end
    assert.near(4, area(bands.polygons(x, x, z, -3, 3)), 1e-6)
    assert.near(2, area(bands.polygons(x, x, z, 0, 3)), 1e-6)
    assert.near(1, area(bands.polygons(x, x, z, -0.5, 0.5)), 1e-6) -- as wide as 1/2, all along y
    assert.equal("", bands.polygons(x, x, z, 4, 5))
    for i = 1, 41 do
      for j = 1, 41 do z[i][j] = x[i] ^ 2 + x[j] ^ 2 end
    end
    assert.near(math.pi / 4, area(bands.polygons(x, x, z, 0, 0.25)), 5e-3)
  end)

  it("leaves cells without a number empty, and what is outside of given levels", function()
    local x, z = ns.linspace(0, 2, 3), ns.matrix { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 / 0 } }
    assert.near(3, area(bands.polygons(x, x, z, -1, 1)), 1e-9)
    local ax = panel():contourf({ 0, 1 }, { 0, 1 }, function(u, v) return u + v end, { levels = { 0.5, 1, 1.5 } })
    assert.equal(2, #ax.artists[1].bands)
    assert.same({ 0.5, 1.5 }, ax.artists[1].range)
    ax = panel():contourf({ 0, 1 }, { 0, 1 }, function(u, v) return u + v end)
    assert.is_true(ax.artists[1].range[1] <= 0 and ax.artists[1].range[2] >= 2)
    assert.equal(1, #panel():contourf({ 0, 1 }, { 0, 1 }, function() return 3 end).artists)
    assert.equal("contourf: levels: expected at least 2, got 1",
      message(ax.contourf, ax, { 0, 1 }, { 0, 1 }, function() return 1 end, { levels = { 1 } }))
    assert.equal("contourf: z has no finite number",
      message(ax.contourf, ax, { 0, 1 }, { 0, 1 }, function() return 0 / 0 end))
    assert.equal("contourf: expected a grid of at least 2 x 2, got 1 x 2",
      message(ax.contourf, ax, { 0 }, { 0, 1 }, function() return 0 end))
  end)
end)

describe("quiverkey", function()
  it("is an arrow to the scale of the last quiver", function()
    local ax = panel():quiver({ 0, 1, 0, 1 }, { 0, 0, 1, 1 }, { 2, 0, 0, 0 }, { 0, 0, 0, 0 }, { scale = 1 }):xlim(0, 4)
    ax:quiverkey(0.5, 1.05, 1, "one"):quiverkey(0.5, 0.9, 2, "two", { labelpos = "N", color = "r" })
    local arrows = lines(ax.figure, "^set arrow")
    assert.truthy(arrows[1]:find("from graph 0.4375,1.05 rto graph 0.125,0", 1, true)) -- 1/2 of a cell of 1, of 4
    assert.truthy(arrows[2]:find("from graph 0.375,0.9 rto graph 0.25,0", 1, true))
    assert.equal(1, #lines(ax.figure, '^set label "one" at screen [%d.]+,screen [%d.]+ left'))
    assert.truthy(ax.figure:picture "svg")
    assert.equal("three", ax:quiverkey(ax, 0.5, 0.5, 1, "three").artists[#ax.artists].text)
    assert.equal("quiverkey: these axes hold no quiver", message(panel().quiverkey, panel(), 0, 0, 1, "a"))
    assert.equal("quiverkey: labelpos: expected one of N, S, E, W, got 'X'",
      message(ax.quiverkey, ax, 0, 0, 1, "a", { labelpos = "X" }))
  end)
end)

describe("colorbar", function()
  it("has ticks between the areas of contourf, and those of the script", function()
    local ax = panel():contourf({ -1, 1 }, { -1, 1 }, function(u, v) return u + v end, { levels = { -2, -1, 0, 1, 2 } }):colorbar()
    assert.truthy(lines(ax.figure, "^set y2tics")[1]:find('("−2" -2, "−1" -1, "0" 0, "1" 1, "2" 2)', 1, true))
    ax:colorbar { ticks = { -1.5, 0.25 } }
    assert.truthy(lines(ax.figure, "^set y2tics")[1]:find('("−1.5" -1.5, "0.25" 0.25)', 1, true))
    local wide = ns.linspace(-2, 2, 17):totable() -- every fourth, 0 among them
    ax = panel():contourf({ -1, 1 }, { -1, 1 }, function(u, v) return u + v end, { levels = wide }):colorbar()
    assert.truthy(lines(ax.figure, "^set y2tics")[1]:find('"0" 0,', 1, true))
  end)

  it("stands beside the panel, with ticks for its values", function()
    local ax = panel():imshow({ { 0, 10 } }, { aspect = "auto" })
    local before = tonumber(lines(ax.figure, "^set rmargin")[1]:match "%S+$")
    ax:colorbar { label = "$z$" }
    local margins = lines(ax.figure, "^set [lr]margin")
    for k = 1, 4 do margins[k] = tonumber(margins[k]:match "%S+$") end
    local right, left, last = margins[2], margins[3], margins[4]
    assert.is_true(right < before and right < left and left < last and last < 1)
    assert.truthy(lines(ax.figure, "^set y2tics")[1]:find '"0" 0, "2" 2, "4" 4, "6" 6, "8" 8, "10" 10')
    assert.equal(1, #lines(ax.figure, "Italic z"))
    assert.truthy(ax.figure:picture "svg")
    assert.truthy(panel():scatter({ 1, 2 }, { 1, 2 }, { c = { 3, 3 } }):colorbar().figure:picture "svg")
    assert.equal("colorbar: these axes hold nothing with a colour map", message(panel().colorbar, panel()))
  end)
end)
