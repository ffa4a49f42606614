-- Circuits of diodes and switches against closed forms.
local ns = require "nslua"
local circuits = require "circuits"
local relays = require "random_relays"

local names = {}
for name in pairs(circuits) do names[#names + 1] = name end
table.sort(names)

-- The final state of a run by backward Euler with steps of h.
local function euler(name, h)
  local circuit = circuits[name]()
  local simu = ns.TimeStepping(circuit.nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(1))
  local sol = simu:run { record = 1000000 }
  return sol.x[#sol], circuit.x
end

describe("circuits", function()
  for _, name in ipairs(names) do
    it(name .. ": backward Euler has order 1", function()
      local h, last = circuits[name]().h / 4, math.huge
      for k = 1, 3 do
        local off = relays.off(euler(name, h / 2 ^ k))
        assert.is_true(off <= 0.6 * last or off < 1e-12, ("%g after %g"):format(off, last))
        last = off
      end
      assert.is_true(last < 0.02, last)
    end)
  end
end)
