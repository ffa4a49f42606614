-- ns.mechanics: systems from positions: masses, forces, inertial terms, accelerations, energy.
local ns = require "nslua"
local expect = require "expect"
local fails, near, near_matrix = expect.fails, expect.near, expect.near_matrix
local sin, cos = math.sin, math.cos
local g = 9.81

-- Two particles on massless rods, relative angles from the vertical.
local function double_pendulum()
  local sys = ns.mechanics.system { coordinates = 2, gravity = { 0, -g } }
  local function first(_, q) return { 1.5 * sin(q[1]), -1.5 * cos(q[1]) } end
  sys:particle { name = "upper", mass = 2, position = first }
  sys:particle { name = "lower", mass = 3, position = function(t, q)
    local x = first(t, q)
    return { x[1] + 0.5 * sin(q[2]), x[2] - 0.5 * cos(q[2]) }
  end }
  return sys
end

-- d(total energy)/dt by central differences along the motion.
local function power(sys, t, q, v)
  q, v = ns.vector(q), ns.vector(v)
  local a = sys:accelerations(t, q, v)
  local function at(h)
    return sys:energy(t + h, q + h * v + h ^ 2 / 2 * a, v + h * a).total
  end
  return (8 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3
end

-- A body of three angles, z x z, as rows.
local function euler_angles(_, q)
  local a, b, c = q[1], q[2], q[3]
  local ca, sa, cb, sb, cc, sc = cos(a), sin(a), cos(b), sin(b), cos(c), sin(c)
  return { { ca * cc - sa * cb * sc, -ca * sc - sa * cb * cc, sa * sb },
    { sa * cc + ca * cb * sc, -sa * sc + ca * cb * cc, -ca * sb }, { sb * sc, sb * cc, cb } }
end

describe("ns.mechanics: equations of motion", function()
  it("of a double pendulum are those of the books", function()
    local sys = double_pendulum()
    local q, v = { 0.3, -0.7 }, { 1.1, 2.3 }
    local c, s = cos(q[1] - q[2]), sin(q[1] - q[2])
    near_matrix({ { 5 * 1.5 ^ 2, 3 * 0.75 * c }, { 3 * 0.75 * c, 3 * 0.25 } }, sys:mass(0, q))
    near({ -3 * 0.75 * s * v[2] ^ 2 - 5 * g * 1.5 * sin(q[1]), 3 * 0.75 * s * v[1] ^ 2 - 3 * g * 0.5 * sin(q[2]) },
      sys:forces(0, q, v))
    near({ -5 * g * 1.5 * sin(q[1]), -3 * g * 0.5 * sin(q[2]) }, sys:generalised_forces(0, q, v))
    near(ns.solve(sys:mass(0, q), sys:forces(0, q, v)), (sys:accelerations(0, q, v)), 1e-11)
    local e = sys:energy(0, q, v)
    assert.near(e.kinetic + e.potential, e.total, 1e-13)
    assert.near(ns.vector(v):dot(sys:mass(0, q) * ns.vector(v)) / 2, e.kinetic, 1e-12)
    assert.near(-5 * g * 1.5 * cos(q[1]) - 3 * g * 0.5 * cos(q[2]), e.potential, 1e-12)
  end)

  it("have the terms of Coriolis in polar coordinates", function()
    local sys = ns.mechanics.system { coordinates = 2 }
    sys:particle { mass = 2, position = function(_, q) return { q[1] * cos(q[2]), q[1] * sin(q[2]) } end }
    near({ 2 * 1.5 * 0.49, -2 * 2 * 1.5 * 0.3 * 0.7 }, sys:forces(0, { 1.5, 0.4 }, { 0.3, 0.7 }))
  end)

  it("have those of positions that move with the time", function()
    local w, a = 3, 0.2 -- a pendulum whose support moves as a cos(w t)
    local sys = ns.mechanics.system { coordinates = 1, gravity = { 0, -g } }
    sys:particle { mass = 1, position = function(t, q) return { a * cos(w * t) + sin(q[1]), -cos(q[1]) } end }
    for _, t in ipairs { 0, 0.4, 1.7 } do
      near({ -g * sin(0.6) + a * w ^ 2 * cos(w * t) * cos(0.6) }, (sys:accelerations(t, { 0.6 }, { 2 })))
    end
  end)

  it("keep the energy: in the plane, in space, with springs and potentials", function()
    assert.near(0, power(double_pendulum(), 0, { 0.3, -0.7 }, { 1.1, 2.3 }), 1e-7)
    local rod = ns.mechanics.system { coordinates = 2, gravity = { 0, -g } }
    rod:body { mass = 2, inertia = 0.3, position = function(_, q) return { q[1], q[1] ^ 2 } end,
      angle = function(_, q) return q[1] * q[2] end }
    rod:spring { from = rod.bodies[1], p1 = { 0.2, 0.1 }, to = rod.ground, p2 = { 1, 2 }, stiffness = 7, length = 0.4 }
    rod:potential(function(_, q) return q[2] ^ 4 end)
    assert.near(0, power(rod, 0, { 0.3, -0.7 }, { 1.1, 0.3 }), 1e-7)
    local top = ns.mechanics.system { coordinates = 3, gravity = { 0, 0, -g } }
    top:body { mass = 2, inertia = ns.diag { 0.3, 0.4, 0.5 }, orientation = euler_angles, position = function(t, q)
      local R = euler_angles(t, q)
      return { 0.6 * R[1][3], 0.6 * R[2][3], 0.6 * R[3][3] }
    end }
    assert.near(0, power(top, 0, { 0.3, 0.8, 0.2 }, { 1.1, 0.3, 5 }), 1e-6)
  end)

  it("of a rigid body in space are Euler's", function()
    local I = ns.matrix { { 0.5, 0.1, 0 }, { 0.1, 0.7, -0.05 }, { 0, -0.05, 0.9 } }
    local sys = ns.mechanics.system { dimension = 3 }
    local body = sys:free_body { mass = 3, inertia = I }
    sys:torque { on = body, value = { 1, -2, 0.5 } }
    sys:force { on = body, value = { 0, 6, 0 } }
    local p = ns.vector { 0.5, -0.1, 0.7, 0.5 }
    p = p / p:norm()
    local w = ns.vector { 1, 2, -0.7 }
    local function rates(u) -- of the quaternion at the angular velocity u in the body's axes
      return 0.5 * ns.vector { -p[2] * u[1] - p[3] * u[2] - p[4] * u[3], p[1] * u[1] + p[3] * u[3] - p[4] * u[2],
        p[1] * u[2] + p[4] * u[1] - p[2] * u[3], p[1] * u[3] + p[2] * u[2] - p[3] * u[1] }
    end
    local q = ns.concatenate { { 1, 2, 3 }, p }
    local v = ns.concatenate { { 0.3, 0, 1 }, rates(w) }
    local a, lambda = sys:accelerations(0, q, v)
    local wdot = ns.solve(I, ns.vector { 1, -2, 0.5 } - w:cross(I * w))
    near({ 0, 2, 0 }, a(1, 3))
    near(rates(wdot) - w:dot(w) / 4 * p, a(4, 7)) -- p'' = (p w')/2 + (p' w)/2
    assert.equal(1, #lambda)
    assert.near(3 * 1.09 / 2 + w:dot(I * w) / 2, sys:energy(0, q, v).kinetic, 1e-12)
    assert.is_true(ns.rcond(sys:mass(0, q)) > 1e-3)
  end)

  it("keep the angular momentum of a body in space by angles", function()
    local I = ns.diag { 0.3, 0.4, 0.5 }
    local by_angles = ns.mechanics.system { coordinates = 3, dimension = 3 }
    by_angles:body { mass = 1, inertia = I, orientation = euler_angles, position = function() return { 0, 0, 0 } end }
    local q, v = ns.vector { 0.3, 0.8, 0.2 }, ns.vector { 1.1, 0.3, 5 }
    assert.near(0, power(by_angles, 0, q, v), 1e-6)
    -- The momentum R I w stays: its rate along the motion is 0.
    local a = by_angles:accelerations(0, q, v)
    local function momentum(h)
      local x, u = q + h * v + h ^ 2 / 2 * a, v + h * a
      local R = ns.matrix(euler_angles(0, x))
      local D = (ns.matrix(euler_angles(0, x + 1e-6 * u)) - ns.matrix(euler_angles(0, x - 1e-6 * u))) / 2e-6
      local W = R:transpose() * D
      return R * (I * ns.vector { W[3][2], W[1][3], W[2][1] })
    end
    near({ 0, 0, 0 }, (momentum(1e-4) - momentum(-1e-4)) / 2e-4, 1e-5)
  end)
end)

describe("ns.mechanics: forces", function()
  local function bar()
    local sys = ns.mechanics.system {}
    return sys, sys:free_body { name = "bar", mass = 2, inertia = 0.5 }
  end

  it("act at their points: the moment is the arm's", function()
    local sys, link = bar()
    sys:force { on = link, at = { 2, 1 }, value = { 3, 5 } }
    sys:torque { on = link, value = ns.vector { 7 } } -- a vector is a value, though it can be called
    local q, c, s = { 1, 2, 0.4 }, cos(0.4), sin(0.4)
    near({ 3, 5, 7 + (2 * c - s) * 5 - (2 * s + c) * 3 }, sys:generalised_forces(0, q, { 0, 0, 0 }))
  end)

  it("may depend on time, coordinates and velocities", function()
    local sys, link = bar()
    sys:force { on = link, value = function(t, q, v) return { t * q[1], -v[2] } end }
    sys:generalised_force(function(t, q, v) return { 0, 0, t * q[3] * v[3] } end)
    near({ 2, -0.5, 2 * 0.4 * 3 }, sys:generalised_forces(2, { 1, 2, 0.4 }, { 0, 0.5, 3 }))
  end)

  it("of springs and dampers are along the line", function()
    local sys, link = bar()
    sys:spring { from = link, p1 = { 1, 0 }, to = sys.ground, p2 = { 0, 0 }, stiffness = 10, damping = 2, length = 1 }
    near({ -10 * 2 - 2 * 0.5, 0, 0 }, sys:generalised_forces(0, { 2, 0, 0 }, { 0.5, 0, 0 }))
    assert.near(10 * 4 / 2, sys:energy(0, { 2, 0, 0 }, { 0, 0, 0 }).potential, 1e-13)
  end)

  it("of a potential are its slope", function()
    local sys = bar()
    sys:potential(function(_, q) return q[1] ^ 2 * q[3] end)
    near({ -2 * 2 * 0.4, 0, -4 }, sys:generalised_forces(0, { 2, 1, 0.4 }, { 0, 0, 0 }))
    assert.near(1.6, sys:energy(0, { 2, 1, 0.4 }, { 0, 0, 0 }).potential, 1e-13)
  end)

  it("of a torque in space are in the body's axes", function()
    local sys = ns.mechanics.system { dimension = 3, coordinates = 3 }
    local body = sys:body { mass = 1, inertia = ns.eye(3), orientation = euler_angles,
      position = function() return { 0, 0, 0 } end }
    sys:torque { on = body, value = { 0, 0, 2 } } -- about the body's z axis: the third angle turns about it
    near({ 2 * cos(0.8), 0, 2 }, sys:generalised_forces(0, { 0.3, 0.8, 0.2 }, { 0, 0, 0 }))
  end)
end)

describe("ns.mechanics: compiled", function()
  local function top(compile, wrap)
    local sys = ns.mechanics.system { coordinates = 3, gravity = { 0, 0, -g }, compile = compile }
    local body = sys:body { mass = 2, inertia = ns.diag { 0.3, 0.4, 0.5 }, orientation = wrap(euler_angles),
      position = wrap(function(t, q)
        return { 0.6 * sin(q[1]) * sin(q[2]) + 0.1 * t ^ 2, -0.6 * cos(q[1]) * sin(q[2]), 0.6 * cos(q[2]) }
      end) }
    sys:spring { from = body, p1 = { 0.2, 0, 1 }, p2 = { 1, 1, 1 }, stiffness = 3, damping = 0.2, length = 0.5 }
    sys:constraint { f = { wrap(function(t, q) return q[1] * q[2] - t end), function(_, q) return sin(q[3]) end } }
    return sys
  end
  local q, v = { 0.3, 0.8, 0.2 }, { 1.1, 0.3, 5 }

  it("is the same to rounding", function()
    local plain, compiled = top(false, function(f) return f end), top(true, function(f) return f end)
    for _, t in ipairs { 0, 0.7 } do
      near_matrix(plain:mass(t, q), compiled:mass(t, q), 1e-13)
      near(plain:forces(t, q, v), compiled:forces(t, q, v), 1e-11)
      near((plain:accelerations(t, q, v)), (compiled:accelerations(t, q, v)), 1e-9)
      local _, rate, bend = plain:constraint_rates(t, q, v)
      local _, rate2, bend2 = compiled:constraint_rates(t, q, v)
      near(rate, rate2, 1e-13)
      near(bend, bend2, 1e-12)
    end
  end)

  it("functions stand for plain ones", function()
    local function wrap(f) return ns.compile(f, { native = false }) end
    local plain = top(false, function(f) return f end)
    for _, compile in ipairs { false, true } do
      near((plain:accelerations(0.7, q, v)), (top(compile, wrap):accelerations(0.7, q, v)), 1e-9)
    end
  end)

  it("stay in Lua where they can't be traced, and take no other choice", function()
    local calls = 0
    local function mass(compile, limit)
      local sys = ns.mechanics.system { coordinates = 1, compile = compile }
      sys:particle { mass = 1, position = function(_, x)
        if x[1] > limit then calls = calls + 1 end
        return { x[1] * x[1], 0 }
      end }
      return { sys:mass(0, { 0.5 }), sys:mass(0, { 1.5 }) }
    end
    local warned = {}
    expect.warnings(warned, function()
      for limit = 0, 1 do assert.same(mass(false, limit), mass(true, limit)) end
    end)
    assert.matches("^nslua: mechanics: functions of %(t, q%) runs in Lua from here on: .*the variable 'calls'", warned[1])
    assert.equal(1, #warned)
    fails("mechanics: system: compile: expected true or false, got 1", ns.mechanics.system, { compile = 1 })
  end)
end)

describe("ns.mechanics: consistent", function()
  it("puts coordinates and velocities on the constraints", function()
    local sys = ns.mechanics.system { gravity = { 0, -g } }
    local link = sys:free_body { mass = 1, inertia = 0.1 }
    sys:pin(link, { -0.5, 0 })
    local q, v = sys:consistent(0, { 0.6, 0.1, 0.3 }, { 0, 0, 1 })
    local phi, rate = sys:constraint_rates(0, q, v)
    assert.is_true(phi:norm() < 1e-14 and rate:norm() < 1e-14)
    near({ 0.5 * cos(q[3]), 0.5 * sin(q[3]) }, q(1, 2), 1e-14)
    -- The velocities nearest in the kinetic energy: what was taken away is M-orthogonal to those allowed.
    assert.near(0, (v - ns.vector { 0, 0, 1 }):dot(sys:mass(0, q) * v), 1e-13)
  end)

  it("says when there are none", function()
    local sys = ns.mechanics.system { coordinates = 1 }
    sys:constraint { f = function(_, q) return q[1] ^ 2 + 1 end }
    fails("mechanics: t=0: no coordinates near the start fulfil the constraints: the largest residual left is", sys.consistent,
      sys, 0, { 0.5 })
  end)
end)

describe("ns.mechanics refuses", function()
  local function system(o) return ns.mechanics.system(o or { coordinates = 1 }) end

  it("bad systems", function()
    fails("mechanics: system: expected an option table, got number", ns.mechanics.system, 3)
    local other = ns.mechanics.system {}
    local arm = other:free_body { mass = 1, inertia = 1, name = "arm" }
    fails("mechanics: torque: expected an option table, got mechanics.body 'arm'", other.torque, other, arm, 2)
    fails("mechanics: consistent: t: expected a number, got table", other.consistent, other, { q0 = { 0, 0, 0 } })
    fails("mechanics: system: unknown option 'n' (known: coordinates, dimension, gravity, frame, origin, compile)", system,
      { n = 2 })
    fails("mechanics: system: dimension: expected 2 or 3, got 4", system, { dimension = 4 })
    fails("mechanics: system: coordinates: expected a number of coordinates, got -1", system, { coordinates = -1 })
    fails("mechanics: system: coordinates: expected a number of coordinates, got 1.5", system, { coordinates = 1.5 })
    fails("mechanics: system: gravity: expected 2 numbers, got 3", system, { dimension = 2, gravity = { 0, 0, 1 } })
    local sys = system {}
    fails("mechanics: system: it has no coordinates", sys.mass, sys, 0, {})
    sys = double_pendulum()
    fails("mechanics: system: q: expected 2 numbers, got 3", sys.mass, sys, 0, { 1, 2, 3 })
    fails("mechanics: system: v[2] is nan", sys.forces, sys, 0, { 1, 2 }, { 0, 0 / 0 })
    fails("mechanics: system: t: expected a number, got 'now'", sys.mass, sys, "now", { 1, 2 })
    fails("mechanics: system: t: expected a number, got nan", sys.accelerations, sys, 0 / 0, { 1, 2 }, { 0, 0 })
    fails("mechanics: system: gravity: expected a list of numbers, got -9.81", system, { gravity = -9.81 })
    fails("mechanics: system: gravity: expected a list of 2 numbers, got -9.81", system, { gravity = -9.81, dimension = 2 })
    fails("mechanics: system: frame: expected a frame, got 'N'", system, { frame = "N" })
    local O, N = ns.mechanics.Point "O", ns.mechanics.ReferenceFrame "N"
    fails("mechanics: system: frame: expected a frame, got mechanics.point 'O'", system, { frame = O, origin = N })
    fails("mechanics: system: origin: expected a point, got mechanics.frame 'N'", system, { frame = N, origin = N })
  end)

  it("velocities that are left out, which are 0 then", function()
    local sys = double_pendulum()
    near(sys:forces(0, { 1, 2 }, { 0, 0 }), sys:forces(0, { 1, 2 }))
  end)

  it("a function that asks the system for what depends on its own value", function()
    local sys = ns.mechanics.system {}
    sys:free_body { mass = 1, inertia = 1 }
    local ask = true
    sys:constraint { name = "loop", f = function(_, q)
      if ask then sys:constraint_jacobian(0, { 0, 0, 0 }) end
      return q[1]
    end }
    fails("mechanics: constraint 'loop': its function asks the system for a quantity that depends on the function itself",
      sys.lagrangian, sys,
      { q0 = { 0, 0, 0 } })
    ask = false
    assert.equal("LagrangianDS with 3 degrees of freedom", tostring((sys:lagrangian { q0 = { 0, 0, 0 } }))) -- and goes on
  end)

  it("bad bodies", function()
    local sys = system()
    local function here() return { 0, 0 } end
    fails("mechanics: particle: position: expected a function of (t, q), got nil", sys.particle, sys, { mass = 1 })
    fails("mechanics: particle 'a': mass: expected a number, at least 0, got -1", sys.particle, sys,
      { name = "a", mass = -1, position = here })
    fails("mechanics: body: inertia: expected a number, at least 0, got nil", sys.body, sys,
      { mass = 1, position = here, angle = here })
    fails("mechanics: particle: name: expected a string, got number", sys.particle, sys, { name = 3, mass = 1, position = here })
    sys:particle { name = "b", mass = 1, position = here }
    fails("mechanics: particle 'b': there is a body of that name", sys.particle, sys, { name = "b", mass = 1, position = here })
    fails("mechanics: particle 'b' has no other points", sys.force, sys, { on = sys.bodies[1], at = { 1, 0 }, value = { 0, 1 } })
    local space = system { dimension = 3 }
    fails("mechanics: free_body: inertia: expected a 3 x 3 matrix, got 2", space.free_body, space, { mass = 1, inertia = 2 })
    fails("mechanics: free_body: inertia: expected a symmetric matrix without negative eigenvalues", space.free_body, space,
      { mass = 1, inertia = ns.diag { 1, -1, 1 } })
    fails("mechanics: free_body: inertia[2][2] is nan", space.free_body, space, { mass = 1, inertia = ns.diag { 1, 0 / 0, 1 } })
    fails("mechanics: free_body: inertia: expected a number, at least 0, got a 3 x 3 matrix", sys.free_body, sys,
      { mass = 1, inertia = ns.eye(3) })
  end)

  it("bad forces", function()
    local sys = ns.mechanics.system {}
    local other = ns.mechanics.system {}
    local link, far = sys:free_body { mass = 1, inertia = 1 }, other:free_body { name = "far", mass = 1, inertia = 1 }
    fails("mechanics: force: on: body 'far' is of another system", sys.force, sys, { on = far, value = { 0, 1 } })
    fails("mechanics: force: on: expected a body, got 'link'", sys.force, sys, { on = "link", value = { 0, 1 } })
    fails("mechanics: force: on: expected a body that moves, got the ground", sys.force, sys, { value = { 0, 1 } })
    fails("mechanics: spring: expected two bodies, got 'ground' at both ends", sys.spring, sys, { stiffness = 3 })
    fails("mechanics: force: value: expected 2 numbers, got 3", sys.force, sys, { on = link, value = { 0, 1, 2 } })
    fails("mechanics: potential: expected a function of (t, q), got 3", sys.potential, sys, 3)
    fails("mechanics: generalised_force: expected a function of (t, q, v), got nil", sys.generalised_force, sys)
    fails("mechanics: spring from 'body 1' to 'ground': stiffness: expected a number, at least 0, got -3", sys.spring, sys,
      { from = link, to = nil, p2 = { 1, 0 }, stiffness = -3 })
    sys:force { on = link, value = function() return { 1 } end }
    fails("mechanics: force on 'body 1': t=0: value: expected 2 numbers, got 1", sys.forces, sys, 0, { 0, 0, 0 }, { 0, 0, 0 })
    sys = ns.mechanics.system {}
    link = sys:free_body { mass = 1, inertia = 1 }
    fails("mechanics: torque: value: expected a number, got nil", sys.torque, sys, { on = link })
    fails("mechanics: spring from 'body 1' to 'ground': stiffness and damping are missing", sys.spring, sys, { from = link })
    local late = { 0, 0 / 0 }
    sys:force { on = link, value = function(t) return t > 0.25 and late or { 0, 0 } end }
    near({ 0, 0, 0 }, sys:forces(0, { 0, 0, 0 }, { 0, 0, 0 }))
    fails("mechanics: force on 'body 1': t=0.5: value[2] is nan", sys.forces, sys, 0.5, { 0, 0, 0 }, { 0, 0, 0 })
    late = { 0, 1 }
    near({ 0, 1, 0 }, sys:forces(0.5, { 0, 0, 0 }, { 0, 0, 0 })) -- and goes on
    sys:generalised_force(function() return { 1 } end)
    fails("mechanics: generalised_force: t=0.5: value: expected 3 numbers, got 1", sys.forces, sys, 0.5, { 0, 0, 0 }, { 0, 0, 0 })
  end)

  it("functions that fail, naming the body, and values that are not finite", function()
    local sys = system()
    sys:particle { name = "ball", mass = 1, position = function(_, q) return { q[1] / 0, 0 } end }
    fails("mechanics: particle 'ball' position: ", sys.mass, sys, 0, { 1 })
    fails("f[1] is inf", sys.mass, sys, 0, { 1 })
    sys = system()
    sys:particle { name = "ball", mass = 1, position = function(_, q) return { q[1].x, 0 } end }
    fails("mechanics: particle 'ball' position: ", sys.mass, sys, 0, { 1 })
    sys = system()
    sys:particle { name = "ball", mass = 1, position = function(_, q) return { q[1] } end }
    fails("mechanics: particle 'ball' position: f: expected a vector of 2, got a list of 1", sys.mass, sys, 0, { 1 })
    sys = system()
    sys:body { name = "rod", mass = 1, inertia = 1, position = function(_, q) return { q[1], 0 } end, angle = function() end }
    fails("mechanics: body 'rod' angle: f returned nothing and filled nothing", sys.mass, sys, 0, { 1 })
  end)

  it("coordinates without inertia", function()
    local sys = system { coordinates = 2 }
    sys:particle { mass = 1, position = function(_, q) return { q[1], 0 } end }
    fails("mechanics: t=0.5: no accelerations: a coordinate has no inertia", sys.accelerations, sys, 0.5, { 1, 2 }, { 0, 0 })
  end)
end)
