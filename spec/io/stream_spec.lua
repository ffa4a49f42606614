-- Rows written to a file as a run goes on: run{stream=}.
local ns = require "nslua"
local host = require "host"
local models = require "models"

describe("io.stream", function()
  local directory, path, state

  before_each(function()
    directory = host.new_directory()
    path, state = directory .. "/run.csv", directory .. "/run.state"
  end)
  after_each(function() host.remove(directory) end)

  local function make(o) return models.two_decays({ 'a,"b"', "c" }, o) end

  local function whole(T, record)
    local file = directory .. "/whole.csv"
    make { T = T }:run { record = record }:save(file)
    return host.read(file)
  end

  it("writes what the solution would save", function()
    for _, record in ipairs { 1, 7 } do
      make():run { stream = path, record = record }
      assert.equal(whole(2, record), host.read(path))
    end
    assert.matches('^t,"a,""b""",c,newton_iterations\n0,1,2,0\n', host.read(path))
  end)

  it("writes more than a buffer", function()
    local ds = ns.FirstOrderLinearTIDS(ns.linspace(0, 1, 300), -1 * ns.eye(300))
    local simu = models.simulation { systems = { ds }, T = 10 }
    local sol = simu:run { stream = path }
    sol:save(directory .. "/whole.csv")
    assert.is_true(#host.read(path) > 300000)
    assert.equal(host.read(directory .. "/whole.csv"), host.read(path))
  end)

  it("holds the rows up to a failure, and is gone on with", function()
    assert.error_matches(function() make { fail = 1.25 }:run { stream = path, checkpoint = state } end, "stop here", 1, true)
    local _, rows = host.read(path):gsub("\n", "")
    assert.equal(14, rows)
    make():run { stream = path, checkpoint = state, resume = true }
    assert.equal(whole(2), host.read(path))
  end)

  it("loses the rows after the checkpoint, a line that was cut and the last row of a shorter run", function()
    make { T = 1 }:run { stream = path, checkpoint = state, record = 3 }
    host.write(path, host.read(path) .. "1.2,0.5,0.3,1\n1.3,0.")
    make():run { stream = path, checkpoint = state, record = 3, resume = true }
    assert.equal(whole(2, 3), host.read(path))
  end)

  it("begins anew without resume, and where there is nothing", function()
    host.write(path, "something else\n")
    make():run { stream = path }
    assert.equal(whole(2), host.read(path))
    os.remove(path)
    make():run { stream = path, checkpoint = state, resume = true }
    assert.equal(whole(2), host.read(path))
  end)

  it("goes on after the last line that begins with a number, whatever numbers look like elsewhere", function()
    local full = whole(2)
    for _, last in ipairs { "0x1p-4,1,2,0\n", "0.1e,1,2,0\n", "0.1 s,1,2,0\n", ("0"):rep(60) .. "\n" } do
      make { T = 1 }:run { stream = path, checkpoint = state }
      host.write(path, host.read(path):match "^(.*\n)1,[^\n]*\n$" .. last .. "0.95,1,2,0\n")
      make():run { stream = path, checkpoint = state, resume = true }
      assert.equal(full, host.read(path))
    end
  end)

  -- The simulation to go on with, which is refused and left as it is, as is the file (nil: there is none).
  local function refused(text, reason, o, ending)
    local file = path:gsub("%.csv$", ending or ".csv")
    if text then host.write(file, text) else os.remove(file) end
    local before, checkpoint, simu = host.list(directory), host.read(state), make()
    o = o or {}
    o.stream, o.checkpoint, o.resume = file, state, true
    assert.error_matches(function() simu:run(o) end, ("cannot go on with '%s' at t=1, where the checkpoint is: %s"):format(
      file, reason), 1, true)
    assert.equal(text, host.read(file))
    assert.equal(checkpoint, host.read(state))
    assert.equal(before, host.list(directory))
    assert.equal(0, simu:step())
    return simu
  end

  it("does not go on with a file that lacks rows", function()
    make { T = 1 }:run { stream = path, checkpoint = state }
    local text = host.read(path)
    refused(nil, "there is no such file, the rows up to t=0.9 are missing")
    refused("", "it has no row before, the rows up to t=0.9 are missing")
    refused(text:match "^[^\n]*\n", "it has no row before, the rows up to t=0.9 are missing")
    local lines = text:gsub("\n0.7[^\n]*\n0.8,.*", "\n")
    refused(lines, "its last row before is at t=0.6, the one at t=0.9 is missing")
    refused(lines .. "0.7,0.", "its last row before is at t=0.6, the one at t=0.9 is missing")
    refused(lines .. "1,0.5,0.3,1\n", "its last row before is at t=0.6, the one at t=0.9 is missing")
    refused(text:gsub("\n1,.*", ""), "its last row before is at t=0.8, the one at t=0.9 is missing")
    host.write(path, (text:gsub("\n1,.*", "\n")))
    make():run { stream = path, checkpoint = state, resume = true }
    assert.equal(whole(2), host.read(path))
  end)

  it("counts the rows of each record-th step alone", function()
    make { T = 1 }:run { stream = path, checkpoint = state, record = 4 }
    local text = host.read(path)
    refused(text, "its last row before is at t=0.8, the one at t=0.9 is missing", { record = 3 })
    refused(text:gsub("\n0.8,.*", "\n"), "its last row before is at t=0.4, the one at t=0.8 is missing", { record = 4 })
    host.write(path, text)
    make():run { stream = path, checkpoint = state, record = 4, resume = true }
    assert.equal(whole(2, 4), host.read(path))
  end)

  it("may begin at a checkpoint, and is gone on with", function()
    make { T = 0.5 }:run { checkpoint = state }
    local simu = make { T = 1 }
    simu:load_state(state)
    simu:run { checkpoint = state, stream = path }
    make():run { checkpoint = state, stream = path, resume = true }
    assert.equal(whole(2):gsub("\n0,.*\n0.4,[^\n]*\n", "\n"), host.read(path))
  end)

  it("keeps the row of a step that was computed and not taken when the state was saved", function()
    local simu = make()
    simu:run { stream = path, checkpoint = state }
    simu:reset()
    for _ = 1, 5 do simu:computeOneStep() simu:nextStep() end
    simu:computeOneStep()
    simu:save_state(state)
    make():run { stream = path, checkpoint = state, resume = true }
    assert.equal(whole(2), host.read(path))
  end)

  it("goes over no file of the checkpoint, however that is named", function()
    local function check(stream, checkpoint)
      local before, simu = host.list(directory), make()
      assert.error_matches(function() simu:run { stream = stream, checkpoint = checkpoint } end,
        ("run: stream: '%s' is a file of the checkpoint '%s', which would replace it"):format(stream, checkpoint), 1, true)
      assert.equal(before, host.list(directory))
    end
    local function shell(text) assert.is_true(os.execute("cd " .. host.quote(directory) .. " && " .. text)) end
    for _, there in ipairs { false, true } do
      if there then host.write(path, "") host.write(path .. ".previous", "") end
      check(path, directory .. "/./run.csv")
      check(directory .. "/../" .. directory:match "[^/]*$" .. "/run.csv", path)
      check(path .. ".previous", path)
      check(path .. ".previous.tmp", directory .. "//run.csv")
      shell "ln -sf run.csv link.csv; ln -sf link.csv again.csv"
      check(directory .. "/link.csv", path)
      check(path, directory .. "/again.csv")
      check(directory .. "/again.csv", directory .. "/link.csv")
      shell("ln -sf " .. directory .. "/run.csv.previous link.csv")
      check(directory .. "/again.csv", path)
      shell "rm link.csv again.csv"
    end
    shell "ln run.csv hard.csv"
    check(directory .. "/hard.csv", path)
    make():run { stream = path, checkpoint = directory .. "/other.csv" }
    shell "ln -sf loop.csv loop.csv; mkdir other"
    make():run { stream = path, checkpoint = directory .. "/other/run.csv" }
    assert.equal(whole(2), host.read(path))
    assert.error_matches(function() make():run { stream = directory .. "/loop.csv", checkpoint = directory .. "/new" } end,
      "cannot write '" .. directory .. "/loop.csv': ", 1, true)
  end)

  it("does not go on with a file of other columns", function()
    for _, text in ipairs { "t,x\n0,1\n", "t", 't,"a,""b""",c,newton_iterationS\n' } do
      host.write(path, text)
      local simu = make()
      assert.error_matches(function() simu:run { stream = path, checkpoint = state, resume = true } end,
        "cannot go on with '" .. path .. "': it has other columns", 1, true)
      assert.equal(text, host.read(path))
      assert.equal(0, simu:step())
    end
  end)

  it("goes on with no file that can not be cut", function()
    assert.error_matches(function() make():run { checkpoint = state, resume = true, stream = "/dev/null" } end,
      "cannot write '/dev/null': Invalid argument", 1, true)
  end)

  it("says what it can not write, and the run stops there", function()
    local simu = make()
    assert.error_matches(function() simu:run { stream = directory .. "/none/a.csv" } end,
      "cannot write '" .. directory .. "/none/a.csv': No such file or directory", 1, true)
    assert.equal(0, simu:step())
    assert.error_matches(function() simu:run { stream = "/dev/full", checkpoint = state, every = 5 } end,
      "cannot write '/dev/full': No space left on device", 1, true)
    assert.equal(5, simu:step())
    assert.is_nil(host.read(state))
    assert.error_matches(function() make():run { stream = "/dev/full" } end, "cannot write '/dev/full': No space left", 1, true)
    assert.error_matches(function() make():run { stream = 3 } end, "run: stream: expected a string, got number", 1, true)
  end)
end)
