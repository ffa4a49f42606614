local script_run = require "script_run"
local columns = require "columns"

describe("scripts/newtons_cradle.lua", function()
  local script, run = script_run("newtons_cradle", setup, teardown)

  -- Sums over the beads in row i: momentum, kinetic energy.
  local function sums(c, i, N)
    local momentum, energy = 0, 0
    for b = 1, N do
      local v = c["v" .. b][i]
      momentum, energy = momentum + v, energy + 0.5 * v * v
    end
    return momentum, energy
  end

  it("hands the whole velocity to the last bead when impacts come one after the other", function()
    for _, N in ipairs { 2, 5, 9 } do
      local c = run("--T 0.3 --N " .. N)
      for b = 1, N - 1 do assert.near(0, c["v" .. b][c.n], 1e-13) end
      assert.near(1, c["v" .. N][c.n], 1e-13)
    end
  end)

  it("takes the time of the gaps: 0.05 to the second bead with --gap 0, then nothing", function()
    local c = run "--gap 0 --h 1e-4"
    for i = 1, c.n do
      if c.t[i] < 0.0498 then assert.equal(0, c.v2[i]) end
      if c.t[i] > 0.0502 then assert.near(0.4, c.v2[i], 1e-13) end
    end
    c = run "--h 1e-4" -- 0.06 to the second, 0.01 from each to the next
    for b = 2, 5 do
      for i = 1, c.n do
        if c.t[i] < 0.06 + 0.01 * (b - 2) - 1e-3 then assert.equal(0, c["v" .. b][i]) end
        if b == 5 and c.t[i] > 0.06 + 0.03 + 1e-3 then assert.near(1, c.v5[i], 1e-13) end
      end
    end
  end)

  it("hands on ((1 + e) / 2)^(N - 1)", function()
    for _, e in ipairs { 0.5, 0.8, 0.95 } do
      local c = run(("--e %g --h 1e-4"):format(e))
      local first
      for i = 1, c.n do first = first or (c.v5[i] ~= 0 and c.v5[i]) end
      assert.near(((1 + e) / 2) ^ 4, first, 1e-12)
    end
  end)

  it("keeps all together with e = 0", function()
    local c = run "--e 0"
    for b = 1, 5 do assert.near(0.2, c["v" .. b][c.n], 1e-13) end
  end)

  it("has the others move as one body when they are in contact", function()
    for _, N in ipairs { 2, 5, 9 } do
      for _, e in ipairs { 0, 0.5, 1 } do
        local c = run(("--gap 0 --e %g --N %d"):format(e, N))
        assert.near((1 - e * (N - 1)) / N, c.v1[c.n], 1e-12)
        for b = 2, N do assert.near((1 + e) / N, c["v" .. b][c.n], 1e-12) end
      end
    end
  end)

  it("keeps momentum always, and energy when e = 1", function()
    for _, gap in ipairs { 0, 0.01 } do
      for _, e in ipairs { 0, 0.6, 1 } do
        local c = run(("--T 1 --gap %g --e %g"):format(gap, e))
        local before = math.huge
        for i = 1, c.n do
          local momentum, energy = sums(c, i, 5)
          assert.near(1, momentum, 1e-13)
          assert.is_true(energy <= before + 1e-13)
          if e == 1 then assert.near(0.5, energy, 1e-13) end
          before = energy
        end
      end
    end
  end)

  it("lets no bead pass the next by more than a step", function()
    local c = run "--T 1 --e 0.3"
    for i = 1, c.n do
      for b = 1, 4 do assert.is_true(c["q" .. b + 1][i] - c["q" .. b][i] - 0.1 >= -1e-3) end
    end
  end)

  it("is the scheme of a program of its own", function()
    for _, e in ipairs { 1, 0.5 } do
      local c = run("--gap 0.0103 --e " .. e)
      local names = { "q1", "q2", "q3", "q4", "q5", "v1", "v2", "v3", "v4", "v5" }
      assert.equal(201, columns.expect(c, ("spec/reference/mechanics_cradle_e%g.csv"):format(e), names, 1e-12))
    end
  end)

  it("has the exact impacts, in their order", function()
    for _, e in ipairs { 1, 0.5 } do
      local c = run("--gap 0.0103 --h 2.3e-4 --e " .. e)
      local ref = columns.read(("spec/reference/mechanics_cradle_exact_e%g.csv"):format(e))
      local last = 1
      for n = 1, ref.n do
        local left, right, found = c["v" .. ref.left[n]], c["v" .. ref.left[n] + 1], nil
        for i = last, c.n do
          if math.abs(left[i] - ref.v_left[n]) < 1e-12 and math.abs(right[i] - ref.v_right[n]) < 1e-12 then
            found = i
            break
          end
        end
        assert.near(ref.t[n], c.t[found], 8 * 2.3e-4)
        last = found
      end
    end
  end)

  it("tells the velocities, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("velocities at the end: 0 0 0 0 1\n", out, 1, true)
    out = script "--gap 0"
    assert.matches("velocities at the end: -0.6 0.4 0.4 0.4 0.4\n", out, 1, true)
    local _
    _, err, status = script "--N 1"
    assert.equal(1, status)
    assert.matches("--N: expected a number, at least 2 and at most 100, got '1'", err, 1, true)
  end)
end)
