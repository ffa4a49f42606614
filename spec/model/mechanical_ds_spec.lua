-- Mechanical systems: signs of forces, Jacobians, energies and their rates, rigid bodies.
local ns = require "nslua"

local sin, cos = math.sin, math.cos

-- A double pendulum with damping: mass, inertia terms and internal forces all nonlinear.
local function pendulum(options)
  local all = {
    q0 = { 0.7, -0.4 }, v0 = { 0.3, 1.1 }, name = "pendulum",
    mass = function(q, _, M)
      local c = cos(q[1] - q[2])
      M[1][1], M[1][2], M[2][1], M[2][2] = 2, c, c, 1
    end,
    fGyr = function(q, v, _, f)
      local s = sin(q[1] - q[2])
      f[1], f[2] = s * v[2] ^ 2, -s * v[1] ^ 2
    end,
    fInt = function(t, q, v, _, f)
      f[1], f[2] = 2 * 9.81 * sin(q[1]) + 0.1 * v[1] ^ 3, 9.81 * sin(q[2]) + t * v[2]
    end,
    fExt = function(t, _, f) f[1] = 3 * t end,
    potential = function(q, _, energy) energy[1] = -9.81 * (2 * cos(q[1]) + cos(q[2])) end,
  }
  for key, value in pairs(options or {}) do all[key] = value end
  return ns.LagrangianDS(all)
end

-- The largest entry of A - B.
local function distance(A, B)
  return (A - B):abs():max()
end

-- Central differences of f(x), a vector or (flat) matrix, by the elements of x.
local function differences(f, x, rows)
  local J = ns.zeros(rows, #x)
  for j = 1, #x do
    local step = 1e-6
    local high, low = x:copy(), x:copy()
    high[j], low[j] = x[j] + step, x[j] - step
    local slope = (f(high) - f(low)) / (2 * step)
    for i = 1, rows do J[i][j] = slope[i] end
  end
  return J
end

-- One step of order 4 of the system's own right-hand side, at the state x.
local function runge_kutta(ds, t, h)
  local x = ds:x():copy()
  local function slope(at, time)
    ds:setX(at)
    return ds:computeRhs(time)
  end
  local k1 = slope(x, t)
  local k2 = slope(x + h / 2 * k1, t + h / 2)
  local k3 = slope(x + h / 2 * k2, t + h / 2)
  local k4 = slope(x + h * k3, t + h)
  ds:setX(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
end

describe("mechanical systems", function()
  it("have the force F = fExt - fInt - fGyr - K q - C v", function()
    local ds = pendulum()
    local F = ds:computeForces(2)
    assert.is_true(distance(F, ds:computeFExt(2) - ds:computeFInt(2) - ds:computeFGyr()) < 1e-14)
    ds = ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.diag { 2, 4 }, { { 5, 1 }, { 1, 6 } }, { { 0.5, 0 }, { 0, 0.25 } })
    ds:setFExtPtr { 10, 20 }
    assert.same({ 10 - 7 - 1.5, 20 - 13 - 1 }, ds:computeForces(0):totable())
    assert.same({ 3, 4, 0.75, 1.5 }, ds:computeRhs(0):totable())
    ds = ns.LagrangianDS({ 1 }, { 2 })
    ds:setFIntPtr { 3 }
    ds:setFGyrPtr { 4 }
    ds:setFExtPtr { 5 }
    assert.same({ -2 }, ds:computeForces(0):totable())
    assert.same({ 2, -2 }, ds:computeRhs(0):totable())
  end)

  it("have Jacobians that agree with differences", function()
    local ds = pendulum()
    local q, v, t = ds:q():copy(), ds:velocity():copy(), 1.5
    local function check(expected, got) assert.is_true(distance(expected, got) < 1e-7) end
    check(differences(function(x) return ds:computeForces(t, x, v) end, q, 2), ds:computeJacobianqForces(t))
    check(differences(function(x) return ds:computeForces(t, q, x) end, v, 2), ds:computeJacobianqDotForces(t))
    check(differences(function(x) return ds:computeFInt(t, x, v) end, q, 2), ds:computeJacobianFIntq(t))
    check(differences(function(x) return ds:computeFInt(t, q, x) end, v, 2), ds:computeJacobianFIntqDot(t))
    check(differences(function(x) return ds:computeFGyr(x, v) end, q, 2), ds:computeJacobianFGyrq())
    check(differences(function(x) return ds:computeFGyr(q, x) end, v, 2), ds:computeJacobianFGyrqDot())
    local J = ds:computeJacobianRhsx(t)
    check(differences(function(x) ds:setX(x) return ds:computeRhs(t) end, ds:x():copy(), 4), J)
    assert.equal(ns.zeros(2, 2), J:slice(1, 2, 1, 2):copy())
    assert.equal(ns.eye(2), J:slice(1, 2, 3, 4):copy())
  end)

  it("use the Jacobians that are given", function()
    local ds = pendulum { jacobianFIntq = function(_, _, _, _, J) J[1][1] = 77 end, jacobianFGyrqDot = { { 1, 2 }, { 3, 4 } } }
    assert.equal(ns.matrix { { 77, 0 }, { 0, 0 } }, ds:computeJacobianFIntq(0))
    assert.equal(ns.matrix { { 1, 2 }, { 3, 4 } }, ds:computeJacobianFGyrqDot())
    ds:setJacobianFIntqPtr { { 5, 0 }, { 0, 0 } }
    assert.equal(ns.matrix { { 5, 0 }, { 0, 0 } }, ds:computeJacobianFIntq(0))
    ds:setComputeJacobianFIntqFunction(function(_, _, _, _, J) J[2][2] = 6 end)
    assert.equal(ns.diag { 0, 6 }, ds:computeJacobianFIntq(0))
  end)

  it("have energies: v' M v / 2 and that of stiffness, constant forces and the potential", function()
    local ds = pendulum()
    local v, M = ds:velocity(), ds:computeMass()
    assert.near(0.5 * v:dot(M * v), ds:computeKineticEnergy(), 1e-14)
    assert.near(-9.81 * (2 * cos(0.7) + cos(0.4)), ds:computePotentialEnergy(0), 1e-13)
    ds = ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.diag { 2, 4 }, { { 5, 1 }, { 1, 6 } })
    ds:setFExtPtr { 10, 20 }
    assert.equal(9 + 32, ds:computeKineticEnergy())
    assert.equal(0.5 * (5 + 4 + 24) - 50, ds:computePotentialEnergy())
    local M2 = ns.diag { 2, 4 }
    ds:setMassPtr(M2)
    M2[1][1] = 4
    assert.equal(18 + 32, ds:computeKineticEnergy())
  end)

  it("keep the energy when nothing damps", function()
    local ds = pendulum { fExt = { 0, 0 }, fInt = function(_, q, _, _, f)
      f[1], f[2] = 2 * 9.81 * sin(q[1]), 9.81 * sin(q[2])
    end }
    local function energy() return ds:computeKineticEnergy() + ds:computePotentialEnergy() end
    local before = energy()
    for k = 1, 1000 do runge_kutta(ds, k * 1e-3, 1e-3) end
    assert.near(before, energy(), 1e-9)
  end)

  it("lose energy at the rate of the damping, gain that of the external force", function()
    local ds = ns.LagrangianLinearTIDS({ 1, 2 }, { 3, 4 }, ns.diag { 2, 4 }, ns.eye(2), { { 0.5, 0.1 }, { 0.1, 0.25 } })
    ds:setComputeFExtFunction(function(t, _, f) f[1] = 7 * t end)
    local v = ds:velocity():copy()
    local rate = v:dot(ds:computeFExt(1)) - v:dot(ds:C() * v)
    local function energy(h)
      ds:resetToInitialState()
      runge_kutta(ds, 1, h)
      return ds:computeKineticEnergy() + ds:computePotentialEnergy()
    end
    assert.near(rate, (energy(1e-4) - energy(-1e-4)) / 2e-4, 1e-6)
  end)

  it("answer an impulse with M^-1 p", function()
    local ds = pendulum()
    local v = ds:velocity():copy()
    ds:setP { 3, 5 }
    ds:computePostImpactVelocity()
    assert.is_true(distance(ds:velocity(), v + ds:computeMass():solve(ns.vector { 3, 5 })) < 1e-14)
    local diagonal = ns.LagrangianLinearDiagonalDS(ns.zeros(50), ns.zeros(50), ns.ones(50), nil, 4 * ns.ones(50))
    diagonal:setP(ns.ones(50), 1)
    diagonal:computePostImpactVelocity()
    assert.equal(0.25 * ns.ones(50), diagonal:velocity())
  end)

  it("tell a singular mass", function()
    local ds = ns.LagrangianDS { q0 = { 1, 2 }, v0 = { 0, 0 }, mass = ns.diag { 1, 0 }, name = "bar" }
    assert.error_matches(function() ds:computeRhs(0) end, "dynamical system 'bar': the mass matrix is singular (row 2)", 1, true)
    ds:setMassPtr(ns.sparse(ns.diag { 1, 0 }))
    assert.error_matches(function() ds:computeRhs(0) end, "dynamical system 'bar': the mass matrix is singular", 1, true)
  end)

  it("give the same with sparse matrices", function()
    local n = 40
    local side, middle = -ns.ones(n - 1), 2 * ns.ones(n)
    local K = ns.spdiags({ side, middle, side }, { -1, 0, 1 }, n)
    local q, v = ns.linspace(0, 1, n), ns.linspace(1, -1, n)
    local sparse = ns.LagrangianLinearTIDS(q, v, 3 * ns.speye(n), K, 0.1 * K)
    local dense = ns.LagrangianLinearTIDS(q, v, 3 * ns.eye(n), K:tomatrix(), 0.1 * K:tomatrix())
    local diagonal = ns.LagrangianLinearDiagonalDS(q, v, 2 * ns.ones(n), 0.2 * ns.ones(n), 3 * ns.ones(n))
    assert.is_true(distance(dense:computeRhs(0), sparse:computeRhs(0)) < 1e-14)
    assert.is_true(distance(dense:computeJacobianRhsx(0), sparse:computeJacobianRhsx(0)) < 1e-14)
    assert.near(dense:computeKineticEnergy(), sparse:computeKineticEnergy(), 1e-13)
    assert.near(dense:computePotentialEnergy(), sparse:computePotentialEnergy(), 1e-13)
    assert.equal("40 x 40 sparse matrix, 40 entries", tostring(diagonal:K()):match "^[^\n]*")
    assert.is_true(distance(diagonal:computeForces(0), -2 * q - 0.2 * v) < 1e-14)
  end)
end)

describe("rigid bodies", function()
  local inertia = ns.matrix { { 2, 0.1, 0 }, { 0.1, 3, 0.2 }, { 0, 0.2, 4 } }

  local function body(options)
    local all = { q0 = { 1, 2, 3, 1, 0.2, -0.3, 0.5 }, v0 = { 1, 0, 0, 0.3, 1, -2 }, mass = 5, inertia = inertia, name = "top" }
    for key, value in pairs(options or {}) do all[key] = value end
    return ns.NewtonEulerDS(all)
  end

  -- R a for the rotation of the quaternion q[4] .. q[7].
  local function rotate(q, a)
    local w, u = q[4], ns.vector { q[5], q[6], q[7] }
    return (w * w - u:dot(u)) * a + 2 * u:dot(a) * u + 2 * w * u:cross(a)
  end
  local function norm(q) return q:slice(4, 7):norm() end

  it("start with a quaternion of length 1", function()
    local ds = body()
    assert.near(1, norm(ds:q()), 1e-15)
    assert.near(0.2, ds:q()[5] / ds:q()[4], 1e-15)
    assert.equal(6, ds:dimension())
    assert.equal(7, #ds:q())
    assert.equal(6, #ds:velocity())
    assert.equal(13, #ds:x())
    assert.equal(ns.block { { 5 * ns.eye(3), ns.zeros(3, 3) }, { ns.zeros(3, 3), inertia } }, ds:mass())
  end)

  it("take a quaternion of any length", function()
    for _, size in ipairs { 2.0 ^ -1000, 1e-9, 2.0 ^ 1000 } do
      local ds = ns.NewtonEulerDS({ 0, 0, 0, 3 * size, 0, 4 * size, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
      assert.near(0.6, ds:q()[4], 1e-15)
      assert.near(0.8, ds:q()[6], 1e-15)
    end
  end)

  it("turn without torque: energy, angular momentum and the quaternion's norm stay", function()
    local ds = body()
    local function momentum()
      local v = ds:velocity()
      return rotate(ds:q(), inertia * v:slice(4, 6):copy())
    end
    local energy, spin = ds:computeKineticEnergy(), momentum()
    for k = 1, 1000 do runge_kutta(ds, k * 1e-3, 1e-3) end
    assert.near(energy, ds:computeKineticEnergy(), 1e-10)
    assert.is_true(distance(spin, momentum()) < 1e-10)
    assert.near(1, norm(ds:q()), 1e-10)
    assert.near(2, ds:q()[1], 1e-12)
  end)

  it("have fGyr = (0, omega x I omega) built in", function()
    local ds = body()
    local omega = ns.vector { 0.3, 1, -2 }
    local expected = ns.concatenate { ns.zeros(3), omega:cross(inertia * omega) }
    assert.is_true(distance(expected, ds:computeFGyr()) < 1e-15)
    assert.is_true(distance(-1 * expected, ds:computeForces(0)) < 1e-15)
    local q, v = ds:q():copy(), ds:velocity():copy()
    assert.is_true(distance(differences(function(x) return ds:computeFGyr(q, x) end, v, 6), ds:computeJacobianFGyrqDot()) < 1e-8)
  end)

  it("take forces in the inertial frame, moments in the body's or in the inertial one", function()
    local ds = body { v0 = ns.zeros(6) }
    local m = ns.vector { 1, -2, 3 }
    ds:setFExtPtr { 0, 0, -9.81 }
    ds:setMExtPtr(m)
    assert.equal(ns.vector { 0, 0, -9.81, 1, -2, 3 }, ds:computeForces(0))
    ds:setIsMextExpressedInInertialFrame(true)
    local F = ds:computeForces(0)
    assert.is_true(distance(m, rotate(ds:q(), F:slice(4, 6):copy())) < 1e-14)
    local v = ds:velocity():copy()
    assert.is_true(distance(differences(function(x) return ds:computeForces(0, x, v) end, ds:q():copy(), 6),
      ds:computeJacobianqForces(0)) < 1e-8)
    ds:setIsMextExpressedInInertialFrame(false)
    assert.equal(ns.zeros(6, 7), ds:computeJacobianqForces(0))
  end)

  it("have a Jacobian of the right-hand side that agrees with differences", function()
    local ds = body { fInt = function(t, q, v, _, f)
      f[1], f[4], f[6] = t * q[1] ^ 2, q[4] * q[5] + v[2], v[6] ^ 3
    end }
    ds:setMExt { 3, 2, 1 }
    ds:setIsMextExpressedInInertialFrame(true)
    local J = ds:computeJacobianRhsx(2)
    local x = ds:x():copy()
    assert.is_true(distance(differences(function(at) ds:setX(at) return ds:computeRhs(2) end, x, 13), J) < 1e-7)
  end)

  -- The moment of a weight m g at the distance l on the body's third axis, in the body's frame, and its potential.
  local function weight(_, q, _, _, m)
    local w, a, b, c = q[4], q[5], q[6], q[7]
    local up1, up2 = 2 * (a * c - w * b), 2 * (b * c + w * a) -- of the inertial third axis in the body's frame
    m[1], m[2], m[3] = -9 * up2, 9 * up1, 0
  end
  local function height(q, _, e) e[1] = 9 * (q[4] ^ 2 - q[5] ^ 2 - q[6] ^ 2 + q[7] ^ 2) end

  it("turn by mInt as by the moment of fInt, with the same Jacobians", function()
    local function drag(t, q, v, z, m)
      weight(t, q, v, z, m)
      for i = 1, 3 do m[i] = m[i] + (0.1 + t * q[1] ^ 2) * v[3 + i] * v[4] end
    end
    local one = body { mInt = drag, fInt = function(_, q, v, _, f) f[1], f[5] = q[1] ^ 2, v[6] * q[4] end }
    local other = body { fInt = function(t, q, v, z, f)
      local m = { 0, 0, 0 }
      drag(t, q, v, z, m)
      f[1], f[4], f[5], f[6] = q[1] ^ 2, m[1], v[6] * q[4] + m[2], m[3]
    end }
    for _, title in ipairs { "Forces", "JacobianqForces", "JacobianqDotForces", "Rhs", "JacobianRhsx" } do
      local name = "compute" .. title
      assert.is_true(distance(other[name](other, 0.7), one[name](one, 0.7)) < 1e-14, name)
    end
    local q, v = one:q():copy(), one:velocity():copy()
    local by_q = differences(function(x) return one:computeMInt(0.7, x, v) end, q, 3)
    local by_v = differences(function(x) return one:computeMInt(0.7, q, x) end, v, 3)
    assert.is_true(distance(by_q, one:computeJacobianMIntq(0.7)) < 1e-8)
    assert.is_true(distance(by_v, one:computeJacobianMIntv(0.7)) < 1e-8)
    assert.equal(one:computeMInt(0.7), one:mInt())
    assert.same({ 3, 7 }, { one:jacobianMIntq():shape() })
    assert.same({ 3, 6 }, { one:jacobianMIntv():shape() })
  end)

  it("are heavy tops with mInt: the vertical angular momentum stays, and the energy with order 2", function()
    local symmetric = ns.matrix { { 2, 0, 0 }, { 0, 2, 0 }, { 0, 0, 1 } }
    local function run(h)
      local ds = ns.NewtonEulerDS { q0 = { 0, 0, 0, 1, 0.3, 0, 0 }, v0 = { 0, 0, 0, 0.1, 0, 12 }, mass = 1, inertia = symmetric,
        mInt = weight, potential = height }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
      local function up() return rotate(ds:q(), symmetric * ds:velocity():slice(4, 6):copy())[3] end
      local energy, spin, tilt = simu:energy().total, up(), ds:q()[5]
      local de, ds3 = 0, 0
      for _ in simu:steps() do
        de = math.max(de, math.abs(simu:energy().total - energy))
        ds3 = math.max(ds3, math.abs(up() - spin))
      end
      assert.is_true(math.abs(ds:q()[5] - tilt) > 0.05) -- it does precess
      return de, ds3
    end
    local e1, s1 = run(4e-3)
    local e2, s2 = run(2e-3)
    assert.is_true(e1 < 0.05 and s1 < 1e-11 and s2 < 1e-11)
    assert.near(4, e1 / e2, 0.3)
  end)

  it("are driven by mExt of the time, in their frame or in the inertial one", function()
    for _, inertial in ipairs { false, true } do
      local function spin(h)
        local ds = ns.NewtonEulerDS { q0 = { 0, 0, 0, 1, 0, 0, 0 }, v0 = ns.zeros(6), mass = 1, inertia = inertia, name = "motor",
          mExt = function(t, _, m) m[1], m[2], m[3] = math.cos(3 * t), t, 1 - t ^ 2 end }
        ds:setIsMextExpressedInInertialFrame(inertial)
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(ds)
        ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5)):run()
        return ds
      end
      local exact = ns.vector { math.sin(3) / 3, 1 / 2, 2 / 3 } -- the angular momentum, in the inertial frame
      local function off(h)
        local ds = spin(h)
        return distance(exact, rotate(ds:q(), inertia * ds:velocity():slice(4, 6):copy()))
      end
      if inertial then
        assert.is_true(off(1e-2) < 1e-3)
        assert.near(4, off(2e-2) / off(1e-2), 0.2)
      else
        assert.is_true(off(1e-2) > 1e-3) -- another motion
      end
      local ds = spin(0.1)
      ds:setVelocity { 0, 0, 0, 0.3, 1, -2 }
      local v, F = ds:velocity():slice(4, 6):copy(), ds:computeForces(0.5):slice(4, 6):copy()
      local m = ns.vector { math.cos(1.5), 0.5, 0.75 }
      local moment = F + v:cross(inertia * v)
      if inertial then moment = rotate(ds:q(), moment) end
      assert.is_true(distance(m, moment) < 1e-14)
      local q, w = ds:q():copy(), ds:velocity():copy()
      assert.is_true(distance(differences(function(x) return ds:computeForces(0.5, x, w) end, q, 6),
        ds:computeJacobianqForces(0.5)) < 1e-8)
    end
  end)

  it("have the potential energy of a constant force on their centre", function()
    local ds = body { fExt = { 0, 0, -49.05, 7, 8, 9 } }
    assert.near(3 * 49.05, ds:computePotentialEnergy(), 1e-12)
  end)
end)
