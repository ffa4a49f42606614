-- The files of checkpoints: two generations, each whole or refused.
local ns = require "nslua"
local host = require "host"
local simulation = require "models".simulation

describe("io.checkpoint", function()
  local directory, path, simu

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/run.state"
    simu = simulation { systems = { ns.FirstOrderLinearTIDS({ 1, 2 }, { { -1, 0.5 }, { 0, -2 } }) } }
  end)
  after_each(function() host.remove(directory) end)

  -- Saves the states of the first steps one after the other, in the same file.
  local function save(count)
    for _ = 1, count do
      simu:computeOneStep()
      simu:nextStep()
      simu:save_state(path, "step " .. simu:step())
    end
  end

  local function loaded()
    local good, note, generation = pcall(simu.load_state, simu, path)
    return good and note .. " " .. generation or note
  end

  it("keeps the generation before, and no other file", function()
    save(1)
    assert.equal("run.state", host.list(directory))
    save(2)
    assert.equal("run.state run.state.previous", host.list(directory))
    assert.equal("step 3 current", loaded())
    os.remove(path)
    assert.equal("step 2 previous", loaded())
  end)

  it("takes the generation before when a byte is flipped, whichever #once", function()
    save(2)
    local text = host.read(path)
    for i = 1, #text do
      host.write(path, text:sub(1, i - 1) .. string.char(text:byte(i) ~ (1 << i % 8)) .. text:sub(i + 1))
      assert.equal("step 1 previous", loaded())
    end
  end)

  it("takes the generation before when the file is cut, wherever, or has more #once", function()
    save(2)
    local text = host.read(path)
    for i = 0, #text - 1 do
      host.write(path, text:sub(1, i))
      assert.equal("step 1 previous", loaded())
    end
    host.write(path, text .. "x")
    assert.equal("step 1 previous", loaded())
    host.write(path, text)
    assert.equal("step 2 current", loaded())
  end)

  it("does not let a damaged file take the place of the good one", function()
    save(2)
    local good = host.read(path .. ".previous")
    host.write(path, "damaged")
    save(1)
    assert.equal(good, host.read(path .. ".previous"))
    assert.equal("step 3 current", loaded())
  end)

  it("says why neither can be read", function()
    local function refused(message)
      assert.equal("load_state: " .. message, loaded())
    end
    refused("cannot read '" .. path .. "': No such file or directory")
    host.write(path, "a letter")
    refused("cannot read '" .. path .. "': it is not a checkpoint")
    host.write(path, "")
    refused("cannot read '" .. path .. "': it is cut")
    host.write(path .. ".previous", "nslua checkpoint 1\n" .. ("x"):rep(100))
    refused(("cannot read '%s': it is cut; cannot read '%s.previous': it is cut or damaged"):format(path, path))
    os.remove(path .. ".previous")
    host.remove(directory)
    assert.error_matches(function() simu:save_state(path) end, "save_state: cannot write '" .. path .. "': No such file", 1, true)
    os.execute("mkdir " .. directory)
  end)

  it("refuses a directory, and a full disk, leaving what was there", function()
    save(1)
    assert.error_matches(function() simu:save_state(directory) end, "save_state: cannot write '" .. directory .. "'", 1, true)
    assert.error_matches(function() simu:save_state "/dev/full" end, "save_state: cannot write '/dev/full': No space left", 1, true)
    assert.equal("step 1 current", loaded())
    assert.error_matches(function() simu:load_state "/dev/zero" end, "load_state: cannot read '/dev/zero': it is not a checkpoint",
      1, true)
  end)
end)
