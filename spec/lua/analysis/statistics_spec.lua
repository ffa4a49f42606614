-- Spread, quantiles and order of samples.
local near = require("expect").near_number
local ns = require "nslua"
local message = require("expect").message

describe("statistics of a sample #once", function()
  it("std and var: the root of the mean square from the mean, whatever is added", function()
    local v = ns.rng(3):normal(1000)
    local mean, squares = v:mean(), 0
    for i = 1, #v do squares = squares + (v[i] - mean) ^ 2 end
    near(squares / 1000, ns.var(v), 1e-14)
    near(squares / 999, ns.var(v, 1), 1e-14)
    near(math.sqrt(squares / 1000), ns.std(v), 1e-14)
    near(1, ns.std(v, 1), 0.1)
    near(ns.std(v), ns.std(v + 1e6), 1e-9)
    assert.equal(4 * ns.std(v), ns.std(4 * v))
    assert.equal(0.0, ns.std { 7 })
    assert.equal(0.0, ns.var { 0, 0 })
    for _, exponent in ipairs { -1000, -600, 600, 1000 } do
      local unit = 2.0 ^ exponent
      assert.equal(unit * ns.std { 1, 2, 4.1 }, ns.std { unit, 2 * unit, 4.1 * unit })
    end
    near(2 ^ 0.5 / 1.5 * 1e308, ns.std { 1e308, 1e308, -1e308 }, 1e294)
  end)

  it("quantile and median: between the sorted numbers", function()
    assert.equal(ns.vector { 1, 1.4, 3, 4.6, 5 }, ns.quantile({ 5, 3, 1, 4, 2 }, { 0, 0.1, 0.5, 0.9, 1 }))
    assert.equal(2.5, ns.median { 1, 4, 2, 3 })
    assert.equal(2.5, ns.quantile({ 1, 4, 2, 3 }, 0.5))
    assert.equal(7.0, ns.quantile({ 7 }, 0.3))
    assert.equal(ns.vector { -1.5e308, 0, 1.5e308 }, ns.quantile({ -1.5e308, 1.5e308 }, { 0, 0.5, 1 }))
  end)

  it("argsort: the places in the order of v:sort(), equal numbers in their own", function()
    assert.same({ 2, 3, 1 }, ns.argsort { 3, 1, 2 })
    assert.same({ 3, 1, 2, 4 }, ns.argsort { 1, 1, 0, 1 })
    local v = ns.rng(5):uniform(200)
    local sorted = v:sort()
    for i, place in ipairs(ns.argsort(v)) do assert.equal(sorted[i], v[place]) end
    assert.same({}, ns.argsort {})
  end)

  it("say what is wrong", function()
    local function says(text, f, ...) assert.matches(text, message(f, ...), 1, true) end
    says("std: v is empty", ns.std, {})
    says("median: v is empty", ns.median, {})
    says("var: ddof: expected less than the 1 numbers, got 1", ns.var, { 3 }, 1)
    says("std: ddof: expected an integer of 0 or more, got -1", ns.std, { 3 }, -1)
    says("quantile: q: expected a number from 0 to 1, got 2", ns.quantile, { 1 }, 2)
    says("quantile: q[2]: expected a number from 0 to 1, got -1", ns.quantile, { 1 }, { 0, -1 })
    says("quantile: q: expected a vector, got nil", ns.quantile, { 1 })
    says("argsort: v[1] is nan", ns.argsort, { 0 / 0 })
  end)
end)
