local host = require "host"

describe("scripts/twisting.lua", function()
  it("agrees with the reference files of Siconos", function()
    local out, err, status = host.nslua_run "scripts/twisting.lua --T 2"
    assert.same({ "", 0 }, { err, status })
    for class, name in pairs { ExplicitTwisting = "explicit_zoh", Twisting = "implicit" } do
      local x1, x2 = out:match("%f[%a]" .. class .. " +x%(2%) = %((%S+), (%S+)%)")
      local text = host.read("spec/reference/control_twisting_" .. name .. ".csv")
      local want1, want2 = text:match "\n40,2,([^,]+),([^,\n]+)"
      assert.near(tonumber(want1), tonumber(x1), 1e-8)
      assert.near(tonumber(want2), tonumber(x2), 1e-8)
    end
  end)

  it("goes to 0 with the implicit laws, and not with the explicit one", function()
    local out = host.nslua_run "scripts/twisting.lua"
    assert.is_true(tonumber(out:match "ExplicitTwisting.-|x| <= (%S+)") > 10)
    assert.is_true(tonumber(out:match "RegularTwisting.-|x| <= (%S+)") < 1e-3)
    assert.is_true(tonumber(out:match "\nTwisting.-|x| <= (%S+)") < 1e-3)
  end)
end)
