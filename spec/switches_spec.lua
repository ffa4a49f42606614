-- Nonlinear models with relays against a reference apart from the library.
local ns = require "nslua"
local relays = require "random_relays"
local switches = require "switch_models"

local reference = dofile "spec/reference/events/switches.lua"
local names = {}
for name in pairs(switches.models) do names[#names + 1] = name end
table.sort(names)

local function euler(model, n)
  local simu, ds = switches.simulation(model, function(nsds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, model.T / n), ns.EulerMoreauOSI(1))
  end)
  for _ in simu:steps() do end
  return ds:x()
end

describe("switches", function()
  for _, name in ipairs(names) do
    it(name .. ": backward Euler has order 1", function()
      local n, last, off = 1000
      repeat
        last, off, n = off, relays.off(reference[name].x, euler(switches.models[name], n)), 2 * n
      until last and off <= 0.6 * last and off < 0.02 or n > 1e5
      assert.is_true(off <= 0.6 * last and off < 0.02, ("%g after %g"):format(off, last))
    end)
  end
end)
