-- ns.mechanics: frames, points and Kane's equations.
local ns = require "nslua"
local expect = require "expect"
local fails, near, near_matrix = expect.fails, expect.near, expect.near_matrix
local linkage = require "four_bar"
local me = ns.mechanics
local sin, cos = math.sin, math.cos
local g = 9.81

describe("frames", function()
  it("turn about an axis: Rodrigues' formula", function()
    local N, A = me.ReferenceFrame "N", me.ReferenceFrame "A"
    A:orient_axis(N, me.coordinate(1), -3 * (N.y / 3 - N.z) + 2 * N.x)
    local R = A:orientation_in(N)(0, { 0.7 })
    R = ns.matrix { { R[1], R[2], R[3] }, { R[4], R[5], R[6] }, { R[7], R[8], R[9] } }
    local a = ns.vector { 2, -1, 3 } / math.sqrt(14)
    near(a, R * a)
    near_matrix(ns.eye(3), R:transpose() * R)
    assert.near(1 + 2 * cos(0.7), R[1][1] + R[2][2] + R[3][3], 1e-12)
    near(1.3 * a, A:ang_vel_in(N)(0, { 0.7 }, { 1.3 }))
  end)

  it("add their angular velocities", function()
    local N, A, B = me.ReferenceFrame "N", me.ReferenceFrame "A", me.ReferenceFrame "B"
    A:orient_axis(N, me.coordinate(1), N.z)
    B:orient_axis(A, function(t, q) return q[2] * t end, A.x)
    local c, s = cos(0.4), sin(0.4)
    local w = 0.6 + 2 * 3 -- of q2 t
    near({ c * w, s * w, 2 }, B:ang_vel_in(N)(2, { 0.4, 0.6 }, { 2, 3 }))
  end)

  it("express vectors in each other, products too", function()
    local N, A = me.ReferenceFrame "N", me.ReferenceFrame "A"
    A:orient_axis(N, me.coordinate(1), N.z)
    local v = 2 * A.x + me.coordinate(2) * N.z - N.y / 2
    local q, c, s = { 0.4, 5 }, cos(0.4), sin(0.4)
    near({ 2 * c, 2 * s - 0.5, 5 }, ns.vector(v:express(N)(0, q)))
    near({ 2 - s / 2, -c / 2, 5 }, ns.vector(v:express(A)(0, q)))
    assert.near(2 * c, v:dot(N.x)(0, q), 1e-13)
    assert.near(2 - s / 2, v:dot(A.x)(0, q), 1e-13)
    near({ 0, 0, s }, ns.vector(N.x:cross(A.x):express(N)(0, q)))
    near({ 0, 0, -s }, ns.vector((-N.x:cross(A.x)):express(A)(0, q)))
    assert.near(25 * c + 1, ((me.coordinate(2) ^ 2 * A.x:dot(N.x)) - -1)(0, q), 1e-13)
  end)
end)

describe("points", function()
  it("have positions, velocities, accelerations and partial velocities", function()
    local N, A = me.ReferenceFrame "N", me.ReferenceFrame "A"
    A:orient_axis(N, me.coordinate(1), N.z)
    local O, P = me.Point "O", me.Point "P"
    P:set_pos(O, me.coordinate(2) * A.x) -- polar coordinates
    local q, v, vd, c, s = { 0.4, 1.5 }, { 2, 3 }, { 0.7, -0.2 }, cos(0.4), sin(0.4)
    near({ 3 * c - 3 * s, 3 * s + 3 * c, 0 }, P:vel(O, N)(0, q, v))
    local radial, across = -0.2 - 1.5 * 4, 1.5 * 0.7 + 2 * 2 * 3
    near({ radial * c - across * s, radial * s + across * c, 0 }, P:acc(O, N)(0, q, v, vd))
    near_matrix({ { -1.5 * s, c }, { 1.5 * c, s }, { 0, 0 } }, P:partial_velocities(O, N)(0, q))
    assert.near(1.5, P:pos_from(O):dot(A.x)(0, q), 1e-13)
    near({ 3, 0, 0 }, P:vel(O, A)(0, q, v)) -- seen from the frame that turns
  end)
end)

-- The four-bar linkage as a book on Kane's method builds it.
local la, lb, lc, ln, m = 0.8, 2, 1, 2, 1

local function four_bar()
  local N, A, B, C = me.ReferenceFrame "N", me.ReferenceFrame "A", me.ReferenceFrame "B", me.ReferenceFrame "C"
  A:orient_axis(N, me.coordinate(1), N.z)
  B:orient_axis(A, me.coordinate(2), A.z)
  C:orient_axis(B, me.coordinate(3), B.z)
  local P1, P2, P3, P4 = me.Point "P1", me.Point "P2", me.Point "P3", me.Point "P4"
  P2:set_pos(P1, la * A.x)
  P3:set_pos(P2, lb * B.x)
  P4:set_pos(P3, lc * C.x)
  local loop = P4:pos_from(P1) - ln * N.x
  local sys = me.system { coordinates = 3, frame = N, origin = P1, gravity = { 0, -g, 0 } }
  sys:particle { mass = m, position = P2 }
  sys:particle { mass = m, position = P3 }
  sys:constraint { name = "loop", f = { loop:dot(N.x), loop:dot(N.y) } }
  return sys
end

-- Kane's equation of the linkage by hand: Md, gd.
local function by_hand(q, u1)
  local mass, rest, beta, gamma = linkage.kane(q[1], q[1] + q[2], q[1] + q[2] + q[3], u1)
  return -mass, -rest, beta, gamma
end

describe("Kane's equations", function()
  local sys = four_bar()
  local q = sys:consistent(0, { math.rad(10), 0.11, -2.64 })

  it("of the four-bar linkage are those worked out by hand", function()
    local kane = sys:kane { dependent = { 2, 3 } }
    for _, u1 in ipairs { 0, 1.3, -4 } do
      local Md, gd = kane:eval_d(0, q, { u1 })
      local M, rest, beta, gamma = by_hand(q, u1)
      near_matrix({ { M } }, Md, 1e-11)
      near({ rest }, gd, 1e-10)
      near({ u1, (beta - 1) * u1, (gamma - beta) * u1 }, kane:all_speeds(0, q, { u1 }), 1e-11)
      local Mk, gk = kane:eval_k(0, q, { u1, 2, 3 })
      near_matrix(ns.eye(3), Mk)
      near({ -u1, -2, -3 }, gk)
      local rate = kane.f(0, ns.concatenate { q, { u1 } })
      near({ u1, (beta - 1) * u1, (gamma - beta) * u1, -rest / M }, rate, 1e-10)
    end
  end)

  it("have Mhd, ghd for the dependent speeds", function()
    local kane = sys:kane { dependent = { 2, 3 } }
    local Mhd, ghd = kane:eval_h(0, q, { 1.3 })
    near(kane:all_speeds(0, q, { 1.3 })(2, 3), -1 * ns.solve(Mhd, ghd), 1e-12)
    local _, J = sys:constraint_jacobian(0, q)
    near_matrix(J:slice(1, 2, 2, 3):copy(), Mhd, 1e-12)
  end)

  it("take generalised speeds that are not q'", function()
    -- u1 = q1', u2 = q1' + q2', u3 = 2 (q1' + q2' + q3') + sin(q1) q1': the speeds of the links, one scaled.
    local function f(_, x, xd, u)
      return { xd[1] - u[1], xd[1] + xd[2] - u[2], 2 * (xd[1] + xd[2] + xd[3]) + sin(x[1]) * xd[1] - u[3] }
    end
    local kane = sys:kane { kinematics = f, dependent = { 2, 3 } }
    local M, rest, beta, gamma = by_hand(q, 1.3)
    near({ 1.3, beta * 1.3, (2 * gamma + sin(q[1])) * 1.3 }, kane:all_speeds(0, q, { 1.3 }), 1e-11)
    local Md, gd = kane:eval_d(0, q, { 1.3 })
    near_matrix({ { M } }, Md, 1e-11)
    near({ rest }, gd, 1e-10)
    local Mk, gk = kane:eval_k(0, q, { 1, 2, 3 })
    near_matrix({ { 1, 0, 0 }, { 1, 1, 0 }, { 2 + sin(q[1]), 2, 2 } }, Mk)
    near({ -1, -2, -3 }, gk)
    -- Another independent speed: that of link b. The accelerations stay the same.
    kane = sys:kane { kinematics = f, dependent = { 1, 3 } }
    local one = kane.f(0, ns.concatenate { q, { beta * 1.3 } })
    near({ 1.3, (beta - 1) * 1.3, (gamma - beta) * 1.3 }, one(1, 3), 1e-10)
    local a = sys:accelerations(0, q, one(1, 3))
    assert.near(a[1] + a[2], one[4], 1e-10)
  end)

  it("take nonholonomic constraints: a skate goes in circles", function()
    local skate = me.system { coordinates = 3 }
    skate:body { mass = 2, inertia = 0.3, position = function(_, x) return { x[1], x[2] } end,
      angle = function(_, x) return x[3] end }
    local function f(_, x, xd, u) -- u1 along the skate, u2 across, u3 its turning
      local c, s = cos(x[3]), sin(x[3])
      return { c * xd[1] + s * xd[2] - u[1], -s * xd[1] + c * xd[2] - u[2], xd[3] - u[3] }
    end
    local kane = skate:kane { kinematics = f, nonholonomic = function(_, _, _, u) return u[2] end, dependent = { 2 } }
    local Md, gd = kane:eval_d(0, { 1, 2, 0.5 }, { 3, 0.7 })
    near_matrix({ { -2, 0 }, { 0, -0.3 } }, Md)
    near({ 0, 0 }, gd)
    local sol = ns.solve_ivp(kane.f, { 0, 2 }, { 0, 0, 0, 3, 0.7 }, { method = "DOP853", rtol = 1e-11, atol = 1e-12 })
    local k, r = #sol.t, 3 / 0.7
    near({ r * sin(1.4), r * (1 - cos(1.4)), 1.4 }, ns.vector { sol.y[1][k], sol.y[2][k], sol.y[3][k] }, 1e-9)
    -- Fewer speeds than coordinates: the across speed left out from the start.
    local two = skate:kane { speeds = 2, kinematics = function(_, x, xd, u)
      return { xd[1] - cos(x[3]) * u[1], xd[2] - sin(x[3]) * u[1], xd[3] - u[2] }
    end }
    near(kane.f(0, { 1, 2, 0.5, 3, 0.7 }), two.f(0, { 1, 2, 0.5, 3, 0.7 }))
  end)

  it("keep the energy on the way", function()
    local kane = sys:kane { dependent = { 2, 3 } }
    local x0 = ns.concatenate { q, { 0 } }
    local sol = ns.solve_ivp(kane.f, { 0, 1 }, x0, { method = "DOP853", rtol = 1e-10, atol = 1e-12 })
    local k = #sol.t
    local last = ns.vector { sol.y[1][k], sol.y[2][k], sol.y[3][k] }
    local v = kane:all_speeds(1, last, { sol.y[4][k] })
    assert.near(sys:energy(0, q, { 0, 0, 0 }).total, sys:energy(1, last, v).total, 1e-8)
    assert.is_true((sys:constraint_jacobian(1, last)):norm() < 1e-8)
  end)
end)

describe("frames and points", function()
  it("have texts", function()
    local N, P = me.ReferenceFrame "N", me.Point "P"
    assert.equal("mechanics.frame 'N'", tostring(N))
    assert.equal("mechanics.point 'P'", tostring(P))
    assert.equal("mechanics.vector 2 N.x + -0.5 N.z + f(t, q) N.y", tostring(2 * N.x - N.z / 2 + me.coordinate(1) * N.y))
    assert.equal("mechanics.vector 0", tostring(P:pos_from(P)))
    assert.equal("mechanics.scalar of (t, q)", tostring(me.coordinate(1)))
    assert.equal("mechanics.kane: 3 speeds, 1 independent", tostring(four_bar():kane { dependent = { 2, 3 } }))
    assert.equal("mechanics.system in space: 3 coordinates, 2 bodies, 1 constraint", tostring(four_bar()))
    assert.equal("mechanics.body 'particle 1'", tostring(four_bar().bodies[1]))
  end)
end)

describe("frames, points and Kane's equations refuse", function()
  local N, A, B = me.ReferenceFrame "N", me.ReferenceFrame "A", me.ReferenceFrame "B"
  local O, P = me.Point "O", me.Point "P"
  A:orient_axis(N, me.coordinate(1), N.z)
  P:set_pos(O, A.x)

  it("what is none", function()
    fails("mechanics: ReferenceFrame: expected a name, got nil", me.ReferenceFrame)
    fails("mechanics: Point: expected a name, got 3", me.Point, 3)
    fails("mechanics: coordinate: expected a number from 1 on, got 0", me.coordinate, 0)
    fails("mechanics: orient_axis: frame 'A' is oriented already", A.orient_axis, A, N, 0, N.z)
    fails("mechanics: orient_axis: frame 'N' would be turned against itself", N.orient_axis, N, A, 0, A.z)
    fails("mechanics: orient_axis: angle: expected a number or a function of (t, q), got 'x'", B.orient_axis, B, N, "x", N.z)
    fails("mechanics: orient_axis: axis: expected an axis with constant components in 'N'", B.orient_axis, B, N, 0, A.x)
    fails("mechanics: orient_axis: axis: expected an axis that is not 0", B.orient_axis, B, N, 0, 0 * N.z)
    fails("mechanics: orient_axis: expected a frame, got 3", B.orient_axis, B, 3, 0, N.z)
    fails("mechanics: set_pos: point 'P' has a position already", P.set_pos, P, O, N.x)
    fails("mechanics: set_pos: point 'O' would be placed from itself", O.set_pos, O, P, N.x)
    fails("mechanics: set_pos: expected a vector, got 3", O.set_pos, O, me.Point "Q", 3)
    fails("mechanics: pos_from: point 'Q': expected one whose position from point 'P' is known, got none (set_pos joins "
      .. "them)", P.pos_from, P, me.Point "Q")
    fails("mechanics: express: frame 'N': expected one that frame 'B' is oriented to, got one of another tree "
      .. "(orient_axis joins them)", B.x.express, B.x, N)
    fails("mechanics: vector *: expected a number or a function of (t, q), got mechanics.vector 1 N.y (two vectors: "
      .. "dot or cross)", function() return N.x * N.y end)
    fails("mechanics: vector +: expected a vector, got 3", function() return N.x + 3 end)
  end)

  it("systems without frame and origin", function()
    local bare = me.system { coordinates = 1, dimension = 3 }
    bare:particle { name = "P", mass = 1, position = function() return { 0, 0, 0 } end }
    fails("mechanics: system: frame: expected a frame, which 'P' as a position or orientation needs, got nil", bare.particle, bare,
      { mass = 1, position = P })
    local half = me.system { coordinates = 1, dimension = 3, frame = N }
    fails("mechanics: system: origin: expected a point, which 'P' as a position needs, got nil", half.particle, half,
      { mass = 1, position = P })
  end)

  it("speeds that do not fit", function()
    local sys = four_bar()
    local q = sys:consistent(0, { math.rad(10), 0.11, -2.64 })
    fails("mechanics: kane: speeds: expected at most as many as there are coordinates, 3, got 4", sys.kane, sys, { speeds = 4 })
    fails("mechanics: kane: speeds: expected at most as many as there are coordinates, 3, got 2", sys.kane, sys, { speeds = 2 })
    fails("mechanics: kane: kinematics: expected a function of (t, q, qd, u), got 3", sys.kane, sys, { kinematics = 3 })
    fails("mechanics: kane: dependent: expected different speeds, 1..3, got 4", sys.kane, sys, { dependent = { 4 } })
    fails("mechanics: kane: dependent: expected at most 2 speeds, so that one is independent, got 3", sys.kane, sys,
      { dependent = { 1, 2, 3 } })
    local kane = sys:kane { dependent = { 3 } }
    fails("mechanics: kane: dependent: expected 2 speeds, one for each equation, got 1", kane.eval_d, kane, 0, q, { 1, 2 })
    kane = sys:kane { dependent = { 2, 3 } }
    fails("mechanics: kane: u: expected 3 numbers, got 2", kane.eval_d, kane, 0, q, { 1, 2 })
    fails("mechanics: kane: x: expected 4 numbers, got 3", kane.f, 0, { 1, 2, 3 })
    kane = sys:kane { dependent = { 2, 3 }, kinematics = function(_, _, xd, u)
      return { xd[1] - u[1], xd[1] - u[2], xd[3] - u[3] }
    end }
    fails("mechanics: kane: t=0: the kinematical equations do not give q' (Mk is singular)", kane.eval_d, kane, 0, q, { 1 })
    local body = ns.mechanics.system {}
    body:free_body { mass = 1, inertia = 1 }
    kane = body:kane { kinematics = function(_, _, xd, u) return { xd[1] + xd[1] ^ 2 - u[1], xd[2] - u[2], xd[3] - u[3] } end }
    fails("mechanics: kane: kinematics: expected equations that are linear in qd: the residual of their solution is 1", kane.f, 0,
      { 0, 0, 0, 1, 0, 0 })
    fails("mechanics: kane: dependent: expected a list of speeds, got '2'", sys.kane, sys, { dependent = "2" })
    kane = sys:kane {} -- which the constraints would not hold in
    fails("mechanics: kane: dependent: expected 2 speeds, one for each equation, got 0", kane.eval_d, kane, 0, q, { 1, 2, 3 })
    fails("mechanics: kane: u: expected a list of numbers, got nil", kane.eval_d, kane, 0, q)
    fails("mechanics: system: t: expected a number, got nil", kane.eval_k, kane)
    kane = sys:kane { dependent = { 2, 3 }, kinematics = function() end }
    fails("mechanics: kane: kinematics: f returned nothing and filled nothing", kane.eval_k, kane, 0, q, { 1, 2, 3 })
    kane = sys:kane { dependent = { 2, 3 }, kinematics = function(_, _, xd, u) return { xd[1] - u[1] } end }
    fails("mechanics: kane: kinematics: f: expected a vector of 3, got a list of 1", kane.eval_k, kane, 0, q, { 1, 2, 3 })
    kane = sys:kane { nonholonomic = function(_, _, _, u) return { u[1] + u[2] } end }
    fails("mechanics: kane: dependent: expected 3 speeds, one for each equation, got 0", kane.eval_d, kane, 0, q, { 1, 2, 3 })
  end)

  it("check the arguments of what points and frames give", function()
    local base, arm = me.ReferenceFrame "N", me.ReferenceFrame "A"
    arm:orient_axis(base, me.coordinate(1), base.z)
    local here, there = me.Point "O", me.Point "P"
    there:set_pos(here, 2 * arm.x)
    fails("mechanics: vel: origin: expected a point, got mechanics.frame 'N'", there.vel, there, base, here)
    fails("mechanics: vel: frame: expected a frame, got nil", there.vel, there, here)
    local vel, acc = there:vel(here, base), there:acc(here, base)
    fails("mechanics: vel of point 'P': t: expected a number, got nil", vel)
    fails("mechanics: vel of point 'P': v: expected a number, got nil", vel, 0, { 0 })
    fails("mechanics: vel of point 'P': v: expected 2 numbers, got 1", vel, 0, { 0, 0 }, { 1 })
    fails("mechanics: acc of point 'P': v': expected a number, got nil", acc, 0, { 0 }, { 1 })
    fails("mechanics: partial_velocities of point 'P': q[1] is nan", there:partial_velocities(here, base), 0, { 0 / 0 })
    fails("mechanics: ang_vel_in of frame 'A': v: expected a number, got nil", arm:ang_vel_in(base), 0, { 0 })
    fails("mechanics: ang_vel_in: expected a frame, got nil", arm.ang_vel_in, arm)
    near({ 0, 6, 0 }, vel(0, { 0 }, { 3 })) -- and go on
    local far = me.ReferenceFrame "B"
    far:orient_axis(base, me.coordinate(5), base.z)
    fails("mechanics: coordinate 5: q has 1 element", far:orientation_in(base), 0, { 1 })
    fails("coordinate 5: q has 1 element", (me.coordinate(5) * base.x):express(base), 0, { 1 })
    fails("mechanics: express: expected the function of (t, q) to return a number, got nil",
      ((function() end) * base.x):express(base), 0, { 1 })
    fails("mechanics: vector /: expected a divisor other than 0, got 0", function() return base.x / 0 end)
  end)
end)
