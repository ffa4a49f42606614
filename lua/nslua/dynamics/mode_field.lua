-- nslua.dynamics.mode_field: x' of a simulation's model in a mode of its laws, whatever the signs of y and lambda.
--
-- A mode has a word for each row: "lower" and "upper" (lambda is at that bound), "active" (y stays where it is: a
-- diode that conducts, a sliding relay, a contact that rests, dry friction that holds), "open", "slip+" and "slip-"
-- (the friction is +-mu times the normal force). The multipliers of active rows follow from y = 0 where y depends on
-- them; else from the rate of y, in mechanics from its second one:
--   first order: M x' = f + r(lambda), C x' + dy/dt = 0;   mechanics: M v' = f + C' lambda, C v' + (d/dt C) v = 0.
-- So the field is smooth, and it goes on where the model itself would change its mode.
local core = require "nslua.core"
local rates = require "nslua.dynamics.simulation_rate"

local fields = {}

-- A multiplier within this part of its largest value from its bound is at the bound; friction within this part of its
-- bound. 1e-9: points of an orbit have errors of about 1e-12.
local AT_BOUND = 1e-9
-- Rates of outputs are differences of order 4 over this part of the period: errors of 1e-14 of the scale of the
-- outputs' fourth derivatives by truncation, of 1e-12 by rounding.
local STEP = 2 ^ -12

-- ---- modes ----

-- The words of a contact's rows from its forces; nil for friction in space.
local function contact_words(group, lambda, first, size)
  local words, normal = {}, lambda[first]
  if normal <= AT_BOUND * size then
    for k = 1, group.dim do words[k] = "open" end
    return words
  end
  words[1] = "active"
  if group.slides or group.dim > 2 and group.mu ~= 0 then return nil end
  for k = 2, group.dim do
    local force, most = lambda[first + k - 1], group.mu * normal
    words[k] = math.abs(force) >= (1 - AT_BOUND) * most and (force < 0 and "slip-" or "slip+") or "active"
  end
  return words
end

-- The word of a row from its multiplier; size: the largest one of the row on the orbit.
local function row_word(interaction, group, value, size)
  if interaction.unilateral then return value > AT_BOUND * size and "active" or "open" end
  if value <= group.lower + AT_BOUND * size then return "lower" end
  return value >= group.upper - AT_BOUND * size and "upper" or "active"
end

-- The mode at a point with the multipliers lambda; nil where it has none of these. sizes: the largest multiplier of
-- each row on the orbit.
function fields.mode(nsds, t, x, lambda, sizes)
  local systems, interactions = core.graph_support.terms(nsds, t, x, lambda)
  for _, system in ipairs(systems) do
    if system.turns or system.bound or system.mechanical ~= systems[1].mechanical then return nil end
  end
  local mode, row = {}, 0
  for _, interaction in ipairs(interactions) do
    if interaction.polyhedron then return nil end
    for _, group in ipairs(interaction.groups) do
      local words = group.dim > 1 and contact_words(group, lambda, row + 1, sizes[row + 1]) or
        group.dim == 1 and { row_word(interaction, group, lambda[row + 1], sizes[row + 1]) }
      if not words then return nil end
      for _, word in ipairs(words) do
        row = row + 1
        mode[row] = word
        mode.bounded = mode.bounded or word == "lower" or word == "upper"
        mode.holds = mode.holds or word == "active"
      end
    end
  end
  return mode
end

-- ---- the equations ----

-- The rows of all interactions: interaction, place in it, group; and where each system begins in the states.
local function rows_of(systems, interactions)
  local rows, first, at = {}, {}, 0
  for k, system in ipairs(systems) do
    first[k] = at
    at = at + (system.mechanical and 2 or 1) * #system.f
  end
  for k, interaction in ipairs(interactions) do
    local place = 0
    for _, group in ipairs(interaction.groups) do
      for inner = 1, group.dim do
        place = place + 1
        rows[#rows + 1] = { interaction = interaction, number = k, place = place, inner = inner, group = group }
      end
    end
  end
  return rows, first, at
end

-- The rows at a point, and whether the model is one of mechanics.
function fields.rows(nsds, t, x, lambda)
  local systems, interactions = core.graph_support.terms(nsds, t, x, lambda)
  return (rows_of(systems, interactions)), systems[1].mechanical
end

-- Puts the multipliers that the mode fixes.
local function put_bounds(nsds, t, x, mode, lambda)
  if not mode.bounded then return end
  local rows = rows_of(core.graph_support.terms(nsds, t, x, lambda))
  for i, row in ipairs(rows) do
    if mode[i] == "lower" then lambda[i] = row.group.lower
    elseif mode[i] == "upper" then lambda[i] = row.group.upper end
  end
end

-- The multipliers that the mode fixes, 0 for the others.
local function fixed(nsds, t, x, mode)
  local lambda = core.zeros(#mode)
  put_bounds(nsds, t, x, mode, lambda)
  return lambda
end

-- A row of C as a vector over the velocities (first order: the states) of all systems. offsets: where those begin.
local function spread(row, offsets, n)
  local out, column, A = core.zeros(n), 0, row.interaction.C
  for _, k in ipairs(row.interaction.systems) do
    local from, count = offsets[k].from, offsets[k].count
    for j = 1, count do out[from + j] = out[from + j] + A[row.place][column + j] end
    column = column + count
  end
  return out
end

local function offsets_of(systems)
  local list, at = {}, 0
  for k, system in ipairs(systems) do
    list[k] = { from = at, count = #system.f }
    at = at + #system.f
  end
  return list, at
end

-- M^-1 v, system by system.
function fields.divided(systems, offsets, v)
  local out = core.zeros(#v)
  for k, system in ipairs(systems) do
    local from, count = offsets[k].from, offsets[k].count
    local part = core.solve(system.M, v:slice(from + 1, from + count))
    for j = 1, count do out[from + j] = part[j] end
  end
  return out
end

local function velocities(systems, first, offsets, x, n)
  local v = core.zeros(n)
  for k in ipairs(systems) do
    local from, count = offsets[k].from, offsets[k].count
    for j = 1, count do v[from + j] = x[first[k] + count + j] end
  end
  return v
end

-- The output's rate at fixed velocities (mechanics), or the output at a fixed state, of all rows.
local function slow_part(nsds, t, x, lambda)
  local systems, interactions = core.graph_support.terms(nsds, t, x, lambda)
  local rows, first = rows_of(systems, interactions)
  local offsets, n = offsets_of(systems)
  local out = core.zeros(#rows)
  local v = systems[1].mechanical and velocities(systems, first, offsets, x, n)
  for i, row in ipairs(rows) do
    out[i] = v and spread(row, offsets, n):dot(v) + row.interaction.rate[row.place] or row.interaction.y[row.place]
  end
  return out
end

-- What of y's rate (mechanics: second rate) does not come from x' (from v'): (d/dt C) v and dy/dt, by a difference.
-- Multipliers at bounds that are functions of time move, too.
local function drift_of(flow, nsds, t, x, mode, lambda, v, first, offsets, systems)
  local h = STEP * (flow.span or 1)
  local function at(k)
    put_bounds(nsds, t + k * h, x, mode, lambda)
    local y = x
    if v then
      y = x:copy()
      for s in ipairs(systems) do
        for j = 1, offsets[s].count do y[first[s] + j] = y[first[s] + j] + k * h * v[offsets[s].from + j] end
      end
    end
    return slow_part(nsds, t + k * h, y, lambda)
  end
  local drift = ((at(1) - at(-1)) * 8 - (at(2) - at(-2))) * (1 / (12 * h))
  put_bounds(nsds, t, x, mode, lambda)
  return drift
end

-- The equations of a mode at a point: rows, velocities or x' without active forces, and the columns that these add.
local function assembled(nsds, t, x, mode, lambda)
  local systems, interactions = core.graph_support.terms(nsds, t, x, lambda)
  local rows, first = rows_of(systems, interactions)
  local offsets, n = offsets_of(systems)
  local s = { systems = systems, rows = rows, first = first, offsets = offsets, n = n, active = {}, normals = {},
    columns = {}, mechanical = systems[1].mechanical }
  s.v = s.mechanical and velocities(systems, first, offsets, x, n) or nil
  for i, row in ipairs(rows) do
    s.normals[i] = spread(row, offsets, n)
    if mode[i] == "active" then s.active[#s.active + 1] = i end
  end
  s.force = core.zeros(n)
  for k, system in ipairs(systems) do
    for j = 1, offsets[k].count do s.force[offsets[k].from + j] = system.f[j] end
  end
  if s.mechanical then
    for i = 1, #rows do
      if lambda[i] ~= 0 then s.force = s.force + lambda[i] * s.normals[i] end
    end
  else
    for _, interaction in ipairs(interactions) do
      local at = 0
      for _, k in ipairs(interaction.systems) do
        for j = 1, offsets[k].count do
          s.force[offsets[k].from + j] = s.force[offsets[k].from + j] + interaction.r[at + j]
        end
        at = at + offsets[k].count
      end
    end
  end
  return s
end

-- What the multiplier of row i adds to the forces; a slipping contact's normal force brings its friction along.
local function column_of(s, mode, i)
  local row = s.rows[i]
  if not s.mechanical then
    local out, at = core.zeros(s.n), 0
    for _, k in ipairs(row.interaction.systems) do
      for j = 1, s.offsets[k].count do out[s.offsets[k].from + j] = row.interaction.B[at + j][row.place] end
      at = at + s.offsets[k].count
    end
    return out
  end
  local out = s.normals[i]
  if row.inner == 1 then
    for k = 1, row.group.dim - 1 do
      local sign = mode[i + k] == "slip+" and 1 or mode[i + k] == "slip-" and -1 or 0
      if sign ~= 0 and row.group.mu ~= 0 then out = out + sign * row.group.mu * s.normals[i + k] end
    end
  end
  return out
end

local function put_friction(s, mode, lambda)
  for i, row in ipairs(s.rows) do
    local sign = mode[i] == "slip+" and 1 or mode[i] == "slip-" and -1
    if sign then lambda[i] = sign * row.group.mu * lambda[i - row.inner + 1] end
  end
end

-- The change of the active multipliers that y = 0 or its rate asks for.
local function correction(flow, nsds, t, x, mode, lambda, s)
  local active, count = s.active, #s.active
  local D, depends = core.zeros(count, count), false
  for a, i in ipairs(active) do
    for b, j in ipairs(active) do
      if s.rows[i].number == s.rows[j].number then
        D[a][b] = s.rows[i].interaction.D[s.rows[i].place][s.rows[j].place]
        depends = depends or D[a][b] ~= 0
      end
    end
  end
  local right = core.zeros(count)
  if depends and not s.mechanical then
    for a, i in ipairs(active) do right[a] = -s.rows[i].interaction.y[s.rows[i].place] end
    return core.solve(D, right)
  end
  local rate = fields.divided(s.systems, s.offsets, s.force)
  local drift = drift_of(flow, nsds, t, x, mode, lambda, s.v, s.first, s.offsets, s.systems)
  local K = core.zeros(count, count)
  for b, j in ipairs(active) do
    local moved = fields.divided(s.systems, s.offsets, column_of(s, mode, j))
    for a, i in ipairs(active) do K[a][b] = s.normals[i]:dot(moved) end
  end
  for a, i in ipairs(active) do right[a] = -s.normals[i]:dot(rate) - drift[i] end
  return core.solve(K, right)
end

-- x', the multipliers and the outputs y (with the rates of y, in mechanics) at (t, x) in a mode.
function fields.at(flow, nsds, t, x, mode)
  local lambda = fixed(nsds, t, x, mode)
  local s = assembled(nsds, t, x, mode, lambda)
  for _ = 1, #s.active > 0 and 2 or 0 do -- twice: r may depend on lambda by a little more than its slope
    local change = correction(flow, nsds, t, x, mode, lambda, s)
    for a, i in ipairs(s.active) do lambda[i] = lambda[i] + change[a] end
    put_friction(s, mode, lambda)
    s = assembled(nsds, t, x, mode, lambda)
    if s.mechanical then break end
  end
  local rate, out = fields.divided(s.systems, s.offsets, s.force), core.zeros(#x)
  for k in ipairs(s.systems) do
    local from, count, at = s.offsets[k].from, s.offsets[k].count, s.first[k]
    for j = 1, count do
      if s.mechanical then out[at + j], out[at + count + j] = s.v[from + j], rate[from + j]
      else out[at + j] = rate[from + j] end
    end
  end
  return out, lambda, s
end

-- x' alone.
function fields.rate(flow, nsds, t, x, mode)
  if mode.holds then return (fields.at(flow, nsds, t, x, mode)) end
  local rate, reason = rates.at(nsds, t, x, fixed(nsds, t, x, mode))
  return rate or error(reason, 0)
end

return fields
