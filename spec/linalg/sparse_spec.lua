-- Compressed columns: building, products, sums, conversion, each against dense arithmetic.
local ns = require "nslua"

-- a random sparse matrix and its dense double, built independently
local function random(m, n, count)
  local i, j, v, D = {}, {}, {}, ns.matrix(m, n)
  for k = 1, count do
    i[k], j[k], v[k] = math.random(m), math.random(n), math.random(-8, 8)
    D[i[k]][j[k]] = D[i[k]][j[k]] + v[k]
  end
  return ns.sparse{rows = m, cols = n, i = i, j = j, v = v}, D
end

local function random_vector(n)
  local t = {}
  for k = 1, n do t[k] = math.random(-9, 9) end
  return ns.vector(t)
end

local function random_matrix(m, n)
  local A = ns.matrix(m, n)
  for i = 1, m do A[i]:assign(random_vector(n)) end
  return A
end

local function same(S, D)
  assert.are.same({D:shape()}, {S:shape()})
  assert.are.same(D:totable(), S:tomatrix():totable())
  -- columns sorted, no entry twice
  local i, j = S:triplets()
  for k = 2, #i do assert.is_true(j[k] > j[k - 1] or (j[k] == j[k - 1] and i[k] > i[k - 1])) end
end

describe("a sparse matrix", function()
  setup(function() math.randomseed(21) end)

  it("sums duplicates, sorts columns, keeps zeros that were given", function()
    local S = ns.sparse{rows = 2, cols = 3, i = {2, 1, 2, 1}, j = {3, 1, 3, 2}, v = {1, 5, 2, 0}}
    same(S, ns.matrix{{5, 0, 0}, {0, 0, 3}})
    assert.are.equal(3, S:nnz())
    local i, j, v = S:triplets()
    assert.are.same({{1, 1, 2}, {1, 2, 3}, {5, 0, 3}}, {i:totable(), j:totable(), v:totable()})
    local C = ns.sparse{rows = 1, cols = 1, i = {1, 1}, j = {1, 1}, v = {1, -1}}
    assert.are.equal(1, C:nnz())
    assert.are.equal(0, C:get(1, 1))
  end)

  it("equals its dense double", function()
    for _, size in ipairs{{1, 1, 1}, {5, 5, 8}, {7, 3, 20}, {3, 9, 11}, {40, 40, 200}} do
      local S, D = random(table.unpack(size))
      same(S, D)
      for i = 1, size[1] do
        for j = 1, size[2] do assert.are.equal(D[i][j], S:get(i, j)) end
      end
      assert.are.equal(D[1][1], S(1, 1))
      same(S:transpose(), D:transpose())
      same(S:copy(), D)
      same(ns.sparse(S), D)
      assert.are.same(D:diagonal():totable(), S:diagonal():totable())
      local i, j, v = S:triplets()
      same(ns.sparse{rows = size[1], cols = size[2], i = i, j = j, v = v}, D)
      assert.are.equal(ns.norm(D, 1), S:norm(1))
      assert.are.equal(ns.norm(D, "inf"), ns.norm(S, math.huge))
      assert.is_true(math.abs(S:norm() - ns.norm(D)) <= 1e-14 * ns.norm(D))
    end
  end)

  it("multiplies vectors and matrices from both sides", function()
    for _ = 1, 10 do
      local m, n = math.random(20), math.random(20)
      local S, D = random(m, n, math.random(60))
      local x, y = random_vector(n), random_vector(m)
      assert.are.same((D * x):totable(), (S * x):totable())
      assert.are.same((D:transpose() * y):totable(), (y * S):totable())
      assert.are.same((D:transpose() * y):totable(), (S:transpose() * y):totable())
      local X, Y = random_matrix(n, 3), random_matrix(2, m)
      assert.are.same((D * X):totable(), (S * X):totable())
      assert.are.same((Y * D):totable(), (Y * S):totable())
      assert.are.same((D * x):totable(), (S * x:totable()):totable())
      -- strided and leading-dimension views
      local big = random_matrix(n + 2, n + 3)
      assert.are.same((D * big:row(1):slice(1, n):copy()):totable(), (S * big:row(1):slice(1, n)):totable())
      local part = big:slice(2, n + 1, 2, 3)
      assert.are.same((D * part:copy()):totable(), (S * part):totable())
    end
  end)

  it("multiplies, adds and scales sparse matrices", function()
    for _ = 1, 20 do
      local m, k, n = math.random(15), math.random(15), math.random(15)
      local A, DA = random(m, k, math.random(50))
      local B, DB = random(k, n, math.random(50))
      local C, DC = random(m, k, math.random(50))
      same(A * B, DA * DB)
      same(A + C, DA + DC)
      same(A - C, DA - DC)
      same(3 * A, DA * 3)
      same(A * 3, DA * 3)
      same(A / 2, DA * 0.5)
      same(-A, -DA)
      assert.are.same((DA + DC):totable(), (A + DC):totable())
      assert.are.same((DA + DC):totable(), (DA + C):totable())
      assert.are.same((DA - DC):totable(), (A - DC):totable())
      assert.are.same((DA - DC):totable(), (DA - C):totable())
      same((A * B):transpose(), (B:transpose() * A:transpose()):tomatrix())
    end
  end)

  it("comes from a dense matrix without its zeros", function()
    local S = ns.sparse(ns.matrix{{1, 0}, {0, 2}, {0, 3}})
    assert.are.equal(3, S:nnz())
    same(S, ns.matrix{{1, 0}, {0, 2}, {0, 3}})
    same(ns.sparse{{0, 1}, {2, 0}}, ns.matrix{{0, 1}, {2, 0}})
  end)

  it("may be empty", function()
    for _, size in ipairs{{0, 0}, {0, 3}, {3, 0}, {2, 2}} do
      local S = ns.sparse{rows = size[1], cols = size[2], i = {}, j = {}, v = {}}
      same(S, ns.matrix(size[1], size[2]))
      assert.are.equal(0, S:nnz())
      same(S:transpose(), ns.matrix(size[2], size[1]))
      same(S + S, ns.matrix(size[1], size[2]))
      same(S * S:transpose(), ns.matrix(size[1], size[1]))
      assert.are.equal(size[1], #(S * ns.vector(size[2] == 0 and {} or random_vector(size[2]):totable())))
    end
  end)

  it("has identity and diagonals", function()
    same(ns.speye(3), ns.matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})
    assert.are.equal(0, ns.speye(0):rows())
    same(ns.spdiags({-1, {2, 3, 4}, ns.vector{7}}, {-1, 0, 2}, 3), ns.matrix{{2, 0, 7}, {-1, 3, 0}, {0, -1, 4}})
  end)
end)
