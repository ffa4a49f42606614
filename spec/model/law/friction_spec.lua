-- NewtonImpactFrictionNSL: Newton's law of impact with Coulomb's friction.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

describe("NewtonImpactFrictionNSL", function()
  -- Unit masses: the impulses are the changes of the velocities.
  it("sticks within the cone", function()
    local v, lambda = laws.impact(ns.NewtonImpactFrictionNSL(0.5, 0, 0.5, 2), { 0, 0 }, { -2, 1 })
    assert.same({ 1, 0 }, v)
    assert.same({ 3, -1 }, lambda)
  end)

  it("slides at its border, against the velocity, with et turned round first", function()
    local v, lambda, simu = laws.impact(ns.NewtonImpactFrictionNSL(0.5, 0, 0.5, 2), { 0, 0 }, { -2, 4 })
    assert.same({ 1, 2.5 }, v)
    assert.same({ 3, -1.5 }, lambda)
    assert.equal(-1.5 * 3.25, simu:energy().friction)
    assert.equal(-1.5, simu:energy().impacts)
    v = laws.impact(ns.NewtonImpactFrictionNSL(0, 0.5, 1, 2), { 0, 0 }, { -3, 1 })
    assert.same({ 0, -0.5 }, v)
  end)

  it("in space slides along the velocity", function()
    local v, lambda = laws.impact(ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), { 0, 0, 0 }, { -2, 3, 4 })
    local expected = { { 0, 2.4, 3.2 }, { 2, -0.6, -0.8 } }
    for i = 1, 3 do
      assert.is_true(math.abs(v[i] - expected[1][i]) < 1e-12)
      assert.is_true(math.abs(lambda[i] - expected[2][i]) < 1e-12)
    end
  end)

  it("is one group, whose normal keeps the position", function()
    for dim = 2, 3 do
      local of = internal.law_table(ns.NewtonImpactFrictionNSL(0.5, 0.25, 0.3, dim))
      assert.same(dim == 2 and { cone_2d = true, bits = 64 } or { cone_3d = true, bits = 128 }, of.needs)
      assert.same({ { dim = dim, lower = 0, upper = 0, mu = 0.3 } }, of.groups)
      assert.same({ 0.5, 0.25, dim == 3 and 0.25 or nil }, of.restitution)
      assert.equal(1, of.constrained)
    end
  end)
end)
