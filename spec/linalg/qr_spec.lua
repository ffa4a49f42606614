-- QR and least squares.
local ns = require "nslua"
local matrices = require "linalg.matrices"
local random, random_vector, T, small = matrices.random, matrices.random_vector, matrices.T, matrices.small
local orthonormal, fails, shapes, of_rank = matrices.orthonormal, matrices.fails, matrices.shapes, matrices.of_rank

describe("QR and least squares", function()
  setup(function() math.randomseed(13) end)

  it("gives orthonormal Q and upper R with A = Q R", function()
    for _, shape in ipairs(shapes) do
      local m, n = shape[1], shape[2]
      local A = random(m, n)
      local Q, R = ns.qr(A)
      local k = math.min(m, n)
      assert.are.same({m, k, k, n}, {Q:rows(), Q:cols(), R:rows(), R:cols()})
      orthonormal(Q)
      small(A - Q * R, 1e-14 * n * m * ns.norm(A))
      for i = 2, k do
        for j = 1, i - 1 do assert.are.equal(0, R[i][j]) end
      end
    end
    local Q, R = ns.qr(ns.matrix(3, 0))
    assert.are.same({3, 0, 0, 0}, {Q:rows(), Q:cols(), R:rows(), R:cols()})
    fails("qr: A[1][1] is inf", ns.qr, {{math.huge}})
  end)

  it("solves tall systems: the residual is orthogonal to the columns", function()
    for _, shape in ipairs{{5, 2}, {40, 10}, {7, 7}} do
      local A, b = random(shape[1], shape[2]), random_vector(shape[1])
      local x, rank, residual = ns.lstsq(A, b)
      assert.are.equal(shape[2], rank)
      small(T(A) * (A * x - b), 1e-12)
      assert.is_true(math.abs(residual - ns.norm(A * x - b)) <= 1e-12)
    end
  end)

  it("takes the shortest solution when there are many, and counts the rank", function()
    local A = of_rank(8, 6, 3)
    local b = A * random_vector(6)
    local x, rank, residual = ns.lstsq(A, b)
    assert.are.equal(3, rank)
    assert.is_true(residual < 1e-12)
    small(T(ns.null(A)) * x, 1e-12)
    small(x - ns.pinv(A) * b, 1e-11)
    local wide = random(3, 9)
    b = random_vector(3)
    x, rank = ns.lstsq(wide, b)
    assert.are.equal(3, rank)
    small(wide * x - b, 1e-13)
  end)

  it("takes many right-hand sides and a tolerance", function()
    local A, B = random(9, 4), random(9, 3)
    local X, _, residual = ns.lstsq(A, B)
    assert.are.same({4, 3, 3}, {X:rows(), X:cols(), #residual})
    for k = 1, 3 do
      local x, _, r = ns.lstsq(A, B:column(k))
      small(X:column(k) - x, 1e-13)
      assert.is_true(math.abs(r - residual[k]) < 1e-13)
    end
    local _, rank = ns.lstsq({{1, 0}, {0, 1e-3}}, {1, 1}, 1e-2)
    assert.are.equal(1, rank)
    fails("lstsq: rcond: expected a number of 0 or more", ns.lstsq, {{1}}, {1}, -1)
    fails("lstsq: b: expected a vector of 2", ns.lstsq, {{1}, {1}}, {1, 2, 3})
    fails("lstsq: b[1] is nan", ns.lstsq, {{1}}, {0 / 0})
  end)

  it("takes empty systems", function()
    local x, rank, residual = ns.lstsq(ns.matrix(0, 3), ns.vector{})
    assert.are.same({{0, 0, 0}, 0, 0}, {x:totable(), rank, residual})
    x, rank, residual = ns.lstsq(ns.matrix(2, 0), {3, 4})
    assert.are.same({{}, 0, 5}, {x:totable(), rank, residual})
  end)
end)
