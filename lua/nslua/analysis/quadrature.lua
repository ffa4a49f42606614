-- nslua.analysis.quadrature: integrals of functions of one variable.
--
--   local value, error = ns.quad(f, a, b, { rtol = 1e-10, atol = 0, max_intervals = 1000 })
--
-- The interval with the largest error is halved until the sum of errors is small enough. On each interval there are
-- the Gauss rule of 10 points and its Kronrod extension of 21 points; the error is estimated from their difference.
-- An infinite bound is moved to a finite one: x = a + u / (1 - u), or x = u / (1 - u^2).
-- Piessens, de Doncker-Kapenga, Ueberhuber and Kahaner, QUADPACK, 1983.
local arguments = require "nslua.base.arguments"

local abs, huge = math.abs, math.huge
local fail, expect, reject = arguments.fail, arguments.expect, arguments.reject

-- The points of the rule on [-1, 1] from 0 on, with their weights. The Gauss weights are 0 at points of the
-- extension.
local POINTS = { 0, 0.14887433898163121088, 0.29439286270146019813, 0.43339539412924719080, 0.56275713466860468334,
  0.67940956829902440623, 0.78081772658641689706, 0.86506336668898451073, 0.93015749135570822600,
  0.97390652851717172008, 0.99565716302580808074 }
local KRONROD = { 0.14944555400291690566, 0.14773910490133849137, 0.14277593857706008080, 0.13470921731147332593,
  0.12349197626206585108, 0.10938715880229764190, 0.09312545458369760554, 0.07503967481091995277,
  0.05475589657435199603, 0.03255816230796472748, 0.01169463886737187428 }
local GAUSS = { 0, 0.29552422471475287017, 0, 0.26926671930999635509, 0, 0.21908636251598204400, 0,
  0.14945134915058059315, 0, 0.06667134430868813759, 0 }
local EPS = 2.0 ^ -52

-- The part of the integral over [from, to], with an estimate of its error. `rounding` is a bound of its rounding
-- error. The sums are of quarters of the values, so that they are below the largest number where the integral is.
local function part_of(f, from, to)
  local half = to / 2 - from / 2
  local middle = from + half
  local kronrod, gauss, size, values = 0, 0, 0, {}
  for i = 1, 11 do
    for side = i == 1 and 1 or -1, 1, 2 do
      local value = f(middle + side * half * POINTS[i]) / 4
      values[#values + 1] = { value, KRONROD[i] }
      kronrod, gauss, size = kronrod + KRONROD[i] * value, gauss + GAUSS[i] * value, size + KRONROD[i] * abs(value)
    end
  end
  local spread = 0 -- the integral of |f - mean of f|
  for _, v in ipairs(values) do spread = spread + v[2] * abs(v[1] - kronrod / 2) end
  local difference = abs(kronrod - gauss)
  local estimate = difference
  if spread > 0 then estimate = spread * math.min(1, (200 * difference / spread) ^ 1.5) end
  return { from = from, to = to, value = half * kronrod * 4, error = half * estimate * 4,
    rounding = 50 * EPS * half * size * 4 }
end

-- The variable x of the integral from a to b, a < b, as a function of u in a finite interval, with dx/du.
local function variable(a, b)
  if a > -huge and b < huge then return { from = a, to = b, x = function(u) return u, 1 end } end
  if a == -huge and b == huge then
    return { from = -1, to = 1, x = function(u) return u / (1 - u * u), (1 + u * u) / (1 - u * u) ^ 2 end }
  end
  local start, sign = a, 1
  if a == -huge then start, sign = b, -1 end
  return { from = 0, to = 1, x = function(u) return start + sign * u / (1 - u), 1 / (1 - u) ^ 2 end }
end

-- The integrand as a function of u.
local function integrand(f, over)
  return function(u)
    local x, slope = over.x(u)
    local y = f(x)
    expect(y, "number", "quad: f(%g): expected a number", x)
    if y - y ~= 0 then fail("quad: f(%g) is %s", x, y ~= y and "nan" or "infinite") end
    return y * slope
  end
end

local function worst_of(parts)
  local worst = 1
  for i = 2, #parts do
    if parts[i].error > parts[worst].error then worst = i end
  end
  return worst
end

local function sums(parts)
  local value, err, rounding = 0, 0, 0
  for _, p in ipairs(parts) do value, err, rounding = value + p.value, err + p.error, rounding + p.rounding end
  return value, err, rounding
end

-- Halves the worst interval until the error is within the tolerance, or is rounding.
local function refine(f, over, options)
  local g = integrand(f, over)
  local parts = { part_of(g, over.from, over.to) }
  while true do
    local value, err, rounding = sums(parts)
    if value - value ~= 0 then fail "quad: the integral is too large for a number" end
    local allowed = math.max(options.atol, options.rtol * abs(value))
    if err <= math.max(allowed, rounding) then return value, math.max(err, rounding) end
    local at = worst_of(parts)
    local p = parts[at]
    local middle = p.from + (p.to / 2 - p.from / 2)
    if #parts >= options.max_intervals or middle == p.from or middle == p.to then
      local text = "quad: the error %.3g is above the tolerance %.3g with %d intervals; the worst one is near x = %g"
      fail(text, err, allowed, #parts, (over.x(middle)))
    end
    parts[at] = part_of(g, p.from, middle)
    parts[#parts + 1] = part_of(g, middle, p.to)
  end
end

local function take_options(options)
  options = arguments.options(options, "quad")
  local taken = { rtol = options.rtol or 1e-10, atol = options.atol or 0,
    max_intervals = arguments.integer(options.max_intervals or 1000, 1, "quad", "max_intervals") }
  for _, name in ipairs { "rtol", "atol" } do
    local value = arguments.number(taken[name], "quad", name)
    if value < 0 then fail("quad: %s: expected 0 or more, got %g", name, value) end
  end
  return taken
end

return function(f, a, b, options)
  local meta = type(f) ~= "function" and getmetatable(f)
  reject(type(f) ~= "function" and not (type(meta) == "string" or type(meta) == "table" and meta.__call), f,
    "quad: f: expected a function")
  arguments.number(a, "quad", "a")
  arguments.number(b, "quad", "b")
  options = take_options(options)
  if a == b then return 0.0, 0.0 end
  local value, err = refine(f, variable(math.min(a, b), math.max(a, b)), options)
  return a < b and value or -value, err
end
