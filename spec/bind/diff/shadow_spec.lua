local ns = require "nslua"

describe("shadows: derivatives of plain Lua callbacks by their traces", function()
  -- x' = f(x) for a time of 1, from 1.
  local function driven(f, z)
    local ds = ns.FirstOrderNonLinearDS({ 1 }, f)
    if z then ds:setzPtr(ns.vector(z)) end
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI()), ds
  end

  local function slope(simu, name)
    simu:reset()
    local sol = simu:run { sensitivities = { name } }
    return sol.S[#sol][1][1]
  end

  it("follow variables that a script changes between runs", function()
    local rate = 1
    local simu = driven(function(_, x, _, f) f[1] = -rate * x[1] end)
    assert.near(math.exp(-1), slope(simu, "x0"), 1e-11)
    rate = 2
    assert.near(math.exp(-2), slope(simu, "x0"), 1e-11)
  end)

  it("follow fields of the object that a script changes between runs", function()
    local Tank = ns.class(ns.FirstOrderNonLinearDS)
    function Tank:computef(_, x, _, f) f[1] = -self.rate * x[1] end
    local ds = Tank { 1 }
    ds.rate = 1
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI())
    assert.near(math.exp(-1), slope(simu, "x0"), 1e-11)
    ds.rate = 2
    assert.near(math.exp(-2), slope(simu, "x0"), 1e-11)
  end)

  it("are right where a callback branches on a value", function()
    local simu = driven(function(_, x, z, f) f[1] = x[1] > 0 and -z[1] * x[1] or 7 end, { 2 })
    assert.near(-math.exp(-2), slope(simu, "z"), 1e-10)
  end)

  it("are those of the callback, not of a Jacobian that a script gives", function()
    local simu, ds = driven(function(_, x, _, f) f[1] = -x[1] end)
    ds:setComputeJacobianfxFunction(function(_, _, _, J) J[1][1] = -5 end)
    assert.near(math.exp(-1), slope(simu, "x0"), 1e-11)
  end)

  it("take few calls", function()
    local calls = 0
    local simu = driven(function(_, x, z, f)
      calls = calls + 1
      f[1] = -z[1] * x[1] ^ 3
    end, { 2 })
    simu:run()
    local plain = calls
    simu:reset()
    simu:run { sensitivities = { "x0", "z" } }
    assert.is_true(calls - plain < 3 * plain)
  end)
end)
