-- Dry friction, stops, play and free wheels in joints of nslua.mechanics.
local ns = require "nslua"
local campaign = require "campaign"
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
    refused("pin: restitution: it belongs to stops, and there are none", { restitution = 0.5 })
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
    local driven = event_driven(nsds, 0.1)
    assert.match("sensitivities: the friction of 'pin 1 friction' follows the reaction, and its motion has no derivative",
      message(driven.run, driven, { sensitivities = { "x0" } }))
    local simu = stepping(nsds, 0.1)
    assert.match("the friction of 'pin 1 friction' follows the reaction, and its steps have no derivative",
      message(simu.run, simu, { sensitivities = { "x0" } }))
    local space = ns.mechanics.system { dimension = 3 }
    local solid = space:free_body { mass = 1, inertia = ns.eye(3) }
    assert.match("pin: stops: an angle in space is known between %-pi and pi",
      message(space.pin, space, space.ground, nil, solid, nil, { axis = { 0, 0, 1 }, stops = { -4, 1 } }))
  end)
end)

-- ---- friction that follows the reaction, in EventDriven ----

-- A pendulum of mass m, inertia J about its centre, at the distance l of its pin.
local function pendulum(o)
  local sys = ns.mechanics.system { gravity = { 0, -9.81 } }
  local rod = sys:free_body { mass = 2, inertia = 0.1 }
  sys:pin(sys.ground, { 0, 0 }, rod, { 0, 0.5 }, o.pin)
  local nsds = ns.NonSmoothDynamicalSystem(0, o.T)
  local angle = o.angle or 1.2
  local ds, laws = sys:insert(nsds, { q0 = { 0.5 * math.sin(angle), -0.5 * math.cos(angle), angle } })
  return (o.simulation or event_driven)(nsds, o.h or 0.1), ds, laws
end

-- The angle and its rate at T, by Runge and Kutta's method on the angle alone. Its acceleration a solves
-- (J + m l^2) a = -m g l sin(angle) - sgn(rate) mu r |R(a)|, R = m (acceleration of the centre - gravity).
local function swing(mu_r, angle, T)
  local m, J, l, g, n = 2, 0.1, 0.5, 9.81, 1000
  local function acceleration(x, w, side)
    local a = 0
    for _ = 1, 15 do -- a contraction by mu r / l
      local across = l * a * math.cos(x) - l * w * w * math.sin(x)
      local up = l * a * math.sin(x) + l * w * w * math.cos(x) + g
      a = (-m * g * l * math.sin(x) - side * mu_r * m * math.sqrt(across ^ 2 + up ^ 2)) / (J + m * l * l)
    end
    return a
  end
  local x, w, h = angle, 0, T / n
  for _ = 1, n do
    local side = -1 -- the first swing
    local a1 = acceleration(x, w, side)
    local a2 = acceleration(x + h / 2 * w, w + h / 2 * a1, side)
    local a3 = acceleration(x + h / 2 * (w + h / 2 * a1), w + h / 2 * a2, side)
    local a4 = acceleration(x + h * (w + h / 2 * a2), w + h * a3, side)
    x, w = x + h * w + h * h / 6 * (a1 + a2 + a3), w + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
  end
  return x, w
end

describe("friction that follows the reaction, in EventDriven,", function()
  it("lets a block on a rail stop after v^2 / (2 mu g), and one on a slope bounce at its stop #once", function()
    local mu, g, v = 0.3, 9.81, 2
    local sys = ns.mechanics.system { gravity = { 0, -g } }
    local block = sys:free_body { mass = 2, inertia = 1 }
    sys:slider(sys.ground, { 0, 0 }, { 1, 0 }, block, { 0, 0 }, { friction = mu })
    local nsds = ns.NonSmoothDynamicalSystem(0, 2)
    local ds, laws = sys:insert(nsds, { q0 = { 0, 0, 0 }, v0 = { v, 0, 0 } })
    local sol = event_driven(nsds, 0.4):run()
    assert.near(v * v / (2 * mu * g), ds:q()[1], 1e-13)
    assert.same({ "stick", 1 }, { sol.events[1].kind, #sol.events })
    assert.near(v / (mu * g), sol.events[1].t, 1e-13)
    assert.same({ 0.0, 0.0 }, { ds:velocity()[1], laws["slider 1 friction"]:lambda(1)[3] })
    local slope, e = 0.7, 0.5
    local hill = ns.mechanics.system { gravity = { 0, -g } }
    local sled = hill:free_body { mass = 2, inertia = 1 }
    hill:slider(hill.ground, { 0, 0 }, { math.cos(slope), -math.sin(slope) }, sled, { 0, 0 },
      { friction = mu, stops = { -1, 1 }, restitution = e })
    local other = ns.NonSmoothDynamicalSystem(0, 1.4)
    hill:insert(other, { q0 = { 0, 0, 0 } })
    local down, up = g * (math.sin(slope) - mu * math.cos(slope)), g * (math.sin(slope) + mu * math.cos(slope))
    local t, u = math.sqrt(2 / down), math.sqrt(2 * down)
    local events = event_driven(other, 0.1):run().events
    for k = 1, 3, 2 do
      assert.same({ "impact", "cross" }, { events[k].kind, events[k + 1].kind })
      assert.near(t, events[k].t, 1e-12)
      t, u = t + e * u / up, e * u
      assert.near(t, events[k + 1].t, 1e-12)
      t, u = t + u / math.sqrt(up * down), u * math.sqrt(down / up)
    end
  end)

  it("moves a pendulum as the equation of its angle does, and stops it where the torque of its weight is small #once", function()
    local mu, r = 0.8, 0.1
    local simu, ds = pendulum { pin = { friction = mu, radius = r }, T = 0.7 }
    simu:run()
    local angle, rate = swing(mu * r, 1.2, 0.7)
    assert.near(angle, ds:q()[3], 1e-9)
    assert.near(rate, ds:velocity()[3], 1e-9)
    local sin = mu * r / 0.5 -- at rest the reaction is m g, and the torque m g l sin(angle)
    for side = -1, 1, 2 do
      local start = math.asin(sin) + side * 1e-9
      local still, rod = pendulum { pin = { friction = mu, radius = r }, angle = start, T = 1 }
      still:run()
      assert.equal(side < 0, rod:q()[3] == start)
    end
    local rest, rod = pendulum { pin = { friction = mu, radius = r }, T = 4 }
    local sol = rest:run()
    assert.equal("stick", sol.events[#sol.events].kind)
    assert.is_true(math.abs(math.sin(rod:q()[3])) <= sin and math.abs(rod:velocity()[3]) < 1e-15)
  end)

  it("is what small time steps go to, with an impulse of friction at the stops #long", function()
    local pin = { friction = 0.3, radius = 0.1, stops = { -0.4, 2 }, restitution = 0.6 }
    local simu, ds = pendulum { pin = pin, T = 1 }
    simu:run()
    local off = {}
    for i, h in ipairs { 2e-3, 5e-4 } do
      local steps, rod = pendulum { pin = pin, T = 1, h = h, simulation = stepping }
      steps:run()
      off[i] = math.abs(rod:q()[3] - ds:q()[3])
    end
    assert.is_true(off[1] < 2e-2 and off[2] < off[1] / 2.5, off[1] .. " " .. off[2])
  end)

  it("has the bits of its run in a clone and from a checkpoint, and with every grid its events #once", function()
    local function make(h)
      return pendulum { pin = { friction = 0.3, radius = 0.1, stops = { -0.3, 2 }, restitution = 0.5 }, T = 3, h = h }
    end
    local one, ds = make(0.1)
    local file = os.tmpname()
    for _ = 1, 13 do one:computeOneStep() one:nextStep() end
    one:save_state(file)
    local clone, other, same = one:clone(), make(0.1)
    other:load_state(file)
    os.remove(file)
    for _ = 1, 15 do
      for _, simu in ipairs { one, clone, other } do simu:computeOneStep() simu:nextStep() end
    end
    assert.equal(ds:q(), same:q())
    assert.equal(ds:q(), clone:nsds():dynamicalSystem(1):q())
    local fine, coarse = make(0.05):run().events, make(1):run().events
    assert.is_true(#fine >= 4)
    for i, event in ipairs(coarse) do
      if i <= 6 then assert.near(fine[i].t, event.t, 1e-7) end
    end
  end)

  -- Chains of one to three bodies with random pins: every row of a run obeys the law, and the energy is accounted for.
  it("obeys the law and the account of energy in random chains #long", function()
    local count, tell = campaign(2, 0.005)
    for seed = 1, count do
      math.randomseed(seed)
      local sys, bodies, at, start = ns.mechanics.system { gravity = { 0, -9.81 } }, math.random(3), { 0, 0 }, {}
      local before, top, joints = nil, nil, {}
      for k = 1, bodies do
        local l, angle = 0.2 + math.random() / 2, 3 * (math.random() - 0.5)
        local body = sys:free_body { mass = 0.5 + math.random(), inertia = 0.02 + math.random() / 10 }
        local o = { friction = math.random(), radius = 0.1 * math.random(), torque = math.random() < 0.3 and 0.2 or nil }
        if math.random() < 0.4 then o.stops, o.restitution = { -2, 2 }, math.random() end
        sys:pin(before or sys.ground, before and { 0, -top } or { 0, 0 }, body, { 0, l }, o)
        joints[k] = { mu = o.friction * o.radius, own = o.torque or 0, name = ("pin %d friction"):format(k) }
        local x, y = at[1] + l * math.sin(angle), at[2] - l * math.cos(angle)
        for _, value in ipairs { x, y, angle } do start[#start + 1] = value end
        at, before, top = { x + l * math.sin(angle), y - l * math.cos(angle) }, body, l
      end
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      local good, _, laws = pcall(sys.insert, sys, nsds, { q0 = start })
      if good then -- no start is beyond a stop
        local simu = event_driven(nsds, 0.05)
        local first = simu:energy().total
        for _ = 1, 10 do
          simu:computeOneStep()
          simu:nextStep()
          for _, joint in ipairs(joints) do
            local lambda, u = laws[joint.name]:lambda(1), laws[joint.name]:y(1)[3]
            local most = joint.own + joint.mu * math.sqrt(lambda[1] ^ 2 + lambda[2] ^ 2)
            assert.is_true(math.abs(lambda[3]) <= most * (1 + 1e-9), ("seed %d: %g beyond %g"):format(seed, lambda[3], most))
            if math.abs(u) > 1e-6 then assert.near(-most * (u > 0 and 1 or -1), lambda[3], 1e-9 * most) end
          end
        end
        local account = simu:energy()
        assert.is_true(account.friction <= 1e-12 and account.impacts <= 1e-12)
        assert.near(account.total - first, account.friction + account.impacts, 1e-7, "seed " .. seed)
      end
    end
    tell("chains with friction in their pins", count)
  end)
end)
