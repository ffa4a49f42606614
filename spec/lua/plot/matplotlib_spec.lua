-- What matplotlib's users write by habit: labels of bars, stairs, straight lines, orders of drawing, colours of paper.
local boxes = require "picture_boxes"
local histogram = require "nslua.analysis.histogram"
local lines = require "figure_lines"
local models = require "bind.models"
local ns = require "nslua"
local style = require "nslua.plot.style"
local plot = ns.plot
local message = models.message

local function panel(options) return plot.figure():subplot(1, 1, 1, options) end
local function no_faults(fig) assert.equal("", table.concat(boxes.faults((fig:picture "svg")), "\n")) end

describe("colours", function()
  it("have the names of CSS, but those that colour-blind readers tell apart stay", function()
    assert.equal("#4682B4", style.color("plot", "steelblue"))
    assert.equal("#DC143C", style.color("plot", "crimson"))
    assert.equal("#D55E00", style.color("plot", "red"))
  end)

  it("of the maps jet, hot, bwr and Blues begin and end as matplotlib's", function()
    for name, ends in pairs { jet = { "#000080", "#800000" }, hot = { "#0B0000", "#FFFFFF" }, bwr = { "#0000FF", "#FF0000" },
      Blues = { "#F7FBFF", "#08306B" } } do
      local map = style.map("scatter", name)
      assert.same(ends, { style.map_color(map, 0), style.map_color(map, 1) })
    end
  end)
end)

describe("bars", function()
  it("have a colour each, and their lengths as texts", function()
    local ax = panel():bar({ "a", "b", "c" }, { 1, -3, 2 }, { color = { "crimson", "gold" }, label = "one" }):bar_label()
    assert.same({ "#DC143C", "#FFD700", "#DC143C" }, { ax.artists[1].color, ax.artists[2].color, ax.artists[3].color })
    assert.same({ "one" }, { ax.artists[1].label, ax.artists[2].label })
    assert.same({ "1", "−3", "2" }, { ax.artists[4].text, ax.artists[5].text, ax.artists[6].text })
    no_faults(ax.figure)
    no_faults(panel():barh({ "a", "b" }, { 1, 3 }):bar_label { fmt = "%.2f m/s" }.figure)
    assert.equal("bar_label: these axes hold no bars", message(panel().bar_label, panel()))
    assert.equal("bar_label: fmt: expected a format for one number, got '%y'", message(ax.bar_label, ax, { fmt = "%y" }))
  end)

  it("boxes lie, and have means", function()
    local ax = panel():boxplot({ { 1, 2, 6 }, { 2, 4 } }, { vert = false, showmeans = true })
    local means = ax.artists[#ax.artists]
    assert.same({ 3, 3, 1, 2 }, { means.columns[1][1], means.columns[1][2], means.columns[2][1], means.columns[2][2] })
    assert.equal(2, #ax.tick_lists.y)
  end)
end)

describe("hist2d and stairs", function()
  it("count points in cells", function()
    local ax = panel():hist2d({ 0, 1, 1, 2, 9 }, { 0, 0, 0, 1, 9 }, { bins = { { 0, 1, 2 }, 2 }, range = { {}, { 0, 1 } } })
    local z = ax.artists[1].values
    assert.same({ { 1, 2 }, { 0, 1 } }, { z[1]:totable(), z[2]:totable() })
    local density, sum = panel():hist2d({ 0, 1, 2 }, { 0, 4, 8 }, { bins = 3, density = true }).artists[1].values, 0
    for i = 1, 3 do
      for j = 1, 3 do sum = sum + density[i][j] * (2 / 3) * (8 / 3) end
    end
    assert.near(1, sum, 1e-12)
    assert.equal("hist2d: bins: expected whole numbers from 1 to 5000, or edges, got number 0",
      message(ax.hist2d, ax, { 1 }, { 1 }, { bins = 0 }))
    assert.equal("hist2d: bins[1]: expected edges that increase", message(ax.hist2d, ax, { 1 }, { 1 }, { bins = { { 2, 1 }, 1 } }))
    assert.equal("hist2d: range: expected {{x0, x1}, {y0, y1}}, got number 3",
      message(ax.hist2d, ax, { 1 }, { 1 }, { range = 3 }))
    assert.equal("colorbar: ticks: expected finite numbers", message(ax.colorbar, ax, { ticks = { 0 / 0 } }))
    assert.equal(2, histogram.place(1, ns.vector { 0, 1, 2 }))
  end)

  it("have a value between edges", function()
    local ax = panel():stairs({ 3, 5 }, { 0, 1, 4 }, { baseline = 1 }):stairs({ 1 }, { fill = true })
    assert.same({ { 0, 0, 1, 1, 4, 4 }, { 1, 3, 3, 5, 5, 1 } },
      { ax.artists[1].columns[1]:totable(), ax.artists[1].columns[2]:totable() })
    assert.equal("fill", ax.artists[2].kind)
    assert.equal("stairs: edges: expected 3 numbers, got 2", message(ax.stairs, ax, { 1, 2 }, { 1, 2 }))
  end)
end)

describe("straight lines", function()
  it("go from edge to edge", function()
    local function ends(ax) return ax.figure:commands():match "<< END\n(%S+ %S+\n%S+ %S+)\nEND" end
    assert.equal("0 1\n2 5", ends(panel():xlim(0, 2):ylim(0, 1):axline({ 1, 3 }, { slope = 2 })))
    assert.equal("1 0\n1 7", ends(panel():xlim(0, 2):ylim(0, 7):axline({ 1, 3 }, { 1, 4 }, { label = "a" }):legend()))
    assert.truthy(panel():xlim(1, 10):ylim(1, 10):xscale "log":axline({ 1, 1 }, { 2, 2 }).figure:picture "svg")
    local ax = panel()
    assert.equal("axline: expected a second point or a slope", message(ax.axline, ax, { 0, 0 }))
    assert.equal("axline: expected two different points", message(ax.axline, ax, { 0, 0 }, { 0, 0 }))
    assert.equal("axline: xy1: expected a point {x, y}, got number 3", message(ax.axline, ax, 3, { 0, 0 }))
  end)

  it("take a part of the panel", function()
    local out = panel():xlim(0, 10):ylim(0, 1):axhline(0.5, { xmin = 0.2, xmax = 0.6 }).figure:commands()
    assert.truthy(out:find("\n2 0.5\n6 0.5\n", 1, true))
    out = panel():xlim(0, 10):ylim(1, 100):yscale "log":axvline(5, { ymax = 0.5 }).figure:commands()
    assert.truthy(out:find("\n5 1\n5 10\n", 1, true))
  end)

  it("are steps with a drawstyle", function()
    local ax = panel():plot({ 0, 1 }, { 1, 2 }, { drawstyle = "steps-post" })
    assert.same({ "step", "post" }, { ax.artists[1].kind, ax.artists[1].steps })
    assert.equal("plot: drawstyle: expected one of default, steps, steps-pre, steps-mid, steps-post, got 'round'",
      message(ax.plot, ax, { 1 }, { drawstyle = "round" }))
  end)
end)

describe("panels", function()
  it("draw in the order of zorder", function()
    local ax = panel():plot({ 0, 1 }, { 0, 1 }, { color = "#111111", zorder = 5 }):plot({ 0, 1 }, { 0, 1 }, { color = "#222222" })
    ax:fill({ 0, 1, 1 }, { 0, 0, 1 }, { color = "#333333", alpha = 1 }):scatter({ 0 }, { 0 }, { color = "#444444", zorder = 0 })
    local order = {}
    for color in ax.figure:commands():match("\nplot .*"):gmatch '"#(%d)%d+"' do order[#order + 1] = color end
    assert.equal("4321", table.concat(order))
  end)

  it("have limits that can be asked for, and set one by one", function()
    local ax = panel():plot({ 0, 4 }, { 0, 2 }):xlim(nil, 3)
    assert.same({ 0, 3 }, { ax:get_xlim() })
    assert.same({ -1, 2 }, { ax:set { ylim = { -1, 2 } }:get_ylim() })
    assert.equal("scaled", ax:axis "image".aspect)
  end)

  it("have headings at the left and right, ticks that are hidden, and paper", function()
    local ax = panel():plot({ 0, 1 }, { 0, 1 }):title("Left", { loc = "left" })
    assert.equal(1, #lines(ax.figure, '^set label "Left" at screen [%d.]+,screen [%d.]+ left'))
    ax:tick_params { bottom = false, labelbottom = false }
    assert.truthy(lines(ax.figure, "^set xtics")[1]:find 'scale 0 .*%(""')
    ax:set_facecolor "ivory"
    assert.equal(1, #lines(ax.figure, '^set object rectangle .* behind fc rgb "#FFFFF0"'))
    assert.equal(0, #ax:cla().artists)
    assert.equal(0, #lines(ax.figure, '^set label "Left"'))
    assert.equal("title: loc: expected one of left, center, right, got 'up'", message(ax.title, ax, "a", { loc = "up" }))
    assert.equal("tick_params: bottom: expected a boolean, got number 0", message(ax.tick_params, ax, { bottom = 0 }))
  end)

  it("fill where numbers are not 0, and down to 0", function()
    local ax = panel():fill_between({ 0, 1, 2 }, { 1, 2, 3 }, { where = ns.vector { 1, 1, 0 } })
    assert.same({ 1, 2 }, { ax.artists[1].columns[2][1], ax.artists[1].columns[2][2] })
    assert.is_true(ax.artists[1].columns[2][3] ~= ax.artists[1].columns[2][3])
    assert.equal(0, ax.artists[1].other[1])
    ax:matshow({ { 1, 2 } }, { interpolation = "nearest" }):pcolor({ { 1, 2 } }, { shading = "auto" })
    assert.equal("imshow: interpolation: expected one of nearest, none, got 'cubic'",
      message(ax.imshow, ax, { { 1 } }, { interpolation = "cubic" }))
    assert.equal("pcolormesh: shading: expected one of auto, flat, nearest, got 'gouraud'",
      message(ax.pcolormesh, ax, { { 1 } }, { shading = "gouraud" }))
  end)
end)

describe("figures", function()
  it("have coloured paper or none", function()
    local fig = plot.figure { facecolor = "ivory" }
    fig:subplot(1, 1, 1):plot { 1, 2 }
    assert.truthy(fig:commands():find('background "#FFFFF0"', 1, true))
    assert.is_nil(fig:picture("svg", { transparent = true }):find("rgb(255, 255, 240)", 1, true))
    assert.truthy(fig:picture "svg":find("rgb(255, 255, 240)", 1, true) or fig:picture "svg":find("#FFFFF0", 1, true)
      or fig:picture "svg":find("#fffff0", 1, true))
    assert.truthy(fig:picture("png", { transparent = true }))
    assert.equal("picture: transparent: expected a boolean, got number 1", message(fig.picture, fig, "png", { transparent = 1 }))
    assert.equal('savefig: bbox_inches: expected "tight", as it always is, got number 1',
      message(fig.savefig, fig, "a.png", { bbox_inches = 1 }))
    assert.equal(fig, fig:subplots_adjust { hspace = 0.5 })
    assert.equal(0, #fig:clf().panels)
  end)
end)
