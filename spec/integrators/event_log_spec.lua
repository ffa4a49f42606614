-- The events of a run: kept in order of time, over steps that are computed anew, in copies.
local ns = require "nslua"
local events = require "simulation.events"

local function list(simu)
  local out = {}
  for i, event in ipairs(simu:events()) do out[i] = ("%s %s %.17g"):format(event.kind, event.interaction, event.t) end
  return out
end

describe("the log of events", function()
  it("holds as many as there are, in the order of time, of systems that nothing joins", function()
    local balls, links = {}, {}
    for i = 1, 3 do
      balls[i] = events.particle({ 0, 1 + 0.3 * i }, { 0, 0 })
      links[i] = { ns.NewtonImpactNSL(0.9), ns.LagrangianLinearTIR { { 0, 1 } }, "floor " .. i, balls[i] }
    end
    local simu = events.simulation { systems = balls, links = links, T = 9, h = 0.7 }
    simu:run()
    local t, seen = 0, {}
    for _, event in ipairs(simu:events()) do
      assert.is_true(event.t >= t)
      t, seen[event.interaction] = event.t, true
    end
    assert.is_true(#simu:events() > 16)
    assert.same({ ["floor 1"] = true, ["floor 2"] = true, ["floor 3"] = true }, seen)
  end)

  it("has those of a step that is computed anew once, and is copied with a clone", function()
    local simu, ball = events.ball { e = 0.5, h = 0.5 }
    simu:computeOneStep()
    local q, first = ball:q()[1], list(simu)
    simu:computeOneStep()
    assert.equal(q, ball:q()[1])
    assert.same(first, list(simu))
    simu:nextStep()
    local twin = simu:clone()
    simu:computeOneStep()
    assert.is_true(#simu:events() > #first)
    assert.same(first, list(twin))
    twin:computeOneStep()
    assert.same(list(simu), list(twin))
    simu:reset()
    assert.same({}, list(simu))
  end)
end)
