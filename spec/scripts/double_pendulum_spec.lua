local script_run = require "script_run"
local columns = require "columns"

local cos = math.cos

describe("scripts/double_pendulum.lua", function()
  local script, run = script_run("double_pendulum", setup, teardown)

  -- Of row i: the velocity of the gap, and H M^-1 H'.
  local function gap(c, i)
    local H1, H2 = cos(c.q1[i]), 0.8 * cos(c.q2[i])
    local M11, M12, M22 = 2, 0.8 * cos(c.q1[i] - c.q2[i]), 0.64
    local W = (H1 * (M22 * H1 - M12 * H2) + H2 * (M11 * H2 - M12 * H1)) / (M11 * M22 - M12 * M12)
    return H1 * c.w1[i] + H2 * c.w2[i], W
  end

  it("hits the wall by Newton's law, and loses (1 - e^2) u^2 / (2 H M^-1 H')", function()
    for _, e in ipairs { 0, 0.8, 1 } do
      local c, impacts = run(("--e %g --h 4e-4 --T 3"):format(e)), 0
      for i = 2, c.n do
        if c.p[i] > 0 then
          impacts = impacts + 1
          local before = gap(c, i - 1)
          local after, W = gap(c, i)
          assert.near(-e * before, after, 1e-8)
          assert.is_true(c.x2[i] <= -0.4 + 1e-3)
          local lost = (1 - e * e) * before ^ 2 / (2 * W)
          assert.near(lost, c.energy[i - 1] - c.energy[i], 4e-2)
        end
      end
      assert.is_true(impacts >= 1)
    end
  end)

  it("keeps the energy otherwise, with an error of order 1 in h", function()
    local errors = {}
    for _, h in ipairs { 1.6e-3, 8e-4, 4e-4 } do
      local c = run(("--d=-3 --T 2 --h %g"):format(h))
      for i = 1, c.n do assert.equal(0, c.p[i]) end
      errors[#errors + 1] = math.abs(c.energy[c.n] - c.energy[1])
    end
    assert.is_true(errors[3] < 0.4)
    assert.near(2, errors[1] / errors[2], 0.2)
    assert.near(2, errors[2] / errors[3], 0.2)
  end)

  it("has rods of constant length", function()
    local c = run ""
    for i = 1, c.n do
      assert.near(1, c.x1[i] ^ 2 + c.y1[i] ^ 2, 1e-14)
      assert.near(0.64, (c.x2[i] - c.x1[i]) ^ 2 + (c.y2[i] - c.y1[i]) ^ 2, 1e-14)
    end
  end)

  it("swings as the two modes of the linear pendulum when the angles are small", function()
    -- q2 = s q1 in a mode: K q = w^2 M q with K = diag(2 g, 0.8 g), M = [2 0.8; 0.8 0.64].
    local g = 9.81
    local a, b, k = 2 * 0.64 - 0.64, -(2 * g * 0.64 + 0.8 * g * 2), 2 * g * 0.8 * g -- a w^4 + b w^2 + k = 0
    for _, sign in ipairs { -1, 1 } do
      local w2 = (-b + sign * math.sqrt(b * b - 4 * a * k)) / (2 * a)
      local s = (2 * g - 2 * w2) / (0.8 * w2)
      local half = math.pi / math.sqrt(w2)
      local c = run(("--d=-3 --q1 1e-3 --q2 %.17g --h %.17g --T %.17g"):format(1e-3 * s, half / 1000, half))
      assert.near(-1e-3, c.q1[c.n], 1e-7)
      assert.near(-1e-3 * s, c.q2[c.n], 1e-7)
    end
  end)

  it("is the scheme of a program of its own", function()
    local names = { "q1", "q2", "w1", "w2", "p" }
    assert.equal(201, columns.expect(run "", "spec/reference/mechanics_double_pendulum_l0.8.csv", names, 1e-7))
  end)

  it("has the impacts of an event-driven method, with errors of order 1 in h", function()
    local ref = columns.read "spec/reference/mechanics_double_pendulum_impacts.csv"
    local later, faster = { 2, 4, 8, 12, 16 }, { 60, 60, 500, 250, 800 } -- errors by h: the motion is chaotic
    for _, h in ipairs { 1e-3, 4e-4 } do
      local c, n = run(("--T 7 --h %g"):format(h)), 0
      for i = 2, c.n do
        if c.p[i] > 0 then
          n = n + 1
          assert.near(ref.t[n], c.t[i], later[n] * h)
          assert.near(ref.w1_after[n], c.w1[i], faster[n] * h)
          assert.near(ref.w2_after[n], c.w2[i], faster[n] * h)
        end
      end
      assert.equal(5, n)
    end
  end)

  it("follows the flight between the impacts with an error of order 1 in h", function()
    local ref, errors = columns.read "spec/reference/mechanics_double_pendulum_flight.csv", {}
    for n, h in ipairs { 1e-3, 5e-4, 2.5e-4 } do
      local c = run(("--T 0.76 --h %g"):format(h))
      errors[n] = 0
      for i = 1, 20 do
        local k = (ref.t[i] / h + 0.5) // 1 + 1
        errors[n] = math.max(errors[n], math.abs(c.q1[k] - ref.q1[i]), math.abs(c.q2[k] - ref.q2[i]))
      end
    end
    assert.is_true(errors[1] < 3e-3)
    assert.near(2, errors[1] / errors[2], 0.1)
    assert.near(2, errors[2] / errors[3], 0.1)
  end)

  it("tells the energy, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("energy: %-5.326377104 at the start, %-15.18%d+ at the end; impacts took 10.26", out)
    local _
    _, err, status = script "--e 2"
    assert.equal(1, status)
    assert.matches("--e: expected a number, at least 0 and at most 1, got '2'", err, 1, true)
  end)
end)
