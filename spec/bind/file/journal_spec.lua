-- bind/file/journal.c: what spec/io/journal_spec.lua and folder_spec.lua do not reach.
local host = require "host"
require "nslua"
local support = require "nslua.core".journal_support

describe("the binding of journals", function()
  it("refuses a closed journal and wrong arguments", function()
    local directory = host.new_directory()
    local journal = assert(support.open(directory .. "/j"))
    journal:close()
    assert.has_error(function() journal:append "x" end, "the journal is closed")
    assert.has_error(function() support.open(3, {}) end, "journal: file: expected a string, got number 3.0")
    host.remove(directory)
  end)

  it("reads nothing after the last record", function()
    local directory = host.new_directory()
    assert(support.open(directory .. "/j")):close()
    local following = support.read(directory .. "/j")
    assert.is_nil(following())
    assert.is_nil(following())
    host.remove(directory)
  end)
end)
