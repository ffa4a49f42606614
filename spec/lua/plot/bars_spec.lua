-- Bars, histograms, bars of errors, box plots, stems.
local models = require "bind.models"
local ns = require "nslua"
local plot = ns.plot
local message = models.message

teardown(function() plot.close() end)

local lines = require "figure_lines"

local function panel() return plot.figure():subplot(1, 1, 1) end
local function range(ax, axis) return lines(ax.figure, "^set " .. axis .. "range")[1] end

describe("bars", function()
  it("stand at their places, on the edge of the panel", function()
    local ax = panel():bar({ 1, 2 }, { 3, 4 }, { width = 0.5 })
    assert.same({ 0.75, 1.75 }, ax.artists[1].box[1]:totable())
    assert.same({ 3, 4 }, ax.artists[1].box[4]:totable())
    assert.equal("set yrange [0:4.2]", range(ax, "y"))
    assert.equal(1, #lines(ax.figure, "with boxxyerror"))
    ax = panel():bar({ 1, 2 }, { 3, -4 }, { align = "edge", bottom = { 1, 2 } })
    assert.same({ 1, 2 }, ax.artists[1].box[1]:totable())
    assert.same({ 4, -2 }, ax.artists[1].box[4]:totable())
  end)

  it("take texts as places, and errors", function()
    local ax = panel():barh({ "ape", "bear" }, { 3, 4 }, { xerr = { 1, 2 } })
    assert.same({ { 1, "ape" }, { 2, "bear" } }, ax.tick_lists.y)
    assert.same({ 2, 2 }, ax.artists[2].from:totable())
    assert.equal("set xrange [0:6.3]", range(ax, "x"))
    assert.equal("bar: height: expected 2 numbers, got 3", message(ax.bar, ax, { 1, 2 }, { 1, 2, 3 }))
    assert.equal("bar: align: expected one of center, edge, got 'left'", message(ax.bar, ax, { 1 }, { 1 }, { align = "left" }))
  end)

  it("are drawn on logarithmic axes", function()
    local ax = panel():bar({ 1, 2 }, { 10, 1000 }):yscale "log"
    assert.truthy(plot.gcf():picture "svg")
    assert.equal(0, #lines(ax.figure, "nan"))
  end)
end)

describe("histograms", function()
  it("count numbers in bins, the last of which holds its right edge", function()
    local ax = panel():hist({ 0, 1, 1.5, 2, 3, 7 / 0, 0 / 0 }, { bins = { 0, 1, 2, 3 } })
    assert.same({ 1, 2, 2 }, ax.artists[1].box[4]:totable())
    ax:hist({ 0, 1, 1.5, 2, 3 }, { bins = 3, density = true })
    assert.same({ 0.2, 0.4, 0.4 }, ax.artists[2].box[4]:totable())
    ax:hist({ 0, 1, 1.5, 2, 3 }, { bins = 3, cumulative = true, histtype = "step" })
    assert.same({ 0, 1, 1, 3, 3, 5, 5, 0 }, ax.artists[3].columns[2]:totable())
    ax:hist({ 4, 4 }, { bins = 2 })
    assert.same({ 0, 2 }, ax.artists[4].box[4]:totable())
    assert.equal("hist: bins: expected edges that increase", message(ax.hist, ax, { 1 }, { bins = { 1, 1 } }))
    assert.equal("hist: bins: expected a whole number, at least 1, got number 0", message(ax.hist, ax, { 1 }, { bins = 0 }))
    assert.equal("hist: bins: expected at least 2 edges, got 1", message(ax.hist, ax, { 1 }, { bins = { 1 } }))
    assert.is_nil(plot.figure():subplot(1, 1, 1):hist({ 1, 2 }, { histtype = "stepfilled" }).artists[1].edge)
    assert.equal("hist: histtype: expected one of bar, step, stepfilled, got 'x'", message(ax.hist, ax, { 1 }, { histtype = "x" }))
  end)
end)

describe("errors", function()
  it("are inside of the panel, below and above", function()
    local ax = panel():errorbar({ 1, 2 }, { 5, 6 }, { yerr = { { 1, 2 }, { 3, 5 } }, fmt = "ro", capsize = 3 })
    assert.same({ 4, 4 }, ax.artists[2].from:totable())
    assert.same({ 8, 11 }, ax.artists[2].to:totable())
    assert.equal("set yrange [3.65:11.35]", range(ax, "y"))
    assert.equal("set xrange [0.95:2.05]", range(ax, "x"))
    assert.equal("errorbar: yerr: expected numbers, at least 0", message(ax.errorbar, ax, { 1 }, { 1 }, { yerr = -1 }))
    assert.equal("errorbar: xerr: expected 1 numbers, got 2", message(ax.errorbar, ax, { 1 }, { 1 }, { xerr = { 1, 2 } }))
  end)
end)

describe("box plots", function()
  it("have quartiles, whiskers and what lies outside", function()
    local ax = panel():boxplot({ { 1, 2, 3, 4, 20 }, { 0 / 0 } }, { labels = { "a", "b" } })
    local y = ax.artists[1].columns[2]:totable()
    assert.same({ 2, 2, 4, 4, 2 }, { y[1], y[2], y[3], y[4], y[5] })
    assert.same({ 20 }, ax.artists[3].columns[2]:totable())
    assert.same({ { 1, "a" }, { 2, "b" } }, ax.tick_lists.x)
    ax = panel():boxplot({ 1, 2, 3, 4, 20 }, { whis = 100 })
    assert.equal(2, #ax.artists)
    assert.equal(3, panel():boxplot(ns.matrix { { 1, 2 }, { 3, 4 }, { 99, 4 }, { 2, 3 }, { 2, 2 } }).artists[3] and 3)
  end)
end)

describe("stems", function()
  it("go from the bottom to each point", function()
    local ax = panel():stem({ 1, 2 }, { 3, -1 }, { label = "s", bottom = 1 }):legend()
    local y = ax.artists[1].columns[2]:totable()
    assert.same({ 1, 3, 1, -1 }, { y[1], y[2], y[4], y[5] })
    assert.equal(1, #lines(ax.figure, '^set label "s" at screen'))
    assert.equal("stem: x has 1 elements, y has 2", message(ax.stem, ax, { 1 }, { 1, 2 }))
  end)
end)

describe("spans", function()
  it("go through the whole panel, and widen it along their axis alone", function()
    local ax = panel():plot({ 0, 1 }, { 0, 1 }):axvspan(2, 3):axhspan(0.2, 0.4, { label = "s" }):legend()
    assert.equal("set xrange [0:3]", range(ax, "x"))
    assert.equal("set yrange [-0.05:1.05]", range(ax, "y"))
    assert.equal(1, #lines(ax.figure, "^2.5 0.5 2 3 %-0.05 1.05$") + #lines(ax.figure, "^2 %-0.05 2 3 %-0.05 1.05$"))
    assert.equal("axvspan: from: expected a number, got 'a'", message(ax.axvspan, ax, "a", 1))
  end)
end)
