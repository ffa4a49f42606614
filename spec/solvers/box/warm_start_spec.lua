require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"

describe("the warm start", function()
  it("takes no pivot from the solution, and few from its neighbourhood", function()
    math.randomseed(21)
    for _ = 1, 40 do
      local n = math.random(2, 8)
      local p = boxes.problem("positive_definite", "compact", n)
      local first = box(p)
      p.guess = first.z
      local again = box(p)
      assert.equal("active set", again.solver)
      assert.is_true(again.warm)
      for i = 1, n do p.q[i] = p.q[i] * (1 + 1e-3) end
      local near = box(p)
      assert.equal("NS_OK", near.status)
      assert.is_true(boxes.violation(p, near.z) <= 1e-13)
    end
  end)

  it("keeps a guess that solves a problem of many solutions", function()
    local answer = box { M = { { 0, 0, 1 }, { 0, 0, 1 }, { -1, -1, 0 } }, q = { 0, 0, 1 }, guess = { 0.25, 0.75, 0 } }
    assert.equal("NS_OK", answer.status)
    assert.equal("guess", answer.solver)
    assert.same({ 0.25, 0.75, 0 }, answer.z)
  end)
end)
