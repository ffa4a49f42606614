-- RelayNSL: lambda in [lb, ub], at lb where y > 0, at ub where y < 0.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

describe("RelayNSL", function()
  it("between velocities is dry friction with a bounded impulse", function()
    local v, lambda = laws.impact(ns.RelayNSL(3, -1, 1), { 0, 0, 0 }, { 3, -0.5, -2 })
    assert.same({ 2, 0, -1 }, v)
    assert.same({ -1, 0.5, 1 }, lambda)
  end)

  it("is rows with two bounds that keep no position", function()
    local of = internal.law_table(ns.RelayNSL(2, { -1, -2 }, 3))
    assert.same({ box = true, bits = 8 }, of.needs)
    assert.equal(0, of.constrained)
    assert.same({ { dim = 1, lower = -1, upper = 3, mu = 0 }, { dim = 1, lower = -2, upper = 3, mu = 0 } }, of.groups)
  end)

  it("takes bounds that are left out from -1 and 1", function()
    local function bounds(...)
      local law = ns.RelayNSL(...)
      return { law:lb()[1], law:ub()[1] }
    end
    assert.same({ -1, 1 }, bounds(1))
    assert.same({ 0, 1 }, bounds(1, 0))
    assert.same({ 0, 5 }, bounds(1, 0, 5))
    assert.equal("RelayNSL of size 1 on [-1.5, 5.0]", tostring(ns.RelayNSL(1, -1.5, 5)))
    assert.equal("RelayNSL of size 2", tostring(ns.RelayNSL(2)))
  end)
end)
