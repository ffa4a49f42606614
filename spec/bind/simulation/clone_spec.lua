-- simu:clone(): the same bits from there on, and nothing shared but the callbacks.
local ns = require "nslua"
local models = require "bind.models"

describe("clone()", function()
  local function pairs_of(make)
    local reference = models.advance((make()))
    for _, at in ipairs { 0, 1, 7 } do
      local simu = make()
      models.advance(simu, at)
      local copy = simu:clone()
      if at > 0 then assert.equal(models.state(simu), models.state(copy)) end
      local first = models.advance(copy)
      for k = at + 1, #reference do assert.equal(reference[k], first[k]) end
      assert.equal(at, simu:step())
      local second = models.advance(simu)
      for k = at + 1, #reference do assert.equal(reference[k], second[k]) end
    end
  end

  it("goes on with the same bits", function()
    pairs_of(function() return (models.clutch(6)) end)
    pairs_of(function() return (models.relay(0.2)) end)
    pairs_of(function()
      return (models.simulate(ns.FirstOrderLinearDS(models.linear_ds), ns.FirstOrderLinearR(models.LinearR)))
    end)
    pairs_of(function()
      local ds = ns.FirstOrderLinearTIDS({ 2, -1 }, { { 0, 1 }, { -1, 0 } })
      local law = ns.NormalConeNSL(2, { { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } }, { -1, -1, -1, -1 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2))), ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(1), ns.AVI())
    end)
    pairs_of(function()
      local class = ns.class(ns.FirstOrderNonLinearR)
      function class:computeh(_, x, _, _, y) y[1] = self.k * x[2] end
      function class.computeg(_, _, _, lambda, _, r) r[2] = -lambda[1] end
      local relation = class()
      relation.k = 2
      return (models.simulate(ns.FirstOrderNonLinearDS(models.nonlinear_ds), relation))
    end)
  end)

  it("has parameters of its own", function()
    local simu, inter, ds = models.relay(0.2)
    local copy = simu:clone()
    inter:nonSmoothLaw():setUb(5)
    ds:setA { { 9, 9 }, { 9, 9 } }
    ds:x()[1] = 9
    simu:osi():setTheta(1)
    simu:close()
    assert.equal(models.advance((models.relay(0.2)))[20], models.advance(copy)[20])
  end)

  it("goes on from the middle of a step that an event has divided, also when the event is removed", function()
    local simu = models.relay(1, 0.25)
    simu:addEvent { name = "stop", g = function(t) return t - 0.6 end, terminal = true }
    simu:run()
    local copy = simu:clone()
    copy:removeEvent "stop"
    local second = copy:clone()
    assert.equal(0.6, second:startingTime())
    simu:removeEvent "stop"
    assert.equal(simu:run().x[2][1], second:run().x[2][1])
  end)

  it("refuses closed parts and leaves the original alone", function()
    local simu, inter = models.relay(0.1)
    inter:nonSmoothLaw():close()
    assert.equal("RelayNSL is closed", models.message(simu.clone, simu))
    simu:close()
    assert.equal("TimeStepping is closed", models.message(simu.clone, simu))
  end)
end)
