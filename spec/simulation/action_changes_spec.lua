-- A reset undoes what actions of events have changed in laws, and nothing else.
local ns = require "nslua"
local expect = require "expect"

-- x' = -lambda by a relay, whose upper bound an action sets to 2 at t = 0.5.
local function relayed(action)
  local ds, law = ns.FirstOrderLinearTIDS { 10 }, ns.RelayNSL(1)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.125), ns.EulerMoreauOSI(1))
  local act = action and action(law) or function() law:setLb(1, -2) end
  simu:addEvent { name = "half", g = function(t) return t - 0.5 end, action = act }
  return simu, ds, law
end

describe("changes of laws by actions", function()
  it("are undone by a reset: a second run is the first one", function()
    local simu, ds, law = relayed()
    for _ = 1, 3 do
      assert.equal(-1, law:lb()[1])
      simu:run()
      assert.equal(8.5, ds:x()[1])
      assert.equal(-2, law:lb()[1])
      simu:reset()
    end
  end)

  it("what a script has changed since stays", function()
    local simu, _, law = relayed()
    law:setLb(1, -1.5)
    simu:run()
    simu:reset()
    assert.equal(-1.5, law:lb()[1])
    simu:run()
    law:setLb(1, -3)
    simu:reset()
    assert.equal(-3, law:lb()[1])
  end)

  it("of an action that fails are undone at once", function()
    local simu, _, law = relayed(function(of) return function() of:setLb(1, -2) error "no" end end)
    expect.fails("no", simu.run, simu)
    assert.equal(-1, law:lb()[1])
  end)
end)
