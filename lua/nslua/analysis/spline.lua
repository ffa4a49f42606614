-- nslua.analysis.spline: interpolation by cubic splines.
--
--   local s = ns.spline(x, y, { ends = "not-a-knot" })
--   s(1.5)   s { 1, 2 }   s:derivative(1.5)   s:integral(0, 2)
--
-- s is a cubic polynomial between two neighbours of x, with a continuous second derivative. The slopes at the points
-- are the solution of a tridiagonal system. de Boor, A Practical Guide to Splines, 2nd ed., 2001, chapter IV.
local arguments = require "nslua.base.arguments"
local where = require "nslua.base.where"

local fail = arguments.fail

local Spline = {}
Spline.__index = Spline
Spline.__name = "spline"
where.strict(Spline)

-- Solves a tridiagonal system by elimination; the row k is below[k] m[k-1] + middle[k] m[k] + above[k] m[k+1].
local function solve_tridiagonal(below, middle, above, right)
  local n = #right
  for k = 2, n do
    local factor = below[k] / middle[k - 1]
    middle[k], right[k] = middle[k] - factor * above[k - 1], right[k] - factor * right[k - 1]
  end
  local m = { [n] = right[n] / middle[n] }
  for k = n - 1, 1, -1 do m[k] = (right[k] - above[k] * m[k + 1]) / middle[k] end
  return m
end

-- The first and the last row of the system for the slopes; each is {coefficients, right side}. h: lengths of the
-- intervals; d: slopes of the chords.
local ends = {}

function ends.natural(h, d)
  local n = #h
  return { 2, 1, 3 * d[1] }, { 1, 2, 3 * d[n] }
end

function ends.clamped(_, _, slopes) return { 1, 0, slopes[1] }, { 0, 1, slopes[2] } end

-- The third derivative is continuous at the second point, and at the last but one.
ends["not-a-knot"] = function(h, d)
  local n = #h
  local function row(a, b, p, q) return b, a + b, ((a + 2 * (a + b)) * b * p + a * a * q) / (a + b) end
  local b1, c1, r1 = row(h[1], h[2], d[1], d[2])
  local bn, cn, rn = row(h[n], h[n - 1], d[n], d[n - 1])
  return { b1, c1, r1 }, { cn, bn, rn }
end

-- Slopes of a line or a parabola: what "not-a-knot" is with two or three points.
local function slopes_of_few(h, d)
  if #h == 1 then return { d[1], d[1] } end
  local bend = (d[2] - d[1]) / (h[1] + h[2])
  return { d[1] - bend * h[1], d[1] + bend * h[1], d[2] + bend * h[2] }
end

local function slopes_at(h, d, kind, given)
  local n = #h + 1
  if kind == "not-a-knot" and n <= 3 then return slopes_of_few(h, d) end
  local first, last = ends[kind](h, d, given)
  local below, middle, above, right = { 0 }, { first[1] }, { first[2] }, { first[3] }
  for k = 2, n - 1 do
    below[k], middle[k], above[k] = h[k], 2 * (h[k - 1] + h[k]), h[k - 1]
    right[k] = 3 * (h[k] * d[k - 1] + h[k - 1] * d[k])
  end
  below[n], middle[n], above[n], right[n] = last[1], last[2], 0, last[3]
  return solve_tridiagonal(below, middle, above, right)
end

-- Two unknowns: each is before and after the other one.
local function periodic_slopes_of_two(h, d)
  local a, b = 2 * (h[2] + h[1]), h[1] + h[2]
  local r1, r2 = 3 * (h[1] * d[2] + h[2] * d[1]), 3 * (h[2] * d[1] + h[1] * d[2])
  local m1, m2 = (a * r1 - b * r2) / (a * a - b * b), (a * r2 - b * r1) / (a * a - b * b)
  return { m1, m2, m1 }
end

-- Periodic: the slopes at both ends are one unknown. The system of the n slopes is cyclic, with `low` in its upper
-- right and `high` in its lower left corner. It is solved by two tridiagonal systems (Sherman and Morrison).
local function periodic_slopes(h, d)
  local n = #h
  if n == 1 then return { 0, 0 } end
  if n == 2 then return periodic_slopes_of_two(h, d) end
  local corner, low, high = -2 * (h[n] + h[1]), h[1], h[n - 1]
  local function solve(right)
    local below, middle, above = {}, {}, {}
    for k = 1, n do
      local before = k == 1 and n or k - 1
      below[k], middle[k], above[k] = h[k], 2 * (h[before] + h[k]), h[before]
    end
    middle[1], middle[n] = middle[1] - corner, middle[n] - low * high / corner
    return solve_tridiagonal(below, middle, above, right)
  end
  local right, column = {}, {}
  for k = 1, n do
    local before = k == 1 and n or k - 1
    right[k], column[k] = 3 * (h[k] * d[before] + h[before] * d[k]), 0
  end
  column[1], column[n] = corner, high
  local m, z = solve(right), solve(column)
  local factor = (m[1] + low / corner * m[n]) / (1 + z[1] + low / corner * z[n])
  for k = 1, n do m[k] = m[k] - factor * z[k] end
  m[n + 1] = m[1]
  return m
end

-- ---- values ----

-- The number of the interval that x is in; the first and the last one reach to infinity.
local function interval(s, x)
  local low, high = 1, #s.x - 1
  while low < high do
    local middle = (low + high + 1) // 2
    if x < s.x[middle] then high = middle - 1 else low = middle end
  end
  return low
end

-- The coefficients of the cubic in u = x - x[k]: y[k] + m[k] u + a u^2 + b u^3.
local function cubic(s, k)
  local h = s.x[k + 1] - s.x[k]
  local d = (s.y[k + 1] - s.y[k]) / h
  local m0, m1 = s.slopes[k], s.slopes[k + 1]
  return s.y[k], m0, (3 * d - 2 * m0 - m1) / h, (m0 + m1 - 2 * d) / (h * h)
end

local derivatives = {
  [0] = function(u, y, m, a, b) return y + u * (m + u * (a + u * b)) end,
  function(u, _, m, a, b) return m + u * (2 * a + 3 * u * b) end,
  function(u, _, _, a, b) return 2 * a + 6 * u * b end,
  function(_, _, _, _, b) return 6 * b end,
}

-- The periodic continuation of x.
local function folded(s, x)
  if not s.periodic then return x end
  local first, period = s.x[1], s.x[#s.x] - s.x[1]
  return first + (x - first) % period
end

local function value_at(s, x, order)
  x = folded(s, x)
  local k = interval(s, x)
  return derivatives[order](x - s.x[k], cubic(s, k))
end

-- A userdata without a length is a number that carries derivatives.
local function is_number(x)
  return type(x) == "number" or type(x) == "userdata" and not where.try(function() return #x end)
end

local function values_at(s, x, order, who)
  if is_number(x) then return value_at(s, x, order) end
  return arguments.at_each(x, function(e) return value_at(s, e, order) end, who)
end

function Spline:__call(x) return values_at(self, x, 0, "spline") end

function Spline:derivative(x, order)
  order = order == nil and 1 or arguments.integer(order, 0, "derivative", "order")
  if order > 3 then fail("derivative: order: expected 0 to 3, got %d", order) end
  return values_at(self, x, order, "derivative")
end

-- The integral from the first point to x, x in or beyond the points.
local function integral_to(s, x)
  local k, sum = interval(s, x), 0
  local function up_to(i, u)
    local y, m, a, b = cubic(s, i)
    return u * (y + u * (m / 2 + u * (a / 3 + u * b / 4)))
  end
  for i = 1, k - 1 do sum = sum + up_to(i, s.x[i + 1] - s.x[i]) end
  return sum + up_to(k, x - s.x[k])
end

function Spline:integral(a, b)
  arguments.number(a, "integral", "a")
  arguments.number(b, "integral", "b")
  if not self.periodic then return integral_to(self, b) - integral_to(self, a) end
  local first, last = self.x[1], self.x[#self.x]
  local function whole(x)
    local turns = (x - first) // (last - first)
    return turns * integral_to(self, last) + integral_to(self, x - turns * (last - first))
  end
  return whole(b) - whole(a)
end

function Spline:__tostring() return ("spline through %d points"):format(#self.x) end

where.methods(Spline, "a spline", "s")

-- ---- making ----

local function check_slopes(options, kind)
  if kind == "clamped" then return arguments.numbers(options.slopes or { 0, 0 }, 2, "spline", "slopes") end
  if options.slopes ~= nil then fail("spline: slopes: they go with ends = 'clamped', got '%s'", kind) end
end

return function(x, y, options)
  options = arguments.options(options, "spline")
  local kind = options.ends == nil and (options.slopes and "clamped" or "not-a-knot") or options.ends
  if kind ~= "periodic" and not ends[kind] then
    fail("spline: ends: expected 'not-a-knot', 'natural', 'clamped' or 'periodic', got %s", arguments.describe(kind))
  end
  local given = check_slopes(options, kind)
  local s = { x = arguments.increasing(x, 2, "spline", "x"), periodic = kind == "periodic" }
  s.y = arguments.numbers(y, #s.x, "spline", "y")
  local n = #s.x
  if s.periodic and s.y[1] ~= s.y[n] then
    fail("spline: a periodic spline begins and ends at one value; y[1] = %g, y[%d] = %g", s.y[1], n, s.y[n])
  end
  local h, d = {}, {}
  for k = 1, n - 1 do
    h[k] = s.x[k + 1] - s.x[k]
    d[k] = (s.y[k + 1] - s.y[k]) / h[k]
  end
  s.slopes = s.periodic and periodic_slopes(h, d) or slopes_at(h, d, kind, given)
  return setmetatable(s, Spline)
end
