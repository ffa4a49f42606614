local host = require "host"

-- |s| and the variation of u, by class and period.
local function run(arguments)
  local out, err, status = host.nslua_run("scripts/sliding_mode.lua" .. arguments)
  assert.same({ "", 0 }, { err, status })
  local found = {}
  for class, s, variation in out:gmatch "(%a+) +h = %S+ +|s| <= (%S+) +variation of u (%S+)" do
    found[class] = found[class] or {}
    table.insert(found[class], { tonumber(s), tonumber(variation) })
  end
  return found.ExplicitLinearSMC, found.LinearSMC
end

describe("scripts/sliding_mode.lua", function()
  it("chatters with the explicit law, and not with the implicit one", function()
    local explicit, implicit = run ""
    for i = 2, 3 do
      assert.is_true(explicit[i][2] > 1.9 * explicit[i - 1][2])
      assert.near(implicit[1][2], implicit[i][2], 0.05 * implicit[1][2])
      assert.near(0.5, implicit[i][1] / implicit[i - 1][1], 0.02)
    end
    assert.near(4 * 0.5 / math.pi, implicit[3][2], 0.03) -- u follows -d: 4 times 0.5 in a period of pi
    assert.is_true(implicit[3][1] < 0.5 * 0.0125 * 1.05)
  end)

  it("is at rounding without a disturbance", function()
    local _, implicit = run " --d 0"
    for i = 1, 3 do assert.is_true(implicit[i][1] < 1e-14 and implicit[i][2] < 1e-3) end
  end)
end)
