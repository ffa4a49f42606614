require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"

describe("the proximal point method", function()
  -- Singular and monotone, free variables that depend on each other: where paths of pivots have no basis.
  it("helps where the matrix is singular and monotone", function()
    math.randomseed(5)
    for _ = 1, 30 do
      local n = math.random(3, 9)
      local p = { M = {}, q = {}, lower = {}, upper = {} }
      local v, x = {}, {}
      for i = 1, n do v[i], x[i] = math.random(-3, 3), math.random(-2, 2) end
      for i = 1, n do
        p.M[i], p.q[i] = {}, 0
        p.lower[i], p.upper[i] = i % 2 == 0 and -math.huge or -3, i % 2 == 0 and math.huge or 3
        for j = 1, n do p.M[i][j] = v[i] * v[j] end
      end
      for i = 1, n do for j = 1, n do p.q[i] = p.q[i] - p.M[i][j] * x[j] end end
      local answer = box(p)
      assert.equal("NS_OK", answer.status)
      assert.is_true(boxes.violation(p, answer.z) <= 1e-11)
    end
  end)
end)
