-- The table of the HDF5 module: what it gives, and which library it runs with.
local hdf5 = require "hdf5"
local it = hdf5.it

describe("io.hdf5", function()
  it("names the version of the library, 1.10.2 or later, and gives the functions", function()
    local module = require "nslua.hdf5"
    assert.equal("userdata", type(module.functions))
    local major, minor, release = tostring(module.version):match "^(%d+)%.(%d+)%.(%d+)$"
    local number = (tonumber(major) * 100 + tonumber(minor)) * 100 + tonumber(release)
    assert.is_true(number >= 11002)
  end)
end)
