-- Equilibria and linear models of rigid bodies, of models with algebraic equations, and lists of equilibria.
local expect = require "expect"
local ns = require "nslua"
local dynamics = ns.dynamics
local near, raises = expect.near_number, expect.fails

local function graph(ds)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  return nsds
end

-- The vector a of a body with the coordinates q, in space.
local function turned(q, a)
  local w, x, y, z = q[4], q[5], q[6], q[7]
  return { (1 - 2 * (y * y + z * z)) * a[1] + 2 * (x * y - w * z) * a[2] + 2 * (x * z + w * y) * a[3],
    2 * (x * y + w * z) * a[1] + (1 - 2 * (x * x + z * z)) * a[2] + 2 * (y * z - w * x) * a[3],
    2 * (x * z - w * y) * a[1] + 2 * (y * z + w * x) * a[2] + (1 - 2 * (x * x + y * y)) * a[3] }
end

-- A body of mass m that hangs at a ball joint, 1 above its centre. u, c, k: units of length, time, mass.
local function hanging(u, c, k)
  local g = 9.81 * u / c ^ 2
  local body = ns.NewtonEulerDS({ 0.1 * u, 0, -0.9 * u, 0.98, 0.1, -0.1, 0.05 }, { 0, 0, 0, 0, 0, 0 }, 2 * k,
    ns.matrix { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 3 } } * (k * u * u))
  body:setFExt { 0, 0, -2 * k * g }
  local nsds = graph(body)
  nsds:link(ns.Interaction(ns.EqualityConditionNSL(3), ns.NewtonEulerR { h = function(_, q, _, y)
    local arm = turned(q, { 0, 0, u })
    for i = 1, 3 do y[i] = q[i] + arm[i] end
  end }, "joint"), body)
  return nsds
end

-- A ball on a plane with the normal n, with friction.
local Ball = ns.class(ns.NewtonEuler3DR, "ball")
function Ball:init(n) self.n = n end
function Ball:computeh(_, q, y)
  local n = self.n
  local d = n[1] * q[1] + n[2] * q[2] + n[3] * q[3]
  self:setpc1 { q[1] - n[1] / 2, q[2] - n[2] / 2, q[3] - n[3] / 2 }
  self:setpc2 { q[1] - n[1] * d, q[2] - n[2] * d, q[3] - n[3] * d }
  self:setnc(n)
  y[1] = d - 0.5
end

describe("equilibrium of rigid bodies with quaternions #once", function()
  it("hangs at a joint, and swings with the frequencies of a pendulum, in all units", function()
    for _, unit in ipairs { { 1, 1, 1 }, { 2 ^ 20, 2 ^ -10, 2 ^ 30 }, { 2 ^ -20, 2 ^ 8, 2 ^ -16 } } do
      local u, c, k = table.unpack(unit)
      local nsds = hanging(u, c, k)
      local e = dynamics.equilibrium { nsds = nsds }
      near(-u, e.q[3], 1e-14 * u)
      near(1, e.q[4] ^ 2 + e.q[5] ^ 2 + e.q[6] ^ 2 + e.q[7] ^ 2, 1e-14)
      near(19.62 * k * u / c ^ 2, e.lambda[3], 1e-13 * k * u / c ^ 2)
      near(0, e.q[1], 1e-14 * u)
      assert.is_true(e.residual < 1e-15)
      assert.is_false(e.isolated) -- it may turn around the vertical
      assert.same({ 13, 7 }, { #e.x, #e.q })
      local l = dynamics.linearise { nsds = nsds, at = e, outputs = { 3, 5 } }
      assert.same({ 12, 6, 6 }, { l.A:rows(), l.constrained, #l.eigenvalues })
      near(math.sqrt(2 * 9.81 / 3) / c, l.eigenvalues[1].abs, 1e-9 / c)
      near(math.sqrt(2 * 9.81 / 4) / c, l.eigenvalues[3].abs, 1e-9 / c)
      assert.equal("neutral", l.stability)
      assert.same({ 2, 12, 1 }, { l.C:rows(), l.C:cols(), l.C[1][3] })
      near(e.q[4] / 2, l.C[2][4], 1e-15) -- half a unit of the quaternion for a unit of the angle
    end
  end)

  it("rests on a plane with friction", function()
    local function at_rest(n)
      local ball = ns.NewtonEulerDS({ 0.2, 0, 0.7, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, 0.1 * ns.eye(3))
      ball:setFExt { 0, 0, -9.81 }
      local nsds = graph(ball)
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), Ball(n), "plane"), ball)
      return dynamics.equilibrium { nsds = nsds }
    end
    local e = at_rest { 0, 0, 1 }
    near(0.5, e.q[3])
    near(0.2, e.q[1])
    near(9.81, e.lambda[1])
  end)
end)

describe("equilibrium with all = true #once", function()
  local function pendulum(_, x, k) return { x[2], -k * math.sin(x[1]) } end

  it("tells equilibria near 0 as one, whatever their rounding, and lists the guesses that gave none", function()
    local function cubic(_, x) return { x[1] - x[1] ^ 3, -x[2] + x[1] ^ 2 } end
    local list = dynamics.equilibrium { rhs = cubic, all = true,
      guess = ns.matrix { { 0.1, 0.2 }, { -0.1, 0.1 }, { 0.01, -0.3 }, { 1.2, 0 }, { -0.9, 2 } } }
    assert.equal(3, #list)
    assert.equal(0, #list.failures)
    local function folded(_, x) return { x[1] ^ 2 + 1 + 0 * x[2], x[2] } end
    raises("dynamics.equilibrium: no equilibrium found from any of the 2 guesses; from the first: ", dynamics.equilibrium,
      { rhs = folded, all = true, guess = { { 1, 1 }, { 2, 2 } } })
  end)

  it("has residuals without units", function()
    for _, k in ipairs { 1, 2 ^ 40 } do
      local e = dynamics.equilibrium { rhs = pendulum, args = { k }, guess = { 3, 0.1 } }
      near(math.pi, e.x[1])
      assert.is_true(e.residual < 1e-15)
      assert.is_true(e.isolated)
    end
    local e = dynamics.equilibrium { rhs = function(_, x) return { x[2], -x[2] } end, guess = { 3, 0.1 } }
    assert.is_false(e.isolated)
  end)
end)

describe("linearise of a model with algebraic equations #once", function()
  -- q' = -q + v, 0 = q - 2 v + u, with a diode that holds v at 0.5 or below. k: units of q, m: of v.
  local function circuit(u, diode, k, m)
    k, m = k or 1, m or 1
    local ds = ns.FirstOrderLinearTIDS { x0 = { 0, 0 }, A = { { -1, k / m }, { 1 / k, -2 / m } }, b = { 0, u },
      M = { { 1, 0 }, { 0, 0 } } }
    local nsds = graph(ds)
    if diode then
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1),
        ns.FirstOrderLinearTIR { C = { { 0, -1 / m } }, B = { { 0 }, { -1 } }, e = { 0.5 } }, "diode"), ds)
    end
    return nsds, ds
  end

  it("solves them for the algebraic unknowns", function()
    for _, unit in ipairs { { 1, 1 }, { 2 ^ 40, 2 ^ -30 } } do
      local k, m = unit[1], unit[2]
      local nsds, ds = circuit(1, false, k, m)
      local e = dynamics.equilibrium { nsds = nsds }
      near(k, e.x[1], 1e-14 * k)
      local l = dynamics.linearise { nsds = nsds, at = e, inputs = { { ds, "b", 2 } }, outputs = { 1, 2 } }
      near(-0.5, l.A[1][1])
      near(0.5 * k, l.B[1][1], 1e-14 * k)
      near(1, l.C[1][1])
      near(0.5 * m / k, l.C[2][1], 1e-14 * m / k)
      near(0.5 * m, l.D[2][1], 1e-14 * m)
      near(1, l.T[1][1], 0)
      near(0.5 * m, l.G[2][1], 1e-14 * m)
      assert.equal("stable", l.stability)
    end
  end)

  it("takes multipliers of active rows as unknowns", function()
    local nsds, ds = circuit(1, true)
    local e = dynamics.equilibrium { nsds = nsds }
    assert.same({ "active" }, e.mode)
    local l = dynamics.linearise { nsds = nsds, at = e, inputs = { { ds, "b", 2 } },
      outputs = function(_, x, lambda) return { x[2], lambda[1] } end }
    near(-1, l.A[1][1])
    near(0, l.B[1][1])
    near(1, l.C[2][1]) -- lambda = q - 1 + u
    near(1, l.D[2][1])
    near(0, l.C[1][1])
    nsds = circuit(0.2, true)
    l = dynamics.linearise { nsds = nsds, at = dynamics.equilibrium { nsds = nsds } }
    near(-0.5, l.A[1][1])
  end)

  it("tells an index above 1", function()
    local ds = ns.FirstOrderLinearTIDS { x0 = { 0, 0 }, A = { { 0, 1 }, { 1, 0 } }, M = { { 1, 0 }, { 0, 0 } } }
    local function of_rhs(message, f, more)
      local o = { rhs = f, at = { x = { 1, 0 } } }
      for name, value in pairs(more or {}) do o[name] = value end
      raises("dynamics.linearise: rhs: " .. message, ns.dynamics.linearise, o)
    end
    of_rhs("expected a vector of 2 from f(t, x), got one of 3", function() return { 1, 2, 3 } end)
    of_rhs("expected a vector of 2 from f(t, x), got 'x'", function() return "x" end)
    of_rhs("f(t, x)[1] is nan at this point", function() return { 0 / 0, 1 } end)
    of_rhs("f[1]: the derivative by x[2] is inf",
      function(_, x) return { math.sqrt(x[2]), x[1] } end)
    raises("dynamics.linearise: M is singular, and the algebraic equations do not determine the other unknowns: the index is "
        .. "above 1", dynamics.linearise, { nsds = graph(ds), at = { x = { 0, 0 } } })
  end)
end)

describe("a controller from linearise #once", function()
  it("places the poles of the cart with an inverted pendulum, and the nonlinear model comes back", function()
    local m, M, L, g = 0.5, 2, 1.5, 9.81
    local function rhs(_, x, force)
      local s, c = ns.sin(x[2]), ns.cos(x[2])
      local a = force - m * L * x[4] ^ 2 * -s
      local det = (M + m) * L - m * L * c * c
      local dv = (a * L - m * L * c * g * s) / det
      local dw = ((M + m) * g * s - c * a) / det
      return { x[3], x[4], dv, dw }
    end
    local e = dynamics.equilibrium { rhs = rhs, args = { 0 }, guess = { 0, 0.1, 0, 0 } }
    local l = dynamics.linearise { rhs = rhs, args = { 0 }, at = e, inputs = { 1 } }
    near(g * (M + m) / (M * L), l.A[4][2])
    near(-1 / (M * L), l.B[4][1])
    -- Ackermann's formula: K = [0 0 0 1] inv([B AB A^2B A^3B]) p(A), for the poles -1, -2, -3, -4.
    local columns = { l.B:column(1) }
    for k = 2, 4 do columns[k] = l.A * columns[k - 1] end
    local W = ns.zeros(4, 4)
    for j = 1, 4 do
      for i = 1, 4 do W[i][j] = columns[j][i] end
    end
    local p = (l.A + ns.eye(4)) * (l.A + 2 * ns.eye(4)) * (l.A + 3 * ns.eye(4)) * (l.A + 4 * ns.eye(4))
    local last = ns.solve(W:transpose(), ns.vector { 0, 0, 0, 1 })
    local K = p:transpose() * last
    local poles = ns.eigvals(l.A - l.B:column(1):outer(K)):totable()
    table.sort(poles)
    for i = 1, 4 do near(i - 5, poles[i], 1e-8) end
    local function closed(t, x) return rhs(t, x, -K:dot(ns.vector(x))) end
    local sol = ns.solve_ivp(closed, { 0, 15 }, { 0.5, 0.2, 0, 0 }, { rtol = 1e-8 })
    for i = 1, 4 do near(0, sol.y[i][#sol.t], 1e-4) end
  end)
end)
