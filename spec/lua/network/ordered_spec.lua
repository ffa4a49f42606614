-- nslua.network.ordered.
local ordered = require "nslua.network.ordered"

describe("ordered", function()
  it("goes through a table in the order of its names", function()
    local seen = {}
    for name, value in ordered { ["c.1"] = 3, a = 1, b = 2, ["0"] = 0 } do seen[#seen + 1] = name .. "=" .. value end
    assert.same({ "0=0", "a=1", "b=2", "c.1=3" }, seen)
    for _ in ordered {} do error "there is nothing" end
  end)
end)
