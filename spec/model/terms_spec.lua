-- The terms of a model at a point that is not its state, against closed forms.
local ns = require "nslua"
local graph = require "nslua.core".graph_support
local numbers = require "random_numbers"

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

  it("have the derivatives by a number of the model, which agree with differences, in both families", function()
    local first = ns.FirstOrderLinearTIDS({ 1, 2 }, numbers.matrix_within(2, 2, 2), { 1, 2 })
    local curved = ns.FirstOrderNonLinearDS({ 3 }, function(t, x, z, f) f[1] = z[1] ^ 2 * x[1] + t * math.sin(z[2]) end)
    curved:setzPtr(ns.vector { 0.7, 0.3 })
    local mass = ns.LagrangianLinearTIDS({ 5, 1 }, { 6, 2 }, { { 2, 0 }, { 0, 3 } })
    mass:setK(numbers.matrix_within(2, 2, 2))
    mass:setC(numbers.matrix_within(2, 2, 2))
    mass:setFExt { 1, 2 }
    local relation = ns.FirstOrderLinearTIR { C = numbers.matrix_within(2, 2, 2), D = numbers.matrix_within(2, 2, 2),
      B = numbers.matrix_within(2, 2, 2), e = { 1, 2 } }
    local bar = ns.LagrangianLinearTIR({ { 1, -2 } }, { 0.5 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    for _, ds in ipairs { mass, first, curved } do nsds:insertDynamicalSystem(ds) end
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), bar), mass)
    nsds:link(ns.Interaction(ns.RelayNSL(2), relation), first)
    local x, lambda = ns.vector { 5, 1, 6, 2, 1, 2, 3 }, ns.vector { 0.5, -0.25, 0.75 }
    local function at(mechanical, number)
      local terms = graph.terms(nsds, 2, x, lambda, mechanical, number)
      return terms, mechanical and terms.f + terms.C:transpose() * lambda:slice(1, 1) or terms.f
    end
    for _, case in ipairs { { first, "A", 1, 2 }, { first, "b", 2 }, { curved, "z", 1 }, { curved, "z", 2 }, { mass, "K", 2, 1 },
      { mass, "C", 1, 2 }, { mass, "fExt", 2 }, { mass, "mass", 1, 1 }, { relation, "C", 2, 1 }, { relation, "D", 1, 2 },
      { relation, "e", 2 }, { relation, "B", 2, 1 }, { bar, "C", 1, 2 }, { bar, "e", 1 } } do
      local object, field, i, j = table.unpack(case)
      local value = object[field](object)
      local setter = ({ b = "setb", e = "sete", mass = "setMass" })[field] or "set" .. field:sub(1, 1):upper() .. field:sub(2)
      local function put(number)
        if j then value[i][j] = number else value[i] = number end
        if field ~= "z" then object[setter](object, value) end
      end
      local function moved(mechanical, by)
        local old = j and value[i][j] or value[i]
        put(old + by)
        local terms, f = at(mechanical)
        put(old)
        return terms.y, f
      end
      for _, mechanical in ipairs { true, false } do
        local exact, h = at(mechanical, case), 2 ^ -14
        local y1, f1 = moved(mechanical, h)
        local y0, f0 = moved(mechanical, -h)
        assert.near(0, ((f1 - f0) / (2 * h) - exact.f_by):norm(), 1e-7, field)
        assert.near(0, ((y1 - y0) / (2 * h) - exact.y_by):norm(), 1e-7, field)
      end
    end
    assert.equal(2 * math.cos(0.3), at(false, { curved, "z", 2 }).f_by[3])
    assert.is_nil(at(false, { first, "b" }).f_by) -- two numbers
  end)

  it("do not know the derivatives by z of a relation of mechanics, nor by numbers of bodies with quaternions", function()
    local nsds, ds = ns.NonSmoothDynamicalSystem(0, 1), ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    local relation = ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = q[1] - z[1] end }
    relation:setzPtr(ns.vector { 2 })
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), ds)
    assert.is_nil(graph.terms(nsds, 0, { 1, 0 }, { 1 }, true, { relation, "z", 1 }).f_by)
    local bodies, body = ns.NonSmoothDynamicalSystem(0, 1), ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, ns.zeros(6), 2, ns.eye(3))
    bodies:insertDynamicalSystem(body)
    body:setFExt { 0, 0, 1 }
    assert.is_nil(graph.terms(bodies, 0, ns.concatenate { body:q(0), ns.zeros(6) }, {}, true, { body, "fExt", 3 }).f_by)
  end)
end)
