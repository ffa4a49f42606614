-- A run that goes on from a file, in a clone, or after its interactions were linked anew, gives the bits of one that was not
-- stopped: random models of every kind, stopped at random. 6 of each, more in a long run, see campaign.lua.
local host = require "host"
local models = require "random_models"

local count = require "campaign"(6, 0.01)
local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

-- All numbers of a simulation's state, to the last bit.
local function bits(simu)
  local parts, nsds = { simu:step() }, simu:nsds()
  local function add(v)
    for _, x in ipairs(v:totable()) do parts[#parts + 1] = ("%a"):format(x) end
  end
  for i = 1, nsds:numberOfDynamicalSystems() do
    local ds = nsds:dynamicalSystem(i)
    add(ds:x())
    add(ds:r())
  end
  for i = 1, nsds:numberOfInteractions() do
    add(nsds:interaction(i):y(0))
    add(nsds:interaction(i):lambda())
  end
  return table.concat(parts, " ")
end

-- The bits after each step that is left; what was raised is the last.
local function trail(simu)
  local rows = {}
  while simu:hasNextEvent() do
    local good, err = pcall(simu.computeOneStep, simu)
    if not good then
      rows[#rows + 1] = "raised " .. tostring(err):match "^[^\n]*"
      break
    end
    simu:nextStep()
    rows[#rows + 1] = bits(simu)
  end
  return rows
end

-- The first step that is not as expected.
local function compare(expected, from, got, how)
  for i = from + 1, math.max(#expected, from + #got) do
    assert.equal(expected[i], got[i - from], ("%s after %d steps, at step %d"):format(how, from, i))
  end
end

describe("random models that are stopped and go on give the same bits #once:", function()
  local names = {}
  for name in pairs(models.kinds) do names[#names + 1] = name end
  table.sort(names)
  for number, name in ipairs(names) do
    it(name, function()
      math.randomseed(1000 + number)
      for _ = 1, count do
        local build = models.kinds[name]()
        local function make() return models.simulate(build()) end
        local expected = trail((make()))
        local at = math.random(0, #expected - 1)
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
        compare(expected, at, trail(copy), "clone")
        compare(expected, at, trail(simu), "the original of a clone")
        if name == "events" then assert.same(simu:events(), copy:events()) end
        compare(expected, at, trail(loaded), "load_state")
        loaded:load_state(directory .. "/state")
        compare(expected, at, trail(loaded), "load_state once more")
        local again, links, nsds = advanced()
        for _, link in ipairs(links) do nsds:unlink(link[1]) end
        for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
        compare(expected, at, trail(again), "unlink and link")
      end
    end)
  end
end)
