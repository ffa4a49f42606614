-- nslua.optimise.problem: what the optimisers share: points, bounds, functions and their derivatives.
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local huge = math.huge

local problem = {}

-- A vector of n finite numbers (n nil: any number of them), which a number stands for when there is one.
function problem.point(value, n, who, name)
  if type(value) == "number" then value = { value } end
  local list = arguments.numbers(value, n, who, name)
  if #list == 0 then fail("%s: %s: expected at least one number, got none", who, name) end
  return core.vector(list)
end

-- A side of bounds as a list of n.
local function side(value, n, missing, who, name)
  if value == nil then value = missing end
  local list = {}
  if type(value) == "number" then
    for i = 1, n do list[i] = value end
  else
    local good, v = where.try(core.vector, value)
    if not good then fail("%s: bounds: %s: expected numbers, got %s", who, name, describe(value)) end
    list = v:totable()
    if #list ~= n then fail("%s: bounds: %s: expected %d numbers, got %d", who, name, n, #list) end
  end
  for i, x in ipairs(list) do
    if x ~= x then fail("%s: bounds: %s[%d] is nan", who, name, i) end
  end
  return list
end

-- The bounds as two lists of n: from { lower, upper }, { lower =, upper = }, or, when `pairwise`, from
-- { { low, high }, ... }.
function problem.bounds(bounds, n, who, pairwise)
  bounds = bounds == nil and {} or bounds
  expect(bounds, "table", "%s: bounds: expected a table", who)
  local low, high = bounds.lower, bounds.upper
  if low == nil and high == nil and #bounds > 0 then
    if pairwise then
      low, high = {}, {}
      if #bounds ~= n then fail("%s: bounds: expected %d pairs, got %d", who, n, #bounds) end
      for i, pair in ipairs(bounds) do
        expect(pair, "table", "%s: bounds[%d]: expected a pair { low, high }", who, i)
        low[i], high[i] = pair[1] or pair.lower or -huge, pair[2] or pair.upper or huge
      end
    else
      low, high = bounds[1], bounds[2]
    end
  end
  low, high = side(low, n, -huge, who, "lower"), side(high, n, huge, who, "upper")
  for i = 1, n do
    if low[i] > high[i] then
      fail("%s: bounds: lower[%d] = %g is above upper[%d] = %g", who, i, low[i], i, high[i])
    end
  end
  return low, high
end

-- The same for x, a point that must be between them.
function problem.bounds_around(x, bounds, who, pairwise)
  local low, high = problem.bounds(bounds, #x, who, pairwise)
  for j = 1, #x do
    if x[j] < low[j] or x[j] > high[j] then fail("%s: x0[%d] = %g is outside of its bounds", who, j, x[j]) end
  end
  return low, high
end

-- The sizes of the unknowns, a list: |x|, and at least half the width of their bounds.
function problem.sizes(x, low, high)
  local sizes = {}
  for j = 1, #x do
    local width = high[j] - low[j]
    sizes[j] = math.max(math.abs(x[j]), width < huge and width / 2 or 0)
  end
  return sizes
end

local function check_function(f, who, name)
  local meta = type(f) ~= "function" and getmetatable(f)
  reject(type(f) ~= "function" and not (type(meta) == "string" or type(meta) == "table" and meta.__call), f,
    "%s: %s: expected a function", who, name)
end

-- f with the extra arguments after x.
local function with_arguments(f, args, who)
  if args == nil then return f end
  expect(args, "table", "%s: args: expected a list", who)
  if #args == 0 then return f end
  return function(x) return f(x, table.unpack(args)) end
end

-- The values of f at x as a vector. m: how many there must be (nil: any number).
local function values_at(f, x, m, who, name)
  local y = f(x)
  if type(y) == "number" then y = { y } end
  local good, v = where.try(core.vector, y)
  if not good then fail("%s: %s: expected numbers, got %s", who, name, describe(y)) end
  if m and #v ~= m then fail("%s: %s: expected %d values, got %d", who, name, m, #v) end
  return v
end

-- The steps of a difference: eps^(1/order) times the size of x[j].
local function step_of(x, sizes, j, order, who)
  local size = math.max(math.abs(x[j]), sizes[j])
  if size == 0 then
    fail("%s: jac: x[%d] is 0: the size of a step for its difference is not known; give x_scale", who, j)
  end
  return size * (2.0 ^ -52) ^ (1 / order)
end

local function difference(f, scheme, sizes, who)
  local central = scheme == "3-point"
  return function(x, m)
    local J, at = core.zeros(m, #x), nil
    if not central then at = values_at(f, x, m, who, "f(x)") end
    for j = 1, #x do
      local h, moved, back = step_of(x, sizes, j, central and 3 or 2, who), x:copy(), x:copy()
      moved[j], back[j] = x[j] + h, central and x[j] - h or x[j]
      local y = values_at(f, moved, m, who, "f(x)")
      local z = central and values_at(f, back, m, who, "f(x)") or at
      for i = 1, m do J[i][j] = (y[i] - z[i]) / (moved[j] - back[j]) end
    end
    return J
  end
end

-- A row of n or rows of n as a matrix.
local function as_matrix(value, m, n, who, name)
  if core.ismatrix(value) then return value end
  local first = type(value) == "table" and value[1] or nil
  local good, J
  if type(first) == "table" or core.isvector(first) then good, J = where.try(core.matrix, value)
  else
    local row
    good, row = where.try(core.vector, type(value) == "number" and { value } or value)
    if good and m == 1 then J = core.matrix { row:totable() }
    elseif good and n == 1 then
      local rows = {}
      for i = 1, #row do rows[i] = { row[i] } end
      J = core.matrix(rows)
    else good = false end
  end
  if not good then fail("%s: %s: expected %d x %d numbers, got %s", who, name, m, n, describe(value)) end
  return J
end

-- The functions of an optimiser: values(x) and jacobian(x, m), as vectors and matrices. `how`: nil (exact, by dual
-- numbers), a function, "2-point" or "3-point" (differences, with the sizes of the unknowns).
function problem.functions(f, how, options)
  local who, name = options.who, options.jac or "jac"
  check_function(f, who, options.name or "f")
  f = with_arguments(f, options.args, who)
  local out = {}
  function out.values(x, m) return values_at(f, x, m, who, (options.name or "f") .. "(x)") end
  if how == nil then
    function out.jacobian(x) return core.jacobian(f, x) end
    -- The second derivatives of value i at x.
    function out.hessian(x, i)
      return core.hessian(function(y)
        local values = f(y)
        return (type(values) == "table" or core.isvector(values)) and values[i] or values
      end, x)
    end
  elseif how == "2-point" or how == "3-point" then
    out.jacobian = difference(f, how, options.sizes, who)
  elseif type(how) == "string" then
    fail("%s: %s: expected a function, '2-point' or '3-point', got '%s'", who, name, how)
  else
    check_function(how, who, name)
    local given = with_arguments(how, options.args, who)
    function out.jacobian(x, m)
      local J = as_matrix(given(x), m, #x, who, name)
      local rows, columns = J:shape()
      if rows ~= m or columns ~= #x then
        fail("%s: %s: expected %d x %d numbers, got %d x %d", who, name, m, #x, rows, columns)
      end
      return J
    end
    function out.hessian(x, i)
      return core.jacobian(function(y)
        local J = given(y)
        return type(J) == "table" and type(J[1]) == "table" and J[i] or J
      end, x)
    end
  end
  return out
end

function problem.tolerance(value, missing, who, name)
  if value == nil then return missing end
  if arguments.number(value, who, name) < 0 or value >= 1 then
    fail("%s: %s: expected 0 or more, below 1, got %g", who, name, value)
  end
  return value
end

-- Raises an error of a function of nslua itself with the place in the user's code, others unchanged.
function problem.call(who, f, ...) return where.call(who, f, ...) end

-- The metatable of a result: it prints its fields.
function problem.result(fields) return setmetatable(fields, core.result_fields_meta) end

return problem
