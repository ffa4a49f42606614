-- The form for one system with one interaction beside the general form: the same bits, counts and errors.
local ns = require "nslua"
local internal = require "nslua.internal"
local numbers = require "random_numbers"
local uniform, random = numbers.uniform, math.random

-- ---- two runs ----

local function bits(list, M)
  for i = 1, #M do
    for j = 1, #M[i] do list[#list + 1] = string.pack("<d", M[i][j]) end
  end
end

-- The rows of a run that `drive` makes, its counts, and how it ended.
local function record(build, drive, general)
  internal.general_form(general)
  local simu, ds, inter = build()
  local good, err = pcall(drive, simu, ds, inter)
  internal.general_form(false)
  local list = {}
  if good then
    for _, column in ipairs { "x", "lambda", "y" } do bits(list, err[column]) end
  else
    bits(list, { ds:x(), ds:r(), inter:lambda(0), inter:y(0) })
  end
  local stats = simu:stats()
  for _, name in ipairs { "steps", "newton_iterations", "solver_iterations", "factorizations", "damped_steps", "substeps" } do
    list[#list + 1] = name .. "=" .. stats[name]
  end
  list[#list + 1] = good and "completed" or tostring(err)
  return list
end

local function compare(build, drive, what)
  local single, general = record(build, drive, false), record(build, drive, true)
  assert.are.equal(#general, #single, what)
  for i = 1, #general do
    if general[i] ~= single[i] then
      assert.are.equal(general[i], single[i], ("%s: entry %d of %d"):format(what, i, #general))
    end
  end
  return general[#general]
end

local function run(simu) return simu:run { progress = false } end

-- ---- random models ----

local laws = {
  function(m) return ns.RelayNSL(m, -1, 1) end,
  function(m) return ns.RelayNSL(m, 0, uniform(0.1, 1)) end,
  ns.ComplementarityConditionNSL,
  ns.EqualityConditionNSL,
}

-- One of the values, each as likely as the others.
local function any(...) return (select(random(select("#", ...)), ...)) end

local function sparse_or(M) return any(true, false, false) and ns.sparse(M) or M end

-- A matrix with a dominant diagonal, of which some entries are 0.
local function dominant(n, size)
  return numbers.matrix(n, function(i, j) return i == j and size or any(0, uniform(-0.5, 0.5)) end)
end

local function system(n)
  local x0, A, b = numbers.vector_within(n, 2), dominant(n, -2), numbers.vector_within(n, 1)
  local M = any(false, false, "regular", "singular")
  local mass = M and dominant(n, 3)
  if M == "singular" then for j = 1, n do mass[n][j] = 0 end end
  local kind, compiled, c = any("constant", "timed", "smooth", "smooth"), any(true, false), uniform(-1, 1)
  return function()
    local ds
    if kind == "smooth" then
      local function f(t, x, _, out)
        for i = 1, n do
          local s = b[i] * math.sin(t) + c * math.sin(x[i])
          for j = 1, n do s = s + A[i][j] * x[j] end
          out[i] = s
        end
      end
      ds = ns.FirstOrderNonLinearDS(x0, compiled and ns.compile(f, { native = false }) or f)
    elseif kind == "timed" then
      ds = ns.FirstOrderLinearDS(x0, A)
      ds:setComputebFunction(function(t, _, out) for i = 1, n do out[i] = b[i] * math.cos(3 * t) end end)
    else
      ds = ns.FirstOrderLinearTIDS(x0, sparse_or(A), b)
    end
    if mass then ds:setMPtr(sparse_or(mass)) end
    return ds
  end
end

local function relation(n, m)
  local C, B, D = numbers.matrix_within(m, n, 1), numbers.matrix_within(n, m, 1), dominant(m, 1)
  local kind, c, given = any("linear", "linear", "type 1", "full", "full"), uniform(-0.4, 0.4), any(true, false, false)
  local way = any("plain", "tape", "tape", random(4) == 1 and "native" or "plain")
  for j = 1, m do for i = 1, n do B[i][j] = C[j][i] + 0.2 * B[i][j] end end
  local function h(_, x, lambda, _, y)
    for i = 1, m do
      local s = c * math.sin(x[1]) * x[n]
      for j = 1, n do s = s + C[i][j] * x[j] end
      for j = 1, m do s = s + D[i][j] * lambda[j] end
      y[i] = s
    end
  end
  local function g(t, x, lambda, _, r)
    for i = 1, n do
      local s = c * math.cos(x[i] + t) * lambda[1]
      for j = 1, m do s = s + B[i][j] * lambda[j] end
      r[i] = s
    end
  end
  local function compiled(f) return way == "plain" and f or ns.compile(f, { native = way == "native" }) end
  return function()
    if kind == "linear" then return ns.FirstOrderLinearTIR { C = sparse_or(C), B = B, D = any(D, nil) } end
    if kind == "type 1" then
      return ns.FirstOrderType1R {
        h = compiled(function(_, x, _, y) for i = 1, m do y[i] = C[i][1] * x[1] + c * x[n] ^ 2 end end),
        g = compiled(function(_, lambda, _, r) for i = 1, n do r[i] = B[i][1] * lambda[1] + c * lambda[m] ^ 2 end end),
      }
    end
    local Jachx = given and function(_, x, _, _, J)
      for i = 1, m do
        for j = 1, n do J[i][j] = C[i][j] end
        J[i][1], J[i][n] = J[i][1] + c * math.cos(x[1]) * x[n], J[i][n] + c * math.sin(x[1])
      end
    end
    return ns.FirstOrderNonLinearR { h = compiled(h), g = compiled(g), Jachx = Jachx or nil }
  end
end

-- A function that builds the simulation of a model, each time from the same random numbers, and the model's description.
local function draw(seed)
  math.randomseed(seed)
  local n, m = random(1, 6), random(1, 3)
  local make_system, make_relation, law = system(n), relation(n, m), any(table.unpack(laws))
  local theta, gamma, h = any(1, 0.5, 0.6), any(1, 1, 0.5), any(0.05, 0.1, 0.3)
  local options, again = random(1, 12), random(1 << 30)
  return function()
    math.randomseed(again)
    local nsds = ns.NonSmoothDynamicalSystem(0, 1.5)
    local ds, inter = make_system(), ns.Interaction(law(m), make_relation())
    nsds:insertDynamicalSystem(ds)
    nsds:link(inter, ds)
    local osi = ns.EulerMoreauOSI(theta, gamma)
    if options == 1 then osi:setUseGammaForRelation(true) end
    if options == 2 then osi:setRestart "implicit" end
    local adaptive = options == 3 and { rtol = 1e-2, h_min = h / 64 } or nil
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), osi, ns.MLCP(), adaptive)
    if options == 4 then simu:setMaxSubsteps(4) end
    if options == 5 then simu:setNewtonMaxIteration(2) end
    if options == 6 then simu:setNewtonTolerance(1e-7, 1e-9) end
    return simu, ds, inter
  end
end

describe("one system with one interaction", function()
  local count, tell = require "campaign"(12, 0.05)

  it("steps with the bits of the general form", function()
    local ended = {}
    for seed = 1, count do
      local how = compare(draw(2 + seed), run, "model " .. seed)
      how = how == "completed" and how or how:match "did not converge" or how:match "no accepted solution" or "other"
      ended[how] = (ended[how] or 0) + 1
    end
    assert.is_true(ended.completed >= 0.6 * count, ("%d of %d"):format(ended.completed, count))
    tell("models with one interaction", count)
  end)

  -- Between steps the script writes states, bounds, matrices and callbacks.
  it("sees what a script changes between two steps", function()
    for seed = 1, 5 do
      local function drive(simu, ds, inter)
        local rows = { x = {}, lambda = {}, y = {} }
        while simu:hasNextEvent() do
          local k = simu:step()
          if k == 2 then ds:x()[1] = 0.5 end
          if k == 3 then inter:lambda(0)[1] = 0 end
          if k == 4 then ds:setMPtr(ns.eye(#ds:x()) * 2) end
          simu:computeOneStep()
          for name, values in pairs { x = ds:x(), lambda = inter:lambda(0), y = inter:y(0) } do
            table.insert(rows[name], ns.vector(values))
          end
          simu:nextStep()
        end
        return rows
      end
      compare(draw(100 + seed), drive, "model " .. seed)
    end
  end)

  it("takes part in runs with clocks and events", function()
    local completed = 0
    for seed = 1, 4 do
      local function drive(simu, ds)
        simu:every { period = 0.2, act = function() ds:x()[1] = ds:x()[1] + 0.01 end }
        simu:addEvent { name = "crossing", g = function(t) return t - 0.77 end }
        return run(simu)
      end
      if compare(draw(200 + seed), drive, "model " .. seed) == "completed" then completed = completed + 1 end
    end
    assert.is_true(completed >= 2)
  end)
end)
