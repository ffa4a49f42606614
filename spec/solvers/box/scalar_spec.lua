-- One variable, where Newton's method has no success: ns.numerics.mcp then brackets.
local ns = require "nslua"
local mcp = ns.numerics.mcp
local inf = math.huge

local function steep(c, shift)
  return function(z, f) f[1] = shift + c * (z[1] < 0 and -1 or 1) * (math.sqrt(math.abs(z[1]) + 1e-12) - 1e-6) end
end

-- max |z - proj(z - f)| by Lua alone.
local function residual(F, z, lower, upper)
  local f = {}
  F({ z }, f)
  return math.abs(z - math.min(math.max(z - f[1], lower), upper))
end

describe("a problem of one variable", function()
  it("with a continuous F on a finite interval is solved #once", function()
    math.randomseed(5)
    local bracketed = 0
    for _ = 1, 300 do
      local c, shift, z0 = 10 ^ (2 * math.random() - 1), 2 * math.random() - 1, 2 * math.random() - 1
      local a, b = 3 * math.random(), 40 * math.random()
      local own = steep(c, shift)
      local function F(z, f)
        own(z, f)
        f[1] = f[1] + a * math.sin(b * z[1])
      end
      for _, solver in ipairs { "default", "semismooth" } do
        local r = mcp { F = F, z0 = { z0 }, lower = -1, upper = 0.7, solver = solver }
        assert.is_true(r.success, r.message)
        assert.is_true(r.z[1] >= -1 and r.z[1] <= 0.7)
        assert.is_true(residual(F, r.z[1], -1, 0.7) <= 1e-8)
        assert.is_true(r.backward <= 1e-10)
        if r.solver == "bracketing" then bracketed = bracketed + 1 end
      end
    end
    assert.is_true(bracketed > 0)
  end)

  it("has its root to the last digits", function()
    for _, shift in ipairs { 1e-3, -0.02, 0.3, -1e-5 } do
      local r = mcp { F = steep(2, shift), z0 = { 0.5 }, lower = -1, upper = 0.7 }
      local want = -(shift < 0 and -1 or 1) * ((math.abs(shift) / 2 + 1e-6) ^ 2 - 1e-12)
      assert.is_true(r.success)
      assert.near(want, r.z[1], 1e-9 * math.abs(want))
    end
  end)

  it("may be unbounded, on either side of the start", function()
    local bracketed = 0
    for _, sign in ipairs { 1, -1 } do
      for _, root in ipairs { 3, -70, 4e5 } do
        for _, side in ipairs { 1, -1 } do
          local own, shifted = steep(2, 0), {}
          local function F(z, f)
            shifted[1] = z[1] - root
            own(shifted, f)
            f[1] = sign * f[1] + 1e-3 * side * math.cos(z[1] - root)
          end
          local r = mcp { F = F, z0 = { root + 0.5 * side }, lower = -inf, restarts = 0 }
          assert.is_true(r.success, r.message)
          assert.near(root, r.z[1], 1e-5)
          if r.solver == "bracketing" then bracketed = bracketed + 1 end
        end
      end
    end
    assert.is_true(bracketed >= 6, bracketed)
  end)

  it("has its root where there is no derivative", function()
    local function F(z, f) f[1] = (z[1] < 0 and -1 or 1) * math.sqrt(math.abs(z[1])) end
    for _, z0 in ipairs { 0.3, -0.9, 0.05 } do
      local r = mcp { F = F, z0 = { z0 }, lower = -1, upper = 0.7, restarts = 0 }
      assert.is_true(r.success, r.message)
      assert.is_true(math.abs(r.z[1]) <= 1e-20)
    end
  end)

  it("steps back from where F has no value", function()
    local function F(z, f) f[1] = z[1] > 2 and 0 / 0 or (z[1] - 1.5 < 0 and -1 or 1) * math.abs(z[1] - 1.5) ^ 0.3 end
    local r = mcp { F = F, z0 = { 0 }, lower = 0 }
    assert.is_true(r.success)
    assert.near(1.5, r.z[1], 1e-12)
  end)

  it("has no solution where F jumps over 0, or keeps its sign without a bound", function()
    local r = mcp { F = function(z, f) f[1] = z[1] < 0.3 and -1 - z[1]^2 or 1 + z[1]^2 end, z0 = { 0 }, lower = -1, upper = 1 }
    assert.is_false(r.success)
    assert.equal("josephy-newton", r.solver)
    assert.equal("no solution was found: every attempt stopped at a point that is not a solution", r.message)
    r = mcp { F = function(z, f) f[1] = -1 - z[1]^2 end, z0 = { 1 } }
    assert.is_false(r.success)
  end)

  it("raises what F raised, and keeps the cap on iterations", function()
    local calls = 0
    local own = steep(2, 0.3)
    assert.error_matches(function()
      mcp { z0 = { 0.5 }, lower = -1, upper = 0.7, F = function(z, f)
        calls = calls + 1
        if calls > 150 then error "boom" end
        own(z, f)
        f[1] = z[1] < 0.3 and -1 - z[1]^2 or 1 + z[1]^2
      end }
    end, "boom")
    local r = mcp { F = steep(2, 0.3), z0 = { 0.5 }, lower = -1, upper = 0.7, max_iterations = 3 }
    assert.equal("iteration limit", r.status)
    assert.equal(3, r.iterations)
  end)
end)
