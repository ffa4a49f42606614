-- Slip in space that begins from rest with forces beyond the bound of friction: direction and acceleration; and its end.
local campaign = require "campaign"
local ns = require "nslua"
local uniform = require("random_numbers").uniform

local G, MU = 9.81, 0.3

-- The velocity of a particle on the ground after T, pulled with mu m g (1 + excess) in a direction that turns at the rate w.
local function pulled(excess, w, T, steps)
  local body = ns.LagrangianLinearTIDS({ 0, 0, 0 }, { 0, 0, 0 }, ns.eye(3))
  body:setComputeFExtFunction(function(t, _, f)
    local pull = MU * G * (1 + excess)
    f[1], f[2], f[3] = pull * math.cos(w * t + 0.7), pull * math.sin(w * t + 0.7), -G
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(body)
  local ground = ns.LagrangianLinearTIR { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, MU, 3), ground), body)
  ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / steps), ns.RungeKuttaOSI()):run()
  local v = body:velocity()
  return math.sqrt(v[1] ^ 2 + v[2] ^ 2), math.atan(v[2], v[1])
end

-- The velocity after T of a box with an uneven mass on a slope, which begins at rest: downwards, its other parts, its spin.
-- mu: tan(slope) (1 - excess); centre: of its mass, from the middle; turned: the axes of the contacts and of the box.
local function sliding_box(excess, slope, azimuth, turned, centre, T, h)
  local m, half = 2.5, { 0.5, 0.3, 0.2 }
  local inertia = ns.matrix { { 0.11, 0, 0 }, { 0, 0.24, 0 }, { 0, 0, 0.28 } }
  local body = ns.NewtonEulerDS({ 0, 0, half[3], math.cos(turned / 2), 0, 0, math.sin(turned / 2) }, ns.zeros(6), m, inertia)
  local down = { math.cos(azimuth), math.sin(azimuth) }
  local pull = m * G * math.sin(slope)
  body:setFExtPtr { pull * down[1], pull * down[2], -m * G * math.cos(slope) }
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(body)
  local law = ns.NewtonImpactFrictionNSL(0, 0, math.tan(slope) * (1 - excess), 3)
  local floor = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
  for i, s in ipairs { { 1, 1 }, { 1, -1 }, { -1, 1 }, { -1, -1 } } do
    local corner = { s[1] * half[1] - centre[1], s[2] * half[2] - centre[2], -half[3] }
    nsds:link(ns.Interaction(law, ns.contact.corner_plane(corner, floor), "corner " .. i), body)
  end
  ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()):run()
  local v = body:velocity()
  local spin = math.sqrt(v[4] ^ 2 + v[5] ^ 2 + v[6] ^ 2)
  return v[1] * down[1] + v[2] * down[2], v[2] * down[1] - v[1] * down[2], v[3], spin
end

-- The velocity after 0.1 of a body on three feet that is pushed and turned `scale` times as hard as (4, 1.5), 1.2.
local function turned_body(scale, make, h)
  local inertia = ns.matrix { { 0.11, 0, 0 }, { 0, 0.24, 0 }, { 0, 0, 0.28 } }
  local body = ns.NewtonEulerDS({ 0, 0, 0.2, 1, 0, 0, 0 }, ns.zeros(6), 2.5, inertia)
  body:setFExtPtr { 4 * scale, 1.5 * scale, -2.5 * G }
  body:setMExtPtr { 0, 0, 1.2 * scale }
  local nsds = ns.NonSmoothDynamicalSystem(0, 0.1)
  nsds:insertDynamicalSystem(body)
  local law, floor = ns.NewtonImpactFrictionNSL(0, 0, MU, 3), ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
  for _, foot in ipairs { { 0.5, 0.24 }, { 0.35, -0.3 }, { -0.5, 0.03 } } do
    nsds:link(ns.Interaction(law, ns.contact.corner_plane({ foot[1], foot[2], -0.2 }, floor)), body)
  end
  make(nsds, ns.TimeDiscretisation(0, h)):run()
  return body:velocity()
end

local function by_events(nsds, grid) return ns.EventDriven(nsds, grid, ns.RungeKuttaOSI()) end

local function by_steps(nsds, grid) return ns.TimeStepping(nsds, grid, ns.MoreauJeanOSI(0.5), ns.FrictionContact(3)) end

describe("slip in space from rest", function()
  it("goes along the force, with what it exceeds friction by", function()
    for _, excess in ipairs { 1e-7, 1e-5, 5e-4, 1e-2, 1 } do
      local speed, angle = pulled(excess, 0, 0.1, 1)
      assert.near(1, speed / (0.1 * MU * G * excess), math.max(1e-10, 1e-15 / excess))
      assert.near(0.7, angle, math.max(1e-10, 1e-15 / excess))
    end
  end)

  it("follows a force that turns, the same on all grids #once", function()
    for _, excess in ipairs { 5e-3, 0.1, 2 } do
      local speed, angle = pulled(excess, 1, 0.1, 1)
      assert.near(1, speed / (0.1 * MU * G * excess), 5e-3)
      local speed2, angle2 = pulled(excess, 1, 0.1, 4)
      assert.near(1, speed2 / speed, 1e-9)
      assert.near(angle, angle2, 1e-9)
    end
  end)

  it("of a box on four corners has the acceleration of its excess, without a turn, wherever its mass is #once", function()
    local count = campaign(4, 0.02)
    for k = 1, count do
      math.randomseed(k)
      local excess = 10 ^ (k % 2 == 0 and uniform(-2, -0.5) or uniform(-8, count > 4 and -2 or -4)) -- 1e-3 takes long
      local slope = uniform(0.1, 0.6)
      local centre = { uniform(-0.1, 0.1), uniform(-0.05, 0.05) }
      local down, side, up, spin = sliding_box(excess, slope, uniform(0, 6), uniform(0, 3), centre, 0.02, 0.01)
      local where = ("box %d, excess %g"):format(k, excess)
      assert.near(1, down / (0.02 * G * math.sin(slope) * excess), math.max(1e-9, 1e-14 / excess), where)
      for _, other in ipairs { side, up, spin } do assert.near(0, other, 1e-9 * down + 1e-14, where) end
    end
  end)

  it("of a body that turns, each foot in its own direction, is the limit of time stepping, on any grid #once", function()
    for _, scale in ipairs { 1.6, 2, 4 } do
      local v = turned_body(scale, by_events, 0.1)
      local same = turned_body(scale, by_events, 0.02)
      local coarse, fine = turned_body(scale, by_steps, 2e-3), turned_body(scale, by_steps, 4e-4)
      assert.is_true(v[6] > 0.01)
      for _, k in ipairs { 1, 2, 6 } do
        assert.near(1, same[k] / v[k], 1e-8)
        assert.is_true(math.abs(coarse[k] - v[k]) < 1e-3 * v[k])
        assert.is_true(math.abs(fine[k] - v[k]) < 0.3 * math.abs(coarse[k] - v[k]) + 1e-8 * v[k])
      end
    end
  end)

  -- The way is v^2 / (2 mu g). The forces of four corners are not unique: one may be at its bound while the others hold it.
  it("ends: a box on four corners comes to rest in the middle of a long step of the grid, where it should", function()
    for k = 1, campaign(6) do
      math.randomseed(k)
      local v, w, mu = uniform(0.5, 1.5), uniform(-1, 1), uniform(0.3, 0.6)
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local contacts = ns.contact.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 3), reach = 0.02 }
      local box = ns.NewtonEulerDS({ 0, 0, 0.05, 1, 0, 0, 0 }, { v, w, 0, 0, 0, 0 }, 2, 0.01 * ns.eye(3))
      box:setFExtPtr { 0, 0, -2 * G }
      nsds:insertDynamicalSystem(box)
      contacts:add_box(box, 0.4, 0.4, 0.1)
      contacts:add_plane(ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))
      contacts:update()
      local simu, steps = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI()), 0
      simu:addEvent { name = "steps", g = function()
        steps = steps + 1
        return steps < 1500 and 1 or error "it crawls"
      end }
      simu:run()
      local way = math.sqrt(v ^ 2 + w ^ 2) / (2 * mu * G)
      assert.near(0, (box:q() - ns.vector { way * v, way * w, 0.05, 1, 0, 0, 0 }):norm(math.huge), 1e-9 * way)
      assert.is_true(box:velocity():norm(math.huge) < 1e-12 * v)
    end
  end)
end)
