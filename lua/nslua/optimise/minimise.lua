-- nslua.optimise.minimise: minima of a function within bounds and under constraints, by NLopt.
--
--   local best = ns.minimize(f, x0, { method = "SLSQP", bounds = { { 0, 1 }, { 0, math.huge } },
--     constraints = { { type = "ineq", fun = function(x) return 1 - x[1] - x[2] end } } })
--
-- NLopt works on scaled unknowns u_j = x_j / s_j and on f / s, all s powers of two: s_j from the size of the start,
-- of the bounds or of the derivatives, s from the change of f that the scaled gradient tells. So units of x and f do
-- not matter. nslua.optimise.optimality judges each end, whatever NLopt says; from one that it refuses, the search
-- goes on.
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local optimality = require "nslua.optimise.optimality"
local problem = require "nslua.optimise.problem"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local support = core.optimise_support
local abs, huge = math.abs, math.huge

-- name, NLopt's algorithm, other names; needs the gradient; takes equations and inequalities; seeks a global minimum,
-- for which all bounds must be finite; random: by random points, so that a test of progress tells nothing, and the
-- number of evaluations ends the search.
local methods = {
  { "L-BFGS-B", "LD_LBFGS", "BFGS L-BFGS LBFGS LD_LBFGS", gradient = true },
  { "SLSQP", "LD_SLSQP", "LD_SLSQP", gradient = true, eq = true, ineq = true },
  { "MMA", "LD_MMA", "LD_MMA", gradient = true, ineq = true },
  { "CCSAQ", "LD_CCSAQ", "LD_CCSAQ", gradient = true, ineq = true },
  { "TNC", "LD_TNEWTON_PRECOND_RESTART", "LD_TNEWTON_PRECOND_RESTART Newton-CG", gradient = true },
  { "COBYLA", "LN_COBYLA", "LN_COBYLA", eq = true, ineq = true },
  { "BOBYQA", "LN_BOBYQA", "LN_BOBYQA" },
  { "Nelder-Mead", "LN_NELDERMEAD", "LN_NELDERMEAD" },
  { "Sbplx", "LN_SBPLX", "LN_SBPLX" },
  { "Powell", "LN_PRAXIS", "LN_PRAXIS PRAXIS" },
  { "DIRECT", "GN_DIRECT_L", "GN_DIRECT_L DIRECT-L", global = true },
  { "CRS2", "GN_CRS2_LM", "GN_CRS2_LM", global = true, random = true },
  { "ISRES", "GN_ISRES", "GN_ISRES", global = true, random = true, eq = true, ineq = true },
  { "ESCH", "GN_ESCH", "GN_ESCH", global = true, random = true },
}

local FEASIBLE = 1e-10 -- tolerance of a row of the constraints, as a part of its size
local VIOLATED = 1e-6 -- a row that is violated by this part of its size is not satisfied
-- The absolute tolerances of the scaled cost and unknowns, as a part of the relative ones: for those that tend to 0.
local ABSOLUTE = 1e-6
-- The most searches from ends that are no minima: those that succeed take one or two.
local AGAIN = 8
local SHRUNK = 2.0 ^ -10 -- rows whose terms are below this part of those at the start are measured anew
local NEARBY = 2.0 ^ -6 -- the largest move from a start where the equations are dependent, as a part of the sizes
local messages = {
  cost = "the value no longer decreases", step = "x no longer changes",
  rounding = "rounding errors allow no further progress", calls = "the number of evaluations (max_nfev) is reached",
  failed = "NLopt has failed", infeasible = "the constraints are not satisfied",
  gradient = "the search ended where the conditions of a minimum do not hold: x[%d] can move and lower f",
  beside = "the search ended where f is lower beside its last point",
  done = "the evaluations (max_nfev) are used: a search by random points has no other end",
}

-- What the judge has tested at the end of a successful search.
local function tested_of(method)
  if method.random then return "" end
  return method.gradient and ", and the conditions of a minimum hold" or ", and f is not lower beside x"
end

local function method_of(name, constrained, who)
  if name == nil then name = constrained and "SLSQP" or "L-BFGS-B" end
  local known = {}
  for _, m in ipairs(methods) do
    known[#known + 1] = m[1]
    if type(name) == "string" then
      if m[1]:lower() == name:lower() then return m end
      for alias in m[3]:gmatch "%S+" do
        if alias:lower() == name:lower() then return m end
      end
    end
  end
  fail("%s: method: expected one of %s, got %s", who, table.concat(known, ", "), describe(name))
end

local function methods_with(feature)
  local list = {}
  for _, m in ipairs(methods) do
    if m[feature] then list[#list + 1] = m[1] end
  end
  return table.concat(list, ", ")
end

-- The power of two above a size.
local function power_of_two(size) return 2.0 ^ (math.floor(math.log(size, 2)) + 1) end

-- ---- constraints ----

-- The constraints as { kind, functions, m }, from a list of them or from a single one.
local function take_constraints(given, x, who)
  if given == nil then return {} end
  expect(given, "table", "%s: constraints: expected a list", who)
  if given.type ~= nil or given.fun ~= nil then given = { given } end
  local out = {}
  for i, c in ipairs(given) do
    local name = ("constraints[%d]"):format(i)
    reject(type(c) ~= "table" or c.type ~= "eq" and c.type ~= "ineq", type(c) == "table" and c.type or c,
      "%s: %s: expected { type = 'eq' or 'ineq', fun = }", who, name)
    local functions = problem.functions(c.fun, c.jac, { who = who, name = name .. ".fun", jac = name .. ".jac",
      args = c.args, sizes = {} })
    out[i] = { kind = c.type, functions = functions, m = #functions.values(x) }
  end
  return out
end

-- The largest term of each row c + J u.
local function row_terms(values, J, u)
  local terms = {}
  for i = 1, #values do
    local size = abs(values[i])
    for j = 1, #u do size = math.max(size, abs(J[i][j] * u[j])) end
    terms[i] = size
  end
  return terms
end

-- The powers of two by which rows are divided: above their largest terms, and above what a change of u by 1 gives.
local function row_sizes(values, J, u)
  local sizes = row_terms(values, J, u)
  for i, size in ipairs(sizes) do
    for j = 1, #u do size = math.max(size, abs(J[i][j])) end
    sizes[i] = size > 0 and size < huge and power_of_two(size) or 1
  end
  return sizes
end

-- All constraints of a kind as one function of the scaled unknowns, and the terms of each row at x.
local function stack(constraints, kind, x, scales)
  local list, m = {}, 0
  for _, c in ipairs(constraints) do
    if c.kind == kind then
      list[#list + 1] = c
      m = m + c.m
    end
  end
  local out = { m = m, sizes = {} }
  -- The rows, divided by their sizes once these are known.
  function out.call(u, derivatives)
    local v, row = u:mul(scales), 0
    local all = derivatives and core.zeros(m, #u) or core.zeros(m)
    for _, c in ipairs(list) do
      local part = derivatives and c.functions.jacobian(v, c.m) or c.functions.values(v, c.m)
      for i = 1, c.m do
        row = row + 1
        local s = out.sizes[row] or 1
        if derivatives then
          for j = 1, #u do all[row][j] = part[i][j] * scales[j] / s end
        else
          all[row] = part[i] / s
        end
      end
    end
    return all
  end
  if m == 0 then return out end
  local u = x:div(scales)
  out.sizes = row_sizes(out.call(u, false), out.call(u, true), u)
  return out
end

-- ---- scales ----

-- The sizes of the unknowns, all of which are 0, by one function: of its value, slopes and second derivatives (lists
-- of magnitudes). F is what the function changes by: the most that a Newton step promises, else its value. A size is
-- the way on which the curvature alone, or else the slope, changes it by F. 0: the function does not tell.
local function sizes_by_row(value, slopes, curvatures)
  local F, sizes = 0, {}
  for j, slope in ipairs(slopes) do
    if curvatures[j] > 0 then F = math.max(F, slope * slope / curvatures[j]) end
  end
  if F == 0 then F = value end
  for j, slope in ipairs(slopes) do
    local size = curvatures[j] > 0 and math.sqrt(F / curvatures[j]) or slope > 0 and F / slope or 0
    sizes[j] = size < huge and size or 0
  end
  return sizes
end

-- The same, of row i of m functions; by_value: whether a value at x says how much the row changes.
local function sizes_by_derivatives(functions, x, m, i, by_value)
  local good, H = where.try(functions.hessian, x, i)
  local values, J, slopes, curvatures = functions.values(x, m), functions.jacobian(x, m), {}, {}
  for j = 1, #x do slopes[j], curvatures[j] = abs(J[i][j]), good and abs(H[j][j]) or 0 end
  return sizes_by_row(by_value and abs(values[i]) or 0, slopes, curvatures)
end

-- The sizes of the unknowns, all of which are 0, by the derivatives of f, or else of the constraints.
local function sizes_at_zero(p, x)
  local sizes = sizes_by_derivatives(p.functions, x, 1, 1)
  for _, c in ipairs(p.constraints) do
    for i = 1, c.m do
      local others = sizes_by_derivatives(c.functions, x, c.m, i, true)
      for j = 1, #x do sizes[j] = sizes[j] > 0 and sizes[j] or others[j] end
    end
  end
  return sizes
end

-- The gradient that tells sizes, where the method needs none: nil when f has no exact one.
local function gradient_for_sizes(p, x)
  local good, J = where.try(p.functions.jacobian, x, 1)
  return good and J[1] or nil
end

-- The sizes of the unknowns: of the point and, unless `narrow`, of the widths of the bounds.
local function take_scales(p, x, gradient, narrow)
  local scales, low, high, at_zero = {}, p.low, p.high, nil
  for j = 1, #x do
    local size, width = abs(x[j]), high[j] - low[j]
    if width < huge and not (narrow and size > 0) then size = math.max(size, width / 4) end
    if size == 0 then gradient = gradient or gradient_for_sizes(p, x) end
    if size == 0 and gradient then
      -- no size is known: the unknowns of the others' steps, by the gradient: g_j s_j is the same for all
      local largest = 0
      for k = 1, #x do largest = math.max(largest, abs(gradient[k] * x[k])) end
      if largest == 0 then
        at_zero = at_zero or sizes_at_zero(p, x)
        size = at_zero[j]
      elseif gradient[j] ~= 0 then size = largest / abs(gradient[j]) end
    end
    scales[j] = size > 0 and size < huge and power_of_two(size) or 1.0
  end
  return scales
end

local function value_scale(value, gradient, scales)
  local size = 0
  for j = 1, #scales do size = math.max(size, gradient and abs(gradient[j] * scales[j]) or 0) end
  if not (size > 0 and size < huge) then size = abs(value) end
  return size > 0 and size < huge and power_of_two(size) or 1.0
end

-- The largest violation of the rows, in units of their terms at the start.
local function violation_of(equal, above, u)
  local worst = 0
  if equal.m > 0 then
    for _, c in ipairs(equal.call(u, false):totable()) do worst = math.max(worst, abs(c)) end
  end
  if above.m > 0 then
    for _, c in ipairs(above.call(u, false):totable()) do worst = math.max(worst, -c) end
  end
  return worst
end

local function check_start(value, who)
  if value - value ~= 0 then fail("%s: f(x0) is %s", who, value ~= value and "nan" or "infinite") end
end

local function refuse(method, constraints, low, high, who)
  for _, c in ipairs(constraints) do
    if not method[c.kind] then
      local text = "%s: method '%s' takes no constraints of type '%s'; these do: %s"
      fail(text, who, method[1], c.kind, methods_with(c.kind))
    end
  end
  for j = 1, #low do
    if method.global and (low[j] == -huge or high[j] == huge) then
      fail("%s: method '%s' needs finite bounds of x[%d]", who, method[1], j)
    end
  end
end

-- The scales of a search from x that goes on after one with `scales`.
local function larger_scales(x, scales)
  local out = {}
  for j = 1, #x do out[j] = x[j] ~= 0 and math.max(scales[j], power_of_two(abs(x[j]))) or scales[j] end
  return out
end

-- One search by NLopt from x. p: the problem; narrow: see take_scales; sizes: the least sizes of the unknowns, where
-- the search goes on. Returns the point, how it ended, the violation, and the scaled problem.
local function search(p, x, calls, narrow, sizes)
  local low, high, method, functions = p.low, p.high, p.method, p.functions
  local value, gradient = functions.values(x, 1)[1], method.gradient and functions.jacobian(x, 1)[1] or nil
  local scales = sizes and larger_scales(x, sizes) or take_scales(p, x, gradient, narrow)
  local scale = value_scale(value, gradient, scales)
  local equal, above = stack(p.constraints, "eq", x, scales), stack(p.constraints, "ineq", x, scales)
  local u, lower, upper = core.zeros(#x), core.zeros(#x), core.zeros(#x)
  for j = 1, #x do u[j], lower[j], upper[j] = x[j] / scales[j], low[j] / scales[j], high[j] / scales[j] end
  local function unscaled(v)
    local y = v:copy()
    for j = 1, #v do y[j] = math.max(low[j], math.min(high[j], v[j] * scales[j])) end
    return y
  end
  local function objective(v, derivatives)
    local y = unscaled(v)
    if not derivatives then return functions.values(y, 1)[1] / scale end
    local J = functions.jacobian(y, 1):copy()
    for j = 1, #y do J[1][j] = J[1][j] * scales[j] / scale end
    return J
  end
  local function tolerances(m) return FEASIBLE * core.ones(m) end
  local ended, _, nfev, njev = problem.call(p.who, support.nlopt, u, {
    objective = objective, equal = equal.call, above = above.call, lower = lower, upper = upper,
    equal_tolerance = tolerances(equal.m), above_tolerance = tolerances(above.m), algorithm = method[2],
    method = ("method '%s'"):format(method[1]), ftol = p.tol, ftol_absolute = p.tol * ABSOLUTE, xtol = p.tol,
    xtol_absolute = p.tol * ABSOLUTE, calls = calls, seed = p.seed })
  for j = 1, #x do u[j] = math.max(lower[j], math.min(upper[j], u[j])) end -- Powell's search may end outside
  local violation = violation_of(equal, above, u)
  if ended ~= "calls" and violation > VIOLATED then ended = "infeasible" end
  return { x = unscaled(u), ended = ended, violation = violation, scales = scales, equal = equal, above = above,
    u = u, objective = objective, lower = lower, upper = upper, unscaled = unscaled, nfev = nfev, njev = njev,
    first = value / scale }
end

-- Whether a row is violated in units of its terms at the end, which are far smaller than those at the start.
local function has_shrunk(found)
  for _, rows in ipairs { found.equal, found.above } do
    local values = rows.m > 0 and rows.call(found.u, false)
    local terms = values and row_terms(values, rows.call(found.u, true), found.u) or {}
    for i, size in ipairs(terms) do
      local off = rows == found.above and -values[i] or abs(values[i])
      if off > 10 * FEASIBLE * size and off < size / 2 and size < SHRUNK then return true end
    end
  end
  return false
end

-- Searches from x, and once more: from a point near x where the search can not begin at x, since the equations,
-- linearised there, contradict each other; or from the end, where rows are far smaller there than at x.
local function search_again(p, x)
  local found = search(p, x, p.calls)
  local again = #p.constraints > 0 and p.method.gradient
  if again and (found.ended == "infeasible" or found.ended == "failed") and found.x == x then
    again = search(p, optimality.nearby(x, found.scales, p.low, p.high, NEARBY), p.calls)
  elseif again and found.ended ~= "calls" and has_shrunk(found) then
    again = search(p, found.x, p.calls, true)
  else
    return found
  end
  again.nfev, again.njev = again.nfev + found.nfev, again.njev + found.njev
  return again
end

-- The scaled problem at the end of a search, as the judge of minima takes it.
local function scaled_problem(p, found)
  local sizes = {}
  for j = 1, #found.u do sizes[j] = math.max(1, abs(found.u[j])) end
  for _, rows in ipairs { found.equal, found.above } do
    if rows.m > 0 then rows.terms = row_terms(rows.call(found.u, false), rows.call(found.u, true), found.u) end
  end
  local most = math.max(found.violation, FEASIBLE)
  return { u = found.u, sizes = sizes, lower = found.lower, upper = found.upper, objective = found.objective,
    equal = found.equal, above = found.above, tol = p.tol,
    allowed = function(v) return violation_of(found.equal, found.above, v) <= most end }
end

-- Judges the end of a search. Returns nil where it is a minimum; else why not, where to go on, and the unknown.
local function refusal(p, found)
  if p.method.gradient then
    local j = optimality.violated(scaled_problem(p, found))
    if j then return "gradient", found.x, j end
    return nil
  end
  local v, here, resolution = optimality.lower_beside(scaled_problem(p, found))
  if v then return "beside", found.unscaled(v) end
  -- beside a constraint few points are allowed: there an end counts when a search from it gets no lower
  local again = #p.constraints > 0 and not (found.goes_on and found.first - here <= resolution)
  if again then return "beside", found.x end
end

-- Whether the end of a search is one that tells of a minimum. (One by random points has no such end.)
local function tells_of_minimum(p, ended)
  return not p.method.random and ended ~= "calls" and ended ~= "infeasible"
end

-- Searches from x, and on from each end that is no minimum.
local function search_on(p, x)
  local found = search_again(p, x)
  for k = 0, AGAIN do
    if not tells_of_minimum(p, found.ended) then return found end
    local why, from, unknown = refusal(p, found)
    if not why then
      if found.ended == "failed" then found.ended = "rounding" end
      return found
    end
    found.ended, found.unknown = why, unknown
    local left = p.calls - found.nfev
    if k == AGAIN or left < 1 or p.method.global then return found end
    local next = search(p, from, left, nil, found.scales)
    next.nfev, next.njev, next.goes_on = next.nfev + found.nfev, next.njev + found.njev, true
    found = next
  end
end

local function minimize(f, x0, options)
  local who = "minimize"
  local o = arguments.options(options, who)
  local x = problem.point(x0, nil, who, "x0")
  local low, high = problem.bounds_around(x, o.bounds, who, true)
  local sizes = problem.sizes(x, low, high)
  local functions = problem.functions(f, o.grad, { who = who, jac = "grad", args = o.args, sizes = sizes })
  local constraints = take_constraints(o.constraints, x, who)
  local method = method_of(o.method, #constraints > 0, who)
  refuse(method, constraints, low, high, who)
  local tol = problem.tolerance(o.tol, 1e-12, who, "tol")
  if method.random then tol = 0 end
  local calls = o.max_nfev and arguments.integer(o.max_nfev, 1, who, "max_nfev")
    or (method.global and 20000 or method.gradient and 1000 or 2000) * (#x + 1)
  local seed = arguments.integer(o.seed or 1, 0, who, "seed")
  check_start(functions.values(x, 1)[1], who)
  local found = search_on({ who = who, low = low, high = high, method = method, functions = functions,
    constraints = constraints, tol = tol, seed = seed, calls = calls }, x)
  local ended, violation = found.ended, found.violation
  local value, gradient = functions.values(found.x, 1)[1], nil
  if method.gradient then gradient = functions.jacobian(found.x, 1)[1] end
  if method.random and ended == "calls" then ended = "done" end
  local success = ended == "cost" or ended == "done" or ended == "step" or ended == "rounding"
  return problem.result { x = found.x, fun = value, grad = gradient, success = success, status = ended,
    message = messages[ended]:format(found.unknown) .. (success and tested_of(method) or ""), nfev = found.nfev,
    njev = found.njev, method = method[1], violation = violation }
end

return minimize
