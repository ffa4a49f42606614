-- The numbers are those of a program apart from nslua: the method of Runge and Kutta with 20 steps in a period, in Python.
local host = require "host"

describe("scripts/quarter_car.lua", function()
  it("rides over the bump as an independent program says, best with the sky-hook damper", function()
    local out, err, status = host.nslua_run "scripts/quarter_car.lua"
    assert.same({ "", 0 }, { err, status })
    for name, want in pairs { soft = { 1.625893331547, 0.044349424276 }, hard = { 2.146302942933, 0.001337702099 },
      ["sky%-hook"] = { 1.105324675173, 0.000768219185 } } do
      local rms, body = out:match(name .. " +rms acceleration (%S+), body (%S+)")
      assert.near(want[1], tonumber(rms), 2e-8)
      assert.near(want[2], tonumber(body), 2e-9)
    end
  end)

  it("is worse with a late damper", function()
    local out = host.nslua_run "scripts/quarter_car.lua --delay 0.006"
    assert.is_true(tonumber(out:match "sky%-hook +rms acceleration (%S+),") > 1.13)
  end)
end)
