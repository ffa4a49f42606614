-- The optional module: how it is found, what it asks of the core.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local message = require "bind.models".message
local simulation = require "models".simulation
local with = require "expect".with

local function make()
  return (simulation { systems = { ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }) } })
end

describe("nslua.hdf5", function()
  it("is not needed: where it is absent, .h5 files say how to get it", function()
    local text = "'/nowhere/x.h5': .h5, .nc and .mat files are read and written by the module nslua.hdf5, " ..
      "which is not installed: it is built when the "
      .. "headers of HDF5 are there (Debian: apt-get install libhdf5-dev, then make and make install; or, where nslua came "
        .. "as a package, apt-get install nslua-hdf5); .npz holds the same"
    local sol = make():run()
    with(package, "cpath", "/nowhere/?.so", function()
      with(package.loaded, "nslua.hdf5", nil, function()
        assert.equal("save: " .. text, message(ns.save, "/nowhere/x.h5", { x = { 1 } }))
        assert.equal("save: " .. text, message(sol.save, sol, "/nowhere/x.h5"))
        assert.equal("load: " .. text, message(ns.load, "/nowhere/x.h5"))
        local simu = make()
        assert.equal("run: stream: " .. text, message(simu.run, simu, { stream = "/nowhere/x.h5" }))
        assert.equal(0, simu:step())
        assert.matches("^load: '/nowhere/x.hdf5': .h5, .nc and .mat files are read", message(ns.load, "/nowhere/x.hdf5"))
      end)
    end)
  end)

  it("says why when it is there and does not load", function()
    local name = os.tmpname()
    io.open(name, "w"):write("no module"):close()
    with(package, "cpath", name, function()
      with(package.loaded, "nslua.hdf5", nil, function()
        assert.matches("^load: 'x.h5': error loading module 'nslua.hdf5' from file", message(ns.load, "x.h5"))
      end)
    end)
    os.remove(name)
    with(package.loaded, "nslua.hdf5", {}, function()
      assert.equal("load: 'x.h5': nslua.hdf5 is another module", message(ns.load, "x.h5"))
    end)
  end)

  hdf5.it("is loaded when it is asked for, not before", function()
    local code = 'local ns = require "nslua"; print(package.loaded["nslua.hdf5"] ~= nil); '
      .. 'pcall(ns.load, "none.h5"); print(package.loaded["nslua.hdf5"] ~= nil)'
    assert.equal("false\ntrue\n", (host.nslua_run(" -e " .. host.quote(code))))
  end)

end)
