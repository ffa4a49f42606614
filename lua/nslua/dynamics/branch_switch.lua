-- nslua.dynamics.branch_switch: the branch that begins at a period doubling or crosses at a branch point.
--
-- There the matrix of the orbit's equations is singular, at a period doubling the matrix of the orbit of twice the
-- period: besides the tangent t there is a second direction v in which the equations hold to first order, orthogonal
-- to t. The first orbit of the other branch is sought at a distance, in the plane orthogonal to v, which t does not
-- meet. Seydel, Practical Bifurcation and Stability Analysis, 3rd ed., 2010, section 5.6.
local arguments = require "nslua.base.arguments"
local copy = require "nslua.base.lists".copy
local core = require "nslua.core"
local orbits = require "nslua.dynamics.orbit"
local points = require "nslua.dynamics.branch_point"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject
local who = "branch:switch"

-- The first orbit is sought at these parts of the first step.
local STEPS = { 1, 2 ^ -2, 2 ^ -4, 2 ^ -6, 2 ^ -8 }
-- It is at most so many times this distance from the bifurcation: one that is farther belongs to another branch.
local FAR = 4

-- A tangent whose part of the parameter is below this is at a fold.
local STILL = 2 ^ -20

local KINDS = { ["branch point"] = { other = "another branch" }, ["period doubling"] = { other = "doubled period" } }

-- The vector v with A v nearest to 0.
local function null_vector(A)
  local _, _, right = core.svd(A)
  return right:column(A:rows())
end

-- The bifurcation with a number; without a number the first one at which a branch begins.
local function bifurcation(branch, number)
  if #branch.bifurcations == 0 then fail("%s: the branch has no bifurcations", who) end
  reject(number ~= nil and (math.type(number) ~= "integer" or number < 1 or number > #branch.bifurcations), number,
    "%s: expected a number of a bifurcation, 1 to %d", who, #branch.bifurcations)
  local found = number and branch.bifurcations[number]
  for k = #branch.bifurcations, 1, -1 do
    if not number and KINDS[branch.bifurcations[k].kind] then found = branch.bifurcations[k] end
  end
  if not found then fail("%s: the branch has no period doubling and no branch point", who) end
  if not KINDS[found.kind] then
    fail("%s: expected the number of a period doubling or a branch point, got %d, a %s", who, number, found.kind)
  end
  return found
end

-- b gets the problem of twice the period. Returns the unknowns at a period doubling, and the tangent there.
local function doubled(branch, b, found)
  local old, q = branch.base, copy(branch.base)
  if old.kind.returns then
    q.section = copy(old.section, { count = 2 * old.section.count })
  else
    q.period = old.period and function(p) return 2 * old.period(p) end
  end
  q.by = {}
  for i, amount in pairs(old.by) do q.by[i] = 2 * amount end
  q.T, q.T_size, q.segments, q.guess, q.p = 2 * found.T, 2 * old.T_size, 1, found.x0, found.p
  local w = core.concatenate { orbits.pack(q, { found.x0 }, q.T), core.vector { found.p / b.size } }
  b.problem, b.base, b.weights = q, q, points.weights_of(q, #w)
  local t, before = core.zeros(#w), found.point.tangent
  for k = 1, #q.keep do t[k] = before[k] end
  for k = 0, #w - #q.keep - 1 do t[#w - k] = before[#before - k] end -- the parameter, and the period if it is unknown
  return w, t
end

-- The same of the problem on whose branch a branch point was found.
local function crossed(branch, b, found)
  local q, w = found.point.problem, found.point.w
  b.problem, b.base, b.weights = q, branch.base, points.weights_of(q, #w)
  return w, found.point.tangent
end

-- The second null vector at the unknowns w, orthogonal to the tangent t, and directions in which the other branch may
-- begin: at a period doubling and a pitchfork it does so at a standing parameter.
local function other_directions(b, w, t, p)
  b.problem.form.renew(b.problem, points.unknowns_of(w), p)
  t = points.scaled_to_one(b, t)
  local v = null_vector(points.point_with(b, w, t).K)
  v = points.scaled_to_one(b, v - points.dot(b, v, t) * t)
  local largest = 1 -- of the components, which is positive: so the sides do not depend on rounding
  for k = 1, #v do
    if math.abs(v[k]) > math.abs(v[largest]) * (1 + 2 ^ -20) then largest = k end
  end
  v = v[largest] < 0 and v * -1 or v
  local standing = math.abs(t[#t]) > STILL and points.scaled_to_one(b, v - (v[#v] / t[#t]) * t)
  return v, { standing or v, v }
end

-- The point of the other branch in the plane orthogonal to v at the unknowns w + way; nil where there is none near.
local function first_orbit(b, w, v, way)
  local good, solved = pcall(points.correct, b, w + way, v)
  local off = good and solved.good and solved.u - w
  if not off or points.dot(b, off, off) > FAR ^ 2 * points.dot(b, way, way) then return nil end
  return points.point_at(b, solved.u, points.scaled_to_one(b, off), solved)
end

KINDS["branch point"].start, KINDS["period doubling"].start = crossed, doubled

-- Branch:switch; branches: the module nslua.dynamics.branch, which needs this file.
return function(branches, branch, number, options)
  local more = arguments.options(options or {}, who)
  local found = bifurcation(branch, number)
  local b = { points = {}, bifurcations = {}, low = branch.low, high = branch.high, range = branch.range,
    size = branch.size, step = more.step and arguments.number(more.step, who, "step") or branch.step,
    step_max = branch.step_max, options = branch.options,
    most = more.max_points and arguments.integer(more.max_points, 2, who, "max_points") or branch.most }
  local side = more.side
  if side ~= nil and side ~= 1 and side ~= -1 then fail("%s: side: expected 1 or -1, got %s", who, describe(side)) end
  local kind = KINDS[found.kind]
  local w, t = kind.start(branch, b, found)
  local v, directions = other_directions(b, w, t, found.p)
  for _, sign in ipairs(side and { side } or { 1, -1 }) do
    for _, part in ipairs(STEPS) do
      for _, direction in ipairs(directions) do
        local first = first_orbit(b, w, sign * v, sign * part * b.step * direction)
        if first then return branches.grow(b, first) end
      end
    end
  end
  fail("%s: no orbit of %s found near p = %.10g", who, kind.other, found.p)
end
