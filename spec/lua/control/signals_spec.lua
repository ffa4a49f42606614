-- Functions of time that jump at known instants: the runs are exact, whatever the grid.
local ns = require "nslua"
local expect = require "expect"

local fails = expect.fails

-- The integral of signals from 0 to T, on a grid with steps of h, by the simulation `make`.
local function integrals(list, T, h, make)
  local n = #list
  local ds = ns.FirstOrderLinearDS(ns.zeros(n), ns.zeros(n, n))
  ds:setComputebFunction(function(t, _, b)
    for i = 1, n do
      local v = list[i](t)
      b[i] = v == true and 1 or v == false and 0 or v
    end
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  local simu = make(nsds, ns.TimeDiscretisation(0, h))
  ns.follow(simu, table.unpack(list))
  simu:run()
  return ds:x():copy(), simu
end

local function event_driven(nsds, td) return ns.EventDriven(nsds, td, ns.RungeKuttaOSI(1e-13)) end

local function signals()
  return { ns.clock { period = 0.7, duty = 0.3, low = -1, high = 2 }, ns.clock { period = 0.25, delay = 0.1 },
    ns.sawtooth { period = 0.3, low = 1, high = 3, delay = 0.2 },
    ns.table_of_time { times = { 1, 2, 2, 3 }, values = { 0, 1, 5, 2 }, kind = "linear" },
    ns.table_of_time { times = { 0.5, 2.25 }, values = { 1, 3 } }, ns.pwm { duty = 0.4, carrier = { period = 0.3 } },
    ns.pwm { duty = function(t) return 0.5 + 0.1 * t end, carrier = { period = 1 } } }
end

describe("a signal", function()
  -- by hand, from 0 to 4
  local saw = 12 * 0.6 + 0.2 * 1 + (1 * 0.2 + 0.2 * 0.2 / 0.3)
  local ramp = 0
  for k = 0, 3 do ramp = ramp + (0.5 + 0.1 * k) / 0.9 end
  local want = { 2 * (5 * 0.21 + 0.21) - (4 - 6 * 0.21), 16 * 0.125, saw, 0.5 + 3.5 + 2,
    0.5 * 1 + 1.75 + 1.75 * 3, 13 * 0.12 + 0.1, ramp }

  it("is integrated exactly, on any grid", function()
    for _, h in ipairs { 0.05, 0.4, 4 } do expect.near(want, integrals(signals(), 4, h, event_driven), 1e-12) end
  end)

  it("is exact in time stepping, where it is constant between two instants", function()
    local x = integrals({ signals()[1], signals()[2] }, 4, 0.4, function(nsds, td)
      return ns.TimeStepping(nsds, td, ns.EulerMoreauOSI(0.5))
    end)
    expect.near({ want[1], want[2] }, x, 1e-12)
  end)

  it("is known up to its next instant: a block that rubs in EventDriven is not asked for more", function()
    local block, pulse = ns.LagrangianDS({ 0 }, { 0 }, { { 1 } }), ns.pwm { duty = 0.4, carrier = { period = 0.5 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 3)
    nsds:insertDynamicalSystem(block)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.LagrangianLinearTIR { { 1 } }), block)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.03), ns.RungeKuttaOSI())
    ns.follow(simu, pulse)
    block:setComputeFExtFunction(function(t, _, F) F[1] = pulse(t) and 2.5 or 0 end)
    simu:run() -- six pulses of 0.2 that gain 1.5 each second, and as much is lost after 0.3 of each
    assert.near(6 * (1.5 * 0.2 ^ 2 / 2 + (1.5 * 0.2) ^ 2 / 2), block:q()[1], 1e-12)
  end)

  it("is the same after reset and in a clone at any time", function()
    local first, simu = integrals(signals(), 4, 0.5, event_driven)
    simu:reset()
    for _ = 1, 3 do
      simu:computeOneStep()
      simu:nextStep()
    end
    local clone = simu:clone()
    simu:run()
    clone:run()
    assert.are.equal(0, (simu:nsds():dynamicalSystem(1):x() - first):norm())
    assert.are.equal(0, (clone:nsds():dynamicalSystem(1):x() - first):norm())
  end)

  it("is a plain function outside of a run: at an instant it has the value after it", function()
    local clock, saw_tooth = ns.clock { period = 1 }, ns.sawtooth { period = 0.1 }
    assert.is_true(clock(0) and clock(0.25) and not clock(0.5) and clock(1) and not clock(-1))
    for k = 1, 20 do assert.is_true(saw_tooth(k * 0.1) < 1e-9) end
    assert.are.equal(0, ns.table_of_time({ times = { 1 }, values = { 0 } })(0))
  end)

  it("makes the switch of a converter exact: the buck converter of the manual", function()
    local R, C, L, T = 22, 47e-6, 20e-3, 4e-4
    local last
    for _, h in ipairs { T, 20 * T } do
      local plant = ns.FirstOrderLinearTIDS({ 12, 0.55 }, { { -1 / (R * C), 1 / C }, { -1 / L, 0 } }, { 0, 10 / L })
      local relation, tooth = ns.FirstOrderLinearR { C = { { 8.4, 0 } }, B = { { 0 }, { 10 / L } } },
        ns.sawtooth { period = T, low = 3.8, high = 8.2 }
      relation:setComputeEFunction(function(t, _, e) e[1] = -8.4 * 11.3 - tooth(t) end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 40 * T)
      nsds:insertDynamicalSystem(plant)
      nsds:link(ns.Interaction(ns.RelayNSL(1), relation), plant)
      local simu = ns.follow(ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()), tooth)
      simu:run()
      if last then expect.near(last, plant:x(), 1e-9) end
      last = plant:x():copy()
    end
  end)

  it("is a source or a gate of a circuit", function()
    local function current(gate)
      local c = ns.circuit()
      c:voltage("V", "a", "0", 10):switch("S", "a", "b", gate):resistor("R", "b", "0", 100):inductor("L", "b", "0", 1e-2)
      local columns = c:run { stop = 5e-3, step = 1e-4 }
      return columns["i.L"][#columns]
    end
    local by_table = current { period = 1e-3, duty = 0.3 }
    assert.are.equal(by_table, current(ns.clock { period = 1e-3, duty = 0.3 }))
    assert.are.equal(by_table, current(ns.pwm { duty = 0.3, carrier = { period = 1e-3 } }))
    local by_function = current(ns.pwm { duty = function() return 0.3 end, carrier = { period = 1e-3 } })
    assert.is_true(math.abs(by_function / by_table - 1) < 1e-6)
    local last
    for _, h in ipairs { 1e-4, 5e-3 } do
      local c = ns.circuit()
      c:voltage("V", "a", "0", ns.clock { period = 0.7e-3, duty = 0.3, high = 10 }):resistor("R", "a", "b", 100)
      c:capacitor("C", "b", "0", 1e-5)
      local columns = c:run { stop = 5e-3, step = h }
      local v = columns["v.b"][#columns]
      expect.near_number(last or v, v, 1e-8)
      last = v
    end
  end)

  it("refuses", function()
    local ds = ns.FirstOrderLinearDS({ 0 }, { { 0 } })
    local clock = ns.clock { period = 0.3, high = 1 }
    ds:setComputebFunction(function(t, _, b) b[1] = clock(t) end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = event_driven(nsds, ns.TimeDiscretisation(0, 0.5))
    fails("clock: it jumps at t=0.15, within a step of the simulation: ns.follow(simulation, signal) before the first step",
      simu.run, simu)
    local duty = 0.5
    local pwm = ns.pwm { duty = function() return duty end, carrier = { period = 0.3 } }
    ds:setComputebFunction(function(t, _, b) b[1] = pwm(t) and 1 or 0 end)
    local later = event_driven(nsds, ns.TimeDiscretisation(0, 0.5))
    ns.follow(later, pwm)
    duty = 0.3
    fails("pwm: it jumps at t=0.09, within a step: its duty is no function of time that ns.follow has known; compare a duty "
      .. "that changes in the run with ns.sawtooth, by a RelayNSL", later.run, later)
    fails("clock: duty: expected a number between 0 and 1, got 1", ns.clock, { period = 1, duty = 1 })
    fails("sawtooth: period: expected a number above 0, got 0", ns.sawtooth, { period = 0 })
    fails("table_of_time: times must not fall: times[2] = 0", ns.table_of_time, { times = { 1, 0 }, values = { 1, 1 } })
    fails("table_of_time: kind: expected \"previous\" or \"linear\", got 'cubic'", ns.table_of_time, { times = { 1 },
      values = { 1 }, kind = "cubic" })
    fails("table_of_time: times: expected at least one", ns.table_of_time, { times = {}, values = {} })
    fails("pwm: duty: expected a number or a function of time, got nil", ns.pwm, { carrier = { period = 1 } })
    fails("clock: unknown option 'duti'", ns.clock, { period = 1, duti = 1 })
    fails("follow: expected a signal, as of ns.clock, got function", ns.follow, simu, print)
    fails("follow: expected a simulation, got nil", ns.follow)
  end)
end)
