-- What computeX of a mechanical system evaluates and keeps, and X shows; callbacks called by hand; native callbacks.
local ns = require "nslua"
local host = require "host"
local message = require "bind.models".message

local function oscillator(options)
  local all = {
    q0 = { 0.5, 1 }, v0 = { 1, 2 }, name = "bar",
    mass = function(q, _, M) M[1][1], M[2][2] = 2 + q[2] ^ 2, 1 end,
    fInt = function(t, q, v, _, f) f[1], f[2] = t * math.sin(q[1]) + v[2], q[1] * v[2] end,
    fGyr = function(q, v, _, f) f[1] = q[2] * v[1] ^ 2 end,
    fExt = function(t, _, f) f[1], f[2] = t, 2 * t end,
  }
  for key, value in pairs(options or {}) do all[key] = value end
  return ns.LagrangianDS(all)
end

local timed = { "FInt", "FExt", "JacobianFIntq", "JacobianFIntqDot", "Forces", "JacobianqForces", "JacobianqDotForces", "Rhs",
  "JacobianRhsx" }
local timeless = { "Mass", "FGyr", "JacobianFGyrq", "JacobianFGyrqDot" }

local function shown(title)
  return title:sub(1, 1):lower() .. title:sub(2)
end

describe("what a mechanical system computes", function()
  it("is kept, and shown by a live view", function()
    local ds = oscillator()
    for _, list in ipairs { timed, timeless } do
      for _, title in ipairs(list) do
        local compute, show = "compute" .. title, shown(title)
        local time = list == timed and 2 or nil
        local text = ("%s: nothing is computed yet: call %s(%s) first"):format(show, compute, time and "time" or "")
        if title ~= "Forces" then assert.equal(text, message(ds[show], ds)) end
        local first = ds[compute](ds, time)
        local view = ds[show](ds)
        assert.equal(first, view, title)
        ds:setVelocity { 3, 5 }
        ds:setQ { 0.6, 0.7 }
        assert.equal(first, ds[show](ds), title)
        local second = ds[compute](ds, time)
        assert.equal(second, view, title)
        if title ~= "FExt" then assert.not_equal(first, second, title) end
        ds:resetToInitialState()
        if title == "JacobianFIntqDot" then ds = oscillator() end -- forces and rhs are kept together
      end
    end
    local fresh = oscillator()
    assert.equal("forces: nothing is computed yet: call computeForces(time) first", message(fresh.forces, fresh))
    fresh:computeRhs(0)
    assert.equal(fresh:forces(), fresh:computeForces(0))
    assert.equal(fresh:rhs():slice(3, 4):copy(), fresh:acceleration())
  end)

  it("is evaluated elsewhere with q and v", function()
    local ds = oscillator()
    local q, v = { 0.1, 0.2 }, ns.vector { 0.3, 0.4 }
    local at = oscillator { q0 = q, v0 = v }
    for _, title in ipairs { "FInt", "JacobianFIntq", "JacobianFIntqDot", "Forces", "JacobianqForces", "JacobianqDotForces" } do
      local name = "compute" .. title
      assert.equal(at[name](at, 2), ds[name](ds, 2, q, v), title)
    end
    for _, title in ipairs { "FGyr", "JacobianFGyrq", "JacobianFGyrqDot" } do
      local name = "compute" .. title
      assert.equal(at[name](at), ds[name](ds, q, v), title)
    end
    assert.equal(at:computeMass(), ds:computeMass(q))
    assert.same({ 0.5, 1, 1, 2 }, ds:x():totable())
  end)

  it("is refused with wrong arguments", function()
    local ds = oscillator()
    for _, title in ipairs(timed) do
      local name = "compute" .. title
      assert.equal(name .. ": time: expected a finite number, got nil", message(ds[name], ds))
      assert.equal(name .. ": time: expected a finite number, got string", message(ds[name], ds, "0"))
    end
    assert.equal("computeFInt: q: expected a vector of 2, got a list of 1", message(ds.computeFInt, ds, 0, { 1 }))
    assert.equal("computeFInt: velocity[1] is nan", message(ds.computeFInt, ds, 0, nil, { 0 / 0, 1 }))
    assert.equal("computeMass: q: expected a vector of 2, got number 3.0", message(ds.computeMass, ds, 3))
    assert.equal("computeMass: expected at most 1 argument, got 2", message(ds.computeMass, ds, nil, nil))
    assert.equal("computeForces: expected at most 3 arguments, got 4", message(ds.computeForces, ds, 0, nil, nil, nil))
    assert.equal("mass: expected at most 1 argument, got 2", message(ds.mass, ds, { 1, 2 }))
  end)

  it("is nil where there is none, and as it is now where it is constant", function()
    local ds = ns.LagrangianDS({ 1 }, { 2 })
    for _, name in ipairs { "fInt", "fGyr", "fExt", "jacobianFIntq", "jacobianFIntqDot", "jacobianFGyrq", "jacobianFGyrqDot" } do
      assert.is_nil(ds[name](ds), name)
    end
    assert.equal(ns.vector { 0 }, ds:computeFInt(0))
    assert.equal(ns.matrix { { 0 } }, ds:computeJacobianFGyrq())
    local M, f = ns.matrix { { 4 } }, ns.vector { 5 }
    ds:setMassPtr(M)
    ds:setFIntPtr(f)
    M[1][1], f[1] = 6, 7
    assert.equal(6, ds:mass()(1, 1))
    assert.equal(7, ds:fInt()[1])
    M[1][1] = 0 / 0
    assert.equal("dynamical system '?': mass[1] is nan", message(ds.mass, ds))
  end)

  it("includes the factors of the mass", function()
    local ds = oscillator()
    assert.equal("mass: nothing is computed yet: call computeMass() first", message(ds.inverseMass, ds))
    ds:update_inverse_mass()
    assert.equal(ns.vector { 1, 2 }, ds:inverseMass():solve { 3, 2 })
    ds = ns.LagrangianLinearTIDS(ns.zeros(2), ns.zeros(2), 2 * ns.speye(2))
    assert.equal(ns.vector { 1, 2 }, ds:inverseMass():solve { 2, 4 })
    assert.matches("^SparseLU", tostring(ds:inverseMass()))
    ds = ns.LagrangianLinearTIDS(ns.zeros(2), ns.zeros(2), ns.zeros(2, 2))
    assert.matches("singular", message(ds.inverseMass, ds))
  end)

  it("is made all at once by initRhs and updatePlugins", function()
    local ds, other = oscillator(), oscillator()
    ds:initRhs(2)
    assert.equal(other:computeRhs(2), ds:rhs())
    assert.equal(other:computeJacobianRhsx(2), ds:jacobianRhsx())
    ds:updatePlugins(3)
    for _, title in ipairs { "FInt", "FExt" } do
      assert.equal(other["compute" .. title](other, 3), ds[shown(title)](ds))
    end
    assert.equal(other:computeMass(), ds:mass())
    assert.equal(other:computeFGyr(), ds:fGyr())
    local particle = ns.LagrangianLinearTIDS { q0 = { 1 }, v0 = { 0 }, mass = { { 1 } }, fExt = { 3 } }
    particle:updatePlugins(3)
    assert.same({ 3 }, particle:fExt():totable())
    local body = ns.NewtonEulerDS { q0 = { 0, 0, 0, 1, 0, 0, 0 }, v0 = { 0, 0, 0, 1, 2, 3 }, mass = 1, inertia = ns.eye(3),
      mExt = function(t, _, m) m[1] = t end, mInt = function(t, _, v, _, m) m[2] = t * v[6] end }
    body:updatePlugins(3)
    assert.same({ 3, 0, 0 }, body:mExt():totable())
    assert.same({ 0, 9, 0 }, body:mInt():totable())
  end)

  it("calls a callback as it is when it gets all of its arguments", function()
    local Bar = ns.class(ns.LagrangianDS)
    function Bar:computeMass(q, _, M) M[1][1] = 2 * q[1] end
    function Bar:computeFInt(_, q, _, z, f)
      local M = ns.zeros(1, 1)
      self:computeMass(q, z, M)
      f[1] = M[1][1] + 1
    end
    local ds = Bar({ 3 }, { 0 })
    assert.same({ 7 }, ds:computeFInt(0):totable())
    assert.same({ -7 }, ds:computeForces(0):totable())
    local f = ns.vector(1)
    ds:computeFInt(0, { 5 }, { 0 }, {}, f)
    assert.same({ 11 }, f:totable())
    assert.equal(6, ds:computeMass()(1, 1))
    local plain, force = oscillator(), ns.vector(2)
    plain:computeFExt(4, nil, force)
    assert.same({ 4, 8 }, force:totable())
  end)

  it("may not be asked for inside a callback", function()
    local ds
    ds = oscillator { fInt = function() ds:computeForces(0) end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    assert.matches("computeForces: dynamical system 'bar' is being used by the step that is computed",
      message(ds.computeForces, ds, 0))
    ds:setComputeFIntFunction(function(_, _, _, _, f) f:assign(ds:computeFInt(0)) end)
    assert.matches("computeFInt: dynamical system 'bar' is being used by the step", message(ds.computeForces, ds, 0))
    ds:setComputeFIntFunction(nil)
    ds:computeForces(0)
  end)

  it("may be looked at inside a callback when it is constant", function()
    local ds, M = nil, ns.diag { 2, 4 }
    ds = oscillator { mass = M, fInt = function(_, q, _, _, f)
      M[1][1] = 3
      f:assign(ds:mass() * q)
    end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    assert.same({ 1, 4 }, ds:computeFInt(0):totable())
    assert.equal(3, ds:mass()(1, 1))
    assert.same({ 1.5, 4 }, ds:computeFInt(0):totable())
  end)

  it("leaves what was kept after an error", function()
    local ds = oscillator()
    local before = ds:computeFInt(1)
    ds:setComputeFIntFunction(function() error "boom" end)
    assert.matches("boom", message(ds.computeFInt, ds, 1))
    assert.equal(before, ds:fInt())
  end)
end)

describe("native callbacks of mechanical systems", function()
  local library, directory
  setup(function() library, directory = host.compile "mechanics" end)
  teardown(function() host.remove(directory) end)

  it("give the same as those in Lua", function()
    local native = oscillator { mass = ns.eye(2), fInt = { 0, 0 }, fGyr = { 0, 0 }, fExt = { 0, 0 }, z = { 9.81 } }
    for setter, symbol in pairs { Mass = "bar_mass", FInt = "bar_fint", FGyr = "bar_fgyr", FExt = "bar_fext",
      JacobianFIntq = "bar_fint_q", JacobianFIntqDot = "bar_fint_v", JacobianFGyrq = "bar_fgyr_q",
      JacobianFGyrqDot = "bar_fgyr_v", Potential = "bar_potential" } do
      native["setCompute" .. setter .. "Function"](native, library, symbol)
    end
    local ds = oscillator()
    for _, title in ipairs(timed) do
      local name = "compute" .. title
      local tolerance = title == "JacobianRhsx" and 1e-8 or 1e-13 -- a native mass is differentiated by differences
      assert.is_true((native[name](native, 1.5) - ds[name](ds, 1.5)):abs():max() < tolerance, title)
    end
    for _, title in ipairs(timeless) do
      local name = "compute" .. title
      assert.is_true((native[name](native) - ds[name](ds)):abs():max() < 1e-14, title)
    end
    assert.equal(9.81 * 0.5, native:computePotentialEnergy(0))
  end)

  it("are had by texts of a library and a symbol, in constructors and option tables", function()
    local stem = library:gsub("%.so$", "")
    for _, path in ipairs { stem, library } do
      local ds = ns.LagrangianDS({ 1, 0.5 }, { 0, 0 }, path .. ":bar_mass")
      assert.same({ { 2.25, 0 }, { 0, 1 } }, ds:computeMass():totable())
      ds = ns.LagrangianDS { q0 = { 1, 0.5 }, v0 = { 0, 3 }, mass = path .. ":bar_mass", fInt = path .. ":bar_fint", z = { 1 } }
      assert.near(2 * math.sin(1) + 3, ds:computeFInt(2)[1], 1e-15)
      assert.equal(ds:computeMass(), ns.LagrangianDS({ 1, 0.5 }, { 0, 0 }, path .. ":bar_mass"):computeMass())
    end
    local function new(text) return function() return ns.LagrangianDS({ 1, 0.5 }, { 0, 0 }, text) end end
    assert.equal(("library '%s' has no symbol 'quux'"):format(library), message(new(stem .. ":quux")))
    assert.matches("^cannot open library '/nonexistent/plugin%.so': ", message(new "/nonexistent/plugin:mass"))
    for _, text in ipairs { "plugin", "plugin:", ":mass" } do
      assert.matches("^LagrangianDS: mass: expected ", message(new(text)):gsub("^mass: ", "LagrangianDS: mass: "))
    end
  end)

  it("of rigid bodies have moments of the time and of the state, with their Jacobians", function()
    local function body(options)
      local all = { q0 = { 1, 2, 3, 1, 0.2, -0.3, 0.5 }, v0 = { 1, 0, 0, 0.3, 1, -2 }, mass = 5, inertia = ns.eye(3), z = { 0.5 } }
      for key, value in pairs(options or {}) do all[key] = value end
      return ns.NewtonEulerDS(all)
    end
    local native = body()
    for setter, symbol in pairs { MExt = "body_mext", MInt = "body_mint", JacobianMIntq = "body_mint_q",
      JacobianMIntv = "body_mint_v" } do
      native["setCompute" .. setter .. "Function"](native, library, symbol)
    end
    local ds = body {
      mExt = function(t, z, m) m[1], m[3] = t, z[1] end,
      mInt = function(t, q, v, z, m) m[1], m[2], m[3] = t * q[5] ^ 2, z[1] * v[4] * v[6], q[7] end,
    }
    for _, name in ipairs { "MExt", "MInt", "JacobianMIntq", "JacobianMIntv", "Forces", "JacobianqForces", "JacobianqDotForces" } do
      local theirs, mine = native["compute" .. name](native, 1.5), ds["compute" .. name](ds, 1.5)
      assert.is_true((theirs - mine):abs():max() < 1e-14, name)
      assert.is_true(mine:abs():max() > 0.1, name)
    end
  end)

  it("need native Jacobians", function()
    local ds = oscillator()
    ds:setComputeFIntFunction(library, "bar_fint")
    assert.equal("dynamical system 'bar' computeFInt: computeJacobianFIntq is missing: a native callback has no exact derivatives "
      .. "of its own", message(ds.computeJacobianFIntq, ds, 0))
    assert.equal("library '" .. library .. "' has no symbol 'nothing'",
      message(ds.setComputeMassFunction, ds, library, "nothing"))
  end)
end)
