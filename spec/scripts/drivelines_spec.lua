-- The scripts of drivelines: their events and balances.
local script_run = require "script_run"

describe("scripts of drivelines", function()
  local clutches, run_clutches = script_run("coupled_clutches", setup, teardown)
  local _, run_gear = script_run("lossy_gear", setup, teardown)
  local _, run_shift = script_run("gear_shift", setup, teardown)

  it("coupled_clutches.lua: the momentum is that of the torque, clutches hold and slip", function()
    local c, out = run_clutches ""
    local momentum, expected = out:match "momentum (%S+), of the start and the torque (%S+)"
    assert.near(tonumber(expected), tonumber(momentum), 1e-9)
    assert.near(1.1439674924, tonumber(out:match "C3 +slide +(%S+)"), 1e-8)
    assert.near(c["w.n3"][c.n], c["w.n4"][c.n], 1e-9) -- clutch 3 holds
    assert.equal(0, c["mode.C3"][c.n])
    local good, err, status = clutches "--static 0.5"
    assert.equal("", good)
    assert.is_truthy(err:find("--static: expected a number, at least 1 and at most 10, got '0.5'", 1, true) and status ~= 0, err)
  end)

  it("lossy_gear.lua: the gear gets stuck and loose twice; without losses it does not", function()
    local c, out = run_gear ""
    assert.near(0.464539462, tonumber(out:match "leave +%S+.-leave +(%S+)"), 1e-8)
    for k = 1, c.n do assert.is_true(c["p.G"][k] > -1e-12) end
    local free, text = run_gear "--eta 1"
    assert.is_nil(text:find "slide")
    -- 5.5 w2' = 20 sin(2 pi t) - 10 + 2.5 t
    assert.near((20 / math.pi - 5 + 2.5 / 8) / 5.5, free["w.out"][free.n], 1e-9)
  end)

  it("gear_shift.lua: the planetary gear keeps its ratio in first gear, and turns as one in second", function()
    local c, out = run_shift ""
    assert.is_truthy(out:find "B leave" and out:find "C slide")
    local k = math.floor(c.n / 4)
    assert.near(3, c["w.engine"][k] / c["w.shaft"][k], 1e-9)
    assert.near(1, c["w.engine"][c.n] / c["w.shaft"][c.n], 1e-9)
    assert.near(0.3 * c["w.shaft"][c.n], c["v.car"][c.n], 1e-9)
    local sum = 0
    for _, part in ipairs { "E", "T", "P", "R", "B", "C", "W", "m", "F", "D" } do sum = sum + c["p." .. part][k] end
    assert.near(0, sum, 1e-9 * math.abs(c["p.T"][k]))
  end)
end)
