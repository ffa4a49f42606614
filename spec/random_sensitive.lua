-- Random models for derivatives of runs: first order with relays, saturations, diodes; mechanics with impacts, friction and joints.
-- sensitive.draw(k) is a model: family; p, a list of numbers; build(p) gives a simulation and, for each number of p, a list of
-- { weight, object, field, ... }: the sum of weight times the derivative by that parameter is the derivative by the number.
local ns = require "nslua"
local numbers = require "random_numbers"

local sensitive = { families = {} }
local random = math.random
local families = sensitive.families

local between = numbers.uniform
local function chance(x) return random() < x end

local vector, matrix = numbers.vector_within, numbers.matrix_within

local function copy(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for i, v in pairs(value) do new[i] = copy(v) end
  return new
end

-- Numbers that may be parameters: data is a tree of tables; one of its numbers is named by its path.
local function get(data, path)
  for _, key in ipairs(path) do data = data[key] end
  return data
end

local function set(data, path, value)
  for i = 1, #path - 1 do data = data[path[i]] end
  data[path[#path]] = value
end

-- Up to `most` of the parameters in `list`, in a random order: each is { path =, of = function(objects) -> { { weight, ... } } }.
local function choose(list, most)
  for i = #list, 2, -1 do
    local j = random(i)
    list[i], list[j] = list[j], list[i]
  end
  return table.move(list, 1, math.min(most, #list), 1, {})
end

-- A model from its data and parameters; make(data) gives a simulation and its objects by name.
local function model(family, data, list, make)
  local chosen, p = choose(list, 6), {}
  for j, parameter in ipairs(chosen) do p[j] = get(data, parameter.path) end
  return { family = family, p = p, names = chosen, build = function(q)
    local own = copy(data)
    for j, parameter in ipairs(chosen) do set(own, parameter.path, q[j]) end
    local simu, objects = make(own)
    local parameters = {}
    for j, parameter in ipairs(chosen) do parameters[j] = parameter.of(objects) end
    return simu, parameters
  end }
end

-- The parameter at `path`: the number i, j of a field of the object `name`.
local function parameter(path, name, field, ...)
  local rest = { ... }
  return { path = path, of = function(objects) return { { 1, objects[name], field, table.unpack(rest) } } end }
end

-- The simulation of a model; `steps` of the grid in time T. A spec may set another one.
function sensitive.simulate(nsds, T, steps, osi)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / steps), osi or ns.RungeKuttaOSI())
end

-- The part of the time T that a model runs.
sensitive.part = 1

local function graph(T) return ns.NonSmoothDynamicalSystem(0, sensitive.part * T) end

local function event_driven(nsds, T, steps, osi) return sensitive.simulate(nsds, T, steps, osi) end

-- ---- first order ----

-- A stable matrix with a rotation.
local function plant(n)
  local A = matrix(n, n, 1)
  for i = 1, n do A[i][i] = A[i][i] - 0.7 end
  if n > 1 then
    local w = between(0.5, 4)
    A[1][2], A[2][1] = w, -w
  end
  return A
end

-- Which entries of the data of a linear model are parameters.
local function linear_parameters(o, n, m)
  local list = {}
  for i = 1, n do
    list[#list + 1] = parameter({ "x0", i }, "ds", "x0", i)
    list[#list + 1] = parameter({ "b", i }, "ds", "b", i)
    for j = 1, n do list[#list + 1] = parameter({ "A", i, j }, "ds", "A", i, j) end
    for k = 1, m do
      list[#list + 1] = parameter({ "B", i, k }, "relation", "B", i, k)
      list[#list + 1] = parameter({ "C", k, i }, "relation", "C", k, i)
    end
  end
  for k = 1, m do
    list[#list + 1] = parameter({ "e", k }, "relation", "e", k)
    if o.lb then
      list[#list + 1] = parameter({ "lb", k }, "law", "lb", k)
      list[#list + 1] = parameter({ "ub", k }, "law", "ub", k)
    end
    for l = 1, o.D and m or 0 do list[#list + 1] = parameter({ "D", k, l }, "relation", "D", k, l) end
  end
  for i = 1, o.M and n or 0 do
    for j = 1, n do list[#list + 1] = parameter({ "M", i, j }, "ds", "M", i, j) end
  end
  return list
end

local function linear_make(o, law)
  return function(d)
    local ds = ns.FirstOrderLinearTIDS(d.x0, d.A, d.b)
    if d.M then ds:setMPtr(ns.matrix(d.M)) end
    local relation = ns.FirstOrderLinearTIR { C = d.C, D = d.D, B = d.B, e = d.e }
    local nsds = ns.NonSmoothDynamicalSystem(0, sensitive.part * o.T)
    nsds:insertDynamicalSystem(ds)
    local one = law(d)
    nsds:link(ns.Interaction(one, relation, "law"), ds)
    local osi = o.radau and ns.RadauOSI(1e-12, 1e-14) or ns.RungeKuttaOSI(1e-13)
    return event_driven(nsds, o.T, o.steps, osi), { ds = ds, relation = relation, law = one }
  end
end

local function linear(n, m)
  return { x0 = vector(n, 2), A = plant(n), b = vector(n, 0.7), B = matrix(n, m, 1), C = matrix(m, n, 1), e = vector(m, 0.3) },
    { T = between(2, 6), steps = random(1, 5) }
end

local function add_mass(d, n)
  d.M = matrix(n, n, 0.2)
  for i = 1, n do d.M[i][i] = d.M[i][i] + 1 end
end

local function relay_law(d) return ns.RelayNSL(#d.C, d.lb, d.ub) end

local function bounds(d, m)
  d.lb, d.ub = {}, {}
  for k = 1, m do d.lb[k], d.ub[k] = -between(0.3, 1.5), between(0.3, 1.5) end
end

-- Relays, in a third of the models with sliding, in another third with a mass matrix, some by Radau.
function families.relays()
  local n, m = random(2, 4), random(1, 2)
  local d, o = linear(n, m)
  bounds(d, m)
  if chance(0.5) then
    for k = 1, m do
      for i = 1, n do d.B[i][k] = d.C[k][i] + 0.3 * d.B[i][k] end
    end
  end
  if chance(0.3) then add_mass(d, n) end
  o.radau = chance(0.15)
  return d, linear_parameters(d, n, m), linear_make(o, relay_law)
end

-- Saturations: relays with D > 0.
function families.saturations()
  local n, m = random(2, 4), random(1, 3)
  local d, o = linear(n, m)
  bounds(d, m)
  d.D = matrix(m, m, 0.2)
  for k = 1, m do d.D[k][k] = between(0.5, 1.5) end
  if chance(0.3) then add_mass(d, n) end
  o.radau = chance(0.15)
  return d, linear_parameters(d, n, m), linear_make(o, relay_law)
end

local function complementarity(d) return ns.ComplementarityConditionNSL(#d.C) end

-- Diodes: complementarity with D > 0, or with C B > 0, where states stay on their bounds.
function families.diodes()
  local n, m = random(2, 4), random(1, 2)
  local d, o = linear(n, m)
  if chance(0.5) then
    d.D = matrix(m, m, 0.2)
    for k = 1, m do d.D[k][k] = between(0.5, 1.5) end
  else
    for k = 1, m do
      for i = 1, n do d.B[i][k] = d.C[k][i] end
      d.e[k] = 0.2 -- open at the start
      for i = 1, n do d.e[k] = d.e[k] + math.abs(d.C[k][i] * d.x0[i]) end
      if chance(0.5) then d.e[k] = d.e[k] / 3 end
    end
  end
  if chance(0.2) then add_mass(d, n) end
  return d, linear_parameters(d, n, m), linear_make(o, complementarity)
end

-- A nonlinear plant, driven in time, with parameters z; relays on a curved and moving surface, or saturations.
function families.driven()
  local n = random(2, 3)
  local d = { x0 = vector(n, 1.5), z = vector(5, 1), lb = { -between(0.4, 1.2) }, ub = { between(0.4, 1.2) } }
  local T, steps, w, D = between(3, 7), random(1, 4), between(0.5, 2.5), chance(0.4) and between(0.3, 1) or 0
  local c, moving, slides = vector(n, 1), chance(0.4) and 0.3 or 0, chance(0.4)
  local list = {}
  for i = 1, n do list[i] = parameter({ "x0", i }, "ds", "x0", i) end
  for i = 1, 5 do list[n + i] = parameter({ "z", i }, "ds", "z", i) end
  list[#list + 1] = parameter({ "lb", 1 }, "law", "lb", 1)
  list[#list + 1] = parameter({ "ub", 1 }, "law", "ub", 1)
  return d, list, function(own)
    local ds = ns.FirstOrderNonLinearDS(own.x0, function(t, x, z, f)
      for i = 1, n do
        local next = x[i % n + 1]
        f[i] = -0.4 * x[i] + (1 + z[1]) * next * (i % 2 == 0 and -1 or 1) - 0.1 * x[i] ^ 3
      end
      f[1] = f[1] + (1.5 + z[2]) * math.cos(w * t + z[3])
    end)
    local z = ns.vector(own.z)
    ds:setzPtr(z)
    local relation = ns.FirstOrderNonLinearR {
      h = function(t, x, lambda, q, y)
        y[1] = 0.1 * x[1] * x[2] + q[4] * 0.3 + moving * math.sin(2 * t) + D * lambda[1]
        for i = 1, n do y[1] = y[1] + c[i] * x[i] end
      end,
      g = function(_, x, lambda, q, r)
        for i = 1, n do r[i] = (slides and c[i] or 0.5) * lambda[1] * (1 + 0.2 * q[5] * math.sin(x[1])) end
      end,
    }
    relation:setzPtr(z)
    local law = ns.RelayNSL(1, own.lb, own.ub)
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "law"), ds)
    return event_driven(nsds, T, steps, ns.RungeKuttaOSI(1e-13)), { ds = ds, law = law }
  end
end

-- Two plants, one relay on each and one between them.
function families.joined()
  local d = { x1 = vector(2, 1.5), x2 = vector(2, 1.5), A1 = plant(2), A2 = plant(2), b = vector(2, 0.7), C = matrix(2, 2, 1),
    Cm = matrix(1, 4, 1), lb = { -1 }, ub = { 1 }, B = matrix(4, 1, 0.7) }
  local T, steps = between(2, 6), random(1, 4)
  local list = { parameter({ "b", 1 }, "first", "b", 1), parameter({ "C", 1, 1 }, "r1", "C", 1, 1),
    parameter({ "lb", 1 }, "law", "lb", 1), parameter({ "ub", 1 }, "law", "ub", 1), parameter({ "B", 3, 1 }, "middle", "B", 3, 1),
    parameter({ "Cm", 1, 4 }, "middle", "C", 1, 4) }
  for i = 1, 2 do
    list[#list + 1] = parameter({ "x1", i }, "first", "x0", i)
    list[#list + 1] = parameter({ "x2", i }, "second", "x0", i)
  end
  return d, list, function(own)
    local first, second = ns.FirstOrderLinearTIDS(own.x1, own.A1, own.b), ns.FirstOrderLinearTIDS(own.x2, own.A2)
    local law = ns.RelayNSL(1, own.lb, own.ub)
    local r1 = ns.FirstOrderLinearTIR({ own.C[1] }, { { 0.8 }, { 0.3 } })
    local r2 = ns.FirstOrderLinearTIR({ own.C[2] }, { { 0.8 }, { -0.3 } })
    local middle = ns.FirstOrderLinearTIR(own.Cm, own.B)
    local nsds = graph(T)
    nsds:insertDynamicalSystem(first)
    nsds:insertDynamicalSystem(second)
    nsds:link(ns.Interaction(law, r1, "one"), first)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), r2, "two"), second)
    nsds:link(ns.Interaction(ns.RelayNSL(1, -0.5, 0.5), middle, "middle"), first, second)
    return event_driven(nsds, T, steps, ns.RungeKuttaOSI(1e-13)),
      { first = first, second = second, r1 = r1, middle = middle, law = law }
  end
end

-- ---- mechanics ----

local function diagonal(values)
  local M = {}
  for i = 1, #values do
    M[i] = {}
    for j = 1, #values do M[i][j] = i == j and values[i] or 0 end
  end
  return M
end

-- Force of gravity along `down` (a list of coordinates), and a push that depends on time: z = { size, frequency, phase }.
local function forces(d, n, down, at, g)
  return function(t, z, f)
    for i = 1, n do f[i] = 0 end
    for _, i in ipairs(down) do f[i] = -g * d.mass[i] end
    f[at] = f[at] + z[1] * math.cos(z[2] * t + z[3])
  end
end

-- Parameters of a linear mechanical system: starts (coordinates in `free`), masses (each may stand for several coordinates),
-- stiffness, damping, the push.
local function body_parameters(d, n, same)
  local list = {}
  for i = 1, n do
    list[#list + 1] = parameter({ "v0", i }, "ds", "velocity0", i)
    list[#list + 1] = parameter({ "K", i, i }, "ds", "K", i, i)
    list[#list + 1] = parameter({ "C", i, i }, "ds", "C", i, i)
  end
  if n > 1 then list[#list + 1] = parameter({ "M", 1, 2 }, "ds", "mass", 1, 2) end
  for i = 1, n do list[#list + 1] = parameter({ "M", i, i }, "ds", "mass", i, i) end
  for i = 1, 3 do list[#list + 1] = parameter({ "z", i }, "ds", "z", i) end
  return list, same
end

local function linear_body(d, push)
  local ds = ns.LagrangianLinearTIDS(d.q0, d.v0, d.M, d.K, d.C)
  ds:setzPtr(ns.vector(d.z))
  ds:setComputeFExtFunction(push)
  return ds
end

local function some_push() return { between(0, 2), between(1, 4), between(0, 3) } end

local function restitution() return chance(0.15) and 0 or chance(0.15) and 1 or between(0.2, 0.9) end

-- Points in the plane above a floor with friction, a wall beside it, springs between the points.
function families.plane()
  local count = random(1, 3)
  local n, T, steps = 2 * count, between(0.6, 1.5), random(1, 4)
  local d = { q0 = {}, v0 = vector(n, 1.5), mass = {}, z = some_push(), e = {}, mu = {}, wall = between(0.6, 1.2),
    ew = restitution() }
  local down = {}
  for k = 1, count do
    local m = between(0.5, 2)
    d.q0[2 * k - 1], d.q0[2 * k] = between(-0.5, 0.5), between(0.2, 1)
    d.mass[2 * k - 1], d.mass[2 * k] = m, m
    d.e[k], d.mu[k], down[k] = restitution(), between(0.05, 0.8), 2 * k
  end
  d.M, d.K, d.C = diagonal(d.mass), diagonal(vector(n, 0)), diagonal(vector(n, 0))
  for i = 1, n do d.K[i][i], d.C[i][i] = between(0, 5), between(0, 0.5) end
  for k = 1, count - 1 do -- springs between neighbours, along x
    local a, b, s = 2 * k - 1, 2 * k + 1, between(1, 20)
    d.K[a][a], d.K[b][b], d.K[a][b], d.K[b][a] = d.K[a][a] + s, d.K[b][b] + s, -s, -s
  end
  local list = body_parameters(d, n)
  for i = 1, n do list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i) end
  for k = 1, count do
    list[#list + 1] = parameter({ "e", k }, "law" .. k, "en")
    list[#list + 1] = parameter({ "mu", k }, "law" .. k, "mu")
  end
  list[#list + 1] = parameter({ "ew" }, "wall", "e")
  local push = forces(d, n, down, 1, 9.81)
  return d, list, function(own)
    local ds, objects = linear_body(own, push), {}
    objects.ds = ds
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    for k = 1, count do
      local law = ns.NewtonImpactFrictionNSL(own.e[k], 0, own.mu[k], 2)
      local H = { {}, {} }
      for i = 1, n do H[1][i], H[2][i] = i == 2 * k and 1 or 0, i == 2 * k - 1 and 1 or 0 end
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(H), "floor" .. k), ds)
      objects["law" .. k] = law
    end
    objects.wall = ns.NewtonImpactNSL(own.ew)
    local row = {}
    for i = 1, n do row[i] = i == 1 and -1 or 0 end
    nsds:link(ns.Interaction(objects.wall, ns.LagrangianLinearTIR({ row }, { own.wall }), "wall"), ds)
    return event_driven(nsds, T, steps), objects
  end
end

-- A point in space over a floor with friction, tilted, with a spring and a push.
function families.space()
  local T, steps = between(0.5, 1.2), random(1, 4)
  local m = between(0.5, 2)
  local d = { q0 = { 0, 0, between(0.2, 0.8) }, v0 = vector(3, 1.5), mass = { m, m, m }, z = some_push(), e = restitution(),
    mu = between(0.03, 0.7), H = { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }, C = diagonal(vector(3, 0)) }
  d.K = diagonal { between(0, 4), between(0, 4), 0 }
  d.M = diagonal(d.mass)
  d.H[1][1], d.H[1][2] = between(-0.2, 0.2), between(-0.2, 0.2)
  local list = body_parameters(d, 3)
  for i = 1, 3 do
    list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i)
    list[#list + 1] = parameter({ "H", 1, i }, "relation", "C", 1, i)
  end
  list[#list + 1] = parameter({ "e" }, "law", "en")
  list[#list + 1] = parameter({ "mu" }, "law", "mu")
  local push = forces(d, 3, { 3 }, 1, 9.81)
  return d, list, function(own)
    local ds, law = linear_body(own, push), ns.NewtonImpactFrictionNSL(own.e, 0, own.mu, 3)
    local relation = ns.LagrangianLinearTIR(own.H)
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, relation, "floor"), ds)
    return event_driven(nsds, T, steps), { ds = ds, law = law, relation = relation }
  end
end

-- Blocks that lie on a floor, joined by springs, driven: stick and slip. Coordinates: height and place of each.
function families.blocks()
  local count = random(1, 2)
  local n, T, steps = 2 * count, between(3, 7), random(1, 4)
  local d = { q0 = {}, v0 = {}, mass = {}, mu = {}, z = { between(2, 8), between(0.7, 2.5), between(0, 3) } }
  local down = {}
  for k = 1, count do
    local m = between(0.5, 1.5)
    d.mass[2 * k - 1], d.mass[2 * k], d.mu[k], down[k] = m, m, between(0.1, 0.4), 2 * k - 1
    d.q0[2 * k - 1], d.q0[2 * k], d.v0[2 * k - 1], d.v0[2 * k] = 0, between(-0.5, 0.5), 0, between(-1, 1)
  end
  d.M, d.K, d.C = diagonal(d.mass), diagonal(vector(n, 0)), diagonal(vector(n, 0))
  for k = 1, count do d.K[2 * k][2 * k], d.C[2 * k][2 * k] = between(1, 8), between(0, 0.3) end
  if count == 2 then d.K[2][4], d.K[4][2] = -0.7, -0.7 end
  local list = {}
  for k = 1, count do
    local i = 2 * k
    list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i)
    list[#list + 1] = parameter({ "v0", i }, "ds", "velocity0", i)
    list[#list + 1] = parameter({ "K", i, i }, "ds", "K", i, i)
    list[#list + 1] = parameter({ "M", i, i }, "ds", "mass", i, i)
    list[#list + 1] = parameter({ "mu", k }, "law" .. k, "mu")
  end
  for i = 1, 3 do list[#list + 1] = parameter({ "z", i }, "ds", "z", i) end
  local push = forces(d, n, down, 2, 9.81)
  return d, list, function(own)
    local ds, objects = linear_body(own, push), {}
    objects.ds = ds
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    for k = 1, count do
      local law, H = ns.NewtonImpactFrictionNSL(0.5, 0, own.mu[k], 2), { {}, {} }
      for i = 1, n do H[1][i], H[2][i] = i == 2 * k - 1 and 1 or 0, i == 2 * k and 1 or 0 end
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR(H), "floor" .. k), ds)
      objects["law" .. k] = law
    end
    return event_driven(nsds, T, steps), objects
  end
end

-- A block in space that slides on a floor, driven in two directions: slip that turns, stick.
function families.sled()
  local T, steps, m = between(1, 3), random(1, 3), between(0.5, 1.5)
  local d = { q0 = { 0, 0, 0 }, v0 = { between(-2, 2), between(-2, 2), 0 }, mass = { m, m, m }, mu = between(0.1, 0.4),
    z = { between(1, 6), between(0.7, 2.5), between(0, 3) } }
  d.M, d.C = diagonal(d.mass), diagonal { between(0, 0.3), 0, 0 }
  d.K = diagonal { between(0, 4), between(0, 4), 0 }
  local list = {}
  for i = 1, 2 do
    list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i)
    list[#list + 1] = parameter({ "v0", i }, "ds", "velocity0", i)
    list[#list + 1] = parameter({ "K", i, i }, "ds", "K", i, i)
    list[#list + 1] = parameter({ "M", i, i }, "ds", "mass", i, i)
  end
  list[#list + 1] = parameter({ "mu" }, "law", "mu")
  for i = 1, 3 do list[#list + 1] = parameter({ "z", i }, "ds", "z", i) end
  local push = forces(d, 3, { 3 }, 1, 9.81)
  return d, list, function(own)
    local ds, law = linear_body(own, push), ns.NewtonImpactFrictionNSL(0, 0, own.mu, 3)
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }, "floor"), ds)
    return event_driven(nsds, T, steps), { ds = ds, law = law }
  end
end

-- Beads on a line between walls, springs, dry friction of the guide (relays on velocities).
function families.beads()
  local n, T, steps = random(2, 4), between(1, 3), random(1, 4)
  local d = { q0 = {}, v0 = vector(n, 2), mass = {}, z = some_push(), e = {}, F = between(0.1, 0.5) }
  for i = 1, n do d.q0[i], d.mass[i] = i + between(-0.2, 0.2), between(0.5, 2) end
  for k = 1, n + 1 do d.e[k] = chance(0.1) and 1 or between(0.3, 0.95) end
  d.M, d.K, d.C = diagonal(d.mass), diagonal(vector(n, 0)), diagonal(vector(n, 0))
  for i = 1, n do d.K[i][i], d.C[i][i] = between(0, 3), between(0, 0.3) end
  local rubs = chance(0.5)
  local list = body_parameters(d, n)
  for i = 1, n do list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i) end
  for k = 1, n + 1 do list[#list + 1] = parameter({ "e", k }, "law" .. k, "e") end
  if rubs then
    list[#list + 1] = { path = { "F" }, of = function(o) return { { 1, o.relay, "ub" }, { -1, o.relay, "lb" } } end }
  end
  local push = forces(d, n, {}, 1, 0)
  return d, list, function(own)
    local ds, objects = linear_body(own, push), {}
    objects.ds = ds
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    for k = 1, n + 1 do
      local row, law = {}, ns.NewtonImpactNSL(own.e[k])
      for i = 1, n do row[i] = i == k and 1 or i == k - 1 and -1 or 0 end
      local e = k == 1 and 0 or k == n + 1 and n + 1 or -0.2 -- beads of width 0.2
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ row }, { e }), "contact" .. k), ds)
      objects["law" .. k] = law
    end
    if rubs then
      local row = {}
      for i = 1, n do row[i] = i == 1 and 1 or 0 end
      objects.relay = ns.RelayNSL(1, -own.F, own.F)
      nsds:link(ns.Interaction(objects.relay, ns.LagrangianLinearTIR { row }, "guide"), ds)
    end
    return event_driven(nsds, T, steps), objects
  end
end

-- A chain of two points on rods, against a wall: joints by equations.
function families.rods()
  local T, steps = between(1, 2.5), random(1, 4)
  local a, b = between(-1, 1), between(-1, 1)
  local wa, wb, l = between(-2, 2), between(-2, 2), between(0.5, 1)
  local d = { wall = between(-0.8, -0.2), e = restitution(), g = between(5, 10), m1 = between(0.5, 2), m2 = between(0.5, 2),
    mass = {}, z = some_push(), mu = between(0.05, 0.5) }
  local double, floor = chance(0.5), chance(0.5)
  local s, c, s2, c2 = math.sin(a), math.cos(a), math.sin(b), math.cos(b)
  local q0, v0 = { s, -c }, { wa * c, wa * s }
  if double then
    q0[3], q0[4], v0[3], v0[4] = s + l * s2, -c - l * c2, wa * c + l * wb * c2, wa * s + l * wb * s2
  end
  local n = #q0
  d.wall = math.min(d.wall, q0[n - 1] - 0.05)
  local function mass(path, first) return { path = path, of = function(o)
    return { { 1, o.ds, "mass", first, first }, { 1, o.ds, "mass", first + 1, first + 1 } } end } end
  local list = { mass({ "m1" }, 1), parameter({ "e" }, "law", floor and "en" or "e"), parameter({ "wall" }, "relation", "e", 1) }
  list[3].of = function(o) return { { -1, o.relation, "e", 1 } } end
  if double then list[#list + 1] = mass({ "m2" }, 3) end
  if floor then list[#list + 1] = parameter({ "mu" }, "law", "mu") end
  for i = 1, 3 do list[#list + 1] = parameter({ "z", i }, "ds", "z", i) end
  return d, list, function(own)
    local values = { own.m1, own.m1, own.m2, own.m2 }
    local M = diagonal(table.move(values, 1, n, 1, {}))
    local ds = ns.LagrangianLinearTIDS(q0, v0, M)
    ds:setzPtr(ns.vector(own.z))
    ds:setComputeFExtFunction(function(t, z, f)
      for i = 2, n, 2 do f[i] = -own.g end
      f[1] = z[1] * math.cos(z[2] * t + z[3])
    end)
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    local rod = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = (q[1] * q[1] + q[2] * q[2] - 1) / 2 end }
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), rod, "rod1"), ds)
    if double then
      local second = ns.LagrangianScleronomousR { h = function(q, _, y)
        y[1] = ((q[3] - q[1]) ^ 2 + (q[4] - q[2]) ^ 2 - l * l) / 2
      end }
      nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), second, "rod2"), ds)
    end
    local row, along = {}, {}
    for i = 1, n do row[i], along[i] = i == n - 1 and 1 or 0, i == n and 1 or 0 end
    local objects = { ds = ds }
    if floor then
      objects.law = ns.NewtonImpactFrictionNSL(own.e, 0, own.mu, 2)
      objects.relation = ns.LagrangianLinearTIR({ row, along }, { -own.wall, 0 })
    else
      objects.law, objects.relation = ns.NewtonImpactNSL(own.e), ns.LagrangianLinearTIR({ row }, { -own.wall })
    end
    nsds:link(ns.Interaction(objects.law, objects.relation, "wall"), ds)
    return event_driven(nsds, T, steps), objects
  end
end

-- A rectangle in the plane that falls on a floor: x, y, angle; contacts of its corners, with friction.
function families.box()
  local T, steps = between(0.5, 1), random(1, 4)
  local m, a, b = between(0.5, 2), between(0.1, 0.4), between(0.1, 0.4)
  local d = { q0 = { 0, between(0.6, 1), between(0.1, 0.9) }, v0 = { between(-1, 1), between(-1, 0), between(-2, 2) },
    mass = { m, m, m * (a * a + b * b) / 3 }, z = some_push(), e = restitution(), mu = between(0.05, 0.6) }
  d.M, d.K, d.C = diagonal(d.mass), diagonal { 0, 0, 0 }, diagonal { 0, 0, 0 }
  local list = body_parameters(d, 3)
  for i = 2, 3 do list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i) end
  list[#list + 1] = parameter({ "e" }, "law", "en")
  list[#list + 1] = parameter({ "mu" }, "law", "mu")
  local push = forces(d, 3, { 2 }, 1, 9.81)
  return d, list, function(own)
    local ds, law = linear_body(own, push), ns.NewtonImpactFrictionNSL(own.e, 0, own.mu, 2)
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    for k = 0, 3 do
      local px, py = k % 2 == 0 and a or -a, k < 2 and -b or b
      local corner = ns.LagrangianScleronomousR { h = function(q, _, y)
        local c, s = math.cos(q[3]), math.sin(q[3])
        y[1], y[2] = q[2] + s * px + c * py, q[1] + c * px - s * py
      end }
      nsds:link(ns.Interaction(law, corner, "corner" .. k + 1), ds)
    end
    return event_driven(nsds, T, steps), { ds = ds, law = law }
  end
end

-- A double pendulum in angles with parameters z, its mass a function of q, against a wall of its first rod.
function families.arm()
  local T, steps = between(1, 2.5), random(1, 4)
  local d = { q0 = { between(0.3, 1.2), between(-1, 1) }, v0 = vector(2, 2),
    z = { between(0.3, 1), between(0.5, 1.5), between(0, 1) },
    e = restitution(), place = between(-0.4, 0.1), F = between(0.1, 0.6) }
  local rubs = chance(0.5)
  local list = { parameter({ "e" }, "law", "e"),
    { path = { "place" }, of = function(o) return { { -1, o.relation, "e", 1 } } end } }
  for i = 1, 2 do
    list[#list + 1] = parameter({ "q0", i }, "ds", "q0", i)
    list[#list + 1] = parameter({ "v0", i }, "ds", "velocity0", i)
  end
  for i = 1, 3 do list[#list + 1] = parameter({ "z", i }, "ds", "z", i) end
  if rubs then
    list[#list + 1] = { path = { "F" }, of = function(o) return { { 1, o.relay, "ub" }, { -1, o.relay, "lb" } } end }
  end
  return d, list, function(own)
    local ds = ns.LagrangianDS(own.q0, own.v0)
    ds:setzPtr(ns.vector(own.z))
    ds:setComputeMassFunction(function(q, z, M)
      local c = z[1] * math.cos(q[1] - q[2])
      M[1][1], M[1][2], M[2][1], M[2][2] = 1 + z[1], c, c, z[1]
    end)
    ds:setComputeFGyrFunction(function(q, v, z, f)
      local s = z[1] * math.sin(q[1] - q[2])
      f[1], f[2] = s * v[2] ^ 2, -s * v[1] ^ 2
    end)
    ds:setComputeFIntFunction(function(t, q, v, z, f)
      f[1] = 9.81 * z[2] * (1 + z[1]) * math.sin(q[1]) - z[3] * math.cos(2 * t)
      f[2] = 9.81 * z[2] * z[1] * math.sin(q[2]) + 0.1 * v[2]
    end)
    local objects = { ds = ds, law = ns.NewtonImpactNSL(own.e), relation = ns.LagrangianLinearTIR({ { 1, 0 } }, { -own.place }) }
    local nsds = graph(T)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(objects.law, objects.relation, "wall"), ds)
    if rubs then
      objects.relay = ns.RelayNSL(1, -own.F, own.F)
      nsds:link(ns.Interaction(objects.relay, ns.LagrangianLinearTIR { { -1, 1 } }, "pin"), ds)
    end
    return event_driven(nsds, T, steps), objects
  end
end

-- Two bodies in space with friction on a plane and against each other: spheres with quaternions.
function families.spheres()
  local T, steps = between(0.4, 0.9), random(1, 3)
  local count = random(1, 2)
  local d = { e = restitution(), mu = between(0.05, 0.6) }
  for k = 1, count do
    d["q" .. k] = { between(-0.1, 0.1) + 0.75 * (k - 1), between(-0.1, 0.1), between(0.4, 0.9), 1, 0, 0, 0 }
    d["v" .. k] = { (k == 1 and 1 or -1) * between(0, 1.5), between(-0.3, 0.3), between(-1, 0.5), between(-4, 4),
      between(-4, 4), between(-2, 2) }
  end
  local list = { parameter({ "e" }, "law", "en"), parameter({ "mu" }, "law", "mu") }
  for k = 1, count do
    for i = 1, 3 do list[#list + 1] = parameter({ "q" .. k, i }, "ds" .. k, "q0", i) end
    for i = 1, 6 do list[#list + 1] = parameter({ "v" .. k, i }, "ds" .. k, "velocity0", i) end
  end
  local inertia = { { 0.03, 0, 0 }, { 0, 0.04, 0 }, { 0, 0, 0.035 } }
  return d, list, function(own)
    local objects = { law = ns.NewtonImpactFrictionNSL(own.e, 0, own.mu, 3) }
    local nsds = graph(T)
    for k = 1, count do
      local ds = ns.NewtonEulerDS(own["q" .. k], own["v" .. k], k, inertia)
      ds:setFExtPtr(ns.vector { 0, 0, -9.81 * k })
      nsds:insertDynamicalSystem(ds)
      objects["ds" .. k] = ds
    end
    for k = 1, count do
      local floor = ns.contact.sphere_plane(0.3, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      nsds:link(ns.Interaction(objects.law, floor, "floor" .. k), objects["ds" .. k])
    end
    if count == 2 then
      local both = ns.contact.sphere_sphere(0.3, 0.3)
      nsds:link(ns.Interaction(objects.law, both, "both"), objects.ds1, objects.ds2)
    end
    return event_driven(nsds, T, steps), objects
  end
end

sensitive.names = {}
for name in pairs(families) do sensitive.names[#sensitive.names + 1] = name end
table.sort(sensitive.names)

-- The model of number k; the random numbers are seeded by it.
function sensitive.draw(k)
  math.randomseed(k, 20)
  local family = sensitive.names[(k - 1) % #sensitive.names + 1]
  local data, list, make = families[family]()
  return model(family, data, list, make)
end

return sensitive
