-- FESDOSI where data of the model change between the stages of an element.
local ns = require "nslua"
local campaign = require "campaign"
local kinds = require "simulation.events".kinds
local pulses = require "random_pulses"

-- Two shafts with a torque on the first, and a clutch whose capacity dips; `how` states it. unit, speed: of times and of speeds.
local function dipping(how, steps, unit, speed)
  unit, speed = unit or 1, speed or 1
  local rate = speed / unit
  local function cap(t) return rate * (5 - 4.5 * math.exp(-((t / unit - 53.7) / 0.5) ^ 2)) end
  local nsds, law = ns.NonSmoothDynamicalSystem(0, 100 * unit), ns.RelayNSL(1)
  local sys = ns.FirstOrderLinearTIDS({ 0, 0 }, ns.zeros(2, 2), { 2 * rate, 0 })
  nsds:insertDynamicalSystem(sys)
  local rel
  if how == "B" then
    rel = ns.FirstOrderLinearR { C = { { -1, 1 } }, B = function(t, _, B) B[1][1], B[2][1] = -cap(t), cap(t) end }
  elseif how == "g" then
    rel = ns.FirstOrderNonLinearR { h = function(_, x, _, _, y) y[1] = x[2] - x[1] end,
      g = function(t, _, l, _, r) r[1], r[2] = -cap(t) * l[1], cap(t) * l[1] end }
  else
    law = ns.RelayNSL(1, function(t) return -cap(t) end, cap)
    rel = ns.FirstOrderLinearR { C = { { -1, 1 } }, B = { { -1 }, { 1 } } }
  end
  nsds:link(ns.Interaction(law, rel, "clutch"), sys)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 100 * unit / steps), ns.FESDOSI())
  simu:run()
  return simu:events(), sys
end

-- x' = f(t) + lambda with dry friction of 1 on x, from rest at 0.
local function rubbing(f, T, steps)
  local nsds, sys = ns.NonSmoothDynamicalSystem(0, T), ns.FirstOrderNonLinearDS({ 0 }, function(t, _, _, out) out[1] = f(t) end)
  nsds:insertDynamicalSystem(sys)
  nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "rub"), sys)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, T / steps), ns.FESDOSI())
  simu:run()
  return simu:events(), sys
end

-- The number of calls of f in a smooth run.
local function calls_of(f, steps)
  local calls, nsds = 0, ns.NonSmoothDynamicalSystem(0, 20)
  nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS({ 1, 0 }, function(t, x, _, out)
    calls = calls + 1
    f(t, x, out)
  end))
  ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 20 / steps), ns.FESDOSI()):run()
  return calls
end

describe("data between the stages of FESDOSI", function()
  it("let a stuck clutch slip where its capacity dips, however long the steps are", function()
    for _, how in ipairs { "B", "g", "bounds" } do
      for _, steps in ipairs { 1, 2, 4, 5, 10, 50 } do
        local events, sys = dipping(how, steps)
        assert.equal("leave slide", kinds(events), how .. " " .. steps)
        assert.near(53.5284023, events[1].t, 1e-6)
        assert.near(54.056358, events[2].t, 1e-4)
        for i = 1, 2 do assert.near(100, sys:x()[i], 1e-9) end
      end
    end
  end)

  it("are seen in any units of time and of states", function()
    local events, sys = dipping("B", 2)
    for _, case in ipairs { { 2 ^ 40, 1 }, { 2 ^ -50, 2 ^ 60 }, { 1, 2 ^ -90 } } do
      local others, other = dipping("B", 2, case[1], case[2])
      assert.equal(#events, #others)
      for i, event in ipairs(events) do assert.equal(event.t * case[1], others[i].t) end
      assert.equal(sys:x()[1] * case[2], other:x()[1])
    end
  end)

  it("may jump while a row slides", function()
    -- It leaves at 1, has the speed 2 until 1.5, and falls to 0 until 2.5.
    for _, steps in ipairs { 1, 3, 7, 30 } do
      local events, sys = rubbing(function(t) return t >= 1 and t < 1.5 and 3 or 0 end, 10.3, steps)
      assert.equal("leave slide", kinds(events))
      assert.near(1, events[1].t, 1e-14)
      assert.near(2.5, events[2].t, 5e-3)
      assert.near(0, sys:x()[1], 1e-13)
    end
  end)

  it("have the influence of their integral, in coefficients, masses and algebraic equations", function()
    local function bell(t) return math.exp(-((t - 3.3) / 0.1) ^ 2) end
    local way = 0.1 * math.sqrt(math.pi) -- the integral of the bell
    local function last(ds)
      local nsds = ns.NonSmoothDynamicalSystem(0, 10)
      nsds:insertDynamicalSystem(ds)
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5), ns.FESDOSI()):run()
      return ds:x()[1]
    end
    assert.near(math.exp(-4 * way), last(ns.FirstOrderLinearDS({ 1 }, function(t, _, A) A[1][1] = -4 * bell(t) end)), 5e-3)
    assert.near(5 * way, last(ns.FirstOrderLinearDS({ 0 }, { { 0 } }, function(t, _, b) b[1] = 5 * bell(t) end)), 5e-3)
    local heavy = ns.FirstOrderNonLinearDS({ 0 }, function(_, _, _, f) f[1] = 1 end)
    heavy:setMPtr(function(t, _, M) M[1][1] = 1 / (1 + 8 * bell(t)) end)
    assert.near(10 + 8 * way, last(heavy), 2e-2)
    local dae = ns.FirstOrderNonLinearDS { x0 = { 0, 0 }, f = function(t, x, _, f) f[1], f[2] = x[2], x[2] - 5 * bell(t) end }
    dae:setMPtr { { 1, 0 }, { 0, 0 } }
    assert.near(5 * way, last(dae), 5e-3)
  end)

  it("cost little where there is nothing to be seen", function()
    local function still(_, x, f) f[1], f[2] = x[2], -x[1] end
    local function smooth(t, x, f) f[1], f[2] = x[2], -x[1] + math.sin(t) end
    local function noise(t, x, f) f[1], f[2] = -x[1], math.sin(t) ^ 2 + math.cos(t) ^ 2 - 1 end
    -- Per element 3 stages, two or three iterations with dual numbers, and 5 or 9 samples
    for name, f in pairs { still = still, smooth = smooth, noise = noise } do
      assert.is_true(calls_of(f, 100) < 200 * 45, name)
    end
    assert.is_true(calls_of(still, 1) < 1200)
  end)
end)

describe("random models with pulses", function()
  local count, told = campaign(3, 0.01)
  for number, name in ipairs((function(list)
    for kind in pairs(pulses.kinds) do list[#list + 1] = kind end
    table.sort(list)
    return list
  end) {}) do
    it("move by FESDOSI on coarse grids as by EventDriven: " .. name .. " #once", function()
      for seed = 1, count do
        math.randomseed(1000 * number + seed)
        local build = pulses.kinds[name]()
        local steps, stages = math.random(4, 12), math.random(3, 4)
        local reference, wanted = build("EventDriven", ns.RungeKuttaOSI(), 100)
        local simu, found = build("TimeStepping", ns.FESDOSI("radau_iia", stages), steps)
        reference:run()
        simu:run()
        local where = ("seed %d, %d steps, %d stages"):format(seed, steps, stages)
        local events = reference:events()
        if events[1] and events[1].kind == "rest" and events[1].t == 0 then table.remove(events, 1) end -- it lies at the start
        assert.equal(kinds(events), kinds(simu:events()), where)
        local x, start = wanted.x and wanted:x() or wanted:q(), wanted.x and wanted:x0() or wanted:q0()
        local size, y = 0, found.x and found:x() or found:q()
        for i = 1, #x do size = math.max(size, math.abs(x[i]), math.abs(start[i])) end
        for i = 1, #x do assert.near(x[i], y[i], 3e-3 * size, where) end
      end
      told("pulses, FESDOSI, " .. name, count)
    end)
  end
end)
