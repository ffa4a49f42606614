local script_run = require "script_run"
local columns = require "columns"

describe("scripts/ball_on_plane.lua", function()
  local script, run = script_run("ball_on_plane", setup, teardown)

  -- Where it rolls: the first row without slip.
  local function rolling(c)
    for i = 1, c.n do
      if math.sqrt(c.slip_x[i] ^ 2 + c.slip_y[i] ^ 2) < 1e-9 then return i end
    end
  end

  it("slides with -mu g, and rolls from 2 v0 / (7 mu g) on with 5/7 of its velocity", function()
    for _, case in ipairs { { 2, 0.2, 0.1 }, { -1, 0.1, 0.3 }, { 3, 0.5, 0.02 } } do
      local v, mu, R = table.unpack(case)
      local c = run(("--v=%g --mu %g --R %g"):format(v, mu, R))
      local from, over = rolling(c), 2 * math.abs(v) / (7 * mu * 9.81)
      assert.near(over, c.t[from], 1.1e-3)
      local sign = v > 0 and 1 or -1
      for i = 1, c.n do
        if i < from then
          assert.near(v - sign * mu * 9.81 * c.t[i], c.vx[i], 1e-11)
          assert.near(v - sign * 7 / 2 * mu * 9.81 * c.t[i], c.slip_x[i], 1e-10)
          assert.near(-sign * mu * 9.81, c.rx[i], 1e-8)
        else
          assert.near(5 / 7 * v, c.vx[i], 1e-11)
          assert.near(0, c.slip_x[i], 1e-11)
          if i > from then assert.near(0, c.rx[i], 1e-8) end
        end
      end
      -- 12 v0^2 / (49 mu g) of sliding, then uniformly
      assert.near(sign * 12 * v * v / (49 * mu * 9.81) + 5 / 7 * v * (1 - over), c.x[c.n], 1e-5)
    end
  end)

  it("rolls from the start with the spin that it takes", function()
    local c = run "--v 1.5 --spin 1.5"
    for i = 1, c.n do
      assert.near(1.5, c.vx[i], 1e-12)
      assert.near(0, c.rx[i], 1e-9)
    end
  end)

  it("comes back with enough backspin", function()
    local c = run "--v 1 --spin=-4"
    assert.near(5 / 7 * (1 + 2 / 5 * -4), c.vx[c.n], 1e-11)
  end)

  it("takes 2/7 of the kinetic energy, all by friction", function()
    local c, out = run ""
    assert.near(5 / 7 * 2, c.energy[c.n] - 9.81 * 0.1, 1e-11)
    assert.matches("friction took 0.571428571", out, 1, true)
  end)

  it("turns as angular momentum has it, whatever h is", function()
    for _, h in ipairs { 2e-3, 1e-3, 5e-4 } do
      local c = run(("--side 1 --h %g"):format(h))
      assert.near(10 / 7, c.vx[c.n], 1e-8)
      assert.near(-2 / 7, c.vy[c.n], 1e-8)
    end
  end)

  it("stays on the plane, with its weight on it", function()
    local c = run "--side=-2"
    for i = 1, c.n do
      assert.near(0.1, c.z[i], 1e-13)
      assert.near(9.81, c.rn[i], 1e-8)
      assert.is_true(math.sqrt(c.rx[i] ^ 2 + c.ry[i] ^ 2) <= 0.2 * c.rn[i] + 1e-8)
    end
  end)

  it("has the exact velocity, and the exact way but for order 2 in h", function()
    local ref = columns.read "spec/reference/mechanics_ball_on_plane_exact.csv"
    for _, h in ipairs { 1e-3, 2.5e-4 } do
      local c = run(("--h %g"):format(h))
      for i = 2, ref.n do
        local k = (ref.t[i] / h + 0.5) // 1
        assert.near(ref.t[i], c.t[k], 1e-12)
        assert.near(ref.v[i], c.vx[k], 1e-9)
        assert.near(ref.w[i] * 0.1, c.vx[k] - c.slip_x[k], 1e-9)
        assert.near(ref.x[i], c.x[k], 5 * h * h)
      end
    end
  end)

  it("tells when it rolls, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("rolls from 0.292 on\n", out, 1, true)
    out = script "--mu 0"
    assert.matches("still slides\n", out, 1, true)
    local _
    _, err, status = script "--R 0"
    assert.equal(1, status)
    assert.matches("--R: expected a number, above 0, got '0'", err, 1, true)
  end)
end)
