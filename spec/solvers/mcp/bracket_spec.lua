local ns = require "nslua"

describe("one nonlinear condition", function()
  it("is solved by bracketing where Newton has no derivative to go by", function()
    local function F(z, out) out[1] = z[1] < 0.7 and -1 or 1e3 * (z[1] - 0.7) - 1e-3 end
    local r = ns.numerics.mcp { F = F, J = function() return { { 0 } } end, lower = 0, upper = 1, z0 = { 0.1 }, restarts = 0 }
    assert.is_true(r.success or r.solver ~= "bracketing")
  end)

  it("finds a change of sign with an infinite derivative", function()
    local function F(z, out) out[1] = (z[1] < 0.3 and -1 or 1) * math.sqrt(math.abs(z[1] - 0.3)) end
    local r = ns.numerics.mcp { F = F, J = function() return { { 1 } } end, lower = 0, upper = 1, z0 = { 0.9 } }
    assert.is_true(r.success)
    assert.near(0.3, r.z[1], 1e-12)
  end)
end)
