-- Coordinates, velocities, impulses of mechanical systems: views, levels, setters, memory.
local ns = require "nslua"
local message = require "bind.models".message

local nan = 0 / 0

describe("the state of a mechanical system", function()
  local ds, body

  before_each(function()
    ds = ns.LagrangianDS { q0 = { 1, 2 }, v0 = { 3, 4 }, mass = ns.diag { 2, 4 }, name = "bar" }
    body = ns.NewtonEulerDS({ 0, 0, 0, 2, 0, 0, 0 }, ns.zeros(6), 1, ns.eye(3))
  end)

  it("is seen through live views", function()
    local q, v, x, p = ds:q(), ds:velocity(), ds:x(), ds:p()
    assert.same({ 1, 2, 3, 4 }, x:totable())
    q[1], v[2] = 5, 6
    assert.same({ 5, 2, 3, 6 }, x:totable())
    assert.equal(q, ds:q(0))
    assert.equal(v, ds:q(1))
    assert.equal(ds:acceleration(), ds:q(2))
    ds:setP { 7, 8 }
    assert.same({ 7, 8 }, p:totable())
    assert.equal(p, ds:p(1))
    assert.equal(p, ds:r())
    local q0, v0 = ds:q0(), ds:velocity0()
    q0[1], v0[1] = 9, 10
    ds:resetToInitialState()
    assert.same({ 9, 2, 10, 4 }, x:totable())
    assert.same({ 0, 0 }, p:totable())
    assert.equal(2, ds:dimension())
  end)

  it("has setters that copy", function()
    local source = ns.vector { 5, 6 }
    ds:setQ(source)
    ds:setVelocity { 7, 8 }
    ds:setQ0 { 9, 10 }
    ds:setVelocity0 { 11, 12 }
    ds:setP({ 13, 14 }, 1)
    source[1] = 0
    assert.same({ 5, 6, 7, 8 }, ds:x():totable())
    assert.same({ 9, 10, 11, 12 }, ds:x0():totable())
    assert.same({ 13, 14 }, ds:p():totable())
  end)

  it("refuses wrong values and levels, and stays", function()
    for setter, what in pairs { setQ = "q", setVelocity = "velocity", setQ0 = "q0", setVelocity0 = "velocity0", setP = "p" } do
      assert.equal(("LagrangianDS: %s: expected a vector of 2, got a list of 1"):format(what), message(ds[setter], ds, { 1 }))
      assert.equal(("LagrangianDS: %s[2] is nan"):format(what), message(ds[setter], ds, { 1, nan }))
      assert.equal(("LagrangianDS: %s: expected a vector of 2, got nil"):format(what), message(ds[setter], ds))
    end
    assert.equal("q: level: expected 0, 1 or 2, got 3", message(ds.q, ds, 3))
    assert.equal("q: level: expected an integer, got string", message(ds.q, ds, "0"))
    for _, name in ipairs { "p", "pMemory", "resetNonSmoothPart", "initializeNonSmoothInput" } do
      assert.equal(name .. ": level: impulses are on level 1 alone", message(ds[name], ds, 2))
    end
    assert.equal("setP: level: impulses are on level 1 alone", message(ds.setP, ds, { 1, 2 }, 0))
    assert.same({ 1, 2, 3, 4 }, ds:x():totable())
    assert.same({ 1, 2, 3, 4 }, ds:x0():totable())
  end)

  it("has a quaternion of length 1 in a rigid body", function()
    assert.same({ 0, 0, 0, 1, 0, 0, 0 }, body:q():totable())
    body:setQ { 1, 2, 3, 0, 3, 4, 0 }
    assert.same({ 1, 2, 3, 0, 0.6, 0.8, 0 }, body:q():totable())
    body:setQ0 { 1, 2, 3, 0, 0, 0, -2 }
    assert.same({ 1, 2, 3, 0, 0, 0, -1 }, body:q0():totable())
    assert.equal("NewtonEulerDS: q: expected a quaternion in q[4] .. q[7], got zeros", message(body.setQ, body, ns.zeros(7)))
    assert.equal("NewtonEulerDS: q0: expected a quaternion in q0[4] .. q0[7], got zeros", message(body.setQ0, body, ns.zeros(7)))
    assert.same({ 1, 2, 3, 0, 0.6, 0.8, 0 }, body:q():totable())
  end)

  it("is remembered on request", function()
    ds:setP { 5, 6 }
    ds:swapInMemory()
    ds:setQ { 0, 0 }
    ds:setVelocity { 0, 0 }
    ds:resetAllNonSmoothParts()
    assert.same({ 0, 0 }, ds:p():totable())
    assert.same({ 1, 2 }, ds:qMemory():totable())
    assert.same({ 3, 4 }, ds:velocityMemory():totable())
    assert.same({ 5, 6 }, ds:pMemory(1):totable())
  end)

  it("has energies, and an impulse changes the velocities", function()
    assert.equal(0.5 * (2 * 9 + 4 * 16), ds:computeKineticEnergy())
    assert.equal(0, ds:computePotentialEnergy())
    assert.equal("computePotentialEnergy: time: expected a finite number, got number nan",
      message(ds.computePotentialEnergy, ds, nan))
    assert.equal("computeKineticEnergy: expected at most 1 argument, got 2", message(ds.computeKineticEnergy, ds, 0))
    ds:setP { 2, 4 }
    ds:computePostImpactVelocity()
    assert.same({ 4, 5 }, ds:velocity():totable())
    ds:setMassPtr(ns.zeros(2, 2))
    assert.equal("dynamical system 'bar': the mass matrix is singular (row 1)", message(ds.computePostImpactVelocity, ds))
    assert.same({ 4, 5 }, ds:velocity():totable())
    for _, name in ipairs { "resetNonSmoothPart", "resetAllNonSmoothParts", "initializeNonSmoothInput" } do
      ds:setP { 1, 1 }
      ds[name](ds, 1)
      assert.same({ 0, 0 }, ds:p():totable())
    end
  end)

  it("accepts the calls that make room", function()
    ds:initMemory(2)
    ds:init_forces()
    ds:init_generalized_coordinates(2)
    ds:init_inverse_mass()
    assert.equal("dynamical system expected, got number 3.0", (message(ds.initMemory, 3):gsub("^.*%((.*)%)$", "%1")))
  end)

  it("is printed", function()
    local lines, before = {}, print
    rawset(_G, "print", function(text) lines[#lines + 1] = text end)
    local good, err = pcall(function()
      ds:display()
      ns.LagrangianDS({ 1 }, { 2 }, function(_, _, M) M[1][1] = 1 end):display()
    end)
    rawset(_G, "print", before)
    assert.is_true(good, err)
    assert.matches("LagrangianDS 'bar' with 2 degrees of freedom\n  q = [1, 2]\n  velocity = [3, 4]\n  p = [0, 0]\n  mass =\n",
      lines[1], 1, true)
    assert.equal("LagrangianDS with 1 degree of freedom\n  q = [1]\n  velocity = [2]\n  p = [0]", lines[2])
  end)

  it("is no business of other systems", function()
    local first = ns.FirstOrderLinearTIDS { 1 }
    for _, name in ipairs { "q", "computeRhs", "computeMass", "setMassPtr", "mass", "forces" } do
      local expected = "bad argument #1 to '%?' %(mechanical dynamical system expected%)"
      assert.matches(name == "computeRhs" and "^" or expected, message(ds[name], first, 0), nil)
    end
    assert.matches("first%-order dynamical system expected", message(first.M, ds))
  end)
end)
