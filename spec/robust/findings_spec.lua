-- What random calls have found: messages that came from inside of the module, where they should name the argument.
local ns = require "nslua"

local function message(f, ...)
  local good, err = pcall(f, ...)
  assert.is_false(good)
  return (tostring(err):gsub("^[^%s:]*_spec%.lua:%d+: ", ""))
end

describe("a list that holds itself", function()
  it("is no parameter of a model", function()
    local list = {}
    list[1] = list
    local model = ns.numerics.model()
    assert.matches("parameter%[1%]%[1%]", message(model.parameter, model, list))
  end)
end)

describe("a wrong argument is named", function()
  after_each(function() ns.plot.close() end)

  it("of a figure", function()
    local figure = ns.plot.figure()
    assert.equal("commands: kind: expected one of aqua, dumb, pdf, png, qt, sixel, svg, wxt, x11, got 'x'",
      message(figure.commands, figure, "x"))
    local axes = ns.plot.gca()
    axes:plot({ 1, 2 }, { 1, 2 })
    assert.equal("xticks: labels: expected a table, got number 3", message(axes.xticks, axes, { 1, 2 }, 3))
  end)

  it("of an implicit surface", function()
    assert.equal("implicit: f: expected a number, got table of 0", message(ns.plot.implicit, function() return {} end))
  end)

  it("of a polygon", function()
    local square = ns.polygon.intersection { { 1, 0, 1 }, { -1, 0, 0 }, { 0, 1, 1 }, { 0, -1, 0 } }
    assert.equal("clip: x1: expected a number, got table", message(square.clip, square, 1, {}, 0, 1))
    assert.equal("clip: y1: expected a number, got nil", message(square.clip, square, 1, 2, 0))
    assert.equal("contains: expected a point x, y", message(square.contains, square))
  end)
end)
