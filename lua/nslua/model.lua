-- nslua.model: complementarity problems written as they are on paper.
--
--   local model = ns.numerics.model()
--   local u = model:variables(2, { lower = -1, upper = 1, name = "u" })
--   model:complements(-h * M * u - x, u)
--   model:solve()
--   x = x + h * M * model:value(u)
--
-- complements(e, v) states: e >= 0 where v is at its lower bound, e <= 0 where it is at its upper bound, e = 0 where it
-- is between them (the convention of JuMP and of PATH). With bounds 0 and infinity: 0 <= e _|_ v >= 0. equation(e)
-- states e = 0 and belongs to a variable without bounds.
--
-- Expressions are made by arithmetic on variables, parameters, numbers, and arrays of them, vectors and matrices. Sums,
-- and products with numbers and parameters, stay affine: such a model is solved as a box problem (ns.numerics.box). A
-- product of variables, a power or model:apply(f, ...) makes it nonlinear (ns.numerics.mcp); derivatives are exact.
-- Parameters change from one solve to the next and nothing is built again; a solve starts where the last one ended.

-- Models of this many variables and more are assembled as sparse matrices.
local SPARSE_FROM = 200

local huge = math.huge

local function make(ns)
  local Expression, Array, Model = {}, {}, {}
  Expression.__index, Model.__index = Expression, Model
  Expression.__name, Model.__name = "expression", "model"

  local function is_expression(x) return getmetatable(x) == Expression end
  local function is_array(x) return getmetatable(x) == Array end
  local function is_model(x) return getmetatable(x) == Model end

  local function describe(x)
    if is_expression(x) then return tostring(x) end
    if is_array(x) then return ("array of %d"):format(#x) end
    if is_model(x) then return "model" end
    return (type(x) == "userdata" or type(x) == "number") and tostring(x):gsub("\n.*", " ...") or type(x)
  end

  -- ---- expressions: trees with numbers, parameters and variables as leaves ----
  -- `level` is 0 without variables, 1 when affine in them, 2 otherwise.

  local function level(x) return type(x) == "number" and 0 or x.level end

  local function node(model, op, lvl, a, b)
    return setmetatable({ model = model, op = op, level = lvl, a = a, b = b }, Expression)
  end

  local function check_operand(x, op, other)
    if type(x) == "number" or is_expression(x) then return end
    error(("%s: expected a number or an expression beside %s, got %s"):format(op, describe(other), describe(x)), 4)
  end

  -- The model that both belong to.
  local function common(a, b, op)
    check_operand(a, op, b)
    check_operand(b, op, a)
    local m = is_expression(a) and a.model or b.model
    if is_expression(b) and b.model ~= m then
      error(("%s: %s and %s belong to two models"):format(op, describe(a), describe(b)), 4)
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
          error(("sum: %s belongs to another model"):format(describe(item)), 4)
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
      error(("%s: %s and %s: sizes do not match"):format(op, describe(a), describe(b)), 4)
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

  local function dot(a, b)
    check_size("dot", a, b)
    local items, weights, plain = {}, {}, ns.isvector(a)
    for i = 1, #b do
      local c = a[i]
      if not plain and not (type(c) == "number") then plain = nil end
      if plain == nil then break end
      if c ~= 0 then items[#items + 1], weights[#weights + 1] = b[i], c end
    end
    if plain ~= nil then return weighted(items, weights) end
    for i = 1, #b do items[i], weights[i] = combine("*", a[i], b[i]), 1 end
    for i = #items, #b + 1, -1 do items[i], weights[i] = nil, nil end
    return weighted(items, weights)
  end

  local function is_sparse(x) return type(x) == "userdata" and not ns.isvector(x) and not ns.ismatrix(x) end

  -- The array A x, A dense or sparse.
  local function times(A, x)
    local rows, cols = A:shape()
    if cols ~= #x then
      error(("*: %s and array of %d: sizes do not match"):format(describe(A), #x), 4)
    end
    local out = {}
    if not is_sparse(A) then
      for i = 1, rows do out[i] = dot(A[i], x) end
      return array(out)
    end
    local items, weights = {}, {}
    for i = 1, rows do items[i], weights[i] = {}, {} end
    local t = A:triplets()
    for k = 1, #t.v do
      local i, list = t.i[k] // 1 | 0, nil
      list = items[i]
      list[#list + 1] = x[t.j[k] // 1 | 0]
      weights[i][#list] = t.v[k]
    end
    for i = 1, rows do out[i] = weighted(items[i], weights[i]) end
    return array(out)
  end

  local function is_matrix(x) return ns.ismatrix(x) or is_sparse(x) end

  local function operation(op)
    return function(a, b)
      if is_matrix(a) or is_matrix(b) then
        if op == "*" and is_matrix(a) and is_array(b) then return times(a, b) end
        error(("%s: a matrix stands only on the left of an array: A * x"):format(op), 2)
      end
      if is_list(a) or is_list(b) then
        if (op == "*" or op == "^") and is_list(a) and is_list(b) then
          error(("%s: of two arrays: use a:dot(b)"):format(op), 2)
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
    if not is_list(other) then error(("dot: expected a vector or an array, got %s"):format(describe(other)), 2) end
    if is_array(other) and not is_array(self) then return dot(other, self) end
    return is_array(other) and dot(self, other) or dot(other, self)
  end

  function array_methods:sum()
    local weights = {}
    for i = 1, #self do weights[i] = 1 end
    return weighted({ table.unpack(self) }, weights)
  end

  -- Parameters alone: their new values.
  function array_methods:set(values)
    if not is_list(values) or #values ~= #self then
      error(("set: expected %d values, got %s"):format(#self, describe(values)), 2)
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
    if type(y) ~= "number" then error(("apply: the function returned %s, expected a number"):format(type(y)), 0) end
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

  -- The partial derivatives of a function of numbers, by dual numbers.
  local function partials(f, arguments, z, pass)
    local v = {}
    for i, argument in ipairs(arguments) do v[i] = value(argument, z, pass) end
    return ns.gradient(function(x)
      local unpacked = {}
      for i = 1, #arguments do unpacked[i] = x[i] end
      return f(table.unpack(unpacked))
    end, v)
  end

  local function power(a, b) return a ^ b end

  local function chain(x, z, pass)
    local out = {}
    local f, arguments = x.f, x.arguments
    if x.op == "^" then f, arguments = power, { x.a, x.b } end
    -- A number as exponent is no variable: the derivative by it (a logarithm) may not exist.
    if x.op == "^" and level(x.b) == 0 then
      local b = value(x.b, z, pass)
      f, arguments = function(a) return a ^ b end, { x.a }
    end
    local d = partials(f, arguments, z, pass)
    for i, argument in ipairs(arguments) do add_slopes(out, d[i], slopes(argument, z, pass)) end
    return out
  end

  local nothing = {}

  -- The derivatives of x by the variables: a table by their index, not to be written to.
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
    elseif x.op == "apply" or x.op == "^" then
      out = chain(x, z, pass)
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

  -- ---- what a user does with a scalar ----

  function Expression.__tostring(x)
    if x.op == "variable" or x.op == "parameter" then return ("%s '%s'"):format(x.op, x.name) end
    return "expression"
  end

  function Expression:value()
    return self.model:value(self)
  end

  local function need(x, op, method)
    if x.op ~= op then error(("%s: expected a %s, got %s"):format(method, op, describe(x)), 3) end
  end

  local function check_number(x, who, what)
    if type(x) ~= "number" or x ~= x or x == huge or x == -huge then
      error(("%s: %s: expected a finite number, got %s"):format(who, what, describe(x)), 3)
    end
    return x + 0.0
  end

  -- A parameter's new value.
  function Expression:set(x)
    need(self, "parameter", "set")
    self.current = check_number(x, "set", self.name)
  end

  local function check_bounds(lower, upper, who, name)
    for _, bound in ipairs { lower, upper } do
      if type(bound) ~= "number" or bound ~= bound then
        error(("%s: %s: expected numbers as bounds, got %s"):format(who, name, describe(bound)), 3)
      end
    end
    if lower > upper or lower == huge or upper == -huge then
      error(("%s: %s: the lower bound %g is above the upper bound %g"):format(who, name, lower, upper), 3)
    end
  end

  -- A variable's bounds: v:bounds() tells them, v:bounds(lower, upper) sets them.
  function Expression:bounds(lower, upper)
    need(self, "variable", "bounds")
    if lower == nil and upper == nil then return self.lower, self.upper end
    lower, upper = lower or -huge, upper or huge
    check_bounds(lower, upper, "bounds", self.name)
    local free = lower == -huge and upper == huge
    if free ~= (self.lower == -huge and self.upper == huge) then self.model.plan = nil end
    self.lower, self.upper = lower, upper
  end

  -- ---- the model ----

  local function check_options(options, who, known)
    if options == nil then return {} end
    if type(options) ~= "table" or getmetatable(options) then
      error(("%s: expected a table of options, got %s"):format(who, describe(options)), 3)
    end
    for key in pairs(options) do
      local found = false
      for _, name in ipairs(known) do found = found or name == key end
      if not found then
        error(("%s: unknown option '%s' (known: %s)"):format(who, tostring(key), table.concat(known, ", ")), 3)
      end
    end
    return options
  end

  local variable_options = { "lower", "upper", "start", "name" }

  local function add_variable(model, lower, upper, start, name, who)
    lower, upper = lower or -huge, upper or huge
    local index = #model.list + 1
    name = name or ("x%d"):format(index)
    check_bounds(lower, upper, who, name)
    if start then start = check_number(start, who, name .. ": start") end
    local v = node(model, "variable", 1)
    v.index, v.lower, v.upper, v.start, v.name = index, lower, upper, start, name
    model.list[index], model.plan = v, nil
    return v
  end

  -- model:variable{lower =, upper =, start =, name =}: all may be left out; without bounds the variable is free.
  function Model:variable(options)
    local o = check_options(options, "variable", variable_options)
    return add_variable(self, o.lower, o.upper, o.start, o.name, "variable")
  end

  -- model:variables(n, {...}): an array of n; bounds and start are numbers or lists of n.
  function Model:variables(n, options)
    local o = check_options(options, "variables", variable_options)
    if math.type(n) ~= "integer" or n < 1 then
      error(("variables: expected a number of 1 or more, got %s"):format(describe(n)), 2)
    end
    local function of(what, i)
      local x = o[what]
      if not is_list(x) then return x end
      if #x ~= n then error(("variables: %s: expected %d numbers, got %d"):format(what, n, #x), 3) end
      return x[i]
    end
    local out = {}
    for i = 1, n do
      local name = o.name and ("%s[%d]"):format(o.name, i)
      out[i] = add_variable(self, of("lower", i), of("upper", i), of("start", i), name, "variables")
    end
    return array(out)
  end

  -- model:parameter(v [, name]): a number, or an array for a list of them, that set changes.
  function Model:parameter(v, name)
    if is_list(v) then
      local out = {}
      for i = 1, #v do out[i] = self:parameter(v[i], ("%s[%d]"):format(name or "parameter", i)) end
      return array(out)
    end
    local p = node(self, "parameter", 0)
    p.name = name or "parameter"
    p.current = check_number(v, "parameter", p.name)
    return p
  end

  -- model:apply(f, a, b, ...): f of expressions; f takes and returns numbers, and math functions may be used in it.
  function Model:apply(f, ...)
    local arguments, lvl = { ... }, 0
    if type(f) ~= "function" then error(("apply: f: expected a function, got %s"):format(describe(f)), 2) end
    if #arguments == 0 then error("apply: expected an expression after the function", 2) end
    if #arguments == 1 and is_array(arguments[1]) then
      local out = {}
      for i, x in ipairs(arguments[1]) do out[i] = self:apply(f, x) end
      return array(out)
    end
    for i, x in ipairs(arguments) do
      if type(x) ~= "number" and not is_expression(x) then
        error(("apply: argument %d: expected an expression, got %s"):format(i, describe(x)), 2)
      end
      if is_expression(x) and x.model ~= self then
        error(("apply: %s belongs to another model"):format(describe(x)), 2)
      end
      lvl = math.max(lvl, level(x))
    end
    local out = node(self, "apply", lvl > 0 and 2 or 0)
    out.f, out.arguments = f, arguments
    return out
  end

  local function check_scalar(model, e, who)
    if type(e) ~= "number" and not is_expression(e) then
      error(("%s: expected an expression, got %s"):format(who, describe(e)), 4)
    end
    if is_expression(e) and e.model ~= model then
      error(("%s: %s belongs to another model"):format(who, describe(e)), 4)
    end
  end

  local function check_variable(model, v, who)
    if not is_expression(v) or v.op ~= "variable" then
      error(("%s: expected a variable as second argument, got %s"):format(who, describe(v)), 4)
    end
    if v.model ~= model then error(("%s: %s belongs to another model"):format(who, describe(v)), 4) end
    if model.condition[v] then
      error(("%s: %s already has a condition: one for each variable"):format(who, describe(v)), 4)
    end
  end

  local function is_free(v) return v.lower == -huge and v.upper == huge end

  local function complement(model, e, v)
    check_scalar(model, e, "complements")
    check_variable(model, v, "complements")
    if is_free(v) then
      error(("complements: %s has no bounds: give it some, or use equation"):format(describe(v)), 3)
    end
    model.condition[v], model.plan = e, nil
  end

  local function equate(model, e, v)
    check_scalar(model, e, "equation")
    if v == nil then
      model.equations[#model.equations + 1] = e
    else
      check_variable(model, v, "equation")
      if not is_free(v) then error(("equation: %s has bounds: use complements"):format(describe(v)), 3) end
      model.condition[v] = e
    end
    model.plan = nil
  end

  local function for_each(model, who, state, e, v)
    if not is_list(e) then return state(model, e, v) end
    if v ~= nil and (not is_list(v) or #v ~= #e) then
      error(("%s: expected %d variables, got %s"):format(who, #e, describe(v)), 3)
    end
    for i = 1, #e do state(model, e[i], v and v[i]) end
  end

  -- model:complements(e, v): of two scalars, or of two arrays element by element.
  function Model:complements(e, v)
    if is_list(v) and not is_list(e) then
      error(("complements: expected an array of %d expressions, got %s"):format(#v, describe(e)), 2)
    end
    for_each(self, "complements", complement, e, v)
  end

  -- model:equation(e [, v]): e = 0; v is the free variable that it determines, which may be left open.
  function Model:equation(e, v)
    for_each(self, "equation", equate, e, v)
  end

  -- ---- from trees to matrices ----
  -- Row i is the condition of variable i:  sum of columns[j] z_j + constant + the parametric and the nonlinear parts.

  local function times_constant(a, b)
    if a == 1 then return b end
    if b == 1 then return a end
    return combine("*", a, b)
  end

  local function add_entry(row, column, c)
    if type(c) ~= "number" then row.parametric[#row.parametric + 1] = { column, c }
    elseif column == 0 then row.constant = row.constant + c
    else row.columns[column] = (row.columns[column] or 0) + c end
  end

  -- Adds scale * x to the row; scale has no variables in it.
  local function collect(row, x, scale)
    while true do
      if level(x) == 0 then return add_entry(row, 0, times_constant(scale, x)) end
      local op, a, b = x.op, x.a, x.b
      if op == "variable" then
        return add_entry(row, x.index, scale)
      elseif op == "sum" then
        for k, item in ipairs(x.items) do collect(row, item, times_constant(scale, x.weights[k])) end
        return
      elseif op == "+" or op == "-" then
        collect(row, b, op == "-" and times_constant(-1, scale) or scale)
        x = a
      elseif op == "*" and level(a) == 0 then
        x, scale = b, times_constant(scale, a)
      elseif op == "*" and level(b) == 0 then
        x, scale = a, times_constant(scale, b)
      elseif op == "/" and level(b) == 0 then
        x, scale = a, combine("/", scale, b)
      else
        row.nonlinear[#row.nonlinear + 1] = { scale, x }
        return
      end
    end
  end

  local function names_of(list)
    local names = {}
    for i = 1, math.min(#list, 5) do names[i] = "'" .. list[i].name .. "'" end
    return table.concat(names, ", ") .. (#list > 5 and ", ..." or "")
  end

  -- The expression of each variable; equations without one go to the free variables that have none, in order.
  local function conditions(model)
    local open, bounded, out = {}, {}, {}
    for i, v in ipairs(model.list) do
      out[i] = model.condition[v]
      if out[i] == nil then
        local list = is_free(v) and open or bounded
        list[#list + 1] = v
      end
    end
    if #model.list == 0 then error("solve: the model has no variables", 3) end
    if #bounded > 0 then error(("solve: variables with bounds but no complements: %s"):format(names_of(bounded)), 3) end
    if #open ~= #model.equations then
      local list = #open > 0 and ": " .. names_of(open) or ""
      error(("solve: %d equations for %d free variables without one%s"):format(#model.equations, #open, list), 3)
    end
    for k, v in ipairs(open) do out[v.index] = model.equations[k] end
    return out
  end

  local function check_entry(model, i, j, x)
    if x == x and x ~= huge and x ~= -huge then return x end
    local what = j == 0 and "constant" or ("coefficient of '%s'"):format(model.list[j].name)
    error(("solve: the condition of '%s': its %s is %g"):format(model.list[i].name, what, x), 3)
  end

  -- The fixed part as lists of entries, places of the parametric entries, and the nonlinear parts by row.
  local function make_plan(model)
    local n, list = #model.list, conditions(model)
    local plan = { n = n, i = {}, j = {}, v = {}, q = ns.zeros(n), parametric = {}, nonlinear = {}, affine = true }
    local count = 0
    for i = 1, n do
      local row = { constant = 0.0, columns = {}, parametric = {}, nonlinear = {} }
      collect(row, list[i], 1)
      plan.q[i] = check_entry(model, i, 0, row.constant)
      for j, c in pairs(row.columns) do
        count = count + 1
        plan.i[count], plan.j[count], plan.v[count] = i, j, check_entry(model, i, j, c)
      end
      for _, entry in ipairs(row.parametric) do
        plan.parametric[#plan.parametric + 1] = { i, entry[1], entry[2] }
        plan.varying = plan.varying or entry[1] > 0
      end
      if #row.nonlinear > 0 then plan.affine, plan.nonlinear[i] = false, row.nonlinear end
    end
    plan.fixed, plan.sparse = count, n >= SPARSE_FROM
    return plan
  end

  local function next_pass(model)
    model.passes = model.passes + 1
    return model.passes
  end

  local function to_matrix(plan, i, j, v)
    if plan.sparse then return ns.sparse { rows = plan.n, cols = plan.n, i = i, j = j, v = v } end
    local A = ns.zeros(plan.n, plan.n)
    for k = 1, #v do A[i[k]][j[k]] = A[i[k]][j[k]] + v[k] end
    return A
  end

  -- The affine part A z + q with the parameters as they are. The lists i, j, v are left with all entries of A.
  local function assemble(model, plan)
    local pass, count = next_pass(model), plan.fixed
    local q = plan.q:copy()
    for _, entry in ipairs(plan.parametric) do
      local i, j = entry[1], entry[2]
      local x = check_entry(model, i, j, value(entry[3], nil, pass))
      if j == 0 then q[i] = q[i] + x
      else
        count = count + 1
        plan.i[count], plan.j[count], plan.v[count] = i, j, x
      end
    end
    if plan.varying or not plan.A then plan.A = to_matrix(plan, plan.i, plan.j, plan.v) end
    return plan.A, q
  end

  -- The whole problem as F(z, out) and J(z).
  local function functions(model, plan, A, q)
    local function F(z, out)
      local pass, y = next_pass(model), A * z + q
      for i, parts in pairs(plan.nonlinear) do
        for _, part in ipairs(parts) do y[i] = y[i] + value(part[1], nil, pass) * value(part[2], z, pass) end
      end
      if out then return out:assign(y) end
      return y
    end
    local function J(z)
      local pass = next_pass(model)
      local i, j, v = { table.unpack(plan.i) }, { table.unpack(plan.j) }, { table.unpack(plan.v) }
      for row, parts in pairs(plan.nonlinear) do
        local sum = {}
        for _, part in ipairs(parts) do add_slopes(sum, value(part[1], nil, pass), slopes(part[2], z, pass)) end
        for column, d in pairs(sum) do
          i[#i + 1], j[#j + 1], v[#v + 1] = row, column, d
        end
      end
      return to_matrix(plan, i, j, v)
    end
    return F, J
  end

  local function bounds_of(model)
    local lower, upper = ns.zeros(#model.list), ns.zeros(#model.list)
    for i, v in ipairs(model.list) do lower[i], upper[i] = v.lower, v.upper end
    return lower, upper
  end

  -- Where to start: at the last solution, at the start values, or nil when there are none.
  local function starting_point(model, warm)
    local z, any = ns.zeros(#model.list), false
    for i, v in ipairs(model.list) do
      local x = warm and model.solution and model.solution[i] or v.start
      any = any or x ~= nil
      z[i] = math.max(v.lower, math.min(v.upper, x or 0))
    end
    return z, any
  end

  local solve_options = { "solver", "tolerance", "max_iterations", "warm" }

  -- model:solve{solver =, tolerance =, max_iterations =, warm = true}: the result table of ns.numerics.box or mcp. When
  -- it says success = false there are no values until a solve succeeds. With warm = false it starts at the start values.
  function Model:solve(options)
    local o = check_options(options, "solve", solve_options)
    self.plan = self.plan or make_plan(self)
    local plan, z0, any = self.plan, starting_point(self, o.warm ~= false)
    local A, q = assemble(self, plan)
    local call = { solver = o.solver, tolerance = o.tolerance, max_iterations = o.max_iterations }
    call.lower, call.upper = bounds_of(self)
    local result
    if plan.affine then
      call.M, call.q, call.z0 = A, q, any and z0 or nil
      result = ns.numerics.box(call)
    else
      call.F, call.J = functions(self, plan, A, q)
      call.z0 = z0
      result = ns.numerics.mcp(call)
    end
    self.failure = not result.success and ("%s (%s)"):format(result.status, result.message) or nil
    if result.success then self.solution = result.z:copy() end
    return result
  end

  local function need_values(model, x)
    if level(x) == 0 then return end
    if model.failure then error("value: the last solve failed: " .. model.failure, 4) end
    if not model.solution then error("value: the model has not been solved", 4) end
    if x.op == "variable" and x.index > #model.solution then
      error(("value: %s is newer than the last solve"):format(describe(x)), 4)
    end
  end

  local function value_of(model, x, pass)
    check_scalar(model, x, "value")
    need_values(model, x)
    return value(x, model.solution, pass)
  end

  -- model:value(x): the value at the solution of a variable or an expression (a number), of an array (a vector).
  function Model:value(x)
    local pass = next_pass(self)
    if not is_list(x) then return value_of(self, x, pass) end
    local out = ns.zeros(#x)
    for i = 1, #x do out[i] = value_of(self, x[i], pass) end
    return out
  end

  function Model.__tostring(model)
    local n = 0
    for _, e in pairs(model.condition) do n = n + (e and 1 or 0) end
    return ("model of %d variables, %d conditions"):format(#model.list, n + #model.equations)
  end

  return function(...)
    if select("#", ...) > 0 then error("model: no arguments expected", 2) end
    return setmetatable({ list = {}, condition = {}, equations = {}, passes = 0 }, Model)
  end
end

return make
