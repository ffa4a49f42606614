-- scripts/dominoes.lua: the speed of the wave beside the theory of van Leeuwen (American Journal of Physics 78, 2010,
-- 721), which the script integrates apart from the simulation.
local host = require "host"

local function run(arguments)
  local out, err, status = host.nslua_run("scripts/dominoes.lua " .. arguments)
  assert.same({ "", 0 }, { err, status })
  local hit, all, moved = out:match "^(%d+) of (%d+) dominoes are hit; front edges have moved by (%S+)"
  local mine, theirs = out:match "half: (%S+), by the theory (%S+)\n"
  assert.equal(all, hit)
  return tonumber(mine), tonumber(theirs), tonumber(moved)
end

describe("scripts/dominoes.lua", function()
  it("has the speed of the theory, the better the shorter the steps", function()
    local mine, theirs, moved = run "--n 6 --h 1e-3"
    assert.near(theirs, mine, 0.01 * theirs)
    assert.is_true(moved < 2e-4)
    mine, theirs = run "--n 6 --h 2.5e-4"
    assert.near(theirs, mine, 2e-3 * theirs)
  end)

  it("has it for other dominoes, in units of its own #once", function() -- all lengths times 4, and times by 2
    local mine, theirs = run "--n 6 --h 5e-4"
    local large, large_theirs = run "--n 6 --h 1e-3 --a 0.192 --d 0.03 --s 0.072 --w 3"
    assert.near(2 * theirs, large_theirs, 1e-5)
    assert.near(2 * mine, large, 1e-5)
    for _, other in ipairs { "--s 0.01 --w 5", "--d 0.004 --s 0.025" } do
      mine, theirs = run("--n 5 --h 5e-4 " .. other)
      assert.near(theirs, mine, 0.02 * theirs)
    end
  end)

  it("refuses gaps that are too wide, and starts that are too slow", function()
    for arguments, message in pairs { ["--s 0.05"] = "s: expected a gap below the height: they would not hit each other",
      ["--s 0.01 --w 1"] = "w: domino 1 does not reach the next one: it needs more velocity" } do
      local _, err, status = host.nslua_run("scripts/dominoes.lua " .. arguments)
      assert.same({ "nslua: " .. message, 1 }, { err:match "[^\n]+", status })
    end
  end)
end)
