local ns = require "nslua"
local simulation = require "models".simulation

-- One step of x' = lambda from x with y = x: what the law makes of it, h = 1. lambda solves the law with W = 1, q =
-- x.
local function step(law, x)
  local n = law:size()
  local ds = ns.FirstOrderLinearTIDS(x, ns.zeros(n, n))
  local simu, inter = simulation { systems = { ds }, h = 1,
    links = { { law, ns.FirstOrderLinearTIR(ns.eye(n), ns.eye(n)), ds } } }
  simu:computeOneStep()
  return inter[1]:lambda(0):totable(), inter[1]:y(0):totable()
end

describe("laws", function()
  it("relay: -y in the normal cone of [lb, ub] at lambda", function()
    local lambda, y = step(ns.RelayNSL(5, -1, 2), { 3, 1, 0.5, -2, -7 })
    assert.same({ -1, -1, -0.5, 2, 2 }, lambda)
    assert.same({ 2, 0, 0, 0, -5 }, y)
    assert.same({ -1, -1, -1 }, ns.RelayNSL(3):lb():totable())
    assert.same({ 1, 1, 1 }, ns.RelayNSL(3):ub():totable())
  end)

  it("relay with bounds by component, also infinite and equal ones", function()
    local law = ns.RelayNSL(3, { -math.huge, 0, 0.5 }, { math.huge, math.huge, 0.5 })
    local lambda, y = step(law, { 3, -4, 1 })
    assert.same({ -3, 4, 0.5 }, lambda)
    assert.same({ 0, 0, 1.5 }, y)
  end)

  it("complementarity: 0 <= y, lambda, one of them 0", function()
    local lambda, y = step(ns.ComplementarityConditionNSL(3), { 3, 0, -2 })
    assert.same({ 0, 0, 2 }, lambda)
    assert.same({ 3, 0, 0 }, y)
  end)

  it("equality: y = 0", function()
    local lambda, y = step(ns.EqualityConditionNSL(2), { 3, -2 })
    assert.same({ -3, 2 }, lambda)
    assert.same({ 0, 0 }, y)
  end)

  it("mixed: equalities first, complementarity after", function()
    local lambda, y = step(ns.MixedComplementarityConditionNSL(2, 1), { 3, 3, -2 })
    assert.same({ -3, 0, 2 }, lambda)
    assert.same({ 0, 3, 0 }, y)
  end)

  it("start lambda at 0 moved into the set", function()
    local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } })
    local function start(lb, ub)
      return ns.Interaction(ns.RelayNSL(1, lb, ub), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })):lambda(0)[1]
    end
    assert.equal(0, start(-1, 1))
    assert.equal(2, start(2, 3))
    assert.equal(-1, start(-4, -1))
    assert.equal(0, ds:r()[1])
  end)

  it("check bounds that a script wrote when a step begins", function()
    local law = ns.RelayNSL(2, 0, 1)
    local ds = ns.FirstOrderLinearTIDS({ 0, 0 }, ns.zeros(2, 2))
    local simu = simulation { systems = { ds }, links = { { law, ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2)),
      ds } } }
    law:lb()[2] = 3
    assert.error_matches(function() simu:computeOneStep() end, "RelayNSL: lb[2] = 3 is above ub[2] = 1", 1, true)
    law:ub()[2] = 0 / 0
    assert.error_matches(function() simu:computeOneStep() end, "RelayNSL: ub[2] is nan", 1, true)
    law:ub()[2] = 1
    law:setLb(0)
    law:setUb { 1, 2 }
    simu:computeOneStep()
    assert.same({ 0, 0 }, law:lb():totable())
    assert.same({ 1, 2 }, law:ub():totable())
  end)

  it("have sizes and fixed bounds where they are fixed", function()
    local law = ns.MixedComplementarityConditionNSL(1, 2)
    assert.equal(3, law:size())
    assert.equal(2, law:equalities())
    assert.same({ -math.huge, -math.huge, 0 }, law:lb():totable())
    assert.error_matches(function() law:lb()[1] = 0 end, "read", 1, true)
    assert.is_nil(rawget(debug.getregistry().MixedComplementarityConditionNSL.__index, "setLb"))
    assert.equal(5, ns.MixedComplementarityConditionNSL(2, 3):size())
    assert.error_matches(function() ns.RelayNSL(1, 2, 1) end, "RelayNSL: lb[1] = 2 is above ub[1] = 1", 1, true)
  end)

  it("may be shared between interactions", function()
    local law, relation = ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
    local a, b = ns.FirstOrderLinearTIDS({ 3 }, { { 0 } }), ns.FirstOrderLinearTIDS({ -0.5 }, { { 0 } })
    local simu, inter = simulation { systems = { a, b }, links = { { law, relation, a }, { law, relation, b } },
      h = 1 }
    simu:computeOneStep()
    assert.same({ 2, 0, -1, 0.5 }, { a:x()[1], b:x()[1], inter[1]:lambda(0)[1], inter[2]:lambda(0)[1] })
  end)
end)
