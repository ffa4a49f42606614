local script_run = require "script_run"
local columns = require "columns"

local sin, cos = math.sin, math.cos

describe("scripts/rocking_block.lua", function()
  local script, run = script_run("rocking_block", setup, teardown)

  local function total(c, i) return c.kinetic[i] + c.potential[i] end

  it("is the reference", function()
    local c = run ""
    assert.equal(200, c.n)
    columns.expect_rows(c, "spec/reference/trajectory_rocking_block.csv", 1e-9)
  end)

  it("falls freely until a corner is at the floor", function()
    local c = run "--theta 0.5 --newton full --h 1e-3"
    local fall = math.sqrt(2 * (1 - 0.1 * sin(0.2) - 0.05 * cos(0.2)) / 9.81)
    for i = 1, c.n do
      if c.t[i] < fall - 1e-3 then
        assert.near(1 - 9.81 * c.t[i] ^ 2 / 2, c.y[i], 1e-12)
        assert.equal(0.2, c.angle[i])
      end
    end
    local hit
    for i = 2, c.n do hit = hit or (c.w[i] ~= 0 and c.t[i]) end
    assert.near(fall, hit, 2e-3)
  end)

  it("has -e times the velocity at the corner that hits, and the impulse there alone", function()
    for _, e in ipairs { 0, 0.5, 1 } do
      local c, impacts = run(("--newton full --theta 0.5 --h 2e-4 --T 1 --e %g"):format(e)), 0
      for i = 2, c.n do
        local jump = c.vy[i] - c.vy[i - 1] + 9.81 * 2e-4
        if jump > 0.05 then
          impacts = impacts + 1
          local side = c.w[i] < c.w[i - 1] and -1 or 1
          local function arm(k) return side * 0.1 * cos(c.angle[k]) + 0.05 * sin(c.angle[k]) end
          assert.near(-e * (c.vy[i - 1] + arm(i - 1) * c.w[i - 1]), c.vy[i] + arm(i) * c.w[i], 1e-8)
          local I = (1.5 ^ 2 + 1) / 12
          assert.near(arm(i) * jump, I * (c.w[i] - c.w[i - 1]), 1e-8) -- m = 1: the jump is the impulse
        end
      end
      assert.is_true(impacts >= 1)
    end
  end)

  it("never gains energy, and keeps it with e = 1 as far as the step allows", function()
    for _, e in ipairs { 0, 0.5, 1 } do
      local c = run(("--newton full --theta 0.5 --h 2e-4 --e %g --T 1"):format(e))
      for i = 2, c.n do
        assert.is_true(total(c, i) <= total(c, i - 1) + 5e-3)
        if e == 1 then assert.near(total(c, 1), total(c, i), 2e-2) end
      end
    end
  end)

  it("bounces as a ball when it falls flat, and rests at Hb / 2", function()
    local c = run "--a 0 --theta 0.5 --h 1e-3 --T 3"
    for i = 1, c.n do
      assert.near(0, c.angle[i], 1e-10)
      if c.t[i] > 3.1 * math.sqrt(2 * 0.95 / 9.81) then
        assert.near(0.05, c.y[i], 5e-3)
        assert.near(0, c.vy[i], 1e-2)
      end
    end
    assert.near(0, c.vy[c.n], 1e-10)
  end)

  it("keeps its horizontal velocity: there is no friction", function()
    local c = run "--vx 0.3"
    for i = 1, c.n do
      assert.equal(0.3, c.vx[i])
      assert.near(0.3 * c.t[i], c.x[i], 1e-14)
    end
  end)

  it("is the scheme of a program of its own with Newton's method converged", function()
    local names = { x = "x", y = "y", angle = "a", vx = "vx", vy = "vy", w = "w" }
    assert.equal(200, columns.expect(run "--newton full", "spec/reference/mechanics_rocking_block.csv", names, 1e-8))
  end)

  it("tells the contacts, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("      0.45    0.039601216            0.2   both\n", out, 1, true)
    local _
    _, err, status = script "--newton no"
    assert.equal(1, status)
    assert.matches("--newton: expected one of one, full, got 'no'", err, 1, true)
  end)
end)
