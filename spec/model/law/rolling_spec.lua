-- NewtonImpactRollingFrictionNSL: impact, Coulomb's friction, and rolling resistance.
local ns = require "nslua"
local internal = require "nslua.internal"
local laws = require "model.law.laws"
local message = require "bind.models".message

local g = 9.81

-- A disk (radius R, mass m) on a slope of the angle alpha, rolling with v0; its rows are gap, slip and rolling.
local function disk(o)
  local R, m = 0.5, 2
  local I = m * R ^ 2 / 2
  local v0, M = o.v0 or 0, ns.matrix { { m, 0, 0 }, { 0, m, 0 }, { 0, 0, I } }
  local ds = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, v0, o.spin or v0 / R }, M)
  ds:setFExtPtr { -m * g * math.cos(o.alpha or 0), m * g * math.sin(o.alpha or 0), 0 }
  local C = { { 1, 0, 0 }, { 0, 1, -R }, { 0, 0, 1 } }
  local law = ns.NewtonImpactRollingFrictionNSL(0, 0, o.mu or 0.5, o.mu_r, 3)
  local inter = ns.Interaction(law, o.relation and o.relation(R) or ns.LagrangianLinearTIR(C), "ground")
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(inter, ds)
  local grid = ns.TimeDiscretisation(0, o.h or 1e-2)
  return ds, (o.simulation or ns.TimeStepping)(nsds, grid, o.osi or ns.MoreauJeanOSI(0.5), o.problem), inter, R
end

describe("NewtonImpactRollingFrictionNSL", function()
  it("is one group with two coefficients; only normal and tangent have a restitution", function()
    local of = internal.law_table(ns.NewtonImpactRollingFrictionNSL(0.5, 0.25, 0.3, 0.1, 3))
    assert.same({ cone_2d = true, rolling = true, bits = 64 + 512 }, of.needs)
    assert.same({ { dim = 3, lower = 0, upper = 0, mu = 0.3, mu_r = 0.1 } }, of.groups)
    assert.same({ 0.5, 0.25, 0 }, of.restitution)
    assert.equal(1, of.constrained)
  end)

  -- Unit masses: the impulses are the changes of the velocities.
  it("sticks and slides in the tangent and in the roll, each by itself", function()
    local function impact(v) return laws.impact(ns.NewtonImpactRollingFrictionNSL(0.5, 0, 0.5, 0.25, 3), { 0, 0, 0 }, v) end
    local v, lambda = impact { -2, 1, 0.5 }
    assert.same({ { 1, 0, 0 }, { 3, -1, -0.5 } }, { v, lambda })
    v, lambda = impact { -2, 4, 0.5 }
    assert.same({ { 1, 2.5, 0 }, { 3, -1.5, -0.5 } }, { v, lambda })
    v, lambda = impact { -2, -1, -2 }
    assert.same({ { 1, 0, -1.25 }, { 3, 1, 0.75 } }, { v, lambda })
    local simu
    v, lambda, simu = impact { -2, 4, 2 }
    assert.same({ { 1, 2.5, 1.25 }, { 3, -1.5, -0.75 } }, { v, lambda })
    assert.equal(-1.5 * 3.25 - 0.75 * 1.625, simu:energy().friction)
    v, lambda = impact { 2, 4, 2 }
    assert.same({ { 2, 4, 2 }, { 0, 0, 0 } }, { v, lambda })
  end)

  it("decelerates a rolling disk by 2 mu_r g / (3 R), until it stands", function()
    local ds, simu, inter, R = disk { v0 = 1, mu_r = 0.02 }
    local a = 2 * 0.02 * g / (3 * R)
    for k = 1, 100 do
      simu:computeOneStep()
      simu:nextStep()
      assert.near(1 - a * k * 1e-2, ds:velocity()[2], 1e-12)
      assert.near(ds:velocity()[2], R * ds:velocity()[3], 1e-12)
    end
    assert.near(-0.02 * inter:lambda(1)[1], inter:lambda(1)[3], 1e-14)
    ds, simu = disk { v0 = 0.1, mu_r = 0.02 }
    simu:run()
    for k = 1, 3 do assert.near(0, ds:velocity()[k], 1e-14) end
  end)

  it("holds a disk on a slope up to tan(alpha) = mu_r / R; a steeper one rolls with the exact acceleration", function()
    local R, mu_r = 0.5, 0.02
    local function outputs(q, y) y[1], y[2], y[3] = q[1], q[2] - R * q[3], q[3] end
    local relations = {
      function() return ns.LagrangianLinearTIR { { 1, 0, 0 }, { 0, 1, -R }, { 0, 0, 1 } } end,
      function() return ns.LagrangianScleronomousR { h = function(q, _, y) outputs(q, y) end } end,
      function() return ns.LagrangianRheonomousR { h = function(_, q, _, y) outputs(q, y) end } end }
    for _, relation in ipairs(relations) do
      for _, part in ipairs { 1 - 1e-9, 0.5, 1 + 1e-9, 2 } do
        local alpha = math.atan(part * mu_r / R)
        local ds, simu = disk { mu_r = mu_r, alpha = alpha, relation = relation, h = 0.1 }
        simu:run()
        local a = math.max(0, (g * math.sin(alpha) - mu_r * g * math.cos(alpha) / R) / 1.5)
        assert.near(a, ds:velocity()[2], 1e-12)
        assert.near(a / R, ds:velocity()[3], 1e-12)
      end
    end
  end)

  it("in space is one group of five rows; tangents and moments oppose their velocities", function()
    local law = ns.NewtonImpactRollingFrictionNSL(0.5, 0.25, 0.3, 0.1, 5)
    local of = internal.law_table(law)
    assert.same({ cone_3d = true, rolling = true, bits = 128 + 512 }, of.needs)
    assert.same({ { dim = 5, lower = 0, upper = 0, mu = 0.3, mu_r = 0.1 } }, of.groups)
    assert.same({ 0.5, 0.25, 0.25, 0, 0 }, of.restitution)
    local v, lambda = laws.impact(ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, 0.25, 5), { 0, 0, 0, 0, 0 }, { -2, 3, 4, 0.6, -0.8 })
    for i, x in ipairs { 0, 2.4, 3.2, 0.3, -0.4 } do assert.near(x, v[i], 1e-12) end
    for i, x in ipairs { 2, -0.6, -0.8, -0.3, 0.4 } do assert.near(x, lambda[i], 1e-12) end
  end)

  it("decelerates a rolling sphere by 5 mu_r g / (7 R), in any direction, on a plane and as a contact of the script", function()
    local R, m, mu_r = 0.1, 1.3, 0.003
    local Ball = ns.class(ns.NewtonEuler5DR, "ball")
    function Ball:init(radius) self.R = radius end
    function Ball:computeh(_, q, y)
      self:setpc1 { q[1], q[2], q[3] - self.R }
      self:setpc2 { q[1], q[2], 0 }
      self:setnc { 0, 0, 1 }
      y[1] = q[3] - self.R
    end
    for _, relation in ipairs { ns.contact.sphere_plane(R, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }), 5), Ball(R) } do
      local ds = ns.NewtonEulerDS({ 0, 0, R, 1, 0, 0, 0 }, { 0.8, 0.6, 0, -6, 8, 0 }, m, 0.4 * m * R ^ 2 * ns.eye(3))
      ds:setFExtPtr { 0, 0, -m * g }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local inter = ns.Interaction(ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, mu_r, 5), relation)
      nsds:link(inter, ds)
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-2), ns.MoreauJeanOSI(0.5), ns.RollingFrictionContact(5)):run()
      local v, speed = ds:velocity(), 1 - 5 * mu_r * g / (7 * R)
      assert.near(0.8 * speed, v[1], 1e-10)
      assert.near(0.6 * speed, v[2], 1e-10)
      local moment = inter:lambda(1)
      assert.near(mu_r * moment[1], math.sqrt(moment[4] ^ 2 + moment[5] ^ 2), 1e-12)
    end
  end)

  it("holds a sphere on a slope up to tan(alpha) = mu_r / R, also beside a box without rolling", function()
    local R, m, mu_r = 0.1, 2, 0.01
    for _, part in ipairs { 1 - 1e-9, 1 + 1e-9, 3 } do
      local alpha = math.atan(part * mu_r / R)
      local n = { -math.sin(alpha), 0, math.cos(alpha) }
      local plane = ns.contact.plane({ 0, 0, 0 }, n)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local bodies = {}
      for k = 1, 2 do
        local I = 0.4 * m * R ^ 2
        local ds = ns.NewtonEulerDS({ R * n[1], k, R * n[3], 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, m, I * ns.eye(3))
        ds:setFExtPtr { 0, 0, -m * g }
        nsds:insertDynamicalSystem(ds)
        local law = k == 1 and ns.NewtonImpactRollingFrictionNSL(0, 0, 0.5, mu_r, 5) or ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3)
        nsds:link(ns.Interaction(law, ns.contact.sphere_plane(R, plane, k == 1 and 5 or 3)), ds)
        bodies[k] = ds
      end
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.MoreauJeanOSI(0.5), ns.RollingFrictionContact()):run()
      local a = 5 / 7 * math.max(0, g * math.sin(alpha) - mu_r * g * math.cos(alpha) / R)
      assert.near(a, -bodies[1]:velocity()[1] / math.cos(alpha), 1e-10)
      assert.near(5 / 7 * g * math.sin(alpha), -bodies[2]:velocity()[1] / math.cos(alpha), 1e-10)
    end
  end)

  it("slides first and then rolls: the account of the energy stays closed", function()
    local _, simu = disk { v0 = 2, spin = 0, mu = 0.1, mu_r = 0.01, h = 1e-3 }
    local before = simu:energy()
    simu:run()
    local e = simu:energy()
    assert.near(0, e.total - before.total - e.friction - e.impacts, 1e-10)
    assert.is_true(e.friction < -0.1)
  end)

  -- v = v0 - a t with a = 2 mu_r g / (3 R): the derivatives of v(1) by v0 and by mu_r.
  -- v = v0 - a t with a = 2 mu_r g / (3 R), where S has the states q and then v.
  it("has derivatives while the modes stay", function()
    local ds, simu, inter, R = disk { v0 = 1, mu_r = 0.02 }
    local sol = simu:run { sensitivities = { "x0", { inter:nonSmoothLaw(), "muR" } } }
    local S = sol.S[#sol.t]
    assert.near(-2 * g / (3 * R), S[5][7], 1e-8)
    assert.near(2 / 3, S[5][5], 1e-8) -- m v + I w / R stays, but for friction
    assert.near(R / 3, S[5][6], 1e-8)
    assert.is_truthy(ds)
  end)

  it("acts in MoreauJeanBilbaoOSI, in adaptive steps and under a projection, too", function()
    local a = 2 * 0.02 * g / (3 * 0.5)
    for _, o in ipairs { { osi = ns.MoreauJeanBilbaoOSI(), early = 0.005 }, { simulation = ns.TimeSteppingDirectProjection },
      { simulation = function(nsds, grid, osi) return ns.TimeStepping(nsds, grid, osi, nil, { rtol = 1e-6 }) end } } do
      o.v0, o.mu_r = 1, 0.02
      local ds, simu = disk(o)
      simu:run()
      assert.near(1 - a * (1 - (o.early or 0)), ds:velocity()[2], 1e-9) -- Bilbao: of the middle of the last step
    end
  end)

  -- v' = -2 muR g / (3 R); a step has the value at its end.
  it("takes coefficients that are functions of time", function()
    local h = 1e-2
    local ds, simu, inter, R = disk { v0 = 1, mu_r = function(t) return 0.02 * t end, h = h }
    simu:run()
    assert.near(1 - 2 * 0.02 * g / (3 * R) * (1 + h) / 2, ds:velocity()[2], 1e-12)
    assert.equal("NewtonImpactRollingFrictionNSL of size 3, en = 0.0, et = 0.0, mu = 0.5, muR is a function of time",
      tostring(inter:nonSmoothLaw()))
    local function half() return 0.5 end
    assert.matches("mu and muR are functions of time", tostring(ns.NewtonImpactRollingFrictionNSL(0, 0, half, half, 5)))
    assert.matches("mu is a function of time, muR = 0.1", tostring(ns.NewtonImpactRollingFrictionNSL(0, 0, half, 0.1, 3)))
  end)

  it("tells what it takes, and what does not take it", function()
    assert.equal("NewtonImpactRollingFrictionNSL of size 3, en = 0.5, et = 0.0, mu = 0.3, muR = 0.1",
      tostring(ns.NewtonImpactRollingFrictionNSL(0.5, 0, 0.3, 0.1, 3)))
    local law = ns.NewtonImpactRollingFrictionNSL(0, 0, 0.3, 0.1, 3)
    law:setMuR(0.2)
    assert.equal(0.2, law:muR())
    assert.equal("NewtonImpactRollingFrictionNSL: muR: expected 0 or more, got -1.0",
      message(ns.NewtonImpactRollingFrictionNSL, 0, 0, 0.3, -1, 3))
    for dim, expected in pairs { [4] = "3 or 5", [2] = "3..5" } do
      assert.equal(("NewtonImpactRollingFrictionNSL: dim: expected %s, got %d"):format(expected, dim),
        message(ns.NewtonImpactRollingFrictionNSL, 0, 0, 0.3, 0, dim))
    end
    local function refused(o)
      o.mu_r = 0.1
      return message(function() return select(2, disk(o)):computeOneStep() end)
    end
    assert.equal("FrictionContact: interaction 'ground' has a NewtonImpactRollingFrictionNSL; use RollingFrictionContact or "
      .. "GenericMechanical",
      refused { problem = ns.FrictionContact() })
    assert.equal("RollingFrictionContact(5): interaction 'ground' is a contact of dimension 3",
      refused { problem = ns.RollingFrictionContact(5) })
    local d1 = refused { simulation = ns.TimeStepping, osi = ns.D1MinusLinearOSI() }
    assert.matches("D1MinusLinearOSI: interaction 'ground' has a NewtonImpactRollingFrictionNSL; it takes ", d1, 1, true)
    local _, simu = disk { mu_r = 0.1 }
    assert.matches("dynamics.equilibrium: 'ground' has rolling friction, which is not supported: run a TimeStepping",
      message(ns.dynamics.equilibrium, { simulation = simu }), 1, true)
  end)
end)
