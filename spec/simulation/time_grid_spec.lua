local ns = require "nslua"
local simulation = require "models".simulation

local function times(o)
  o.systems = { ns.FirstOrderLinearTIDS { x0 = { 1 }, A = { { -1 } } } }
  return simulation(o):run().t:totable()
end

describe("TimeDiscretisation", function()
  it("has t_k = t0 + k h, not accumulated", function()
    local t = times { h = 0.1, T = 100 }
    assert.equal(1001, #t)
    for k = 0, 1000 do assert.equal(0 + k * 0.1, t[k + 1]) end
    t = times { t0 = -3, h = 0.05, T = 17 }
    assert.equal(401, #t)
    for k = 0, 400 do assert.equal(-3 + k * 0.05, t[k + 1]) end
  end)

  it("makes whole steps up to T, forgiving the rounding of T", function()
    assert.equal(4, #times { h = 0.3, T = 1 })
    assert.equal(11, #times { h = 0.1, T = 10 * 0.1 - 1e-15 })
    assert.equal(11, #times { h = 0.1, T = 1.09 })
    assert.error_matches(function() times { h = 2, T = 1 } end,
      "TimeStepping: no step of h = 2 fits into [t0, T] = [0, 1]", 1, true)
    assert.error_matches(function() times { grid = { 0, 0.5, 1 }, T = 0.25 } end,
      "TimeStepping: no step of h = 0.5 fits into [t0, T] = [0, 0.25]", 1, true)
  end)

  it("stays at the last step's end, on both kinds of grid", function()
    for _, grid in ipairs { ns.TimeDiscretisation(0, 0.25), ns.TimeDiscretisation { 0, 0.25, 0.5, 0.75, 1, 2 } } do
      local nsds = ns.NonSmoothDynamicalSystem(0, 1.1)
      nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))
      local simu = ns.TimeStepping(nsds, grid, ns.EulerMoreauOSI(1))
      assert.equal(0.25, simu:nextTime())
      for _, t in simu:steps() do assert.equal(t, simu:nextTime()) end
      assert.equal(1, simu:startingTime())
      assert.equal(1, simu:nextTime())
    end
  end)

  it("takes a given grid as it is", function()
    local points = { 0, 0.1, 0.15, 0.5, 1 }
    assert.same(points, times { grid = points })
    assert.same({ 0, 0.1, 0.15 }, times { grid = points, T = 0.4 })
    assert.equal(600, #times { grid = ns.linspace(0, 30, 600), T = 30 })
  end)

  it("steps over a given grid with its own lengths", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local simu = simulation { systems = { ds }, grid = { 0, 0.5, 0.75, 2.75 }, T = 3 }
    local x = 1
    for k in simu:steps() do
      local h = ({ 0.5, 0.25, 2 })[k]
      x = x / (1 + h)
      assert.equal(h, simu:timeStep())
      assert.near(x, ds:x()[1], 1e-15)
    end
    assert.equal(3, simu:stats().factorizations)
  end)

  it("answers", function()
    local td = ns.TimeDiscretisation(1, 0.25)
    assert.equal(1, td:t0())
    assert.equal(0.25, td:h())
    assert.equal(2.5, td:at(6))
    assert.equal("TimeDiscretisation from 1.0 with step 0.25", tostring(td))
    td = ns.TimeDiscretisation { 0, 1, 3 }
    assert.equal(2, td:h(2))
    assert.equal(3, td:at(2))
    assert.equal("TimeDiscretisation with 3 points from 0.0", tostring(td))
  end)

  it("serves two simulations", function()
    local td = ns.TimeDiscretisation(0, 0.5)
    for _ = 1, 2 do
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))
      assert.equal(3, #ns.TimeStepping(nsds, td, ns.EulerMoreauOSI(1)):run())
    end
  end)
end)
