-- A run that goes on from a file, in a clone, or after its interactions were linked anew, gives the bits of one that was not
-- stopped: random models of every kind, stopped at random. 6 of each, more in a long run, see campaign.lua.
local host = require "host"
local models = require "random_models"
local trail = require "trail"

local count = require "campaign"(6, 0.01)
local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

-- The first step that is not as expected.
local function compare(expected, from, simu, how)
  local got, raised = trail.of(simu)
  assert.equal(expected.raised, raised)
  for i = from + 1, math.max(#expected, from + #got) do
    assert.equal(expected[i], got[i - from], ("%s after %d steps, at step %d"):format(how, from, i))
  end
end

describe("random models that are stopped and go on give the same bits #once:", function()
  local names = require "sorted_names"(models.kinds)
  for number, name in ipairs(names) do
    it(name, function()
      math.randomseed(1000 + number)
      for _ = 1, count do
        local build = models.kinds[name]()
        local function make() return models.simulate(build()) end
        local expected, raised = trail.of((make()))
        expected.raised = raised
        local at = math.random(0, math.max(0, #expected - (raised and 0 or 1)))
        local function advanced()
          local simu, links, nsds = make()
          for _ = 1, at do simu:computeOneStep() simu:nextStep() end
          return simu, links, nsds
        end
        local simu = advanced()
        simu:save_state(directory .. "/state")
        local copy = simu:clone()
        local loaded = make()
        loaded:load_state(directory .. "/state")
        compare(expected, at, copy, "clone")
        compare(expected, at, simu, "the original of a clone")
        if name == "events" then assert.same(simu:events(), copy:events()) end
        compare(expected, at, loaded, "load_state")
        loaded:load_state(directory .. "/state")
        compare(expected, at, loaded, "load_state once more")
        local again, links, nsds = advanced()
        for _, link in ipairs(links) do nsds:unlink(link[1]) end
        for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
        compare(expected, at, again, "unlink and link")
      end
    end)
  end
end)
