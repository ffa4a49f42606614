local host = require "host"

describe("scripts/cart_pole.lua", function()
  it("swings the pendulum up between the stops, and balances it", function()
    local out, err, status = host.nslua_run "scripts/cart_pole.lua"
    assert.same({ "", 0 }, { err, status })
    assert.near(-math.sqrt(20), tonumber(out:match "gain %[ *(%S+)"), 1e-5) -- a property of the LQR of a cart: q_x / r = 20
    local impacts, up = out:match "(%d+) impacts at the stops; the pendulum is up from t = (%S+)"
    assert.is_true(tonumber(impacts) >= 1 and tonumber(up) < 6)
    local x, cos = out:match "x = (%S+), cos a = (%S+)"
    assert.near(0, tonumber(x), 1e-4)
    assert.near(1, tonumber(cos), 1e-8)
  end)
end)
