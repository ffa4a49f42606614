local ns = require "nslua"
local matrix = require "solvers.boxes".matrix
local uniqueness = ns.numerics.uniqueness
local inf = math.huge

-- The principal minors of an integer matrix, exactly (fractions of integers by Bareiss).
local function minor(M, index)
  local n, A, previous, sign = #index, {}, 1, 1
  for i = 1, n do
    A[i] = {}
    for j = 1, n do A[i][j] = M[index[i]][index[j]] end
  end
  for k = 1, n - 1 do
    local r = k
    while r <= n and A[r][k] == 0 do r = r + 1 end
    if r > n then return 0 end
    if r ~= k then A[k], A[r], sign = A[r], A[k], -sign end
    for i = k + 1, n do
      for j = k + 1, n do A[i][j] = (A[i][j] * A[k][k] - A[i][k] * A[k][j]) // previous end
    end
    previous = A[k][k]
  end
  return sign * A[n][n]
end

local function classes(M)
  local P, P0 = true, true
  for set = 1, (1 << #M) - 1 do
    local index = {}
    for i = 1, #M do if set & (1 << (i - 1)) ~= 0 then index[#index + 1] = i end end
    local d = minor(M, index)
    P, P0 = P and d > 0, P0 and d >= 0
  end
  return P, P0
end

describe("uniqueness", function()
  it("knows P and P0 of integer matrices exactly", function()
    math.randomseed(3)
    local seen = {}
    for trial = 1, 400 do
      local n, spread = 1 + trial % 5, 1 + trial % 3
      local M = matrix(n, function(i, j) return i == j and math.random(0, 3) or math.random(-spread, spread) end)
      local P, P0 = classes(M)
      local r = uniqueness(M)
      assert.equal(P, r.P)
      assert.equal(P0, r.P0)
      assert.equal(P and "for every q" or "no", r.unique)
      seen[tostring(P) .. tostring(P0)] = true
    end
    assert.is_true(seen.truetrue and seen.falsetrue and seen.falsefalse)
  end)

  it("knows definite matrices, symmetric or not", function()
    local r = uniqueness { { 1, 5 }, { -5, 1 } }
    assert.is_true(r.positive_definite and r.positive_semidefinite and r.P and r.strictly_copositive)
    assert.equal("the symmetric part is positive definite", r.reason)
    r = uniqueness { { 1, 1 }, { 1, 1 } }
    assert.is_false(r.positive_definite)
    assert.is_true(r.positive_semidefinite and r.P0 and r.copositive)
    assert.is_false(r.P)
    assert.equal("not a P-matrix: the principal minor of rows 1, 2 is not positive", r.reason)
    r = uniqueness { { 0, 1 }, { 1, 0 } }
    assert.is_false(r.positive_semidefinite)
    assert.is_true(r.copositive)
    assert.is_false(r.strictly_copositive)
    r = uniqueness(matrix(150, function(i, j) return i == j and 150 or math.sin(i * j) end))
    assert.is_true(r.positive_definite and r.P)
    r = uniqueness(matrix(150, function(i, j) return i == j and 1 or math.cos(i - j) * 0.5 + (i + j) % 2 end))
    assert.is_false(r.positive_definite)
  end)

  it("says that the clutch's zero matrix decides nothing", function()
    local r = uniqueness { { 0 } }
    assert.equal("no", r.unique)
    assert.is_false(r.P)
    assert.is_true(r.P0 and r.positive_semidefinite and r.copositive)
    assert.equal("not a P-matrix: the diagonal entry 1 is not positive", r.reason)
  end)

  it("finds copositive matrices that are neither definite nor nonnegative", function()
    local horn = { { 1, -1, 1, 1, -1 }, { -1, 1, -1, 1, 1 }, { 1, -1, 1, -1, 1 }, { 1, 1, -1, 1, -1 }, { -1, 1, 1,
      -1, 1 } }
    local r = uniqueness(horn)
    assert.is_true(r.copositive)
    assert.is_false(r.strictly_copositive)
    assert.is_false(r.positive_semidefinite)
    r = uniqueness { { 1, -2, 9 }, { -2, 1, 9 }, { 9, 9, 1 } }
    assert.is_false(r.copositive)
    r = uniqueness { { 4, -1, 9 }, { -1, 1, 9 }, { 9, 9, 1 } }
    assert.is_true(r.copositive and r.strictly_copositive)
    assert.is_false(r.positive_semidefinite)
    r = uniqueness { { 1e10, -1e2 }, { -3e2, 1e-6 } } -- x'Sx = 1e10 a^2 - 400 ab + 1e-6 b^2
    assert.is_false(r.copositive)
  end)

  it("agrees with sampling about copositive matrices", function()
    math.randomseed(8)
    for trial = 1, 150 do
      local n = 2 + trial % 4
      local M = matrix(n, function(i, j) return i == j and math.random() or 1.4 * math.random() - 0.7 end)
      local r, least = uniqueness(M), inf
      for _ = 1, 200 do
        local x, sum = {}, 0
        for i = 1, n do x[i] = math.random() < 0.4 and 0 or math.random() end
        for i = 1, n do for j = 1, n do sum = sum + x[i] * M[i][j] * x[j] end end
        least = math.min(least, sum)
      end
      if least < 0 then assert.is_false(r.copositive) end
      assert.not_equal("unknown", r.copositive)
      if r.strictly_copositive then assert.is_true(r.copositive) end
    end
  end)

  it("decides large matrices by simple tests, or says that it can not", function()
    local r = uniqueness(matrix(200, function(i, j) return i == j and 1 or j > i and 2 or 0 end))
    assert.equal("triangular with a positive diagonal", r.reason)
    r = uniqueness(matrix(40, function(i,
      j) return i == j and 1 or (j == i + 1) and -1.5 or (i == 40 and j == 1) and 1e-9 or 0 end))
    assert.is_true(r.P)
    assert.equal("an H-matrix with a positive diagonal", r.reason)
    r = uniqueness(matrix(40, function(i, j) return i == j and 1 or (i + 3 * j) % 7 - 1 end))
    if r.P == "unknown" then
      assert.equal("unknown", r.unique)
      assert.equal("too large to look at every principal minor, and no simple test decides", r.reason)
    end
    r = uniqueness(matrix(30, function(i, j) return i == j and (i == 30 and 0 or 1) or 0 end))
    assert.equal("no", r.unique)
    -- twice ones less the identity: the eigenvalue -1 of multiplicity 19, 39 of multiplicity 1
    r = uniqueness(matrix(20, function(i, j) return i == j and 1 or 2 end))
    assert.same({ false, "no", "not a P-matrix: the determinant is not positive" }, { r.P, r.unique, r.reason })
    local free = {}
    for i = 1, 101 do free[i] = i < 3 and -inf or 0 end
    r = uniqueness(matrix(101, function(i, j) return i == j and 1 or (i + 3 * j) % 7 - 1 end), { lower = free })
    assert.same({ "unknown", "too large to look at every principal minor, and no simple test decides" }, { r.unique, r.reason })
  end)

  it("does not decide by rounding", function()
    local r = uniqueness { { 0.1, 0.3 }, { 0.1 / 3, 0.1 } }
    assert.is_true(r.P == "unknown" or r.P == (0.1 * 0.1 - 0.3 * (0.1 / 3) > 0) or r.P == false)
    local third = 1 / 3
    r = uniqueness { { 3, 1, third }, { 1, third, third * third }, { third, third * third, third * third * third } }
    assert.is_true(r.P == "unknown" or r.P == false)
  end)

  it("judges the law, not the matrix alone", function()
    local skew = { { 0, 1 }, { -1, 0 } }
    assert.equal("no", uniqueness(skew).unique)
    assert.equal("for every q", uniqueness(skew, "equality").unique)
    assert.equal("no", uniqueness({ { 0 } }, "equality").unique)
    assert.equal("the block of the free components is singular", uniqueness({ { 0 } }, "equality").reason)
    -- free first component: what is left is the Schur complement 4 - 3 * 2 / 1 = -2
    assert.equal("no", uniqueness({ { 1, 2 }, { 3, 4 } }, { lower = { -inf, 0 } }).unique)
    assert.equal("for every q", uniqueness({ { -1, 2 }, { 3, 4 } }, { lower = { -inf, 0 } }).unique)
    assert.equal("every component is fixed", uniqueness({ { 0 } }, { lower = 2, upper = 2 }).reason)
    assert.equal("no", uniqueness({ { 1, 2 }, { 3, 4 } }, ns.RelayNSL(2)).unique)
    assert.equal("for every q", uniqueness({ { 1, 2 }, { 0, 4 } }, ns.ComplementarityConditionNSL(1)).unique)
    assert.equal("for every q", uniqueness({ { 1, 2 }, { -1, 4 } }, ns.EqualityConditionNSL(2)).unique)
    local polygon = ns.NormalConeNSL(2, { { 1, 1 } }, { 0 })
    assert.equal("for every q", uniqueness({ { 1, 0 }, { 0, 1 } }, polygon).unique)
    assert.equal("unknown", uniqueness({ { 1, 2 }, { 0, 0 } }, polygon).unique)
  end)

  it("names bad data", function()
    local function fails(text, ...)
      local args = table.pack(...)
      assert.error_matches(function() uniqueness(table.unpack(args, 1, args.n)) end, text, 1, true)
    end
    fails("uniqueness: M: expected a matrix, got nil")
    fails("uniqueness: M: expected a square matrix, got 1 x 2 matrix", { { 1, 2 } })
    fails("uniqueness: M: expected the matrix itself, uniqueness(M [, law]), got a table with the field 'M'", { M = { { 1 } } })
    fails("uniqueness: M[1][1] is nan", { { 0 / 0 } })
    fails("uniqueness: unknown law 'lpc' (known: lcp, box, relay, equality)", { { 1 } }, "lpc")
    fails("uniqueness: law: expected a name, a law or a table {lower=, upper=}, got boolean", { { 1 } }, true)
    fails("uniqueness: law: expected a law of size 1 (or 1, for every component), got one of size 2", { { 1 } },
      ns.RelayNSL(2))
    fails("uniqueness: unknown option 'low' (known: lower, upper)", { { 1 } }, { low = 1 })
    fails("uniqueness: lower[1] = 2 is above upper[1] = 1", { { 1 } }, { lower = 2, upper = 1 })
  end)
end)
