-- Callbacks of mechanical systems, and constants in their place: setters, what each class has, failures.
local ns = require "nslua"
local message = require "bind.models".message

local nan, inf = 0 / 0, math.huge
local Lagrangian, Linear, Rigid = ns.LagrangianDS, ns.LagrangianLinearTIDS, ns.NewtonEulerDS
local upright = { 0, 0, 0, 1, 0, 0, 0 }

describe("coefficients and callbacks of mechanical systems", function()
  it("share the matrix that a setter with Ptr gets, and copy otherwise", function()
    local setters = {
      { Linear, "K", "K" }, { Linear, "C", "C" }, { Linear, "mass", "Mass" }, { Lagrangian, "mass", "Mass" },
      { Lagrangian, "jacobianFIntq", "JacobianFIntq" }, { Lagrangian, "jacobianFIntqDot", "JacobianFIntqDot" },
      { Lagrangian, "jacobianFGyrq", "JacobianFGyrq" }, { Lagrangian, "jacobianFGyrqDot", "JacobianFGyrqDot" },
      { Lagrangian, "fInt", "FInt" }, { Lagrangian, "fGyr", "FGyr" }, { Lagrangian, "fExt", "FExt" }, { Linear, "fExt", "FExt" },
    }
    for _, case in ipairs(setters) do
      local make, name, title = table.unpack(case)
      local vector = name:find "^f" ~= nil
      local function value(ds)
        local now = ds[name](ds)
        return vector and now[1] or now(1, 1)
      end
      for _, ending in ipairs { "", "Ptr" } do
        local ds, source = make({ 1, 2 }, { 0, 0 }), vector and ns.vector { 5, 6 } or ns.diag { 5, 6 }
        local set = "set" .. title .. ending
        assert.truthy(ds[set], set)
        ds[set](ds, source)
        assert.equal(5, value(ds), set)
        if vector then source[1] = 7 else source[1][1] = 7 end
        assert.equal(ending == "Ptr" and 7 or 5, value(ds), set)
        local size = vector and "a vector of 2" or "a 2 x 2 matrix"
        assert.equal(("%s: %s: expected %s, got nil"):format(tostring(ds):match "^%S+", name, size), message(ds[set], ds))
        assert.matches("is nan$", message(ds[set], ds, vector and { nan, 1 } or { { nan, 0 }, { 0, 1 } }))
      end
    end
  end)

  it("know which coefficients and callbacks they have", function()
    local ds, linear, body = Lagrangian({ 1 }, { 1 }), Linear({ 1 }, { 1 }), Rigid(upright, ns.zeros(6), 1, ns.eye(3))
    assert.matches("LagrangianDS: it has no method 'setKPtr'", message(function() return ds.setKPtr end), 1, true)
    assert.matches("LagrangianLinearTIDS: it has no method 'setFIntPtr'", message(function() return linear.setFIntPtr end), 1, true)
    assert.matches("NewtonEulerDS: it has no method 'setFGyr'", message(function() return body.setFGyr end), 1, true)
    assert.matches("NewtonEulerDS: it has no method 'setMassPtr'", message(function() return body.setMassPtr end), 1, true)
    assert.matches("LagrangianLinearTIDS: it has no method 'setComputeMassFunction'",
      message(function() return linear.setComputeMassFunction end), 1, true)
    assert.matches("NewtonEulerDS: it has no method 'setComputeFGyrFunction'",
      message(function() return body.setComputeFGyrFunction end), 1, true)
    assert.matches("LagrangianDS: it has no method 'setMExtPtr'", message(function() return ds.setMExtPtr end), 1, true)
    assert.matches("LagrangianDS: it has no method 'setIsMextExpressedInInertialFrame'",
      message(function() return ds.setIsMextExpressedInInertialFrame end), 1, true)
    assert.equal("setComputeFIntFunction: callback: expected a function, or a library and a symbol, got number 3.0",
      message(ds.setComputeFIntFunction, ds, 3))
    assert.equal("class: computeMass: no callback of a LagrangianLinearTIDS (known: computeFExt, computePotential)",
      message(function() ns.class(Linear).computeMass = print end))
  end)

  it("take a function in place of a constant, and a constant in place of a function", function()
    local ds = Lagrangian({ 1 }, { 0 })
    ds:setFIntPtr { 5 }
    ds:setComputeFIntFunction(function(_, q, _, _, f) f[1] = 3 * q[1] end)
    assert.equal(3, ds:computeFInt(0)[1])
    ds:setFInt { 6 }
    assert.equal(6, ds:computeFInt(0)[1])
    ds:setFIntPtr(function(_, _, _, _, f) f[1] = 7 end)
    assert.equal(7, ds:computeFInt(0)[1])
    ds:setComputeFIntFunction(nil)
    assert.equal(0, ds:computeFInt(0)[1])
    ds:setComputeFExtFunction(function(t, _, f) f[1] = t end)
    assert.equal(4, ds:computeFExt(4)[1])
    ds:setFExt { 9 }
    assert.equal(9, ds:computeFExt(4)[1])
  end)

  it("pass z to every callback, which may write it", function()
    local seen = {}
    local function note(name, fill)
      return function(...)
        local z = select(select("#", ...) - 1, ...)
        seen[name] = z[1]
        if fill then fill(...) end
      end
    end
    local ds = Lagrangian {
      q0 = { 1 }, v0 = { 2 }, z = { 5 },
      mass = note("mass", function(_, _, M) M[1][1] = 1 end), fInt = note "fInt", fGyr = note "fGyr", fExt = note "fExt",
      jacobianFIntq = note "Jq", jacobianFIntqDot = note "Jv", jacobianFGyrq = note "Gq", jacobianFGyrqDot = note "Gv",
      potential = note("potential", function(_, z, energy) energy[1], z[1] = z[1], 8 end),
    }
    ds:computeRhs(0)
    ds:computeJacobianRhsx(0)
    assert.equal(5, ds:computePotentialEnergy())
    assert.same({ mass = 5, fInt = 5, fGyr = 5, fExt = 5, Jq = 5, Jv = 5, Gq = 5, Gv = 5, potential = 5 }, seen)
    assert.equal(8, ds:z()[1])
  end)

  it("name the callback that fails", function()
    local ds = Lagrangian { q0 = { 1 }, v0 = { 2 }, name = "bar" }
    local function check(setter, method, text, wrong)
      ds["setCompute" .. setter .. "Function"](ds, wrong)
      assert.matches(text, message(ds[method], ds, method ~= "computeMass" and 0 or nil), 1, true)
    end
    check("Mass", "computeMass", "dynamical system 'bar' computeMass: mass[1][1] is nan", function(_, _, M) M[1][1] = nan end)
    check("Mass", "computeMass", "dynamical system 'bar' computeMass: attempt to", function(M) M[1][1] = 1 end)
    check("Mass", "computeMass", "(computeMass is called as (q, z, mass))", function(_, _, _, M) M[1][1] = 1 end)
    ds:setMass { { 1 } }
    check("FInt", "computeFInt", "dynamical system 'bar' computeFInt: fInt[1] is inf", function(_, _, _, _, f) f[1] = inf end)
    check("FInt", "computeForces", "(computeFInt is called as (time, q, v, z, fInt))", function(_, _, _, f) f[1] = f[2] + 1 end)
    check("FInt", "computeRhs", "boom", function() error "boom" end)
    check("FInt", "computeFInt", "fInt[2]: index out of range 1..1", function(_, _, _, _, f) f[2] = 1 end)
  end)

  it("give a rigid body force and moment one by one or together", function()
    local ds = Rigid { q0 = upright, v0 = ns.zeros(6), mass = 2, inertia = ns.eye(3), name = "ball" }
    assert.is_nil(ds:fExt())
    ds:setFExtPtr { 1, 2, 3 }
    ds:setMExtPtr { 4, 5, 6 }
    assert.same({ 1, 2, 3, 4, 5, 6 }, ds:fExt():totable())
    ds:setFExt { 7, 8, 9 }
    assert.same({ 7, 8, 9, 4, 5, 6 }, ds:fExt():totable())
    local both = ns.vector { 1, 1, 1, 2, 2, 2 }
    ds:setFExtPtr(both)
    both[6] = 3
    assert.same({ 1, 1, 1, 2, 2, 3 }, ds:fExt():totable())
    ds:setFExt(both)
    both[6] = 4
    assert.same({ 1, 1, 1, 2, 2, 3 }, ds:fExt():totable())
    ds:setComputeFExtFunction(function(t, _, f) f[1], f[4] = t, 2 * t end)
    assert.same({ 3, 0, 0, 6, 0, 0 }, ds:computeFExt(3):totable())
    assert.equal("setMExt: the external force is a function of time, which gives force and moment",
      message(ds.setMExt, ds, { 1, 2, 3 }))
    ds:setComputeFExtFunction(nil)
    ds:setMExt { 1, 2, 3 }
    assert.same({ 0, 0, 0, 1, 2, 3 }, ds:fExt():totable())
    assert.equal("setFExtPtr: force: expected a vector of 3 or 6, got a list of 2", message(ds.setFExtPtr, ds, { 1, 2 }))
    assert.equal("setMExtPtr: moment: expected a vector of 3, got a list of 6", message(ds.setMExtPtr, ds, { 1, 2, 3, 4, 5, 6 }))
    assert.equal("setMExt: moment: expected a vector of 3, got function", message(ds.setMExt, ds, print))
    assert.equal("setMExt: moment[2] is nan", message(ds.setMExt, ds, { 1, nan, 3 }))
    assert.equal("setIsMextExpressedInInertialFrame: flag: expected a boolean, got number 1.0",
      message(ds.setIsMextExpressedInInertialFrame, ds, 1))
  end)

  it("give a rigid body moments: a callback in place of a constant, a constant in place of a callback", function()
    local ds = Rigid { q0 = upright, v0 = ns.zeros(6), mass = 2, inertia = ns.eye(3), name = "ball", mExt = { 1, 2, 3 } }
    assert.same({ 1, 2, 3 }, ds:mExt():totable())
    assert.is_nil(ds:mInt())
    assert.is_nil(ds:jacobianMIntq())
    assert.same({ 0, 0, 0 }, ds:computeMInt(0):totable())
    local both = ns.vector { 1, 1, 1, 2, 2, 2 }
    ds:setFExtPtr(both)
    ds:setComputeMExtFunction(function(t, _, m) m[1], m[3] = t, 2 * t end)
    assert.same({ 5, 0, 10 }, ds:computeMExt(5):totable())
    assert.same({ 5, 0, 10 }, ds:mExt():totable())
    assert.same({ 1, 1, 1, 5, 0, 10 }, ds:computeForces(5):totable())
    assert.same({ 1, 1, 1, 2, 2, 2 }, both:totable())
    ds:setFExtPtr(both) -- six: the moments are added
    assert.same({ 1, 1, 1, 7, 2, 12 }, ds:computeForces(5):totable())
    ds:setMExtPtr { 7, 8, 9 }
    assert.same({ 7, 8, 9 }, ds:mExt():totable())
    assert.same({ 1, 1, 1, 7, 8, 9 }, ds:computeForces(5):totable())
    ds:setComputeMExtFunction(function(_, _, m) m[2] = 4 end)
    ds:setComputeFExtFunction(function(t, _, f) f[1], f[5] = t, 1 end)
    assert.same({ 2, 0, 0, 0, 5, 0 }, ds:computeForces(2):totable())
    ds:setComputeMExtFunction(nil)
    assert.same({ 2, 0, 0, 0, 1, 0 }, ds:computeForces(2):totable())
  end)

  it("are methods of a rigid body's class, and clones have them", function()
    local Top = ns.class(Rigid, "top")
    function Top:init(_, k) self.k = k end
    function Top:computeMInt(t, q, _, _, m) m[1] = self.k * t * q[5] end
    function Top:computeJacobianMIntq(t, _, _, _, J) J[1][5] = self.k * t end
    function Top:computeMExt(t, _, m) m[2] = t end
    local ds = Top({ q0 = { 0, 0, 0, 1, 1, 0, 0 }, v0 = ns.zeros(6), mass = 2, inertia = ns.eye(3), name = "top" }, 4)
    assert.same({ 0, 0, 0, -8 * math.sqrt(0.5), 2, 0 }, ds:computeForces(2):totable())
    assert.equal(-8, ds:computeJacobianqForces(2)[4][5])
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5))
    local copy = simu:clone()
    simu:run()
    copy:run()
    assert.is_true(math.abs(ds:velocity()[4]) > 0.1)
    assert.same(ds:x():totable(), copy:nsds():dynamicalSystem(1):x():totable())
    local good, report = simu:check()
    assert.is_true(good, report)
    function Top:computeJacobianMIntq(t, _, _, _, J) J[1][5], J[2][4] = self.k * t, 1 end
    good, report = simu:check()
    assert.is_false(good)
    assert.truthy(report:find("dynamical system 'top' JacobianMIntq[2][4]: given 1, exact 0", 1, true))
    assert.is_nil(report:find("[1][5]", 1, true))
  end)

  it("of moments are what a rigid body has", function()
    local body, ds = Rigid(upright, ns.zeros(6), 2, ns.eye(3)), Lagrangian({ 1 }, { 0 })
    body:setName "ball"
    body:setComputeMIntFunction(print)
    assert.equal("mInt: nothing is computed yet: call computeMInt(time) first", message(body.mInt, body))
    assert.matches("LagrangianDS: it has no method 'setComputeMExtFunction'",
      message(function() return ds.setComputeMExtFunction end), 1, true)
    assert.matches("LagrangianDS: it has no method 'setComputeMIntFunction'",
      message(function() return ds.setComputeMIntFunction end), 1, true)
    assert.matches("LagrangianDS: it has no method 'setComputeJacobianMIntvFunction'",
      message(function() return ds.setComputeJacobianMIntvFunction end), 1, true)
    assert.equal("computeMExt: a LagrangianDS has no moments", message(ds.computeMExt, ds, 0))
    assert.equal("jacobianMIntq: a LagrangianDS has no moments", message(ds.jacobianMIntq, ds))
    assert.equal("NewtonEulerDS: mInt: expected a function, got a list of 3",
      message(Rigid, { q0 = upright, v0 = ns.zeros(6), mass = 2, inertia = ns.eye(3), mInt = { 1, 2, 3 } }))
    assert.equal("NewtonEulerDS: moment: expected a vector of 3, got a list of 2",
      message(Rigid, { q0 = upright, v0 = ns.zeros(6), mass = 2, inertia = ns.eye(3), mExt = { 1, 2 } }))
    body:setComputeMIntFunction(function(_, _, _, _, m) m[4] = 1 end)
    assert.truthy(message(body.computeForces, body, 0):find("mInt[4]: index out of range 1..3", 1, true))
    body:setComputeMIntFunction(function(_, _, _, _, m) m[2] = inf end)
    assert.truthy(message(body.computeForces, body, 0):find("dynamical system 'ball' computeMInt: mInt[2] is inf", 1, true))
    body:setComputeMIntFunction(nil)
    body:setComputeMExtFunction(function(_, _, m) m[1] = nan end)
    assert.truthy(message(body.computeForces, body, 0):find("dynamical system 'ball' computeMExt: mExt[1] is nan", 1, true))
  end)
end)
