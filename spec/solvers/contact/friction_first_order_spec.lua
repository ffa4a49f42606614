-- Projections alone.
local methods = require "solvers.friction_methods"
local random_friction = methods.random_friction

describe("friction by first_order alone", function()
  local shares = { full_rank = 0.9, tower = 0.9, rank_deficient = 0.9, frictionless = 1 }
  methods.check_shares(it, "first_order", "first order", { 2, 3 }, shares)

  it("stops at its limit with its best iterate", function()
    math.randomseed(3)
    local p = random_friction.problem("tower", 3, 12)
    local a = methods.solve(p, "first_order", { max_iterations = 3 })
    local b = methods.solve(p, "first_order", { max_iterations = 3000 })
    assert.is_false(a.success)
    assert.equal("iteration limit", a.status)
    assert.is_true(b.residual < a.residual)
  end)
end)
