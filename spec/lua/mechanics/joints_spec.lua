-- ns.mechanics: constraints and joints, in the plane and in space.
local ns = require "nslua"
local fails = require "expect".fails
local sin, cos = math.sin, math.cos
local g = 9.81

local function plane() return ns.mechanics.system { gravity = { 0, -g } } end
local function space() return ns.mechanics.system { gravity = { 0, 0, -g } } end

local function bar(sys, name)
  return sys:free_body { name = name, mass = 2, inertia = sys.dimension == 2 and 0.3 or ns.diag { 0.3, 0.4, 0.5 } }
end

-- The quaternion of a turn by phi about an axis of length 1.
local function turn(axis, phi)
  local s = sin(phi / 2)
  return cos(phi / 2), s * axis[1], s * axis[2], s * axis[3]
end

local function pose(x, axis, phi)
  return { x[1], x[2], x[3], turn(axis, phi) }
end

local function join(...) return ns.concatenate { ... } end

-- Residuals of the constraints at q; their Jacobian.
local function residual(sys, q) return (sys:constraint_jacobian(0, q)) end
local function rank(sys, q) return (ns.rank(select(2, sys:constraint_jacobian(0, q)))) end

local function holds(sys, q) assert.is_true(residual(sys, q):norm(math.huge) < 1e-12, tostring(residual(sys, q))) end
local function broken(sys, q) assert.is_true(residual(sys, q):norm(math.huge) > 1e-3, tostring(residual(sys, q))) end

describe("ns.mechanics: joints in the plane", function()
  it("pin: the points coincide, the angle is free", function()
    local sys = plane()
    sys:pin(bar(sys), { -0.5, 0.1 }, sys.ground, { 1, 2 })
    for _, phi in ipairs { 0, 0.7, 4 } do
      local c, s = cos(phi), sin(phi)
      holds(sys, { 1 + 0.5 * c + 0.1 * s, 2 + 0.5 * s - 0.1 * c, phi })
    end
    broken(sys, { 1, 2, 0 })
    assert.equal(2, rank(sys, { 1, 2, 0.3 }))
  end)

  it("slider: along a line of the first body; the angle held or free", function()
    local sys = plane()
    local rail = bar(sys)
    local joint = sys:slider(rail, { 0, 1 }, { 0, 2 }, bar(sys), { 0.5, 0 }, { angle = 0.2, name = "rail" })
    assert.equal("rail", joint.name)
    local phi = 0.3
    local function place(s, angle) -- s along the line
      local x, y = -(1 + s) * sin(phi), (1 + s) * cos(phi)
      return { 0, 0, phi, x - 0.5 * cos(angle), y - 0.5 * sin(angle), angle }
    end
    for _, s in ipairs { -1, 0, 2.5 } do holds(sys, place(s, 0.5)) end
    broken(sys, place(1, 0.6))
    assert.equal(2, rank(sys, place(1, 0.5)))
    local free = plane()
    free:slider(bar(free), { 0, 1 }, { 0, 2 }, bar(free), { 0.5, 0 }, { angle = false })
    holds(free, place(1, 0.6))
    assert.equal(1, rank(free, place(1, 0.6)))
  end)

  it("weld: two bodies as one", function()
    local sys = plane()
    local one, other = bar(sys), bar(sys)
    sys:weld(one, { 1, 0 }, other, { 0, 0 }, { angle = 0.5 })
    local q = { 0, 0, 0.2, cos(0.2), sin(0.2), 0.7 }
    holds(sys, q)
    assert.equal(3, rank(sys, q))
    -- Together they fall like one body and turn under a torque with the inertia about the common centre.
    sys:torque { on = one, value = 3 }
    local a = sys:accelerations(0, q, ns.zeros(6))
    assert.near(3 / (0.3 + 0.3 + 2 * 2 * 0.25), a[3], 1e-12)
    assert.near(a[3], a[6], 1e-12)
    assert.near(-g, (a[2] + a[5]) / 2, 1e-12)
  end)

  it("distance: a rod, whose multiplier is its force", function()
    local sys = plane()
    local one = bar(sys)
    sys:distance(one, nil, sys.ground, { 0, 3 }, 3)
    holds(sys, { 0, 0, 1 })
    local a, lambda = sys:accelerations(0, { 0, 0, 1 }, { 0, 0, 0 })
    assert.near(0, a[2], 1e-12)
    assert.near(-2 * g, lambda[1], 1e-12) -- the force on one body away from the other: it pulls
    a = sys:accelerations(0, { 0, 0, 1 }, { 2, 0, 0 }) -- on the circle
    assert.near(4 / 3, a[2], 1e-12)
  end)

  it("gear: two wheels turn with the ratio", function()
    local sys = plane()
    local one, other = bar(sys), bar(sys)
    sys:pin(one, nil, sys.ground, nil)
    sys:pin(other, nil, sys.ground, { 3, 0 })
    sys:gear(one, other, -2, { offset = 0.1 })
    sys:torque { on = one, value = 3 }
    local q = { 0, 0, 0.4, 3, 0, -0.7 }
    holds(sys, q)
    local a = sys:accelerations(0, q, ns.zeros(6))
    assert.near(3 / (0.3 + 4 * 0.3), a[3], 1e-12)
    assert.near(-2 * a[3], a[6], 1e-12)
  end)
end)

describe("ns.mechanics: joints in space", function()
  local n = ns.vector { 1, 2, -1 }
  n = n / n:norm()

  it("a quaternion has length 1", function()
    local sys = space()
    bar(sys)
    holds(sys, pose({ 1, 2, 3 }, n, 0.8))
    broken(sys, { 0, 0, 0, 0, 0, 0, 2 })
  end)

  it("ball: the points coincide", function()
    local sys = space()
    sys:ball(bar(sys), { 0, 0, 2 }, sys.ground, { 1, 1, 1 })
    holds(sys, pose({ 1, 1, -1 }, { 0, 0, 1 }, 2))
    holds(sys, pose({ 1, 1, 3 }, { 1, 0, 0 }, math.pi))
    broken(sys, pose({ 1, 1, 0 }, n, 0.3))
    assert.equal(4, rank(sys, pose({ 1, 1, -1 }, { 0, 0, 1 }, 2)))
  end)

  it("pin: a hinge; the body swings like the pendulum that it is", function()
    local sys = space()
    local body = bar(sys)
    sys:pin(body, { -1, 0, 0 }, sys.ground, { 0, 0, 0 }, { axis = { 0, 1, 0 } })
    local phi, w = 0.4, 1.7 -- about y: the centre at (cos, 0, -sin)
    local q = ns.vector(pose({ cos(phi), 0, -sin(phi) }, { 0, 1, 0 }, phi))
    holds(sys, q)
    assert.equal(6, rank(sys, q))
    broken(sys, pose({ cos(phi), 0, -sin(phi) }, { 0, 0, 1 }, phi))
    local v = ns.zeros(7)
    v[1], v[3] = -sin(phi) * w, -cos(phi) * w
    v[4], v[6] = -sin(phi / 2) * w / 2, cos(phi / 2) * w / 2
    local a = sys:accelerations(0, q, v)
    local bend = 2 * g * cos(phi) / (0.4 + 2) -- phi''
    assert.near(-sin(phi) * bend - cos(phi) * w ^ 2, a[1], 1e-11)
    assert.near(-cos(phi) * bend + sin(phi) * w ^ 2, a[3], 1e-11)
    assert.near(0, a[2], 1e-12)
  end)

  it("pin: with an axis for each body", function()
    local sys = space()
    local one, other = bar(sys), bar(sys)
    sys:pin(one, nil, other, nil, { axis = { 0, 0, 3 }, axis2 = { 2, 0, 0 } })
    local q = join(pose({ 0, 0, 0 }, { 1, 0, 0 }, 0), pose({ 0, 0, 0 }, { 0, 1, 0 }, -math.pi / 2)) -- x to z
    holds(sys, q)
    assert.equal(2 + 5, rank(sys, q))
  end)

  it("slider: along a line, with the orientation held, free to turn, or free", function()
    local function along(o)
      local sys = space()
      sys:slider(sys.ground, { 0, 0, 1 }, { 0, 1, 0 }, bar(sys), { 0.5, 0, 0 }, o)
      return sys
    end
    local straight = pose({ -0.5, 3, 1 }, { 0, 0, 1 }, 0)
    local about_line = pose({ -0.5 * cos(0.3), 3, 1 + 0.5 * sin(0.3) }, { 0, 1, 0 }, 0.3)
    local about_z = pose({ -0.5 * cos(0.3), 3 - 0.5 * sin(0.3), 1 }, { 0, 0, 1 }, 0.3)
    local held, turning, free = along(), along { turning = true }, along { orientation = false }
    holds(held, straight)
    broken(held, about_line)
    holds(turning, straight)
    holds(turning, about_line)
    broken(turning, about_z)
    holds(free, about_line)
    holds(free, about_z)
    broken(free, pose({ 0, 3, 1 }, { 0, 0, 1 }, 0))
    assert.same({ 6, 5, 3 }, { rank(held, straight), rank(turning, straight), rank(free, straight) })
    local a = along { name = "rail" }:accelerations(0, straight, ns.zeros(7))
    assert.near(0, a:norm(), 1e-12)
  end)

  it("weld: holds an orientation", function()
    local R = ns.matrix { { 0, -1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } } -- a quarter of a turn about z
    local sys = space()
    sys:weld(bar(sys), { 1, 0, 0 }, bar(sys), nil, { orientation = R })
    local q = join(pose({ 0, 0, 0 }, { 0, 0, 1 }, 0.3), pose({ cos(0.3), sin(0.3), 0 }, { 0, 0, 1 }, 0.3 + math.pi / 2))
    holds(sys, q)
    broken(sys, join(pose({ 0, 0, 0 }, { 0, 0, 1 }, 0.3), pose({ cos(0.3), sin(0.3), 0 }, { 0, 0, 1 }, 0.3)))
    assert.equal(2 + 6, rank(sys, q))
  end)

  it("gear: turns with the ratio, through whole turns", function()
    local sys = space()
    local one, other = bar(sys), bar(sys)
    sys:pin(one, nil, sys.ground, nil, { axis = n })
    sys:pin(other, nil, sys.ground, { 3, 0, 0 }, { axis = { 0, 0, 1 } })
    sys:gear(one, other, -2 / 3, { axis = n, axis2 = { 0, 0, 1 }, offset = 0.1 })
    for _, phi in ipairs { 0, 1, 2.9, 3.3, 5, 9, 40 } do
      holds(sys, join(pose({ 0, 0, 0 }, n, phi), pose({ 3, 0, 0 }, { 0, 0, 1 }, 0.1 - 2 / 3 * phi)))
    end
    local q = join(pose({ 0, 0, 0 }, n, 5), pose({ 3, 0, 0 }, { 0, 0, 1 }, 0.1 - 10 / 3))
    broken(sys, join(pose({ 0, 0, 0 }, n, 5), pose({ 3, 0, 0 }, { 0, 0, 1 }, 0.2 - 10 / 3)))
    assert.equal(2 + 5 + 5 + 1, rank(sys, q))
    sys:torque { on = one, value = 3 * n }
    local a = sys:accelerations(0, q, ns.zeros(14))
    local i1, i2 = n:dot(ns.diag { 0.3, 0.4, 0.5 } * n), 0.5
    -- phi'' = 3 / (i1 + 4/9 i2); p'' of a turn from rest is p * (0, w') / 2.
    local bend = 3 / (i1 + 4 / 9 * i2)
    local function bent(axis, phi, w) return join({ -sin(phi / 2) * w / 2 }, cos(phi / 2) * w / 2 * ns.vector(axis)) end
    assert.is_true((a(4, 7) - bent(n, 5, bend)):norm() < 1e-11)
    assert.is_true((a(11, 14) - bent({ 0, 0, 1 }, 0.1 - 10 / 3, -2 / 3 * bend)):norm() < 1e-11)
  end)

  it("distance: a rod in space", function()
    local sys = space()
    sys:distance(bar(sys), { 0, 0, 1 }, sys.ground, { 0, 3, 5 }, 5)
    holds(sys, pose({ 0, 0, 0 }, { 0, 0, 1 }, 1))
    broken(sys, pose({ 0, 1, 0 }, { 0, 0, 1 }, 1))
  end)
end)

describe("ns.mechanics: constraints", function()
  it("are functions of (t, q): a list, one of several values, one value", function()
    local sys = ns.mechanics.system { coordinates = 3 }
    sys:constraint { name = "list", f = { function(t, q) return q[1] - t end, function(_, q) return q[1] * q[2] end } }
    sys:constraint { name = "table", f = function(_, q) return { q[3], q[3] ^ 2 } end }
    sys:constraint { name = "one", f = function(t, q) return q[3] * t ^ 2 end }
    sys:constraint { name = "filled", rows = 2, f = function(_, q, out) out[1], out[2] = q[1], q[2] end }
    local phi, rate, bend = sys:constraint_rates(2, { 1, 5, 7 }, { 3, 11, 13 })
    assert.same({ -1, 5, 7, 49, 28, 1, 5 }, phi:totable())
    assert.same({ 2, 3 * 5 + 11, 13, 2 * 7 * 13, 13 * 4 + 7 * 4, 3, 11 }, rate:totable())
    assert.same({ 0, 66, 0, 2 * 169, 2 * 13 * 4 + 7 * 2, 0, 0 }, bend:totable())
    local _, J = sys:constraint_jacobian(2, { 1, 5, 7 })
    assert.same({ 5, 1, 0 }, J[2]:totable())
  end)

  it("and joints are refused by name when they can not be", function()
    local sys, far, solid = plane(), plane(), space()
    local one = bar(sys, "one")
    local grain = sys:particle { name = "grain", mass = 1, position = function(_, q) return { q[1], q[2] } end }
    fails("mechanics: constraint: f: expected a function of (t, q), got nil", sys.constraint, sys, {})
    fails("mechanics: constraint: f[2]: expected a function of (t, q), got 3", sys.constraint, sys, { f = { print, 3 } })
    fails("mechanics: constraint: rows: expected a number of equations, got 0", sys.constraint, sys, { f = print, rows = 0 })
    fails("mechanics: constraint: unknown option 'g' (known: name, f, rows)", sys.constraint, sys, { g = print })
    fails("mechanics: pin: first body: expected a body, got 3", sys.pin, sys, 3, nil, one)
    fails("mechanics: pin: second body: body 'body 1' is of another system", sys.pin, sys, one, nil, bar(far))
    fails("mechanics: body 'one': point: expected 2 numbers, got 3", sys.pin, sys, one, { 1, 2, 3 })
    fails("mechanics: pin: unknown option 'axis' (known: name, friction, radius, torque, stops, restitution, one_way)",
      sys.pin, sys, one, nil, sys.ground, nil, { axis = { 0, 0, 1 } })
    fails("mechanics: slider: direction: expected one that is not 0", sys.slider, sys, one, nil, { 0, 0 }, sys.ground)
    fails("mechanics: slider: particle 'grain' does not turn", sys.slider, sys, one, nil, { 1, 0 }, grain)
    fails("mechanics: weld: angle: expected a number, got 'up'", sys.weld, sys, one, nil, nil, nil, { angle = "up" })
    fails("mechanics: distance: length: expected a number above 0, got 0", sys.distance, sys, one, nil, nil, nil, 0)
    fails("mechanics: gear: ratio: expected a number, got nil", sys.gear, sys, one, sys.ground)
    fails("mechanics: ball: the system is in the plane: use pin", sys.ball, sys, one)
    fails("mechanics: pin: name: expected a string, got 3", sys.pin, sys, one, nil, nil, nil, { name = 3 })
    sys:pin(one, nil, nil, nil, "hinge")
    fails("mechanics: constraint 'hinge': there is one of that name", sys.pin, sys, one, nil, nil, nil, "hinge")
    local body = bar(solid)
    fails("mechanics: pin: axis is missing (a ball joint leaves the axis free)", solid.pin, solid, body)
    fails("mechanics: weld: orientation: expected a rotation matrix", solid.weld, solid, body, nil, nil, nil,
      { orientation = ns.diag { 1, 1, 2 } })
    for _, R in ipairs { { 2, 0, 0, 0, 3, 0, 0, 0, 1 }, { -1, 0, 0, 0, 1, 0, 0, 0, 1 } } do
      local one_turn = ns.mechanics.system { gravity = { 0, 0, -9.81 }, coordinates = 1 }
      one_turn:body { mass = 1, inertia = ns.eye(3), position = function(_, q) return { q[1], 0, 0 } end,
        orientation = function() return { { R[1], R[2], R[3] }, { R[4], R[5], R[6] }, { R[7], R[8], R[9] } } end }
      fails("mechanics: dae: the orientation of 'body 1' is not a rotation matrix at t0, q0", one_turn.dae, one_turn,
        { q0 = { 0 } })
    end
    fails("mechanics: weld: orientation: expected a 3 x 3 matrix, got 2", solid.weld, solid, body, nil, nil, nil,
      { orientation = 2 })
    fails("mechanics: gear: axis: expected a list of 3 numbers, got nil", solid.gear, solid, body, bar(solid), 2)
    fails("mechanics: gear: expected two bodies, got 'ground' twice", solid.gear, solid, nil, solid.ground, 2)
    for _, joint in ipairs { "pin", "ball", "weld" } do
      fails(("mechanics: %s: expected two bodies, got '%s' twice"):format(joint, body.name), solid[joint], solid, body, nil, body)
    end
    fails("mechanics: gear: ratio: expected a ratio of numbers of teeth, at most 1000, got 3.14159265358979", solid.gear, solid,
      body, nil, math.pi, { axis = { 0, 0, 1 } })
  end)

  it("in space refuse a start with the axes on the wrong side", function()
    local sys = space()
    sys:pin(bar(sys), nil, nil, nil, { axis = { 0, 0, 1 }, name = "hinge" })
    fails("mechanics: embedded: q0: constraint 'hinge': the axes point to opposite sides", sys.embedded, sys,
      { q0 = pose({ 0, 0, 0 }, { 1, 0, 0 }, math.pi) })
    sys = space()
    sys:weld(bar(sys), nil, nil, nil, "weld")
    fails("mechanics: dae: q0: constraint 'weld': the axes are turned by more than a right angle", sys.dae, sys,
      { q0 = pose({ 0, 0, 0 }, { 1, 0, 0 }, math.pi) })
    sys = space()
    sys:gear(sys.ground, bar(sys), 1 / 3, { axis = { 0, 0, 1 }, name = "wheels" })
    fails("mechanics: dae: q0: constraint 'wheels': the offset is off by more than a quarter of a tooth", sys.dae, sys,
      { q0 = pose({ 0, 0, 0 }, { 0, 0, 1 }, math.pi / 3) })
  end)
end)
