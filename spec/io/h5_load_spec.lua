-- Files on which the library itself crashes, or never comes back.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
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

  local damaged = "cannot read '%s': it is damaged: HDF5 does not come through it"
  local endless = { [5875] = 0x26, [8569] = 0x3d, [15991] = 0xdc } -- for 1.10.8
  local known = hdf5.here and require "nslua.hdf5".version == "1.10.8"

  it("lives on when the library crashes, as 1.10.8 may here", function()
    for _ = 1, 3 do try("earliest", { [11388] = 0xf2, [24140] = 0xcf, [27678] = 0x84 }) end
    assert.equal(8, #ns.load "spec/reference/hdf5_earliest.h5":names())
  end)

  it("lives on when the library does not come back #once", function()
    local text = try("latest", endless)
    if known then assert.equal(damaged:format(name), text) end
  end)

  -- What ns.load of the endless file prints when a command with PID in it runs meanwhile.
  local function disturbed(command)
    host.write(name, hdf5.patch(host.read "spec/reference/hdf5_latest.h5", endless))
    return (host.nslua_run("-", ([[
      local ns = require "nslua"
      ns.load "spec/reference/hdf5_latest.h5"
      local pid = io.open "/proc/self/stat":read "n"
      os.execute(("(sleep 0.3; %s) >/dev/null &"):gsub("PID", ("%%d"):format(pid)))
      print(pcall(ns.load, "%s"))]]):format(command, name)))
  end

  it("tells of a crash #once", function()
    assert.equal("false\t" .. damaged:format(name) .. "\n", disturbed "kill -SEGV $(ps -o pid= --ppid PID)")
  end)

  it("is broken off by an interrupt #once", function()
    if not known then return pending "another library, which may come through the file" end
    assert.equal("false\tinterrupted while '" .. name .. "' was read\n", disturbed "kill -INT PID")
  end)

  it("leaves no process, no descriptor and no output behind", function()
    local out, err, status = host.nslua_run("-", ([[
      local ns = require "nslua"
      io.write "once "
      local function count()
        local stat = io.open "/proc/self/stat"
        local pid = stat:read "n"
        stat:close()
        local pipe = io.popen("ls /proc/self/fd | wc -l; cut -d' ' -f4 /proc/[0-9]*/stat 2>/dev/null | grep -cx " .. pid)
        local text = pipe:read "a"
        pipe:close()
        assert(text:find "\n[1-9]")
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
end)
