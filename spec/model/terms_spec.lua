-- The terms of a model at a point that is not its state, against closed forms.
local ns = require "nslua"
local graph = require "nslua.core".graph_support

describe("terms of a model", function()
  it("of first order are f, M, A, y, C, D, B of its own systems and interactions", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local body = ns.LagrangianLinearTIDS({ 5 }, { 6 }, { { 1 } })
    local ds = ns.FirstOrderLinearDS({ 1, 2 }, { { 1, 2 }, { 3, 4 } }, { 10, 20 })
    ds:setMPtr(ns.matrix { { 2, 0 }, { 0, 4 } })
    nsds:insertDynamicalSystem(body)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1),
      ns.FirstOrderLinearTIR { C = { { 1, -1 } }, D = { { 3 } }, B = { { 5 }, { 7 } } }), ds)
    local terms = graph.terms(nsds, 0, { 0, 0, -1, 0.5 }, { 2 }, false)
    assert.equal(ns.vector { -1 + 1 + 10 + 10, -3 + 2 + 20 + 14 }, terms.f)
    assert.equal(ns.matrix { { 2, 0 }, { 0, 4 } }, terms.M)
    assert.equal(ns.matrix { { 1, 2 }, { 3, 4 } }, terms.A)
    assert.equal(ns.vector { -1.5 + 6 }, terms.y)
    assert.equal(ns.matrix { { 1, -1 } }, terms.C)
    assert.equal(ns.matrix { { 3 } }, terms.D)
    assert.equal(ns.matrix { { 5 }, { 7 } }, terms.B)
    assert.equal(ns.vector { 1, 2 }, ds:x():copy())
  end)

  it("of mechanics have the rate of y in time and the curvature of its constraints", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local ds = ns.LagrangianDS { q0 = { 1, 0 }, v0 = { 0, 0 }, mass = { { 2, 0 }, { 0, 3 } },
      fInt = function(t, q, v, _, f) f[1], f[2] = q[1] ^ 2 + t, q[1] * v[2] end }
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianRheonomousR {
      h = function(t, q, _, y) y[1] = q[1] ^ 2 * q[2] - 3 * t end }), ds)
    local terms = graph.terms(nsds, 2, { 3, 4, 5, 6 }, { 0.5 }, true)
    assert.equal(ns.vector { -11, -18 }, terms.f)
    assert.equal(ns.matrix { { 2, 0 }, { 0, 3 } }, terms.M)
    assert.equal(ns.matrix { { -6, 0 }, { -6, 0 } }, terms.A)
    assert.equal(ns.matrix { { 0, 0 }, { 0, -3 } }, terms.V)
    assert.equal(ns.vector { 30 }, terms.y)
    assert.equal(ns.matrix { { 24, 9 } }, terms.C)
    assert.equal(ns.vector { -3 }, terms.rate)
    assert.equal(ns.matrix { { 4, 3 }, { 3, 0 } }, terms.G)
  end)

  it("have the curvature of a Jachq that takes no duals by differences, in all units", function()
    local function plain(value) return tonumber(("%.17g"):format(value)) end
    for _, u in ipairs { 1, 2 ^ -30, 2 ^ 30 } do
      local bent = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = plain(q[1] ^ 2 / u + q[2]) end,
        Jachq = function(q, _, C) C[1][1], C[1][2] = plain(2 * q[1] / u + 0.25), 1 end }
      local nsds, mass = ns.NonSmoothDynamicalSystem(0, 1), ns.LagrangianDS({ 0, u }, { 0, 0 }, ns.eye(2))
      nsds:insertDynamicalSystem(mass)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), bent), mass)
      local G = graph.terms(nsds, 0, ns.vector { 0, u, 0, 0 }, ns.vector { 3 }, true).G
      assert.near(6, G[1][1] * u, 1e-11)
      assert.same({ 0, 0, 0 }, { G[1][2], G[2][1], G[2][2] })
    end
  end)
end)
