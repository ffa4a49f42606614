-- The states of a smooth simulation, for a tool that integrates them.
local exchange = require "nslua.fmi.smooth_exchange"
local near = require("expect").near
local ns = require "nslua"

describe("a smooth simulation in model exchange", function()
  it("has the states of all systems in the order of the graph, named as in a solution", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.eye(2)))
    nsds:insertDynamicalSystem(ns.LagrangianLinearTIDS({ 5 }, { 6 }, { { 1 } }, { { 2 } }))
    local object = { simulation = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), t = 0 }
    local names = {}
    local opened = exchange.open(object)
    object.exchange = opened
    for i, state in ipairs(opened.states) do names[i] = state.name end
    assert.equal(0, opened.indicators)
    assert.equal("q1 q2 v1 v2 q3 v3", table.concat(names, " "))
    assert.same({ 1, 2, 3, 4, 5, 6 }, exchange.states(object))
    near({ 3, 4, 0, 0, 6, -10 }, ns.vector(exchange.derivatives(object)))
    exchange.set_states(object, { 1, 2, 0, -1, 1, 0 })
    near({ 0, -1, 0, 0, 0, -2 }, ns.vector(exchange.derivatives(object)))
    assert.has_error(function() exchange.set_states(object, { 1 }) end, "there are 6 states, not 1")
  end)
end)
