-- nslua.dynamics.orbit: periodic orbits as a system of equations, and as results.
--
-- Multiple shooting: the orbit is divided into m segments of one length, with the unknown states x_1 ... x_m at
-- their starts,
--   flow(x_i, T / m) = x_{i+1},   x_{m+1} = x_1,
-- and, when the period T is unknown, a condition that fixes the phase. Unknowns are divided by their sizes.
-- Seydel, Practical Bifurcation and Stability Analysis, 3rd ed., 2010, chapter 7.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local kinds = require "nslua.dynamics.orbit_kind"
local lists = require "nslua.base.lists"
local newton = require "nslua.dynamics.newton"
local spectrum = require "nslua.dynamics.spectrum"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local format = core.number_support.format

local orbits = {}

local Orbit = {}
Orbit.__index = Orbit
Orbit.__name = "orbit"

-- ---- the problem ----

-- At most so many unknowns: a full matrix of 128 MB, whose factors take some seconds.
local UNKNOWNS = 4096

-- The option drift: of each entry, a number or a list of numbers of states, and `by` (optional), how far they drift.
-- keep: the states that are unknowns; lead[j]: the state that drifts by as much as j; by[j]: by how much j drifts.
local function drift_of(options, n, who)
  local given, keep, all, lead, by = {}, {}, {}, {}, {}
  local list = options.drift or {}
  expect(list, "table", "%s: drift: expected a list of numbers of states", who)
  for _, entry in ipairs(list) do
    local group = type(entry) == "table" and entry or { entry }
    local amount = group.by
    for key in pairs(group) do
      reject(type(key) ~= "number" and key ~= "by", key, "%s: drift: expected numbers of states, and by", who)
    end
    if amount ~= nil then amount = arguments.number(amount, who, "drift: by") end
    for _, i in ipairs(group) do
      reject(math.type(i) ~= "integer" or i < 1 or i > n, i,
        "%s: drift: expected numbers of states from 1 to %d", who, n)
      given[i], by[i] = not amount and i == group[1], amount
      lead[i] = not amount and i ~= group[1] and group[1] or nil
    end
  end
  for i = 1, n do
    all[i] = i
    if not given[i] then keep[#keep + 1] = i end
  end
  return keep, all, lead, by
end

-- Largest |S S - 1| of a symmetry.
local INVOLUTION = 2 ^ -40

-- The symmetry S of a motion with x(t + T / 2) = S x(t); nil when none is given.
local function symmetry_of(options, n, who)
  if options.symmetry == nil then return nil end
  local good, S = pcall(core.matrix, options.symmetry)
  if not good or S:rows() ~= n or S:cols() ~= n then
    fail("%s: symmetry: expected a matrix of %d x %d, got %s", who, n, n,
      good and ("one of %d x %d"):format(S:rows(), S:cols()) or describe(options.symmetry))
  end
  local off = S * S - core.eye(n)
  for i = 1, n do
    for j = 1, n do
      if off[i][j] ~= off[i][j] or math.abs(off[i][j]) > INVOLUTION then
        fail("%s: symmetry: expected a matrix S with S S = 1; S S has %g in row %d, column %d", who,
          off[i][j] + (i == j and 1 or 0), i, j)
      end
    end
  end
  if options.drift ~= nil then fail("%s: symmetry: it does not go with drift =", who) end
  return S
end

-- The problem of the options of ns.dynamics.periodic.
function orbits.problem(options, who)
  local flow = flows.new(options, who)
  local guess = options.guess
  flow.n = flow.n or (type(guess) == "table" or type(guess) == "userdata") and #guess or nil
  local q = { who = who, flow = flow, guess = flows.start(flow, guess, "guess"), form = orbits.shooting }
  q.kind = kinds.of(options, who)
  if options.period ~= nil then q.period = flows.period(options.period, who, flow) end
  q.p = options.value
  if q.p == nil then q.p = flow.value end
  q.segments = options.segments == nil and 1 or arguments.integer(options.segments, 1, who, "segments")
  q.keep, q.all, q.lead, q.by = drift_of(options, #q.guess, who)
  q.drifts = options.drift ~= nil and #options.drift > 0
  q.symmetry = symmetry_of(options, #q.guess, who)
  if options.section ~= nil then q.section = flows.section(options.section, who, true) end
  if q.kind.returns and q.segments > 1 then
    fail("%s: segments: a section that is an event takes one segment, got %d", who, q.segments)
  end
  if q.kind.free and not q.section and not q.period then
    fail("%s: period: autonomous = true needs a guess of the period", who)
  end
  if q.segments * #q.guess > UNKNOWNS then
    fail("%s: segments: expected at most %d for %d states, got %d: the equations are one full matrix", who,
      UNKNOWNS // #q.guess, #q.guess, q.segments)
  end
  q.transient = flows.number(options, "transient", 0, who)
  q.options = { tol = flows.number(options, "tol", 0, who), max_iterations = options.max_iterations and
    arguments.integer(options.max_iterations, 1, who, "max_iterations") }
  return q
end

-- Sizes of states and period from the course of the guess, and the condition of the phase.
local function prepare(q)
  local flow, p = q.flow, q.p
  q.T = q.period and q.period(p)
  if q.transient then q.guess, q.transient = q.kind.settle(q, q.guess, p), nil end
  q.kind.begin(q, q.guess, p)
  flow.span = q.T
  local _, rows = flow:course(q.guess, flow.t0, flow.t0 + q.T, p)
  q.sizes = flows.sizes(flow, rows)
  q.shares = flows.shares(rows, q.sizes)
  q.T_size = q.T
end

-- ---- unknowns ----

-- Unknowns are, one after the other: the states of node 1 that do not drift, all states of the other nodes, the
-- period if it is unknown.
local function node_states(q, i) return i == 1 and q.keep or q.all end

local function pack(q, nodes, T)
  local u = {}
  for i, x in ipairs(nodes) do
    for _, j in ipairs(node_states(q, i)) do u[#u + 1] = x[j] / q.sizes[j] end
  end
  kinds.add_period(q, u, T)
  return core.vector(u)
end

local function unpack_unknowns(q, u)
  local nodes, k = {}, 0
  for i = 1, q.segments do
    local x = q.guess:copy()
    for _, j in ipairs(node_states(q, i)) do
      k = k + 1
      x[j] = u[k] * q.sizes[j]
    end
    nodes[i] = x
  end
  return nodes, kinds.period_at(q, u, k + 1)
end

-- For each unknown the size of its state as a part of the largest value, at most 1.
local function shares_of(q)
  local list = {}
  for i = 1, q.segments do
    for _, j in ipairs(node_states(q, i)) do list[#list + 1] = q.shares[j] end
  end
  kinds.add_period(q, list, q.T_size)
  return list
end

-- ---- equations ----

-- One segment: its end, and a function that gives the derivative by its start.
local function segment(q, x, ta, tb, p)
  local run = q.flow:run(x, ta, tb, p)
  return run, function()
    local S, _, by_parameter, reason = q.flow:derivative(x, ta, tb, p, q.sizes)
    return S, by_parameter, reason
  end
end

-- The state at the end of that part of an orbit that begins at x.
local function image_of(q, x) return q.symmetry and q.symmetry * x or x end

-- The runs of all segments at the unknowns u.
local function runs_of(q, u, p)
  local nodes, T = unpack_unknowns(q, u)
  local flow, m, state = q.flow, q.segments, { nodes = nodes, p = p, runs = {}, slopes = {} }
  if q.kind.returns then
    local run = kinds.step_map(q, nodes[1], p)
    state.T, state.runs[1] = (run.t - flow.t0) / kinds.part_of(q), run
    state.slopes[1] = function() return flow:section_derivative(nodes[1], q.section, p, q.sizes) end
    return state
  end
  state.T = T or q.period(p)
  if state.T ~= state.T or state.T <= (q.T_least or 0) then
    error(format("the period is %g in an iteration", state.T), 0)
  end
  local span = state.T * kinds.part_of(q)
  for i = 1, m do
    local ta, tb = kinds.times(q, i, span)
    state.runs[i], state.slopes[i] = segment(q, nodes[i], ta, tb, p)
  end
  return state
end

-- Component j of a change over the segments 1 to i: less that of the state with which j drifts, after the last one.
local function of_return(q, i, j, change)
  local lead = i == q.segments and q.lead[j]
  return lead and change[j] - change[lead] or change[j]
end

local function residual(q, state)
  local F, m = {}, q.segments
  for i, run in ipairs(state.runs) do
    local change = run.x - (i < m and state.nodes[i + 1] or image_of(q, state.nodes[1]))
    for _, j in ipairs(node_states(q, i % m + 1)) do
      F[#F + 1] = (of_return(q, i, j, change) - (i == m and q.by[j] or 0)) / q.sizes[j]
    end
  end
  kinds.add_phase(q, state.nodes[1], F)
  return core.vector(F)
end

-- Puts d F / d x_i of the segments into J, scaled.
local function put_slopes(q, state, J)
  local row, column, first = 0, 0, {}
  for i = 1, q.segments do
    first[i] = column
    column = column + #node_states(q, i)
  end
  state.jacobians, state.by_parameter = {}, {}
  for i = 1, q.segments do
    local target = i % q.segments + 1
    local S, by_parameter, reason = state.slopes[i]()
    state.reason = state.reason or reason
    state.jacobians[i], state.by_parameter[i] = S, by_parameter
    for a, j in ipairs(node_states(q, target)) do
      for b, k in ipairs(node_states(q, i)) do
        local slope = of_return(q, i, j, S:column(k))
        J[row + a][first[i] + b] = J[row + a][first[i] + b] + slope * q.sizes[k] / q.sizes[j]
      end
      if i < q.segments or not q.symmetry then
        J[row + a][first[target] + a] = J[row + a][first[target] + a] - 1
      else
        for b, k in ipairs(q.all) do
          J[row + a][first[target] + b] = J[row + a][first[target] + b] - q.symmetry[j][k] * q.sizes[k] / q.sizes[j]
        end
      end
    end
    row = row + #node_states(q, target)
  end
end

local function put_period(q, state, J)
  local m, row = q.segments, 0
  local column = #J
  for i = 1, m do
    local run, target = state.runs[i], i % m + 1
    local rate = q.flow:velocity({ x = run.x, t = q.flow.t0 }, state.p)
    local part = kinds.part_of(q) / m
    for a, j in ipairs(node_states(q, target)) do
      J[row + a][column] = of_return(q, i, j, rate) * part * q.T_size / q.sizes[j]
    end
    row = row + #node_states(q, target)
  end
  kinds.put_phase(q, state.nodes[1], J[column])
end

-- F(u), a function that gives d F / d u, and the runs.
function orbits.evaluate(q, u, p)
  local state = runs_of(q, u, p)
  local F = residual(q, state)
  return F, function()
    local J = core.zeros(#F, #F)
    put_slopes(q, state, J)
    if q.kind.free then put_period(q, state, J) end
    return J
  end, state
end

-- d F / d p from the exact derivatives of all segments; nil where one of them has none, or the period depends on p.
local function exact_by_parameter(q, state, p, size)
  if not state or not state.by_parameter or #state.by_parameter < q.segments then return nil end
  local period = q.kind.given and q.period
  if period and (period(p) ~= period(p + size) or period(p) ~= period(p - size)) then return nil end
  local column = {}
  for i, slope in ipairs(state.by_parameter) do
    for _, j in ipairs(node_states(q, i % q.segments + 1)) do
      column[#column + 1] = of_return(q, i, j, slope) / q.sizes[j]
    end
  end
  kinds.add_period(q, column, 0)
  return core.vector(column)
end

-- d F / d p, and whether it is exact; size: the parameter's; state: of orbits.evaluate after its derivatives
-- were asked for, or nil.
function orbits.by_parameter(q, u, p, size, state)
  local exact = exact_by_parameter(q, state, p, size)
  if exact then return exact, true end
  state = state or runs_of(q, u, p)
  local function map(value)
    local other = value == p and state or runs_of(q, u, value)
    local events = {}
    for _, run in ipairs(other.runs) do
      for _, event in ipairs(run.events) do events[#events + 1] = event end
    end
    return residual(q, other), events
  end
  local _, events = map(p)
  local wanted = flows.signature(events)
  local memory = q.differences
  if not memory or memory.wanted ~= wanted then
    memory = { wanted = wanted }
    q.differences = memory
  end
  return flows.by_number(map, p, size, wanted, core.ones(#u), memory), false
end

-- ---- results ----

local function add_events(list, run, shift)
  for _, event in ipairs(run.events) do
    local copy = lists.copy(event)
    copy.t = event.t + shift
    list[#list + 1] = copy
  end
end

-- Events of one period, and with a symmetry the state at its end; of an autonomous orbit with several segments their
-- times are moved to where they belong.
local function events_of(q, state)
  local list = {}
  for i, run in ipairs(state.runs) do add_events(list, run, kinds.shift(q, i, state.T)) end
  if not q.symmetry then return list end
  local run, shift = q.kind.second_half(q, state.runs[#state.runs].x, state.T, state.p)
  add_events(list, run, shift)
  return list, run.x
end

-- The sequence of events of the runs of an evaluation.
function orbits.sequence_of(q, state) return orbits.sequence(events_of(q, state)) end

-- The sequence of events, begun at the place that makes the text smallest: it does not depend on the phase.
function orbits.sequence(events)
  local labels, best = {}, nil
  for i, event in ipairs(events) do labels[i] = event.label end
  for first = 1, #labels do
    local list = {}
    for i = 1, #labels do list[i] = labels[(first + i - 2) % #labels + 1] end
    local text = table.concat(list, " ")
    if not best or text < best then best = text end
  end
  return best or ""
end

-- The product of the segments' derivatives; with a symmetry S the half orbit has the product A, the whole orbit
-- (S^-1 A)^2.
-- The second result is S^-1 A.
local function monodromy_of(q, state)
  local product
  for _, S in ipairs(state.jacobians) do product = product and S * product or S end
  if not q.symmetry then return product end
  local half = core.solve(q.symmetry, product)
  return half * half, half
end

local function reduced(q, A)
  if #q.keep == #q.all then return A end
  local B = core.zeros(#q.keep, #q.keep)
  for a, i in ipairs(q.keep) do
    for b, j in ipairs(q.keep) do B[a][b] = of_return(q, q.segments, i, A:column(j)) end
  end
  return B
end

-- An orbit from its fields, with what its monodromy says.
function orbits.result(q, orbit, solved)
  setmetatable(orbit, Orbit)
  orbit.problem, orbit.t0 = q, q.flow.t0
  orbit.iterations, orbit.accuracy = solved and solved.iterations, solved and solved.correction
  orbit.multipliers = spectrum.values(reduced(q, orbit.monodromy))
  if q.kind.free then
    orbit.trivial, orbit.doubt = spectrum.take_trivial(orbit.multipliers)
  end
  if orbit.half then orbit.half_multipliers = spectrum.values(orbit.half) end
  orbit.derivative = orbit.derivative_message and "differences" or "exact"
  orbit.stability = spectrum.stability(orbit.multipliers)
  orbit.stable = orbit.stability == "stable"
  return orbit
end

-- An event within this part of the period of the orbit's start: a start that is moved has it before or after it.
local AT_START = 2 ^ -20

-- The monodromy of an autonomous orbit that begins at an event, as on a switching surface, by a start elsewhere on
-- the orbit: it has the same multipliers. Returns what monodromy_of does, and why it is not exact; nothing where no
-- event is there and the derivative from the start is exact.
local function monodromy_elsewhere(q, state, p, events)
  local flow, T, times, near = q.flow, state.T, { 0, state.T }, state.reason ~= nil
  for _, event in ipairs(events) do
    local after = event.t - flow.t0
    near = near or after < AT_START * T or after > (1 - AT_START) * T
    times[#times + 1] = after
  end
  if not q.kind.free or not near then return nil end
  table.sort(times)
  local longest, place = 0, 0
  for k = 2, #times do
    local gap = times[k] - times[k - 1]
    if gap > longest then longest, place = gap, times[k - 1] + gap / 2 end
  end
  local x = flow:run(state.nodes[1], flow.t0, flow.t0 + place, p).x
  flow.inexact, flow.compared = nil, nil
  local S, _, _, reason = flow:derivative(x, flow.t0, flow.t0 + T * kinds.part_of(q), p, q.sizes)
  local whole, half = monodromy_of(q, { jacobians = { S } })
  return whole, half, reason
end

-- A motion may be off by this part of the sizes from what a symmetry, or a drift, makes of the first half, or period,
-- times what that does to deviations: far above the errors of runs, far below what another field does.
local UNSYMMETRIC = 1e-6

-- The state of which `off` is the largest part of its size, where it is more than deviations A grow to; else nil.
local function moved_most(q, off, A)
  local growth, most, which = 1, 0, nil
  for i = 1, #off do
    if math.abs(off[i]) / q.sizes[i] > most then most, which = math.abs(off[i]) / q.sizes[i], i end
    for j = 1, #off do growth = math.max(growth, math.abs(A[i][j]) * q.sizes[j] / q.sizes[i]) end
  end
  return most > UNSYMMETRIC * growth and which or nil, most
end

local function check_symmetry(q, state, last, half)
  local moved, most = moved_most(q, last - state.nodes[1], half)
  if moved then
    fail("%s: symmetry: the model does not have it: after the second half of the orbit the state is off by %.3g of "
      .. "its size", q.who, most)
  end
end

-- A motion that has returned but for states that drift is an orbit if its next period has the same changes.
local function check_drift(q, state, p, whole)
  local first, last, flow = state.nodes[1], state.runs[#state.runs].x, q.flow
  local run = q.kind.returns and kinds.step_map(q, last, p) or flow:run(last, flow.t0, flow.t0 + state.T, p)
  local moved, most = moved_most(q, run.x - 2 * last + first, whole)
  if moved then
    fail("%s: drift: the motion depends on where these states are: in the next period state %d moves by another "
      .. "%.3g of its size; drift = { { 3, 5 } } is for states that drift together, as the angles of a spring's "
      .. "ends, { 1, by = 2 * math.pi } for an angle that turns", q.who, moved, most)
  end
end

-- The orbit at the solution u, and d F / d u there.
function orbits.orbit(q, u, p, solved)
  local _, jacobian, state = orbits.evaluate(q, u, p)
  local J = jacobian()
  local events, last = events_of(q, state)
  local whole, half, reason = monodromy_elsewhere(q, state, p, events)
  if not whole then
    reason, whole, half = state.reason, monodromy_of(q, state)
  end
  if half then check_symmetry(q, state, last, half) end
  if q.drifts then check_drift(q, state, p, whole) end
  return orbits.result(q, { x0 = state.nodes[1], T = state.T, parameter = p, nodes = state.nodes, unknowns = u,
    monodromy = whole, half = half, derivative_message = reason, events = events,
    sequence = orbits.sequence(events), drift = q.symmetry and core.zeros(#state.nodes[1]) or
      state.runs[#state.runs].x - state.nodes[1] }, solved), J, state
end

function Orbit:__tostring()
  local list = lists.map(self.multipliers, function(m) return tostring(m) end)
  local doubt = rawget(self, "doubt")
  return format("%s periodic orbit: T = %.10g, x0 = %s, multipliers %s%s", self.stability, self.T, tostring(self.x0),
    table.concat(list, ", "), doubt and "; " .. doubt or "")
end

-- Times and states of one period: a vector, and a list of vectors.
function Orbit:course()
  local q = self.problem
  local flow = q.flow
  if q.segments == 1 or q.symmetry or not q.kind.free then
    local t, rows, events = flow:course(self.x0, flow.t0, flow.t0 + self.T, self.parameter)
    return core.vector(t), rows, events
  end
  local times, rows = {}, {}
  for i, x in ipairs(self.nodes) do
    local t, part = flow:course(x, flow.t0, flow.t0 + self.T / q.segments, self.parameter)
    for k = 1, #t do times[#times + 1], rows[#rows + 1] = t[k] + (i - 1) / q.segments * self.T, part[k] end
  end
  return core.vector(times), rows, self.events
end

function Orbit:slope(options) return require "nslua.dynamics.slope"(orbits, self, options) end

function Orbit:plot(options) return require "nslua.dynamics.picture".orbit(self, options) end

where.methods(Orbit, "an orbit", "orbit")
setmetatable(Orbit, { __index = function(class, name)
  return where.missing(class, name, "orbit", { trivial = true, parameter = true, iterations = true, accuracy = true,
    derivative_message = true, doubt = true, half = true, half_multipliers = true })
end })

-- ---- solving ----

-- The nodes on the course from x0 over the period T.
function orbits.nodes_from(q, x0, T, p)
  local flow, nodes = q.flow, { x0:copy() }
  T = T * kinds.part_of(q)
  for i = 2, q.segments do
    local ta, tb = kinds.times(q, i - 1, T)
    nodes[i] = flow:run(nodes[i - 1], ta, tb, p).x
  end
  return nodes
end

-- The first unknowns: the nodes on the course of the guess.
function orbits.first(q)
  prepare(q)
  kinds.set_phase(q, q.guess, q.p)
  return pack(q, orbits.nodes_from(q, q.guess, q.T, q.p), q.T)
end

-- The phase condition through the start of an orbit, for the next ones of a branch.
function orbits.renew_phase(q, u, p)
  kinds.renew_phase(q, (unpack_unknowns(q, u))[1], p)
end

orbits.pack, orbits.unpack, orbits.reduced = pack, unpack_unknowns, reduced
orbits.events_of = events_of

-- The formulation by shooting. Another one, for a fixed sequence of events, is in nslua.dynamics.sequence.
orbits.shooting = { evaluate = orbits.evaluate, by_parameter = orbits.by_parameter, orbit = orbits.orbit,
  sequence_of = orbits.sequence_of, renew = orbits.renew_phase, shares = shares_of }

-- Newton's method from the unknowns u at p: the result of newton.solve. options: of newton.solve, where they
-- differ from the options of the problem.
function orbits.solve(q, u, p, options)
  local last
  local solved = newton.solve(function(v)
    local F, jacobian, state = q.form.evaluate(q, v, p)
    last = state
    return F, jacobian
  end, u, options or q.options)
  solved.state = last
  return solved
end

-- Least singular value of a regular Jacobian, as a part of the largest one or of 1, the size of the terms that it is
-- a difference of. Jacobians have errors of about 1e-9.
local REGULAR = 1e-7

-- Whether state i keeps its value between events, as a sign or a mode does: its rate is 0 at two states.
local function is_still(q, i)
  local t0, x = q.flow.t0, q.guess
  return q.flow:field(t0, x, q.p)[i] == 0 and q.flow:field(t0, x + q.sizes * (1 / 4), q.p)[i] == 0
end

-- Why Newton's method has failed at the unknowns u, where the Jacobian is singular, as a text to append; else "".
local function why_singular(q, u)
  local good, s, J = pcall(function()
    local _, jacobian = q.form.evaluate(q, u, q.p)
    local matrix = jacobian()
    return core.svdvals(matrix), matrix
  end)
  if not good or s[#s] > REGULAR * math.max(s[1], 1) then return "" end
  for k, i in ipairs(q.segments == 1 and q.flow.f and q.keep or {}) do
    if J:row(k):norm() <= REGULAR and is_still(q, i) then
      return format("; the Jacobian is singular: state %d returns to whatever value it has, and drift = { %d } "
        .. "leaves it out", i, i)
    end
  end
  local counter = q.segments == 1 and q.flow.kind.counter and q.flow.kind.counter(q.flow, J, q.keep, REGULAR)
  return counter or "; the Jacobian is singular: orbits are a family there, as in a conservative system, which "
    .. "has one for each energy, or there is none"
end

-- A motion of the duration 0 is periodic, too: the first orbit has at least this part of the guessed period.
local SHRUNK = 1 / 16

-- The orbit with `count` events of the section in each period, from the first of them after the guess; nil where none
-- is found.
local function from_section(q, count)
  q.section.span = nil
  q.flow.compared, q.flow.inexact = nil, nil -- what was found of another map
  local good, solved = pcall(function()
    local two = q.flow:crossings(q.guess, q.flow.t0, flows.counted(q.section, 2), q.p)
    q.guess, q.section.span, q.section.count = two[1].x, two[2].t - two[1].t, count
    return orbits.solve(q, orbits.first(q), q.p)
  end)
  return good and solved.good and solved or nil
end

-- Two returns to the start that differ by this part of the sizes are one: above the errors of runs, far below the
-- distance between the two crossings of an orbit that has both.
local ONCE = 1e-6

-- Whether an orbit with two events of the section is one with a single event, run through twice.
local function is_twice(q, solved)
  local x = orbits.unpack(q, solved.u)[1]
  local change = q.flow:crossings(x, q.flow.t0, flows.counted(q.section, 1), q.p)[1].x - x
  for _, j in ipairs(q.keep) do
    if math.abs(of_return(q, 1, j, change) - (q.by[j] or 0) / 2) > ONCE * q.sizes[j] then return false end
  end
  return true
end

-- The problem's first orbit. A guess away from a section that is an event may be far from the orbit that begins
-- there: where it leads to none, the motion from its first event is taken. An orbit that passes the section there and
-- back has two such events in each period; so where no count was asked for, and there is none with 1, 2 is tried.
function orbits.start(q)
  local fine, solved = pcall(function()
    local u = orbits.first(q)
    q.T_least = q.kind.free and SHRUNK * q.T_size or nil
    return orbits.solve(q, u, q.p)
  end)
  q.T_least = nil
  if fine and not solved.good then solved.reason = solved.reason .. why_singular(q, solved.u) end
  local other = q.kind.returns and not q.symmetry and q.section.count == 1 and not q.transient
  if not fine and not other then error(solved, 0) end
  if not other or fine and solved.good then return solved end
  local guess = q.guess
  local found = from_section(q, 1)
  if not found and not fine then error(solved, 0) end
  if found or q.section.asked then return found or solved end
  q.guess = guess
  found = from_section(q, 2)
  if found and is_twice(q, found) then
    q.guess = orbits.unpack(q, found.u)[1]
    return from_section(q, 1) or from_section(q, 2)
  end
  if not found then q.section.count = 1 end
  return found or solved
end

return orbits
