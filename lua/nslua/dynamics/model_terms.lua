-- nslua.dynamics.model_terms: the equations of a model at a point, stacked over its systems and interactions.
--
-- First order: M x' = f + r(x, lambda), y = h(x, lambda). Mechanics at rest: M v' = f(q, v) + C' lambda, y = h(q).
-- The states of mechanics are here the coordinates q; the velocities are 0. A rigid body with a quaternion has six,
-- the coordinates of its chart (nslua.dynamics.chart).
--
-- An interaction links systems of one family: the systems of first order and of mechanics do not act on each
-- other, and each family of a graph has a model of its own.
local arguments = require "nslua.base.arguments"
local charts = require "nslua.dynamics.chart"
local core = require "nslua.core"

local fail, reject = arguments.fail, arguments.reject

local terms = {}

-- ---- the model ----

local function graph_of(options, who)
  local given = options.simulation or options.nsds
  local name = options.simulation and "simulation" or "nsds"
  if type(given) == "function" then given = given(options.value) end
  local good, nsds = pcall(function() return name == "simulation" and given:nsds() or given end)
  reject(not good or type(nsds) ~= "userdata" or not pcall(function() return nsds:numberOfInteractions() end), given,
    "%s: %s: expected a %s", who, name, name == "simulation" and "simulation" or "NonSmoothDynamicalSystem")
  return nsds
end

-- The rows of an interaction: their group in the law, and the place in it.
local function add_rows(model, interaction, k)
  for g, group in ipairs(interaction.groups) do
    for place = 1, group.dim do
      model.rows[#model.rows + 1] = { interaction = k, group = g, place = place, dim = group.dim, mu = group.mu,
        lower = group.dim == 1 and group.lower or -math.huge, upper = group.dim == 1 and group.upper or math.huge,
        unilateral = interaction.unilateral, at_position = interaction.at_position, name = model.names[k],
        rests = model.mechanical and not interaction.unilateral and not interaction.at_position }
    end
  end
end

-- System k of a model.
local function system_at(model, k) return model.nsds:dynamicalSystem(model.systems[k]) end

-- Adds the places `from` + 1 .. `from` + count to a list; returns the last one.
local function add_places(list, from, count)
  for i = 1, count do list[#list + 1] = from + i end
  return from + count
end

-- Adds system k of the graph with its terms to the model of its family. from: how many states and coordinates the
-- systems before it have, and how many states in the linear model.
local function add_system(model, system, k, from)
  local ds = model.nsds:dynamicalSystem(k)
  if system.bound then
    fail("%s: '%s' has boundary conditions, which are not supported; use a constraint", model.who, ds:name())
  end
  local own, count, places = #model.systems + 1, system.n, model.places
  model.systems[own], model.first[own] = k, model.n
  model.n = model.n + count
  if system.turns then
    model.turns = true
    model.charts[own] = charts.base(ds:x0(), 0)
  end
  from.states = add_places(places.states, from.states, #ds:x0())
  from.coordinates = add_places(places.coordinates, from.coordinates, count + (system.turns and 1 or 0))
  from.linear = add_places(places.linear, from.linear, system.mechanical and 2 * count or count)
end

-- A model of a family without systems; whole: what all models of the graph have.
local function family(whole, mechanical)
  return { nsds = whole.nsds, who = whole.who, mechanical = mechanical, whole = whole, names = {}, rows = {},
    first = {}, n = 0, charts = {}, turns = false, systems = {},
    places = { states = {}, coordinates = {}, linear = {}, rows = {} } }
end

-- The initial states of all systems of a graph.
local function start_of(nsds, who)
  local list = {}
  for k = 1, nsds:numberOfDynamicalSystems() do list[k] = nsds:dynamicalSystem(k):x0() end
  if #list == 0 then fail("%s: the model has no systems", who) end
  return core.concatenate(list)
end

-- The models of an option table: of first order, of mechanics, or both. Each has the places of its states,
-- coordinates and rows, and of its states in the linear model, in lists of all models. t: the time at which bounds
-- are taken; nil: the time of the start.
function terms.models(options, who, t)
  local nsds = graph_of(options, who)
  local count = 0
  for k = 1, nsds:numberOfInteractions() do count = count + nsds:interaction(k):dimension() end
  local whole = { nsds = nsds, who = who, x = start_of(nsds, who), lambda = core.zeros(count) }
  local systems, interactions = core.graph_support.parts(nsds, t or nsds:t0())
  local families = { [false] = family(whole, false), [true] = family(whole, true) }
  local from, row = { states = 0, coordinates = 0, linear = 0 }, 0
  for k, system in ipairs(systems) do add_system(families[system.mechanical], system, k, from) end
  for k, interaction in ipairs(interactions) do
    local model, name = families[interaction.mechanical], nsds:interaction(k):name()
    if interaction.polyhedron then
      fail("%s: the law of '%s' is a NormalConeNSL, which is not supported", who, name)
    end
    for _, group in ipairs(interaction.groups) do
      if group.mu_r then
        fail("%s: '%s' has rolling friction, which is not supported: run a TimeStepping", who, name)
      end
      if group.slides then
        fail("%s: '%s' has friction that depends on the slip, which is not supported", who, name)
      end
    end
    model.names[#model.names + 1] = name
    row = add_places(model.places.rows, row, interaction.m)
    add_rows(model, interaction, #model.names)
  end
  local list = {}
  for _, mechanical in ipairs { false, true } do
    local model = families[mechanical]
    model.states, model.coordinates, model.m = #model.places.states, #model.places.coordinates, #model.places.rows
    if model.n > 0 then list[#list + 1] = model end
  end
  return list
end

-- How many states, coordinates ... all models have together.
function terms.count(models, name)
  local count = 0
  for _, model in ipairs(models) do count = count + #model.places[name] end
  return count
end

-- The elements of a whole vector or list that belong to a model.
function terms.own(model, given, name)
  local list = {}
  for i, place in ipairs(model.places[name]) do list[i] = given[place] end
  return list
end

-- The list of all models' elements from the lists of each.
function terms.whole(models, lists, name)
  local all = {}
  for k, model in ipairs(models) do
    for i, place in ipairs(model.places[name]) do all[place] = lists[k][i] end
  end
  return all
end

-- The guess of each model from one of all: the states, or the coordinates of mechanics in their place.
function terms.guesses(models, given, who, name)
  if #models == 1 then return { given } end
  local list = arguments.numbers(given, nil, who, name)
  local states, coordinates = terms.count(models, "states"), terms.count(models, "coordinates")
  if #list ~= states and #list ~= coordinates then
    fail("%s: %s: expected a vector of %d states, or of %d with the coordinates of mechanics alone, got one of %d",
      who, name, states, coordinates, #list)
  end
  local guesses = {}
  local kind = #list == states and "states" or "coordinates"
  for k, model in ipairs(models) do guesses[k] = terms.own(model, list, kind) end
  return guesses
end

-- The name of state i: its own, or the name of its system with its number.
function terms.state(model, i)
  for k = #model.first, 1, -1 do
    if i > model.first[k] then
      return ("state %d of '%s'"):format(i - model.first[k], system_at(model, k):name())
    end
  end
end

-- How many numbers of x system k has.
local function size_at(model, k) return (model.first[k + 1] or model.n) - model.first[k] end

-- The coordinates of system k at x.
local function coordinates_of(model, k, x)
  local own = x:slice(model.first[k] + 1, model.first[k] + size_at(model, k))
  return model.charts[k] and charts.coordinates(model.charts[k], own) or own
end

-- The coordinates of mechanics at x, of all systems.
function terms.coordinates(model, x)
  local all = {}
  for k = 1, #model.first do all[k] = coordinates_of(model, k, x) end
  return core.concatenate(all)
end

-- The states of all systems (in mechanics q and v = 0 of each) of the stacked x.
function terms.states(model, x)
  if not model.mechanical then return x:copy() end
  local all = {}
  for k = 1, #model.first do
    all[2 * k - 1], all[2 * k] = coordinates_of(model, k, x), core.zeros(size_at(model, k))
  end
  return core.concatenate(all)
end

-- The derivatives of the states of a model with bodies by the states of the linear model, where each body has 6
-- coordinates and 6 velocities; nil where the two are the same. x: the point, at whose
-- coordinates the charts have their bases.
function terms.embedding(model, x)
  if not model.turns then return nil end
  local E, row, col = core.zeros(model.states, 2 * model.n), 0, 0
  for k = 1, #model.first do
    local n, base = size_at(model, k), model.charts[k]
    local own = base and charts.slopes(base, x:slice(model.first[k] + 1, model.first[k] + 6)) or core.eye(n)
    local below = row + own:rows()
    E:slice(row + 1, below, col + 1, col + n):assign(own)
    E:slice(below + 1, below + n, col + n + 1, col + 2 * n):assign(core.eye(n))
    row, col = below + n, col + 2 * n
  end
  return E
end

-- The sizes that the coordinates have at least: 1 for an angle.
function terms.reach(model)
  local sizes = core.zeros(model.n)
  for k, first in ipairs(model.first) do
    if model.charts[k] then sizes:slice(first + 4, first + 6):fill(1) end
  end
  return sizes
end

-- Puts the coordinates of system k, q[from + 1] ..., into x; a body gets its base there.
local function put_coordinates(model, k, x, q, from)
  local turns = model.charts[k]
  if turns then model.charts[k] = charts.base(q, from) end
  for i = 1, turns and 3 or size_at(model, k) do x[model.first[k] + i] = q[from + i] end
  return from + size_at(model, k) + (turns and 1 or 0)
end

-- The stacked x of a guess: the states; in mechanics the coordinates, or all states with velocities of 0.
function terms.guess(model, given, who, name)
  local list = arguments.numbers(given, nil, who, name)
  local whole = #list == model.states
  if #list ~= model.coordinates and not (model.mechanical and whole) then
    fail("%s: %s: expected a vector of %d%s, got one of %d", who, name, model.coordinates,
      model.mechanical and " coordinates" or "", #list)
  end
  local x, at = core.zeros(model.n), 0
  for k = 1, #model.first do
    at = put_coordinates(model, k, x, list, at)
    for i = 1, model.mechanical and whole and size_at(model, k) or 0 do
      at = at + 1
      if list[at] ~= 0 then
        fail("%s: %s: expected a state at rest, got the velocity %g", who, name, list[at])
      end
    end
  end
  return x
end

-- The states of a model that are set as its initial ones.
function terms.start(model)
  local x = core.zeros(model.n)
  for k = 1, #model.first do put_coordinates(model, k, x, system_at(model, k):x0(), 0) end
  return x
end

-- ---- evaluation ----

-- An element of a product below this part of the sum of its terms is rounding: some 16 of them.
local CANCELLED = 2 ^ -48

local function cleaned(out, sizes)
  for i = 1, out:rows() do
    for j = 1, out:cols() do
      if math.abs(out[i][j]) <= CANCELLED * sizes[i][j] then out[i][j] = 0 end
    end
  end
  return out
end

local function product(A, B) return cleaned(A * B, A:abs() * B:abs()) end

-- The derivatives of all coordinates by the coordinates of the charts, or the derivatives of their rates by the
-- velocities.
local function chart_map(model, x, name)
  local all, row = core.zeros(model.coordinates, model.n), 0
  for k, first in ipairs(model.first) do
    local n, base = size_at(model, k), model.charts[k]
    local own, map = x:slice(first + 1, first + n), core.eye(n)
    if base then
      map = name == "slopes" and charts.slopes(base, own) or charts.rates(charts.coordinates(base, own))
    end
    all:slice(row + 1, row + map:rows(), first + 1, first + n):assign(map)
    row = row + map:rows()
  end
  return all
end

-- A of bodies with quaternions, by the coordinates of their charts: of the forces, and of T' (C' lambda), where C and
-- the rates T of the coordinates turn. An angle has the size 1.
local function turned(model, at, x, lambda, slopes, rates)
  local force = model.m > 0 and at.C:transpose() * lambda or core.zeros(model.coordinates)
  local T, bend = rates:transpose(), at.G * slopes
  local out, sizes = at.A * slopes + T * bend, at.A:abs() * slopes:abs() + T:abs() * bend:abs()
  local row = 0
  for k, first in ipairs(model.first) do
    local E = model.charts[k] and charts.slopes(model.charts[k], x:slice(first + 1, first + 6))
    for j = 4, E and 6 or 0 do
      local turn = charts.rates(E:column(j))
      for i = 4, 6 do
        for r = 4, 7 do out[first + i][first + j] = out[first + i][first + j] + turn[r][i] * force[row + r] end
      end
      for i = 1, 6 do
        for l = 1, model.m do
          sizes[first + i][first + j] = sizes[first + i][first + j] + math.abs(at.sizes[first + i][l] * lambda[l])
        end
      end
    end
    row = row + (E and 7 or size_at(model, k))
  end
  return cleaned(out, sizes)
end

-- The terms at a point: f (with the input of lambda), M, A = df/dx, B = df/dlambda, y, C = dy/dx, D = dy/dlambda; of
-- mechanics V = df/dv and rate = dy/dt too. The other family stays at its start. number (optional): { object,
-- "field", i, j }, whose derivatives are f_by and y_by where they are known exactly.
function terms.at(model, t, x, lambda, number)
  local states, l = model.whole.x:copy(), model.whole.lambda:copy()
  local own = terms.states(model, x)
  for i, place in ipairs(model.places.states) do states[place] = own[i] end
  for i, place in ipairs(model.places.rows) do l[place] = lambda[i] end
  local at = core.graph_support.terms(model.nsds, t, states, l, model.mechanical, number)
  if not model.mechanical then return at end
  local T = at.C
  if model.turns then
    local slopes, rates = chart_map(model, x, "slopes"), chart_map(model, x, "rates")
    at.sizes = (T:abs() * rates:abs()):transpose() -- of B: sums of the terms of its elements
    at.A = turned(model, at, x, lambda, slopes, rates)
    at.C, T = product(T, slopes), product(T, rates)
  else
    at.A = at.A + at.G
  end
  at.B = T:transpose()
  if model.m > 0 then at.f = at.f + at.B * lambda end
  return at
end

-- The first and the last of the three forces, or of the three torques, to which row j of a body with a quaternion
-- belongs: they have one unit, and their sizes are compared with each other. Of other rows j itself.
function terms.group(model, j)
  for k, at in ipairs(model.first) do
    if model.charts[k] and j > at and j <= at + 6 then
      local first = at + (j > at + 3 and 3 or 0)
      return first + 1, first + 3
    end
  end
  return j, j
end

return terms
