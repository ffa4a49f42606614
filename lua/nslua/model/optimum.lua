-- nslua.model.optimum: the least value of an expression of a model, by IPOPT (see nslua.optimise.program).
--
-- Affine parts of rows are entries of a sparse matrix; each nonlinear summand is traced as a function of the few
-- variables that it has. A condition between e and a variable v is a pair: e = s, v - lower = w with s, w >= 0.
local core = require "nslua.core"
local Program = require "nslua.optimise.program"
local problem = require "nslua.optimise.problem"
local where = require "nslua.base.where"

local huge = math.huge

-- support: the functions of nslua.model that this file needs.
local function make(support)
  local collect, value, level, next_pass = support.collect, support.value, support.level, support.next_pass

  -- Adds the numbers of the variables of a tree to a list, each once.
  local function variables_of(x, seen, list)
    if type(x) == "number" or level(x) == 0 then return end
    if x.op == "variable" then
      if not seen[x.index] then
        seen[x.index] = true
        list[#list + 1] = x.index
      end
      return
    end
    for _, part in ipairs(x.items or x.arguments or { x.a, x.b }) do variables_of(part, seen, list) end
  end

  -- The Lua functions that a tree applies: the trace looks for math functions in what a function refers to.
  local function functions_of(x, list)
    if type(x) == "number" or level(x) == 0 then return end
    if x.op == "apply" then list[#list + 1] = x.f end
    for _, part in ipairs(x.items or x.arguments or { x.a, x.b }) do functions_of(part, list) end
  end

  -- A nonlinear summand as a function of a vector.
  local function traced(model, x, indices, applied)
    return core.compile(function(z)
      local at, _ = {}, applied
      for k, i in ipairs(indices) do at[i] = z[k] end
      return value(x, at, next_pass(model)) + 0 * z[1]
    end, { native = false, paths = 1 })
  end

  local function function_of(model, x, indices)
    local applied = {}
    functions_of(x, applied)
    local a, b, c, d = table.unpack(applied)
    if not a then return traced(model, x, indices) end
    return traced(model, x, indices, function() return a, b, c, d, applied end)
  end

  -- Adds an expression to a row of the program. Returns its constant and the size of its terms.
  local function add_expression(model, program, row, e)
    local parts = { constant = 0.0, columns = {}, parametric = {}, nonlinear = {} }
    collect(parts, e, 1)
    local pass, size = next_pass(model), math.abs(parts.constant)
    for _, entry in ipairs(parts.parametric) do
      local c = value(entry[2], nil, pass)
      if entry[1] == 0 then parts.constant = parts.constant + c
      else parts.columns[entry[1]] = (parts.columns[entry[1]] or 0) + c end
    end
    for j, c in pairs(parts.columns) do
      program:entry(row, j, c)
      size = size + math.abs(c) * program.size[j]
    end
    for _, part in ipairs(parts.nonlinear) do
      local indices = {}
      variables_of(part[2], {}, indices)
      local weight = value(part[1], nil, next_pass(model))
      program:term(function_of(model, part[2], indices), indices, { row }, { weight })
    end
    return parts.constant, size
  end

  local function move_bounds(program, row, constant)
    program.row_lower[row] = program.row_lower[row] - constant
    program.row_upper[row] = program.row_upper[row] - constant
  end

  local function add_row(model, program, e, lower, upper)
    local row = program:constraint(lower, upper)
    move_bounds(program, row, (add_expression(model, program, row, e)))
    return row
  end

  -- The pairs of a condition e between the bounds of v.
  local function add_condition(model, program, v, e)
    local row = program:constraint(0, 0)
    local constant, size = add_expression(model, program, row, e)
    move_bounds(program, row, constant)
    local function side(bound, sign)
      if math.abs(bound) == huge then return end
      local s = program:variable(0, huge, size)
      local w = program:variable(0, huge, math.abs(program.start[v.index] - bound))
      program:entry(row, s, -sign)
      program:constraint(sign * bound, sign * bound, { v.index, sign, w, -1 })
      program:complement(s, w, { size > 0 and size or 1, math.max(math.abs(bound), program.size[v.index]) })
    end
    side(v.lower, 1)
    side(v.upper, -1)
  end

  local function build(model, objective)
    local program = Program.new "minimize"
    program.size = {}
    for i, v in ipairs(model.list) do
      local start = model.solution and model.solution[i] or v.start or 0
      program:variable(v.lower, v.upper, start)
      local width = v.upper - v.lower
      local size = math.max(math.abs(program.start[i]), width < huge and width or 0)
      program.size[i] = size > 0 and size or 1
    end
    local constant = add_expression(model, program, 0, objective)
    local rows = { equations = {}, constraints = {} }
    for k, e in ipairs(model.equations) do rows.equations[k] = add_row(model, program, e, 0, 0) end
    for k, c in ipairs(model.constraints) do
      rows.constraints[k] = add_row(model, program, c.e, c.lower, c.upper)
    end
    for _, v in ipairs(model.list) do
      local e = model.condition[v]
      if e ~= nil and v.lower == -huge and v.upper == huge then add_row(model, program, e, 0, 0)
      elseif e ~= nil then add_condition(model, program, v, e) end
    end
    return program, rows, constant
  end

  local function slopes(rows, multiplier)
    local out = core.zeros(#rows)
    for k, row in ipairs(rows) do out[k] = -multiplier[row] end
    return out
  end

  -- The values of the conditions at the solution, for model:slack.
  local function conditions_at(model, x)
    local out, pass = core.zeros(#model.list), next_pass(model)
    for i, v in ipairs(model.list) do
      local e = model.condition[v]
      if e ~= nil then out[i] = value(e, x, pass) end
    end
    return out
  end

  return function(model, objective, options)
    local program, rows, constant = build(model, objective)
    local found = where.call("minimize", program.solve, program,
      { tolerance = options.tolerance, max_iterations = options.max_iterations })
    local message = Program.messages[found.status]
    model.failure = not found.success and ("%s (%s)"):format(found.status, message) or nil
    if found.success then
      model.solution, model.slacks = found.x(1, #model.list):copy(), conditions_at(model, found.x)
    end
    return problem.result { success = found.success, status = found.status, message = message,
      fun = found.objective + constant, x = found.x(1, #model.list):copy(), complementarity = found.residual,
      iterations = found.iterations,
      slopes = { equations = slopes(rows.equations, found.multiplier),
        constraints = slopes(rows.constraints, found.multiplier) } }
  end
end

return make
