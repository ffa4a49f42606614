local script_run = require "script_run"

describe("scripts/box_on_slope.lua", function()
  local script, run = script_run("box_on_slope", setup, teardown)
  local g = 9.81

  it("sticks with mu > tan(alpha): no velocity, the weight on its base", function()
    for _, case in ipairs { { 20, 0.5 }, { 35, 0.71 }, { 5, 0.09 } } do
      local alpha, mu = table.unpack(case)
      local a = math.rad(alpha)
      assert(mu > math.tan(a))
      local c = run(("--alpha %g --mu %g --h 5e-3"):format(alpha, mu))
      for i = 1, c.n do
        assert.near(0, c.v[i], 1e-13)
        assert.near(0, c.s[i], 1e-13)
        assert.near(0, c.tilt[i], 1e-13)
        assert.near(0.5, c.height[i], 1e-13)
        assert.near(g * math.cos(a), c.rn[i], 1e-8)
        assert.near(-g * math.sin(a), c.rt[i], 1e-8)
      end
    end
  end)

  it("slides with g (sin(alpha) - mu cos(alpha)) else, without turning", function()
    for _, case in ipairs { { 20, 0.2, 1, 1 }, { 40, 0.3, 2, 0.5 }, { 10, 0, 1, 3 }, { 35, 0.69, 1, 1.2 } } do
      local alpha, mu, b, height = table.unpack(case)
      local a = math.rad(alpha)
      assert(mu < math.tan(a) and mu * height < b)
      local c = run(("--alpha %g --mu %g --b %g --c %g --h 5e-3"):format(alpha, mu, b, height))
      local acceleration = g * (math.sin(a) - mu * math.cos(a))
      for i = 1, c.n do
        assert.near(acceleration * c.t[i], c.v[i], 1e-9)
        assert.near(acceleration * c.t[i] ^ 2 / 2, c.s[i], 1e-9) -- theta 1/2 is exact
        assert.near(-mu * c.rn[i], c.rt[i], 1e-7)
        assert.near(0, c.tilt[i], 1e-10)
        assert.near(0, c.side[i], 1e-10)
        assert.near(height / 2, c.height[i], 1e-10)
      end
    end
  end)

  it("tips when c tan(alpha) > b, with the acceleration about its edge, and stands when not", function()
    local alpha = math.rad(20)
    for _, height in ipairs { 2, 2.7, 2.8, 5 } do
      local c = run(("--alpha 20 --mu 2 --b 1 --c %g --T 0.1"):format(height))
      local torque = g / 2 * (height * math.sin(alpha) - math.cos(alpha))
      if torque < 0 then
        assert.near(0, c.tilt[c.n], 1e-13)
      else
        assert.near(torque / ((1 + height ^ 2) / 3), c.omega[c.n] / c.t[c.n], 0.02 * torque)
        assert.is_true(c.tilt[c.n] > 0)
      end
      for i = 1, c.n do assert.is_true(c.lowest[i] > -1e-4) end
    end
  end)

  it("keeps its energy while it tips over an edge that sticks, with an error that falls with h", function()
    local errors = {}
    for i, h in ipairs { 4e-3, 2e-3, 1e-3 } do
      local c = run(("--alpha 20 --mu 2 --b 1 --c 5 --h %g"):format(h))
      errors[i] = math.abs(c.energy[c.n] - c.energy[1])
    end
    assert.is_true(errors[1] > 1.8 * errors[2] and errors[2] > 1.8 * errors[3])
  end)

  it("stops where friction has taken a push, and then stays", function()
    local a, push, mu = math.rad(20), 0.5, 0.8
    local c = run(("--alpha 20 --push %g --mu %g --c 0.4"):format(push, mu))
    local slowing = g * (mu * math.cos(a) - math.sin(a))
    for i = 1, c.n do
      if c.t[i] < push / slowing - 1e-3 then
        assert.near(push - slowing * c.t[i], c.v[i], 1e-9)
      elseif c.t[i] > push / slowing + 1e-3 then
        assert.near(0, c.v[i], 1e-12)
      end
    end
    assert.near(push ^ 2 / (2 * slowing), c.s[c.n], 1e-5)
  end)

  it("tells what it does, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("it sticks\n", out, 1, true)
    assert.matches("it slides\n", (script "--mu 0.2"), 1, true)
    assert.matches("it tips\n", (script "--mu 2 --c 5"), 1, true)
    local _
    _, err, status = script "--b 0"
    assert.equal(1, status)
    assert.matches("--b: expected a number, above 0, got '0'", err, 1, true)
  end)
end)
