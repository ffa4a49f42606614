-- BoundaryCondition, FixedBC, HarmonicBC: what they take, what they show, callbacks, clones, errors by their text.
local ns = require "nslua"

local function message(f, ...)
  local good, text = pcall(f, ...)
  assert.is_false(good)
  return (tostring(text):gsub("^[^ ]*:%d+: ", ""):gsub("\nstack traceback.*", ""))
end

local function free(n, h)
  local ds = ns.LagrangianLinearTIDS(ns.zeros(n), ns.zeros(n), ns.eye(n))
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  return ds, ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h or 0.1), ns.MoreauJeanOSI(0.5)), nsds
end

describe("boundary conditions", function()
  it("tell what they are", function()
    local bc = ns.BoundaryCondition({ 3, 1 }, { 5, 6 })
    assert.equal("BoundaryCondition of 2 velocities", tostring(bc))
    assert.equal("FixedBC of 1 velocity", tostring(ns.FixedBC(2)))
    assert.same({ 3, 1 }, bc:velocityIndices())
    assert.same({ 5, 6 }, bc:prescribedVelocity():totable())
    assert.same({ 0, 0 }, ns.BoundaryCondition { 1, 2 }:prescribedVelocity():totable())
    assert.equal("", bc:name())
    bc:setName "shaker"
    assert.equal("shaker", bc:name())
    local ds = free(3)
    assert.is_nil(ds:boundaryConditions())
    assert.is_nil(ds:reactionToBoundaryConditions())
    assert.has_error(function() ds:setReactionToBoundaryConditions { 0 } end,
      "LagrangianLinearTIDS: setReactionToBoundaryConditions: there are no boundary conditions")
    ds:setBoundaryConditions(bc)
    assert.equal(bc, ds:boundaryConditions())
    assert.same({ 0, 0 }, ds:reactionToBoundaryConditions():totable())
    local reaction = ds:reactionToBoundaryConditions()
    ds:setReactionToBoundaryConditions { 1.5, -2 }
    assert.same({ 1.5, -2 }, reaction:totable())
    assert.has_error(function() ds:setReactionToBoundaryConditions { 1 } end,
      "LagrangianLinearTIDS: reaction: expected a vector of 2, got a list of 1")
    ds:setReactionToBoundaryConditions { 0, 0 }
    ds:setBoundaryConditions(nil)
    assert.is_nil(ds:boundaryConditions())
  end)

  it("keep a vector that they are given, and copy a table", function()
    local v, ds, simu = ns.vector { 1 }, free(1)
    ds:setBoundaryConditions(ns.BoundaryCondition({ 1 }, v))
    v[1] = 4
    simu:computeOneStep()
    assert.equal(4, ds:velocity()[1])
  end)

  it("move harmonically, each in its own way", function()
    local bc = ns.HarmonicBC({ 1, 2 }, { 1, 2 }, 0.5, { 3, 4 }, 0.1)
    local v = bc:computePrescribedVelocity(0.7)
    assert.equal(1 + 0.5 * math.cos(3 * 0.7 + 0.1), v[1])
    assert.equal(2 + 0.5 * math.cos(4 * 0.7 + 0.1), v[2])
  end)

  it("are functions of time: given, set, of a class, as a field", function()
    local function motion(t, v) v[1], v[2] = t, 2 * t end
    local Shaker = ns.class(ns.BoundaryCondition, "shaker")
    function Shaker:init(_, rate) self.rate = rate end
    function Shaker:computePrescribedVelocity(t, v) v[1], v[2] = self.rate * t, 2 * t end
    local set = ns.BoundaryCondition { 2, 1 }
    set:setComputePrescribedVelocityFunction(motion)
    local field = ns.BoundaryCondition { 2, 1 }
    function field.computePrescribedVelocity(_, t, v) motion(t, v) end
    for _, bc in ipairs { ns.BoundaryCondition({ 2, 1 }, motion), set, Shaker({ 2, 1 }, 1), field } do
      local ds, simu = free(2)
      ds:setBoundaryConditions(bc)
      for _, t in simu:steps() do
        assert.equal(t, ds:velocity()[2])
        assert.equal(2 * t, ds:velocity()[1])
      end
      assert.same({ 3, 6 }, bc:computePrescribedVelocity(3):totable())
    end
    set:setComputePrescribedVelocityFunction(nil)
    assert.same({ 0, 0 }, set:computePrescribedVelocity(3):totable())
  end)

  it("follow a class whose method is changed between steps", function()
    local Shaker = ns.class(ns.BoundaryCondition)
    function Shaker:computePrescribedVelocity(_, v) v[1] = 1 end
    local ds, simu = free(1)
    ds:setBoundaryConditions(Shaker { 1 })
    simu:computeOneStep()
    simu:nextStep()
    function Shaker:computePrescribedVelocity(_, v) v[1] = 7 end
    simu:computeOneStep()
    assert.equal(7, ds:velocity()[1])
  end)

  it("are those of two systems", function()
    local bc = ns.HarmonicBC({ 1 }, 0, 1, 1, 0)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local a, b = ns.LagrangianLinearTIDS({ 0 }, { 0 }, { { 1 } }), ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
    for _, ds in ipairs { a, b } do
      ds:setBoundaryConditions(bc)
      nsds:insertDynamicalSystem(ds)
    end
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5)):run()
    assert.equal(math.cos(1), a:velocity()[1])
    assert.equal(math.cos(1), b:velocity()[1])
  end)

  it("are cloned with a simulation, numbers and callbacks and reactions", function()
    for _, bc in ipairs { ns.BoundaryCondition({ 1 }, { 3 }), ns.HarmonicBC({ 1 }, 0, 1, 2, 0.3),
                          ns.BoundaryCondition({ 1 }, function(t, v) v[1] = t end), ns.FixedBC { 1 } } do
      local ds, simu = free(2)
      ds:setFExtPtr { 1, 1 }
      ds:setBoundaryConditions(bc)
      simu:computeOneStep()
      simu:nextStep()
      local copy = simu:clone()
      local twin = copy:nsds():dynamicalSystem(1)
      assert.not_equal(bc, twin:boundaryConditions())
      assert.equal(ds:reactionToBoundaryConditions()[1], twin:reactionToBoundaryConditions()[1])
      simu:run()
      copy:run()
      assert.same(ds:x():totable(), twin:x():totable())
      assert.equal(ds:reactionToBoundaryConditions()[1], twin:reactionToBoundaryConditions()[1])
    end
  end)

  it("outlive nothing: a system keeps what it needs, in any order of collection", function()
    local ds, simu = free(1)
    do
      local bc = ns.BoundaryCondition({ 1 }, function(t, v) v[1] = t end)
      ds:setBoundaryConditions(bc)
    end
    collectgarbage()
    simu:run()
    assert.equal(1, ds:velocity()[1])
    local weak = setmetatable({ ds:boundaryConditions() }, { __mode = "v" })
    ds:setBoundaryConditions(ns.FixedBC { 1 })
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
  end)

  it("say what is wrong with their arguments", function()
    assert.equal("BoundaryCondition: indices: expected a list of integers, got nil", message(ns.BoundaryCondition))
    assert.equal("FixedBC: indices: expected a list of integers, got an empty table", message(ns.FixedBC, {}))
    assert.equal("BoundaryCondition: indices[2]: expected an integer, got number 1.5", message(ns.BoundaryCondition, { 1, 1.5 }))
    assert.equal("FixedBC: indices[1]: indices count from 1, got 0", message(ns.FixedBC, { 0 }))
    assert.equal("FixedBC: indices[3]: 2 is indices[1] already", message(ns.FixedBC, { 2, 1, 2 }))
    assert.equal("BoundaryCondition: values: expected a vector of 2, got a list of 3",
      message(ns.BoundaryCondition, { 1, 2 }, { 1, 2, 3 }))
    assert.equal("HarmonicBC: omega: expected a vector of 1, got vector of 2",
      message(ns.HarmonicBC, { 1 }, 0, 1, ns.vector { 1, 2 }, 0))
    assert.equal("HarmonicBC: phi: expected a vector of 1, got nil", message(ns.HarmonicBC, { 1 }, 0, 1, 2))
    assert.equal("setComputePrescribedVelocityFunction: a FixedBC has no callbacks",
      message(function() ns.FixedBC { 1 }:setComputePrescribedVelocityFunction(print) end))
    local ds = free(2)
    assert.equal("setBoundaryConditions: index 5 is outside 1..2, the velocities of dynamical system 'ds 1'",
      message(ds.setBoundaryConditions, ds, ns.FixedBC { 1, 5 }))
    assert.truthy(message(ds.setBoundaryConditions, ds, { 1 }):find "boundary condition expected, got a list of 1")
  end)

  it("whose function raises, or gives what is no number, stop the step; the state is that before", function()
    local bad
    local function motion(_, v)
      if bad then bad(v) end
      v[1] = 1
    end
    local ds, simu = free(1)
    local bc = ns.BoundaryCondition({ 1 }, motion)
    bc:setName "motor"
    ds:setBoundaryConditions(bc)
    simu:computeOneStep()
    simu:nextStep()
    bad = function() error "the motor is hot" end
    assert.equal("boundary condition 'motor' computePrescribedVelocity: t=0.2 step 2: the motor is hot",
      message(simu.computeOneStep, simu))
    bad = function(v) v[2] = 1 end
    assert.truthy(message(simu.computeOneStep, simu):find "computePrescribedVelocity: t=0.2 step 2: ")
    bad = nil
    bc:setComputePrescribedVelocityFunction(function(_, v) v[1] = 0 / 0 end)
    assert.truthy(message(simu.computeOneStep, simu):find "velocity%[1%] is %-?nan")
    assert.equal(1, ds:velocity()[1])
    bc:setComputePrescribedVelocityFunction(motion)
    simu:computeOneStep()
    assert.near(0.15, ds:q()[1], 1e-15)
  end)
end)
