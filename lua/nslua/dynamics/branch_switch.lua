-- nslua.dynamics.branch_switch: the branch that begins at a period doubling or crosses at a branch point.
--
-- At a period doubling the orbit of twice the period moves along v with (A + 1) v = 0, A: the monodromy matrix. At a
-- branch point the bordered matrix is singular: besides the tangent t there is a second direction v in which the
-- equations hold to first order, orthogonal to t. The first orbit of the other branch is sought in the plane
-- orthogonal to v at a distance from the branch point. Seydel, Practical Bifurcation and Stability Analysis, 3rd
-- ed., 2010, section 5.6.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local orbits = require "nslua.dynamics.orbit"
local points = require "nslua.dynamics.branch_point"

local fail, describe = arguments.fail, arguments.describe
local who = "branch:switch"

-- The first orbit is sought at these parts of the first step.
local STEPS = { 1, 2 ^ -2, 2 ^ -4, 2 ^ -6 }

local KINDS = { ["period doubling"] = true, ["branch point"] = true }

-- The vector v with A v nearest to 0.
local function null_vector(A)
  local _, _, right = core.svd(A)
  return right:column(A:rows())
end

-- The bifurcation with a number; without a number the first one at which a branch begins.
local function bifurcation(branch, number)
  if number ~= nil and (math.type(number) ~= "integer" or number < 1 or number > #branch.bifurcations) then
    fail("%s: expected a number of a bifurcation, 1 to %d, got %s", who, #branch.bifurcations, describe(number))
  end
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

-- The problem of twice the period at a period doubling, its unknowns there and the direction of the new branch.
local function doubled(branch, b, found)
  local old, q = branch.base, {}
  for name, value in pairs(old) do q[name] = value end
  if old.kind == "map" then
    local section = {}
    for name, value in pairs(old.section) do section[name] = value end
    section.count = 2 * old.section.count
    q.section = section
  else
    q.period = old.period and function(p) return 2 * old.period(p) end
  end
  q.T, q.T_size, q.segments, q.guess, q.p = 2 * found.T, 2 * old.T_size, 1, found.x0, found.p
  local w = core.concatenate { orbits.pack(q, { found.x0 }, q.T), core.vector { found.p / b.size } }
  b.problem, b.base, b.weights = q, q, points.weights_of(q, #w)
  local v, A = core.zeros(#w), orbits.reduced(q, found.orbit.monodromy)
  local vector = null_vector(A + core.eye(A:rows()))
  for i, j in ipairs(q.keep) do v[i] = vector[i] / q.sizes[j] end
  return w, points.scaled_to_one(b, v)
end

-- The same of the branch that crosses at a branch point.
local function crossing(branch, b, found)
  local q, w = found.point.problem, found.point.w
  b.problem, b.base, b.weights = q, branch.base, points.weights_of(q, #w)
  q.form.renew(q, points.unknowns_of(w), found.p)
  local t = points.scaled_to_one(b, found.point.tangent)
  local v = null_vector(points.point_with(b, w, t).K)
  v = points.scaled_to_one(b, v - points.dot(b, v, t) * t)
  local largest = 1 -- of the components, which is positive: so the sides do not depend on rounding
  for k = 1, #v do
    if math.abs(v[k]) > math.abs(v[largest]) * (1 + 2 ^ -20) then largest = k end
  end
  return w, v[largest] < 0 and v * -1 or v
end

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
  local w, v = (found.kind == "branch point" and crossing or doubled)(branch, b, found)
  for _, sign in ipairs(side and { side } or { 1, -1 }) do
    for _, part in ipairs(STEPS) do
      local tangent = sign * v
      local good, solved = pcall(points.correct, b, w + part * b.step * tangent, tangent)
      if good and solved.good then
        return branches.grow(b, points.point_at(b, solved.u, points.scaled_to_one(b, solved.u - w), solved))
      end
    end
  end
  fail(found.kind == "branch point" and "%s: no orbit of another branch found near p = %.10g"
    or "%s: no orbit of doubled period found near p = %.10g", who, found.p)
end
