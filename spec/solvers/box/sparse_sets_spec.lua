local ns = require "nslua"

describe("the active set of the guess, sparse", function()
  local n = 60
  local M, q = ns.spdiags({ -1, 2.5, -1 }, { -1, 0, 1 }, n), ns.vector(n)
  for i = 1, n do q[i] = math.sin(i) end

  it("is right at once from the solution", function()
    local first = ns.numerics.lcp { M = M, q = q }
    assert.equal("active set", first.solver)
    local again = ns.numerics.lcp { M = M, q = q, z0 = first.z }
    assert.equal("active set", again.solver)
    assert.equal(0, again.iterations)
    assert.same(first.z:totable(), again.z:totable())
  end)

  it("gives way to interior points where a free boundary has far to go", function()
    local many = 600
    local r = ns.numerics.lcp { M = ns.spdiags({ -1, 2, -1 }, { -1, 0, 1 }, many), q = ns.vector(many) - 1e-3 }
    assert.is_true(r.success)
    assert.is_true(r.solver == "active set" or r.solver == "interior", r.solver)
  end)
end)
