-- Contacts in the plane with rows as a box problem, alone.
require "nslua"
local internal = require "nslua.internal"
local parts = require "solvers.mixed_parts"

describe("plane for rows and contacts", function()
  parts.check_shares(it, "plane", "joints_plane stops_plane motors_plane plane",
    { regular = 1, redundant = 0.8, saddle = 0.8 })

  it("says that there is no solution", function()
    local a = internal.mixed_part({ W = { { 0, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, q = { -1, 0, 1 },
                                    groups = { { dim = 2, mu = 0.3 }, { lower = 0 } } }, "plane")
    assert.is_true(a.status == "NS_ENOSOL" or a.status == "NS_ERAY")
  end)
end)
