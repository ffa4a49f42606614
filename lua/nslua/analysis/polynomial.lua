-- nslua.analysis.polynomial: polynomials, as lists of coefficients, the highest power first.
--
--   ns.polyfit(x, y, degree)   least squares     ns.polyval(p, x)     ns.polyroots(p)   real and imaginary parts
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"

local fail = arguments.fail

local polynomial = {}

local function coefficients(p, who)
  local list = arguments.numbers(p, nil, who, "p")
  if #list == 0 then fail("%s: p: expected at least one coefficient, got none", who) end
  return list
end

-- The value at a number, or at each element of a vector (Horner's scheme).
function polynomial.polyval(p, x)
  p = coefficients(p, "polyval")
  local function at(u)
    local sum = p[1]
    for i = 2, #p do sum = sum * u + p[i] end
    return sum
  end
  if type(x) == "number" then return at(x) end
  return arguments.at_each(x, at, "polyval")
end

-- Least squares in the powers of (x - middle) / half, which is in [-1, 1]; then the powers of x are multiplied out.
function polynomial.polyfit(x, y, degree)
  x = arguments.numbers(x, nil, "polyfit", "x")
  y = arguments.numbers(y, #x, "polyfit", "y")
  local n = arguments.integer(degree, 0, "polyfit", "degree")
  if #x <= n then fail("polyfit: expected at least %d points for degree %d, got %d", n + 1, n, #x) end
  local sorted = core.vector(x):sort()
  local low, high = sorted[1], sorted[#x]
  local middle, half = low + (high - low) / 2, (high - low) / 2
  if half == 0 and n > 0 then fail("polyfit: all x are %g: degree %d can't be found", low, n) end
  if half == 0 then half = 1 end
  local A = core.matrix(#x, n + 1)
  for i = 1, #x do
    local u, power = (x[i] - middle) / half, 1.0
    for j = n + 1, 1, -1 do
      A[i][j] = power
      power = power * u
    end
  end
  local c, rank = core.lstsq(A, core.vector(y))
  if rank < n + 1 then
    fail("polyfit: %d different x are too few for degree %d", rank, n)
  end
  local p = { c[1] } -- Horner's scheme with (x - middle) / half in place of the number
  for j = 2, n + 1 do
    local next_p = {}
    for k = 1, #p + 1 do next_p[k] = ((p[k] or 0) - middle * (p[k - 1] or 0)) / half end
    next_p[#p + 1] = next_p[#p + 1] + c[j]
    p = next_p
  end
  return core.vector(p)
end

-- Roots whose moduli differ by more than this power of two are found from different coefficients: what the others add
-- is below rounding (2^-53), with a margin for the binomial factors.
local APART = 64

-- The vertices of the upper convex hull of log2 |p[i]|, i = first to last: between two of them the moduli of roots
-- are about 2 to the slope (Newton's polygon).
local function hull_of(p, first, last)
  local hull = {}
  local function height(i) return math.log(math.abs(p[i]), 2) end
  local function slope(i, k) return (height(k) - height(i)) / (k - i) end
  for i = first, last do
    if p[i] ~= 0 then
      while #hull > 1 and slope(hull[#hull], i) >= slope(hull[#hull - 1], hull[#hull]) do hull[#hull] = nil end
      hull[#hull + 1] = i
    end
  end
  return hull, slope
end

-- The places of p, from first to last, between which the coefficients make roots that are far from all others.
local function cuts_of(p, first, last)
  local hull, slope = hull_of(p, first, last)
  local cuts = { first }
  for k = 2, #hull - 1 do
    if slope(hull[k - 1], hull[k]) - slope(hull[k], hull[k + 1]) > APART then cuts[#cuts + 1] = hull[k] end
  end
  cuts[#cuts + 1] = last
  return cuts
end

-- The eigenvalues of the companion matrix of p[first] .. p[last].
local function companion_roots(p, first, last)
  local n = last - first
  local A = core.zeros(n, n)
  for j = 1, n do A[1][j] = -p[first + j] / p[first] end
  for i = 2, n do A[i][i - 1] = 1 end
  return A:eigvals()
end

-- The roots: the eigenvalues of companion matrices, which LAPACK balances.
function polynomial.polyroots(p)
  p = coefficients(p, "polyroots")
  local first, last = 1, #p
  while first <= #p and p[first] == 0 do first = first + 1 end
  while last > first and p[last] == 0 do last = last - 1 end
  if first > #p then fail "polyroots: p: all coefficients are 0" end
  local n, zeros = last - first, #p - last
  local re, im = core.zeros(n + zeros), core.zeros(n + zeros)
  if n == 0 then return re, im end
  local cuts, count = cuts_of(p, first, last), 0
  for k = 1, #cuts - 1 do
    local reals, imaginaries = companion_roots(p, cuts[k], cuts[k + 1])
    for i = 1, cuts[k + 1] - cuts[k] do
      re[count + i], im[count + i] = reals[i] + 0.0, imaginaries and imaginaries[i] or 0
    end
    count = count + cuts[k + 1] - cuts[k]
  end
  return re, im
end

return polynomial
