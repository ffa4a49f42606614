-- nslua.gradient.stepped: the gradient of a cost of a time-stepping run. The integral is taken by the trapezoidal
-- rule on its rows, and the derivatives are taken of this sum:
--   terminal_x S(T) + the sum over the rows of their weights times cost_x S,
-- and what the functions of the cost have by the parameters themselves. forward: from S = dx / dp at the rows.
-- backward: by the recorded steps (src/integrators/step_adjoint.h).
local core = require "nslua.core"
local cost = require "nslua.gradient.cost"
local format = core.number_support.format
local where = require "nslua.base.where"

local stepped = {}
local back = core.adjoint

-- Calls visit(k, by_x, by_p) with the derivatives of what row k adds to the function `who` of the cost; run.value +=
-- its value.
local function each_row(run, who, visit)
  local sol = run.sol
  local t, last = sol.t, #sol.t
  for k = 1, who == "cost" and run.options.cost and last or 0 do
    local weight = (t[math.min(k + 1, last)] - t[math.max(k - 1, 1)]) / 2
    local value, by_x, by_p = cost.slopes(run, "cost", t[k], sol.x[k])
    run.value = run.value + weight * value
    visit(k, weight * by_x, by_p and weight * by_p)
  end
  if who == "terminal" and run.options.terminal then
    local value, by_x, by_p = cost.slopes(run, "terminal", t[last], sol.x[last])
    run.value = run.value + value
    visit(last, by_x, by_p)
  end
end

-- The derivatives by the parameters, a vector. run: simu, sol, options, values (of the parameters).
function stepped.forward(run)
  local slopes = core.zeros(#run.values)
  local function add(k, by_x, by_p)
    slopes = slopes + by_x * run.sol.S[k]
    if by_p then slopes = slopes + by_p end
  end
  each_row(run, "cost", add)
  each_row(run, "terminal", add)
  return slopes
end

-- What the rows add to the cost, by its tape: run.value, a vector of the derivatives by x, and those by p; nil: the
-- cost has no tape.
local function by_tape(run)
  local sol = run.sol
  local tape = cost.tape(run, sol.t[#sol], sol.x[#sol])
  if not tape then return nil end
  local value, rows, by_p = back.rows(tape, run.options.cost, sol.t, sol.x)
  if value then run.value = run.value + value end
  return rows, by_p
end

-- The same without a tape.
local function by_calls(run)
  local n, rows, direct = #run.sol.x[1], nil, nil
  each_row(run, "cost", function(k, by_x, by_p)
    rows = rows or core.zeros(n * #run.sol)
    for i = 1, n do rows[(k - 1) * n + i] = by_x[i] end
    if by_p then direct = direct and direct + by_p or by_p end
  end)
  return rows, direct
end

-- The same by the record. run.stepping: it fails in a step.
function stepped.backward(run)
  local simu, sol, direct, rows = run.simu, run.sol, core.zeros(#run.values), nil
  where.call("gradient", back.steps_start, simu)
  if run.options.cost then
    local by_p
    rows, by_p = by_tape(run)
    if not rows then rows, by_p = by_calls(run) end
    if by_p then direct = direct + by_p end
  end
  each_row(run, "terminal", function(_, by_x, by_q)
    where.call("gradient", back.steps_add, simu, by_x, "terminal")
    if by_q then direct = direct + by_q end
  end)
  run.stepping = true
  local k = #sol
  repeat
    k = where.call("gradient", back.steps_back, simu, sol.t, k, rows)
  until k == 0 or not where.call("gradient", back.earlier, simu)
  if k > 0 then
    error(format("gradient: the record of the run begins after t=%.10g: the adjoint pass can't go back to its start",
      sol.t[1]), 0)
  end
  run.stepping = false
  run.memory, run.again = back.memory(simu)
  return back.gradient(simu) + direct
end

return stepped
