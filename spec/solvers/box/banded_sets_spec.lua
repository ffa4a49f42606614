local ns = require "nslua"
local inf = math.huge

-- A band of b diagonals on either side, its entries by a function.
local function problem(n, b, entry, lower, upper)
  local M, q = ns.matrix(n, n), ns.vector(n)
  for i = 1, n do
    q[i] = math.random() * 2 - 1
    for j = math.max(1, i - b), math.min(n, i + b) do M[i][j] = entry(i, j) end
  end
  return { M = M, q = q, lower = lower, upper = upper }
end

local function violation(p, z)
  local w, worst = p.M * z + p.q, 0
  local function bound(x, i) return type(x) == "number" and x or x[i] end
  for i = 1, #z do
    local l, u = bound(p.lower, i), bound(p.upper, i)
    assert.is_true(z[i] >= l and z[i] <= u)
    if not ((z[i] == l and w[i] >= 0) or (z[i] == u and w[i] <= 0)) then worst = math.max(worst, math.abs(w[i])) end
  end
  return worst
end

local kinds = {
  rod = { 1, function(i, j) return i == j and 2 or -1 end },
  beam = { 2, function(i, j) return ({ [0] = 6, -4, 1 })[math.abs(i - j)] end },
  dominant = { 3, function(i, j) return i == j and 7 or math.sin(5 * i + 3 * j) end },
}

describe("block principal pivoting on a band", function()
  it("gives the answers of the other methods", function()
    math.randomseed(9)
    for name, kind in pairs(kinds) do
      for _, n in ipairs { 48, 90, 150 } do
        local lower, upper = ns.vector(n) - 0.3, ns.vector(n) + 0.5
        for i = 1, n, 4 do lower[i], upper[i] = -inf, inf end
        local p = problem(n, kind[1], kind[2], lower, upper)
        p.solver = "banded"
        local a = ns.numerics.box(p)
        assert.is_true(a.success, name)
        assert.equal("banded", a.solver)
        assert.is_true(violation(p, a.z) <= 1e-12, name)
        p.solver = "principal"
        local b = ns.numerics.box(p)
        for i = 1, n do assert.near(b.z[i], a.z[i], 1e-9 * (1 + math.abs(b.z[i])), name) end
      end
    end
  end)

  it("comes first in the chain where there is no guess, and only there", function()
    math.randomseed(4)
    local p = problem(80, 1, kinds.rod[2], -0.2, 0.2)
    local cold = ns.numerics.box(p)
    assert.equal("banded", cold.solver)
    p.z0 = cold.z
    assert.equal("active set", ns.numerics.box(p).solver)
  end)

  it("gives the same bits in all units of rows and variables", function()
    math.randomseed(6)
    local n = 64
    local p = problem(n, 2, kinds.beam[2], ns.vector(n) - 0.3, ns.vector(n) + 0.4)
    p.solver = "banded"
    local a = ns.numerics.box(p)
    local scaled = { M = ns.matrix(n, n), q = ns.vector(n), lower = ns.vector(n), upper = ns.vector(n), solver = "banded" }
    for i = 1, n do
      local r = 2.0 ^ ((7 * i) % 31)
      scaled.q[i] = p.q[i] * r
      for j = 1, n do scaled.M[i][j] = p.M[i][j] * r / 2.0 ^ ((5 * j) % 23) end
      local c = 2.0 ^ ((5 * i) % 23)
      scaled.lower[i], scaled.upper[i] = p.lower[i] * c, p.upper[i] * c
    end
    local b = ns.numerics.box(scaled)
    assert.is_true(a.success and b.success)
    for i = 1, n do assert.equal(a.z[i] * 2.0 ^ ((5 * i) % 23), b.z[i]) end
  end)

  it("says what it needs", function()
    for _, p in ipairs { problem(20, 1, kinds.rod[2], 0, 1), problem(60, 30, function() return math.random() end, 0, 1) } do
      p.solver = "banded"
      assert.error_matches(function() ns.numerics.box(p) end,
        "box: solver 'banded' needs 48 variables or more and a band of at most n / 8 on either side of M", 1, true)
    end
  end)

  it("gives way to the others where sets go to and fro", function()
    math.randomseed(12)
    local p = problem(60, 2, function(i, j) return i == j and 0.2 or (i < j and 1 or -1) end, -0.3, 0.5)
    local r = ns.numerics.box(p)
    assert.is_true(r.success)
    assert.is_true(violation(p, r.z) <= 1e-11)
  end)
end)
