local ns = require "nslua"
local simulation = require "models".simulation

local abs, max, min = math.abs, math.max, math.min

-- x' = A x + B lambda, y = C x + D lambda, three multipliers.
local A, B = { { -1, 1 }, { 0, -2 } }, { { 1, 0, 0.5 }, { 0, 1, 0 } }
local C, D = { { 1, 0 }, { 0, 1 }, { 1, 1 } }, { { 0.1, 0, 0 }, { 0, 0.2, 0 }, { 0, 0, 0.3 } }

local function make(law, problem)
  local ds = ns.FirstOrderLinearTIDS({ 1, -1 }, A)
  local simu, inter = simulation { systems = { ds }, h = 0.25, problem = problem,
    links = { { law, ns.FirstOrderLinearTIR { C = C, D = D, B = B }, ds } } }
  return simu, ds, inter[1]
end

describe("one-step problem", function()
  it("is y = M lambda + q with M = D + h C W^-1 B, and solves its law", function()
    local problem = ns.Relay()
    local simu, ds, inter = make(ns.RelayNSL(3, -0.5, 2), problem)
    assert.is_nil(problem:M())
    assert.is_nil(problem:info())
    local h, x = 0.25, ns.vector { 1, -1 }
    local W = ns.eye(2) - h * ns.matrix(A)
    local expected = ns.matrix(D) + h * (ns.matrix(C) * ns.solve(W, ns.matrix(B)))
    for _ in simu:steps() do
      local M, q, lambda, y = problem:M(), problem:q(), problem:lambda(), problem:y()
      local free = ns.matrix(C) * ns.solve(W, x)
      for i = 1, 3 do
        for j = 1, 3 do assert.near(expected[i][j], M[i][j], 1e-14) end
        assert.near(free[i], q[i], 1e-14)
        assert.near((M * lambda + q)[i], y[i], 1e-13)
        assert.near(0, lambda[i] - max(-0.5, min(2, lambda[i] - y[i])), 1e-12)
        assert.equal(inter:lambda(0)[i], lambda[i])
      end
      x = ds:x():copy()
    end
    assert.equal(3, problem:size())
    local info = problem:info()
    assert.is_true(info.residual <= 1e-12)
    assert.is_string(info.solver)
  end)

  it("gives the same by every solver", function()
    local function run(solver)
      local simu = make(ns.RelayNSL(3, -0.5, 2), ns.Relay { solver = solver, tolerance = 1e-13 })
      return simu:run()
    end
    local reference = run "default"
    for _, solver in ipairs { "pivot", "pgs", "enumerate" } do
      local sol = run(solver)
      for k = 1, #sol do
        for i = 1, 3 do assert.near(reference.lambda[k][i], sol.lambda[k][i], 1e-10) end
      end
    end
  end)

  it("takes the laws of its kind and names the interaction it refuses", function()
    local laws = {
      relay = function() return ns.RelayNSL(3, -1, 1) end,
      complementarity = function() return ns.ComplementarityConditionNSL(3) end,
      equality = function() return ns.EqualityConditionNSL(3) end,
      mixed = function() return ns.MixedComplementarityConditionNSL(2, 1) end,
    }
    local taken = {
      LCP = { complementarity = true },
      Relay = { relay = true, complementarity = true, equality = true },
      MLCP = { relay = true, complementarity = true, equality = true, mixed = true },
      Equality = { equality = true },
    }
    for kind, good in pairs(taken) do
      for name, law in pairs(laws) do
        local ok, message = pcall(function() make(law(), ns[kind]()):computeOneStep() end)
        assert.equal(good[name] or false, ok)
        if not ok then
          local law_name = tostring(law()):match "^%a+"
          assert.matches(kind .. ": interaction 'interaction 1' has a " .. law_name, message, 1, true)
        end
      end
    end
  end)

  it("is an MLCP when none is given", function()
    local simu = make(ns.MixedComplementarityConditionNSL(1, 2))
    assert.matches("^MLCP", tostring(simu:osnspb()))
    simu:computeOneStep()
    local y, lambda = simu:osnspb():y(), simu:osnspb():lambda()
    assert.near(0, y[1], 1e-13)
    assert.near(0, y[2], 1e-13)
    assert.is_true(y[3] >= -1e-13 and lambda[3] >= 0 and abs(y[3] * lambda[3]) < 1e-13)
  end)

  it("works for one simulation at a time", function()
    local problem = ns.Relay()
    local simu = make(ns.RelayNSL(3, -1, 1), problem)
    assert.error_matches(function() make(ns.RelayNSL(3, -1, 1), problem) end,
      "belongs to another simulation already", 1, true)
    simu:close()
    make(ns.RelayNSL(3, -1, 1), problem):computeOneStep()
  end)

  it("tells when it has no solution, and the state stays", function()
    -- y = 1 whatever lambda is
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local simu = simulation { systems = { ds }, problem = ns.Equality(), links = {
      { ns.EqualityConditionNSL(1), ns.FirstOrderLinearTIR({ { 0 } }, { { 1 } }), ds } } }
    simu:nsds():interaction(1):relation():sete { 1 }
    assert.error_matches(function() simu:computeOneStep() end,
      "Equality: the one-step problem has no accepted solution: no solution " ..
      "(1 unknown from 'interaction 1', residual inf) " ..
      "(t=0.1 step 1 newton 1)", 1, true)
    assert.equal(1, ds:x()[1])
    assert.equal(0, simu:step())
  end)

  it("keeps the last multiplier where it is not unique", function()
    -- W = 0 and y = 0: any lambda in [0, 1] solves the law
    local ds = ns.FirstOrderLinearTIDS({ -1, 0 }, { { 0, 0 }, { 0, 0 } }, { 1, 0 })
    local simu, inter = simulation { systems = { ds }, h = 0.5, T = 2, problem = ns.Relay(), links = {
      { ns.RelayNSL(1, 0, 1), ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 0 }, { 1 } }), ds } } }
    local seen = {}
    for _ in simu:steps() do seen[#seen + 1] = inter[1]:lambda(0)[1] end
    assert.same({ 1, 1, 0, 0 }, seen)
  end)

  -- A box on four corners that nearly slips, with the problem's options; runs five steps, of a clone when asked, and gives the
  -- largest `backward` and the velocity.
  local function nearly_slipping(options, cloned)
    local nsds, problem = ns.NonSmoothDynamicalSystem(0, 0.05), ns.FrictionContact(3, options)
    local inertia = ns.matrix { { 0.1, 0, 0 }, { 0, 0.2, 0 }, { 0, 0, 0.3 } }
    local box = ns.NewtonEulerDS({ 0, 0, 0.2, 1, 0, 0, 0 }, ns.zeros(6), 2, inertia)
    box:setFExtPtr { 20 * math.sin(0.3), 0, -20 * math.cos(0.3) }
    nsds:insertDynamicalSystem(box)
    local law = ns.NewtonImpactFrictionNSL(0, 0, math.tan(0.3) * (1 - 1e-9), 3)
    local floor = ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
    for _, corner in ipairs { { 0.5, 0.3 }, { 0.5, -0.3 }, { -0.5, 0.3 }, { -0.5, -0.3 } } do
      nsds:link(ns.Interaction(law, ns.contact.corner_plane({ corner[1], corner[2], -0.2 }, floor)), box)
    end
    local simu, most = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5), problem), 0
    if cloned then simu = simu:clone() end
    box = simu:nsds():dynamicalSystem(1)
    for _ in simu:steps() do most = cloned and 0 or max(most, problem:info().backward, problem:info().relative) end
    return most, box:velocity()[1]
  end

  it("passes the tolerance that is asked for, also a smaller one than the default, and so does a clone", function()
    for _, tolerance in ipairs { 1e-6, 1e-8, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15 } do
      assert.is_true(nearly_slipping { tolerance = tolerance } <= tolerance)
      assert.is_true(nearly_slipping { tolerance = tolerance, solver = "newton" } <= max(tolerance, 1e-12))
    end
    assert.is_true(nearly_slipping {} <= 1e-10)
    local _, wanted = nearly_slipping { tolerance = 1e-15 }
    assert.equal(wanted, select(2, nearly_slipping({ tolerance = 1e-15 }, true)))
    assert.not_equal(wanted, select(2, nearly_slipping {}))
  end)

  it("fails where the sweeps that are asked for do not reach the tolerance", function()
    local ok, message = pcall(nearly_slipping, { tolerance = 1e-15, solver = "nsgs", max_iterations = 3 })
    assert.is_false(ok)
    assert.truthy(message:find("the one-step problem has no accepted solution: iteration limit reached", 1, true))
    assert.is_nil(message:find("solved to", 1, true))
    ok, message = pcall(nearly_slipping, { tolerance = 1e-7, solver = "nsgs", max_iterations = 600 })
    assert.is_false(ok)
    local told = "; contacts are solved to %d[%.%d]*e%-0%d of their terms, the tolerance is 1e%-07: a larger one may do%)"
    assert.truthy(message:find(told), message)
    ok, message = pcall(ns.FrictionContact, 3, { iterations = 3 })
    assert.is_false(ok)
    assert.truthy(message:find("unknown option 'iterations' (known: tolerance, max_iterations, solver)", 1, true))
  end)
end)
