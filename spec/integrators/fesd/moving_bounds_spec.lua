-- FESDOSI with bounds of relays that are functions of time.
local ns = require "nslua"
local campaign = require "campaign"
local kinds = require "simulation.events".kinds
local moving = require "moving_bounds"

local exp, sin, cos = math.exp, math.sin, math.cos

-- x1' = exp(t) - 1 + lambda, x2' = lambda - x2, y = x1, |lambda| <= c(t) = 1 + cos(2 t) / 2, from 0: it slides until
-- exp(t) - 1 = c(t). Returns x at T = 1.5, and the time of the switch.
local function leaves()
  local T, t = 1.5, 0.8
  for _ = 1, 20 do t = t - (exp(t) - 2 - cos(2 * t) / 2) / (exp(t) + sin(2 * t)) end
  local function c_integral(s) return s + sin(2 * s) / 4 end
  -- Solutions of x2' = lambda - x2 for lambda = 1 - exp(s), and for lambda = -c(s)
  local function sliding(s) return 1 - exp(s) / 2 end
  local function slipping(s) return -1 - (cos(2 * s) + 2 * sin(2 * s)) / 10 end
  local x1 = exp(T) - T - exp(t) + t - c_integral(T) + c_integral(t)
  local x2 = sliding(t) - sliding(0) * exp(-t)
  return x1, slipping(T) + (x2 - slipping(t)) * exp(t - T), t
end

local function leaving(osi, steps)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
  local sys = ns.FirstOrderNonLinearDS({ 0, 0 }, function(t, x, _, f) f[1], f[2] = exp(t) - 1, -x[2] end)
  nsds:insertDynamicalSystem(sys)
  local function c(t) return 1 + cos(2 * t) / 2 end
  local law = ns.RelayNSL(1, function(t) return -c(t) end, c)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 }, { 1 } }), "rub"), sys)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1.5 / steps), osi), sys, law
end

describe("moving bounds in FESDOSI", function()
  it("keep the order of the method through a switch", function()
    local x1, x2, t = leaves()
    for stages, grids in pairs { [2] = { 7, 13, 25, 49 }, [3] = { 3, 5, 9, 17 } } do
      local n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
      for _, steps in ipairs(grids) do
        local simu, sys = leaving(ns.FESDOSI("radau_iia", stages), steps)
        simu:run()
        assert.equal("leave", kinds(simu:events()))
        assert.near(t, simu:events()[1].t, 0.1 * (1.5 / steps) ^ stages)
        local x, y = math.log(steps), -math.log(math.max(math.abs(sys:x()[1] - x1), math.abs(sys:x()[2] - x2)))
        n, sx, sy, sxx, sxy = n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y
      end
      assert.near(2 * stages - 1, (n * sxy - sx * sy) / (n * sxx - sx * sx), 0.35)
    end
  end)

  it("tell lambda at the bound between rows, and go on after reset", function()
    local simu, sys, law = leaving(ns.FESDOSI(), 9)
    local sol = simu:run { dense = true }
    for at = 1.2, 1.4, 0.05 do assert.near(-1 - cos(2 * at) / 2, sol:at(at).lambda[1], 1e-12) end
    assert.near(1 + cos(3) / 2, law:ub()[1], 1e-15)
    local x = sys:x()[1]
    simu:reset()
    simu:run()
    assert.equal(x, sys:x()[1])
    simu:reset()
    assert.error_matches(function() simu:run { sensitivities = { { sys, "x0", 1 } } } end, "a FESDOSI carries no derivatives")
  end)

  it("let a clutch slip while its capacity dips, touches 0 or jumps, on any grid #once", function()
    for name, case in pairs(moving.clutches) do
      for _, stages in ipairs { 2, 3, 4 } do
        for _, n in ipairs(case.steps or { 1, 3, 10, 64 }) do
          local simu, sys = moving.clutch(case, "TimeStepping", ns.FESDOSI("radau_iia", stages), n)
          simu:run()
          local where = ("%s, %d stages, %d steps"):format(name, stages, n)
          assert.equal(case.events, kinds(simu:events()), where)
          for i, time in ipairs(case.times) do assert.near(time, simu:events()[i].t, case.T / 2000, where) end
          for i = 1, 2 do assert.near(case.x[i], sys:x()[i], 1e-9, where) end
        end
      end
    end
  end)

  it("tells of bounds that are wrong at some time", function()
    local function raises(text, upper)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local sys = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
      nsds:insertDynamicalSystem(sys)
      nsds:link(ns.Interaction(ns.RelayNSL(1, -1, upper), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "rub"), sys)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.FESDOSI())
      assert.error_matches(function() simu:run() end, text)
    end
    raises("RelayNSL: lb%[1%] = %-1 is above ub%[1%] = %-2", function(t) return t > 0.2 and -2 or 1 end)
    raises("interaction 'rub' ub: t=[%d.]+: broken", function(t) return t > 0.2 and error("broken", 0) or 1 end)
  end)
end)

describe("random systems whose relays have moving bounds", function()
  local count, told = campaign(6, 0.01)
  it("move by FESDOSI as by EventDriven, with the order of the method #once", function()
    for seed = 1, count do
      local want, events = moving.family(seed, false, "EventDriven", ns.RungeKuttaOSI(), 64)
      for _, case in ipairs { { 4, 1e-3 }, { 16, 1e-5 }, { 64, 1e-8 } } do
        local x, log = moving.family(seed, true, "TimeStepping", ns.FESDOSI(), case[1])
        for i = 1, #want do assert.near(want[i], x[i], case[2], ("seed %d, %d steps"):format(seed, case[1])) end
        if case[1] > 4 then assert.equal(kinds(events), kinds(log), ("seed %d, %d steps"):format(seed, case[1])) end
      end
    end
    told("moving bounds, FESDOSI", count)
  end)
end)
