-- Dry friction, stops, play and free wheels in joints of nslua.mechanics.
local ns = require "nslua"
local message = require "bind.models".message

local event_driven = function(nsds, h) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-10, 1e-12)) end
local stepping = function(nsds, h) return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5)) end

-- A wheel of inertia J and mass m that turns about its centre.
local function wheel(o)
  local sys = ns.mechanics.system { gravity = { 0, -(o.g or 0) } }
  local body = sys:free_body { mass = o.m or 1, inertia = o.J or 0.5 }
  if o.torque then sys:torque { on = body, value = o.torque } end
  sys:pin(sys.ground, { 0, 0 }, body, { 0, 0 }, o.pin)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local ds, laws = sys:insert(nsds, { q0 = { 0, 0, o.angle or 0 }, v0 = { 0, 0, o.spin or 0 } })
  return (o.simulation or event_driven)(nsds, o.h or 0.1), ds, laws
end

describe("joints of ns.mechanics with", function()
  it("a constant friction let an oscillation decay by 2 torque / stiffness in each half swing, until it sticks #once", function()
    local k, J, dry = 8, 0.5, 0.7
    local half = math.pi * math.sqrt(J / k)
    for swings = 1, 7, 2 do
      local simu, ds = wheel { J = J, torque = function(_, q) return -k * q[3] end, angle = 1, pin = { torque = dry },
        T = swings * half, h = half / 4 }
      simu:run()
      assert.near(-math.abs(1 - 2 * math.min(swings, 6) * dry / k), ds:q()[3], 1e-9) -- at 1 - 12 dry / k it sticks
      assert.near(0, ds:velocity()[3], 1e-9)
      local slow, stepped = wheel { J = J, torque = function(_, q) return -k * q[3] end, angle = 1, pin = { torque = dry },
        T = swings * half, h = half / 50, simulation = stepping }
      slow:run()
      assert.near(ds:q()[3], stepped:q()[3], 0.02)
    end
  end)

  it("a constant friction let a pendulum lose torque times angle between its turning points #once", function()
    local g, l, dry = 9.81, 1, 0.4
    local sys = ns.mechanics.system { gravity = { 0, -g } }
    local rod = sys:free_body { mass = 1, inertia = 0.1 }
    sys:pin(sys.ground, { 0, 0 }, rod, { 0, l }, { torque = dry, name = "pivot" })
    local nsds = ns.NonSmoothDynamicalSystem(0, 6)
    local ds = sys:insert(nsds, { q0 = { l * math.sin(1), -l * math.cos(1), 1 } })
    local simu = event_driven(nsds, 0.05)
    local s = simu:addEvent { name = "turn", state = { n = 0, angle = ns.zeros(20):totable() }, g = function(_, x) return x[6] end,
      action = function(_, held)
        held.n = held.n + 1
        held.angle[held.n] = ds:q()[3]
      end }
    simu:run()
    local before = 1
    assert.is_true(s.n >= 4)
    for k = s.angle[1] == 1 and 2 or 1, s.n - 1 do -- the last one: it sticks
      local now = math.abs(s.angle[k])
      assert.near(dry * (before + now), g * l * (math.cos(now) - math.cos(before)), 1e-8)
      before = now
    end
  end)

  it("friction by the reaction: a rotor under its weight, and one whose reaction is its centripetal force #once", function()
    local mu, r, g, m, J, spin = 0.4, 0.05, 9.81, 2, 0.3, 3
    local simu, ds, laws = wheel { g = g, m = m, J = J, spin = spin, T = 1, h = 0.01, simulation = stepping,
      pin = { friction = mu, radius = r } }
    simu:run()
    assert.near(spin - mu * r * m * g / J, ds:velocity()[3], 1e-11)
    assert.near(m * g * 0.01, math.abs(laws["pin 1 friction"]:lambda(1)[2]), 1e-12)
    -- I alpha = -mu r m l sqrt(omega^4 + alpha^2)
    local l, I = 0.6, J + m * 0.6 ^ 2
    local c = mu * r * m * l / I
    local exact = spin / (1 + c / math.sqrt(1 - c ^ 2) * spin * 1)
    local off = {}
    for k, h in ipairs { 2e-2, 1e-2 } do
      local sys = ns.mechanics.system { dimension = 2 }
      local rod = sys:free_body { mass = m, inertia = J }
      sys:pin(sys.ground, { 0, 0 }, rod, { -l, 0 }, { friction = mu, radius = r })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local body, all = sys:insert(nsds, { q0 = { l, 0, 0 }, v0 = { 0, l * spin, spin } })
      local steps, joint = stepping(nsds, h), all["pin 1 friction"]
      for _ in steps:steps() do
        local P = joint:lambda(1)
        assert.near(mu * r * math.sqrt(P[1] ^ 2 + P[2] ^ 2), math.abs(P[3]), 1e-11 * math.abs(P[3]))
      end
      off[k] = math.abs(body:velocity()[3] - exact)
    end
    assert.is_true(off[2] < 0.1 and off[2] < 0.6 * off[1])
  end)

  it("friction by the reaction that holds: a pendulum sticks where the torque of its weight is less than mu r m g", function()
    local g, l, mu, r = 10, 1, 0.5, 0.2
    for _, part in ipairs { 0.999, 1.001 } do
      local angle = math.asin(part * mu * r / l) -- m g l sin(angle) = part mu r m g
      local sys = ns.mechanics.system { gravity = { 0, -g } }
      local rod = sys:free_body { mass = 3, inertia = 0.1 }
      sys:pin(sys.ground, { 0, 0 }, rod, { 0, l }, { friction = mu, radius = r })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      local ds, laws = sys:insert(nsds, { q0 = { l * math.sin(angle), -l * math.cos(angle), angle } })
      local simu = stepping(nsds, 0.01)
      for _ in simu:steps() do
        local P = laws["pin 1 friction"]:lambda(1)
        assert.is_true(math.abs(P[3]) <= mu * r * math.sqrt(P[1] ^ 2 + P[2] ^ 2) * (1 + 1e-12))
      end
      if part < 1 then assert.near(angle, ds:q()[3], 1e-12) else assert.is_true(ds:q()[3] < angle - 1e-6) end
    end
  end)

  it("friction of sliders: constant, and by the force across the rail, in the plane and in space #once", function()
    local g, mu, v = 9.81, 0.3, 2
    local function slide(dimension, o, simulation)
      local down = dimension == 2 and { 0, -g } or { 0, 0, -g }
      local sys = ns.mechanics.system { gravity = down }
      local block = sys:free_body { mass = 2, inertia = dimension == 2 and 1 or ns.eye(3) }
      local zero = dimension == 2 and { 0, 0 } or { 0, 0, 0 }
      sys:slider(sys.ground, zero, dimension == 2 and { 1, 0 } or { 1, 0, 0 }, block, zero, o)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      local ds = sys:insert(nsds, { q0 = dimension == 2 and { 0, 0, 0 } or { 0, 0, 0, 1, 0, 0, 0 },
        v0 = dimension == 2 and { v, 0, 0 } or { v, 0, 0, 0, 0, 0, 0 } })
      simulation(nsds, 0.01):run()
      return ds:velocity()[1]
    end
    for dimension = 2, 3 do
      assert.near(v - mu * g * 0.5, slide(dimension, { friction = mu }, stepping), 1e-9)
      assert.near(v - 1.5 / 2 * 0.5, slide(dimension, { force = 1.5 }, stepping), 1e-9)
      assert.near(v - (mu * g + 0.75) * 0.5, slide(dimension, { friction = mu, force = 1.5 }, stepping), 1e-9)
    end
    assert.near(v - 1.5 / 2 * 0.5, slide(2, { force = 1.5 }, event_driven), 1e-9)
  end)

  it("friction of a hinge in space, with the length of all three components of its reaction", function()
    local mu, r, m, I = 0.4, 0.05, 2, 0.3
    local sys = ns.mechanics.system { gravity = { 0, 3, -4 } }
    local rotor = sys:free_body { mass = m, inertia = ns.diag { I, I, I } }
    sys:pin(sys.ground, { 0, 0, 0 }, rotor, { 0, 0, 0 }, { axis = { 1, 0, 0 }, friction = mu, radius = r, name = "shaft" })
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
    local _, laws = sys:insert(nsds, { q0 = { 0, 0, 0, 1, 0, 0, 0 }, v0 = { 0, 0, 0, 0, 1, 0, 0 } }) -- p' = w / 2: w = 2
    local simu = stepping(nsds, 0.01)
    simu:run()
    local P = laws["shaft friction"]:lambda(1)
    assert.near(m * 5 * 0.01, math.sqrt(P[1] ^ 2 + P[2] ^ 2 + P[3] ^ 2), 1e-10)
    assert.near(mu * r * m * 5 * 0.01, math.abs(P[6]), 1e-12)
    assert.near(2 - mu * r * m * 5 / I * 0.3, laws["shaft friction"]:y(1)[6], 1e-3)
  end)

  it("stops bounce by the restitution, of pins and sliders, in events and in steps #once", function()
    for _, simulation in ipairs { event_driven, stepping } do
      local simu, ds = wheel { spin = 2, T = 0.9, h = 0.01, simulation = simulation,
        pin = { stops = { -0.4, 0.5 }, restitution = 0.6 } }
      simu:run() -- at 0.25 with 2, at 0.25 + 0.9 / 1.2 with 1.2
      assert.near(-0.6 * 2, ds:velocity()[3], 1e-9)
      simu, ds = wheel { spin = 2, T = 1.5, h = 0.01, simulation = simulation,
        pin = { stops = { -0.4, 0.5 }, restitution = 0.6 } }
      simu:run()
      assert.near(0.72, ds:velocity()[3], 1e-9)
    end
  end)

  it("a free wheel turn one way alone #once", function()
    local J, again = 0.5, 3 * math.pi / 2 -- under the torque cos t it turns until pi, holds until 3 pi / 2, and turns again
    for _, side in ipairs { 1, -1 } do
      for _, simulation in ipairs { event_driven, stepping } do
        local simu, ds = wheel { J = J, torque = function(t) return side * math.cos(t) end, T = 6,
          h = simulation == stepping and 0.02 or 0.1, pin = { one_way = side }, simulation = simulation }
        for _, t in simu:steps() do
          local spin = t < math.pi and math.sin(t) or t > again and math.sin(t) + 1 or 0
          assert.near(spin / J, side * ds:velocity()[3], simulation == stepping and 0.03 or 1e-8)
        end
      end
    end
  end)

  it("play: two gears touch at both ends of the backlash and exchange their spin", function()
    local sys = ns.mechanics.system { dimension = 2 }
    local one, two = sys:free_body { mass = 1, inertia = 1, name = "one" }, sys:free_body { mass = 1, inertia = 1, name = "two" }
    sys:pin(sys.ground, { 0, 0 }, one)
    sys:pin(sys.ground, { 2, 0 }, two)
    sys:gear(one, two, -1, { backlash = 0.2, restitution = 1, name = "teeth" })
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.65)
    local ds, laws = sys:insert(nsds, { q0 = { 0, 0, 0, 2, 0, 0 }, v0 = { 0, 0, 1, 0, 0, 0 } })
    assert.truthy(laws["teeth lower stop"] and laws["teeth upper stop"])
    local sol = event_driven(nsds, 0.05):run()
    local times = {}
    for _, event in ipairs(sol.events) do
      if event.kind == "impact" then times[#times + 1] = event.t end
    end
    for k, t in ipairs { 0.1, 0.3, 0.5 } do assert.near(t, times[k], 1e-9) end -- spins 1, 0 | 0, -1 | 1, 0 | 0, -1
    assert.near(0, ds:velocity()[3], 1e-9)
    assert.near(-1, ds:velocity()[6], 1e-9)
  end)

  it("words for what is wrong, and for what has no such laws", function()
    local function system()
      local sys = ns.mechanics.system { gravity = { 0, -1 } }
      return sys, sys:free_body { mass = 1, inertia = 1 }
    end
    local function refused(text, o)
      local sys, body = system()
      assert.match(text, message(sys.pin, sys, sys.ground, { 0, 0 }, body, { 0, 0 }, o))
    end
    refused("pin: friction: the torque is friction %* radius %* reaction at most: give both", { friction = 0.3 })
    refused("pin: stops: expected { lowest, highest }, got 3", { stops = 3 })
    refused("pin: stops: expected the lowest value first, got { 2, 1 }", { stops = { 2, 1 } })
    refused("pin: restitution: it is that of stops, and there are none", { restitution = 0.5 })
    refused("pin: restitution: expected 0 to 1, got 2", { stops = { 0, 1 }, restitution = 2 })
    refused("pin: one_way: expected 1 or %-1, got 2", { one_way = 2 })
    refused("pin: torque: expected a number, at least 0, got %-1", { torque = -1 })
    local sys, body = system()
    sys:pin(sys.ground, { 0, 0 }, body, { 0, 0 }, { torque = 1, stops = { -1, 1 }, friction = 0.1, radius = 0.1 })
    local start = { q0 = { 0, 0, 2 } }
    assert.match("lagrangian: 'pin 1' has friction, stops, play or a free wheel, which are laws: sys:insert",
      message(sys.lagrangian, sys, start))
    assert.match("dae: 'pin 1' has friction", message(sys.dae, sys, start))
    assert.match("embedded: 'pin 1' has friction", message(sys.embedded, sys, start))
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    assert.match("insert: q0: 'pin 1' is at 2, beyond its stops { %-1, 1 }", message(sys.insert, sys, nsds, start))
    assert.match("insert: expected a NonSmoothDynamicalSystem, got 3", message(sys.insert, sys, 3, start))
    sys:insert(nsds, { q0 = { 0, 0, 0 } })
    assert.match("interaction 'pin 1 friction' has a JointFrictionNSL; it takes", message(function()
      event_driven(nsds, 0.1):run()
    end))
    local simu = stepping(nsds, 0.1)
    assert.match("the friction of 'pin 1 friction' follows the reaction, and its steps have no derivative",
      message(simu.run, simu, { sensitivities = { "x0" } }))
    local space = ns.mechanics.system { dimension = 3 }
    local solid = space:free_body { mass = 1, inertia = ns.eye(3) }
    assert.match("pin: stops: an angle in space is known between %-pi and pi",
      message(space.pin, space, space.ground, nil, solid, nil, { axis = { 0, 0, 1 }, stops = { -4, 1 } }))
  end)
end)
