local host = require "host"

describe("scripts/clutch_cycle.lua", function()
  it("finds where the disks begin to stick, and prints the closed form", function()
    local out, err, status = host.nslua_run "scripts/clutch_cycle.lua --mu 2.5 --to 3"
    assert.same({ "", 0 }, { err, status })
    local found = tonumber(out:match "grazing at p = (%S+)")
    local closed = tonumber(out:match "closed forms: (%S+)")
    assert.near(2.6865716665697783, found, 1e-9)
    assert.near(closed, found, 1e-8)
  end)
end)
