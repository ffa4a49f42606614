local host = require "host"

describe("scripts/boost_pi.lua", function()
  it("holds the voltage with a flowing and with a resting current #once", function()
    local out, err, status = host.nslua_run "scripts/boost_pi.lua"
    assert.same({ "", 0 }, { err, status })
    local d, u, least = out:match "R = 10: +d = (%S+), u = (%S+), least current (%S+)"
    assert.near(1 - 5 / tonumber(u), tonumber(d), 1e-3)
    assert.near(12, tonumber(u), 0.1) -- half of the ripple: the lowest value is sampled
    assert.is_true(tonumber(least) > 1)
    d, u, least = out:match "R = 40: +d = (%S+), u = (%S+), least current (%S+)"
    assert.near(math.sqrt(2 / 40 * 2.4 * 1.4), tonumber(d), 2e-3)
    assert.near(12, tonumber(u), 0.05)
    assert.near(0, tonumber(least), 1e-9)
  end)
end)
