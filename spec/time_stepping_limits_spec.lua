-- The models of spec/cases of first order: backward Euler converges to the event-driven run with order 1, finite elements with
-- theirs.
local ns = require "nslua"
local relays = require "random_relays"

-- The step of the coarsest of three runs, and the number of events.
local cases = {
  relay_oscillator = { 2e-3, 54 }, filippov = { 1e-3 }, relay_two_axes = { 1e-3, 2 }, friction_oscillator = { 2e-3, 8 },
  circuit_rlcd = { 1e-6, 16 }, circuit_rlcd_gamma = { nil, 10 }, diode_bridge = { 1e-6, 64 }, step_system = { 1e-3, 3 },
  step_reduced = { 1e-3, 2 }, coupled_relays = { 1e-2, 6 },
}

-- The graph of a case, at its start. Also the simulation of the case, which keeps it.
local function graph(name)
  local _, simu = assert(loadfile("spec/cases/" .. name .. ".lua"))()()
  simu:reset()
  return simu:nsds(), simu
end

local function final_state(nsds)
  local x = {}
  for d = 1, nsds:numberOfDynamicalSystems() do
    for _, v in ipairs(nsds:dynamicalSystem(d):x():totable()) do x[#x + 1] = v end
  end
  return x
end

local function run(name, make)
  local nsds, old = graph(name)
  old:close()
  local simu = make(nsds)
  simu:run { record = 1000000 }
  return final_state(nsds), simu
end

describe("time stepping", function()
  for name, case in pairs(cases) do
    it("converges to the event-driven run: " .. name, function()
      local exact, simu = run(name, function(nsds)
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, nsds:T() / 10), ns.RungeKuttaOSI())
      end)
      if case[2] then assert.equal(case[2], #simu:events()) end
      if not case[1] then return end
      local last = math.huge
      for k = 0, 2 do
        local x = run(name, function(nsds)
          return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, case[1] / 4 ^ k), ns.EulerMoreauOSI(1))
        end)
        local off = relays.off(exact, x)
        assert.is_true(off <= last / 2.5 or off < 1e-8, ("%g after %g"):format(off, last))
        last = off
      end
    end)
  end
end)

describe("finite elements", function()
  for name, case in pairs(cases) do
    it("converge to the event-driven run: " .. name, function()
      local exact = run(name, function(nsds)
        return ns.EventDriven(nsds, ns.TimeDiscretisation(0, nsds:T() / 10), ns.RungeKuttaOSI(1e-12, 1e-14))
      end)
      local off = {}
      for k, steps in ipairs { 200, 400 } do
        local x, simu = run(name, function(nsds)
          return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, nsds:T() / steps), ns.FESDOSI { stages = 2 }) -- of order 3
        end)
        if case[2] then assert.equal(case[2], #simu:events()) end
        off[k] = relays.off(exact, x)
      end
      local order = math.log(off[1] / off[2], 2)
      assert.is_true(off[2] < 1e-12 or order > 2.8 and order < 3.2, ("order %g, error %g"):format(order, off[2]))
    end)
  end
end)
