local ns = require "nslua"
local simulation = require "models".simulation

local function make(f)
  return simulation { systems = { ns.FirstOrderNonLinearDS({ 1 }, f or function(_, x, _, out) out[1] = -x[1] end) } }
end

describe("run", function()
  it("accounts for what it did", function()
    local simu = make()
    local stats = simu:run().stats
    assert.equal(10, stats.steps)
    assert.equal(11, stats.rows)
    assert.equal(simu:stats().newton_iterations, stats.newton_iterations)
    assert.equal(1, stats.max_newton_iterations)
    assert.is_true(stats.seconds >= 0)
  end)

  it("takes a step that is computed but not taken", function()
    local simu = make()
    simu:computeOneStep()
    local sol = simu:run()
    assert.equal(10, #sol)
    assert.equal(0.1, sol.t[1])
    assert.near(1 / 1.1, sol.x1[1], 1e-14)
  end)

  it("has one row when there is nothing left", function()
    local simu = make()
    simu:run()
    local sol = simu:run()
    assert.equal(1, #sol)
    assert.equal(1, sol.t[1])
  end)

  it("checks its options", function()
    local simu = make()
    assert.error_matches(function() simu:run { evry = 2 } end, "evry", 1, true)
    assert.error_matches(function() simu:run { record = 0 } end, "run: record: expected 1 or more, got 0", 1, true)
    assert.error_matches(function() simu:run { partial = 1 } end, "run: partial: expected a boolean", 1, true)
    assert.error_matches(function() simu:run(3) end, "run: options: expected a table", 1, true)
  end)

  it("can not be called from inside a callback", function()
    local simu
    simu = make(function(_, x, _, out)
      out[1] = -x[1]
      simu:run()
    end)
    assert.error_matches(function() simu:run() end, "run: a step is being computed", 1, true)
    assert.error_matches(function() simu:computeOneStep() end, "run: a step is being computed", 1, true)
    assert.equal(0, simu:step())
  end)
end)
