-- ComplementarityConditionNSL: 0 <= y, lambda, one of them 0.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

describe("ComplementarityConditionNSL", function()
  it("stops what comes, lets go what leaves, without restitution", function()
    local v, lambda = laws.impact(ns.ComplementarityConditionNSL(3), { 0, 0, 1 }, { -2, 3, -4 })
    assert.same({ 0, 3, -4 }, v)
    assert.same({ 2, 0, 0 }, lambda)
  end)

  it("is unilateral rows, which keep positions", function()
    local of = internal.law_table(ns.ComplementarityConditionNSL(2))
    assert.same({ unilateral = true, bits = 2 }, of.needs)
    assert.equal(2, of.constrained)
    assert.same({ 0, 0 }, of.restitution)
    assert.same({ { dim = 1, lower = 0, upper = math.huge, mu = 0 }, { dim = 1, lower = 0, upper = math.huge, mu = 0 } },
      of.groups)
  end)
end)
