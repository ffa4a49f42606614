-- io/journal.h: records are whole or absent.
local host = require "host"
require "nslua"
local support = require "nslua.core".journal_support

describe("a journal", function()
  local directory, path
  before_each(function()
    directory = host.new_directory()
    path = directory .. "/journal"
  end)
  after_each(function() host.remove(directory) end)

  local function records()
    local list = {}
    for bytes in assert(support.read(path)) do list[#list + 1] = bytes end
    return list
  end

  local function written(...)
    local journal = assert(support.open(path))
    for _, bytes in ipairs { ... } do journal:append(bytes) end
    assert.is_true(journal:sync())
    journal:close()
  end

  it("gives back what was synced, also after it was opened again, with any bytes", function()
    local long = ("0123456789"):rep(10000)
    written("one", "", "a\0b")
    written(long)
    assert.same({ "one", "", "a\0b", long }, records())
  end)

  it("holds nothing before the first sync", function()
    local journal = assert(support.open(path))
    journal:append "lost"
    journal:close()
    assert.same({}, records())
  end)

  it("cut at any byte gives the whole records before the cut, and goes on after them", function()
    written("first", "second", "third")
    local whole = host.read(path)
    for cut = 0, #whole do
      host.write(path, whole:sub(1, cut))
      local before = records()
      for i, bytes in ipairs(before) do assert.equal(({ "first", "second", "third" })[i], bytes) end
      written "more"
      before[#before + 1] = "more"
      assert.same(before, records())
    end
  end)

  it("with a byte changed ends before the record that holds it", function()
    written("first", "second", "third")
    local whole = host.read(path)
    for at = 9, #whole do
      host.write(path, whole:sub(1, at - 1) .. string.char(whole:byte(at) ~ 16) .. whole:sub(at + 1))
      local list = records()
      assert.is_true(#list < 3)
      for i, bytes in ipairs(list) do assert.equal(({ "first", "second", "third" })[i], bytes) end
    end
  end)

  it("refuses a file that is none", function()
    host.write(path, "this is a text")
    local _, message = support.open(path)
    assert.equal(("'%s' is not a journal"):format(path), message)
    _, message = support.read(path)
    assert.equal(("'%s' is not a journal"):format(path), message)
    assert.equal("this is a text", host.read(path))
  end)

  it("tells that it can not be read or written", function()
    local _, message = support.read(directory .. "/absent")
    assert.equal(("cannot read '%s/absent': No such file or directory"):format(directory), message)
    _, message = support.open(directory .. "/absent/journal")
    assert.equal(("cannot write '%s/absent/journal': No such file or directory"):format(directory), message)
  end)

  it("belongs to one process at a time", function()
    local journal = assert(support.open(path))
    local code = ([[local support = require "nslua.core".journal_support
      print(support.open %q)]]):format(path)
    local out = host.run(("%s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    assert.equal(("nil\tanother process writes '%s'\n"):format(path), out)
    journal:close()
  end)

  it("tells that its file has vanished", function()
    local journal = assert(support.open(path))
    os.rename(path, path .. "-2")
    journal:append "lost"
    local good, message = journal:sync()
    assert.is_nil(good)
    assert.equal(("cannot write '%s': it has been removed or renamed"):format(path), message)
    journal:close()
  end)

  it("keeps what it has when the disk is full, and goes on when there is room", function()
    local code = ([[local support = require "nslua.core".journal_support
      local journal = support.open %q
      for i = 1, 100 do
        journal:append(("x"):rep(100) .. i)
        local good, message = journal:sync()
        if not good then print(i, message) break end
      end]]):format(path)
    local command = "trap '' XFSZ; ulimit -f 4; " .. host.quote(host.nslua) .. " -e " .. host.quote(code)
    local out = host.run(command)
    local count, message = out:match "^(%d+)\t(.-)\n"
    assert.equal(("cannot write '%s': File too large"):format(path), message)
    assert.equal(tonumber(count) - 1, #records())
    written "after"
    assert.equal("after", records()[tonumber(count)])
  end)
end)
