-- A step of several islands is taken by all of them or by none.
local ns = require "nslua"

-- A ball that bounces, and a second system whose contact is open; its output raises when `fault.now` is set.
local function model(fault)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local ball = ns.LagrangianLinearTIDS({ 0.1 }, { 0 }, { { 1 } })
  ball:setFExtPtr { -9.81 }
  local far = ns.LagrangianDS({ 100 }, { 0 }, { { 1 } })
  nsds:insertDynamicalSystem(ball)
  nsds:insertDynamicalSystem(far)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
  local gap = ns.LagrangianRheonomousR { h = function(t, q, _, y)
    if fault.after and t > fault.after then error "no wall here" end
    y[1] = q[1]
  end }
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), gap), far)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.MoreauJeanOSI(0.5)), ball, far
end

local function state(ball, far) return { ball:q()[1], ball:velocity()[1], far:q()[1], far:velocity()[1] } end

describe("a step", function()
  it("that one island can not take leaves all of them where they were, and can be tried again", function()
    local fault = {}
    local simu, ball, far = model(fault)
    local reference, ball_r, far_r = model {}
    simu:energy()
    reference:energy()
    for step = 1, 20 do
      local before = state(ball, far)
      fault.after = simu:nextTime() - 0.01
      local ok, message = pcall(simu.computeOneStep, simu)
      assert.is_false(ok)
      assert.is_truthy(tostring(message):find("no wall here", 1, true))
      assert.same(before, state(ball, far))
      fault.after = nil
      simu:computeOneStep()
      reference:computeOneStep()
      assert.same(state(ball_r, far_r), state(ball, far), "step " .. step)
      assert.same(reference:energy(), simu:energy())
      simu:nextStep()
      reference:nextStep()
    end
  end)

  it("is taken by none, whichever evaluation of the last island fails, also that of its acceptance", function()
    -- the velocity of the second system is prescribed: a linearly implicit step finds its reaction when it is accepted
    local function pair()
      local calls, nsds = { count = 0 }, ns.NonSmoothDynamicalSystem(0, 1)
      local ball = ns.LagrangianDS({ 0.1 }, { -1 }, { { 1 } })
      local pushed = ns.LagrangianDS({ 0 }, { 1 }, { { 1 } })
      pushed:setComputeFIntFunction(function(_, q, v, _, f)
        calls.count = calls.count + 1
        if calls.count == calls.fails then error "no force here" end
        f[1] = 3 * q[1] + v[1]
      end)
      pushed:setBoundaryConditions(ns.FixedBC { 1 })
      nsds:insertDynamicalSystem(ball)
      nsds:insertDynamicalSystem(pushed)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
      local osi = ns.MoreauJeanOSI(0.5)
      osi:setLinearlyImplicit(true)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), osi), ball, pushed, calls
    end
    local simu, ball, pushed, calls = pair()
    local reference, ball_r, pushed_r = pair()
    for step = 1, 6 do
      local before, good, message = state(ball, pushed), false
      calls.fails = 0
      while not good do
        calls.count, calls.fails = 0, calls.fails + 1
        good, message = pcall(simu.computeOneStep, simu)
        if not good then
          assert.is_truthy(tostring(message):find("no force here", 1, true))
          assert.same(before, state(ball, pushed))
        end
      end
      assert.is_true(calls.fails > 2, calls.fails)
      reference:computeOneStep()
      assert.same(state(ball_r, pushed_r), state(ball, pushed), "step " .. step)
      simu:nextStep()
      reference:nextStep()
    end
  end)

  it("tells in verbose mode which island an iterate is of", function()
    local path = os.tmpname()
    local script = [[
      local ns = require "nslua"
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      for _, name in ipairs { "left", "right" } do
        local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] end)
        ds:setName(name)
        nsds:insertDynamicalSystem(ds)
      end
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.MLCP())
      simu:setVerbose(true)
      simu:computeOneStep()
    ]]
    local file = assert(io.open(path, "w"))
    file:write(script)
    file:close()
    local pipe = io.popen(("%s/bin/nslua %s 2>&1"):format(os.getenv "NSLUA_BUILD" or "build", path))
    local text = pipe:read "a"
    pipe:close()
    os.remove(path)
    assert.is_truthy(text:find("MLCP of 'left': t=0.1 step 1 newton 1", 1, true), text)
    assert.is_truthy(text:find("MLCP of 'right': t=0.1 step 1 newton 1", 1, true), text)
  end)
end)
