-- Every field of every class: a checkpoint of another CONSTANT is refused, a STATE is given back. The classes come from the
-- lists and the fields from their tables: what is added there is looked at without a word here, but for an example of it.
local ns = require "nslua"
local host = require "host"
local internal = require "nslua.internal"
local laws = require "model.law.laws"

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

-- An example of each class; a list that has one without an example fails.

local systems = {
  FirstOrderNonLinearDS = function()
    return ns.FirstOrderNonLinearDS { x0 = { 1 }, f = function(_, x, _, d) d[1] = -x[1] end, z = { 1 } }
  end,
  FirstOrderLinearDS = function() return ns.FirstOrderLinearDS { x0 = { 1 }, A = { { -1 } }, z = { 1 } } end,
  FirstOrderLinearTIDS = function() return ns.FirstOrderLinearTIDS { x0 = { 1 }, A = { { -1 } }, z = { 1 } } end,
  LagrangianDS = function() return ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, fExt = { -1 }, z = { 1 } } end,
  ["LagrangianDS of a disk"] = function()
    return ns.LagrangianDS { q0 = { 0, 5, 0 }, v0 = { 0, 0, 0 }, mass = ns.eye(3), fExt = { 0, -1, 0 }, z = { 1 } }
  end,
  LagrangianLinearTIDS = function() return ns.LagrangianLinearTIDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, z = { 1 } } end,
  LagrangianLinearDiagonalDS = function()
    return ns.LagrangianLinearDiagonalDS { q0 = { 1 }, v0 = { 0 }, stiffness = { 1 }, z = { 1 } }
  end,
  NewtonEulerDS = function()
    return ns.NewtonEulerDS { q0 = { 0, 0, 5, 1, 0, 0, 0 }, v0 = { 0, 0, 0, 0, 0, 0 }, mass = 1, inertia = ns.eye(3), z = { 1 } }
  end,
}

local function x1(_, x, _, _, y) y[1] = x[1] end
local function q1(_, q, _, y) y[1] = q[1] end
local function still_q1(q, _, y) y[1] = q[1] end
local shape = { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 0, 1 }, z = { 1 } }

-- The relation, its law, and the class of its system.
local relations = {
  FirstOrderLinearTIR = function() return ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1 } }, z = { 1 } } end,
  FirstOrderLinearR = function() return ns.FirstOrderLinearR { C = { { 1 } }, B = { { 1 } }, z = { 1 } } end,
  FirstOrderType1R = function()
    return ns.FirstOrderType1R { h = q1, g = function(_, lambda, _, r) r[1] = lambda[1] end, z = { 1 } }
  end,
  FirstOrderType2R = function()
    return ns.FirstOrderType2R { h = q1, g = function(_, lambda, r) r[1] = lambda[1] end, z = { 1 } }
  end,
  FirstOrderNonLinearR = function()
    return ns.FirstOrderNonLinearR { h = x1, g = function(_, _, lambda, _, r) r[1] = lambda[1] end, z = { 1 } }
  end,
  LagrangianLinearTIR = function() return ns.LagrangianLinearTIR { C = { { 1 } }, z = { 1 } }, "LagrangianDS" end,
  LagrangianScleronomousR = function() return ns.LagrangianScleronomousR { h = still_q1, z = { 1 } }, "LagrangianDS" end,
  LagrangianRheonomousR = function() return ns.LagrangianRheonomousR { h = q1, z = { 1 } }, "LagrangianDS" end,
  LagrangianCompliantLinearTIR = function()
    local relation = ns.LagrangianCompliantLinearTIR { C = { { 1 } }, D = { { 1 } }, z = { 1 } }
    return relation, "LagrangianDS", ns.ComplementarityConditionNSL(1)
  end,
  LagrangianCompliantR = function()
    local function h(q, lambda, _, y) y[1] = q[1] + lambda[1] end
    return ns.LagrangianCompliantR { h = h, z = { 1 } }, "LagrangianDS", ns.ComplementarityConditionNSL(1)
  end,
  Lagrangian2d2DR = function()
    local relation = ns.Lagrangian2d2DR { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 1, 0 }, z = { 1 } }
    return relation, "LagrangianDS of a disk", ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2)
  end,
  NewtonEulerR = function() return ns.NewtonEulerR { h = function(_, q, _, y) y[1] = q[3] end, z = { 1 } }, "NewtonEulerDS" end,
  NewtonEuler1DR = function() return ns.NewtonEuler1DR(shape), "NewtonEulerDS" end,
  NewtonEuler3DR = function() return ns.NewtonEuler3DR(shape), "NewtonEulerDS", ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3) end,
  NewtonEuler5DR = function()
    return ns.NewtonEuler5DR(shape), "NewtonEulerDS", ns.NewtonImpactRollingFrictionNSL(0, 0, 0.3, 0.1, 5)
  end,
  NewtonEuler6DR = function()
    return ns.NewtonEuler6DR(shape), "NewtonEulerDS", ns.NewtonImpactSpinningFrictionNSL(0, 0, 0.3, 0.1, 0.1, 6)
  end,
}

local boundaries = {
  BoundaryCondition = function() return ns.BoundaryCondition({ 1 }, { 0.5 }) end,
  FixedBC = function() return ns.FixedBC { 1 } end,
  HarmonicBC = function() return ns.HarmonicBC({ 1 }, 0, 1, 1, 0) end,
}


local function is_mechanical(name) return name:find "^Lagrangian" ~= nil or name:find "^NewtonEuler" ~= nil end

-- A simulation of one system, with a relation and a law unless the relation is false.
local function simulate(o)
  local relation, system, law = nil, o.system, nil
  if o.relation ~= false then
    local name = o.relation or (is_mechanical(o.system or "") and "LagrangianLinearTIR" or "FirstOrderLinearTIR")
    relation, system, law = relations[name]()
    system = o.system or system or "FirstOrderLinearTIDS"
  end
  local ds = systems[system]()
  local mechanical = is_mechanical(system)
  if o.boundary then ds:setBoundaryConditions(boundaries[o.boundary]()) end
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  if relation then
    nsds:link(ns.Interaction(law or (mechanical and ns.NewtonImpactNSL(0.5) or ns.ComplementarityConditionNSL(1)), relation), ds)
  end
  local name = o.osi or (mechanical and "MoreauJeanOSI" or "EulerMoreauOSI")
  local good, osi = pcall(ns[name], 0.5) -- a weight, for those that have one
  if not good then osi = ns[name]() end
  return ns[o.class or "TimeStepping"](nsds, o.grid and ns.TimeDiscretisation(o.grid) or ns.TimeDiscretisation(0, 0.125), osi,
    o.problem and ns[o.problem]() or nil)
end

local examples = {}
local function example(name, make) examples[#examples + 1] = { name, make } end

for _, class in ipairs(internal.classes()) do
  local name, noun = class.name, class.noun
  if noun == "relation" then
    example(name, relations[name] and function() return simulate { relation = name } end)
  elseif noun == "boundary condition" then
    example(name, boundaries[name] and function()
      return simulate { system = "LagrangianDS", relation = false, boundary = name }
    end)
  else
    local boundary = is_mechanical(name) and "FixedBC" or nil
    example(name, systems[name] and function() return simulate { system = name, relation = false, boundary = boundary } end)
  end
end
for _, class in ipairs(laws.classes) do
  example(class.name, function() return (laws.simulation(laws.make(class))) end)
end
local lists = internal.names()
for _, name in ipairs(lists.integrators) do
  example(name, function() -- of a system and a simulation that it goes with
    local simu, good
    for _, system in ipairs { "LagrangianLinearTIDS", "FirstOrderLinearTIDS" } do
      for _, class in ipairs { "TimeStepping", "EventDriven" } do
        good, simu = pcall(simulate, { system = system, osi = name, class = class })
        if good then return simu end
      end
    end
    error(simu)
  end)
end
for _, name in ipairs(lists.problems) do
  example(name, function()
    if name == "FrictionContact" then return simulate { relation = "NewtonEuler3DR", problem = name } end
    if name == "RollingFrictionContact" then return simulate { relation = "NewtonEuler5DR", problem = name } end
    if name == "Equality" then return simulate { relation = false, system = "FirstOrderLinearTIDS", problem = name } end
    return simulate { problem = name }
  end)
end
for _, name in ipairs(lists.simulations) do
  example(name, function()
    return simulate { system = "LagrangianLinearTIDS", class = name, osi = name == "EventDriven" and "RungeKuttaOSI" or nil }
  end)
end
example("a grid of points", function() return simulate { system = "FirstOrderLinearTIDS", grid = { 0, 0.5, 1 } } end)

-- A file of the example after one step.
local function saved(make, file)
  local simu = make()
  simu:computeOneStep()
  simu:nextStep()
  simu:save_state(file)
  return simu
end

local function each(simu, flag, f)
  for p, part in ipairs(internal.parts(simu)) do
    for i, field in ipairs(part.fields) do
      if field[flag] then f(p, i, ("%s of %s"):format(field.name, part.kind)) end
    end
  end
end

describe("a checkpoint", function()
  local seen, changed = {}, {}

  for _, case in ipairs(examples) do
    local name, make = table.unpack(case)

    it("is refused where a constant is another one: " .. name, function()
      assert.truthy(make, "there is no example of " .. name)
      local file = directory .. "/constant"
      each(saved(make, file), "constant", function(part, field, what)
        local other = make()
        seen[what] = true
        if not internal.poke(other, part, field) then return end
        changed[what] = true
        local good, err = pcall(other.load_state, other, file)
        assert.is_false(good, what)
        assert.matches("is of another model", err, 1, true)
      end)
    end)

    it("gives back what a run changes: " .. name, function()
      local file = directory .. "/state"
      local simu = saved(make, file)
      local before = {}
      each(simu, "state", function(part, field, what) before[what .. part] = internal.peek(simu, part, field) end)
      each(simu, "state", function(part, field, what)
        seen[what] = true
        if not internal.poke(simu, part, field) then return end
        changed[what] = true
        assert.not_equal(before[what .. part], internal.peek(simu, part, field), what)
      end)
      simu:load_state(file)
      each(simu, "state", function(part, field, what)
        assert.equal(before[what .. part], internal.peek(simu, part, field), what)
      end)
    end)
  end

  it("has been looked at in each of these fields", function()
    for what in pairs(seen) do assert.truthy(changed[what], what) end
  end)
end)
