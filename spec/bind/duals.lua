-- What the specs of dual numbers share.
local assert = require "luassert"

local duals = {}

-- The error of f(...) matches the pattern.
function duals.fails(pattern, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(err))
end

function duals.rows(m)
  local t = {}
  for i = 1, m:rows() do t[i] = m[i]:totable() end
  return t
end

local sin, cos, exp = math.sin, math.cos, math.exp

-- Functions of one number at a point where an operation in them overflows and their value does not: what, the function,
-- the point, its derivative there.
duals.overflowing = {
  { "logistic", function(x) return 1 / (1 + exp(x)) end, 800, 0 },
  { "steep logistic, whose exp is finite and not its slope", function(x) return 1 / (1 + exp(1000 * x)) end, 0.7097, 0 },
  { "x over exp", function(x) return x / (1 + exp(x)) end, 800, 0 },
  { "tanh by exp", function(x) return 3 * x - 2 / (exp(2 * x) + 1) end, 800, 3 },
  { "Gompertz", function(x) return exp(-exp(x)) end, 800, 0 },
  { "atan", function(x) return math.atan(exp(x)) - x end, 800, -1 },
  { "atan of infinite y", function(x) return math.atan(exp(x), x) end, 800, 0 },
  { "atan of infinite x", function(x) return math.atan(x, exp(x)) end, 800, 0 },
  { "bell", function(x) return exp(-x ^ 2) end, 1e200, 0 },
  { "Lorentz", function(x) return 1 / (1 + x * x) end, 1e200, 0 },
  { "third power", function(x) return 1 / (x * x * x) end, 1e160, 0 },
  { "negative power", function(x) return exp(x) ^ -1 end, 800, 0 },
  { "both operands of a power", function(x) return exp(x) ^ -x end, 800, 0 },
  { "power of a fraction", function(x) return x + 0.5 ^ exp(x) end, 800, 1 },
  { "base of a logarithm", function(x) return math.log(5, exp(x)) end, 800, 0 },
  { "remainder", function(x) return x % exp(x) end, 800, 1 },
  { "fmod", function(x) return math.fmod(x, exp(x)) end, 800, 1 },
  { "the other of min", function(x) return math.min(exp(x), 3 * x) end, 800, 3 },
  { "inf - inf among the partials", function(x) return x + 1 / (1 - x * exp(-x)) end, -800, 1 },
}

-- No replacement is left in the table math.
function duals.math_is_back()
  assert.equal(sin, math.sin)
  assert.equal(cos, math.cos)
  duals.fails("number expected, got table", exp, {})
  assert.equal(exp, math.exp)
end

return duals
