local ns = require "nslua"
local problems = dofile "spec/reference/numerics_problems.lua"

describe("numerics on reference problems", function()
  for _, p in ipairs(problems) do
    it("solves " .. p.name, function()
      local r = ns.numerics.box { M = p.M, q = p.q, lower = p.lower, upper = p.upper }
      assert.equal(p.solvable, r.success)
      if not p.solvable then return end
      local worst, z = 0, r.z:totable()
      for i = 1, #p.q do
        local w = p.q[i]
        for j = 1, #p.q do w = w + p.M[i][j] * z[j] end
        -- the residual of a free variable is its equation
        worst = math.max(worst, math.abs(z[i] - math.max(p.lower[i], math.min(p.upper[i], z[i] - w))))
      end
      assert.is_true(worst <= 1e-8 * p.scale, worst)
      assert.near(worst, r.residual, 1e-9 * p.scale)
    end)
  end
end)
