-- nslua.dynamics.flow: the motion of a model from one time to another, with its derivative.
--
--   local flow = flows.new(options, who)     -- options: simulation = or rhs =, and how they run
--   local run = flow:run(x0, t0, t1, p)      -- run.x, run.t, run.events
--   local S = flow:derivative(x0, t0, t1, p) -- d x(t1) / d x0
--
-- Two kinds of models have one interface: ODEs (nslua.dynamics.ode_flow) and simulations
-- (nslua.dynamics.simulation_flow). A kind has the functions
--   run(flow, x0, t0, t1, p)              the state at t1, the events in between
--   crossings(flow, x0, t0, section, p)   the state at the first `section.count` crossings
--   course(flow, x0, t0, t1, p)           times and states on the way
--   field(flow, t, x, p)                  d x / d t
--   guards(flow, x0, t0, t1, p, count)    times, and values of the guards by name
-- A derivative is exact where the model's runs carry sensitivities; else it is taken by differences of order 4.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject
local format = core.number_support.format

local flows = {}

local Flow = {}
Flow.__index = Flow

-- The step of a difference, as a part of the size of a state. The error of order 4 is then about 2^-44 of the fifth
-- derivative, and the error of a run with a relative error of 1e-13 makes about 4e-10.
local STEP = 2 ^ -12
-- A step after which the run has other events than the run itself, or which is too long for an end that moves in
-- proportion, is divided by this, REDUCTIONS times: down to 2^-32, where a run's error makes 4e-3.
local REDUCTION, REDUCTIONS = 16, 5
-- The differences of order 4 and 2 with one step may differ by this part of the slope: the error of the first is
-- about the square of this. Below ROUNDING a shorter step makes them differ more only by the errors of runs.
local PROPORTIONAL, ROUNDING = 2 ^ -13, 2 ^ -5

-- ---- sizes ----

-- The size of each state on a course: its range, at least 2^-10 of its largest value; or what the user gave as scale.
function flows.sizes(flow, rows)
  local sizes = core.vector(#rows[1])
  for i = 1, #sizes do
    local low, high, most = math.huge, -math.huge, 0
    for _, row in ipairs(rows) do
      low, high, most = math.min(low, row[i]), math.max(high, row[i]), math.max(most, math.abs(row[i]))
    end
    local held = flow.nx and i > flow.nx -- what actions change has no scale of the user
    sizes[i] = flow.scale and not held and flow.scale[i] or math.max(high - low, most * 2 ^ -10)
    if sizes[i] == 0 and held then sizes[i] = 1 end
    if sizes[i] == 0 then
      fail("%s: scale: state %d stays 0 on the motion from the guess: give scale = {...}, the size of each state",
        flow.who, i)
    end
  end
  return sizes
end

-- The size of each state as a part of its largest value on a course, at most 1.
function flows.shares(rows, sizes)
  local shares = core.ones(#sizes)
  for i = 1, #sizes do
    for _, row in ipairs(rows) do shares[i] = math.min(shares[i], sizes[i] / math.abs(row[i])) end
  end
  return shares
end

-- ---- events ----

-- Whether an event of a simulation is an impact, at which velocities jump.
function flows.is_impact(event) return event.kind == "impact" end

-- ---- differences ----

-- The kinds and names of events as one text: two runs with the same text are in one smooth piece of the map.
function flows.signature(events)
  local list = {}
  for i, event in ipairs(events) do list[i] = event.label end
  return table.concat(list, " ")
end

-- Differences of order 4: places and weights, in the middle of the places or at their end; `low`: the weights of
-- order 2 at the same places.
local FORMULAS = {
  { at = { -2, -1, 1, 2 }, weights = { 1 / 12, -8 / 12, 8 / 12, -1 / 12 }, low = { 0, -1 / 2, 1 / 2, 0 } },
  { at = { 0, 1, 2, 3, 4 }, weights = { -25 / 12, 48 / 12, -36 / 12, 16 / 12, -3 / 12 },
    low = { -3 / 2, 2, -1 / 2, 0, 0 } },
  { at = { 0, -1, -2, -3, -4 }, weights = { 25 / 12, -48 / 12, 36 / 12, -16 / 12, 3 / 12 },
    low = { 3 / 2, -2, 1 / 2, 0, 0 } },
}

-- The differences of order 4 and 2 by one formula; nil when a run fails or has another signature than `wanted`, if
-- that is given. known: values at places of this h, by their place; false where there is none.
local function by_formula(f, h, formula, wanted, known)
  local sum, low
  for k, place in ipairs(formula.at) do
    local value = known[place]
    if value == nil then
      local good, signature
      good, value, signature = pcall(f, place * h)
      if not good and not wanted then error(value, 0) end
      if not good or wanted and signature ~= wanted then value = false end
      known[place] = value
    end
    if not value then return nil end
    local term, part = value * (formula.weights[k] / h), value * (formula.low[k] / h)
    sum, low = sum and sum + term or term, low and low + part or part
  end
  return sum, low
end

-- The largest part of a vector whose parts have these sizes.
local function largest(v, sizes)
  local most = 0
  for i = 1, #v do most = math.max(most, math.abs(v[i]) / sizes[i]) end
  return most
end

-- d f / d s at 0 for s of this size; f(s) returns a vector and the signature of its run. All runs of a difference
-- have the signature `wanted`: else it is taken on one side, then with a shorter step. So it is where the two orders
-- differ; the slope for which they differ least is taken. sizes: of the parts of f; without them the first slope is
-- taken. The second result is by what part of the slope the orders differ; a slope below 1, as a part of the sizes,
-- counts as 1. memory: a table that keeps the step and the formula, with which the next difference begins; or nil.
local function difference(f, size, wanted, sizes, memory)
  local h, best, unknown = memory and memory.h or STEP * size, nil, math.huge
  for _ = 0, REDUCTIONS do
    local slope, low, formula
    local known, first = {}, memory and memory.formula or 1
    for k = 0, #FORMULAS - 1 do
      formula = (first + k - 1) % #FORMULAS + 1
      slope, low = by_formula(f, h, FORMULAS[formula], wanted, known)
      if slope then break end
    end
    if slope and not sizes then return slope end
    if slope then
      local off = largest(slope - low, sizes) * size / math.max(1, largest(slope, sizes) * size)
      if off > unknown and unknown < ROUNDING then return best, unknown end
      if off < unknown then
        best, unknown = slope, off
        if memory then memory.h, memory.formula = h, formula end
      end
    end
    if unknown <= PROPORTIONAL then break end
    h = h / REDUCTION
  end
  if not best then best = by_formula(f, h, FORMULAS[1], nil, {}) end
  return best, unknown
end

local function moved(x, i, s)
  local y = x:copy()
  y[i] = y[i] + s
  return y
end

-- The derivative of map(x, p) by x at the point, column by column; map returns a vector, whose parts have the sizes
-- value_sizes where these are given, and events. The second result is the part of a column that is not known.
function flows.by_states(map, x, sizes, wanted, value_sizes)
  local n, unknown = #x, 0
  local S
  for i = 1, n do
    local column, off = difference(function(s)
      local value, events = map(moved(x, i, s))
      return value, flows.signature(events)
    end, sizes[i], wanted, value_sizes)
    S = S or core.zeros(#column, n)
    S:column(i):assign(column)
    unknown = math.max(unknown, off or 0)
  end
  return S, unknown
end

-- The derivative of map(p) by a number. memory: see `difference`.
function flows.by_number(map, p, size, wanted, value_sizes, memory)
  return (difference(function(s)
    local value, events = map(p + s)
    return value, flows.signature(events)
  end, size, wanted, value_sizes, memory))
end

-- ---- the interface ----

function Flow:run(x0, t0, t1, p) return self.kind.run(self, x0, t0, t1, p) end

function Flow:crossings(x0, t0, section, p) return self.kind.crossings(self, x0, t0, section, p) end

function Flow:course(x0, t0, t1, p) return self.kind.course(self, x0, t0, t1, p) end

function Flow:field(t, x, p) return self.kind.field(self, t, x, p) end

-- An exact derivative is compared once, in one direction, with a difference. A field that switches without an event
-- has a derivative that its dual numbers do not see; then differences are taken. Largest disagreement, as a part of
-- the sizes of the states: between the errors of a difference (1e-8) and what a switch changes.
local AGREEMENT = 1e-4

-- What a derivative by differences is told with, where the exact one disagrees.
local DISAGREES = "the exact derivative disagrees with a difference: a field that switches without an event, or "
  .. "an orbit that begins on a surface of switching"

-- Whether S agrees with a difference, or this is not known well enough to tell. map(x): the end of a run and its
-- signature; x0 has the signature `wanted`.
local function agrees(map, S, x0, sizes, wanted)
  local direction = sizes:copy()
  for i = 2, #direction, 2 do direction[i] = -direction[i] end
  local good, slope, unknown = pcall(difference, function(s) return map(x0 + s * direction) end, 1, wanted, sizes)
  if not good or unknown > PROPORTIONAL then return true end
  local exact = S * direction
  return largest(exact - slope, sizes) <= AGREEMENT * math.max(1, largest(exact, sizes))
end

-- Compares the first exact derivative of a flow; where it disagrees, all later ones are taken by differences.
local function compare(flow, map, S, x0, sizes, wanted)
  if flow.compared then return end
  flow.compared = true
  if not agrees(map, S, x0, sizes, wanted) then flow.inexact = DISAGREES end
end

-- Why a derivative is taken by differences, with what these do not know.
local function told(reason, unknown)
  reason = where.bare(reason, "sensitivities")
  if unknown <= PROPORTIONAL then return reason end
  if unknown == math.huge then return reason .. "; the differences are taken across a change of the events" end
  return format("%s; the differences are known to %.1g of their size only", reason, unknown)
end

-- d x(t1) / d x0, the run, d x(t1) / d p where it is known, and why the first is not exact; nil when it is. Sizes: of
-- the states, for differences.
function Flow:derivative(x0, t0, t1, p, sizes)
  local reason = self.inexact
  if not reason then
    local good, run, S, by_parameter, why = pcall(self.kind.exact, self, x0, t0, t1, p, sizes)
    if good and S then
      compare(self, function(x)
        local other = self:run(x, t0, t1, p)
        return other.x, flows.signature(other.events)
      end, S, x0, sizes, flows.signature(run.events))
    end
    if good and S and not self.inexact then return S, run, by_parameter end
    reason = self.inexact or not good and tostring(run) or why or "an event of the model does not act"
  end
  local run = self:run(x0, t0, t1, p)
  local S, unknown = flows.by_states(function(x)
    local other = self:run(x, t0, t1, p)
    return other.x, other.events
  end, x0, sizes, flows.signature(run.events), sizes)
  return S, run, nil, told(reason, unknown)
end

-- A crossing earlier than this part of the expected time is another one: a start that a difference moves to the other
-- side of the section crosses it at once.
local EARLY = 1 / 2

-- The last crossing of a list, and the text of the events up to it, with `early` where it is another crossing.
local function last_of(list, t0, section)
  local last, events = list[#list], { table.unpack(list.events) }
  if section.span and last.t - t0 < EARLY * section.span then events[#events + 1] = { label = "early" } end
  return last, events
end

local function crossing_from(flow, x, t0, section, p)
  return last_of(flow:crossings(x, t0, section, p), t0, section)
end

-- The same of the map to a section, from the time t0: its derivative by x0, by the parameter where it is known, why
-- the first is not exact, and the derivative of the time of the crossing.
function Flow:section_derivative(x0, section, p, sizes, t0)
  t0 = t0 or self.t0
  local reason, n = self.inexact, #x0
  if not reason then
    local good, list, S, by_parameter, dt = pcall(self.kind.exact_crossing, self, x0, t0, section, p)
    if good and list then
      local _, events = last_of(list, t0, section)
      compare(self, function(x)
        local last, others = crossing_from(self, x, t0, section, p)
        return last.x, flows.signature(others)
      end, S, x0, sizes, flows.signature(events))
    end
    if good and list and not self.inexact then return S, by_parameter, nil, dt end
    reason = self.inexact or not good and tostring(list) or S or "an event of the model does not act"
  end
  local base, events = crossing_from(self, x0, t0, section, p)
  local both, unknown = flows.by_states(function(y)
    local last, others = crossing_from(self, y, t0, section, p)
    return core.concatenate { last.x, { last.t } }, others
  end, x0, sizes, flows.signature(events), core.concatenate { sizes, core.vector { base.t - t0 } })
  return both:slice(1, n, 1, n), nil, told(reason, unknown), both:row(n + 1)
end

-- d x(t1) / d t1 at the end of a run, before an event that is there.
function Flow:velocity(run, p) return self:field(run.t, run.x, p) end

-- ---- clearances ----

flows.SAMPLES = 800 -- points of a course at which the guards are looked at
local NEAR = 8 -- samples around an event in which its own guard is not looked at

local function is_near(times, k, events, name)
  for _, event in ipairs(events) do
    if event.name == name then
      local from, to = times[math.max(1, k - NEAR)], times[math.min(#times, k + NEAR)]
      if event.t >= from and event.t <= to then return true end
    end
  end
  return false
end

-- The extremum of the parabola through three points of equal distance.
local function extremum(a, b, c)
  local bend = a - 2 * b + c
  return bend == 0 and b or b - (a - c) ^ 2 / (8 * bend)
end

-- A guard that is below this part of its range at three samples in a row is held at 0 and does not touch it. Where it
-- touches 0 with the curvature of a sine, its neighbours are at 3e-5.
local HELD = 1e-6

-- How close each guard comes to 0 apart from the events: a list of { name, t, value, range }.
function Flow:clearances(x0, t0, t1, p, events)
  local times, guards = self.kind.guards(self, x0, t0, t1, p, flows.SAMPLES)
  local list = {}
  for name, values in pairs(guards) do
    local range, best = 0, { name = name, value = math.huge }
    for _, value in ipairs(values) do range = math.max(range, math.abs(value)) end
    for k = 2, #values - 1 do
      local a, b, c = math.abs(values[k - 1]), math.abs(values[k]), math.abs(values[k + 1])
      local lowest = b <= a and b <= c and b < best.value and math.max(a, c) > HELD * range
      if lowest and not is_near(times, k, events, name) then
        best.t, best.value = times[k], math.abs(extremum(values[k - 1], values[k], values[k + 1]))
      end
    end
    best.range = range > 0 and range or 1
    list[#list + 1] = best
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

-- ---- making ----

-- The sizes of the states that a user gives; nil when there are none.
function flows.scale(options, who)
  if options.scale == nil then return nil end
  local scale = core.vector(arguments.numbers(options.scale, #(options.guess or {}), who, "scale"))
  for i = 1, #scale do
    if not (scale[i] > 0 and scale[i] < math.huge) then
      fail("%s: scale: expected numbers above 0, got %g", who, scale[i])
    end
  end
  return scale
end

-- The period, a number or a function of the parameter, as a function of the parameter. flow: its clocks must fit.
function flows.period(period, who, flow)
  local function checked(T, what)
    reject(type(T) ~= "number" or not (T > 0 and T < math.huge), T,
      "%s: period: expected a number above 0%s", who, what)
    if flow and flow.check_period then flow.check_period(T, "period") end
    return T
  end
  if type(period) == "function" then return function(p) return checked(period(p), " of the function") end end
  checked(period, " or a function of the parameter")
  return function() return period end
end

-- A finite number of the options, at least `least`; nil when there is none.
function flows.number(options, name, least, who)
  local x = options[name]
  if x == nil then return nil end
  if type(x) ~= "number" or x - x ~= 0 or x < least then
    local bound = least > -math.huge and format(", at least %g", least) or ""
    fail("%s: %s: expected a finite number%s, got %s", who, name, bound, describe(x))
  end
  return x
end

-- Makes the flow of the model in an option table: simulation =, or rhs = with the options of solve_ivp.
function flows.new(options, who)
  if (options.simulation == nil) == (options.rhs == nil) then
    fail("%s: expected simulation = or rhs =, got %s", who, options.rhs == nil and "neither" or "both")
  end
  local flow = setmetatable({ who = who, t0 = flows.number(options, "t0", -math.huge, who) or 0 }, Flow)
  flow.kind = require(options.rhs and "nslua.dynamics.ode_flow" or "nslua.dynamics.simulation_flow")
  flow.kind.make(flow, options)
  flow.scale = flows.scale(options, who)
  return flow
end

-- The start as a vector.
function flows.start(flow, value, name)
  if value == nil then fail("%s: %s: expected the states, got nil", flow.who, name) end
  local more = flow.kind.more_states and flow.kind.more_states(flow, value)
  if more then return more end
  local states = arguments.numbers(value, flow.n, flow.who, name)
  if #states == 0 then fail("%s: %s: expected the states, got an empty list", flow.who, name) end
  return core.vector(states)
end

-- A section {g, direction} from what a user gives: a function g(t, x), a table {g, direction =}, or the name of an
-- event, whose crossings are the states after it.
-- counted: a name may have a count, as { "wall", count = 2 }: every second occurrence.
function flows.section(value, who, counted)
  if type(value) == "string" then return { name = value, count = 1 } end
  if type(value) == "table" and type(value[1]) == "string" then
    if value.count ~= nil and not counted then
      fail("%s: section: count: it goes with dynamics.periodic and dynamics.continuation", who)
    end
    local asked = value.count and arguments.integer(value.count, 1, who, "section: count")
    return { name = value[1], count = asked or 1, asked = asked ~= nil }
  end
  if type(value) == "function" then return { g = value, direction = 1, count = 1 } end
  local g = type(value) == "table" and (value.g or value[1])
  reject(type(g) ~= "function", value,
    "%s: section: expected a function g(t, x), a table {g, direction =}, or the name of an event", who)
  if value.count ~= nil then
    fail("%s: section: count: it goes with the name of an event, not with a function", who)
  end
  local direction = value.direction == nil and 1 or value.direction
  local known = { up = 1, down = -1, both = 0, [1] = 1, [-1] = -1, [0] = 0 }
  reject(not known[direction], direction, "%s: section: direction: expected 'up', 'down', 'both', 1, -1 or 0", who)
  return { g = g, direction = known[direction], count = 1 }
end

-- The same section with another number of crossings.
function flows.counted(section, count)
  return { g = section.g, direction = section.direction, name = section.name, count = count, span = section.span }
end

return flows
