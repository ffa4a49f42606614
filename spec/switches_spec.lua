-- Nonlinear models with relays against a reference apart from the library.
local ns = require "nslua"
local relays = require "random_relays"
local switches = require "switch_models"

local reference = dofile "spec/reference/events/switches.lua"
local names = require "sorted_names"(switches.models)

local function euler(model, n)
  local simu, ds = switches.simulation(model, function(nsds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, model.T / n), ns.EulerMoreauOSI(1))
  end)
  for _ in simu:steps() do end
  return ds:x()
end

-- The kind of an event { t, row, from, to } in the log.
local function kind_of(event)
  return event[4] == "slide" and "slide" or event[3] == "slide" and "leave" or "cross"
end

describe("switches", function()
  for _, name in ipairs(names) do
    for _, integrator in ipairs { "RungeKuttaOSI", "RadauOSI" } do
      it(name .. ": " .. integrator .. " has every event and the state", function()
        local model, expected = switches.models[name], reference[name]
        local simu, ds = switches.simulation(model, function(nsds)
          return ns.EventDriven(nsds, ns.TimeDiscretisation(0, model.T / 11), ns[integrator]())
        end)
        simu:run()
        local tolerance = integrator == "RungeKuttaOSI" and 2e-11 or 5e-9
        assert.is_true(relays.off(expected.x, ds:x()) < tolerance)
        local log = relays.sorted(simu:events())
        assert.equal(#expected.events, #log)
        for i, event in ipairs(expected.events) do
          assert.near(event[1], log[i].t, tolerance)
          assert.equal(event[2], log[i].component)
          assert.equal(kind_of(event), log[i].kind)
        end
      end)
    end

    local function elements(n)
      local model = switches.models[name]
      local simu, ds = switches.simulation(model, function(nsds)
        return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, model.T / n), ns.FESDOSI("radau_iia", 3))
      end)
      simu:run { record = 1000 }
      return relays.off(reference[name].x, ds:x()), simu
    end

    -- The vehicle of "pursuit" meets its target between two stages, for less than 1/100 of a step: lambda is out of its bounds.
    if name == "pursuit" then it(name .. ": FESDOSI has every event, also those between stages", function()
      for _, n in ipairs { 50, 100, 200, 400 } do
        local off, simu = elements(n)
        assert.is_true(off < 2e-6, off)
        assert.equal(#reference[name].events, #simu:events())
      end
    end) else it(name .. ": FESDOSI has order 5", function()
      local coarse, fine = elements(100), elements(200)
      assert.is_true(fine <= coarse / 2 ^ 4.7 or fine < 1e-11, ("%g after %g"):format(fine, coarse))
    end) end

    it(name .. ": backward Euler has order 1", function()
      local n, last, off = 1000
      repeat
        last, off, n = off, relays.off(reference[name].x, euler(switches.models[name], n)), 2 * n
      until last and off <= 0.6 * last and off < 0.05 or n > 1e5
      assert.is_true(off <= 0.6 * last and off < 0.05, ("%g after %g"):format(off, last))
    end)
  end
end)
