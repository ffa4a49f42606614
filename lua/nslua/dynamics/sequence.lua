-- nslua.dynamics.sequence: periodic orbits as equations for a fixed sequence of events: of an ODE whose events act,
-- and of a simulation with impacts.
--
-- Unknowns are the start x_0, the state x_i before each event and its time t_i, and the period if it is unknown:
--   flow(R(x_{i-1}), t_{i-1} -> t_i) = x_i,   g_i(t_i, x_i) = 0,   flow(R(x_K), t_K -> t_0 + T) = x_0.
-- The flow between events is smooth and knows no events, R is the reset. So the equations are smooth where the orbit
-- grazes, dg/dt = 0 at an event: there the map of one period has a square root. A branch goes through the grazing;
-- beyond it the events are crossed from the wrong side. Such orbits are no motions of the model, but they let the
-- grazing be located as any other point. The smooth pieces, guards and resets come from nslua.dynamics.ode_flow or
-- nslua.dynamics.simulation_pieces. Dankowicz and Schilder, Recipes for Continuation, 2013, chapter 9.
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local lists = require "nslua.base.lists"
local ode = require "nslua.dynamics.ode_flow"
local kinds = require "nslua.dynamics.orbit_kind"
local orbits = require "nslua.dynamics.orbit"
local simulation_pieces = require "nslua.dynamics.simulation_pieces"

local sequences = {}

-- A root of a guard that is this close to an event of the same guard, as a part of the period, is that event.
local SAME = 2 ^ -16
-- Largest residual of an orbit that another formulation has found, as a part of the sizes: between the errors of runs
-- (1e-9) and a sequence that is not the orbit's.
local AGREES = 1e-5
-- The slope of a period that depends on the parameter is a central difference with this part of the parameter's size,
-- the width of the range: the cube root of the rounding, where its errors are least.
local PERIOD_STEP = 2 ^ -17

-- ---- pieces ----

-- The mode of the piece after event i, of a simulation; 0: that before the first one.
local function mode_after(q, i)
  if i == 0 then return q.mode end
  return q.list[i].mode
end

-- The end of the piece after event i.
local function smooth(q, i, x, ta, tb, p)
  if ta == tb then return x:copy() end
  return q.pieces.smooth(q.flow, x, ta, tb, p, mode_after(q, i))
end

-- d flow / d x and d flow / d p of the piece after event i.
local function smooth_derivatives(q, i, x, ta, tb, p)
  if ta == tb then return core.eye(#x), core.zeros(#x) end
  return q.pieces.smooth_derivatives(q.flow, x, ta, tb, p, mode_after(q, i))
end

-- ---- unknowns ----

local function unpack_unknowns(q, u)
  local k, x0, before, times = 0, q.guess:copy(), {}, {}
  for _, j in ipairs(q.keep) do
    k = k + 1
    x0[j] = u[k] * q.sizes[j]
  end
  for i = 1, #q.list do
    before[i] = u:slice(k + 1, k + #x0):mul(q.sizes)
    k = k + #x0 + 1
    times[i] = q.flow.t0 + u[k] * q.T_size
  end
  return x0, before, times, kinds.period_at(q, u, k + 1)
end

local function pack(q, x0, before, times, T)
  local u = {}
  for _, j in ipairs(q.keep) do u[#u + 1] = x0[j] / q.sizes[j] end
  for i = 1, #q.list do
    for j = 1, #x0 do u[#u + 1] = before[i][j] / q.sizes[j] end
    u[#u + 1] = (times[i] - q.flow.t0) / q.T_size
  end
  kinds.add_period(q, u, T)
  return core.vector(u)
end

local function shares_of(q)
  local list = {}
  for _, j in ipairs(q.keep) do list[#list + 1] = q.shares[j] end
  for _ = 1, #q.list do
    for j = 1, #q.shares do list[#list + 1] = q.shares[j] end
    list[#list + 1] = 1
  end
  kinds.add_period(q, list, q.T_size)
  return list
end

-- ---- equations ----

local function put(F, value, target, sizes, rows)
  for _, j in ipairs(rows) do F[#F + 1] = (value[j] - target[j]) / sizes[j] end
end

-- The runs between the events at the unknowns u.
local function runs_of(q, u, p)
  local s, t0 = { p = p, ends = {}, after = {} }, q.flow.t0
  local T
  s.x0, s.before, s.times, T = unpack_unknowns(q, u)
  s.after[0], s.times[0] = s.x0, t0
  for i, event in ipairs(q.list) do
    s.ends[i] = smooth(q, i - 1, s.after[i - 1], s.times[i - 1], s.times[i], p)
    s.after[i] = q.pieces.reset(q.flow, event, s.times[i], s.before[i], p)
  end
  local K = #q.list
  s.T = q.kind.returns and s.times[K] - t0 or T or q.period(p)
  if s.T ~= s.T or s.T <= 0 then error("the period is not above 0 in an iteration", 0) end
  s.last = q.kind.returns and s.after[K] or smooth(q, K, s.after[K], s.times[K], t0 + s.T, p)
  return s
end

local function residual(q, s)
  local F = {}
  for i, event in ipairs(q.list) do
    put(F, s.ends[i], s.before[i], q.sizes, q.all)
    F[#F + 1] = q.pieces.guard(q.flow, event, s.times[i], s.before[i], s.p) / q.guard_sizes[i]
  end
  put(F, s.last, s.x0, q.sizes, q.keep)
  kinds.add_phase(q, s.x0, F)
  return core.vector(F)
end

-- The derivatives of all flows, guards and resets: lists S, P, guards, resets, and the rates at both sides.
local function differentiate(q, s)
  local K, flow, p, pieces = #q.list, q.flow, s.p, q.pieces
  s.S, s.P, s.guards, s.resets, s.rate_before, s.rate_after = {}, {}, {}, {}, {}, {}
  for i = 1, K + 1 do
    local tb = i <= K and s.times[i] or q.kind.returns and s.times[K] or flow.t0 + s.T
    s.S[i], s.P[i] = smooth_derivatives(q, i - 1, s.after[i - 1], s.times[i - 1], tb, p)
    local mode = mode_after(q, i - 1)
    s.rate_after[i - 1] = pieces.field(flow, s.times[i - 1], s.after[i - 1], p, mode)
    s.rate_before[i] = pieces.field(flow, tb, i <= K and s.ends[i] or s.last, p, mode)
  end
  for i, event in ipairs(q.list) do
    s.guards[i] = pieces.guard_derivatives(flow, event, s.times[i], s.before[i], p)
    s.resets[i] = pieces.reset_derivatives(flow, event, s.times[i], s.before[i], p)
  end
end

-- The rows of the flow number i into J and the column of the parameter, for the states in `rows`.
local function put_flow(q, s, i, row, rows, J, column)
  local n, K, mapped = #s.x0, #q.list, q.kind.returns and i > #q.list
  local first = #q.keep + (i - 2) * (n + 1) -- unknowns before the unknowns of event i - 1
  local S = i > 1 and s.S[i] * s.resets[i - 1].x or s.S[i]
  local by_start = i > 1 and s.S[i] * (s.resets[i - 1].t - (mapped and 0 or 1) * s.rate_after[i - 1])
  local by_p = i > 1 and s.P[i] + s.S[i] * s.resets[i - 1].p or s.P[i]
  for a, j in ipairs(rows) do
    if i == 1 then
      for b, k in ipairs(q.keep) do J[row + a][b] = S[j][k] * q.sizes[k] / q.sizes[j] end
    else
      for k = 1, n do J[row + a][first + k] = S[j][k] * q.sizes[k] / q.sizes[j] end
      J[row + a][first + n + 1] = by_start[j] * q.T_size / q.sizes[j]
    end
    local target = i <= K and #q.keep + (i - 1) * (n + 1) + a or a
    J[row + a][target] = J[row + a][target] - 1
    if i <= K then J[row + a][#q.keep + i * (n + 1)] = s.rate_before[i][j] * q.T_size / q.sizes[j] end
    if i > K and q.kind.free then J[row + a][#J] = s.rate_before[i][j] * q.T_size / q.sizes[j] end
    local moved = i > K and q.kind.given and s.rate_before[i][j] * q.period_slope(s.p) or 0
    column[row + a] = (by_p[j] + moved) / q.sizes[j]
  end
end

local function matrix_of(q, s)
  differentiate(q, s)
  local n, K = #s.x0, #q.list
  local size = #q.keep + K * (n + 1) + (q.kind.free and 1 or 0)
  local J, column, row = core.zeros(size, size), core.zeros(size), 0
  for i = 1, K do
    put_flow(q, s, i, row, q.all, J, column)
    row = row + n + 1
    local guard, first = s.guards[i], #q.keep + (i - 1) * (n + 1)
    for k = 1, n do J[row][first + k] = guard.x[k] * q.sizes[k] / q.guard_sizes[i] end
    J[row][first + n + 1] = guard.t * q.T_size / q.guard_sizes[i]
    column[row] = guard.p / q.guard_sizes[i]
  end
  put_flow(q, s, K + 1, row, q.keep, J, column)
  kinds.put_phase(q, s.x0, J[size])
  s.column = column
  return J
end

-- ---- what the orbit is ----

-- dg/dt of event i along the motion that comes to it.
local function rate_of(q, s, i)
  local guard = s.guards and s.guards[i] or
    q.pieces.guard_derivatives(q.flow, q.list[i], s.times[i], s.before[i], s.p)
  return guard.t + guard.x:dot(q.pieces.field(q.flow, s.times[i], s.before[i], s.p, mode_after(q, i - 1)))
end

-- Whether the times of the events follow each other, and the last one is at most a period after the first.
local function is_in_order(q, s)
  local K = #q.list
  for i = 2, K do
    if s.times[i] < s.times[i - 1] then return false end
  end
  return q.kind.returns or K == 0 or s.times[K] <= s.times[1] + s.T
end

-- Labels of the events that the motion has: events of the list that are crossed from the right side, and, where these
-- are all, crossings of guards between them. Events whose times have passed each other are no motion: the text is
-- "passed".
local function sequence_of(q, s)
  local K, t0, events = #q.list, q.flow.t0, {}
  if not is_in_order(q, s) then return "passed" end
  for i, event in ipairs(q.list) do
    if rate_of(q, s, i) * q.signs[i] > 0 then events[#events + 1] = { t = s.times[i], label = event.label } end
  end
  if #events < K then return orbits.sequence(events) end
  for i = 1, q.kind.returns and K or K + 1 do
    local ta, tb = s.times[i - 1], i <= K and s.times[i] or math.min(t0 + s.T, (s.times[1] or t0) + s.T)
    if i == 1 then ta = math.max(t0, s.times[K] - s.T) end
    local x = ta == s.times[i - 1] and s.after[i - 1] or smooth(q, i - 1, s.after[i - 1], s.times[i - 1], ta, s.p)
    for _, root in ipairs(tb > ta and q.pieces.roots(q.flow, x, ta, tb, s.p, mode_after(q, i - 1)) or {}) do
      local known
      for j = 0, K > 0 and K + 1 or -1 do
        local at = j == 0 and s.times[K] - s.T or j > K and s.times[1] + s.T or s.times[j]
        local event = q.list[(j - 1) % K + 1]
        local same = (event.key or event.label) == (root.key or root.label)
        known = known or same and math.abs(root.t - at) <= SAME * s.T
      end
      if not known then events[#events + 1] = root end
    end
  end
  table.sort(events, function(a, b) return a.t < b.t end)
  return orbits.sequence(events)
end

-- The derivative of the state after a period, or of the map between events, by that at the start.
local function monodromy_of(q, s)
  local K, M = #q.list, nil
  for i = 1, K do
    M = M and s.S[i] * M or s.S[i]
    local guard, reset = s.guards[i], s.resets[i]
    local dt = guard.x * (-1 / (guard.t + guard.x:dot(s.rate_before[i])))
    local moved = reset.x * s.rate_before[i] + reset.t
    if not (q.kind.returns and i == K) then moved = moved - s.rate_after[i] end
    M = (reset.x + moved:outer(dt)) * M
  end
  if q.kind.returns then return M end
  return M and s.S[K + 1] * M or s.S[1]
end

local function occurrences(q, s)
  local list = {}
  for i, event in ipairs(q.list) do
    list[i] = { t = s.times[i], name = event.name, label = event.label, order = event.order, before = s.before[i],
      after = s.after[i], rate = rate_of(q, s, i), kind = event.kind, component = event.component,
      mode = event.mode, mode_before = event.mode_before }
    if flows.is_impact(event) then -- impacts of simulations have the velocities of the gap, too
      local gap = q.pieces.guard_derivatives(q.flow, event, s.times[i], s.after[i], s.p)
      local rate = q.pieces.field(q.flow, s.times[i], s.after[i], s.p, event.mode)
      list[i].velocity_before, list[i].velocity_after = list[i].rate, gap.t + gap.x:dot(rate)
    end
  end
  return list
end

-- ---- the formulation ----

sequences.form = {}

function sequences.form.evaluate(q, u, p)
  local s = runs_of(q, u, p)
  return residual(q, s), function() return matrix_of(q, s) end, s
end

function sequences.form.by_parameter(q, _, _, _, s) return s.column, not q.pieces.reason end

sequences.form.sequence_of, sequences.form.shares = sequence_of, shares_of

function sequences.form.orbit(q, u, p, solved)
  local _, jacobian, s = sequences.form.evaluate(q, u, p)
  local J = jacobian()
  return orbits.result(q, { x0 = s.x0, T = s.T, nodes = { s.x0 }, parameter = p, unknowns = u,
    monodromy = monodromy_of(q, s), events = occurrences(q, s), sequence = sequence_of(q, s),
    derivative_message = q.pieces.reason, drift = s.last - s.x0 }, solved), J, s
end

function sequences.form.renew(q, u, p)
  kinds.renew_phase(q, (unpack_unknowns(q, u)), p)
end

-- ---- making ----

-- The functions of the smooth pieces between the events of an orbit, its events with modes and the first mode, which
-- an ODE has not; nil where there are none.
function sequences.pieces(q, orbit, p)
  if q.flow.f then return ode, orbit.events end
  if q.kind.returns then return nil end
  local good, events, mode = pcall(simulation_pieces.fit, q.flow, orbit, p)
  if not good or not events then return nil end
  return simulation_pieces, events, mode
end

local function list_of(q, events, p)
  local list = {}
  for i, one in ipairs(events) do
    list[i] = q.pieces.event(q.flow, one, p)
    if not list[i] or list[i].guard and not q.pieces.prepare(q.flow, list[i], one, p) then return nil end
  end
  return list
end

-- Events that have left the period at one end come in at the other one; the start is then on the next piece.
local function within_period(q, orbit, events, p)
  local t0, x0, list = q.flow.t0, orbit.x0, {}
  for i, event in ipairs(events) do list[i] = event end
  if q.kind.returns or #list == 0 then return x0, list end
  local function shifted(event, by)
    local copy = lists.copy(event)
    copy.t = event.t + by
    return copy
  end
  if list[1].t < t0 then
    local first = table.remove(list, 1)
    x0 = q.pieces.smooth(q.flow, first.after, first.t, t0, p, first.mode)
    list[#list + 1], q.mode = shifted(first, orbit.T), first.mode
  elseif list[#list].t > t0 + orbit.T then
    local last = table.remove(list)
    table.insert(list, 1, shifted(last, -orbit.T))
    x0, q.mode = q.pieces.smooth(q.flow, last.before, last.t - orbit.T, t0, p, last.mode_before), last.mode_before
  end
  return x0, list
end

-- Whether the unknowns of an orbit are outside of its period.
function sequences.is_outside(q, orbit)
  if q.form ~= sequences.form or q.kind.returns then return false end
  local events, t0 = orbit.events, q.flow.t0
  if #events == 0 then return false end
  return events[1].t < t0 or events[#events].t > t0 + orbit.T
end

-- The problem of the orbit { x0, T, events } of q with a fixed sequence of events, and its unknowns; nil where it is
-- none: an event that does not act or is no impact, a function without exact derivatives. An event may have a `sign`:
-- the sign of the rate with which its guard is crossed; else the rate on the orbit has it.
-- An orbit that is only a guess need not obey its equations.
function sequences.with(q, orbit, p, is_guess)
  local drifts = q.symmetry or next(q.lead) or next(q.by) or #q.keep < #q.all and not q.kind.returns
  local one = lists.copy(q)
  if drifts then return nil end
  q.flow.piece_sizes, q.flow.parameter_size = q.sizes, q.parameter_size
  local found
  one.pieces, found, one.mode = sequences.pieces(q, orbit, p)
  if not one.pieces then return nil end
  one.form, one.segments, one.guard_sizes, one.signs = sequences.form, 1, {}, {}
  one.period_slope = function(value)
    local size = PERIOD_STEP * (q.parameter_size or math.abs(value))
    return q.period and (q.period(value + size) - q.period(value - size)) / (2 * size) or 0
  end
  local good, u = pcall(function()
    local x0, events = within_period(one, orbit, found, p)
    one.list = list_of(one, events, p)
    if not one.list then return nil end
    local before, times = {}, {}
    for i, event in ipairs(events) do
      before[i], times[i] = event.before, event.t
      local slope = one.pieces.guard_derivatives(q.flow, one.list[i], event.t, event.before, p)
      one.guard_sizes[i] = slope.x:mul(q.sizes):norm() + math.abs(slope.t * q.T_size)
      local speed = one.pieces.field(q.flow, event.t, event.before, p, event.mode_before)
      local rate = slope.t + slope.x:dot(speed)
      local direction = one.list[i].direction
      local given = type(direction) == "number" and direction ~= 0 and direction or event.sign
      one.signs[i] = given or rate < 0 and -1 or 1
    end
    one.guess = x0
    local u = pack(one, x0, before, times, orbit.T)
    local F = sequences.form.evaluate(one, u, p)
    return (is_guess or F:norm(math.huge) <= AGREES) and u
  end)
  if not good or not u then return nil end
  return one, u
end

-- Whether an orbit has an event at which the map of one period has a square root: of a simulation an impact. Where
-- modes only switch, as between stick and slip, the map is smooth enough, and the times of the events are not.
function sequences.is_rough(q, orbit)
  for _, event in ipairs(orbit.events) do
    if q.flow.f or flows.is_impact(event) then return true end
  end
  return false
end

-- The same of an orbit that has been found, with its own events; nil where none of them needs it.
function sequences.from(q, orbit, p)
  if not sequences.is_rough(q, orbit) then return nil end
  return sequences.with(q, { x0 = orbit.x0, T = orbit.T, events = orbit.events, mode = orbit.problem.mode }, p)
end

-- The problem and the solution of the orbit with the events that the motion from the guess has: near a grazing
-- shooting comes to an orbit from very near guesses only. nil where there is none.
function sequences.start(q)
  if q.kind.returns then return nil end
  local good, run = pcall(q.flow.run, q.flow, q.guess, q.flow.t0, q.flow.t0 + q.T, q.p)
  if not good or not sequences.is_rough(q, run) then return nil end
  local one, u = sequences.with(q, { x0 = q.guess, T = q.T, events = run.events }, q.p, true)
  if not one then return nil end
  local fine, solved = pcall(orbits.solve, one, u, q.p)
  if not fine or not solved.good then return nil end
  local made, sequence = pcall(sequence_of, one, solved.state)
  if not made or sequence ~= orbits.sequence(run.events) then return nil end
  return one, solved
end

return sequences
