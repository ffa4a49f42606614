local ns = require "nslua"
local internal = require "nslua.internal"
local campaign = require "campaign"
local numbers = require "random_numbers"

local function vector(n) return numbers.vector_within(n, 2) end
local function matrix(rows, cols) return numbers.matrix_within(rows, cols, 2) end

local function dot(a, b)
  local sum = 0
  for i = 1, #a do sum = sum + a[i] * b[i] end
  return sum
end

-- to[i0 + i] += factor * (A v)_i, with v from v0 + 1 on.
local function add(to, i0, factor, A, v, v0)
  for i = 1, #A do
    for j = 1, #A[i] do to[i0 + i] = to[i0 + i] + factor * A[i][j] * v[v0 + j] end
  end
end

local function zeros(n) return numbers.vector(n, function() return 0 end) end

-- Two linear systems of first order and one with a callback of z; a relation between the two, one with callbacks of z. data: its
-- numbers; terms(data, at) = F without r, r, y; parameters: {path in data, parameter}.
local function first_order()
  local data = { A = matrix(2, 2), b = vector(2), M = matrix(2, 2), C = matrix(2, 4), D = matrix(2, 2), e = vector(2),
    B = matrix(4, 2), z = vector(2), A2 = matrix(2, 2) }
  local one, two = ns.FirstOrderLinearTIDS({ 0, 0 }, data.A, data.b), ns.FirstOrderLinearTIDS({ 0, 0 }, data.A2)
  one:setMPtr(ns.matrix(data.M))
  local three = ns.FirstOrderNonLinearDS({ 0 }, function(t, x, z, f) f[1] = z[1] * math.sin(x[1]) + t * z[2] ^ 2 end)
  three:setzPtr(ns.vector(data.z))
  local relation = ns.FirstOrderLinearTIR(data.C, data.B)
  relation:setDPtr(ns.matrix(data.D))
  relation:setePtr(ns.vector(data.e))
  local curved = ns.FirstOrderNonLinearR { h = function(_, x, lambda, z, y) y[1] = z[1] * x[1] ^ 2 + lambda[1] * z[2] end,
    g = function(_, x, lambda, z, r) r[1] = z[2] * lambda[1] + math.cos(z[1]) * x[1] end }
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  for _, ds in ipairs { one, two, three } do nsds:insertDynamicalSystem(ds) end
  nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), relation), one, two)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), curved), three)
  local function terms(d, at)
    local F, r, y, x, l = zeros(5), zeros(5), zeros(3), at.x, at.lambda
    add(F, 0, 1, d.A, x, 0)
    add(F, 0, -1, d.M, at.rate, 0)
    add(F, 2, 1, d.A2, x, 2)
    for i = 1, 2 do F[i], y[i] = F[i] + d.b[i], d.e[i] end
    F[5] = d.z[1] * math.sin(x[5]) + at.t * d.z[2] ^ 2
    add(r, 0, 1, d.B, l, 0)
    r[5] = d.z[2] * l[3] + math.cos(d.z[1]) * x[5]
    add(y, 0, 1, d.C, x, 0)
    add(y, 0, 1, d.D, l, 0)
    y[3] = d.z[1] * x[5] ^ 2 + l[3] * d.z[2]
    return F, r, y
  end
  local list = { { one, "A" }, { one, "b" }, { one, "M" }, { two, "A", as = "A2" }, { relation, "C" }, { relation, "D" },
    { relation, "e" }, { relation, "B" }, { three, "z" } }
  local at = { x = vector(5), rate = vector(5), lambda = vector(3), force = vector(5), input = vector(5), output = vector(3) }
  return { simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), data = data, list = list, at = at,
    terms = terms }
end

-- A linear system of mechanics with an interaction, and one with callbacks of z.
local function mechanics()
  local data = { mass = matrix(2, 2), K = matrix(2, 2), C = matrix(2, 2), fExt = vector(2), H = matrix(1, 2), z = vector(1) }
  for i = 1, 2 do data.mass[i][i] = data.mass[i][i] + 8 end
  local one = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, data.mass, data.K, data.C)
  one:setFExtPtr(ns.vector(data.fExt))
  local two = ns.LagrangianDS({ 0 }, { 0 }, { { 3 } })
  two:setComputeFIntFunction(function(_, q, v, z, f) f[1] = z[1] ^ 2 * q[1] + math.sin(z[1]) * v[1] end)
  two:setzPtr(ns.vector(data.z))
  local relation = ns.LagrangianLinearTIR(data.H, { 0.5 })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(one)
  nsds:insertDynamicalSystem(two)
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), relation), one)
  local function terms(d, at)
    local F, y = zeros(3), zeros(1)
    add(F, 0, -1, d.mass, at.rate, 0)
    add(F, 0, -1, d.K, at.x, 0)
    add(F, 0, -1, d.C, at.v, 0)
    for i = 1, 2 do F[i] = F[i] + d.fExt[i] + d.H[1][i] * at.lambda[1] end
    F[3] = -d.z[1] ^ 2 * at.x[3] - math.sin(d.z[1]) * at.v[3] - 3 * at.rate[3]
    add(y, 0, 1, d.H, at.rate, 0)
    return F, zeros(3), y
  end
  local list = { { one, "mass" }, { one, "K" }, { one, "C" }, { one, "fExt" }, { relation, "C", as = "H" }, { two, "z" } }
  local at = { x = vector(3), v = vector(3), rate = vector(3), lambda = vector(1), force = vector(3), input = zeros(3),
    output = vector(1) }
  return { simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), data = data, list = list, at = at,
    terms = terms }
end

-- The places of the numbers of all parameters, in their order: { table, key }.
local function entries(model)
  local all = {}
  for _, parameter in ipairs(model.list) do
    local of = model.data[parameter.as or parameter[2]]
    for i = 1, #of do
      if type(of[i]) == "table" then
        for j = 1, #of[i] do all[#all + 1] = { of[i], j } end
      else
        all[#all + 1] = { of, i }
      end
    end
  end
  return all
end

-- The weighted sum and the terms of F + r and y, for the present numbers.
local function value(model)
  local F, r, y = model.terms(model.data, model.at)
  local sum = dot(model.at.force, F) + dot(model.at.input, r) + dot(model.at.output, y)
  for i = 1, #F do F[i] = F[i] + r[i] end
  return sum, F, y
end

-- The derivative of all of value by an entry: the central difference of order 4.
local function difference(model, entry)
  local from, h, samples = entry[1][entry[2]], 2 ^ -8, {}
  for k = -2, 2 do
    entry[1][entry[2]] = from + k * h
    samples[k] = { value(model) }
  end
  entry[1][entry[2]] = from
  local function slope(of) return (8 * (of(1) - of(-1)) - (of(2) - of(-2))) / (12 * h) end
  local F, y = {}, {}
  for i = 1, #samples[0][2] do F[i] = slope(function(k) return samples[k][2][i] end) end
  for i = 1, #samples[0][3] do y[i] = slope(function(k) return samples[k][3][i] end) end
  return slope(function(k) return samples[k][1] end), F, y
end

describe("vjp", function()
  for name, draw in pairs { ["systems of first order"] = first_order, mechanics = mechanics } do
    it("is the derivative of the weighted sum, as jvp is that of its terms: " .. name, function()
      for k = 1, campaign(5, 200) do
        math.randomseed(k, 31)
        local model = draw()
        model.at.t = 0.75
        model.at.apart = k % 2 == 0
        local found, all = internal.model_derivative(model.simu, model.list, model.at), entries(model)
        assert.equal(#all, #found)
        for j, entry in ipairs(all) do
          local by, F, Y = difference(model, entry)
          local what = name .. " " .. k .. ": number " .. j
          assert.is_true(found[j].known and found[j].forward, what)
          assert.near(by, found[j].vjp, 1e-7, what) -- numbers of the model are about 1
          for i = 1, #F do assert.near(F[i], found[j].F[i], 1e-7, what) end
          for i = 1, #Y do assert.near(Y[i], found[j].Y[i], 1e-7, what) end
        end
      end
    end)
  end

  it("transposes jvp", function()
    for k = 1, campaign(5, 200) do
      math.randomseed(k, 32)
      local model = k % 2 == 0 and first_order() or mechanics()
      model.at.input = model.at.force
      for _, number in ipairs(internal.model_derivative(model.simu, model.list, model.at)) do
        assert.near(dot(model.at.force, number.F) + dot(model.at.output, number.Y), number.vjp, 1e-13)
      end
    end
  end)

  it("takes rates for states in rows that hold by y'", function()
    math.randomseed(33)
    local model = first_order()
    local x = model.at.x
    model.list = { model.list[5], model.list[7], model.list[6], model.list[9] } -- C, e, D, z
    model.at.rates = true
    local by_rate = internal.model_derivative(model.simu, model.list, model.at)
    model.at.rates, model.at.x = false, model.at.rate
    local by_state = internal.model_derivative(model.simu, model.list, model.at)
    model.at.x = x
    for j = 1, 8 do assert.equal(by_state[j].vjp, by_rate[j].vjp) end
    for j = 9, 10 do assert.equal(0, by_rate[j].vjp) end
    for j = 11, #by_rate do assert.is_false(by_rate[j].known) end -- D has a derivative by time; so has h of z
  end)

  it("adds the weights of bounds, of all interactions with a law", function()
    local ds, law = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }), ns.RelayNSL(1, -1, 1)
    local relation, nsds = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    for _ = 1, 2 do nsds:link(ns.Interaction(law, relation), ds) end
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local found = internal.model_derivative(simu, { { law, "lb" }, { law, "ub" }, { relation, "C" } }, { t = 0, x = { 3 },
      rate = { 0 }, lambda = { 0, 0 }, lower = { 5, 7 }, upper = { 11, 0 }, output = { 2, 4 } })
    assert.same({ 12, 11, 18 }, { found[1].vjp, found[2].vjp, found[3].vjp })
    assert.is_false(found[1].forward)
  end)

  it("does not know callbacks without exact derivatives", function()
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, z, f)
      if x[1] < 0 then string.rep("", z[1]) end -- takes plain numbers alone
      f[1] = z[1] * x[1]
    end)
    ds:setzPtr(ns.vector { 1 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI())
    local function known(x)
      return internal.model_derivative(simu, { { ds, "z" } }, { t = 0, x = { x }, force = { 1 } })[1].known
    end
    assert.is_true(known(1))
    assert.is_false(known(-1))
  end)
end)
