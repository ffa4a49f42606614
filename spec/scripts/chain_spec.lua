-- scripts/chain.lua: the fall of a folded chain beside the theory of Calkin and March (American Journal of Physics 57,
-- 1989, 154): its time is 0.877 times that of a free body over 0.9 of the length, 0.847 over all of it.
local host = require "host"

local function run(arguments)
  local out, err, status = host.nslua_run("scripts/chain.lua " .. arguments)
  assert.same({ "", 0 }, { err, status })
  return tonumber(out:match ", (%S+) of the time of a free body"), tonumber(out:match "theory (%S+)\n"),
    tonumber(out:match "energy (%S+) of"), tonumber(out:match "apart by (%S+) of")
end

describe("scripts/chain.lua", function()
  it("falls faster than a free body, as the theory says; energy and joints hold #once", function()
    local share, theory, loss, apart = run "--n 9"
    assert.near(0.8773, theory, 1e-4)
    assert.near(theory, share, 0.02)
    assert.is_true(loss < 1e-6 and apart < 1e-10)
  end)

  it("has one rod more where the number is even, and no unit #once", function()
    local share = run "--n 4 --T 0.5"
    local same = run "--n 5 --T 2 --L 16 --h 8e-3"
    assert.near(share, same, 1e-4)
  end)
end)
