require "nslua"
local box = require("nslua.internal").box
local boxes = dofile "spec/solvers/boxes.lua"

describe("candidates of dense problems", function()
  it("are measured on the data given, and better than the tolerance by direct methods", function()
    math.randomseed(8)
    for _ = 1, 30 do
      local p = boxes.problem("positive_definite", "one_or_two_sided", math.random(2, 8))
      for i = 1, #p.q do
        for j = 1, #p.q do p.M[i][j] = p.M[i][j] * 2.0 ^ (7 * i - 5 * j) end
        p.q[i], p.lower[i], p.upper[i] = p.q[i] * 2.0 ^ (7 * i), p.lower[i] * 2.0 ^ (5 * i), p.upper[i] * 2.0 ^ (5 * i)
      end
      p.guess = nil
      for _, method in ipairs { "default", "lemke", "newton_min", "interior", "principal" } do
        p.method = method
        local answer = box(p)
        if answer.status == "NS_OK" then
          assert.is_true(boxes.violation(p, answer.z) <= 1e-11, method)
          assert.is_true(answer.backward <= 1e-11)
        end
      end
    end
  end)

  it("that are lost far out do not count", function()
    local answer = box { M = { { 1, -1, 0 }, { -1, 1, 0 }, { 0, 0, 1 } }, q = { -1, -1, 1 } }
    assert.not_equal("NS_OK", answer.status)
  end)
end)
