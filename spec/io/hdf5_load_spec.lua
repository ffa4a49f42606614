-- HDF5 files of others, in the oldest and in the newest format.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local message = require "bind.models".message
local it = hdf5.it

describe("io.hdf5_load", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  for _, format in ipairs { "earliest", "latest" } do
    local file = "spec/reference/hdf5_" .. format .. ".h5"

    it("reads numbers of all kinds: " .. format, function()
      local r = ns.load(file)
      assert.same({ "bool", "empty", "f", "g/h/be", "grow", "i", "x", "z" }, r:names())
      assert.equal(ns.matrix { { 0, 1, 2 }, { 3, 4, 5 } }, r.i)
      assert.equal(ns.vector { 1.5 }, r.f)
      assert.equal(ns.arange(5), r["g/h/be"])
      assert.equal(ns.vector { 1, 0 }, r.bool)
      assert.equal(ns.arange(10), r.grow)
      assert.equal(0, #r.empty)
      assert.equal(ns.matrix(50, 40), r.z)
      for k = 0, 299 do assert.near(math.sin(k / 7), r.x[k + 1], 1e-15) end
    end)

    it("has attributes that are one text or number: " .. format, function()
      local r = ns.load(file)
      assert.same({ title = "häh", k = 3 }, r:attributes())
      assert.equal("integer", math.type(r:attributes().k))
      r:attributes().k = 4
      assert.equal(3, r:attributes().k)
    end)

    it("tells why it did not read the rest, when that is asked for: " .. format, function()
      local r = ns.load(file)
      for name, reason in pairs { s = "it holds texts", c = "it holds records, or complex numbers", cube = "it has 3 dimensions",
        lzf = "the filter 'lzf' (32000) is not there" } do
        local text = ("column: '%s' was not read: %s"):format(name, reason)
        assert.equal(text, message(r.column, r, name))
        assert.equal(text, message(function() return r[name] end))
      end
      for _, name in ipairs { "ext", "other" } do
        assert.equal(("columns: it has no column or method '%s'"):format(name), message(function() return r[name] end))
      end
      assert.matches("column: no column is called 'other' (known: bool, empty, ", message(r.column, r, "other"), 1, true)
    end)

    it("refuses what is cut off: #once " .. format, function()
      local whole = host.read(file)
      local name = directory .. "/cut.h5"
      for cut = 0, #whole - 1, 1 + #whole // 40 do
        host.write(name, whole:sub(1, cut))
        local text = message(ns.load, name)
        assert.equal(1, (text:find("cannot read '" .. name .. "': ", 1, true)), text)
      end
    end)
  end

  it("refuses what is no HDF5 file", function()
    local function refused(reason, name)
      assert.equal(("cannot read '%s': %s"):format(name, reason), message(ns.load, name))
    end
    local name = directory .. "/text.h5"
    host.write(name, "t,x\n1,2\n")
    refused("it is not an HDF5 file, or is cut off", name)
    host.write(name, "")
    refused("it is not an HDF5 file, or is cut off", name)
    host.write(name, "\x89HDF\r\n\x1a\n")
    assert.matches("cannot read '" .. name .. "': HDF5 says: ", message(ns.load, name), 1, true)
    host.write(name, "MATLAB 5.0 MAT-file, Platform: GLNXA64")
    refused("it is a MAT-file of version 5: in MATLAB save it with '-v7.3'", name)
    host.write(name, "CDF\1\0\0\0\0")
    refused("it is a netCDF file of the classic format: nccopy -k nc4 converts it", name)
    refused("No such file or directory", directory .. "/none.h5")
    os.execute("mkdir " .. directory .. "/dir.h5 && mkfifo " .. directory .. "/pipe.h5")
    refused("Is a directory", directory .. "/dir.h5")
    refused("it is not a regular file", directory .. "/pipe.h5")
  end)

  it("finds a changed byte #once", function()
    local name = directory .. "/a.h5"
    ns.save(name, { t = ns.linspace(0, 1, 60), ["g/x"] = ns.eye(3) })
    local whole, accepted = host.read(name), 0
    local before = ns.load(name)
    for at = 1, #whole, 61 do
      host.write(name, hdf5.patch(whole, { [at] = whole:byte(at) ~ 0x55 }))
      local good, r = pcall(ns.load, name)
      if good then -- it was one that no one reads
        accepted = accepted + 1
        assert.same({ "g/x", "t" }, (function(n) table.sort(n) return n end)(r:names()))
        assert.equal(before.t, r.t)
        assert.equal(before["g/x"], r["g/x"])
      else
        assert.equal(1, (r:find("cannot read '" .. name .. "': ", 1, true)), r)
      end
    end
    assert.is_true(accepted < #whole / 61 / 2, accepted)
  end)
end)
