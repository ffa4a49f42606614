-- Accelerations under constraints: forces, dependent constraints, projection, errors.
local ns = require "nslua"
local events = require "simulation.events"
local g = events.g

local function length(l)
  return ns.LagrangianScleronomousR { h = function(q, z, y) y[1] = q[1] ^ 2 + q[2] ^ 2 - l ^ 2 end }
end

describe("motion under constraints", function()
  it("keeps a pendulum's length and its energy over many swings, and is that of the angle", function()
    local a = 1.2
    local ds = events.particle({ math.sin(a), -math.cos(a) }, { 0, 0 })
    local simu = events.simulation { systems = { ds }, T = 10, h = 0.5,
      links = { { ns.EqualityConditionNSL(1), length(1), "rod", ds } } }
    local angle = ns.LagrangianDS({ a }, { 0 }, { { 1 } })
    angle:setComputeFIntFunction(function(t, q, v, z, f) f[1] = g * math.sin(q[1]) end)
    local other = events.simulation { systems = { angle }, T = 10, h = 0.5 }
    local start = simu:energy().total
    for _ in simu:steps() do
      other:computeOneStep()
      local q, v, th = ds:q(), ds:velocity(), angle:q()[1]
      assert.near(0, q[1] ^ 2 + q[2] ^ 2 - 1, 1e-14)
      assert.near(0, q[1] * v[1] + q[2] * v[2], 1e-13)
      assert.near(math.sin(th), q[1], 1e-10)
      assert.near(start, simu:energy().total, 1e-11)
      other:nextStep()
    end
  end)

  it("gives the force of a constraint", function()
    local ds = events.particle({ 0, -2 }, { 3, 0 }, 2)
    local simu, inters = events.simulation { systems = { ds }, T = 1e-9, h = 1e-9,
      links = { { ns.EqualityConditionNSL(1), length(2), "rod", ds } } }
    simu:computeOneStep()
    -- m v^2 / l + m g = lambda |grad h|, and grad h = 2 q points downwards
    assert.near(-(2 * 9 / 2 + 2 * g) / 4, inters.rod:lambda(1)[1], 1e-6)
  end)

  it("shares the forces of dependent constraints", function()
    local ds = events.particle({ 0, -1 }, { 1, 0 })
    local simu, inters = events.simulation { systems = { ds }, T = 2, h = 0.5,
      links = { { ns.EqualityConditionNSL(1), length(1), "one", ds }, { ns.EqualityConditionNSL(1), length(1), "two", ds } } }
    simu:run()
    local q = ds:q()
    assert.near(1, q[1] ^ 2 + q[2] ^ 2, 1e-13)
    assert.near(inters.one:lambda(1)[1], inters.two:lambda(1)[1], 1e-9)
  end)

  it("follows a constraint that moves", function()
    local ds = ns.LagrangianDS({ 0, 0 }, { 0, 0.6 }, { { 1, 0 }, { 0, 1 } })
    local moving = ns.LagrangianRheonomousR { h = function(t, q, z, y) y[1] = q[2] - 0.2 * math.sin(3 * t) end,
      hDot = function(t, q, z, r) r[1] = -0.6 * math.cos(3 * t) end }
    local simu, inters = events.simulation { systems = { ds }, T = 3, h = 0.25,
      links = { { ns.EqualityConditionNSL(1), moving, "guide", ds } } }
    simu:energy()
    local start = simu:energy().total
    for _, t in simu:steps() do
      assert.near(0.2 * math.sin(3 * t), ds:q()[2], 1e-14)
      assert.near(0.6 * math.cos(3 * t), ds:velocity()[2], 1e-12)
      assert.near(-1.8 * math.sin(3 * t), inters.guide:lambda(1)[1], 1e-8)
      local e = simu:energy() -- what the guide does
      assert.near(e.total, start + e.forces + e.damping + e.impacts + e.numerical, 1e-13)
      assert.near(0, e.numerical, 1e-8)
    end
  end)

  it("names the system whose mass is singular, and the constraint that does not hold at the start", function()
    local flat = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, { { 1, 0 }, { 0, 0 } })
    flat:setName "flat"
    local simu = events.simulation { systems = { flat }, T = 1 }
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.truthy(message:find("dynamical system 'flat': the mass matrix is singular (row 2)", 1, true), message)
    local ds = events.particle({ 0, -1.1 }, { 0, 0 })
    simu = events.simulation { systems = { ds }, T = 1, links = { { ns.EqualityConditionNSL(1), length(1), "rod", ds } } }
    ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.truthy(message:find("EventDriven: interaction 'rod': the constraint does not hold at the start: y = 0.21", 1, true),
      message)
  end)

  it("holds a point of a rigid body that spins: the force is that of the turning", function()
    local l, m, omega = 0.7, 2, 3
    local c, s = math.cos(0.4), math.sin(0.4) -- half the angle of the body's x axis
    local function pinned(h)
      local ds = ns.NewtonEulerDS({ l * math.cos(0.8), l * math.sin(0.8), 0, c, 0, 0, s },
        { -l * omega * math.sin(0.8), l * omega * math.cos(0.8), 0, 0, 0, omega }, m,
        { { 0.1, 0, 0 }, { 0, 0.3, 0 }, { 0, 0, 0.2 } })
      return ds, events.simulation { systems = { ds }, T = 1, h = 0.1,
        links = { { ns.EqualityConditionNSL(3), ns.NewtonEulerR { h = h }, "pin", ds } } }
    end
    local function pin(_, q, _, y) -- the centre less the body's point (l, 0, 0), turned
      local a, b, d, e = q[4], q[5], q[6], q[7]
      y[1] = q[1] - l * (a * a + b * b - d * d - e * e)
      y[2] = q[2] - l * 2 * (b * d + a * e)
      y[3] = q[3] - l * 2 * (b * e - a * d)
    end
    local ds, simu, inters = pinned(pin)
    for _, t in simu:steps() do
      local angle, force = 0.8 + omega * t, inters.pin:lambda(1)
      assert.near(-m * l * omega ^ 2 * math.cos(angle), force[1], 1e-8)
      assert.near(-m * l * omega ^ 2 * math.sin(angle), force[2], 1e-8)
      assert.near(0, force[3], 1e-8)
      assert.near(l * math.cos(angle), ds:q()[1], 1e-9)
    end
  end)

  it("says when constraints contradict each other", function()
    local ds = events.particle({ 0, 0 }, { 0, 0 })
    local fixed = ns.LagrangianRheonomousR { h = function(t, q, z, y) y[1] = q[1] end }
    local moved = ns.LagrangianRheonomousR { h = function(t, q, z, y) y[1] = q[1] - t * t end }
    local simu = events.simulation { systems = { ds }, T = 1, links = {
      { ns.EqualityConditionNSL(1), fixed, "fixed", ds }, { ns.EqualityConditionNSL(1), moved, "moved", ds } } }
    local ok, message = pcall(simu.computeOneStep, simu)
    assert.is_false(ok)
    assert.truthy(message:find("EventDriven: the forces of 'fixed' and others have no accepted solution", 1, true), message)
    assert.equal(0, ds:q()[1])
  end)
end)

describe("the account of energies", function()
  it("has the work of the dampers: what is lost between two times, apart from impacts", function()
    local function fall(c)
      local ds = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 2 } }, { { 9 } }, c and { { c } })
      ds:setFExtPtr { -3 }
      local simu = events.simulation { systems = { ds }, T = 5, h = 0.5,
        links = { { ns.NewtonImpactNSL(0.6), ns.LagrangianLinearTIR({ { 1 } }, { 0.4 }), "stop", ds } } }
      local start = simu:energy().total
      simu:run()
      local e = simu:energy()
      assert.is_true(e.impacts < -1)
      assert.near(e.total - start, e.damping + e.impacts, 1e-9)
      return e.damping
    end
    assert.equal(0, fall(nil))
    assert.is_true(fall(0.7) < -1)
  end)
end)

describe("constraints that can not hold", function()
  local function failing(relations)
    local ds, links = ns.LagrangianDS({ 1 }, { 0 }, { { 1 } }), {}
    for i, relation in ipairs(relations) do links[i] = { ns.EqualityConditionNSL(1), relation, "wall " .. i, ds } end
    local simu = events.simulation { systems = { ds }, links = links, T = 1, h = 0.1 }
    local good, err = pcall(simu.computeOneStep, simu)
    assert.is_false(good)
    assert.equal(1, ds:q()[1])
    return err
  end

  it("are told: two that part, at once or by and by, one that no place fulfils", function()
    local function moving(a, power)
      return ns.LagrangianRheonomousR { h = function(t, q, _, y) y[1] = q[1] - 1 - a * t ^ power end }
    end
    assert.matches("EventDriven: the forces of 'wall 1' and others have no accepted solution: singular matrix (t=0 step 1)",
      failing { moving(1, 2), moving(-1, 2) }, 1, true)
    assert.matches("interaction 'wall %d' contradicts the other constraints that act", failing { moving(1, 3), moving(-1, 3) })
    local nowhere = ns.LagrangianRheonomousR { h = function(t, q, _, y)
      y[1] = t < 0.05 and q[1] - 1 or 0.9 * (q[1] - 1.5) ^ 2 + 1 + t
    end }
    assert.matches("interaction 'wall 1': the constraint can not be kept: y = %S+ after %d+ projections", failing { nowhere })
  end)
end)

describe("constraints of different units", function()
  it("are solved alike: one as small as another is large, and their forces follow", function()
    -- a pendulum on a rod, whose bob is turned by a gear: the rows are a length squared and an angle
    local function forces(a, b)
      local ds = ns.LagrangianDS({ 0, -1, 0 }, { 1, 0, 0.5 }, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0.1 } })
      ds:setFExtPtr { 0, -g, 0 }
      local rod = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = a * (q[1] ^ 2 + q[2] ^ 2 - 1) end }
      local gear = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = b * (q[3] - 0.5 * q[1]) end }
      local simu, inters = events.simulation { systems = { ds }, T = 1, h = 0.25,
        links = { { ns.EqualityConditionNSL(1), rod, "rod", ds }, { ns.EqualityConditionNSL(1), gear, "gear", ds } } }
      simu:run()
      return inters.rod:lambda(1)[1] * a, inters.gear:lambda(1)[1] * b, ds:q():totable()
    end
    local rod, gear, q = forces(1, 1)
    for _, unit in ipairs { 2.0 ^ 30, 2.0 ^ -30, 2.0 ^ 80, 2.0 ^ -80 } do
      local r, t, there = forces(unit, 1 / unit)
      assert.near(rod, r, 1e-11)
      assert.near(gear, t, 1e-11)
      for i = 1, 3 do assert.near(q[i], there[i], 1e-12) end
    end
  end)
end)
