-- nslua.dynamics.exponents: Lyapunov exponents from the derivatives of the flow over windows of time.
--
-- With Q_0 = I, S_k the derivative of the flow over window k: S_k Q_{k-1} = Q_k R_k, and the exponents are the means
-- of log |diag R_k| over time; jumps of the state are in S_k. States are divided by their sizes. A direction that S_k
-- takes to 0, as where sliding or sticking begins, has the exponent -inf; it comes last.
-- Benettin, Galgani, Giorgilli, Strelcyn, Meccanica 15, 1980.
local arguments = require "nslua.base.arguments"
local blocks = require "nslua.base.blocks"
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

-- A direction of which less than this part of its length is left is not known: derivatives have errors of about 1e-12
-- of their size. Then a window is halved, up to HALVINGS times.
local KNOWN, HALVINGS = 2 ^ -24, 10

-- M = Q R, and the sums of log |diag R|, in the order of the columns, after those in `before`. Columns that are lost
-- in those before them become the last ones. The third result is the least part of a direction that is left; one
-- that was lost before does not count.
local function orthogonal(M, before)
  local sums = { table.unpack(before) }
  local n, columns = M:rows(), {}
  for j = 1, n do columns[j] = M:column(j) end
  local Q, R
  local place, last = 1, n
  while place <= last do
    Q, R = core.qr(core.vstack(table.unpack(columns)):transpose())
    while place <= last and math.abs(R[place][place]) > LOST * columns[place]:norm() do place = place + 1 end
    if place < last then columns, sums = with_last(columns, place), with_last(sums, place) end
    if place <= last then last = last - 1 end
  end
  local least = 1
  for j = 1, n do
    local part = math.abs(R[j][j]) / columns[j]:norm()
    if sums[j] > -math.huge then least = math.min(least, part) end
    local lost = j > last and (part <= LOST or part ~= part)
    sums[j] = lost and -math.huge or sums[j] + math.log(math.abs(R[j][j]))
  end
  return Q, sums, least
end

-- S with the states divided by their sizes, which are powers of two.
local function scaled(S, sizes)
  local power = sizes:map(function(size) return 2.0 ^ math.floor(math.log(size, 2)) end)
  return blocks.times(S, power ^ -1, power)
end

-- The start of a window: time goes on for an ODE; a simulation starts again, its forces have the window's period.
local function start_of(flow, t) return flow.f and t or flow.t0 end

-- The state after the window from ta to tb, the basis Q and the sums there. A window of an ODE in which a direction
-- shrinks beyond what its derivative knows is halved; what is lost in the shortest one, too, is lost at once. A
-- smooth motion loses none.
local function over_window(flow, x, ta, tb, p, sizes, Q, sums, halvings)
  local S, run = flow:derivative(x, ta, tb, p, sizes)
  local next_Q, next_sums, least = orthogonal(scaled(S, sizes) * Q, sums)
  if least < KNOWN and flow.f and halvings > 0 then
    local middle = ta + (tb - ta) / 2
    x, Q, sums = over_window(flow, x, ta, middle, p, sizes, Q, sums, halvings - 1)
    return over_window(flow, x, middle, tb, p, sizes, Q, sums, halvings - 1)
  end
  if least < KNOWN and (least > LOST or flow.smooth) then
    fail("%s: window: neighbours come closer to each other by a factor of %.2g in %g, which their derivative does "
      .. "not resolve: give a shorter one", flow.who, least, tb - ta)
  end
  return run.x, next_Q, next_sums
end

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
    x, Q, sums = over_window(flow, x, ta, ta + window, p, sizes, Q, sums, HALVINGS)
    t = t + window
    for i = 1, n do history[k][i] = sums[i] / (k * window) end
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
  local time, window = arguments.positive(options.time, who, "time"),
    arguments.positive(options.window, who, "window")
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
