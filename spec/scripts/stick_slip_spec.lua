local script_run = require "script_run"
local columns = require "columns"

describe("scripts/stick_slip.lua", function()
  local script, run = script_run("stick_slip", setup, teardown)

  -- The rows where the state changes.
  local function changes(c)
    local list = {}
    for i = 2, c.n do
      if c.state[i] ~= c.state[i - 1] then list[#list + 1] = i end
    end
    return list
  end

  it("goes exactly with the belt while it sticks: no creep", function()
    local c, sticking = run "", 0
    for i = 2, c.n do
      if c.state[i] == "stick" then
        sticking = sticking + 1
        assert.near(0.1, c.v[i], 1e-15)
        if c.state[i - 1] == "stick" then
          assert.near(c.x[i - 1] + 1e-4, c.x[i], 1e-15)
          assert.near(50 * (c.x[i - 1] + c.x[i]), c.f[i], 1e-10) -- friction holds the spring
        end
      end
    end
    assert.is_true(sticking > 1000)
  end)

  it("sticks for 2 a / V and slips for (pi + 2 atan(V / (a w))) / w, from x = mu_s m g / k", function()
    for _, case in ipairs { { 0.5, 0.3, 0.1 }, { 0.5, 0.1, 0.2 }, { 0.4, 0.3, 0.05 } } do
      local mu_s, mu_d, V = table.unpack(case)
      local h = 2e-4
      local c = run(("--mu_s %g --mu_d %g --V %g --h %g --T 5"):format(mu_s, mu_d, V, h))
      local a, list = (mu_s - mu_d) * 9.81 / 100, changes(c)
      assert.is_true(#list >= 4)
      for j = 1, #list - 1 do
        local i, length = list[j], c.t[list[j + 1]] - c.t[list[j]]
        if c.state[i] == "slip" then
          assert.near((math.pi + 2 * math.atan(V / (a * 10))) / 10, length, 5 * h)
          assert.near(mu_s * 9.81 / 100, c.x[i], 3 * h * V)
        else
          assert.near(2 * a / V, length, 8 * h)
          assert.near((2 * mu_d - mu_s) * 9.81 / 100, c.x[i], 3 * h * V)
        end
      end
    end
  end)

  it("is within the cone, on its edge and against the slip while it slips", function()
    local c = run ""
    for i = 2, c.n do
      assert.near(9.81, c.N[i], 1e-11)
      if c.state[i] == "stick" then
        assert.is_true(math.abs(c.f[i]) <= 0.5 * 9.81 + 1e-11)
      else
        local mu = c.state[i - 1] == "stick" and 0.5 or 0.3
        assert.near(c.v[i] < 0.1 and mu * 9.81 or -mu * 9.81, c.f[i], 1e-11)
      end
    end
  end)

  it("is near the exact motion, with an error of order 1 in h", function()
    local ref = columns.read "spec/reference/mechanics_stick_slip_exact.csv"
    for _, h in ipairs { 1e-3, 2e-4 } do
      local c, worst = run(("--h %g"):format(h)), 0
      for i = 1, ref.n do worst = math.max(worst, math.abs(c.x[(ref.t[i] / h + 0.5) // 1 + 1] - ref.x[i])) end
      assert.is_true(worst <= 2 * h, ("h = %g: %g"):format(h, worst))
    end
  end)

  it("tells the changes, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("     0.492    0.049199995   slip\n", out, 1, true)
    local _
    _, err, status = script "--mu_s=-1"
    assert.equal(1, status)
    assert.matches("--mu_s: expected a number, at least 0, got '-1'", err, 1, true)
  end)
end)
