-- Adaptive steps on random models of every kind: they end, the errors are those of the tolerance, and what could not be kept is
-- told. A run with a tolerance of 1e-2 is compared with one of 3e-4. 3 models of each kind; more in a long run (see campaign.lua).
local models = require "random_models"

local count, told = require "campaign"(3, 0.01)

-- Kinds whose integrator takes no tolerance.
local skipped = { SchatzmanPaoli = true, D1MinusLinear = true,
  ["finite elements with relays"] = true, ["finite elements with impacts"] = true }

-- The largest error in units of the largest coordinate at the start or at the end (a motion may come to rest at 0): bodies that hit
-- each other in turn are chaotic.
local most = { ["a heap of spheres"] = 0.3, ["global form"] = 0.3, ["dense with complementarities"] = 0.1 }

local function coordinates(systems)
  local x = {}
  for _, ds in ipairs(systems) do
    local v = tostring(ds):find "^FirstOrder" and ds:x() or ds:q()
    for i = 1, #v do x[#x + 1] = v[i] end
  end
  return x
end

-- The coordinates at the end and at the start of a run, and its counts.
local function ends(build, rtol)
  local o = build()
  o.h, o.rtol = 10 * o.h, rtol
  local simu, start = models.simulate(o), coordinates(o.systems)
  simu:run()
  return coordinates(o.systems), start, simu:stats()
end

describe("random models with adaptive steps", function()
  local names = {}
  for name in pairs(models.kinds) do
    if not skipped[name] and not name:find "^adaptive" and not name:find "^events" then names[#names + 1] = name end
  end
  table.sort(names)
  for number, name in ipairs(names) do
    it("keep the tolerance: " .. name, function()
      math.randomseed(7000 + number)
      for _ = 1, count do
        local build = models.kinds[name]()
        local coarse, start, stats = ends(build, 1e-2)
        local fine = ends(build, 1e-2 / 32)
        local size, apart = 0, 0
        for i = 1, #fine do
          size = math.max(size, math.abs(fine[i]), math.abs(start[i]))
          apart = math.max(apart, math.abs(fine[i] - coarse[i]))
        end
        assert.is_true(stats.forced > 0 or apart <= (most[name] or 0.05) * size, ("%s: %g of %g"):format(name, apart, size))
      end
      told("models with adaptive steps, " .. name, count)
    end)
  end
end)
