local ns = require "nslua"
local kinds = require "nslua.plot.kinds"

-- The kinds of the artists that a figure holds.
local function kinds_of(fig)
  local found = {}
  for _, axes in ipairs(fig.panels) do
    for _, artist in ipairs(axes.artists) do found[artist.kind] = artist end
  end
  return found
end

describe("the kinds of artists", function()
  local x, y = ns.linspace(0, 1, 5), ns.linspace(1, 2, 5)
  local z = ns.matrix { { 1, 2 }, { 3, 4 } }

  local function plane()
    local fig = ns.plot.figure()
    local ax = fig:subplot(1, 1, 1)
    ax:plot(x, y) ax:step(x, y) ax:scatter(x, y) ax:fill(x, y) ax:fill_between(x, x, y)
    ax:bar(x, y) ax:errorbar(x, y, { yerr = 0.1 }) ax:axvspan(0, 1) ax:axhline(0.5) ax:axline({ 0, 0 }, { slope = 1 })
    ax:pcolormesh(z) ax:contourf({ 0, 1 }, { 0, 1 }, z) ax:text(0, 0, "a")
    local arrows = ax:quiver(x, y, x, y)
    ax:quiverkey(arrows, 0.5, 0.9, 1, "one")
    return fig
  end

  it("holds every kind that a method of axes draws", function()
    local found = kinds_of(plane())
    local space = ns.plot.figure()
    space:subplot(1, 1, 1, { projection = "3d" }):surface(x, y, ns.zeros(5, 5))
    for kind, artist in pairs(kinds_of(space)) do found[kind] = artist end
    for kind in pairs(found) do assert.is_table(kinds[kind], kind) end
    for kind in pairs(kinds) do assert.is_table(found[kind], kind .. " is drawn by no method here") end
  end)

  it("tells the limits which curves may be over a time", function()
    for _, kind in ipairs { "line", "step", "between" } do assert.is_true(kinds[kind].curve) end
    for _, kind in ipairs { "scatter", "vectors", "fill", "boxes", "errors" } do assert.is_false(kinds[kind].curve) end
    for _, kind in ipairs { "text", "key", "across", "axline", "span", "cells", "bands", "faces" } do
      assert.is_nil(kinds[kind].curve)
    end
  end)
end)
