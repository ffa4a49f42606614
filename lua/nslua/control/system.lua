-- nslua.control.system: linear systems x' = A x + B u, y = C x + D u, or with a period dt x(k + 1) = A x(k) + B u(k).
--
-- A system is what ss() returns, a linear model of ns.dynamics.linearise, an orbit of ns.dynamics.periodic (its
-- period map), or a table with A, B, C, D and dt, by name or in this order.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local spectrum = require "nslua.dynamics.spectrum"
local where = require "nslua.base.where"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject
local format = core.number_support.format

local system = {}

local System = { __name = "linear system" }
System.__index = System

function System:__tostring()
  local kind = self.dt and format("period %g", self.dt) or "continuous"
  local n, m, p = self.A:rows(), self.B:cols(), self.C:rows()
  return format("linear system with %d states, %d inputs, %d outputs, %s", n, m, p, kind)
end

where.strict(System, "dt")

-- A matrix with these sizes (nil: any); a list of numbers, or a number, is one row or one column.
function system.matrix(value, rows, cols, who, name)
  local good, M = where.try(function()
    if core.ismatrix(value) then return value:copy() end
    if type(value) == "number" then return core.matrix { { value } } end
    local first = (core.isvector(value) or type(value) == "table") and #value > 0 and value[1]
    if type(first) ~= "number" then return core.matrix(value) end
    local v = core.vector(value)
    return cols == 1 and v:column() or v:row()
  end)
  local column = good and rows and cols == nil and M:rows() == 1 and M:cols() == rows
  if column and not core.ismatrix(value) then M = M:transpose() end
  if not good or rows and M:rows() ~= rows or cols and M:cols() ~= cols then
    fail("%s: %s: expected a matrix of %s rows and %s columns, got %s", who, name, rows or "any", cols or "any",
      good and M:rows() .. " x " .. M:cols() or describe(value))
  end
  for i = 1, M:rows() do
    for j = 1, M:cols() do
      if M[i][j] - M[i][j] ~= 0 then fail("%s: %s[%d][%d] is %s", who, name, i, j, describe(M[i][j])) end
    end
  end
  return M
end

-- A square matrix of n (nil: any) rows.
function system.square(value, n, who, name)
  local M = system.matrix(value, n, n, who, name)
  if M:rows() ~= M:cols() then
    fail("%s: %s: expected a square matrix, got %d x %d", who, name, M:rows(), M:cols())
  end
  return M
end

-- A symmetric matrix of n rows; nil: `otherwise` times the identity.
function system.symmetric(value, n, who, name, otherwise)
  if value == nil and otherwise then return core.eye(n) * otherwise end
  local M = system.square(value, n, who, name)
  for i = 1, n do
    for j = 1, i - 1 do
      if math.abs(M[i][j] - M[j][i]) > 2 ^ -40 * (math.abs(M[i][j]) + math.abs(M[j][i])) then
        fail("%s: %s is not symmetric: [%d][%d] is %g, [%d][%d] is %g", who, name, i, j, M[i][j], j, i, M[j][i])
      end
    end
  end
  return (M + M:transpose()) * 0.5
end

-- Numbers of 0 or more: a vector of n, or one number for all.
function system.sizes(value, n, who, name)
  local v = type(value) == "number" and core.full(n, value) or core.vector(arguments.numbers(value, n, who, name))
  for i = 1, n do
    reject(not (v[i] >= 0 and v[i] < math.huge), v[i], "%s: %s: expected numbers of 0 or more", who, name)
  end
  return v
end

local function make(A, B, C, D, dt, who)
  A = system.square(A, nil, who, "A")
  local n = A:rows()
  B = system.matrix(B == nil and core.zeros(n, 0) or B, n, nil, who, "B")
  if C == nil then C = core.eye(n) end
  C = system.matrix(C, nil, n, who, "C")
  D = system.matrix(D == nil and core.zeros(C:rows(), B:cols()) or D, C:rows(), B:cols(), who, "D")
  reject(dt ~= nil and not (arguments.number(dt, who, "dt") > 0 and dt < math.huge), dt,
    "%s: dt: expected a period above 0", who)
  return setmetatable({ A = A, B = B, C = C, D = D, dt = dt }, System)
end

local FIELDS = { A = true, B = true, C = true, D = true, dt = true }

-- Whether a value is a system, or a table that tells one.
function system.is(value)
  if type(value) ~= "table" then return false end
  local first = value[1]
  return value.A ~= nil or rawget(value, "monodromy") ~= nil or #value >= 2 and #value <= 5
    and (type(first) == "table" and type(first[1]) == "table" or core.ismatrix(first))
end

function system.of(value, who)
  if getmetatable(value) == System then return value end
  local monodromy = type(value) == "table" and rawget(value, "monodromy")
  if monodromy then return make(monodromy, nil, nil, nil, value.T, who) end
  if not system.is(value) then
    fail("%s: system: expected a linear system: ns.control.ss(A, B, C, D), a linear model, or { A =, B =, C =, D = }"
      .. ", got %s", who, describe(value))
  end
  for key in pairs(getmetatable(value) == nil and value or {}) do
    if math.type(key) ~= "integer" and not FIELDS[key] then
      fail("%s: system: unknown field '%s' (known: A, B, C, D, dt)", who, tostring(key))
    end
  end
  if value.A == nil then return make(value[1], value[2], value[3], value[4], value[5], who) end
  return make(value.A, value.B, value.C, value.D, value.dt, who)
end

function system.ss(A, B, C, D, dt)
  if B == nil and system.is(A) then return system.of(A, "control.ss") end
  return make(A, B, C, D, dt, "control.ss")
end

-- A, B and the other arguments of a function that takes a system or A and B; sys: the system, or nil.
function system.split(who, first, ...)
  if getmetatable(first) == System or type(first) == "table" and first.A ~= nil then
    local sys = system.of(first, who)
    return sys.A, sys.B, sys, ...
  end
  local A = system.square(first, nil, who, "A")
  return A, system.matrix((...), A:rows(), nil, who, "B"), nil, select(2, ...)
end

function system.poles(sys) return spectrum.values(system.of(sys, "control.poles").A) end

-- The gain at rest: y for constant u.
function system.dcgain(sys)
  sys = system.of(sys, "control.dcgain")
  local M = sys.dt and core.eye(sys.A:rows()) - sys.A or sys.A * -1
  local good, X = where.try(core.solve, M, sys.B)
  if not good then fail "control.dcgain: the system has a pole at rest: its gain there is not finite" end
  return sys.C * X + sys.D
end

-- ---- sampling ----

-- exp(A h), and the integral of exp(A s) B over [0, h].
function system.hold(A, B, h)
  local n, m = A:rows(), B:cols()
  local E = core.expm(core.block { { h * A, h * B }, { 0, core.zeros(m, m) } })
  return E:slice(1, n, 1, n), m > 0 and E:slice(1, n, n + 1, n + m) or core.zeros(n, 0)
end

-- The generalised bilinear transformation with weight alpha.
local function bilinear(sys, h, alpha)
  local one = core.eye(sys.A:rows())
  local left = (one - alpha * h * sys.A):lu()
  local A, B = left:solve(one + (1 - alpha) * h * sys.A), left:solve(h * sys.B)
  return A, B, sys.C * left:solve(one), sys.D + alpha * (sys.C * B)
end

local METHODS = {
  zoh = function(sys, h)
    local A, B = system.hold(sys.A, sys.B, h)
    return A, B, sys.C, sys.D
  end,
  tustin = function(sys, h) return bilinear(sys, h, 0.5) end,
  euler = function(sys, h) return bilinear(sys, h, 0) end,
  backward_diff = function(sys, h) return bilinear(sys, h, 1) end,
}
METHODS.bilinear = METHODS.tustin

-- The sampled system: held inputs (zoh), or a rule of integration.
function system.c2d(sys, Ts, method)
  local who = "control.c2d"
  sys = system.of(sys, who)
  if sys.dt then fail("%s: the system is sampled already, with the period %g", who, sys.dt) end
  reject(not (arguments.number(Ts, who, "Ts") > 0 and Ts < math.huge), Ts, "%s: Ts: expected a period above 0", who)
  local convert = METHODS[method or "zoh"]
  if not convert then
    fail("%s: method: expected \"zoh\", \"tustin\" (or \"bilinear\"), \"euler\" or \"backward_diff\", got %s", who,
      describe(method))
  end
  local good, A, B, C, D = where.try(convert, sys, Ts)
  if not good then
    fail("%s: the system has no sampled one by this method at Ts = %g: I - alpha Ts A is singular", who, Ts)
  end
  return make(A, B, C, D, Ts, who)
end

-- The logarithm of M, which is real and has no eigenvalue on the negative axis or at 0: square roots (Denman and
-- Beavers, Appl. Math. Comput. 2, 1976) until M is near 1, then the series of 2 atanh((M - 1) / (M + 1)).
local function logarithm(M)
  local one, roots = core.eye(M:rows()), 0
  while (M - one):norm() > 0.125 do
    local Y, Z = M, one
    for _ = 1, 40 do
      local before = Y
      Y, Z = (Y + Z:inv()) * 0.5, (Z + Y:inv()) * 0.5
      if (Y - before):norm() <= 2 ^ -50 * Y:norm() then break end
    end
    M, roots = Y, roots + 1
    if roots > 60 then error("no square root", 0) end
  end
  local W = core.solve(M + one, M - one)
  local square, power, sum = W * W, W, W
  for k = 3, 25, 2 do
    power = power * square
    sum = sum + power * (1 / k)
  end
  return sum * 2.0 ^ (roots + 1)
end

-- The continuous system of which a sampled one is c2d by the method.
function system.d2c(sys, method)
  local who = "control.d2c"
  sys, method = system.of(sys, who), method or "zoh"
  if not sys.dt then fail("%s: the system is continuous already", who) end
  local n, m, h, one = sys.A:rows(), sys.B:cols(), sys.dt, core.eye(sys.A:rows())
  local alpha = ({ tustin = 0.5, bilinear = 0.5, euler = 0, backward_diff = 1 })[method]
  if method ~= "zoh" and not alpha then
    fail("%s: method: expected \"zoh\", \"tustin\" (or \"bilinear\"), \"euler\" or \"backward_diff\", got %s",
      who, describe(method))
  end
  local good, A, B, C, D = where.try(function()
    if method == "zoh" then
      local L = logarithm(core.block { { sys.A, sys.B }, { core.zeros(m, n), core.eye(m) } }) * (1 / h)
      if (core.expm(h * L:slice(1, n, 1, n)) - sys.A):norm() > 1e-8 * sys.A:norm() then error("no logarithm", 0) end
      return L:slice(1, n, 1, n), m > 0 and L:slice(1, n, n + 1, n + m) or sys.B, sys.C, sys.D
    end
    local A = (sys.A - one) * (one * (1 - alpha) + sys.A * alpha):inv() * (1 / h)
    local step = one - alpha * h * A
    return A, step * sys.B * (1 / h), sys.C * step, sys.D - alpha * (sys.C * step * sys.B)
  end)
  if not good then
    fail("%s: the system has no continuous one by this method: it has a pole at 0, on the negative axis, or at -1",
      who)
  end
  return make(A, B, C, D, nil, who)
end

-- ---- structure ----

function system.ctrb(...)
  local A, B = system.split("control.ctrb", ...)
  local list = { B }
  for k = 2, A:rows() do list[k] = A * list[k - 1] end
  return core.hstack(table.unpack(list))
end

function system.obsv(A, C)
  local who = "control.obsv"
  if C == nil then
    local sys = system.of(A, who)
    A, C = sys.A, sys.C
  end
  A = system.square(A, nil, who, "A")
  local list = { system.matrix(C, nil, A:rows(), who, "C") }
  for k = 2, A:rows() do list[k] = list[k - 1] * A end
  return core.vstack(table.unpack(list))
end

return system
