-- thin_support: its arguments.
local thin = require "nslua.core".thin_support

describe("thin_support", function()
  it("names what is wrong", function()
    assert.has_error(function() thin.columns({ 1, 2 }, { 1 }, 0, 1, 1) end, "columns: y: expected a vector of 2, got a list of 1")
    assert.has_error(function() thin.rises "x" end, "rises: x: expected a vector, got string")
    assert.matches("invalid option 'middle'", select(2, pcall(thin.corners, { 1 }, { 2 }, "middle")))
  end)

  it("takes lists, vectors and views", function()
    local ns = require "nslua"
    local view = ns.vector { 1, 9, 2, 9, 3 }(1, 5, 2)
    local x, y = thin.distance(view, { 1, 2, 3 }, 0, 3, 3, false, 0, 3, 3, false)
    assert.same({ ns.vector { 1, 2, 3 }, ns.vector { 1, 2, 3 } }, { x, y })
  end)
end)
