-- LCP, Relay, MLCP, Equality: options, and a problem without solution.
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
      assert.equal(kind .. ": unknown option 'foo' (known: tolerance, maxIterations, solver)",
        message(make, { foo = 1 }))
      assert.equal(kind .. ": tolerance: expected a number in (0, 0.1], got 0.0", message(make, { tolerance = 0 }))
      assert.equal(kind .. ": tolerance: expected a finite number, got string", message(make, { tolerance = "a" }))
      assert.equal(kind .. ": tolerance: expected a finite number, got number nan",
        message(make, { tolerance = 0 / 0 }))
      assert.equal(kind .. ": maxIterations: expected 0 (automatic) or more, got -1",
        message(make, { maxIterations = -1 }))
      assert.equal(kind .. ": maxIterations: expected an integer, got number 1.5",
        message(make, { maxIterations = 1.5 }))
      assert.equal(kind .. ": solver: there is no 'foo' (known: default, lemke, pivot, psor, pgs, "
        .. "enumerate, principal, newton_min, newton_fb, interior)",
        message(make, { solver = "foo" }))
      assert.equal(kind .. ": solver: expected a name, got number 3.0",
        message(make, { solver = 3 }))
      local problem = make { tolerance = 1e-9, maxIterations = 10, solver = "pivot" }
      assert.equal(kind .. ": tolerance: expected a number in (0, 0.1], got 1.0",
        message(problem.setTolerance, problem, 1))
      assert.equal(kind .. ": maxIterations: expected an integer, got nil",
        message(problem.setMaxIterations, problem, nil))
      assert.equal(kind .. ": solver: expected a name, got no value",
        message(problem.setSolver, problem))
      assert.equal("setNumericsVerboseMode: verbose: expected a boolean, got no value",
        message(problem.setNumericsVerboseMode, problem))
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
