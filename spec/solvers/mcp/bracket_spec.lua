local ns = require "nslua"

-- An odd function whose slope at 0 is 1e6: Newton overshoots.
local function steep(x)
  return (x < 0 and -2 or 2) * (math.sqrt(math.abs(x) + 1e-12) - 1e-6)
end

describe("one nonlinear condition", function()
  it("is solved by bracketing where Newton finds no way", function()
    local bracketed = 0
    for _, root in ipairs { 3, -70, 4e5 } do
      for _, side in ipairs { 1, -1 } do
        local function F(z, out) out[1] = -steep(z[1] - root) + 1e-3 * side * math.cos(z[1] - root) end
        local r = ns.numerics.mcp { F = F, z0 = { root + 0.5 * side }, lower = -math.huge, restarts = 0 }
        assert.is_true(r.success, r.message)
        assert.near(root, r.z[1], 1e-5)
        if r.solver == "bracketing" then bracketed = bracketed + 1 end
      end
    end
    assert.is_true(bracketed > 0)
  end)
end)
