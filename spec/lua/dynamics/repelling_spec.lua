-- Multipliers and exponents where neighbours move apart by orders of magnitude in the time of a run.
local campaign = require "campaign"
local expect = require "expect"
local numbers = require "random_numbers"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, raises = expect.near_number, expect.fails
local uniform = numbers.uniform

-- A circle that repels, beside a state that decays, in bent coordinates and other units: r' = r s with s = g (r - 1) / (1 +
-- (r - 1)^2), the angle goes round once in the time 2 pi / w, z' = -c z. Its multipliers are exp(2 pi g / w) and exp(-2 pi c / w).
local function repelling(growth)
  local w, c, bend, unit, time = uniform(0.5, 3), uniform(0.02, 0.3), uniform(-0.3, 0.3), numbers.power(20), numbers.power(10)
  local g = growth * w / (2 * math.pi)
  local function rhs(_, x)
    local a, b, z = x[1] / unit, (x[2] - bend * x[1] ^ 2 / unit) / unit, x[3] / unit
    local r = (a * a + b * b) ^ 0.5
    local s = g * (r - 1) / (1 + (r - 1) ^ 2)
    local da, db = a * s - w * b, b * s + w * a
    return { unit / time * da, unit / time * (db + 2 * bend * a * da), -unit / time * c * z }
  end
  return { rhs = rhs, guess = { unit, bend * unit, 0 }, scale = { unit, unit, unit }, autonomous = true,
    period = 2 * math.pi / w * time }, math.exp(growth), math.exp(-2 * math.pi * c / w)
end

describe("orbits that repel #once", function()
  it("have the multipliers of their closed form, in any units", function()
    math.randomseed(71)
    local count, report = campaign(10, 1 / 400)
    for i = 1, count do
      local options, large, small = repelling(uniform(0, 13))
      local orbit = dynamics.periodic(options)
      local told = ("orbit %d: %s"):format(i, tostring(orbit))
      assert.equal("exact", orbit.derivative, told)
      assert.near(1, orbit.multipliers[1].re / large, 1e-6, told)
      assert.near(1, orbit.multipliers[2].re / small, 1e-6 * large, told)
      near(1, orbit.trivial.re, 1e-8 * large)
      assert.is_nil(orbit.doubt)
    end
    report("repelling orbits", count)
  end)

  it("have them by differences, to what these tell", function()
    math.randomseed(72)
    local count, report = campaign(6, 1 / 1000)
    for i = 1, count do
      local options, large = repelling(uniform(0, 13))
      options.events = { g = function(_, x) return x[1] end } -- it does not act: differences are taken
      local orbit = dynamics.periodic(options)
      assert.equal("differences", orbit.derivative)
      local share = orbit.derivative_message:match "known to (%S+) of their size"
      local allowed = share and tonumber(share) or 1e-5
      assert.near(1, orbit.multipliers[1].re / large, allowed, ("orbit %d: %s"):format(i, tostring(orbit)))
    end
    report("repelling orbits by differences", count)
  end)

  it("tell where differences are known to a few digits, and a trivial multiplier that is not 1", function()
    math.randomseed(73)
    local options = repelling(19)
    options.events = { g = function(_, x) return x[1] end }
    assert.matches("^an event of the model does not act; the differences are known to %S+ of their size only$",
      dynamics.periodic(options).derivative_message)
    local rough = { rhs = function(_, x) return { x[2], 0.5 * (1 - x[1] ^ 2) * x[2] - x[1] } end, guess = { 2, 0 },
      autonomous = true, period = 6.4, rtol = 1e-3, atol = 1e-3, tol = 1e-3 }
    local orbit = dynamics.periodic(rough)
    assert.is_true(math.abs(orbit.trivial.re - 1) > 1e-3)
    assert.matches("the multiplier of the motion along the orbit, which is 1, was found as " .. tostring(orbit.trivial)
      .. ": do not trust the others; take more segments, or runs of higher accuracy", orbit.doubt, 1, true)
    assert.matches(orbit.doubt, tostring(orbit), 1, true)
    rough.rtol, rough.atol, rough.tol = nil, nil, nil
    assert.is_nil(dynamics.periodic(rough).doubt)
  end)

  it("still doubt the derivative of a field that switches without an event", function()
    local orbit = dynamics.periodic { autonomous = true, guess = { 1, 0.1 }, period = 6.3, rtol = 1e-9,
      rhs = function(_, x)
        local r2 = x[1] ^ 2 + x[2] ^ 2
        return { -x[2] + x[1] * (1 - r2), x[1] + x[2] * (1 - r2) + (x[1] > 0.3 and 0.4 or -0.4) }
      end }
    assert.equal("differences", orbit.derivative)
    assert.matches("a field that switches without an event", orbit.derivative_message, 1, true)
    near(1, orbit.trivial.re, 1e-3)
  end)
end)

describe("exponents with windows of any length #once", function()
  it("are the same", function()
    local rhs = function(_, x) return { 2 * (x[1] - x[1] ^ 3), -3 * x[2] + x[1], -7 * x[3] + x[1] * x[2] } end
    local wanted
    for _, window in ipairs { 0.5, 4, 16 } do
      local result = dynamics.lyapunov { rhs = rhs, guess = { 1, 0.4, 0.2 }, time = 32, window = window, transient = 16 }
      wanted = wanted or result.exponents
      expect.near(wanted, result.exponents, 1e-7)
    end
    near(-14, wanted[1] + wanted[2] + wanted[3], 1e-7)
  end)

  it("ask for a shorter one where a simulation's run does not tell them", function()
    local function simulation()
      local ds = ns.FirstOrderLinearTIDS({ 1, 0.5 }, { { -1, 0 }, { 1, -26 } }, { 1, 0 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 4)
      nsds:insertDynamicalSystem(ds)
      return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 1), ns.RungeKuttaOSI())
    end
    local options = { simulation = simulation, guess = { 1, 0.5 }, time = 4, window = 0.5, scale = { 1, 1 } }
    expect.near({ -1, -26 }, dynamics.lyapunov(options).exponents, 1e-3)
    for _, window in ipairs { 1, 2 } do
      options.window = window
      raises("dynamics.lyapunov: window: neighbours come closer to each other by a factor of ", dynamics.lyapunov, options)
      raises((" in %g, which their derivative does not resolve: give a shorter one"):format(window), dynamics.lyapunov, options)
    end
  end)
end)
