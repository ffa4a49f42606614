-- nslua.dynamics.mode_newton: equilibria of a model in a given mode, by Newton's method.
--
-- The modes of a row with bounds: "lower" and "upper" (lambda is at that bound), "active" (y = 0). In mechanics also
-- "held": dry friction at rest, whose lambda is free. Those of a contact: "open", "stick" (y = 0, the tangential
-- force is free), "limit" (the tangential force is on the friction cone).
local blocks = require "nslua.base.blocks"
local core = require "nslua.core"
local scaled = require "nslua.dynamics.scaled"
local terms = require "nslua.dynamics.model_terms"

local newton = {}

local ITERATIONS = 60 -- Newton's method needs 5 to 10 of them near a root; halved steps need more
local HALVINGS = 10 -- of a step that does not reduce the equations
local WORSE = 6 -- steps that may increase the equations, where Newton's method goes around a bend
-- Residual of an equilibrium, as a part of the sum of the terms of its equation: some hundred roundings.
local ACCURATE = 2 ^ -40

-- The row in which the group of row i begins.
function newton.head(model, i) return i - model.rows[i].place + 1 end

-- ---- the equations of a mode ----

-- The value of a lambda that the mode fixes; nil: it is an unknown.
local function fixed(row, word)
  if word == "open" then return 0 end
  if word == "lower" then return row.lower end
  return word == "upper" and row.upper or nil
end

-- The equations beside the balance of forces: a list of { value, by x, by lambda, terms }, of unscaled numbers.
local function row_equations(model, mode, at, x, lambda)
  local list = {}
  for i, row in ipairs(model.rows) do
    local word = mode[i]
    if word == "active" or (word == "stick" or word == "limit") and row.place == 1 then
      local size, rest = at.C[i]:abs():dot(x:abs()), at.y[i] - at.C[i]:dot(x)
      list[#list + 1] = { value = at.y[i], x = at.C[i], lambda = at.D[i], terms = size + math.abs(rest) }
    elseif word == "limit" and row.place == 2 then
      local by, mu, normal = core.zeros(model.m), row.mu, lambda[i - 1]
      local square = 0
      for k = i, i + row.dim - 2 do
        square = square + lambda[k] ^ 2
        by[k] = 2 * lambda[k]
      end
      by[i - 1] = -2 * mu * mu * normal
      list[#list + 1] = { value = square - (mu * normal) ^ 2, x = core.zeros(model.n), lambda = by,
        terms = square + (mu * normal) ^ 2 }
    end
  end
  return list
end

-- The largest size of each group of rows that have one unit.
local function grouped(model, sizes)
  local out = core.zeros(#sizes)
  for i = 1, #sizes do
    local first, last = terms.group(model, i)
    for j = first, last do out[i] = math.max(out[i], sizes[j]) end
  end
  return out
end

-- The terms of the balance of forces in each state.
local function balance_terms(model, at, x, lambda, reach)
  local rest = at.f - at.A * x - at.B * lambda
  local sizes = at.A:abs() * reach + (at.sizes or at.B:abs()) * lambda:abs() + rest:abs()
  return model.turns and grouped(model, sizes) or sizes
end

-- The numbers of the rows whose lambda is an unknown.
local function free_rows(model, mode)
  local free = {}
  for i, row in ipairs(model.rows) do
    if not fixed(row, mode[i]) then free[#free + 1] = i end
  end
  return free
end

-- The system of a Newton step, unscaled: the matrix K, the right-hand side, the terms of each equation, the unknowns.
local function equations(model, mode, at, x, lambda, reach)
  local free, by_x, by_lambda = free_rows(model, mode), { at.A }, { at.B }
  local value, sizes = { at.f }, { balance_terms(model, at, x, lambda, reach) }
  for i, row in ipairs(row_equations(model, mode, at, x, lambda)) do
    by_x[i + 1], by_lambda[i + 1], value[i + 1], sizes[i + 1] = row.x, row.lambda, { row.value }, { row.terms }
  end
  local K = core.hstack(core.vstack(table.unpack(by_x)), blocks.pick(core.vstack(table.unpack(by_lambda)), nil, free))
  return { K = K, value = core.concatenate(value), terms = core.concatenate(sizes), free = free }
end

-- The largest residual as a part of its terms, and its equation.
local function worst(system)
  local most, place = 0, 1
  for i = 1, #system.value do
    local part = system.value[i] == 0 and 0 or math.abs(system.value[i]) / system.terms[i]
    if part > most or part ~= part then most, place = part, i end
  end
  return most, place
end

-- The step with the least change of the states, where there are several: A x + B l = right, with the l of least norm.
local function least_change(K, right, n)
  local singular, rows = scaled.SINGULAR, K:rows()
  local A, B = K:slice(1, rows, 1, n), K:slice(1, rows, n + 1, K:cols())
  local x = core.lstsq(A - B * core.lstsq(B, A, singular), right - B * core.lstsq(B, right, singular), singular)
  return core.concatenate { x, (core.lstsq(B, right - A * x, singular)) }
end

-- The step of least norm in scaled unknowns, and whether it is the only one.
local function step_of(system, n)
  local K, rows, cols = scaled.matrix(system.K)
  local right = core.vector(rows):mul(system.value) * -1
  local step, rank = core.lstsq(K, right, scaled.SINGULAR)
  if rank < #cols and #cols > n then step = least_change(K, right, n) end
  return step:mul(cols), rank == #cols
end

-- ---- the method ----

local function put_fixed(model, mode, lambda)
  for i, row in ipairs(model.rows) do lambda[i] = fixed(row, mode[i]) or lambda[i] end
end

local function moved(model, system, x, lambda, step, part)
  local lambda1 = lambda:copy()
  for j, k in ipairs(system.free) do lambda1[k] = lambda[k] + part * step[model.n + j] end
  return x + part * step:slice(1, model.n), lambda1
end

local function solve_from(model, mode, t, x, lambda)
  local guess = x
  x, lambda = x:copy(), lambda:copy()
  put_fixed(model, mode, lambda)
  local function look(at_x, at_lambda)
    local reach = core.maximum(core.maximum(guess:abs(), at_x:abs()), terms.reach(model))
    local at = terms.at(model, t, at_x, at_lambda)
    local system = equations(model, mode, at, at_x, at_lambda, reach)
    local residual, place = worst(system)
    return { x = at_x, lambda = at_lambda, at = at, system = system, residual = residual, place = place }
  end
  local point, worse = look(x, lambda), 0
  local best = point
  for _ = 1, ITERATIONS do
    local step, only = step_of(point.system, model.n)
    point.isolated = only
    local better, full
    for k = 0, HALVINGS do
      local x1, lambda1 = moved(model, point.system, point.x, point.lambda, step, 2.0 ^ -k)
      local next_point = x1:isfinite() and lambda1:isfinite() and look(x1, lambda1)
      full = full or k == 0 and next_point
      if next_point and next_point.residual < point.residual then
        better = next_point
        break
      end
      if point.residual <= ACCURATE then break end
    end
    if not better and full and point.residual > ACCURATE and worse < WORSE then
      better, worse = full, worse + 1
    end
    if not better then break end
    better.isolated = only
    point = better
    if point.residual < best.residual then best = point end
  end
  best.good = best.residual <= ACCURATE
  return best
end

-- The multipliers of the mode that balance the forces at x best.
local function balancing(model, mode, t, x, lambda)
  local out, free = lambda:copy(), free_rows(model, mode)
  put_fixed(model, mode, out)
  if #free == 0 then return nil end
  local at = terms.at(model, t, x, out)
  local change = scaled.least(blocks.pick(at.B, nil, free), (at.f * -1):column())
  for j, k in ipairs(free) do out[k] = out[k] + change[j][1] end
  return out
end

-- An equilibrium in a mode: { x, lambda, at, residual, place, isolated }, or what is nearest to one. The residual is
-- the largest one, as a part of the terms of its equation. In mechanics the stiffness of constraints comes from their
-- forces: where the search from the given multipliers fails, it begins again with those that balance the forces.
function newton.solve(model, mode, t, x, lambda)
  local point = solve_from(model, mode, t, x, lambda)
  if point.good or not model.mechanical then return point end
  local other = balancing(model, mode, t, x, lambda)
  local second = other and solve_from(model, mode, t, x, other)
  return second and second.residual < point.residual and second or point
end

return newton
