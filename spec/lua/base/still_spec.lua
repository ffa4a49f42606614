-- Callbacks of nslua whose tables are settled.
local ns = require "nslua"
local still = require "nslua.base.still"

describe("a settled callback", function()
  it("is marked and returned, and compiles whatever its tables hold", function()
    local many, k = { in_it = {} }, 1
    for i = 1, 100 do many.in_it[i] = i end
    local function rate(x) return k * x end
    local function f(_, x, _, out) out[1] = -rate(many.in_it[2] * x[1]) end
    local function simulation(of)
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), ns.FirstOrderNonLinearDS({ 1 }, of)
      nsds:insertDynamicalSystem(ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)), ds
    end
    assert.is_nil(still.is(f))
    assert.equal("it may read more than 50 values besides its arguments", simulation(f):compile({ native = false })[1].why)
    local marked = still.mark(function(_, x, _, out) out[1] = -rate(many.in_it[2] * x[1]) end)
    assert.is_true(still.is(marked))
    local simu, ds = simulation(marked)
    assert.equal("tape", simu:compile({ native = false })[1].how)
    simu:computeOneStep()
    simu:nextStep()
    k = 5 -- of a function of the script
    simu:computeOneStep()
    assert.near(1 / 1.2 / 2, ds:x()[1], 1e-15)
  end)
end)
