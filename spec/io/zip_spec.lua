-- Archives: their bytes, as others read them.
local core = require "nslua.core"
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

  it("deflates the files of a unit where that makes them shorter", function()
    local noise, seed = {}, 1
    for i = 1, 5000 do
      seed = seed * 6364136223846793005 + 1442695040888963407
      noise[i] = string.char(seed >> 56)
    end
    local contents = { ("state, "):rep(1000), table.concat(noise), "", ("\0"):rep(3000000), "a" }
    local names = { "text", "noise", "empty", "zeros", "short" }
    require("nslua.core").file_support.save_zip(directory .. "/a.zip", names, contents)
    local bytes = host.read(directory .. "/a.zip")
    local at, methods = ("<I4"):unpack(bytes, #bytes - 5) + 1, {}
    for k, name in ipairs(names) do
      local _, method, _, _, crc, stored, plain, length = ("<I2I2I2I2I4I4I4I2"):unpack(bytes, at + 8)
      local start = ("<I4"):unpack(bytes, at + 42)
      assert.equal(bytes:sub(at + 8, at + 29), bytes:sub(start + 7, start + 28), name) -- as in the local header
      local stream = bytes:sub(start + 31 + length, start + 30 + length + stored)
      methods[k] = method
      if method == 8 then
        host.write(directory .. "/part.gz", "\31\139\8\0\0\0\0\0\0\3" .. stream .. ("<I4I4"):pack(crc, plain))
        assert.equal("", host.run(("gzip -d %s/part.gz 2>&1"):format(directory)))
        stream = host.read(directory .. "/part")
        os.remove(directory .. "/part")
      end
      assert.is_true(stream == contents[k], name)
      at = at + 46 + length
    end
    assert.same({ 8, 0, 0, 8, 0 }, methods)
    assert.is_true(#bytes < 10000)
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

-- ---- deflated parts, as gzip makes them ----

-- The deflate stream of a .gz file.
local function deflated(bytes, level)
  local directory = host.new_directory()
  host.write(directory .. "/a", bytes)
  os.execute(("gzip -n -%d %s/a"):format(level, directory))
  local gz = host.read(directory .. "/a.gz")
  host.remove(directory)
  assert.equal("\31\139\8\0", gz:sub(1, 4))
  local crc = ("<I4"):unpack(gz, #gz - 7)
  return gz:sub(11, -9), crc
end

-- An archive of one part.
local function archive(name, stream, crc, size, method)
  local common = ("<I2I2I2I2I2I4I4I4I2I2"):pack(20, 0, method, 0, 0x21, crc, #stream, size, #name, 0)
  local local_header = "PK\3\4" .. common .. name .. stream
  local central = "PK\1\2" .. ("<I2"):pack(20) .. common .. ("<I2I2I2I4I4"):pack(0, 0, 0, 0, 0) .. name
  return local_header .. central .. "PK\5\6" .. ("<I2I2I2I2I4I4I2"):pack(0, 0, 1, 1, #central, #local_header, 0)
end

local function npy(bytes)
  local dictionary = ("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }"):format(#bytes)
  return "\x93NUMPY\1\0" .. ("<I2"):pack(#dictionary) .. dictionary .. bytes
end

local function load(bytes)
  local directory = host.new_directory()
  host.write(directory .. "/a.npz", bytes)
  local good, result = pcall(ns.load, directory .. "/a.npz")
  host.remove(directory)
  return good, result
end

local texts = {}
setup(function()
  local random, words, seed = {}, {}, 12345
  for i = 1, 70000 do
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    random[i] = string.char(seed >> 16 & 255)
    words[i] = ({ "lambda", "state", " ", "0.125", "\n" })[(seed >> 16) % 5 + 1]
  end
  texts = { "", "a", ("ab"):rep(3), ("\0"):rep(200000), table.concat(random), table.concat(words), ("x"):rep(258) .. "y" }
end)

describe("io.zip, of deflated parts", function()
  it("unpacks what gzip packs, at every level: stored, fixed and dynamic blocks #once", function()
    local blocks = {} -- kinds of the first ones
    for k, text in ipairs(texts) do
      for _, level in ipairs { 1, 6, 9 } do
        local whole = npy(text)
        local stream, crc = deflated(whole, level)
        blocks[stream:byte() >> 1 & 3] = true
        local good, result = load(archive("a.npy", stream, crc, #whole, 8))
        assert.is_true(good, result)
        assert.equal(#text, #result.a)
        for i = 1, #text, math.max(1, #text // 500) do assert.equal(text:byte(i), result.a[i], ("text %d"):format(k)) end
      end
    end
    assert.same({ [0] = true, true, true }, blocks)
  end)

  it("refuses stored blocks that are damaged", function()
    local whole = npy("a stored block")
    local crc = ({ deflated(whole, 9) })[2]
    local function stored(length, complement, bytes)
      return load(archive("a.npy", "\1" .. ("<I2I2"):pack(length, complement) .. bytes, crc, #whole, 8))
    end
    local good, read = stored(#whole, #whole ~ 0xffff, whole)
    assert.is_true(good, read)
    assert.equal(14, #read.a)
    local n = #whole
    for _, bad in ipairs { { n, n, whole }, { n, n ~ 0xffff, whole:sub(2) }, { n + 1, (n + 1) ~ 0xffff, whole .. "x" } } do
      local fine, result = stored(table.unpack(bad))
      assert.is_false(fine)
      assert.matches("part 'a.npy' is damaged", result, 1, true)
    end
    local fine, result = load(archive("a.npy", "\1\0\0", crc, #whole, 8))
    assert.is_false(fine)
    assert.matches("part 'a.npy' is damaged", result, 1, true)
  end)

  it("refuses damage of every kind #once", function()
    local whole = npy(texts[6]:sub(1, 5000))
    local stream, crc = deflated(whole, 9)
    for at = 1, #stream, 11 do
      local bad = stream:sub(1, at - 1) .. string.char(stream:byte(at) ~ (1 << at % 8)) .. stream:sub(at + 1)
      local good, result = load(archive("a.npy", bad, crc, #whole, 8))
      assert.is_false(good)
      assert.matches("part 'a.npy' is damaged", result, 1, true)
    end
    for cut = 0, #stream - 1, 37 do assert.is_false((load(archive("a.npy", stream:sub(1, cut), crc, #whole, 8)))) end
    assert.is_false((load(archive("a.npy", stream, crc, #whole - 1, 8))))
    assert.is_false((load(archive("a.npy", stream, crc, #whole + 1, 8))))
    assert.is_false((load(archive("a.npy", stream, crc ~ 1, #whole, 8))))
  end)

  it("refuses what no honest archive claims, and methods it does not know", function()
    local _, result = load(archive("a.npy", "abc", 0, 4000000000, 8))
    assert.matches("it claims an impossible size", result, 1, true)
    _, result = load(archive("a.npy", "abc", 0, 3, 12))
    assert.matches("part 'a.npy': method 12 of compression is not read", result, 1, true)
  end)

  it("has streams of deflate, for texts that they make shorter", function()
    math.randomseed(8)
    local directory = host.new_directory()
    for _, size in ipairs { 40, 300, 5000, 300000 } do
      local words = {}
      for i = 1, size // 4 do words[i] = ("word"):sub(1, math.random(2, 4)) .. math.random(0, 9) end
      local text = table.concat(words)
      local stream = core.file_support.deflate(text)
      assert.is_true(#stream < #text)
      host.write(directory .. "/text.gz", "\x1f\x8b\8\0\0\0\0\0\0\3" .. stream) -- gzip has a checksum behind it
      assert.equal(text, host.run(("gzip -dc %s/text.gz 2>/dev/null"):format(directory)))
    end
    host.remove(directory)
    for _, text in ipairs { "", "a", "THREE" } do assert.is_nil(core.file_support.deflate(text)) end
  end)
end)
