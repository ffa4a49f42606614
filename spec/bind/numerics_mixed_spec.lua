-- ns.numerics.generic_mechanical: arguments and results.
local ns = require "nslua"
local problems = require "solvers.mixed_problems"
local message = require "bind.models".message

local nan, inf = 0 / 0, math.huge
local solve = ns.numerics.generic_mechanical

local function refused(text, options)
  assert.equal("generic_mechanical: " .. text, message(solve, options))
end

describe("generic_mechanical", function()
  it("returns all that a result has", function()
    local r = solve { W = ns.eye(4), q = { -1, 0.2, 1, -3 }, groups = { { dim = 2, mu = 0.3 }, { lower = 0 }, { upper = 2 } } }
    assert.same({ true, "ok", "solved" }, { r.success, r.status, r.message })
    assert.equal(ns.vector { 1, -0.2, 0, 2 }, r.z)
    assert.equal(ns.vector { 0, 0, 1, -1 }, r.w)
    for _, name in ipairs { "residual", "relative", "time" } do assert.equal("number", type(r[name]), name) end
    assert.equal("integer", math.type(r.iterations))
    assert.equal("string", type(r.solver))
  end)

  it("takes a matrix, rows or a sparse matrix, with the same answer", function()
    math.randomseed(1)
    for _, name in ipairs(problems.names) do
      local p = problems.problem("definite", problems.lists[name])
      local r = solve(p)
      for _, W in ipairs { ns.matrix(p.W), ns.sparse(p.W) } do
        local s = solve { W = W, q = ns.vector(p.q), groups = p.groups }
        assert.is_true(s.success, name)
        for k = 1, #p.q do assert.near(r.z[k], s.z[k], 1e-8) end
      end
    end
  end)

  it("does what each group says", function()
    local W, q = { { 2, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { -4, 3, 0 }
    local function z(group, more)
      local r = solve { W = W, q = q, groups = more and { group, more } or { group } }
      assert.is_true(r.success)
      return r.z:totable()
    end
    local function first(group) return solve { W = { { 2 } }, q = { -4 }, groups = { group } }.z[1] end
    assert.equal(2, first {})
    assert.equal(2, first { dim = 1 })
    assert.equal(2, first { lower = 0 })
    assert.equal(1, first { lower = 0, upper = 1 })
    assert.equal(-1, first { upper = -1 })
    assert.equal(3, first { lower = 3, upper = 3 })
    assert.same({ 2, -1, 0 }, z { dim = 3, mu = 0.5 })
    assert.same({ 2, -3, 0 }, z { dim = 3, mu = 5 })
    assert.same({ 2, 0, 0 }, z { dim = 3 })
    assert.same({ 2, -1, 0 }, z({ dim = 2, mu = 0.5 }, {}))
  end)

  it("tells that rows have no solution", function()
    for q, group in pairs { [1] = {}, [-1] = { lower = 0 } } do
      local r = solve { W = { { 0 } }, q = { q }, groups = { group } }
      assert.same({ false, "no solution" }, { r.success, r.status })
    end
  end)

  it("refuses bad data, each by its name", function()
    local W, g = { { 1 } }, { {} }
    refused("options: expected one table, got nil", nil)
    refused("options: expected one table, got number 3.0", 3)
    refused("unknown option 'mu' (known: W, q, groups, tolerance, max_iterations, z0)", { mu = 1 })
    refused("W: expected a square matrix, got nil", { q = { 1 }, groups = g })
    refused("W: expected a square matrix, got 1 x 2 matrix", { W = { { 1, 2 } }, q = { 1 }, groups = g })
    refused("W: expected a square matrix, got 1 x 2 sparse matrix",
      { W = ns.sparse { rows = 1, cols = 2, i = {}, j = {}, v = {} }, q = { 1 }, groups = g })
    refused("the problem is empty", { W = ns.zeros(0, 0), q = {}, groups = {} })
    refused("W[1][1] is nan", { W = { { nan } }, q = { 1 }, groups = g })
    refused("q: expected a vector of 1, got nil", { W = W, groups = g })
    refused("q: expected a vector of 1, got table of 2", { W = W, q = { 1, 2 }, groups = g })
    refused("q[1] is nan", { W = W, q = { nan }, groups = g })
    refused("z0: expected a vector of 1, got table of 2", { W = W, q = { 1 }, groups = g, z0 = { 1, 2 } })
    refused("z0[1] is inf", { W = W, q = { 1 }, groups = g, z0 = { inf } })
    refused("tolerance: expected a number between 0 and 1, got 0", { W = W, q = { 1 }, groups = g, tolerance = 0 })
    refused("max_iterations: expected an integer of 1 or more, got 0", { W = W, q = { 1 }, groups = g, max_iterations = 0 })
    refused("max_iterations: expected an integer, got number 2.5", { W = W, q = { 1 }, groups = g, max_iterations = 2.5 })
  end)

  it("refuses bad groups, each by its number", function()
    local function bad(text, ...) refused(text, { W = ns.eye(2), q = { 1, 1 }, groups = { ... } }) end
    refused("groups: expected a list of tables, got nil", { W = { { 1 } }, q = { 1 } })
    refused("groups: expected a list of tables, got number 3.0", { W = { { 1 } }, q = { 1 }, groups = 3 })
    bad("groups[2]: expected a table, got number 3.0", {}, 3)
    bad("groups: unknown option 'size' (known: dim, mu, lower, upper)", { size = 2 })
    bad("groups[1].dim: expected 1, 2 or 3, got 4.0", { dim = 4 })
    bad("groups[1].dim: expected 1, 2 or 3, got 1.5", { dim = 1.5 })
    bad("groups[1].dim: expected a number, got string", { dim = "2" })
    bad("groups[1].mu = -1.0 is negative", { dim = 2, mu = -1 })
    bad("groups[1].mu is inf", { dim = 2, mu = inf })
    bad("groups[1].mu: expected a number, got number nan", { dim = 2, mu = nan })
    bad("groups[2].lower: expected a number, got number nan", {}, { lower = nan })
    bad("groups[2]: the bounds lower = 2.0, upper = 1.0 are no interval", {}, { lower = 2, upper = 1 })
    bad("groups[1]: the bounds lower = inf, upper = inf are no interval", { lower = inf })
    bad("groups[1]: the bounds lower = -inf, upper = -inf are no interval", { upper = -inf })
    bad("groups: expected 2 rows in all, got 3", { dim = 3 })
    bad("groups: expected 2 rows in all, got 1", {})
    bad("groups: expected 2 rows in all, got 0")
  end)
end)
