require "nslua"
local box = require("nslua.internal").box

describe("the measures of an answer", function()
  it("are zero for an exact one", function()
    local a = box { M = { { 2, 1 }, { 1, 2 } }, q = { -4, 1 } }
    assert.same({ 2, 0 }, a.z)
    assert.equal(0, a.residual)
    assert.equal(0, a.relative)
    assert.equal(0, a.backward)
  end)

  it("follow their definition on a failure", function()
    -- z stays at 0: w = q, rho = 1 over the largest entry of a row without a positive diagonal
    local b = box { M = { { -2, 0 }, { 0, -4 } }, q = { -6, 1 }, method = "pgs" }
    assert.equal("NS_EARG", b.status)
    assert.same({ 0, 0 }, b.z)
    assert.equal(3, b.residual)
    assert.equal(1, b.relative)
    assert.equal(1, b.backward)
  end)
end)
