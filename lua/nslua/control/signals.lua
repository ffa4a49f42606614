-- nslua.control.signals: functions of time that jump at known instants: clocks, pulses, saw-teeth, tables.
--
-- A signal is a function of Lua, for every place that takes a function of time. It has pieces, and looks which one
-- the present interval of the simulation begins in: so at an instant the interval before it sees the value before,
-- the next one the value after it. follow(simulation, signal) makes the instants ends of intervals.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local fail, floor, huge, expect, reject = arguments.fail, math.floor, math.huge, arguments.expect, arguments.reject

local signals = {}

local known = setmetatable({}, { __mode = "k" }) -- signal -> { edges, next, gate, free, period }

-- Times closer than this part of the period (or of the time) are the same: a grid has times that are rounded.
local SAME = 2 ^ -40

local function options_of(value, names, who) return option_tables.need(value, names, who, fail) end

local function constant(value) return function() return value end end

local before_jumps = false -- set while at_row calls a function

local function at_jumps(good, ...)
  before_jumps = false
  if not good then error(..., 0) end
  return ...
end

-- Calls f for row k of a run with the times t. In the first of two rows at one time signals have the values before
-- their jumps.
function signals.at_row(t, k, f, ...)
  before_jumps = k < #t and t[k + 1] == t[k]
  return at_jumps(pcall(f, ...))
end

-- The signal of pieces(t) -> end of the piece that t is in, value(t) of that piece.
local function make(who, pieces, info)
  local function signal(t)
    if type(t) ~= "number" then expect(t, "number", "%s: t: expected a number", who) end
    local from, to = core.discrete_support.interval(t)
    local anchor = from and from <= t and t <= to and from or t
    if before_jumps then anchor = t - 4 * SAME * ((info.period or 0) + math.abs(t)) end
    local last, value = pieces(anchor)
    if t > last + SAME * (info.period or math.abs(t)) then
      fail(info.followed and info.next
        and "%s: it jumps at t=%g, within a step: its duty is no function of time that ns.follow has known; compare "
        .. "a duty that changes in the run with ns.sawtooth, by a RelayNSL"
        or "%s: it jumps at t=%g, within a step of the simulation: ns.follow(simulation, signal) before the first "
        .. "step", who, last)
    end
    return value(t)
  end
  function info.free(t)
    local _, value = pieces(t)
    return value(t)
  end
  known[signal] = info
  return signal
end

-- A periodic signal: breaks (offsets within a period, the first one 0) and the value of each piece, a number or a
-- function of the time since the period has begun; before the delay the value `before`.
local function periodic(who, period, delay, breaks, values, before, gate)
  local edges = {}
  for i, offset in ipairs(breaks) do edges[i] = { period = period, offset = delay + offset } end
  for i, value in ipairs(values) do values[i] = type(value) == "function" and value or constant(value) end
  return make(who, function(t)
    local tolerance = SAME * (period + math.abs(t))
    if t + tolerance < delay then return delay, function() return before end end
    local base, i = delay + floor((t + tolerance - delay) / period) * period, #breaks
    while i > 1 and base + breaks[i] > t + tolerance do i = i - 1 end
    return base + (breaks[i + 1] or period), function(now) return values[i](now - base) end
  end, { period = period, edges = edges, gate = gate })
end

-- The options of something periodic.
local function timing(o, who)
  return arguments.positive(o.period, who, "period"), arguments.number(o.delay or 0, who, "delay")
end

signals.periodic = periodic

function signals.clock(options)
  local who = "clock"
  local o = options_of(options, "period duty delay low high", who)
  local period, delay = timing(o, who)
  local duty = arguments.number(o.duty or 0.5, who, "duty")
  if not (duty > 0 and duty < 1) then fail("%s: duty: expected a number between 0 and 1, got %g", who, duty) end
  local numbers = o.low ~= nil or o.high ~= nil
  local on, off = true, false
  if numbers then on, off = arguments.number(o.high or 1, who, "high"), arguments.number(o.low or 0, who, "low") end
  return periodic(who, period, delay, { 0, duty * period }, { on, off }, off,
    not numbers and { period = period, duty = duty, delay = delay } or nil)
end

function signals.sawtooth(options)
  local who = "sawtooth"
  local o = options_of(options, "period low high delay", who)
  local period, delay = timing(o, who)
  local low, high = arguments.number(o.low or 0, who, "low"), arguments.number(o.high or 1, who, "high")
  return periodic(who, period, delay, { 0 }, { function(t) return low + (high - low) * (t / period) end }, low)
end

-- The values between the times: the last one (`previous`), or straight lines, and constants beyond them. Equal times
-- are a jump.
function signals.table_of_time(options)
  local who = "table_of_time"
  local o = options_of(options, "times values kind", who)
  local xs = arguments.numbers(o.times, nil, who, "times")
  local ys, kind, edges = arguments.numbers(o.values, #xs, who, "values"), o.kind or "previous", {}
  if kind ~= "previous" and kind ~= "linear" then
    fail("%s: kind: expected \"previous\" or \"linear\", got %s", who, arguments.describe(kind))
  end
  if #xs == 0 then fail("%s: times: expected at least one", who) end
  for i = 2, #xs do
    if xs[i] < xs[i - 1] then fail("%s: times must not fall: times[%d] = %g", who, i, xs[i]) end
  end
  for i = 1, #xs do edges[i] = { offset = xs[i] } end
  return make(who, function(t)
    local i = 0
    while xs[i + 1] and xs[i + 1] <= t + SAME * math.abs(t) do i = i + 1 end
    local last = xs[i + 1] or huge
    if i == 0 or kind == "previous" or last == huge then return last, constant(ys[math.max(i, 1)]) end
    return last, function(now) return ys[i] + (ys[i + 1] - ys[i]) * ((now - xs[i]) / (last - xs[i])) end
  end, { edges = edges })
end

-- true while duty > carrier. The carrier rises from low to high in each period; duty is a number or a function of
-- time that does not rise faster.
function signals.pwm(options)
  local who = "pwm"
  local o = options_of(options, "duty carrier", who)
  expect(o.carrier, "table", "%s: carrier: expected a table { period = }", who)
  local c = options_of(o.carrier, "period low high delay", who .. ": carrier")
  local period, delay = timing(c, who)
  local low, high = arguments.number(c.low or 0, who, "carrier: low"), c.high or 1
  local duty = o.duty
  arguments.number(high, who, "carrier: high")
  if type(duty) == "number" then
    arguments.number(duty, who, "duty")
    if duty > low and duty < high then
      return signals.clock { period = period, delay = delay, duty = (duty - low) / (high - low) }
    end
    duty = constant(duty)
  end
  expect(duty, "function", "%s: duty: expected a number or a function of time", who)
  local function above(base, s)
    return arguments.number(duty(base + s), who, "duty") - (low + (high - low) * (s / period))
  end
  local last_base, last_cross
  local function crossing(base) -- the time since base at which it goes off, by bisection to the last bit
    if base == last_base then return last_cross end
    local a, b = 0, period
    if above(base, 0) <= 0 then b = 0 end
    if above(base, period) > 0 then a = period end
    while b - a > 0 and a + (b - a) / 2 ~= a and a + (b - a) / 2 ~= b do
      local middle = a + (b - a) / 2
      if above(base, middle) > 0 then a = middle else b = middle end
    end
    last_base, last_cross = base, math.max(a, b)
    return last_cross
  end
  local function base_of(t) return delay + floor((t + SAME * (period + math.abs(t)) - delay) / period) * period end
  local function next_crossing(t)
    local base = math.max(delay, base_of(t))
    local time = base + crossing(base)
    if time > t + SAME * (period + math.abs(t)) then return time end
    return base + period + crossing(base + period)
  end
  return make(who, function(t)
    if t + SAME * (period + math.abs(t)) < delay then return delay, constant(false) end
    local base = base_of(t)
    local cross = base + crossing(base)
    if t + SAME * (period + math.abs(t)) < cross then return cross, constant(true) end
    return base + period, constant(false)
  end, { period = period, edges = { { period = period, offset = delay } }, next = next_crossing })
end

-- ---- instants ----

function signals.is(value) return value ~= nil and known[value] ~= nil end

-- Whether a signal is true or false, and no number.
function signals.is_gate(value) return known[value].gate ~= nil or known[value].next ~= nil end

-- What a gate of ns.circuit is: a clock as a table, or a function that does not look at intervals.
function signals.gate(value)
  if value == nil or not known[value] then return value end
  return known[value].gate or known[value].free
end

-- The instants of a signal between two times.
function signals.instants(signal, from, to)
  local list, info = {}, known[signal]
  for _, edge in ipairs(info.edges) do
    local k = edge.period and math.max(0, floor((from - edge.offset) / edge.period)) or 0
    local time = edge.offset + k * (edge.period or 0)
    while time <= to do
      if time >= from then list[#list + 1] = time end
      k = k + 1
      time = edge.period and edge.offset + k * edge.period or huge
    end
  end
  local time = info.next and info.next(from)
  while time and time <= to do
    list[#list + 1] = time
    time = info.next(time)
  end
  return list
end

local function nothing() end

-- Makes the instants of signals ends of the intervals of a simulation.
function signals.follow(simu, ...)
  simu = type(simu) == "table" and rawget(simu, "simulation") or simu
  reject(not arguments.is_simulation(simu), simu, "follow: expected a simulation")
  local nsds = where.pass(simu.nsds, simu)
  local first, last = nsds:t0(), nsds:finalT()
  local function once(time, period)
    where.pass(simu.every, simu, { period = period or 2 * (last - first), offset = time, act = nothing })
  end
  for i = 1, math.max(1, select("#", ...)) do
    local signal = select(i, ...)
    local info = known[signal]
    if not info then fail("follow: expected a signal, as of ns.clock, got %s", arguments.describe(signal)) end
    info.followed = true
    for _, edge in ipairs(info.edges) do
      if edge.period or edge.offset >= first and edge.offset <= last then once(edge.offset, edge.period) end
    end
    local time = info.next and info.next(first)
    while time and time <= last do
      once(time)
      time = info.next(time)
    end
  end
  return simu
end

return signals
