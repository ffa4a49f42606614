-- Integrals: exact polynomials, known values with kinks, poles and infinite bounds, errors told.
local ns = require "nslua"
local message = require("expect").message

describe("ns.quad", function()
  it("is exact for polynomials up to degree 31 with one interval", function()
    for n = 0, 31 do
      local value, err = ns.quad(function(x) return x ^ n end, 0, 1, { max_intervals = 1, rtol = 1e-3 })
      assert.near(1 / (n + 1), value, 4e-16)
      assert.is_true(err >= 0 and err < 1e-3)
    end
  end)

  it("knows its error", function()
    local inf = math.huge
    local known = {
      { math.sin, 0, math.pi, 2 },
      { function(x) return math.abs(x - 1 / 3) end, 0, 1, 5 / 18 },
      { function(x) return x ^ -0.5 end, 0, 1, 2 },
      { math.log, 0, 1, -1 },
      { function(x) return 1 / (1 + x * x) end, -inf, inf, math.pi },
      { function(x) return math.exp(-x) end, 0, inf, 1 },
      { math.exp, -inf, 1, math.exp(1) },
      { function(x) return math.cos(50 * x) end, 0, 1, math.sin(50) / 50 },
      { function(x) return x > 0.7 and 1 or 0 end, 0, 1, 0.3 },
      { function(x) return 1e-200 * x end, 0, 2, 2e-200 }, -- no unit matters
      { function(x) return 1e200 * x end, 0, 2e-100, 2 },
    }
    for i, k in ipairs(known) do
      local value, err = ns.quad(k[1], k[2], k[3])
      assert.is_true(math.abs(value - k[4]) <= err, tostring(i))
      assert.is_true(err <= 1.01e-10 * math.abs(k[4]), tostring(i))
      local back = ns.quad(k[1], k[3], k[2])
      assert.equal(-value, back)
    end
    assert.same({ 0.0, 0.0 }, { ns.quad(math.sin, 1, 1) })
  end)

  it("is right up to the largest numbers", function()
    assert.near(1, ns.quad(function() return 1e308 end, 0, 1) / 1e308, 1e-12)
    assert.near(3.4, (ns.quad(function() return 1e-308 end, -1.7e308, 1.7e308)), 1e-12)
    assert.near(1, ns.quad(function(x) return 1.7e308 * math.cos(x) end, 0, math.pi / 2) / 1.7e308, 1e-12)
    assert.equal("quad: the integral is too large for a number",
      message(ns.quad, function() return 1e308 end, 0, 10):match "quad: .*")
    assert.matches("quad: the integral is too large for a number",
      message(ns.quad, function(x) return 1e300 * math.exp(-1e-10 * x) end, 0, math.huge), 1, true)
  end)

  it("says what is wrong", function()
    local function says(text, ...) assert.matches(text, message(ns.quad, ...), 1, true) end
    says("quad: f: expected a function, got 1", 1, 0, 1)
    says("quad: a: expected a number, got nan", math.sin, 0 / 0, 1)
    says("quad: b: expected a number, got nil", math.sin, 0)
    says("quad: f(0.5) is nan", function() return 0 / 0 end, 0, 1)
    says("quad: f(0.5): expected a number, got 'a'", function() return "a" end, 0, 1)
    says("quad: rtol: expected 0 or more, got -1", math.sin, 0, 1, { rtol = -1 })
    says("quad: max_intervals: expected an integer of 1 or more, got 0", math.sin, 0, 1, { max_intervals = 0 })
    says("quad: unknown option 'limit' (known: rtol, atol, max_intervals)", math.sin, 0, 1, { limit = 3 })
    says("quad: options: expected a table, got number", math.sin, 0, 1, 3)
    says("with 1000 intervals; the worst one is near x =", function(x) return 1 / x end, 0, 1)
    assert.matches("no way", message(ns.quad, function() error("no way", 0) end, 0, 1), 1, true)
  end)
end)
