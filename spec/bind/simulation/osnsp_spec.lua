-- One-step problems: options, laws, a problem without solution, contacts with friction.
local ns = require "nslua"
local host = require "host"
local models = require "bind.models"
local message = models.message

-- y = x >= 0 _|_ lambda >= 0 where lambda has no influence on x.
local function hopeless(B)
  local simu, inter, ds = models.simulate(ns.FirstOrderLinearTIDS({ 0.15 }, nil, { -1 }),
    ns.FirstOrderLinearTIR { C = { { 1 } }, B = B }, 4, ns.ComplementarityConditionNSL(1))
  simu = ns.TimeStepping(simu:nsds(), simu:timeDiscretisation(), simu:osi(), ns.LCP())
  return simu, inter, ds
end

describe("one-step problems", function()
  it("refuse wrong options", function()
    for _, kind in ipairs { "LCP", "Relay", "MLCP", "Equality" } do
      local make = ns[kind]
      assert.equal(kind .. ": options: expected a table, got number 3.0", message(make, 3))
      assert.equal(kind .. ": options: expected a table, got nil", message(make, nil))
      assert.equal(kind .. ": unknown option 'foo' (known: tolerance, max_iterations, solver)",
        message(make, { foo = 1 }))
      assert.equal(kind .. ": tolerance: expected a number in (0, 0.1], got 0.0", message(make, { tolerance = 0 }))
      assert.equal(kind .. ": tolerance: expected a finite number, got string", message(make, { tolerance = "a" }))
      assert.equal(kind .. ": tolerance: expected a finite number, got number nan",
        message(make, { tolerance = 0 / 0 }))
      assert.equal(kind .. ": max_iterations: expected 0 (automatic) or more, got -1",
        message(make, { max_iterations = -1 }))
      assert.equal(kind .. ": max_iterations: expected an integer, got number 1.5",
        message(make, { max_iterations = 1.5 }))
      assert.truthy(message(make, { solver = "foo" }):find(kind .. ": solver: there is no 'foo' (known: default, lemke, "
        .. "pivot, psor, pgs, enumerate, principal, newton_min, newton_fb, interior", 1, true))
      assert.equal(kind .. ": solver: expected a name, got number 3.0",
        message(make, { solver = 3 }))
      local problem = make { tolerance = 1e-9, max_iterations = 10, solver = "pivot" }
      assert.equal(kind .. ": tolerance: expected a number in (0, 0.1], got 1.0",
        message(problem.setTolerance, problem, 1))
      assert.equal(kind .. ": max_iterations: expected an integer, got nil",
        message(problem.setMaxIterations, problem, nil))
      assert.equal(kind .. ": solver: expected a name, got no value",
        message(problem.setSolver, problem))
      assert.equal("setNumericsVerboseMode: verbose: expected a boolean, 0 or 1, got no value",
        message(problem.setNumericsVerboseMode, problem))
      problem:setNumericsVerboseMode(0)
      assert.equal("setNumericsVerboseMode: verbose: expected a boolean, 0 or 1, got number 2.0",
        message(problem.setNumericsVerboseMode, problem, 2))
      assert.equal(kind .. ": no one-step problem has been solved yet",
        message(problem.dump, problem, "/nonexistent/x"))
      assert.equal("dump: file: expected a string, got no value", message(problem.dump, problem))
      for _, name in ipairs { "M", "q", "lambda", "y", "info" } do assert.is_nil(problem[name](problem)) end
      problem:close()
      assert.equal(kind .. " (closed)", tostring(problem))
      for _, name in ipairs { "setTolerance", "setMaxIterations", "setSolver", "M", "W", "q", "lambda", "z", "y", "w",
        "size", "info", "dump", "display", "close" } do
        assert.equal(kind .. " is closed", message(problem[name], problem), name)
      end
    end
    assert.equal("bad argument #1 to '?' (one-step problem expected, got RelayNSL)",
      (message(ns.LCP().M, ns.RelayNSL(1)):gsub("'%a+'", "'?'")))
  end)

  it("without solution: the given Jacobians may be why", function()
    local function failure(C)
      local simu = models.simulate(ns.FirstOrderLinearTIDS({ 1 }, { { 0 } }, { -1 }), ns.FirstOrderNonLinearR {
        h = function(_, x, _, _, y) y[1] = x[1] - 1 end, g = function(_, _, lambda, _, r) r[1] = lambda[1] end, C = C,
      }, 10, ns.ComplementarityConditionNSL(1))
      return simu
    end
    assert.is_true(#failure():run() > 1)
    local simu = failure { { 0 } }
    assert.matches("^Relay: the one%-step problem has no accepted solution: .* %(t=0.1 step 1 newton %d%); "
      .. "simu:check%(%) compares the given Jacobians with the exact ones$", message(simu.computeOneStep, simu))
  end)

  local function stepping(problem, A, B, law)
    local ds, nsds = ns.FirstOrderLinearTIDS({ 1 }, A), ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, B)), ds)
    return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), problem)
  end

  -- x' = -x - 20 lambda, y = x, so that M is negative.
  local function negative(problem, law, sparse)
    local A = { { -1 } }
    return stepping(problem, sparse and ns.sparse(A) or A, { { -20 } }, law)
  end

  it("whose solver needs a positive diagonal say so, by the name that was given", function()
    local places = " (t=0.1 step 1 newton 1)"
    for _, name in ipairs { "pgs", "psor" } do
      local text = (": solver '%s' needs a positive diagonal of "):format(name)
      local function says(what, problem, law, sparse)
        local simu = negative(problem, law, sparse)
        assert.equal(what .. places, message(simu.computeOneStep, simu))
        assert.equal(what .. places, message(simu:clone().computeOneStep, simu))
      end
      says("Relay" .. text .. "M", ns.Relay { solver = name }, ns.RelayNSL(1))
      says("Relay" .. text .. "the sparse problem in states and multipliers", ns.Relay { solver = name },
        ns.RelayNSL(1), true)
      says("AVI" .. text .. "the problem in the rows of H", ns.AVI { solver = name },
        ns.NormalConeNSL(1, { { 1 }, { -1 } }, { -1, -1 }))
      assert.equal(("Relay of size 0, solver '%s'"):format(name), tostring(ns.Relay { solver = name }))
    end
    assert.equal(11, #negative(ns.Relay { solver = "lemke" }, ns.RelayNSL(1)):run())
  end)

  it("take every solver by its names", function()
    local takes = { LCP = ns.ComplementarityConditionNSL(1), Relay = ns.RelayNSL(1), MLCP = ns.RelayNSL(1),
      Equality = ns.EqualityConditionNSL(1), AVI = ns.RelayNSL(1) }
    local used = { lemke = "pivot", psor = "pgs", default = "closed form" }
    for kind, law in pairs(takes) do
      for name in ("default lemke pivot psor pgs enumerate principal newton_min newton_fb interior"):gmatch "%S+" do
        local problem = ns[kind] { solver = name }
        stepping(problem, { { -1 } }, { { 1 } }, law):run()
        assert.equal(used[name] or name, problem:info().solver)
      end
    end
  end)

  it("without solution stop the step, and can be written to a file", function()
    local directory = host.new_directory()
    local file = directory .. "/problem.lua"
    local simu, inter, ds = hopeless { { 0 } }
    models.advance(simu, 1)
    local before = models.state(simu)
    for _ = 1, 2 do
      assert.equal("LCP: the one-step problem has no accepted solution: no solution (1 unknown from 'contact', "
        .. "residual inf) (t=0.2 step 2 newton 1)", message(simu.computeOneStep, simu))
      assert.equal(before, models.state(simu))
    end
    local problem = simu:osnspb()
    assert.equal("NS_ENOSOL", problem:info().status)
    assert.equal("no solution", problem:info().message)
    assert.near(-0.05, problem:q()[1], 1e-15)
    problem:dump(file)
    local dumped = dofile(file)
    host.remove(directory)
    assert.equal("LCP", dumped.kind)
    assert.equal("NS_ENOSOL", dumped.status)
    assert.same({ { 0 } }, dumped.M)
    assert.same({ problem:q()[1] }, dumped.q)
    assert.same({ 0 }, dumped.lower)
    assert.same({ math.huge }, dumped.upper)
    assert.equal("cannot write '/nonexistent/x.lua': No such file or directory", message(problem.dump, problem,
      "/nonexistent/x.lua"))
    -- With an input that has an effect the step is the one of a model that always had it.
    inter:relation():setBPtr { { 1 } }
    models.advance(simu)
    local other = hopeless { { 1 } }
    assert.equal(models.advance(other)[4], models.state(simu))
    assert.equal(0, ds:x()[1])
  end)
end)

-- A body of n coordinates with unit mass under the force -1 each, on law and relation.
local function body(n, links, problem, steps)
  local ds = ns.LagrangianLinearTIDS(ns.zeros(n), ns.zeros(n), ns.eye(n))
  ds:setFExtPtr(-1 * ns.ones(n))
  local nsds = ns.NonSmoothDynamicalSystem(0, (steps or 1) * 0.1)
  nsds:insertDynamicalSystem(ds)
  for k, link in ipairs(links) do nsds:link(ns.Interaction(link[1], link[2], link[3] or "contact " .. k), ds) end
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5), problem), ds
end

local function first_rows(rows, n, from)
  local C = ns.zeros(rows, n)
  for i = 1, rows do C[i][i + (from or 0)] = 1 end
  return ns.LagrangianLinearTIR(C)
end

describe("FrictionContact and GenericMechanical", function()
  it("refuse wrong arguments", function()
    local make = ns.FrictionContact
    assert.equal("FrictionContact: dim: expected 2 or 3, got 1", message(make, 1))
    assert.equal("FrictionContact: dim: expected 2 or 3, got 4", message(make, 4))
    assert.equal("FrictionContact: dim: expected 2 or 3, got -1", message(make, -1))
    assert.equal("RollingFrictionContact: dim: expected 3, 5 or 6, got 4", message(ns.RollingFrictionContact, 4))
    assert.equal("FrictionContact: dim: expected an integer, got number 2.5", message(make, 2.5))
    assert.equal("FrictionContact: options: expected a table, got string", message(make, "x"))
    assert.equal("FrictionContact: options: expected a table, got nil", message(make, nil))
    assert.equal("FrictionContact: options: expected a table, got number 3.0", message(make, 2, 3))
    assert.equal("FrictionContact: expected at most 1 argument, got 2", message(make, 2, {}, {}))
    assert.equal("GenericMechanical: options: expected a table, got number 3.0", message(ns.GenericMechanical, 3))
    for _, problem in ipairs { make(3, { tolerance = 1e-9 }), ns.GenericMechanical { max_iterations = 9 } } do
      assert.matches("^%a+ of size 0, solver 'default'$", tostring(problem))
      for _, name in ipairs { "M", "q", "lambda", "y", "info" } do assert.is_nil(problem[name](problem)) end
      assert.matches("^%a+: no one%-step problem has been solved yet$", message(problem.dump, problem, "/nonexistent/x"))
      problem:close()
      assert.matches("^%a+ is closed$", message(problem.info, problem))
    end
    assert.equal("FrictionContact: unknown option 'foo' (known: tolerance, max_iterations, solver)",
      message(make, 2, { foo = 1 }))
  end)

  it("of contacts take the solvers for friction by their names, and no others", function()
    local function refused(known, make, ...)
      local kind, text = message(make, ...):match "^(%a+): solver: there is no '%l+' %(known: (.*)%)$"
      assert.equal(known, text)
      assert.matches("FrictionContact$", kind)
    end
    refused("default, nsgs, newton, first_order", ns.FrictionContact, { solver = "lemke" })
    refused("default, nsgs, newton, first_order", ns.FrictionContact, 3, { solver = "lcp" })
    refused("default, nsgs, newton, first_order, lcp", ns.FrictionContact, 2, { solver = "pgs" })
    refused("default, nsgs, newton, first_order", ns.RollingFrictionContact, 5, { solver = "lcp" })
    for dim, names in pairs { [2] = "nsgs newton first_order lcp", [3] = "nsgs newton first_order" } do
      local law, reference = ns.NewtonImpactFrictionNSL(0, 0, 0.3, dim), nil
      for name in ("default " .. names):gmatch "%S+" do
        local problem = ns.FrictionContact(dim, { solver = name, tolerance = 1e-10 })
        assert.equal(("FrictionContact of size 0, solver '%s'"):format(name), tostring(problem))
        local simu = body(dim, { { law, first_rows(dim, dim) } }, problem)
        simu:computeOneStep()
        reference = reference or problem:lambda()
        if name ~= "default" then assert.equal(name, (problem:info().solver:gsub(" ", "_"))) end
        for i = 1, dim do assert.near(reference[i], problem:lambda()[i], 1e-8) end
      end
    end
  end)

  it("of contacts asked for one solver want contacts of one dimension", function()
    local function both(problem)
      return body(3, { { ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), first_rows(2, 3) },
        { ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), first_rows(3, 3) } }, problem)
    end
    assert.is_true(#both(ns.FrictionContact()):run() == 2)
    local simu = both(ns.FrictionContact { solver = "nsgs" })
    assert.equal("FrictionContact: solver 'nsgs' takes contacts of one dimension alone (t=0.1 step 1 newton 1)",
      message(simu.computeOneStep, simu))
  end)

  it("take the laws of their kind and name the interaction that they refuse", function()
    local function refused(problem, law, n)
      return message(body, n or 3, { { law, first_rows(law:size(), n or 3), "floor" } }, problem)
    end
    local contact = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3)
    assert.equal("FrictionContact(2): interaction 'floor' is a contact of dimension 3", refused(ns.FrictionContact(2), contact))
    assert.equal("FrictionContact(3): interaction 'floor' is a contact of dimension 2",
      refused(ns.FrictionContact(3), ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2)))
    for _, law in ipairs { ns.NewtonImpactNSL(1, 0), ns.EqualityConditionNSL(1), ns.RelayNSL(1),
      ns.ComplementarityConditionNSL(1), ns.MixedComplementarityConditionNSL(1, 1) } do
      assert.matches("^FrictionContact: interaction 'floor' has a %a+; use GenericMechanical$",
        refused(ns.FrictionContact(), law))
    end
    for _, kind in ipairs { "LCP", "Relay", "MLCP", "Equality", "AVI" } do
      assert.equal(kind .. ": interaction 'floor' has a NewtonImpactFrictionNSL; use FrictionContact or GenericMechanical",
        refused(ns[kind](), contact))
    end
    assert.equal("Equality: interaction 'floor' has a NewtonImpactNSL; use MLCP", refused(ns.Equality(), ns.NewtonImpactNSL(0)))
    for _, kind in ipairs { "LCP", "Relay", "MLCP", "AVI", "GenericMechanical" } do
      assert.is_true(#body(1, { { ns.NewtonImpactNSL(0), first_rows(1, 1) } }, ns[kind]()):run() == 2, kind)
    end
    assert.is_true(#body(2, { { ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2), first_rows(2, 2) } }, ns.FrictionContact()):run() == 2)
  end)

  it("know the last problem, but not how many solutions it has", function()
    local problem = ns.FrictionContact(3)
    local simu = body(3, { { ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), first_rows(3, 3) } }, problem)
    for _, name in ipairs { "uniqueness", "solutions" } do
      assert.equal(("FrictionContact: %s: no one-step problem has been solved yet"):format(name), message(problem[name], problem))
    end
    simu:computeOneStep()
    for _, name in ipairs { "uniqueness", "solutions" } do
      assert.equal(("FrictionContact: %s: not for contacts with friction"):format(name), message(problem[name], problem))
    end
    assert.equal(ns.eye(3), problem:M())
    assert.equal(ns.vector { -0.1, -0.1, -0.1 }, problem:q())
    local lambda, y = problem:lambda(), problem:y()
    assert.near(0.1, lambda[1], 1e-15)
    assert.near(0.03, math.sqrt(lambda[2] ^ 2 + lambda[3] ^ 2), 1e-15)
    for k = 1, 3 do assert.near(problem:q()[k] + lambda[k], y[k], 1e-15) end
    local info = problem:info()
    assert.same({ "NS_OK", "exact", 3 }, { info.status, info.solver, problem:size() })
    assert.is_true(info.backward < 1e-14)
  end)

  it("tell whether rows alone have one solution", function()
    local problem = ns.GenericMechanical()
    local simu = body(2, { { ns.NewtonImpactNSL(2, 0), first_rows(2, 2) } }, problem)
    simu:computeOneStep()
    assert.equal("for every q", problem:uniqueness().unique)
    assert.equal(1, #problem:solutions().isolated)
  end)

  it("tell that an empty one has its solution: no contact is closed", function()
    local ball, problem = ns.LagrangianLinearTIDS({ 1 }, { 0 }, { { 1 } }), ns.LCP()
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ball)
    nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.MoreauJeanOSI(0.5), problem)
    simu:computeOneStep()
    local u = problem:uniqueness()
    assert.same({ "for every q", true, true, "there is nothing to solve" }, { u.unique, u.P, u.positive_definite, u.reason })
    assert.equal(0, #problem:solutions().rays)
    simu:close() -- the last problem is its own
  end)

  it("write groups to a file, which replays to the same", function()
    local directory = host.new_directory()
    local file = directory .. "/problem.lua"
    local problem = ns.GenericMechanical()
    local simu = body(6, {
      { ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3), first_rows(3, 6) }, { ns.EqualityConditionNSL(1), first_rows(1, 6, 3) },
      { ns.RelayNSL(1, -0.05, 0.25), first_rows(1, 6, 4) }, { ns.NewtonImpactNSL(0), first_rows(1, 6, 5) },
    }, problem)
    simu:computeOneStep()
    problem:dump(file)
    local dumped, replayed = dofile(file), ns.numerics.replay(file)
    local options, record = ns.numerics.load_dump(file)
    local bad = message(ns.numerics.replay, file, { solver = "enumerate" })
    host.remove(directory)
    assert.same({ "GenericMechanical", "NS_OK" }, { dumped.kind, dumped.status })
    assert.same({ { dim = 3, mu = 0.3 }, { dim = 1, lower = -math.huge, upper = math.huge },
      { dim = 1, lower = -0.05, upper = 0.25 }, { dim = 1, lower = 0, upper = math.huge } }, dumped.groups)
    assert.same(dumped, record)
    assert.same({ dumped.M, dumped.q, dumped.groups }, { options.W, options.q, options.groups })
    assert.same(problem:M():totable(), dumped.M)
    assert.same(problem:lambda():totable(), dumped.lambda)
    assert.is_true(replayed.success)
    for k = 1, 6 do assert.near(problem:lambda()[k], replayed.z[k], 1e-12) end
    assert.matches("generic_mechanical: unknown option 'solver'", bad)
  end)

  it("write contacts to a file, which replays by any solver of contacts to the same", function()
    local directory = host.new_directory()
    local file = directory .. "/contacts.lua"
    for dim, solvers in pairs { [2] = { "nsgs", "newton", "first_order", "lcp" }, [3] = { "nsgs", "newton", "first_order" } } do
      local problem = ns.FrictionContact(dim)
      local simu = body(6, { { ns.NewtonImpactFrictionNSL(0, 0, 0.3, dim), first_rows(dim, 6) },
        { ns.NewtonImpactFrictionNSL(0, 0, 0.1, dim), first_rows(dim, 6, dim) } }, problem)
      simu:computeOneStep()
      problem:dump(file)
      local lambda = problem:lambda()
      for _, solver in ipairs(solvers) do
        local replayed = ns.numerics.replay(file, { solver = solver })
        assert.is_true(replayed.success)
        for k = 1, 2 * dim do assert.near(lambda[k], replayed.z[k], 1e-8) end
      end
    end
    assert.matches("fc[23]d: unknown solver 'enumerate'", message(ns.numerics.replay, file, { solver = "enumerate" }))
    for _, law in ipairs { ns.NewtonImpactRollingFrictionNSL(0, 0, 0.3, 0.1, 3),
      ns.NewtonImpactRollingFrictionNSL(0, 0, 0.3, 0.1, 5), ns.NewtonImpactSpinningFrictionNSL(0, 0, 0.3, 0.1, 0.2, 6) } do
      local problem = ns.RollingFrictionContact(law:size())
      local simu = body(6, { { law, first_rows(law:size(), 6) } }, problem)
      simu:computeOneStep()
      problem:dump(file)
      for _, solver in ipairs { "nsgs", "newton", "first_order" } do
        local replayed = ns.numerics.replay(file, { solver = solver })
        assert.is_true(replayed.success)
        for k = 1, law:size() do assert.near(problem:lambda()[k], replayed.z[k], 1e-8) end
      end
    end
    host.remove(directory)
  end)
end)
