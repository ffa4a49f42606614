-- Where a number of an object is in its clone: also spec/bind/model/relink_spec.lua.
local ns = require "nslua"

describe("the counterpart of a number", function()
  it("is in the same array of the clone, at the same place", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local a = ns.FirstOrderLinearDS { x0 = { 1, 2, 3, 4 }, A = ns.zeros(4, 4) }
    nsds:insertDynamicalSystem(a)
    local followers = {}
    for first = 1, 3 do
      followers[first] = ns.FirstOrderLinearDS { x0 = { 0, 0 }, A = ns.zeros(2, 2) }
      followers[first]:setbPtr(a:x()(first, first + 1))
      nsds:insertDynamicalSystem(followers[first])
    end
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.125), ns.EulerMoreauOSI(1))
    local clone = simu:clone()
    local systems = clone:nsds()
    for k = 1, 4 do systems:dynamicalSystem(1):x()[k] = 10 * k end
    clone:computeOneStep()
    clone:nextStep()
    simu:computeOneStep()
    simu:nextStep()
    for first = 1, 3 do
      assert.equal(ns.vector { 10 * first, 10 * (first + 1) } * 0.125, systems:dynamicalSystem(first + 1):x())
      assert.equal(ns.vector { first, first + 1 } * 0.125, followers[first]:x())
    end
  end)
end)
