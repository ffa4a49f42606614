-- simu:check(): callbacks that give nothing; errors of callbacks. What it says of Jacobians: spec/model/audit_spec.lua.
local ns = require "nslua"
local models = require "bind.models"

describe("check()", function()
  it("tells the callbacks that write nothing and return nothing", function()
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1, 0 }, f = function() end, M = function() end }
    local simu = models.simulate(ds, ns.FirstOrderNonLinearR {
      name = "r", h = function(_, x, _, _, y) y = { x[1] } end, g = function() end, -- luacheck: ignore
    })
    local good, report = simu:check()
    assert.is_false(good)
    assert.equal(table.concat({
      "dynamical system 'ds 1' computef: writes nothing into f (an assignment f = ... rebinds the local; write f[1] = ...)",
      "dynamical system 'ds 1' computeM: writes nothing into M (an assignment M = ... rebinds the local; "
        .. "write M[1][1] = ...)",
      "relation 'r' computeh: writes nothing into y (an assignment y = ... rebinds the local; write y[1] = ...)",
      "relation 'r' computeg: writes nothing into r (an assignment r = ... rebinds the local; write r[1] = ...)",
    }, "\n"), report)
    simu = models.simulate(ns.FirstOrderLinearDS(models.linear_ds), ns.FirstOrderLinearR {
      C = function() end, B = function() end, e = function() end,
    })
    good, report = simu:check()
    assert.is_false(good)
    for _, text in ipairs { "computeC: writes nothing into C", "computeB: writes nothing into B", "write e[1] = ..." } do
      assert.matches(text, report, 1, true)
    end
  end)

  it("leaves alone callbacks that write zeros, return, or write elsewhere or later", function()
    local state = models.NonLinearR
    for _, h in ipairs {
      function(_, _, _, _, y) y[1] = 0 end,
      function(_, x, _, _, y) y:assign { x[2] } end,
      function(_, x) return { x[2] } end,
      function(_, x) return x[2] end,
      function(_, x, _, _, y) if x[1] > 1 then y[1] = x[1] - 1 end end,
      function(t, _, _, _, y) if t > 0.6 then y[1] = t end end,
    } do
      local simu = models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds),
        ns.FirstOrderNonLinearR { h = h, g = state.g })
      assert.is_true((simu:check()))
    end
    local M = function(_, _, E) E[1][1], E[2][2] = 1, 1 end
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.FirstOrderLinearDS { x0 = { 1, 1 }, M = M })
    assert.is_true((ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)):check()))
  end)

  it("raises what a callback raises", function()
    local wrapped, fault = models.faulty(models.NonLinearR)
    local simu = models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds), ns.FirstOrderNonLinearR(wrapped))
    fault.Jacgx.now = models.faults.nan
    assert.equal("model.lua:2: relation 'friction' computeJacgx: K[1][1] is nan", models.failure(simu.check, simu))
    fault.Jacgx.now = models.faults.object
    assert.equal(models.object, models.failure(simu.check, simu))
    fault.Jacgx.now = nil
    assert.is_true(simu:check())
  end)
end)
