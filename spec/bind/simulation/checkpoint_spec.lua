-- simu:save_state and simu:load_state as Lua sees them: arguments, notes, results, errors.
local ns = require "nslua"
local host = require "host"
local models = require "models"

local function make()
  return (models.two_decays({ "fast", "slow" }))
end

describe("save_state and load_state", function()
  local directory, path
  before_each(function()
    directory = host.new_directory()
    path = directory .. "/state"
  end)
  after_each(function() host.remove(directory) end)

  it("carry a note of any bytes, and nil without one", function()
    local simu = make()
    simu:save_state(path)
    local note, generation = simu:load_state(path)
    assert.is_nil(note)
    assert.equal("current", generation)
    for _, text in ipairs { "a\0b\n", ("x"):rep(100000), "7" } do
      simu:save_state(path, text)
      assert.equal(text, (simu:load_state(path)))
    end
    simu:save_state(path, "")
    assert.is_nil((simu:load_state(path)))
  end)

  it("tell when it was the generation before that could be read", function()
    local simu = make()
    simu:save_state(path, "first")
    simu:computeOneStep()
    simu:nextStep()
    simu:save_state(path, "second")
    local file = io.open(path, "w")
    file:write "torn"
    file:close()
    local note, generation = simu:load_state(path)
    assert.equal("first", note)
    assert.equal("previous", generation)
    assert.equal(0, simu:step())
  end)

  it("raise the file's name and the reason, and change nothing", function()
    local simu = make()
    simu:computeOneStep()
    simu:nextStep()
    local none = directory .. "/none/state"
    local reason = "'" .. none .. "': No such file or directory"
    assert.error_matches(function() simu:save_state(none) end, "save_state: cannot write " .. reason, 1, true)
    assert.error_matches(function() simu:load_state(none) end, "load_state: cannot read " .. reason, 1, true)
    assert.equal(1, simu:step())
  end)

  it("take no path with a zero byte", function()
    local simu = make()
    for _, name in ipairs { "save_state", "load_state" } do
      assert.error_matches(function() simu[name](simu, "a\0b") end, name .. ": file: ", 1, true)
    end
  end)

  it("name a wrong argument", function()
    local simu = make()
    assert.error_matches(function() simu:load_state(3) end, "load_state: file: expected a string, got number", 1, true)
    assert.error_matches(function() simu:load_state("x", 3) end, "load_state: options: expected a table", 1, true)
    assert.error_matches(function() simu:load_state("x", { constant = 1 }) end, "constant", 1, true)
    assert.error_matches(function() simu:load_state("x", { constants = 1 }) end,
      "load_state: constants: expected a boolean, got number", 1, true)
    assert.error_matches(function() simu:save_state() end, "save_state: file: expected a string, got no value", 1, true)
    assert.error_matches(function() simu:save_state("x", {}) end,
      "save_state: note: expected a string, got an empty table", 1, true)
  end)

  it("do not work inside of a callback", function()
    local simu, message
    local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f)
      f[1] = -x[1]
      for _, name in ipairs { "save_state", "load_state" } do
        message = select(2, pcall(simu[name], simu, path))
        assert(message:find(name .. ": a step is being computed (called from inside a callback?)", 1, true), message)
      end
    end)
    simu = models.simulation { systems = { ds } }
    simu:computeOneStep()
    assert.truthy(message)
  end)
end)
