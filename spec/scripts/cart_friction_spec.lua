-- scripts/cart_friction.lua: the closed forms in its header.
local here = package.searchpath("nslua.ipopt", package.cpath)
local test = here and it or function(name) pending(name .. " (nslua.ipopt is not built: make optimisers)") end

describe("scripts/cart_friction.lua", function()
  local script = require "script_run"("cart_friction", setup, teardown)

  test("finds least effort and least time", function()
    local out, err, status = script "--elements 16"
    assert.equal("", err)
    assert.equal(0, status)
    local costs = {}
    for cost in out:gmatch "cost = (%S+)," do costs[#costs + 1] = tonumber(cost) end
    assert.near(16 / math.sqrt(3), costs[1], 1e-8)
    assert.near(math.sqrt(20 / 21), costs[2], 1e-8)
    assert.matches("dT/dfriction = 0.092943, dT/ddistance = 0.487950", out, 1, true)
  end)
end)
