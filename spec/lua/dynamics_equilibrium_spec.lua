-- ns.dynamics.equilibrium and ns.dynamics.linearise against closed forms and differences of runs.
local expect = require "expect"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, raises = expect.near_number, expect.fails

local function near_matrix(want, got, tolerance)
  assert.equal(#want, got:rows())
  for i, row in ipairs(want) do
    assert.equal(#row, got:cols())
    for j, value in ipairs(row) do near(value, got[i][j], tolerance) end
  end
end

-- A graph of one system and interactions { law, relation, name }.
local function graph(ds, ...)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  for _, l in ipairs { ... } do nsds:link(ns.Interaction(l[1], l[2], l[3]), ds) end
  return nsds
end

-- x1' = -x1 + x2 + 0.3 + lambda, x2' = -x2 + 0.2 + 2 lambda, lambda = -sign x1. The states are in units of 1 / k.
local function relay(k)
  k = k or 1
  local ds = ns.FirstOrderLinearTIDS({ k, 2 * k }, { { -1, 1 }, { 0, -1 } }, { 0.3 * k, 0.2 * k })
  return graph(ds, { ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 / k, 0 } }, { { k }, { 2 * k } }), "relay" }), ds
end

-- A block of mass 2 on an incline with friction. u: units of length; c: units of time.
local function incline(angle, mu, u, c)
  u, c = u or 1, c or 1
  local block = ns.LagrangianLinearTIDS({ 0.5 * u, 0 }, { 0, 0 }, { { 2, 0 }, { 0, 2 } })
  local g = 9.81 * u / c ^ 2
  block:setFExt { 2 * g * math.sin(angle), -2 * g * math.cos(angle) }
  return graph(block, { ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "plane" }), block
end

-- A shallow truss of two springs, the apex at the height q, pressed down by a load; the height is at least -0.05.
local function truss(u)
  u = u or 1
  local ds = ns.LagrangianDS({ 0.1 * u }, { 0 }, { { 1 } })
  local length = math.sqrt(1.01) * u
  ds:setComputeFIntFunction(function(_, q, _, _, f)
    local now = (u * u + q[1] ^ 2) ^ 0.5
    f[1] = 2 * 100 * (now - length) * q[1] / now
  end)
  return graph(ds, { ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR({ { 1 } }, { 0.05 * u }), "stop" }), ds
end

local function cart()
  local m, M, L, g = 0.5, 2, 1.5, 9.81
  local ds = ns.LagrangianDS({ 0, 0 }, { 0, 0 })
  ds:setComputeMassFunction(function(q, _, A)
    A[1][1], A[1][2], A[2][1], A[2][2] = M + m, m * L * math.cos(q[2]), m * L * math.cos(q[2]), m * L * L
  end)
  ds:setz { 0 }
  ds:setComputeFIntFunction(function(_, q, v, z, f)
    f[1], f[2] = -z[1] - m * L * v[2] ^ 2 * math.sin(q[2]), -m * g * L * math.sin(q[2])
  end)
  return graph(ds), ds
end

describe("equilibrium", function()
  it("of a relay with a linear plant lies in sliding", function()
    local e = dynamics.equilibrium { nsds = relay() }
    near(0, e.x[1])
    near(-2 / 15, e.x[2])
    near(-1 / 6, e.lambda[1])
    assert.same({ "active" }, e.mode)
    assert.is_true(e.isolated and e.modes[1].interior and e.residual < 1e-15)
    assert.equal("equilibrium at [0, -0.133333], active", tostring(e))
  end)

  it("of a thermostat holds the temperature where the heater can, and else has it on or off", function()
    local function room(outside)
      local ds = ns.FirstOrderLinearTIDS({ 15 }, { { -0.1 } }, { 0.1 * outside })
      local nsds = graph(ds, { ns.RelayNSL(1, 0, 2), ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1 } }, e = { -20 } },
        "heater" })
      return dynamics.equilibrium { nsds = nsds }
    end
    local e = room(5)
    near(20, e.x[1])
    near(1.5, e.lambda[1])
    e = room(-5)
    near(15, e.x[1])
    assert.same({ "upper" }, e.mode)
    e = room(25)
    near(25, e.x[1])
    assert.same({ "lower" }, e.mode)
  end)

  it("is the operating point of a circuit with a diode", function()
    local function diode(E)
      local ds = ns.FirstOrderLinearTIDS({ 0 }, { { -1 / (1e3 * 1e-6) } }, { E / (1e3 * 1e-6) })
      return dynamics.equilibrium { nsds = graph(ds, { ns.ComplementarityConditionNSL(1),
        ns.FirstOrderLinearTIR { C = { { -1 } }, B = { { -1 / 1e-6 } }, e = { 0.7 } }, "diode" }) }
    end
    local e = diode(5)
    near(0.7, e.x[1])
    near(4.3e-3, e.lambda[1], 1e-15)
    e = diode(0.5)
    near(0.5, e.x[1])
    assert.same({ "lower" }, e.mode)
  end)

  it("of a block on an incline has a force inside of the friction cone, or there is none", function()
    for _, unit in ipairs { { 1, 1 }, { 2 ^ 30, 2 ^ -12 }, { 2 ^ -30, 2 ^ 12 } } do
      local k = 2 * 9.81 * unit[1] / unit[2] ^ 2
      local e = dynamics.equilibrium { nsds = incline(0.3, 0.5, unit[1], unit[2]) }
      near(k * math.cos(0.3), e.lambda[1], 1e-14 * k)
      near(-k * math.sin(0.3), e.lambda[2], 1e-14 * k)
      assert.same({ "stick", "stick" }, e.mode)
      assert.is_true(e.modes[1].interior)
      assert.is_false(e.isolated)
      near(0.5 * unit[1], e.q[1], 0)
      raises("no equilibrium found: in the nearest mode row 1 of 'plane' has friction",
        dynamics.equilibrium, { nsds = incline(0.3, 0.1, unit[1], unit[2]) })
    end
    raises("friction 5.79811, at most 1.87437", dynamics.equilibrium, { nsds = incline(0.3, 0.1) })
  end)

  it("comes to the edge of the region of friction from a guess outside of it", function()
    local spring = ns.LagrangianLinearTIDS({ 3 }, { 0 }, { { 1 } }, { { 4 } })
    local nsds = graph(spring, { ns.RelayNSL(1, -2, 2), ns.LagrangianLinearTIR { { 1 } }, "dry" })
    local e = dynamics.equilibrium { nsds = nsds, guess = { 0.25 } }
    near(0.25, e.q[1])
    near(1, e.lambda[1])
    assert.same({ "held" }, e.mode)
    e = dynamics.equilibrium { nsds = nsds, guess = { 3 } }
    near(0.5, e.q[1])
    assert.same({ "upper" }, e.mode)
    raises("row 1 of 'dry': both sides of the law hold there", dynamics.linearise, { nsds = nsds, at = e })
    local l = dynamics.linearise { nsds = nsds, at = e, mode = { "upper" } }
    near(2, l.eigenvalues[1].abs)
  end)

  it("comes to the edge of a cone in space, along the spring", function()
    local ds = ns.LagrangianLinearTIDS({ 3, 4, 0 }, { 0, 0, 0 }, ns.eye(3), { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 } })
    ds:setFExt { 0, 0, -2 }
    local relation = ns.LagrangianLinearTIR { { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }
    local e = dynamics.equilibrium { nsds = graph(ds, { ns.NewtonImpactFrictionNSL(0, 0, 0.5, 3), relation, "floor" }) }
    near(0.6, e.q[1])
    near(0.8, e.q[2])
    assert.same({ "limit", "limit", "limit" }, e.mode)
    assert.is_false(e.modes[1].interior)
  end)

  it("lists the equilibria of a truss that can snap through against a stop", function()
    for _, unit in ipairs { 1, 2 ^ 20, 2 ^ -20 } do
      local list = dynamics.equilibrium { nsds = truss(unit), all = true,
        guess = { { 0.12 * unit }, { 0.01 * unit }, { -0.06 * unit }, { 0.09 * unit } } }
      assert.equal(3, #list)
      near(0.1 * unit, list[1].q[1], 1e-12 * unit)
      near(0, list[2].q[1], 1e-12 * unit)
      near(-0.05 * unit, list[3].q[1], 1e-12 * unit)
      assert.same({ "open", "active" }, { list[1].mode[1], list[3].mode[1] })
      assert.is_true(list[3].lambda[1] > 0)
    end
  end)

  it("of x' = f(t, x) is a root", function()
    local e = dynamics.equilibrium { rhs = function(_, x, k) return { x[2], -k * math.sin(x[1]) } end, guess = { 3, 0.1 },
      args = { 2 } }
    near(math.pi, e.x[1])
    raises("dynamics.equilibrium: no equilibrium found: ", dynamics.equilibrium,
      { rhs = function(_, x) return { x[1] ^ 2 + 1 } end, guess = { 1 } })
  end)

  it("tells what is wrong with its options", function()
    raises("expected one of simulation =, nsds =, rhs =, got 0 of them", dynamics.equilibrium, {})
    raises("nsds: expected a NonSmoothDynamicalSystem, got 'a'", dynamics.equilibrium, { nsds = "a" })
    raises("guess: expected a vector of 2, got one of 3", dynamics.equilibrium, { nsds = relay(), guess = { 1, 2, 3 } })
    raises("guess: with all = true expected a list of guesses", dynamics.equilibrium,
      { nsds = relay(), all = true, guess = { 1, 2 } })
    raises("guess: expected a state at rest, got the velocity 3", dynamics.equilibrium,
      { nsds = incline(0.3, 0.5), guess = { 0, 0, 3, 0 } })
    raises("unknown option", dynamics.equilibrium, { nsds = relay(), foo = 1 })
    local fall = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 2 } })
    fall:setFExt { -19.62 }
    raises("no equilibrium found: -19.62 is left of terms of 19.62 in the balance of state 1 of 'ds 1'",
      dynamics.equilibrium, { nsds = graph(fall) })
    local cone = ns.NormalConeNSL(1, { { 1 } }, { 0 })
    raises("the law of 'cone' is a NormalConeNSL, which is not supported", dynamics.equilibrium,
      { nsds = graph(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), { cone, ns.FirstOrderLinearTIR({ 1 }, { 1 }), "cone" }) })
  end)
end)

describe("linearise", function()
  it("gives the sliding field of a relay", function()
    for _, k in ipairs { 1, 2 ^ 40 } do
      local nsds, ds = relay(k)
      local l = dynamics.linearise { nsds = nsds, at = dynamics.equilibrium { nsds = nsds },
        inputs = { { ds, "b", 1 }, { ds, "b", 2 } }, outputs = function(_, x, lambda) return { x[2], lambda[1] } end }
      near_matrix({ { 0, 0 }, { 2, -3 } }, l.A)
      near_matrix({ { 0, 0 }, { -2, 1 } }, l.B)
      near_matrix({ { 0, 1 }, { 1 / k, -1 / k } }, l.C)
      near_matrix({ { 0, 0 }, { -1 / k, 0 } }, l.D)
      assert.equal(1, l.constrained)
      assert.equal(1, #l.eigenvalues)
      near(-3, l.eigenvalues[1].re)
      assert.equal("stable", l.stability)
    end
  end)

  it("agrees with central differences of runs in sliding", function()
    local nsds, ds = relay()
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI())
    local e = dynamics.equilibrium { simulation = simu }
    local l = dynamics.linearise { simulation = simu, at = e }
    local function run(d)
      ds:setX0 { 0, e.x[2] + d }
      simu:reset()
      local sol = simu:run()
      return sol.x:row(#sol.t)
    end
    local difference = (run(2 ^ -8) - run(-2 ^ -8)) * 2 ^ 7
    local flow = ns.expm(l.A)
    near(flow[1][2], difference[1], 1e-9)
    near(flow[2][2], difference[2], 1e-9)
  end)

  it("gives the closed form of the inverted pendulum on a cart", function()
    local m, M, L, g = 0.5, 2, 1.5, 9.81
    local nsds, ds = cart()
    local e = dynamics.equilibrium { nsds = nsds, guess = { 0.2, 0.1 } }
    near(0.2, e.q[1])
    local l = dynamics.linearize { nsds = nsds, at = e, inputs = { { ds, "z", 1 } }, outputs = { 2 } }
    near_matrix({ { 0, 0, 1, 0 }, { 0, 0, 0, 1 }, { 0, -m * g / M, 0, 0 }, { 0, g * (M + m) / (M * L), 0, 0 } }, l.A)
    near_matrix({ { 0 }, { 0 }, { 1 / M }, { -1 / (M * L) } }, l.B)
    near_matrix({ { 0, 1, 0, 0 } }, l.C)
    near(math.sqrt(g * (M + m) / (M * L)), l.eigenvalues[1].abs)
    assert.equal("unstable", l.stability)
  end)

  it("holds the contacts of mechanics and a clutch", function()
    local nsds = incline(0.3, 0.5)
    local l = dynamics.linearise { nsds = nsds, at = dynamics.equilibrium { nsds = nsds } }
    assert.equal(4, l.constrained)
    assert.equal(0, #l.eigenvalues)
    local clutch = ns.FirstOrderLinearTIDS({ 1, 1 }, { { -1, 0 }, { 0, -3 } }, { 4, 0 })
    clutch:setM { { 2, 0 }, { 0, 6 } }
    local engaged = graph(clutch, { ns.RelayNSL(1, -9, 9), ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 }, { -1 } }), "plates" })
    local e = dynamics.equilibrium { nsds = engaged }
    near(1, e.x[1])
    near(-3, e.lambda[1])
    l = dynamics.linearise { nsds = engaged, at = e }
    near(-0.5, l.eigenvalues[1].re) -- (1 + 3) / (2 + 6)
    assert.equal(1, #l.eigenvalues)
  end)

  it("adds the stiffness of the constraint forces on a curved surface", function()
    local ds = ns.LagrangianDS({ 0, -2 }, { 0, 0 }, { { 3, 0 }, { 0, 3 } })
    ds:setFExt { 0, -3 * 9.81 }
    local rope = ns.LagrangianScleronomousR { h = function(q, _, y) y[1] = (q[1] ^ 2 + q[2] ^ 2 - 4) / 2 end }
    local nsds = graph(ds, { ns.EqualityConditionNSL(1), rope, "rope" })
    local e = dynamics.equilibrium { nsds = nsds, guess = { 0.3, -1.7 } }
    near(-2, e.q[2])
    near(0, e.q[1])
    local l = dynamics.linearise { nsds = nsds, at = e }
    assert.equal(2, #l.eigenvalues)
    near(math.sqrt(9.81 / 2), l.eigenvalues[1].abs)
    assert.equal("neutral", l.stability)
  end)

  it("has exact derivatives by inputs that act nonlinearly", function()
    local ds = ns.FirstOrderNonLinearDS({ 0 }, function(_, x, z, f) f[1] = math.exp(z[1]) * math.cos(x[1]) - 2 * x[1] end)
    ds:setzPtr(ns.vector { 0.7 })
    local valve = ns.FirstOrderNonLinearR { h = function(_, x, lambda, z, y) y[1] = x[1] + lambda[1] - math.exp(z[1]) end,
      g = function(_, _, lambda, _, r) r[1] = lambda[1] end }
    valve:setzPtr(ns.vector { 0.3 })
    local nsds = graph(ds, { ns.ComplementarityConditionNSL(1), valve, "valve" })
    local l = dynamics.linearise { nsds = nsds, at = { x = { 0.5 }, lambda = { math.exp(0.3) - 0.5 } }, mode = { "active" },
      inputs = { { ds, "z", 1 }, { valve, "z", 1 } } }
    assert.equal(math.exp(0.7) * math.cos(0.5), l.B[1][1])
    assert.equal(math.exp(0.3), l.B[1][2])
  end)

  it("has the derivatives by inputs that callbacks read out of sight", function()
    local z = ns.vector { 0.5 }
    local first = ns.FirstOrderNonLinearDS({ 0.7 }, function(_, x, _, f) f[1] = z[1] ^ 2 * x[1] end)
    first:setzPtr(z)
    local plant = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }, { 0.5 })
    local second = ns.FirstOrderNonLinearDS({ 0.6 }, function(_, x, _, f) f[1] = plant:b()[1] ^ 2 * x[1] end)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    for _, ds in ipairs { first, plant, second } do nsds:insertDynamicalSystem(ds) end
    local l = dynamics.linearise { nsds = nsds, at = { x = { 0.7, 1, 0.6 } }, inputs = { { first, "z", 1 }, { plant, "b", 1 } } }
    assert.near(0, (l.B - ns.matrix { { 0.7, 0 }, { 0, 1 }, { 0, 0.6 } }):norm(math.huge), 1e-11)
  end)

  it("moves multipliers that are at bounds with the bounds", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local law, relation = ns.RelayNSL(1, -2, 3), ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1.5 } } }
    local nsds = graph(ds, { law, relation, "relay" })
    for x, wanted in pairs { [1] = { 1, 0 }, [-1] = { 0, 1 } } do
      for _, M in ipairs { 1, 2 } do
        ds:setM { { M } }
        local l = dynamics.linearise { nsds = nsds, at = { x = { x } }, inputs = { { law, "lb", 1 }, { law, "ub", 1 } },
          outputs = function(_, _, lambda) return { lambda[1] } end }
        assert.same({ 1.5 / M * wanted[1], 1.5 / M * wanted[2] }, { l.B[1][1], l.B[1][2] })
        assert.same(wanted, { l.D[1][1], l.D[1][2] })
      end
    end
    -- Beside x1' = lambda - x1, an algebraic unknown.
    local both = ns.FirstOrderLinearTIDS { x0 = { 1, 3 }, A = { { -1, 0 }, { 3, -1 } }, M = { { 1, 0 }, { 0, 0 } } }
    local first = ns.FirstOrderLinearTIR { C = { { 1, 0 } }, B = { { 1 }, { 2 } } }
    local l = dynamics.linearise { nsds = graph(both, { law, first, "relay" }), at = { x = { 1, -1 } },
      inputs = { { law, "lb", 1 } }, outputs = function(_, x, lambda) return { x[2], lambda[1] } end }
    assert.same({ 1, 2, 1 }, { l.B[1][1], l.D[1][1], l.D[2][1] })
  end)

  -- a x1' + c x2' = 0.5 - x1 + 2 x2^2, x1 - 3 x2 + b + sin t = 0; the state is z = x1 + (c / a) x2, with a and c as they are.
  it("counts the rates of a point that is no equilibrium, where a singular M depends on inputs", function()
    math.randomseed(4)
    for _ = 1, 4 do
      local a, c, b, x2, t = 1 + math.random(), math.random(), math.random(), math.random(), math.random()
      local x1, p = 3 * x2 - b - math.sin(t), ns.vector { a, b }
      local ds = ns.FirstOrderNonLinearDS { x0 = { 0, 0 }, z = p,
        M = function(_, z, M) M[1][1], M[1][2] = z[1], c end,
        f = function(s, x, _, f) f[1], f[2] = 0.5 - x[1] + 2 * x[2] ^ 2, x[1] - 3 * x[2] + p[2] + math.sin(s) end }
      local l = dynamics.linearise { nsds = graph(ds), at = { x = { x1, x2 }, t = t },
        inputs = { { ds, "z", 1 }, { ds, "z", 2 } } }
      local function rate(z, m, e) -- z': x1 = z - (c / a) x2 in the algebraic equation
        local y2 = (z + e + math.sin(t)) / (3 + c / a)
        local force = 0.5 - (z - c / a * y2) + 2 * y2 ^ 2
        local r2 = (force + m * math.cos(t)) / (3 * m + c) -- x2', from x1' = 3 x2' - cos t
        return 3 * r2 - math.cos(t) + c / a * r2
      end
      local z, h = x1 + c / a * x2, 1e-5
      near((rate(z + h, a, b) - rate(z - h, a, b)) / (2 * h), l.A[1][1], 1e-8)
      near((rate(z, a + h, b) - rate(z, a - h, b)) / (2 * h), l.B[1][1], 1e-8)
      near((rate(z, a, b + h) - rate(z, a, b - h)) / (2 * h), l.B[1][2], 1e-8)
    end
    local constant = ns.FirstOrderLinearTIDS { x0 = { 0, 0 }, A = { { -1, 2 }, { 1, -3 } }, b = { 0.5, 0.6 },
      M = { { 2, 0.7 }, { 0, 0 } } }
    local nsds = graph(constant)
    local l = dynamics.linearise { nsds = nsds, at = { x = { 0.6, 0.4 } }, inputs = { { constant, "M", 1, 2 } } }
    near(-(1 + 0.35 / 3) * 0.7 * 3 / 6.7 ^ 2, l.B[1][1], 1e-10)
    raises("dynamics.linearise: the input M[2][2] gives an algebraic equation a derivative: M has another rank there, and the "
      .. "motion another number of states", dynamics.linearise,
      { nsds = nsds, at = { x = { 0.6, 0.4 } }, inputs = { { constant, "M", 2, 2 } } })
  end)

  it("has the derivatives by inputs that systems share, and lets them share these", function()
    local b = ns.vector { 1 }
    local first, second = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.FirstOrderLinearTIDS({ 2 }, { { -2 } })
    first:setbPtr(b)
    second:setbPtr(b)
    local nsds = graph(first)
    nsds:insertDynamicalSystem(second)
    near_matrix({ { 1 }, { 1 } }, dynamics.linearise { nsds = nsds, at = { x = { 1, 2 } }, inputs = { { first, "b", 1 } } }.B)
    b[1] = 7
    near(7, first:b()[1])
    near(7, second:b()[1])
  end)

  it("counts the rates of a point that is no equilibrium, where M depends on inputs and coordinates", function()
    local first = ns.FirstOrderLinearTIDS { x0 = { 0.7 }, A = { { 3 } }, b = { 1 }, M = { { 2 } } }
    local l = dynamics.linearise { nsds = graph(first), at = { x = { 0.7 } }, inputs = { { first, "M", 1, 1 } } }
    assert.near(-3.1 / 4, l.B[1][1], 1e-12)
    local body = ns.LagrangianDS { q0 = { 0.5 }, v0 = { 0 }, z = { 2, 3 },
      mass = function(q, z, M) M[1][1] = z[1] + q[1] ^ 2 end, fInt = function(_, q, _, z, f) f[1] = z[2] * q[1] end }
    l = dynamics.linearise { nsds = graph(body), at = { x = { 0.5, 0 } }, inputs = { { body, "z", 1 }, { body, "z", 2 } } }
    local M, a = 2.25, -1.5 / 2.25
    assert.near(-3 / M - a / M, l.A[2][1], 1e-11)
    assert.near(0, (l.B - ns.matrix { { 0, 0 }, { -a / M, -0.5 / M } }):norm(math.huge), 1e-11)
  end)

  it("takes points that are no equilibrium, and x' = f", function()
    local nsds = relay()
    local l = dynamics.linearise { nsds = nsds, at = { x = { 1, 2 } } }
    near_matrix({ { -1, 1 }, { 0, -1 } }, l.A)
    assert.same({ "lower" }, l.mode)
    l = dynamics.linearise { nsds = nsds, at = { x = { 0, 0.1 } } }
    near(-0.4, l.lambda[1])
    l = dynamics.linearise { rhs = function(_, x, k) return { x[2], -k * math.sin(x[1]) } end, args = { 4 }, at = { x = { 0, 0 } },
      inputs = { 1 } }
    near_matrix({ { 0, 1 }, { -4, 0 } }, l.A)
    near_matrix({ { 0 }, { 0 } }, l.B)
    near(2, l.eigenvalues[1].im)
  end)

  it("refuses a degenerate row unless the mode is chosen", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local nsds = graph(ds, { ns.ComplementarityConditionNSL(1), ns.FirstOrderLinearTIR({ 1 }, { 1 }), "valve" })
    local e = dynamics.equilibrium { nsds = nsds }
    assert.is_true(e.modes[1].degenerate)
    raises("row 1 of 'valve': both sides of the law hold there, and the model has no single linear one; choose by mode =, "
        .. "as { \"lower\" } or { \"active\" }",
      dynamics.linearise, { nsds = nsds, at = e })
    near(-1, dynamics.linearise({ nsds = nsds, at = e, mode = { "lower" } }).eigenvalues[1].re)
    assert.equal(1, dynamics.linearise({ nsds = nsds, at = e, mode = { "active" } }).constrained)
  end)

  it("tells what is wrong with its options", function()
    local nsds, ds = relay()
    local e = dynamics.equilibrium { nsds = nsds }
    raises("at: expected an equilibrium or { x =, t = }, got nil", dynamics.linearise, { nsds = nsds })
    raises("at: x is missing", dynamics.linearise, { nsds = nsds, at = {} })
    raises("mode: expected a list of 1 words, one for each row, got 'lower'", dynamics.linearise, { nsds = nsds, at = e,
      mode = "lower" })
    raises("mode[1]: expected 'lower', 'upper', 'active', 'open', 'stick' or 'held', got 'on'", dynamics.linearise,
      { nsds = nsds, at = e, mode = { "on" } })
    raises("inputs[1]: expected { object, \"field\" } or { object, \"field\", i }, got 3", dynamics.linearise,
      { nsds = nsds, at = e, inputs = { 3 } })
    raises("inputs[1]: 'b' has several numbers: give the place of one", dynamics.linearise,
      { nsds = nsds, at = e, inputs = { { ds, "b" } } })
    raises("inputs[1]: the object has no field 'q7' of numbers that can be set", dynamics.linearise,
      { nsds = nsds, at = e, inputs = { { ds, "q7" } } })
    raises("outputs[1]: expected the number of a state, 1 .. 2, got 3", dynamics.linearise, { nsds = nsds, at = e,
      outputs = { 3 } })
    raises("'relay' does not slide there: it would need lambda = -7.3; choose by mode =", dynamics.linearise,
      { nsds = nsds, at = { x = { 0, 7 } } })
    local relation = ns.FirstOrderLinearTIR { C = { { 1 } }, B = { { 1 } }, e = { -20 } }
    local moving = graph(ns.FirstOrderLinearTIDS({ 20 }, { { -0.1 } }, { 0.5 }), { ns.RelayNSL(1, 0, 2), relation, "heater" })
    raises("the input e[1] moves the surface of 'heater', on which the mode slides: its rate would be an input too",
      dynamics.linearise, { nsds = moving, at = dynamics.equilibrium { nsds = moving }, inputs = { { relation, "e", 1 } } })
    local double = graph(ns.FirstOrderLinearTIDS({ 0, 0 }, { { 0, 1 }, { 0, 0 } }),
      { ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 1 } }), "far" })
    raises("the multiplier of 'far' is not determined by the output and its rate in this mode", dynamics.linearise,
      { nsds = double, at = dynamics.equilibrium { nsds = double } })
  end)
end)
