local ns = require "nslua"

local function F(z, out)
  out[1] = 3 * z[1] ^ 2 + 2 * z[1] * z[2] + 2 * z[2] ^ 2 - 6
  out[2] = 2 * z[1] ^ 2 + z[1] + z[2] ^ 2 - 2
end

describe("the method of Josephy and Newton", function()
  it("takes no pivot from the solution on, and one step for an affine problem", function()
    local r = ns.numerics.mcp { F = function(z, out) out[1], out[2] = 2 * z[1] + z[2] - 3, z[1] + 2 * z[2] + 1 end,
      z0 = { 0, 0 }, solver = "josephy-newton" }
    assert.is_true(r.success)
    assert.equal(1, r.iterations)
    assert.near(1.5, r.z[1], 1e-14)
    assert.equal(0, r.z[2])
  end)

  it("solves sparse problems by paths of pivots", function()
    local n = 40
    local M = ns.spdiags({ -1, 2, -1 }, { -1, 0, 1 }, n)
    local J = function(z)
      local D = ns.vector(n)
      for i = 1, n do D[i] = 3 * z[i] ^ 2 end
      return M + ns.spdiags({ D }, { 0 }, n)
    end
    local r = ns.numerics.mcp { F = function(z) return M * z + z ^ 3 - 0.5 end, J = J, z0 = ns.vector(n),
      solver = "josephy-newton" }
    assert.is_true(r.success)
    assert.equal("josephy-newton", r.solver)
  end)

  it("agrees with the other method", function()
    local a = ns.numerics.mcp { F = F, z0 = { 1, 1 }, solver = "josephy-newton" }
    local b = ns.numerics.mcp { F = F, z0 = { 1, 1 }, solver = "semismooth" }
    assert.is_true(a.success and b.success)
    assert.equal("josephy-newton", a.solver)
    assert.is_true(a.backward <= 1e-10 and b.backward <= 1e-10)
  end)
end)
