-- scripts/granular_hopper.lua: balls flow, or stay, and none is lost.
local host = require "host"

local function run(arguments)
  local path = host.new_directory() .. "/run.csv"
  local out, err, status = host.nslua_run(("scripts/granular_hopper.lua %s --csv %s"):format(arguments, path))
  assert.same({ "", 0 }, { err, status })
  local last = host.read(path):match "([^\n]+)\n$"
  local _, _, _, contacts, kinetic = last:match "^([^,]+),([^,]+),([^,]+),([^,]+),([^,]+)$"
  host.remove(path:match "^(.*)/")
  return tonumber(out:match "steps: (%d+) have left"), tonumber(out:match "flow (%S+) per"),
    tonumber(out:match ", (%S+) of the way"), tonumber(contacts), tonumber(kinetic)
end

describe("scripts/granular_hopper.lua", function()
  it("lets all balls out through a wide hole; contacts overlap by the way of a step at most", function()
    local out, _, overlap = run "--n 8 --D 0.2 --T 0.4"
    assert.equal(8, out)
    assert.is_true(overlap <= 1.01)
  end)

  it("holds them when it is shut, and they come to rest in it #once", function()
    local out, rate, overlap, contacts, kinetic = run "--n 12 --D 0 --T 1 --mu 0.6 --h 4e-3"
    assert.same({ 0, 0 }, { out, rate })
    assert.is_true(overlap <= 1.01 and contacts >= 12)
    assert.is_true(kinetic < 1e-2 * 12 * 9.81 * 0.04) -- of a fall by a ball's width
  end)

  it("has the rate of Beverloo's law to a third #long", function() -- which is for round holes, and balls that are small
    local out, rate = run "--n 200"
    assert.equal(200, out)
    assert.near(256, rate, 256 / 3)
  end)
end)
