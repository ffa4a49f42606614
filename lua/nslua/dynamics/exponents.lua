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

-- ns.dynamics.lyapunov
function exponents.lyapunov(options)
  local who = "dynamics.lyapunov"
  options = arguments.options(options, who)
  local flow, x, p = sections.start(options, who)
  local time, window = positive(options, "time", who), positive(options, "window", who)
  local count = math.floor(time / window + 0.5)
  if count < 2 then fail("%s: window: expected at most half of time = %g, got %g", who, time, window) end
  if count > WINDOWS then
    fail("%s: window: expected at least time / %g = %g, got %g", who, WINDOWS, time / WINDOWS, window)
  end
  local n, t = #x, flow.t0
  if options.transient then
    local rest = arguments.number(options.transient, who, "transient")
    if rest / window > WINDOWS then
      fail("%s: transient: expected at most %g windows of %g, got %g", who, WINDOWS, window, rest)
    end
    for _ = 1, math.ceil(rest / window) do
      x = flow:run(x, start_of(flow, t), start_of(flow, t) + window, p).x
      t = t + window
    end
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
  local spread = core.vector(n)
  for i = 1, n do spread[i] = list[i] == first[i] and 0 or math.abs(list[i] - first[i]) end
  return setmetatable({ exponents = core.vector(list), history = history, spread = spread, x = x,
    dimension = dimension_of(list), windows = count }, Exponents)
end

return exponents
