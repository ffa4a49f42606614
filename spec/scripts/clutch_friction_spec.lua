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

  it("takes theta and gamma: the same law of the disks, the steps of another method", function()
    local implicit = run "--mode ramp --alpha 37"
    for _, given in ipairs { { 1, 1 }, { 0.5, 1 }, { 0.5, 0.5 }, { 0.7, 0.6 } } do
      local theta, gamma = table.unpack(given)
      local c, out = run(("--mode ramp --alpha 37 --theta %g --gamma %g"):format(theta, gamma))
      assert.matches(("^ramp: alpha = 37, theta = %g, gamma = %g, 400 steps\n"):format(theta, gamma), out)
      assert.equal(401, c.n)
      for i = 2, c.n do
        local bound = 37 * math.min(math.max((c.t[i] - 5) / 5, 0), 1)
        assert.is_true(math.abs(c.tau[i]) <= bound + 1e-10)
        assert.near(11.25, c.w1[i] + c.w2[i] / 4, 1e-10)
        local torque = gamma * c.tau[i] + (1 - gamma) * c.tau[i - 1]
        assert.near(c.w1[i - 1] + 0.05 * (10 + torque), c.w1[i], 1e-9)
        if theta == 1 and gamma == 1 then assert.equal(implicit.w1[i], c.w1[i]) end
      end
    end
    local _, err, status = host.nslua_run "scripts/clutch_friction.lua --theta 0"
    assert.matches("--theta: expected a number, above 0 and at most 1, got '0'", err, 1, true)
    assert.equal(1, status)
  end)

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
      "usage: scripts/clutch_friction.lua [--mode engage|disengage|ramp] [--alpha NUMBER] [--theta NUMBER] [--gamma NUMBER] " ..
      "[--csv FILE] [--plot DIR]\n", err)
  end)
end)
