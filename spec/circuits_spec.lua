-- Circuits of diodes and switches against closed forms.
local ns = require "nslua"
local circuits = require "circuits"
local relays = require "random_relays"

local names = require "sorted_names"(circuits)

-- The final state of a run by backward Euler with steps of h.
local function euler(name, h)
  local circuit = circuits[name]()
  local simu = ns.TimeStepping(circuit.nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(1))
  local sol = simu:run { record = 1000000 }
  return sol.x[#sol], circuit.x
end

-- The times of events, of all rows that switch at once one time.
local function instants(log)
  local times = {}
  for _, event in ipairs(log) do
    if #times == 0 or event.t > times[#times] * (1 + 1e-12) then times[#times + 1] = event.t end
  end
  return times
end

describe("circuits #once", function()
  for _, name in ipairs(names) do
    it(name .. ": EventDriven has the events of the closed form, and no others", function()
      local circuit = circuits[name]()
      local T = circuit.nsds:T()
      local simu = ns.EventDriven(circuit.nsds, ns.TimeDiscretisation(0, T / 8), ns.RungeKuttaOSI())
      local sol = simu:run()
      assert.is_true(relays.off(circuit.x, sol.x[#sol]) < 1e-11)
      local times, k = instants(simu:events()), 1
      -- While the bridge with a filter blocks, multipliers that are not unique change their rows where v = 0.
      if name ~= "bridge_filter" then assert.equal(#circuit.times, #times) end
      for _, event in ipairs(circuit.times) do
        while k < #times and times[k] < event.t - 1e-11 * T do k = k + 1 end
        assert.near(event.t, times[k], 1e-11 * T)
      end
      local rows = circuit.rows or 1
      if name ~= "bridge_filter" then assert.is_true(#simu:events() <= 2 * rows * #circuit.times) end
    end)

    -- Radau IIA with 3 stages has order 5; a run with few steps less, as elements end at switches.
    it(name .. ": FESDOSI has its order on any grid, also where switches fall on times of the grid", function()
      local function off(n)
        local circuit = circuits[name]()
        local T = circuit.nsds:T()
        local simu = ns.TimeStepping(circuit.nsds, ns.TimeDiscretisation(0, T / n), ns.FESDOSI("radau_iia", 3))
        local sol = simu:run { record = 1000000 }
        return relays.off(circuit.x, sol.x[#sol])
      end
      local last
      for _, n in ipairs { 50, 200, 400, 1000 } do
        local now = off(n)
        assert.is_true(now < 1e-11 or not last or now < last / (n == 200 and 4 or n == 400 and 2 or 2.5) ^ 4,
          ("%g after %g"):format(now, last or 0))
        last = now
      end
    end)

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
