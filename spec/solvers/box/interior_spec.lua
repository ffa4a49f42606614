local ns = require "nslua"
local problems = dofile "spec/random_problems.lua"

describe("interior point", function()
  it("solves monotone problems in few steps, singular ones too", function()
    math.randomseed(5)
    local solved = 0
    for k = 1, 60 do
      local p = problems.kinds[k % 2 == 0 and "semidefinite" or "positive_definite"](math.random(1, 15))
      local r = ns.numerics.box { M = p.M, q = p.q, lower = p.lower, upper = p.upper, solver = "interior" }
      if r.success then
        solved = solved + 1
        assert.is_true(r.iterations <= 40)
        assert.is_true(problems.violation(p, r.z:totable()) <= 1e-10)
      end
    end
    assert.is_true(solved >= 59, solved)
  end)

  it("does not call an infeasible problem solved", function()
    for _ = 1, 20 do
      local p = problems.kinds.infeasible(math.random(1, 6))
      assert.is_false(ns.numerics.lcp { M = p.M, q = p.q, solver = "interior" }.success)
    end
  end)

  it("holds fixed variables", function()
    local r = ns.numerics.box { M = { { 2, 1 }, { 1, 3 } }, q = { -3, -4 }, lower = { 0, 0.5 }, upper = { 9, 0.5 },
      solver = "interior" }
    assert.same({ 1.25, 0.5 }, r.z:totable())
  end)
end)
