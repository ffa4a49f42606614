local script_run = require "script_run"
local columns = require "columns"

local sin, cos = math.sin, math.cos

describe("scripts/slider_crank.lua", function()
  local script, run = script_run("slider_crank", setup, teardown)
  local l1, l2 = 0.153, 0.306

  it("is the scheme of a program of its own, straight and tilted", function()
    local path = "spec/reference/mechanics_slider_crank"
    local names = { "q1", "q2", "w1", "w2", "n1", "t1", "n2", "t2", "n3", "t3", "n4", "t4" }
    assert.equal(151, columns.expect(run "--T 0.015", path .. ".csv", names, 1e-8))
    table.move({ "q3", "w3" }, 1, 2, #names + 1, names)
    assert.equal(151, columns.expect(run "--T 0.015 --q3 0.01", path .. "_tilted.csv", names, 1e-8))
  end)

  it("has the impacts of an event-driven method, with errors of order 1 in h", function()
    local ref = columns.read "spec/reference/mechanics_slider_crank_impacts.csv"
    for _, h in ipairs { 1e-5, 2e-6, 5e-7 } do
      local c, i = run(("--q3 0.01 --T 0.0027 --h %g"):format(h)), 1
      for n = 1, 3 do
        local p = c["n" .. ref.corner[n]]
        repeat i = i + 1 until p[i] > 0
        assert.near(ref.t[n], c.t[i], 3 * h)
        for _, name in ipairs { "w1", "w2", "w3" } do
          local size = math.abs(ref[name .. "_after"][n])
          assert.near(ref[name .. "_after"][n], c[name][i], 1500 * h * size)
        end
      end
    end
  end)

  it("is through a wall by no more than a step's way", function()
    for _, h in ipairs { 2e-5, 5e-6 } do
      local c, deepest = run(("--q3 0.01 --T 0.015 --h %g"):format(h)), 0
      for i = 1, c.n do deepest = math.max(deepest, -c.gap1[i], -c.gap2[i], -c.gap3[i], -c.gap4[i]) end
      assert.is_true(deepest > 0)
      assert.is_true(deepest <= 5 * h, ("h = %g: %g"):format(h, deepest)) -- corners come with less than 5 m/s
    end
  end)

  it("has Newton's law at the corners, and friction in Coulomb's cone against the slip", function()
    local c, slips = run "--q3 0.01 --T 0.015 --mu 0.2", 0
    local function slip(i, along, side)
      return -l1 * sin(c.q1[i]) * c.w1[i] - l2 * sin(c.q2[i]) * c.w2[i]
        - (along * 0.05 * sin(c.q3[i]) + side * 0.025 * cos(c.q3[i])) * c.w3[i]
    end
    for i = 2, c.n do
      for n, at in ipairs { { -1, 1 }, { 1, 1 }, { -1, -1 }, { 1, -1 } } do
        local p, f = c["n" .. n][i], c["t" .. n][i]
        assert.is_true(p >= 0 and math.abs(f) <= 0.2 * p * (1 + 1e-9) + 1e-14)
        local u = slip(i, at[1], at[2])
        if p > 1e-6 and math.abs(u) > 1e-6 then
          slips = slips + 1
          assert.near(u > 0 and -0.2 or 0.2, f / p, 1e-6)
        end
      end
    end
    assert.is_true(slips > 100)
  end)

  it("never gains energy, but for the error of the scheme, which is of order 1 in h", function()
    local gains = {}
    for n, h in ipairs { 2e-5, 1e-5, 5e-6 } do
      local c = run(("--h %g --T 0.015"):format(h))
      gains[n] = 0
      for i = 2, c.n do
        gains[n] = math.max(gains[n], c.energy[i] - c.energy[i - 1])
      end
      assert.is_true(c.energy[c.n] < c.energy[1])
    end
    for n = 1, 2 do assert.is_true(gains[n + 1] < 0.6 * gains[n]) end
    assert.is_true(gains[3] < 1e-5 * 7.5)
  end)

  it("is the ideal mechanism when the clearance is small and the guide takes no energy", function()
    local I2, m2, m3 = 5.9e-4 + (0.038 / 4 + 0.076) * l2 ^ 2, 0.038, 0.076
    local I1, s = 7.4e-5 + (0.038 / 4 + m2 + m3) * l1 ^ 2, l1 * l2 * (m2 / 2 + m3)
    local errors = {}
    for n, clearance in ipairs { 1e-4, 1e-5 } do
      local c = run(("--e 0 --mu 0 --h 5e-6 --T 0.02 --c %g"):format(clearance))
      errors[n] = 0
      for i = 1, c.n do
        local q1, deepest = c.q1[i], 2e-5
        local q2 = -math.asin(l1 / l2 * sin(q1))
        assert.near(l1 * cos(q1) + l2 * cos(q2), c.x[i], clearance + deepest)
        assert.near(0, c.y[i], clearance + deepest)
        -- One degree of freedom: w2 = r w1, and the energy gives w1.
        local r = -l1 * cos(q1) / (l2 * cos(q2))
        local inertia = I1 + 2 * s * cos(q1 - q2) * r + I2 * r * r
        local potential = 9.81 * ((0.038 / 2 + m2 + m3) * l1 * sin(q1) + (m2 / 2 + m3) * l2 * sin(q2))
        local w1 = math.sqrt(2 * (c.energy[1] - potential) / inertia)
        errors[n] = math.max(errors[n], math.abs(c.w1[i] - w1) / 150)
      end
    end
    assert.is_true(errors[1] < 5e-3 and errors[2] < errors[1] / 3, ("%g, %g"):format(errors[1], errors[2]))
  end)

  it("tells the contacts and the energy, and refuses mistakes", function()
    local out, err, status = script "--T 0.015"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("c = 0.001, e = 0.4, mu = 0.01, h = 1e%-05, 1500 steps: the corners touch %d+ times, deepest", out)
    assert.matches("energy: 7.4955488 J at the start, ", out, 1, true)
    local _
    _, err, status = script "--c 0"
    assert.equal(1, status)
    assert.matches("--c: expected a number, above 0 and at most 0.1, got '0'", err, 1, true)
  end)
end)
