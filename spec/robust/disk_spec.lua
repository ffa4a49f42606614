-- Disks that are full, fail or refuse, at every call of every writer: an error with the file's name, a nonzero exit status,
-- and the previous file still whole.
local host = require "host"

-- The first two calls of each kind, all of them in the long run.
local soak = os.getenv "NSLUA_SOAK"

-- The endings of the written files, and whether gnuplot is needed.
local writers = { csv = "csv", npy = "npy", npz = "npz", arrays = "npz", columns = "csv", rows = "csv", state = "state",
  run = "state", dump = "lua", html = "html", png = "png" }
local kinds = { "open", "write", "full", "sync", "close", "rename", "link" }
local reasons = { open = "Permission denied", write = "Input/output error", full = "No space left on device",
  sync = "Input/output error", close = "No space left on device", rename = "Permission denied" }

if require "hdf5".here then writers.hdf5 = "h5" end

local names = require "sorted_names"(writers)

describe("a disk that fails", function()
  if host.sanitized then
    pending "is not for a build with the sanitizers, which are preloaded too"
    return
  end

  local library, directory
  setup(function() library = host.make "robust/disk.so" end)
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  local function run(name, file, version, fault)
    local preload = fault and ("LD_PRELOAD=%s NSLUA_DISK='%s' NSLUA_DISK_LOG=%s/log"):format(host.quote(library), fault,
      directory) or ""
    return host.run(("cd %s && %s %s spec/robust/writers.lua %s %s %d"):format(host.quote(host.root), preload,
      host.quote(host.nslua), name, file, version))
  end

-- Runs without a fault; returns the contents of the file.
  local function contents(name, file, version)
    local out, err, status = run(name, file, version)
    assert.same({ "", "", 0 }, { out, err, status })
    return assert(host.read(file))
  end

  local function check_old(name, file, old, new)
    if writers[name] == "state" then
      local out, _, status = run("read", file, 0)
      assert.equal(0, status)
      return out
    end
    assert.is_true(old == host.read(file) or new == host.read(file))
  end

-- Lets the n-th call of a kind fail; returns whether there was such a call.
  local function attack(name, kind, n, file, old, new)
    host.write(file, old)
    local out, err, status = run(name, file, 2, kind .. " " .. n)
    local count = tonumber(host.read(directory .. "/log"):match "%d+")
    if count < n then return false end
    if kind == "link" then -- there is another way
      assert.same({ "", "", 0 }, { out, err, status })
      assert.equal(new, host.read(file))
    else
      assert.equal("", out)
      assert.equal(1, status)
      assert.is_truthy(err:find("cannot write '" .. file, 1, true), err)
      assert.is_truthy(err:find(reasons[kind], 1, true), err)
      check_old(name, file, old, new)
    end
    assert.is_nil(host.list(directory):find("tmp", 1, true), host.list(directory))
    os.remove(directory .. "/log")
    return true
  end

  local calls = 0

  for _, name in ipairs(names) do
    it("leaves what was there, and says so: " .. name, function()
      local file = directory .. "/file." .. writers[name]
      local old, new = contents(name, file, 1), contents(name, file, 2)
      assert.are_not.equal(old, new)
      for _, kind in ipairs(kinds) do
        local n = 1
        while (soak or n < 3) and attack(name, kind, n, file, old, new) do n, calls = n + 1, calls + 1 end
        assert.is_true(n > 1 or kind == "link", kind)
        os.remove(file .. ".previous")
      end
    end)

    it("takes a few bytes at a time: " .. name, function()
      local file = directory .. "/file." .. writers[name]
      local expected = contents(name, file, 2)
      os.remove(file)
      assert.same({ "", "", 0 }, { run(name, file, 2, "short 0") })
      assert.equal(expected, host.read(file))
    end)

    it("has no such directory, or may not be written: " .. name, function()
      local file = directory .. "/none/file." .. writers[name]
      local _, err, status = run(name, file, 2)
      assert.equal(1, status)
      assert.is_truthy(err:find("cannot write '" .. file .. "': No such file or directory", 1, true), err)
    end)
  end

  it("was met at many calls", function()
    if soak then print(calls .. " calls failed") end
    assert.is_true(calls > (soak and 100 or 60))
  end)
end)
