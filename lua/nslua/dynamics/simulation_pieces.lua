-- nslua.dynamics.simulation_pieces: the smooth pieces of a simulation between its events, each in a mode of its laws
-- (core.mode, src/simulation/mode.h).
--
-- A guard is what an event brings to 0: the gap of an impact, the velocity of slip where friction begins to hold, y
-- of a switch, or the distance of a multiplier from its bound where sliding, sticking or a contact ends. At an impact
-- each closed contact takes part in the way that the impact of the orbit has. All of this holds whatever the signs
-- are, so equations for a fixed sequence of events are smooth where one of them grazes (nslua.dynamics.sequence).
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local lists = require "nslua.base.lists"
local simulation = require "nslua.dynamics.simulation_flow"

local modes, pieces = core.mode, {}

-- Why derivatives of these pieces by the parameter are not exact.
pieces.reason = "a fixed sequence of events of a simulation"

-- Tolerances of runs: rtol, and atol as a part of the size of a state, as tolerances of an ODE.
local RTOL, ATOL = 1e-12, 2 ^ -44

-- ---- modes ----

-- Events at one time are one: the impact, or the first of them.
local function grouped(events)
  local list = {}
  for _, event in ipairs(events) do
    local last, impact = list[#list], flows.is_impact(event)
    if last and last.t == event.t then
      last.labels = last.labels .. " " .. event.label
      if impact and not flows.is_impact(last.event) then last.event = event end
      last.after = event.after
      last.count = last.count + (impact and 1 or 0)
    else
      list[#list + 1] = { t = event.t, event = event, labels = event.label, after = event.after,
        before = event.before, count = impact and 1 or 0 }
    end
  end
  return list
end

-- The events of an orbit with the modes after them, and the mode at its start; nil where there are none: two impacts
-- at one time, friction in space, bodies with quaternions.
function pieces.fit(flow, orbit, p)
  if orbit.mode then return orbit.events, orbit.mode end
  local times, groups, list = { flow.t0 }, grouped(orbit.events), {}
  for _, group in ipairs(groups) do
    if group.count > 1 then return nil end
    times[#times + 1] = group.t
  end
  times[#times + 1] = flow.t0 + orbit.T
  for i = 2, #times do
    list[i - 1] = simulation.mode(flow, orbit.x0, flow.t0, (times[i - 1] + times[i]) / 2, p)
    if not list[i - 1] then return nil end
  end
  local events = {}
  for i, group in ipairs(groups) do
    events[i] = lists.copy(group.event, { label = group.labels, before = group.before, after = group.after,
      mode_before = list[i], mode = list[i + 1] })
  end
  return events, list[1]
end

-- The model at p with its motion; more = 1: that has derivatives by the parameter, which is a number of the model.
local function moving(flow, p)
  local model = simulation.model(flow, p)
  if not model.motion or model.motion_p ~= p then
    local good, exact = pcall(modes.new, model.simu, { flow.parameter })
    model.motion, model.motion_p, model.more = good and exact or modes.new(model.simu), p, good and 1 or 0
  end
  return model
end

-- The motion at p in a mode, near the point (t, x).
local function motion(flow, t, x, p, mode)
  local model = moving(flow, p)
  modes.take(model.motion, mode.block, t, x)
  return model.motion
end

-- ---- smooth motion ----

function pieces.field(flow, t, x, p, mode) return modes.rate(motion(flow, t, x, p, mode), t, x) end

-- The run of the vector x in a mode; states: those with which it begins.
local function run(states, flow, x, ta, tb, p, mode, options)
  local of = motion(flow, ta, states, p, mode)
  local sol = core.solve_ivp(function(t, y) return modes.rate(of, t, y) end, { ta, tb }, x, options)
  if not sol.success then error(sol.message, 0) end
  return sol
end

local function options_of(flow, tb)
  return { method = "DOP853", rtol = RTOL, atol = flow.piece_sizes * ATOL, t_eval = tb and { tb } }
end

function pieces.smooth(flow, x, ta, tb, p, mode)
  return run(x, flow, x, ta, tb, p, mode, options_of(flow, tb)).y:column(1)
end

-- The derivatives of f(x), f(t) and f(p) by differences of order 4.
local function by_states(flow, f, x)
  return flows.by_states(function(y) return f(y), {} end, x, flow.piece_sizes, "")
end

local function by_parameter(flow, f, p)
  return flows.by_number(function(value) return f(value), {} end, p, flow.parameter_size, "")
end

local function by_time(flow, f, t)
  return flows.by_number(function(value) return f(value), {} end, t, flow.span, "")
end

-- The derivatives by the states x and by the parameter p of f(x, p), which has `size` numbers. exact(start, count) is
-- f with its derivatives along the `count` directions of core.mode behind x in `start`; nil: not known. What is not
-- known exactly has differences.
local function derivatives(flow, exact, f, size, x, p)
  local n, width = #x, #x + moving(flow, p).more
  local units, S, slope = core.eye(width), nil, nil
  for count = width, n, -1 do
    local start = { x }
    for j = 1, count do start[j + 1] = units:column(j) end
    local all = not S and exact(core.concatenate(start), count)
    local stride = all and (#all - size) // count
    for j = 1, all and count or 0 do
      local first = size + (j - 1) * stride
      local column = all:slice(first + 1, first + size)
      S = S or core.zeros(size, n)
      if j > n then slope = column else S:column(j):assign(column) end
    end
  end
  return S or by_states(flow, function(y) return f(y, p) end, x),
    slope or by_parameter(flow, function(value) return f(x, value) end, p)
end

function pieces.smooth_derivatives(flow, x, ta, tb, p, mode)
  local function exact(start, count) -- X' = F_x X + F_p, carried along
    if not modes.rate(motion(flow, ta, x, p, mode), ta, start) then return nil end
    local options, all = options_of(flow, tb), {}
    all[1] = options.atol
    for j = 1, count do
      all[j + 1] = options.atol * (1 / (j > #x and flow.parameter_size or flow.piece_sizes[j]))
      if moving(flow, p).more == 1 then all[j + 1] = core.concatenate { all[j + 1], { 1 } } end
    end
    options.atol = core.concatenate(all)
    return run(x, flow, start, ta, tb, p, mode, options).y:column(1)
  end
  return derivatives(flow, exact, function(y, value) return pieces.smooth(flow, y, ta, tb, value, mode) end, #x, x, p)
end

-- ---- guards ----

-- The events of core.mode by the kinds of events; whole: they belong to the first row of a contact.
local ENDS = { impact = { impact = true, whole = true, acts = true }, release = { release = true, whole = true },
  stick = { stick = true }, cross = { stick = true, cross = true }, slip = { slip = true }, slide = { cross = true },
  close = { cross = true }, open = { leave = true }, leave = { leave = true } }

-- The event of one that an orbit has, with its row; nil for another kind of event.
function pieces.event(flow, one, p)
  local nsds, row = simulation.model(flow, p).simu:nsds(), 0
  for k = 1, nsds:numberOfInteractions() do
    local interaction = nsds:interaction(k)
    if interaction:name() == one.name then
      local ends = ENDS[one.kind]
      if not ends or not one.mode_before then return nil end
      local component = not ends.whole and one.component or 1
      if component > interaction:dimension() then return nil end
      return { name = one.name, label = one.label, kind = one.kind, component = one.component, guard = one.kind,
        place = row + component, mode = one.mode, mode_before = one.mode_before,
        key = one.name .. ":" .. row + component, direction = ends.acts and -1 or nil }
    end
    row = row + interaction:dimension()
  end
end

-- The model in the mode before an event, and the number of its guard. Of the two bounds of a multiplier that leaves,
-- it is the one of the mode after.
local function guarded(flow, event, t, x, p)
  local of, found = motion(flow, t, x, p, event.mode_before), nil
  for _, guard in ipairs(modes.guards(of)) do
    local fits = guard.row == event.place and ENDS[event.kind][guard.event]
    if fits and (not found or event.mode[event.place] == "upper") then found = guard.k end
  end
  if not found then error(("'%s' has no guard in this mode"):format(event.label), 0) end
  return of, found
end

function pieces.guard(flow, event, t, x, p)
  local of, k = guarded(flow, event, t, x, p)
  return modes.guard(of, t, x, k)[1]
end

function pieces.guard_derivatives(flow, event, t, x, p)
  local function at(time, y, value) return core.vector { pieces.guard(flow, event, time, y, value) } end
  local of, k = guarded(flow, event, t, x, p)
  local slopes, slope = derivatives(flow, function(start) return modes.guard(of, t, start, k) end,
    function(y, value) return at(t, y, value) end, 1, x, p)
  return { x = slopes:row(1), t = by_time(flow, function(time) return at(time, x, p) end, t)[1], p = slope[1] }
end

-- The events on the way: a list of { t, label, key }. Guards are above 0 in the mode.
function pieces.roots(flow, x, ta, tb, p, mode)
  local of, events, found = motion(flow, ta, x, p, mode), {}, {}
  local guards, names, nsds = modes.guards(of), {}, simulation.model(flow, p).simu:nsds()
  for k, guard in ipairs(guards) do
    events[k] = { direction = -1, g = function(t, y) return modes.guard(of, t, y, guard.k)[1] end }
  end
  if #guards == 0 then return found end
  for k = 1, nsds:numberOfInteractions() do
    for _ = 1, nsds:interaction(k):dimension() do names[#names + 1] = nsds:interaction(k):name() end
  end
  local options = options_of(flow)
  options.events = events
  local sol = run(x, flow, x, ta, tb, p, mode, options)
  for k, guard in ipairs(guards) do
    local name = names[guard.row]
    for j = 1, #sol.t_events[k] do
      found[#found + 1] = { t = sol.t_events[k][j], label = name .. ":" .. guard.event,
        key = name .. ":" .. guard.row }
    end
  end
  return found
end

-- ---- impacts ----

-- Fills in how an event's impact acts; false where that is not known.
function pieces.prepare(flow, event, one, p)
  if not ENDS[event.kind].acts then return true end
  local of, k = guarded(flow, event, one.t, one.before, p)
  event.ways = modes.impact(of, one.t, one.before, k, one.after)
  return event.ways ~= nil
end

-- The states after an event, and the derivatives of them along what is behind x.
local function reset(flow, event, t, x, p)
  if not ENDS[event.kind].acts then return x:copy() end
  local of, k = guarded(flow, event, t, x:slice(1, #flow.piece_sizes), p)
  return modes.reset(of, t, x, k, event.ways)
end

pieces.reset = reset

function pieces.reset_derivatives(flow, event, t, x, p)
  local S, slope = derivatives(flow, function(start) return reset(flow, event, t, start, p) end,
    function(y, value) return reset(flow, event, t, y, value) end, #x, x, p)
  return { x = S, t = by_time(flow, function(time) return reset(flow, event, time, x, p) end, t), p = slope }
end

return pieces
