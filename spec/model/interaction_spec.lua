local ns = require "nslua"
local simulation = require "models".simulation

local function make()
  local ds = ns.FirstOrderLinearTIDS({ 3, 1 }, ns.zeros(2, 2))
  local relation, law = ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2)), ns.RelayNSL(2, -1, 1)
  local simu, inter = simulation { systems = { ds }, links = { { law, relation, ds } }, h = 1, T = 3 }
  return simu, inter[1], ds, law, relation
end

describe("interactions", function()
  it("show y and lambda as live views", function()
    local simu, inter = make()
    local y, lambda = inter:y(0), inter:lambda(0)
    simu:initialize()
    assert.same({ 3, 1 }, y:totable())
    assert.same({ 0, 0 }, lambda:totable())
    simu:computeOneStep()
    assert.same({ 2, 0 }, y:totable())
    assert.same({ -1, -1 }, lambda:totable())
    assert.same(lambda:totable(), inter:lambda_(0):totable())
  end)

  it("forget them on reset", function()
    local simu, inter, ds = make()
    simu:run()
    simu:reset()
    assert.same({ 0, 0 }, inter:lambda(0):totable())
    assert.same({ 0, 0 }, ds:r():totable())
    simu:initialize()
    assert.same({ 3, 1 }, inter:y(0):totable())
  end)

  it("know their parts", function()
    local _, inter, _, law, relation = make()
    assert.equal(law, inter:nonSmoothLaw())
    assert.equal(relation, inter:relation())
    assert.equal(2, inter:dimension())
    assert.equal("interaction 1", inter:name())
    assert.equal("Interaction 'interaction 1': RelayNSL, FirstOrderLinearTIR, linked with 'ds 1'", tostring(inter))
  end)

  it("join the parameters of two systems, the order being that of link", function()
    local seen
    local a = ns.FirstOrderLinearTIDS { x0 = { 1 }, z = { 10 } }
    local b = ns.FirstOrderLinearTIDS { x0 = { 2, 3 }, z = { 20, 30 } }
    local relation = ns.FirstOrderNonLinearR {
      h = function(_, x, _, z, y)
        seen = { x[1], x[2], x[3], z[1], z[2], z[3] }
        y[1] = 0
      end,
      g = function() end,
    }
    local simu = simulation { systems = { a, b }, links = { { ns.RelayNSL(1), relation, b, a } } }
    simu:computeOneStep()
    assert.same({ 2, 3, 1, 20, 30, 10 }, seen)
  end)
end)
