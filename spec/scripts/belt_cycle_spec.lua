local host = require "host"

describe("scripts/belt_cycle.lua", function()
  it("finds where the mass does not stick any more, and the end of the cycles at sqrt(a / (3 b))", function()
    local out, err, status = host.nslua_run "scripts/belt_cycle.lua"
    assert.same({ "", 0 }, { err, status })
    local change = tonumber(out:match "sequence at p = (%S+) %(belt:leave belt:slide%)")
    local hopf = tonumber(out:match "Hopf at p = (%S+)")
    assert.near(0.949518368241, change, 1e-9)
    assert.near(math.sqrt(0.5 / 0.45), hopf, 1e-7)
  end)
end)
