-- A consistent start: what the laws and the differential states at t0 decide.
local ns = require "nslua"

-- 0 = x2 - 2 x1 + lambda, x1' = -x1 + lambda, y = x1 - level: a relay that is at its upper bound while x1 < level.
local function plant(x1, level)
  local ds = ns.FirstOrderLinearTIDS({ x1, 7 }, { { -1, 0 }, { -2, 1 } })
  ds:setMPtr { { 1, 0 }, { 0, 0 } }
  local relation = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 }, { 1 } })
  relation:setePtr { -level }
  return ds, ns.Interaction(ns.RelayNSL(1, -1, 1), relation)
end

local function simulate(parts)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  for _, part in ipairs(parts) do nsds:insertDynamicalSystem(part[1]) end
  for _, part in ipairs(parts) do nsds:link(part[2], part[1]) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.5, 0.5))
end

describe("a consistent start", function()
  it("finds lambda, r, y and the algebraic state", function()
    for _, case in ipairs { { 3, 5, 1 }, { 6, 5, -1 } } do
      local x1, level, lambda = table.unpack(case)
      local ds, link = plant(x1, level)
      simulate { { ds, link } }:initialize { consistent = true }
      assert.near(lambda, link:lambda()[1], 1e-12)
      assert.near(2 * x1 - lambda, ds:x()[2], 1e-6)
      assert.equal(x1, ds:x()[1])
      assert.near(lambda, ds:r()[1], 1e-12)
      assert.near(x1 - level, link:y(0)[1], 1e-6)
    end
  end)

  it("is the same for a system alone and beside others", function()
    local alone, link = plant(3, 5)
    simulate { { alone, link } }:initialize { consistent = true }
    local a, la = plant(3, 5)
    local b, lb = plant(-1e9, 5)
    simulate { { b, lb }, { a, la } }:initialize { consistent = true }
    assert.same(alone:x():totable(), a:x():totable())
    assert.same(link:lambda():totable(), la:lambda():totable())
  end)

  it("that one system can not have leaves all of them as they were", function()
    local good, lg = plant(3, 5)
    local jumps = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local tie = ns.Interaction(ns.EqualityConditionNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }))
    local simu = simulate { { good, lg }, { jumps, tie } }
    simu:initialize()
    assert.error_matches(function() simu:initialize { consistent = true } end, "dynamical system 'ds 2' jumps at t0")
    assert.same({ 3, 7 }, good:x():totable())
    assert.same({ 1 }, jumps:x():totable())
    simu:computeOneStep()
    assert.near(0, jumps:x()[1], 1e-12)
  end)
end)
