local ns = require "nslua"
local problems = dofile "spec/random_problems.lua"
local inf = math.huge

for _, solver in ipairs { "newton_min", "newton_fb" } do
  describe(solver, function()
    it("finds the unique solutions of positive definite problems", function()
      math.randomseed(3)
      local solved = 0
      for _ = 1, 60 do
        local p = problems.kinds[math.random() < 0.5 and "positive_definite" or "mixed"](math.random(1, 12))
        local r = ns.numerics.box { M = p.M, q = p.q, lower = p.lower, upper = p.upper, solver = solver }
        if r.success then
          solved = solved + 1
          local d = ns.numerics.box { M = p.M, q = p.q, lower = p.lower, upper = p.upper }
          for i = 1, #p.q do assert.near(d.z[i], r.z[i], 1e-9 * (1 + math.abs(d.z[i]))) end
        end
      end
      assert.is_true(solved >= (solver == "newton_fb" and 58 or 50), solved)
    end)

    it("takes one step when every variable is free", function()
      local r = ns.numerics.box { M = { { 2, 1 }, { 1, 3 } }, q = { -3, -4 }, lower = -inf, upper = inf,
        solver = solver }
      assert.equal(1, r.iterations)
      assert.same({ 1, 1 }, r.z:totable())
    end)

    it("stops at the limit", function()
      local p = problems.kinds.infeasible(4)
      local r = ns.numerics.lcp { M = p.M, q = p.q, solver = solver, max_iterations = 3 }
      assert.is_false(r.success)
      assert.is_true(r.iterations <= 3)
    end)
  end)
end
