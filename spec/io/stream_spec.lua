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
      host.write(path, host.read(path):match "^[^\n]*\n[^\n]*\n" .. last)
      make():run { stream = path, checkpoint = state, resume = true }
      local text = host.read(path)
      assert.is_nil(text:find(last, 1, true))
      assert.equal(full:match "^[^\n]*\n[^\n]*\n", text:match "^[^\n]*\n[^\n]*\n")
    end
  end)

  it("does not go on with a file of other columns", function()
    for _, text in ipairs { "t,x\n0,1\n", "t", 't,"a,""b""",c,newton_iterationS\n' } do
      host.write(path, text)
      local simu = make()
      assert.error_matches(function() simu:run { stream = path, checkpoint = state, resume = true } end,
        "cannot go on with '" .. path .. "': its columns are others", 1, true)
      assert.equal(text, host.read(path))
      assert.equal(0, simu:step())
    end
  end)

  it("goes on with no file that can not be cut", function()
    local simu = make()
    simu:run { checkpoint = state, partial = true }
    assert.error_matches(function()
      make { T = 3 }:run { checkpoint = state, resume = true, stream = "/dev/null" }
    end, "cannot write '/dev/null': Invalid argument", 1, true)
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
