-- The parameters of a run's derivatives: their names and their order, and what may be none.
local ns = require "nslua"
local internal = require "nslua.internal"
local message = require "bind.models".message

local ds = ns.FirstOrderLinearDS { x0 = { 1, 2 }, A = { { -1, 0.5 }, { 0, -2 } }, b = { 3, 4 }, z = { 5, 0 }, name = "tank" }
local body = ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.eye(2))
body:setName "arm"
local relation = ns.FirstOrderLinearTIR { C = { { 1, 0 } }, D = ns.sparse { { 1 } }, B = { { 1 }, { 0 } } }
local law = ns.RelayNSL(1, function(t) return -1 - t end, 1)
local fluid, mechanics = ns.NonSmoothDynamicalSystem(0, 0.1), ns.NonSmoothDynamicalSystem(0, 0.1)
fluid:insertDynamicalSystem(ds)
fluid:link(ns.Interaction(law, relation, "valve"), ds)
mechanics:insertDynamicalSystem(body)
local simulations = {
  [fluid] = ns.TimeStepping(fluid, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)),
  [mechanics] = ns.TimeStepping(mechanics, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)),
}

local function listed(list, nsds)
  return #internal.places(simulations[nsds or fluid], list)
end

describe("parameters of a run", function()
  it("are counted by field, row and column", function()
    for count, list in pairs { [5] = { "x0", { ds, "A", 2 }, { law, "ub" } }, [2] = { "z" }, [4] = { { ds, "A" } },
      [1] = { { ds, "A", 2, 1 } } } do
      assert.equal(count, listed(list))
    end
    assert.equal(2, listed({ { body, "velocity0" } }, mechanics))
    assert.equal(1, listed({ { body, "q0", 2 } }, mechanics))
    assert.equal(4, listed({ "x0" }, mechanics))
  end)

  it("are refused with the reason", function()
    for text, entry in pairs {
      ["'tank' has no number 'size' that may be a parameter"] = { ds, "size" },
      ["A: index 3: expected 1..2"] = { ds, "A", 3 },
      ["x0: index 0: expected 1..2"] = { ds, "x0", 0 },
      ["'tank' has no M"] = { ds, "M" },
      ["D of 'valve' is sparse; give it as a dense matrix"] = { relation, "D" },
      ["lb of 'valve' is a function of time; a parameter is a number"] = { law, "lb" },
      ["the RelayNSL is not in the model of this simulation"] = { ns.RelayNSL(1), "ub" },
    } do
      assert.equal("run: sensitivities: " .. text, message(listed, { entry }))
    end
    assert.equal("run: sensitivities: 'arm' has no z", message(listed, { { body, "z" } }, mechanics))
  end)
end)
