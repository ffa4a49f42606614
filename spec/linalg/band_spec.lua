-- Banded matrices against dense ones.
local ns = require "nslua"

local function random(n, kl, ku)
  local A, D = ns.band(n, kl, ku), ns.matrix(n, n)
  for i = 1, n do
    for j = math.max(1, i - kl), math.min(n, i + ku) do
      local v = 2 * math.random() - 1
      A:set(i, j, v)
      D[i][j] = v
    end
  end
  return A, D
end

local function random_vector(n)
  local t = {}
  for k = 1, n do t[k] = 2 * math.random() - 1 end
  return ns.vector(t)
end

local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  message = tostring(message)
  assert.is_truthy(message:find(text, 1, true), ("expected '%s', got '%s'"):format(text, message))
end

local shapes = {{1, 0, 0}, {5, 1, 1}, {8, 2, 0}, {8, 0, 3}, {9, 8, 8}, {40, 3, 5}, {33, 0, 0}}

describe("a band matrix", function()
  setup(function() math.randomseed(23) end)

  it("stores and multiplies as a dense one", function()
    for _, shape in ipairs(shapes) do
      local n = shape[1]
      local A, D = random(table.unpack(shape))
      assert.are.same(D:totable(), A:tomatrix():totable())
      for i = 1, n do
        for j = 1, n do assert.are.equal(D[i][j], A:get(i, j)) end
      end
      local x, X = random_vector(n), ns.matrix(n, 2)
      X:column(1):assign(x)
      X:column(2):assign(random_vector(n))
      assert.is_true((A * x - D * x):norm() < 1e-13 * n)
      assert.is_true(ns.norm(A * X - D * X) < 1e-13 * n)
      assert.are.same({n, n}, {A:shape()})
      assert.are.same({shape[2], shape[3]}, {A:widths()})
    end
  end)

  it("solves with rounding residuals", function()
    for _, shape in ipairs(shapes) do
      local n = shape[1]
      local A, D = random(table.unpack(shape))
      for i = 1, n do A:set(i, i, A:get(i, i) + 3) D[i][i] = D[i][i] + 3 end
      local b = random_vector(n)
      local x = A:solve(b)
      assert.is_true(ns.norm(D * x - b) <= 1e-13 * n * (1 + ns.norm(D) * ns.norm(x)))
      local y = A:tsolve(b)
      assert.is_true(ns.norm(D:transpose() * y - b) <= 1e-13 * n * (1 + ns.norm(D) * ns.norm(y)))
      local exact = 1 / ns.cond(D, 1)
      assert.is_true(A:rcond() >= exact * (1 - 1e-8) and A:rcond() <= 10 * exact)
      assert.is_true(ns.norm(A * A:solve(D) - D) <= 1e-12 * n * ns.norm(D))
    end
  end)

  it("follows its entries after a solve", function()
    local A = ns.band(2, 0, 0)
    A:set(1, 1, 2):set(2, 2, 4)
    assert.are.same({1, 1}, A:solve{2, 4}:totable())
    A:set(2, 2, 8)
    assert.are.same({1, 0.5}, A:solve{2, 4}:totable())
  end)

  it("finds the band of a dense matrix", function()
    local D = ns.matrix{{1, 0, 0, 0}, {2, 3, 0, 0}, {0, 4, 5, 0}, {0, 6, 0, 7}}
    local A = ns.band(D)
    assert.are.same({2, 0}, {A:widths()})
    assert.are.same(D:totable(), A:tomatrix():totable())
    assert.are.same({0, 0}, {ns.band(ns.matrix(3, 3)):widths()})
  end)

  it("solves a tridiagonal system of 1e4 as KLU does", function()
    local n = 10000
    local A = ns.band(n, 1, 1)
    for i = 1, n do
      A:set(i, i, 2.5)
      if i > 1 then A:set(i, i - 1, -1) end
      if i < n then A:set(i, i + 1, -1.2) end
    end
    local b = random_vector(n)
    local x, rcond = ns.solve(A, b, {rcond = true})
    assert.is_true((A * x - b):norm() < 1e-10)
    assert.is_true(rcond > 0.01 and rcond <= 1)
    local S = ns.spdiags({-1, 2.5, -1.2}, {-1, 0, 1}, n)
    assert.is_true((S * b - A * b):norm() < 1e-12)
    assert.is_true((S:solve(b) - x):norm() < 1e-11)
  end)

  it("names the row of a singular matrix", function()
    local A = random(6, 1, 2)
    for j = 2, 6 do A:set(3, math.min(math.max(j, 2), 5), 0) end
    fails("solve: A is singular (row 3)", A.solve, A, random_vector(6))
    fails("rcond: A is singular (row 3)", A.rcond, A)
    local B = ns.band{{1, 2}, {2, 4}}
    fails("solve: A is singular (row ", ns.solve, B, {1, 1})
    fails("solve: A is singular to working precision (rcond 1e-18)", ns.solve, ns.band{{1, 0}, {0, 1e-18}}, {1, 1})
  end)

  it("refuses bad arguments by name", function()
    local A = ns.band(4, 1, 0)
    fails("set: (1, 2) is outside the band (kl 1, ku 0)", A.set, A, 1, 2, 1)
    fails("set: (5, 1) is outside a 4 x 4 band matrix", A.set, A, 5, 1, 1)
    fails("get: (0, 1) is outside a 4 x 4 band matrix", A.get, A, 0, 1)
    fails("set: value: expected a finite number", A.set, A, 1, 1, 0 / 0)
    fails("band: kl: expected an integer in 0..3, got 4", ns.band, 4, 4, 0)
    fails("band: n: expected an integer in 0..", ns.band, -1, 0, 0)
    fails("band: A: expected a square matrix, got 2 x 3 matrix", ns.band, ns.matrix(2, 3))
    fails("band: A[1][1] is nan", ns.band, {{0 / 0}})
    for i = 1, 4 do A:set(i, i, 1) end
    fails("solve: b: expected a vector of 4", A.solve, A, {1})
    fails("solve: b[3] is inf", A.solve, A, {1, 2, math.huge, 4})
    fails("band matrix * number 2.0: a band matrix multiplies vectors and matrices from the left",
          function() return A * 2 end)
    fails("band matrix *: b: expected a vector of 4, got vector of 2", function() return A * ns.vector{1, 2} end)
  end)

  it("takes 0 x 0 and prints readably", function()
    local A = ns.band(0, 0, 0)
    assert.are.equal(0, #A:solve(ns.vector{}))
    assert.are.equal(1, A:rcond())
    assert.are.equal("0 x 0 band matrix (kl 0, ku 0)", tostring(A))
    assert.are.equal("100 x 100 band matrix (kl 2, ku 1)", tostring(ns.band(100, 2, 1)))
    assert.is_truthy(tostring(ns.band{{1, 2}, {0, 3}}):find("2 x 2 band matrix (kl 0, ku 1)\n[ 1  2", 1, true))
  end)
end)
