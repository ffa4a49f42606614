-- nslua.dynamics.branch_point: the points of a branch: orbits with their tangents, and the step from one to the next.
--
-- The unknowns w are the unknowns of an orbit and the parameter, each divided by its size; the parameter's is the
-- width of the range. b is a branch: its problem, the weights of its unknowns, and the size of its parameter.
local core = require "nslua.core"
local newton = require "nslua.dynamics.newton"
local orbits = require "nslua.dynamics.orbit"
local spectrum = require "nslua.dynamics.spectrum"

-- SHORTEST: a step along the branch, in units of the scaled unknowns.
local points = { SHORTEST = 2 ^ -20 }

local TURN = 0.9 -- least cosine between the tangents of neighbours
-- The way between neighbours has the direction of the mean of their tangents but for this part of its length.
local ASIDE = 1 / 8
local CORRECTIONS = 8 -- Newton iterations of a step
local UPDATED = 12 -- iterations with the matrix of another point, which the steps update
-- The tolerance with updates, as a part of the tolerance of Newton's method, whose last correction makes the error
-- smaller.
local FINER = 1e-2
local DAMPING = 2 ^ -4 -- least factor of a Newton step: the guesses are near

function points.parameter_of(b, w) return w[#w] * b.size end

-- Neville's scheme: the value at x of the polynomial through values (vectors or numbers, which it overwrites) at xs.
function points.interpolated(xs, values, x)
  for width = 1, #values - 1 do
    for i = 1, #values - width do
      local a, b = xs[i], xs[i + width]
      values[i] = ((x - b) * values[i] + (a - x) * values[i + 1]) * (1 / (a - b))
    end
  end
  return values[1]
end

function points.unknowns_of(w) return w:slice(1, #w - 1) end

-- Weights that make the states together count as much as the parameter, whatever their number is. A state whose
-- values are large against its range on the orbit (the mean current of a converter and its ripple) counts by its
-- values: the branch moves it by many ranges.
function points.weights_of(q, n)
  local shares = q.form.shares(q)
  local weights = core.full(n, 1 / (n - 1))
  for k = 1, n - 1 do weights[k] = weights[k] * shares[k] ^ 2 end
  weights[n] = 1
  return weights
end

function points.dot(b, v, w) return v:mul(b.weights):dot(w) end

function points.scaled_to_one(b, v) return v * (1 / math.sqrt(points.dot(b, v, v))) end

-- J with the column of the parameter, and a row below.
local function bordered(J, column, row)
  return core.vstack(core.hstack(J, column:column()), row)
end

-- Newton's method for a point in the plane through `guess` that is orthogonal to t. With K, a matrix of a point near,
-- that is updated by the steps. The result has the runs of the orbit and the sequence of its events, too.
function points.correct(b, guess, t, K)
  local q, normal = b.problem, t:mul(b.weights)
  local last
  local result = newton.solve(function(w)
    local u, p = points.unknowns_of(w), points.parameter_of(b, w)
    local F, jacobian, state = q.form.evaluate(q, u, p)
    last = state
    local full = core.concatenate { F, core.vector { normal:dot(w - guess) } }
    return full, function()
      local J = jacobian()
      local column = q.form.by_parameter(q, u, p, b.size, state)
      return bordered(J, column * b.size, normal)
    end
  end, guess, { tol = K and FINER * (q.options.tol or newton.TOLERANCE) or q.options.tol, matrix = K, least = DAMPING,
    max_iterations = K and UPDATED or CORRECTIONS })
  result.updates, result.state = K ~= nil, last
  result.sequence = result.good and q.form.sequence_of(q, last)
  return result
end

-- The determinant of a matrix whose rows are divided by their lengths.
local function determinant(K)
  local rows = {}
  for i = 1, K:rows() do rows[i] = K:row(i) / K:row(i):norm() end
  return core.det(core.vstack(table.unpack(rows)))
end

-- A point from its orbit, its tangent and the bordered matrix K.
local function point_of(b, w, orbit, tangent, K)
  local m = orbit.multipliers
  return { w = w, tangent = tangent, K = K, orbit = orbit, p = points.parameter_of(b, w), x0 = orbit.x0, T = orbit.T,
    multipliers = m, stability = orbit.stability, stable = orbit.stable, sequence = orbit.sequence,
    problem = b.problem, tests = { fold = tangent[#w], ["branch point"] = determinant(K),
      ["period doubling"] = spectrum.doubling(m),
      ["symmetry breaking"] = orbit.half_multipliers and spectrum.doubling(orbit.half_multipliers),
      ["Neimark-Sacker"] = spectrum.torus(m) } }
end

-- The orbit at w, and its bordered matrix with a row; whether the column of the parameter is exact.
local function orbit_at(b, w, row, solved)
  local q, u, p = b.problem, points.unknowns_of(w), points.parameter_of(b, w)
  local orbit, J, state = q.form.orbit(q, u, p, solved)
  local column, exact = q.form.by_parameter(q, u, p, b.size, state)
  return orbit, bordered(J, column * b.size, row), exact
end

-- The point at w: its orbit and tangent, in the direction of `before`.
function points.point_at(b, w, before, solved)
  local orbit, K, exact = orbit_at(b, w, before:mul(b.weights), solved)
  local right = core.zeros(#w)
  right[#w] = 1
  local tangent = points.scaled_to_one(b, core.solve(K, right))
  local point = point_of(b, w, orbit, tangent, K)
  point.parameter_derivative = exact and "exact" or "differences"
  return point
end

-- The point at w whose tangent is known, where the bordered matrix may be singular: another branch crosses there.
function points.point_with(b, w, tangent)
  tangent = points.scaled_to_one(b, tangent)
  local orbit, K, exact = orbit_at(b, w, tangent:mul(b.weights))
  local point = point_of(b, w, orbit, tangent, K)
  point.parameter_derivative = exact and "exact" or "differences"
  return point
end

-- Whether the way from a to c is off from the mean of the tangents at its ends, which it follows on a smooth branch.
local function is_aside(b, a, c)
  local way, mean = c.w - a.w, a.tangent + c.tangent
  local off = way - mean * (points.dot(b, way, mean) / points.dot(b, mean, mean))
  return points.dot(b, off, off) > ASIDE ^ 2 * points.dot(b, way, way)
end

-- The point at the length ds from a; nil and the reason when there is none near. With `exact` by Newton's method at
-- once, whose points have smaller errors.
function points.step_to(b, a, ds, exact)
  local guess = a.w + ds * a.tangent
  local good, solved
  if not exact then
    good, solved = pcall(points.correct, b, guess, a.tangent, a.K)
    if not good then return nil, tostring(solved) end -- there is no motion from the guess
  end
  if not good or not solved.good then good, solved = pcall(points.correct, b, guess, a.tangent) end
  if not good then return nil, tostring(solved) end
  if not solved.good then return nil, solved.reason end
  local off = solved.u - guess
  if points.dot(b, off, off) > ds * ds then return nil, "the nearest orbit is not on the branch" end
  local fine, point = pcall(points.point_at, b, solved.u, a.tangent, solved)
  if not fine then return nil, tostring(point) end
  point.iterations, point.updates, point.correction = solved.iterations, solved.updates, solved.correction
  local turn = math.abs(points.dot(b, point.tangent, a.tangent))
  local corner = point.sequence ~= a.sequence -- where a branch may turn at once
  if corner or ds <= 4 * points.SHORTEST then return point end
  if turn < TURN then return nil, "the branch turns" end
  if is_aside(b, a, point) then return nil, "the nearest orbit is not on the branch" end
  return point
end

-- The point as a solution of the problem q, near the unknowns u; a itself where it is none.
function points.reformulated(b, a, q, u)
  local solved = orbits.solve(q, u, a.p)
  if not solved.good then return a end
  local old, weights = b.problem, b.weights
  local w = core.concatenate { solved.u, core.vector { a.w[#a.w] } }
  local before = core.zeros(#w)
  for k = 1, old.form == q.form and 0 or #q.keep do before[k] = a.tangent[k] end
  before[#w] = a.tangent[#a.tangent]
  b.problem, b.weights = q, points.weights_of(q, #w)
  local good, point = pcall(points.point_at, b, w, before, solved)
  if good and point.sequence == a.sequence then
    point.iterations, point.updates = a.iterations, a.updates
    if b.points[#b.points] == a then b.points[#b.points] = point end
    return point
  end
  b.problem, b.weights = old, weights
  return a
end

return points
