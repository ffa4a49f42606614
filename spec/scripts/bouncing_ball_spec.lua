local script_run = require "script_run"
local columns = require "columns"

describe("scripts/bouncing_ball.lua", function()
  local script, run = script_run("bouncing_ball", setup, teardown)

  it("is the reference at every step", function()
    local c = run ""
    local ref = columns.read "spec/reference/trajectory_bouncing_ball.csv"
    assert.same(ref.names, c.names)
    assert.equal(2001, c.n)
    for _, name in ipairs(ref.names) do
      local mine = {}
      for i = 1, ref.n do mine[i] = c[name][ref.row[i] + 1] end
      local e = columns.error(mine, ref[name])
      assert.is_true(e <= 1e-9, ("%s: %g"):format(name, e))
    end
  end)

  it("rests when infinitely many impacts are over, at (1 + e) / (1 - e) sqrt(2 H / g)", function()
    for _, case in ipairs { { 0.5, 1 }, { 0.5, 0.3 }, { 0.2, 2 }, { 0, 1 } } do
      local e, H = case[1], case[2]
      local over = (1 + e) / (1 - e) * math.sqrt(2 * H / 9.81)
      for _, h in ipairs { 5e-3, 1e-3, 1e-4 } do
        local c = run(("--e %g --H %g --h %g --T 3"):format(e, H, h))
        local last
        for i = 1, c.n do
          if math.abs(c.v[i]) > 1e-12 then last = c.t[i] end
        end
        assert.near(over, last, 50 * h) -- e^40 = 1e-12: a velocity of h g takes that many steps to go
        assert.is_true(math.abs(c.q[c.n]) <= h * math.sqrt(2 * 9.81 * H)) -- what it goes in a step
        assert.near(h * 9.81, c.lambda[c.n], 1e-12) -- the floor carries the ball's weight
      end
    end
  end)

  it("reverses the velocity by e at each impact, and keeps 0 <= v + e v_k _|_ P >= 0", function()
    for _, e in ipairs { 0, 0.5, 0.9, 1 } do
      local c, impacts = run("--e " .. e), 0
      for i = 2, c.n do
        assert.is_true(c.lambda[i] >= 0)
        assert.equal(c.lambda[i], c.p[i])
        if c.lambda[i] > 0 then
          impacts = impacts + 1
          assert.near(-e * c.v[i - 1], c.v[i], 1e-13)
        end
      end
      assert.is_true(impacts > 5)
    end
  end)

  it("accounts for the energy: gravity is exact, an impact takes (1 - e^2) v^2 / 2", function()
    for _, e in ipairs { 0.5, 0.9, 1 } do
      local c = run("--e " .. e)
      local function total(i) return 0.5 * c.v[i] ^ 2 + 9.81 * c.q[i] end
      for i = 2, c.n do
        local work = 0.5 * c.p[i] * (c.v[i] + c.v[i - 1])
        assert.near(total(i - 1) + work, total(i), 1e-12)
      end
      if e == 1 then assert.near(9.81, total(c.n), 1e-12) end
    end
    local out = script ""
    local taken, rounding = out:match "impacts took ([%d.]+), the scheme [^,]+, the rest is (%S+)\n"
    assert.is_true(math.abs(tonumber(rounding)) <= 1e-12)
    assert.near(9.81, tonumber(taken), 1e-3)
  end)

  it("is the scheme of a program of its own, and near the exact motion", function()
    local c = run "--e 0.5 --T 2"
    assert.equal(201, columns.expect(c, "spec/reference/mechanics_bouncing_ball_h5e-3.csv", { "q", "v", "p" }, 1e-12))
    local ref, errors = columns.read "spec/reference/mechanics_bouncing_ball_exact.csv", {}
    for n, h in ipairs { 1e-3, 1e-4 } do
      c, errors[n] = run(("--e 0.5 --T 2 --h %g"):format(h)), 0
      for i = 1, ref.n do errors[n] = math.max(errors[n], math.abs(c.q[(ref.t[i] / h + 0.5) // 1 + 1] - ref.q[i])) end
      assert.is_true(errors[n] <= 20 * h, ("h = %g: %g"):format(h, errors[n]))
    end
  end)

  it("never rests with e = 1, and refuses mistakes", function()
    local out, err, status = script "--e 1"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("not at rest yet", out, 1, true)
    local _
    _, err, status = script "--e 1.5"
    assert.equal(1, status)
    assert.matches("--e: expected a number, at least 0 and at most 1, got '1.5'", err, 1, true)
  end)
end)
