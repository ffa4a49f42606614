-- nslua.gradient.stepped: the gradient of a cost of a time-stepping run, from S = dx / dp at its rows:
--   terminal_x S(T) + the sum over the steps of h / 2 times (cost_x S before + cost_x S after),
-- and what the functions of the cost have by the parameters themselves. The integral is that of the trapezoidal rule
-- on the rows; its derivatives are exact.
local core = require "nslua.core"
local cost = require "nslua.gradient.cost"

-- slopes += weight (by_x S + by_p).
local function add(slopes, weight, by_x, S, by_p)
  local through = by_x * S
  for j = 1, #slopes do slopes[j] = slopes[j] + weight * (through[j] + (by_p and by_p[j] or 0)) end
end

-- The derivatives by the parameters, a vector. run: sol, options, values (of the parameters); run.value: += the cost.
return function(run)
  local sol, slopes = run.sol, core.zeros(#run.values)
  local t, last = sol.t, #sol.t
  for k = 1, run.options.cost and last or 0 do
    local weight = (t[math.min(k + 1, last)] - t[math.max(k - 1, 1)]) / 2
    local value, by_x, by_p = cost.slopes(run, "cost", t[k], sol.x[k])
    run.value = run.value + weight * value
    add(slopes, weight, by_x, sol.S[k], by_p)
  end
  if run.options.terminal then
    local value, by_x, by_p = cost.slopes(run, "terminal", t[last], sol.x[last])
    run.value = run.value + value
    add(slopes, 1, by_x, sol.S[last], by_p)
  end
  return slopes
end
