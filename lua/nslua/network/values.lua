-- nslua.network.values: the values of sources: numbers, functions of time, and tables that describe a wave.
--
--   5                                                       a constant
--   function(t) return ... end                              any function; it should not jump, unless it is a signal,
--                                                           as of ns.clock
--   { amplitude = 10, frequency = 50, phase = 0, offset = 0, delay = 0 }     a sine
--   { low = 0, high = 5, delay = 0, rise = 1e-6, fall = 1e-6, width = 5e-4, period = 1e-3 }     a pulse with slopes
--   { step = 5, time = 1, offset = 0 }                      a jump
--   { ramp = 5, duration = 2, time = 1, offset = 0 }        a line between two constants
--   { times = { 0, 1, 2 }, values = { 0, 5, 0 } }           straight lines between points
--
-- A gate is true, false, a function of time, or a clock: { period =, duty = 0.5, delay = 0 } is on from delay + k
-- period for the part `duty` of each period, and off before the delay.
--
-- read() returns a source: f, a number or a function of time; slope(t), second(t) and integral(t), its derivatives
-- and a function whose derivative it is, where they are known; corners(from, to), the times between which these hold;
-- of a jump: jump, its time and the values before and after it; is, the kind in words.

local arguments = require "nslua.base.arguments"
local option_tables = require "nslua.base.option_tables"
local signals = require "nslua.control.signals"
local still = require "nslua.base.still"

local fail, finite, optional = arguments.fail, arguments.finite, arguments.optional
local floor, pi = math.floor, math.pi

-- The fields of a table, or an error where one is none of those known.
local function fields(value, known, who) return option_tables.need(value, known, who, fail) end

local function positive(value, who, name)
  if finite(value, who, name) <= 0 then fail("%s: %s: expected a positive number, got %g", who, name, value) end
  return value
end

-- A check of numbers that are at least so large.
local function at_least(least)
  return function(value, who, name)
    if finite(value, who, name) < least then fail("%s: %s: expected %g or more, got %g", who, name, least, value) end
    return value
  end
end

local function not_zero(value, who, name)
  if finite(value, who, name) == 0 then fail("%s: %s: expected a number other than 0", who, name) end
  return value
end

local function none() return {} end
local function zero() return 0 end

local function constant(value)
  return { is = "a number", f = value, slope = zero, second = zero, integral = function(t) return value * t end }
end

local function sine(value, who)
  local o = fields(value, "amplitude frequency phase offset delay", who)
  local a, w = finite(o.amplitude, who, "amplitude"), 2 * pi * positive(o.frequency, who, "frequency")
  local phase, offset = finite(o.phase or 0, who, "phase"), finite(o.offset or 0, who, "offset")
  local delay = finite(o.delay or 0, who, "delay")
  local function f(t) return offset + a * math.sin(w * (t - delay) + phase) end
  local function slope(t) return a * w * math.cos(w * (t - delay) + phase) end
  return { is = "a sine", f = f, slope = slope, second = function(t) return -w * w * (f(t) - offset) end,
    integral = function(t) return offset * t - slope(t) / (w * w) end }
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
  local up, down = (high - low) / rise, (low - high) / fall
  return { is = "a pulse", f = function(t)
    if t <= delay then return low end
    return on_lines(xs, ys, (t - delay) % period)
  end, slope = signals.periodic(who, period, delay, xs, { up, 0, down, 0 }, 0), corners = function(from, to)
    local list = {}
    for k = math.max(0, floor((from - delay) / period)), floor((to - delay) / period) do
      for _, x in ipairs(xs) do list[#list + 1] = delay + k * period + x end
    end
    return list
  end }
end

-- Lines through points.
local function through(xs, ys)
  local sums, times, slopes = { 0 }, { xs[1] }, { 0 }
  for i = 2, #xs do
    sums[i] = sums[i - 1] + (ys[i - 1] + ys[i]) / 2 * (xs[i] - xs[i - 1])
    times[i], slopes[i] = xs[i - 1], (ys[i] - ys[i - 1]) / (xs[i] - xs[i - 1])
  end
  times[#xs + 1], slopes[#xs + 1] = xs[#xs], 0
  local function f(t) return on_lines(xs, ys, t) end
  return { is = "lines", f = f, slope = signals.table_of_time { times = times, values = slopes },
    corners = function() return xs end, integral = function(t)
      local i = 1
      while i < #xs and xs[i + 1] <= t do i = i + 1 end
      return sums[i] + (ys[i] + f(t)) / 2 * (t - xs[i])
    end }
end

local function lines(value, who)
  local o = fields(value, "times values", who)
  local xs = arguments.increasing(o.times, 2, who, "times")
  return through(xs, arguments.numbers(o.values, #xs, who, "values"))
end

local function ramp(value, who)
  local o = fields(value, "ramp duration time offset", who)
  local height, time = finite(o.ramp, who, "ramp"), finite(o.time or 0, who, "time")
  local offset, duration = finite(o.offset or 0, who, "offset"), positive(o.duration, who, "duration")
  return through({ time, time + duration }, { offset, offset + height })
end

-- What a signal tells of itself.
local function of_signal(signal)
  return { is = "a signal", f = signal,
    corners = function(from, to) return signals.instants(signal, from, to) end }
end

local function step(value, who)
  local o = fields(value, "step time offset", who)
  local before, time = finite(o.offset or 0, who, "offset"), finite(o.time, who, "time")
  local after = before + finite(o.step, who, "step")
  local source = of_signal(signals.table_of_time { times = { time, time }, values = { before, after } })
  source.is, source.jump = "a step", { time = time, before = before, after = after }
  return source
end

local kinds = { { "frequency", sine }, { "step", step }, { "ramp", ramp }, { "period", pulse }, { "times", lines } }

local values = { finite = finite, positive = positive, at_least = at_least, not_zero = not_zero, fields = fields }

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

local function source_of(value, who, name)
  if type(value) == "number" then return constant(finite(value, who, name)) end
  if signals.is(value) and signals.is_gate(value) then
    fail("%s: %s: expected a signal of numbers, as ns.clock with low and high, got one of true and false", who, name)
  end
  if signals.is(value) then return of_signal(value) end
  if type(value) == "function" then return { is = "a function", f = values.checked(value, who, name) } end
  for _, kind in ipairs(type(value) == "table" and kinds or {}) do
    if value[kind[1]] ~= nil then return kind[2](value, who) end
  end
  fail("%s: %s: expected a number, a function of time or a table with frequency, period, times, step or ramp, got %s",
    who, name, arguments.describe(value))
end

-- who: the beginning of a message; name: of the argument; ns (optional): functions are differentiated, exactly.
function values.read(value, who, name, ns)
  local source = source_of(value, who, name or "value")
  source.who = ("%s: %s"):format(who, name or "value")
  source.corners = source.corners or none
  if ns and source.is == "a function" then
    local function of_list(x) return source.f(x[1]) end
    source.slope = function(t) return ns.gradient(of_list, { t })[1] end
    source.second = function(t) return ns.hessian(of_list, { t })[1][1] end
  end
  return source
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

-- gate(value, who): on(t); `free` where it is constant, so that actions may set it; of a clock its period, and the
-- offsets of the times at which it goes on and off; of a function g(t), whose jumps are its times, and is_on_after(t)
-- at such a time.
function values.gate(value, who)
  value = signals.gate(value)
  if type(value) == "boolean" then return { on = function() return value end, free = true } end
  if type(value) == "function" then
    local function on(t)
      local is_on = value(t)
      if is_on ~= true then optional(is_on, "boolean", "%s: gate: t=%g: expected true or false", who, t) end
      return is_on == true
    end
    return {
      on = on,
      g = still.mark(function(t) return on(t) and 1 or -1 end),
      is_on_after = function(t) return on(t + AFTER * math.abs(t)) end,
    }
  end
  if type(value) == "table" then return clock(value, who) end
  fail("%s: gate: expected true, false, a function of time or a table with period, got %s", who,
    arguments.describe(value))
end

return values
