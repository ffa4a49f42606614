require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"

describe("projected Gauss-Seidel", function()
  it("agrees with pivoting on diagonally dominant problems", function()
    math.randomseed(4)
    for _ = 1, 60 do
      local n = math.random(2, 12)
      local p = boxes.problem("any", "one_or_two_sided", n)
      for i = 1, n do p.M[i][i] = n + 1 end
      p.method = "pgs"
      local a = box(p)
      p.method = "pivot"
      local b = box(p)
      assert.equal("NS_OK", a.status)
      assert.equal("pgs", a.solver)
      assert.is_true(boxes.violation(p, a.z) <= 1e-11)
      for i = 1, n do assert.near(b.z[i], a.z[i], 1e-9) end
    end
  end)

  it("refuses a diagonal that is not positive", function()
    local a = box { method = "pgs", M = { { 1, 0 }, { 1, 0 } }, q = { -1, -1 } }
    assert.equal("NS_EARG", a.status)
  end)

  it("says so when it stops at the cap of sweeps", function()
    local M = { { 1, -2, 3 }, { 2, 1, -3 }, { -3, 3, 1 } }
    local p = { method = "pgs", M = M, q = { -1, -2, -3 }, lower = { -1, -1, -1 }, upper = { 1, 1, 1 } }
    p.max_iterations = 40
    local a = box(p)
    assert.equal("NS_EMAXITER", a.status)
    assert.equal(40, a.iterations)
    assert.is_true(a.backward > 1e-3)
  end)

  it("stops earlier for a larger tolerance", function()
    local M = boxes.matrix(30, function(i, j) return i == j and 2 or math.abs(i - j) == 1 and -0.98 or 0 end)
    local p = { method = "pgs", M = M, q = {}, lower = {}, upper = {} }
    for i = 1, 30 do p.q[i], p.lower[i], p.upper[i] = math.sin(i * i), -50, 50 end
    local fine = box(p)
    p.tolerance = 1e-4
    local coarse = box(p)
    assert.is_true(coarse.iterations < fine.iterations)
    assert.equal("NS_OK", coarse.status)
  end)
end)
