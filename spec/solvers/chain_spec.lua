require "nslua.core"
local box = require("nslua.internal").box

describe("the loop of a chain", function()
  it("tells of the step that says most when no method has an answer", function()
    local answer = box { M = { { -1, 0, 1 }, { 1, -1, 0 }, { 0, 1, -1 } }, q = { -1, -1, -1 } }
    assert.not_equal("NS_OK", answer.status)
    assert.truthy(("pivot enumerate branch"):find(answer.solver, 1, true), answer.solver)
  end)

  it("ends where it is proved that there is no solution", function()
    local answer = box { M = { { 0, 1 }, { -1, 0 } }, q = { -2, -1 }, lower = { 0, 0 } }
    assert.equal("NS_ENOSOL", answer.status)
    assert.equal("enumerate", answer.solver)
  end)

  it("accepts nothing that is not verified", function()
    local answer = box { M = { { 2, 1 }, { 1, 2 } }, q = { -3, -4 }, method = "pgs", max_iterations = 1, tolerance = 1e-14 }
    assert.is_true(answer.status ~= "NS_OK" or answer.backward <= 1e-14)
  end)
end)
