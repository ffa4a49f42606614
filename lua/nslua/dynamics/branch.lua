-- nslua.dynamics.branch: branches of periodic orbits in one parameter, by pseudo-arclength continuation.
--
-- The unknowns w: an orbit's unknowns and the parameter, each divided by its size; the parameter's is the width of
-- the range. From a point with the tangent t the next one is sought from w + ds t, in the plane orthogonal to t.
-- Keller 1977; Seydel, Practical Bifurcation and Stability Analysis, 3rd ed., 2010, chapter 4.
--
-- Bifurcations are zeros of test functions (nslua.dynamics.test_function). A change of the sequence of events is
-- located by the zero of what vanishes there, where the orbit has a fixed sequence, and by bisection along the
-- branch, from the side on which the orbit is known.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local ends = require "nslua.dynamics.branch_end"
local orbits = require "nslua.dynamics.orbit"
local passage = require "nslua.dynamics.passage"
local points = require "nslua.dynamics.branch_point"
local sequences = require "nslua.dynamics.sequence"
local tests = require "nslua.dynamics.test_function"
local where = require "nslua.base.where"

local fail, describe = arguments.fail, arguments.describe
local format = core.number_support.format

local branches = {}

local Branch = {}
Branch.__index = Branch
Branch.__name = "branch"

-- Lengths along the branch are in units of the scaled unknowns: 1 is the width of the range, or the size of all
-- states together.
local STEP, STEP_MAX, STEP_MIN = 1 / 64, 1 / 16, points.SHORTEST
-- Up to so many iterations the next step is longer, from so many shorter: by Newton's method, and with updates.
local FAST, SLOW = 3, 5
local FAST_UPDATES, SLOW_UPDATES = 6, 10
-- A change of the sequence is known to this length along the branch.
local PLACE = 2 ^ -46
-- The zero of a function along the branch is known to this length before bisection goes on.
local NEIGHBOUR = 2 ^ -40
-- Intervals that are longer than this part of the first one are halved by Newton's method, too, shorter ones with
-- updates of the matrix of a point near alone: there it is good enough.
local FULL = 1 / 8
-- A point is as exact as this part of the step: near a grazing Newton's method may end with larger corrections.
local EXACT = 2 ^ -10
local ATTEMPTS = 10 -- a step is halved so many times
local ENDS = 2 -- the end of the branch is sought before a step is halved for the first times
-- Steps that are shorter than this part of the first one are trouble, such as the square root of a grazing.
local SHORT = 1 / 4

-- ---- location ----

-- The unknowns at the length s from a, where the sequence is the same as at a; nil where it is not, and whether an
-- orbit was found. near: unknowns that are known at the lengths near.s and before.s, from which the guess is
-- extrapolated. K: a matrix of a point near. With `full` Newton's method is tried, too, when that with updates fails.
local function same_sequence(b, a, s, near, before, K, full)
  local guess = near.w + (s - near.s) * (before and (near.w - before.w) * (1 / (near.s - before.s)) or a.tangent)
  local good, solved = pcall(points.correct, b, guess, a.tangent, K)
  if full and (not good or not solved.good) then good, solved = pcall(points.correct, b, guess, a.tangent) end
  local found = good and solved.good
  return found and solved.sequence == a.sequence and { s = s, w = solved.u } or nil, found
end

-- What vanishes between the points a and c of one fixed sequence: the rate of an event that grazes, or the time
-- between two events that exchange their places. A function of a point; nil where nothing does.
local function vanishing(b, a, c)
  if b.problem.form ~= sequences.form or not c or #c.orbit.events ~= #a.orbit.events then return nil end
  local one, other = a.orbit.events, c.orbit.events
  for i = 1, #one do
    if one[i].rate * other[i].rate < 0 then return function(point) return point.orbit.events[i].rate end end
    local function between(point) return point.orbit.events[i].t - point.orbit.events[i - 1].t end
    if i > 1 and between(a) * between(c) < 0 then return between end
  end
end

-- Lengths from a between which the sequence changes, and the unknowns at the lower one: from the zero of what
-- vanishes there (regula falsi with the Illinois rule), whose neighbours at the length NEIGHBOUR are looked at.
local function bracket(b, a, c, ds)
  local f, w = vanishing(b, a, c), a.w
  if not f then return 0, w, ds end
  local low, high, fl, fh, side = 0, ds, f(a), f(c), nil
  for _ = 1, 20 do
    local s = low + (high - low) * fl / (fl - fh)
    if not (s > low and s < high) then break end
    local point = points.step_to(b, a, s, true)
    local value = point and f(point)
    if not value or value == 0 then break end
    local last = math.min(s - low, high - s)
    if (value > 0) == (fl > 0) and point.sequence ~= a.sequence then break end -- another change comes before
    if (value > 0) == (fh > 0) then
      high, fh = s, value
      if side == "high" then fl = fl / 2 end
      side = "high"
    else
      low, fl, w = s, value, point.w
      if side == "low" then fh = fh / 2 end
      side = "low"
    end
    if last < NEIGHBOUR then break end
  end
  for _, s in ipairs { low + NEIGHBOUR, high - NEIGHBOUR } do
    local point = s > low and s < high and points.step_to(b, a, s, true)
    local value = point and f(point)
    local before = value and (value > 0) == (fl > 0) and point.sequence == a.sequence
    if before then low, w = s, point.w elseif value then high = s end
  end
  return low, w, high
end

-- The last point with the sequence of a before the length ds, where it is another one or no orbit is found; and
-- whether an orbit of another sequence was found right after it; c: the point at ds, or nil.
local function locate_change(b, a, c, ds)
  local low, w, high = bracket(b, a, c, ds)
  local found, K, place = { { s = low, w = w } }, a.K, 1 -- K is the matrix of found[place]
  local met -- whether an orbit of another sequence was found at `high`
  while high - found[#found].s > PLACE do
    local near = found[#found]
    local s = (near.s + high) / 2
    if not (s > near.s and s < high) then break end
    local full = high - near.s > FULL * ds
    local point, other = same_sequence(b, a, s, near, found[#found - 1], K, full)
    if not point and not other and place < #found then
      local good, last = pcall(points.point_at, b, near.w, a.tangent)
      if good then
        K, place = last.K, #found
        point, other = same_sequence(b, a, s, near, found[#found - 1], K, full)
      end
    end
    if point then found[#found + 1] = point else high, met = s, other end
  end
  for k = #found, low > 0 and 1 or 2, -1 do
    local good, point = pcall(points.point_at, b, found[k].w, a.tangent)
    if good and point.sequence == a.sequence then return point, met end
  end
  return a, met
end

-- The events that only one of two sequences has, as a text.
local function differing(a, b)
  local counts, list = {}, {}
  for label in a:gmatch "%S+" do counts[label] = (counts[label] or 0) + 1 end
  for label in b:gmatch "%S+" do counts[label] = (counts[label] or 0) - 1 end
  for label, count in pairs(counts) do
    if count ~= 0 then list[#list + 1] = label end
  end
  table.sort(list)
  return table.concat(list, " ")
end

local function note(b, kind, point, more)
  local found = { kind = kind, p = point.p, x0 = point.x0, T = point.T, orbit = point.orbit, point = point,
    multipliers = point.multipliers }
  for name, value in pairs(more or {}) do found[name] = value end
  b.bifurcations[#b.bifurcations + 1] = found
  if point ~= b.points[#b.points] then b.points[#b.points + 1] = point end
end

-- What the branch passes where the parameter turns between the neighbours a and c. At a Hopf bifurcation the orbit
-- shrinks to a point and comes out at the other side of it: its motion at the start changes its direction. Where the
-- orbit only touches the section, its motion changes the side to which it crosses. At a fold neither happens.
local function turning(b, a, c)
  local q = b.problem
  if not q.kind.free then return "fold" end
  local t0 = q.flow.t0
  local fa, fc = q.flow:field(t0, a.x0, a.p), q.flow:field(t0, c.x0, c.p)
  if fa:div(q.sizes):dot(fc:div(q.sizes)) < 0 then return "Hopf" end
  local _, slope_a = q.phase(a.x0)
  local _, slope_c = q.phase(c.x0)
  if q.section and slope_a:dot(fa) * slope_c:dot(fc) < 0 then return "touch" end
  return "fold"
end

-- A fold and a branch point that are closer than this along the branch are one: the other branch crosses the fold.
local ONE = 2 ^ -12

-- Whether the zero number k of a list is a fold at which another branch crosses this one.
local function is_crossed(list, k)
  for _, other in ipairs(list) do
    if other.name == "branch point" and math.abs(other.s - list[k].s) < ONE then return true end
  end
  return false
end

-- Notes the bifurcations between two neighbours with one sequence; before: the point before a, { point, s }, or nil.
-- Returns the last point of the branch and why it is the last, where the orbit touches the section or becomes an
-- equilibrium; or nil, nil and a sample { point, s } with another sequence that is between the two.
local function find_zeros(b, a, c, ds, before)
  local list, other = tests.zeros(b, a, c, ds, before)
  for k, zero in ipairs(list) do
    local point, kind = zero.point, zero.name
    if kind == "fold" then kind = turning(b, a, c) end
    if kind == "Hopf" then
      note(b, kind, point)
      return point, "the orbit becomes an equilibrium"
    end
    if kind == "touch" then return point, "beyond it the orbit does not cross the section; take another one" end
    if kind ~= "fold" or not is_crossed(list, k) then note(b, kind, point) end
  end
  return nil, nil, other
end

-- ---- the branch ----

local function within(b, p) return p >= b.low and p <= b.high end

-- The point at the bound of the range between a and c, with the sequence of one of them; nil when none is found.
local function point_at_bound(b, a, c)
  local bound = c.p > b.high and b.high or b.low
  local between = #a.w == #c.w and a.w + (bound - a.p) / (c.p - a.p) * (c.w - a.w)
  for _, guess in ipairs { between or c.w:copy(), c.w:copy() } do
    local fixed = core.zeros(#guess)
    fixed[#fixed], guess[#guess] = 1, bound / b.size
    local good, solved = pcall(points.correct, b, guess, fixed)
    local fine, point = pcall(function()
      return good and solved.good and points.point_at(b, solved.u, c.tangent, solved)
    end)
    if fine and point and (point.sequence == c.sequence or point.sequence == a.sequence) then return point end
  end
end

-- Ends the branch with the point at the bound of the range between a and c, which is given if it is known.
local function end_at_bound(b, a, c, point)
  point = point or point_at_bound(b, a, c)
  b.points[#b.points + 1] = point
  b.message = point and format("the end of the range, p = %g", point.p) or
    format("no orbit was found at the end of the range; the last one is at p = %.10g", b.points[#b.points].p)
end

-- A step from a: the point and its length; or nil, the length of the last try, why there is none, and the end of
-- the branch before that, where it is located.
local function advance(b, a, ds)
  local reason
  for k = 0, ATTEMPTS do
    local point, why = points.step_to(b, a, ds)
    if point and point.correction <= EXACT * ds then return point, ds end
    if point then why = format("the correction is still %.3g of the states' sizes", point.correction) end
    reason = why
    if k < ENDS then
      local known = ends.approach(b, a, ds)
      if known then return nil, ds, reason, known end
    end
    ds = ds / 2
    if ds < STEP_MIN then break end
  end
  return nil, ds, reason
end

local function next_step(b, ds, point)
  local fast, slow = FAST, SLOW
  if point.updates then fast, slow = FAST_UPDATES, SLOW_UPDATES end
  if point.iterations <= fast then return math.min(1.5 * ds, b.step_max) end
  return point.iterations >= slow and math.max(ds / 2, STEP_MIN) or math.max(ds, STEP_MIN)
end

-- An event that is closer than this part of the period to the start of a forced orbit comes to it.
local AT_START = 1e-6

-- The name of an event that comes to the start of the orbit of a point, which has a fixed time; nil when none does.
local function event_at_start(b, point)
  local q, t0 = b.problem, b.problem.flow.t0
  if not q.kind.given or q.form == sequences.form then return nil end
  for _, event in ipairs(point.orbit.events) do
    local after = (event.t - t0) / point.T
    if math.min(after, 1 - after) < AT_START then return event.name end
  end
end

-- The event that passes the start of a forced orbit between the neighbours a and c, where shooting finds them: there
-- the unknowns jump. nil where none does.
local function event_passing_start(b, a, c)
  local one, other, T = a.orbit.events, c.orbit.events, a.T
  if not b.problem.kind.given or b.problem.form == sequences.form or #one ~= #other or #one == 0 then return nil end
  local function distance(shift)
    local sum = 0
    for i, event in ipairs(one) do
      local k = i + shift
      local turns = k < 1 and -1 or k > #other and 1 or 0
      sum = sum + math.abs(other[k - turns * #other].t + turns * T - event.t)
    end
    return sum
  end
  local straight, on, back = distance(0), distance(1), distance(-1)
  if straight <= math.min(on, back) then return nil end
  return on < back and one[#one].name or one[1].name
end

-- Test functions are looked at up to a change of the sequence but for this part of the way: at a grazing multipliers
-- are infinite.
local CLOSE = 2 ^ -12

-- The change of the sequence between a and the point c at ds, which is nil when the branch could not be followed.
-- known: its end where that is located. Returns the last point with the sequence of a, and the name of
-- an event at its start if that ends the branch.
local function pass_change(b, a, c, ds, before, known)
  local last, met
  if known then last = known.last else last, met = locate_change(b, a, c, ds) end
  if last ~= a then
    local length = (1 - CLOSE) * points.dot(b, last.w - a.w, a.tangent)
    local near = known and known.between or points.step_to(b, a, length, true)
    if known then length = points.dot(b, near.w - a.w, a.tangent) end
    if near and near.sequence == a.sequence then find_zeros(b, a, near, length, before) end
  end
  local name_at_start = not c and event_at_start(b, last)
  if name_at_start then
    if last ~= b.points[#b.points] then b.points[#b.points + 1] = last end
    return last, name_at_start
  end
  local passed = b.problem.form == sequences.form and passage.coinciding(last)
    or known and known.name:find " " and known.name
  local events = passed or c and differing(a.sequence, c.sequence) or ""
  local name = not passed and (known and known.name or passage.grazing_event(b, a, c) or passage.grazing_of(b, last))
  note(b, name and "grazing" or "sequence", last, { events = name or events, before = a.sequence,
    after = c and c.sequence, bound = not name and not met or nil })
  return last
end

-- ---- fixed sequences ----

-- Whether the point is followed by the formulation that is smooth at grazing. Its derivatives are exact for an ODE;
-- for a simulation it is taken where shooting has trouble.
local function wants_regular(b) return b.problem.flow.f ~= nil or b.trouble or b.problem.form == sequences.form end

-- The point in the formulation that is smooth at grazing, where there is one.
local function regular(b, a)
  if not wants_regular(b) then return a end
  if b.problem.form == sequences.form and not sequences.is_outside(b.problem, a.orbit) then return a end
  local q, u = sequences.from(b.base, a.orbit, a.p)
  return q and points.reformulated(b, a, q, u) or a
end

-- The point by shooting again, for a simulation that has no trouble any more: its derivatives are then exact.
local function by_shooting(b, a, ds)
  local q = b.base
  local fixed = b.problem.form == sequences.form and b.problem.pieces.reason
  if not fixed or ds < b.step or sequences.is_outside(b.problem, a.orbit) then return a end
  local good, u = pcall(function() return orbits.pack(q, orbits.nodes_from(q, a.x0, a.T, a.p), a.T) end)
  local point = good and points.reformulated(b, a, q, u) or a
  if point ~= a then b.trouble = nil end
  return point
end

local function at_start_text(b, p, name)
  return format("p = %.10g: event '%s' comes to the start of the orbit, t0 = %g: give another t0", p, name,
    b.problem.flow.t0)
end

-- Whether a test function has other signs at the neighbours a and c.
local function changes_a_test(a, c)
  for name, value in pairs(a.tests) do
    if value * c.tests[name] < 0 then return true end
  end
  return false
end

-- The first point beyond a change of the sequence at the point `last`; c: the orbit that was found there, or nil.
-- Bifurcations between the two are noted.
local function go_beyond(b, last, c, ds)
  local change = b.bifurcations[#b.bifurcations]
  local found, from, length, others = passage.across(b, last, c, ds)
  if not found then return nil end
  change.after, change.others, b.trouble = found.sequence, others, nil
  if from then find_zeros(b, from, found, length) end
  return found
end

-- A step from the point a, with equations that are smooth at grazing where shooting has trouble. Returns a in its
-- formulation, the next point and the length to it, or nil, the length of the last try and why there is none; the
-- name of an event that passes the start of the orbit; and the end of the branch, where it is located.
local function next_point(b, a, ds)
  a = regular(b, by_shooting(b, a, ds))
  b.problem.form.renew(b.problem, points.unknowns_of(a.w), a.p)
  local c, length, reason, known = advance(b, a, ds)
  local passing = c and c.sequence == a.sequence and event_passing_start(b, a, c)
  if (not c or c.sequence ~= a.sequence or passing) and not wants_regular(b) then
    b.trouble = true
    local other = regular(b, a)
    if other ~= a then
      a, passing = other, nil
      c, length, reason, known = advance(b, a, ds)
    elseif not c then
      known = known or ends.approach(b, a, ds)
    end
  end
  return a, c, length, reason, passing, known
end

-- Takes the branch from a over a change of the sequence; c: the point at the length, or nil and the reason. Returns
-- the first point beyond, or nil and why the branch ends.
local function over_change(b, a, c, length, reason, before, known)
  length = c and length or 2 * length
  local last, at_start = pass_change(b, a, c, length, before, known)
  if at_start then return nil, at_start_text(b, last.p, at_start) end
  local beyond = go_beyond(b, last, c, length)
  if beyond then return beyond end
  return nil, reason and format("the branch could not be followed beyond p = %.10g: %s", a.p, reason) or
    format("p = %.10g: no orbit with another sequence of events is known to be next to this one", last.p)
end

local function follow(b, a)
  local ds, before = b.step, nil
  b.points[1] = a
  while #b.points < b.most do
    b.trouble = b.trouble or ds < SHORT * b.step
    local c, length, reason, passing, known, why
    a, c, length, reason, passing, known = next_point(b, a, ds)
    if passing and changes_a_test(a, c) then
      b.message = at_start_text(b, a.p, passing)
      return
    end
    local at_bound = c and not within(b, c.p) and point_at_bound(b, a, c)
    if at_bound and at_bound.sequence == a.sequence then -- what is beyond the range does not count
      c, length = at_bound, points.dot(b, at_bound.w - a.w, a.tangent)
    else
      at_bound = nil
    end
    if before and (before.point.problem ~= a.problem or before.point.sequence ~= a.sequence) then before = nil end
    if c and c.sequence == a.sequence then
      local last, other
      last, why, other = find_zeros(b, a, c, length, before)
      if last then
        if last ~= b.points[#b.points] then b.points[#b.points + 1] = last end
        b.message = format("p = %.10g: %s", last.p, why)
        return
      end
      if other then c, length, at_bound = other.point, other.s, nil end
    end
    before = { point = a, s = length }
    if not c or c.sequence ~= a.sequence then
      c, why = over_change(b, a, c, length, reason, before, known)
      before = nil
      if not c then
        b.message = why
        return
      end
    end
    if at_bound or not within(b, c.p) then return end_at_bound(b, a, c, at_bound) end
    b.points[#b.points + 1] = c
    a, ds = c, next_step(b, length, c)
  end
  b.message = format("%d points", #b.points)
end

local function collect(b)
  local n = #b.points
  b.p, b.T, b.x = core.vector(n), core.vector(n), core.zeros(n, #b.points[1].x0)
  for k, point in ipairs(b.points) do
    b.p[k], b.T[k] = point.p, point.T
    for i = 1, #point.x0 do b.x[k][i] = point.x0[i] end
  end
  return setmetatable(b, Branch)
end

-- Follows the branch b from its first point.
function branches.grow(b, first)
  follow(b, first)
  return collect(b)
end

local function checked_range(options, who)
  local range = arguments.numbers(options.range, 2, who, "range")
  if range[1] == range[2] then fail("%s: range: expected two different numbers, got %g twice", who, range[1]) end
  return range
end

local function settings(options, problem, who)
  local range = checked_range(options, who)
  local b = { problem = problem, base = problem, points = {}, bifurcations = {}, low = math.min(range[1], range[2]),
    high = math.max(range[1], range[2]), range = range, options = options }
  b.size = b.high - b.low
  problem.parameter_size = b.size
  b.step = options.step and arguments.number(options.step, who, "step") or STEP
  b.step_max = options.max_step and arguments.number(options.max_step, who, "max_step") or math.max(STEP_MAX, b.step)
  b.most = options.max_points == nil and 400 or arguments.integer(options.max_points, 2, who, "max_points")
  if b.step <= 0 or b.step > 1 then fail("%s: step: expected a number in (0, 1], got %s", who, describe(b.step)) end
  return b
end

-- ns.dynamics.continuation
function branches.continuation(options)
  local who = "dynamics.continuation"
  options = arguments.options(options, who)
  local range = checked_range(options, who)
  local copy = {}
  for name, value in pairs(options) do copy[name] = value end
  copy.value = options.value == nil and range[1] or arguments.number(options.value, who, "value")
  local q = orbits.problem(copy, who)
  q.p = copy.value
  local b = settings(options, q, who)
  if q.flow.f == nil and q.flow.make_simulation == nil and q.flow.set == nil then
    fail("%s: parameter: expected { object, \"field\" }, since the simulation is no function of the parameter", who)
  end
  local solved = orbits.start(q)
  local fixed, with_events
  if not solved.good then fixed, with_events = sequences.start(q) end
  if not solved.good and not fixed then fail("%s: no orbit found at p = %g: %s", who, q.p, solved.reason) end
  q, solved = fixed or q, with_events or solved
  b.problem = q
  local w = core.concatenate { solved.u, core.vector { q.p / b.size } }
  b.weights = points.weights_of(q, #w)
  local direction = core.zeros(#w)
  direction[#w] = range[2] > range[1] and 1 or -1
  return branches.grow(b, points.point_at(b, w, direction, solved))
end

function Branch:switch(number, options)
  return require "nslua.dynamics.branch_switch"(branches, self, number, options)
end

function Branch:plot(options) return require "nslua.dynamics.picture".branch(self, options) end

function Branch:__tostring()
  local lines = { format("branch of %d orbits, p = %g .. %g (%s)", #self.points, self.p[1], self.p[#self.p],
    self.message) }
  for i, one in ipairs(self.bifurcations) do
    lines[#lines + 1] = format("  %d: %s at p = %.12g%s", i, one.kind, one.p,
      one.events and one.events ~= "" and " (" .. one.events .. ")" or "") .. (one.bound and
        "; the change is there or a little beyond" or "")
  end
  return table.concat(lines, "\n")
end

where.methods(Branch, "a branch", "branch")

return branches
