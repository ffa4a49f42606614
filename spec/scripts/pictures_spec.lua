-- --plot DIR of the scripts that have it: the pictures are there, of the size that they should have.
local host = require "host"

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local function size_of(path)
  local text = host.read(path)
  if not text or text:sub(2, 4) ~= "PNG" or text:sub(-8, -5) ~= "IEND" then return nil end
  return string.unpack(">I4I4", text, 17)
end

-- Arguments, and the pictures with their widths.
local cases = {
  { "clutch.lua --h 0.5", { constraint = 1050, run = 1050, sets = 1650 } },
  { "clutch.lua --h 0.5 --mode disengage", { constraint = 1050, run = 1050, sets = 1650 } },
  { "spiral.lua", { backward = 1650 } },
  { "spiral.lua --form nsds --h 0.05", { backward = 1650 } },
  { "spiral.lua --method forward", { forward = 1650 } },
  { "spiral.lua --method adaptive", { adaptive = 1650 } },
  { "spiral.lua --method portrait", { portrait = 900 } },
  { "spiral.lua --method regions", { regions = 1200 } },
  { "hard_stop.lua", { run = 1050 } },
  { "coulomb.lua", { run = 1050 } },
  { "clutch_friction.lua", { engage = 1050 } },
  { "clutch_friction.lua --mode ramp --alpha 20", { ramp = 1050 } },
  { "four_bar.lua --T 0.5", { dae = 1350 } },
  { "four_bar.lua --T 0.5 --method moreau --form positions", { moreau = 1350 } },
  { "four_bar.lua --T 0.5 --points 50 --method all",
    { comparison = 1350, dae = 1350, events = 1350, ivp = 1350, ivp_fsolve = 1350, moreau = 1350 } },
  { "pinned_link.lua", { path = 900, theta = 1050 } },
  { "double_pendulum.lua --T 0.5", { run = 1650 } },
  { "woodpecker.lua --T 0.2", { run = 1650 } },
  { "bouncing_ball.lua --T 4", { errors = 1350, run = 1050 } },
  { "bouncing_ball.lua --T 1 --e 0 --osi SchatzmanPaoli", { errors = 1350, run = 1050 } },
  { "slope.lua --mu 0.1 --T 0.5", { run = 1650 } },
  { "ball_on_plane.lua --v 0 --T 0.1", { run = 1050 } },
  { "ball_on_plane.lua --mu 0 --T 0.1", { run = 1050 } },
  { "stick_slip.lua --h 0.01", { run = 1650 } },
  { "stick_slip.lua --T 0.01 --V 0", { run = 1650 } },
  { "newtons_cradle.lua", { run = 1050 } },
  { "newtons_cradle.lua --N 10 --gap 0", { run = 1050 } },
  { "pendulum.lua --T 1", { run = 1650 } },
  { "rocking_block.lua --vx 1", { run = 1050 } },
  { "box_on_slope.lua --T 0.1", { run = 1650 } },
  { "impacting_bar.lua --N 7 --T 1", { run = 1650 } },
  { "impacting_bar.lua --N 1 --T 0.1", { run = 1650 } },
  { "pendulum_dae.lua --T 1 --points 11", { drift = 1350 } },
  { "pendulum_dae.lua --T 1 --points 11 --form 1", { form_1 = 1050 } },
  { "pendulum_dae.lua --T 1 --points 11 --form written", { written = 1050 } },
  { "slider_crank.lua --T 0.005", { run = 1350 } },
  { "disks_in_a_box.lua --n 9 --T 0.5", { run = 1650 } },
  { "disks_in_a_box.lua --n 3 --T 0.01", { run = 1650 } }, -- no contact yet
}

describe("--plot", function()
  for i, case in ipairs(cases) do
    it("draws: " .. case[1], function()
      local place = ("%s/%d/deep"):format(directory, i)
      local out, err, status = host.nslua_run(("scripts/%s --plot %s"):format(case[1], place))
      assert.equal("", err)
      assert.equal(0, status)
      local names = {}
      for name, width in pairs(case[2]) do
        names[#names + 1] = name .. ".png"
        assert.equal(width, (size_of(place .. "/" .. name .. ".png")), name)
        assert.matches("drawn: " .. place .. "/" .. name .. ".png\n", out, 1, true)
      end
      table.sort(names)
      assert.equal(table.concat(names, " "), host.list(place))
    end)
  end

  it("takes a directory of any name, and draws the same picture twice", function()
    local place = directory .. "/a b'c|d"
    for _ = 1, 2 do
      local _, err, status = host.nslua_run("scripts/coulomb.lua --plot " .. host.quote(place .. "//"))
      assert.same({ "", 0 }, { err, status })
    end
    assert.equal("run.png", host.list(place))
  end)

  it("draws as many dots per inch as the environment says", function()
    local place = directory .. "/small"
    local _, err, status = host.run(("NSLUA_DPI=50 %s scripts/coulomb.lua --plot %s"):format(host.quote(host.nslua), place))
    assert.same({ "", 0 }, { err, status })
    assert.equal(350, (size_of(place .. "/run.png")))
  end)

  it("says what is wrong, with status 1", function()
    host.write(directory .. "/file", "")
    local _, err, status = host.nslua_run(("scripts/coulomb.lua --plot %s/file/x"):format(directory))
    assert.equal(("scripts/coulomb.lua: can not make the directory '%s/file/x': Not a directory\n"):format(directory), err)
    assert.equal(1, status)
    local tools = directory .. "/tools"
    os.execute(("mkdir %s && ln -s $(command -v mkdir) %s/mkdir"):format(tools, tools))
    _, err, status = host.run(("PATH=%s %s scripts/coulomb.lua --plot %s/p"):format(tools, host.quote(host.nslua), directory))
    assert.matches("^scripts/coulomb.lua: gnuplot is not installed; pictures need it: apt install gnuplot%-nox", err)
    assert.equal(1, status)
  end)
end)
