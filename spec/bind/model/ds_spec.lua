-- What systems of all families have in common: names, parameters, closing, columns of a solution.
local ns = require "nslua"
local message = require "bind.models".message

local makers = {
  FirstOrderLinearTIDS = function(options)
    options.x0 = { 1, 2 }
    return ns.FirstOrderLinearTIDS(options)
  end,
  LagrangianDS = function(options)
    options.q0, options.v0 = { 1 }, { 2 }
    return ns.LagrangianDS(options)
  end,
}

describe("systems of every family", function()
  for type_name, make in pairs(makers) do
    it("have names, parameters and an end: " .. type_name, function()
      local z = ns.vector { 5 }
      local ds = make { name = "one", z = z }
      assert.equal("one", ds:name())
      ds:setName "two"
      assert.equal("two", ds:name())
      z[1] = 6
      assert.equal(6, ds:z()[1])
      ds:setz { 7 }
      z[1] = 8
      assert.equal(7, ds:z()[1])
      assert.is_nil(make({}):z())
      assert.same({ 1, 2 }, ds:x():totable())
      ds:setX { 3, 4 }
      ds:setX0 { 5, 6 }
      assert.same({ 3, 4 }, ds:x():totable())
      ds:resetToInitialState()
      assert.same({ 5, 6 }, ds:x():totable())
      assert.equal(type_name .. ": x: expected a vector of 2, got a list of 1", message(ds.setX, ds, { 1 }))
      assert.equal("setNames: names: expected a table of 2 strings, got a list of 1", message(ds.setNames, ds, { "a" }))
      ds:close()
      assert.equal("dynamical system 'two' is closed", message(ds.x, ds))
    end)
  end

  it("name their columns q1, v1 in mechanics", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.LagrangianDS({ 1, 2 }, { 3, 4 }))
    local last = ns.LagrangianDS({ 5 }, { 6 })
    nsds:insertDynamicalSystem(last)
    nsds:insertDynamicalSystem(ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, ns.zeros(6), 1, ns.eye(3)))
    last:setNames { "angle", "rate" }
    local sol = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.MoreauJeanOSI(0.5)):run()
    assert.equal("t q1 q2 v1 v2 angle rate q4 q5 q6 q7 q8 q9 q10 v4 v5 v6 v7 v8 v9",
      table.concat(sol:names(), " ", 1, 20))
    assert.equal(6.5 + 1.5, sol.angle[2])
    assert.equal(3, sol.v1[3])
  end)

  it("are refused where none is expected", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    assert.matches("dynamical system expected, got RelayNSL", message(nsds.insertDynamicalSystem, nsds, ns.RelayNSL(1)))
  end)
end)
