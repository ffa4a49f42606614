require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"

describe("the chain for dense problems", function()
  it("tries principal pivots by sign first for few bounded variables without a guess", function()
    local p = { M = { { 4, 1, 0.5 }, { 1, 3, 1 }, { 0.5, 1, 5 } }, q = { -1, 2, -3 } }
    assert.equal("principal", box(p).solver)
    p.guess = { 0.2, 0, 0.5 }
    assert.equal("active set", box(p).solver)
  end)

  it("needs no balancing for dense matrices of middle size without a guess: pivots in order, then exchanges of blocks", function()
    math.randomseed(3)
    for n = 20, 60, 10 do
      local p = { M = {}, q = {} }
      for i = 1, n do
        p.M[i], p.q[i] = {}, math.random() - 0.5
        for j = 1, n do p.M[i][j] = i == j and n or math.random() - 0.5 end
      end
      local answer = box(p)
      assert.equal(n <= 24 and "principal" or "active set", answer.solver)
      assert.is_true(boxes.violation(p, answer.z) <= 1e-13)
      for i = 1, n do
        local unit = 2.0 ^ math.random(-40, 40)
        p.q[i] = p.q[i] * unit
        for j = 1, n do p.M[i][j] = p.M[i][j] * unit end
      end
      local other = box(p)
      for i = 1, n do assert.equal(answer.z[i], other.z[i]) end
    end
  end)

  it("tries all active sets of two variables", function()
    local answer = box { M = { { -1, 2 }, { 2, -1 } }, q = { 1, 1 }, guess = { 0.4, 5 } }
    assert.equal("NS_OK", answer.status)
  end)

  it("takes the sweeps' active set for large symmetric problems", function()
    math.randomseed(2)
    local n, p = 70, { M = {}, q = {} }
    for i = 1, n do
      p.M[i], p.q[i] = {}, math.random() - 0.5
      for j = 1, n do p.M[i][j] = i == j and 70 or 1 + (i + j) % 3 / 4 end
    end
    local answer = box(p)
    assert.equal("pgs, active set", answer.solver)
    assert.is_true(boxes.violation(p, answer.z) <= 1e-13)
  end)

  it("solves two-sided problems along the paths of a game", function()
    local p = { M = {}, q = {} }
    local A = { { 1, 3, 2 }, { 4, 1, 2 }, { 2, 2, 5 } }
    for i = 1, 6 do
      p.M[i], p.q[i] = {}, -1
      for j = 1, 6 do
        local first, second = i <= 3 and j > 3, i > 3 and j <= 3
        p.M[i][j] = first and A[i][j - 3] or second and A[i - 3][j] + (i == j + 3 and 1 or 0) or 0
      end
    end
    local answer = box(p)
    assert.equal("NS_OK", answer.status)
    assert.is_true(boxes.violation(p, answer.z) <= 1e-13)
  end)
end)
