local host = require "host"

describe("scripts/woodpecker_cycle.lua", function()
  it("finds the cycle, and the restitution at which an impact of the sleeve goes", function()
    local out, err, status = host.nslua_run "scripts/woodpecker_cycle.lua --e 0.45 --to 0.44"
    assert.same({ "", 0 }, { err, status })
    assert.near(0.4423271808, tonumber(out:match "1: sequence at p = (%S+) %(low:impact%)"), 1e-8)
    assert.matches("e = 0.4500000000: T = 0.15454", out, 1, true)
  end)
end)
