-- nslua.dynamics.ode_flow: the flow of x' = f(t, x, ...) with events that may act, by ns.solve_ivp.
local arguments = require "nslua.base.arguments"
local copy = require "nslua.base.lists".copy
local core = require "nslua.core"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local format = core.number_support.format

local ode = {}

-- Default tolerances: rtol, and atol as a part of the size of a state. A run over one period of an oscillator then
-- has an error near 1e-12.
local RTOL, ATOL = 1e-12, 2 ^ -44
-- Crossings are sought over a first span, then over twice the span, so many times: when the time of the crossing is
-- about known, and when it is not.
local DOUBLINGS_KNOWN, DOUBLINGS = 3, 30

-- The first, rough run of a model has at most so many steps, some thousand oscillations: a time that is too long by
-- orders of magnitude is told within a second.
local STEPS = 100000

local BETWEEN = 4 -- points of a course between two steps

local function solve(...) return where.call("solve_ivp", core.solve_ivp, ...) end

-- ---- making ----

local function event_list(events, who)
  if events == nil then return {} end
  if type(events) == "function" or type(events) == "table" and (events.g or type(events[1]) == "function" and
    (events.direction or events.apply or events.terminal or events.name)) then
    events = { events }
  end
  expect(events, "table", "%s: events: expected a function or a list", who)
  local list = {}
  for i, event in ipairs(events) do
    local g = type(event) == "function" and event or type(event) == "table" and (event.g or event[1])
    if type(g) ~= "function" then fail("%s: events[%d]: expected a function or a table with g", who, i) end
    local own = type(event) == "table" and event or {}
    list[i] = { g = g, direction = own.direction, apply = own.apply, name = own.name or "event " .. i }
  end
  return list
end

function ode.make(flow, options)
  local who = flow.who
  local callable = type(options.rhs) == "function" or getmetatable(options.rhs) == "compiled function"
  reject(not callable, options.rhs, "%s: rhs: expected a function f(t, x)", who)
  flow.f, flow.events = options.rhs, event_list(options.events, who)
  flow.smooth = #flow.events == 0
  flow.method, flow.rtol, flow.atol = options.method or "DOP853", options.rtol or RTOL, options.atol
  flow.args = options.args or {}
  if type(flow.args) ~= "table" then fail("%s: args: expected a list, got %s", who, describe(options.args)) end
  local which = options.parameter == nil and 1 or options.parameter
  reject(math.type(which) ~= "integer" or which < 1, which,
    "%s: parameter: with rhs = expected the place of the parameter in args", who)
  flow.which = which
  flow.value = flow.args[which]
end

local function arguments_with(flow, p)
  if p == nil then return flow.args end
  local args = { table.unpack(flow.args) }
  args[flow.which] = p
  return args
end

function ode.field(flow, t, x, p)
  local args = arguments_with(flow, p)
  local n = #x
  local out = core.zeros(n)
  args = { table.unpack(args) }
  args[#args + 1] = out
  local value = flow.f(t, x, table.unpack(args))
  if value == nil then return out end
  local good, rate = where.try(core.vector, type(value) == "number" and { value } or value)
  if not good or #rate ~= n then
    fail("%s: rhs: expected %d number%s from f(t, x), got %s", flow.who, n, n == 1 and "" or "s",
      good and #rate or describe(value))
  end
  return rate
end

-- Sizes of the states: what they are, and what they become in the time t1 - t0.
local function rough_sizes(flow, x0, t0, t1, p)
  local rate = ode.field(flow, t0, x0, p)
  local sizes, most = core.vector(#x0), 0
  for i = 1, #x0 do
    sizes[i] = math.max(math.abs(x0[i]), math.abs(rate[i] * (t1 - t0)))
    if rate[i] ~= rate[i] or sizes[i] == math.huge then
      fail("%s: rhs: f(t, x)[%d] is %s at t = %g, too large or no number for a motion from there", flow.who, i,
        describe(rate[i]), t0)
    end
    most = math.max(most, sizes[i])
  end
  for i = 1, #x0 do
    if sizes[i] == 0 then sizes[i] = most end
  end
  return sizes
end

-- Absolute tolerances: those given, or a part of the sizes of the states. They are fixed once for a flow, so that
-- all of its runs have the same error.
local function tolerances(flow, x0, t0, t1, p)
  if not flow.atol then
    local sizes = rough_sizes(flow, x0, t0, t1, p)
    local sol = solve(flow.f, { t0, t1 }, x0, { method = flow.method, rtol = 1e-6, atol = sizes * 1e-9,
      args = arguments_with(flow, p), events = #flow.events > 0 and flow.events or nil, max_steps = STEPS })
    local last = sol.t[#sol.t]
    if not sol.success and sol.message:find("steps were not enough", 1, true) then
      fail("%s: the motion from the guess needs more than %d steps up to t = %g, where t = %g was asked for: is that "
        .. "the right period or time?", flow.who, STEPS, last, t1)
    end
    for i = 1, #x0 do
      local row, most = sol.y:row(i), 0
      for k = 1, #row do most = math.max(most, math.abs(row[k])) end
      sizes[i] = most > 0 and most or sizes[i]
    end
    flow.atol = sizes * ATOL
  end
  return flow.atol
end

local function options_of(flow, x0, t0, t1, p, events)
  return { method = flow.method, rtol = flow.rtol, atol = tolerances(flow, x0, t0, t1, p),
    args = arguments_with(flow, p), events = events and #events > 0 and events or nil }
end

-- ---- runs ----

local function check(sol)
  if not sol.success then error(sol.message, 0) end
  return sol
end

-- The solution from ta to tb; more (optional): further options.
local function solution(flow, x, ta, tb, p, events, more)
  return check(solve(flow.f, { ta, tb }, x, copy(options_of(flow, x, ta, tb, p, events), more)))
end

-- The events of a run in order of time. `events`: those that it had, of which `skip` is the place of one that is not
-- an event of the model. An event whose apply left the state as it is has not occurred.
local function occurrences(sol, events, skip)
  local list = {}
  for i, event in ipairs(events) do
    local times = sol.t_events[i]
    for k = 1, i == skip and 0 or #times do
      local before, after = sol.y_events[i]:row(k), sol.y_events_after[i]:row(k)
      if not event.apply or before ~= after then
        list[#list + 1] = { t = times[k], name = event.name, label = event.name, order = i, before = before,
          after = after }
      end
    end
  end
  table.sort(list, function(a, b)
    if a.t ~= b.t then return a.t < b.t end
    return a.order < b.order
  end)
  return list
end

function ode.run(flow, x0, t0, t1, p)
  if t1 == t0 then return { x = x0:copy(), t = t1, events = {} } end
  local sol = solution(flow, x0, t0, t1, p, flow.events, { t_eval = { t1 } })
  return { x = sol.y:column(1), t = t1, events = occurrences(sol, flow.events) }
end

-- The run, its derivative by the start, and that by the parameter, when it is a number in args. Nothing where an
-- event does not act: then the field may change there, and the derivative would not know it.
function ode.exact(flow, x0, t0, t1, p)
  for _, event in ipairs(flow.events) do
    if not event.apply then return nil end
  end
  if t1 == t0 then return nil end
  local by_parameter = type(arguments_with(flow, p)[flow.which]) == "number"
  local sol = solution(flow, x0, t0, t1, p, flow.events, { t_eval = { t1 },
    sensitivities = { "y0", by_parameter and ("args[%d]"):format(flow.which) or nil } })
  local run = { x = sol.y:column(1), t = t1, events = occurrences(sol, flow.events) }
  local n, S = #x0, sol.S[1]
  return run, S:slice(1, n, 1, n), by_parameter and S:column(n + 1) or nil
end

function ode.course(flow, x0, t0, t1, p)
  local sol = solution(flow, x0, t0, t1, p, flow.events, { dense_output = true })
  local t, rows = {}, {}
  for k = 1, #sol.t do
    local before = k > 1 and sol.t[k - 1] or sol.t[k]
    for j = 1, BETWEEN do
      local time = before + j / (BETWEEN + 1) * (sol.t[k] - before)
      if time > before then t[#t + 1], rows[#rows + 1] = time, sol.sol(time) end
    end
    t[#t + 1], rows[#rows + 1] = sol.t[k], sol.y:column(k)
  end
  return t, rows, occurrences(sol, flow.events)
end

function ode.guards(flow, x0, t0, t1, p, count)
  local sol = solution(flow, x0, t0, t1, p, flow.events, { t_eval = core.linspace(t0, t1, count + 1) })
  local times, guards, args = sol.t:totable(), {}, arguments_with(flow, p)
  for _, event in ipairs(flow.events) do
    local values = {}
    for k = 1, #times do values[k] = event.g(times[k], sol.y:column(k), table.unpack(args)) end
    guards[event.name] = values
  end
  return times, guards
end

-- ---- smooth pieces ----

-- The end of a run that knows no events.
function ode.smooth(flow, x, ta, tb, p)
  return solution(flow, x, ta, tb, p, nil, { t_eval = { tb } }).y:column(1)
end

-- Its derivatives by the state at ta and by the parameter.
function ode.smooth_derivatives(flow, x, ta, tb, p)
  local S = solution(flow, x, ta, tb, p, nil, { t_eval = { tb },
    sensitivities = { "y0", ("args[%d]"):format(flow.which) } }).S[1]
  return S:slice(1, #x, 1, #x), S:column(#x + 1)
end

-- The roots of all guards in a run that knows no events: a list of { t, label }. A root at which apply leaves the
-- state as it is does not count.
function ode.roots(flow, x, ta, tb, p)
  local watched, list, args = {}, {}, arguments_with(flow, p)
  for i, event in ipairs(flow.events) do watched[i] = { g = event.g, direction = event.direction } end
  local sol = solution(flow, x, ta, tb, p, watched)
  for i, event in ipairs(flow.events) do
    for k = 1, #sol.t_events[i] do
      local t, at = sol.t_events[i][k], sol.y_events[i]:row(k)
      local acts = not event.apply or at ~= core.vector(event.apply(t, at, table.unpack(args)))
      if acts then list[#list + 1] = { t = t, label = event.name } end
    end
  end
  return list
end

function ode.guard(flow, event, t, x, p) return event.g(t, x, table.unpack(arguments_with(flow, p))) end

function ode.reset(flow, event, t, x, p)
  return core.vector(event.apply(t, x, table.unpack(arguments_with(flow, p))))
end

-- The event of one that has occurred, with its reset; nil when it does not act.
function ode.event(flow, one)
  local event = flow.events[one.order]
  return event.apply and { g = event.g, apply = event.apply, direction = event.direction, name = event.name,
    label = event.name, order = one.order } or nil
end

-- The derivatives of value(t, x, args...) by x, t and the parameter; differentiate is core.gradient or core.jacobian.
local function derivatives(flow, value, differentiate, t, x, p)
  local args = arguments_with(flow, p)
  local by_p = function(z)
    local moved = { table.unpack(args) }
    moved[flow.which] = z[1]
    return value(t, x, table.unpack(moved))
  end
  return differentiate(function(z) return value(t, z, table.unpack(args)) end, x),
    differentiate(function(z) return value(z[1], x, table.unpack(args)) end, core.vector { t }),
    differentiate(by_p, core.vector { args[flow.which] })
end

function ode.guard_derivatives(flow, event, t, x, p)
  local by_x, by_t, by_p = derivatives(flow, event.g, core.gradient, t, x, p)
  return { x = by_x, t = by_t[1], p = by_p[1] }
end

function ode.reset_derivatives(flow, event, t, x, p)
  local by_x, by_t, by_p = derivatives(flow, event.apply, core.jacobian, t, x, p)
  return { x = by_x, t = by_t:column(1), p = by_p:column(1) }
end

-- ---- crossings ----

-- The events with the event of the section, which ends the run at its crossing number `last`, and its place.
local function with_section(flow, section, last)
  local list, place = {}, nil
  for i, event in ipairs(flow.events) do
    list[i] = event
    if section.name and event.name == section.name then
      place = i
      list[i] = { g = event.g, direction = event.direction, name = event.name, terminal = last, apply = event.apply }
    end
  end
  if section.name and not place then
    fail("%s: section: there is no event '%s'", flow.who, section.name)
  end
  if not place then
    place = #list + 1
    list[place] = { g = section.g, direction = section.direction, name = "section", terminal = last }
  end
  return list, place
end

-- A time in which the states move by about their sizes.
local function first_span(flow, x0, t0, p)
  local rate, span = ode.field(flow, t0, x0, p), 0
  for i = 1, #x0 do
    local time = math.abs(x0[i] / rate[i])
    if time < math.huge and time > span then span = time end
  end
  return span > 0 and span or 1
end

-- A start on the section is no crossing: the section is left out for this part of the expected time.
local START = 2 ^ -20

-- The events of the model but for the section.
local function events_but(flow, section)
  local others = {}
  for _, event in ipairs(flow.events) do
    if event.name ~= section.name then others[#others + 1] = event end
  end
  return others
end

-- The state after the first part of the run, in which the section is no event, and the events in it.
local function left_section(flow, x0, t0, t1, section, p)
  local others = events_but(flow, section)
  local sol = solution(flow, x0, t0, t1, p, others, { t_eval = { t1 } })
  return sol.y:column(1), #others > 0 and occurrences(sol, others) or {}
end

-- The crossings of a run that ends at `last` of them: an event whose apply leaves the state as it is does not count.
local function crossings_of(sol, place, acts)
  local list, times = {}, sol.t_events[place]
  for k = 1, #times do
    local before, after = sol.y_events[place]:row(k), sol.y_events_after[place]:row(k)
    if not acts or before ~= after then
      list[#list + 1] = { t = times[k], before = before, x = after, root = k }
    end
  end
  return list, #times
end

-- The derivatives of the state at the last crossing, whose time moves too: by the start, and by the parameter when it
-- is a number. The state at a root moves by S + f dt. `apply` of the section acts before: then f is that after it.
local function at_crossing(flow, sol, place, section, p, x, t)
  local n, dt = #x, sol.dt_events[place]
  local by_time = dt:row(dt:rows())
  local S = sol.S[#sol.S] + core.vector(ode.field(flow, t, x, p)):outer(by_time)
  return S:slice(1, n, 1, n), S:cols() > n and S:column(n + 1) or nil, by_time:slice(1, n)
end

-- The map to the section's crossing: the state there, its time, and its derivatives by the start and by the parameter
-- when it is a number. Nothing where an event that is not the section does not act.
function ode.exact_crossing(flow, x0, t0, section, p)
  for _, event in ipairs(flow.events) do
    if not event.apply and event.name ~= section.name then return nil end
  end
  local list = ode.crossings(flow, x0, t0, section, p)
  local last = list[#list]
  local begin, x, first = t0, x0, nil
  local by_parameter = type(arguments_with(flow, p)[flow.which]) == "number"
  local wanted = { "y0", by_parameter and ("args[%d]"):format(flow.which) or nil }
  if section.span then
    begin = t0 + START * section.span
    local sol = solution(flow, x0, t0, begin, p, events_but(flow, section),
      { sensitivities = wanted, t_eval = { begin } })
    x, first = sol.y:column(1), sol.S[1]
  end
  local events, place = with_section(flow, section, last.root)
  local sol = solution(flow, x, begin, 2 * last.t - begin, p, events, { sensitivities = wanted })
  if #sol.t_events[place] ~= last.root then return nil end
  local S, slope, dt = at_crossing(flow, sol, place, section, p, last.x, last.t)
  if first then
    local n = #x0
    slope = slope and slope + S * first:column(n + 1)
    S, dt = S * first:slice(1, n, 1, n), first:slice(1, n, 1, n):transpose() * dt
  end
  return list, S, slope, dt
end

function ode.crossings(flow, x0, t0, section, p)
  local span = section.span or first_span(flow, x0, t0, p)
  local last, doublings, first, begin = section.count, 0, {}, t0
  if section.span then
    begin = t0 + START * section.span
    x0, first = left_section(flow, x0, t0, begin, section, p)
  end
  repeat
    local events, place = with_section(flow, section, last)
    local sol = solution(flow, x0, begin, begin + span, p, events)
    local list, count = crossings_of(sol, place, events[place].apply)
    if #list >= section.count then
      for k = #list, section.count + 1, -1 do list[k] = nil end
      list.events = first
      for _, event in ipairs(occurrences(sol, events, section.g and place)) do
        if event.t <= list[#list].t then first[#first + 1] = event end
      end
      return list
    end
    if count >= last then last = 2 * last else span, doublings = 2 * span, doublings + 1 end
  until doublings > (section.span and DOUBLINGS_KNOWN or DOUBLINGS)
  error(format("section: fewer than %d crossings up to t = %g", section.count, begin + span), 0)
end

return ode
