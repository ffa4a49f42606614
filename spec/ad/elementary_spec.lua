-- Elementary functions and comparisons of numbers, element by element.
local ns = require "nslua"
local message = require("bind.models").message

local vec = ns.vector
local NAN = 0 / 0

describe("elementary functions", function()
  local v = vec { -2, -1, 0, 1, 2 }

  it("are sign, atan of one and two, maximum, minimum", function()
    assert.equal(vec { -1, 0, 1 }, ns.sign { -3, 0, 0.1 })
    assert.is_true(ns.sign(NAN) ~= ns.sign(NAN))
    assert.equal(math.atan(2), ns.atan(2))
    assert.equal(math.atan(-1, -2), ns.atan(-1, -2))
    assert.equal(vec { math.atan(1, 3), math.atan(2, 3) }, ns.atan({ 1, 2 }, 3))
    assert.equal(vec { math.atan(3, 1), math.atan(3, 2) }, ns.atan(3, { 1, 2 }))
    assert.equal(vec { 2, 5 }, ns.maximum({ 1, 5 }, 2))
    assert.equal(ns.matrix { { 1, 2 } }, ns.minimum(ns.matrix { { 1, 5 } }, ns.matrix { { 3, 2 } }))
    assert.equal(3, ns.maximum(2, 3))
    for _, name in ipairs { "maximum", "minimum" } do -- nan wins, on either side
      assert.is_true(ns[name](NAN, 1) ~= ns[name](NAN, 1))
      assert.is_true(ns[name](1, NAN) ~= ns[name](1, NAN))
    end
  end)

  it("compare by elements", function()
    assert.equal(vec { 0, 0, 0, 1, 1 }, v:gt(0))
    assert.equal(vec { 0, 0, 1, 1, 1 }, v:ge(0))
    assert.equal(vec { 1, 1, 0, 0, 0 }, v:lt(0))
    assert.equal(vec { 1, 1, 1, 0, 0 }, v:le(0))
    assert.equal(vec { 0, 0, 1, 0, 0 }, v:eq(0))
    assert.equal(vec { 1, 1, 0, 1, 1 }, v:ne(0))
    assert.equal(vec { 0, 1 }, vec { 1, 2 }:gt { 1, 1 })
    assert.equal(ns.matrix { { 1, 0 } }, ns.matrix { { 3, 4 } }:lt(ns.matrix { { 4, 4 } }))
    assert.equal(vec { 0 }, vec { NAN }:gt(0))
    assert.equal("gt: vector of 5 and vector of 2: sizes do not match", message(v.gt, v, { 1, 2 }))
  end)
end)
