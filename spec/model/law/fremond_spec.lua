-- FremondImpactFrictionNSL: Newton's law of impact for the normal, Coulomb's friction of the mean velocity.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"
local message = require "bind.models".message

-- A system with the inverse mass matrix Minv and the law in its first components, after one step from velocities v.
local function after(law, Minv, v, theta)
  local n = #v
  local ds = ns.LagrangianLinearTIDS(ns.zeros(n), v, ns.matrix(Minv):solve(ns.eye(n)))
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  for i = 1, #law do
    local dim, C = law[i]:size(), {}
    for k = 1, dim do
      C[k] = {}
      for j = 1, n do C[k][j] = j == (i - 1) * dim + k and 1 or 0 end
    end
    nsds:link(ns.Interaction(law[i], ns.LagrangianLinearTIR(C)), ds)
  end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(theta or 0.5))
  local before = simu:energy()
  simu:computeOneStep()
  return ds:velocity():totable(), simu:energy(), before
end

describe("FremondImpactFrictionNSL", function()
  -- Unit masses: the impulses are the changes of the velocities.
  it("sticks with a mean velocity of 0", function()
    local v, lambda, simu = laws.impact(ns.FremondImpactFrictionNSL(0.5, 0, 1, 2), { 0, 0 }, { -2, 1 })
    assert.same({ 1, -1 }, v)
    assert.same({ 3, -2 }, lambda)
    assert.equal(0, simu:energy().friction)
    v = laws.impact(ns.FremondImpactFrictionNSL(0, 0, 5, 3), { 0, 0, 0 }, { -2, 3, -4 })
    assert.same({ 0, -3, 4 }, v)
  end)

  it("slides against the mean velocity, with the work -mu P_N |mean|", function()
    local v, lambda, simu = laws.impact(ns.FremondImpactFrictionNSL(0.5, 0, 0.5, 2), { 0, 0 }, { -2, 4 })
    assert.same({ 1, 2.5 }, v)
    assert.same({ 3, -1.5 }, lambda)
    assert.equal(-0.5 * 3 * (4 + 2.5) / 2, simu:energy().friction)
    v, lambda, simu = laws.impact(ns.FremondImpactFrictionNSL(0, 0, 0.5, 3), { 0, 0, 0 }, { -2, 3, 4 })
    local expected = { { 0, 2.4, 3.2 }, { 2, -0.6, -0.8 } } -- along (0.6, 0.8), by mu P_N = 1
    for i = 1, 3 do
      assert.is_true(math.abs(v[i] - expected[1][i]) < 1e-12)
      assert.is_true(math.abs(lambda[i] - expected[2][i]) < 1e-12)
    end
    assert.is_true(math.abs(simu:energy().friction + 1 * (5 + 4) / 2) < 1e-12)
  end)

  it("takes the mean with the weight of the scheme, at least 1/2", function()
    for theta, kept in pairs { [0.5] = 1, [0.8] = 0.25, [1] = 0, [0.3] = 1 } do
      local v = laws.impact(ns.FremondImpactFrictionNSL(0.5, 0, 1, 2), { 0, 0 }, { -2, 1 }, ns.MoreauJeanOSI(theta))
      assert.is_true(math.abs(v[1] - 1) < 1e-15)
      assert.is_true(math.abs(v[2] + kept) < 1e-15)
      local e = internal.law_table(ns.FremondImpactFrictionNSL(0.5, 0, 1, 3), theta).restitution
      assert.is_true(e[1] == 0.5 and e[2] == e[3] and math.abs(e[2] - kept) < 1e-15)
    end
  end)

  -- Inertia couples the normal with the tangent: friction that looks at the velocity after the impact alone makes energy.
  it("makes no energy where Newton's law with et = 0 does", function()
    local Minv, v = { { 2, 1 }, { 1, 2 } }, { -1, -0.5 }
    local function change(law)
      local _, energy, before = after({ law }, Minv, v)
      return energy.total / before.total - 1
    end
    assert.is_true(math.abs(change(ns.NewtonImpactFrictionNSL(1, 0, 1, 2)) - 1 / 3) < 1e-12)
    assert.is_true(math.abs(change(ns.FremondImpactFrictionNSL(1, 0, 1, 2))) < 1e-12)
  end)

  it("dissipates in every contact of random systems", function()
    math.randomseed(4)
    local random = require "random_numbers".uniform
    local slid, kept = 0, 0
    for trial = 1, 200 do
      local dim = trial % 2 + 2
      local count = math.random(2)
      local n = dim * count
      local B, Minv, v = {}, {}, {}
      for i = 1, n do
        B[i], v[i] = {}, (i - 1) % dim == 0 and -random(0.5, 2) or random(-2, 2)
        for j = 1, n do B[i][j] = random(-1, 1) end
      end
      for i = 1, n do
        Minv[i] = {}
        for j = 1, n do
          local sum = i == j and 0.5 or 0
          for k = 1, n do sum = sum + B[i][k] * B[j][k] end
          Minv[i][j] = sum
        end
      end
      local e, law = random(0, 1), {}
      for i = 1, count do law[i] = ns.FremondImpactFrictionNSL(e, 0, random(0, 1.5), dim) end
      local _, energy, before = after(law, Minv, v, ({ 0.5, 0.5, 0.8, 1 })[trial % 4 + 1])
      local scale = before.total
      if trial % 4 < 2 then -- theta is 1/2
        assert.is_true(energy.friction <= 1e-9 * scale)
      end
      assert.is_true(energy.total <= scale * (1 + 1e-9))
      assert.is_true(math.abs(energy.total - before.total - energy.friction - energy.impacts - energy.numerical) < 1e-9 * scale)
      if energy.friction < -1e-6 * scale then slid = slid + 1 else kept = kept + 1 end
    end
    assert.is_true(slid > 50 and kept > 20)
  end)

  it("slows a sliding block down as Coulomb says", function()
    local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 3 }, ns.eye(2))
    ds:setFExtPtr { -10, 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.FremondImpactFrictionNSL(0, 0, 0.5, 2), ns.LagrangianLinearTIR(ns.eye(2))), ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.75))
    for step in simu:steps() do
      local expected = math.max(0, 3 - 5 * simu:nextTime())
      assert.is_true(math.abs(ds:velocity()[2] - expected) < 1e-2, step)
    end
    assert.is_true(math.abs(ds:velocity()[2]) < 1e-9)
    assert.is_true(math.abs(ds:q()[2] - 0.9) < 1e-2)
  end)

  it("is one group, takes an et of 0 alone, and tells what it is", function()
    local law = ns.FremondImpactFrictionNSL(0.5, 0, 0.3, 3)
    local of = internal.law_table(law)
    assert.same({ cone_3d = true, mean = true, bits = 384 }, of.needs)
    assert.same({ { dim = 3, lower = 0, upper = 0, mu = 0.3 } }, of.groups)
    assert.equal(1, of.constrained)
    assert.equal("FremondImpactFrictionNSL of size 3, en = 0.5, mu = 0.3", tostring(law))
    assert.equal("FremondImpactFrictionNSL: et: expected 0, got 0.5", message(ns.FremondImpactFrictionNSL, 0.5, 0.5, 0.3, 2))
    assert.equal("FremondImpactFrictionNSL: dim: expected 2 or 3, got 1", message(ns.FremondImpactFrictionNSL, 0.5, 0, 0.3, 1))
  end)
end)
