-- Newton's method in a step: damped, in parts, its bounds, its last iterate.
local ns = require "nslua"
local models = require "models"
local simulation, oscillator = models.simulation, models.oscillator

describe("TimeStepping: Newton", function()
  -- x - 1 - h f = x / sqrt(1 + x^2) for h = 1: Newton takes x to -x^3, so from x = 1 it goes to and fro.
  local function cycling()
    return ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f)
      f[1] = x[1] - 1 - x[1] / math.sqrt(1 + x[1] * x[1])
    end)
  end

  it("is damped where whole steps go to and fro", function()
    local ds = cycling()
    local simu = simulation { systems = { ds }, h = 1 }
    simu:setNewtonMaxIteration(10)
    simu:computeOneStep()
    assert.near(0, ds:x()[1], 1e-10)
    assert.equal(1, simu:stats().damped_steps)
    assert.equal(0, simu:stats().substeps)
  end)

  -- x = x0 + h x^2 has a solution when 4 h x0 <= 1: the step 0.4 from 1 fails, so do its halves, its quarters do not.
  local function blowing(parts)
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = x[1] * x[1] end)
    local simu = simulation { systems = { ds }, h = 0.4, T = 0.4 }
    if parts then simu:setMaxSubsteps(parts) end
    return simu, ds
  end

  it("raises when it does not converge, and the state is that before the step", function()
    for _, parts in ipairs { 1, 2 } do
      local simu, ds = blowing(parts)
      assert.error_matches(function() simu:computeOneStep() end,
        "Newton did not converge in 50 iterations: relative residual .* of dynamical system 'ds 1', " ..
        "tolerance 1e%-10 " ..
        "%(t=0.4 step 1 newton 50%)")
      assert.equal(1, ds:x()[1])
      assert.equal(0, simu:step())
    end
  end)

  -- Torricelli's tank, x' = -sqrt(x): each step has x + h sqrt(x) = x_k, and its level is squared where it is below h^2.
  describe("where a callback has no value, or an infinite derivative,", function()
    local function level(x, h, inflow) return (math.sqrt(h * h + 4 * (x + h * inflow)) - h) ^ 2 / 4 end

    it("is damped: a tank runs empty, stays so, and is filled again", function()
      for _, compile in ipairs { false, true } do
        for _, h in ipairs { 0.1, 0.01 } do
          local ds = ns.FirstOrderNonLinearDS({ 1 }, function(t, x, _, f) f[1] = (t > 3.05 and 0.3 or 0) - math.sqrt(x[1]) end)
          local simu, x = simulation { systems = { ds }, h = h, T = 6, theta = 1 }, 1
          if compile then simu:compile { native = false } end
          for _, t in simu:steps() do
            x = level(x, h, t > 3.05 and 0.3 or 0)
            assert.near(x, ds:x()[1], 1e-9 * x + 1e-17)
            if t > 2.9 and t < 3 then assert.is_true(ds:x()[1] < 1e-300) end
          end
          assert.near(0.09, ds:x()[1], 1e-3)
        end
      end
    end)

    it("is damped: a tank that runs into another, which runs empty later", function()
      local ds = ns.FirstOrderNonLinearDS({ 1, 0.5 }, function(_, x, _, f)
        local first, second = math.sqrt(x[1]), math.sqrt(x[2])
        f[1], f[2] = -first, first - 0.7 * second
      end)
      local h = 0.1
      local simu, x1, x2 = simulation { systems = { ds }, h = h, T = 8, theta = 1 }, 1, 0.5
      for _ in simu:steps() do
        x1 = level(x1, h, 0)
        x2 = 0.49 * level(x2 / 0.49, h, math.sqrt(x1) / 0.49)
        assert.near(x1, ds:x()[1], 1e-9 * x1 + 1e-17)
        assert.near(x2, ds:x()[2], 1e-9 * x2 + 1e-17)
      end
      assert.is_true(ds:x()[2] < 1e-300)
    end)

    it("raises where a step has no solution, and at a start without a derivative", function()
      local function tank(start, theta)
        local ds = ns.FirstOrderNonLinearDS({ start }, function(_, x, _, f) f[1] = -math.sqrt(x[1]) end)
        return simulation { systems = { ds }, h = 0.1, T = 3, theta = theta }, ds
      end
      local simu, ds = tank(1, 0.5)
      assert.error_matches(function() simu:run() end, "dynamical system 'ds 1' computef: t=2.1 step 21 newton %d+: f%[1%] is nan")
      assert.is_true(ds:x()[1] >= 0)
      assert.error_matches(function() tank(0, 1):run() end, "newton 1: f%[1%]: the derivative by x%[1%] is %-inf")
    end)
  end)

  it("takes the step in parts on request", function()
    local simu, ds = blowing(8)
    simu:computeOneStep()
    local x = 1
    for _ = 1, 4 do x = (1 - math.sqrt(1 - 4 * 0.1 * x)) / 0.2 end
    assert.near(x, ds:x()[1], 1e-9)
    assert.equal(4, simu:stats().substeps)
    assert.equal(1, simu:stats().steps)
    simu:computeOneStep()
    assert.near(x, ds:x()[1], 1e-9)
    simu:nextStep()
    assert.near(0.4, simu:startingTime(), 1e-15)
  end)

  it("raises at once what a part raises that no smaller one would mend", function()
    local function make(bad)
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(t, x, _, f)
        if bad and math.abs(t - 0.1) < 1e-9 then error("out of order", 0) end
        f[1] = t > 0.19 and -1e3 * math.atan(1e3 * (x[1] - 0.7)) - 1e6 * (x[1] > 0.9 and 1 or -1) or -x[1]
      end)
      local simu = simulation { systems = { ds }, T = 0.2, h = 0.2, theta = 1 }
      simu:setMaxSubsteps(16)
      return simu, ds
    end
    assert.error_matches(function() make(false):computeOneStep() end, "did not converge")
    local simu, ds = make(true)
    assert.error_matches(function() simu:computeOneStep() end, "computef: t=0.1 step 1 newton 1: out of order")
    assert.equal(1, ds:x()[1])
  end)

  it("takes parts that are the steps of a finer grid, inputs and multipliers carried from one to the next", function()
    local function make(grid)
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = x[1] * x[1] end)
      local relation = ns.FirstOrderNonLinearR {
        h = function(_, x, lambda, _, y) y[1] = x[1] - 1.1 + 0.3 * lambda[1] end,
        g = function(_, _, lambda, _, r) r[1] = 0.2 * lambda[1] end,
      }
      local simu, inter = simulation { systems = { ds }, grid = grid, T = 0.5, theta = 0.9, gamma = 0.5,
        links = { { ns.RelayNSL(1, -1, 1), relation, ds } } }
      simu:setNewtonTolerance(1e-13)
      return simu, ds, inter[1]
    end
    local coarse, ds, inter = make { 0, 0.5 }
    assert.error_matches(function() coarse:computeOneStep() end, "did not converge")
    coarse:setMaxSubsteps(16)
    coarse:computeOneStep()
    local parts = coarse:stats().substeps
    assert.is_true(parts >= 2)
    local points = {}
    for i = 0, parts do points[i + 1] = 0.5 * i / parts end
    local fine, fine_ds, fine_inter = make(points)
    fine:run()
    assert.near(fine_ds:x()[1], ds:x()[1], 1e-12)
    assert.near(fine_ds:r()[1], ds:r()[1], 1e-12)
    assert.near(fine_inter:lambda(0)[1], inter:lambda(0)[1], 1e-11)
    assert.near(fine_inter:y(0)[1], inter:y(0)[1], 1e-11)
  end)

  it("obeys its tolerance and its bound on iterations", function()
    local function iterations(tolerance)
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -math.exp(x[1]) end)
      local simu = simulation { systems = { ds }, h = 1 }
      simu:setNewtonTolerance(tolerance)
      simu:computeOneStep()
      return simu:newtonIterations(), (simu:newtonResidual())
    end
    local coarse, residual = iterations(1e-2)
    assert.is_true(residual <= 1e-2)
    local fine
    fine, residual = iterations(1e-13)
    assert.is_true(residual <= 1e-13 and coarse < fine)
    local simu = oscillator()
    simu:setNewtonMaxIteration(1)
    assert.error_matches(function() simu:run() end, "Newton did not converge in 1 iterations", 1, true)
  end)

  it("tells 0 for residuals that are rounding, and passes its test", function()
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[2] end,
      g = function(_, x, lambda, _, r) r[2] = lambda[1] * (0.1 + x[1] ^ 2) end,
    }
    local ds = ns.FirstOrderLinearTIDS({ 1, 0.3 }, { { 0, 1 }, { -1, -0.1 } })
    local simu = simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), relation, ds } }, T = 5 }
    local zero, steps = 0, 0
    for _ in simu:steps() do
      local state, output = simu:newtonResidual()
      assert.is_true(state <= 1e-10 and output <= 1e-10)
      assert.is_true(state == 0 or state > 1e-17)
      steps = steps + 1
      if state == 0 and output == 0 then zero = zero + 1 end
    end
    assert.is_true(zero > 0.8 * steps, zero .. " of " .. steps)
  end)

  it("takes one iteration and one factorisation in a linear model", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local simu = simulation { systems = { ds }, links = {
      { ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), ds } }, T = 10 }
    local stats = simu:run().stats
    assert.equal(100, stats.newton_iterations)
    assert.equal(1, simu:stats().factorizations)
  end)
end)

describe("TimeStepping: the last iterate", function()
  -- A gene that another one switches on, held at a threshold by a relay.
  local function gene(tolerance)
    local ds = ns.FirstOrderNonLinearDS({ 2, 1 }, function(_, x, _, f)
      f[1], f[2] = 5 * x[2] ^ 3 / (1 + x[2] ^ 3) - x[1], 0.2 * x[1] - 0.7 * x[2]
    end)
    local relation = ns.FirstOrderLinearTIR { C = { { 1, 0.5 } }, B = { { 0 }, { 2 } }, e = { -3 } }
    local simu = simulation { systems = { ds }, links = { { ns.RelayNSL(1, -1, 1), relation, ds } }, T = 10, h = 1e-2,
      theta = 0.5 }
    if tolerance then simu:setNewtonTolerance(tolerance) end
    return simu:run(), simu
  end

  it("is polished: multipliers at rest in a switch are not 1 / h times as wrong as the states", function()
    local usual, tight = gene(), gene(1e-14)
    local held = 0
    for k = 2, #usual do
      if math.abs(tight.lambda1[k]) < 0.99 then held = held + 1 end
      assert.near(tight.lambda1[k], usual.lambda1[k], 1e-10)
      assert.near(tight.x1[k], usual.x1[k], 1e-11)
    end
    assert.is_true(held > 100)
  end)

  it("costs at most one iteration more", function()
    local _, simu = gene()
    assert.is_true(simu:stats().max_newton_iterations <= 3)
  end)

  -- One step of x' = lambda - x^2 - 3 with x + x^2 / 10 - 1 >= 0; call `bad` of the gap's Jacobian is wrong.
  local function step(bad)
    local calls = 0
    local ds = ns.FirstOrderNonLinearDS({ 3 }, function(_, x, _, f) f[1] = -x[1] ^ 2 - 3 end)
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, _, y) y[1] = x[1] + 0.1 * x[1] ^ 2 - 1 end,
      g = function(_, _, lambda, _, r) r[1] = lambda[1] end,
      Jachx = function(_, x, _, _, C)
        calls = calls + 1
        C[1][1] = calls == bad and 0 or 1 + 0.2 * x[1]
      end,
    }
    local simu = simulation { systems = { ds }, links = { { ns.ComplementarityConditionNSL(1), relation, ds } }, T = 1,
      h = 1 }
    simu:computeOneStep()
    return ds:x()[1], simu:stats().newton_iterations, calls
  end

  it("is found again where polishing it fails", function()
    local x, iterations, calls = step()
    local again, all = step(calls)
    assert.is_true(iterations > 2)
    assert.equal(2 * iterations - 1, all)
    assert.near(x, again, 1e-9)
    assert.near(0, again + 0.1 * again ^ 2 - 1, 1e-9)
  end)
end)
