-- nslua.control.riccati: equations of Lyapunov and Riccati, and the controllers and filters that come from them.
--
-- A stabilising X is read off the invariant subspace of the extended pencil, by QZ (Arnold and Laub, Proc. IEEE 72,
-- 1984), with states and inputs in units that balance it; then steps of Newton's method (Kleinman, 1968) bring the
-- residual to rounding.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local spectrum = require "nslua.dynamics.spectrum"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local fail = arguments.fail

local riccati = {}

local function T(M) return M:transpose() end

local function symmetric_part(X) return (X + T(X)) * 0.5 end

-- ---- Lyapunov, Sylvester, Stein ----

-- f solves the equation with the left and right matrices; C nil: the symmetric equation in A and A'.
local function linear(who, f, A, Q, C, trouble)
  A = system.square(A, nil, who, "A")
  local n = A:rows()
  local B
  if C == nil then
    Q = system.symmetric(Q, n, who, "Q")
    B, C = T(A), Q
  else
    B = system.square(Q, nil, who, "Q")
    C = system.matrix(C, n, B:rows(), who, "C")
  end
  local good, X = where.try(f, A, B, C * -1)
  if not good then fail("%s: %s", who, trouble) end
  return B:rows() == n and C == Q and symmetric_part(X) or X
end

-- A X + X A' + Q = 0; with C: A X + X Q + C = 0.
function riccati.lyap(A, Q, C)
  return linear("control.lyap", core.sylvester, A, Q, C,
    C == nil and "two eigenvalues of A have the sum 0: X is not unique"
      or "A and -Q share an eigenvalue: X is not unique")
end

-- A X A' - X + Q = 0; with C: A X Q - X + C = 0.
function riccati.dlyap(A, Q, C)
  return linear("control.dlyap", core.stein, A, Q, C,
    C == nil and "two eigenvalues of A have the product 1: X is not unique"
      or "the product of an eigenvalue of A and one of Q is 1: X is not unique")
end

-- ---- units ----

-- Powers of two d, as a diagonal matrix and its inverse: with the states x = d z, entries of the pencil's blocks have
-- similar sizes (Osborne's iteration: what grows with the unit of a state, against what falls).
local function units_of(A, G, Q)
  local n, d = A:rows(), {}
  for i = 1, n do d[i] = 1.0 end
  for _ = 1, 20 do
    local changed = false
    for i = 1, n do
      local up, down = 0, 0
      for k = 1, n do
        if k ~= i then
          up = up + math.abs(A[k][i]) * d[i] / d[k]
          down = down + math.abs(A[i][k]) * d[k] / d[i]
        end
        up, down = up + math.abs(Q[i][k]) * d[i] * d[k], down + math.abs(G[i][k]) / (d[i] * d[k])
      end
      if up > 0 and down > 0 and (up / down > 8 or down / up > 8) then
        d[i] = d[i] * 2.0 ^ math.floor(0.25 * math.log(down / up, 2) * 2 + 0.5)
        changed = true
      end
    end
    if not changed then break end
  end
  return core.diag(d), core.diag(core.vector(d):map(function(x) return 1 / x end))
end

-- Units of the inputs: R[i][i] between 1/2 and 2.
local function input_units(R)
  local function unit(r) return r > 0 and 2.0 ^ math.floor(-0.5 * math.log(r, 2) + 0.5) or 1 end
  return core.diag(R:diagonal():map(unit))
end

-- ---- Riccati ----

-- Passes with other units of the states, the condition from which on one is enough (a quarter of the digits), and
-- steps of Newton's method at most.
local PASSES, CLEAR, STEPS = 3, 2 ^ -13, 12
-- What a residual is at most, as a part of the sum of the norms of its terms.
local PROMISED = 1e-12

-- A kind has: the blocks of the pencil H - s J over (x, costate, u), the region of its stable eigenvalues, the gain
-- of X, the residual of X with gain K, a step of Newton's method, and words.
local CONTINUOUS = { region = "left", border = "the imaginary axis" }
local DISCRETE = { region = "disc", border = "the unit circle" }

function CONTINUOUS.pencil(p, n, m)
  local Z, one = core.zeros(n, n), core.eye(n)
  local zero = core.zeros(n, m)
  return core.block { { p.A, Z, p.B }, { p.Q * -1, T(p.A) * -1, p.S * -1 }, { T(p.S), T(p.B), p.R } },
    core.block { { one, Z }, { Z, one }, { T(zero), T(zero) } }
end

function DISCRETE.pencil(p, n, m)
  local Z, one = core.zeros(n, n), core.eye(n)
  local zero = core.zeros(n, m)
  return core.block { { p.A, Z, p.B }, { p.Q * -1, one, p.S * -1 }, { T(p.S), T(zero), p.R } },
    core.block { { one, Z }, { Z, T(p.A) }, { T(zero), T(p.B) * -1 } }
end

function CONTINUOUS.gain(p, X) return core.solve(p.R, T(p.B) * X + T(p.S)) end

function DISCRETE.gain(p, X)
  local XB = X * p.B
  return core.solve(symmetric_part(p.R + T(p.B) * XB), T(XB) * p.A + T(p.S))
end

function CONTINUOUS.residual(p, X, K)
  local AX = T(p.A) * X
  return AX + T(AX) + p.Q - T(K) * p.R * K
end

-- In the form of Joseph, whose terms have one sign each.
function DISCRETE.residual(p, X, K)
  local F = p.A - p.B * K
  local SK = p.S * K
  return T(F) * X * F - X + p.Q + T(K) * p.R * K - SK - T(SK)
end

-- The sum of the norms of the terms of a residual; a term in the gain K counts with what rounding does to B' X.
function CONTINUOUS.terms(p, X, K)
  return 2 * (T(p.A) * X):norm() + p.Q:norm() + K:norm() * (p.R:norm() * K:norm() + p.B:norm() * X:norm())
end

function DISCRETE.terms(p, X, K)
  local AX = T(p.A) * X
  return (AX * p.A):norm() + X:norm() + p.Q:norm() + K:norm() * (p.R:norm() * K:norm() + AX:norm() * p.B:norm())
end

function CONTINUOUS.inside(value) return value.re < 0 end

function DISCRETE.inside(value) return value.abs < 1 end

function CONTINUOUS.step(F, residual) return core.sylvester(T(F), F, residual * -1) end

function DISCRETE.step(F, residual) return core.stein(T(F), F, residual * -1) end

-- The X of the stable subspace of the pencil, and the condition of its part in the states: it is bad where X is
-- large.
local function subspace(kind, p, who)
  local n, m = p.A:rows(), p.B:cols()
  local H, J = kind.pencil(p, n, m)
  local basis = core.null(T(H:slice(1, 2 * n + m, 2 * n + 1, 2 * n + m)))
  if basis:cols() ~= 2 * n then
    fail("%s: the inputs are not determined: R is singular in a direction without effect", who)
  end
  local left = T(basis)
  local _, _, _, Z, count = core.qz(left * H:slice(1, 2 * n + m, 1, 2 * n), left * J, kind.region)
  if count ~= n then
    fail("%s: there is no stabilising solution: %d of %d eigenvalues of the pencil are stable; an eigenvalue on %s "
      .. "is not moved by the input, or not seen by the cost", who, count, 2 * n, kind.border)
  end
  local U, V = Z:slice(1, n, 1, n), Z:slice(n + 1, 2 * n, 1, n)
  return symmetric_part(V * U:pinv(0)), core.rcond(U)
end

-- X and the gain after steps of Newton's method, as long as they make the residual smaller, and the norm of that.
local function refine(kind, p, X)
  local K = kind.gain(p, X)
  local residual = kind.residual(p, X, K)
  for _ = 1, STEPS do
    local good, change = where.try(kind.step, p.A - p.B * K, residual)
    if not good then break end
    local better = symmetric_part(X + change)
    local gain = kind.gain(p, better)
    local left = kind.residual(p, better, gain)
    local smaller = left:norm() < residual:norm()
    if not smaller then break end
    X, K, residual = better, gain, left
  end
  return X, K, residual:norm()
end

-- X, the eigenvalues of the closed loop, and the gain. Where X is large, the states get units in which it is near 1.
local function solve(kind, who, A, B, Q, R, S)
  local n, m = A:rows(), B:cols()
  if m == 0 then fail("%s: B has no columns", who) end
  Q = system.symmetric(Q, n, who, "Q", 1)
  R = system.symmetric(R, m, who, "R", 1)
  S = S == nil and core.zeros(n, m) or system.matrix(S, n, m, who, "S")
  local e = input_units(R)
  local d, inverse = units_of(A, B * e * e * T(B), Q)
  local p, X, rcond
  for _ = 1, PASSES do
    p = { A = inverse * A * d, B = inverse * B * e, Q = d * Q * d, R = e * R * e, S = d * S * e }
    X, rcond = subspace(kind, p, who)
    local size = X:norm()
    if rcond > CLEAR or not (rcond > 0 and size > 0 and size < math.huge) then break end
    local unit = 2.0 ^ -math.floor(0.5 * math.log(size, 2) + 0.5)
    d, inverse = d * unit, inverse * (1 / unit)
  end
  if rcond < 2 ^ -52 then
    fail("%s: there is no stabilising solution: an unstable mode is not moved by the input", who)
  end
  local K, rest
  X, K, rest = refine(kind, p, X)
  K = e * K * inverse
  local values = spectrum.values(A - B * K)
  local good = rest <= PROMISED * kind.terms(p, X, kind.gain(p, X))
  for _, value in ipairs(values) do good = good and kind.inside(value) end
  if not good then
    fail("%s: no stabilising solution was found to working precision: an input hardly moves an unstable mode", who)
  end
  return inverse * X * inverse, values, K
end

local function definite(R, m, who)
  R = system.symmetric(R, m, who, "R", 1)
  if not where.try(core.cholesky, R) then fail("%s: R is not positive definite", who) end
  return R
end

function riccati.care(...)
  local who = "control.care"
  local A, B, _, Q, R, S = system.split(who, ...)
  return solve(CONTINUOUS, who, A, B, Q, definite(R, B:cols(), who), S)
end

function riccati.dare(...)
  local who = "control.dare"
  local A, B, _, Q, R, S = system.split(who, ...)
  return solve(DISCRETE, who, A, B, Q, R, S)
end

-- ---- controllers and filters ----

local function regulator(kind, who, ...)
  local A, B, sys, Q, R, N = system.split(who, ...)
  if kind == DISCRETE and sys and not sys.dt then fail("%s: the system is continuous: c2d samples it", who) end
  if sys and sys.dt then kind = DISCRETE end
  local X, values, K = solve(kind, who, A, B, Q, definite(R, B:cols(), who), N)
  return K, X, values
end

function riccati.lqr(...) return regulator(CONTINUOUS, "control.lqr", ...) end

function riccati.dlqr(...) return regulator(DISCRETE, "control.dlqr", ...) end

-- The filter of x' = A x + G w, y = C x + v: the dual problem.
local function filter(kind, who, A, G, C, Q, R)
  A = system.square(A, nil, who, "A")
  G = system.matrix(G, A:rows(), nil, who, "G")
  C = system.matrix(C, nil, A:rows(), who, "C")
  Q = system.symmetric(Q, G:cols(), who, "QN", 1)
  local X, values, K = solve(kind, who, T(A), T(C), symmetric_part(G * Q * T(G)), definite(R, C:rows(), who))
  return T(K), X, values
end

function riccati.lqe(...) return filter(CONTINUOUS, "control.lqe", ...) end

function riccati.dlqe(...) return filter(DISCRETE, "control.dlqe", ...) end

-- The filter of a system whose input is the noise w.
function riccati.kalman(sys, Q, R)
  sys = system.of(sys, "control.kalman")
  return filter(sys.dt and DISCRETE or CONTINUOUS, "control.kalman", sys.A, sys.B, sys.C, Q, R)
end

return riccati
