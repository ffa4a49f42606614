-- The Runge-Kutta method of order 8: accuracy, tolerances, failures, seen through smooth motions of EventDriven.
local ns = require "nslua"
local events = require "simulation.events"

-- x'' = -x from (1, 0) to T: the error of x, v at the end.
local function oscillator(o)
  local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 1 } })
  local simu = events.simulation { systems = { ds }, T = o.T, h = o.h or o.T, rtol = o.rtol, atol = o.atol }
  simu:run()
  return math.max(math.abs(ds:q()[1] - math.cos(o.T)), math.abs(ds:velocity()[1] + math.sin(o.T)))
end

describe("the method of order 8", function()
  it("is as exact as it is asked to be", function()
    for _, rtol in ipairs { 1e-4, 1e-6, 1e-8, 1e-10, 1e-12 } do
      local off = oscillator { T = 20, rtol = rtol, atol = rtol }
      assert.is_true(off < 30 * rtol, ("rtol %g: off %g"):format(rtol, off))
    end
    assert.is_true(oscillator { T = 20, rtol = 1e-13, atol = 1e-15 } < 2e-13)
  end)

  it("integrates polynomials of degree 7 exactly, whatever its steps, and no others", function()
    for degree = 0, 10 do
      local ds = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } })
      ds:setComputeFExtFunction(function(t, z, f) f[1] = t ^ degree end)
      local simu = events.simulation { systems = { ds }, T = 2, h = 2, osi = ns.RungeKuttaOSI(0.1, 10, 2) }
      simu:run()
      local exact = 2 ^ (degree + 1) / (degree + 1)
      local off = math.abs(ds:velocity()[1] / exact - 1)
      if degree <= 7 then assert.is_true(off < 1e-13, degree) else assert.is_true(off > 1e-12, degree) end
    end
  end)

  it("shortens the step when a callback asks for it or gives nan, and tells where it gives up", function()
    local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
    ds:setComputeFIntFunction(function(t, q, v, z, f) f[1] = t > 0.7 and 0 / 0 or 0 end)
    local simu = events.simulation { systems = { ds }, T = 1, h = 0.5 }
    simu:computeOneStep()
    simu:nextStep()
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.truthy(message:find("nan", 1, true), message)
    assert.truthy(message:find("t=0.7", 1, true), message)
    assert.equal(0.5, simu:startingTime())
    assert.equal(1, ds:q()[1])
  end)
end)
