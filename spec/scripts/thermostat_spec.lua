local host = require "host"

describe("scripts/thermostat.lua", function()
  it("has the cycle of its closed form", function()
    for _, limits in ipairs { { 19, 21 }, { 17.5, 18 } } do
      local low, high = limits[1], limits[2]
      local out, err, status = host.nslua_run(("scripts/thermostat.lua --low %g --high %g"):format(low, high))
      assert.same({ "", 0 }, { err, status })
      local on, off = out:match "on for (%S+) h, off for (%S+) h"
      assert.near(4 * math.log((37 - low) / (37 - high)), tonumber(on), 1e-8)
      assert.near(4 * math.log((high - 5) / (low - 5)), tonumber(off), 1e-8)
    end
    local _, err, status = host.nslua_run "scripts/thermostat.lua --low 21 --high 20"
    assert.is_true(status ~= 0)
    assert.matches("--low must be below --high", err, 1, true)
  end)
end)
