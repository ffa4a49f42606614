-- nslua.dynamics.passage: how a branch goes on beyond a change of its sequence of events.
--
-- An impact at which the orbit grazes has the velocity 0 and leaves the state as it is. So the orbit there obeys the
-- equations of two fixed sequences, with this event and without it, and both are smooth there
-- (nslua.dynamics.sequence). The branch beyond is the curve of the other sequence through this orbit, on the side on
-- which its events are crossed in their direction. Two events that coincide may be exchanged in the same way.
--
-- Where there are no such equations, an orbit that shooting finds near the change must come nearer to the orbit of
-- the change when its distance in p is divided by 16: by 16 where the branch is smooth on that side, by 4 where it
-- has a square root. An orbit that comes no nearer belongs to another branch.
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local kinds = require "nslua.dynamics.orbit_kind"
local orbits = require "nslua.dynamics.orbit"
local points = require "nslua.dynamics.branch_point"
local sequences = require "nslua.dynamics.sequence"

local passage = {}

-- A guard that comes this close to 0 without an event, as a part of its range on the orbit, grazes.
local CLOSE = 1e-6
-- The rate of a fixed event that grazes at a located point, as a part of the size of its guard over the period.
local STILL = 1e-6
-- Two events that are closer than this part of the period coincide at a located point.
local COINCIDE = 1e-9
-- At most so many events are put in, taken out or exchanged at once: 7 choices.
local TOGGLES = 3
-- Steps of a curve beyond the change that are tried, as parts of the first step: the longest that is good is taken.
local STEPS = { 1, 2 ^ -3, 2 ^ -6, 2 ^ -9 }
-- Test functions are looked at from this part of the first step on: at a grazing multipliers are infinite.
local FIRST = 2 ^ -12
-- Distances from a change, divided by 4 so many times, at which shooting seeks an orbit of another sequence.
local BEYOND = 4
-- So many iterations are enough for an orbit near the guess, with steps that are damped to this part at least.
local ITERATIONS, DAMPING = 8, 2 ^ -4
-- The distance in p is divided by SHRINK, at most TIMES times. Each time the orbit must come nearer: its distance is
-- at most this part, NEARER, of the one before.
local SHRINK, TIMES, NEARER = 16, 4, 1 / 2
-- Orbits that are closer than this part of the sizes are one.
local SAME = 1e-8
local HALVINGS = 60 -- of the interval of time in which a guard is least

-- ---- what changes ----

-- The guards that graze on the orbit of a point: a list of { name, t }.
local function grazing_guards(b, point)
  local flow, orbit, list = b.problem.flow, point.orbit, {}
  for _, one in ipairs(flow:clearances(orbit.x0, flow.t0, flow.t0 + orbit.T, point.p, orbit.events)) do
    if one.value < CLOSE * one.range then list[#list + 1] = one end
  end
  return list
end

-- The names of the guards that graze on the orbit of a point; nil when none does.
function passage.grazing_of(b, point)
  local names = {}
  for i, one in ipairs(grazing_guards(b, point)) do names[i] = one.name end
  return names[1] and table.concat(names, " ")
end

-- The event of a fixed sequence whose rate, dg/dt, is 0 between the point a and c; nil when there is none.
function passage.grazing_event(b, a, c)
  if b.problem.form ~= sequences.form then return nil end
  for i, event in ipairs(a.orbit.events) do
    local other = c and c.orbit.events[i]
    if other and other.rate * event.rate < 0 then return event.name end
  end
end

-- The names of two events in a row that coincide on the orbit of a point, and the place of the first; nil when there
-- are none.
function passage.coinciding(point)
  local events = point.orbit.events
  for i = 2, #events do
    if math.abs(events[i].t - events[i - 1].t) < COINCIDE * point.T then
      return events[i - 1].name .. " " .. events[i].name, i - 1
    end
  end
end

-- ---- other sequences through one orbit ----

-- The state on the orbit at the time t, by the smooth piece after the last event before; and that event's time.
local function state_at(b, pieces, orbit, t, p)
  local x, from, mode = orbit.x0, b.problem.flow.t0, orbit.mode
  for _, event in ipairs(orbit.events) do
    if event.t <= t and event.t >= from then x, from, mode = event.after, event.t, event.mode end
  end
  return t > from and pieces.smooth(b.problem.flow, x, from, t, p, mode) or x, from, mode
end

-- The event of a guard that grazes near the time one.t: where its rate is 0, with the state there. nil where the
-- guard is watched in the other direction, or is no event that acts.
local function grazing_occurrence(b, pieces, orbit, one, p)
  local flow = b.problem.flow
  local h = orbit.T / flows.SAMPLES
  local _, from, mode = state_at(b, pieces, orbit, math.max(one.t - h, flow.t0), p)
  local named = { name = one.name, label = one.name, kind = not flow.f and "impact" or nil, mode = mode,
    mode_before = mode }
  for i, event in ipairs(flow.events or {}) do
    if event.name == one.name then named.order = i end
  end
  if not flow.f then named.label = one.name .. ":impact" end
  local event = pieces.event(flow, named, p)
  if not event then return nil end
  local start = math.max(one.t - h, from)
  local x = state_at(b, pieces, orbit, start, p)
  local function at(t)
    local y = t > start and pieces.smooth(flow, x, start, t, p, mode) or x
    local slope = pieces.guard_derivatives(flow, event, t, y, p)
    return slope.t + slope.x:dot(pieces.field(flow, t, y, p, mode))
  end
  local side = pieces.guard(flow, event, start, x, p) < 0 and -1 or 1
  local low, high = start, one.t + h
  for _ = 1, HALVINGS do
    local middle = (low + high) / 2
    if not (middle > low and middle < high) then break end
    if at(middle) * side < 0 then low = middle else high = middle end
  end
  local t = (low + high) / 2
  local direction = event.direction
  if type(direction) == "number" and direction * side > 0 then return nil end
  local y = pieces.smooth(flow, x, start, t, p, mode)
  named.t, named.before, named.after, named.sign = t, y, y, -side
  return named
end

-- What may be changed in the list of events at the point: a list of functions that change a list.
local function toggles_at(b, point, pieces, orbit)
  local q, list = b.problem, {}
  for i, event in ipairs(q.form == sequences.form and orbit.events or {}) do
    if math.abs(event.rate) <= STILL * q.guard_sizes[i] / q.T_size then
      list[#list + 1] = function(events)
        for k, other in ipairs(events) do
          if other == event then return table.remove(events, k) end
        end
      end
    end
  end
  local _, first = passage.coinciding(point)
  if first then
    list[#list + 1] = pieces.fit and function(events)
      for _ = 1, 2 do table.remove(events, first) end
    end or function(events)
      local one, two = {}, {}
      for name, value in pairs(events[first + 1]) do one[name] = value end
      for name, value in pairs(events[first]) do two[name] = value end
      one.before, two.after = events[first].before, events[first + 1].after
      events[first], events[first + 1] = one, two
      local event = pieces.event(q.flow, one, point.p)
      two.before = event and pieces.reset(q.flow, event, one.t, one.before, point.p) or two.before
      one.after = two.before
    end
  end
  for _, one in ipairs(grazing_guards(b, point)) do
    local good, event = pcall(grazing_occurrence, b, pieces, orbit, one, point.p)
    if good and event then list[#list + 1] = function(events) events[#events + 1] = event end end
  end
  return list
end

-- The lists of events that the orbit of a point may have, too; those with one change first.
local function lists_at(b, point, pieces, orbit)
  local toggles, lists = toggles_at(b, point, pieces, orbit), {}
  for bits = 1, 2 ^ math.min(#toggles, TOGGLES) - 1 do
    local events, count = { table.unpack(orbit.events) }, 0
    for k, change in ipairs(toggles) do
      if bits >> (k - 1) & 1 == 1 then
        change(events)
        count = count + 1
      end
    end
    local place = {}
    for k, event in ipairs(events) do place[event] = k end
    table.sort(events, function(a, c)
      if a.t ~= c.t then return a.t < c.t end
      return place[a] < place[c]
    end)
    lists[#lists + 1] = { events = events, count = count, bits = bits }
  end
  table.sort(lists, function(a, c)
    if a.count ~= c.count then return a.count < c.count end
    return a.bits < c.bits
  end)
  return lists
end

-- A point on the curve of the problem q through the unknowns u at last.p, on the side where it has the sequence
-- `wanted`; another one that is nearer to these unknowns, and the length between the two.
local function along_curve(b, last, q, u, wanted)
  local w = core.concatenate { u, core.vector { last.w[#last.w] } }
  b.problem, b.weights = q, points.weights_of(q, #w)
  for _, side in ipairs { 1, -1 } do
    local before = core.zeros(#w)
    before[#w] = side
    local good, solved = pcall(points.correct, b, w, before)
    local start = points.point_at(b, good and solved.good and solved.u or w, before)
    for _, part in ipairs(STEPS) do
      local point = points.step_to(b, start, part * b.step)
      if point and point.sequence == wanted then
        local first = points.step_to(b, start, FIRST * part * b.step, true)
        if not first or first.sequence ~= wanted then return point end
        return point, first, points.dot(b, point.w - first.w, first.tangent)
      end
    end
  end
end

-- Whether each event of a problem begins in the mode in which the one before it ends.
local function modes_agree(q)
  local mode = q.mode
  for _, event in ipairs(q.list) do
    for i = 1, mode and #mode or 0 do
      if mode[i] ~= event.mode_before[i] then return false end
    end
    mode = event.mode
  end
  return true
end

-- The first point beyond by the equations of other sequences through the orbit of `last`; the sequences of all other
-- curves that are motions of the model.
local function by_equations(b, last)
  local old, weights, base = b.problem, b.weights, b.base
  local own = last.orbit
  local given = { x0 = own.x0, T = own.T, events = own.events, mode = own.problem.mode }
  local good, pieces, events, mode = pcall(sequences.pieces, base, given, last.p)
  if not good or not pieces then return nil end
  local orbit = { x0 = own.x0, T = own.T, events = events, mode = mode }
  kinds.renew_phase(base, last.x0, last.p)
  base.flow.piece_sizes, base.flow.parameter_size = base.sizes, base.parameter_size
  local fine, lists = pcall(lists_at, b, last, pieces, orbit)
  local best, others = nil, {}
  for _, one in ipairs(fine and lists or {}) do
    b.problem, b.weights = old, weights
    local made, q, u = pcall(sequences.with, base, { x0 = orbit.x0, T = orbit.T, events = one.events, mode = mode },
      last.p)
    if made and q and modes_agree(q) then
      local wanted = orbits.sequence(one.events)
      local found, point, from, length = pcall(along_curve, b, last, q, u, wanted)
      if found and point and best then others[#others + 1] = wanted
      elseif found and point then
        best = { point = point, from = from, length = length, problem = b.problem, weights = b.weights }
      end
    end
  end
  b.problem, b.weights = old, weights
  if not best then return nil end
  b.problem, b.weights = best.problem, best.weights
  return best.point, best.from, best.length, #others > 0 and others or nil
end

-- ---- by shooting ----

-- How far the start of an orbit and its period are from start and period of a point, as parts of the sizes.
local function distance(q, point, x0, T)
  local far = math.abs(T - point.T) / q.T_size
  for _, j in ipairs(q.keep) do far = math.max(far, math.abs(x0[j] - point.x0[j]) / q.sizes[j]) end
  return far
end

-- The orbit that shooting finds at p from a start: { u, x0, T, sequence }; nil when there is none.
local function orbit_at(q, x0, T, p)
  local good, found = pcall(function()
    local solved = orbits.solve(q, orbits.pack(q, orbits.nodes_from(q, x0, T, p), T), p,
      { tol = q.options.tol, max_iterations = ITERATIONS, least = DAMPING })
    if not solved.good then return nil end
    local nodes, own = orbits.unpack(q, solved.u)
    return { u = solved.u, x0 = nodes[1], T = own or q.kind.returns and T or q.period(p), p = p, solved = solved,
      sequence = q.form.sequence_of(q, solved.state) }
  end)
  return good and found or nil
end

-- The orbit, or one nearer to the change, from which the branch goes on; nil where it belongs to another branch.
local function approaching(q, last, found)
  for _ = 1, TIMES do
    local far, p = distance(q, last, found.x0, found.T), last.p + (found.p - last.p) / SHRINK
    if far <= SAME or p == last.p or p == found.p then return found end
    local nearer
    for _, part in ipairs { 1 / SHRINK, 1 / math.sqrt(SHRINK) } do
      local guess = last.x0 + part * (found.x0 - last.x0)
      local one = orbit_at(q, guess, last.T + part * (found.T - last.T), p)
      if one and one.sequence ~= last.sequence and distance(q, last, one.x0, one.T) <= NEARER * far then
        nearer = one
        break
      end
    end
    if not nearer then return nil end
    if nearer.sequence == found.sequence then return found end
    found = nearer -- another change is between the two
  end
end

-- The point of an orbit that shooting has found.
local function point_of(b, q, found, side)
  local w = core.concatenate { found.u, core.vector { found.p / b.size } }
  local before = core.zeros(#w)
  before[#w] = side
  b.problem, b.weights = q, points.weights_of(q, #w)
  local point = points.point_at(b, w, before, found.solved)
  point.iterations = found.solved.iterations
  return point
end

-- An orbit of another sequence next to the change, on the way or on the way back, that is known to be on the branch.
local function by_shooting(b, last, ds)
  local old, weights, q = b.problem, b.weights, b.base
  local sign = last.tangent[#last.w] < 0 and -1 or 1
  local longest = math.max(ds, b.step_max)
  for _, side in ipairs { sign, -sign } do
    for k = BEYOND, 0, -1 do -- the nearest first: an orbit that is far may be on another part of the branch
      local p = last.p + side * longest * 4 ^ -k * b.size
      local found = p >= b.low and p <= b.high and orbit_at(q, last.x0, last.T, p)
      found = found and found.sequence ~= last.sequence and approaching(q, last, found)
      local good, point = pcall(function() return found and point_of(b, q, found, side) end)
      if good and point and point.sequence ~= last.sequence then return point end
      b.problem, b.weights = old, weights
    end
  end
end

-- ---- the passage ----

-- The first point of the branch b beyond a change of the sequence at its point `last`; c: an orbit of another
-- sequence at the length ds that a step has found, or nil. Then the point on the new curve at the change, the length
-- between them and the sequences of other curves, where these are known. nil where no orbit is known to follow.
function passage.across(b, last, c, ds)
  local point, from, length, others = by_equations(b, last)
  if point then return point, from, length, others end
  if c and b.problem.form ~= sequences.form then
    local found = approaching(b.problem, last, { x0 = c.x0, T = c.T, p = c.p, sequence = c.sequence })
    if found and found.sequence == c.sequence then return c end
  end
  return by_shooting(b, last, ds)
end

return passage
