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
    local edges = "\n0 5 (%S+) (%S+) (%S+) (%S+) 4456788\n3 5 (%S+) (%S+) (%S+) (%S+) 16639781\n"
    for k, edge in ipairs { text:match(edges) } do -- as near as dots of the picture are to each other
      assert.near(({ -0.5, 0.5, 4.5, 5.5, 2, 4, 4.5, 5.5 })[k], tonumber(edge), 5e-3)
    end
    assert.truthy(text:find("with boxxyerror", 1, true))
  end)

  it("has edges between dots of a PNG", function()
    local fig = ns.plot.figure { figsize = { 5, 4 }, dpi = 72 }
    fig:subplot(1, 1, 1):heatmap({ 0, 1, 2, 3, 4, 5, 6 }, { 0 }, { { 1, 2, 3, 4, 5, 6, 7 } })
    local text = fig:commands()
    local left, right = text:match "lmargin at screen (%S+)\nset rmargin at screen (%S+)"
    local edges = 0
    for edge in text:gmatch "\n%d 0 (%S+) %S+ %S+ %S+ %d+" do -- the limits are -0.5 and 6.5
      local dots = (left + (right - left) * (edge + 0.5) / 7) * 359
      assert.near(0.5, dots - math.floor(dots), 1e-3)
      edges = edges + 1
    end
    assert.equal(7, edges)
  end)

  it("can have other limits, a function, and one value", function()
    assert.truthy(blocks({ 0 }, { 0 }, { { 5 } }, { limits = { 0, 5 } }):find("16639781", 1, true))
    assert.truthy(blocks({ 0, 1 }, { 0, 1 }, function(x, y) return x + y end):find "\n1 1 0%.%d+ 1%.%d+ 0%.%d+ 1%.%d+ ")
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
