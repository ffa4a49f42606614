local script_run = require "script_run"
local columns = require "columns"

describe("scripts/woodpecker.lua", function()
  local script, run = script_run("woodpecker", setup, teardown)

  -- The rows where the beak knocks and comes back.
  local function knocks(c)
    local list = {}
    for i = 2, c.n do
      if c.n1[i] > 0 and c.wb[i] < -1 then list[#list + 1] = i end
    end
    return list
  end

  it("has a limit cycle of 0.146 s and 19.5 mm, with one knock", function()
    for _, h in ipairs { 1e-4 } do
      local c = run(("--h %g"):format(h))
      local list = knocks(c)
      assert.equal(14, #list)
      for j = 4, #list do
        local now, last = list[j], list[j - 1]
        assert.near(0.146, c.t[now] - c.t[last], 1.5e-3)
        assert.near(0.0195, c.y[last] - c.y[now], 2e-3)
        assert.near(c.b[last], c.b[now], 2e-3)
      end
      local first, last = list[4], list[14]
      assert.near(0.146, (c.t[last] - c.t[first]) / 10, 5e-4)
      assert.near(0.0195, (c.y[first] - c.y[last]) / 10, 3e-4)
    end
  end)

  it("comes back from the pole with half of the beak's velocity", function()
    local c = run "--T 1"
    for _, i in ipairs(knocks(c)) do assert.near(-0.5 * c.wb[i - 1], c.wb[i], 1e-8) end
    c = run "--T 1 --e 0.2"
    for i = 2, c.n do
      if c.n1[i] > 0 and c.wb[i - 1] > 1 then assert.near(-0.2 * c.wb[i - 1], c.wb[i], 1e-8) end
    end
  end)

  it("jams: the sleeve hangs exactly still within the cone of friction", function()
    local c, jammed = run "--T 0.5", 0
    local function sticks(i) return c.n2[i] > 0 and math.abs(c.t2[i]) < 0.299 * c.n2[i] end
    for i = 2, c.n do
      for _, contact in ipairs { "1", "2", "3" } do
        local n, t = c["n" .. contact][i], c["t" .. contact][i]
        if n ~= 0 or t ~= 0 then assert.is_true(n >= 0 and math.abs(t) <= 0.3 * n + 1e-12) end
      end
      if sticks(i) then assert.near(0, c.vy[i] + 3.1e-3 * c.wa[i], 1e-9) end
      if sticks(i) and sticks(i - 1) then
        jammed = jammed + 1
        assert.near(c.y[i - 1], c.y[i], 1e-12)
      end
    end
    assert.is_true(jammed > 500)
  end)

  it("turns what it goes down into heat: the account of the energy is closed", function()
    local c = run "--T 0.7"
    local function account(i) return c.energy[i] - c.impacts[i] - c.friction[i] end
    for i = 2, c.n do
      assert.near(account(1), account(i), 1e-14)
      assert.is_true(c.impacts[i] + c.friction[i] <= c.impacts[i - 1] + c.friction[i - 1] + 1e-14)
    end
    local list = knocks(c)
    local first, last = list[2], list[#list]
    local down = 4.8e-3 * 9.81 * (c.y[first] - c.y[last])
    local lost = c.impacts[first] + c.friction[first] - c.impacts[last] - c.friction[last]
    assert.near(down, lost, 0.03 * down)
  end)

  it("falls freely without friction", function()
    local c = run "--mu 0 --T 0.5"
    local function momentum(i) return 4.8e-3 * c.vy[i] + 4.5e-3 * (1e-2 * c.wa[i] + 1.5e-2 * c.wb[i]) end
    for i = 1, c.n do
      assert.near(momentum(1) - 4.8e-3 * 9.81 * (c.t[i] - c.t[1]), momentum(i), 1e-13)
    end
  end)

  it("is the scheme of a program of its own", function()
    local c = run "--T 0.3"
    local path = "spec/reference/mechanics_woodpecker.csv"
    local names = { "y", "a", "b", "vy", "wa", "wb", "n1", "t1", "n2", "t2", "n3", "t3" }
    assert.equal(150, columns.expect(c, path, names, 1e-8))
  end)

  it("tells the knocks, and refuses mistakes", function()
    local out, err, status = script "--T 0.5"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("5000 steps, the beak knocks 3 times\n", out, 1, true)
    local _
    _, err, status = script "--mu=-1"
    assert.equal(1, status)
    assert.matches("--mu: expected a number, at least 0, got '-1'", err, 1, true)
  end)
end)
