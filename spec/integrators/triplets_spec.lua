-- Matrices of steps out of rectangles of coefficients: against the same sum with dense matrices.
local ns = require "nslua"
local triplets = require "nslua.internal".triplets
local random = math.random

-- A coefficient with a few zeros, dense and sparse.
local function coefficient(rows, cols)
  local dense, i, j, v = ns.zeros(rows, cols), {}, {}, {}
  for r = 1, rows do
    for c = 1, cols do
      if random(3) > 1 then
        dense[r][c] = random() - 0.5
        i[#i + 1], j[#j + 1], v[#v + 1] = r, c, dense[r][c]
      end
    end
  end
  return dense, ns.sparse { rows = rows, cols = cols, i = i, j = j, v = v }, #v
end

-- A random piece that fits in an n x n matrix, and what it adds to `sum`.
local function piece(n, sum)
  local rows, cols = random(n), random(n)
  local dense, sparse = coefficient(rows, cols)
  local part = { row = random(rows) - 1, col = random(cols) - 1 }
  part.rows, part.cols = random(rows - part.row), random(cols - part.col)
  local transposed, factor = random(2) == 1, random() * 4 - 2
  local high, wide = part.rows, part.cols
  if transposed then high, wide = wide, high end
  local row, col = random(n - high + 1) - 1, random(n - wide + 1) - 1
  for r = 1, part.rows do
    for c = 1, part.cols do
      local at, to = row + (transposed and c or r), col + (transposed and r or c)
      sum[at][to] = sum[at][to] + factor * dense[part.row + r][part.col + c]
    end
  end
  return { coef = random(2) == 1 and dense or sparse, part = part, factor = factor, row = row, col = col, transposed = transposed }
end

describe("a matrix of rectangles of coefficients", function()
  it("is the sum of them, dense or sparse, turned over or not", function()
    math.randomseed(7)
    for _ = 1, 300 do
      local n = random(8)
      local sum, pieces = ns.zeros(n, n), {}
      for k = 1, random(4) do pieces[k] = piece(n, sum) end
      local matrix = triplets(n, pieces):tomatrix()
      for r = 1, n do
        for c = 1, n do assert.near(sum[r][c], matrix[r][c], 1e-14) end
      end
    end
  end)

  it("has no entry for the zeros of a dense coefficient, nor for one that is absent", function()
    local dense, sparse, count = coefficient(6, 6)
    local whole = { row = 0, rows = 6, col = 0, cols = 6 }
    local a, from_dense = triplets(6, { { coef = dense, part = whole, factor = 1 } })
    local b, from_sparse = triplets(6, { { coef = sparse, part = whole, factor = 1 }, { part = whole, factor = 1 } })
    assert.equal(count, from_dense)
    assert.equal(count, from_sparse)
    assert.equal(a:tomatrix(), b:tomatrix())
    local none, nothing = triplets(3, {})
    assert.equal(0, nothing)
    assert.equal(ns.zeros(3, 3), none:tomatrix())
  end)
end)
