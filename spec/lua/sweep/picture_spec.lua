-- sweep:plot
local expect = require "expect"
local ns = require "nslua"

describe("the picture of a sweep", function()
  local sweep
  setup(function()
    sweep = ns.sweep { parameters = { A = ns.linspace(0, 1, 5), e = { 1, 2, 3 } }, on = "here",
      run = function(p, task) return { x = p.A * p.e, n = task.rng:normal(), v = { 1, 2 }, none = 0 / 0 } end }
  end)

  local function commands(options)
    local fig = sweep:plot(options)
    local text = fig:commands()
    ns.plot.close(fig)
    return text
  end

  it("is a heat map with its colours", function()
    local text = commands { x = "A", y = "e", z = "x", title = "product" }
    assert.equal(2, select(2, text:gsub("boxxyerror", "")))
    local fig = sweep:plot { x = "A", y = "e", z = "x", limits = { 0, 4 } }
    local axes = fig:subplot(1, 1, 1)
    assert.equal("x", axes.color_bar.label)
    assert.same({ 0, 4 }, axes.color_bar.artist.range)
    ns.plot.close(fig)
  end)

  it("is lines: the median in a band, or one for each value", function()
    local text = commands { x = "A", y = "x" }
    assert.truthy(text:find("filledcurves", 1, true))
    assert.truthy(text:find("\n0.5 1\n", 1, true)) -- the median of 0.5, 1, 1.5
    text = commands { x = "A", y = "x", by = "e" }
    assert.falsy(text:find("filledcurves", 1, true))
    assert.truthy(text:find("e = 3", 1, true))
  end)

  it("is points where a design is no grid", function()
    local random = ns.sweep { parameters = ns.design.latin_hypercube(30, { A = { 0, 1 }, e = { 1, 3 } }), on = "here",
      run = function(p) return { x = p.A * p.e, kind = p.A > 0.5 } end }
    local function kinds(options)
      local fig, list = random:plot(options), {}
      for i, artist in ipairs(fig:subplot(1, 1, 1).artists) do list[i] = artist.kind end
      ns.plot.close(fig)
      return table.concat(list, " ")
    end
    assert.equal("scatter", kinds { x = "A", y = "x" })
    assert.equal("scatter scatter", kinds { x = "A", y = "x", by = "kind" })
    assert.equal("scatter", kinds { x = "A", y = "e", z = "x", limits = { 0, 3 } })
    random = ns.sweep { parameters = { A = ns.linspace(0, 1, 9) }, on = "here", run = function(p) return { x = p.A ^ 2 } end }
    assert.equal("line", kinds { x = "A", y = "x" })
  end)

  it("is a histogram", function()
    local fig = sweep:plot { x = "n", bins = 3 }
    assert.is_true(#fig:subplot(1, 1, 1).artists <= 3)
    ns.plot.close(fig)
  end)

  it("refuses what it can not draw", function()
    local function raises(message, options) assert.equal(message, expect.message(sweep.plot, sweep, options)) end
    raises("plot: expected x =, or x = and y =, or x =, y = and z =", {})
    raises("plot: 'v' has 2 numbers in each row: a picture takes columns of one", { x = "v" })
    raises("plot: 'none' has no finite number", { x = "none" })
    raises("sweep:plot: unknown option 'w' (known: x, y, z, by, bins, cmap, limits, figsize, dpi, title)", { w = "A" })
  end)
end)
