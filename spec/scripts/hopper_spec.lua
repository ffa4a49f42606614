-- The numbers are those of a program apart from nslua: the method of Runge and Kutta with 200 steps between two instants
-- and bisections at the events, in Python; its multipliers are differences of its map of a period.
local host = require "host"

describe("scripts/hopper.lua", function()
  it("finds the hop of an independent program, with its multipliers #once", function()
    local out, err, status = host.nslua_run "scripts/hopper.lua"
    assert.same({ "", 0 }, { err, status })
    local y, f, v, w = out:match "the hop: stable, y = (%S+), f = (%S+), y' = (%S+), f' = (%S+) at"
    for i, want in ipairs { 0.4126534399682, 0, -1.1196919447363, 0 } do
      assert.near(want, tonumber(({ y, f, v, w })[i]), 2e-9)
    end
    assert.near(0.1833631671710, tonumber(out:match "release +at t = (%S+)"), 2e-9)
    assert.near(0.4545210223423, tonumber(out:match "impact +at t = (%S+)"), 2e-9)
    for _, name in ipairs { "multipliers +", "by direct runs " } do
      local re, im = out:match(name .. "(%S+) %+ (%S+)i, ")
      assert.near(-0.2471982484, tonumber(re), 1e-6)
      assert.near(0.2900918283, tonumber(im), 1e-6)
    end
  end)
end)
