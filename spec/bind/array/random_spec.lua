-- Random numbers: known answers of the generator, properties of the distributions, state, messages.
local ns = require "nslua"
local message = require("bind.models").message

describe("ns.rng", function()
  it("gives the words of Philox4x32-10: known answers of its authors for counter 0 and key 0", function()
    -- 6627e8d5 e169c58d bc57ac4c 9b00dbd8: two words of 64 bits, of which a uniform number keeps the first 53.
    local rng = ns.rng(0)
    assert.equal((0xe169c58d6627e8d5 >> 11) * 2.0 ^ -53, rng:uniform())
    assert.equal((0x9b00dbd8bc57ac4c >> 11) * 2.0 ^ -53, rng:uniform())
    assert.equal(0x6627e8d5 | 0xe169c58d << 32, ns.rng(0):integers(math.mininteger, math.maxinteger) ~ math.mininteger)
  end)

  it("depends on seed, stream and place alone", function()
    local all = ns.rng(5, 2):uniform(20)
    local rng, parts = ns.rng(5, 2), {}
    for _ = 1, 4 do
      ns.rng(5, 2):normal(3)
      parts[#parts + 1] = rng:uniform(5)
    end
    assert.equal(all, ns.concatenate(parts))
    for _, other in ipairs { ns.rng(5), ns.rng(5, 3), ns.rng(6, 2), ns.rng(-5, 2) } do
      local same = 0
      for i = 1, 20 do same = same + (other:uniform() == all[i] and 1 or 0) end
      assert.equal(0, same)
    end
  end)

  -- The n-th moments about the mean of a sample, against those of the distribution within 5 standard errors.
  local function moments_are(v, mean, variance, fourth)
    local n = #v
    local d = v - mean
    local squares = d:mul(d)
    assert.near(0, d:mean(), 5 * math.sqrt(variance / n))
    assert.near(variance, squares:mean(), 5 * math.sqrt((fourth - variance ^ 2) / n))
  end

  it("has the mean and the variance of each distribution", function()
    local rng = ns.rng(7)
    moments_are(rng:uniform(100000), 0.5, 1 / 12, 1 / 80)
    moments_are(rng:uniform(-3, 1, 100000), -1, 16 / 12, 256 / 80)
    moments_are(rng:normal(100000), 0, 1, 3)
    moments_are(rng:normal(10, 2, 100000), 10, 4, 48)
    moments_are(rng:integers(1, 6, 100000), 3.5, 35 / 12, 1 / 6 * 2 * (2.5 ^ 4 + 1.5 ^ 4 + 0.5 ^ 4))
  end)

  it("is uniform: Kolmogorov's distance of numbers, and of normal numbers through their distribution", function()
    local function distance(v, F)
      local sorted, worst = v:sort(), 0
      for i = 1, #v do worst = math.max(worst, math.abs(F(sorted[i]) - (i - 0.5) / #v)) end
      return worst * math.sqrt(#v)
    end
    local rng = ns.rng(8)
    assert.is_true(distance(rng:uniform(20000), function(x) return x end) < 1.95) -- 1 of 1000 is larger
    local x = rng:normal(20000)
    local half = 0
    for i = 1, #x do half = half + (math.abs(x[i]) < 0.674489750196082 and 1 or 0) end
    assert.near(0.5, half / #x, 5 * 0.5 / math.sqrt(#x))
  end)

  it("keeps integers within their bounds and reaches both", function()
    local rng = ns.rng(9)
    local seen = {}
    for _ = 1, 1000 do seen[rng:integers(-1, 1)] = true end
    assert.same({ [-1] = true, [0] = true, [1] = true }, seen)
    assert.equal(4, rng:integers(4, 4))
    assert.equal("integer", math.type(rng:integers(1, 2)))
    local wide = rng:integers(math.mininteger, math.maxinteger)
    assert.equal("integer", math.type(wide))
  end)

  it("permutes: all numbers once, each order as likely", function()
    local rng, count = ns.rng(10), {}
    assert.equal(ns.linspace(1, 50, 50), rng:permutation(50):sort())
    for _ = 1, 6000 do
      local key = tostring(rng:permutation(3))
      count[key] = (count[key] or 0) + 1
    end
    local kinds = 0
    for _, n in pairs(count) do
      kinds = kinds + 1
      assert.near(1000, n, 5 * math.sqrt(1000))
    end
    assert.equal(6, kinds)
  end)

  it("goes on from its state", function()
    local rng = ns.rng(11, 3)
    rng:normal(7)
    local state = rng:state()
    assert.equal("philox4x32-10 11 3 7", state)
    local next_ones = rng:uniform(4)
    local other = ns.rng(0)
    other:setState(state)
    assert.equal(next_ones, other:uniform(4))
    assert.equal("rng of seed 11, stream 3: 11 numbers drawn", tostring(other))
  end)

  it("says what is wrong", function()
    local rng = ns.rng(1)
    assert.equal("rng: seed: expected an integer, got no value", message(ns.rng))
    assert.equal("rng: seed: expected an integer, got number 0.5", message(ns.rng, 0.5))
    assert.equal("rng: stream: expected an integer, got string", message(ns.rng, 1, "a"))
    assert.equal("rng: expected at most 2 arguments, got 3", message(ns.rng, 1, 2, 3))
    assert.equal("uniform: n: expected 0 or more, got -1", message(rng.uniform, rng, -1))
    assert.equal("normal: deviation: expected a finite number, got number inf", message(rng.normal, rng, 0, math.huge))
    assert.equal("integers: a = 6 is above b = 1", message(rng.integers, rng, 6, 1))
    assert.equal("integers: a vector holds integers up to 2^53, got 0 and 9007199254740993",
      message(rng.integers, rng, 0, 2 ^ 53 // 1 | 1, 2))
    assert.equal("permutation: n: expected 0 or more, got -2", message(rng.permutation, rng, -2))
    assert.equal("setState: state: expected a text of rng:state(), got string", message(rng.setState, rng, "philox4x32-10 1 2"))
    assert.equal("philox4x32-10 1 0 0", rng:state())
  end)
end)

describe("normal_quantile", function()
  it("is the inverse of the normal distribution function", function()
    assert.equal(0, ns.normal_quantile(0.5))
    assert.is_true(math.abs(ns.normal_quantile(0.975) - 1.959963984540054) < 1e-14)
    assert.is_true(math.abs(ns.normal_quantile(1e-20) + 9.262340089798408) < 1e-13)
    assert.equal("normal_quantile: u: expected a number between 0 and 1, got number 1.0", message(ns.normal_quantile, 1))
  end)
end)
