-- scripts/tower.lua: a tower stands, and the ball brings it down.
local host = require "host"

local function run(arguments)
  local out, err, status = host.nslua_run("scripts/tower.lua " .. arguments)
  assert.same({ "", 0 }, { err, status })
  return tonumber(out:match "moved by (%S+) before"), tonumber(out:match "at the end (%d+) boxes have fallen"),
    tonumber(out:match "(%d+) contacts are linked"), tonumber(out:match "overlap was (%S+)")
end

describe("scripts/tower.lua", function()
  it("has a tower of ten boxes that stands, on four contacts each #once", function()
    local drift, fallen, contacts, overlap = run "--n 10 --v 0 --T 1"
    assert.is_true(drift < 1e-10 and overlap < 1e-10)
    assert.same({ 0, 40 }, { fallen, contacts })
  end)

  it("has one that stands until the ball comes, and then falls; it is pushed through by a step's way at most #once", function()
    local drift, fallen, _, overlap = run "--n 4 --T 1.2"
    assert.is_true(drift < 1e-12)
    assert.is_true(fallen >= 2)
    assert.is_true(overlap < 2e-3 * 6 * 1.5)
  end)
end)
