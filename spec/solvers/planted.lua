-- Box problems with a solution that is known exactly: whole numbers and halves, scaled by powers of two, beside entries that are
-- rounding in any units.
local planted = {}
local inf, random = math.huge, math.random
local matrix = require("random_numbers").matrix

local function int(k) return random(-k, k) end

local function gram(n, rank)
  local G = matrix(n, function() return int(2) end)
  return matrix(n, function(i, j)
    local sum = 0
    for k = 1, rank do sum = sum + G[k][i] * G[k][j] end
    return sum
  end)
end

-- Each returns a matrix of whole numbers.
planted.kinds = {
  semidefinite = function(n) return gram(n, random(0, n)) end,
  skew = function(n)
    local A = matrix(n, function() return int(2) end)
    return matrix(n, function(i, j) return A[i][j] - A[j][i] end)
  end,
  any = function(n) return matrix(n, function() return int(3) end) end,
  sparse = function(n) return matrix(n, function(i, j) return (i == j or random() < 2 / n) and int(3) or 0 end) end,
  saddle = function(n)
    local m, G, B = n - n // 3, gram(n, n), matrix(n, function() return int(2) end)
    return matrix(n, function(i, j)
      if i <= m and j <= m then return G[i][j] + (i == j and 1 or 0) end
      return i > m and j > m and 0 or i > m and -B[i][j] or B[j][i]
    end)
  end,
  redundant = function(n)
    local M = gram(n, n)
    for j = 1, n do M[n][j] = M[1][j] end
    for i = 1, n do M[i][n] = M[i][1] end
    return M
  end,
  ["rows of 0"] = function(n)
    local M = gram(n, n)
    for i = 1, n do
      if random() < 0.4 then
        for j = 1, n do M[i][j] = 0 end
      end
    end
    return M
  end,
}

planted.bounds = {
  lcp = function() return 0, inf end,
  mixed = function() return random() < 0.5 and 0 or -inf, inf end,
  free = function() return -inf, inf end,
  box = function()
    local lower = { 0, -inf, -random(4) / 2, -inf, 0, -random(4) }
    local upper = { inf, int(4) / 2, random(4) / 2, inf, random(4) / 2, inf }
    local k = random(6)
    return lower[k], upper[k]
  end,
  settled = function()
    local x = int(4) / 2
    if random() < 0.5 then return x, x end
    return planted.bounds.box()
  end,
}

local function rounding() return int(3) * 2.0 ^ -random(60, 200) end

-- Entries in place of zeros; the solution stays exact, but with "everywhere", where q is rounded.
local entries = {
  none = function() end,
  ["in columns of 0"] = function(M, z)
    for j = 1, #M do
      for i = 1, z[j] == 0 and #M or 0 do
        if M[i][j] == 0 and random() < 0.7 then M[i][j] = rounding() end
      end
    end
  end,
  ["that cancel"] = function(M, z)
    for i = 1, #M do
      local size, at = 2.0 ^ -random(60, 200)
      for j = 1, #M do
        if M[i][j] == 0 and at then M[i][at], M[i][j], at = size * z[j], -size * z[at], nil
        elseif M[i][j] == 0 then at = j end
      end
    end
  end,
  everywhere = function(M)
    for i = 1, #M do
      for j = 1, #M do
        if i ~= j and (M[i][j] == 0 or random() < 0.2) then M[i][j] = rounding() end
      end
    end
  end,
}
planted.rounding = entries

-- x 2^e, where 2^e alone may overflow.
local function times(x, e) return x * 2.0 ^ (e // 2) * 2.0 ^ (e - e // 2) end

-- A problem of n variables, in units of 2^-spread .. 2^spread for each row and column. back(z): z in the units of 1.
function planted.problem(kind, bound, noise, spread, n)
  local M, z, w, lower, upper = planted.kinds[kind](n), {}, {}, {}, {}
  for i = 1, n do
    local l, u = planted.bounds[bound]()
    local place = random(3)
    lower[i], upper[i], w[i] = l, u, 0
    if l == u then z[i], w[i] = l, int(3)
    elseif place == 1 and l > -inf then z[i], w[i] = l, random(0, 3)
    elseif place == 2 and u < inf then z[i], w[i] = u, -random(0, 3)
    else z[i] = math.max(l, math.min(u, int(4) / 2)) end
  end
  entries[noise](M, z)
  local p, row, col = { M = {}, q = {}, lower = {}, upper = {} }, {}, {}
  local plain = { M = M, q = {}, lower = lower, upper = upper, z = z }
  for i = 1, n do row[i], col[i] = int(spread), int(spread) end
  for i = 1, n do
    local q = w[i]
    p.M[i] = {}
    for j = 1, n do
      if z[j] ~= 0 then q = q - M[i][j] * z[j] end
      p.M[i][j] = times(M[i][j], row[i] + col[j])
    end
    plain.q[i] = q
    p.q[i], p.lower[i], p.upper[i] = times(q, row[i]), times(lower[i], -col[i]), times(upper[i], -col[i])
  end
  local function back(x)
    local y = {}
    for i = 1, n do
      y[i] = times(x[i], col[i])
      if math.abs(y[i]) < 2.0 ^ -500 then y[i] = 0 end -- rows of such terms alone count as nothing in balanced units
    end
    return y
  end
  return p, plain, back
end

return planted
