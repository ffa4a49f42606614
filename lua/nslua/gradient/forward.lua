-- nslua.gradient.forward: the gradient of a cost from S = dx / dp of the run:
--   terminal_x S(T) + integral of cost_x S + sum over the events of (cost before - cost after) dt / dp,
-- and what the functions of the cost have by the parameters themselves.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local cost = require "nslua.gradient.cost"

local fail = arguments.fail
local abs, max = math.abs, math.max
local state_at = core.solution_methods.at

-- Gauss' rule of 5 points on [0, 1], of order 10.
local POINTS, WEIGHTS = { 0.5 }, { 64 / 225 }
for sign = -1, 1, 2 do
  local x = math.sqrt(5 + sign * 2 * math.sqrt(10 / 7)) / 3
  for side = -1, 1, 2 do
    POINTS[#POINTS + 1], WEIGHTS[#WEIGHTS + 1] = (1 + side * x) / 2, (322 - sign * 13 * math.sqrt(70)) / 1800
  end
end

-- An interval is halved until that changes the integral by less than this part of the integral of the terms' sizes.
local PART = 1e-11
-- An interval is halved at most so often: then it is 2^-40 of the distance of two rows, and holds a kink of the cost.
local HALVINGS = 40
-- Times of simultaneous events move together when their derivatives differ by less than this part.
local TOGETHER = 1e-6

-- slopes (p) += weight * c S, sizes (p) += weight * |c| |S|, for the gradient c of a function of x.
local function add_products(c, S, weight, slopes, sizes)
  for i = 1, #c do
    local ci = c[i] * weight
    if ci ~= 0 then
      local term = ci * S[i]
      slopes:assign(slopes + term)
      if sizes then sizes:assign(sizes + term:abs()) end
    end
  end
end

-- ---- the integral ----

-- An integral that is 0: its value, the size of its terms, and both for its slopes by the parameters.
local function nothing(run) return { value = 0, size = 0, slopes = core.zeros(run.p), sizes = core.zeros(run.p) } end

-- The integral over [a, b] by one rule: value, its size, and slopes and sizes by the parameters.
local function rule(run, a, b)
  local sum = nothing(run)
  for k = 1, 5 do
    local t, weight = a + POINTS[k] * (b - a), WEIGHTS[k] * (b - a)
    local at = state_at(run.sol, t)
    local c, by_x, by_p = cost.slopes(run, "cost", t, at.x)
    sum.value, sum.size = sum.value + weight * c, sum.size + weight * abs(c)
    add_products(by_x, at.S, weight, sum.slopes, sum.sizes)
    if by_p then sum.slopes, sum.sizes = sum.slopes + weight * by_p, sum.sizes + weight * by_p:abs() end
  end
  return sum
end

local function add(to, part)
  to.value, to.size = to.value + part.value, to.size + part.size
  to.slopes, to.sizes = to.slopes + part.slopes, to.sizes + part.sizes
  return to
end

local function agree(whole, halves, total)
  if abs(whole.value - halves.value) > PART * max(total.size, halves.size) then return false end
  return not (whole.slopes - halves.slopes):abs():gt(PART * core.maximum(total.sizes, halves.sizes)):any()
end

-- Adds the integral over [a, b] to `to`; whole: by one rule.
local function integrate(run, a, b, whole, total, halvings, to)
  local middle = a + (b - a) / 2
  local left, right = rule(run, a, middle), rule(run, middle, b)
  local halves = add(add(nothing(run), left), right)
  if halvings == 0 or agree(whole, halves, total) then return add(to, halves) end
  integrate(run, a, middle, left, total, halvings - 1, to)
  integrate(run, middle, b, right, total, halvings - 1, to)
end

-- The integral over the run, between its rows.
local function integral(run)
  local t, parts = run.sol.t, {}
  local total, result = nothing(run), nothing(run)
  for k = 1, #t - 1 do
    if t[k + 1] > t[k] then parts[#parts + 1] = { t[k], t[k + 1], rule(run, t[k], t[k + 1]) } end
  end
  for _, part in ipairs(parts) do add(total, part[3]) end
  for _, part in ipairs(parts) do integrate(run, part[1], part[2], part[3], total, HALVINGS, result) end
  return result.value, result.slopes
end

-- ---- jumps at events ----

-- Whether the times of two events move together.
local function together(a, b)
  for j = 1, #a do
    if abs(a[j] - b[j]) > TOGETHER * (abs(a[j]) + abs(b[j])) then return false end
  end
  return true
end

-- The events that have a derivative of their time, in groups of one time.
local function groups(events)
  local list = {}
  for _, event in ipairs(events) do
    local last = list[#list]
    if event.dt and event.dt[1] == event.dt[1] then
      if last and last[1].t == event.t then last[#last + 1] = event else list[#list + 1] = { event } end
    end
  end
  return list
end

local function name_of(event) return event.interaction or event.name or event.kind end

-- slopes += (cost before - cost after) dt for each event.
local function add_jumps(run, slopes)
  for _, group in ipairs(groups(run.sol.events)) do
    local t = group[1].t
    local jump = cost.jump(run, t)
    for k = 2, jump ~= 0 and #group or 0 do
      if not together(group[1].dt, group[k].dt) then
        fail("gradient: the events of '%s' and '%s' at t=%.10g are simultaneous, the cost jumps there, and their "
          .. "order depends on the parameters: there is no derivative", name_of(group[1]), name_of(group[k]), t)
      end
    end
    for j = 1, #slopes do slopes[j] = slopes[j] + jump * group[1].dt[j] end
  end
end

-- The derivatives by the parameters. run: sol, options, values (of the parameters); run.value: += the cost.
return function(run)
  run.p = #run.values
  function run.state(t, side) return state_at(run.sol, t, side).x end
  local slopes = core.zeros(run.p)
  if run.options.cost then
    local value
    value, slopes = integral(run)
    run.value = run.value + value
    add_jumps(run, slopes)
  end
  if run.options.terminal then
    local at = state_at(run.sol, run.sol.t[#run.sol])
    local value, by_x, by_p = cost.slopes(run, "terminal", at.t, at.x)
    run.value = run.value + value
    add_products(by_x, at.S, 1, slopes)
    if by_p then slopes = slopes + by_p end
  end
  return slopes
end
