-- nslua.analysis.curve: data as functions of one and of two numbers: ns.spline, ns.interp1, ns.interp2.
--
--   local torque = ns.interp1 { x = { 0, 100, 300 }, y = { 80, 120, 90 }, kind = "pchip", outside = "hold" }
--   torque(150)   torque { 1, 2 }   torque:derivative(150)   torque:integral(0, 300)
--
-- A curve is a cubic polynomial between two neighbours of x. This file makes the polynomials, of the values and the
-- slopes at the points; the core evaluates them (src/ad/piecewise.h), in callbacks of all sorts.
local arguments = require "nslua.base.arguments"
local support = require("nslua.core").curve_support

local fail = arguments.fail

-- ---- slopes of cubic splines: de Boor, A Practical Guide to Splines, 2nd ed., 2001, chapter IV ----

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

-- ---- other slopes ----

-- Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5, 1984: a weighted harmonic mean, 0 at an extremum, so that the
-- curve rises and falls with the data. a, b: the lengths of the intervals before and behind; p, q: their chords.
local function monotone_slope(a, b, p, q)
  if p == 0 or q == 0 or p > 0 ~= (q > 0) then return 0 end
  return 3 * (a + b) / ((a + 2 * b) / p + (2 * a + b) / q)
end

-- The slope at an end: of the parabola through three points, within what keeps the curve monotone (Moler, Numerical
-- Computing with MATLAB, 2004, section 3.6). a, b: the intervals from the end on; p, q: their chords.
local function monotone_end(a, b, p, q)
  local slope = ((2 * a + b) * p - a * q) / (a + b)
  if slope > 0 ~= (p > 0) or p == 0 then return 0 end
  if p > 0 ~= (q > 0) and math.abs(slope) > 3 * math.abs(p) then return 3 * p end
  return slope
end

local function pchip_slopes(h, d, periodic)
  local n, m = #h + 1, {}
  for k = 2, n - 1 do m[k] = monotone_slope(h[k - 1], h[k], d[k - 1], d[k]) end
  if periodic then
    m[1] = monotone_slope(h[n - 1], h[1], d[n - 1], d[1])
    m[n] = m[1]
  elseif n == 2 then
    m[1], m[2] = d[1], d[1]
  else
    m[1] = monotone_end(h[1], h[2], d[1], d[2])
    m[n] = monotone_end(h[n - 1], h[n - 2], d[n - 1], d[n - 2])
  end
  return m
end

-- ---- pieces ----

-- For each kind the slopes at the points: slopes(h, d, o), o with ends, slopes, periodic; none: the slopes of the
-- lines, which jump. ends: whether it has a choice of them. degree: in x and in y. bent: they are not linear in y.
local kinds = {
  linear = { degree = 1 },
  pchip = { degree = 3, bent = true, slopes = function(h, d, o) return pchip_slopes(h, d, o.periodic) end },
  cubic = { degree = 3, ends = true, slopes = function(h, d, o)
    return o.periodic and periodic_slopes(h, d) or slopes_at(h, d, o.ends, o.slopes)
  end },
}

-- The lengths of the intervals of x, and the slopes of the chords of y.
local function chords(x, y)
  local h, d = {}, {}
  for k = 1, #x - 1 do
    h[k] = x[k + 1] - x[k]
    d[k] = (y[k + 1] - y[k]) / h[k]
  end
  return h, d
end

local function slopes_of(x, y, o)
  local h, d = chords(x, y)
  return o.kind.slopes(h, d, o)
end

-- The pieces of the curve of y over x, as one list: where a piece begins, and its four coefficients. The first piece
-- is before x[1]; the last one, behind x[n], is the polynomial before it from its end on. m: the slopes; none: the
-- kind's.
local function pieces(x, y, o, m)
  local n, list, h, d = #x, {}, chords(x, y)
  m = m or o.kind.slopes and o.kind.slopes(h, d, o)
  local function add(...)
    for i = 1, 5 do list[#list + 1] = (select(i, ...)) end
  end
  local function cubic(k)
    if not m then return d[k], 0, 0 end
    return m[k], (3 * d[k] - 2 * m[k] - m[k + 1]) / h[k], (m[k] + m[k + 1] - 2 * d[k]) / (h[k] * h[k])
  end
  local hold = o.outside == "hold"
  if hold then add(x[1], y[1], 0, 0, 0) else add(x[1], y[1], cubic(1)) end
  for k = 1, n - 1 do add(x[k], y[k], cubic(k)) end
  local slope, a, b = cubic(n - 1)
  if hold then add(x[n], y[n], 0, 0, 0)
  else add(x[n], y[n], m and m[n] or slope, a + 3 * b * h[n - 1], b) end
  return list
end

-- ---- making ----

local function one_of(o, who, name, list, default)
  local value = o[name] == nil and default or o[name]
  for word in list:gmatch "%S+" do
    if value == word then return value end
  end
  local words = list:gsub("%S+", "'%0'"):gsub(" ", ", "):gsub(", ('%S+)$", " or %1")
  fail("%s: %s: expected %s, got %s", who, name, words, arguments.describe(value))
end

-- The ends of a cubic curve, and its slopes there, into o.
local function read_ends(o, options, who, list)
  local slopes = options.slopes
  o.ends = one_of(options, who, "ends", list, slopes and "clamped" or "not-a-knot")
  if o.ends == "clamped" then
    o.slopes = arguments.numbers(slopes or { 0, 0 }, 2, who, "slopes")
  elseif slopes ~= nil then
    fail("%s: slopes: they go with ends = 'clamped', got '%s'", who, o.ends)
  end
  o.periodic = o.ends == "periodic"
end

-- Something periodic has one value at its beginning and its end, whose names in messages are `first` and `last`.
local function must_close(who, what, a, b, first, last)
  if a ~= b then
    fail("%s: a %s begins and ends at one value; %s = %g, %s = %g", who, what, first, a, last, b)
  end
end

local curve = {}

function curve.spline(x, y, options)
  options = arguments.options(options, "spline")
  local o = { kind = kinds.cubic }
  read_ends(o, options, "spline", "not-a-knot natural clamped periodic")
  local xs = arguments.increasing(x, 2, "spline", "x")
  local ys = arguments.numbers(y, #xs, "spline", "y")
  if o.periodic then must_close("spline", "periodic spline", ys[1], ys[#ys], "y[1]", ("y[%d]"):format(#ys)) end
  o.outside = o.periodic and "repeat" or "extend"
  return support.curve("spline", ("spline through %d points"):format(#xs), o.outside, pieces(xs, ys, o))
end

local function read_options(options, who)
  local o = { given = arguments.options(options, who) }
  o.name = one_of(o.given, who, "kind", "linear cubic pchip", "linear")
  o.kind = kinds[o.name]
  o.outside = one_of(o.given, who, "outside", "error hold extend repeat", "error")
  o.periodic = o.outside == "repeat"
  return o
end

function curve.interp1(options)
  local who = "interp1"
  local o = read_options(options, who)
  local xs = arguments.increasing(o.given.x, 2, who, "x")
  local ys = arguments.numbers(o.given.y, #xs, who, "y")
  if o.periodic then must_close(who, "curve that repeats", ys[1], ys[#ys], "y[1]", ("y[%d]"):format(#ys)) end
  if o.kind.ends and not o.periodic then
    read_ends(o, o.given, who, "not-a-knot natural clamped")
  elseif o.given.ends ~= nil or o.given.slopes ~= nil then
    fail("%s: %s: it goes with kind = 'cubic' that does not repeat", who, o.given.ends ~= nil and "ends" or "slopes")
  end
  local name = ("%s curve through %d points"):format(o.name, #xs)
  return support.curve(who, name, o.outside, pieces(xs, ys, o))
end

-- The rows of z, a list of lists or a matrix: n of them, with m numbers each.
local function read_rows(z, n, m, who, periodic)
  local good, rows = pcall(function() return #z end)
  if not good or type(z) == "string" then fail("%s: z: expected a matrix, got %s", who, arguments.describe(z)) end
  if rows ~= n then fail("%s: z: expected %d rows, one for each x, got %d", who, n, rows) end
  local list = {}
  for i = 1, n do list[i] = arguments.numbers(z[i], m, who, ("z[%d]"):format(i)) end
  local function closes(i, j, k, l)
    local first, last = ("z[%d][%d]"):format(i, j), ("z[%d][%d]"):format(k, l)
    must_close(who, "surface that repeats", list[i][j], list[k][l], first, last)
  end
  for i = 1, periodic and n or 0 do closes(i, 1, i, m) end
  for j = 1, periodic and m or 0 do closes(1, j, n, j) end
  return list
end

local function transposed(z)
  local t = {}
  for j = 1, #z[1] do
    t[j] = {}
    for i = 1, #z do t[j][i] = z[i][j] end
  end
  return t
end

-- The slopes of each row of z.
local function row_slopes(x, z, o)
  local m = {}
  for i = 1, #z do m[i] = slopes_of(x, z[i], o) end
  return m
end

-- The slopes of z along x and along y, and the mixed derivatives: the mean of the slopes along x of the slopes along
-- y, and the other way round. So neither variable comes first, and products of data are products of curves.
local function surface_slopes(xs, ys, z, o)
  local zx, zy = transposed(row_slopes(xs, transposed(z), o)), row_slopes(ys, z, o)
  local zxy, other = row_slopes(ys, zx, o), transposed(row_slopes(xs, transposed(zy), o))
  for i = 1, #xs do
    for j = 1, #ys do zxy[i][j] = (zxy[i][j] + other[i][j]) / 2 end
  end
  return zx, zy, zxy
end

-- Between two neighbours of y the surface is a polynomial in y whose coefficients are curves in x. Splines are linear
-- in their data: so the curves through the coefficients at the points of x are the coefficients. Where the slopes are
-- bent, a coefficient has its values from z and its slopes along y, and its slopes from those along x.
function curve.interp2(options)
  local who = "interp2"
  local o = read_options(options, who)
  o.ends = "not-a-knot"
  local xs, ys = arguments.increasing(o.given.x, 2, who, "x"), arguments.increasing(o.given.y, 2, who, "y")
  local z = read_rows(o.given.z, #xs, #ys, who, o.periodic)
  local zx, zy, zxy
  if o.kind.bent then zx, zy, zxy = surface_slopes(xs, ys, z, o) end
  local along_y, slopes, rows, degree = {}, {}, {}, o.kind.degree
  for i = 1, #xs do
    along_y[i] = pieces(ys, z[i], o, zy and zy[i])
    slopes[i] = zx and pieces(ys, zx[i], o, zxy[i])
  end
  for k = 0, #ys do
    for p = 0, degree do
      local c, m = {}, zx and {}
      for i = 1, #xs do
        c[i] = along_y[i][5 * k + p + 2]
        if m then m[i] = slopes[i][5 * k + p + 2] end
      end
      rows[#rows + 1] = pieces(xs, c, o, m)
    end
  end
  local name = ("%s surface through %d x %d points"):format(o.name, #xs, #ys)
  return support.surface(who, name, o.outside, degree, ys, rows)
end

return curve
