local ns = require "nslua"

describe("active sets on a sparse matrix", function()
  it("agree with those on the dense matrix", function()
    math.randomseed(31)
    for _ = 1, 20 do
      local n = math.random(5, 40)
      local M, q = ns.spdiags({ -1, 2 + math.random(), -1 }, { -1, 0, 1 }, n), ns.vector(n)
      for i = 1, n do q[i] = math.random() - 0.5 end
      local a = ns.numerics.box { M = M, q = q, lower = -0.2, upper = 0.3 }
      local b = ns.numerics.box { M = M:tomatrix(), q = q, lower = -0.2, upper = 0.3 }
      assert.is_true(a.success and b.success)
      for i = 1, n do assert.near(b.z[i], a.z[i], 1e-12) end
    end
  end)
end)
