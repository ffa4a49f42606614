-- nslua.model: complementarity problems written as they are on paper.
--
--   local model = ns.numerics.model()
--   local u = model:variables(2, { lower = -1, upper = 1, name = "u" })
--   model:complements(-h * M * u - x, u)
--   model:solve()
--   x = x + h * M * model:value(u)
--
-- complements(e, v) states: e >= 0 where v is at its lower bound, e <= 0 where v is at its upper bound, and e = 0
-- where v is between them (the convention of JuMP and of PATH). With the bounds 0 and infinity this is
-- 0 <= e _|_ v >= 0. equation(e) states e = 0; it determines a variable without bounds.
--
-- Expressions are made by arithmetic on variables, parameters, numbers, and arrays of them, vectors and matrices.
-- Sums, and products with numbers and parameters, stay affine: such a model is solved as a box problem
-- (ns.numerics.box). A product of variables, a power or model:apply(f, ...) makes it nonlinear (ns.numerics.mcp);
-- derivatives are exact. Parameters can be changed between solves; the model is not built again. A solve starts at
-- the solution of the last one.

-- Models of this many variables and more are assembled as sparse matrices.
local format = require "nslua.core".number_support.format
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"

local SPARSE_FROM = 200

local huge = math.huge

local function copy(list) return table.move(list, 1, #list, 1, {}) end

local function make(ns)
  local expression = require "nslua.model.expression"(ns)
  local Expression, is_expression, is_list = expression.Expression, expression.is_expression, expression.is_list
  local array, describe, level, node = expression.array, expression.describe, expression.level, expression.node
  local combine, value, slopes = expression.combine, expression.value, expression.slopes
  local is_array, add_slopes, fail = expression.is_array, expression.add_slopes, expression.fail
  local where = require "nslua.base.where"
  local Model = {}
  Model.__index, Model.__name = Model, "model"

  -- ---- methods of scalars ----

  function Expression.__tostring(x)
    if x.op == "variable" or x.op == "parameter" then return ("%s '%s'"):format(x.op, x.name) end
    return "expression"
  end

  function Expression:value()
    return self.model:value(self)
  end

  local function need(x, op, method)
    if x.op ~= op then fail(("%s: expected a %s, got %s"):format(method, op, describe(x))) end
  end

  local function check_number(x, who, what)
    if type(x) ~= "number" or x ~= x or x == huge or x == -huge then
      fail(("%s: %s: expected a finite number, got %s"):format(who, what, describe(x)))
    end
    return x + 0.0
  end

  -- Sets the value of a parameter.
  function Expression:set(x)
    need(self, "parameter", "set")
    self.current = check_number(x, "set", self.name)
  end

  local function check_bounds(lower, upper, who, name)
    for _, bound in ipairs { lower, upper } do
      if type(bound) ~= "number" or bound ~= bound then
        fail(("%s: %s: expected numbers as bounds, got %s"):format(who, name, describe(bound)))
      end
    end
    if lower > upper or lower == huge or upper == -huge then
      fail(format("%s: %s: the lower bound %g is above the upper bound %g", who, name, lower, upper))
    end
  end

  -- v:bounds() returns the bounds of a variable, v:bounds(lower, upper) sets them.
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

  local function check_options(options, who)
    if options == nil then return {} end
    if type(options) ~= "table" or getmetatable(options) then
      fail(("%s: expected a table of options, got %s"):format(who, describe(options)))
    end
    local result, message = option_tables.check(options, option_names["model:" .. who], who)
    if not result then fail(message) end
    return result
  end

  local function check_name(name, who)
    if name ~= nil and type(name) ~= "string" then
      fail(("%s: name: expected a string, got %s"):format(who, describe(name)))
    end
    return name
  end

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
    local o = check_options(options, "variable")
    return add_variable(self, o.lower, o.upper, o.start, check_name(o.name, "variable"), "variable")
  end

  -- model:variables(n, {...}): an array of n; bounds and start are numbers or lists of n.
  function Model:variables(n, options)
    local o = check_options(options, "variables")
    check_name(o.name, "variables")
    if math.type(n) ~= "integer" or n < 1 then
      fail(("variables: expected a number of 1 or more, got %s"):format(describe(n)))
    end
    local function of(what, i)
      local x = o[what]
      if not is_list(x) then return x end
      if #x ~= n then fail(("variables: %s: expected %d numbers, got %d"):format(what, n, #x)) end
      return x[i]
    end
    local out = {}
    for i = 1, n do
      local name = o.name and ("%s[%d]"):format(o.name, i)
      out[i] = add_variable(self, of("lower", i), of("upper", i), of("start", i), name, "variables")
    end
    return array(out)
  end

  -- A parameter, or an array of parameters for a list. The elements of a list may be lists (rows), but not deeper.
  local function parameter(self, v, name, depth)
    if is_list(v) and depth < 2 then
      local out = {}
      for i = 1, #v do out[i] = parameter(self, v[i], ("%s[%d]"):format(name, i), depth + 1) end
      return array(out)
    end
    local p = node(self, "parameter", 0)
    p.name = name
    p.current = check_number(v, "parameter", p.name)
    return p
  end

  -- model:parameter(v [, name]): a parameter for a number, an array of them for a list. set() changes its value.
  function Model:parameter(v, name)
    return parameter(self, v, check_name(name, "parameter") or "parameter", 0)
  end

  -- model:apply(f, a, b, ...): the expression f(a, b, ...). f takes and returns numbers, and may use functions of
  -- math.
  function Model:apply(f, ...)
    local arguments, lvl = { ... }, 0
    if type(f) ~= "function" then fail(("apply: f: expected a function, got %s"):format(describe(f))) end
    if #arguments == 0 then fail("apply: expected an expression after the function") end
    if #arguments == 1 and is_array(arguments[1]) then
      local out = {}
      for i, x in ipairs(arguments[1]) do out[i] = self:apply(f, x) end
      return array(out)
    end
    for i, x in ipairs(arguments) do
      if type(x) ~= "number" and not is_expression(x) then
        fail(("apply: argument %d: expected an expression, got %s"):format(i, describe(x)))
      end
      if is_expression(x) and x.model ~= self then
        fail(("apply: %s belongs to another model"):format(describe(x)))
      end
      lvl = math.max(lvl, level(x))
    end
    local out = node(self, "apply", lvl > 0 and 2 or 0)
    out.f, out.arguments = f, arguments
    return out
  end

  local function check_scalar(model, e, who)
    if type(e) ~= "number" and not is_expression(e) then
      fail(("%s: expected an expression, got %s"):format(who, describe(e)))
    end
    if is_expression(e) and e.model ~= model then
      fail(("%s: %s belongs to another model"):format(who, describe(e)))
    end
  end

  local function check_variable(model, v, who)
    if not is_expression(v) or v.op ~= "variable" then
      fail(("%s: expected a variable as second argument, got %s"):format(who, describe(v)))
    end
    if v.model ~= model then fail(("%s: %s belongs to another model"):format(who, describe(v))) end
    if model.condition[v] then
      fail(("%s: %s already has a condition: one for each variable"):format(who, describe(v)))
    end
  end

  local function is_free(v) return v.lower == -huge and v.upper == huge end

  local function complement(model, e, v)
    check_scalar(model, e, "complements")
    check_variable(model, v, "complements")
    if is_free(v) then
      fail(("complements: %s has no bounds: give it some, or use equation"):format(describe(v)))
    end
    model.condition[v], model.plan = e, nil
  end

  local function equate(model, e, v)
    check_scalar(model, e, "equation")
    if v == nil then
      model.equations[#model.equations + 1] = e
    else
      check_variable(model, v, "equation")
      if not is_free(v) then fail(("equation: %s has bounds: use complements"):format(describe(v))) end
      model.condition[v] = e
    end
    model.plan = nil
  end

  local function for_each(model, who, state, e, v)
    if not is_list(e) then return state(model, e, v) end
    if v ~= nil and (not is_list(v) or #v ~= #e) then
      fail(("%s: expected %d variables, got %s"):format(who, #e, describe(v)))
    end
    for i = 1, #e do state(model, e[i], v and v[i]) end
  end

  -- model:complements(e, v): of two scalars, or of two arrays element by element.
  function Model:complements(e, v)
    if is_list(v) and not is_list(e) then
      fail(("complements: expected an array of %d expressions, got %s"):format(#v, describe(e)))
    end
    for_each(self, "complements", complement, e, v)
  end

  -- model:equation(e [, v]): states e = 0. v is the free variable that it determines; it need not be given.
  function Model:equation(e, v)
    for_each(self, "equation", equate, e, v)
  end

  -- ---- from trees to matrices ---- Row i is the condition of variable i:  sum of columns[j] z_j + constant + the
  -- parametric and the nonlinear parts.

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

  -- The expression for each variable. Equations for which no variable was given get the remaining free variables, in
  -- order.
  local function conditions(model)
    local open, bounded, out = {}, {}, {}
    for i, v in ipairs(model.list) do
      out[i] = model.condition[v]
      if out[i] == nil then
        local list = is_free(v) and open or bounded
        list[#list + 1] = v
      end
    end
    if #model.list == 0 then fail("solve: the model has no variables") end
    if #bounded > 0 then
      fail(("solve: variables with bounds but no complements: %s"):format(names_of(bounded)))
    end
    if #open ~= #model.equations then
      local list = #open > 0 and ": " .. names_of(open) or ""
      fail(("solve: expected an equation for each free variable without a condition, got %d for %d%s"):format(
        #model.equations, #open, list))
    end
    for k, v in ipairs(open) do out[v.index] = model.equations[k] end
    return out
  end

  local function check_entry(model, i, j, x)
    if x == x and x ~= huge and x ~= -huge then return x end
    local what = j == 0 and "constant" or ("coefficient of '%s'"):format(model.list[j].name)
    fail(format("solve: the condition of '%s': its %s is %g", model.list[i].name, what, x))
  end

  -- Returns the constant part as lists of entries, the places of the entries with parameters, and the nonlinear
  -- parts by row.
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
    local A = ns.sparse { rows = plan.n, cols = plan.n, i = i, j = j, v = v }
    return plan.sparse and A or A:tomatrix()
  end

  -- The affine part A z + q at the present values of the parameters. The lists i, j, v then hold all entries of A.
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
      local i, j, v = copy(plan.i), copy(plan.j), copy(plan.v)
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

  -- The start of a solve: the last solution, else the start values, else nil.
  local function starting_point(model, warm)
    local z, any = ns.zeros(#model.list), false
    for i, v in ipairs(model.list) do
      local x = warm and model.solution and model.solution[i] or v.start
      any = any or x ~= nil
      z[i] = math.max(v.lower, math.min(v.upper, x or 0))
    end
    return z, any
  end

  -- model:solve{solver =, tolerance =, max_iterations =, warm = true}: the result table of ns.numerics.box or mcp.
  -- After a result with success = false the model has no values until a solve succeeds. With warm = false the solve
  -- starts at the start values.
  function Model:solve(options)
    local o = check_options(options, "solve")
    self.plan = self.plan or make_plan(self)
    local plan, z0, any = self.plan, starting_point(self, o.warm ~= false)
    local A, q = assemble(self, plan)
    local call = { solver = o.solver, tolerance = o.tolerance, max_iterations = o.max_iterations }
    call.lower, call.upper = bounds_of(self)
    local result
    if plan.affine then
      call.M, call.q, call.z0 = A, q, any and z0 or nil
      result = where.call("box", ns.numerics.box, call)
    else
      call.F, call.J = functions(self, plan, A, q)
      call.z0 = z0
      result = where.call("mcp", ns.numerics.mcp, call)
    end
    self.failure = not result.success and ("%s (%s)"):format(result.status, result.message) or nil
    if result.success then self.solution, self.slacks = result.z:copy(), result.w:copy() end
    return result
  end

  -- model:constraint(e, { lower =, upper = }): a bound of an expression, for minimize.
  function Model:constraint(e, options)
    local o = check_options(options, "constraint")
    local lower, upper = o.lower or -huge, o.upper or huge
    check_bounds(lower, upper, "constraint", "the expression")
    if lower == -huge and upper == huge then fail "constraint: expected a lower or an upper bound" end
    for_each(self, "constraint", function(model, x)
      check_scalar(model, x, "constraint")
      model.constraints[#model.constraints + 1] = { e = x, lower = lower, upper = upper }
    end, e)
  end

  local minimize
  -- model:minimize(e [, { tolerance =, max_iterations = }]): the least value of e under all equations, conditions and
  -- constraints.
  function Model:minimize(e, options)
    local o = check_options(options, "minimize")
    check_scalar(self, e, "minimize")
    if #self.list == 0 then fail "minimize: the model has no variables" end
    minimize = minimize or require "nslua.model.optimum" { collect = collect, value = value, level = level,
      next_pass = next_pass }
    return minimize(self, e, o)
  end

  local function need_values(model, x, who)
    if level(x) == 0 then return end
    if model.failure then fail(who .. ": the last solve failed: " .. model.failure) end
    if not model.solution then fail(who .. ": the model has not been solved") end
    if x.op == "variable" and x.index > #model.solution then
      fail(("%s: %s was made after the last solve"):format(who, describe(x)))
    end
  end

  local function value_of(model, x, pass)
    check_scalar(model, x, "value")
    need_values(model, x, "value")
    return value(x, model.solution, pass)
  end

  -- model:value(x): the value of x at the solution: a number for a variable or an expression, a vector for an array.
  function Model:value(x)
    local pass = next_pass(self)
    if not is_list(x) then return value_of(self, x, pass) end
    local out = ns.zeros(#x)
    for i = 1, #x do out[i] = value_of(self, x[i], pass) end
    return out
  end

  -- The value of a condition. Where rounding gives it the sign that the law forbids, it is 0.
  local function slack_of(model, v)
    if not is_expression(v) or v.op ~= "variable" then
      fail(("slack: expected a variable, got %s"):format(describe(v)))
    end
    if v.model ~= model then fail(("slack: %s belongs to another model"):format(describe(v))) end
    need_values(model, v, "slack")
    local z, w = model.solution[v.index], model.slacks[v.index]
    local lowest = z >= v.upper and -huge or 0.0
    local highest = z <= v.lower and huge or 0.0
    return math.max(lowest, math.min(highest, w))
  end

  -- model:slack(v): the value of the condition for a variable, or for each variable of an array. It is exactly 0
  -- where v is between its bounds, at least 0 at the lower bound and at most 0 at the upper bound.
  function Model:slack(v)
    if not is_list(v) then return slack_of(self, v) end
    local out = ns.zeros(#v)
    for i = 1, #v do out[i] = slack_of(self, v[i]) end
    return out
  end

  function Model.__tostring(model)
    local n = 0
    for _, e in pairs(model.condition) do n = n + (e and 1 or 0) end
    return ("model of %d variables, %d conditions"):format(#model.list, n + #model.equations)
  end

  require "nslua.base.where".methods(Model, "a model", "model")

  return function(...)
    if select("#", ...) > 0 then fail("model: no arguments expected") end
    return setmetatable({ list = {}, condition = {}, equations = {}, constraints = {}, passes = 0 }, Model)
  end
end

return make
