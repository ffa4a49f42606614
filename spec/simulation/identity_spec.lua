-- What a run depends on besides its state is in a checkpoint: each constant that differs refuses the file, by its name.
local ns = require "nslua"
local host = require "host"

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

-- A simulation with what its parts are made of, each of which `o` may give otherwise.
local function simulation(o, systems, links, osi)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links) do nsds:link(table.unpack(link)) end
  local class = ns[o.class or "TimeStepping"]
  local simu = class(nsds, o.grid or ns.TimeDiscretisation(0, 0.125), o.osi or osi, o.problem)
  if o.set then o.set(simu) end
  return simu
end

local models = {}

-- Two states, two complementarities or what the options name.
function models.first_order(o)
  local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, o.A or { { -1, 0 }, { 0, -2 } }, o.b)
  if o.ds then o.ds(ds) end
  local relation = ns.FirstOrderLinearTIR(o.C or { { 1, 0 }, { 0, 1 } }, o.B or { { 1, 0 }, { 0, 1 } })
  if o.relation then o.relation(relation) end
  return simulation(o, { ds }, { { ns.Interaction(o.law or ns.ComplementarityConditionNSL(2), relation), ds } },
    ns.EulerMoreauOSI(0.5, 0.5))
end

function models.nonlinear(o)
  local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = o.z or { 1 }, f = function(_, x, _, d) d[1] = -x[1] end }
  if o.ds then o.ds(ds) end
  local relation = ns.FirstOrderNonLinearR { h = function(_, x, lambda, _, y) y[1] = x[1] + lambda[1] end,
    g = function(_, _, lambda, _, r) r[1] = lambda[1] end }
  if o.relation then o.relation(relation) end
  return simulation(o, { ds }, { { ns.Interaction(ns.ComplementarityConditionNSL(1), relation), ds } }, ns.EulerMoreauOSI(0.5))
end

function models.mixed(o)
  local ds = ns.FirstOrderLinearTIDS({ 1, 2, 3 }, { { -1, 0, 0 }, { 0, -2, 0 }, { 0, 0, -1 } })
  local law = o.law or ns.MixedComplementarityConditionNSL(2, 1)
  return simulation(o, { ds }, { { ns.Interaction(law, ns.FirstOrderLinearTIR(ns.eye(3), ns.eye(3))), ds } },
    ns.EulerMoreauOSI(0.5))
end

function models.cone(o)
  local ds = ns.FirstOrderLinearTIDS({ 2, -1 }, { { 0, 1 }, { -1, 0 } })
  local law = ns.NormalConeNSL(2, o.H or { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }, o.K or { -1, -1, -1, -1 })
  return simulation({ problem = ns.AVI() }, { ds }, { { ns.Interaction(law, ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2))), ds } },
    ns.EulerMoreauOSI(0.5))
end

function models.mechanics(o)
  local ds = ns.LagrangianDS { q0 = { 1, 0 }, v0 = { 0, 0 }, mass = { { 1, 0 }, { 0, 1 } } }
  if o.ds then o.ds(ds) end
  local relation = ns.LagrangianRheonomousR { h = function(_, q, _, y) y[1] = q[1] end }
  if o.relation then o.relation(relation) end
  return simulation(o, { ds }, { { ns.Interaction(ns.NewtonImpactNSL(0.5), relation), ds } }, ns.MoreauJeanOSI(0.5))
end

function models.linear_mechanics(o)
  local ds = ns.LagrangianLinearTIDS({ 1, 0 }, { 0, 0 }, { { 1, 0 }, { 0, 1 } })
  if o.ds then o.ds(ds) end
  local relation = ns.LagrangianLinearTIR { { 1, 0 } }
  if o.relation then o.relation(relation) end
  return simulation(o, { ds }, { { ns.Interaction(ns.NewtonImpactNSL(0.5), relation), ds } }, ns.MoreauJeanOSI(0.5))
end

function models.body(o)
  local ds = ns.NewtonEulerDS({ 0, 0, 5, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, o.inertia or ns.eye(3))
  if o.ds then o.ds(ds) end
  local relation = ns.NewtonEuler3DR(o.contact or { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 0, 1 } })
  return simulation(o, { ds }, { { ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), relation), ds } },
    ns.MoreauJeanOSI(0.5))
end

function models.events(o)
  o.class = "EventDriven"
  return models.linear_mechanics { class = "EventDriven", osi = o.osi or ns.RungeKuttaOSI(), set = o.set }
end

local function projected(o)
  o.class = "TimeSteppingDirectProjection"
  return models.mechanics(o)
end

local function with(name, ...)
  local values = { ... }
  return function(object) object[name](object, table.unpack(values)) end
end

-- { model, what is changed, what the file has (a part of the line), what is here }: the model as it is, then changed.
local cases = {
  -- time, integrator, simulation, one-step problem
  { "first_order", { grid = ns.TimeDiscretisation(0, 0.0625) }, "times: from 0, steps of 0.125", "steps of 0.0625" },
  { "first_order", { grid = ns.TimeDiscretisation { 0, 0.5, 1 } }, "times: from 0", "times: 3 points" },
  { "first_order", { osi = ns.EulerMoreauOSI(1, 0.5) }, "constants of the integrator: theta: 0.5", "integrator: theta: 1" },
  { "first_order", { osi = ns.EulerMoreauOSI(0.5, 1) }, "constants of the integrator: gamma: 0.5", "integrator: gamma: 1" },
  { "first_order", { set = function(simu) simu:osi():setTheta(0.75) end }, "theta: 0.5", "theta: 0.75" },
  { "first_order", { set = function(simu) simu:osi():setGamma(0.75) end }, "gamma: 0.5", "gamma: 0.75" },
  { "first_order", { set = function(simu) simu:osi():setUseGammaForRelation(true) end },
    "constants of the integrator: useGammaForRelation: no", "Relation: yes" },
  { "nonlinear", { set = with("setNewtonMaxIteration", 7) }, "Newton's method: most iterations: 50", "most iterations: 7" },
  { "nonlinear", { set = with("setNewtonTolerance", 1e-6) }, "Newton's method: relative tolerance: 1", "relative tolerance: 9.99" },
  { "nonlinear", { set = with("setNewtonTolerance", 1e-10, 1e-3) }, "Newton's method: absolute tolerance: ", "tolerance: 0.001" },
  { "nonlinear", { set = with("setMaxSubsteps", 4) }, "Newton's method: most parts of a step: 1", "most parts of a step: 4" },
  { "first_order", { problem = ns.LCP() }, "constants of the one-step problem: MLCP", "constants of the one-step problem: LCP" },
  { "first_order", { problem = ns.MLCP { solver = "lemke" } }, "one-step problem: method: ", "one-step problem: method: " },
  { "first_order", { problem = ns.MLCP { tolerance = 1e-5 } }, "one-step problem: tolerance: ", "one-step problem: tolerance: " },
  { "first_order", { problem = ns.MLCP { max_iterations = 9 } }, "one-step problem: most iterations: 0", "most iterations: 9" },
  { "mechanics", { osi = ns.MoreauJeanOSI(1) }, "theta: 0.5", "theta: 1" },
  { "mechanics", { osi = ns.MoreauJeanOSI(0.5, 1) }, "gamma: 0.5", "gamma: 1" },
  { "mechanics", { set = function(simu) simu:osi():setLinearlyImplicit(true) end }, "linearlyImplicit: no",
    "linearlyImplicit: yes" },
  { "mechanics", { class = "TimeSteppingDirectProjection" }, "MoreauJeanOSI", "MoreauJeanOSI with projection" },
  { projected, { set = with("setConstraintTolerance", 1e-3) }, "the projection: tolerance: 1", "the projection: tolerance: 0.001" },
  { projected, { set = with("setConstraintTolerance", 1e-10, 3) }, "the projection: most iterations: 20", "most iterations: 3" },
  { "events", { osi = ns.RungeKuttaOSI(1e-9) }, "integrator: rtol: ", "rtol: " },
  { "events", { osi = ns.RungeKuttaOSI(1e-12, 1e-9) }, "integrator: atol: ", "atol: " },
  { "events", { set = function(simu) simu:osi():setTolerances(1e-8, 1e-8) end }, "integrator: rtol: ",
    "rtol: " },
  { "events", { set = function(simu) simu:osi():setContactTolerance(1e-6) end }, "integrator: contactTolerance: ", "Tolerance: " },
  { "events", { set = function(simu) simu:osi():setMaxEvents(9) end }, "maxEvents: 1000000",
    "maxEvents: 9" },
  -- systems
  { "first_order", { A = { { -1, 0 }, { 0, -3 } } }, "dynamical system 1 'ds 1': A: 2 x 2 ", "'ds 1': A: 2 x 2 " },
  { "first_order", { b = { 1, 0 } }, "interaction 1", "dynamical system 1 'ds 1': b: 2 x 1 " },
  { "first_order", { ds = with("setMPtr", { { 1, 0 }, { 0, 2 } }) }, "'ds 1': A: ", "'ds 1': M: " },
  { "first_order", { ds = with("setName", "tank") }, "dynamical system 1 'ds 1': of first order", "dynamical system 1 'tank'" },
  { "nonlinear", { z = { 1, 2 } }, "'ds 1': 1 parameters", "'ds 1': 2 parameters" },
  { "nonlinear", { ds = with("setJacobianfxPtr", { { -1 } }) }, "'ds 1': f: a callback", "'ds 1': jacobianfx: 1 x 1 " },
  { "mechanics", { ds = with("setMassPtr", { { 1, 0 }, { 0, 3 } }) }, "'ds 1': mass: ", "'ds 1': mass: " },
  { "linear_mechanics", { ds = with("setKPtr", { { 1, 0 }, { 0, 3 } }) }, "interaction 1", "'ds 1': K: " },
  { "linear_mechanics", { ds = with("setCPtr", { { 1, 0 }, { 0, 3 } }) }, "interaction 1", "'ds 1': C: " },
  { "linear_mechanics", { ds = with("setFExtPtr", { 1, 2 }) }, "interaction 1", "'ds 1': fExt: 2 x 1 " },
  { "linear_mechanics", { ds = with("setComputeFExtFunction", function(_, _, f) f[1] = 1 end) }, "interaction 1",
    "'ds 1': fExt: a function of time" },
  { "mechanics", { ds = with("setFIntPtr", { 1, 2 }) }, "interaction 1", "'ds 1': fInt: " },
  { "mechanics", { ds = with("setFGyrPtr", { 1, 2 }) }, "interaction 1", "'ds 1': fGyr: " },
  { "mechanics", { ds = with("setJacobianFIntqPtr", { { 1, 0 }, { 0, 0 } }) }, "interaction 1", "'ds 1': jacobianFIntq: " },
  { "mechanics", { ds = with("setJacobianFIntqDotPtr", { { 1, 0 }, { 0, 0 } }) }, "interaction 1", "'ds 1': jacobianFIntqDot: " },
  { "mechanics", { ds = with("setJacobianFGyrqPtr", { { 1, 0 }, { 0, 0 } }) }, "interaction 1", "'ds 1': jacobianFGyrq: " },
  { "mechanics", { ds = with("setJacobianFGyrqDotPtr", { { 1, 0 }, { 0, 0 } }) }, "interaction 1", "'ds 1': jacobianFGyrqDot: " },
  { "mechanics", { ds = with("setComputeFIntFunction", function() end) }, "interaction 1", "'ds 1': fInt: a callback" },
  { "mechanics", { ds = with("setComputeFGyrFunction", function() end) }, "interaction 1", "'ds 1': fGyr: a callback" },
  { "mechanics", { ds = with("setComputePotentialFunction", function() return 0 end) }, "interaction 1",
    "'ds 1': potential: a callback" },
  { "mechanics", { ds = function(ds) ds:setBoundaryConditions(ns.FixedBC { 2 }) end }, "4 states",
    "4 states, 1 velocities prescribed" },
  { "body", { inertia = 2 * ns.eye(3) }, "'ds 1': mass: ", "'ds 1': mass: " },
  { "body", { ds = with("setIsMextExpressedInInertialFrame", true) }, "'ds 1': mExt in the inertial frame: no",
    "'ds 1': mExt in the inertial frame: yes" },
  { "body", { ds = with("setComputeMExtFunction", function() end) }, "'ds 1': mExt in the inertial frame: no",
    "'ds 1': mExt: a function of time" },
  { "body", { ds = with("setComputeMIntFunction", function() end) }, "interaction 1", "'ds 1': mInt: a callback" },
  -- laws and relations
  { "mixed", { law = ns.MixedComplementarityConditionNSL(1, 2) }, "'interaction 1': equalities of its law: ",
    "equalities of its law: " },
  { "first_order", { law = ns.RelayNSL(2, -1, 1) }, "ComplementarityConditionNSL of 2", "RelayNSL of 2" },
  { "cone", { H = { { 2, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } }, "'interaction 1': H of its law: 4 x 2 ",
    "H of its law: 4 x 2 " },
  { "cone", { K = { -2, -1, -1, -1 } }, "'interaction 1': K of its law: 4 x 1 ", "K of its law: 4 x 1 " },
  { "first_order", { C = { { 1, 0 }, { 0, 2 } } }, "'interaction 1': C: ", "'interaction 1': C: " },
  { "first_order", { B = { { 1, 0 }, { 0, 2 } } }, "'interaction 1': B: ", "'interaction 1': B: " },
  { "first_order", { relation = with("setDPtr", { { 1, 0 }, { 0, 2 } }) }, "'interaction 1': B: ", "'interaction 1': D: " },
  { "first_order", { relation = with("setePtr", { 1, 0 }) }, "the integrator", "'interaction 1': e: " },
  { "first_order", { relation = function(r) r:setz { 2 } r:setFPtr { { 1 }, { 0 } } end }, "'interaction 1': C: ",
    "'interaction 1': 1 parameters of its relation" },
  { "nonlinear", { relation = with("setCPtr", { { 1 } }) }, "'interaction 1': h: ", "'interaction 1': C: " },
  { "nonlinear", { relation = with("setKPtr", { { 0 } }) }, "'interaction 1': h: ", "'interaction 1': K: " },
  { "mechanics", { relation = with("setComputehDotFunction", function() end) }, "the integrator",
    "'interaction 1': hDot: a callback" },
  { "mechanics", { relation = with("setComputeDotJachqFunction", function() end) }, "the integrator",
    "'interaction 1': dotJachq: a callback" },
  { "linear_mechanics", { relation = with("setePtr", { 1 }) }, "the integrator", "'interaction 1': e: " },
  { "body", { contact = { shape = "sphere_plane", R = 0.25, point = { 0, 0, 0 }, normal = { 0, 0, 1 } } },
    "'interaction 1': R: 0.5", "'interaction 1': R: 0.25" },
  { "body", { contact = { shape = "sphere_plane", R = 0.5, point = { 0, 0, 1 }, normal = { 0, 0, 1 } } },
    "'interaction 1': point: 0 0 0", "'interaction 1': point: 0 0 1" },
  { "body", { contact = { shape = "sphere_plane", R = 0.5, point = { 0, 0, 0 }, normal = { 0, 1, 0 } } },
    "'interaction 1': normal: 0 0 1", "'interaction 1': normal: 0 1 0" },
  { "body", { contact = { shape = "corner_plane", corner = { 1, 0, 0 }, point = { 0, 0, 0 }, normal = { 0, 0, 1 } } },
    "'interaction 1': shape: sphere_plane", "'interaction 1': shape: corner_plane" },
}

describe("a checkpoint of a model whose constants are others", function()
  local function make(model, o) return (models[model] or model)(o) end

  for number, case in ipairs(cases) do
    local model, change, has, here = table.unpack(case)
    local name = type(model) == "string" and model or "projected"
    it(("is refused by name, %d: %s, %s"):format(number, name, here), function()
      local file = directory .. "/" .. number
      local simu = make(model, {})
      simu:computeOneStep()
      simu:nextStep()
      simu:save_state(file)
      local other = make(model, change)
      local good, err = pcall(other.load_state, other, file)
      assert.is_false(good)
      local theirs, ours = err:match 'is of another model: it has "(.-)", here is "(.-)"'
      assert.truthy(theirs, err)
      assert.truthy(theirs:find(has, 1, true), err)
      assert.truthy(ours:find(here, 1, true), err)
      assert.equal(0, other:step())
      local same = make(model, {})
      same:load_state(file)
      assert.equal(1, same:step())
      local constant = (theirs:find "^constants of" or ours:find "^constants of") ~= nil
      assert.equal(constant, err:find('"; load_state(file, {constants = false}) takes it all the same', 1, true) ~= nil)
      if constant and not ours:find "parameters of" then
        other:load_state(file, { constants = false })
        assert.equal(1, other:step())
      end
      os.remove(file)
      os.remove(file .. ".previous")
    end)
  end

  it("is taken with a coefficient that is a view of a state, wherever that is", function()
    local function pair()
      local a = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      local b = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } })
      b:setbPtr(a:x())
      return simulation({}, { a, b }, {}, ns.EulerMoreauOSI(0.5))
    end
    local simu = pair()
    simu:computeOneStep()
    simu:nextStep()
    simu:save_state(directory .. "/view")
    local other = pair()
    other:load_state(directory .. "/view")
    simu:run()
    other:run()
    assert.equal(simu:nsds():dynamicalSystem(2):x()[1], other:nsds():dynamicalSystem(2):x()[1])
  end)

  describe("of another layout", function()
    local file = directory .. "/old"

    -- Writes a checkpoint of these pieces, and returns what load_state says of it.
    local function message(identity, state)
      local bytes = "nslua checkpoint 1\n" .. ("=I8s8s8s8"):pack(0x0102030405060708, identity, "", state)
      host.write(file, bytes .. ("=i8"):pack(host.crc64(bytes)))
      local good, err = pcall(models.first_order({}).load_state, models.first_order {}, file)
      assert.is_false(good)
      return err
    end

    -- The identity and the state that this version writes.
    local function pieces()
      models.first_order({}):save_state(file)
      local _, identity, _, state = ("=I8s8s8s8"):unpack(host.read(file), #"nslua checkpoint 1\n" + 1)
      return identity, state
    end

    it("is told as such, whatever the first line is", function()
      local identity = pieces()
      local old = identity:gsub("^layout %d+", "layout 1")
      assert.not_equal(identity, old)
      for _, text in ipairs { old, "EulerMoreauOSI, weights 0123456789abcdef\n", "" } do
        assert.matches("load_state: '" .. file .. "' was written by another version of nslua", message(text, ""), 1, true)
      end
    end)

    it("is told by the size of the state where the model is the same", function()
      local identity, state = pieces()
      local start = "' was written by another version of nslua: its state is "
      assert.matches(start .. "shorter", message(identity, state:sub(1, -33)), 1, true)
      assert.matches(start .. "longer", message(identity, state .. ("\0"):rep(8)), 1, true)
    end)
  end)

  it("carries the parameters of a relation", function()
    local function make_one()
      local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      local relation = ns.FirstOrderNonLinearR { z = { 1 }, h = function(_, x, _, _, y) y[1] = x[1] end,
        g = function(_, _, lambda, z, r) r[1] = z[1] * lambda[1] end }
      return simulation({}, { ds }, { { ns.Interaction(ns.RelayNSL(1, -1, 1), relation), ds } }, ns.EulerMoreauOSI(1)), relation
    end
    local simu, relation = make_one()
    simu:computeOneStep()
    simu:nextStep()
    relation:z()[1] = 3
    simu:save_state(directory .. "/z")
    local other, second = make_one()
    other:load_state(directory .. "/z")
    assert.equal(3, second:z()[1])
  end)
end)
