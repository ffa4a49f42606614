-- Writing of text files for the Lua part: whole or not at all.
local core = require "nslua.core"
local host = require "host"

describe("write_file", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  it("writes its texts one after the other, bytes as they are", function()
    core.write_file(directory .. "/a", "one\0", "", "\xfftwo\n")
    assert.equal("one\0\xfftwo\n", host.read(directory .. "/a"))
    core.write_file(directory .. "/a")
    assert.equal("", host.read(directory .. "/a"))
  end)

  it("leaves the file as it was when it fails, and no other behind", function()
    host.write(directory .. "/b", "old")
    assert.is_false((pcall(core.write_file, directory .. "/b", "new", {})))
    assert.equal("old", host.read(directory .. "/b"))
    assert.equal("cannot write '/nonexistent/b': No such file or directory",
      select(2, pcall(core.write_file, "/nonexistent/b", "x")))
    assert.is_nil(host.list(directory):find "[^ab ]")
  end)

  it("is not a public name", function()
    assert.is_nil(require "nslua".write_file)
    assert.is_nil(require "nslua".solution_methods)
  end)
end)
