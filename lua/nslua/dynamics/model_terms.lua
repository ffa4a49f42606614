-- nslua.dynamics.model_terms: the equations of a model at a point, stacked over its systems and interactions.
--
-- First order: M x' = f + r(x, lambda), y = h(x, lambda). Mechanics at rest: M v' = f(q, v) + C' lambda, y = h(q).
-- The states of mechanics are here the coordinates q; the velocities are 0.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"

local fail, describe = arguments.fail, arguments.describe

local terms = {}

-- Derivatives of a Jacobian that has no exact ones are central differences of order 4. This is their step, as a part
-- of the size of a coordinate: the truncation (2^-10)^4 = 1e-12 and the rounding 2^-52 / 2^-10 are about as large.
local STEP = 2 ^ -10

-- ---- the model ----

local function graph_of(options, who)
  local given = options.simulation or options.nsds
  local name = options.simulation and "simulation" or "nsds"
  if type(given) == "function" then given = given(options.value) end
  local good, nsds = pcall(function() return name == "simulation" and given:nsds() or given end)
  if not good or type(nsds) ~= "userdata" or not pcall(function() return nsds:numberOfInteractions() end) then
    fail("%s: %s: expected a %s, got %s", who, name,
      name == "simulation" and "simulation" or "NonSmoothDynamicalSystem", describe(given))
  end
  return nsds
end

-- The rows of an interaction: their group in the law, and the place in it.
local function add_rows(model, interaction, k)
  for g, group in ipairs(interaction.groups) do
    for place = 1, group.dim do
      model.rows[#model.rows + 1] = { interaction = k, group = g, place = place, dim = group.dim, mu = group.mu,
        lower = group.dim == 1 and group.lower or -math.huge, upper = group.dim == 1 and group.upper or math.huge,
        unilateral = interaction.unilateral, at_position = interaction.at_position, name = model.names[k] }
    end
  end
end

local function refuse(model, system, k, who)
  local name = model.nsds:dynamicalSystem(k):name()
  if system.mechanical ~= model.mechanical then
    fail("%s: the model has systems of first order and mechanical ones; it must have one kind", who)
  elseif system.turns then
    fail("%s: '%s' is a rigid body with a quaternion, which is not supported; use Lagrangian coordinates", who, name)
  elseif system.bound then
    fail("%s: '%s' has boundary conditions, which are not supported; use a constraint", who, name)
  end
end

-- The model of an option table.
function terms.model(options, who)
  local nsds = graph_of(options, who)
  local model = { nsds = nsds, names = {}, rows = {}, first = {}, states = 0, n = 0, who = who }
  local states, multipliers = 0, 0
  for k = 1, nsds:numberOfDynamicalSystems() do states = states + #nsds:dynamicalSystem(k):x() end
  for k = 1, nsds:numberOfInteractions() do
    multipliers = multipliers + nsds:interaction(k):dimension()
    model.names[k] = nsds:interaction(k):name()
  end
  if states == 0 then fail("%s: the model has no systems", who) end
  model.states, model.m = states, multipliers
  local x0, at = core.zeros(states), 0
  for k = 1, nsds:numberOfDynamicalSystems() do
    local own = nsds:dynamicalSystem(k):x0()
    for i = 1, #own do x0[at + i] = own[i] end
    at = at + #own
  end
  local start = core.zeros(multipliers)
  local systems, interactions = core.graph_support.terms(nsds, options.t or nsds:t0(), x0, start)
  model.mechanical = systems[1].mechanical
  for k, system in ipairs(systems) do
    refuse(model, system, k, who)
    model.first[k] = model.n
    model.n = model.n + #system.f
  end
  for k, interaction in ipairs(interactions) do
    if interaction.polyhedron then
      fail("%s: the law of '%s' is a NormalConeNSL, which is not supported", who, model.names[k])
    end
    add_rows(model, interaction, k)
  end
  return model
end

-- The name of state i: its own, or that of its system and its number.
function terms.state(model, i)
  for k = #model.first, 1, -1 do
    if i > model.first[k] then
      return ("state %d of '%s'"):format(i - model.first[k], model.nsds:dynamicalSystem(k):name())
    end
  end
end

-- The states of all systems (in mechanics q and v of each) of the stacked x; v: the velocities, or nil for 0.
function terms.states(model, x, v)
  if not model.mechanical then return x:copy() end
  local all, at = core.zeros(model.states), 0
  for k, first in ipairs(model.first) do
    local count = (model.first[k + 1] or model.n) - first
    for i = 1, count do
      all[at + i] = x[first + i]
      if v then all[at + count + i] = v[first + i] end
    end
    at = at + 2 * count
  end
  return all
end

-- The stacked x of a guess: n numbers, in mechanics the coordinates, or all states with velocities of 0.
function terms.guess(model, given, who, name)
  local list = arguments.numbers(given, nil, who, name)
  if #list == model.n then return core.vector(list) end
  if not model.mechanical or #list ~= model.states then
    fail("%s: %s: expected a vector of %d%s, got one of %d", who, name, model.n,
      model.mechanical and " coordinates" or "", #list)
  end
  local x, at = core.zeros(model.n), 0
  for k, first in ipairs(model.first) do
    local count = (model.first[k + 1] or model.n) - first
    for i = 1, count do
      x[first + i] = list[at + i]
      if list[at + count + i] ~= 0 then
        fail("%s: %s: expected a state at rest, got the velocity %g", who, name, list[at + count + i])
      end
    end
    at = at + 2 * count
  end
  return x
end

-- The states of a model that are set as its initial ones.
function terms.start(model)
  local x = core.zeros(model.n)
  for k, first in ipairs(model.first) do
    local own = model.nsds:dynamicalSystem(k):x0()
    for i = 1, (model.first[k + 1] or model.n) - first do x[first + i] = own[i] end
  end
  return x
end

-- ---- evaluation ----

-- to[row + i][col + j] += from[i][j]
local function add(to, from, rows, cols)
  for i, row in ipairs(rows) do
    local into, source = to[row], from[i]
    for j, col in ipairs(cols) do into[col] = into[col] + source[j] end
  end
end

local function range(first, count)
  local list = {}
  for i = 1, count do list[i] = first + i end
  return list
end

local function add_interaction(model, at, interaction, row)
  local rows, cols = range(row, #interaction.y), {}
  for _, k in ipairs(interaction.systems) do
    for _, col in ipairs(range(model.first[k], (model.first[k + 1] or model.n) - model.first[k])) do
      cols[#cols + 1] = col
    end
  end
  add(at.C, interaction.C, rows, cols)
  add(at.D, interaction.D, rows, rows)
  for i, r in ipairs(rows) do at.y[r] = interaction.y[i] end
  if model.mechanical then
    add(at.B, interaction.C:transpose(), cols, rows)
    for i, r in ipairs(rows) do at.rate[r] = interaction.rate[i] end
    if interaction.G then
      at.curvature = at.curvature or core.zeros(model.n, model.n)
      add(at.curvature, interaction.G, cols, cols)
    end
    at.inexact = at.inexact or interaction.second and not interaction.G
  else
    add(at.B, interaction.B, cols, rows)
    add(at.A, interaction.K, cols, cols)
    for i, c in ipairs(cols) do at.f[c] = at.f[c] + interaction.r[i] end
  end
  return row + #rows
end

local function evaluate(model, t, x, lambda)
  local n, m = model.n, model.m
  local systems, interactions = core.graph_support.terms(model.nsds, t, terms.states(model, x), lambda)
  local at = { f = core.zeros(n), M = core.zeros(n, n), A = core.zeros(n, n), B = core.zeros(n, m),
    C = core.zeros(m, n), D = core.zeros(m, m), y = core.zeros(m), rate = core.zeros(m) }
  if model.mechanical then at.V = core.zeros(n, n) end
  for k, system in ipairs(systems) do
    local own = range(model.first[k], #system.f)
    for i, c in ipairs(own) do at.f[c] = system.f[i] end
    add(at.M, system.M, own, own)
    add(at.A, system.A, own, own)
    if system.V then add(at.V, system.V, own, own) end
  end
  local row = 0
  for _, interaction in ipairs(interactions) do row = add_interaction(model, at, interaction, row) end
  if model.mechanical and m > 0 then at.f = at.f + at.B * lambda end
  return at
end

-- A size of coordinate i: its own, or the largest |y| / |C_i|, or 1 when all of these are 0.
local function size_of(at, x, i)
  if x[i] ~= 0 then return math.abs(x[i]) end
  local size = 0
  for r = 1, #at.y do
    local slope = math.abs(at.C[r][i])
    if slope > 0 then size = math.max(size, math.abs(at.y[r]) / slope) end
  end
  return size > 0 and size or 1
end

-- Adds d(C' lambda)/dq by differences of C, for relations without exact second derivatives.
local function add_curvature(model, at, t, x, lambda)
  for i = 1, model.n do
    local h = STEP * size_of(at, x, i)
    local function input(k)
      local moved = x:copy()
      moved[i] = moved[i] + k * h
      return evaluate(model, t, moved, lambda).B * lambda
    end
    local slope = ((input(1) - input(-1)) * 8 - (input(2) - input(-2))) * (1 / (12 * h))
    for j = 1, model.n do at.A[j][i] = at.A[j][i] + slope[j] end
  end
end

-- The terms at a point: f (with the input of lambda), M, A = df/dx, B = df/dlambda, y, C = dy/dx, D = dy/dlambda; of
-- mechanics V = df/dv and rate = dy/dt too.
function terms.at(model, t, x, lambda)
  local at = evaluate(model, t, x, lambda)
  if at.inexact then add_curvature(model, at, t, x, lambda)
  elseif at.curvature then at.A = at.A + at.curvature end
  return at
end

return terms
