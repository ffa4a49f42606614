-- KLU behind A:solve and A:lu.
local ns = require "nslua"
local fails = require "expect".fails
local random_vector = require "linalg.matrices".random_vector

local function random(n, density)
  local A = ns.matrix(n, n)
  for i = 1, n do
    for j = 1, n do
      if math.random() < density then A[i][j] = 2 * math.random() - 1 end
    end
    A[i][i] = A[i][i] + 2
  end
  return A
end

local function tridiagonal(n)
  return ns.spdiags({-1, 2.5, -1.2}, {-1, 0, 1}, n)
end

describe("sparse LU", function()
  setup(function() math.randomseed(22) end)

  it("agrees with dense LU on random patterns", function()
    for n = 1, 40 do
      local D = random(n, 0.15)
      local S, b = ns.sparse(D), random_vector(n)
      local x = S:solve(b)
      assert.is_true(ns.norm(D * x - b) <= 1e-13 * n * (ns.norm(D) * ns.norm(x) + 1))
      local y = S:lu():tsolve(b)
      assert.is_true(ns.norm(D:transpose() * y - b) <= 1e-13 * n * (ns.norm(D) * ns.norm(y) + 1))
      assert.is_true(ns.norm(x - ns.solve(D, b)) <= 1e-12 * n * ns.cond(D) * (1 + ns.norm(x)))
      local X = S:solve(D)
      for i = 1, n do X[i][i] = X[i][i] - 1 end
      assert.is_true(ns.norm(X) <= 1e-12 * n * ns.cond(D))
      local exact = 1 / ns.cond(D, 1)
      assert.is_true(S:rcond() >= exact * (1 - 1e-8) and S:rcond() <= 10 * exact)
    end
  end)

  it("permutes where the diagonal is zero", function()
    local S = ns.sparse{{0, 0, 2}, {3, 0, 0}, {0, 5, 0}}
    assert.are.same({1, 2, 3}, S:solve{6, 3, 10}:totable())
  end)

  it("solves a tridiagonal system of 1e4", function()
    local n = 10000
    local A, b = tridiagonal(n), random_vector(n)
    local x, rcond = ns.solve(A, b, {rcond = true})
    assert.is_true((A * x - b):norm() < 1e-12 * n ^ 0.5)
    assert.is_true(rcond > 0.01 and rcond <= 1)
    assert.are.equal(x, A:solve(b))
  end)

  it("refactors with the pattern kept", function()
    local D = random(30, 0.2)
    local A = ns.sparse(D)
    local lu, b = A:lu(), random_vector(30)
    for k = 1, 5 do
      local A2 = A * (1 + k) + ns.sparse{rows = 30, cols = 30, i = {1}, j = {1}, v = {k}}
      assert.is_false(lu:refactor(A2))
      local x = lu:solve(b)
      assert.is_true((A2 * x - b):norm() < 1e-12)
      assert.is_true(math.abs(lu:rcond() / A2:rcond() - 1) < 1e-6)
    end
    assert.is_truthy(tostring(lu):find("SparseLU of order 30", 1, true))
  end)

  it("chooses new pivots when the old ones have gone bad", function()
    local function A(e) return ns.sparse{{e, 1, 0.5}, {1, e, 2}, {0.25, 3, e}} end
    for _, e in ipairs{1e-13, 1e-300} do
      local lu = A(4):lu()
      assert.is_true(lu:refactor(A(e)))
      local x = lu:solve{1, 2, 3}
      assert.is_true((A(e) * x - ns.vector{1, 2, 3}):norm() < 1e-13)
    end
    -- an exact zero in the pattern
    local function B(e) return ns.sparse{rows = 2, cols = 2, i = {1, 1, 2, 2}, j = {1, 2, 1, 2}, v = {e, 1, 1, 1}} end
    local lu = B(5):lu()
    assert.is_true(lu:refactor(B(0)))
    assert.are.same({1, 1}, lu:solve{1, 2}:totable())
  end)

  it("names the column of a singular matrix", function()
    fails("solve: A is singular (column 2)", ns.solve, ns.sparse{{1, 0, 1}, {0, 0, 1}, {1, 0, 3}}, {1, 1, 1})
    local twice = ns.sparse{{1, 2}, {2, 4}}
    fails("solve: A is singular (column ", twice.solve, twice, {1, 1})
    fails("solve: A is singular (column ", twice.solve, twice, {1, 1})
    fails("lu: A is singular (column ", twice.lu, twice)
    local D = random(20, 0.3)
    for i = 1, 20 do D[i][20] = D[i][1] * 0.3 + D[i][2] * 0.7 end
    fails("solve: A is singular", ns.solve, ns.sparse(D), random_vector(20))
    fails("solve: A is singular to working precision (rcond 1e-18)", ns.solve, ns.sparse{{1, 0}, {0, 1e-18}}, {1, 1})
    local empty = ns.sparse{rows = 2, cols = 2, i = {}, j = {}, v = {}}
    fails("solve: A is singular (column ", ns.solve, empty, {1, 1})
  end)

  it("says that a refactorisation failed, and recovers", function()
    local lu = ns.sparse{{1, 2}, {2, 5}}:lu()
    fails("refactor: A is singular (column ", lu.refactor, lu, ns.sparse{{1, 2}, {2, 4}})
    fails("solve: the last refactor failed", lu.solve, lu, {1, 1})
    assert.are.equal(0, lu:rcond())
    assert.is_true(lu:refactor(ns.sparse{{1, 2}, {2, 5}}) ~= nil)
    assert.is_true((lu:solve{3, 7} - ns.vector{1, 1}):norm() < 1e-14)
    fails("refactor: A: its pattern is not the one that was analysed", lu.refactor, lu, ns.speye(2))
    fails("refactor: A: expected a sparse matrix, got 2 x 2 matrix", lu.refactor, lu, ns.matrix(2, 2))
    assert.is_true((lu:solve{3, 7} - ns.vector{1, 1}):norm() < 1e-14)
  end)

  it("refuses bad arguments by name", function()
    local S = ns.speye(3)
    fails("solve: b: expected a vector of 3, got vector of 2", S.solve, S, ns.vector{1, 2})
    fails("solve: b[2] is nan", S.solve, S, {1, 0 / 0, 2})
    local wide = ns.sparse{{1, 2}}
    fails("solve: A: expected a square sparse matrix, got 1 x 2 sparse matrix", wide.solve, wide, {1})
    fails("lu: A: expected a square sparse matrix", wide.lu, wide)
    local huge = ns.sparse{{1e300}} * 1e300
    fails("solve: not a finite number", huge.solve, huge, {1})
  end)

  it("takes 0 x 0", function()
    local S = ns.speye(0)
    assert.are.equal(0, #S:solve(ns.vector{}))
    assert.are.equal(1, S:rcond())
    local lu = S:lu()
    assert.is_false(lu:refactor(S))
    assert.are.equal(0, #lu:solve(ns.vector{}))
  end)
end)
