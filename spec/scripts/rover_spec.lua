-- scripts/rover.lua: the closed form on flat ground, and a crossing of the waves.
local host = require "host"

local function run(arguments)
  local out, err, status = host.nslua_run("scripts/rover.lua " .. arguments)
  assert.same({ "", 0 }, { err, status })
  return tonumber(out:match "come (%S+) m"), tonumber(out:match "velocity (%S+),"), tonumber(out:match "flat ground (%S+)\n"),
    tonumber(out:match "motors (%S+),"), tonumber(out:match "energy (%S+);"), tonumber(out:match "in by (%S+) at")
end

describe("scripts/rover.lua", function()
  it("accelerates on flat ground as it should, and gains the work of its motors #once", function()
    local way, v, flat, work, gain, sunk = run "--hill 0 --T 0.5 --torque 0.4"
    assert.near(flat, v, 1e-5)
    assert.near(flat * 0.5 / 2, way, 1e-5)
    assert.near(work, gain, 1e-5)
    assert.is_true(sunk < 1e-12)
  end)

  it("crosses waves; its motors do what it gains, and what impacts and friction take #once", function()
    local way, _, _, work, gain, sunk = run "--T 1.2 --h 4e-3"
    assert.is_true(way > 1 and gain > 0 and gain < work)
    assert.is_true(sunk < 4e-3 * 5)
  end)
end)
