-- nslua.circuit.exact: numbers for elimination, of which it is known whether they are 0.
--
-- Sums of resistances of 1 Ohm and conductances of 1 nS cancel to far below the rounding of a double. So a number has
-- two doubles, its value and the rest (Dekker, Numerische Mathematik 18, 1971), and two remainders of the exact
-- fraction, modulo primes: it counts as 0 when both remainders are 0, which a number that is not 0 has once in 10^18.
-- A double that stands for a decimal number of up to 15 digits is that number: 0.1 + 0.2 - 0.3 is 0.

local format = require "nslua.core".number_support.format

local exact = {}

local P, Q = 2147483647, 2147483629 -- primes; products of remainders are integers of 64 bits

-- The product of two doubles and its rounding error.
local function two_product(x, y)
  local p, c, d = x * y, x * 134217729.0, y * 134217729.0
  local x_high, y_high = c - (c - x), d - (d - y)
  local x_low, y_low = x - x_high, y - y_high
  return p, ((x_high * y_high - p) + x_high * y_low + x_low * y_high) + x_low * y_low
end

-- high + low, as two doubles
local function sum_of(x, y)
  local s = x + y
  local t = s - x
  return s, (x - (s - t)) + (y - t)
end

-- base^exponent modulo a prime
local function power(base, exponent, prime)
  local result = 1
  while exponent > 0 do
    if exponent & 1 == 1 then result = result * base % prime end
    base, exponent = base * base % prime, exponent >> 1
  end
  return result
end

local function inverse(x, prime) return power(x, prime - 2, prime) end

-- x = digits * base^exponent with integers; as a decimal number where the double stands for one
local function fraction_of(x)
  local text = format("%.14e", x)
  if tonumber(text) == x then
    local sign, first, rest, exponent = text:match "^(-?)(%d)%.(%d+)e([+-]%d+)$"
    rest = rest:gsub("0+$", "")
    return math.tointeger(tonumber(sign .. first .. rest)), 10, math.tointeger(tonumber(exponent)) - #rest
  end
  local exponent = 0
  while x % 1 ~= 0 do x, exponent = x * 2, exponent - 1 end
  while math.abs(x) >= 2.0 ^ 62 do x, exponent = x / 2, exponent + 1 end
  return math.tointeger(x), 2, exponent
end

-- The remainder of digits * base^exponent
local function remainder(digits, base, exponent, prime)
  local factor = power(base, math.abs(exponent), prime)
  return digits % prime * (exponent < 0 and inverse(factor, prime) or factor) % prime
end

-- A double as a number.
function exact.number(x)
  local digits, base, exponent = fraction_of(x)
  local low = 0.0
  if base == 10 and exponent < 0 and exponent >= -22 then -- 10^22 is a double
    local scale = 10.0 ^ -exponent
    local p, e = two_product(x, scale)
    low = ((digits - p) - e) / scale
  end
  return { x + 0.0, low, remainder(digits, base, exponent, P), remainder(digits, base, exponent, Q) }
end

function exact.copy(x) return { x[1], x[2], x[3], x[4] } end

function exact.is_zero(x) return x[3] == 0 and x[4] == 0 end

-- to = to + factor * x
function exact.add_product(to, x, factor)
  local p, e = two_product(x[1], factor[1])
  e = e + x[1] * factor[2] + x[2] * factor[1]
  local s, t = sum_of(to[1], p)
  t = t + to[2] + e
  to[1] = s + t
  to[2] = t - (to[1] - s)
  to[3] = (to[3] + x[3] * factor[3]) % P
  to[4] = (to[4] + x[4] * factor[4]) % Q
end

-- -x / y
function exact.negative_quotient(x, y)
  local q = -x[1] / y[1]
  local p, e = two_product(q, y[1])
  local r = (((-x[1] - p) - e) - x[2]) - q * y[2]
  local high, low = sum_of(q, r / y[1])
  return { high, low, (P - x[3]) * inverse(y[3], P) % P, (Q - x[4]) * inverse(y[4], Q) % Q }
end

return exact
