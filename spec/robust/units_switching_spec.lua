local ns = require "nslua"
local internal = require "nslua.internal"

local function ldexp(x, e) return x * 2.0 ^ e end

local function number() return 2 * math.random() - 1 end

-- A rows x columns matrix with the entries f(i, j).
local function matrix(rows, columns, f)
  local M = ns.zeros(rows, columns)
  for i = 1, rows do for j = 1, columns do M[i][j] = f(i, j) end end
  return M
end

-- The numbers of a random model with n states and m rows; some have a singular M, rows with and without D, states at y = 0.
local function random_model()
  local n, m = math.random(2, 5), math.random(1, 3)
  local model = {n = n, m = m, relay = math.random() < 0.5, b = ns.zeros(n), e = ns.zeros(m), x = ns.zeros(n)}
  model.A, model.B, model.C = matrix(n, n, number), matrix(n, m, number), matrix(m, n, number)
  model.D, model.M = ns.zeros(m, m), ns.eye(n)
  for i = 1, n do model.b[i] = 2 * number() end
  if math.random() < 0.5 then
    model.M[n][n] = 0
    for j = 1, n - 1 do model.M[j][n] = number() end
  end
  for i = 1, m do if math.random() < 0.4 then model.D[i][i], model.e[i] = 1 + math.random(), number() end end
  if math.random() < 0.5 then for i = 1, n do model.x[i] = number() end end
  return model
end

-- Exponents of the units: of states, equations, outputs, multipliers, and of time.
local function units(model, most)
  local function list(n)
    local t = {}
    for i = 1, n do t[i] = math.random(-most, most) end
    return t
  end
  return {x = list(model.n), f = list(model.n), y = list(model.m), lambda = list(model.m), t = math.random(-most, most)}
end

local function start(model, u)
  local n, m = model.n, model.m
  local function scaled(A, rows, columns, row, column, shift)
    return matrix(rows, columns, function(i, j) return ldexp(A[i][j], row[i] - column[j] + (shift or 0)) end)
  end
  local x, b, e, lower, upper = ns.zeros(n), ns.zeros(n), ns.zeros(m), {}, {}
  for i = 1, n do x[i], b[i] = ldexp(model.x[i], u.x[i]), ldexp(model.b[i], u.f[i]) end
  for i = 1, m do
    e[i] = ldexp(model.e[i], u.y[i])
    lower[i] = model.relay and -ldexp(1, u.lambda[i]) or 0
    upper[i] = model.relay and ldexp(1, u.lambda[i]) or math.huge
  end
  local ds = ns.FirstOrderLinearTIDS(x, scaled(model.A, n, n, u.f, u.x), b)
  ds:setMPtr(scaled(model.M, n, n, u.f, u.x, u.t))
  local relation = ns.FirstOrderLinearTIR(scaled(model.C, m, n, u.y, u.x), scaled(model.B, n, m, u.f, u.lambda))
  relation:setDPtr(scaled(model.D, m, m, u.y, u.lambda))
  relation:setePtr(e)
  local nsds = ns.NonSmoothDynamicalSystem(0, ldexp(10, u.t))
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(model.relay and ns.RelayNSL(m, lower, upper) or ns.ComplementarityConditionNSL(m), relation), ds)
  return pcall(internal.flow, nsds, {job = "start", h = ldexp(1, u.t)})
end

describe("the mode of a first-order model", function()
  it("and its motion do not depend on the units of states, equations, outputs, multipliers and time #once", function()
    math.randomseed(5)
    for _ = 1, 150 do
      local model = random_model()
      local good, r = start(model, units(model, 0))
      for _ = 1, 3 do
        local u = units(model, 50)
        local also, other = start(model, u)
        assert.are.equal(good, also)
        if good then
          assert.are.same(r.mode, other.mode)
          for i = 1, model.n do assert.are.equal(ldexp(r.x[i], u.x[i]), other.x[i]) end
          for i = 1, model.m do
            assert.are.equal(ldexp(r.lambda[i], u.lambda[i]), other.lambda[i])
            assert.are.equal(ldexp(r.y[i], u.y[i]), other.y[i])
          end
        end
      end
    end
  end)
end)
