require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"

local function pivot(p)
  p.method = "pivot"
  return box(p)
end

describe("Lemke's method", function()
  it("walks Murty's exponential family to its end", function()
    for n = 1, 10 do
      local p = { M = boxes.matrix(n, function(i, j) return i == j and 1 or j > i and 2 or 0 end), q = {} }
      for i = 1, n do p.q[i] = -(2 ^ (n + 1) - 2 ^ i) end
      local a = pivot(p)
      assert.equal("NS_OK", a.status)
      assert.is_true(boxes.violation(p, a.z) == 0)
      assert.is_true(a.iterations <= 2 ^ n)
    end
  end)

  it("does not cycle where Bard's principal pivoting does (Murty's circulant), nor the default", function()
    local p = { M = { { 1, 2, 0 }, { 0, 1, 2 }, { 2, 0, 1 } }, q = { -1, -1, -1 } }
    for _, method in ipairs { "pivot", "default" } do
      p.method = method
      local a = box(p)
      assert.equal("NS_OK", a.status)
      for i = 1, 3 do assert.near(1 / 3, a.z[i], 1e-15) end
    end
  end)

  it("solves Fathi's symmetric family", function()
    for n = 2, 9 do
      local p = { q = {}, M = boxes.matrix(n, function(i, j) return 4 * math.min(i, j) - (i == j and 3 or 2) end) }
      for i = 1, n do p.q[i] = -1 end
      assert.equal("NS_OK", pivot(p).status)
    end
  end)

  it("gets through heavily tied problems", function()
    math.randomseed(2)
    for _ = 1, 300 do
      local n = math.random(2, 8)
      local M = boxes.matrix(n, function(i, j) return i < j and math.random(-1, 1) or 0 end)
      for i = 1, n do
        for j = 1, i do M[i][j] = i == j and 1 or -M[j][i] end
      end
      local p = { M = M, q = {}, lower = {}, upper = {} }
      for i = 1, n do p.q[i], p.lower[i], p.upper[i] = math.random(-1, 1), 0, math.random(1, 2) end
      local a = pivot(p)
      assert.equal("NS_OK", a.status)
      assert.is_true(boxes.violation(p, a.z) <= 1e-13)
    end
  end)

  it("solves the bimatrix LCP (ray-free by copositivity after a shift)", function()
    local M = { { 0, 0, 2, 3 }, { 0, 0, 4, 1 }, { 5, 2, 0, 0 }, { 1, 3, 0, 0 } }
    local p = { M = M, q = { -1, -1, -1, -1 } }
    p.method = "default"
    local a = box(p)
    assert.equal("NS_OK", a.status)
    assert.is_true(boxes.violation(p, a.z) <= 1e-13)
  end)

  it("ends infeasible monotone problems on a ray", function()
    local p = { M = { { 1, -1, 0 }, { -1, 1, 0 }, { 0, 0, 1 } }, q = { -1, -1, 1 } }
    local a = pivot(p)
    assert.equal("NS_ERAY", a.status)
    assert.equal("ended on a ray", a.message)
  end)

  it("stops at the limit of pivots", function()
    local n = 8
    local p = { M = boxes.matrix(n, function(i, j) return i == j and 1 or j > i and 2 or 0 end), q = {} }
    p.max_iterations = 1 -- in balanced units 2 do
    for i = 1, n do p.q[i] = -(2 ^ (n + 1) - 2 ^ i) end
    assert.equal("NS_EMAXITER", pivot(p).status)
  end)

  it("takes free variables whose own block is singular", function()
    local inf = math.huge
    local p = { M = { { 0, 1, 0 }, { -1, 2, 1 }, { 0, -1, 3 } }, q = { -1, 5, 1 }, lower = { -inf, 0, 0 } }
    local a = pivot(p)
    assert.equal("NS_OK", a.status)
    assert.same({ 7, 1, 0 }, a.z)
  end)
end)
