-- Exact arithmetic for reference solutions: integers of any size, their fractions, and the (theta, gamma) scheme of the
-- clutch with them. Only the final results are rounded.

local rational = {}

-- ---- integers: sign (1 or -1) and limbs of 24 bits, the least first, no leading zeros; zero has none ----

local BASE, BITS = 1 << 24, 24
local Integer = {}
Integer.__index = Integer

local function trimmed(n)
  while n[#n] == 0 do n[#n] = nil end
  if #n == 0 then n.sign = 1 end
  return setmetatable(n, Integer)
end

local function integer(i)
  if getmetatable(i) == Integer then return i end
  assert(math.type(i) == "integer" and i > math.mininteger)
  local n, rest = { sign = i < 0 and -1 or 1 }, math.abs(i)
  while rest > 0 do
    n[#n + 1] = rest & (BASE - 1)
    rest = rest >> BITS
  end
  return trimmed(n)
end

local function compare_sizes(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  for i = #a, 1, -1 do
    if a[i] ~= b[i] then return a[i] < b[i] and -1 or 1 end
  end
  return 0
end

-- |a| + |b|, and |a| - |b| for |a| >= |b|, with a given sign.
local function add_sizes(a, b, sign)
  local c, carry = { sign = sign }, 0
  for i = 1, math.max(#a, #b) do
    local s = (a[i] or 0) + (b[i] or 0) + carry
    c[i], carry = s & (BASE - 1), s >> BITS
  end
  c[#c + 1] = carry
  return trimmed(c)
end

local function subtract_sizes(a, b, sign)
  local c, borrow = { sign = sign }, 0
  for i = 1, #a do
    local s = a[i] - (b[i] or 0) - borrow
    borrow = s < 0 and 1 or 0
    c[i] = s + borrow * BASE
  end
  return trimmed(c)
end

function Integer.__unm(a)
  local c = table.move(a, 1, #a, 1, { sign = -a.sign })
  return trimmed(c)
end

function Integer.__add(a, b)
  a, b = integer(a), integer(b)
  if a.sign == b.sign then return add_sizes(a, b, a.sign) end
  if compare_sizes(a, b) >= 0 then return subtract_sizes(a, b, a.sign) end
  return subtract_sizes(b, a, b.sign)
end

function Integer.__sub(a, b)
  return integer(a) + -integer(b)
end

-- The integer of limbs of any size and sign.
local function carried(limbs)
  local n, carry = { sign = 1 }, 0
  for i = 1, #limbs do
    local s = limbs[i] + carry
    n[i], carry = s & (BASE - 1), s // BASE
  end
  if carry < 0 then
    for i = 1, #limbs do limbs[i] = -limbs[i] end
    n = carried(limbs)
    n.sign = -n.sign
    return n
  end
  n[#n + 1] = carry
  return trimmed(n)
end

-- a[1] b[1] + a[2] b[2] + ...
local function dot(a, b)
  local limbs = {}
  for k = 1, #a do
    local x, y, sign = a[k], b[k], a[k].sign * b[k].sign
    for i = #limbs + 1, #x + #y do limbs[i] = 0 end
    for j = 1, #y do
      local factor = sign * y[j]
      for i = 1, #x do limbs[i + j - 1] = limbs[i + j - 1] + x[i] * factor end
    end
  end
  return carried(limbs)
end

function Integer.__mul(a, b)
  return dot({ integer(a) }, { integer(b) })
end

-- The size of an integer of at most two limbs.
local function small(n)
  return (n[2] or 0) << BITS | (n[1] or 0)
end

-- |a| = quotient |b| + remainder, bit by bit when they are not small.
local function divide_sizes(a, b)
  if #a <= 2 and #b <= 2 then
    local top, bottom = small(a), small(b)
    return integer(top // bottom), integer(top % bottom)
  end
  local quotient, remainder = { sign = 1 }, integer(0)
  for i = #a, 1, -1 do
    quotient[i] = 0
    for bit = BITS - 1, 0, -1 do
      remainder = add_sizes(add_sizes(remainder, remainder, 1), integer(a[i] >> bit & 1), 1)
      if compare_sizes(remainder, b) >= 0 then
        remainder = subtract_sizes(remainder, b, 1)
        quotient[i] = quotient[i] | 1 << bit
      end
    end
  end
  return trimmed(quotient), remainder
end

local function common_divisor(a, b)
  while #b > 0 do
    local _, remainder = divide_sizes(a, b)
    a, b = b, remainder
  end
  return a
end

-- The four leading limbs as a number, and the power of BASE by which to multiply it.
local function leading(n)
  local value, first = 0.0, math.max(#n - 3, 1)
  for i = #n, first, -1 do value = value * BASE + n[i] end
  return n.sign * value, first - 1
end

-- a / b, to about one unit in the last place, however large the two are.
local function quotient(a, b)
  if #a == 0 then return 0.0 end
  local x, p = leading(a)
  local y, q = leading(b)
  return x / y * 2.0 ^ (BITS * (p - q))
end

-- ---- fractions in lowest terms with a positive denominator ----

local Fraction = {}
Fraction.__index = Fraction

local function fraction(n, d)
  assert(#d > 0, "division by zero")
  local g = common_divisor(n.sign == 1 and n or -n, d.sign == 1 and d or -d)
  local top, bottom = divide_sizes(n, g), divide_sizes(d, g)
  if n.sign ~= d.sign then top = -top end
  return setmetatable({ n = top, d = bottom }, Fraction)
end

-- The fraction n / d of integers; or a number, exactly (every float is an integer times a power of two).
function rational.new(n, d)
  if getmetatable(n) == Fraction then return n end
  local top, bottom = n, d or 1
  if math.type(n) == "float" then
    while math.tointeger(top) == nil do
      top, bottom = top * 2, bottom * integer(2)
    end
    top = math.tointeger(top)
  end
  return fraction(integer(top), integer(bottom))
end

function Fraction.__add(a, b)
  a, b = rational.new(a), rational.new(b)
  return fraction(a.n * b.d + b.n * a.d, a.d * b.d)
end

function Fraction.__mul(a, b)
  a, b = rational.new(a), rational.new(b)
  return fraction(a.n * b.n, a.d * b.d)
end

function Fraction.__div(a, b)
  a, b = rational.new(a), rational.new(b)
  return fraction(a.n * b.d, a.d * b.n)
end

function Fraction.__unm(a)
  return fraction(-a.n, a.d)
end

function Fraction.__sub(a, b)
  return rational.new(a) + -rational.new(b)
end

function Fraction.__eq(a, b)
  return #(a - b).n == 0
end

function Fraction:tonumber()
  return quotient(self.n, self.d)
end

-- ---- the clutch ----

-- Linear forms in (w1, w2, tau, r, 1) with fractions as coefficients.
local function form(...)
  local f = { ... }
  for i = 1, 5 do f[i] = rational.new(f[i] or 0) end
  return f
end

local function combine(...) -- factor, form, factor, form, ...
  local sum, args = form(), { ... }
  for i = 1, #args, 2 do
    for j = 1, 5 do sum[j] = sum[j] + args[i] * args[i + 1][j] end
  end
  return sum
end

-- The forms of (w1, w2, tau, r) after a step with multiplier lambda (0 or 1):
--   w1' = w1 + h (10 + theta tau' + (1 - theta) tau),  w2' = w2 - h (40 + 4 theta tau' + 4 (1 - theta) tau),
--   0 = theta (w1' - w2') + (1 - theta) (w1 - w2) + gamma r' + (1 - gamma) r,  r' = lambda (tau' - w1' + w2').
local function step_forms(theta, gamma, h, lambda)
  local one = rational.new(1)
  local w1, w2, tau, r = form(1), form(0, 1), form(0, 0, 1), form(0, 0, 0, 1)
  local gap = combine(one, w1, -one, w2)
  -- w1' - w2' = fixed + slope tau'
  local fixed = combine(one, gap, h, form(0, 0, (one - theta) * 5, 0, 50))
  local slope = h * theta * 5
  local old = combine(one - theta, gap, one - gamma, r)
  local weight = lambda == 1 and theta - gamma or theta -- of w1' - w2'
  local divisor = weight * slope + (lambda == 1 and gamma or rational.new(0))
  local new_tau = combine(-one / divisor, old, -weight / divisor, fixed)
  local mean = combine(theta, new_tau, one - theta, tau)
  local new_w1 = combine(one, w1, h, mean, h, form(0, 0, 0, 0, 10))
  local new_w2 = combine(one, w2, h * -4, mean, h, form(0, 0, 0, 0, -40))
  local new_r = lambda == 1 and combine(one, new_tau, -one, new_w1, one, new_w2) or form()
  return { new_w1, new_w2, new_tau, new_r, form(0, 0, 0, 0, 1) }
end

-- Forms over one common denominator: a 5 x 5 matrix of integers, and the denominator, which is its last entry.
local function over_common_denominator(forms)
  local common = integer(1)
  for i = 1, 5 do
    for j = 1, 5 do
      local d = forms[i][j].d
      common = common * divide_sizes(d, common_divisor(common, d))
    end
  end
  local matrix = {}
  for i = 1, 5 do
    matrix[i] = {}
    for j = 1, 5 do matrix[i][j] = forms[i][j].n * divide_sizes(common, forms[i][j].d) end
  end
  return matrix
end

-- The exact scheme of the clutch: columns t, c, w1, w2, tau, lambda, row k at index k + 1, `steps` steps of length
-- h; the clutch switches at step `switch`. theta, gamma and h are fractions or numbers; lambda is 1 (engage) or 0
-- (disengage) from step 1 up to the switch, 0 at k = 0.
function rational.clutch(mode, theta, gamma, h, steps, switch)
  theta, gamma, h = rational.new(theta), rational.new(gamma), rational.new(h)
  local maps = {}
  for lambda = 0, 1 do maps[lambda] = over_common_denominator(step_forms(theta, gamma, h, lambda)) end
  local state = { integer(20), integer(10), integer(1), integer(0), integer(2) } -- over its last entry
  local columns = { t = {}, c = {}, w1 = {}, w2 = {}, tau = {}, lambda = {}, n = steps + 1 }
  for k = 0, steps do
    local lambda = k > 0 and (k < switch) == (mode == "engage") and 1 or 0
    if k > 0 then
      local new = {}
      for i = 1, 5 do new[i] = dot(state, maps[lambda][i]) end
      state = new
    end
    columns.t[k + 1] = (h * k):tonumber()
    columns.c[k + 1] = (rational.new(5) - h * k):tonumber()
    columns.lambda[k + 1] = lambda
    for i, name in ipairs { "w1", "w2", "tau" } do columns[name][k + 1] = quotient(state[i], state[5]) end
  end
  return columns
end

return rational
