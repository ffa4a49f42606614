-- nslua.dynamics.branch_end: the end of a branch of orbits that shooting finds, where a part of the orbit vanishes.
--
-- Let psi be the time between two events in a row, or the speed of an impact, that goes to 0 along the branch: a
-- phase of sticking becomes shorter and shorter, an impact grazes. In p the orbit has a square root there, and
-- beyond there is none, so that steps along the branch fail. But states, period and parameter are smooth functions
-- of psi. So they are interpolated as polynomials of psi, and points are sought at smaller and smaller psi.
local orbits = require "nslua.dynamics.orbit"
local points = require "nslua.dynamics.branch_point"
local sequences = require "nslua.dynamics.sequence"

local ends = {}

-- The next point is sought at this part of the last psi.
local SHRINK = 1 / 8
-- Where none is found there, psi is moved towards the last one, so many times.
local RETRIES = 3
-- At most so many points are sought: psi gets smaller by 8^12.
local MOST = 12
-- Polynomials through so many points.
local NODES = 4
-- The parameter of the end is known to this part of its range: to PLACE; where errors of runs keep points from
-- coming so close, to ENOUGH. (A run's error e makes one of e in the parameter, and of sqrt(e) in psi.)
local PLACE, ENOUGH = 2 ^ -40, 2 ^ -26
-- psi may vanish up to so many times the length of the step that has failed.
local REACH = 2

-- ---- what vanishes ----

-- The quantities of the events of an orbit with the period T that may vanish: the times between them, then the
-- speeds of impacts. The second result is the names of the events of each: of one event, or of two.
local function quantities(events, T)
  local list, names = {}, {}
  for i, event in ipairs(events) do
    local before = events[i > 1 and i - 1 or #events]
    list[i] = event.t - before.t + (i > 1 and 0 or T)
    names[i] = event.name == before.name and event.name or before.name .. " " .. event.name
  end
  for _, event in ipairs(events) do
    if type(event.velocity_before) == "number" then
      list[#list + 1], names[#list + 1] = math.abs(event.velocity_before), event.name
    end
  end
  return list, names
end

-- The last points of the branch with the sequence and the equations of a, which is the last one, and their
-- quantities.
local function last_points(b, a)
  local list = {}
  for k = #b.points, math.max(1, #b.points - NODES + 1), -1 do
    local point = b.points[k]
    if point.problem ~= a.problem or point.sequence ~= a.sequence then break end
    table.insert(list, 1, { w = point.w, values = quantities(point.orbit.events, point.T) })
  end
  return list
end

-- The number of the quantity that vanishes first, at a length of at most `reach` from the last sample; nil: none
-- does. Its square is taken as linear between the last two samples: so it is where the orbit ends.
local function first_to_vanish(b, samples, reach)
  local one, two, three = samples[#samples - 2], samples[#samples - 1], samples[#samples]
  if not two then return nil end
  local way = three.w - two.w
  local length, best = math.sqrt(points.dot(b, way, way)), nil
  for i, value in ipairs(three.values) do
    local before = two.values[i]
    if value > 0 and value < before and (not one or before < one.values[i]) then
      local rest = length * value ^ 2 / (before ^ 2 - value ^ 2)
      if rest <= reach then best, reach = i, rest end
    end
  end
  return best
end

-- ---- the approach ----

-- The unknowns where the quantity has the value psi, by the polynomial through the last samples (Neville's scheme).
local function extrapolated(samples, number, psi)
  local first = math.max(1, #samples - NODES + 1)
  local column, key = {}, {}
  for k = first, #samples do
    column[#column + 1], key[#key + 1] = samples[k].w, samples[k].values[number]
  end
  return points.interpolated(key, column, psi)
end

-- The point near the guess, in the plane orthogonal to the way from the last sample, with its quantities; nil where
-- it has another sequence of events. K: a matrix of a point near.
local function sample_at(b, a, guess, last, K)
  local t = points.scaled_to_one(b, guess - last.w)
  local row, matrix = t:mul(b.weights), K:copy()
  for j = 1, #row do matrix[#row][j] = row[j] end
  local good, solved = pcall(points.correct, b, guess, t, matrix)
  if not good or not solved.good or solved.sequence ~= a.sequence then return nil end
  return { w = solved.u, values = quantities(orbits.events_of(b.problem, solved.state),
    solved.state.T), K = solved.matrix, t = t }
end

-- The next sample: with a smaller quantity than the last one.
local function next_sample(b, a, samples, number, retries)
  local last = samples[#samples]
  local psi = SHRINK * last.values[number]
  for _ = 0, retries do
    local sample = sample_at(b, a, extrapolated(samples, number, psi), last, last.K or a.K)
    local value = sample and sample.values[number]
    if value and value > 0 and value < last.values[number] then return sample end
    psi = math.sqrt(psi * last.values[number])
  end
end

local function point_of(b, sample) return points.point_at(b, sample.w, sample.t) end

-- The end of the branch beyond its point a, where a step of the length ds has failed: a table { last, between, name
-- } of its last point, a point between the two, from which test functions can be told, and the events of what
-- vanishes. nil where nothing does.
function ends.approach(b, a, ds)
  local fixed = not b.trouble and sequences.is_rough(b.base, a.orbit) -- equations for fixed events come first
  if b.problem.form ~= orbits.shooting or fixed then return nil end
  local samples = last_points(b, a)
  local number = #samples > 1 and first_to_vanish(b, samples, REACH * ds)
  if not number then return nil end
  local between, rest = nil, math.huge
  for _ = 1, MOST do
    local sample = next_sample(b, a, samples, number, rest > ENOUGH and RETRIES or 1)
    if not sample then break end
    samples[#samples + 1], between = sample, between or sample
    rest = math.abs((extrapolated(samples, number, 0) - sample.w)[#sample.w])
    if rest <= PLACE then break end
  end
  local last = samples[#samples]
  if rest > ENOUGH or last == between then return nil end
  local good, point, middle = pcall(function() return point_of(b, last), point_of(b, between) end)
  if not good or point.sequence ~= a.sequence or middle.sequence ~= a.sequence then return nil end
  local _, names = quantities(a.orbit.events, a.T)
  return { last = point, between = middle, name = names[number] }
end

return ends
