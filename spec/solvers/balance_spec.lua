require "nslua"
local boxes = require "solvers.boxes"
local internal = require "nslua.internal"

local power = require "random_numbers".power

-- M with row i times R[i] and column j times C[j].
local function in_other_units(M)
  local R, C, S = {}, {}, {}
  for i = 1, #M do R[i], C[i] = power(), power() end
  for i = 1, #M do
    S[i] = {}
    for j = 1, #M do S[i][j] = R[i] * M[i][j] * C[j] end
  end
  return S
end

local function random_matrix(n, filled)
  return boxes.matrix(n, function() return math.random() < filled and math.random() - 0.5 or 0 end)
end

describe("balance", function()
  for _, form in ipairs { "dense", "sparse" } do
    it("makes the same " .. form .. " matrix of one in all units", function()
      math.randomseed(51)
      for k = 1, 60 do
        local M = random_matrix(math.random(1, 9), 0.2 + 0.1 * (k % 9))
        local a = internal.balance { M = M, sparse = form == "sparse" }
        local b = internal.balance { M = in_other_units(M), sparse = form == "sparse" }
        assert.is_true(a.fits and b.fits)
        for i = 1, #M do
          for j = 1, #M do
            assert.equal(a.M[i][j], b.M[i][j])
            assert.equal(M[i][j] * 2.0 ^ (a.row[i] + a.col[j]), a.M[i][j])
          end
        end
      end
    end)
  end

  it("brings full matrices near 1", function()
    math.randomseed(52)
    for _ = 1, 20 do
      local n = math.random(2, 8)
      local b = internal.balance { M = in_other_units(boxes.matrix(n, function() return 1 + math.random() end)) }
      for i = 1, n do
        for j = 1, n do assert.is_true(b.M[i][j] >= 0.25 and b.M[i][j] <= 4) end
      end
    end
  end)

  it("takes entries for none that are rounding beside the diagonal, in any units", function()
    math.randomseed(53)
    for _ = 1, 20 do
      local n = math.random(3, 8)
      local M = boxes.matrix(n, function(i, j)
        local apart = i ~= j and (i > 2) ~= (j > 2)
        return (1 + math.random()) * (apart and 10.0 ^ -math.random(17, 80) or 1)
      end)
      local a, b = internal.balance { M = M }, internal.balance { M = in_other_units(M) }
      for i = 1, n do
        for j = 1, n do
          assert.equal(a.M[i][j], b.M[i][j])
          if (i > 2) == (j > 2) then assert.is_true(b.M[i][j] >= 0.25 and b.M[i][j] <= 4) end
          assert.equal(a.row_tree[1], a.row_tree[i])
          assert.is_true((i > 2) == (j > 2) or math.abs(a.M[i][j]) < 2.0 ^ -40)
        end
      end
    end
  end)

  it("takes them for none where some are 0, beside zeros of the diagonal, and whatever the order", function()
    math.randomseed(54)
    for _ = 1, 40 do
      local n, group, bare, surplus = math.random(4, 12), {}, {}, { 0, 0 }
      for i = 1, n do
        local g = math.random(2)
        group[i], bare[i] = g, surplus[g] > 1 and math.random() < 0.5
        surplus[g] = surplus[g] + (bare[i] and -1 or 1)
      end
      local M = boxes.matrix(n, function(i, j)
        if group[i] ~= group[j] then return math.random() < 0.5 and 0 or 10.0 ^ -math.random(18, 80) end
        return (i == j or not (bare[i] and bare[j])) and 1 + math.random() or 0
      end)
      for i = 1, n do if bare[i] then M[i][i] = 0 end end
      local a, b = internal.balance { M = M }, internal.balance { M = in_other_units(M) }
      for i = 1, n do
        for j = 1, n do
          assert.equal(a.M[i][j], b.M[i][j])
          if group[i] == group[j] and M[i][j] ~= 0 then assert.is_true(a.M[i][j] >= 0.125 and a.M[i][j] <= 8) end
        end
      end
    end
  end)

  it("tells rows and columns apart that no entries tie", function()
    local b = internal.balance { M = { { 0, 3, 0 }, { 5, 0, 0 }, { 0, 0, 0 } } }
    assert.equal(b.row_tree[1], b.col_tree[2])
    assert.equal(b.row_tree[2], b.col_tree[1])
    assert.are_not.equal(b.row_tree[1], b.row_tree[2])
    assert.are_not.equal(b.row_tree[3], b.col_tree[3])
    assert.equal(0, b.row[3])
  end)

  it("tells when numbers would leave the range", function()
    local function one_small(n)
      return boxes.matrix(n, function(i, j) return i + j == 2 and 1e-300 or 1e300 end)
    end
    assert.is_true(internal.balance { M = one_small(2) }.fits)
    assert.is_true(internal.balance { M = one_small(20) }.fits) -- the small one is rounding
    local M = { { 1, 0, 0, 0 }, { 1e300, 1, 0, 0 }, { 0, 1e300, 1, 0 }, { 1e-300, 0, 1e300, 1 } }
    assert.is_false(internal.balance { M = M }.fits)
  end)

  -- Where each entry is 3 times the next the means would need 2^-2000 .. 2^2000.
  it("keeps long chains within the range #once", function()
    local n = 1500
    local M = boxes.matrix(n, function() return 0 end)
    for i = 1, n do
      M[i][i] = 2
      if i > 1 then M[i][i - 1], M[i - 1][i] = -3, -0.25 end
    end
    local b = internal.balance { M = M, sparse = true }
    for i = 1, n do assert.is_true(math.abs(b.row[i]) <= 300 and math.abs(b.col[i]) <= 300) end
  end)

  -- The mean of two entries often lies between two steps of an exponent; always rounded upwards they would add up along a grid.
  it("does not drift along symmetric grids of uneven lengths #once", function()
    math.randomseed(53)
    local n, h = 1500, {}
    local M = boxes.matrix(n, function() return 0 end)
    for i = 1, n + 1 do h[i] = 20 ^ math.random() end
    for i = 1, n do
      M[i][i] = 1 / h[i] + 1 / h[i + 1]
      if i > 1 then M[i][i - 1], M[i - 1][i] = -1 / h[i], -1 / h[i] end
    end
    local b = internal.balance { M = M, sparse = true }
    local first = b.row[1] - b.col[1]
    for i = 1, n do assert.is_true(math.abs(b.row[i] - b.col[i] - first) <= 1, i) end
  end)
end)
