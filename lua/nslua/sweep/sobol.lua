-- nslua.sweep.sobol: the points of the Sobol sequence in up to 36 dimensions.
--
-- I. M. Sobol, USSR Computational Mathematics and Mathematical Physics 7, 1967; direction numbers of S. Joe and
-- F. Y. Kuo, SIAM Journal on Scientific Computing 30, 2008; points in the order of the Gray code (Antonov and
-- Saleev).
local sobol = {}

local BITS = 32

-- For each dimension from the second on: the degree of its primitive polynomial over GF(2), the inner coefficients of
-- it as a binary number, and the first odd numbers m.
local TABLE = {
  { 1, 0, { 1 } }, { 2, 1, { 1, 3 } }, { 3, 1, { 1, 3, 1 } }, { 3, 2, { 1, 1, 1 } }, { 4, 1, { 1, 1, 3, 3 } },
  { 4, 4, { 1, 3, 5, 13 } }, { 5, 2, { 1, 1, 5, 5, 17 } }, { 5, 4, { 1, 1, 5, 5, 5 } }, { 5, 7, { 1, 1, 7, 11, 19 } },
  { 5, 11, { 1, 1, 5, 1, 1 } }, { 5, 13, { 1, 1, 1, 3, 11 } }, { 5, 14, { 1, 3, 5, 5, 31 } },
  { 6, 1, { 1, 3, 3, 9, 7, 49 } }, { 6, 13, { 1, 1, 1, 15, 21, 21 } }, { 6, 16, { 1, 3, 1, 13, 27, 49 } },
  { 6, 19, { 1, 1, 1, 15, 7, 5 } }, { 6, 22, { 1, 3, 1, 15, 13, 25 } }, { 6, 25, { 1, 1, 5, 5, 19, 61 } },
  { 7, 1, { 1, 3, 7, 11, 23, 15, 103 } }, { 7, 4, { 1, 3, 7, 13, 13, 15, 69 } },
  { 7, 7, { 1, 1, 3, 13, 7, 35, 63 } }, { 7, 8, { 1, 3, 5, 9, 1, 25, 53 } }, { 7, 14, { 1, 3, 1, 13, 9, 35, 107 } },
  { 7, 19, { 1, 3, 1, 5, 27, 61, 31 } }, { 7, 21, { 1, 1, 5, 11, 19, 41, 61 } }, { 7, 28, { 1, 3, 5, 3, 3, 13, 69 } },
  { 7, 31, { 1, 1, 7, 13, 1, 19, 1 } }, { 7, 32, { 1, 3, 7, 5, 13, 19, 59 } }, { 7, 37, { 1, 1, 3, 9, 25, 29, 41 } },
  { 7, 41, { 1, 3, 5, 13, 23, 1, 55 } }, { 7, 42, { 1, 3, 7, 3, 13, 59, 17 } }, { 7, 50, { 1, 3, 1, 3, 5, 53, 69 } },
  { 7, 55, { 1, 1, 5, 5, 23, 33, 13 } }, { 7, 56, { 1, 1, 7, 7, 1, 61, 123 } }, { 7, 59, { 1, 1, 7, 9, 13, 61, 49 } },
}

sobol.most = #TABLE + 1 -- dimensions

-- The direction numbers of a dimension (from 1): BITS integers, the first with its highest bit set.
function sobol.directions(dimension)
  local v = {}
  if dimension == 1 then
    for i = 1, BITS do v[i] = 1 << (BITS - i) end
    return v
  end
  local degree, inner, m = table.unpack(TABLE[dimension - 1])
  for i = 1, degree do v[i] = m[i] << (BITS - i) end
  for i = degree + 1, BITS do
    v[i] = v[i - degree] ~ (v[i - degree] >> degree)
    for j = 1, degree - 1 do
      if inner >> (degree - 1 - j) & 1 == 1 then v[i] = v[i] ~ v[i - j] end
    end
  end
  return v
end

-- The first `count` points of a dimension, from 0 on, as numbers in [0, 1). shift: an integer of 32 bits that is
-- added to each point digit by digit (0: the sequence itself, whose first point is 0).
function sobol.points(dimension, count, shift)
  local v, points, x = sobol.directions(dimension), {}, shift
  for k = 1, count do
    points[k] = x * 2.0 ^ -BITS
    local bit = 1 -- the position of the lowest 0 bit of k - 1
    while (k - 1) >> (bit - 1) & 1 == 1 do bit = bit + 1 end
    x = x ~ (v[bit] or 0)
  end
  return points
end

return sobol
