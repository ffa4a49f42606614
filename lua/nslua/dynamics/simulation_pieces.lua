-- nslua.dynamics.simulation_pieces: the smooth pieces of a simulation between its events, each in a mode of its laws
-- (nslua.dynamics.mode_field).
--
-- A guard is what an event brings to 0: the gap of an impact, the velocity of slip where friction begins to hold, y
-- of a switch, or the distance of a multiplier from its bound where sliding, sticking or a contact ends. At an impact
-- the impulses P of the closed contacts obey
--   M (v+ - v-) = C' P,   v_n+ = -e v_n- or P_n = 0,   v_t+ = 0 (e_t = 0) or P_t = +-mu P_n,
-- each contact in the way that the impact of the orbit has. All of this holds whatever the signs are, so equations
-- for a fixed sequence of events are smooth where one of them grazes (nslua.dynamics.sequence).
local core = require "nslua.core"
local fields = require "nslua.dynamics.mode_field"
local flows = require "nslua.dynamics.flow"
local simulation = require "nslua.dynamics.simulation_flow"

local pieces = {}

-- Why derivatives of these pieces are not exact.
pieces.reason = "a fixed sequence of events of a simulation"

-- Tolerances of runs: rtol, and atol as a part of the size of a state, as those of an ODE.
local RTOL, ATOL = 1e-12, 2 ^ -44
-- An impulse within this part of its terms is 0, and friction within this part of its bound is at the bound. 1e-9:
-- states have errors of RTOL, which the jump and its cancellation make some hundred times larger.
local NO_IMPULSE = 1e-9

local function graph(flow, p) return simulation.model(flow, p).simu:nsds() end

-- The rows at (t, x) without forces: as those of nslua.dynamics.mode_field.
local function free_rows(flow, t, x, p)
  local nsds, count = graph(flow, p), 0
  for k = 1, nsds:numberOfInteractions() do count = count + nsds:interaction(k):dimension() end
  return fields.rows(nsds, t, x, core.zeros(count))
end

local function is_contact(row) return row.interaction.unilateral or row.group.dim > 1 end

-- ---- modes ----

-- The modes between the times of a course: one for each interval, or nil where one is not known.
local function modes_between(flow, x0, times, p)
  local sol = simulation.dense(flow, x0, times[1], times[#times], p)
  local nsds, modes, at, sizes = graph(flow, p), {}, {}, nil
  for i = 2, #times do
    at[i - 1] = sol:at((times[i - 1] + times[i]) / 2)
    local lambda = at[i - 1].lambda
    sizes = sizes or core.zeros(#lambda)
    for k = 1, #lambda do sizes[k] = math.max(sizes[k], math.abs(lambda[k])) end
  end
  for i, point in ipairs(at) do
    modes[i] = fields.mode(nsds, (times[i] + times[i + 1]) / 2, point.x, point.lambda, sizes)
    if not modes[i] then return nil end
  end
  return modes
end

-- Events at one time are one: the impact, or the first of them.
local function grouped(events)
  local list = {}
  for _, event in ipairs(events) do
    local last = list[#list]
    if last and last.t == event.t then
      last.labels = last.labels .. " " .. event.label
      if event.kind == "impact" and last.event.kind ~= "impact" then last.event = event end
      last.after = event.after
      last.count = last.count + (event.kind == "impact" and 1 or 0)
    else
      list[#list + 1] = { t = event.t, event = event, labels = event.label, after = event.after,
        before = event.before, count = event.kind == "impact" and 1 or 0 }
    end
  end
  return list
end

-- The events of an orbit with the modes after them, and the mode at its start; nil where there are none: another
-- kind of event, two impacts at one time, friction in space, bodies with quaternions.
function pieces.fit(flow, orbit, p)
  if orbit.mode then return orbit.events, orbit.mode end
  local times, groups = { flow.t0 }, grouped(orbit.events)
  for _, group in ipairs(groups) do
    if group.count > 1 then return nil end
    times[#times + 1] = group.t
  end
  times[#times + 1] = flow.t0 + orbit.T
  local modes = modes_between(flow, orbit.x0, times, p)
  if not modes then return nil end
  local events = {}
  for i, group in ipairs(groups) do
    local event = {}
    for name, value in pairs(group.event) do event[name] = value end
    event.label, event.before, event.after = group.labels, group.before, group.after
    event.mode_before, event.mode = modes[i], modes[i + 1]
    events[i] = event
  end
  return events, modes[1]
end

-- ---- smooth motion ----

function pieces.field(flow, t, x, p, mode) return fields.rate(flow, graph(flow, p), t, x, mode) end

local function options_of(flow)
  return { method = "DOP853", rtol = RTOL, atol = flow.piece_sizes * ATOL }
end

local function run(flow, x, ta, tb, p, mode, options)
  local nsds = graph(flow, p)
  local sol = core.solve_ivp(function(t, y) return fields.rate(flow, nsds, t, y, mode) end, { ta, tb }, x, options)
  if not sol.success then error(sol.message, 0) end
  return sol
end

function pieces.smooth(flow, x, ta, tb, p, mode)
  local options = options_of(flow)
  options.t_eval = { tb }
  return run(flow, x, ta, tb, p, mode, options).y:column(1)
end

-- The derivatives of f(x) and f(x, p) by differences of order 4.
local function by_states(flow, f, x)
  return flows.by_states(function(y) return f(y), {} end, x, flow.piece_sizes, "")
end

local function by_parameter(flow, f, p)
  return flows.by_number(function(value) return f(value), {} end, p, flow.parameter_size, "")
end

local function by_time(flow, f, t)
  return flows.by_number(function(value) return f(value), {} end, t, flow.span, "")
end

function pieces.smooth_derivatives(flow, x, ta, tb, p, mode)
  return by_states(flow, function(y) return pieces.smooth(flow, y, ta, tb, p, mode) end, x),
    by_parameter(flow, function(value) return pieces.smooth(flow, x, ta, tb, value, mode) end, p)
end

-- ---- guards ----

-- What a guard is, by the kind of its event: of mechanics, and of first order.
local MECHANICAL = { impact = "gap", release = "normal", stick = "slip", cross = "slip", slip = "force" }
local FIRST_ORDER = { cross = "output", slide = "output", close = "output", open = "force", leave = "force" }

-- The distance of the force of row i from its limit, in the mode and the one after it.
local function force_left(lambda, s, i, after)
  local row, word = s.rows[i], after[i]
  if word == "slip+" or word == "slip-" then
    return row.group.mu * lambda[i - row.inner + 1] - (word == "slip+" and 1 or -1) * lambda[i]
  end
  if word == "upper" then return row.group.upper - lambda[i] end
  return lambda[i] - (word == "lower" and row.group.lower or 0)
end

-- The guards by their kinds: functions of x', lambda and the terms s in the mode.
local GUARDS = {
  gap = function(_, s, i) return s.rows[i].interaction.y[s.rows[i].place] end,
  normal = function(lambda, _, i) return lambda[i] end,
  slip = function(_, s, i) return s.normals[i]:dot(s.v) + s.rows[i].interaction.rate[s.rows[i].place] end,
  output = function(_, s, i) return s.rows[i].interaction.y[s.rows[i].place] end,
  force = force_left,
}

-- The event of one that an orbit has, with its guard's kind and row; nil for another kind of event.
function pieces.event(flow, one, p)
  local nsds, row = graph(flow, p), 0
  for k = 1, nsds:numberOfInteractions() do
    local interaction = nsds:interaction(k)
    if interaction:name() == one.name then
      local rows, mechanical = free_rows(flow, flow.t0, flow.piece_start, p)
      local guard = (mechanical and MECHANICAL or FIRST_ORDER)[one.kind]
      local place = row + (one.component or 1)
      if one.kind == "release" or one.kind == "impact" then place = row + 1 end
      if not guard or place > #rows or one.kind == "impact" and not is_contact(rows[place]) then return nil end
      return { name = one.name, label = one.label, kind = one.kind, component = one.component, guard = guard,
        place = place, mode = one.mode, mode_before = one.mode_before, impulses = one.impulses,
        key = one.name .. ":" .. place, direction = guard == "gap" and -1 or nil }
    end
    row = row + interaction:dimension()
  end
end

function pieces.guard(flow, event, t, x, p)
  if event.guard == "gap" then
    return GUARDS.gap(nil, { rows = free_rows(flow, t, x, p) }, event.place)
  end
  local _, lambda, s = fields.at(flow, graph(flow, p), t, x, event.mode_before)
  return GUARDS[event.guard](lambda, s, event.place, event.mode)
end

function pieces.guard_derivatives(flow, event, t, x, p)
  local function at(time, y, value) return core.vector { pieces.guard(flow, event, time, y, value) } end
  return { x = by_states(flow, function(y) return at(t, y, p) end, x):row(1),
    t = by_time(flow, function(time) return at(time, x, p) end, t)[1],
    p = by_parameter(flow, function(value) return at(t, x, value) end, p)[1] }
end

-- ---- events on the way ----

-- What may end a mode: functions of lambda and the terms s, with the kind of event and the direction in which they
-- pass 0.
local function watched(mode, rows, mechanical)
  local list = {}
  local function watch(i, kind, direction, value) list[#list + 1] = { i = i, kind = kind, direction = direction,
    value = value } end
  for i, row in ipairs(rows) do
    local word = mode[i]
    if mechanical and word == "open" and row.inner == 1 then watch(i, "impact", -1, GUARDS.gap)
    elseif mechanical and word == "active" and row.inner == 1 and is_contact(row) then
      watch(i, "release", -1, GUARDS.normal)
    elseif word == "slip+" or word == "slip-" then
      if row.group.mu > 0 then watch(i, "stick", word == "slip+" and 1 or -1, GUARDS.slip) end
    elseif word == "active" and row.inner > 1 then
      for _, side in ipairs { "slip+", "slip-" } do
        watch(i, "slip", -1, function(lambda, s) return force_left(lambda, s, i, { [i] = side }) end)
      end
    elseif word == "active" then
      for _, side in ipairs { "lower", "upper" } do
        if math.abs(row.group[side]) < math.huge then
          watch(i, mechanical and "slip" or "leave", -1, function(lambda, s)
            return force_left(lambda, s, i, { [i] = side })
          end)
        end
      end
    elseif word == "lower" or word == "upper" or word == "open" and not mechanical then
      local direction = word == "upper" and 1 or -1
      watch(i, mechanical and "stick" or "cross", direction, mechanical and GUARDS.slip or GUARDS.output)
    end
  end
  return list
end

-- The events on the way: a list of { t, label, key }.
function pieces.roots(flow, x, ta, tb, p, mode)
  local nsds, events, found = graph(flow, p), {}, {}
  local rows, mechanical = free_rows(flow, ta, x, p)
  local list = watched(mode, rows, mechanical)
  for k, one in ipairs(list) do
    events[k] = { direction = one.direction, g = function(t, y)
      local _, lambda, s = fields.at(flow, nsds, t, y, mode)
      return one.value(lambda, s, one.i)
    end }
  end
  if #list == 0 then return found end
  local options = options_of(flow)
  options.events = events
  local sol = run(flow, x, ta, tb, p, mode, options)
  for k, one in ipairs(list) do
    local name = nsds:interaction(rows[one.i].number):name()
    for j = 1, #sol.t_events[k] do
      found[#found + 1] = { t = sol.t_events[k][j], label = name .. ":" .. one.kind, key = name .. ":" .. one.i }
    end
  end
  return found
end

-- ---- impacts ----

-- The terms of an impact at (t, x): those of the mode before it without forces, and the velocities.
local function impact_terms(flow, event, t, x, p)
  return select(3, fields.at(flow, graph(flow, p), t, x, event.open))
end

-- The rows that take part in an impact: those of closed contacts and of constraints, and of the contact that hits.
local function taking_part(event, rows)
  local list, hit = {}, event.place
  for i, row in ipairs(rows) do
    local head = i - row.inner + 1
    local closed = event.mode_before[head] == "active" and (is_contact(row) or
      row.group.lower == -math.huge and row.group.upper == math.huge)
    if closed or head == hit then list[#list + 1] = i end
  end
  return list
end

local function all_open(mode)
  local open = {}
  for i = 1, #mode do open[i] = "open" end
  return open
end

-- The impulses of the rows of `part` that add up to a change of the momenta, and for each whether it is 0. Momenta
-- are divided by sqrt(M_jj) and normals have the length 1, so that no unit counts; impulse k is compared with its
-- terms, those of the impulses that move row k.
local function impulses_of(s, part, momentum)
  local share, C, columns, norms = core.zeros(s.n), core.zeros(s.n, #part), {}, {}
  for k, system in ipairs(s.systems) do
    for j = 1, s.offsets[k].count do share[s.offsets[k].from + j] = 1 / math.sqrt(system.M[j][j]) end
  end
  for k, i in ipairs(part) do
    local column = s.normals[i]:mul(share)
    local norm = math.sqrt(column:dot(column))
    norms[k] = norm > 0 and norm or 1
    columns[k] = column * (1 / norms[k])
    for j = 1, s.n do C[j][k] = columns[k][j] end
  end
  local P, none = core.lstsq(C, momentum:mul(share)), {}
  for k = 1, #part do
    local terms = 0
    for j = 1, #part do terms = terms + math.abs(columns[k]:dot(columns[j]) * P[j]) end
    none[k] = math.abs(P[k]) <= NO_IMPULSE * terms
  end
  for k = 1, #part do P[k] = P[k] / norms[k] end
  return P, none
end

-- The ways in which the rows take part, from the impulses P: "moves" (its velocity is given), "free" (no impulse) or
-- +-1 (P_t = +-mu P_n). none: the impulses that are 0.
local function ways_of(event, s, part, P, none)
  local ways, place = {}, {}
  for k, i in ipairs(part) do place[i] = k end
  for k, i in ipairs(part) do
    local row = s.rows[i]
    if row.inner > 1 then
      local normal = place[i - row.inner + 1]
      local slips = none[normal] or math.abs(P[k]) >= (1 - NO_IMPULSE) * row.group.mu * P[normal]
      ways[i] = slips and (P[k] < 0 and -1 or 1) or "moves"
    else
      ways[i] = i ~= event.place and is_contact(row) and none[k] and "free" or "moves"
    end
  end
  return ways
end

-- The ways of an impact whose impulse is 0: the contact that hits slips on as it does, no other one takes part.
local function ways_at_rest(event, s, part)
  local ways = {}
  for _, i in ipairs(part) do
    local row = s.rows[i]
    if row.inner > 1 and i - row.inner + 1 == event.place then
      local slip = GUARDS.slip(nil, s, i)
      if slip == 0 and row.group.mu > 0 then return nil end
      ways[i] = slip > 0 and -1 or 1
    elseif i ~= event.place then return nil
    else ways[i] = "moves" end
  end
  return ways
end

-- How the rows take part in an impact of an orbit, from the states at both sides; nil where that is not known.
local function ways_at(flow, event, t, before, after, p)
  local s = impact_terms(flow, event, t, before, p)
  local part = taking_part(event, s.rows)
  local jump, momentum, same = core.zeros(s.n), core.zeros(s.n), true
  for k in ipairs(s.systems) do
    local from, count, at = s.offsets[k].from, s.offsets[k].count, s.first[k] + s.offsets[k].count
    for j = 1, count do
      jump[from + j] = after[at + j] - before[at + j]
      same = same and jump[from + j] == 0
    end
    local pushed = s.systems[k].M * jump:slice(from + 1, from + count)
    for j = 1, count do momentum[from + j] = pushed[j] end
  end
  if same then return part, ways_at_rest(event, s, part) end
  return part, ways_of(event, s, part, impulses_of(s, part, momentum))
end

-- Fills in how an event's impact acts; false where that is not known.
function pieces.prepare(flow, event, one, p)
  if event.kind ~= "impact" then return true end
  event.open = all_open(event.mode_before)
  local good, part, ways = pcall(ways_at, flow, event, one.t, one.before, one.after, p)
  if not good or not ways then return false end
  event.part, event.ways = part, ways
  return true
end

function pieces.reset(flow, event, t, x, p)
  if event.kind ~= "impact" then return x:copy() end
  local s = impact_terms(flow, event, t, x, p)
  local law = graph(flow, p)
  local unknown, columns, right, out = {}, {}, {}, x:copy()
  for _, i in ipairs(event.part) do
    if event.ways[i] == "moves" then
      local column, row = s.normals[i], s.rows[i]
      if row.inner == 1 then
        for k = 1, row.group.dim - 1 do
          local sign = event.ways[i + k]
          if type(sign) == "number" and row.group.mu ~= 0 then
            column = column + sign * row.group.mu * s.normals[i + k]
          end
        end
      end
      unknown[#unknown + 1], columns[#columns + 1] = i, column
      local of = law:interaction(row.number):nonSmoothLaw()
      local given, e = pcall(function() return row.inner > 1 and of:et() or of:en() end)
      local velocity = GUARDS.slip(nil, s, i)
      right[#right + 1] = -(1 + (given and type(e) == "number" and e or 0)) * velocity
    end
  end
  local K, moves = core.zeros(#unknown, #unknown), {}
  for b = 1, #unknown do
    moves[b] = fields.divided(s.systems, s.offsets, columns[b])
    for a = 1, #unknown do K[a][b] = s.normals[unknown[a]]:dot(moves[b]) end
  end
  local P = core.solve(K, core.vector(right))
  for b = 1, #unknown do
    for k in ipairs(s.systems) do
      local from, count, at = s.offsets[k].from, s.offsets[k].count, s.first[k] + s.offsets[k].count
      for j = 1, count do out[at + j] = out[at + j] + P[b] * moves[b][from + j] end
    end
  end
  return out
end

function pieces.reset_derivatives(flow, event, t, x, p)
  if event.kind ~= "impact" then return { x = core.eye(#x), t = core.zeros(#x), p = core.zeros(#x) } end
  return { x = by_states(flow, function(y) return pieces.reset(flow, event, t, y, p) end, x),
    t = by_time(flow, function(time) return pieces.reset(flow, event, time, x, p) end, t),
    p = by_parameter(flow, function(value) return pieces.reset(flow, event, t, x, value) end, p) }
end

return pieces
