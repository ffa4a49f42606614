-- EqualityConditionNSL: y = 0.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

describe("EqualityConditionNSL", function()
  it("holds velocities at 0 with impulses of any sign", function()
    local v, lambda = laws.impact(ns.EqualityConditionNSL(2), { 0, 5 }, { -2, 3 })
    assert.same({ 0, 0 }, v)
    assert.same({ 2, -3 }, lambda)
  end)

  it("is equations, all of which keep positions", function()
    local law = ns.EqualityConditionNSL(2)
    local of = internal.law_table(law)
    assert.same({ equation = true, bits = 1 }, of.needs)
    assert.equal(2, of.constrained)
    assert.equal(2, law:equalities())
    assert.same({ -math.huge, -math.huge, math.huge, math.huge }, { law:lb()[1], law:lb()[2], law:ub()[1], law:ub()[2] })
  end)
end)
