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

  describe("with a mu that is a function of time", function()
    local function falls(t) return 0.6 - 0.4 * t end

    -- A block that slides on the ground with v0, under a normal force of 1.
    local function slides(law, v0, options, parts)
      local nsds, block = ns.NonSmoothDynamicalSystem(0, 1), ns.LagrangianLinearTIDS({ 0, 0 }, { 0, v0 }, ns.eye(2))
      block:setFExtPtr { -1, 0 }
      nsds:insertDynamicalSystem(block)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(ns.eye(2)), "ground"), block)
      local grid = ns.TimeDiscretisation(0, 1 / (parts or 16))
      return ns.TimeStepping(nsds, grid, ns.MoreauJeanOSI(0.5), ns.FrictionContact(2), options), block
    end

    it("shows the last value, and keeps its function", function()
      for _, name in ipairs { "NewtonImpactFrictionNSL", "FremondImpactFrictionNSL" } do
        local law = ns[name](0.5, 0, falls, 2)
        slides(law, 3):run()
        assert.near(0.2, law:mu(), 1e-15)
        assert.matches("en = 0.5, .*mu is a function of time", tostring(law))
        assert.error_matches(function() law:setMu(1) end, name .. ": mu is a function of time, and stays one")
        assert.error_matches(function() ns[name](0, 0, 1, 2):setMu(falls) end,
          name .. ": mu: functions of time are given when the law is made")
      end
      assert.error_matches(function() ns.NewtonImpactFrictionNSL(0, 0, { falls }, 2) end,
        "mu: expected a finite number, got a list of 1")
    end)

    it("brakes with it in adaptive steps and in a clone, and again after reset", function()
      local simu, block = slides(ns.NewtonImpactFrictionNSL(0, 0, falls, 2), 3, { rtol = 1e-4 }, 2)
      simu:computeOneStep()
      simu:nextStep()
      local copy = simu:clone()
      simu:run()
      copy:run()
      assert.near(2.6, block:velocity()[2], 1e-2)
      assert.equal(block:velocity(), copy:nsds():dynamicalSystem(1):velocity())
      local v = block:velocity()[2]
      simu:reset()
      simu:run()
      assert.equal(v, block:velocity()[2])
    end)

    it("has derivatives by the start, forward and back, and none by mu", function()
      local law = ns.NewtonImpactFrictionNSL(0, 0, falls, 2)
      local simu, block = slides(law, 3)
      local parameters = { { block, "velocity0", 2 }, { block, "mass", 2, 2 } }
      local sol = simu:run { sensitivities = parameters }
      assert.near(1, sol.S[#sol][4][1], 1e-12)
      assert.near(3 - block:velocity()[2], sol.S[#sol][4][2], 1e-12)
      simu:reset()
      local _, gradient = simu:gradient { parameters = parameters, terminal = function(x) return x[4] end }
      assert.near(sol.S[#sol][4][2], gradient[2], 1e-12)
      simu:reset()
      assert.error_matches(function() simu:run { sensitivities = { { law, "mu" } } } end,
        "mu of 'ground' is a function of time; a parameter is a number")
    end)

    it("is refused with its place where it can not be taken", function()
      local function raises(text, mu)
        local law = ns.NewtonImpactFrictionNSL(0, 0, mu, 2)
        assert.error_matches(function() slides(law, 1):run() end, text)
      end
      raises("interaction 'ground' mu: t=0.0625: expected a finite number, 0.0 or more, got %-1",
        function(t) return t > 0 and -1 or 1 end)
      raises("interaction 'ground' mu: t=0: expected a finite number, 0.0 or more, got %-?nan", function() return 0 / 0 end)
      raises("interaction 'ground' mu: t=0: expected a number, got string", function() return "a" end)
      raises("interaction 'ground' mu: t=0: broken", function() error "broken" end)
    end)
  end)
end)
