-- Files on which the library itself crashes, or never comes back.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local message = require "bind.models".message
local it = hdf5.it

describe("io.h5_load", function()
  local directory, name
  setup(function()
    directory = host.new_directory()
    name = directory .. "/bad.h5"
  end)
  teardown(function() host.remove(directory) end)

  -- Whatever the library does of it, an error or contents.
  local function try(reference, bytes)
    host.write(name, hdf5.patch(host.read("spec/reference/hdf5_" .. reference .. ".h5"), bytes))
    local good, r = pcall(ns.load, name)
    if not good then assert.equal(1, (r:find("cannot read '" .. name .. "': ", 1, true)), r) end
    return r
  end

  it("lives on when the library crashes", function() -- with 1.10.8 it does
    local text = try("earliest", { [11388] = 0xf2, [24140] = 0xcf, [27678] = 0x84 })
    if require "nslua.hdf5".version == "1.10.8" then
      assert.equal(("cannot read '%s': it is damaged: HDF5 does not come through it"):format(name), text)
    end
    assert.equal(8, #ns.load "spec/reference/hdf5_earliest.h5":names())
  end)

  it("lives on when the library does not come back", function()
    local text = try("latest", { [5875] = 0x26, [8569] = 0x3d, [15991] = 0xdc })
    if require "nslua.hdf5".version == "1.10.8" then
      assert.equal(("cannot read '%s': it is damaged: HDF5 does not come through it"):format(name), text)
    end
  end)

  it("leaves no process, no descriptor and no output behind", function()
    local out, err, status = host.nslua_run("-", ([[
      local ns = require "nslua"
      io.write "once "
      local function count()
        local pipe = io.popen("ls /proc/self/fd | wc -l; ps -o pid= --ppid " .. io.open "/proc/self/stat":read "n" .. " | wc -l")
        local text = pipe:read "a"
        pipe:close()
        return text
      end
      ns.load "spec/reference/hdf5_latest.h5"
      local before = count()
      for _ = 1, 5 do ns.load "spec/reference/hdf5_latest.h5" pcall(ns.load, "%s/none.h5") end
      print(before == count())]]):format(directory))
    assert.equal("", err)
    assert.equal("once true\n", out)
    assert.equal(0, status)
  end)

  it("is broken off by an interrupt", function()
    host.write(directory .. "/bad.h5", hdf5.patch(host.read "spec/reference/hdf5_latest.h5",
      { [5875] = 0x26, [8569] = 0x3d, [15991] = 0xdc }))
    local out = host.run(([[%s -e '
      local ns = require "nslua"
      ns.load "spec/reference/hdf5_latest.h5"
      os.execute("(sleep 0.2; kill -INT " .. io.open "/proc/self/stat":read "n" .. ") &")
      local start = os.time()
      print(pcall(ns.load, "%s"))']]):format(host.quote(host.nslua), name))
    assert.matches("^false\t.*'" .. name:gsub("%p", "%%%0") .. "'", out)
    if require "nslua.hdf5".version == "1.10.8" then assert.matches("interrupted while '" .. name .. "' was read", out, 1, true) end
  end)
end)
