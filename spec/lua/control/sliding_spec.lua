-- Sliding-mode controllers: implicit ones against explicit ones, closed forms, several inputs.
local ns = require "nslua"
local expect = require "expect"

local fails = expect.fails

-- A run of an unstable plant with a class of controllers; b: a disturbance.
local function run(class, h, options, T, b)
  local A = { { 0, 1 }, { 19, -2 } }
  local ds = b and ns.FirstOrderLinearDS({ -15, 20 }, A) or ns.FirstOrderLinearTIDS({ -15, 20 }, A)
  if b then ds:setComputebFunction(b) end
  local sim = ns.ControlZOHSimulation(0, T or 6, h)
  sim:addDynamicalSystem(ds)
  local sensor = ns.LinearSensor(ds)
  sim:addSensor(sensor, h)
  options.Csurface = options.Csurface or { 1, 1 }
  sim:addActuator(ns[class](sensor, { 0, 1 }, options), h)
  return sim:run()
end

-- The largest |x1 + x2| after the time `from`, and the variation of u there.
local function sliding(sol, class, from)
  local u, sigma, variation = sol[class .. ".u[1]"], 0, 0
  for k = 2, #sol do
    if sol.t[k - 1] > from then
      sigma = math.max(sigma, math.abs(sol.x1[k] + sol.x2[k]))
      variation = variation + math.abs(u[k] - u[k - 1])
    end
  end
  return sigma, variation
end

describe("an implicit sliding mode", function()
  it("is at rounding, and its control does not chatter, whatever the period", function()
    for _, ueq in ipairs { "exact", true, false } do
      local first
      for _, h in ipairs { 0.05, 0.02, 0.01 } do
        local sigma, variation = sliding(run("LinearSMC", h, { alpha = 400, ueq = ueq }), "LinearSMC", 0.99)
        assert.is_true(sigma < 1e-12, sigma)
        first = first or variation
        assert.is_true(math.abs(variation / first - 1) < 0.1, variation / first)
      end
    end
    local coarse, chatter = sliding(run("ExplicitLinearSMC", 0.02, { alpha = 20, ueq = "exact" }), "ExplicitLinearSMC", 2)
    local fine, more = sliding(run("ExplicitLinearSMC", 0.01, { alpha = 20, ueq = "exact" }), "ExplicitLinearSMC", 2)
    assert.is_true(coarse > 1.2 * fine and fine > 0.1)
    assert.is_true(more > 1.7 * chatter)
  end)

  it("rejects a disturbance to its change in one period, with u = -d of the sample before", function()
    local function push(t, _, b) b[2] = 3 * math.sin(2 * t) end
    local last
    for _, h in ipairs { 0.02, 0.01, 0.005 } do
      local sigma = sliding(run("LinearSMC", h, { alpha = 400, ueq = "exact" }, 4, push), "LinearSMC", 2)
      assert.is_true(sigma < 4 * h, sigma / h)
      if last then assert.is_true(last / sigma > 1.8 and last / sigma < 2.2, last / sigma) end
      last = sigma
    end
  end)

  it("reaches the surface at the speed alpha", function()
    -- x' = u: x falls by alpha h at each sample, then is 0
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local sim = ns.ControlZOHSimulation(0, 1, 0.125)
    sim:addDynamicalSystem(ds)
    local sensor = ns.LinearSensor(ds)
    sim:addSensor(sensor, 0.125)
    sim:addActuator(ns.LinearSMC(sensor, { { 1 } }, { Csurface = { { 1 } }, alpha = 1.75 }), 0.125)
    local sol = sim:run()
    for k = 1, #sol do expect.near_number(math.max(0, 1 - 1.75 * sol.t[k]), sol.x[k][1], 1e-14) end
  end)

  it("has several inputs", function()
    local A, B = { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 2, 3 } }, { { 0, 0 }, { 1, 0.5 }, { -0.5, 1 } }
    local ds = ns.FirstOrderLinearTIDS({ 1, 0, -1 }, A)
    local sim = ns.ControlZOHSimulation(0, 4, 0.05)
    sim:addDynamicalSystem(ds)
    local sensor = ns.LinearSensor(ds)
    sim:addSensor(sensor, 0.05)
    local S = ns.matrix { { 1, 1, 0 }, { 0, 0, 1 } }
    sim:addActuator(ns.LinearSMC(sensor, B, { Csurface = S, alpha = { 4, 5 } }), 0.05)
    local sol = sim:run()
    for k = 1, #sol do
      if sol.t[k] > 2 then assert.is_true((S * sol.x[k]):norm() < 1e-13) end
    end
  end)

  it("smooths by D: sigma + D us = 0", function()
    local sol = run("LinearSMC", 0.05, { alpha = 400, D = 0.01, ueq = "exact" })
    local us = sol["LinearSMC.us[1]"]
    for k = 40, #sol - 1 do expect.near_number(-0.01 * us[k], sol.x1[k + 1] + sol.x2[k + 1], 1e-12) end
    sol = run("ExplicitLinearSMC", 0.01, { alpha = 20, D = 2, ueq = "exact" })
    expect.near_number(0, sol.x1[#sol] + sol.x2[#sol], 1e-6)
  end)

  it("takes D as a third argument and by Siconos' setters", function()
    local plant = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local sensor = ns.LinearSensor(plant)
    local smc = ns.LinearSMC(sensor, { { 1 } }, { { 0.5 } }):setCsurface({ { 1 } }):noUeq(true)
    assert.are.equal(0.5, smc.options.D[1][1])
    assert.is_false(smc.options.ueq)
    assert.are.equal(2, smc:setSaturationMatrix({ { 2 } }).options.D[1][1])
    fails("PID: expected a sensor, B and options", ns.PID, sensor, { { 1 } }, { { 1 } })
  end)

  it("refuses", function()
    fails("LinearSMC: S B must be above 0, got -", run, "LinearSMC", 0.05, { Csurface = { -1, -1 } })
    fails("LinearSMC: S B is singular: the input does not move the sliding variable", run, "LinearSMC", 0.05,
      { Csurface = { 1, 0 } })
    fails("LinearSMC: Csurface: expected one row for each input, 1, got 2", run, "LinearSMC", 0.05, { Csurface = ns.eye(2) })
    fails("LinearSMC: ueq: expected true, false, \"exact\" or a number from 0 to 1, got 'exakt'", run, "LinearSMC", 0.05,
      { ueq = "exakt" })
    fails("LinearSMC: theta: expected a number from 0 to 1, got 2", run, "LinearSMC", 0.05, { theta = 2 })
    fails("LinearSMC: alpha: expected numbers of 0 or more, got -1", run, "LinearSMC", 0.05, { alpha = -1 })
    fails("LinearSMCOT2: Csurface: the sum of its entries is 0, by which this law divides", run, "LinearSMCOT2", 0.05,
      { Csurface = { 1, -1 } })
    fails("SuperTwisting: k2: expected a number of 0 or more, got nil", run, "SuperTwisting", 0.05, { k1 = 1 })
  end)
end)

describe("twisting and super-twisting", function()
  it("go to 0, the implicit ones to rounding", function()
    local function final(class, T, ...)
      local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { 0, 0 } })
      local sim = ns.ControlZOHSimulation(0, T, 0.01)
      sim:addDynamicalSystem(ds)
      local sensor = ns.LinearSensor(ds)
      sim:addSensor(sensor, 0.01)
      sim:addActuator(ns[class](sensor, ...), 0.01)
      sim:run()
      return ds:x():norm()
    end
    for _, class in ipairs { "Twisting", "RegularTwisting" } do
      assert.is_true(final(class, 20, 10, 0.4) < 1e-3)
    end
    assert.is_true(final("ExplicitTwisting", 20, 10, 0.4) < 0.5)
    fails("Twisting: expected gain and beta after the sensor, or B", final, "Twisting", 1)
    fails("Twisting: beta: expected a number between 0 and 1, got 2", final, "Twisting", 1, 10, 2)
  end)

  it("super-twisting rejects a ramp d up to h |d|, and does not chatter", function()
    local function push(t, _, b) b[2] = 3 * t end
    local variations = {}
    for i, h in ipairs { 0.02, 0.01, 0.005 } do
      local sol = run("SuperTwisting", h, { k1 = 15, k2 = 20 }, 6, push)
      local sigma, variation = sliding(sol, "SuperTwisting", 3.99)
      assert.is_true(sigma < 1.01 * h * 18, sigma / h)
      variations[i] = variation
      local _, chatter = sliding(run("ExplicitSuperTwisting", h, { k1 = 15, k2 = 20 }, 6, push), "ExplicitSuperTwisting", 3.99)
      assert.is_true(chatter > 20 * variation)
    end
    assert.is_true(math.abs(variations[3] / variations[2] - 1) < 0.05)
  end)
end)
