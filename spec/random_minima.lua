-- Convex problems with a known minimum: a bowl of linear terms, whose slope is chosen such that the conditions of a minimum
-- hold at a chosen point, within bounds and under constraints that hold there or not.
local numbers = require "random_numbers"
local random, uniform = math.random, numbers.uniform

-- The value and the slope.
local bowls = {
  function(y) return 0.5 * y * y, y end,
  function(y) return y ^ 4 / 4 + y * y / 8, y ^ 3 + y / 4 end,
  function(y) return math.exp(y) + math.exp(-y), math.exp(y) - math.exp(-y) end,
  function(y) return (1 + y * y) ^ 0.5, y / (1 + y * y) ^ 0.5 end,
}

local minima = {}
minima.kinds = { "free", "bounds", "line", "both", "equation", "ball" }

local function times(a, x)
  local sum = 0.0
  for j = 1, #a do sum = sum + a[j] * x[j] end
  return sum
end

-- Bounds of which some hold at `best`; adds their multipliers to the slope c.
local function add_bounds(best, c)
  local low, high = {}, {}
  for j = 1, #best do
    local which = random(4)
    low[j], high[j] = which == 3 and -3 or -math.huge, which == 3 and 4 or math.huge
    if which == 1 then low[j] = math.min(best[j], 0) end
    if which == 2 then high[j] = math.max(best[j], 0) end
    if low[j] == best[j] then c[j] = c[j] + uniform(0.1, 1) end
    if high[j] == best[j] then c[j] = c[j] - uniform(0.1, 1) end
  end
  return { lower = low, upper = high }
end

-- A half space, or a plane; adds its multiplier to c.
local function add_line(best, c, equation)
  local a = numbers.vector_within(#best, 1)
  local multiplier = equation and uniform(-1, 1) or random(3) > 1 and uniform(0.1, 1) or 0
  local b = times(a, best) - (multiplier == 0 and uniform(0.1, 1) or 0)
  for j = 1, #best do c[j] = c[j] + multiplier * a[j] end
  return { type = equation and "eq" or "ineq", fun = function(y) return times(a, y) - b end }
end

local function add_ball(best, c)
  local n, square, multiplier = #best, 0, random(3) > 1 and uniform(0.1, 1) or 0
  local centre = numbers.vector(n, function(j) return best[j] + uniform(-1, 1) end)
  for j = 1, n do
    square = square + (best[j] - centre[j]) ^ 2
    c[j] = c[j] - 2 * multiplier * (best[j] - centre[j])
  end
  if multiplier == 0 then square = square + uniform(0.1, 1) end
  return { type = "ineq", fun = function(y)
    local rest = square
    for j = 1, n do rest = rest - (y[j] - centre[j]) ^ 2 end
    return rest
  end }
end

-- A problem of n unknowns of units s: f, the options of ns.minimize, and the minimum in units of 1.
function minima.problem(n, kind, s)
  local bowl, best = bowls[random(#bowls)], numbers.vector_within(n, 1.5)
  local Q = numbers.matrix(n, function(i, j) return (i == j and 1 or 0) + uniform(-0.3, 0.3) end)
  local c, options, constraint = numbers.vector(n, function() return 0.0 end), {}, nil
  for i = 1, n do
    local _, slope = bowl(times(Q[i], best))
    for j = 1, n do c[j] = c[j] - slope * Q[i][j] end
  end
  if kind == "bounds" or kind == "both" then options.bounds = add_bounds(best, c) end
  if kind == "line" or kind == "both" or kind == "equation" then constraint = add_line(best, c, kind == "equation") end
  if kind == "ball" then constraint = add_ball(best, c) end
  local function plain(x) return numbers.vector(n, function(j) return x[j] / s[j] end) end
  for j = 1, options.bounds and n or 0 do
    options.bounds.lower[j], options.bounds.upper[j] = options.bounds.lower[j] * s[j], options.bounds.upper[j] * s[j]
  end
  if constraint then
    local fun = constraint.fun
    options.constraints = { type = constraint.type, fun = function(x) return fun(plain(x)) end }
  end
  return function(x)
    local y = plain(x)
    local value = times(c, y)
    for i = 1, n do value = value + (bowl(times(Q[i], y))) end
    return value
  end, options, best
end

return minima
