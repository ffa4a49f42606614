-- Models for the specs of the binding: small, with every kind of callback, which can be made to fail when wanted.
local ns = require "nslua"

local models = {}

local function chunk(name, source)
  return assert(load(source, "@" .. name))
end

-- A callback (defined in "model.lua", line 2) that does what `good` does, until fault.now takes over.
local wrap = chunk("model.lua", [[
local good, fault = ...
return function(...)
  if fault.now then return fault.now(good, ...) end
  return good(...)
end]])

-- What can go wrong in a callback; the lines count from 1 in "fault.lua". `out` is the last argument.
models.faults = chunk("fault.lua", [[
local function last(...) return (select(select("#", ...), ...)) end
local function spoil(out, value)
  if require("nslua").ismatrix(out) then out[1][1] = value else out[1] = value end
end
return {
  text = function(good, ...) error "boom" end,
  bare = function(good, ...) error("boom", 0) end,
  object = function(good, ...) error(models_error_object) end,
  nan = function(good, ...) good(...) spoil(last(...), 0 / 0) end,
  inf = function(good, ...) good(...) spoil(last(...), math.huge) end,
  minus = function(good, ...) good(...) spoil(last(...), -math.huge) end,
  string = function(good, ...) spoil(last(...), "x") end,
  extra = function(good, ...) local out = last(...); out[#out + 1] = 1 end,
  few = function(good, ...) return {} end,
  many = function(good, ...) return { 1, 2, 3, 4, 5 } end,
  word = function(good, ...) return "y" end,
  yield = function(good, ...) coroutine.yield() end,
  call = function(good, ...) local nothing; nothing() end,
}]])()

models.object = {}
models_error_object = models.object -- luacheck: ignore

-- Wraps the functions of an option table; their fault is set through the table returned with it.
function models.faulty(options)
  local fault, wrapped = {}, {}
  for key, value in pairs(options) do
    local own = {}
    fault[key] = own
    wrapped[key] = type(value) == "function" and wrap(value, own) or value
  end
  return wrapped, fault
end

models.nonlinear_ds = {
  name = "plant", x0 = { 1, -0.5 },
  f = function(_, x, _, f) f[1], f[2] = x[2], -x[1] - 0.1 * x[2] ^ 3 end,
  jacobianfx = function(_, x, _, J) J[1][2], J[2][1], J[2][2] = 1, -1, -0.3 * x[2] ^ 2 end,
  M = function(t, _, M) M[1][1], M[2][2] = 1, 1 + 0.1 * t end,
}

models.linear_ds = {
  name = "plant", x0 = { 1, -0.5 },
  A = function(t, _, A) A[1][2], A[2][1], A[2][2] = 1, -1, -0.1 * t end,
  b = function(t, _, b) b[2] = 0.1 * t end,
  M = models.nonlinear_ds.M,
}

models.NonLinearR = {
  name = "friction",
  h = function(_, x, lambda, _, y) y[1] = x[2] + 0.1 * x[1] ^ 2 + 0.01 * lambda[1] end,
  g = function(_, x, lambda, _, r) r[2] = -lambda[1] * (1 + 0.1 * x[1] ^ 2) end,
  Jachx = function(_, x, _, _, C) C[1][1], C[1][2] = 0.2 * x[1], 1 end,
  Jachlambda = function(_, _, _, _, D) D[1][1] = 0.01 end,
  Jacgx = function(_, x, lambda, _, K) K[2][1] = -0.2 * lambda[1] * x[1] end,
  Jacglambda = function(_, x, _, _, B) B[2][1] = -(1 + 0.1 * x[1] ^ 2) end,
}

models.Type1R = {
  name = "friction",
  h = function(_, x, _, y) y[1] = x[2] + 0.1 * x[1] ^ 2 end,
  g = function(_, lambda, _, r) r[2] = -lambda[1] end,
  Jachx = function(_, x, _, C) C[1][1], C[1][2] = 0.2 * x[1], 1 end,
  Jacglambda = function(_, _, _, B) B[2][1] = -1 end,
}

models.Type2R = {
  name = "friction",
  h = function(_, x, lambda, y) y[1] = x[2] + 0.1 * x[1] ^ 2 + 0.01 * lambda[1] end,
  g = function(_, lambda, r) r[2] = -lambda[1] end,
  Jachx = function(_, x, _, C) C[1][1], C[1][2] = 0.2 * x[1], 1 end,
  Jachlambda = function(_, _, _, D) D[1][1] = 0.01 end,
  Jacglambda = function(_, _, B) B[2][1] = -1 end,
}

models.LinearR = {
  name = "friction", z = { 0.5 },
  C = function(t, _, C) C[1][1], C[1][2] = 0.01 * t, 1 end,
  D = function(_, _, D) D[1][1] = 0.01 end,
  B = function(_, _, B) B[2][1] = -1 end,
  F = function(_, z, F) F[1][1] = 0.1 * z[1] end,
  e = function(t, _, e) e[1] = 0.01 * t end,
}

-- The simulation of a system and a relation under a relay, ten steps of 0.1 (or `steps`).
function models.simulate(ds, relation, steps, law)
  local nsds = ns.NonSmoothDynamicalSystem(0, (steps or 10) * 0.1)
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(law or ns.RelayNSL(1, -1, 1), relation, "contact")
  nsds:link(inter, ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(0.6), ns.Relay())
  return simu, inter, ds
end

-- The clutch of the notebooks, to t = 20 or T.
function models.clutch(T, relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 20)
  local ds = ns.FirstOrderLinearTIDS({ 5, 10, 5, 0.5 },
    { { 0, 0, 0, 0 }, { 0, 0, 0, 1 }, { 0, 0, 0, -4 }, { 0, 1, -1, 0 } }, { -1, 10, -40, 0 })
  ds:setMPtr(ns.diag { 1, 1, 1, 0 })
  ds:setName "shafts"
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(ns.RelayNSL(1, 0, 1), relation or models.clutch_relation(), "clutch")
  nsds:link(inter, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(1, 1), ns.Relay()), inter, ds
end

function models.clutch_relation()
  return ns.FirstOrderNonLinearR {
    name = "clutch",
    h = function(_, x, _, _, y) y[1] = -x[1] end,
    g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
  }
end

-- A linear relay model: one factorisation, one iteration a step.
function models.relay(T, h)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 10)
  local ds = ns.FirstOrderLinearTIDS({ 1, 0 }, { { 0, 1 }, { -1, -0.1 } })
  nsds:insertDynamicalSystem(ds)
  local inter = ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { -1 } }))
  nsds:link(inter, ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h or 0.01), ns.EulerMoreauOSI(0.5), ns.Relay()), inter, ds
end

-- Every bit of a simulation's state, as a string: step, time, and x, r, y, lambda of all that is in it.
function models.state(simu)
  local nsds, parts = simu:nsds(), { ("%d %a"):format(simu:step(), simu:startingTime()) }
  local function add(name, v)
    for i = 1, #v do parts[#parts + 1] = ("%s%d=%a"):format(name, i, v[i]) end
  end
  for i = 1, nsds:numberOfDynamicalSystems() do
    add("x", nsds:dynamicalSystem(i):x())
    add("r", nsds:dynamicalSystem(i):r())
  end
  for i = 1, nsds:numberOfInteractions() do
    add("y", nsds:interaction(i):y(0))
    add("lambda", nsds:interaction(i):lambda())
  end
  return table.concat(parts, " ")
end

-- Takes steps up to number k (default: all); the states after each.
function models.advance(simu, k)
  local states = {}
  while simu:hasNextEvent() and (not k or simu:step() < k) do
    simu:computeOneStep()
    simu:nextStep()
    states[simu:step()] = models.state(simu)
  end
  return states
end

-- The error of a call, which must fail.
function models.failure(f, ...)
  local good, err = pcall(f, ...)
  assert(not good, "the call was expected to fail")
  return err
end

-- Its text, without the position of the calling line.
function models.message(f, ...)
  return (tostring(models.failure(f, ...)):gsub("^[^%s:]*_spec%.lua:%d+: ", ""))
end

return models
