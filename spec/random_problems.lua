-- Random complementarity problems of known kinds, and an independent judge of answers. numerics_random_spec.lua runs
-- NSLUA_RANDOM of them (default 400; a long run: NSLUA_RANDOM=20000).
local problems = {}
local random, inf = math.random, math.huge

local numbers = require "random_numbers"
local signed, matrix, vector = numbers.signed, numbers.matrix, numbers.vector

local function gram(n, rank, entry)
  local A = matrix(n, entry)
  return matrix(n, function(i, j)
    local sum = 0
    for k = 1, rank do sum = sum + A[i][k] * A[j][k] end
    return sum
  end)
end

local function plus_skew(n, G, size)
  local A = matrix(n, signed)
  return matrix(n, function(i, j) return G[i][j] + size * (A[i][j] - A[j][i]) end)
end

-- Chooses q so that a given z solves the problem on the box, with w of the right sign where z is at a bound.
local function with_solution(p, z, w)
  p.q = vector(#z, function(i)
    local sum = w[i]
    for j = 1, #z do sum = sum - p.M[i][j] * z[j] end
    return sum
  end)
  return p
end

local function lcp(M)
  return { M = M, lower = vector(#M, function() return 0 end), upper = vector(#M, function() return inf end) }
end

local function random_q(n) return vector(n, function() return random() < 0.1 and 0 or signed() end) end

-- Examples from the literature. Least-index and block rules cycle on the first two from some starts.
local kostreva = { { 1, 2, 0 }, { 0, 1, 2 }, { 2, 0, 1 } }
local function murty(n) return matrix(n, function(i, j) return i == j and 1 or i < j and 2 or 0 end) end
local function chandrasekaran(n) -- a Z-matrix: a diagonally dominant one with negative entries elsewhere
  return matrix(n, function(i, j) return i == j and n * (0.6 + random()) or -random() end)
end

-- Each returns a problem; `solvable` is true when a solution is known to exist, false when there is none.
problems.kinds = {
  positive_definite = function(n)
    local p = lcp(plus_skew(n, gram(n, n, signed), 1))
    for i = 1, n do p.M[i][i] = p.M[i][i] + 0.1 end
    p.q, p.solvable = random_q(n), true
    return p
  end,
  p_matrix = function(n) -- triangular up to a permutation: P, and not positive semidefinite
    local order = vector(n, function(i) return i end)
    for i = n, 2, -1 do
      local j = random(i)
      order[i], order[j] = order[j], order[i]
    end
    local p = lcp(matrix(n, function(i, j)
      return i == j and 0.1 + random() or order[i] < order[j] and 4 * signed() or 0
    end))
    p.q, p.solvable = random_q(n), true
    return p
  end,
  murty = function(n)
    local p = lcp(murty(n))
    p.q, p.solvable = vector(n, function(i) return -2 ^ (n + 1) + 2 ^ i end), true
    return p
  end,
  kostreva = function()
    local p = lcp(kostreva)
    p.q, p.solvable = vector(3, function() return random() < 0.5 and -1 or signed() end), true
    return p
  end,
  z_matrix = function(n)
    local p = lcp(chandrasekaran(n))
    p.q, p.solvable = random_q(n), true
    return p
  end,
  semidefinite = function(n) -- feasible, so solvable
    local p = lcp(plus_skew(n, gram(n, random(0, n), signed), random(0, 1)))
    p.solvable = true
    return with_solution(p, vector(n, function() return random() < 0.5 and 0 or random() end),
      vector(n, function() return random() < 0.5 and 0 or random() end))
  end,
  degenerate = function(n) -- integers; many ties, w and z both 0
    local p = lcp(gram(n, random(1, n), function() return random(-2, 2) end))
    local z = vector(n, function() return random() < 0.5 and 0 or random(0, 3) end)
    p.solvable = true
    return with_solution(p, z, vector(n, function(i) return z[i] == 0 and random() < 0.5 and random(0, 2) or 0 end))
  end,
  infeasible = function(n) -- some row of M has no positive entry, and q is negative there
    local p, row = lcp(matrix(n, signed)), random(n)
    p.q = random_q(n)
    for j = 1, n do p.M[row][j] = -math.abs(p.M[row][j]) end
    p.q[row], p.solvable = -0.1 - random(), false
    return p
  end,
  badly_scaled = function(n)
    local p = problems.kinds.positive_definite(n)
    local row, column = vector(n, function() return 10 ^ random(-6, 6) end), vector(n, function()
      return 10 ^ random(-6, 6)
    end)
    for i = 1, n do
      p.q[i] = p.q[i] * row[i]
      for j = 1, n do p.M[i][j] = row[i] * p.M[i][j] * column[j] end
    end
    p.badly_scaled = true
    return p
  end,
  relay_zero = function(n)
    local p = { M = matrix(n, function() return 0 end), q = vector(n, function() return random(-1, 1) end) }
    p.lower, p.upper = vector(n, function() return -1 end), vector(n, function() return random() end)
    p.solvable = true
    return p
  end,
  compact = function(n) -- any matrix at all: a solution exists by Brouwer's theorem
    local p = { M = random() < 0.5 and matrix(n, signed) or matrix(n, function() return random(-2, 2) end) }
    p.q, p.solvable = random_q(n), true
    p.lower = vector(n, function() return random() < 0.2 and 0 or -random() end)
    p.upper = vector(n, function(i) return random() < 0.1 and p.lower[i] or p.lower[i] + random() end)
    return p
  end,
  mixed = function(n) -- free and bounded variables, positive definite
    local p = problems.kinds.positive_definite(n)
    for i = 1, n do
      local kind = random(4)
      p.lower[i] = kind == 1 and -inf or kind == 2 and -inf or signed()
      p.upper[i] = kind == 1 and inf or kind == 2 and signed() or kind == 3 and inf or p.lower[i] + random()
    end
    return p
  end,
  any = function(n) -- nothing known
    local p = lcp(matrix(n, random() < 0.5 and signed or function() return random(-2, 2) end))
    p.q = random_q(n)
    return p
  end,
}

function problems.names()
  return require "sorted_names"(problems.kinds)
end

-- The largest violation of the law. Infinite when z is outside of the box. A w of the wrong sign, or not 0 between the
-- bounds, is measured relative to the terms of its row. It does not count when it is within the rounding (1e-13) of the
-- largest product that its row can have (all terms may be exactly 0), except in a badly scaled problem.
function problems.violation(p, z)
  local worst, n, most = 0, #p.q, 0
  for i = 1, n do most = p.badly_scaled and 0 or math.max(most, math.abs(z[i])) end
  for i = 1, n do
    local w, size, largest = p.q[i], math.abs(p.q[i]), 0
    for j = 1, n do
      local term = p.M[i][j] * z[j]
      w, size = w + term, size + math.abs(term)
      largest = math.max(largest, math.abs(p.M[i][j]))
    end
    if not (z[i] >= p.lower[i] and z[i] <= p.upper[i]) or w ~= w then return inf end
    local good = (w >= 0 and z[i] == p.lower[i]) or (w <= 0 and z[i] == p.upper[i])
    if not good and math.abs(w) > 1e-13 * largest * most then worst = math.max(worst, math.abs(w) / size) end
  end
  return worst
end

return problems
