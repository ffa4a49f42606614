local ns = require "nslua"
local models = require "models"

-- What a step, a reset and a clone remember: x, r, y, lambda, and where the simulation is.
local function make(fail_at)
  local ds = ns.FirstOrderNonLinearDS({ 1, 2 }, function(t, x, _, f)
    if fail_at and t > fail_at then error "stop" end
    f[1], f[2] = x[2], -math.sin(x[1])
  end)
  local relation = ns.FirstOrderLinearTIR { C = { { 0, 1 } }, B = { { 0 }, { 1 } } }
  local simu, inter = models.simulation { systems = { ds }, theta = 0.5, gamma = 0.5, h = 0.1, T = 2,
    links = { { ns.RelayNSL(1, -1, 1), relation, ds } } }
  return simu, ds, inter[1]
end

local function state(ds, inter)
  return { ds:x():totable(), ds:r():totable(), inter:y(0):totable(), inter:lambda(0):totable() }
end

describe("state", function()
  it("is that of the last accepted step after an error, with and without substeps, and the run can go on", function()
    for _, parts in ipairs { 1, 4 } do
      local simu, ds, inter = make(0.75)
      simu:setMaxSubsteps(parts)
      assert.error_matches(function() simu:run() end, "t=0.8 step 8", 1, true)
      local after = state(ds, inter)
      assert.error_matches(function() simu:computeOneStep() end, "t=0.8 step 8", 1, true)
      assert.same(after, state(ds, inter))
      assert.equal(7, simu:step())
      local good, good_ds, good_inter = make()
      for k in good:steps() do if k == 7 then break end end
      assert.same(state(good_ds, good_inter), after)
      ds:setComputeFFunction(function(_, x, _, f) f[1], f[2] = x[2], -math.sin(x[1]) end)
      good:nextStep()
      assert.same(models.numbers(good:run()), models.numbers(simu:run()))
    end
  end)

  it("carries r_k and lambda_k into a clone: gamma 1/2 needs both", function()
    local simu = make()
    for k in simu:steps() do if k == 5 then break end end
    simu:nextStep()
    local copy = simu:clone()
    assert.same(models.numbers(simu:run()), models.numbers(copy:run()))
  end)

  it("of a clone in the middle of a step is that step", function()
    local simu = make()
    simu:computeOneStep()
    local copy = simu:clone()
    copy:nextStep()
    simu:nextStep()
    assert.same(models.numbers(simu:run()), models.numbers(copy:run()))
  end)

  it("comes back with reset, also after an error", function()
    local simu, ds, inter = make(0.75)
    simu:initialize()
    local start = state(ds, inter)
    pcall(simu.run, simu)
    simu:reset()
    simu:initialize()
    assert.same(start, state(ds, inter))
    assert.same({ 0, 0, 0 }, { simu:step(), simu:newtonIterations(), simu:stats().newton_iterations })
  end)
end)
