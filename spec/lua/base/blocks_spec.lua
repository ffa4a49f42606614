-- Tests of nslua.base.blocks.
local blocks = require "nslua.base.blocks"
local ns = require "nslua"

describe("nslua.base.blocks", function()
  local A = ns.matrix { { 1, 2, 3 }, { 4, 5, 6 } }

  it("picks rows and columns by their numbers; nil: all of them", function()
    assert.equal(ns.matrix { { 6, 4 }, { 3, 1 } }, blocks.pick(A, { 2, 1 }, { 3, 1 }))
    assert.equal(A, blocks.pick(A))
    assert.equal(ns.matrix { { 4, 5, 6 } }, blocks.pick(A, { 2 }))
    assert.same({ 2, 0 }, { blocks.pick(A, nil, {}):shape() })
  end)

  it("writes what it picks back to its place", function()
    local B, rows, cols = ns.zeros(2, 3), { 2, 1 }, { 3, 1, 2 }
    blocks.put(B, blocks.pick(A, rows, cols), rows, cols)
    assert.equal(A, B)
    blocks.put(B:slice(1, 2, 2, 3), ns.matrix { { 7, 8 } }, { 2 })
    assert.equal(ns.matrix { { 1, 2, 3 }, { 4, 7, 8 } }, B)
  end)

  it("multiplies rows and columns by factors, and leaves A as it is", function()
    assert.equal(ns.diag { 2, 3 } * A * ns.diag { 5, 7, 11 }, blocks.times(A, { 2, 3 }, { 5, 7, 11 }))
    assert.equal(A, blocks.times(A))
    assert.equal(4, A[2][1])
  end)
end)
