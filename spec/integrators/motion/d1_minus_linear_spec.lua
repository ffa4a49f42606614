-- D1MinusLinearOSI: order two between impacts, contacts that stay closed without creep, impacts at the times of the grid.
local ns = require "nslua"
local g = 9.81

local function ball(o)
  local ds = ns.LagrangianLinearTIDS({ o.H or 1 }, { o.v or 0 }, { { 1 } })
  ds:setFExtPtr { -g }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 3)
  nsds:insertDynamicalSystem(ds)
  local floor = ns.Interaction(ns.NewtonImpactNSL(o.e or 0.5), ns.LagrangianLinearTIR { { 1 } }, "floor")
  nsds:link(floor, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.h), ns.D1MinusLinearOSI()), ds, floor
end

-- The height of the ball at t.
local function height(t, e)
  local start, u = math.sqrt(2 / g), e * math.sqrt(2 * g)
  if t < start then return 1 - g * t * t / 2 end
  while u > 1e-9 do
    local flight = 2 * u / g
    if t < start + flight then return u * (t - start) - g * (t - start) ^ 2 / 2 end
    start, u = start + flight, e * u
  end
  return 0
end

describe("D1MinusLinearOSI", function()
  it("is of second order on smooth motions, linear and not", function()
    local function at_end(h, make)
      local ds, T = make(), 2
      local nsds = ns.NonSmoothDynamicalSystem(0, T)
      nsds:insertDynamicalSystem(ds)
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.D1MinusLinearOSI()):run()
      return ds:q()[1]
    end
    local function oscillator() return ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 4 } }, { { 0.3 } }) end
    local function pendulum()
      local ds = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } })
      ds:setComputeFIntFunction(function(t, q, v, z, f) f[1] = g * math.sin(q[1]) end)
      return ds
    end
    for _, make in ipairs { oscillator, pendulum } do
      local exact = at_end(1 / 8192, make)
      local order = math.log((at_end(1 / 64, make) - exact) / (at_end(1 / 128, make) - exact), 2)
      assert.near(2, order, 0.1)
    end
  end)

  it("follows a bouncing ball with an error of first order in the mean", function()
    local function off(h)
      local simu, ds = ball { h = h, T = 1.3 }
      local sum = 0
      for _, t in simu:steps() do sum = sum + h * math.abs(ds:q()[1] - height(t, 0.5)) end
      return sum
    end
    assert.is_true(off(4e-4) < 0.15 * off(1e-2)) -- 0.04 were order one
  end)

  it("restores the velocity of an impact by e, once", function()
    local simu = ball { h = 0.01, T = 0.6, e = 0.8 }
    simu:run()
    local events = simu:events()
    assert.equal(1, #events)
    assert.near(0.8, -events[1].after / events[1].before, 1e-14)
    assert.near(events[1].t, math.sqrt(2 / g), 0.01)
  end)

  it("brings the ball to rest, where it stays exactly", function()
    local simu, ds, floor = ball { h = 0.01 }
    local q
    for _, t in simu:steps() do
      if t > 3 * math.sqrt(2 / g) + 0.01 then
        q = q or ds:q()[1]
        assert.equal(0, ds:velocity()[1])
        assert.equal(q, ds:q()[1])
        assert.near(g, floor:lambda(1)[1], 1e-13)
      end
    end
    assert.is_true(q <= 0 and q > -0.01 * math.sqrt(2 * g))
  end)

  it("keeps a particle on a guide, to second order and without drift #once", function()
    local function at_end(h)
      local ds = ns.LagrangianDS({ 0, -1 }, { 2, 0 }, { { 1, 0 }, { 0, 1 } })
      ds:setFExtPtr { 0, -g }
      local nsds = ns.NonSmoothDynamicalSystem(0, 2)
      nsds:insertDynamicalSystem(ds)
      local rod = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end }
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), rod, "rod"), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.D1MinusLinearOSI())
      for _ in simu:steps() do
        local q = ds:q()
        assert.near(1, q[1] ^ 2 + q[2] ^ 2, 1e-13)
      end
      return ds:q()[1]
    end
    local exact = at_end(1 / 3200)
    assert.near(2, math.log((at_end(1 / 100) - exact) / (at_end(1 / 200) - exact), 2), 0.1)
  end)

  it("goes on from a clone and after a reset with the same bits", function()
    local simu, ds = ball { h = 0.02 }
    for k in simu:steps() do if k == 40 then break end end
    simu:nextStep()
    local copy = simu:clone()
    simu:run()
    copy:run()
    assert.equal(ds:q()[1], copy:nsds():dynamicalSystem(1):q()[1])
    local q = ds:q()[1]
    simu:reset()
    simu:run()
    assert.equal(q, ds:q()[1])
  end)

  it("takes no options, and impacts and equations alone", function()
    assert.equal("D1MinusLinearOSI", tostring(ns.D1MinusLinearOSI()))
    local ok, message = pcall(ns.D1MinusLinearOSI, 0.5)
    assert.is_false(ok)
    assert.truthy(message:find("D1MinusLinearOSI", 1, true), message)
    local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.LagrangianLinearTIR { { 1 } }, "rub"), ds)
    ok, message = pcall(ns.TimeStepping, nsds, ns.TimeDiscretisation(0, 0.1), ns.D1MinusLinearOSI())
    assert.is_false(ok)
    assert.truthy(message:find("D1MinusLinearOSI: interaction 'rub' has a RelayNSL; it takes NewtonImpactNSL", 1, true), message)
  end)

  it("names itself where constraints do not hold at the start, and where they contradict each other", function()
    local function held(...)
      local ds, nsds = ns.LagrangianDS({ 0, -1.1 }, { 0, 0 }), ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      for i, h in ipairs { ... } do
        nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianRheonomousR { h = h }, "rod " .. i), ds)
      end
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.D1MinusLinearOSI())
      local good, message = pcall(simu.computeOneStep, simu)
      assert.is_false(good)
      assert.same({ 0, -1.1 }, ds:q():totable())
      return message
    end
    assert.equal("D1MinusLinearOSI: interaction 'rod 1': the constraint does not hold at the start: y = 0.21 (t=0.1 step 1)",
      held(function(_, q, _, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - 1 end))
    assert.matches("^D1MinusLinearOSI: the forces of 'rod 1' and others have no accepted solution: ",
      held(function(_, q, _, y) y[1] = q[1] end, function(t, q, _, y) y[1] = q[1] - t * t end))
  end)
end)
