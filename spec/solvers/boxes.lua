-- Random box problems and an independent judge of their solutions, shared by the specs of this room.
local boxes = {}
local random = math.random

local numbers = require "random_numbers"
local signed, matrix = numbers.signed, numbers.matrix
boxes.matrix = matrix

local function gram(n, rank, entry)
  local A = matrix(math.max(n, rank), entry)
  return matrix(n, function(i, j)
    local sum = 0
    for k = 1, rank do sum = sum + A[i][k] * A[j][k] end
    return sum
  end)
end

local function skew(n)
  local A = matrix(n, signed)
  return matrix(n, function(i, j) return A[i][j] - A[j][i] end)
end

-- Each returns M and, when badly scaled, the scales of rows and columns.
boxes.kinds = {
  positive_definite = function(n)
    local G, S = gram(n, n, signed), skew(n)
    return matrix(n, function(i, j) return G[i][j] + S[i][j] + (i == j and 0.1 or 0) end)
  end,
  semidefinite = function(n) return gram(n, random(1, n), signed) end,
  integer_semidefinite = function(n) return gram(n, random(1, n), function() return random(-3, 3) end) end,
  skew = skew,
  zero = function(n) return matrix(n, function() return 0 end) end,
  any = function(n) return matrix(n, signed) end,
  integer = function(n) return matrix(n, function() return random(-2, 2) end) end,
  rank_deficient = function(n)
    local A = matrix(n, signed)
    if n > 1 then A[n] = { table.unpack(A[1]) } end
    return A
  end,
  badly_scaled = function(n)
    local A, row, column = boxes.kinds.positive_definite(n), {}, {}
    for i = 1, n do row[i], column[i] = 10 ^ random(-8, 8), 10 ^ random(-8, 8) end
    return matrix(n, function(i, j) return row[i] * A[i][j] * column[j] end), row, column
  end,
}

local places = {
  function() return 0, math.huge end,
  function(s) return -math.huge, s * random() end,
  function(s) return -s, s end,
  function(s) return -s * random(), s * random() end,
  function(s) local x = s * signed() return x, x end,
  function() return -math.huge, math.huge end,
}

boxes.bounds = {
  lcp = function() return places[1]() end,
  compact = function(s) return places[random(3, 4)](s) end,
  one_or_two_sided = function(s) return places[random(1, 4)](s) end,
  with_fixed = function(s) return places[random(1, 5)](s) end,
  with_free = function(s) return places[random(1, 6)](s) end,
}

function boxes.problem(kind, bound, n)
  local M, row, column = boxes.kinds[kind](n)
  local p = { M = M, q = {}, lower = {}, upper = {} }
  local whole = kind == "integer" or kind == "integer_semidefinite"
  for i = 1, n do
    p.lower[i], p.upper[i] = boxes.bounds[bound](column and 1 / column[i] or 1)
    p.q[i] = random() < 0.2 and 0 or (whole and random(-3, 3) or signed()) * (row and row[i] or 1)
  end
  if random() < 0.5 then
    p.guess = {}
    for i = 1, n do p.guess[i] = signed() end
  end
  return p
end

-- The largest violation of the law, each relative to the terms of its row; math.huge outside of the box or for nan.
function boxes.violation(p, z)
  local worst = 0
  for i = 1, #p.q do
    local w, size = p.q[i], math.abs(p.q[i])
    for j = 1, #p.q do
      w = w + p.M[i][j] * z[j]
      size = size + math.abs(p.M[i][j] * z[j])
    end
    local l, u = p.lower and p.lower[i] or 0, p.upper and p.upper[i] or math.huge
    if not (z[i] >= l and z[i] <= u) or w ~= w then return math.huge end
    local good = (w >= 0 and z[i] == l) or (w <= 0 and z[i] == u)
    if not good then worst = math.max(worst, math.abs(w) / size) end
  end
  return worst
end

function boxes.sorted_keys(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys)
  return keys
end

return boxes
