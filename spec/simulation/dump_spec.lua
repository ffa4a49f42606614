-- A one-step problem written to a file.
local host = require "host"
local ns = require "nslua"
local simulation = require "models".simulation

-- x' = A x + B lambda, y = C x + D lambda, three multipliers.
local A, B = { { -1, 1 }, { 0, -2 } }, { { 1, 0, 0.5 }, { 0, 1, 0 } }
local C, D = { { 1, 0 }, { 0, 1 }, { 1, 1 } }, { { 0.1, 0, 0 }, { 0, 0.2, 0 }, { 0, 0, 0.3 } }

local function make(law, problem)
  local ds = ns.FirstOrderLinearTIDS({ 1, -1 }, A)
  return (simulation { systems = { ds }, h = 0.25, problem = problem,
    links = { { law, ns.FirstOrderLinearTIR { C = C, D = D, B = B }, ds } } })
end

describe("one-step problem", function()
  it("is dumped as a Lua table that reads back exactly", function()
    local directory = host.new_directory()
    local path = directory .. "/problem.lua"
    local problem = ns.MLCP()
    local simu = make(ns.MixedComplementarityConditionNSL(2, 1), problem)
    assert.error_matches(function() problem:dump(path) end, "MLCP")
    simu:run()
    problem:dump(path)
    local back = dofile(path)
    local M, q, lambda, y = problem:M(), problem:q(), problem:lambda(), problem:y()
    for i = 1, 3 do
      for j = 1, 3 do assert.equal(M[i][j], back.M[i][j]) end
      assert.equal(q[i], back.q[i])
      assert.equal(lambda[i], back.lambda[i])
      assert.equal(y[i], back.y[i])
    end
    assert.same({ -math.huge, 0, 0 }, back.lower)
    assert.same({ math.huge, math.huge, math.huge }, back.upper)
    assert.equal("MLCP", back.kind)
    host.remove(directory)
  end)

  it("of a polyhedral law is dumped with its H and K", function()
    local directory = host.new_directory()
    local path = directory .. "/problem.lua"
    local H, K = { { 1, 0, 0 }, { 0, -1, 0.1 } }, { -1, -1 / 3 }
    local problem = ns.AVI()
    local simu = make(ns.NormalConeNSL(3, H, K), problem)
    simu:computeOneStep()
    problem:dump(path)
    local back = dofile(path)
    host.remove(directory)
    assert.same(H, back.H)
    assert.same(K, back.K)
    assert.same(problem:lambda():totable(), back.lambda)
    assert.equal("AVI", back.kind)
    assert.equal("NS_OK", back.status)
    assert.equal(problem:info().residual, back.residual)
  end)

  -- A body of 3 n coordinates, with a contact at each three; its mass ties the coordinates of a contact together.
  local function bed(nsds, n)
    local mass = 2 * ns.eye(3 * n)
    for i = 1, 3 * n - 1 do
      if i % 3 > 0 then mass[i][i + 1], mass[i + 1][i] = 0.5, 0.5 end
    end
    local ds = ns.LagrangianLinearTIDS(ns.zeros(3 * n), ns.linspace(-1, -0.1, 3 * n), mass)
    nsds:insertDynamicalSystem(ds)
    for c = 0, n - 1 do
      local rows = ns.zeros(3, 3 * n)
      for i = 1, 3 do rows[i][3 * c + i] = 1 end
      nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), ns.LagrangianLinearTIR(rows)), ds)
    end
  end

  it("that is sparse is dumped by its entries, also one of several islands, and solved again", function()
    local directory = host.new_directory()
    local path = directory .. "/problem.lua"
    for _, second in ipairs { 0, 2 } do
      local nsds, problem = ns.NonSmoothDynamicalSystem(0, 0.1), ns.FrictionContact(3)
      bed(nsds, 51)
      if second > 0 then bed(nsds, second) end
      ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5), problem):computeOneStep()
      problem:dump(path)
      local options, record = ns.numerics.load_dump(path)
      local lambda, y = ns.vector(record.lambda), ns.vector(record.y)
      assert.equal(3 * (51 + second), options.W:rows())
      assert.is_true(lambda:norm() > 0.1)
      assert.is_true((options.W * lambda + ns.vector(record.q) - y):norm() <= 1e-12)
      assert.is_true((ns.numerics.replay(path).z - lambda):norm() <= 1e-8)
    end
    host.remove(directory)
  end)

  it("says what keeps it from being dumped, and leaves no file", function()
    local directory = host.new_directory()
    local problem = ns.Relay()
    local simu = make(ns.RelayNSL(3, -0.5, 2), problem)
    assert.error_matches(function() problem:dump(directory .. "/a.lua") end,
      "Relay: no one-step problem has been solved yet", 1, true)
    assert.equal("", host.list(directory))
    simu:computeOneStep()
    assert.error_matches(function() problem:dump(directory .. "/none/a.lua") end, "cannot write '", 1, true)
    assert.equal("", host.list(directory))
    host.remove(directory)
  end)
end)
