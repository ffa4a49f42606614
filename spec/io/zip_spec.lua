-- Archives: their bytes, as others read them.
local host = require "host"
local ns = require "nslua"

describe("io.zip", function()
  local directory
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("writes what the format asks for, the checksums of gzip", function()
    ns.save(directory .. "/a.npz", { one = { 1, 2, 3 }, two = ns.eye(2) })
    local bytes = host.read(directory .. "/a.npz")
    assert.equal("PK\3\4", bytes:sub(1, 4))
    local _, _, count, total, size, offset, comment = ("<I2I2I2I2I4I4I2"):unpack(bytes, #bytes - 17)
    assert.equal("PK\5\6", bytes:sub(-22, -19))
    assert.same({ 2, 2, #bytes - 22 - offset, 0 }, { count, total, size, comment })
    local at, names = offset + 1, {}
    for k = 1, 2 do
      assert.equal("PK\1\2", bytes:sub(at, at + 3))
      local _, method, _, _, crc, stored, plain, length, extra = ("<I2I2I2I2I4I4I4I2I2"):unpack(bytes, at + 8)
      local start = ("<I4"):unpack(bytes, at + 42)
      names[k] = bytes:sub(at + 46, at + 45 + length)
      assert.same({ 0, stored, 0 }, { method, plain, extra })
      local contents = bytes:sub(start + 31 + length, start + 30 + length + plain)
      assert.equal("\x93NUMPY", contents:sub(1, 6))
      host.write(directory .. "/part", contents)
      os.execute(("gzip -n %s/part"):format(directory))
      local gz = host.read(directory .. "/part.gz")
      assert.equal(("<I4"):unpack(gz, #gz - 7), crc)
      os.remove(directory .. "/part.gz")
      at = at + 46 + length
    end
    assert.same({ "one.npy", "two.npy" }, names)
  end)

  it("reads archives with a comment, and empty ones", function()
    ns.save(directory .. "/a.npz", { one = { 1, 2, 3 } })
    local bytes = host.read(directory .. "/a.npz")
    host.write(directory .. "/b.npz", bytes:sub(1, -3) .. ("<I2"):pack(1000) .. ("c"):rep(1000))
    assert.equal(ns.vector { 1, 2, 3 }, ns.load(directory .. "/b.npz").one)
    ns.save(directory .. "/e.npz", {})
    assert.same({}, ns.load(directory .. "/e.npz"):names())
    assert.equal(22, #host.read(directory .. "/e.npz"))
  end)

  it("does not write what the format can not hold", function()
    local _, err = pcall(ns.save, directory .. "/a.npz", { [("n"):rep(70000)] = { 1 } })
    assert.matches("an archive of more than 4 GiB, 65535 parts or 65535 bytes of a name is not written", err, 1, true)
    assert.equal("", host.list(directory))
  end)

  it("leaves the old file when it cannot write the new one", function()
    ns.save(directory .. "/a.npz", { one = { 1 } })
    local before = host.read(directory .. "/a.npz")
    assert.has_error(function() ns.save(directory .. "/a.npz", { one = { 1 }, two = { "x" } }) end)
    assert.equal(before, host.read(directory .. "/a.npz"))
    assert.equal("a.npz", host.list(directory))
  end)
end)
