local script_run = require "script_run"
local columns = require "columns"

describe("scripts/coulomb.lua", function()
  local script, run = script_run("coulomb", setup, teardown)

  for _, form in ipairs { "direct", "nsds" } do
    it(("is the reference (%s)"):format(form), function()
      local c, out = run("--form " .. form)
      local ref = columns.read "spec/reference/coulomb_h0.2.csv"
      assert.same(ref.names, c.names)
      assert.equal(26, c.n)
      for _, name in ipairs { "k", "t", "x", "v" } do
        assert.is_true(columns.error(c[name], ref[name]) <= 1e-12, name)
      end
      for _, name in ipairs { "Fplus_minnorm", "Fminus_minnorm", "vabs" } do
        local mine, theirs = {}, {}
        for i = 2, 26 do mine[i - 1], theirs[i - 1] = c[name][i], ref[name][i] end
        assert.is_true(columns.error(mine, theirs) <= 1e-12, name)
      end
      assert.same(ref.case, c.case)
      assert.matches("at rest from step 6 on, at x = 41.14", out, 1, true)
    end)

    it(("obeys the law of friction for other data (%s)"):format(form), function()
      local bound = 0.3 * 100 * 9.81
      local c = run("--mu 0.3 --v0=-7 --h 0.01 --T 4 --form " .. form)
      for i = 2, c.n do
        local f = c.Fplus_minnorm[i] - c.Fminus_minnorm[i]
        assert.is_true(math.abs(f) <= bound * (1 + 1e-14))
        if math.abs(c.v[i]) > 1e-12 then assert.near(c.v[i] > 0 and -bound or bound, f, 1e-11) end
        assert.near(c.v[i - 1] + 0.01 / 100 * f, c.v[i], 1e-13)
        assert.near(c.x[i - 1] + 0.01 * c.v[i], c.x[i], 1e-12)
      end
      assert.near(0, c.v[c.n], 1e-14)
      assert.equal("slide-", c.case[2])
    end)
  end

  it("never stops without friction", function()
    local c, out = run "--mu 0"
    for i = 1, c.n do assert.equal(100, c.v[i]) end
    assert.matches("not at rest yet", out, 1, true)
  end)

  it("refuses mistakes, and --help lists the options", function()
    local _, err, status = script "--mu=-1"
    assert.equal(1, status)
    assert.matches("--mu: expected a number, at least 0, got '-1'\nusage: scripts/coulomb.lua ", err, 1, true)
    local out
    out, err, status = script "--help"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("--form direct|nsds", out, 1, true)
  end)
end)
