-- Banded matrices against dense ones.
local ns = require "nslua"
local random_vector = require "linalg.matrices".random_vector

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
end)
