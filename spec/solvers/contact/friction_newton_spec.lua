-- Newton's method on the Alart-Curnier map.
local methods = require "solvers.friction_methods"
local random_friction = methods.random_friction

describe("friction by newton alone", function()
  local shares = { full_rank = 0.9, tower = 0.7, frictionless = 1, nearly_open = 0.9, badly_scaled = 0.9 }
  methods.check_shares(it, "newton", "newton", { 2, 3 }, shares)
end)

describe("Newton", function()
  it("reaches rounding in a few steps, whatever the units", function()
    math.randomseed(2)
    for _ = 1, 20 do
      local p = random_friction.problem("badly_scaled", 3, 4)
      local a = methods.solve(p, "newton")
      if a.success then assert.is_true(a.scaled <= 1e-12 and a.iterations <= 40) end
    end
  end)

  it("solves forces that are not unique", function()
    math.randomseed(6)
    local solved = 0
    for _ = 1, 20 do
      local p = random_friction.problem("table_legs", 3, 6)
      local a = methods.solve(p, "newton")
      if a.success then
        solved = solved + 1
        assert.is_true(random_friction.residual(p, a.r) <= 1e-8)
      end
    end
    assert.is_true(solved >= 15, solved)
  end)
end)
