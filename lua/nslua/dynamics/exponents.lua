-- nslua.dynamics.exponents: Lyapunov exponents from the derivatives of the flow over windows of time.
--
-- With Q_0 = I, S_k the derivative of the flow over window k: S_k Q_{k-1} = Q_k R_k, and the exponents are the means
-- of log |diag R_k| over time; jumps of the state are in S_k. States are divided by their sizes. A direction that S_k
-- takes to 0, as where sliding or sticking begins, has the exponent -inf; it comes last.
-- Benettin, Galgani, Giorgilli, Strelcyn, Meccanica 15, 1980.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local sections = require "nslua.dynamics.section"
local spread = require "nslua.sweep.spread"
local where = require "nslua.base.where"

local fail = arguments.fail
local format = core.number_support.format

local exponents = {}

local Exponents = {}
Exponents.__index = Exponents
Exponents.__name = "lyapunov"

function Exponents:__tostring()
  return format("Lyapunov exponents %s, Kaplan-Yorke dimension %g", tostring(self.exponents), self.dimension)
end

where.methods(Exponents, "a result of lyapunov", "result")

-- The dimension of Kaplan and Yorke.
local function dimension_of(list)
  local sum = 0
  for i, value in ipairs(list) do
    if sum + value < 0 then return i == 1 and 0 or i - 1 + sum / -value end
    sum = sum + value
  end
  return #list
end

local function positive(options, name, who)
  local value = arguments.number(options[name], who, name)
  if value <= 0 or value == math.huge then fail("%s: %s: expected a number above 0, got %g", who, name, value) end
  return value
end

local WINDOWS = 1e6 -- at most so many of them, in the time and in the transient: minutes

-- What is left of a direction below this part of its length counts as 0: where sliding begins it is 0 to rounding.
local LOST = 2 ^ -44

local function with_last(list, i)
  local out = {}
  for k = 1, #list do
    if k ~= i then out[#out + 1] = list[k] end
  end
  out[#out + 1] = list[i]
  return out
end

-- M = Q R; `sums` are in the order of the columns. Columns that are lost in those before them become the last ones.
local function orthogonal(M, sums)
  local n, columns = M:rows(), {}
  for j = 1, n do columns[j] = M:column(j) end
  local Q, R
  local place, last = 1, n
  while place <= last do
    local ordered = core.zeros(n, n)
    for j = 1, n do
      for i = 1, n do ordered[i][j] = columns[j][i] end
    end
    Q, R = core.qr(ordered)
    while place <= last and math.abs(R[place][place]) > LOST * columns[place]:norm() do place = place + 1 end
    if place < last then columns, sums = with_last(columns, place), with_last(sums, place) end
    if place <= last then last = last - 1 end
  end
  for j = 1, n do
    local lost = j > last and math.abs(R[j][j]) <= LOST * columns[j]:norm()
    sums[j] = lost and -math.huge or sums[j] + math.log(math.abs(R[j][j]))
  end
  return Q, sums
end

-- S with the states divided by their sizes, which are powers of two.
local function scaled(S, sizes)
  local out, power = S:copy(), {}
  for i = 1, #sizes do power[i] = 2.0 ^ math.floor(math.log(sizes[i], 2)) end
  for i = 1, #power do
    for j = 1, #power do out[i][j] = S[i][j] * power[j] / power[i] end
  end
  return out
end

-- The start of a window: time goes on for an ODE; a simulation starts again, its forces have the window's period.
local function start_of(flow, t) return flow.f and t or flow.t0 end

-- The exponents of the motion from x at a value of the parameter. o: window, count (of windows), rest (windows
-- before).
local function measure(flow, x, p, o)
  local window, count, n, t = o.window, o.count, #x, flow.t0
  for _ = 1, o.rest do
    x = flow:run(x, start_of(flow, t), start_of(flow, t) + window, p).x
    t = t + window
  end
  local _, rows = flow:course(x, start_of(flow, t), start_of(flow, t) + window, p)
  local sizes = flows.sizes(flow, rows)
  local Q, sums, half, history = core.eye(n), {}, nil, core.zeros(count, n)
  for i = 1, n do sums[i] = 0 end
  for k = 1, count do
    local ta = start_of(flow, t)
    local S, run = flow:derivative(x, ta, ta + window, p, sizes)
    Q, sums = orthogonal(scaled(S, sizes) * Q, sums)
    for i = 1, n do history[k][i] = sums[i] / (k * window) end
    x, t = run.x, t + window
    if k == count // 2 then half = { table.unpack(sums) } end
  end
  local list, first = {}, {}
  for i = 1, n do list[i], first[i] = sums[i] / (count * window), half[i] / (count // 2 * window) end
  table.sort(list, function(a, b) return a > b end)
  table.sort(first, function(a, b) return a > b end)
  local change = core.vector(n)
  for i = 1, n do change[i] = list[i] == first[i] and 0 or math.abs(list[i] - first[i]) end
  return { exponents = core.vector(list), history = history, spread = change, x = x, dimension = dimension_of(list),
    windows = count }
end

-- ---- over values of the parameter ----

local Table = {}
Table.__index = Table
Table.__name = "exponents"

function Table:__tostring()
  return format("Lyapunov exponents at %d values, p = %g .. %g, %d values failed", #self.p, self.p[1],
    self.p[#self.p], #self.failures)
end

function Table:plot(options) return require "nslua.dynamics.picture".exponents(self, options) end

where.methods(Table, "a result of lyapunov with values", "result")

local function over(flow, x, values, o, options)
  local n, count = #x, #values
  local lists, messages = spread.each(options, count, function(k)
    local one = measure(flow, x, values[k], o)
    local list = { one.dimension }
    for i = 1, n do list[1 + i], list[1 + n + i] = one.exponents[i], one.spread[i] end
    return list
  end, "dynamics.lyapunov")
  local t = setmetatable({ p = core.vector(values), exponents = core.zeros(count, n), spread = core.zeros(count, n),
    dimension = core.zeros(count), windows = o.count, failures = {} }, Table)
  for k, p in ipairs(values) do
    local list = lists[k]
    t.dimension[k] = list and list[1] or 0 / 0
    for i = 1, n do
      t.exponents[k][i], t.spread[k][i] = list and list[1 + i] or 0 / 0, list and list[1 + n + i] or 0 / 0
    end
    if not list then t.failures[#t.failures + 1] = { p = p, message = messages[k] } end
  end
  if #t.failures == count then
    fail("dynamics.lyapunov: no value gave exponents; the first: %s", t.failures[1].message)
  end
  return t
end

-- ns.dynamics.lyapunov
function exponents.lyapunov(options)
  local who = "dynamics.lyapunov"
  options = arguments.options(options, who)
  local values = options.values ~= nil and arguments.numbers(options.values, nil, who, "values")
  if values and #values == 0 then fail("%s: values: the list has no values", who) end
  if values and options.value ~= nil then fail("%s: expected value = or values =, got both", who) end
  if not values and spread.is_wanted(options) then
    fail("%s: workers: they share out values =, which is not there", who)
  end
  local flow, x, p = sections.start(options, who, values and values[1] or nil)
  local time, window = positive(options, "time", who), positive(options, "window", who)
  local o = { window = window, count = math.floor(time / window + 0.5) }
  if o.count < 2 then fail("%s: window: expected at most half of time = %g, got %g", who, time, window) end
  if o.count > WINDOWS then
    fail("%s: window: expected at least time / %g = %g, got %g", who, WINDOWS, time / WINDOWS, window)
  end
  local rest = options.transient and arguments.number(options.transient, who, "transient") or 0
  if rest / window > WINDOWS then
    fail("%s: transient: expected at most %g windows of %g, got %g", who, WINDOWS, window, rest)
  end
  o.rest = math.ceil(rest / window)
  if values then return over(flow, x, values, o, options) end
  return setmetatable(measure(flow, x, p, o), Exponents)
end

return exponents
