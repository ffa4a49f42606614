-- What the HDF5 library says, in our words; and that it prints nothing itself.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local it = hdf5.it
local message = require "bind.models".message

describe("io.hdf5_types", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  it("puts the library's reason behind the name of the file, on one line", function()
    local name = directory .. "/a.h5"
    ns.save(name, { x = ns.linspace(0, 1, 1000) })
    local whole = host.read(name)
    host.write(name, whole:sub(1, -100))
    local text = message(ns.load, name)
    assert.matches("cannot read '" .. name .. "': HDF5 says: truncated file", text, 1, true)
    assert.is_nil(text:find "\n")
    local at = #whole // 2 -- a number: the checksum of its chunk tells
    host.write(name, hdf5.patch(whole, { [at] = whole:byte(at) ~ 1 }))
    assert.matches("cannot read '" .. name .. "': HDF5 says: data error detected by Fletcher32 checksum", message(ns.load, name), 1,
      true)
  end)

  it("keeps the library silent", function()
    local out, err, status = host.nslua_run("-", ([[
      local ns = require "nslua"
      print((pcall(ns.load, "%s/none.h5")))
      print((pcall(ns.load, "spec/hdf5.lua.h5")))
      print((pcall(ns.save, "/nowhere/a.h5", { x = { 1 } })))]]):format(directory))
    assert.same({ "false\nfalse\nfalse\n", "", 0 }, { out, err, status })
  end)

  it("writes the format of HDF5 1.10, whatever the library", function()
    local name = directory .. "/v.h5"
    ns.save(name, { x = { 1 } })
    assert.equal("\x89HDF\r\n\x1a\n\3", host.read(name):sub(1, 9)) -- superblock 3, of 1.10
  end)
end)
