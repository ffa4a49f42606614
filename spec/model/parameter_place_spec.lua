local ns = require "nslua"
local internal = require "nslua.internal"

-- The places of parameters of a model with a time discretisation, and what they must be: words are "kind system first i j".
local function places(simu, parameters)
  local found = {}
  for k, place in ipairs(internal.places(simu, parameters)) do
    found[k] = ("%s %d %d %d %d"):format(place.kind, place.system, place.first, place.i, place.j)
  end
  return found
end

local function first_order(relation)
  local one = ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 3 }, { 4, -2 } }, { 5, 6 })
  one:setMPtr(ns.matrix { { 7, 8 }, { 9, 10 } })
  local two = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, z, f) f[1] = z[1] * x[1] end)
  two:setzPtr(ns.vector { 11 })
  local law, nsds = ns.RelayNSL(2, -1, 1), ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(one)
  nsds:insertDynamicalSystem(two)
  nsds:link(ns.Interaction(law, relation, "a"), one)
  nsds:link(ns.Interaction(law, relation, "b"), one)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), one, two, law
end

describe("parameter_place", function()
  it("finds the numbers of systems of first order, relations and bounds", function()
    local relation = ns.FirstOrderLinearTIR({ { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } })
    relation:setDPtr(ns.matrix { { 0, 1 }, { 2, 3 } })
    relation:setePtr(ns.vector { 4, 5 })
    local simu, one, two, law = first_order(relation)
    local found = places(simu, { { one, "A", 2, 1 }, { one, "b", 2 }, { one, "M", 1, 2 }, { relation, "C", 1, 2 },
      { relation, "D", 2, 1 }, { relation, "e", 2 }, { relation, "B", 2, 2 }, { law, "lb", 2 }, { law, "ub", 1 }, { two, "z", 1 },
      { one, "x0", 1 } })
    assert.same({ "A 1 0 2 1", "b 1 0 2 1", "mass 1 0 1 2", "C 0 1 1 2", "D 0 1 2 1", "e 0 1 2 1", "B 0 1 2 2", "lower 0 1 2 1",
      "upper 0 1 1 1", "z 2 0 1 1", "unknown 0 0 1 1" }, found)
    local shared = internal.places(simu, { { relation, "C", 1, 1 }, { law, "lb", 1 }, { two, "z", 1 } })
    assert.same({ 2, 2, 0 }, { shared[1].shared, shared[2].shared, shared[3].shared })
    assert.same({ 1, false }, { shared[3].systems, shared[3].copied })
  end)

  it("does not take a matrix beside a callback for a number of the model", function()
    local relation = ns.FirstOrderType1R { h = function(_, x, _, y) y[1], y[2] = x[1], x[2] end,
      g = function(_, lambda, _, r) r[1], r[2] = lambda[1], lambda[2] end }
    relation:setCPtr(ns.matrix { { 1, 0 }, { 0, 1 } })
    relation:setBPtr(ns.matrix { { 1, 0 }, { 0, 1 } })
    local simu = first_order(relation)
    assert.same({ "unknown 0 1 1 1", "unknown 0 1 1 1" }, places(simu, { { relation, "C", 1, 1 }, { relation, "B", 1, 1 } }))
  end)

  it("finds those of mechanics and of their laws", function()
    local ds = ns.LagrangianLinearTIDS({ 1, 1 }, { 0, 0 }, { { 2, 0 }, { 0, 3 } }, { { 4, 0 }, { 0, 4 } }, { { 5, 0 }, { 0, 5 } })
    ds:setFExtPtr(ns.vector { 1, -9.81 })
    local law, relation = ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 0, 1 } }, { 0.25 })
    local body = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 2, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(body)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "floor"), ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    assert.same({ "mass 2 0 2 2", "stiffness 2 0 1 2", "damping 2 0 2 1", "fExt 2 0 2 1", "C 0 1 1 2", "e 0 1 1 1", "law 0 1 1 1" },
      places(simu, { { ds, "mass", 2, 2 }, { ds, "K", 1, 2 }, { ds, "C", 2, 1 }, { ds, "fExt", 2 }, { relation, "C", 1, 2 },
        { relation, "e", 1 }, { law, "e" } }))
    assert.same("unknown 1 0 1 1", places(simu, { { body, "mass", 1, 1 } })[1])
  end)

  it("tells a z of which an interaction between two systems has a copy, and one in two systems", function()
    local z, list, nsds = ns.vector { 1, 2 }, {}, ns.NonSmoothDynamicalSystem(0, 1)
    for k = 1, 2 do
      list[k] = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      list[k]:setzPtr(z)
      nsds:insertDynamicalSystem(list[k])
    end
    local law = ns.RelayNSL(1, -1, 1)
    local inter = ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 }, { -1 } }), "between")
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local alone = internal.places(simu, { { list[2], "z", 2 } })[1]
    assert.same({ "z", 1, 2, 2, false }, { alone.kind, alone.system, alone.systems, alone.j, alone.copied })
    nsds:link(inter, list[1], list[2])
    assert.is_true(internal.places(simu, { { list[2], "z", 2 } })[1].copied)
  end)
end)
