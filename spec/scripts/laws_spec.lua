-- scripts/laws.lua: how many points of the circle have how many solutions, against the angles of the cones.
local host = require "host"

describe("scripts/laws.lua", function()
  it("counts solutions as the angles of the cones say", function()
    local out, err, status = host.nslua_run "scripts/laws.lua --points 1000"
    assert.same({ "", 0 }, { err, status })
    assert.truthy(out:find("P%-matrix +1 solutions: 1000\n"))
    local one, three = out:match "three solutions +1 solutions: (%d+), 3 solutions: (%d+)\n"
    assert.equal(1000, one + three)
    -- the cone between (-1, -2) and (-2, -1) has the angle acos(4 / 5)
    assert.is_true(math.abs(three - 1000 * math.acos(0.8) / (2 * math.pi)) <= 1)
    assert.truthy(out:find("none, or two +0 solutions: 500, 2 solutions: 500\n"))
  end)

  it("refuses a circle of two points", function()
    local _, err, status = host.nslua_run "scripts/laws.lua --points 2"
    assert.equal(1, status)
    assert.matches("points: expected a number, at least 4 and at most 100000, got '2'", err)
  end)
end)
