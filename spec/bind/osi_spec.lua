-- EulerMoreauOSI: weights.
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
    assert.equal("EulerMoreauOSI: theta: expected a number in [0, 1], got 2.0", message(osi.setTheta, osi, 2))
    assert.equal("EulerMoreauOSI: gamma: expected a finite number, got nil", message(osi.setGamma, osi, nil))
    assert.equal("setUseGammaForRelation: use: expected a boolean, got number 1.0",
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
