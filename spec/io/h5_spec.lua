-- HDF5 files through the writer of all files; streams that are gone on with.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local it = hdf5.it
local message = require "bind.models".message
local models = require "models"

describe("io.h5", function()
  local directory, path, state
  before_each(function()
    directory = host.new_directory()
    path, state = directory .. "/run.h5", directory .. "/run.state"
  end)
  after_each(function() host.remove(directory) end)

  local function make(o) return models.two_decays({ "a", "g/b" }, o) end

  -- The bytes of all columns of a file.
  local function columns(file)
    local record, parts = ns.load(file), {}
    for i, name in ipairs(record:names()) do parts[i] = name .. ":" .. hdf5.bits(record:column(i)) end
    return table.concat(parts, "\n")
  end

  local function whole(T, record)
    local file = directory .. "/whole.h5"
    make { T = T }:run { record = record }:save(file)
    return columns(file)
  end

  it("leaves what was there, and nothing else, when it can not write", function()
    ns.save(path, { x = { 1 } })
    local before = host.read(path)
    assert.has_error(function() ns.save(path, { x = { 1 }, y = { "x" } }) end)
    assert.is_true(before == host.read(path))
    assert.equal("run.h5", host.list(directory))
    assert.equal("cannot write '/nowhere/x.h5': No such file or directory", message(ns.save, "/nowhere/x.h5", { x = { 1 } }))
    assert.equal("cannot write '/dev/full': No space left on device",
      message(require "nslua.core".file_support.save_h5, "/dev/full", { "a" }, { { 1 } }))
  end)

  it("writes a stream as the solution would save", function()
    for _, record in ipairs { 1, 7 } do
      make():run { stream = path, record = record }
      assert.equal(whole(2, record), columns(path))
    end
  end)

  it("goes on with the rows up to a failure", function()
    assert.error_matches(function() make { fail = 1.25 }:run { stream = path, checkpoint = state } end, "stop here", 1, true)
    assert.equal(13, #ns.load(path))
    make():run { stream = path, checkpoint = state, resume = true }
    assert.equal(whole(2), columns(path))
    assert.equal("run.h5 run.state run.state.previous whole.h5", host.list(directory))
  end)

  it("loses the rows after the checkpoint, and the last row of a shorter run", function()
    make { T = 1 }:run { stream = path, checkpoint = state, record = 3 }
    local before = host.read(state)
    make():run { stream = path, checkpoint = state, record = 3, resume = true }
    assert.equal(whole(2, 3), columns(path))
    host.write(state, before) -- of a checkpoint that is older than the stream
    make():run { stream = path, checkpoint = state, record = 3, resume = true }
    assert.equal(whole(2, 3), columns(path))
  end)

  it("begins anew without resume, and where there is nothing", function()
    host.write(path, "something else\n")
    make():run { stream = path }
    assert.equal(whole(2), columns(path))
    os.remove(path)
    make():run { stream = path, checkpoint = state, resume = true }
    assert.equal(whole(2), columns(path))
  end)

  it("does not go on with a file that lacks rows", function()
    local short = directory .. "/short.h5"
    make { T = 0.5 }:run { stream = short }
    make { T = 1 }:run { stream = path, checkpoint = state }
    local function refused(text, reason)
      if text then host.write(path, text) else os.remove(path) end
      local before, simu = host.list(directory), make()
      assert.error_matches(function() simu:run { stream = path, checkpoint = state, resume = true } end,
        ("cannot go on with '%s' at t=1, where the checkpoint is: %s"):format(path, reason), 1, true)
      assert.is_true(text == host.read(path))
      assert.equal(before, host.list(directory))
      assert.equal(0, simu:step())
    end
    refused(nil, "there is no such file, the rows up to t=0.9 are missing")
    refused(host.read(short), "its last row before is at t=0.5, the one at t=0.9 is missing")
  end)

  it("goes over no file of the checkpoint", function()
    local simu, checkpoint = make(), directory .. "/./run.h5"
    assert.error_matches(function() simu:run { stream = path, checkpoint = checkpoint } end,
      ("run: stream: '%s' is a file of the checkpoint '%s', which would replace it"):format(path, checkpoint), 1, true)
    assert.equal("", host.list(directory))
  end)

  it("does not go on with a file of other columns, or with what is no such file", function()
    local function refused(text)
      local before, simu = host.read(path), make()
      assert.error_matches(function() simu:run { stream = path, checkpoint = state, resume = true } end, text, 1, true)
      assert.is_true(before == host.read(path))
      assert.equal(0, simu:step())
    end
    ns.save(path, { t = { 0 } })
    refused("cannot go on with '" .. path .. "': it has other columns")
    make { names = { "a", "c" } }:run { stream = path }
    refused("cannot go on with '" .. path .. "': it has other columns")
    ns.save(path, { t = { 0 }, a = { 1, 2 }, ["g/b"] = { 1 }, newton_iterations = { 0 } })
    refused("cannot go on with '" .. path .. "': it has other columns")
    host.write(path, "t,a\n")
    refused("cannot read '" .. path .. "': it is not an HDF5 file, or is cut off")
  end)

  it("says what it can not write, and the run stops there", function()
    local simu = make()
    local file = directory .. "/none/a.h5"
    assert.error_matches(function() simu:run { stream = file } end, "cannot write '" .. file .. "': No such file or directory", 1,
      true)
    assert.equal(0, simu:step())
    os.execute("ln -s /dev/full " .. directory .. "/full.h5")
    assert.error_matches(function() simu:run { stream = directory .. "/full.h5" } end, "full.h5': No space left on device", 1, true)
    assert.equal(0, simu:step())
  end)
end)
