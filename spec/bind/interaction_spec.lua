-- Interaction: arguments, levels, use after close().
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

describe("Interaction", function()
  it("needs a law, then a relation", function()
    local law, relation = ns.RelayNSL(1), ns.FirstOrderLinearTIR()
    assert.equal("bad argument #1 to 'Interaction' (nonsmooth law expected, got no value)",
      message(function() ns.Interaction() end))
    assert.equal("bad argument #2 to 'Interaction' (relation expected, got no value)",
      message(function() ns.Interaction(law) end))
    assert.equal("bad argument #1 to 'Interaction' (nonsmooth law expected, got FirstOrderLinearTIR)",
      message(function() ns.Interaction(relation, law) end))
    assert.equal("Interaction: name: expected a string, got number 3.0", message(ns.Interaction, law, relation, 3))
  end)

  it("has level 0 only", function()
    local inter = ns.Interaction(ns.RelayNSL(2, 1, 3), ns.FirstOrderLinearTIR())
    for _, name in ipairs { "y", "lambda", "lambda_" } do
      local what = name == "y" and "y" or "lambda"
      assert.equal(2, #inter[name](inter, 0))
      assert.equal(2, #inter[name](inter))
      assert.equal(what .. ": level: a first-order interaction has level 0 only, got 1",
        message(inter[name], inter, 1))
      assert.equal(what .. ": level: a first-order interaction has level 0 only, got -1",
        message(inter[name], inter, -1))
      assert.equal(what .. ": level: expected an integer, got string", message(inter[name], inter, "0"))
    end
    assert.equal(ns.vector { 1, 1 }, inter:lambda(0))
  end)

  it("raises after close(), its views too, and closes with its scope", function()
    local _, inter = models.relay()
    local y, lambda = inter:y(0), inter:lambda_(0)
    do
      local scoped <close> = inter
      assert.equal(inter, scoped)
    end
    assert.equal("Interaction (closed)", tostring(inter))
    assert.equal("vector 'y' belongs to a closed Interaction", message(function() return y[1] end))
    assert.equal("vector 'lambda' belongs to a closed Interaction", message(function() lambda[1] = 1 end))
    for _, name in ipairs { "y", "lambda", "lambda_", "nonSmoothLaw", "relation", "dimension", "name", "setName",
      "display", "close" } do
      assert.equal("Interaction is closed", message(inter[name], inter), name)
    end
  end)
end)
