-- Linear models with sparse coefficients: the same answers as the dense form, by one sparse problem a step.
local ns = require "nslua"
local models = require "bind.models"
local message, state, advance = models.message, models.state, models.advance

local function tridiagonal(n, low, mid, high)
  local I, J, V = {}, {}, {}
  local function put(i, j, v) I[#I + 1], J[#J + 1], V[#V + 1] = i, j, v end
  for i = 1, n do
    if i > 1 then put(i, i - 1, low) end
    put(i, i, mid)
    if i < n then put(i, i + 1, high) end
  end
  return ns.sparse { rows = n, cols = n, i = I, j = J, v = V }
end

-- A diagonal with zeros in every third place.
local function gaps(n)
  local I, V = {}, {}
  for i = 1, n do
    if i % 3 ~= 0 then I[#I + 1], V[#V + 1] = i, 1 + i / n end
  end
  return ns.sparse { rows = n, cols = n, i = I, j = I, v = V }
end

local function wave(n, frequency)
  local v = ns.vector(n)
  for i = 1, n do v[i] = math.sin(frequency * i) end
  return v
end

-- A ladder of n cells, each with a diode (or another law): `form` makes the coefficients sparse or dense.
local function ladder(form, o)
  o = o or {}
  local n = o.n or 24
  local ds = (o.b and ns.FirstOrderLinearDS or ns.FirstOrderLinearTIDS) {
    x0 = wave(n, 0.37), A = form(tridiagonal(n, 1, -2, o.skew and 0.5 or 1)), b = o.b or wave(n, 0.11),
    M = o.M and form(o.M), name = "ladder" }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 0.4)
  nsds:insertDynamicalSystem(ds)
  local relation = { C = form(o.C or ns.speye(n)), B = form(o.B or ns.speye(n)), D = form(o.D or ns.speye(n) * 0.1) }
  local make = ns.FirstOrderLinearTIR
  if o.e then make, relation.e = ns.FirstOrderLinearR, o.e end
  local inter = ns.Interaction(o.law or ns.ComplementarityConditionNSL(n), make(relation), "diodes")
  nsds:link(inter, ds)
  local osi = ns.EulerMoreauOSI(o.theta or 1, o.gamma or 1)
  if o.in_relation then osi:setUseGammaForRelation(true) end
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), osi, o.osnspb or ns.MLCP())
  return simu, ds, inter
end

local function sparse(A) return A end
local function dense(A) return A:tomatrix() end

local function assert_near(a, b, tolerance)
  assert.equal(#a, #b)
  for i = 1, #a do assert.near(a[i], b[i], tolerance) end
end

-- Steps both and compares all that a script can read, at each step.
local function agree(a, b, tolerance)
  tolerance = tolerance or 1e-12
  local steps = 0
  while a:hasNextEvent() do
    a:computeOneStep()
    b:computeOneStep()
    local one, other = a:nsds(), b:nsds()
    for i = 1, one:numberOfDynamicalSystems() do
      assert_near(one:dynamicalSystem(i):x(), other:dynamicalSystem(i):x(), tolerance)
      assert_near(one:dynamicalSystem(i):r(), other:dynamicalSystem(i):r(), 100 * tolerance)
    end
    for i = 1, one:numberOfInteractions() do
      assert_near(one:interaction(i):y(0), other:interaction(i):y(0), tolerance)
      assert_near(one:interaction(i):lambda(0), other:interaction(i):lambda(0), 100 * tolerance)
    end
    a:nextStep()
    b:nextStep()
    steps = steps + 1
  end
  return steps
end

local function compare(o)
  local a, b = ladder(sparse, o), ladder(dense, o)
  assert.equal(20, agree(a, b))
  assert.is_nil(a:osnspb():M())
  assert.is_table(a:osnspb():info())
  assert.is_not_nil(b:osnspb():M())
  return a, b
end

describe("the sparse one-step problem", function()
  for _, theta in ipairs { 1, 0.5 } do
    for _, gamma in ipairs { 1, 0.5 } do
      it(("is the dense one: theta %g, gamma %g"):format(theta, gamma), function()
        local a = compare { theta = theta, gamma = gamma }
        assert.equal("NS_OK", a:osnspb():info().status)
        assert.equal(1, a:stats().factorizations)
        compare { theta = theta, gamma = gamma, in_relation = true, skew = true }
      end)
    end
  end

  it("takes a sparse M, singular too #once", function()
    compare { M = gaps(24) }
    compare { M = gaps(24), theta = 0.6 }
    compare { M = tridiagonal(24, 0.1, 2, 0.3), theta = 0.5 }
  end)

  it("takes b and e that depend on time, one sparse coefficient among dense ones, and an explicit step #once", function()
    local function b(t, _, out)
      for i = 1, #out do out[i] = math.sin(3 * t + 0.2 * i) end
    end
    local function e(t, _, out)
      for i = 1, #out do out[i] = 0.1 * math.cos(5 * t + i) end
    end
    compare { b = b, theta = 0.5 }
    compare { b = b, e = e, gamma = 0.7 }
    compare { theta = 0 }
    local kept = ns.speye(24)
    local only = ladder(function(A) return A == kept and A or A:tomatrix() end, { C = kept })
    agree(only, (ladder(dense)))
    assert.is_nil(only:osnspb():M())
  end)

  it("takes relays, equalities and mixed laws #once", function()
    compare { law = ns.RelayNSL(24, -0.3, 0.2) }
    compare { law = ns.EqualityConditionNSL(24), theta = 0.5 }
    compare { law = ns.MixedComplementarityConditionNSL(10, 14), theta = 0.5 }
    compare { law = ns.RelayNSL(24, -0.3, 0.2), D = ns.sparse { rows = 24, cols = 24, i = {}, j = {}, v = {} } }
  end)

  it("holds several systems and interactions, sparse and dense, and a relation that links two", function()
    local function build(form)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
      local first = ns.FirstOrderLinearTIDS(wave(12, 0.4), form(tridiagonal(12, 1, -2, 1)), wave(12, 0.7))
      local second = ns.FirstOrderLinearTIDS({ 1, -0.5 }, { { 0, 1 }, { -1, -0.2 } })
      nsds:insertDynamicalSystem(first)
      nsds:insertDynamicalSystem(second)
      local pick = ns.sparse { rows = 4, cols = 12, i = { 1, 2, 3, 4 }, j = { 1, 5, 9, 12 }, v = { 1, 1, -1, 2 } }
      local own = form(ns.speye(4) * 0.1)
      local diodes = ns.FirstOrderLinearTIR { C = form(pick), B = form(pick:transpose()), D = own }
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(4), diodes, "diodes"), first)
      local relay = ns.FirstOrderLinearTIR { C = { { 0, 1 } }, B = { { 0 }, { -1 } } }
      nsds:link(ns.Interaction(ns.RelayNSL(1, -0.2, 0.2), relay, "relay"), second)
      local across = ns.sparse { rows = 1, cols = 14, i = { 1, 1 }, j = { 3, 13 }, v = { 1, -1 } }
      local link = ns.FirstOrderLinearTIR { C = form(across), B = form(across:transpose()), D = { { 0.5 } } }
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), link, "link"), first, second)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), ns.EulerMoreauOSI(0.5), ns.MLCP())
    end
    local a, b = build(sparse), build(dense)
    assert.equal(20, agree(a, b))
    assert.is_nil(a:osnspb():M())
    assert.equal(6, a:osnspb():size())
  end)

  it("repeats itself: reset, another simulation, a clone, the same bits", function()
    local simu = ladder(sparse, { theta = 0.5 })
    local reference = advance(simu)
    simu:reset()
    assert.same(reference, advance(simu))
    assert.same(reference, advance((ladder(sparse, { theta = 0.5 }))))
    for _, o in ipairs { { M = gaps(24), D = gaps(24) }, { law = ns.RelayNSL(24, -0.3, 0.2), D = gaps(24) } } do
      local pivoting = ladder(sparse, o)
      local first = advance(pivoting)
      pivoting:reset()
      assert.same(first, advance(pivoting))
    end
    local other = ladder(sparse, { theta = 0.5 })
    advance(other, 7)
    local copy = other:clone()
    assert.equal(state(other), state(copy))
    assert.equal(reference[#reference], advance(copy)[#reference])
    assert.equal(reference[#reference], advance(other)[#reference])
    simu:reset()
    local sol = simu:run()
    assert.equal("completed", sol.status)
    assert.equal(reference[#reference], state(simu))
  end)

  it("sees what a script writes between steps: x, matrices, options of the solver", function()
    local a, da, ia = ladder(sparse)
    local b, db, ib = ladder(dense)
    for _, each in ipairs { { a, da, ia, sparse }, { b, db, ib, dense } } do
      local simu, ds, inter, form = table.unpack(each)
      advance(simu, 5)
      ds:x()[3] = -2
      ds:setX(ds:x() * 0.5)
      advance(simu, 10)
      ds:setAPtr(form(tridiagonal(24, 0.5, -1, 0.5)))
      inter:relation():setDPtr(form(ns.speye(24) * 0.3))
      advance(simu, 15)
      simu:osi():setTheta(0.5)
    end
    assert_near(da:x(), db:x(), 1e-12)
    agree(a, b)
    assert.equal(3, a:stats().factorizations)
  end)

  it("follows the solver's options, changed after a step too", function()
    local simu = ladder(sparse)
    local problem = simu:osnspb()
    advance(simu, 2)
    problem:setSolver "pivot"
    assert.equal("MLCP: solver 'pivot' takes no sparse one-step problem; use 'default', 'psor', 'pgs', 'newton_min', 'newton_fb' "
      .. "or 'interior' (t=0.06 step 3 newton 1)", message(simu.computeOneStep, simu))
    problem:setSolver "pgs"
    simu:computeOneStep()
    assert.equal("psor", problem:info().solver)
    problem:setSolver "default"
    assert.equal(advance((ladder(sparse)))[20], advance(simu)[20])
  end)

  it("refuses sparse matrices of wrong size", function()
    local TI = ns.FirstOrderLinearTIDS
    assert.equal("FirstOrderLinearTIDS: A: expected a 2 x 2 matrix, got 3 x 3 sparse matrix",
      message(TI, { 1, 2 }, ns.speye(3)))
    assert.equal("FirstOrderLinearTIDS: M: expected a 2 x 2 matrix, got 3 x 3 sparse matrix",
      message(TI, { x0 = { 1, 2 }, M = ns.speye(3) }))
    local ds = TI({ 1, 2 }, ns.speye(2))
    assert.equal("FirstOrderLinearTIDS: A: expected a 2 x 2 matrix, got 3 x 3 sparse matrix",
      message(ds.setAPtr, ds, ns.speye(3)))
    assert.equal(ns.eye(2), ns.matrix(ds:A():tomatrix()))
    assert.equal("relation 'FirstOrderLinearTIR': C: expected 24 x 24 for 24 multipliers and 24 states of dynamical "
      .. "system 'ladder', got 2 x 2",
      message(function() ladder(sparse, { C = ns.speye(2) }) end))
  end)

  it("solves with a sparse M in computeRhs, and tells a singular one", function()
    local ds = ns.FirstOrderLinearTIDS { x0 = { 1, 2, 3 }, A = ns.speye(3), M = tridiagonal(3, 1, 4, 2) }
    local other = ns.FirstOrderLinearTIDS { x0 = { 1, 2, 3 }, A = ns.eye(3), M = tridiagonal(3, 1, 4, 2):tomatrix() }
    ds:computeRhs(0)
    other:computeRhs(0)
    assert_near(ds:rhs(), other:rhs(), 1e-15)
    ds:setName "cells"
    ds:setMPtr(gaps(3))
    assert.matches("^dynamical system 'cells': the right%-hand side needs M%^%-1: .*singular",
      message(ds.computeRhs, ds, 0))
  end)

  it("leaves nonlinear models and polyhedral laws to the dense form", function()
    local function nonlinear(form)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
      local ds = ns.FirstOrderLinearTIDS(wave(6, 0.4), form(tridiagonal(6, 1, -2, 1)))
      nsds:insertDynamicalSystem(ds)
      local relation = ns.FirstOrderNonLinearR {
        h = function(_, x, lambda, _, y) y[1] = x[1] + 0.1 * x[2] ^ 2 + lambda[1] end,
        g = function(_, x, lambda, _, r) r[2] = lambda[1] * (1 + 0.1 * x[1] ^ 2) end,
      }
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), relation), ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), ns.EulerMoreauOSI(0.5), ns.MLCP())
    end
    local a, b = nonlinear(sparse), nonlinear(dense)
    agree(a, b)
    assert.is_not_nil(a:osnspb():M())
    local H, K = { { 1, 1 }, { -1, 0 }, { 0, -1 } }, { -0.2, -0.3, -0.3 }
    local function cone(form)
      local C = ns.sparse { rows = 2, cols = 24, i = { 1, 2 }, j = { 4, 9 }, v = { 1, 1 } }
      local law, D = ns.NormalConeNSL(2, H, K), ns.speye(2) * 0.1
      return (ladder(form, { C = C, B = C:transpose(), D = D, law = law, osnspb = ns.AVI() }))
    end
    a, b = cone(sparse), cone(dense)
    agree(a, b)
    assert.is_not_nil(a:osnspb():M())
  end)

  it("leaves its one-step problem to another simulation", function()
    local simu, ds = ladder(sparse)
    local problem = simu:osnspb()
    advance(simu, 3)
    simu:close()
    assert.is_nil(problem:info())
    assert.is_nil(problem:q())
    local reference = advance((ladder(dense)))
    local again = ladder(dense, { osnspb = problem })
    assert.same(reference, advance(again))
    assert.is_not_nil(problem:M())
    again:close()
    again = ladder(sparse, { osnspb = problem })
    assert.same(advance((ladder(sparse))), advance(again))
    assert.is_nil(problem:M())
    assert.equal(24, #problem:z())
    ds:close()
  end)

  it("is not dumped nor studied", function()
    local simu = ladder(sparse)
    local problem = simu:osnspb()
    advance(simu, 1)
    assert.matches("^MLCP: the one%-step problem is a sparse one, which can not be dumped",
      message(problem.dump, problem, "/nonexistent/x"))
    for _, name in ipairs { "uniqueness", "solutions" } do
      assert.matches("the one%-step problem is a sparse one, which is too large for this",
        message(problem[name], problem))
    end
  end)

  it("without solution keeps the state, and goes on when it is mended", function()
    local none = ns.sparse { rows = 24, cols = 24, i = {}, j = {}, v = {} }
    local simu, _, inter = ladder(sparse, { D = none, B = none })
    local before
    for _ = 1, 2 do
      assert.matches("^MLCP: the one%-step problem has no accepted solution: .*'diodes'.* %(t=0.02 step 1",
        message(simu.computeOneStep, simu))
      before = before or state(simu)
      assert.equal(before, state(simu))
      assert.are_not.equal("NS_OK", simu:osnspb():info().status)
    end
    inter:relation():setBPtr(ns.speye(24))
    assert.same(advance((ladder(sparse, { D = none }))), advance(simu))
  end)

  it("steps ten thousand diodes, with no dense matrix #once", function()
    local simu, ds, inter = ladder(sparse, { n = 10000, T = 0.1, theta = 0.5 })
    local start = os.clock()
    advance(simu, 0)
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
    end
    assert.is_true(os.clock() - start < 5)
    local y, lambda, x = inter:y(0), inter:lambda(0), ds:x()
    for i = 1, 10000 do
      assert.is_true(y[i] > -1e-12 and lambda[i] >= 0 and math.abs(y[i] * lambda[i]) <= 1e-12)
      assert.near(x[i] + 0.1 * lambda[i], y[i], 1e-12)
    end
  end)
end)

describe("sparse equations of the states without a solution", function()
  local function step(x0, A, b, h, theta)
    local ds = ns.FirstOrderLinearTIDS(x0, ns.sparse(A), b)
    local nsds = ns.NonSmoothDynamicalSystem(0, h)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.EulerMoreauOSI(theta))
    local text = message(simu.computeOneStep, simu)
    assert.equal(x0[1], ds:x()[1])
    return text
  end

  it("are told: they overflow, are singular, give no numbers", function()
    assert.matches("dynamical system 'ds 1': x[1] became inf (t=1 step 1", step({ 1.7e308 }, { { 0 } }, { 1.7e308 }, 1, 1), 1, true)
    assert.matches("the sparse equations of the states have no accepted solution: no solution (residual 1) (t=0.1 step 1",
      step({ 1, 1 }, { { 10, 0 }, { 0, 1 } }, nil, 0.1, 1), 1, true)
    assert.matches("the sparse equations of the states have no accepted solution: not a finite number (residual inf)",
      step({ 1.7e308 }, { { 1.5 } }, nil, 1, 0), 1, true)
    assert.matches("the sparse one-step problem: not a finite number (t=10 step 1 newton 1)",
      step({ 1 }, { { -1.7e308 } }, nil, 10, 1), 1, true)
  end)
end)
