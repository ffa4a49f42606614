local ns = require "nslua"

describe("semismooth Newton for nonlinear problems", function()
  it("counts no pivots and solves what is smooth and monotone", function()
    local r = ns.numerics.mcp { F = function(z, out) out[1], out[2] = z[1] ^ 3 - 8 + z[2], math.exp(z[2]) + z[1] end,
      z0 = { 3, 1 }, solver = "semismooth" }
    assert.is_true(r.success)
    assert.equal("semismooth", r.solver)
    assert.equal(0, r.pivots)
    assert.near(2, r.z[1], 1e-12)
    assert.equal(0, r.z[2])
  end)
end)
