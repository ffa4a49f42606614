-- nslua.dae_events: events of ns.dae, and the run from event to event.

local format = require "nslua.core".number_support.format
local event_options = require "nslua.base.event_options"
local where = require "nslua.base.where"

local public = {}

-- Reads the option `events`: an event or a list of events; bind(f): f with the arguments of the option `args`. nil:
-- there are none.
function public.read(value, bind)
  if value == nil then return nil end
  local events = event_options.read(value, "dae", "a function or a list of events", "")
  for e, event in ipairs(events) do
    event.user_g, event.user_apply, event.acts = event.g, event.apply, event.apply ~= nil
    event.g, event.apply = bind(event.g), bind(event.apply)
    event.text = event.name and ("event %d (%s)"):format(e, event.name) or ("event %d"):format(e)
  end
  return events
end

-- ---- the run ----

local Run = {}
Run.__index = Run

-- Records a row of the solution.
function Run:row(t, y, yd)
  if self.follow then self.S[#self.S + 1] = self.follow:at(t) end
  self.t[#self.t + 1], self.y[#self.y + 1], self.yd[#self.yd + 1] = t, y:totable(), yd:totable()
end

-- Records an occurrence of event e: t, y, y' before and after it, and the derivatives of t, which are returned, too.
function Run:found(e, t, before, after, dt)
  local list = self.occurrences[e]
  list[#list + 1] = { t, before[1]:totable(), before[2]:totable(), after[1]:totable(), after[2]:totable(), dt }
  return list[#list]
end

-- The derivatives of the time of a root of event e, which does not act; nil without sensitivities.
function Run:time_derivative(e, t, y, yd)
  return self.follow and self.follow:root(self.events[e], t, y, yd)
end

-- What apply of an event returned, as a vector; or nil and the reason. Raises when it is no list of as many numbers.
function Run:state_of(event, value, t, y)
  if value == nil then return y end
  local good, vector = where.try(self.ns.vector, value)
  if not good or type(value) == "number" then
    where.fail(format("dae: %s: apply: expected a list of %d numbers, got %s", event.text, #y, type(value)))
  elseif #vector ~= #y then
    where.fail(format("dae: %s: apply: expected %d numbers, got %d", event.text, #y, #vector))
  end
  for i = 1, #vector do
    if vector[i] - vector[i] ~= 0 then
      local what = vector[i] ~= vector[i] and "nan" or "inf"
      return nil, format("%s: apply[%d] is %s (t=%.10g)", event.text, i, what, t)
    end
  end
  return vector
end

-- How far each unknown may be moved to make a state after an event consistent: the run fulfils hidden equations to
-- its tolerances only, and errors of velocities and forces of index 3 are much larger than these. A part of the size
-- of the unknown in the run.
function Run:drift(y)
  local PART, list = 1e-4, {}
  for i = 1, #y do
    local size = math.abs(y[i])
    for _, row in ipairs(self.y) do size = math.max(size, math.abs(row[i])) end
    list[i] = PART * size + self.atol[i]
  end
  return list
end

-- Lets the events that act at the stop change the state, in their order. Returns y, y' after them and the last state
-- that apply gave, before it was made consistent; or nil and the reason.
function Run:act(acting, t, y, yd)
  local wanted = y
  for e, event in ipairs(self.events) do
    if acting[e] then
      local met = self.follow and self.follow:meet(event, t, y, yd)
      local value, why = self:state_of(event, event.apply(t, y, yd), t, y)
      if not value then return nil, why end
      local before = { y, yd }
      wanted = value
      y, yd = self.consistent(t, value, yd, { allowed = self:drift(y) })
      if not y then return nil, format("%s (t=%.10g): no consistent values after it: %s", event.text, t, yd) end
      self:found(e, t, before, { y, yd }, met and self.follow:jump(met, event, y, yd))
    end
  end
  return y, yd, wanted
end

-- Passes the stop at roots[stop]: moves there, lets events act, and goes on or ends. Returns false and the reason on
-- failure.
function Run:pass(roots, stop)
  local t, y, yd = self.call(self.support.cut, self.solver, roots[stop].t, roots[stop].event)
  if not t then return false, y end
  self:row(t, y, yd)
  for _, late in ipairs(self.late) do late.occurrence[6] = self:time_derivative(late.event, t, y, yd) end
  local acting, any, wanted = {}, false, y
  for i = stop, #roots do
    local e = roots[i].event
    if self.events[e].acts then acting[e], any = true, true
    elseif i == stop then self:found(e, t, { y, yd }, { y, yd }, self:time_derivative(e, t, y, yd)) end
    if roots[i].last and not self.ended_by then self.ended_by = self.events[e].text end
  end
  if any then
    y, yd, wanted = self:act(acting, t, y, yd)
    if not y then return false, yd end
    self:row(t, y, yd)
  end
  self.passed = t
  if self.ended_by then return true end
  local good, why = self.call(self.support.restart, self.solver, t, y, yd, wanted)
  if good and self.follow then self.follow:restarted() end
  return good, why
end

-- Records the times wanted up to t, in the last step. `all`: those at t, too.
function Run:record(t, all)
  local ts, way = self.ts, self.way
  while self.next <= #ts and (way * (ts[self.next] - t) < 0 or (all and ts[self.next] == t)) do
    local at = ts[self.next]
    if at ~= self.passed then self:row(at, self.call(self.support.at, self.solver, at)) end
    self.next = self.next + 1
  end
end

-- Records the occurrences that neither act nor end the run, up to the root number `last`.
function Run:record_roots(roots, last)
  self.late = {} -- those behind the stop: the derivatives of their times are taken at the stop
  for i, root in ipairs(roots) do
    local late = i > last and last > 0
    if i < last or (late and not self.events[root.event].acts) or last == 0 then
      local y, yd = self.call(self.support.at, self.solver, root.t)
      local dt = not late and self:time_derivative(root.event, root.t, y, yd) or nil
      local occurrence = self:found(root.event, root.t, { y, yd }, { y, yd }, dt)
      if late then self.late[#self.late + 1] = { occurrence = occurrence, event = root.event } end
    end
  end
end

-- Goes to the last time. Returns true; or false and the reason.
function Run:go()
  local good, why = self.call(self.support.watch, self.solver, self.events, self.ts[#self.ts])
  if not good then return false, why end
  while self.next <= #self.ts and not self.ended_by do
    local t, roots, stop = self.call(self.support.advance, self.solver, self.ts[self.next], self.max_steps)
    if not t then return false, roots end
    self:record_roots(roots, stop or 0)
    self:record(stop and roots[stop].t or t, not stop)
    if stop then
      good, why = self:pass(roots, stop)
      if not good then return false, why end
    end
  end
  return true
end

-- run{ns=, support=, call=, solver=, events=, ts=, y=, yd=, atol=, max_steps=, consistent= (t, y, yd, more) -> y, yd
-- or nil, reason; follow= (of nslua.dae_sensitivity, or nil)}: the run, with lists t, y, yd, S of its rows, ended_by
-- and occurrences; true, or false and the reason.
function public.run(o)
  local self = setmetatable(o, Run)
  local y, yd = self.y, self.yd
  self.t, self.y, self.yd, self.S, self.occurrences = {}, {}, {}, {}, {}
  self.next, self.way = 2, self.ts[#self.ts] < self.ts[1] and -1 or 1
  for e = 1, #self.events do self.occurrences[e] = {} end
  self:row(self.ts[1], y, yd)
  return self, self:go()
end

-- The fields of the result that tell of events, from the run.
function public.fields(run, into)
  local names = { "t_events", "y_events", "ydot_events", "y_events_after", "ydot_events_after" }
  if run.follow then names[6] = "dt_events" end
  for k, name in ipairs(names) do
    into[name] = {}
    for e, list in ipairs(run.occurrences) do
      local rows = {}
      for i, occurrence in ipairs(list) do rows[i] = occurrence[k] end
      local width = k == 6 and run.follow.p or run.n
      into[name][e] = k == 1 and run.ns.vector(rows) or (#rows > 0 and run.ns.matrix(rows) or run.ns.zeros(0, width))
    end
  end
end

return public
