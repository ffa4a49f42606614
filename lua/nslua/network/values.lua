-- nslua.network.values: the values of sources: numbers, functions of time, and tables that describe a wave.
--
--   5                                                       a constant
--   function(t) return ... end                              any function; it should not jump, unless it is a signal,
--                                                           as of ns.clock
--   { amplitude = 10, frequency = 50, phase = 0, offset = 0, delay = 0 }     a sine
--   { low = 0, high = 5, delay = 0, rise = 1e-6, fall = 1e-6, width = 5e-4, period = 1e-3 }     a pulse with slopes
--   { times = { 0, 1, 2 }, values = { 0, 5, 0 } }           straight lines between points
--
-- A gate is true, false, a function of time, or a clock: { period =, duty = 0.5, delay = 0 } is on from delay + k
-- period for the part `duty` of each period, and off before the delay.
--
-- read() returns f, a number or a function of time, and the function that is its derivative, 0, or nil; and the
-- places of its corners between two times.

local arguments = require "nslua.base.arguments"
local option_tables = require "nslua.base.option_tables"
local signals = require "nslua.control.signals"

local fail, floor, pi = arguments.fail, math.floor, math.pi

local function finite(value, who, name)
  arguments.number(value, who, name)
  if value - value ~= 0 then
    fail("%s: %s: expected a finite number, got %s", who, name, arguments.describe(value))
  end
  return value
end

-- The fields of a table, or an error where one is none of those known.
local function fields(value, known, who)
  local result, message = option_tables.check(value, known, who)
  if not result then fail("%s", message) end
  return result
end

local function positive(value, who, name)
  if finite(value, who, name) <= 0 then fail("%s: %s: expected a positive number, got %g", who, name, value) end
  return value
end

local function sine(value, who)
  local o = fields(value, "amplitude frequency phase offset delay", who)
  local a, w = finite(o.amplitude, who, "amplitude"), 2 * pi * positive(o.frequency, who, "frequency")
  local phase, offset = finite(o.phase or 0, who, "phase"), finite(o.offset or 0, who, "offset")
  local delay = finite(o.delay or 0, who, "delay")
  return function(t) return offset + a * math.sin(w * (t - delay) + phase) end,
    function(t) return a * w * math.cos(w * (t - delay) + phase) end
end

-- The value at x of the lines through points with increasing xs; constant beyond them.
local function on_lines(xs, ys, x)
  local n = #xs
  if x <= xs[1] then return ys[1] end
  if x >= xs[n] then return ys[n] end
  local lo, hi = 1, n
  while hi - lo > 1 do
    local middle = (lo + hi) // 2
    if xs[middle] <= x then lo = middle else hi = middle end
  end
  return ys[lo] + (ys[hi] - ys[lo]) * ((x - xs[lo]) / (xs[hi] - xs[lo]))
end

local function pulse(value, who)
  local o = fields(value, "low high delay rise fall width period", who)
  local low, high = finite(o.low or 0, who, "low"), finite(o.high, who, "high")
  local delay, period = finite(o.delay or 0, who, "delay"), positive(o.period, who, "period")
  local rise, fall = positive(o.rise, who, "rise"), positive(o.fall, who, "fall")
  local width = finite(o.width, who, "width")
  if width < 0 or rise + width + fall > period then
    fail("%s: expected rise + width + fall of at most the period, %g, got %g", who, period, rise + width + fall)
  end
  local xs, ys = { 0, rise, rise + width, rise + width + fall }, { low, high, high, low }
  local function f(t)
    if t <= delay then return low end
    return on_lines(xs, ys, (t - delay) % period)
  end
  return f, nil, function(from, to)
    local list = {}
    for k = math.max(0, floor((from - delay) / period)), floor((to - delay) / period) do
      for _, x in ipairs(xs) do list[#list + 1] = delay + k * period + x end
    end
    return list
  end
end

local function lines(value, who)
  local o = fields(value, "times values", who)
  local xs = arguments.increasing(o.times, 2, who, "times")
  local ys = arguments.numbers(o.values, #xs, who, "values")
  return function(t) return on_lines(xs, ys, t) end, nil, function() return xs end
end

local kinds = { { "frequency", sine }, { "period", pulse }, { "times", lines } }

local function none() return {} end

local values = { finite = finite, positive = positive, fields = fields }

-- A function of the user that gives a number, or a dual one.
function values.checked(f, who, name)
  return function(...)
    local y = f(...)
    if type(y) ~= "number" and type(y) ~= "userdata" then
      fail("%s: %s: expected a function that returns a number, got %s from it", who, name, arguments.describe(y))
    end
    return y
  end
end

-- who: the beginning of a message; name: that of the argument.
function values.read(value, who, name)
  name = name or "value"
  if type(value) == "number" then return finite(value, who, name), false, none end
  if signals.is(value) and signals.is_gate(value) then
    fail("%s: %s: expected a signal of numbers, as ns.clock with low and high, got one of true and false", who, name)
  end
  if signals.is(value) then return value, nil, function(from, to) return signals.instants(value, from, to) end end
  if type(value) == "function" then return values.checked(value, who, name), nil, none end
  if type(value) == "table" then
    for _, kind in ipairs(kinds) do
      if value[kind[1]] ~= nil then
        local f, slope, corners = kind[2](value, who)
        return f, slope, corners or none
      end
    end
  end
  fail("%s: %s: expected a number, a function of time or a table with frequency, period or times, got %s", who, name,
    arguments.describe(value))
end

-- jump(value, who): of { step =, time =, offset = 0 } the time of a jump and the values before and after it; nil for
-- other values.
function values.jump(value, who)
  if type(value) ~= "table" or value.step == nil then return nil end
  local o = fields(value, "step time offset", who)
  local offset = finite(o.offset or 0, who, "offset")
  return { time = finite(o.time, who, "time"), before = offset, after = offset + finite(o.step, who, "step") }
end

local AFTER = 2.0 ^ -48 -- part of the time of a jump after which it is over: 16 roundings

local function clock(value, who)
  local o = fields(value, "period duty delay", who)
  local period, delay = positive(o.period, who, "period"), finite(o.delay or 0, who, "delay")
  local duty = finite(o.duty or 0.5, who, "duty")
  if duty <= 0 or duty >= 1 then fail("%s: duty: expected a number between 0 and 1, got %g", who, duty) end
  return {
    on = function(t) -- at an instant of the clock it is what it is after it
      local since = t - delay + AFTER * (math.abs(t) + math.abs(delay))
      return since >= 0 and since / period % 1 < duty
    end,
    period = period, offsets = { on = delay, off = delay + duty * period },
  }
end

-- gate(value, who): on(t); of a clock its period, and the offsets of the times at which it goes on and off; of a
-- function g(t), whose jumps are its times, and is_on_after(t) at such a time.
function values.gate(value, who)
  value = signals.gate(value)
  if type(value) == "boolean" then return { on = function() return value end } end
  if type(value) == "function" then
    local function on(t)
      local is_on = value(t)
      if is_on ~= nil and type(is_on) ~= "boolean" then
        fail("%s: gate: t=%g: expected true or false, got %s", who, t, arguments.describe(is_on))
      end
      return is_on == true
    end
    return {
      on = on,
      g = function(t) return on(t) and 1 or -1 end,
      is_on_after = function(t) return on(t + AFTER * math.abs(t)) end,
    }
  end
  if type(value) == "table" then return clock(value, who) end
  fail("%s: gate: expected true, false, a function of time or a table with period, got %s", who,
    arguments.describe(value))
end

return values
