-- Histograms and different values.
local ns = require "nslua"
local message = require("expect").message

describe("ns.histogram", function()
  it("counts each number once; the last interval has both ends", function()
    local counts, edges = ns.histogram({ 1, 2, 2, 3, 9 }, 4)
    assert.equal(ns.vector { 3, 1, 0, 1 }, counts)
    assert.equal(ns.vector { 1, 3, 5, 7, 9 }, edges)
    assert.equal(ns.vector { 1, 3 }, (ns.histogram({ 0, 1, 2, 3, 4, -1 }, { 0, 1, 3 })))
    local v = ns.rng(1):normal(5000)
    counts, edges = ns.histogram(v)
    assert.same({ 10, 11, 5000 }, { #counts, #edges, counts:sum() })
    assert.equal(ns.vector { 2 }, (ns.histogram({ 5, 5 }, 1)))
    assert.equal(ns.vector { 0 }, (ns.histogram({}, { 0, 1 })))
  end)

  it("unique: the different numbers, and how often", function()
    local values, counts = ns.unique { 3, 1, 3, -2 }
    assert.equal(ns.vector { -2, 1, 3 }, values)
    assert.equal(ns.vector { 1, 1, 2 }, counts)
    assert.equal(0, #ns.unique {})
  end)

  it("say what is wrong", function()
    local function says(text, f, ...) assert.matches(text, message(f, ...), 1, true) end
    says("histogram: edges must increase: edges[1] = 1, edges[2] = 1", ns.histogram, { 1 }, { 1, 1 })
    says("histogram: edges: expected at least 2 numbers, got 1", ns.histogram, { 1 }, { 1 })
    says("histogram: bins: expected an integer of 1 or more, got 0", ns.histogram, { 1 }, 0)
    says("histogram: v is empty: give the edges of the intervals", ns.histogram, {}, 3)
    says("histogram: v[2] is infinite", ns.histogram, { 1, math.huge })
    says("unique: v: expected a vector, got nil", ns.unique)
  end)
end)
