local ns = require "nslua"

-- Coefficients through a system that has them: A of a FirstOrderLinearDS, seen by its right-hand side.
local function rhs(ds, t)
  ds:computeRhs(t or 0)
  return ds:rhs():totable()
end

describe("coefficients", function()
  it("are read from tables, matrices and views of any stride", function()
    local big = ns.matrix { { 9, 9, 9 }, { 9, 1, 2 }, { 9, 3, 4 } }
    local part = big:slice(2, 3, 2, 3)
    for _, A in ipairs { { { 1, 2 }, { 3, 4 } }, ns.matrix { { 1, 2 }, { 3, 4 } }, part,
      part:transpose():transpose() } do
      assert.same({ 5, 11 }, rhs(ns.FirstOrderLinearTIDS({ 1, 2 }, A)))
    end
    local b = ns.matrix { { 5, 0 }, { 6, 0 } }:column(1)
    assert.same({ 5, 6 }, rhs(ns.FirstOrderLinearTIDS({ 1, 2 }, nil, b)))
  end)

  it("follow a shared matrix and not a copied one", function()
    local A = ns.matrix { { 1, 0 }, { 0, 1 } }
    local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, A)
    A[1][2] = 10
    assert.same({ 21, 2 }, rhs(ds))
    A:row(2)[1] = 7
    assert.same({ 21, 9 }, rhs(ds))
    ds:setA(A)
    A[1][2] = 0
    assert.same({ 21, 9 }, rhs(ds))
    ds:setAPtr(A)
    assert.same({ 1, 9 }, rhs(ds))
    A:assign { { 0, 0 }, { 0, 1 } }
    assert.same({ 0, 2 }, rhs(ds))
  end)

  it("keep a shared matrix alive", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, ns.matrix { { 1, 2 }, { 3, 4 } })
    collectgarbage()
    collectgarbage()
    assert.same({ 5, 11 }, rhs(ds))
  end)

  it("may be functions of time, and numbers again", function()
    local ds = ns.FirstOrderLinearDS({ 1 }, function(t, _, A) A[1][1] = t end, { 1 })
    assert.same({ 4 }, rhs(ds, 3))
    assert.same({ 6 }, rhs(ds, 5))
    ds:setAPtr { { 2 } }
    assert.same({ 3 }, rhs(ds, 5))
    ds:setComputebFunction(function(t, _, b) b[1] = -t end)
    assert.same({ -3 }, rhs(ds, 5))
  end)

  it("start from zeros each time a function fills them", function()
    local ds = ns.FirstOrderLinearDS({ 1, 1 }, function(t, _, A)
      if t == 0 then A[1][2] = 5 else A[2][1] = 7 end
    end)
    assert.same({ 5, 0 }, rhs(ds, 0))
    assert.same({ 0, 7 }, rhs(ds, 1))
  end)

  it("are finite, and the entry that is not is named", function()
    local A = ns.matrix { { 1, 0 }, { 0, 1 } }
    local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, A)
    A[2][1] = math.huge
    assert.error_matches(function() ds:computeRhs(0) end, "A[2][1] is inf", 1, true)
    assert.error_matches(function() ns.FirstOrderLinearTIDS({ 1, 2 }, A) end,
      "FirstOrderLinearTIDS: A[2][1] is inf", 1, true)
    ds = ns.FirstOrderLinearDS { x0 = { 1, 2 }, b = function(_, _, b) b[2] = 0 / 0 end }
    assert.error_matches(function() ds:computeRhs(0) end, "b%[2%] is %-?nan")
  end)

  it("do not read a source that is gone: a system cloned outlives the original's matrix", function()
    local copy
    do
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local ds = ns.FirstOrderLinearTIDS({ 1 }, ns.matrix { { -1 } })
      local relation = ns.FirstOrderLinearTIR(ns.matrix { { 2 } }, ns.matrix { { 3 } })
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), ds)
      copy = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1)):clone()
    end
    for _ = 1, 3 do
      collectgarbage()
      ns.zeros(50, 50)
    end
    copy:computeOneStep()
    local inter = copy:nsds():interaction(1)
    assert.near(0, inter:y(0)[1], 1e-15)
    assert.near(-1 / 1.5, inter:lambda(0)[1], 1e-14)
    assert.same({ { 2 } }, inter:relation():C():totable())
  end)
end)
