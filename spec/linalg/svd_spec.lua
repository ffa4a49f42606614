-- Singular values, and what follows from them.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, diag, T, small = matrices.random, matrices.diag, matrices.T, matrices.small
local orthonormal, fails, shapes, of_rank = matrices.orthonormal, matrices.fails, matrices.shapes, matrices.of_rank

describe("SVD", function()
  setup(function() math.randomseed(14) end)

  it("gives A = U diag(s) V', thin and full", function()
    for _, shape in ipairs(shapes) do
      local m, n = shape[1], shape[2]
      local A, k = random(m, n), math.min(m, n)
      local U, s, V = ns.svd(A)
      assert.are.same({m, k, k, n, k}, {U:rows(), U:cols(), #s, V:rows(), V:cols()})
      orthonormal(U)
      orthonormal(V)
      small(A - U * diag(s:totable()) * T(V), 1e-13 * k * ns.norm(A))
      for i = 2, k do assert.is_true(s[i] <= s[i - 1] and s[i] >= 0) end
      local UF, sf, VF = ns.svd(A, "full")
      assert.are.same({m, m, n, n}, {UF:rows(), UF:cols(), VF:rows(), VF:cols()})
      orthonormal(UF)
      orthonormal(VF)
      small(sf - s, 1e-13 * ns.norm(A))
      small(ns.svdvals(A) - s, 1e-13 * ns.norm(A))
    end
    fails("svd: A[1][2] is inf", ns.svd, {{1, math.huge}})
    fails("svd: kind: expected \"full\" or nothing", ns.svd, {{1}}, "thin")
  end)

  it("gives Moore and Penrose's inverse", function()
    for _, A in ipairs{random(6, 4), random(4, 6), of_rank(7, 5, 2), ns.matrix(3, 2)} do
      local X = ns.pinv(A)
      small(A * X * A - A, 1e-12)
      small(X * A * X - X, 1e-11 * (1 + ns.norm(X)))
      small(T(A * X) - A * X, 1e-12)
      small(T(X * A) - X * A, 1e-12)
    end
    assert.are.same({{1, 0}, {0, 0}}, ns.pinv({{1, 0}, {0, 1e-3}}, 1e-2):totable())
    assert.are.same({3, 0}, {ns.pinv(ns.matrix(0, 3)):shape()})
  end)

  it("gives rank, range and null space", function()
    for _, r in ipairs{0, 1, 3, 5} do
      local A = r == 0 and ns.matrix(8, 5) or of_rank(8, 5, r)
      assert.are.equal(r, ns.rank(A))
      local N, Q = ns.null(A), ns.orth(A)
      assert.are.same({5, 5 - r, 8, r}, {N:rows(), N:cols(), Q:rows(), Q:cols()})
      orthonormal(N)
      orthonormal(Q)
      small(A * N, 1e-12)
      small(A - Q * (T(Q) * A), 1e-12)
    end
    assert.are.equal(2, ns.rank{{1, 0}, {0, 1e-3}})
    assert.are.equal(1, ns.rank({{1, 0}, {0, 1e-3}}, 1e-2))
    assert.are.equal(3, ns.null(ns.matrix(0, 3)):cols())
    assert.are.equal(0, ns.rank(ns.matrix(0, 3)))
  end)
end)
