-- io/folder.h
local host = require "host"
require "nslua"
local support = require "nslua.core".journal_support

describe("a folder", function()
  local directory
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("is made, may be there already, lists its files, and is removed when it is empty", function()
    local path = directory .. "/inner"
    assert.is_true(support.make_folder(path))
    assert.is_true(support.make_folder(path))
    host.write(path .. "/b", "")
    host.write(path .. "/a", "")
    local names = support.list_folder(path)
    table.sort(names)
    assert.same({ "a", "b" }, names)
    local good, message = support.remove_folder(path)
    assert.is_nil(good)
    assert.equal(("cannot remove '%s': Directory not empty"):format(path), message)
    os.remove(path .. "/a")
    os.remove(path .. "/b")
    assert.is_true(support.remove_folder(path))
    good, message = support.list_folder(path)
    assert.is_nil(good)
    assert.equal(("cannot read '%s': No such file or directory"):format(path), message)
  end)

  it("is not made in a place that is not there, nor over a file", function()
    local _, message = support.make_folder(directory .. "/a/b")
    assert.equal(("cannot make the directory '%s/a/b': No such file or directory"):format(directory), message)
    host.write(directory .. "/file", "")
    _, message = support.make_folder(directory .. "/file")
    assert.equal(("cannot make the directory '%s/file': File exists"):format(directory), message)
  end)
end)
