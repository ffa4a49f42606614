-- nslua.plot.cells: heat maps.
local expect = require "expect"
local ns = require "nslua"

describe("a heat map", function()
  local function blocks(x, y, z, options)
    local fig = ns.plot.figure()
    fig:subplot(1, 1, 1):heatmap(x, y, z, options)
    local text = fig:commands()
    ns.plot.close(fig)
    return text
  end

  it("has a cell around each place, halfway to its neighbours, in the colours of the values", function()
    local text = blocks({ 0, 1, 3 }, { 5 }, { { 1, 0 / 0, 2 } })
    assert.truthy(text:find("\n0 5 -0.5 0.5 4.5 5.5 4456788\n3 5 2 4 4.5 5.5 16639781\n", 1, true), text)
    assert.truthy(text:find("with boxxyerror", 1, true))
  end)

  it("can have other limits, a function, and one value", function()
    assert.truthy(blocks({ 0 }, { 0 }, { { 5 } }, { limits = { 0, 5 } }):find("16639781", 1, true))
    assert.truthy(blocks({ 0, 1 }, { 0, 1 }, function(x, y) return x + y end):find("\n1 1 0.5 1.5 0.5 1.5 ", 1, true))
    assert.truthy(blocks({ 0 }, { 0 }, { { 5 } }))
  end)

  it("refuses what it can not draw", function()
    local axes = ns.plot.figure():subplot(1, 1, 1)
    local function raises(message, ...) assert.equal(message, expect.message(axes.heatmap, axes, ...)) end
    raises("heatmap: x: expected increasing numbers", { 1, 1 }, { 0 }, { { 1, 2 } })
    raises("heatmap: z has no finite number", { 0, 1 }, { 0 }, { { 0 / 0, 0 / 0 } })
    raises("heatmap: limits: expected two numbers, got 1", { 0 }, { 0 }, { { 1 } }, { limits = { 1 } })
    raises("heatmap: unknown option 'bar' (known: cmap, limits)", { 0 }, { 0 }, { { 1 } }, { bar = true })
  end)
end)
