-- Gauss-Seidel from contact to contact.
local methods = require "solvers.friction_methods"
local random_friction = methods.random_friction

describe("friction by nsgs alone", function()
  local shares = { full_rank = 1, tower = 1, rank_deficient = 0.9, frictionless = 1, nearly_open = 1, badly_scaled = 1 }
  methods.check_shares(it, "nsgs", "nsgs", { 2, 3 }, shares)
end)

describe("Gauss-Seidel", function()
  it("stops at its limit", function()
    math.randomseed(3)
    local p = random_friction.problem("tower", 3, 12)
    local a = methods.solve(p, "nsgs", { max_iterations = 2 })
    assert.is_false(a.success)
    assert.equal("iteration limit", a.status)
    assert.equal(2, a.iterations)
    local b = methods.solve(p, "nsgs", { max_iterations = 150 })
    assert.equal(b.success and "ok" or "iteration limit", b.status)
    assert.is_true(b.residual < a.residual)
  end)
end)
