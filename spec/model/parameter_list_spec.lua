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

  it("move several numbers together: their weights join the derivatives, by steps and from event to event", function()
    local numbers, weights = { { "A", 1, 2 }, { "A", 2, 1 }, { "b", 2 } }, { 2, -1, 0.5 }
    for method, osi in pairs { TimeStepping = ns.EulerMoreauOSI(0.5), EventDriven = ns.RadauOSI(1e-10) } do
      local moved = ns.FirstOrderLinearTIDS { x0 = { 1, 2 }, A = { { 0, 1 }, { -2, -0.3 } }, b = { 0.1, 3 }, name = "moved" }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(moved)
      local asked, together = {}, {}
      for k, one in ipairs(numbers) do
        asked[k] = { moved, table.unpack(one) }
        together[k] = asked[k]
      end
      asked[4] = { together = together, weights = weights, name = "all" }
      local simu = ns[method](nsds, ns.TimeDiscretisation(0, 0.1), osi)
      local sol = simu:run { sensitivities = asked }
      local S = sol.S[#sol]
      assert.equal("all", sol.sensitivities[4])
      for i = 1, 2 do
        local sum = 0
        for k, w in ipairs(weights) do sum = sum + w * S[i][k] end
        assert.is_true(math.abs(sum) > 0.1)
        assert.near(sum, S[i][4], 1e-8)
      end
      assert.equal(-2, moved:A()[2][1])
      simu:reset()
      simu:every { period = 0.5, act = function() moved:setbPtr { 0.1, 2 } end }
      assert.equal("run: sensitivities: all: numbers do not move together where clocks act",
        message(simu.run, simu, { sensitivities = asked }))
    end
  end)

  it("move numbers of systems that nothing joins, together or as one number that all of them keep", function()
    for method, osi in pairs { TimeStepping = ns.MoreauJeanOSI(0.5), EventDriven = ns.RungeKuttaOSI(1e-10) } do
      local nsds, masses, kept, own = ns.NonSmoothDynamicalSystem(0, 0.5), { 1, 2, 4 }, ns.vector { -3 }, {}
      for k, m in ipairs(masses) do
        own[k] = ns.LagrangianLinearTIDS({ 10 }, { 0 }, { { m } })
        own[k + 3] = ns.LagrangianLinearTIDS({ 10 }, { 0 }, { { m } })
        own[k]:setFExtPtr { -3 }
        own[k + 3]:setFExtPtr(kept)
        nsds:insertDynamicalSystem(own[k])
        nsds:insertDynamicalSystem(own[k + 3])
      end
      local simu = ns[method](nsds, ns.TimeDiscretisation(0, 0.1), osi)
      local forces = { { own[3], "fExt", 1 }, { own[1], "fExt", 1 } }
      local sol = simu:run { sensitivities = { { together = forces, weights = { 2, -1 }, name = "F" }, { own[5], "fExt", 1 } } }
      local S = sol.S[#sol]
      for k, weight in ipairs { -1, 0, 2 } do
        local v, shared = 4 * k - 2, 4 * k
        assert.near(weight * 0.5 / masses[k], S[v][1], 1e-12)
        assert.near(weight * 0.125 / masses[k], S[v - 1][1], 1e-12)
        assert.near(0.5 / masses[k], S[shared][2], 1e-12)
        assert.near(0.125 / masses[k], S[shared - 1][2], 1e-12)
        assert.equal(0, S[shared][1])
        assert.equal(0, S[v][2])
        assert.equal(-3, own[k]:fExt()[1])
        assert.equal(-3, own[k + 3]:fExt()[1])
      end
    end
  end)

  it("that move together are refused with the reason", function()
    local function refused(together, weights, nsds)
      return (message(listed, { { together = together, weights = weights, name = "R1" } }, nsds):gsub("^run: sensitivities: ", ""))
    end
    assert.equal("R1: weights: expected a list of 2 numbers", refused({ { ds, "A", 1, 1 }, { ds, "A", 2, 2 } }, { 1 }))
    assert.equal("R1: expected a weight other than 0", refused({ { ds, "A", 1, 1 } }, { 0 }))
    assert.equal("R1: tank.x0[1] is an initial value, which moves alone", refused({ { ds, "x0", 1 } }, { 1 }))
    assert.equal("R1: valve.ub[1] is a number of a law, which moves alone", refused({ { law, "ub", 1 } }, { 1 }))
    assert.matches("together: expected a list of numbers, got an empty table", refused({}, {}), 1, true)
    assert.matches("together: expected {object, field, i, j}, got number", refused({ 1 }, { 1 }), 1, true)
  end)
end)
