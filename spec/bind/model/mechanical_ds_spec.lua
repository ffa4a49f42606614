-- LagrangianDS and its kin, NewtonEulerDS: arguments, options, classes, clones, use after close().
local ns = require "nslua"
local message = require "bind.models".message

local nan, inf = 0 / 0, math.huge
local Lagrangian, Linear = ns.LagrangianDS, ns.LagrangianLinearTIDS
local Diagonal, Rigid = ns.LagrangianLinearDiagonalDS, ns.NewtonEulerDS
local upright = { 0, 0, 0, 1, 0, 0, 0 }
local names = { "LagrangianDS", "LagrangianLinearTIDS", "LagrangianLinearDiagonalDS" }

describe("mechanical systems", function()
  it("refuse wrong initial states", function()
    for _, name in ipairs(names) do
      local function check(text, ...) assert.equal(name .. ": " .. text, message(ns[name], ...)) end
      check("q0: expected a vector, got nil")
      check("q0: expected a vector, got string", "x")
      check("q0: expected at least one coordinate, got an empty vector", {})
      check("q0[2]: expected a number, got string", { 1, "a" }, { 1, 2 })
      check("q0[2] is nan", { 1, nan }, { 1, 2 })
      check("v0: expected a vector of 2, got nil", { 1, 2 })
      check("v0: expected a vector of 2, got a list of 1", { 1, 2 }, { 3 })
      check("v0[1] is inf", { 1, 2 }, ns.vector { inf, 0 })
      check("q0: expected a vector, got nil", { v0 = { 1 } })
      check("v0: expected a vector of 1, got nil", { q0 = { 1 } })
      check("name: expected a string, got number 3.0", { q0 = { 1 }, v0 = { 1 }, name = 3 })
      check("z[1] is nan", { q0 = { 1 }, v0 = { 1 }, z = { nan } })
      check("potential: expected a function, got number 1.0", { q0 = { 1 }, v0 = { 1 }, potential = 1 })
      check("fExt: expected a vector of 1, got a list of 2", { q0 = { 1 }, v0 = { 1 }, fExt = { 1, 2 } })
    end
    assert.equal("LagrangianDS: expected at most 3 arguments, got 4", message(Lagrangian, { 1 }, { 1 }, nil, 1))
    assert.equal("LagrangianLinearTIDS: expected at most 5 arguments, got 6",
      message(Linear, { 1 }, { 1 }, nil, nil, nil, 1))
    assert.equal("LagrangianLinearDiagonalDS: expected at most 5 arguments, got 6",
      message(Diagonal, { 1 }, { 1 }, nil, nil, nil, 1))
  end)

  it("refuse matrices of wrong size, type or content", function()
    local q, v = { 1, 2 }, { 0, 0 }
    assert.equal("LagrangianDS: mass: expected a 2 x 2 matrix, got 1 x 2 table", message(Lagrangian, q, v, { { 1, 2 } }))
    assert.equal("LagrangianDS: mass: expected a 2 x 2 matrix, got string", message(Lagrangian, q, v, "plugin"))
    assert.matches("^cannot open library 'plugin.so': ", message(Lagrangian, q, v, "plugin:mass"))
    assert.equal("LagrangianLinearTIDS: mass: expected a 2 x 2 matrix, got string", message(Linear, q, v, "plugin:mass"))
    assert.equal("LagrangianDS: mass: expected a 2 x 2 matrix, got 3 x 3 sparse matrix",
      message(Lagrangian, q, v, ns.speye(3)))
    assert.equal("LagrangianLinearTIDS: mass: expected a 2 x 2 matrix, got function", message(Linear, q, v, print))
    assert.equal("LagrangianLinearTIDS: K[2][2] is nan", message(Linear, q, v, ns.eye(2), { { 1, 0 }, { 0, nan } }))
    assert.equal("LagrangianLinearTIDS: C: expected a 2 x 2 matrix, got 3 x 3 matrix", message(Linear, q, v, nil, nil, ns.eye(3)))
    assert.equal("LagrangianLinearDiagonalDS: stiffness: expected a vector of 2, got a list of 3",
      message(Diagonal, q, v, { 1, 2, 3 }))
    assert.equal("LagrangianLinearDiagonalDS: damping[1] is inf", message(Diagonal, q, v, { 1, 2 }, { inf, 1 }))
    assert.equal("LagrangianLinearDiagonalDS: mass: expected a vector of 2, got 2 x 2 matrix",
      message(Diagonal, q, v, nil, nil, ns.eye(2)))
    assert.equal("LagrangianDS: jacobianFIntq: expected a 2 x 2 matrix, got a list of 1",
      message(Lagrangian, { q0 = q, v0 = v, jacobianFIntq = { 1 } }))
  end)

  it("take no mass matrix that is none: the first step names it", function()
    local function simulation(ds)
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.1)
      nsds:insertDynamicalSystem(ds)
      return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    end
    local indefinite = "dynamical system '[%w ]+': the mass matrix is not positive semidefinite %(row "
    local function refuses(text, ds)
      local simu = simulation(ds)
      for _ = 1, 2 do -- also when it is tried again
        local good, got = pcall(simu.run, simu)
        assert.is_false(good)
        assert.matches(text, got)
      end
    end
    for _, unit in ipairs { 1, 2.0 ^ 100, 2.0 ^ -100 } do
      local u = { unit, 1 }
      local function system(M)
        for i = 1, 2 do
          for j = 1, 2 do M[i][j] = M[i][j] * u[i] * u[j] end
        end
        return ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 0 }, M, { { u[1] ^ 2, 0 }, { 0, 1 } })
      end
      refuses(indefinite .. "1%)", system { { -1, 0 }, { 0, 1 } })
      refuses(indefinite .. "2%)", system { { 1, 0 }, { 0, -1 } })
      refuses(indefinite .. "2%)", system { { 1, 2 }, { 2, 3.9 } })
      refuses(indefinite .. "1%)", system { { 0, 1 }, { 1, 1 } })
      local rows = { { 1, 0.5 }, { -2, -4 } } -- those of { 1, 0.5 }, { 0.5, 1 }, the second one times -4
      for _, good in ipairs { { { 1, 1 }, { 1, 1 } }, { { 1, 0.3 }, { 0.3 * (1 + 1e-14), 1 } }, { { 0, 0 }, { 0, 2 } }, rows } do
        simulation(system(good)):run()
      end
    end
    refuses(indefinite .. "1%)", ns.LagrangianLinearDiagonalDS({ 0 }, { 1 }, { 1 }, { 0 }, { -1 }))
    refuses(indefinite .. "1%)", ns.LagrangianDS({ 0 }, { 1 }, { { -1 } }))
    refuses(indefinite .. "2%)", ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 0 }, ns.sparse(ns.diag { 1, -1 })))
    local kept = ns.zeros(2, 2)
    local ds = ns.LagrangianLinearTIDS({ 0, 0 }, { 1, 0 }, kept)
    ds:setMassPtr(kept)
    kept[1][1], kept[2][2] = 1, -1
    refuses(indefinite .. "2%)", ds)
  end)

  it("list the options they know", function()
    local function check(make, text) assert.equal(text, message(make, { q0 = { 1 }, v0 = { 1 }, x0 = 1 })) end
    check(Lagrangian, "LagrangianDS: unknown option 'x0' (known: q0, v0, mass, fInt, fExt, fGyr, jacobianFIntq, "
      .. "jacobianFIntqDot, jacobianFGyrq, jacobianFGyrqDot, potential, z, name)")
    check(Linear, "LagrangianLinearTIDS: unknown option 'x0' (known: q0, v0, mass, K, C, fExt, potential, z, name)")
    check(Diagonal, "LagrangianLinearDiagonalDS: unknown option 'x0' (known: q0, v0, stiffness, damping, mass, fExt, "
      .. "potential, z, name)")
    check(Rigid, "NewtonEulerDS: unknown option 'x0' (known: q0, v0, mass, inertia, fExt, fInt, jacobianFIntq, "
      .. "jacobianFIntqDot, mExt, mInt, jacobianMIntq, jacobianMIntv, potential, z, name)")
  end)

  it("are made from arguments or from an option table", function()
    local K, C, M = ns.diag { 4, 9 }, { { 1, 0 }, { 0, 2 } }, ns.diag { 2, 3 }
    for _, ds in ipairs {
      Linear({ 1, 2 }, { 3, 4 }, M, K, C),
      Linear { q0 = { 1, 2 }, v0 = { 3, 4 }, mass = M, K = K, C = C },
      Diagonal({ 1, 2 }, { 3, 4 }, { 4, 9 }, { 1, 2 }, { 2, 3 }),
      Diagonal { q0 = { 1, 2 }, v0 = { 3, 4 }, stiffness = { 4, 9 }, damping = { 1, 2 }, mass = { 2, 3 } },
    } do
      assert.same({ 1, 2 }, ds:q():totable())
      assert.same({ 3, 4 }, ds:velocity():totable())
      assert.equal(K, ds:K())
      assert.equal(ns.matrix(C), ds:C())
      assert.equal(M, ds:mass())
    end
    local ds = Linear({ 1 }, { 2 })
    assert.is_nil(ds:K())
    assert.is_nil(ds:C())
    assert.equal(ns.eye(1), ds:mass())
    assert.equal(ns.eye(1), Lagrangian({ 1 }, { 2 }):mass())
    ds = Linear({ 1 }, { 2 }, false, nil, { { 3 } })
    assert.equal(ns.matrix { { 3 } }, ds:C())
    ds = Linear({ 1, 2 }, { 3, 4 }, ns.speye(2), ns.sparse(K))
    assert.equal(K, ds:K():tomatrix())
    assert.equal(ns.eye(2), ds:mass():tomatrix())
    assert.is_not_nil(tostring(Diagonal(ns.zeros(100), ns.zeros(100), ns.ones(100)):K()):find "^100 x 100 sparse matrix")
  end)

  it("say what they are", function()
    assert.equal("LagrangianDS 'pendulum' with 2 degrees of freedom",
      tostring(Lagrangian { q0 = { 1, 2 }, v0 = { 0, 0 }, name = "pendulum" }))
    assert.equal("LagrangianLinearTIDS with 1 degree of freedom", tostring(Linear({ 1 }, { 0 })))
    assert.equal("NewtonEulerDS with 6 degrees of freedom", tostring(Rigid(upright, ns.zeros(6), 1, ns.eye(3))))
    assert.equal("LagrangianLinearDiagonalDS with 3 degrees of freedom", tostring(Diagonal({ 1, 2, 3 }, { 0, 0, 0 })))
  end)

  it("have classes", function()
    local Spring = ns.class(Lagrangian, "spring")
    function Spring:init(_, stiffness) self.stiffness = stiffness end
    function Spring:computeFInt(_, q, _, _, f) f[1] = self.stiffness * q[1] end
    function Spring:computeMass(_, _, M) M[1][1] = 2 end
    function Spring:computePotential(q, _, energy) energy[1] = self.stiffness * q[1] ^ 2 / 2 end
    local ds = Spring({ q0 = { 3 }, v0 = { 1 } }, 10)
    assert.equal("LagrangianDS 'spring' with 1 degree of freedom", tostring(ds))
    assert.equal(-15, ds:computeRhs(0)[2])
    assert.equal(45, ds:computePotentialEnergy())
    assert.equal(10, ds:computeJacobianFIntq(0)(1, 1))
    ds.computeFInt = function(self, _, q, _, _, f) f[1] = -self.stiffness * q[1] end
    assert.equal(15, ds:computeRhs(0)[2])
    assert.equal("dynamical system 'spring': computeMass: expected a function, got number 3.0",
      message(function() ds.computeMass = 3 end))
    assert.equal("dynamical system 'spring': computeRhs: a field cannot hide the method of this name",
      message(function() ds.computeRhs = print end))
    assert.equal("dynamical system 'spring': fInt: a field cannot hide the method of this name",
      message(function() ds.fInt = print end))
  end)

  it("are cloned with their callbacks, parameters and numbers", function()
    local M = ns.diag { 2, 4 }
    local ds = Lagrangian { q0 = { 1, 2 }, v0 = { 3, 4 }, mass = M, fExt = { 5, 6 }, z = { 7 }, name = "plant",
      fInt = function(_, q, _, z, f) f[1] = z[1] * q[1] end, jacobianFIntqDot = { { 1, 0 }, { 0, 1 } } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local body = Rigid { q0 = { 1, 2, 3, 1, 1, 0, 0 }, v0 = { 1, 2, 3, 4, 5, 6 }, mass = 3, inertia = ns.diag { 1, 2, 3 } }
    body:setMExt { 1, 2, 3 }
    body:setIsMextExpressedInInertialFrame(true)
    local diagonal = Diagonal(ns.ones(50), ns.ones(50), 2 * ns.ones(50))
    nsds:insertDynamicalSystem(ds)
    nsds:insertDynamicalSystem(body)
    nsds:insertDynamicalSystem(diagonal)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    local other = simu:clone():nsds()
    local copy = other:dynamicalSystem(1)
    M[1][1] = 9
    ds:z()[1] = 8
    ds:q()[1] = 11
    assert.equal("LagrangianDS 'plant' with 2 degrees of freedom", tostring(copy))
    assert.equal(2, copy:mass()(1, 1))
    assert.equal(9, ds:mass()(1, 1))
    assert.same({ 5 - 7, 6 }, copy:computeForces(0):totable())
    assert.same({ 5 - 88, 6 }, ds:computeForces(0):totable())
    assert.equal(ns.eye(2), copy:jacobianFIntqDot())
    assert.equal(body:computeRhs(0), other:dynamicalSystem(2):computeRhs(0))
    assert.equal(-2 * ns.ones(50), other:dynamicalSystem(3):computeForces(0))
  end)

  it("raise after close(), their views too", function()
    local ds = Lagrangian { q0 = { 1 }, v0 = { 2 }, name = "bar" }
    ds:computeRhs(0)
    local views = { q = ds:q(), velocity = ds:velocity(), p = ds:p(), forces = ds:forces(), rhs = ds:rhs() }
    local mass = ds:mass()
    ds:close()
    assert.equal("LagrangianDS (closed)", tostring(ds))
    for name, view in pairs(views) do
      assert.equal(("vector '%s' belongs to a closed LagrangianDS"):format(name), message(function() return view[1] end))
    end
    assert.equal("matrix 'mass' belongs to a closed LagrangianDS", message(function() return mass(1, 1) end))
    for name, method in pairs {
      q = ds.q, p = ds.p, mass = ds.mass, computeMass = ds.computeMass, setQ = ds.setQ, forces = ds.forces, K = ds.K,
      setMassPtr = ds.setMassPtr, computeRhs = ds.computeRhs, inverseMass = ds.inverseMass, display = ds.display,
      setComputeFIntFunction = ds.setComputeFIntFunction, computeKineticEnergy = ds.computeKineticEnergy,
      initMemory = ds.initMemory, updatePlugins = ds.updatePlugins,
    } do
      assert.equal("dynamical system 'bar' is closed", message(method, ds), name)
    end
    local kept
    do
      local other <close> = Linear({ 1 }, { 2 })
      kept = other
    end
    assert.equal("LagrangianLinearTIDS (closed)", tostring(kept))
  end)

  it("are collected with what they hold, also when they refer to themselves", function()
    for _ = 1, 50 do
      local ds = Lagrangian { q0 = { 1 }, v0 = { 2 } }
      ds:setComputeFIntFunction(function(_, _, _, _, f) f[1] = ds and 1 end)
      ds:computeRhs(0)
    end
    collectgarbage()
    collectgarbage()
  end)
end)

describe("NewtonEulerDS", function()
  it("refuses what is no rigid body", function()
    local function check(text, ...) assert.equal("NewtonEulerDS: " .. text, message(Rigid, ...)) end
    check("q0: expected a vector of 7, got a list of 3", { 1, 2, 3 })
    check("v0: expected a vector of 6, got a list of 3", upright, { 1, 2, 3 })
    check("q0: expected a quaternion in q0[4] .. q0[7], got zeros", ns.zeros(7), ns.zeros(6), 1, ns.eye(3))
    check("mass: expected a finite number, got nil", upright, ns.zeros(6))
    check("mass: expected a positive number, got number 0.0", upright, ns.zeros(6), 0, ns.eye(3))
    check("inertia: expected a 3 x 3 matrix, got nil", upright, ns.zeros(6), 1)
    check("inertia: expected a 3 x 3 matrix, got 2 x 2 matrix", upright, ns.zeros(6), 1, ns.eye(2))
    check("inertia[1][1] is nan", upright, ns.zeros(6), 1, ns.diag { nan, 1, 1 })
    check("inertia: expected a symmetric positive definite matrix", upright, ns.zeros(6), 1, ns.diag { 1, -1, 1 })
    check("inertia: expected a symmetric positive definite matrix", upright, ns.zeros(6), 1,
      { { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
    check("expected at most 4 arguments, got 5", upright, ns.zeros(6), 1, ns.eye(3), 1)
  end)
end)
