local ns = require "nslua"

describe("first-order systems", function()
  it("have M^-1 (f + r) as right-hand side", function()
    local ds = ns.FirstOrderLinearTIDS { x0 = { 1, 2 }, A = { { 0, 1 }, { 2, 0 } }, b = { 1, 0 }, M = { { 2, 0 }, { 0,
      4 } } }
    ds:computeRhs(0)
    assert.same({ 1.5, 0.5 }, ds:rhs():totable())
    ds = ns.FirstOrderNonLinearDS({ 3 }, function(t, x, _, f) f[1] = t + x[1] ^ 2 end)
    ds:computeRhs(2)
    assert.same({ 11 }, ds:rhs():totable())
  end)

  it("can not have it when M is singular", function()
    local ds = ns.FirstOrderLinearTIDS { x0 = { 1, 2 }, A = ns.eye(2), M = ns.diag { 1, 0 }, name = "dae" }
    assert.error_matches(function() ds:computeRhs(0) end,
      "dynamical system 'dae': the right-hand side needs M^-1, and M is singular (row 2)", 1, true)
  end)

  it("pass their parameters z to every callback, which may write them", function()
    local seen = {}
    local function note(name, z) seen[name] = z:totable() end
    local ds = ns.FirstOrderNonLinearDS {
      x0 = { 2 }, z = { 5, 7 },
      f = function(_, x, z, f) note("f", z) f[1] = z[1] * x[1] + z[2] end,
      jacobianfx = function(_, _, z, J) note("J", z) J[1][1] = z[1] end,
      M = function(_, z, M) note("M", z) M[1][1] = 1 end,
    }
    ds:computeRhs(0)
    assert.same({ 17 }, ds:rhs():totable())
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1)):computeOneStep()
    assert.near((2 + 0.1 * 7) / (1 - 0.1 * 5), ds:x()[1], 1e-14)
    assert.same({ f = { 5, 7 }, J = { 5, 7 }, M = { 5, 7 } }, seen)

    local counter = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = { 0 }, f = function(_, _, z, f)
      z[1] = z[1] + 1
      f[1] = 0
    end }
    counter:computeRhs(0)
    counter:computeRhs(0)
    assert.same({ 2 }, counter:z():totable())
  end)

  it("share a vector z, or copy it with setz", function()
    local z = ns.vector { 1 }
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, _, p, f) f[1] = p[1] end)
    ds:setzPtr(z)
    z[1] = 4
    ds:computeRhs(0)
    assert.equal(4, ds:rhs()[1])
    ds:setz(z)
    z[1] = 5
    ds:computeRhs(0)
    assert.equal(4, ds:rhs()[1])
    assert.is_nil(ns.FirstOrderLinearTIDS({ 1 }):z())
  end)

  it("use a preset Jacobian in place of its callback", function()
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -2 * x[1] end,
      function() error "not called" end)
    ds:setJacobianfxPtr { { -2 } }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1)):computeOneStep()
    assert.near(0.5, ds:x()[1], 1e-15)
  end)

  it("have no dynamics but r when nothing is given: M x' = r", function()
    local ds = ns.FirstOrderLinearTIDS { 4 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1)):run()
    assert.same({ 4 }, ds:x():totable())
  end)

  it("start at x0, also again", function()
    local ds = ns.FirstOrderLinearTIDS({ 1, 2 }, ns.eye(2))
    local x, x0 = ds:x(), ds:x0()
    x[1] = 9
    assert.same({ 1, 2 }, x0:totable())
    ds:resetToInitialState()
    assert.same({ 1, 2 }, x:totable())
    ds:setX0 { 3, 4 }
    assert.same({ 1, 2 }, x:totable())
    ds:resetToInitialState()
    assert.same({ 3, 4 }, x:totable())
    assert.equal(2, ds:dimension())
  end)

  it("have a name, by default their number", function()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    local a, b = ns.FirstOrderLinearTIDS { x0 = { 1 }, name = "motor" }, ns.FirstOrderLinearTIDS { 1 }
    nsds:insertDynamicalSystem(a)
    nsds:insertDynamicalSystem(b)
    assert.equal("motor", a:name())
    assert.equal("ds 2", b:name())
    b:setName "clutch"
    assert.equal("FirstOrderLinearTIDS 'clutch' with 1 state", tostring(b))
  end)

  it("refuse to compute the right-hand side of a system of mechanics", function()
    local method = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }).computeRhs
    local body = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
    for _, system in ipairs { body, ns.LagrangianDS({ 0 }, { 0 }, { { 1 } }) } do
      assert.error_matches(function() method(system, 0) end, "first%-order dynamical system expected")
    end
  end)
end)
