-- nslua.gradient.backward: the gradient of a cost by the recorded run, backwards.
--
-- mu = d(cost of what is ahead) / dx goes back from the end through the pieces and the events of the run; see
-- src/integrators/sensitivity_tape.h. The cost enters as polynomials in each interval.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"
local cost = require "nslua.gradient.cost"

local fail = arguments.fail
local abs = math.abs
local back = core.adjoint
local NODES = back.nodes()

-- An interval is halved until the integral of the cost errs by less than this part of the integral of its size.
local PART = 1e-11
-- An interval is halved at most so often: then it is 2^-40 of a step, and holds a kink of the cost.
local HALVINGS = 40
-- A guard that falls by less than this part of the terms of its rate only touches 0, see integrators/sensitivity.c.
local TOUCHES = 1e-7

-- The cost and its derivatives at the nodes of [a, b]: vectors of all numbers, by the tape of the cost, or lists.
local function sample(run, a, b)
  if run.tape then
    run.samples = run.samples + 1
    local values, by_x, by_p = back.sample(run.simu, run.tape, run.options.cost, a, b, run.samples % #NODES)
    if values then return values, by_x, by_p end
    run.tape = nil
  end
  local values, by_x, by_p = {}, {}, nil
  for k, node in ipairs(NODES) do
    local t = k == #NODES and b or a + node * (b - a)
    local x = back.state(run.simu, t, t >= b) -- t may be b by rounding
    local value, slopes, direct = cost.slopes(run, "cost", t, x)
    values[k], by_x[k] = core.vector { value }, slopes
    if direct then
      by_p = by_p or {}
      by_p[k] = direct
    end
  end
  return values, by_x, by_p
end

-- Whether the nodes resolve the functions in `list`; their means and sizes. sums: integrals of their sizes so far.
local function resolve(list, sums, h, halvings)
  local mean, error, most = back.resolve(list)
  for i = 1, #mean do
    if halvings > 0 and error[i] * h > PART * ((sums[i] or 0) + h * most[i]) then return false end
  end
  return true, mean, most
end

local function grow(sums, most, h)
  for i = 1, #most do sums[i] = (sums[i] or 0) + h * most[i] end
end

-- Goes back from b to a.
local function interval(run, a, b, halvings)
  local h = b - a
  local values, by_x, by_p = sample(run, a, b)
  local good, mean, most = resolve(values, run.sums.value, h, halvings)
  local good_x, _, most_x = resolve(by_x, run.sums.x, h, halvings)
  local good_p, mean_p, most_p = true, nil, nil
  if by_p then good_p, mean_p, most_p = resolve(by_p, run.sums.p, h, halvings) end
  local middle = a + h / 2
  if not (good and good_x and good_p) and middle > a and middle < b then
    interval(run, middle, b, halvings - 1)
    return interval(run, a, middle, halvings - 1)
  end
  if not (good and good_x and good_p) then return interval(run, a, b, 0) end
  grow(run.sums.value, most, h)
  grow(run.sums.x, most_x, h)
  run.value = run.value + h * mean[1]
  if mean_p then
    grow(run.sums.p, most_p, h)
    run.direct = run.direct + h * mean_p
  end
  where.call("gradient", back.back, run.simu, a, b, by_x)
end

-- Through the events at t. False: several events move there, and the cost jumps.
local function cross(run, t)
  local moving, jump = back.events(run.simu, t), 0
  if moving > 0 and run.options.cost then jump = cost.jump(run, t) end
  if moving > 1 and jump ~= 0 then return false end
  back.cross(run.simu, t, jump)
  return true
end

-- Where the event `stop` ended the run, mu gets the part of its time. Else (nil) the derivative by the end is also
-- returned.
local function move_end(run, t, x, mu, stop)
  local rates, moved = back.rates(run.simu), 0
  if run.options.cost then moved = cost.value(run, "cost", t, x) end
  if run.options.terminal then moved = moved + mu:dot(rates) + cost.terminal_rate(run, t, x) end
  if not stop then return mu, moved end
  local g, by_p = back.guard(run.simu, stop, t, x)
  local slopes = core.gradient(function(y) return g(t, y) end, x)
  local rate = core.gradient(function(s) return g(s[1], x) end, { t })[1]
  local terms = abs(rate)
  for i = 1, #slopes do rate, terms = rate + slopes[i] * rates[i], terms + abs(slopes[i] * rates[i]) end
  if abs(rate) <= TOUCHES * terms then
    fail("gradient: the event '%s' that ends the run at t=%.10g only touches 0: its time has no derivative", stop, t)
  end
  run.direct = run.direct - (moved / rate) * by_p
  return mu - (moved / rate) * slopes, 0
end

-- For each state the integral of the size of the cost's slope, on the rows of the run: below a rounding of it mu is
-- rounding. 0 where the cost has no tape.
local function reach_of(run, n)
  local reach, slopes = core.zeros(n), nil
  if run.tape then slopes = select(2, back.rows(run.tape, run.options.cost, run.sol.t, run.sol.x)) end
  for k = 1, slopes and #slopes or 0 do
    local i, slope = (k - 1) % n + 1, abs(slopes[k])
    if slope < math.huge then reach[i] = reach[i] + slope end -- a row may be at a corner of the cost
  end
  return reach
end

-- Goes back through the intervals of the record. False: see `cross`.
local function through(run)
  local times = back.times(run.simu)
  for i = #times, 1, -1 do
    if not cross(run, times[i]) then return false end
    if i > 1 then
      if run.options.cost then interval(run, times[i - 1], times[i], HALVINGS)
      else where.call("gradient", back.back, run.simu, times[i - 1], times[i]) end
    end
  end
  return true
end

-- The derivatives by the parameters (vector) and by the end T; nil: the record does not do, forward derivatives may.
-- run: simu, sol, options, values (of the parameters); stop: the name of the event that ended the run.
-- run.value: += the cost.
return function(run, stop)
  local sol = run.sol
  local T, x = sol.t[#sol], sol.x[#sol]
  local mu = core.zeros(#x)
  run.sums, run.direct = { value = {}, x = {}, p = {} }, core.zeros(#run.values)
  function run.state(t, side)
    if t == T and side == "after" then return x end
    return back.state(run.simu, t, side == "before")
  end
  if run.options.terminal then
    local value, by_x, by_p = cost.slopes(run, "terminal", T, x)
    run.value, mu = run.value + value, by_x
    if by_p then run.direct = run.direct + by_p end
  end
  if run.options.cost then run.tape, run.samples = cost.tape(run, T, x), 0 end
  local moved = 0
  if stop or run.free then mu, moved = move_end(run, T, x, mu, stop) end
  where.call("gradient", back.start, run.simu, mu, reach_of(run, #x))
  repeat
    if not through(run) then return nil end
  until not where.call("gradient", back.earlier, run.simu)
  local slopes = back.gradient(run.simu)
  run.memory, run.again = back.memory(run.simu)
  for j = 1, #slopes do slopes[j] = slopes[j] + run.direct[j] end
  return slopes, moved
end
