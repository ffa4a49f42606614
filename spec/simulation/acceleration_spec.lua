-- acceleration(): at the end of a step, with the forces of joints, contacts and friction, against closed forms.
local ns = require "nslua"

local function simulation(make, T, h, ds, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  for _, inter in ipairs { ... } do nsds:link(inter, ds) end
  return make(nsds, ns.TimeDiscretisation(0, h))
end

local function time_stepping(osi)
  return function(nsds, td) return ns.TimeStepping(nsds, td, osi or ns.MoreauJeanOSI(0.5)) end
end
local function event_driven(nsds, td) return ns.EventDriven(nsds, td, ns.RungeKuttaOSI(1e-12)) end
local function d1_minus_linear(nsds, td) return ns.TimeStepping(nsds, td, ns.D1MinusLinearOSI()) end
local stepped = { time_stepping(), time_stepping(ns.MoreauJeanGOSI(0.5)), time_stepping(ns.MoreauJeanBilbaoOSI()),
  time_stepping(ns.SchatzmanPaoliOSI(0)), time_stepping(ns.FESDOSI()), d1_minus_linear, event_driven }

local function go(simu, steps)
  for _ = 1, steps do
    simu:computeOneStep()
    simu:nextStep()
  end
end

local function near(expected, got, tolerance)
  for i, value in ipairs(expected) do assert.near(value, got[i], tolerance or 1e-9) end
end

local function oscillator() return ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }, { { 4 } }) end

-- A point on a rod of length 1 that hangs from the origin, under gravity 10, at the angle phi with the angular velocity w.
local function pendulum(phi, w)
  local sin, cos = math.sin(phi), math.cos(phi)
  local ds = ns.LagrangianLinearTIDS({ sin, -cos }, { w * cos, w * sin }, { { 2, 0 }, { 0, 2 } })
  ds:setFExtPtr { 0, -20 }
  local rod = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = (q[1] * q[1] + q[2] * q[2] - 1) / 2 end }
  return ds, ns.Interaction(ns.EqualityConditionNSL(1), rod, "rod")
end

-- A block on a slope; q: along the slope and normal to it.
local function block(slope, mu, v)
  local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { v, 0 }, { { 3, 0 }, { 0, 3 } })
  ds:setFExtPtr { 30 * math.sin(slope), -30 * math.cos(slope) }
  local contact = ns.LagrangianLinearTIR({ { 0, 1 }, { 1, 0 } }, { 0, 0 })
  return ds, ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, mu, 2), contact, "slope")
end

describe("acceleration()", function()
  it("is that of a free fall with every integrator, in all views", function()
    for _, make in ipairs(stepped) do
      local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 2 }, { { 2, 0 }, { 0, 4 } })
      ds:setFExtPtr { 1, -40 }
      local simu = simulation(make, 1, 0.01, ds)
      local view = ds:acceleration()
      near({ 0, 0 }, view) -- there was no step
      simu:run()
      near({ 0.5, -10 }, view, 1e-8)
      near({ 0.5, -10 }, ds:q(2), 1e-8)
    end
  end)

  it("is that of a rigid body", function()
    for _, make in ipairs { time_stepping(), event_driven } do
      local ds = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 3 }, 2, ns.diag { 1, 1, 4 })
      ds:setFExtPtr { 4, 0, -20 }
      ds:setMExtPtr { 0, 0, 2 }
      simulation(make, 0.2, 0.01, ds):run()
      near({ 2, 0, -10, 0, 0, 0.5 }, ds:acceleration(), 1e-8)
    end
  end)

  it("is -K q / m at the end of a step, and the change of the velocity over the step where there are velocities alone", function()
    for _, make in ipairs { event_driven, d1_minus_linear } do
      local ds = oscillator()
      simulation(make, 1, 0.01, ds):run()
      near({ -4 * ds:q()[1] }, ds:acceleration(), 1e-12)
    end
    local ds = oscillator()
    for step in simulation(time_stepping(), 1, 0.01, ds):steps() do
      near({ (ds:velocity()[1] - ds:velocityMemory()[1]) / 0.01 }, ds:acceleration(), 1e-10)
      assert.near(-4 * ds:q()[1], ds:acceleration()[1], 0.05, step)
    end
  end)

  it("is over the whole step of the grid in adaptive runs", function()
    local ds = oscillator()
    local function adaptive(nsds, td) return ns.TimeStepping(nsds, td, ns.MoreauJeanOSI(0.5), { rtol = 1e-6 }) end
    for _ in simulation(adaptive, 1, 0.25, ds):steps() do
      near({ (ds:velocity()[1] - ds:velocityMemory()[1]) / 0.25 }, ds:acceleration(), 1e-12)
    end
  end)

  it("has the force of a joint", function()
    local ds, rod = pendulum(0.7, 1.3)
    simulation(event_driven, 0.5, 0.1, ds, rod):run()
    local q, v, a = ds:q(), ds:velocity(), ds:acceleration()
    local pull = v[1] ^ 2 + v[2] ^ 2 - 10 * q[2] -- of the rod by mass, in its direction
    near({ -pull * q[1], -10 - pull * q[2] }, a, 1e-7)
  end)

  it("is 0 of a block that sticks on a slope, and that of Coulomb's friction where it slides", function()
    for _, make in ipairs { time_stepping(), event_driven } do
      local ds, contact = block(0.3, 0.5, 0)
      simulation(make, 0.2, 0.01, ds, contact):run()
      near({ 0, 0 }, ds:acceleration())
      ds, contact = block(0.3, 0.2, 1)
      simulation(make, 0.2, 0.01, ds, contact):run()
      near({ 10 * (math.sin(0.3) - 0.2 * math.cos(0.3)), 0 }, ds:acceleration())
    end
  end)

  it("is after an event in the step that of the mode that holds", function()
    local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } })
    ds:setFExtPtr { -10 }
    local floor = ns.Interaction(ns.NewtonImpactNSL(0), ns.LagrangianLinearTIR { { 1 } }, "floor")
    local simu = simulation(event_driven, 0.8, 0.4, ds, floor)
    go(simu, 1)
    near({ -10 }, ds:acceleration())
    go(simu, 1) -- it lands at t = 0.447
    near({ 0 }, ds:acceleration())
  end)

  it("is part of the state: reset, clone, checkpoints", function()
    local ds = oscillator()
    local simu = simulation(time_stepping(), 1, 0.25, ds)
    local twin = simulation(time_stepping(), 1, 0.25, oscillator())
    go(simu, 2)
    local a = ds:acceleration()[1]
    assert.is_true(a ~= 0)
    local file = os.tmpname()
    simu:save_state(file)
    local copy = simu:clone()
    twin:load_state(file)
    os.remove(file)
    for _, other in ipairs { copy, twin } do
      assert.equal(a, other:nsds():dynamicalSystem(1):acceleration()[1])
    end
    simu:reset()
    assert.equal(0, ds:acceleration()[1])
    go(simu, 2)
    assert.equal(a, ds:acceleration()[1])
  end)

  it("is that of computeRhs, without the relations, until the next step", function()
    local ds, contact = block(0.3, 0.5, 0)
    local simu = simulation(event_driven, 0.2, 0.05, ds, contact)
    go(simu, 1)
    near({ 0, 0 }, ds:acceleration())
    ds:computeRhs(0)
    near({ 10 * math.sin(0.3), -10 * math.cos(0.3) }, ds:acceleration())
    go(simu, 1)
    near({ 0, 0 }, ds:acceleration())
  end)
end)
