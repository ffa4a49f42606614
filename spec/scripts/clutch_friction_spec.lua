local columns = require "columns"
local host = require "host"

describe("scripts/clutch_friction.lua", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function run(arguments)
    local file = directory .. "/run.csv"
    local out, err, status = host.nslua_run("scripts/clutch_friction.lua " .. arguments .. " --csv " .. file)
    assert.equal("", err)
    assert.equal(0, status)
    return columns.read(file), out
  end

  for _, mode in ipairs { "engage", "disengage", "ramp" } do
    for _, alpha in ipairs { 100, 20 } do
      it(("%s with alpha = %d is the reference"):format(mode, alpha), function()
        local mine = run(("--mode %s --alpha %d"):format(mode, alpha))
        local ref = columns.read(("spec/reference/clutch_friction_%s_alpha%d_h0.05.csv"):format(mode, alpha))
        assert.equal(401, mine.n)
        for _, name in ipairs { "t", "w1", "w2", "tau" } do
          local picked = {}
          for i = 1, ref.n do picked[i] = mine[name][ref.row[i] + 1] end
          local e = columns.error(picked, ref[name])
          assert.is_true(e <= 1e-10, ("%s: %g"):format(name, e))
        end
      end)
    end
  end

  it("conserves J1 w1 + J2 w2, bounds the torque, and slips only at its bound", function()
    local c = run "--mode ramp --alpha 37"
    for i = 2, c.n do
      local bound = 37 * math.min(math.max((c.t[i] - 5) / 5, 0), 1)
      assert.near(11.25, c.w1[i] + c.w2[i] / 4, 1e-11)
      assert.is_true(math.abs(c.tau[i]) <= bound + 1e-10)
      local slip = c.w1[i] - c.w2[i]
      if math.abs(slip) > 1e-9 then assert.near(slip > 0 and -bound or bound, c.tau[i], 1e-10) end
    end
    assert.near(-10, c.tau[c.n], 1e-10)
  end)

  it("passes no torque with alpha = 0: w1 = 10 + 10 t, w2 = 5 - 40 t", function()
    local c, out = run "--alpha 0"
    for i = 1, c.n do
      assert.equal(0, c.tau[i])
      assert.near(10 + 10 * c.t[i], c.w1[i], 1e-10)
      assert.near(5 - 40 * c.t[i], c.w2[i], 1e-10)
    end
    assert.same({ "t", "w1", "w2", "tau" }, c.names)
    assert.matches("written: 401 rows to ", out, 1, true)
  end)

  it("refuses mistakes", function()
    local _, err, status = host.nslua_run "scripts/clutch_friction.lua --alpha=-3"
    assert.equal(1, status)
    assert.equal("scripts/clutch_friction.lua: --alpha: expected a number, at least 0, got '-3'\n" ..
      "usage: scripts/clutch_friction.lua [--mode engage|disengage|ramp] [--alpha NUMBER] [--csv FILE] [--plot DIR]\n", err)
  end)
end)
