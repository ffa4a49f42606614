-- Cholesky.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, eye, T, small, fails = matrices.random, matrices.eye, matrices.T, matrices.small, matrices.fails

describe("Cholesky", function()
  setup(function() math.randomseed(12) end)

  it("gives lower L with A = L L'", function()
    for n = 1, 40, 3 do
      local X = random(n, n)
      local A = X * T(X) + eye(n)
      local L = ns.cholesky(A)
      small(A - L * T(L), 1e-14 * n * ns.norm(A))
      for i = 1, n do
        assert.is_true(L[i][i] > 0)
        for j = i + 1, n do assert.are.equal(0, L[i][j]) end
      end
    end
    assert.are.equal(0, ns.cholesky(ns.matrix(0, 0)):rows())
  end)

  it("says what is wrong", function()
    fails("cholesky: A is not positive definite (order 2)", ns.cholesky, {{1, 2}, {2, 1}})
    fails("cholesky: A is not positive definite (order 1)", ns.cholesky, {{0}})
    fails("cholesky: A is not symmetric", ns.cholesky, {{2, 1}, {0, 2}})
    fails("cholesky: A: expected a square matrix, got 1 x 2 matrix", ns.cholesky, {{1, 2}})
    fails("cholesky: A[1][1] is nan", ns.cholesky, {{0 / 0}})
  end)
end)
