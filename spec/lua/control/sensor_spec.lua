-- Sensors: delay, noise, quantisation, drop-outs.
local ns = require "nslua"
local expect = require "expect"

local fails = expect.fails

-- x' = 1 from 0: x = t. A sensor with the period 0.1; its column y and the times of the grid.
local function ramp(options, T)
  local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { 1 })
  local sim = ns.ControlZOHSimulation(0, T or 1, 0.1)
  sim:addDynamicalSystem(ds)
  sim:addSensor(ns.LinearSensor(ds, { { 1 } }, options), 0.1)
  local sol = sim:run()
  return sol["sensor.y[1]"], sol.t, sim
end

describe("a sensor", function()
  it("tells C x + D z", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, { { 0, 0 }, { 0, 0 } })
    ds:setz { 10 }
    local sim = ns.ControlZOHSimulation(0, 0.1, 0.1)
    sim:addDynamicalSystem(ds)
    sim:addSensor(ns.LinearSensor(ds, { { 1, 1 }, { 0, 1 } }, { { 1 }, { 0 } }), 0.1)
    local sol = sim:run()
    assert.are.equal(13, sol["sensor.y[1]"][1])
    assert.are.equal(2, sol["sensor.y[2]"][1])
  end)

  it("has a delay, of whole periods and of parts", function()
    for _, delay in ipairs { 0, 0.1, 0.3, 0.05, 0.24 } do
      local y, t = ramp { delay = delay }
      for k = 1, #t do expect.near_number(math.max(0, t[k] - delay), y[k], 1e-13) end
    end
  end)

  it("rounds to steps", function()
    local y, t = ramp { quantisation = 0.25 }
    for k = 1, #t do expect.near_number(math.floor(t[k] / 0.25 + 0.5) * 0.25, y[k]) end
  end)

  it("has noise of a seed, and loses samples", function()
    local y = ramp({ noise = 0.5, seed = 7 }, 20)
    local again, t = ramp({ noise = 0.5, seed = 7 }, 20)
    local other = ramp({ noise = 0.5, seed = 8 }, 20)
    assert.are.equal(0, (y - again):norm())
    assert.is_true((y - other):norm() > 1)
    local deviation = math.sqrt((y - t):dot(y - t) / #t)
    assert.is_true(deviation > 0.4 and deviation < 0.6, deviation)
    local lost, rest = 0, ramp({ dropout = 0.3 }, 20)
    for k = 2, #rest do lost = lost + (rest[k] == rest[k - 1] and 1 or 0) end
    assert.is_true(lost > 40 and lost < 80, lost)
  end)

  it("sees q and v of mechanics", function()
    local ball = ns.LagrangianLinearTIDS({ 3 }, { 2 }, { { 1 } })
    local sim = ns.ControlZOHSimulation(0, 1, 0.5)
    sim:addDynamicalSystem(ball)
    sim:addSensor(ns.LinearSensor(ball), 0.5)
    local sol = sim:run()
    expect.near({ 3, 4, 5 }, sol["sensor.y[1]"])
    expect.near({ 2, 2, 2 }, sol["sensor.y[2]"])
  end)

  it("refuses", function()
    local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } })
    fails("LinearSensor: system: expected a dynamical system, got table", ns.LinearSensor, {})
    fails("LinearSensor: C: expected a matrix of any rows and 1 columns, got 1 x 2", ns.LinearSensor, ds, { { 1, 2 } })
    fails("LinearSensor: noise: expected numbers of 0 or more, got -1", ns.LinearSensor, ds, nil, { noise = -1 })
    fails("LinearSensor: dropout: expected a probability below 1, got 1", ns.LinearSensor, ds, nil, { dropout = 1 })
    fails("LinearSensor: unknown option 'dely'", ns.LinearSensor, ds, nil, { dely = 1 })
    fails("addSensor: delay: expected a number of 0 or more, got -1", ramp, { delay = -1 })
  end)
end)
