-- nslua.model.expression: expressions of a model's variables and parameters, and arrays of them (see nslua.model).
--
-- An expression is a tree with numbers, parameters and variables as leaves. Its `level` is 0 without variables, 1
-- when it is affine in them, 2 otherwise. Returns a function that makes the module for the table ns.

local where = require "nslua.base.where"
local fail = where.fail

local function make(ns)
  local Expression, Array = {}, {}
  Expression.__index, Expression.__name = Expression, "expression"
  where.strict(Expression)

  local function is_expression(x) return getmetatable(x) == Expression end
  local function is_array(x) return getmetatable(x) == Array end

  local function copy(list) return table.move(list, 1, #list, 1, {}) end

  local function describe(x)
    if is_expression(x) then return tostring(x) end
    if is_array(x) then return ("array of %d"):format(#x) end
    if ns.isvector(x) then return ("vector of %d"):format(#x) end
    if ns.ismatrix(x) then return ("%d x %d matrix"):format(x:shape()) end
    return (type(x) == "userdata" or type(x) == "number") and tostring(x):gsub("\n.*", "") or type(x)
  end

  -- ---- expressions: trees with numbers, parameters and variables as leaves ----
  -- `level` is 0 without variables, 1 when affine in them, 2 otherwise.

  local function level(x) return type(x) == "number" and 0 or x.level end

  local function node(model, op, lvl, a, b)
    return setmetatable({ model = model, op = op, level = lvl, a = a, b = b }, Expression)
  end

  local function check_operand(x, op, other)
    if type(x) == "number" or is_expression(x) then return end
    fail(("%s: expected a number or an expression beside %s, got %s"):format(op, describe(other), describe(x)))
  end

  -- The model of two operands; raises when they belong to different models.
  local function common(a, b, op)
    check_operand(a, op, b)
    check_operand(b, op, a)
    local m = is_expression(a) and a.model or b.model
    if is_expression(b) and b.model ~= m then
      fail(("%s: %s and %s belong to two models"):format(op, describe(a), describe(b)))
    end
    return m
  end

  local function product_level(a, b)
    return (level(a) == 0 or level(b) == 0) and math.max(level(a), level(b)) or 2
  end

  local operators = {
    ["+"] = function(a, b) return math.max(level(a), level(b)) end,
    ["-"] = function(a, b) return math.max(level(a), level(b)) end,
    ["*"] = product_level,
    ["/"] = function(a, b) return level(b) == 0 and level(a) or 2 end,
    ["^"] = function(a, b) return level(a) == 0 and level(b) == 0 and 0 or b == 1 and level(a) or 2 end,
  }

  local apply_number = {
    ["+"] = function(a, b) return a + b end,
    ["-"] = function(a, b) return a - b end,
    ["*"] = function(a, b) return a * b end,
    ["/"] = function(a, b) return a / b end,
    ["^"] = function(a, b) return a ^ b end,
  }

  -- a op b of two scalars.
  local function combine(op, a, b)
    if type(a) == "number" and type(b) == "number" then return apply_number[op](a, b) end
    local m = common(a, b, op)
    if op == "^" and b == 1 then return a end
    return node(m, op, operators[op](a, b), a, b)
  end

  -- A weighted sum: items[k] * weights[k]. Weights are numbers that are not 0.
  local function weighted(items, weights)
    local m, lvl = nil, 0
    for _, item in ipairs(items) do
      if is_expression(item) then
        if m and item.model ~= m then
          fail(("sum: %s belongs to another model"):format(describe(item)))
        end
        m, lvl = item.model, math.max(lvl, item.level)
      end
    end
    if m then
      local sum = node(m, "sum", lvl)
      sum.items, sum.weights = items, weights
      return sum
    end
    local total = 0
    for k, item in ipairs(items) do total = total + weights[k] * item end
    return total
  end

  -- ---- arrays of scalars, counted from 1 ----

  local function array(list) return setmetatable(list, Array) end

  local function is_list(x) return is_array(x) or ns.isvector(x) or type(x) == "table" and not getmetatable(x) end

  local function check_size(op, a, b)
    if #a ~= #b then
      fail(("%s: %s and %s: sizes do not match"):format(op, describe(a), describe(b)))
    end
  end

  local function elementwise(op, a, b)
    local out = {}
    if is_list(a) and is_list(b) then
      check_size(op, a, b)
      for i = 1, #a do out[i] = combine(op, a[i], b[i]) end
    elseif is_list(a) then
      for i = 1, #a do out[i] = combine(op, a[i], b) end
    else
      for i = 1, #b do out[i] = combine(op, a, b[i]) end
    end
    return array(out)
  end

  -- The sum of a[i] b[i]; zeros of a are left out.
  local function dot(a, b)
    check_size("dot", a, b)
    local items, weights = {}, {}
    for i = 1, #b do
      local c, x = a[i], b[i]
      if type(c) ~= "number" then c, x = 1, combine("*", c, x) end
      if c ~= 0 then items[#items + 1], weights[#weights + 1] = x, c end
    end
    return weighted(items, weights)
  end

  local function is_sparse(x) return type(x) == "userdata" and not ns.isvector(x) and not ns.ismatrix(x) end

  -- The array A x, A dense or sparse.
  local function times(A, x)
    local rows, cols = A:shape()
    if cols ~= #x then
      fail(("*: %s and array of %d: sizes do not match"):format(describe(A), #x))
    end
    local out = {}
    if not is_sparse(A) then
      for i = 1, rows do out[i] = dot(A[i], x) end
      return array(out)
    end
    local items, weights = {}, {}
    for i = 1, rows do items[i], weights[i] = {}, {} end
    local ti, tj, tv = A:triplets()
    for k = 1, #tv do
      local i = math.tointeger(ti[k])
      local at = #items[i] + 1
      items[i][at], weights[i][at] = x[math.tointeger(tj[k])], tv[k]
    end
    for i = 1, rows do out[i] = weighted(items[i], weights[i]) end
    return array(out)
  end

  local function is_matrix(x) return ns.ismatrix(x) or is_sparse(x) end

  local function operation(op)
    return function(a, b)
      if is_matrix(a) or is_matrix(b) then
        if op == "*" and is_matrix(a) and is_array(b) then return times(a, b) end
        fail(("%s: a matrix stands only on the left of an array: A * x"):format(op))
      end
      if is_list(a) or is_list(b) then
        if (op == "*" or op == "^") and is_list(a) and is_list(b) then
          fail(("%s: of two arrays: use a:dot(b)"):format(op))
        end
        return elementwise(op, a, b)
      end
      return combine(op, a, b)
    end
  end

  for event, op in pairs { add = "+", sub = "-", mul = "*", div = "/", pow = "^" } do
    Expression["__" .. event] = operation(op)
    Array["__" .. event] = Expression["__" .. event]
  end
  function Expression.__unm(a) return node(a.model, "*", a.level, -1, a) end
  function Array.__unm(a) return elementwise("*", -1, a) end

  local array_methods = {}
  Array.__index = array_methods
  Array.__name = "array"

  function array_methods:dot(other)
    if not is_list(other) then fail(("dot: expected a vector or an array, got %s"):format(describe(other))) end
    if is_array(other) and not is_array(self) then return dot(other, self) end
    return is_array(other) and dot(self, other) or dot(other, self)
  end

  function array_methods:sum()
    local weights = {}
    for i = 1, #self do weights[i] = 1 end
    return weighted(copy(self), weights)
  end

  -- Parameters alone: their new values.
  function array_methods:set(values)
    if not is_list(values) or #values ~= #self then
      fail(("set: expected %d values, got %s"):format(#self, describe(values)))
    end
    for i = 1, #self do self[i]:set(values[i]) end
  end

  function array_methods:value()
    local m
    for _, x in ipairs(self) do m = m or is_expression(x) and x.model end
    return m and m:value(self) or ns.vector(self)
  end

  function Array.__tostring(a)
    local parts = {}
    for i = 1, math.min(#a, 6) do parts[i] = tostring(a[i]) end
    return "[" .. table.concat(parts, ", ") .. (#a > 6 and ", ..." or "") .. "]"
  end

  -- ---- values and derivatives of trees ----
  -- Both are kept in the nodes, marked by the number of the pass: a shared part is computed once.

  local value, slopes

  local function call_value(x, z, pass)
    local v = {}
    for i, argument in ipairs(x.arguments) do v[i] = value(argument, z, pass) end
    local y = x.f(table.unpack(v))
    local is_traced = type(y) == "userdata" and not ns.isvector(y) and not ns.ismatrix(y)
    if type(y) ~= "number" and not is_traced then
      fail(("apply: the function returned %s, expected a number"):format(type(y)))
    end
    return y
  end

  local function sum_value(x, z, pass)
    local total = 0
    for k, item in ipairs(x.items) do total = total + x.weights[k] * value(item, z, pass) end
    return total
  end

  function value(x, z, pass)
    if type(x) == "number" then return x end
    if x.op == "variable" then return z[x.index] end
    if x.op == "parameter" then return x.current end
    if x.pass == pass then return x.kept end
    local y
    if x.op == "sum" then y = sum_value(x, z, pass)
    elseif x.op == "apply" then y = call_value(x, z, pass)
    else y = apply_number[x.op](value(x.a, z, pass), value(x.b, z, pass)) end
    x.pass, x.kept = pass, y
    return y
  end

  local function add_slopes(to, factor, from)
    for index, d in pairs(from) do to[index] = (to[index] or 0) + factor * d end
  end

  -- A function of a vector that calls f with its elements. f is its only upvalue: ns.gradient looks through all of
  -- them.
  local function make_of_vector(f, n)
    if n == 1 then return function(x) return f(x[1]) end end
    if n == 2 then return function(x) return f(x[1], x[2]) end end
    return function(x)
      local elements = {}
      for i = 1, n do elements[i] = x[i] end
      return f(table.unpack(elements))
    end
  end

  -- Always the same function for an f: ns.gradient keeps results by function.
  local wrappers = setmetatable({}, { __mode = "k" })
  local function of_vector(f, n)
    local by_count = wrappers[f] or {}
    wrappers[f], by_count[n] = by_count, by_count[n] or make_of_vector(f, n)
    return by_count[n]
  end

  -- The derivatives of f(arguments); f itself is differentiated with dual numbers.
  local function apply_slopes(x, z, pass)
    local v, out = {}, {}
    for i, argument in ipairs(x.arguments) do v[i] = value(argument, z, pass) end
    local d = ns.gradient(of_vector(x.f, #v), v)
    for i, argument in ipairs(x.arguments) do add_slopes(out, d[i], slopes(argument, z, pass)) end
    return out
  end

  local function power_slopes(x, z, pass)
    local a, b, out = value(x.a, z, pass), value(x.b, z, pass), {}
    if b ~= 0 then add_slopes(out, b * a ^ (b - 1), slopes(x.a, z, pass)) end
    if level(x.b) > 0 then add_slopes(out, math.log(a) * a ^ b, slopes(x.b, z, pass)) end
    return out
  end

  local nothing = {}

  -- The derivatives of x by the variables, in a table by index. Do not write to it.
  function slopes(x, z, pass)
    if level(x) == 0 then return nothing end
    if x.op == "variable" then
      x.unit = x.unit or { [x.index] = 1 }
      return x.unit
    end
    if x.slope_pass == pass then return x.slopes end
    local out = {}
    if x.op == "sum" then
      for k, item in ipairs(x.items) do add_slopes(out, x.weights[k], slopes(item, z, pass)) end
    elseif x.op == "apply" then
      out = apply_slopes(x, z, pass)
    elseif x.op == "^" then
      out = power_slopes(x, z, pass)
    elseif x.op == "*" then
      add_slopes(out, value(x.b, z, pass), slopes(x.a, z, pass))
      add_slopes(out, value(x.a, z, pass), slopes(x.b, z, pass))
    elseif x.op == "/" then
      local b = value(x.b, z, pass)
      add_slopes(out, 1 / b, slopes(x.a, z, pass))
      add_slopes(out, -value(x, z, pass) / b, slopes(x.b, z, pass))
    else
      add_slopes(out, 1, slopes(x.a, z, pass))
      add_slopes(out, x.op == "-" and -1 or 1, slopes(x.b, z, pass))
    end
    x.slope_pass, x.slopes = pass, out
    return out
  end

  return {
    Expression = Expression, is_expression = is_expression, is_array = is_array, is_list = is_list, array = array,
    describe = describe, level = level, node = node, combine = combine,
    value = value, slopes = slopes, add_slopes = add_slopes, fail = fail,
  }
end

return make
