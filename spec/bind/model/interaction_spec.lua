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

  it("has level 0 only in first order", function()
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

  it("has outputs, velocities and impulses in mechanics, forces where it is compliant", function()
    local inter = ns.Interaction(ns.NewtonImpactNSL(2, 0), ns.LagrangianLinearTIR(ns.eye(2)))
    local spring = ns.Interaction(ns.ComplementarityConditionNSL(1), ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 } }))
    local function levels(object, name, good, text)
      for _, level in ipairs { -1, 0, 1, 2 } do
        if good[level] then
          assert.equal(object:dimension(), #object[name](object, level))
        else
          assert.equal(("%s: level: expected %s, got %d"):format(name == "y" and "y" or "lambda", text, level),
            message(object[name], object, level))
        end
      end
      assert.equal(object:dimension(), #object[name](object))
    end
    levels(inter, "y", { [0] = true, [1] = true }, "0 or 1")
    levels(spring, "y", { [0] = true, [1] = true }, "0 or 1")
    for _, name in ipairs { "lambda", "lambda_" } do
      levels(inter, name, { [1] = true }, "1")
      levels(spring, name, { [0] = true }, "0")
    end
  end)

  it("shows the velocities of a step on level 1, live", function()
    local ds = ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.eye(2))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local inter = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR({ { 1, 1 } }, { 5 }))
    nsds:link(inter, ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.25), ns.MoreauJeanOSI(0.5))
    local y, u, lambda = inter:y(0), inter:y(1), inter:lambda(1)
    simu:initialize()
    assert.equal(8, y[1])
    simu:computeOneStep()
    assert.same({ 9.75, 7, 0 }, { y[1], u[1], lambda[1] })
    assert.equal(inter:y(1), u)
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

  it("has the velocities of the outputs before the first step", function()
    local function velocities(relation, ...)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      for _, ds in ipairs { ... } do nsds:insertDynamicalSystem(ds) end
      local inter = ns.Interaction(ns.NewtonImpactNSL(0), relation)
      nsds:link(inter, ...)
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):initialize()
      return inter:y(1)[1]
    end
    local function point(q, v) return ns.LagrangianLinearTIDS({ q }, { v }, { { 1 } }) end
    assert.equal(-6, velocities(ns.LagrangianLinearTIR { { 2 } }, point(5, -3)))
    assert.equal(5, velocities(ns.LagrangianLinearTIR { { -1, 1 } }, point(1, -3), point(2, 2)))
    assert.near(4.5, velocities(ns.LagrangianRheonomousR {
      h = function(t, q, _, y) y[1] = q[1] ^ 2 + 0.5 * t end,
    }, point(2, 1)), 1e-10)
    local sphere = ns.NewtonEulerDS({ 0, 0, 1, 1, 0, 0, 0 }, { 0, 0, -2, 0, 0, 0 }, 1, ns.eye(3))
    assert.equal(-2, velocities(ns.NewtonEulerR { h = function(_, q, _, y) y[1] = q[3] - 1 end }, sphere))
  end)
end)
