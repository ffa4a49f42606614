local columns = require "columns"
local host = require "host"
local rational = require "rational"

local NAMES = { "t", "c", "w1", "w2", "tau", "lambda", "newton_iterations", "W", "q" }

local function script(arguments)
  return host.nslua_run("scripts/clutch.lua " .. arguments)
end

describe("scripts/clutch.lua", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function run(arguments)
    local file = directory .. "/run.csv"
    os.remove(file)
    local out, err, status = script(arguments .. " --csv " .. file)
    assert.equal("", err)
    assert.equal(0, status)
    return columns.read(file), out
  end

  -- The step at which lambda switches after the first.
  local function switch(c)
    for k = 2, c.n - 1 do
      if c.lambda[k + 1] ~= c.lambda[k] then return k end
    end
  end

  it("ends at the exact values with theta = gamma = 1/2 and implicit restarts, and says when solutions are unique", function()
    for mode, exact in pairs { engage = { 9, 9, -10 }, disengage = { 159, -591, 0 } } do
      local c, out = run("--restart implicit --theta 0.5 --gamma 0.5 --mode " .. mode)
      for i, name in ipairs { "w1", "w2", "tau" } do assert.near(exact[i], c[name][c.n], 1e-10) end
      assert.matches("unique for every q: no; the last step has 1 solution\n", out, 1, true)
    end
  end)

  for _, mode in ipairs { "engage", "disengage" } do
    for _, theta in ipairs { 0.5, 1 } do
      for _, gamma in ipairs { 0.5, 1 } do
        describe(("%s, theta %g, gamma %g"):format(mode, theta, gamma), function()
          local mine, out
          setup(function() mine, out = run(("--mode %s --theta %g --gamma %g"):format(mode, theta, gamma)) end)

          it("is the exact scheme at every step", function()
            local k = switch(mine)
            assert.is_true(k == 100 or k == 101)
            local exact = rational.clutch(mode, theta, gamma, rational.new(1, 20), 400, k)
            local tolerance = theta == 1 and gamma == 1 and 1e-12 or 1e-10
            assert.equal(401, mine.n)
            for _, name in ipairs { "t", "c", "w1", "w2", "tau", "lambda" } do
              local e = columns.error(mine[name], exact[name])
              assert.is_true(e <= tolerance, ("%s: %g"):format(name, e))
            end
          end)

          it("takes at most 2 Newton iterations a step", function()
            local most = table.move(mine.newton_iterations, 2, mine.n, 1, {})
            table.sort(most)
            assert.is_true(most[1] >= 1 and most[#most] <= 2)
            assert.equal(0, mine.newton_iterations[1])
          end)

          it("conserves J1 w1 + J2 w2", function()
            local worst = 0
            for i = 1, mine.n do
              local w1, w2 = mine.w1[i], mine.w2[i]
              local scale = math.max(math.abs(w1), math.abs(w2))
              worst = math.max(worst, math.abs(w1 + w2 / 4 - 11.25) / scale)
            end
            assert.is_true(worst <= 1e-12)
          end)

          it("obeys the law, and its graph has W = 0 and q = y", function()
            local sign = mode == "engage" and -1 or 1
            local bad = 0
            for i = 1, mine.n do
              local y, lambda = sign * mine.c[i], mine.lambda[i]
              local obeyed = i == 1 or lambda == (y > 0 and 0 or 1) or math.abs(y) < 1e-12
              local graph = math.abs(mine.W[i]) <= 1e-12 and math.abs(mine.q[i] - y) <= 1e-12
              if not (obeyed and graph) then bad = bad + 1 end
            end
            assert.equal(0, bad)
          end)

          it("tells what happened", function()
            assert.matches(("lambda switches at step %d, t = "):format(switch(mine)), out, 1, true)
            assert.matches("Newton iterations: %d+ in all, at most 2 a step", out)
            assert.matches("J1 w1 + J2 w2 = 11.25 throughout", out, 1, true)
            assert.matches("written: 401 rows to " .. directory .. "/run.csv", out, 1, true)
          end)
        end)
      end
    end
  end

  it("sticks with tau = -10 and slips with tau = 0 when theta = gamma = 1", function()
    local c = run "--mode engage"
    local k = switch(c)
    for i = 2, k do assert.near(0, c.tau[i], 1e-12 * 250) end
    assert.near(k == 101 and -1030 or -1020, c.tau[k + 1], 1e-9)
    for i = k + 2, c.n do
      assert.near(-10, c.tau[i], 1e-9)
      assert.near(9, c.w1[i], 1e-11)
      assert.near(9, c.w2[i], 1e-11)
    end
    c = run "--mode disengage"
    assert.near(-30, c.tau[2], 1e-10)
    for i = 3, switch(c) do assert.near(-10, c.tau[i], 1e-9) end
    for i = switch(c) + 1, c.n do assert.near(0, c.tau[i], 1e-9) end
  end)

  it("takes other steps: half the step ends where the exact scheme does", function()
    local c = run "--mode disengage --h 0.025 --theta 0.75"
    local exact = rational.clutch("disengage", 0.75, 1, rational.new(1, 40), 800, switch(c))
    assert.equal(801, c.n)
    for _, name in ipairs { "w1", "w2", "tau" } do assert.is_true(columns.error(c[name], exact[name]) <= 1e-10) end
  end)

  it("has the columns in their order and numbers that read back exactly", function()
    local c = run "--h 0.5"
    assert.same(NAMES, c.names)
    assert.equal(41, c.n)
    for k = 0, 40 do assert.equal(k * 0.5, c.t[k + 1]) end
  end)

  it("writes nothing without --csv", function()
    local out, err, status = script "--h 1"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("engage: theta = 1, gamma = 1, h = 1, 20 steps", out, 1, true)
    assert.is_nil(out:find("written", 1, true))
  end)

  it("prints the same under stock Lua", function()
    if host.sanitized then return end
    local stock = ("env 'LUA_PATH=lua/?.lua;lua/?/init.lua;;' 'LUA_CPATH=%s/lib/?.so;;' lua5.4 "):format(host.build)
    local out, err, status = host.run(stock .. "scripts/clutch.lua --mode disengage")
    assert.equal("", err)
    assert.equal(0, status)
    assert.equal((script "--mode disengage"), out)
  end)

  it("refuses mistakes with a message, the usage line and status 1", function()
    for arguments, message in pairs {
      ["--mode sideways"] = "--mode: expected one of engage, disengage, got 'sideways'",
      ["--theta 2"] = "--theta: expected a number, above 0 and at most 1, got '2'",
      ["--theta 0"] = "--theta: expected a number, above 0 and at most 1, got '0'",
      ["--gamma nan"] = "--gamma: expected a number, above 0 and at most 1, got 'nan'",
      ["--h -1"] = "--h: expected a number, at least 1e-05 and at most 5, got '-1'",
      ["--csv"] = "--csv: expected a value (FILE)",
      ["--colour red"] = "unknown option '--colour'",
      ["engage"] = "unexpected argument 'engage'",
    } do
      local out, err, status = script(arguments)
      assert.equal("", out)
      assert.equal("scripts/clutch.lua: " .. message .. "\nusage: scripts/clutch.lua [--mode engage|disengage] " ..
        "[--theta NUMBER] [--gamma NUMBER] [--restart none|implicit] [--h NUMBER] [--csv FILE] [--animate FILE] " ..
        "[--plot DIR]\n", err)
      assert.equal(1, status)
    end
  end)

  it("says when the file can not be written", function()
    local _, err, status = script("--h 1 --csv " .. directory .. "/no/such/run.csv")
    assert.equal(1, status)
    assert.matches("scripts/clutch.lua: --csv: cannot write '" .. directory .. "/no/such/run.csv': ", err, 1, true)
    _, err, status = script "--h 1 --csv /dev/full"
    assert.equal(1, status)
    assert.matches("cannot write '/dev/full': No space left on device", err, 1, true)
  end)

  it("--help lists the options", function()
    local out, err, status = script "--help"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("--mode engage|disengage  what the clutch does at t = 5 (default: engage)", out, 1, true)
  end)
end)
