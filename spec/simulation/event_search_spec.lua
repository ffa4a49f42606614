-- The search for events within a step: none is lost, whatever the grid and the length of steps.
local ns = require "nslua"
local events = require "simulation.events"

-- A mass on a spring with a force of time, and a wall below.
local function oscillator(o)
  local ds = ns.LagrangianLinearTIDS({ o.q or 1 }, { 0 }, { { 1 } }, { { (o.w or 1) ^ 2 } })
  local wall = ns.LagrangianLinearTIR({ { 1 } }, { o.gap })
  return events.simulation { systems = { ds }, T = o.T, h = o.T, rtol = o.rtol, atol = o.rtol,
    links = { { ns.NewtonImpactNSL(o.e or 1), wall, "wall", ds } } }, ds
end

describe("the search for events", function()
  it("finds a short dip between the ends of a long step", function()
    -- q = cos(t) goes to -1 and is above -1 + depth again after a short while
    for _, depth in ipairs { 1e-2, 1e-4, 1e-6, 1e-8 } do
      local simu = oscillator { T = 6, gap = 1 - depth, rtol = 1e-10 }
      simu:run()
      local log = simu:events()
      assert.equal(1, #log, ("depth %g"):format(depth))
      assert.near(math.acos(-1 + depth), log[1].t, 1e-5)
    end
  end)

  it("leaves a miss alone", function()
    for _, gap in ipairs { 1e-2, 1e-4, 1e-6 } do
      local simu = oscillator { T = 20, gap = 1 + gap, rtol = 1e-10 }
      simu:run()
      assert.equal(0, #simu:events())
    end
  end)

  it("finds the first of several contacts, and two at the same time", function()
    local a, b = ns.LagrangianLinearTIDS({ 1 }, { -1 }, { { 1 } }), ns.LagrangianLinearTIDS({ 2 }, { -2 }, { { 1 } })
    local simu = events.simulation { systems = { a, b }, T = 3, h = 3, links = {
      { ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1 } }, "a", a },
      { ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1 } }, "b", b } } }
    simu:run()
    local log = simu:events()
    assert.equal(2, #log)
    assert.near(1, log[1].t, 1e-15)
    assert.near(1, log[2].t, 1e-15)
    assert.near(2, a:q()[1], 1e-14)
    assert.near(4, b:q()[1], 1e-14)
  end)

  it("counts the impacts of an oscillator at a wall", function()
    -- half periods: with the wall at q = 0 and e = 1, an impact every pi / w
    local simu = oscillator { T = 10, gap = 0, w = 10, rtol = 1e-12 }
    simu:run()
    local log = simu:events()
    assert.equal(math.floor((10 * 10 + math.pi / 2) / math.pi), #log)
    for i, event in ipairs(log) do assert.near((i - 0.5) * math.pi / 10, event.t, 1e-10) end
  end)
end)
