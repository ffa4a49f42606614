local script_run = require "script_run"
local columns = require "columns"

describe("scripts/hard_stop.lua", function()
  local script, run = script_run("hard_stop", setup, teardown)

  for _, variant in ipairs { "maths", "code" } do
    for _, form in ipairs { "direct", "nsds" } do
      it(("is the reference at every step: %s, %s"):format(variant, form), function()
        local c = run(("--variant %s --form %s"):format(variant, form))
        local ref = columns.read(("spec/reference/hardstop_%s_h0.1.csv"):format(variant))
        assert.same(ref.names, c.names)
        assert.equal(101, c.n)
        for _, name in ipairs { "k", "t", "x1", "x2", "v1", "v2", "u1", "u2", "active" } do
          local mine = {}
          for i = 1, ref.n do mine[i] = c[name][ref.k[i] + 1] end
          local e = columns.error(mine, ref[name])
          assert.is_true(e <= 1e-12, ("%s: %g"):format(name, e))
        end
      end)
    end

    it(("is the reference with h = 1e-4: %s"):format(variant), function()
      local c = run(("--variant %s --form nsds --h 1e-4 --T 3.5 --every 1000"):format(variant))
      local ref = columns.read(("spec/reference/hardstop_%s_h1e-4.csv"):format(variant))
      assert.equal(ref.n, c.n)
      for _, name in ipairs { "t", "x1", "x2", "v1", "v2" } do
        local e = columns.error(c[name], ref[name])
        assert.is_true(e <= 1e-9, ("%s: %g"):format(name, e))
      end
    end)
  end

  it("both forms are one scheme to rounding, also with another step", function()
    for _, variant in ipairs { "maths", "code" } do
      local a = run(("--h 0.03 --T 2.9 --variant %s --form direct"):format(variant))
      local b = run(("--h 0.03 --T 2.9 --variant %s --form nsds"):format(variant))
      for _, name in ipairs { "x1", "x2", "v1", "v2", "u1", "u2" } do
        assert.is_true(columns.error(b[name], a[name]) <= 1e-11, name)
      end
    end
  end)

  it("obeys 0 <= C x _|_ u >= 0 and the equations of the step", function()
    local h = 0.1
    local c = run "--variant maths"
    for i = 2, c.n do
      local x1, x2, u1, u2 = c.x1[i], c.x2[i], c.u1[i], c.u2[i]
      assert.is_true(x1 >= -1e-15 and x2 - x1 >= -1e-15 and u1 >= 0 and u2 >= 0)
      assert.is_true(math.min(x1, u1) <= 1e-15 and math.min(x2 - x1, u2) <= 1e-15)
      local p1, p2 = c.x1[i - 1], c.x2[i - 1]
      assert.near(c.v1[i - 1] + h * (-2 * p1 + p2 + u1 - u2), c.v1[i], 1e-13)
      assert.near(c.v2[i - 1] + h * (p1 - p2 + u2), c.v2[i], 1e-13)
      assert.near(p1 + h * c.v1[i], x1, 1e-13)
      assert.near(p2 + h * c.v2[i], x2, 1e-13)
    end
  end)

  it("comes to rest at the wall", function()
    for _, variant in ipairs { "maths", "code" } do
      local c = run("--variant " .. variant)
      for i = 33, c.n do
        for _, name in ipairs { "x1", "x2", "v1", "v2" } do assert.near(0, c[name][i], 1e-14) end
      end
    end
  end)

  it("tells the contacts, and refuses mistakes", function()
    local out, err, status = script ""
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("maths (direct), h = 0.1, 100 steps", out, 1, true)
    assert.matches("    25        2.5 .-wall\n", out)
    assert.is_nil(out:find("written", 1, true))
    local _
    _, err, status = script "--variant fast"
    assert.equal(1, status)
    assert.matches("--variant: expected one of maths, code, got 'fast'\nusage: scripts/hard_stop.lua ", err, 1, true)
    out, err, status = script "--help"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("--variant maths|code", out, 1, true)
  end)
end)
