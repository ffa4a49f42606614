-- NewtonImpactNSL: 0 <= u + e u_k, lambda, one of them 0.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

describe("NewtonImpactNSL", function()
  it("turns velocities round by e, each contact on its own", function()
    local v, lambda, simu = laws.impact(ns.NewtonImpactNSL(3, 0.5), { 0, 0, 1 }, { -2, 3, -4 })
    assert.same({ 1, 3, -4 }, v)
    assert.same({ 3, 0, 0 }, lambda)
    assert.equal(-1.5, simu:energy().impacts) -- (1 - e^2) / 2 v^2
  end)

  it("takes a size before e, 1 when left out", function()
    assert.same({ 1, 0.25, 2, 0.5 }, (function(a, b) return { a:size(), a:e(), b:size(), b:en() } end)(
      ns.NewtonImpactNSL(0.25), ns.NewtonImpactNSL(2, 0.5)))
  end)

  it("is unilateral rows with restitution, the same for every weight of the scheme", function()
    local law = ns.NewtonImpactNSL(2, 0.5)
    assert.same({ impact = true, bits = 4 }, internal.law_table(law).needs)
    assert.same({ 0.5, 0.5 }, internal.law_table(law, 0.7).restitution)
    assert.equal(2, internal.law_table(law).constrained)
  end)
end)
