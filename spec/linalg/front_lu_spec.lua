-- Sparse LU in dense fronts, by groups of unknowns.
local ns = require "nslua"
local internal = require "nslua.internal"

-- A random matrix of groups of 1 to 3 unknowns that are coupled with few others, in either direction; as a list by columns.
local function random_groups(groups, coupled)
  local first, n, near = { 0 }, 0, {}
  for g = 1, groups do
    n = n + math.random(3)
    first[g + 1] = n
    near[g] = { [g] = true }
  end
  for _ = 1, coupled do near[math.random(groups)][math.random(groups)] = true end
  local A = {}
  for g = 1, groups do
    for h = 1, groups do
      for i = first[g] + 1, first[g + 1] do
        for j = first[h] + 1, first[h + 1] do
          A[i + n * (j - 1)] = near[g][h] and 2 * math.random() - 1 + (i == j and 3 or 0) or 0
        end
      end
    end
  end
  return n, A, first
end

local function random_list(n)
  local b = {}
  for i = 1, n do b[i] = 2 * math.random() - 1 end
  return b
end

-- The largest residual of A x = b.
local function residual(n, A, x, b)
  local most = 0
  for i = 1, n do
    local sum = -b[i]
    for j = 1, n do sum = sum + A[i + n * (j - 1)] * x[j] end
    most = math.max(most, math.abs(sum))
  end
  return most
end

-- A without the couplings of the rows of some groups: these become the identity.
local function with_identity(n, A, first, is_identity)
  local B = {}
  for k = 1, n * n do B[k] = A[k] end
  for g = 1, #first - 1 do
    for i = first[g] + 1, is_identity(g) and first[g + 1] or 0 do
      for j = 1, n do B[i + n * (j - 1)] = i == j and 1 or 0 end
    end
  end
  return B
end

describe("LU in fronts", function()
  setup(function() math.randomseed(33) end)

  it("solves random systems of groups", function()
    for groups = 1, 40 do
      local n, A, first = random_groups(groups, 2 * groups)
      local b = random_list(n)
      assert.is_true(residual(n, A, assert(internal.front_lu(n, A, b, groups, first)), b) <= 1e-12 * n)
    end
  end)

  it("agrees with the dense factorisation", function()
    local n, A, first = random_groups(25, 60)
    local D, b = ns.matrix(n, n), random_list(n)
    for i = 1, n do
      for j = 1, n do D[i][j] = A[i + n * (j - 1)] end
    end
    local x, y = internal.front_lu(n, A, b, 25, first), ns.solve(D, ns.vector(b))
    for i = 1, n do assert.near(y[i], x[i], 1e-11 * ns.cond(D)) end
  end)

  it("tells the sign of the determinant, and so does KLU", function()
    local negative = 0
    for groups = 1, 24 do
      local n, A, first = random_groups(groups, 3 * groups)
      if groups % 4 == 0 then A = with_identity(n, A, first, function(g) return g % 3 == 0 end) end
      for i = 1, n do
        local sign = math.random(2) == 1 and 1 or -1
        for j = 1, n do A[i + n * (j - 1)] = sign * A[i + n * (j - 1)] end
      end
      local D = ns.matrix(n, n)
      for i = 1, n do
        for j = 1, n do D[i][j] = A[i + n * (j - 1)] end
      end
      local _, _, fronts, pivoted = internal.front_lu(n, A, random_list(n), groups, first)
      local sign = ns.det(D) > 0 and 1 or -1
      assert.same({ sign, sign }, { fronts, pivoted })
      if sign < 0 then negative = negative + 1 end
    end
    assert.is_true(negative > 4 and negative < 20, negative)
    for _, case in ipairs { { { 0, 1, 1, 0 }, -1 }, { { 0, 2, -2, 0 }, 1 } } do -- rows that are exchanged
      local _, _, fronts, pivoted = internal.front_lu(2, case[1], { 1, 1 }, 1, { 0, 2 })
      assert.same({ case[2], case[2] }, { fronts, pivoted })
    end
  end)

  it("takes fewer operations where rows are those of the identity, and forgets other matrices", function()
    for groups = 5, 30, 5 do
      local n, A, first = random_groups(groups, 3 * groups)
      local b = random_list(n)
      local B = with_identity(n, A, first, function(g) return g % 3 == 0 end)
      local x, flops = internal.front_lu(n, B, b, groups, first, A)
      local _, all = internal.front_lu(n, A, b, groups, first)
      assert.is_true(residual(n, B, x, b) <= 1e-12 * n)
      assert.is_true(flops < all)
      local again = internal.front_lu(n, A, b, groups, first, B)
      assert.is_true(residual(n, A, again, b) <= 1e-12 * n)
      assert.same(internal.front_lu(n, A, b, groups, first), again)
    end
  end)

  it("solves where all rows are those of the identity, and where there are none", function()
    local n, A, first = random_groups(6, 20)
    local b = random_list(n)
    local x, flops = internal.front_lu(n, with_identity(n, A, first, function() return true end), b, 6, first, A)
    assert.same(b, x)
    assert.equal(0, flops)
    assert.same({}, (internal.front_lu(0, {}, {}, 0, { 0 })))
  end)

  it("tells singular matrices", function()
    local x, status = internal.front_lu(2, { 1, 2, 2, 4 }, { 1, 1 }, 2, { 0, 1, 2 })
    assert.equal(nil, x)
    assert.equal("NS_ESINGULAR", status)
    assert.equal("NS_ESINGULAR", select(2, internal.front_lu(2, { 1, 0, 0, 0 }, { 1, 1 }, 1, { 0, 2 }, { 1, 1, 1, 2 })))
  end)

  it("exchanges rows within a front only", function()
    local zeros = { 0, 1, 1, 0 } -- the groups of a small front are eliminated together
    assert.same({ 2, 1 }, (internal.front_lu(2, zeros, { 1, 2 }, 1, { 0, 2 })))
  end)
end)
