-- Equations of Lyapunov and Riccati: residuals, symmetry, stable loops, units.
local ns = require "nslua"
local expect = require "expect"
local matrices = require "linalg.matrices"

local fails, T, random = expect.fails, matrices.T, matrices.random
local control = ns.control

-- A random system with a cost.
local function problem(n)
  local m = math.random(math.max(1, n // 4), math.max(1, n // 2))
  local G, H = random(n, n), random(m, m)
  return random(n, n), random(n, m), G * T(G), H * T(H) + 0.1 * ns.eye(m), random(n, m) * 0.05
end

local function small(residual, ...)
  local size = 0
  for _, term in ipairs { ... } do size = size + term:norm() end
  assert.is_true(residual:norm() <= 1e-12 * size, ("residual %.3g"):format(residual:norm() / size))
end

describe("Lyapunov's equation", function()
  setup(function() math.randomseed(7) end)

  it("is solved, with a symmetric X", function()
    for _ = 1, 20 do
      local n = math.random(1, 30)
      local A, _, Q = problem(n)
      local X = control.lyap(A, Q)
      small(A * X + X * T(A) + Q, A * X, X * T(A), Q)
      assert.are.equal(0, (X - T(X)):norm())
      X = control.dlyap(A, Q)
      small(A * X * T(A) - X + Q, A * X * T(A), X, Q)
      local B, C = random(3, 3), random(n, 3)
      X = control.lyap(A, B, C)
      small(A * X + X * B + C, A * X, X * B, C)
      X = control.dlyap(A, B, C)
      small(A * X * B - X + C, A * X * B, X, C)
    end
  end)

  it("refuses", function()
    fails("control.lyap: two eigenvalues of A have the sum 0: X is not unique", control.lyap, { { 1, 0 }, { 0, -1 } }, ns.eye(2))
    fails("control.dlyap: two eigenvalues of A have the product 1: X is not unique", control.dlyap, { { 1 } }, { { 1 } })
    fails("control.lyap: A and -Q share an eigenvalue: X is not unique", control.lyap, { { 1 } }, { { -1 } }, { { 1 } })
    fails("control.dlyap: the product of an eigenvalue of A and one of Q is 1", control.dlyap, { { 2 } }, { { 0.5 } }, { { 1 } })
    fails("control.lyap: Q is not symmetric: [2][1] is 0, [1][2] is 1", control.lyap, ns.eye(2), { { 1, 1 }, { 0, 1 } })
    fails("control.lyap: A: expected a square matrix, got 1 x 2", control.lyap, { { 1, 2 } }, { { 1 } })
  end)
end)

describe("Riccati's equation", function()
  setup(function() math.randomseed(8) end)
  local count, told = require "campaign"(25, 0.025)

  it("has residuals of rounding and stable loops #once", function()
    for k = 1, count do
      local n = 1 + math.random(0, 49) * k // count
      local A, B, Q, R, S = problem(n)
      if k % 3 > 0 then S = nil end
      if k % 3 == 1 then -- units that differ by up to 16 decades
        local sizes = ns.vector(n):map(function() return 10 ^ (16 * math.random() - 8) end)
        local d, inverse = ns.diag(sizes), ns.diag(sizes:map(function(x) return 1 / x end))
        A, B, Q = inverse * A * d, inverse * B, d * Q * d
        Q = (Q + T(Q)) * 0.5
      end
      local X, E, K = control.care(A, B, Q, R, S)
      local AX, KRK = T(A) * X, T(K) * R * K
      small(AX + T(AX) - KRK + Q, AX, AX, KRK, Q)
      for _, e in ipairs(E) do assert.is_true(e.re < 0) end
      A = A * (1 / math.sqrt(n))
      X, E, K = control.dare(A, B, Q, R, S)
      local AXA = T(A) * X * A
      local last = (T(A) * X * B + (S or ns.zeros(n, B:cols()))) * K
      small(AXA - X - last + Q, AXA, X, last, Q)
      assert.is_true(E[1].abs < 1)
      assert.are.equal(0, (X - T(X)):norm())
    end
    told("Riccati equations", 2 * count)
  end)

  it("has closed forms", function()
    -- x' = a x + u with the cost q x^2 + r u^2: X = r (a + sqrt(a^2 + q / r))
    local X, E, K = control.care({ { 2 } }, { { 1 } }, { { 5 } }, { { 1 } })
    expect.near_number(5, X[1][1])
    expect.near_number(-3, E[1].re)
    expect.near_number(5, K[1][1])
    X = control.dare({ { 2 } }, { { 1 } }, { { 1 } }, { { 1 } })
    expect.near_number(2 + math.sqrt(5), X[1][1])
    -- R = 0 in discrete time: the deadbeat controller
    X, E, K = control.dare({ { 0, 1 }, { 0, 2 } }, { 0, 1 }, ns.eye(2), { { 0 } })
    expect.near_number(0, K[1][1])
    expect.near_number(2, K[1][2])
    assert.are.equal(2, X:rows())
    assert.is_true(E[1].abs < 1e-12)
    -- the double integrator with the cost x^2 + u^2
    K = control.lqr({ { 0, 1 }, { 0, 0 } }, { 0, 1 }, { { 1, 0 }, { 0, 0 } }, 1)
    expect.near_number(1, K[1][1])
    expect.near_number(math.sqrt(2), K[1][2])
  end)

  it("does not depend on units", function()
    local A, B, Q, R = problem(6)
    local K = control.lqr(A, B, Q, R)
    local d, e = {}, {}
    for i = 1, 6 do d[i] = 2.0 ^ (20 * (i - 3)) end
    for j = 1, B:cols() do e[j] = 2.0 ^ (30 * j) end
    local D, E = ns.diag(d), ns.diag(e)
    local Di = D:map(function(x) return x > 0 and 1 / x or 0 end)
    local other = control.lqr(Di * A * D, Di * B * E, D * Q * D, E * R * E)
    for j = 1, B:cols() do
      for i = 1, 6 do
        assert.is_true(math.abs(other[j][i] * e[j] / d[i] - K[j][i]) <= 1e-10 * K:norm())
      end
    end
  end)

  it("is dual in filters, and knows sampled systems", function()
    local A, C = ns.matrix { { 0, 1 }, { 0, -1 } }, ns.matrix { { 1, 0 } }
    local L, P, E = control.lqe(A, { 0, 1 }, C, 4, 0.01)
    local K, X = control.lqr(T(A), T(C), ns.diag { 0, 4 }, 0.01)
    expect.near_matrix(T(K), L, 1e-12)
    expect.near_matrix(X, P, 1e-12)
    assert.are.equal(2, #E)
    local sys = control.ss(A, { 0, 1 }, C)
    expect.near_matrix(L, (control.kalman(sys, 4, 0.01)), 1e-12)
    local sampled = control.c2d(sys, 0.1)
    expect.near_matrix(control.dlqe(sampled.A, sampled.B, C, 4, 0.01), (control.kalman(sampled, 4, 0.01)), 1e-12)
    expect.near_matrix(control.dlqr(sampled.A, sampled.B, ns.eye(2), 1), (control.lqr(sampled, ns.eye(2), 1)), 1e-12)
    expect.fails("control.dlqr: the system is continuous: c2d samples it", control.dlqr, sys, ns.eye(2), 1)
  end)

  it("takes a linear model of ns.dynamics", function()
    local l = ns.dynamics.linearise { rhs = function(_, x, u) return { x[2], math.sin(x[1]) + u } end, args = { 0 },
      at = { x = { 0, 0 } }, inputs = { 1 } }
    local K = control.lqr(l, ns.eye(2), 1)
    assert.is_true(control.poles { A = l.A - l.B * K }[1].re < 0)
    expect.near_matrix({ { 3, 3 } }, control.place(l, { -1, -2 }), 1e-12)
  end)

  it("refuses", function()
    fails("control.lqr: R is not positive definite", control.lqr, { { 1 } }, { { 1 } }, { { 1 } }, { { -1 } })
    fails("control.lqr: there is no stabilising solution: an unstable mode is not moved by the input", control.lqr, { { 1 } },
      { { 0 } }, { { 1 } }, { { 1 } })
    fails("control.lqr: there is no stabilising solution: 1 of 4 eigenvalues of the pencil are stable; an eigenvalue on the "
      .. "imaginary axis is not moved by the input, or not seen by the cost", control.lqr, { { 0, 0 }, { 0, 1 } }, { 0, 1 },
      { { 0, 0 }, { 0, 1 } }, 1)
    fails("control.dare: the inputs are not determined: R is singular in a direction without effect", control.dare, { { 1 } },
      { { 0 } }, { { 1 } }, { { 0 } })
    fails("control.care: Q: expected a matrix of 1 rows and 1 columns, got 2 x 2", control.care, { { 1 } }, { { 1 } }, ns.eye(2))
    fails("control.care: B has no columns", control.care, { A = { { 1 } } })
    -- 12 unstable modes, nearly the same, and one input
    local A, B = ns.diag(ns.linspace(1, 1.01, 12)), ns.ones(12, 1)
    fails("control.lqr: ", control.lqr, A, B, ns.eye(12), 1)
  end)
end)
