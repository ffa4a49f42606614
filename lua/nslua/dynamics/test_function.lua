-- nslua.dynamics.test_function: functions of the points of a branch whose zeros are bifurcations.
--
-- The tangent's part of the parameter is 0 at a fold, the product of 1 + m over all multipliers m at a period
-- doubling, the product of m_i m_j - 1 over all pairs at a Neimark-Sacker bifurcation. The determinant of the
-- bordered matrix is 0 where two branches cross; at a fold it is not. Seydel, Practical Bifurcation and Stability
-- Analysis, 3rd ed., 2010, chapters 5 and 7.
--
-- A function that changes its sign between two neighbours has a zero there. One that does not may have two. So each
-- interval between neighbours is halved as long as a parabola that bends SAFETY times as much as the values at its
-- ends and next to it tell comes to 0 in it.
local lists = require "nslua.base.lists"
local points = require "nslua.dynamics.branch_point"

local tests = {}

-- A located point is known to this length along the branch.
local PLACE = 2 ^ -46
-- A function that is larger at the place where it changes its sign than this part of its values at both ends jumps
-- there.
local JUMP = 2 ^ -10
-- At a branch point Newton's matrix is singular. There the zero is sought until the function is this part of its
-- values at both ends; then it is interpolated between points at both sides: NODES at each, AROUND of the length of
-- the step apart, then up to NEARER times between points that are 8 times as close.
local NEAR, NODES, AROUND, NEARER = 2 ^ -10, 3, 2 ^ -4, 4
-- The bend of a function between two neighbours is at most this many times what the next values tell. Larger values
-- find narrower pairs of zeros and cost more points.
local SAFETY = 4
-- At most so many points are put between two neighbours.
local INSERTED = 24

local NAMES = { "fold", "branch point", "period doubling", "symmetry breaking", "Neimark-Sacker" }

-- ---- pairs of zeros ----

-- Half the bend of f at three places: the second divided difference.
local function divided(one, two, three, name)
  local f, g, h = one.point.tests[name], two.point.tests[name], three.point.tests[name]
  return ((h - g) / (three.s - two.s) - (g - f) / (two.s - one.s)) / (three.s - one.s)
end

-- Half the bend of the tangent's part of the parameter between two samples: their parameters tell its mean.
local function bend_of_fold(b, low, high)
  local step = high.point.w - low.point.w
  local f, g = low.point.tests.fold, high.point.tests.fold
  local mean = step[#step] / math.sqrt(points.dot(b, step, step))
  return 6 * (mean - (f + g) / 2) / (high.s - low.s) ^ 2
end

-- Whether a test function without a change of its sign may come to 0 between the samples k and k + 1.
local function may_have_a_pair(b, samples, k, name)
  local low, high = samples[k], samples[k + 1]
  local f, g = low.point.tests[name], high.point.tests[name]
  if f * g <= 0 then return false end
  local bend = name == "fold" and math.abs(bend_of_fold(b, low, high)) or 0
  local known = name == "fold"
  for _, first in ipairs { k - 1, k } do
    local one, two, three = samples[first], samples[first + 1], samples[first + 2]
    if one and three then
      bend, known = math.max(bend, math.abs(divided(one, two, three, name))), true
    end
  end
  if not known then return true end
  local h, d = high.s - low.s, SAFETY * bend
  local slope, mean = (math.abs(g) - math.abs(f)) / h, math.abs(f + g) / 2
  -- The parabola through both values with the bend 2 d: its least value between them.
  return math.abs(slope) < d * h and mean - d * h * h / 4 - slope ^ 2 / (4 * d) <= 0
end

-- Puts points between the samples from number `first` on while a pair of zeros may be between two of them. Returns a
-- sample with another sequence of events, if one is met.
local function insert_points(b, a, samples, first)
  local count, k = 0, first
  while samples[k + 1] and count < INSERTED do
    local low, high, wanted = samples[k], samples[k + 1], false
    for _, name in ipairs(NAMES) do
      wanted = wanted or low.point.tests[name] and may_have_a_pair(b, samples, k, name)
    end
    local s = (low.s + high.s) / 2
    local point = wanted and high.s - low.s > 2 * points.SHORTEST and points.step_to(b, a, s)
    if point and point.sequence ~= a.sequence then return { s = s, point = point } end
    if point then
      table.insert(samples, k + 1, { s = s, point = point })
      count = count + 1
      k = math.max(first, k - 1) -- the interval before has a nearer neighbour now
    else
      k = k + 1
    end
  end
end

-- ---- location ----

-- The point at the zero of a test function near the place s, and its place: its unknowns are interpolated between
-- points at distances of h (Neville's scheme for the place as a function of the values, then for the unknowns at this
-- place). nil where no such points are found.
local function between_nodes(b, a, s, h, name)
  local used = {}
  for k = -NODES, NODES do
    local point = k ~= 0 and points.step_to(b, a, s + k * h, true)
    if point and point.sequence == a.sequence then used[#used + 1] = { s = s + k * h, point = point } end
  end
  if #used < 2 then return nil end
  local function all(value) return lists.map(used, value) end
  local places = all(function(one) return one.s end)
  s = points.interpolated(all(function(one) return one.point.tests[name] end), { table.unpack(places) }, 0)
  local w = points.interpolated(places, all(function(one) return one.point.w end), s)
  local tangent = points.interpolated(places, all(function(one) return one.point.tangent end), s)
  local good, point = pcall(points.point_with, b, w, tangent)
  return good and point or nil, s
end

-- The point at the zero of a test function near the place s, where Newton's method does not come close. ds: length
-- of the step. Nodes of the interpolation come nearer as long as the function gets smaller.
local function interpolated(b, a, s, ds, name)
  local best, place = between_nodes(b, a, s, ds * AROUND, name)
  for k = 1, best and NEARER or 0 do
    local point, at = between_nodes(b, a, place, ds * AROUND * 2 ^ (-3 * k), name)
    if not point or math.abs(point.tests[name]) >= math.abs(best.tests[name]) / 2 then break end
    best, place = point, at
  end
  return best, place
end

-- The zero of a test function between two samples: regula falsi with the Illinois rule, along the branch from a.
-- Returns the point and its place; nil where the function jumps.
local function locate_zero(b, a, from, to, name)
  local low, high = from.s, to.s
  local f, g = from.point.tests[name], to.point.tests[name]
  local size, best, place, side = math.abs(f) + math.abs(g), nil, nil, nil
  local exact = not (b.problem.pieces and b.problem.pieces.reason) -- differences are slow, and no better
  local least = name == "branch point" and NEAR or 1e-13
  for _ = 1, 60 do
    local s = low + (high - low) * f / (f - g)
    if not (s > low and s < high) then s = (low + high) / 2 end
    local point
    for _, try in ipairs { s, (low + s) / 2, (s + high) / 2 } do -- where the orbit is small, one of them may fail
      if not point then point, s = points.step_to(b, a, try, exact), try end
    end
    if not point or point.sequence ~= a.sequence then
      return interpolated(b, a, (low + high) / 2, to.s - from.s, name)
    end
    best, place = point, s
    local value = point.tests[name]
    if value == 0 or high - low < PLACE or math.abs(value) < least * size then break end
    if (value > 0) == (g > 0) then
      if side == "high" then f = f / 2 end
      high, g, side = s, value, "high"
    else
      if side == "low" then g = g / 2 end
      low, f, side = s, value, "low"
    end
  end
  if math.abs(best.tests[name]) > JUMP * size then return nil end
  if name == "branch point" then return interpolated(b, a, place, to.s - from.s, name) end
  return best, place
end

-- ---- all zeros ----

-- Whether a zero of the function is a bifurcation: a Neimark-Sacker bifurcation has a pair near the circle, two real
-- multipliers that are each other's inverse are none.
local function counts(name, point)
  if name ~= "Neimark-Sacker" then return true end
  for _, one in ipairs(point.multipliers) do
    if one.im ~= 0 and math.abs(one.abs - 1) < 0.1 then return true end
  end
  return false
end

-- The zeros of test functions between the point a and the point c of the same sequence at the length ds from it, in
-- their order: a list of { name, s, point }. before: the point before a and its distance, { point, s }, or nil. The
-- second result is a sample { point, s } of another sequence that was met between a and c.
function tests.zeros(b, a, c, ds, before)
  local samples, list = { { s = 0, point = a }, { s = ds, point = c } }, {}
  if before then table.insert(samples, 1, { s = -before.s, point = before.point }) end
  local first = before and 2 or 1
  local other = insert_points(b, a, samples, first)
  if other then return list, other end
  for _, name in ipairs(NAMES) do
    for k = first, #samples - 1 do
      local from, to = samples[k], samples[k + 1]
      local f = from.point.tests[name]
      if f and f * to.point.tests[name] < 0 then
        local point, s = locate_zero(b, a, from, to, name)
        if point and counts(name, point) then list[#list + 1] = { name = name, s = s, point = point } end
      end
    end
  end
  table.sort(list, function(x, y) return x.s < y.s end)
  return list
end

return tests
