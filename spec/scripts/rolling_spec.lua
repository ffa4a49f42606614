-- scripts/rolling.lua: the closed form of a ball that slides, rolls with rolling resistance, and rests.
local host = require "host"

local function run(arguments)
  local out, err, status = host.nslua_run("scripts/rolling.lua " .. arguments)
  assert.same({ "", 0 }, { err, status })
  return tonumber(out:match "deceleration (%S+)"), tonumber(out:match "velocity (%S+),"), tonumber(out:match "place (%S+)\n")
end

describe("scripts/rolling.lua", function()
  it("decelerates by 5 mu_r g / (7 R), until it rests", function()
    for _, case in ipairs { { 0.1, 2e-3, 1 }, { 0.05, 1e-3, 0.3 }, { 2, 0.1, 3 } } do
      local R, mu_r, v = table.unpack(case)
      local decline, error_v, error_x = run(("--R %g --mu_r %g --v %g --h 1e-2 --T 3"):format(R, mu_r, v))
      assert.near(5 * mu_r * 9.81 / (7 * R), decline, 1e-10)
      assert.is_true(error_v < 1e-8)
      assert.is_true(error_x < decline * 1e-4 / 2 + 1e-12) -- the step in which it comes to rest
    end
  end)

  it("slides first when it does not spin", function()
    local _, error_v, error_x = run "--spin 0 --T 1 --h 1e-3"
    assert.is_true(error_v < 1e-8 + 3 * 9.81 * 1e-3) -- within the step of the change, and
    assert.is_true(error_x < 1e-6)                   -- not after it
    local _, without, place = run "--mu_r 0 --T 1"
    assert.is_true(without < 1e-12 and place < 1e-12) -- it rolls without end
  end)

  it("refuses a rolling friction above the sliding one", function()
    local _, err, status = host.nslua_run "scripts/rolling.lua --mu_r 0.05"
    assert.same({ "nslua: mu_r: expected a length below mu R: the ball would slide without end", 1 },
      { err:match "[^\n]+", status })
  end)
end)
