-- The loops of the two projections: when they end, and what they say when they do not.
local ns = require "nslua"
local message = require("bind.models").message
local simulate = require "moving".with_projection

local direct, combined = ns.TimeSteppingDirectProjection, ns.TimeSteppingCombinedProjection

local function equation(h) return ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR { h = h }) end

describe("a simulation that projects", function()
  -- A track, and what contradicts it from the second step on.
  local function contradicted(make, law)
    local near = 0
    local ds = ns.LagrangianDS({ 0, 0 }, { 1, 0 }, ns.eye(2))
    local track = equation(function(q, _, y) y[1] = q[2] end)
    local other = ns.Interaction(law, ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = q[2] - near end })
    local simu = simulate(make, { systems = { ds }, links = { { track, ds }, { other, ds } }, h = 0.1, T = 1, tolerance = 1e-9 })
    simu:computeOneStep()
    simu:nextStep()
    near = 1
    return simu, ds, function() near = 0 end
  end

  it("says when equations can not be kept; the state is that before, and it goes on", function()
    for _, make in ipairs { direct, combined } do
      local simu, ds, mend = contradicted(make, ns.EqualityConditionNSL(1))
      local text = message(simu.computeOneStep, simu)
      assert.matches("^TimeStepping%a+Projection: the problem of the projection has no solution: .+; "
        .. "'interaction 2' is violated most %(t=0.2 step 2 newton 1%)$", text)
      assert.near(0.1, ds:q()[1], 1e-15)
      mend()
      simu:computeOneStep()
      assert.near(0.2, ds:q()[1], 1e-12)
      assert.equal(0, simu:stats().unsettled_steps)
    end
  end)

  it("leaves a contact violated that an equation contradicts, and counts it", function()
    for _, make in ipairs { direct, combined } do
      local simu, ds, mend = contradicted(make, ns.NewtonImpactNSL(0))
      simu:computeOneStep()
      simu:nextStep()
      assert.near(0.2, ds:q()[1], 1e-12)
      assert.near(0, ds:q()[2], 1e-9)
      assert.equal(1, simu:stats().unsettled_steps)
      assert.near(1, simu:stats().unsettled, 1e-9)
      mend()
      simu:computeOneStep()
      assert.near(0.3, ds:q()[1], 1e-12)
      assert.equal(1, simu:stats().unsettled_steps)
    end
  end)

  -- Two stops leave no room: the least squares of the gaps are in the middle between them.
  it("goes on where contacts are wedged, and undoes their overlaps as far as possible", function()
    for _, make in ipairs { direct, combined } do
      local ds = ns.LagrangianLinearTIDS({ 0.3 }, { 0 }, { { 2 } })
      local function stop(sign)
        return ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { sign } }, { -0.5 }))
      end
      local simu = simulate(make, { systems = { ds }, links = { { stop(1), ds }, { stop(-1), ds } }, h = 0.1, T = 0.3,
        tolerance = 1e-8 })
      simu:run()
      assert.near(0, ds:q()[1], 1e-6)
      assert.equal(3, simu:stats().unsettled_steps)
      assert.near(0.5, simu:stats().unsettled, 1e-6)
    end
  end)

  it("says when it does not converge in the iterations that it may take", function()
    local function start(x, tolerance, iterations)
      local ds = ns.LagrangianDS({ x, 0 }, { 0, 3 }, { { 1, 0 }, { 0, 4 } })
      local rod = equation(function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end)
      local simu = simulate(combined, { systems = { ds }, links = { { rod, ds } }, h = 0.1, T = 1 })
      simu:setConstraintTolerance(tolerance, iterations)
      return simu, ds
    end
    local simu, ds = start(1.2, 1e-13, 2)
    assert.truthy(message(simu.computeOneStep, simu)
      :find("^TimeSteppingCombinedProjection: the projection did not converge in 2 iterations: "
      .. "violation [%d.e-]+ of 'interaction 1', tolerance 1e%-13 %(t=0.1 step 1 newton %d+%)$"))
    assert.same({ 1.2, 0 }, ds:q():totable())
    simu, ds = start(1.001, 1e-5, 1)
    assert.truthy(message(simu.computeOneStep, simu)
      :find("^TimeSteppingCombinedProjection: the combined projection did not converge in 1 iterations: "
      .. "violation [%d.e-]+ of 'interaction 1', tolerance 1e%-05 %(t=0.1 step 1 newton %d+%)$"))
    assert.same({ 1.001, 0 }, ds:q():totable())
    simu:setConstraintTolerance(1e-6, 20)
    simu:computeOneStep()
    assert.near(1, ds:q():norm() ^ 2, 1e-6)
  end)
end)

-- A pendulum of length L: x^2 + y^2 - L^2 has terms of L^2, and a rounding of eps L^2.
describe("the tolerance of a projection", function()
  local function pendulum(make, L, tolerance)
    local ds = ns.LagrangianDS({ L, 0 }, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
    ds:setFExtPtr { 0, -10 * L }
    local rod = equation(function(q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - L ^ 2 end)
    local simu = simulate(make, { systems = { ds }, links = { { rod, ds } }, h = 1 / 128, T = 1, tolerance = tolerance })
    local off = 0
    for _ in simu:steps() do off = math.max(off, math.abs(rod:y(0)[1])) end
    return off / L ^ 2, ds:q()[1] / L
  end

  it("is relative to the terms of each row: any length will do, and powers of two change no bit", function()
    for _, make in ipairs { direct, combined } do
      local _, one = pendulum(make, 1)
      for _, L in ipairs { 1000, 1e-6, 1e6 } do
        local off, x = pendulum(make, L)
        assert.is_true(off < 2e-10)
        assert.near(one, x, 1e-8)
      end
      for _, e in ipairs { -100, -31, 12, 100 } do
        local _, x = pendulum(make, 2.0 ^ e)
        assert.equal(one, x)
      end
    end
  end)

  it("is absolute, in the units of y, where a script sets one", function()
    assert.is_true(pendulum(direct, 1000, 1) > 1e-9)
    assert.is_true(pendulum(direct, 1000, 1e-6) <= 1e-12)
    local why = message(function() pendulum(direct, 1000, 1e-14) end)
    assert.matches("the projection did not converge in 20 iterations: violation .*, tolerance 1e%-14", why)
  end)
end)
