-- Roots in a bracket: the times of impacts, to the last digits.
local events = require "simulation.events"

describe("a root in a bracket", function()
  it("is found to rounding, at flat and at steep crossings", function()
    for _, H in ipairs { 1e-3, 1, 50 } do
      for _, v in ipairs { -20, -1, 0, 3 } do
        local g = events.g
        local simu = events.ball { H = H, v = v, e = 0.5, T = 12, h = 12 }
        simu:computeOneStep()
        local exact = (v + math.sqrt(v * v + 2 * g * H)) / g
        if v < 0 then exact = 2 * H / (-v + math.sqrt(v * v + 2 * g * H)) end
        local event = simu:events()[1]
        assert.near(exact, event.t, 4e-15 + 1e-14 * exact)
        assert.near(-math.sqrt(v * v + 2 * g * H), event.before, 1e-12 * (1 + math.abs(event.before)))
      end
    end
  end)
end)
