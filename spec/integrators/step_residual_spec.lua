-- The test of a step: rows by their terms, unknowns by their sizes, whatever else is in the system.
local ns = require "nslua"

local function step_through(nsds, osi, h)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi)
  return simu, simu:run()
end

describe("a step's unknowns", function()
  -- A valve's lift (m) that settles at L, beside a pressure (Pa), in one system and in two.
  it("are judged by their own sizes: a lift in m beside a pressure in Pa", function()
    local L, P = 1e-3, 1e7
    local function rate(s) return 10 * L * (1 - (s / L) ^ 5) end
    local both = ns.FirstOrderNonLinearDS({ P, 0.1 * L }, function(_, x, _, f)
      f[1], f[2] = -0.01 * (x[1] - P), rate(x[2])
    end)
    local lift = ns.FirstOrderNonLinearDS({ 0.1 * L }, function(_, x, _, f) f[1] = rate(x[1]) end)
    local ends = {}
    for _, ds in ipairs { both, lift } do
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ds)
      step_through(nsds, ns.EulerMoreauOSI(1), 0.5)
      ends[#ends + 1] = ds:x()[#ds:x()] / L
    end
    assert.near(ends[2], ends[1], 1e-13)
    -- the equation of the last step, s - s_k = h f(s), would be off by what the first iteration left
    assert.near(0.9999978787563, ends[1], 1e-12)
  end)

  local function pendulum(others, make)
    local q0, v0, m = { 1 }, { 0 }, { 1 }
    for i = 1, others do q0[i + 1], v0[i + 1], m[i + 1] = 1e8, 1e12, 1e-6 end
    local ds = ns.LagrangianDS {
      q0 = q0, v0 = v0, mass = ns.diag(m),
      fInt = function(_, q, _, _, f) f[1] = 1e3 * math.sin(q[1]) end,
    }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = step_through(nsds, make(), 0.1)
    return ds:q()[1], ds:velocity()[1], simu
  end

  it("are judged by their own sizes: an angle beside a coordinate of 1e8 m", function()
    for _, make in ipairs { function() return ns.MoreauJeanOSI(0.5) end, function() return ns.SchatzmanPaoliOSI(0.5) end } do
      local q, v = pendulum(0, make)
      local beside, speed = pendulum(1, make)
      assert.near(q, beside, 1e-9)
      assert.near(v, speed, 1e-8)
    end
  end)

  it("may be tiny: nothing is absolute that was not asked for", function()
    for _, size in ipairs { 1, 1e-15, 1e-150 } do
      local ds = ns.FirstOrderNonLinearDS({ 2 * size }, function(_, x, _, f) f[1] = -x[1] * (x[1] / size) ^ 2 end)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      step_through(nsds, ns.EulerMoreauOSI(1), 1)
      assert.near(1, ds:x()[1] / size, 1e-14) -- u + u^3 = 2
    end
  end)

  it("that cancel to 0 do not keep a step from passing", function()
    local ds = ns.FirstOrderNonLinearDS({ 0, 1e-3, 1e5 }, function(_, x, _, f)
      local a, b = 1e5 * math.sin(x[3] / 1e5), 1e5 * math.sin(x[3] / 1e5 + x[1])
      f[1], f[2], f[3] = a - b, x[1] - x[2], -x[3]
    end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = step_through(nsds, ns.EulerMoreauOSI(1), 0.01)
    assert.is_true(math.abs(ds:x()[1]) < 1e-13)
    assert.is_true(simu:stats().max_newton_iterations <= 5)
  end)
end)

describe("a step's tolerance", function()
  local function simulation(atol, residual)
    local ds = ns.FirstOrderNonLinearDS({ 2 }, function(_, x, _, f) f[1] = -x[1] ^ 3 end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1))
    simu:setNewtonTolerance(1e-15, atol)
    if residual then simu:setNewtonAbsoluteResidual(residual) end
    simu:run()
    return math.abs(ds:x()[1] - 1), simu:newtonIterations()
  end

  it("is absolute where a script says so", function()
    local exact, most = simulation(0)
    local rough, few = simulation(0.01)
    assert.is_true(exact < 1e-15)
    assert.is_true(few < most and rough < 0.01)
    local _, default = simulation()
    assert.equal(most, default)
  end)

  it("may be one of the residuals themselves", function()
    local _, most = simulation(0)
    local rough, few = simulation(0, 0.1)
    assert.is_true(few < most and rough > 1e-8 and rough < 0.1)
    local simu = ns.TimeStepping(ns.NonSmoothDynamicalSystem(0, 1), ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1))
    assert.error_matches(function() simu:setNewtonAbsoluteResidual(-1) end,
      "setNewtonAbsoluteResidual: residual: expected 0 or more, got %-1.0")
    assert.error_matches(function() simu:setNewtonAbsoluteResidual() end, "setNewtonAbsoluteResidual: residual: expected")
  end)
end)
