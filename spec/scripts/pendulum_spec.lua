local script_run = require "script_run"
local columns = require "columns"

-- The complete elliptic integral of the first kind, by the arithmetic-geometric mean.
local function K(k)
  local a, b = 1, math.sqrt(1 - k * k)
  for _ = 1, 8 do a, b = (a + b) / 2, math.sqrt(a * b) end
  return math.pi / (2 * a)
end

describe("scripts/pendulum.lua", function()
  local script, run = script_run("pendulum", setup, teardown)

  local function energy(c, i) return 0.5 * c.w[i] ^ 2 + 10 * (1 - math.cos(c.q[i])) end

  -- The rows whose step had an impact.
  local function impacts(c)
    local list = {}
    for i = 2, c.n do
      if c.w[i - 1] < 0 and c.w[i] > 0 and c.q[i] < 0.1 then list[#list + 1] = i end
    end
    return list
  end

  it("hits the wall after a quarter of a period, whatever the angle", function()
    for _, q0 in ipairs { 0.1, 1, 2, 3 } do
      local quarter = K(math.sin(q0 / 2)) / math.sqrt(10)
      local c = run(("--q0 %g --h 2e-4 --T %g"):format(q0, quarter + 0.01))
      assert.near(quarter, c.t[impacts(c)[1]], 4e-4)
    end
  end)

  it("keeps e^2 of the energy at an impact, and all of it otherwise", function()
    for _, e in ipairs { 0.5, 0.9, 1 } do
      local c = run("--e " .. e)
      local hits, number = impacts(c), 1
      assert.is_true(#hits >= 4)
      local level = energy(c, 1)
      for i = 2, c.n do
        if i == hits[number] then
          level, number = e * e * level, number + 1
          assert.near(-e * c.vx[i - 1], c.vx[i], 1e-9)
        end
        assert.near(level, energy(c, i), 2e-5 * level)
      end
    end
  end)

  it("does not go through the wall farther than in one step", function()
    local c = run ""
    for i = 1, c.n do assert.is_true(c.x[i] >= -5e-4 * 3.1) end
  end)

  it("is the reference with one iteration a step", function()
    local c = run "--newton one --theta 0.500001 --T 10"
    local ref = columns.read "spec/reference/trajectory_simple_pendulum.csv"
    assert.same(ref.names, c.names)
    assert.is_true(ref.row[20] < c.n)
    for _, name in ipairs(ref.names) do
      local mine, theirs = {}, {}
      for i = 1, ref.n do
        if ref.row[i] < c.n then mine[i], theirs[i] = c[name][ref.row[i] + 1], ref[name][i] end
      end
      local e = columns.error(mine, theirs)
      assert.is_true(e <= 1e-7, ("%s: %g"):format(name, e))
    end
  end)

  it("converges with order 2 between impacts", function()
    local function angle(h)
      local c = run(("--h %g --T 0.4"):format(h))
      return c.q[c.n]
    end
    local a, b, c = angle(4e-3), angle(2e-3), angle(1e-3)
    assert.near(4, (a - b) / (b - c), 0.05)
  end)

  it("is the scheme of a program of its own", function()
    local names = { "q", "w" }
    assert.equal(201, columns.expect(run "", "spec/reference/mechanics_pendulum_h5e-4.csv", names, 1e-8))
  end)

  it("has the exact impacts, with errors of order 1 in h", function()
    local ref = columns.read "spec/reference/mechanics_pendulum_exact.csv"
    for _, h in ipairs { 1e-3, 2e-4 } do
      local c = run(("--T 10 --h %g"):format(h))
      local hits = impacts(c)
      for n, i in ipairs(hits) do
        assert.near(ref.t[n], c.t[i], (2 + 2 * n) * h)
        assert.near(ref.w_after[n], c.w[i], 2 * n * h)
      end
      assert.is_true(#hits >= 9 and #hits < ref.n and ref.t[#hits + 1] > 10 - h)
    end
  end)

  it("tells the impacts, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("(full): 5 impacts", out, 1, true)
    local _
    _, err, status = script "--newton two"
    assert.equal(1, status)
    assert.matches("--newton: expected one of full, one, got 'two'", err, 1, true)
  end)
end)
