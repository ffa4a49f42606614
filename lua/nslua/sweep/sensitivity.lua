-- nslua.sweep.sensitivity: Sobol indices: which share of the variance of a result each parameter accounts for.
--
-- First order: A. Saltelli and others, Computer Physics Communications 181, 2010, table 2 (b). Total: M. Jansen,
-- Computer Physics Communications 117, 1999. Standard errors by the bootstrap over the points.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local designs = require "nslua.sweep.design"
local keys_of = require "nslua.base.lists".keys
local sweeps = require "nslua.sweep"
local tasks = require "nslua.sweep.tasks"

local fail, expect = arguments.fail, arguments.expect

local sensitivity = {}

local REPEATS = 200 -- of the bootstrap: the error of a standard error is then about 5 %

-- The points: blocks of n rows: A, B, and for each parameter A with that parameter from B.
local function points(n, ranges, seed)
  local names, both = keys_of(ranges), {}
  for _, name in ipairs(names) do both["A " .. name], both["B " .. name] = ranges[name], ranges[name] end
  local base, columns = designs.sobol(n, both, { seed = seed }), {}
  for _, name in ipairs(names) do
    local column, a, b = {}, base.axes["A " .. name], base.axes["B " .. name]
    for block = 1, #names + 2 do
      local from = (block == 2 or names[block - 2] == name) and b or a
      table.move(from, 1, n, (block - 1) * n + 1, column)
    end
    columns[name] = column
  end
  return tasks.columns(columns, names, n * (#names + 2)), names
end

-- Variance, first-order and total indices of the values f, over the points in `picked`.
local function estimate(f, n, count, picked)
  local m, sum, square = #picked, 0, 0
  for _, k in ipairs(picked) do sum = sum + f[k] + f[n + k] end
  local mean = sum / (2 * m)
  for _, k in ipairs(picked) do square = square + (f[k] - mean) ^ 2 + (f[n + k] - mean) ^ 2 end
  local variance, first, total = square / (2 * m - 1), {}, {}
  for i = 1, count do
    local s, t, from = 0, 0, (i + 1) * n
    for _, k in ipairs(picked) do
      s = s + (f[n + k] - mean) * (f[from + k] - f[k])
      t = t + (f[k] - f[from + k]) ^ 2
    end
    first[i], total[i] = s / m / variance, t / (2 * m) / variance
  end
  return variance, first, total, mean
end

local function spread(lists)
  local sum, square = 0, 0
  for _, x in ipairs(lists) do sum, square = sum + x, square + x * x end
  return math.sqrt(math.max(0, square / #lists - (sum / #lists) ^ 2))
end

-- ns.sobol_indices
function sensitivity.sobol_indices(given)
  local who = "sobol_indices"
  local o = arguments.options(given, who)
  expect(o.ranges, "table", "%s: ranges: expected a table", who)
  local n = o.n == nil and 1024 or arguments.integer(o.n, 2, who, "n")
  local seed = o.seed == nil and 1 or arguments.integer(o.seed, math.mininteger, who, "seed")
  local design, names = points(n, o.ranges, seed)
  local result = o.result or "value"
  local sweep = sweeps.sweep(sweeps.pass_on(o, { parameters = design, run = o.run, seed = seed }))
  local column = sweep:table():column(result)
  if not core.isvector(column) then fail("%s: %s: expected one number from each task", who, result) end
  local f, good = column:totable(), {}
  for k = 1, n do
    local whole = true
    for block = 0, #names + 1 do whole = whole and f[block * n + k] - f[block * n + k] == 0 end
    if whole then good[#good + 1] = k end
  end
  if #good < 2 then fail("%s: only %d of %d points have all their results", who, #good, n) end
  local variance, first, total, mean = estimate(f, n, #names, good)
  if variance == 0 then fail("%s: the result is the same at all points", who) end
  local rng, firsts, totals = core.rng(seed, -1), {}, {}
  for r = 1, REPEATS do
    local picked = {}
    for k = 1, #good do picked[k] = good[rng:integers(1, #good)] end
    local _, a, b = estimate(f, n, #names, picked)
    for i = 1, #names do
      firsts[i], totals[i] = firsts[i] or {}, totals[i] or {}
      firsts[i][r], totals[i][r] = a[i], b[i]
    end
  end
  local answer = { names = names, mean = mean, variance = variance, points = #good, sweep = sweep, first = {},
    total = {}, first_error = {}, total_error = {} }
  for i, name in ipairs(names) do
    answer.first[name], answer.total[name] = first[i], total[i]
    answer.first_error[name], answer.total_error[name] = spread(firsts[i]), spread(totals[i])
  end
  return answer
end

return sensitivity
