-- The states and rates of a simulation, for a tool that integrates them.
local exchange = require "nslua.fmi.modes_exchange"
local near = require("expect").near
local ns = require "nslua"
local graph = require("models").graph

local function opened(osi, ...)
  local object = { simulation = ns.TimeStepping(graph(1, ...), ns.TimeDiscretisation(0, 0.5), osi), t = 0 }
  object.exchange = exchange.open(object)
  return object
end

local function rates(expected, object) near(expected, ns.vector(exchange.derivatives(object))) end

describe("a smooth simulation in model exchange", function()
  it("has the states of all systems in the order of the graph, named as in a solution, and no indicators", function()
    local object = opened(ns.MoreauJeanOSI(0.5), ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.eye(2)),
      ns.LagrangianLinearTIDS({ 5 }, { 6 }, { { 1 } }, { { 2 } }))
    local names = {}
    for i, state in ipairs(object.exchange.states) do names[i] = state.name end
    assert.equal(0, object.exchange.indicators)
    assert.same({}, exchange.indicators(object))
    assert.equal("q1 q2 v1 v2 q3 v3", table.concat(names, " "))
    assert.same({ 1, 2, 3, 4, 5, 6 }, exchange.states(object))
    rates({ 3, 4, 0, 0, 6, -10 }, object)
    exchange.set_states(object, { 1, 2, 0, -1, 1, 0 })
    rates({ 0, -1, 0, 0, 0, -2 }, object)
    assert.has_error(function() exchange.set_states(object, { 1 }) end, "there are 6 states, not 1")
    exchange.close(object)
  end)

  it("has rates that follow the numbers of the model at once", function()
    local A, b, F = ns.matrix { { -1 } }, ns.vector { 1 }, ns.vector { 3 }
    local object = opened(ns.EulerMoreauOSI(0.5), ns.FirstOrderLinearTIDS({ 1 }, A, b))
    rates({ 0 }, object)
    b[1], A[1][1] = 2, -5
    rates({ -3 }, object)
    local mass = ns.LagrangianLinearTIDS({ 5 }, { 6 }, { { 1 } }, { { 2 } })
    mass:setFExtPtr(F)
    local other = opened(ns.MoreauJeanOSI(0.5), mass)
    rates({ 6, -7 }, other)
    F[1] = 4
    rates({ 6, -6 }, other)
  end)

  it("has the rates of a mode of a law that follow an input at once, also while the law slides", function()
    for _, case in ipairs { { 1, -1, 0 }, { 0, 0, 0 } } do -- x' = b - x - sign x
      local b = ns.vector { case[1] == 0 and 0.5 or 1 }
      local law, relation = ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })
      local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), ns.FirstOrderLinearTIDS({ case[1] }, { { -1 } }, b)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, relation, "relay"), ds)
      local grid = ns.TimeDiscretisation(0, 0.5)
      local object = { simulation = ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()), t = 0 }
      object.exchange = exchange.open(object)
      rates({ case[2] }, object)
      local before = math.min(table.unpack(exchange.indicators(object)))
      b[1] = case[1] == 0 and 0.75 or 2
      rates({ case[3] }, object)
      local after = math.min(table.unpack(exchange.indicators(object)))
      assert.near(case[1] == 0 and -0.25 or 0, after - before, 1e-12)
      exchange.close(object)
    end
  end)
end)
