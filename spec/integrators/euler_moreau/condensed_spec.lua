-- Nonlinear steps that linearised problems do not lead to the solution of: the same step, the state eliminated.
local ns = require "nslua"
local models = require "bind.models"
local nonlinear = require "simulation.nonlinear_models"
local ideal_switch = require "ideal_switch"
local message = models.message

-- The one solution of a step of the steep model, by bisection: x.
local function exact(model, t_k, x_k, t)
  local h, theta, out = model.h, model.theta, {}
  model.f(t_k, { x_k }, nil, out)
  local known = x_k + h * (1 - theta) * out[1] + h * theta * 2 * math.sin(3 * t)
  local function state(l) return (known + h * l) / (1 + h * theta) end
  local function output(l)
    local y = {}
    model.h_of(t, { model.gamma * state(l) + (1 - model.gamma) * x_k }, { l }, nil, y)
    return y[1]
  end
  local low, high = model.lower, model.upper
  if output(low) >= 0 then return state(low) end
  if output(high) <= 0 then return state(high) end
  for _ = 1, 200 do
    local middle = (low + high) / 2
    if output(middle) > 0 then high = middle else low = middle end
  end
  return state(low)
end

-- Equations and law of every row of a run.
local function check_run(model, sol)
  for k = 2, #sol do
    local state, law = nonlinear.residuals(model, sol, k)
    assert.is_true(state < 1e-9 and law < 1e-8, ("row %d: %g, %g"):format(k, state, law))
  end
end

-- The number of the first step that is condensed.
local function first_condensed(model)
  local simu = nonlinear.simulate(model)
  while simu:hasNextEvent() do
    simu:computeOneStep()
    if simu:osnspb():info().solver == "condensed" then return simu:step() + 1 end
    simu:nextStep()
  end
end

-- The steep model with such a step, and the number of it.
local function before_condensed()
  local model = nonlinear.steep(1e-12, 2, 1, 0.1)
  return model, assert(first_condensed(model))
end

describe("a step condensed to its multipliers", function()
  it("finds the one solution where y increases steeply with lambda #once", function()
    local damped = 0
    for _, eps in ipairs { 1e-3, 1e-6, 1e-9, 1e-12 } do
      for _, c in ipairs { 0.3, 0.6, 1, 2 } do
        for _, theta in ipairs { 0.5, 1 } do
          for _, h in ipairs { 0.1, 0.02 } do
            local model = nonlinear.steep(eps, c, theta, h)
            local simu = nonlinear.simulate(model)
            local sol = simu:run()
            damped = damped + simu:stats().damped_steps
            assert.equal("completed", sol.status)
            assert.equal(6 / h + 1, #sol)
            for k = 2, #sol, h < 0.1 and 7 or 1 do
              assert.near(exact(model, sol.t[k - 1], sol.x[k - 1][1], sol.t[k]), sol.x[k][1], 1e-9)
            end
          end
        end
      end
    end
    assert.is_true(damped >= 18)
  end)

  it("holds the law at the gamma-point", function()
    for _, c in ipairs { 0.6, 1, 2 } do
      local model = nonlinear.steep(1e-12, c, 1, 0.05, 0.8)
      assert.is_truthy(first_condensed(model))
      local sol = nonlinear.simulate(model):run()
      for k = 2, #sol do
        assert.near(exact(model, sol.t[k - 1], sol.x[k - 1][1], sol.t[k]), sol.x[k][1], 1e-9)
      end
    end
  end)

  it("solves steps of random models, whose equations and law hold #once", function()
    for _, seed in ipairs { 39, 95, 103, 143, 164, 167, 198, 273, 327, 439, 447, 462, 486, 550, 568, 575, 630, 720, 857, 865,
                            936, 944, 999, 1161, 1173 } do
      local model = nonlinear.random(seed)
      local sol = nonlinear.simulate(model):run()
      assert.equal(model.steps + 1, #sol, seed)
      check_run(model, sol)
    end
  end)

  it("leaves a one-step problem that belongs together, and counts its iterations", function()
    local model, first = before_condensed()
    local simu = nonlinear.simulate(model)
    models.advance(simu, first - 1)
    local before = simu:stats()
    simu:computeOneStep()
    local problem = simu:osnspb()
    local M, q, lambda, y = problem:M(), problem:q(), problem:lambda(), problem:y()
    assert.same({ "NS_OK", "condensed", 0 },
      { problem:info().status, problem:info().solver, problem:info().residual })
    assert.near(y[1], M[1][1] * lambda[1] + q[1], 1e-9 * math.abs(q[1]))
    local state, output = simu:newtonResidual()
    assert.is_true(state <= 1e-10 and (output or 0) <= 1e-10)
    local after = simu:stats()
    assert.equal(before.damped_steps + 1, after.damped_steps)
    assert.is_true(after.newton_iterations >= before.newton_iterations + 50 + simu:newtonIterations())
  end)

  it("gives the same bits each time, and computed twice", function()
    local model, first = before_condensed()
    local one, two = nonlinear.simulate(model), nonlinear.simulate(model)
    local states = models.advance(one)
    models.advance(two, first - 1)
    two:computeOneStep()
    local once = models.state(two)
    two:computeOneStep()
    assert.equal(once, models.state(two))
    two:nextStep()
    local rest = models.advance(two)
    for k = first + 1, #states do assert.equal(states[k], rest[k]) end
  end)
  -- The largest violation of the equations and laws of the cell in a run, each over its terms.
  local function violation(sol, source, o)
    local worst = 0
    local function test(v, ...)
      local size = 0
      for _, term in ipairs { ... } do size = size + math.abs(term) end
      worst = math.max(worst, math.abs(v) / size)
    end
    for k = 2, #sol do
      local x, l, t = sol.x1[k], {}, sol.t[k]
      for i = 1, 9 do l[i] = sol:column("lambda" .. i)[k] end
      local moved = o.T / o.steps * (l[3] - l[4]) / o.L
      test(x - sol.x1[k - 1] - moved, o.V / o.R)
      test(l[5] - source(t), 1)
      test(l[4] - o.R * x, o.V)
      local S, D = l[7] + o.R1, l[9] + o.R1
      test(l[3] - o.V + l[1] * S, o.V, l[3], l[1] * S)
      test(l[3] + l[2] * D, o.V, l[3], l[2] * D)
      test(x - l[1] - l[2], o.V / o.R)
      for i, y in ipairs { o.R2 - S, o.gain * (l[5] - l[4]) + l[6], o.R2 - D, l[8] - l[3] } do
        local size = ({ o.R2, o.gain * o.V, o.R2, o.V })[i]
        test(math.min(y / size, l[5 + i] / ({ o.gain * o.V, o.R2, o.V, o.R2 })[i]), 1)
      end
    end
    return worst
  end

  it("is taken where the source of an ideal switch jumps", function()
    local simu, source, o = ideal_switch()
    local sol = simu:run()
    assert.equal(2001, #sol)
    assert(violation(sol, source, o) < 1e-9, violation(sol, source, o))
  end)

  local count, told = require "campaign"(8, 0.02)
  it("is taken in random cells with ideal switches: at most one of 50 is refused, with a word", function()
    local refused = 0
    math.randomseed(93)
    local function between(a, b) return a * (b / a) ^ math.random() end
    for _ = 1, count do
      local simu, source, o = ideal_switch { R = between(0.3, 3), R1 = between(1e-3, 1e-2), R2 = between(1e2, 2e3),
        L = between(5e-5, 1e-3), Ep = between(2, 15), Em = -between(0.5, 5), gain = between(10, 1000), V = between(5, 50),
        steps = math.random(20, 100), theta = math.random(2) / 2, periods = 8 }
      local ok, got = pcall(simu.run, simu)
      if ok then assert(violation(got, source, o) < 1e-8, violation(got, source, o))
      else
        assert.is_truthy(message(got):find("MLCP: the one-step problem has no accepted solution", 1, true), got)
        refused = refused + 1
      end
    end
    assert(refused <= math.max(1, count / 50), ("%d of %d are refused"):format(refused, count))
    told("cells with ideal switches", count)
  end)
end)

describe("a nonlinear step without solution", function()
  -- What y is from a certain step on; mend() makes it x + lambda / 2 again, as before.
  local function make(impossible)
    local model = nonlinear.steep(1, 1, 1, 0.1, 1, 20)
    local own, broken = model.h_of, false
    model.h_of = function(t, x, lambda, z, y)
      own(t, x, lambda, z, y)
      if broken then y[1] = impossible(x[1], lambda[1]) end
    end
    return nonlinear.simulate(model), function(on) broken = on end
  end

  local function check(text, impossible, upper)
    for _, substeps in ipairs { 1, 4 } do
      local reference = models.advance((make(impossible, upper)))
      local simu, set = make(impossible, upper)
      simu:setMaxSubsteps(substeps)
      models.advance(simu, 5)
      local before = models.state(simu)
      set(true)
      for _ = 1, 2 do
        assert.matches(text, message(simu.computeOneStep, simu))
        assert.equal(before, models.state(simu))
      end
      set(false)
      local rest = models.advance(simu)
      for k = 6, 20 do assert.equal(reference[k], rest[k]) end
    end
  end

  it("raises where y jumps over 0", function()
    check("^TimeStepping: Newton did not converge in 50 iterations: relative residual .* of interaction 'interaction 1', "
      .. "tolerance 1e%-10 %(t=0.6 step 6 newton 50%)", function(_, l) return l < 0.3 and -1 - l * l or 1 + l * l end)
  end)

  it("raises where the law asks for a sign that y never has", function()
    local function simulate()
      local broken = false
      local simu = models.simulate(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.FirstOrderNonLinearR {
        h = function(_, x, lambda, _, y) y[1] = broken and -1 - lambda[1]^2 or x[1] + lambda[1] end,
        g = function(_, _, lambda, _, r) r[1] = lambda[1] end,
      }, 10, ns.ComplementarityConditionNSL(1))
      return simu, function(on) broken = on end
    end
    local reference = models.advance((simulate()))
    local simu, set = simulate()
    models.advance(simu, 3)
    local before = models.state(simu)
    set(true)
    for _ = 1, 2 do
      local text = message(simu.computeOneStep, simu)
      assert.matches("^Relay: the one%-step problem has no accepted solution: no solution %(1 unknown from "
        .. "'contact', residual .*%) %(t=0.4 step 4 newton %d%)", text)
      assert.equal(before, models.state(simu))
    end
    local problem = simu:osnspb()
    assert.not_equal("NS_OK", problem:info().status)
    assert.is_true(problem:M()[1][1] <= 0 and problem:q()[1] < 0) -- the linearised problem that failed
    set(false)
    local rest = models.advance(simu)
    for k = 4, #reference do assert.equal(reference[k], rest[k]) end
  end)

  it("raises what a callback raised on the way, at any of its calls", function()
    local model, first = before_condensed()
    local own, calls, last = model.h_of, 0, math.huge
    model.h_of = function(...)
      calls = calls + 1
      if calls >= last then error("boom", 0) end
      own(...)
    end
    local simu = nonlinear.simulate(model)
    models.advance(simu, first - 1)
    local before = models.state(simu)
    calls = 0
    simu:computeOneStep()
    local total, after = calls, models.state(simu)
    for _, at in ipairs { 1, total // 2, total - 20, total - 2, total } do
      local again = nonlinear.simulate(model)
      last = math.huge
      models.advance(again, first - 1)
      assert.equal(before, models.state(again))
      calls, last = 0, at
      assert.matches("boom", message(again.computeOneStep, again))
      assert.equal(before, models.state(again))
      last = math.huge
      again:computeOneStep()
      assert.equal(after, models.state(again))
    end
  end)
end)
