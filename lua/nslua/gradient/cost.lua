-- nslua.gradient.cost: the functions of a cost, and their derivatives.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"

local cost = {}

local fail, expect = arguments.fail, arguments.expect
local abs = math.abs

local function number_of(value, who, t)
  expect(value, "number", "gradient: %s: expected a number", who)
  if value - value ~= 0 then
    fail("gradient: %s is %s at t=%.10g", who, value ~= value and "nan" or "infinite", t)
  end
  return value
end

-- f(...), where f is, or calls, the function `who` of the options. Its derivatives are those by its arguments.
local function watched(who, f, ...)
  local before = core.adjoint.reads()
  local first, second = f(...)
  if core.adjoint.reads() ~= before then
    fail("gradient: %s: it reads a parameter by itself; let it take it from its argument p", who)
  end
  return first, second
end

-- The value of the function `who` of the options at (t, x) with the parameters p: cost(t, x, p), terminal(x, p, t).
local function call(options, who, t, x, p)
  if who == "cost" then return watched(who, options.cost, t, x, p) end
  return watched(who, options.terminal, x, p, t)
end

function cost.value(run, who, t, x) return number_of(call(run.options, who, t, x, run.values), who, t) end

-- The gradient of f at x, for an argument of the function `who`. A derivative that is not finite is told by its name.
local function slope_of(f, x, who, name, t)
  local good, slope = where.try(core.gradient, f, x)
  if good then return slope end
  local index, value = tostring(slope):match "f%[1%]: the derivative by x(%[%d+%]) is (%S+)$"
  if index then fail("gradient: %s: its derivative by %s%s is %s at t=%.10g", who, name, index, value, t) end
  error(slope, 0)
end

-- Whether the function `who` has an argument for the parameters.
local function takes_parameters(options, who)
  local info = debug.getinfo(options[who], "u")
  return info.isvararg or info.nparams >= (who == "cost" and 3 or 2)
end

-- The tape of the cost, compared with it at (t, x); nil: it can not be traced.
function cost.tape(run, t, x)
  local p = takes_parameters(run.options, "cost") and #run.values > 0 and run.values or nil
  local good, tape = watched("cost", pcall, core.adjoint.trace, run.options.cost, t, x, p)
  return good and tape or nil
end

-- Its value, and its derivatives by x and by the parameters (nil: it has no argument for these).
function cost.slopes(run, who, t, x)
  local options, p, value = run.options, run.values, nil
  local function of_x(y)
    local c = call(options, who, t, y, p)
    if value == nil then value = number_of(c, who, t) end
    return c
  end
  local by_x, by_p = slope_of(of_x, x, who, "x", t), nil
  if takes_parameters(options, who) then
    by_p = slope_of(function(q) return call(options, who, t, x, q) end, p, who, "p", t)
  end
  return value, by_x, by_p
end

-- The derivative of terminal by t; 0: it has no argument for it.
function cost.terminal_rate(run, t, x)
  local info = debug.getinfo(run.options.terminal, "u")
  if not info.isvararg and info.nparams < 3 then return 0 end
  return core.gradient(function(s) return run.options.terminal(x, run.values, s[1]) end, { t })[1]
end

-- A cost does not jump at an event when it changes by less than this part: the rounding of some operations.
local JUMPS = 2 ^ -44

-- What the cost falls by at t, where the state jumps.
function cost.jump(run, t)
  local before = cost.value(run, "cost", t, run.state(t, "before"))
  local after = cost.value(run, "cost", t, run.state(t, "after"))
  local jump = before - after
  return abs(jump) <= JUMPS * (abs(before) + abs(after)) and 0 or jump
end

return cost
