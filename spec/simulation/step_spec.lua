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
