-- nslua.optimise.least_squares: parameters that make a sum of squares small.
--
--   local fit = ns.least_squares(function(p) return { p[1] - 1, p[2] * p[1] - 3 } end, { 0.5, 0.5 })
--   print(fit.x, fit.cost, fit.errors)
--
-- Runs of MINPACK's lmder (src/solvers/optimise/least_squares.h). With bounds, f is evaluated at the projection of
-- the point of lmder on the bounds; a parameter beyond its bound stays at the bound until the end of the run (its
-- column of the Jacobian is 0). A run begins with the parameters that are not at a bound, and with those whose
-- gradient points away from their bound. Runs end when the last one found nothing better. Then the gradient of each
-- parameter is judged, whatever lmder says: where some are not small, the next run is over these parameters alone.
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local losses = require "nslua.optimise.losses"
local problem = require "nslua.optimise.problem"

local fail, reject = arguments.fail, arguments.reject
local support = core.optimise_support
local huge = math.huge

-- Largest number of runs: each but the last two decreases the cost or changes which parameters are at bounds.
local MOST_RUNS = 100

-- A column of J that is shorter than this part of its length at the start has vanished: its parameter has no
-- effect there.
local VANISHED = 1e-8
-- A column shorter than this part of its length at the start belongs to a parameter near a point without effect, as 0
-- of x^2: a minimum, or a saddle, to which the search comes where the other side is not lower. Chosen by experience.
local SHRUNK = 1e-3
-- Largest first step of the second try, in units of the scaled parameters: the least that MINPACK recommends. That
-- of the first try is 100.
local SHORT_STEP = 0.1

-- The judge of an end. A gradient is small when the cosine between its column of J and the residuals is below FLAT
-- (runs that converge leave 1e-12 to 1e-7), or when its Gauss-Newton step is below NEAR of its parameter, or promises
-- a change of the residuals below ROUNDING of those at the start: then the residuals are rounding.
local FLAT, NEAR, ROUNDING = 1e-5, 2.0 ^ -30, 2.0 ^ -50
-- How often the step is halved by which a parameter moves to see whether the cost is lower beside x.
local HALVINGS = 26

local messages = {
  gradient = "the residuals are orthogonal to the columns of the Jacobian (gtol)",
  cost = "the cost no longer decreases (ftol)",
  step = "the parameters no longer change (xtol)",
  rounding = "the cost can't be made smaller: the tolerances are below rounding",
  calls = "the number of evaluations (max_nfev) is reached",
  kink = "the cost is not lower beside x, where its derivatives jump",
  nothing = "every parameter is at a bound, where the gradient points outward",
  stuck = "the search ended where the gradient is not small: x[%d] can move and lower the cost",
}

local function take_loss(options, who)
  local name = options.loss or "linear"
  local loss = losses[name]
  reject(not loss, name, "%s: loss: expected linear, soft_l1, huber, cauchy or arctan", who)
  local scale = arguments.number(options.f_scale or 1, who, "f_scale")
  if not (scale > 0 and scale < huge) then fail("%s: f_scale: expected a number above 0, got %g", who, scale) end
  return loss, scale, name == "linear"
end

local function take_sizes(options, x, low, high, who)
  local given = options.x_scale
  if given == nil or given == "jac" then return problem.sizes(x, low, high) end
  if type(given) == "number" then given = core.full(#x, given) end
  local sizes = arguments.numbers(given, #x, who, "x_scale")
  for j, s in ipairs(sizes) do
    if s <= 0 then fail("%s: x_scale[%d]: expected a number above 0, got %g", who, j, s) end
  end
  return sizes, core.vector(sizes)
end

-- The problem: values F and Jacobian of the residuals under the loss, at a full point.
local function robust(functions, loss, scale, linear)
  local out = { nfev = 0, njev = 0 }
  function out.plain(x, m)
    out.nfev = out.nfev + 1
    return functions.values(x, m)
  end
  function out.values(x, m)
    local f = out.plain(x, m)
    if not linear then
      for i = 1, #f do f[i] = scale * loss(f[i] / scale) end
    end
    return f
  end
  function out.jacobian(x, m)
    out.njev = out.njev + 1
    local J = functions.jacobian(x, m)
    if linear then return J end
    J = J:copy()
    local f = functions.values(x, m)
    for i = 1, m do
      local _, slope = loss(f[i] / scale)
      for j = 1, #x do J[i][j] = slope * J[i][j] end
    end
    return J
  end
  return out
end

local function clamp(x, low, high)
  for j = 1, #x do x[j] = math.max(low[j], math.min(high[j], x[j])) end
  return x
end

local function cost_of(F)
  local sum = 0
  for i = 1, #F do sum = sum + F[i] * F[i] end
  return sum / 2
end

-- The numbers of the parameters that may move from x: those at a bound only when the gradient points inward.
local function free_parameters(x, gradient, low, high)
  local free = {}
  for j = 1, #x do
    local stays = low[j] == high[j] or x[j] <= low[j] and gradient[j] >= 0 or x[j] >= high[j] and gradient[j] <= 0
    if not stays then free[#free + 1] = j end
  end
  return free
end

local function column_length(J, j) return J:column(j):norm() end

-- Those of the free parameters whose gradient is not small at x, where the residuals are F. first: F and J at the
-- start. (A column that has vanished, as of x^2 at 0, is measured by its length at the start.)
local function steep_parameters(x, free, F, J, first, sizes)
  local gradient, norm, first_norm, list = J:transpose() * F, F:norm(), first.F:norm(), {}
  for _, j in ipairs(free) do
    local length = math.max(column_length(J, j), column_length(first.J, j))
    local change = length > 0 and math.abs(gradient[j] / length) or 0
    local size = math.max(math.abs(x[j]), math.abs(first.x[j]), sizes[j])
    local small = change <= FLAT * norm or change <= NEAR * size * length or change <= ROUNDING * first_norm
    if not small then list[#list + 1] = j end
  end
  return list
end

-- One run of lmder over the free parameters; x becomes its last point. lengths: of the columns of J so far, by
-- which a run that starts anew scales its steps; a column that has vanished would else allow any step.
local function run(robust_problem, x, free, m, o, lengths)
  local function full(part)
    local at, beyond = x:copy(), {}
    for k, j in ipairs(free) do
      at[j] = math.max(o.low[j], math.min(o.high[j], part[k]))
      beyond[k] = part[k] < o.low[j] or part[k] > o.high[j]
    end
    return at, beyond
  end
  local function f(part, derivatives)
    local at, beyond = full(part)
    if not derivatives then return robust_problem.values(at, m) end
    local all, J = robust_problem.jacobian(at, m), core.zeros(m, #free)
    for k, j in ipairs(free) do
      if not beyond[k] then
        for i = 1, m do J[i][k] = all[i][j] end
      end
    end
    return J
  end
  local scales = o.scale or lengths
  local part, scale = core.zeros(#free), scales and core.zeros(#free)
  for k, j in ipairs(free) do
    part[k] = x[j]
    if scale then scale[k] = scales[j] > 0 and scales[j] or 1 end
  end
  local left = math.max(1, o.max_nfev - robust_problem.nfev)
  local ended = problem.call(o.who, support.lmder, f, part, m, scale, o.ftol, o.xtol, o.gtol, left,
    o.first or 0)
  return (full(part)), ended
end

-- A point at which the cost is lower than at x, with x[j] moved by `step` or a part of it to either side; nil: there
-- is none. Lower is what a gradient that is not small promises at least.
local function point_below(robust_problem, x, j, step, F, m, o)
  local lower, y = cost_of(F) * (1 - FLAT * FLAT), x:copy()
  for k = 0, HALVINGS do
    for side = -1, 1, 2 do
      y[j] = x[j] + side * 2.0 ^ -k * step
      local at = clamp(y, o.low, o.high)
      if cost_of(robust_problem.values(at, m)) < lower then return at end
    end
  end
end

-- Those of the parameters in `list` that lower the cost when they move by their Gauss-Newton step or a part of it: at
-- a kink of the cost, as where an impact passes the time of a sample, none does.
local function lowering_parameters(robust_problem, list, x, F, J, m, o)
  local gradient, lowering = J:transpose() * F, {}
  for _, j in ipairs(list) do
    local length = column_length(J, j)
    if length > 0 and point_below(robust_problem, x, j, gradient[j] / length / length, F, m, o) then
      lowering[#lowering + 1] = j
    end
  end
  return lowering
end

-- A lower point beside a saddle, where the column of a free parameter has shrunk, and the parameter; nil: there is
-- none.
local function point_beside_saddle(robust_problem, x, free, F, J, first, m, o)
  for _, j in ipairs(free) do
    if column_length(J, j) < SHRUNK * column_length(first.J, j) then
      local size = math.max(math.abs(x[j]), math.abs(first.x[j]), o.sizes[j])
      local below = point_below(robust_problem, x, j, size, F, m, o)
      if below then return below, j end
    end
  end
end

-- Runs until the last one changes neither x nor the set of free parameters. Returns the Jacobian at the start, too.
local function search(robust_problem, x, m, o)
  local F = robust_problem.values(x, m)
  for i = 1, m do
    if F[i] - F[i] ~= 0 then
      fail("%s: f[%d] is %s at the start", o.who, i, F[i] ~= F[i] and "nan" or "infinite")
    end
  end
  local J, cost, ended, bounded = robust_problem.jacobian(x, m), cost_of(F), "calls", false
  local first, steep, lengths = { x = x:copy(), F = F:copy(), J = J }, nil, nil
  for j = 1, #x do bounded = bounded or o.low[j] > -huge or o.high[j] < huge end
  for number = 1, MOST_RUNS do
    local free = free_parameters(x, J:transpose() * F, o.low, o.high)
    if #free == 0 then ended = "nothing" break end
    local next_x
    next_x, ended = run(robust_problem, x, steep or free, m, o, lengths)
    local next_F = robust_problem.values(next_x, m)
    local next_cost = cost_of(next_F)
    local better = next_cost < cost
    local settled = not bounded and not steep or x == next_x or not better
    if next_cost <= cost then
      x, F, cost = next_x, next_F, next_cost
      J = robust_problem.jacobian(x, m)
    end
    lengths = lengths or core.zeros(#x)
    for j = 1, #x do lengths[j] = math.max(lengths[j], column_length(first.J, j), column_length(J, j)) end
    if ended == "calls" then break end
    if settled or number == MOST_RUNS then
      free = free_parameters(x, J:transpose() * F, o.low, o.high)
      local found = steep_parameters(x, free, F, J, first, o.sizes)
      local below, at
      if #found == 0 then below, at = point_beside_saddle(robust_problem, x, free, F, J, first, m, o) end
      if #found == 0 and not below then break end
      if below then
        x, F, found = below, robust_problem.values(below, m), { at }
        J, cost = robust_problem.jacobian(x, m), cost_of(F)
      elseif steep and not better then
        found = lowering_parameters(robust_problem, found, x, F, J, m, o)
        if #found == 0 then ended = "kink" break end
        if #found == #steep then return x, F, J, cost, "stuck", first.J, found[1] end
      end
      if number == MOST_RUNS then return x, F, J, cost, "stuck", first.J, found[1] end
      steep = found
    else
      steep = nil
    end
  end
  return x, F, J, cost, ended, first.J
end

-- Whether a column of J that was there at the start has vanished at the end.
local function has_lost_column(first, last)
  for j = 1, first:cols() do
    if last:column(j):norm(huge) < VANISHED * first:column(j):norm(huge) then return true end
  end
  return false
end

-- The search; again with a short first step where a parameter has no effect at its end: the first step went too far.
local function search_twice(robust_problem, x0, m, o)
  local found = table.pack(search(robust_problem, x0:copy(), m, o))
  if robust_problem.nfev >= o.max_nfev or not has_lost_column(found[6], found[3]) then return table.unpack(found) end
  o.first = SHORT_STEP
  local other = table.pack(search(robust_problem, x0:copy(), m, o))
  return table.unpack(other[4] < found[4] and other or found)
end

-- The inverse of J'J, for the columns of the parameters that are not at a bound; nil when it does not exist. The
-- columns are scaled to the length 1 first.
local function inverse_normal(J, x, low, high)
  local m = J:shape()
  local free, lengths = {}, {}
  for j = 1, #x do
    if x[j] > low[j] and x[j] < high[j] then free[#free + 1] = j end
  end
  if #free == 0 or m < #free then return nil end
  local A = core.zeros(m, #free)
  for k, j in ipairs(free) do
    local largest, sum = 0, 0
    for i = 1, m do largest = math.max(largest, math.abs(J[i][j])) end
    if largest == 0 then return nil end
    for i = 1, m do sum = sum + (J[i][j] / largest) ^ 2 end
    lengths[k] = largest * math.sqrt(sum)
    for i = 1, m do A[i][k] = J[i][j] / lengths[k] end
  end
  local _, s, V = A:svd()
  if s[#free] <= 1e-14 * s[1] then return nil end
  local out = core.zeros(#x, #x)
  for a, i in ipairs(free) do
    for b, j in ipairs(free) do
      local sum = 0
      for k = 1, #free do sum = sum + V[a][k] * V[b][k] / s[k] ^ 2 end
      out[i][j] = sum / lengths[a] / lengths[b]
    end
  end
  return out
end

local function least_squares(f, x0, options)
  local who = "least_squares"
  local o = arguments.options(options, who)
  local x = problem.point(x0, nil, who, "x0")
  local low, high = problem.bounds_around(x, o.bounds, who)
  local sizes, scale = take_sizes(o, x, low, high, who)
  local loss, f_scale, linear = take_loss(o, who)
  local functions = problem.functions(f, o.jac, { who = who, args = o.args, sizes = sizes })
  local m = #functions.values(x)
  local free = 0
  for j = 1, #x do free = free + (low[j] < high[j] and 1 or 0) end
  if m < free then fail("%s: %d residuals are too few for %d parameters", who, m, free) end
  local robust_problem = robust(functions, loss, f_scale, linear)
  local F, J, cost, ended, _, stuck
  x, F, J, cost, ended, _, stuck = search_twice(robust_problem, clamp(x, low, high), m, {
    who = who, low = low, high = high, scale = scale, sizes = sizes,
    ftol = problem.tolerance(o.ftol, 1e-15, who, "ftol"), xtol = problem.tolerance(o.xtol, 1e-12, who, "xtol"),
    gtol = problem.tolerance(o.gtol, 1e-12, who, "gtol"),
    max_nfev = o.max_nfev and arguments.integer(o.max_nfev, 1, who, "max_nfev") or 200 * (#x + 1) })
  local active = core.zeros(#x)
  for j = 1, #x do active[j] = x[j] <= low[j] and -1 or x[j] >= high[j] and 1 or 0 end
  local inverse, covariance = inverse_normal(J, x, low, high), nil
  local degrees = m - free
  for j = 1, #x do degrees = degrees + (active[j] ~= 0 and low[j] < high[j] and 1 or 0) end
  local errors
  if inverse and degrees > 0 then
    covariance, errors = inverse * (2 * cost / degrees), core.zeros(#x)
    for i = 1, #x do
      for j = 1, #x do -- the bound decides, not the data
        local held = active[i] ~= 0 and low[i] < high[i] or active[j] ~= 0 and low[j] < high[j]
        if held then covariance[i][j] = 0 / 0 end
      end
    end
    for j = 1, #x do errors[j] = math.sqrt(covariance[j][j]) end
  end
  return problem.result {
    x = x, cost = cost, fun = functions.values(x, m), jac = J, grad = J:transpose() * F, active_mask = active,
    status = ended, success = ended ~= "calls" and ended ~= "stuck",
    message = messages[ended]:format(stuck),
    nfev = robust_problem.nfev, njev = robust_problem.njev, covariance = covariance, errors = errors }
end

return least_squares
