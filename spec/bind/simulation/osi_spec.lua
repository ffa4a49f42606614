-- EulerMoreauOSI, MoreauJeanOSI, MoreauJeanGOSI: weights and options.
local ns = require "nslua"
local message = require "bind.models".message

describe("EulerMoreauOSI", function()
  it("has weights in [0, 1]", function()
    local function check(text, ...) assert.equal("EulerMoreauOSI: " .. text, message(ns.EulerMoreauOSI, ...)) end
    check("theta: expected a finite number, got no value")
    check("theta: expected a finite number, got string", "a")
    check("theta: expected a finite number, got number nan", 0 / 0)
    check("theta: expected a number in [0, 1], got 1.1", 1.1)
    check("theta: expected a number in [0, 1], got -0.1", -0.1)
    check("gamma: expected a number in [0, 1], got 2.0", 0.5, 2)
    local osi = ns.EulerMoreauOSI(0.5, 0)
    assert.equal("setTheta: theta: expected a number in [0, 1], got 2.0", message(osi.setTheta, osi, 2))
    assert.equal("setGamma: gamma: expected a finite number, got nil", message(osi.setGamma, osi, nil))
    assert.equal("setUseGammaForRelation: useGammaForRelation: expected a boolean, got number 1.0",
      message(osi.setUseGammaForRelation, osi, 1))
    assert.equal(0.5, osi:theta())
    assert.equal(0, osi:gamma())
    assert.is_false(osi:useGammaForRelation())
  end)

  it("raises after close() and closes with its scope", function()
    local osi
    do
      local scoped <close> = ns.EulerMoreauOSI(1)
      osi = scoped
    end
    assert.equal("EulerMoreauOSI (closed)", tostring(osi))
    for _, name in ipairs { "theta", "gamma", "setTheta", "setGamma", "useGammaForRelation", "setUseGammaForRelation",
      "display", "close" } do
      assert.equal("EulerMoreauOSI is closed", message(osi[name], osi, 1), name)
    end
  end)
end)

describe("EulerMoreauOSI's restart", function()
  it("is none or implicit", function()
    local osi = ns.EulerMoreauOSI(0.5, 0.5)
    assert.equal("none", osi:restart())
    osi:setRestart "implicit"
    assert.equal("implicit", osi:restart())
    assert.equal("EulerMoreauOSI: theta 0.5, gamma 0.5, implicit restarts", tostring(osi))
    osi:setRestart "none"
    assert.equal("none", osi:restart())
    assert.equal('setRestart: restart: expected "none" or "implicit", got \'explicit\'', message(osi.setRestart, osi, "explicit"))
    assert.equal('setRestart: restart: expected "none" or "implicit", got no value', message(osi.setRestart, osi))
    local other = ns.MoreauJeanOSI(1)
    assert.equal("MoreauJeanOSI: it has no method 'setRestart'", message(function() other:setRestart "implicit" end))
  end)
end)

describe("MoreauJeanOSI and MoreauJeanGOSI", function()
  it("have theta in [0, 1] and gamma in [0, 2], which is 1/2 when not given", function()
    for _, name in ipairs { "MoreauJeanOSI", "MoreauJeanGOSI" } do
      local function check(text, ...) assert.equal(name .. ": " .. text, message(ns[name], ...)) end
      check("theta: expected a finite number, got no value")
      check("theta: expected a number in [0, 1], got 2.0", 2)
      check("gamma: expected a number in [0, 2], got -1.0", 0.5, -1)
      check("expected at most 2 arguments, got 3", 0.5, 0.5, 0.5)
      local osi = ns[name](0.75)
      assert.same({ 0.75, 0.5 }, { osi:theta(), osi:gamma() })
      osi:setTheta(1)
      osi:setGamma(0)
      assert.same({ 1, 0 }, { osi:theta(), osi:gamma() })
      assert.equal("setTheta: theta: expected a number in [0, 1], got 3.0", message(osi.setTheta, osi, 3))
      assert.equal("setGamma: gamma: expected a finite number, got no value", message(osi.setGamma, osi))
      assert.equal(name .. ": theta 1.0, gamma 0.0", tostring(osi))
      for _, option in ipairs { "useGammaForRelation", "setUseGammaForRelation" } do
        assert.matches(("%s: it has no method '%s'"):format(name, option), message(function() return osi[option] end), 1, true)
      end
    end
  end)

  it("are linearly implicit when the first one is asked to be", function()
    local osi = ns.MoreauJeanOSI(0.5, 1)
    assert.is_false(osi:linearlyImplicit())
    osi:setLinearlyImplicit(true)
    assert.is_true(osi:linearlyImplicit())
    assert.equal("MoreauJeanOSI: theta 0.5, gamma 1.0, linearly implicit", tostring(osi))
    assert.equal("setLinearlyImplicit: linearlyImplicit: expected a boolean, got number 1.0",
      message(osi.setLinearlyImplicit, osi, 1))
    assert.is_true(osi:linearlyImplicit())
    for _, other in ipairs { ns.MoreauJeanGOSI(0.5), ns.EulerMoreauOSI(1) } do
      for _, option in ipairs { "linearlyImplicit", "setLinearlyImplicit" } do
        assert.matches("^%a+OSI: it has no method '" .. option .. "'", message(function() return other[option] end))
      end
    end
  end)

  it("take a threshold for the forecast of contacts, 0 included, and nil for their own tolerance", function()
    for _, name in ipairs { "MoreauJeanOSI", "MoreauJeanGOSI" } do
      local osi = ns[name](0.5)
      assert.is_nil(osi:constraintActivationThreshold())
      for _, threshold in ipairs { 0, 0.25, -1e-3 } do
        osi:setConstraintActivationThreshold(threshold)
        assert.equal(threshold, osi:constraintActivationThreshold())
      end
      osi:setConstraintActivationThreshold(nil)
      assert.is_nil(osi:constraintActivationThreshold())
      assert.equal("setConstraintActivationThreshold: constraintActivationThreshold: expected a finite number, got number nan",
        message(osi.setConstraintActivationThreshold, osi, 0 / 0):gsub("%-nan", "nan"), name)
    end
    local other = ns.EulerMoreauOSI(1)
    assert.equal("EulerMoreauOSI: it has no method 'setConstraintActivationThreshold'",
      message(function() other:setConstraintActivationThreshold(0) end))
  end)

  it("close a contact early at a threshold above 0, and late below", function()
    for _, name in ipairs { "MoreauJeanOSI", "MoreauJeanGOSI" } do
      local first = {}
      for _, threshold in ipairs { 0.35, 0, -0.35 } do
        local ball = ns.LagrangianLinearTIDS({ 1 }, { -1 }, { { 1 } })
        local nsds = ns.NonSmoothDynamicalSystem(0, 3)
        nsds:insertDynamicalSystem(ball)
        nsds:link(ns.Interaction(ns.NewtonImpactNSL(1), ns.LagrangianLinearTIR { { 1 } }), ball)
        local osi = ns[name](0.5, 0.5)
        osi:setConstraintActivationThreshold(threshold)
        local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.125), osi)
        for k in simu:steps() do
          if ball:velocity()[1] > 0 then first[#first + 1] = k break end
        end
      end
      -- y_k - h / 2 <= threshold, y_k = 1 - k h
      assert.same({ 6, 9, 12 }, first)
    end
  end)

  it("raise after close()", function()
    for _, name in ipairs { "MoreauJeanOSI", "MoreauJeanGOSI" } do
      local osi = ns[name](1)
      osi:close()
      assert.equal(name .. " (closed)", tostring(osi))
      for _, method in ipairs { "theta", "setGamma", "constraintActivationThreshold", "close" } do
        assert.equal(name .. " is closed", message(osi[method], osi, 1), method)
      end
    end
  end)
end)
