local columns = require "columns"
local host = require "host"

describe("scripts/clutch_short.lua", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function run(script, mode)
    local file = directory .. "/" .. script .. ".csv"
    local out, err, status = host.nslua_run(("scripts/%s.lua --mode %s --csv %s"):format(script, mode, file))
    assert.equal("", err)
    assert.equal(0, status)
    return columns.read(file), out
  end

  for _, mode in ipairs { "engage", "disengage" } do
    it("is clutch.lua to rounding: " .. mode, function()
      local long, short = run("clutch", mode), run("clutch_short", mode)
      assert.equal(401, short.n)
      for mine, theirs in pairs { t = "t", c = "c", w1 = "w1", w2 = "w2", tau = "tau", lambda1 = "lambda" } do
        local e = columns.error(short[mine], long[theirs])
        assert.is_true(e <= 1e-14, mine .. ": " .. e)
      end
      assert.same(long.newton_iterations, short.newton_iterations)
    end)
  end

  it("tells the end and writes nothing of its own accord", function()
    local out, err, status = host.nslua_run "scripts/clutch_short.lua"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("solution (completed): 401 rows", out, 1, true)
    assert.matches("at most\t2\tNewton iterations a step", out, 1, true)
  end)

  it("refuses mistakes", function()
    local _, err, status = host.nslua_run "scripts/clutch_short.lua --mode up"
    assert.equal(1, status)
    assert.equal("scripts/clutch_short.lua: --mode: expected one of engage, disengage, got 'up'\n" ..
      "usage: scripts/clutch_short.lua [--mode engage|disengage] [--csv FILE.csv]\n", err)
  end)
end)
