-- Checkpoints: going on from a file gives the bits of a run that was not stopped.
local ns = require "nslua"
local events = require "simulation.events"
local host = require "host"
local models = require "models"

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local function file(name)
  return directory .. "/" .. name
end

-- The state of everything in a simulation, each number to the last bit.
local function bytes(simu)
  local parts, nsds = { simu:step(), simu:newtonIterations() }, simu:nsds()
  local function add(v)
    for _, x in ipairs(v:totable()) do parts[#parts + 1] = ("%a"):format(x) end
  end
  for i = 1, nsds:numberOfDynamicalSystems() do
    local ds = nsds:dynamicalSystem(i)
    add(ds:x())
    add(ds:r())
  end
  for i = 1, nsds:numberOfInteractions() do
    local inter = nsds:interaction(i)
    add(inter:y(0))
    add(inter:lambda())
  end
  return table.concat(parts, " ")
end

-- Runs `simu` from its start; what goes on in `other`, the same model, from a few of its states must end the same way.
local function check(simu, other, places)
  local n = simu:numberOfSteps()
  local saved = {}
  for _, place in ipairs(places or { 0, 1, 0.3, 0.71 }) do saved[place < 1 and place * n // 1 | 0 or place] = true end
  if saved[0] then simu:save_state(file "0") end
  for k in simu:steps() do
    if saved[k] then
      local computed = file(k)
      simu:nextStep()
      simu:save_state(computed)
    end
  end
  local expected = bytes(simu)
  for k in pairs(saved) do
    other:load_state(file(k))
    assert.equal(k, other:step())
    other:run()
    assert.equal(expected, bytes(other), ("from step %d"):format(k))
  end
end

describe("a run that goes on from a checkpoint is that which was not stopped", function()
  for _, name in ipairs { "filippov", "relay_two_axes", "circuit_rlcd_gamma", "diode_bridge", "step_system", "step_reduced",
                          "cam_follower", "ball2d_friction", "rocking_block" } do
    it("in " .. name, function()
      local _, simu = assert(loadfile("spec/cases/" .. name .. ".lua"))()()
      simu:reset()
      check(simu, simu:clone())
    end)
  end

  it("in a polygon, and that of another one is refused", function()
    local function polygon(corner)
      local ds = ns.FirstOrderLinearTIDS({ 2, -1 }, { { 0, 1 }, { -1, 0 } })
      local law = ns.NormalConeNSL(2, { { 1, 1 }, { -1, 1 }, { 1, -1 }, { -1, -1 } }, { -corner, -1, -1, -1 })
      return (models.simulation { systems = { ds }, T = 2, h = 0.05, problem = ns.AVI(),
        links = { { law, ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2)), ds } } })
    end
    check(polygon(1), polygon(1))
    local simu = polygon(1)
    simu:computeOneStep()
    simu:nextStep()
    simu:save_state(file "polygon")
    local other = polygon(1.5)
    local good, err = pcall(other.load_state, other, file "polygon")
    assert.is_false(good)
    assert.matches("is of another model: it has \"", err, 1, true)
    other:load_state(file "polygon", { constants = false })
    assert.equal(1, other:step())
  end)

  local function ball(osi)
    local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ds:setFExtPtr { -9.81 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.7), ns.LagrangianLinearTIR { { 1 } }), ds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), osi)
  end

  it("by two-step schemes", function()
    check(ball(ns.SchatzmanPaoliOSI(0.5)), ball(ns.SchatzmanPaoliOSI(0.5)))
    check(ball(ns.D1MinusLinearOSI()), ball(ns.D1MinusLinearOSI()))
  end)

  it("by events, whose log goes with it", function()
    local a, b = events.ball { e = 0.5, h = 0.1 }, events.ball { e = 0.5, h = 0.1 }
    check(a, b)
    assert.same(a:events(), b:events())
    assert.equal(21, #b:events())
  end)

  it("with an account of the energy", function()
    local a, b = ball(ns.MoreauJeanOSI(0.5)), ball(ns.MoreauJeanOSI(0.5))
    a:energy()
    check(a, b)
    assert.same(a:energy(), b:energy())
    assert.is_true(a:energy().impacts < 0)
  end)

  it("with prescribed velocities and the combined projection", function()
    local function make(options)
      options = options or {}
      local ds = ns.LagrangianDS({ 0, 1, 0 }, { 0, 0, 0 }, ns.eye(3))
      ds:setFExtPtr { 0, 0, -9.81 }
      if options.bc ~= false then ds:setBoundaryConditions(options.bc or ns.HarmonicBC({ 1 }, 0, 1, 3, 0.2)) end
      local rod = ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR {
        h = function(q, _, y) y[1] = (q[2] - q[1]) ^ 2 + q[3] ^ 2 - 1 end })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(rod, ds)
      local combined = ns["TimeStepping" .. (options.projection or "Combined") .. "Projection"]
      return combined(nsds, ns.TimeDiscretisation(0, 0.02), ns.MoreauJeanOSI(0.5)), ds
    end
    local simu, ds = make()
    check(simu, (make()))
    local there, twin = make()
    there:load_state(file "35")
    there:run()
    assert.equal(ds:reactionToBoundaryConditions()[1], twin:reactionToBoundaryConditions()[1])
    local function refused(options, text)
      assert.error_matches(function() make(options):load_state(file "35") end, text, 1, true)
    end
    refused({ projection = "Direct" }, "it has \"MoreauJeanOSI with the combined projection")
    refused({ bc = false }, "1 velocities prescribed\", here is \"dynamical system 1 'ds 1': ")
    refused({ bc = ns.HarmonicBC({ 1 }, 0, 1, 3, 0.3) }, "constants of dynamical system 1 'ds 1': ")
    refused({ bc = ns.HarmonicBC({ 2 }, 0, 1, 3, 0.2) }, "constants of dynamical system 1 'ds 1': ")
  end)

  it("of sparse models", function()
    local function ladder()
      local n = 40
      local side = ns.ones(n - 1)
      local A = ns.spdiags({ side, -2 * ns.ones(n), side }, { -1, 0, 1 }, n)
      local ds = ns.FirstOrderLinearTIDS(ns.linspace(0, 2, n), A, ns.linspace(-1, 0.5, n))
      return (models.simulation { systems = { ds }, T = 3,
        links = { { ns.ComplementarityConditionNSL(n), ns.FirstOrderLinearTIR(ns.speye(n), ns.speye(n)), ds } } })
    end
    check(ladder(), ladder())
    local function beads()
      local n, nsds = 120, ns.NonSmoothDynamicalSystem(0, 0.3)
      local ds = ns.LagrangianLinearTIDS(ns.linspace(0.001, 1.2, n), ns.linspace(0, -1, n), ns.speye(n))
      nsds:insertDynamicalSystem(ds)
      local C = ns.spdiags({ ns.ones(n), -ns.ones(n - 1) }, { 0, -1 }, n)
      nsds:link(ns.Interaction(ns.NewtonImpactNSL(n, 0.5), ns.LagrangianLinearTIR(C)), ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 2e-3), ns.MoreauJeanGOSI(0.5))
    end
    check(beads(), beads())
  end)

  it("with parameters of laws that changed", function()
    local function slider()
      local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 0 }, { { 1, 0 }, { 0, 1 } })
      ds:setFExtPtr { 0, -10 }
      local law = ns.NewtonImpactFrictionNSL(0, 0, 0.1, 2)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }), ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5)), law
    end
    local a, law = slider()
    local b, other = slider()
    law:setMu(0.05)
    check(a, b, { 0.3 })
    assert.equal(0.05, other:mu())
  end)

  it("when the step is computed but not taken", function()
    local a, b = ball(ns.MoreauJeanOSI(0.5)), ball(ns.MoreauJeanOSI(0.5))
    a:computeOneStep()
    a:save_state(file "computed")
    b:load_state(file "computed")
    assert.equal(0, b:step())
    b:nextStep()
    assert.equal(1, b:step())
  end)

  it("in the same simulation, backwards", function()
    local a = ball(ns.MoreauJeanOSI(0.5))
    a:save_state(file "start", "a note\0 with a zero")
    local first = models.numbers(a:run())
    assert.same({ "a note\0 with a zero", "current" }, { a:load_state(file "start") })
    assert.same(first, models.numbers(a:run()))
  end)
end)

describe("load_state refuses", function()
  local function simulation(o)
    o = o or {}
    local ds = ns.FirstOrderLinearTIDS(o.x0 or { 1 }, o.A or { { -1 } })
    ds:setName(o.name or "tank")
    local links = o.law and { { o.law, ns.FirstOrderLinearTIR(ns.eye(#(o.x0 or { 1 })), o.B or ns.eye(1)), ds } } or {}
    return (models.simulation { systems = { ds }, links = links, T = o.T, h = o.h, theta = o.theta }), ds
  end

  local function refused(o, message)
    local simu, ds = simulation(o)
    local x = ds:x():totable()
    assert.error_matches(function() simu:load_state(file "refused") end, message, 1, true)
    assert.same(x, ds:x():totable())
    assert.equal(0, simu:step())
    simu:run()
  end

  it("another model, naming what differs", function()
    local simu = simulation()
    for _ in simu:steps() do if simu:step() == 4 then break end end
    simu:save_state(file "refused")
    local start = "load_state: '" .. file "refused" .. "' is of another model: it has \""
    refused({ name = "pot" }, start .. "dynamical system 1 'tank': of first order, 1 states\", here is \"dynamical system 1 'pot'")
    refused({ theta = 0.5 }, start .. "constants of the integrator: theta: 1")
    refused({ h = 0.05 }, start .. "times: from 0, steps of 0.10000000000000001\", here is \"times: from 0, steps of 0.05")
    refused({ A = { { -2 } } }, start .. "constants of dynamical system 1 'tank': ")
    refused({ law = ns.ComplementarityConditionNSL(1) }, start .. "1 dynamical systems, 0 interactions\", here is \"1 dynamical")
    refused({ T = 0.3 }, "load_state: '" .. file "refused" .. "' is at step 4, this simulation ends with step 3")
  end)

  it("other constants, unless told not to look", function()
    local simu = simulation { A = { { -2 } } }
    assert.is_nil((simu:load_state(file "refused", { constants = false })))
    assert.equal(4, simu:step())
    assert.error_matches(function() simulation { name = "pot" }:load_state(file "refused", { constants = false }) end,
      "is of another model", 1, true)
  end)
end)
