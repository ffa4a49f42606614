-- nslua.optimise.optimality: the judge of a minimum: whether the conditions of first order hold at a point.
--
-- At a minimum the gradient of f is a sum of the gradients of the constraints and bounds that hold, times
-- multipliers; the multipliers of inequalities and bounds are not negative (Karush, Kuhn and Tucker). Here
-- they come from least squares. What is left of a component of the gradient is judged by the terms of that component:
-- f's own, the terms of the constraints, and what a small move of the unknowns changes. So no unit matters.
local core = require "nslua.core"
local where = require "nslua.base.where"

local abs, huge = math.abs, math.huge

local optimality = {}

-- A search ends where f changes by less than its tolerance, as a part of f. A gradient that promises up to this many
-- times as much is small: a search that converges by a factor of 0.9 a step ends there.
local SLACK = 100
local EPS = 2.0 ^ -52
-- A row of inequalities, as a part of its terms, or the distance to a bound, as a part of an unknown's size, below
-- which it holds: above what searches leave (1e-8), and the error that the judge allows for an unknown.
local HOLDS = 1e-5
-- The moves from a point, as parts of the sizes of the unknowns, that tell the terms of the gradient (the first where
-- it has a value) and what a search without a gradient has to beat.
local MOVES = { 2.0 ^ -6, 2.0 ^ -12, 2.0 ^ -18, 2.0 ^ -24 }

-- A point at a distance of u: unknown j moves by a part of between half and one and a half of `move` of its size.
function optimality.nearby(u, sizes, lower, upper, move)
  local v = u:copy()
  for j = 1, #u do
    local step = move * (0.5 + (j * 0.6180339887498949) % 1) * sizes[j]
    if u[j] + step > upper[j] then step = -step end
    v[j] = math.max(lower[j], u[j] + step)
  end
  return v
end

-- The rows that hold, each a place in the Jacobians: equations, inequalities, bounds (side 1 or -1 of an unknown).
local function active(p)
  local list = {}
  for i = 1, p.equal.m do list[#list + 1] = { rows = p.equal, i = i, free = true } end
  local values = p.above.m > 0 and p.above.call(p.u, false)
  for i = 1, p.above.m do
    if values[i] <= HOLDS * p.above.terms[i] then list[#list + 1] = { rows = p.above, i = i } end
  end
  for j = 1, #p.u do
    if p.u[j] - p.lower[j] <= HOLDS * p.sizes[j] then list[#list + 1] = { j = j, side = 1.0 } end
    if p.upper[j] - p.u[j] <= HOLDS * p.sizes[j] then list[#list + 1] = { j = j, side = -1.0 } end
  end
  return list
end

-- The gradient, and the matrix whose columns are the gradients of the active rows, times the sizes of the unknowns.
local function normals(p, list, v)
  local n, g = #v, p.objective(v, true)
  local of = {}
  for _, rows in ipairs { p.equal, p.above } do of[rows] = rows.m > 0 and rows.call(v, true) end
  local N = core.zeros(n, math.max(1, #list))
  for k, row in ipairs(list) do
    if row.rows then N:column(k):assign(of[row.rows][row.i]:mul(p.sizes)) else N[row.j][k] = row.side end
  end
  return g[1]:mul(p.sizes), N
end

-- The multipliers z of the columns of N for which the sum of ((g - N z)_j / weight_j)^2 is least.
local function multipliers(list, g, N, weight)
  local A, lengths, lower = core.zeros(#g, #list), {}, {}
  for c, row in ipairs(list) do
    local column = N:column(c):div(weight)
    local length = column:norm()
    lengths[c], lower[c] = length > 0 and length or 1, row.free and -huge or 0
    A:column(c):assign(column / lengths[c])
  end
  local At = A:transpose()
  local z = core.numerics.box({ M = At * A, q = -1 * (At * g:div(weight)), lower = lower, upper = huge }).z
  return z:div(lengths)
end

-- What is left of g, and the sizes of its terms.
local function remainder(g, N, z)
  local left, terms = g, g:abs()
  for c = 1, z and #z or 0 do
    local part = N:column(c) * z[c]
    left, terms = left - part, core.maximum(terms, part:abs())
  end
  return left, terms
end

-- Adds to the terms what a small move of the unknowns changes in what is left of g, in units of a whole size.
local function add_changes(p, list, z, left, terms)
  for _, move in ipairs(MOVES) do
    local g, N = normals(p, list, optimality.nearby(p.u, p.sizes, p.lower, p.upper, move))
    local there = remainder(g, N, z)
    if there:isfinite() then
      terms:assign(terms + (there - left):abs() / move)
      return
    end
  end
end

-- The unknown with the largest part, above 1, of what its component of the gradient may leave; nil: none has one.
local function worst_of(p, left, terms)
  local value, tolerance = abs(p.objective(p.u, false)), SLACK * math.max(p.tol, EPS)
  local worst, largest
  for j = 1, #left do
    local part = left[j] == 0 and 0 or abs(left[j] / terms[j]) / math.sqrt(tolerance * (1 + value / terms[j]))
    if part > (largest or 1) or part ~= part then worst, largest = j, part end
  end
  return worst
end

-- Judges u by the gradient. p: u (vector), sizes, lower, upper; objective(v, derivatives), which returns the value or
-- the gradient as a matrix of one row; equal and above: m, call(v, derivatives), terms (the sizes of the rows); tol:
-- the tolerance of f. Returns the number of an unknown whose condition does not hold; nil: all hold.
function optimality.violated(p)
  local list = active(p)
  local g, N = normals(p, list, p.u)
  if not g:isfinite() then return 1 end
  local weight, worst = core.ones(#p.u), nil
  for _ = 1, #list > 0 and 2 or 1 do -- the second time each component is weighted by its own terms
    local z = #list > 0 and multipliers(list, g, N, weight) or nil
    local left, terms = remainder(g, N, z)
    add_changes(p, list, z, left, terms)
    worst = worst_of(p, left, terms)
    if not worst then break end
    for j = 1, #p.u do weight[j] = terms[j] > 0 and terms[j] or 1 end
  end
  return worst
end

-- The ways from u in which values are looked at: along each unknown and, under constraints, the one on which f falls
-- while those that hold do not change, where there are derivatives.
local function ways_of(p)
  local n, ways = #p.u, {}
  for j = 1, n do
    for side = -1, 1, 2 do
      local way = core.zeros(n)
      way[j] = side * p.sizes[j]
      ways[#ways + 1] = way
    end
  end
  if p.equal.m + p.above.m == 0 then return ways end
  local good, left = where.try(function()
    local list = active(p)
    local g, N = normals(p, list, p.u)
    return (remainder(g, N, #list > 0 and multipliers(list, g, N, core.ones(n)) or nil))
  end)
  local largest = good and left:norm(huge) or 0
  if largest > 0 and largest < huge then ways[#ways + 1] = (left / -largest):mul(p.sizes) end
  return ways
end

-- Judges u by values alone: those at points beside it, within the bounds and the constraints. p: as above;
-- allowed(v): whether v satisfies the constraints as well as u does. Returns a point whose value is lower, or nil;
-- the value at u; and by how much a value must be below it to be lower.
function optimality.lower_beside(p)
  local here, best = p.objective(p.u, false), nil
  local range, points, ways = 0, {}, ways_of(p)
  for _, move in ipairs(MOVES) do
    for _, way in ipairs(ways) do
      local v = p.u + move * way
      for j = 1, #v do v[j] = math.max(p.lower[j], math.min(p.upper[j], v[j])) end
      local value = p.allowed(v) and p.objective(v, false) or here
      if value - value == 0 then
        range = math.max(range, abs(value - here))
        points[#points + 1] = { v, value }
      end
    end
  end
  local resolution = SLACK * math.max(p.tol, EPS) * (abs(here) + range)
  local least = here - resolution
  for _, point in ipairs(points) do
    if point[2] < least then best, least = point[1], point[2] end
  end
  return best, here, resolution
end

return optimality
