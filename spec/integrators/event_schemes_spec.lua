-- The options of the integrators that go from event to event, and the families of systems that they take.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

describe("the integrators of EventDriven", function()
  it("keep tolerances that a script sets in its own units", function()
    local osi = ns.RungeKuttaOSI(1e-8)
    assert.same({ 1e-8, 1e-14 }, { osi:tolerances() })
    osi:setTolerances(nil, 1e-3)
    assert.same({ 1e-8, 1e-3 }, { osi:tolerances() })
    assert.equal("RungeKuttaOSI: rtol 1e-08, atol 0.001", tostring(osi))
  end)

  it("refuse a TimeStepping", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.LagrangianDS({ 1 }, { 0 }, { { 1 } }))
    assert.equal("TimeStepping: a RungeKuttaOSI goes with EventDriven",
      message(ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI()))
  end)
end)
