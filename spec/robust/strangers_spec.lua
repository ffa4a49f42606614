-- Unconnected models in the same graph do not change a result: random models of every kind make the same steps, to the last
-- bit, alone and beside others. 4 models of each kind; more in a long run (see campaign.lua).
local models = require "random_models"
local trail = require "trail"

local count, told = require "campaign"(2, 0.05)

-- The bits of the objects of a description after each step, and the error, if any.
local function trail_of(simu, o)
  local interactions = {}
  for i, link in ipairs(o.links) do interactions[i] = link[1] end
  return trail.of(simu, function() return trail.bits(o.systems, interactions) end)
end

describe("random models beside strangers take the same steps:", function()
  local names = require "sorted_names"(models.kinds)
  for number, name in ipairs(names) do
    it(name, function()
      math.randomseed(3000 + number)
      for _ = 1, count do
        local mine, other, third = models.kinds[name](), models.kinds[name](), models.kinds[name]()
        local alone = mine()
        local expected, raised = trail_of(models.simulate(alone), alone)
        for others = 1, 2 do
          local here = mine()
          local got, stopped = trail_of(models.simulate(here, others == 1 and { other() } or { other(), third() }), here)
          assert.is_true(#got == #expected or stopped and #got < #expected, "steps")
          if raised then assert.is_true(stopped) end
          for k = 1, #got do assert.equal(expected[k], got[k], ("step %d beside %d"):format(k, others)) end
        end
      end
      told("models beside strangers, " .. name, 2 * count)
    end)
  end
end)
