local ns = require "nslua"
local box = require("nslua.internal").box

describe("the measures of an answer", function()
  it("are zero for an exact one", function()
    local a = box { M = { { 2, 1 }, { 1, 2 } }, q = { -4, 1 } }
    assert.same({ 2, 0 }, a.z)
    assert.equal(0, a.residual)
    assert.equal(0, a.relative)
    assert.equal(0, a.backward)
  end)

  it("follow their definition on a failure", function()
    -- z stays at 0: w = q, rho = 1 over the largest entry of a row without a positive diagonal
    local b = box { M = { { -2, 0 }, { 0, -4 } }, q = { -6, 1 }, method = "pgs" }
    assert.equal("NS_EARG", b.status)
    assert.same({ 0, 0 }, b.z)
    assert.equal(3, b.residual)
    assert.equal(1, b.relative)
    assert.equal(1, b.backward)
  end)
end)

-- Singular problems M = A A' of small whole numbers: every second one has a solution.
describe("a singular problem", function()
  local random = math.random

  local function draw(solvable)
    local n = random(2, 6)
    local r, A, M, q = random(1, n - 1), {}, {}, {}
    for i = 1, n do
      A[i], q[i] = {}, solvable and 0 or random(-1, 1)
      for k = 1, r do A[i][k] = random(-1, 1) end
    end
    for i = 1, n do
      M[i] = {}
      for j = 1, n do
        M[i][j] = 0
        for k = 1, r do M[i][j] = M[i][j] + A[i][k] * A[j][k] end
      end
    end
    for j = 1, solvable and n or 0 do
      local z = random(0, 3)
      if z == 0 then q[j] = q[j] + random(0, 2) end
      for i = 1, n do q[i] = q[i] - M[i][j] * z end
    end
    return M, q
  end

  local function groups(n)
    local list = {}
    for i = 1, n do list[i] = { dim = 1, lower = 0 } end
    return list
  end

  local solvers = {
    dense = function(M, q) return ns.numerics.lcp { M = M, q = q } end,
    sparse = function(M, q) return ns.numerics.lcp { M = ns.sparse(M), q = q } end,
    ["rows of mechanics"] = function(M, q) return ns.numerics.generic_mechanical { W = M, q = q, groups = groups(#q) } end,
  }

  for name, solve in pairs(solvers) do
    it("is solved or refused, never lost in an answer far out on a ray: " .. name, function()
      math.randomseed(12)
      for k = 1, 600 do
        local M, q = draw(k % 2 == 0)
        local r = solve(M, q)
        assert.is_true(r.success or k % 2 == 1, "number " .. k)
        for i = 1, r.success and #q or 0 do
          local w = q[i]
          for j = 1, #q do w = w + M[i][j] * r.z[j] end
          assert.is_true(math.abs(math.min(r.z[i], w)) <= 1e-4, "number " .. k)
        end
      end
    end)
  end

  it("is an error in a step, with sparse matrices too", function()
    for _, form in ipairs { ns.matrix, ns.sparse } do
      local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      local relation = ns.FirstOrderLinearTIR { C = { { 0 }, { 0 } }, B = { { 0, 0 } }, D = form { { 1, -1 }, { -1, 1 } },
        e = { -1, -1 } }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(2), relation), ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), ns.LCP())
      assert.error_matches(function() simu:computeOneStep() end, "LCP: the one-step problem has no accepted solution", 1, true)
    end
  end)
end)
