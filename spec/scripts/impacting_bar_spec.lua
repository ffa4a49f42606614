local script_run = require "script_run"
local columns = require "columns"

describe("scripts/impacting_bar.lua", function()
  local script, run = script_run("impacting_bar", setup, teardown)

  -- The first and the last row with a force at the wall.
  local function contact(c)
    local first, last
    for i = 1, c.n do
      if c.force[i] > 0 then first, last = first or i, i end
    end
    return first, last
  end

  it("stays at the wall for about 2 L / c, more exactly with finer elements", function()
    local before = math.huge
    for _, N in ipairs { 10, 50, 200 } do
      local c = run(("--N %d --T 3"):format(N))
      local first, last = contact(c)
      assert.near(0.5, c.t[first], 1.1e-3) -- flies freely through the gap
      local excess = c.t[last] - c.t[first] - 2
      assert.is_true(excess > 0 and excess < before)
      before = excess
    end
    assert.is_true(before < 1e-2)
  end)

  it("does not open in between, and the force is rho c v0 on average", function()
    local c = run ""
    local first, last = contact(c)
    local impulse = 0
    for i = first, last do
      assert.is_true(c.force[i] > 0 or i > last - 20)
      impulse = impulse + 1e-3 * c.force[i]
    end
    local middle, n = 0, 0
    for i = first + 100, last - 200 do middle, n = middle + c.force[i], n + 1 end
    assert.near(0.1, middle / n, 1e-4)
    assert.near(c.v_mean[c.n] + 0.1, impulse, 1e-12)
  end)

  it("leaves with nearly the velocity it came with, the more so with finer elements", function()
    local before = math.huge
    for _, N in ipairs { 10, 50, 200 } do
      local c = run(("--N %d --T 3"):format(N))
      local lack = 0.1 - c.v_mean[c.n]
      assert.is_true(lack > 0 and lack < before)
      before = lack
    end
    assert.is_true(before < 1.5e-3)
  end)

  it("loses the energy of the node at the impact alone, with theta = 1/2", function()
    for _, N in ipairs { 10, 100 } do
      local c = run(("--N %d --h 2e-4 --T 1"):format(N))
      local first = contact(c)
      for i = 1, c.n do assert.near(c.energy[1] + c.impacts[i], c.energy[i], 1e-15) end
      assert.equal(0, c.impacts[first - 1])
      for i = first, c.n do assert.near(c.impacts[first], c.impacts[i], 1e-15) end
      assert.near(1 / (2 * N), -c.impacts[first] / c.energy[1], 1e-2 / (2 * N))
    end
  end)

  it("loses more with theta = 1", function()
    local c = run "--theta 1"
    for i = 2, c.n do assert.is_true(c.energy[i] <= c.energy[i - 1] + 1e-15) end
    assert.is_true(c.energy[c.n] < 0.96 * c.energy[1])
  end)

  it("hears of the impact at the free end after L / c", function()
    local c = run "--N 400 --T 2.4"
    for i = 1, c.n do
      if c.t[i] < 1.4 then assert.near(-0.1, c.v_end[i], 1e-6) end
      if c.t[i] > 1.55 and c.t[i] < 2.3 then assert.near(0.1, c.v_end[i], 0.06) end
    end
  end)

  it("is the scheme of a program of its own", function()
    local c = run "--N 20"
    for i = 1, c.n do c.gap[i] = c.gap[i] - 0.05 end
    local names = { gap = "w_wall", v_wall = "v_wall", v_end = "v_free" }
    assert.equal(201, columns.expect(c, "spec/reference/mechanics_bar_N20.csv", names, 1e-10))
  end)

  it("tells the contact, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("at the wall from 0.501 to 2.512: 2.011; 2 L / c = 2\n", out, 1, true)
    local _
    _, err, status = script "--N 0"
    assert.equal(1, status)
    assert.matches("--N: expected a number, at least 1 and at most 10000, got '0'", err, 1, true)
  end)
end)
