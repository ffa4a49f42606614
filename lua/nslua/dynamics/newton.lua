-- nslua.dynamics.newton: damped Newton's method for scaled unknowns.
--
-- The steps are damped by the natural monotonicity test: a step with the factor d is taken when the next simplified
-- Newton correction is at most 1 - d / 4 of this one. It does not depend on how the equations are scaled. Deuflhard,
-- Newton Methods for Nonlinear Problems, 2004, section 3.3.
local core = require "nslua.core"

local format = core.number_support.format

local newton = {}

local SMALLEST = 2 ^ -12 -- factor of a step below which the iteration has failed, if none is given
local GAIN = 0.25 -- part of the predicted decrease that a step must have (Deuflhard)
-- A correction that is this many times the tolerance counts as converged when noise keeps it from getting smaller.
local NOISE = 100

local function size_of(v) return v:norm(math.huge) end

-- Solves F(u) = 0. evaluate(u) returns F and a function that returns J; it may raise, which makes the step shorter.
-- Returns a table: u, good, iterations, correction (the size of the last correction), reason (when not good).
function newton.solve(evaluate, u, options)
  local tol, most, least = options.tol or 1e-9, options.max_iterations or 30, options.least or SMALLEST
  local F, jacobian = evaluate(u)
  local d, result = 1, { u = u }
  for iteration = 1, most do
    result.iterations = iteration
    local J = jacobian()
    local good, factors = pcall(core.lu, J)
    if not good then
      result.reason = format("the Jacobian is singular in iteration %d", iteration)
      return result
    end
    local du = factors:solve(-F)
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
