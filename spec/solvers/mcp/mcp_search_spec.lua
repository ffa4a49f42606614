local ns = require "nslua"

describe("the search for a complementary point", function()
  it("goes on from perturbed points, the same ones each time", function()
    local function F(z, out) out[1] = math.sin(3 * z[1]) + 0.3 * z[1] - 1.2 end
    local a = ns.numerics.mcp { F = F, lower = -5, upper = 5, z0 = { 4 } }
    local b = ns.numerics.mcp { F = F, lower = -5, upper = 5, z0 = { 4 } }
    assert.same(a.z:totable(), b.z:totable())
    assert.equal(a.restarts, b.restarts)
  end)

  it("ends at the cap on iterations", function()
    local function F(z, out) for i = 1, 3 do out[i] = math.cos(10 * z[i]) + 2 end end
    local r = ns.numerics.mcp { F = F, lower = -math.huge, z0 = { 1, 2, 3 }, max_iterations = 3 }
    assert.is_false(r.success)
    assert.is_true(r.iterations <= 3)
  end)

  it("does not take a point far out for an answer", function()
    local r = ns.numerics.mcp { F = function(z, out) out[1], out[2] = z[1] - z[2] - 1, z[2] - z[1] - 1 end, z0 = { 0, 0 } }
    assert.is_false(r.success)
  end)
end)
