local script_run = require "script_run"
local columns = require "columns"

describe("scripts/bouncing_ball.lua", function()
  local script, run = script_run("bouncing_ball", setup, teardown)

  it("is the reference at every step", function()
    local c = run ""
    assert.equal(2001, c.n)
    columns.expect_rows(c, "spec/reference/trajectory_bouncing_ball.csv", 1e-9)
  end)

  it("rests when infinitely many impacts are over, at (1 + e) / (1 - e) sqrt(2 H / g)", function()
    for _, case in ipairs { { 0.5, 1, 1e-4 }, { 0.5, 0.3 }, { 0.2, 2 }, { 0, 1 } } do
      local e, H = case[1], case[2]
      local over = (1 + e) / (1 - e) * math.sqrt(2 * H / 9.81)
      for _, h in ipairs { 5e-3, 1e-3, case[3] } do
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
    local taken, rounding = out:match "impacts took ([%d.]+), the scheme [^,]+, rounding (%S+)\n"
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

  -- The rows of the table: integral of |error|, penetration, time from which the ball rests.
  local function table_of(out)
    local rows = {}
    for name, off, deep, rest in out:gmatch "\n(%a[%w]+) +(%d%S+) +(%d%S+) +(%S+)" do
      rows[name] = { off = tonumber(off), deep = tonumber(deep), rest = tonumber(rest) }
    end
    return rows
  end

  it("compares three integrators with the motion that is known", function()
    local over = 3 * math.sqrt(2 / 9.81)
    local coarse, fine = table_of(script "--e 0.5 --T 3 --h 8e-3"), table_of(script "--e 0.5 --T 3 --h 1.25e-4")
    for _, name in ipairs { "MoreauJean", "SchatzmanPaoli", "D1MinusLinear" } do
      assert.is_true(fine[name].off < coarse[name].off / 10, name) -- 64 times smaller steps, of order one in the mean
      assert.is_true(fine[name].deep <= 1.25e-4 * 4.5) -- what the ball goes in a step
      assert.near(over, fine[name].rest, 0.03)
      assert.is_true(math.abs(fine[name].rest - over) < math.abs(coarse[name].rest - over))
    end
  end)

  it("has the law of each integrator in the file", function()
    local h, e = 5e-3, 0.9
    local c, out = run "--osi SchatzmanPaoli --T 12"
    assert.equal("row,t,q,v,p,lambda", table.concat(c.names, ","))
    assert.equal(2401, c.n)
    for i = 3, c.n do
      local y = c.q[i] + e * c.q[i - 2]
      assert.is_true(y >= -1e-13 and c.lambda[i] >= 0)
      if c.lambda[i] > 0 then assert.near(0, y, 1e-13) end
      assert.near(h * c.lambda[i] - h * h * 9.81, c.q[i] - 2 * c.q[i - 1] + c.q[i - 2], 1e-14)
    end
    assert.near(h * 9.81, c.lambda[c.n], 1e-12)
    assert.is_nil(out:find("energy", 1, true))
    c = run "--osi D1MinusLinear"
    local impacts = 0
    for i = 2, c.n do
      if c.p[i] > 0 then
        impacts = impacts + 1
        assert.is_true(c.q[i] <= 0)
      elseif c.lambda[i] == 0 then
        assert.near(c.v[i - 1] - 9.81 * h, c.v[i], 1e-12)
        assert.near(c.q[i - 1] + h * (c.v[i - 1] + c.v[i]) / 2, c.q[i], 1e-12)
      end
    end
    assert.is_true(impacts > 20)
    assert.near(9.81, c.lambda[c.n], 1e-12) -- a force
    assert.equal(c.q[c.n], c.q[c.n - 100])
  end)

  it("counts the impacts of the motion with each integrator", function()
    local e, time, flight = 0.9, math.sqrt(2 / 9.81), 2 * math.sqrt(2 / 9.81)
    for n = 0, 3 do -- up to the middle of the flight after impact n
      local T = n == 0 and time / 2 or time + e ^ n * flight / 2
      for _, osi in ipairs { "MoreauJean", "SchatzmanPaoli", "D1MinusLinear" } do
        local out = script(("--h 1e-3 --e %g --osi %s --T %.6g"):format(e, osi, T))
        assert.matches((": %d impacts with a rebound"):format(n), out, 1, true)
      end
      if n > 0 then time = time + e ^ n * flight end
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
    _, err, status = script "--osi Euler"
    assert.equal(1, status)
    assert.matches("--osi: expected one of MoreauJean, SchatzmanPaoli, D1MinusLinear, got 'Euler'", err, 1, true)
  end)
end)
