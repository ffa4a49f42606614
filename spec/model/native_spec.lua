require "nslua"
local native = require "nslua.internal".native

-- The call: t = 0.5, x = 1 (n = 2), lambda = 3 (m = 4), z = 5 (nz = 6), nout = 9, 7 rows, 8 columns.
describe("a native callback", function()
  it("gets its arguments in the order of its signature, and an output that is zero", function()
    assert.same({ 0.5, 7, 8, 6, 5, 0, 0, 0, 0 }, native("MATRIX", false):totable())
    assert.same({ 0.5, 2, 1, 4, 3, 9, 6, 5, 0 }, native("VALUE", false):totable())
    assert.same({ 2, 1, 2, 3, 0.5, 6, 5, 0, 0 }, native("QVT", false):totable())
  end)

  it("of one vector gets x, or lambda where it is a function of that", function()
    assert.same({ 2, 1, 9, 6, 5, 0, 0, 0, 0 }, native("TYPE1", false):totable())
    assert.same({ 4, 3, 9, 6, 5, 0, 0, 0, 0 }, native("TYPE1", true):totable())
  end)
end)
