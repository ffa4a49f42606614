-- Twins: two axes y on one panel. Boxes around texts and the styles of arrows.
local models = require "bind.models"
local ns = require "nslua"
local plot = ns.plot
local message = models.message

teardown(function() plot.close() end)

local lines = require "figure_lines"

describe("twinx", function()
  it("shares the panel and x, and has an axis y at the right", function()
    local fig = plot.figure()
    local ax = fig:subplot(1, 1, 1):plot({ 0, 1 }, { 0, 1 }):ylabel "left"
    local twin = ax:twinx():plot({ 0, 2 }, { 10, 1000 }):ylabel("right"):yscale "log"
    assert.equal(twin, fig:gca())
    assert.equal(ax, fig:subplot(1, 1, 1))
    assert.is_false(ax.artists[1].color == twin.artists[1].color)
    assert.same({ "set xrange [0:2]", "set xrange [0:2]" }, lines(fig, "^set xrange"))
    for _, side in ipairs { "l", "r", "t", "b" } do
      local margins = lines(fig, "^set " .. side .. "margin")
      assert.equal(margins[1], margins[2])
    end
    assert.equal(1, #lines(fig, "^set ytics"))
    assert.equal(1, #lines(fig, '^set y2tics .*"10" 10, "100" 100'))
    assert.equal(1, #lines(fig, "^set logscale y2 10"))
    local places = {}
    for _, name in ipairs { "left", "right" } do
      places[name] = tonumber(lines(fig, '^set label "' .. name)[1]:match "screen ([%d.]+)")
    end
    assert.is_true(places.left < 0.1 and places.right > 0.9)
    assert.truthy(fig:picture "svg")
    assert.equal("twinx: these axes are twins of others already", message(twin.twinx, twin))
  end)

  it("has its legend in another place", function()
    local ax = plot.figure():subplot(1, 1, 1):plot({ 0, 1 }, { 0, 0 }, { label = "a" }):legend()
    ax:twinx():plot({ 0, 1 }, { 0, 0 }, { label = "b" }):legend()
    local a, b = lines(ax.figure, '^set label "a" at screen')[1], lines(ax.figure, '^set label "b" at screen')[1]
    assert.is_false(a:match "at (%S+)" == b:match "at (%S+)" and a:match "at %S+ (%S+)" == b:match "at %S+ (%S+)")
  end)
end)

describe("an axis y that panels share", function()
  it("spans what all of them hold; its numbers stand left of the first", function()
    local fig, axes = plot.subplots(1, 3, { sharey = true })
    axes[1]:plot({ 0, 1 }, { 1, 10 })
    axes[2]:plot({ 0, 1 }, { 2, 100 })
    axes[3]:plot({ 0, 1 }, { 3, 4 }):ylim(1, 1000)
    assert.same({ "set yrange [1:1000]", "set yrange [1:1000]", "set yrange [1:1000]" }, lines(fig, "^set yrange"))
    axes[2]:yscale "log"
    assert.equal(3, #lines(fig, "^set logscale y 10"))
    local ticks = lines(fig, "^set ytics")
    assert.truthy(ticks[1]:find('"10" 10', 1, true))
    for k = 2, 3 do assert.truthy(ticks[k]:find('"" 10', 1, true)) end
    axes[1]:yticks { 5 }
    assert.equal(3, #lines(fig, "^set ytics .* 5%)"))
    assert.equal("subplots: sharey: expected a boolean or one of all, row, col, none, got number 1",
      message(plot.subplots, 1, 2, { sharey = 1 }))
    assert.equal("subplot: sharey: expected axes, got number 1", message(fig.subplot, fig, 1, 3, 1, { sharey = 1 }))
  end)
end)

describe("texts", function()
  it("have boxes", function()
    local ax = plot.figure():subplot(1, 1, 1):text(0, 0, "a", { bbox = { fc = "y", edgecolor = "none" } })
    ax:annotate("b", { xy = { 0, 0 }, bbox = {} })
    local boxes = lines(ax.figure, "^set object polygon")
    assert.truthy(boxes[1]:find('front fc rgb "#E69F00" fs solid 1 noborder', 1, true))
    assert.truthy(boxes[2]:find('front fc rgb "#FFFFFF" fs solid 1 border lc rgb "#000000" lw 0.8', 1, true))
    ax:text(0, 0, "c", { bbox = { boxstyle = "round,pad=0.5" } })
    assert.is_true(#lines(ax.figure, "^set object polygon")[3] > 2 * #boxes[1])
    assert.equal('text: bbox: boxstyle: expected "square" or "round", also "round,pad=0.3", got \'sawtooth\'',
      message(ax.text, ax, 0, 0, "a", { bbox = { boxstyle = "sawtooth" } }))
    assert.truthy(ax.figure:picture "svg")
    assert.equal("text: bbox: unknown option 'foo' (known: boxstyle, facecolor, edgecolor, alpha, pad, linewidth)",
      message(ax.text, ax, 0, 0, "a", { bbox = { foo = 1 } }))
  end)

  it("have arrows of several styles", function()
    local ax = plot.figure():subplot(1, 1, 1)
    for _, style in ipairs { "->", "<-", "<->", "-" } do
      ax:annotate("b", { xy = { 0, 0 }, xytext = { 1, 1 }, arrowprops = { arrowstyle = style, lw = 3 } })
    end
    for _, head in ipairs { "head", "backhead", "heads", "nohead" } do
      assert.equal(1, #lines(ax.figure, "with vectors " .. head .. " filled.* lw 3 "))
    end
    assert.equal("annotate: arrowstyle: expected one of -> -|> <- <|- <-> <|-|> -, got 'fancy'",
      message(ax.annotate, ax, "b", { xy = { 0, 0 }, arrowprops = { arrowstyle = "fancy" } }))
  end)
end)
