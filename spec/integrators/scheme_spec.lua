-- The integrators behind TimeStepping: which systems and laws they take, and that a step of mechanics that fails leaves
-- everything as it was.
local ns = require "nslua"
local models = require "bind.models"
local message = models.message

local function graph(systems, links, T)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 1)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links or {}) do nsds:link(ns.Interaction(link[1], link[2], link[5]), link[3], link[4]) end
  return nsds
end

local function tank() return ns.FirstOrderLinearTIDS { x0 = { 1 }, A = { { -1 } }, name = "tank" } end
local function ball() return ns.LagrangianLinearTIDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, name = "ball" } end

-- One of each that the module has; those without weights take no argument.
local every = {}
for name, make in pairs(ns) do
  if name:find "OSI$" then every[#every + 1] = make(table.unpack(pcall(make, 0.5) and { 0.5 } or {})) end
end

describe("integrators", function()
  it("go on with a graph that grows between steps #once", function()
    for _, osi in ipairs(every) do
      local name = tostring(osi)
      local euler = (name:find "^EulerMoreau" or name:find "^FESD" or name:find "^Radau") ~= nil
      local make = (name:find "^RungeKutta" or name:find "^Radau") and ns.EventDriven or ns.TimeStepping
      local first = euler and tank() or ns.LagrangianDS({ 1 }, { -1 }, { { 2 } })
      local nsds, late = graph { first }, {}
      local simu = make(nsds, ns.TimeDiscretisation(0, 0.1), osi)
      simu:computeOneStep()
      simu:nextStep()
      for i = 1, 30 do
        late[i] = euler and tank() or ns.LagrangianDS({ i }, { i }, { { 1 } })
        late[i]:setName("late " .. i)
        nsds:insertDynamicalSystem(late[i])
      end
      simu:run()
      collectgarbage()
      for i = 1, 30 do assert.near(euler and math.exp(-0.9) or i + 0.9 * i, late[i]:x()[1], euler and 1e-3 or 1e-12, name) end
      assert.near(euler and math.exp(-1) or 0, first:x()[1], euler and 1e-3 or 1e-12, name)
    end
  end)

  it("take the systems of their family, and name the first that is none", function()
    local function refused(osi, ...)
      return message(ns.TimeStepping, graph { ... }, ns.TimeDiscretisation(0, 0.1), osi)
    end
    local body = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, ns.zeros(6), 1, ns.eye(3))
    body:setName "body"
    for _, name in ipairs { "MoreauJeanOSI", "MoreauJeanGOSI" } do
      assert.equal(name .. ": dynamical system 'tank' is a first-order one; use EulerMoreauOSI",
        refused(ns[name](0.5), ball(), tank()))
    end
    assert.equal("EulerMoreauOSI: dynamical system 'ball' is a mechanical one; use MoreauJeanOSI",
      refused(ns.EulerMoreauOSI(1), tank(), ball()))
    assert.equal("EulerMoreauOSI: dynamical system 'body' is a mechanical one; use MoreauJeanOSI",
      refused(ns.EulerMoreauOSI(1), body))
  end)

  it("take the laws and relations of their family, which link tells", function()
    local function refused(law, relation, ds, other)
      local nsds = graph { ds, other }
      return message(nsds.link, nsds, ns.Interaction(law, relation), ds, other)
    end
    local first, second = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), ns.LagrangianLinearTIR { { 1 } }
    local compliant = ns.LagrangianCompliantLinearTIR({ { 1 } }, { { 1 } })
    assert.equal("link: a FirstOrderLinearTIR goes with first-order systems; dynamical system 'ball' is not one",
      refused(ns.RelayNSL(1), first, ball()))
    assert.equal("link: a LagrangianLinearTIR goes with mechanical systems; dynamical system 'tank' is not one",
      refused(ns.RelayNSL(1), second, tank()))
    assert.equal("link: a LagrangianLinearTIR goes with mechanical systems; dynamical system 'tank' is not one",
      refused(ns.RelayNSL(1), ns.LagrangianLinearTIR { { 1, 1 } }, ball(), tank()))
    for _, law in ipairs { ns.NewtonImpactNSL(0), ns.NewtonImpactFrictionNSL(0, 0, 0, 2) } do
      local name = tostring(law):match "%a+"
      assert.equal(("link: a %s can not act through a FirstOrderLinearTIR: it takes relations between velocities"):format(name),
        refused(law, first, tank()))
      assert.equal(
        ("link: a %s can not act through a LagrangianCompliantLinearTIR: it takes relations between velocities"):format(name),
        refused(law, compliant, ball()))
    end
    assert.equal("link: a NormalConeNSL can not act through a LagrangianLinearTIR: it takes first-order relations",
      refused(ns.NormalConeNSL(1, { { 1 } }, { 0 }), second, ball()))
  end)

  it("bring the one-step problem of their family", function()
    local function kind(nsds, osi)
      return tostring(ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), osi):osnspb()):match "%a+"
    end
    assert.equal("MLCP", kind(graph { tank() }, ns.EulerMoreauOSI(1)))
    assert.equal("GenericMechanical", kind(graph { ball() }, ns.MoreauJeanOSI(0.5)))
    assert.equal("GenericMechanical", kind(graph { ball() }, ns.MoreauJeanGOSI(0.5)))
  end)

  it("keep an account of energies in mechanics alone", function()
    local simu = ns.TimeStepping(graph { tank() }, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
    assert.equal("energy: dynamical system 'tank' is a first-order one", message(simu.energy, simu))
  end)
end)

-- An arm of two coordinates with every callback there is, over a floor.
local arm = {
  name = "arm", q0 = { 1, 0.5 }, v0 = { 0, -1 }, z = { 9.81 },
  mass = function(q, _, M) M[1][1], M[2][2], M[1][2], M[2][1] = 2 + 0.1 * q[1] ^ 2, 1, 0.1, 0.1 end,
  fInt = function(t, q, v, _, f) f[1], f[2] = 4 * q[1] + 0.1 * v[1] + 0.01 * t, q[2] ^ 3 end,
  fGyr = function(q, v, _, f) f[1] = 0.1 * q[1] * v[1] ^ 2 end,
  fExt = function(t, z, f) f[1], f[2] = math.sin(t), -z[1] end,
  jacobianFIntq = function(_, q, _, _, J) J[1][1], J[2][2] = 4, 3 * q[2] ^ 2 end,
  jacobianFIntqDot = function(_, _, _, _, J) J[1][1] = 0.1 end,
  jacobianFGyrq = function(_, v, _, J) J[1][1] = 0.1 * v[1] ^ 2 end,
  jacobianFGyrqDot = function(q, v, _, J) J[1][1] = 0.2 * q[1] * v[1] end,
  potential = function(q, _, energy) energy[1] = 2 * q[1] ^ 2 + q[2] ^ 4 / 4 end,
}

local floors = {
  LagrangianScleronomousR = {
    h = function(q, _, y) y[1] = q[2] + 0.1 * q[1] ^ 2 end,
    Jachq = function(q, _, C) C[1][1], C[1][2] = 0.2 * q[1], 1 end,
  },
  LagrangianRheonomousR = {
    h = function(t, q, _, y) y[1] = q[2] + 0.1 * q[1] ^ 2 - 0.01 * t end,
    Jachq = function(_, q, _, C) C[1][1], C[1][2] = 0.2 * q[1], 1 end,
    hDot = function(_, _, _, r) r[1] = -0.01 end,
  },
  LagrangianCompliantR = {
    h = function(q, lambda, _, y) y[1] = q[2] + 0.1 * q[1] ^ 2 + 1e-3 * lambda[1] end,
    Jachq = function(q, _, _, C) C[1][1], C[1][2] = 0.2 * q[1], 1 end,
    Jachlambda = function(_, _, _, D) D[1][1] = 1e-3 end,
  },
}

local callbacks = {
  mass = "computeMass", fInt = "computeFInt", fGyr = "computeFGyr", fExt = "computeFExt", h = "computeh",
  jacobianFIntq = "computeJacobianFIntq", jacobianFIntqDot = "computeJacobianFIntqDot", jacobianFGyrq = "computeJacobianFGyrq",
  jacobianFGyrqDot = "computeJacobianFGyrqDot", potential = "computePotential", Jachq = "computeJachq", hDot = "computehDot",
  Jachlambda = "computeJachlambda",
}

-- The simulation, and the faults of its callbacks by their short names.
local function arm_on(class)
  local options, faults = models.faulty(arm)
  local floor, more = models.faulty(floors[class])
  for key, fault in pairs(more) do faults[key] = fault end
  floor.name = "floor"
  local ds = ns.LagrangianDS(options)
  local law = class == "LagrangianCompliantR" and ns.ComplementarityConditionNSL(1) or ns.NewtonImpactNSL(0.5)
  local nsds = graph({ ds }, { { law, ns[class](floor), ds } })
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.MoreauJeanOSI(0.5))
  simu:energy()
  return simu, faults
end

local function whole(simu)
  local energy, parts = simu:energy(), { models.state(simu), ("%a"):format(simu:nsds():interaction(1):y(1)[1]) }
  for _, name in ipairs { "total", "forces", "damping", "impacts", "friction", "numerical" } do
    parts[#parts + 1] = ("%a"):format(energy[name])
  end
  return table.concat(parts, " ")
end

describe("a step of mechanics that fails in a callback", function()
  local texts = { text = "boom", object = nil, nan = "is nan", inf = "is inf", few = "return value: ", yield = "yield" }
  for class, floor in pairs(floors) do
    it("leaves the last good state, and the run goes on: " .. class, function()
      local reference = arm_on(class)
      assert.is_true(reference:check())
      models.advance(reference)
      local names = {}
      for key, value in pairs(arm) do if type(value) == "function" then names[#names + 1] = key end end
      for key in pairs(floor) do names[#names + 1] = key end
      for _, key in ipairs(names) do
        for fault, text in pairs(texts) do
          local simu, faults = arm_on(class)
          models.advance(simu, 13)
          local before = whole(simu)
          for _ = 1, 2 do
            faults[key].now = models.faults[fault]
            local told = message(simu.computeOneStep, simu)
            faults[key].now = nil
            assert.matches((floor[key] and "relation 'floor' " or "dynamical system 'arm' ") .. callbacks[key] .. ": t=", told)
            assert.matches(text, told, 1, true)
            assert.equal(before, whole(simu))
          end
          models.advance(simu)
          assert.equal(whole(reference), whole(simu), key .. " " .. fault)
        end
      end
    end)
  end

  it("passes on an error that is a table", function()
    local simu, faults = arm_on "LagrangianScleronomousR"
    faults.fInt.now = models.faults.object
    assert.equal(models.object, models.failure(simu.computeOneStep, simu))
  end)

  it("is given by run too, which goes on afterwards", function()
    local simu, faults = arm_on "LagrangianRheonomousR"
    local reference = arm_on "LagrangianRheonomousR"
    local all = reference:run()
    faults.fExt.now = function(good, t, ...)
      if t > 0.5 then error "no power" end
      return good(t, ...)
    end
    local sol = simu:run { partial = true }
    assert.equal("failed", sol.status)
    assert.matches("dynamical system 'arm' computeFExt: t=0.55 step 11: no power", sol.message)
    faults.fExt.now = nil
    local rest = simu:run()
    for k = 1, #rest do assert.equal(all.x[#all - #rest + k], rest.x[k]) end
    assert.equal(whole(reference), whole(simu))
  end)
end)

describe("mechanics and first order alike", function()
  it("take a step in parts when it fails whole", function()
    local wanted
    local ds = ns.LagrangianDS { q0 = { 1 }, v0 = { 0 }, fInt = function(_, q, _, _, f)
      f[1] = wanted and 0 / 0 or q[1]
    end }
    local simu = ns.TimeStepping(graph { ds }, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    simu:setMaxSubsteps(4)
    simu:computeOneStep()
    simu:nextStep()
    local before = models.state(simu)
    wanted = true
    assert.matches("fInt%[1%] is nan", message(simu.computeOneStep, simu))
    assert.equal(before, models.state(simu))
    wanted = false
    assert.equal(11 - simu:step(), #simu:run())
  end)

  it("give the same bits after reset, in a clone and in a step computed again", function()
    for class in pairs(floors) do
      local simu = arm_on(class)
      local states = models.advance(simu)
      simu:reset()
      local copy = simu:clone()
      assert.same(states, models.advance(simu))
      assert.same(states, models.advance(copy))
      simu:reset()
      models.advance(simu, 13)
      local middle = simu:clone()
      for _ = 1, 3 do simu:computeOneStep() end
      assert.equal(states[14], (models.state(simu):gsub("^13 %S+", states[14]:match "^%d+ %S+")))
      assert.same(states[20], models.advance(middle)[20])
    end
  end)
end)
