-- Cholesky, QR, least squares, SVD, eigenvalues, norms and the exponential.
local ns = require "nslua"

local function random(m, n)
  local A = ns.matrix(m, n)
  for i = 1, m do
    for j = 1, n do A[i][j] = 2 * math.random() - 1 end
  end
  return A
end

local function random_vector(n)
  local t = {}
  for i = 1, n do t[i] = 2 * math.random() - 1 end
  return ns.vector(t)
end

local function diag(t)
  local D = ns.matrix(#t, #t)
  for i = 1, #t do D[i][i] = t[i] end
  return D
end

local function eye(n)
  local A = ns.matrix(n, n)
  for i = 1, n do A[i][i] = 1 end
  return A
end

local function T(A) return A:transpose() end

local function small(X, bound)
  local norm = ns.norm(X)
  assert.is_true(norm <= bound, ("norm %g above %g"):format(norm, bound))
end

local function orthonormal(Q)
  small(T(Q) * Q - eye(Q:cols()), 1e-13 * (1 + Q:cols()))
end

local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  message = tostring(message)
  assert.is_truthy(message:find(text, 1, true), ("expected '%s', got '%s'"):format(text, message))
end

local shapes = {{1, 1}, {1, 5}, {5, 1}, {3, 3}, {7, 4}, {4, 7}, {20, 20}, {40, 11}, {11, 40}, {40, 40}}

-- m x n of rank r
local function of_rank(m, n, r) return random(m, r) * random(r, n) end

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

describe("eigenvalues", function()
  setup(function() math.randomseed(15) end)

  -- the real block diagonal matrix of the values
  local function blocks(re, im)
    local D = diag(re:totable())
    local j = 1
    while im and j <= #re do
      if im[j] ~= 0 then
        D[j][j + 1], D[j + 1][j] = im[j], -im[j]
        assert.is_true(im[j] > 0)
        assert.are.equal(-im[j], im[j + 1])
        j = j + 1
      end
      j = j + 1
    end
    return D
  end

  it("satisfy A V = V D, pairs as blocks", function()
    for n = 1, 40, 3 do
      local A = random(n, n)
      local re, im, V = ns.eig(A)
      small(A * V - V * blocks(re, im), 1e-12 * n * ns.norm(A))
      for j = 2, n do assert.is_true(re[j] >= re[j - 1]) end
      local trace = 0
      for i = 1, n do trace = trace + A[i][i] end
      assert.is_true(math.abs(re:sum() - trace) < 1e-12 * n)
      local re2, im2 = ns.eigvals(A)
      small(re2 - re, 1e-10)
      assert.are.equal(im == nil, im2 == nil)
      for j = 1, n do
        local length = ns.norm(V:column(j))
        if not im or im[j] == 0 then assert.is_true(math.abs(length - 1) < 1e-12) end
      end
    end
  end)

  it("of a rotation are a complex pair", function()
    local c, s = math.cos(0.3), math.sin(0.3)
    local re, im = ns.eig{{c, -s}, {s, c}}
    assert.is_true(math.abs(re[1] - c) < 1e-15 and math.abs(re[2] - c) < 1e-15)
    assert.is_true(math.abs(im[1] - s) < 1e-15 and math.abs(im[2] + s) < 1e-15)
  end)

  it("keep pairs together when real parts are equal", function()
    local A = ns.matrix(7, 7)
    for k, w in ipairs{3, 1, 2} do
      A[2 * k - 1][2 * k], A[2 * k][2 * k - 1] = w, -w
    end
    local re, im, V = ns.eig(A)
    assert.are.same({0, 1, -1, 2, -2, 3, -3}, im:map(function(x) return math.floor(x + 0.5) end):totable())
    small(A * V - V * blocks(re, im), 1e-13)
  end)

  it("that are all real come without im, sorted", function()
    local re, im, V = ns.eig{{3, 1}, {0, -2}}
    assert.is_nil(im)
    assert.is_true(math.abs(re[1] + 2) < 1e-15 and math.abs(re[2] - 3) < 1e-15)
    assert.are.equal(2, V:cols())
  end)

  it("of a symmetric matrix come with orthonormal vectors", function()
    for n = 1, 40, 4 do
      local X = random(n, n)
      local A = X + T(X)
      local re, im, V = ns.eig(A)
      assert.is_nil(im)
      orthonormal(V)
      small(A * V - V * diag(re:totable()), 1e-13 * n * (1 + ns.norm(A)))
      local w, W = ns.eigh(A)
      small(w - re, 1e-12 * n)
      orthonormal(W)
      for j = 2, n do assert.is_true(w[j] >= w[j - 1]) end
      small((ns.eigvals(A)) - w, 1e-12 * n)
    end
    fails("eigh: A is not symmetric", ns.eigh, {{1, 2}, {3, 4}})
  end)

  it("refuse what has none, and take 0 x 0", function()
    fails("eig: A: expected a square matrix, got 1 x 2 matrix", ns.eig, {{1, 2}})
    fails("eig: A[2][2] is nan", ns.eig, {{1, 2}, {3, 0 / 0}})
    fails("eigvals: A[1][1] is inf", ns.eigvals, {{math.huge}})
    local re, im, V = ns.eig(ns.matrix(0, 0))
    assert.are.equal(0, #re)
    assert.is_nil(im)
    assert.are.equal(0, V:rows())
  end)
end)

describe("norms and condition", function()
  setup(function() math.randomseed(16) end)

  it("of known matrices", function()
    local A = ns.matrix{{1, -2}, {-3, 4}}
    assert.are.equal(6, ns.norm(A, 1))
    assert.are.equal(7, ns.norm(A, math.huge))
    assert.are.equal(7, ns.norm(A, "inf"))
    assert.is_true(math.abs(ns.norm(A) - math.sqrt(30)) < 1e-14)
    assert.are.equal(ns.norm(A), ns.norm(A, "fro"))
    assert.is_true(math.abs(ns.norm(A, 2) - math.sqrt(15 + math.sqrt(221))) < 1e-13)
    assert.are.same({7, 5, 4}, {ns.norm({3, -4}, 1), ns.norm{3, -4}, ns.norm({3, -4}, "inf")})
    assert.are.equal(5, ns.norm({3, 4}, 2))
    assert.are.equal(2, ns.norm(-2))
    assert.are.equal(0, ns.norm(ns.matrix(0, 4), 2))
    assert.are.equal(0, ns.norm(ns.vector{}))
  end)

  it("do not overflow", function()
    assert.is_true(math.abs(ns.norm{3e200, 4e200} / 5e200 - 1) < 1e-15)
    assert.is_true(math.abs(ns.norm({{3e-200}, {4e-200}}, 2) / 5e-200 - 1) < 1e-15)
  end)

  it("satisfy what norms satisfy", function()
    for _ = 1, 10 do
      local A, B = random(6, 5), random(5, 7)
      for _, kind in ipairs{1, 2, "inf", "fro"} do
        assert.is_true(ns.norm(A * B, kind) <= ns.norm(A, kind) * ns.norm(B, kind) * (1 + 1e-14))
      end
      assert.is_true(ns.norm(A, 2) <= ns.norm(A) * (1 + 1e-14))
    end
  end)

  it("refuse other kinds and non-finite data", function()
    fails("norm: kind: expected 1, 2, math.huge, \"inf\" or \"fro\"", ns.norm, {1}, 3)
    fails("norm: x[2] is nan", ns.norm, {1, 0 / 0})
    fails("norm: A[1][1] is inf", ns.norm, {{math.huge}})
  end)

  it("give condition numbers", function()
    assert.is_true(math.abs(ns.cond{{1, 0}, {0, 1e-3}} - 1000) < 1e-9)
    assert.are.equal(math.huge, ns.cond{{0}})
    assert.are.equal(math.huge, ns.cond({{1, 1}, {1, 1}}, 1))
    assert.are.equal(1, ns.cond(ns.matrix(0, 0)))
    local A = random(8, 8)
    for _, kind in ipairs{1, 2, "inf", "fro"} do
      local expected = ns.norm(A, kind) * ns.norm(ns.inv(A), kind)
      assert.is_true(math.abs(ns.cond(A, kind) / expected - 1) < 1e-9)
    end
    assert.is_true(ns.cond(random(9, 4)) >= 1)
    fails("cond: A: expected a square matrix", ns.cond, ns.matrix(2, 3), 1)
  end)
end)

describe("the exponential", function()
  setup(function() math.randomseed(17) end)

  it("of nilpotent, diagonal and rotation matrices", function()
    assert.are.same({{1, 1, 0.5}, {0, 1, 1}, {0, 0, 1}}, ns.expm{{0, 1, 0}, {0, 0, 1}, {0, 0, 0}}:totable())
    local values = {-30, -1, 0, 1e-9, 0.2, 3, 20}
    local E = ns.expm(diag(values))
    for i, value in ipairs(values) do
      assert.is_true(math.abs(E[i][i] - math.exp(value)) <= 1e-13 * math.exp(value))
    end
    for _, w in ipairs{1e-3, 0.2, 0.9, 2, 5, 50} do
      local c, s = math.cos(w), math.sin(w)
      small(ns.expm{{0, -w}, {w, 0}} - ns.matrix{{c, -s}, {s, c}}, 1e-14 * (1 + w))
    end
    assert.are.equal(0, ns.expm(ns.matrix(0, 0)):rows())
    assert.are.same(eye(4):totable(), ns.expm(ns.matrix(4, 4)):totable())
  end)

  it("agrees with its series at every degree", function()
    for _, scale in ipairs{0.005, 0.05, 0.2, 0.5, 1, 3, 8} do
      local A = random(6, 6)
      A = A * (scale / ns.norm(A, 1))
      local sum, term = eye(6), eye(6)
      for k = 1, 80 do
        term = term * A * (1 / k)
        sum = sum + term
      end
      small(ns.expm(A) - sum, 1e-13 * math.exp(scale))
    end
  end)

  it("satisfies exp(A) exp(-A) = I and det exp(A) = exp(trace A)", function()
    for n = 1, 30, 4 do
      local A = random(n, n)
      local E = ns.expm(A)
      small(E * ns.expm(-A) - eye(n), 1e-13 * n * ns.norm(E) * ns.norm(ns.expm(-A)))
      local expected = math.exp(A:trace())
      assert.is_true(math.abs(ns.det(E) / expected - 1) < 1e-8)
    end
  end)

  it("refuses what overflows or is not finite", function()
    fails("expm: the exponential of A overflows", ns.expm, {{1000}})
    fails("expm: A[1][1] is nan", ns.expm, {{0 / 0}})
    fails("expm: A: expected a square matrix", ns.expm, ns.matrix(2, 1))
    assert.are.equal(0, ns.expm{{-1e6}}[1][1])
  end)
end)
