-- Lines between places, areas, pies, tables, symlog axes, axes at the top, fractions, and options by matplotlib's names.
local models = require "bind.models"
local ns = require "nslua"
local lines = require "figure_lines"
local scales = require "nslua.plot.scales"
local plot = ns.plot
local message = models.message

local function panel() return plot.figure():subplot(1, 1, 1) end

describe("lines and areas", function()
  it("hlines and vlines go from place to place", function()
    local ax = panel():vlines({ 1, 2 }, 0, { 3, 4 }):hlines(5, -1, 1, { colors = "r", label = "five" })
    local x, y = ax.artists[1].columns[1]:totable(), ax.artists[1].columns[2]:totable()
    assert.same({ 1, 1, 2, 2, 0, 3, 0, 4 }, { x[1], x[2], x[4], x[5], y[1], y[2], y[4], y[5] })
    assert.equal("#D55E00", ax.artists[2].color)
    assert.equal("vlines: to: expected 2 numbers, got 3", message(ax.vlines, ax, { 1, 2 }, 0, { 1, 2, 3 }))
  end)

  it("stackplot and fill_betweenx fill what lies between", function()
    local ax = panel():stackplot({ 0, 1, 2 }, { 1, 2, 1 }, { 2, 2, 2 }, { labels = { "a", "b" } })
    assert.same({ 3, 4, 3 }, ax.artists[2].other:totable())
    assert.equal("b", ax.artists[2].label)
    assert.equal("stackplot: y[2]: expected 3 numbers, got 2", message(ax.stackplot, ax, { 0, 1, 2 }, { 1, 1, 1 }, { 1, 2 }))
    assert.equal("stackplot: expected x and at least one y", message(ax.stackplot, ax, { 0, 1, 2 }))
    ax:fill_betweenx({ 0, 1 }, { 1, 2 }, { alpha = 1 })
    assert.same({ 1, 2, 0, 0 }, ax.artists[3].columns[1]:totable())
    ax:fill_between({ 0, 1, 2 }, 0, 1, { where = { true, true, false } })
    assert.is_true(ax.artists[4].columns[2][3] ~= ax.artists[4].columns[2][3])
    assert.equal("fill_between: where: expected a list of 3 booleans, got a list of 1",
      message(ax.fill_between, ax, { 0, 1, 2 }, 0, 1, { where = { true } }))
  end)

  it("pies have parts and texts", function()
    local ax = panel():pie({ 1, 3 }, { labels = { "a", "b" }, autopct = "%.0f%%", explode = { 0.1 }, startangle = 90 })
    local texts = {}
    for _, a in ipairs(ax.artists) do texts[#texts + 1] = a.text end
    assert.same({ "a", "25%", "b", "75%" }, texts)
    assert.equal("pie: x: expected a number above 0", message(ax.pie, ax, { 0 }))
    assert.truthy(ax.figure:picture "svg")
  end)
end)

describe("tables", function()
  it("have their room, their cells and their messages", function()
    local ax = panel():bar({ 1, 2 }, { 1, 2 })
    local before = tonumber(ax.figure:commands():match "bmargin at screen (%S+)")
    ax:table { cellText = { { 1, 2 }, { "c", "d" } }, rowLabels = { "r", "s" }, colLabels = { "u", "v" },
      cellColours = { { "w", "y" }, { "w", "w" } } }
    assert.is_true(tonumber(ax.figure:commands():match "bmargin at screen (%S+)") > before + 0.1)
    assert.equal(8, #lines(ax.figure, "^set object rectangle"))
    assert.equal("table: text: expected a list of rows, got nil", message(ax.table, ax, {}))
    assert.equal("table: text[2]: expected 2 texts, got 1", message(ax.table, ax, { text = { { 1, 2 }, { 1 } } }))
    assert.equal("table: loc: expected one of bottom, top, center, got 'left'",
      message(ax.table, ax, { text = { { 1 } }, loc = "left" }))
    assert.equal("table: cell_align: expected one of left, center, right, got 'up'",
      message(ax.table, ax, { text = { { 1 } }, cell_align = "up" }))
    assert.equal("table: col_widths: expected 1 numbers, got 2",
      message(ax.table, ax, { text = { { 1 } }, col_widths = { 1, 2 } }))
    assert.equal("table: colors: expected 1 rows of 1 colours", message(ax.table, ax, { text = { { 1 } }, colors = { {} } }))
    assert.equal("table: col_labels: expected a list, got 'a'", message(ax.table, ax, { text = { { 1 } }, col_labels = "a" }))
  end)
end)

describe("symlog", function()
  it("is linear around 0, logarithmic beyond, and its own inverse", function()
    local scale = { threshold = 2, share = 1, base = 10 }
    for _, x in ipairs { -1e5, -20, -2, -0.1, 0, 1, 2, 3, 1e9 } do
      assert.near(x, scales.inverse(scale, scales.forward(scale, x)), 1e-12 * math.abs(x))
    end
    local decade = scales.forward(scale, 2000) - scales.forward(scale, 200)
    assert.near(decade, scales.forward(scale, 20000) - scales.forward(scale, 2000), 1e-12)
    assert.near(scales.forward(scale, 1), scales.forward(scale, 2) / 2, 1e-15)
    -- As in matplotlib the even part has the length of share (linscale) times 1 + 1/10 + 1/100 + ... powers of ten.
    assert.near(decade * 10 / 9, scales.forward(scale, 2), 1e-12)
  end)

  it("has ticks on both sides, and messages", function()
    local ax = panel():plot({ 0, 1, 2 }, { -1e4, 0, 1e4 }):yscale("symlog", { linthresh = 1 })
    assert.equal(1, #lines(ax.figure, "^set nonlinear y via"))
    assert.equal(1, #lines(ax.figure, '^set ytics .*10000, .*"0" 0, .* 10000'))
    assert.truthy(ax.figure:picture "svg")
    assert.equal("yscale: linthresh: expected a number above 0, got 0", message(ax.yscale, ax, "symlog", { linthresh = 0 }))
    assert.equal("yscale: base: expected a number above 1, got 1", message(ax.yscale, ax, "symlog", { base = 1 }))
    local space = plot.figure():subplot(1, 1, 1, { projection = "3d" })
    assert.equal("zscale: axes in space are not symlog", message(space.zscale, space, "symlog"))
    ax:yscale "linear"
    assert.equal(0, #lines(ax.figure, "^set nonlinear"))
  end)
end)

describe("twiny", function()
  it("has an axis at the top, and the heading above it", function()
    local ax = panel():plot({ 0, 1 }, { 0, 1 }):title "head"
    local y0 = tonumber(ax.figure:commands():match "tmargin at screen (%S+)")
    local twin = ax:twiny():plot({ 0, 100 }, { 0, 1 }):xlabel "above"
    local commands = ax.figure:commands()
    assert.is_true(tonumber(commands:match "tmargin at screen (%S+)") < y0)
    assert.equal(1, #lines(ax.figure, "^set x2tics"))
    assert.equal(1, #lines(ax.figure, "^set x2range %[0:100%]"))
    local head, above = commands:match 'label "head" at screen %S+,screen (%S+)',
      commands:match 'label "above" at screen %S+,screen (%S+)'
    assert.is_true(tonumber(head) > tonumber(above) and tonumber(above) > tonumber(commands:match "tmargin at screen (%S+)"))
    assert.equal("twiny: these axes are twins of others already", message(twin.twiny, twin))
  end)
end)

describe("texts", function()
  it("stand at their places by valign, also in parts of the panel", function()
    local heights = {}
    for _, valign in ipairs { "bottom", "baseline", "center", "top" } do
      local ax = panel():xlim(0, 1):ylim(0, 1):text(0.5, 0.5, "here", { va = valign })
      heights[#heights + 1] = tonumber(lines(ax.figure, '^set label "here"')[1]:match "screen (%S+) left")
    end
    for k = 2, 4 do assert.is_true(heights[k] < heights[k - 1]) end
    local ax = panel():plot({ 5, 6 }, { 7, 8 }):text(0.5, 0.5, "mid", { transform = "axes", size = "large" })
    assert.equal(1, #lines(ax.figure, '^set label "mid" .* font ",12" front'))
    assert.same({ "set xrange [5:6]" }, lines(ax.figure, "^set xrange"))
    assert.equal("text: valign: expected one of top, center, bottom, baseline, got 'middle'",
      message(ax.text, ax, 0, 0, "a", { va = "middle" }))
    assert.equal('text: transform: expected "data" or "axes", got \'figure\'',
      message(ax.text, ax, 0, 0, "a", { transform = "figure" }))
  end)

  it("have stacked fractions in all places", function()
    local ax = panel():plot({ 0, 1 }, { 0, 1 }, { label = "$\\frac{ab}{c}$" }):legend()
    ax:title "$\\frac{t}{u}$":xlabel "$x = \\frac{1}{2}$":xticks({ 0, 1 }, { "0", "$\\frac{\\pi}{4}$" })
    assert.equal(4, #lines(ax.figure, "^set arrow from screen .* nohead")
      - 1) -- and the sample of the legend
    assert.truthy(ax.figure:picture "svg")
  end)
end)

describe("the look of axes", function()
  it("minor ticks, margins, turned axes, the look of ticks", function()
    local ax = panel():plot({ 0, 10 }, { 0, 10 }):minorticks_on()
    assert.equal(2, #lines(ax.figure, "^set [xy]tics .* 1[,)]"))
    ax:minorticks_off():margins(0.1, 0):invert_yaxis()
    assert.same({ "set xrange [-1:11]", "set yrange [10:0]" }, lines(ax.figure, "^set [xy]range"))
    ax:tick_params("x", { labelsize = 8, direction = "in", labelrotation = 30 })
    assert.equal(1, #lines(ax.figure, '^set xtics .* in rotate by 30 right .* font ",8"'))
    assert.equal("tick_params: direction: expected one of in, out, got 'up'",
      message(ax.tick_params, ax, { direction = "up" }))
    assert.equal("tick_params: axis: expected one of x, y, both, got 'z'", message(ax.tick_params, ax, "z", {}))
  end)

  it("letters of another size take their room", function()
    plot.rcParams["font.size"], plot.rcParams["figure.figsize"] = 20, { 5, 4 }
    local fig = plot.figure()
    plot.rcParams["font.size"], plot.rcParams["figure.figsize"] = nil, nil
    fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }):xlabel "x"
    local normal = plot.figure { figsize = { 5, 4 } }
    normal:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }):xlabel "x"
    local function bottom(f) return tonumber(f:commands():match "bmargin at screen (%S+)") end
    assert.near(2 * bottom(normal), bottom(fig), 1e-5)
    assert.truthy(fig:commands():find('DejaVu Sans,20"', 1, true))
    assert.equal("text: fontsize: expected points, or one of xx-small, x-small, small, medium, large, x-large, xx-large, got 'big'",
      message(plot.text, 0, 0, "a", { fontsize = "big" }))
  end)

  it("legends say what they do not know", function()
    local ax = panel():plot({ 0, 1 }, { 0, 1 }, { label = "a" })
    assert.equal("legend: bbox_to_anchor: expected {x, y} in parts of the panel, got number 1",
      message(ax.legend, ax, { bbox_to_anchor = 1 }))
    assert.equal("legend: frameon: expected a boolean, got 'on'", message(ax.legend, ax, { frameon = "on" }))
    ax:legend { frameon = true, title = "what", edgecolor = "r" }
    assert.equal(1, #lines(ax.figure, '^set object rectangle .* border lc rgb "#D55E00"'))
    assert.equal(1, #lines(ax.figure, '^set label "what"'))
  end)
end)
