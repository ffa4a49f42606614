local host = require "host"

describe("scripts/impact_orbit.lua", function()
  it("finds the orbit with one impact, and the grazing where A = c", function()
    local out, err, status = host.nslua_run "scripts/impact_orbit.lua"
    assert.same({ "", 0 }, { err, status })
    assert.matches("A = 1: stable, (x, x') = (0.870835157, 1.703821136), impact at t = 0.075952165", out, 1, true)
    assert.matches("product 0.341432378, e^2 exp(-2 pi c) = 0.341432378", out, 1, true)
    assert.matches("grazing at A = 0.100000000000", out, 1, true)
    out = host.nslua_run "scripts/impact_orbit.lua --c 0.2"
    assert.matches("grazing at A = 0.200000000000", out, 1, true)
  end)
end)
