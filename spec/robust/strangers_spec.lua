-- A model feels no stranger: random models of every kind take the same steps, to the last bit, alone and beside others that
-- nothing joins to them. 4 of each kind, more in a long run, see campaign.lua.
local models = require "random_models"

local count, told = require "campaign"(4, 0.05)

-- States, inputs, outputs and multipliers of one description's objects, to the last bit.
local function bits(o)
  local parts = {}
  local function add(v)
    for _, x in ipairs(v:totable()) do parts[#parts + 1] = ("%a"):format(x) end
  end
  for _, ds in ipairs(o.systems) do add(ds:x()) add(ds:r()) end
  for _, link in ipairs(o.links) do add(link[1]:y(0)) add(link[1]:lambda()) end
  return table.concat(parts, " ")
end

-- The bits after each step, up to the first one that is raised; whether one was.
local function trail(simu, o)
  local rows = {}
  while simu:hasNextEvent() do
    if not pcall(simu.computeOneStep, simu) then return rows, true end
    simu:nextStep()
    rows[#rows + 1] = bits(o)
  end
  return rows, false
end

describe("random models beside strangers take the same steps:", function()
  local names = {}
  for name in pairs(models.kinds) do names[#names + 1] = name end
  table.sort(names)
  for number, name in ipairs(names) do
    it(name, function()
      math.randomseed(3000 + number)
      for _ = 1, count do
        local mine, other, third = models.kinds[name](), models.kinds[name](), models.kinds[name]()
        local alone = mine()
        local expected, raised = trail(models.simulate(alone), alone)
        for others = 1, 2 do
          local here = mine()
          local got, stopped = trail(models.simulate(here, others == 1 and { other() } or { other(), third() }), here)
          assert.is_true(#got == #expected or stopped and #got < #expected, "steps")
          if raised then assert.is_true(stopped) end
          for k = 1, #got do assert.equal(expected[k], got[k], ("step %d beside %d"):format(k, others)) end
        end
      end
      told("models beside strangers, " .. name, 2 * count)
    end)
  end
end)
