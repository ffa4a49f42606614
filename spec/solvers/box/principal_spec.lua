local ns = require "nslua"
local inf = math.huge

local function upper_triangular(n)
  local M, q = {}, {}
  for i = 1, n do
    M[i], q[i] = {}, 0
    for j = 1, n do M[i][j] = i == j and 1 or i < j and 2 or 0 end
    for k = i, n do q[i] = q[i] - 2 ^ k end
  end
  return M, q
end

describe("principal pivoting", function()
  it("takes 2^n - 1 exchanges by least index on Murty's matrix, and the default chain one", function()
    local M, q = upper_triangular(10)
    local r = ns.numerics.lcp { M = M, q = q, solver = "principal" }
    assert.is_true(r.success)
    assert.equal(1023, r.iterations)
    r = ns.numerics.lcp { M = M, q = q }
    assert.equal("principal", r.solver)
    assert.equal(1, r.iterations)
    assert.equal(1024, r.z[10])
  end)

  it("exchanges two components where the diagonal is zero", function()
    local r = ns.numerics.lcp { M = { { 0, -1, 2 }, { 2, 0, -2 }, { -1, 1, 0 } }, q = { -3, 6, -1 },
      solver = "principal" }
    assert.is_true(r.success)
    assert.same({ 0, 1, 3 }, r.z:totable())
  end)

  it("stops at the limit", function()
    local M, q = upper_triangular(10)
    local r = ns.numerics.lcp { M = M, q = q, solver = "principal", max_iterations = 100 }
    assert.is_false(r.success)
    assert.equal("iteration limit", r.status)
  end)

  it("eliminates free variables whose own block is singular with the help of a bounded one", function()
    -- u has no diagonal entry: its equation is v = 1, and v's own row decides u
    local r = ns.numerics.mlcp { A = { { 0 } }, B = { { 1 } }, C = { { 1 } }, D = { { -1 } }, a = { -1 }, b = { 0 },
      solver = "principal" }
    assert.is_true(r.success)
    assert.same({ 1 }, r.u:totable())
    assert.same({ 1 }, r.v:totable())
  end)

  it("eliminates free variables that are coupled in a ring", function()
    local A = { { 0, 2, 0 }, { 0, 0, 3 }, { 4, 0, 0 } }
    local r = ns.numerics.mlcp { A = A, B = { { 2 } }, C = { { 0 }, { 0 }, { 0 } }, D = { { 0, 0, 0 } },
      a = { -2, -6, -12 }, b = { -1 }, solver = "principal" }
    assert.is_true(r.success)
    assert.same({ 3, 1, 2 }, r.u:totable())
    assert.same({ 0.5 }, r.v:totable())
  end)

  it("says when the free variables have a singular system", function()
    local r = ns.numerics.mlcp { A = { { 0 } }, B = { { 1 } }, C = { { 0 } }, D = { { 1 } }, a = { -1 }, b = { 0 },
      solver = "principal" }
    assert.is_false(r.success)
    assert.equal("singular", r.status)
  end)

  it("keeps boxes", function()
    local r = ns.numerics.box { M = { { 1, 4 }, { 0, 1 } }, q = { -9, 9 }, lower = { -1, -inf }, upper = { 2, -3 },
      solver = "principal" }
    assert.same({ 2, -9 }, r.z:totable())
  end)
end)
