local ns = require "nslua"
local numbers = require "random_numbers"
local COUNT, report = require "campaign"(8, 0.02)

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

  it("does not take an iterate that runs away for an answer", function()
    math.randomseed(4)
    local decays = {
      function(y) return math.exp(-y) end, function(y) return 1 / (1 + y) end, function(y) return (2 + y) ^ -3 end,
      function(y) return 1 / (1 + math.exp(y)) end,
    }
    for _ = 1, COUNT do
      local decay, of_F, of_z = decays[math.random(#decays)], numbers.power(), numbers.power()
      local function F(sign) return function(z) return { sign * of_F * decay(z[1] / of_z) } end end
      local r = ns.numerics.mcp { F = F(1), z0 = { of_z }, upper = 1e9 * of_z }
      assert.is_true(r.success)
      assert.equal(0, r.z[1])
      assert.is_false(ns.numerics.mcp({ F = F(-1), z0 = { of_z } }).success)
      assert.is_false(ns.numerics.mcp({ F = F(1), z0 = { of_z }, lower = -math.huge, upper = math.huge, restarts = 1 }).success)
      r = ns.numerics.mcp { F = function(z) return { of_F * decay(z[1] / of_z), z[2] - of_z } end, z0 = { of_z, of_z } }
      if r.success then assert.same({ 0, of_z }, r.z:totable()) end
    end
    report("complementarity problems whose F vanishes at infinity", 4 * COUNT)
  end)

  it("does not take a point far out for an answer", function()
    local r = ns.numerics.mcp { F = function(z, out) out[1], out[2] = z[1] - z[2] - 1, z[2] - z[1] - 1 end, z0 = { 0, 0 } }
    assert.is_false(r.success)
  end)

  it("judges violations by their own rows where entries that are rounding spoil the scales", function()
    local function scaled(z) return { z[1] * 2.0 ^ -2, z[2] * 2.0 ^ -60, z[3] * 2.0 ^ -39 } end
    local function F(z)
      local y = scaled(z)
      local a, b = 4 + 2.24e-44 * y[1] + 2 * y[2], 2 - 2 * y[1] + 2 * y[3] + 2 * (1 / (y[1] + 1) - 1)
      local c = -4 - 2.52e-29 * y[1] - 2 * y[2] - 1.04e-53 * y[3] - (1 / (y[2] + 3) - 1)
      return { a * 2.0 ^ -9, b * 2.0 ^ -13, c * 2.0 ^ -33 }
    end
    local lower, upper = { 0, -2 * 2.0 ^ 60, -1.5 * 2.0 ^ 39 }, { 1.5 * 2.0 ^ 2, 2.0 ^ 60, 2.0 ^ 39 }
    for _, solver in ipairs { "default", "semismooth" } do
      local r = ns.numerics.mcp { F = F, lower = lower, upper = upper, solver = solver }
      local w = F(r.z)[2] * 2.0 ^ 13
      assert.is_true(not r.success or math.abs(w) < 1e-6 or w > 0 and r.z[2] == lower[2] or w < 0 and r.z[2] == upper[2])
    end
  end)
end)
