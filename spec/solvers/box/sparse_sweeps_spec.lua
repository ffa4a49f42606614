local ns = require "nslua"

describe("sweeps by the columns of a sparse matrix", function()
  local n = 30
  local M, q = ns.spdiags({ -1, 3, -1 }, { -1, 0, 1 }, n), ns.vector(n)
  for i = 1, n do q[i] = math.cos(i) end

  it("come to the solution of the other methods, by either name", function()
    local want = ns.numerics.lcp { M = M, q = q }
    for _, name in ipairs { "psor", "pgs" } do
      local r = ns.numerics.lcp { M = M, q = q, solver = name, omega = 1.1 }
      assert.is_true(r.success)
      assert.equal("psor", r.solver)
      for i = 1, n do assert.near(want.z[i], r.z[i], 1e-9) end
    end
  end)

  it("need a positive diagonal", function()
    local S = ns.sparse { rows = 2, cols = 2, i = { 1, 2 }, j = { 2, 1 }, v = { 1, 1 } }
    assert.error_matches(function() ns.numerics.lcp { M = S, q = { -1, -1 }, solver = "psor" } end,
      "solver 'psor' needs a positive diagonal of M", 1, true)
  end)
end)
