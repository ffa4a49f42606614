-- NewtonImpactSpinningFrictionNSL: rolling friction, and a moment about the normal that opposes spinning.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"
local message = require "bind.models".message

local g, R, m = 9.81, 0.1, 1.3
local I = 0.4 * m * R ^ 2
local floor = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })

-- A ball on the floor; unit: lengths are so many times larger, in numbers.
local function ball(o)
  local unit = o.unit or 1
  local v, w = o.v or { 0, 0 }, o.w
  local ds = ns.NewtonEulerDS({ 0, 0, R * unit, 1, 0, 0, 0 }, { v[1] * unit, v[2] * unit, 0, w[1], w[2], w[3] }, m,
    I * unit ^ 2 * ns.eye(3))
  ds:setFExtPtr { 0, 0, -m * g * unit }
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T or 1)
  nsds:insertDynamicalSystem(ds)
  local law = ns.NewtonImpactSpinningFrictionNSL(0, 0, o.mu or 0.3, (o.mu_r or 0) * unit, (o.mu_spin or 0) * unit, 6)
  local inter = ns.Interaction(law, o.class and o.class() or ns.contact.sphere_plane(R * unit, floor, 6), "floor")
  nsds:link(inter, ds)
  if o.events then return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.1), ns.RungeKuttaOSI()), ds, law end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, o.h or 1e-2), ns.MoreauJeanOSI(0.5), o.problem), ds, law, inter
end

describe("NewtonImpactSpinningFrictionNSL", function()
  it("is one group with three coefficients; only normal and tangents have a restitution", function()
    local of = internal.law_table(ns.NewtonImpactSpinningFrictionNSL(0.5, 0.25, 0.3, 0.1, 0.2, 6))
    assert.same({ cone_3d = true, rolling = true, bits = 128 + 512 }, of.needs)
    assert.same({ { dim = 6, lower = 0, upper = 0, mu = 0.3, mu_r = 0.1, mu_spin = 0.2 } }, of.groups)
    assert.same({ 0.5, 0.25, 0.25, 0, 0, 0 }, of.restitution)
  end)

  -- Unit masses: the impulses are the changes of the velocities.
  it("slips, rolls and spins each by itself", function()
    local law = ns.NewtonImpactSpinningFrictionNSL(0, 0, 0.5, 0.25, 0.1, 6)
    local v, lambda, simu = laws.impact(law, { 0, 0, 0, 0, 0, 0 }, { -2, 3, 4, 0.6, -0.8, 0.7 })
    for i, x in ipairs { 0, 2.4, 3.2, 0.3, -0.4, 0.5 } do assert.near(x, v[i], 1e-12) end
    for i, x in ipairs { 2, -0.6, -0.8, -0.3, 0.4, -0.2 } do assert.near(x, lambda[i], 1e-12) end
    assert.near(-1 * 4.5 - 0.5 * 0.75 - 0.2 * 0.6, simu:energy().friction, 1e-12)
    v, lambda = laws.impact(law, { 0, 0, 0, 0, 0, 0 }, { -2, 0.3, 0.4, 3, 4, -0.1 })
    for i, x in ipairs { 0, 0, 0, 2.7, 3.6, 0 } do assert.near(x, v[i], 1e-12) end
    for i, x in ipairs { 2, -0.3, -0.4, -0.3, -0.4, 0.1 } do assert.near(x, lambda[i], 1e-12) end
  end)

  -- I w' = -mu_spin m g, until it stands.
  it("stops a ball that spins on the spot, in all kinds of problems, as a contact of the script, and between events", function()
    local mu_spin, w = 0.001, 5
    local Ball = ns.class(ns.NewtonEuler6DR, "ball")
    function Ball:computeh(_, q, y)
      self:setpc1 { q[1], q[2], q[3] - R }
      self:setpc2 { q[1], q[2], 0 }
      self:setnc { 0, 0, 1 }
      y[1] = q[3] - R
    end
    for _, o in ipairs { {}, { solve = function() return ns.RollingFrictionContact(6) end }, { solve = ns.GenericMechanical },
      { class = Ball }, { events = true } } do
      for side = -1, 1, 2 do
        o.w, o.mu_spin, o.T = { 0, 0, side * w }, mu_spin, 0.5
        o.problem = o.solve and o.solve()
        local simu, ds = ball(o)
        local before = simu:energy().total
        simu:run()
        assert.near(side * (w - mu_spin * m * g / I * 0.5), ds:velocity()[6], 1e-11)
        local e = simu:energy()
        assert.near(0, e.total - before - e.friction, 1e-12)
        for i = 1, 5 do assert.near(0, ds:velocity()[i], 1e-12) end
      end
      o.T, o.problem = 4, o.solve and o.solve()
      local simu, ds = ball(o)
      simu:run()
      for i = 1, 6 do assert.near(0, ds:velocity()[i], 1e-12) end
    end
  end)

  it("decelerates a rolling ball as without spinning: 5 mu_r g / (7 R)", function()
    for _, events in ipairs { false, true } do
      local simu, ds = ball { v = { 0.8, 0.6 }, w = { -6, 8, 0 }, mu = 0.5, mu_r = 0.003, mu_spin = 0.001, events = events }
      simu:run()
      local speed = 1 - 5 * 0.003 * g / (7 * R)
      assert.near(0.8 * speed, ds:velocity()[1], 1e-10)
      assert.near(0.6 * speed, ds:velocity()[2], 1e-10)
    end
  end)

  it("comes to the same answer in small steps and between events, where it slips, rolls and spins", function()
    for _, o in ipairs { { v = { 1, 0 }, w = { 0, 0, 5 }, mu_r = 0.002, mu_spin = 0.001 },
      { v = { 1, 0 }, w = { 0, 0, 5 }, mu = 0, mu_r = 0.002, mu_spin = 0.001 },
      { v = { 1, -0.5 }, w = { 3, 1, -5 }, mu_r = 0, mu_spin = 0.002 } } do
      o.events = true
      local simu, exact = ball(o)
      simu:run()
      local off = {}
      for k, h in ipairs { 1e-2, 1e-3 } do
        o.events, o.h = false, h
        local steps, ds = ball(o)
        steps:run()
        off[k] = (ds:velocity() - exact:velocity()):norm()
      end
      assert.is_true(off[2] < 1e-2 and off[2] < 0.3 * off[1] + 1e-9, ("%g, %g"):format(off[1], off[2]))
    end
  end)

  it("does not depend on the unit of length", function()
    local one = { ball { v = { 1, 0.3 }, w = { 3, 1, 5 }, mu_r = 0.002, mu_spin = 0.001 } }
    local two = { ball { v = { 1, 0.3 }, w = { 3, 1, 5 }, mu_r = 0.002, mu_spin = 0.001, unit = 2 ^ 20 } }
    one[1]:run()
    two[1]:run()
    for i = 1, 3 do
      assert.near(one[2]:velocity()[i], two[2]:velocity()[i] * 2 ^ -20, 1e-9)
      assert.near(one[2]:velocity()[3 + i], two[2]:velocity()[3 + i], 1e-9)
    end
  end)

  -- w = w0 - mu_spin m g t / I: the derivatives of w(1) by mu_spin and by w0.
  it("has derivatives while the modes stay", function()
    local simu, ds, law = ball { w = { 0, 0, 50 }, mu_spin = 0.001 }
    local sol = simu:run { sensitivities = { { law, "muSpin" }, { ds, "velocity0", 6 } } }
    local S = sol.S[#sol.t]
    local last = S:rows()
    assert.near(-m * g / I, S[last][1], 1e-6 * m * g / I)
    assert.near(1, S[last][2], 1e-8)
  end)

  it("is the law of a manager of contacts in space", function()
    local ds = ns.NewtonEulerDS({ 0, 0, 0.2, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 5 }, m, ns.diag { 0.03, 0.03, 0.04 })
    ds:setFExtPtr { 0, 0, -m * g }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactSpinningFrictionNSL(0, 0, 0, 0, 0.002, 6), reach = 0.1 }
    contacts:add_box(ds, 0.4, 0.4, 0.4)
    contacts:add_plane(floor)
    contacts:update()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5))
    for _ in simu:steps() do contacts:update() end
    assert.equal(4, contacts:count())
    assert.near(5 - 0.002 * m * g / 0.04, ds:velocity()[6], 1e-9) -- four contacts share the weight
  end)

  it("tells what it takes, and what does not take it", function()
    local make = ns.NewtonImpactSpinningFrictionNSL
    assert.equal("NewtonImpactSpinningFrictionNSL of size 6, en = 0.5, et = 0.0, mu = 0.3, muR = 0.1, muSpin = 0.2",
      tostring(make(0.5, 0, 0.3, 0.1, 0.2, 6)))
    local law = make(0, 0, 0.3, 0.1, 0.2, 6)
    law:setMuSpin(0.4)
    assert.equal(0.4, law:muSpin())
    assert.equal("NewtonImpactSpinningFrictionNSL: dim: expected 6, got 5", message(make, 0, 0, 0.3, 0, 0, 5))
    assert.equal("NewtonImpactSpinningFrictionNSL: muSpin: expected 0 or more, got -1.0", message(make, 0, 0, 0.3, 0, -1, 6))
    local function refused(problem)
      return message(function() ball { w = { 0, 0, 0 }, problem = problem }:computeOneStep() end)
    end
    assert.equal("RollingFrictionContact(5): interaction 'floor' is a contact of dimension 6",
      refused(ns.RollingFrictionContact(5)))
    assert.equal("FrictionContact: interaction 'floor' has a NewtonImpactSpinningFrictionNSL; use RollingFrictionContact or "
      .. "GenericMechanical", refused(ns.FrictionContact()))
    local simu = ball { w = { 0, 0, 0 }, events = true }
    assert.matches("sensitivities: 'floor' has rolling friction, and its motion has no derivative here",
      message(function() simu:run { sensitivities = { "x0" } } end), 1, true)
  end)
end)
