local script_run = require "script_run"
local columns = require "columns"

describe("scripts/slope.lua", function()
  local script, run = script_run("slope", setup, teardown)

  it("rests exactly where tan(alpha) < mu", function()
    for _, case in ipairs { { 30, 0.6 }, { 30, 0.5774 }, { 10, 0.2 }, { 45, 1.001 }, { 0, 0 } } do
      local c = run(("--alpha %g --mu %g"):format(table.unpack(case)))
      for i = 1, c.n do
        for _, name in ipairs { "gap", "s", "c", "vn", "vs", "vc" } do assert.near(0, c[name][i], 1e-14) end
      end
      assert.near(2 * 9.81 * math.cos(math.rad(case[1])), c.rn[c.n], 1e-11)
      assert.near(-2 * 9.81 * math.sin(math.rad(case[1])), c.rs[c.n], 1e-11)
    end
  end)

  it("goes with g (sin(alpha) - mu cos(alpha)) where not, whatever the step", function()
    for _, case in ipairs { { 30, 0.3 }, { 30, 0.577 }, { 60, 0 }, { 80, 1 } } do
      local alpha, mu = table.unpack(case)
      local a = 9.81 * (math.sin(math.rad(alpha)) - mu * math.cos(math.rad(alpha)))
      for _, h in ipairs { 0.1, 1e-3 } do
        local c = run(("--alpha %g --mu %g --h %g"):format(alpha, mu, h))
        for i = 1, c.n do
          assert.near(a * c.t[i], c.vs[i], 1e-10)
          assert.near(a * c.t[i] ^ 2 / 2, c.s[i], 1e-10)
          assert.near(0, c.vn[i], 1e-11)
        end
      end
    end
  end)

  it("is stopped on a flat plane after v^2 / (2 mu g)", function()
    local c = run "--alpha 0 --mu 0.25 --down 3 --across 4 --h 1e-3 --T 3"
    local way = 25 / (2 * 0.25 * 9.81)
    assert.near(0.6 * way, c.s[c.n], 1e-5)
    assert.near(0.8 * way, c.c[c.n], 1e-5)
    assert.near(0, c.vs[c.n], 1e-12)
  end)

  it("turns down the slope to half of its speed with tan(alpha) = mu", function()
    local critical = ("--mu %.17g --across 1 --T 10 --h 1e-3"):format(math.tan(math.rad(30)))
    local c = run(critical)
    for i = 1, c.n do
      local speed = math.sqrt(c.vs[i] ^ 2 + c.vc[i] ^ 2)
      assert.near(1, speed + c.vs[i], 3e-3)
      assert.near(0, c.vn[i], 1e-11) -- it stays on the slope
    end
    assert.near(0.5, c.vs[c.n], 2e-3)
  end)

  it("obeys Coulomb's law in each step", function()
    local c = run "--across 1.5 --down -1 --mu 0.4"
    for i = 2, c.n do
      local slip, r = math.sqrt(c.vs[i] ^ 2 + c.vc[i] ^ 2), math.sqrt(c.rs[i] ^ 2 + c.rc[i] ^ 2)
      assert.is_true(r <= 0.4 * c.rn[i] + 1e-9)
      if slip > 1e-6 then
        assert.near(-0.4 * c.rn[i] * c.vs[i] / slip, c.rs[i], 1e-6)
        assert.near(-0.4 * c.rn[i] * c.vc[i] / slip, c.rc[i], 1e-6)
      end
    end
  end)

  it("has the exact way and speed", function()
    local ref = columns.read "spec/reference/mechanics_slope_exact.csv"
    for _, mu in ipairs { "0.3", "0.6" } do
      local c = run("--T 1 --mu " .. mu)
      assert.equal(ref.n, c.n)
      for i = 1, ref.n do
        local way = math.sqrt(ref["x_" .. mu][i] ^ 2 + ref["y_" .. mu][i] ^ 2)
        assert.near(way, c.s[i], 1e-12)
        assert.near(ref["speed_" .. mu][i], c.vs[i], 1e-12)
      end
    end
  end)

  it("tells the energy, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("energy: 0 at the start, %-24.0219974%d* at the end, friction took 24.0219974", out)
    local _
    _, err, status = script "--alpha 90"
    assert.equal(1, status)
    assert.matches("--alpha: expected a number, at least 0 and at most 89, got '90'", err, 1, true)
  end)
end)
