-- nslua.dynamics.newton: damped Newton's method for scaled unknowns.
--
-- The steps are damped by the natural monotonicity test: a step with the factor d is taken when the next simplified
-- Newton correction is at most 1 - d / 4 of this one. It does not depend on how the equations are scaled. Deuflhard,
-- Newton Methods for Nonlinear Problems, 2004, section 3.3.
local core = require "nslua.core"

local format = core.number_support.format

local newton = { TOLERANCE = 1e-9 } -- TOLERANCE: default of the largest last correction

local SMALLEST = 2 ^ -12 -- factor of a step below which the iteration has failed, if none is given
local GAIN = 0.25 -- part of the predicted decrease that a step must have (Deuflhard)
-- A correction that is this many times the tolerance counts as converged when noise keeps it from getting smaller.
local NOISE = 100

local function size_of(v) return v:norm(math.huge) end

-- Broyden's update of the matrix K after the step s, which has changed F by y: the nearest matrix with K s = y.
local function updated(K, s, y)
  return K + (y - K * s):outer(s) * (1 / s:dot(s))
end

-- Solves F(u) = 0. evaluate(u) returns F and a function that returns J; it may raise, which makes the step shorter.
-- With options.matrix, a matrix of a point near, no J is asked for: the steps update that matrix (Broyden 1965).
-- Returns a table: u, good, iterations, correction (the size of the last correction), reason (when not good),
-- matrix (the updated one).
function newton.solve(evaluate, u, options)
  local tol, most, least = options.tol or newton.TOLERANCE, options.max_iterations or 30, options.least or SMALLEST
  local F, jacobian = evaluate(u)
  local d, K = 1, options.matrix
  local result = { u = u, matrix = K }
  for iteration = 1, most do
    result.iterations = iteration
    local J = K or jacobian()
    local good, factors, du = pcall(function()
      local lu = core.lu(J)
      return lu, lu:solve(-F)
    end)
    if not good then
      result.reason = format("the Jacobian is singular in iteration %d", iteration)
      return result
    end
    local size = size_of(du)
    result.correction = size
    if size ~= size or size == math.huge then
      result.reason = format("the correction is not finite in iteration %d", iteration)
      return result
    end
    if size <= tol then
      result.u, result.good = result.u + du, true
      return result
    end
    d = math.min(1, 4 * d)
    local accepted, message
    repeat
      local fine, F2, jacobian2 = pcall(evaluate, result.u + d * du)
      if fine and size_of(factors:solve(F2)) <= (1 - GAIN * d) * size then
        if K then
          K = updated(K, d * du, F2 - F)
          result.matrix = K
        end
        accepted, result.u, F, jacobian = true, result.u + d * du, F2, jacobian2
      else
        message = not fine and F2 or message
        d = d / 2
      end
    until accepted or d < least
    if not accepted then
      if size <= NOISE * tol then
        result.good = true
        return result
      end
      result.reason = format("no step makes the correction smaller: it is %.3g of the states' sizes after %d %s%s",
        size, iteration, iteration == 1 and "iteration" or "iterations", message and "; " .. tostring(message) or "")
      return result
    end
  end
  result.reason = format("the correction is still %.3g of the states' sizes after %d iterations", result.correction,
    most)
  return result
end

return newton
