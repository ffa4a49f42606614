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

-- Arguments, and the pictures with their widths at 50 dots per inch.
local cases = {
  { "clutch.lua --h 0.5", { constraint = 350, run = 350, sets = 550 } },
  { "clutch.lua --h 0.5 --mode disengage", { constraint = 350, run = 350, sets = 550 } },
  { "spiral.lua", { backward = 550 } },
  { "spiral.lua --form nsds --h 0.05", { backward = 550 } },
  { "spiral.lua --method forward", { forward = 550 } },
  { "spiral.lua --method adaptive", { adaptive = 550 } },
  { "spiral.lua --method portrait", { portrait = 300 } },
  { "spiral.lua --method regions", { regions = 400 } },
  { "hard_stop.lua", { run = 350 } },
  { "coulomb.lua", { run = 350 } },
  { "clutch_friction.lua", { engage = 350 } },
  { "clutch_friction.lua --mode ramp --alpha 20", { ramp = 350 } },
  { "four_bar.lua --T 0.5", { dae = 450 } },
  { "four_bar.lua --T 0.5 --method moreau --form positions", { moreau = 450 } },
  { "four_bar.lua --T 0.5 --points 50 --method all",
    { comparison = 450, dae = 450, events = 450, ivp = 450, ivp_fsolve = 450, moreau = 450 } },
  { "pinned_link.lua", { path = 300, theta = 350 } },
  { "double_pendulum.lua --T 0.5", { run = 550 } },
  { "woodpecker.lua --T 0.2", { run = 550 } },
  { "bouncing_ball.lua --T 4", { errors = 450, run = 350 } },
  { "bouncing_ball.lua --T 1 --e 0 --osi SchatzmanPaoli", { errors = 450, run = 350 } },
  { "slope.lua --mu 0.1 --T 0.5", { run = 550 } },
  { "ball_on_plane.lua --v 0 --T 0.1", { run = 350 } },
  { "ball_on_plane.lua --mu 0 --T 0.1", { run = 350 } },
  { "stick_slip.lua --h 0.01", { run = 550 } },
  { "stick_slip.lua --T 0.01 --V 0", { run = 550 } },
  { "impact_orbit.lua --values 4", { orbit = 500, diagram = 320 } },
  { "belt_cycle.lua --to 0.6", { branch = 320, orbit = 500 } },
  { "clutch_cycle.lua --to 2", { branch = 320, motion = 350 } },
  { "boost_converter.lua --to 0.12", { duty = 320 } },
  { "boost_converter.lua --control current --to 1", { current = 320 } },
  { "sliding_mode.lua --T 2", { run = 350 } },
  { "twisting.lua --T 1", { portrait = 300 } },
  { "thermostat.lua", { run = 350 } },
  { "rectifier.lua --T 0.02", { run = 400 } },
  { "cuk.lua --periods 20", { run = 400 } },
  { "full_bridge.lua --periods 2", { run = 400 } },
  { "boost_pi.lua --periods 20", { run = 350 } },
  { "quarter_car.lua --T 1", { run = 350 } },
  { "cart_pole.lua --T 1", { run = 350 } },
  { "hopper.lua --periods 10", { hop = 350 } },
  { "tower.lua --n 2 --T 0.4", { run = 350 } },
  { "rolling.lua --T 0.5", { run = 350 } },
  { "dominoes.lua --n 4 --T 0.1", { run = 350 } },
  { "granular_hopper.lua --n 8 --T 0.1", { run = 350 } },
  { "chain.lua --n 3 --T 0.1", { run = 350 } },
  { "rover.lua --T 0.1", { run = 350 } },
  { "woodpecker_cycle.lua --to 0.49", { branch = 350, cycle = 500 } },
  { "coupled_clutches.lua --T 0.1", { run = 350 } },
  { "lossy_gear.lua --T 0.1", { run = 350 } },
  { "gear_shift.lua --T 0.5", { run = 350 } },
  { "newtons_cradle.lua", { run = 350 } },
  { "newtons_cradle.lua --N 10 --gap 0", { run = 350 } },
  { "pendulum.lua --T 1", { run = 550 } },
  { "rocking_block.lua --vx 1", { run = 350 } },
  { "box_on_slope.lua --T 0.1", { run = 550 } },
  { "impacting_bar.lua --N 7 --T 1", { run = 550 } },
  { "impacting_bar.lua --N 1 --T 0.1", { run = 550 } },
  { "pendulum_dae.lua --T 1 --points 11", { drift = 450 } },
  { "pendulum_dae.lua --T 1 --points 11 --form 1", { form_1 = 350 } },
  { "pendulum_dae.lua --T 1 --points 11 --form written", { written = 350 } },
  { "slider_crank.lua --T 0.005", { run = 450 } },
  { "disks_in_a_box.lua --n 9 --T 0.5", { run = 550 } },
  { "disks_in_a_box.lua --n 3 --T 0.01", { run = 550 } }, -- no contact yet
}

describe("--plot", function()
  for i, case in ipairs(cases) do
    it("draws: " .. case[1], function()
      local place = ("%s/%d/deep"):format(directory, i)
      local command = ("NSLUA_DPI=50 NSLUA_SCENES=no %s scripts/%s --plot %s"):format(host.quote(host.nslua), case[1], place)
      local out, err, status = host.run(command)
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

  it("draws 144 dots per inch, if the environment does not say how many", function()
    local place = directory .. "/large"
    local _, err, status = host.nslua_run(("scripts/coulomb.lua --plot %s"):format(place))
    assert.same({ "", 0 }, { err, status })
    assert.equal(1008, (size_of(place .. "/run.png")))
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
