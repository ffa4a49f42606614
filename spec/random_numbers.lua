-- Random numbers, and tables that a function fills.
local numbers = {}
local random = math.random

-- In [-1, 1].
function numbers.signed() return 2 * random() - 1 end

-- In [a, b].
function numbers.uniform(a, b) return a + (b - a) * random() end

-- Normally distributed, with mean 0 and deviation 1.
function numbers.normal() return math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random()) end

-- A power of two from 2^-most to 2^most (100).
function numbers.power(most) return 2.0 ^ random(-(most or 100), most or 100) end

-- { f(1), ..., f(n) }.
function numbers.vector(n, f)
  local v = {}
  for i = 1, n do v[i] = f(i) end
  return v
end

-- n rows of f(i, 1), ..., f(i, cols); cols: n when it is not given.
function numbers.matrix(n, f, cols)
  return numbers.vector(n, function(i) return numbers.vector(cols or n, function(j) return f(i, j) end) end)
end

-- n numbers in [-size, size], and a matrix of them.
function numbers.vector_within(n, size)
  return numbers.vector(n, function() return numbers.uniform(-size, size) end)
end

function numbers.matrix_within(rows, cols, size)
  return numbers.matrix(rows, function() return numbers.uniform(-size, size) end, cols)
end

return numbers
