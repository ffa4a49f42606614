-- nslua.dynamics.exponents: Lyapunov exponents from the derivatives of the flow over windows of time.
--
-- With Q_0 = I, S_k the derivative of the flow over window k: S_k Q_{k-1} = Q_k R_k, and the exponents are the means
-- of log |diag R_k| over time; jumps of the state are in S_k. Benettin, Galgani, Giorgilli, Strelcyn, Meccanica 15,
-- 1980.
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
  local n, t = #x, flow.t0
  if options.transient then
    local rest = arguments.number(options.transient, who, "transient")
    for _ = 1, math.ceil(rest / window) do
      x = flow:run(x, start_of(flow, t), start_of(flow, t) + window, p).x
      t = t + window
    end
  end
  local _, rows = flow:course(x, start_of(flow, t), start_of(flow, t) + window, p)
  local sizes = flows.sizes(flow, rows)
  local Q, sums, half, history = core.eye(n), core.zeros(n), nil, core.zeros(count, n)
  for k = 1, count do
    local ta = start_of(flow, t)
    local S, run = flow:derivative(x, ta, ta + window, p, sizes)
    local R
    Q, R = core.qr(S * Q)
    for i = 1, n do
      sums[i] = sums[i] + math.log(math.abs(R[i][i]))
      history[k][i] = sums[i] / (k * window)
    end
    x, t = run.x, t + window
    if k == count // 2 then half = sums:copy() end
  end
  local list = (sums * (1 / (count * window))):totable()
  local first = half * (1 / (count // 2 * window))
  local spread = core.vector(n)
  for i = 1, n do spread[i] = math.abs(list[i] - first[i]) end
  table.sort(list, function(a, b) return a > b end)
  return setmetatable({ exponents = core.vector(list), history = history, spread = spread, x = x,
    dimension = dimension_of(list), windows = count }, Exponents)
end

return exponents
