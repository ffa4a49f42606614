require "nslua"
local sparse_proximal = require("nslua.internal").sparse_proximal
local boxes = dofile "spec/solvers/boxes.lua"

describe("the proximal point method with sparse matrices", function()
  -- Positions of n contacts that move two numbers each of the next two: 2 n rows of rank n + 1. A solution is known.
  local function dependent(n)
    local p = { M = {}, q = {}, lower = {}, upper = {} }
    local H, z = {}, {}
    for i = 1, 2 * n do
      H[i], z[i] = {}, math.max(0, math.random(-2, 2))
      for k = 1, n + 1 do H[i][k] = 0 end
      local k = (i + 1) // 2
      H[i][k], H[i][k + 1] = math.random(1, 3), math.random(-3, -1)
      if i % 2 == 0 and math.random() < 0.5 then H[i] = { table.unpack(H[i - 1]) } end
    end
    for i = 1, 2 * n do
      p.M[i], p.q[i], p.lower[i], p.upper[i] = {}, z[i] == 0 and math.random(0, 1) or 0, 0, math.huge
      for j = 1, 2 * n do
        local sum = 0
        for k = 1, n + 1 do sum = sum + H[i][k] * H[j][k] end
        p.M[i][j], p.q[i] = sum, p.q[i] - sum * z[j]
      end
    end
    return p
  end

  it("solves rows that depend on each other", function()
    math.randomseed(7)
    for n = 2, 34, 2 do
      local p = dependent(n)
      local answer = sparse_proximal(p)
      assert.equal("NS_OK", answer.status, n)
      assert.is_true(answer.steps >= 1 and answer.error <= 1e-11)
      assert.is_true(boxes.violation(p, answer.z) <= 1e-10, n)
    end
  end)

  it("refuses a diagonal that is not positive", function()
    local answer = sparse_proximal { M = { { 1, 1 }, { 1, 0 } }, q = { -1, -1 }, lower = { 0, 0 }, upper = { 1, 1 } }
    assert.equal("NS_EARG", answer.status)
  end)
end)
