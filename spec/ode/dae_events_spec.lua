-- Events along the steps of ns.dae: their accuracy, also within long steps, and memory that runs out.
local ns = require "nslua"
local internal = require "nslua.internal"

-- x' = 1, z = x^3 - x, with a root of z + 0.3 found in one long step or many short ones.
local function run(o)
  o.consistent = "solve"
  return ns.dae("radau", function(_, y, yd, r) r[1], r[2] = yd[1] - 1, y[2] - y[1] ^ 3 + y[1] end, o):solve({ 0, 3 }, { -2, 0 })
end

describe("events along the steps of a DAE", function()
  it("are located on the step that ends there, to rounding", function()
    for _, first in ipairs { 1e-3, 1, 3 } do
      local sol = run { rtol = 1e-4, atol = 1e-6, first_step = first,
        events = { g = function(_, y) return y[2] + 3 end, apply = function() end } }
      assert.equal(1, #sol.t_events[1])
      local x = sol.y_events[1][1][1]
      assert.near(x, sol.t_events[1][1] - 2, 1e-14)
      assert.near(-3, sol.y_events[1][1][2], 1e-14)
      assert.near(-3, x ^ 3 - x, 1e-14)
    end
  end)

  it("are none lost, in one step", function()
    local sol = run { rtol = 1e-4, atol = 1e-6, first_step = 3, events = { function(_, y) return y[2] end,
      function(_, y) return y[1] ^ 2 - 1e-6 end } }
    assert.equal(3, #sol.t_events[1])
    for k = 1, 3 do assert.near(k, sol.t_events[1][k], 1e-9) end
    assert.equal(2, #sol.t_events[2])
    assert.near(2.001, sol.t_events[2][2], 1e-9)
  end)

  it("say so when there is not enough memory", function()
    for n = 1, 60 do
      local _, good, result = internal.failing(n, false, function()
        return run { events = { g = function(_, y) return y[2] end, apply = function() end } }
      end)
      if not good then assert.truthy(tostring(result):find("not enough memory", 1, true), result) end
    end
  end)
end)
