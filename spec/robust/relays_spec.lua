-- Random piecewise linear systems with relays: each kind of run agrees with relay_reference.lua, or tells why not.
-- 60 systems; more in a long run (see campaign.lua).
local reference = require "relay_reference"
local relays = require "random_relays"

local count, told = require "campaign"(60, 0.1)

-- Calls check(o, r) for each system and its reference; an error is reported with the number of the system.
local function systems(check)
  for k = 1, count do
    local o = relays.system(k)
    local ok, message = pcall(check, o, reference.run(o))
    if not ok then error(("system %d, %s: %s"):format(k, o.family, message), 0) end
  end
end

describe("random systems with relays", function()
  it("are the limit of backward Euler, with order 1", function()
    systems(function(o, r)
      if r.status ~= "done" then return end
      local n, last, course = 500, math.huge, {}
      repeat
        local off = relays.off(r.x, relays.euler(o, n))
        local good = off <= 0.6 * last and off <= 0.02 or off < 1e-6
        course[#course + 1] = ("%.2g"):format(off)
        n, last = 2 * n, off
        if not good and n > 256000 then error("errors " .. table.concat(course, " "), 0) end
      until good
    end)
    told("relays, backward Euler", count)
  end)
end)
