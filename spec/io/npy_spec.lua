local host = require "host"

local ns = require "nslua"

-- Writes a list of numbers, or a matrix by its rows.
local function write(path, data)
  require("nslua.core").file_support.save_npy(path, type(data[1]) == "table" and ns.matrix(data) or data)
end

-- An independent reader of version 1.0 files of doubles.
local function parse(text)
  local magic, major, minor, length = string.unpack("<c6BBI2", text)
  local header = text:sub(11, 10 + length)
  local descr = header:match "'descr': '([<>]f8)'"
  return {
    magic = magic, version = major .. "." .. minor, start = 10 + length, header = header,
    fortran = header:match "'fortran_order': (%a+)", shape = header:match "'shape': (%b())",
    number = function(k) return (string.unpack(descr:sub(1, 1) .. "d", text, 11 + length + 8 * k)) end,
    count = (#text - 10 - length) / 8,
  }
end

describe("io.npy", function()
  local directory, path

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/a.npy"
  end)
  after_each(function() host.remove(directory) end)

  it("writes the header that the format asks for", function()
    write(path, { { 1, 2, 3 }, { 4, 5, 6 } })
    local array = parse(host.read(path))
    assert.equal("\x93NUMPY", array.magic)
    assert.equal("1.0", array.version)
    assert.equal(0, array.start % 64)
    assert.equal("\n", array.header:sub(-1))
    assert.matches("^{'descr': '[<>]f8', 'fortran_order': True, 'shape': %(2, 3%), } *\n$", array.header)
  end)

  it("writes column by column", function()
    write(path, { { 1, 2, 3 }, { 4, 5, 6 } })
    local array = parse(host.read(path))
    assert.equal("True", array.fortran)
    assert.equal("(2, 3)", array.shape)
    assert.equal(6, array.count)
    for k, x in ipairs { 1, 4, 2, 5, 3, 6 } do assert.equal(x, array.number(k - 1)) end
  end)

  it("writes one-dimensional and empty arrays", function()
    write(path, { 0.1, 1 / 0, -0.0 })
    local array = parse(host.read(path))
    assert.equal("(3,)", array.shape)
    assert.equal("False", array.fortran)
    assert.is_true(array.number(0) == 0.1 and array.number(1) == 1 / 0 and 1 / array.number(2) == -1 / 0)
    write(path, {})
    array = parse(host.read(path))
    assert.equal("(0,)", array.shape)
    assert.equal(0, array.count)
  end)

  it("is read by numpy", function()
    if (select(3, host.run "/usr/bin/python3 -c 'import numpy'")) ~= 0 then return pending "no numpy" end
    write(path, { { 1, 4 }, { 2, 5 }, { 3, 6.5 } })
    local out = host.run(("/usr/bin/python3 -c 'import numpy; print(numpy.load(\"%s\").tolist())'"):format(path))
    assert.equal("[[1.0, 4.0], [2.0, 5.0], [3.0, 6.5]]\n", out)
  end)

  it("fails on a full disk and where it cannot write", function()
    assert.has_error(function() write("/dev/full", { 1 }) end, "cannot write '/dev/full': No space left on device")
    assert.has_error(function() write(directory .. "/no/a.npy", { 1 }) end,
      ("cannot write '%s/no/a.npy': No such file or directory"):format(directory))
  end)
end)

describe("the reader of io.npy", function()
  local directory, path

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/a.npy"
  end)
  after_each(function() host.remove(directory) end)

  -- The array of bytes under a header that says so.
  local function load(descr, shape, bytes, fortran, version)
    local text = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"):format(descr, fortran and "True" or "False", shape)
    local length = version == 1 and ("<I2"):pack(#text) or ("<I4"):pack(#text)
    host.write(path, "\x93NUMPY" .. string.char(version or 2, 0) .. (version and length or ("<I4"):pack(#text)) .. text .. bytes)
    return ns.load(path)
  end

  it("knows numbers of every width and order of bytes", function()
    for descr, format in pairs { ["<f8"] = "<d", [">f8"] = ">d", ["<f4"] = "<f", [">f4"] = ">f", ["|i1"] = "b", ["<i2"] = "<i2",
      [">i2"] = ">i2", ["<i4"] = "<i4", [">i4"] = ">i4", ["<i8"] = "<i8", [">i8"] = ">i8" } do
      local bytes = ""
      for _, x in ipairs { 0, 1, -2, 100, -128 } do bytes = bytes .. format:pack(x) end
      assert.equal(ns.vector { 0, 1, -2, 100, -128 }, load(descr, "(5,)", bytes, false, 1), descr)
    end
    for descr, format in pairs { ["|u1"] = "B", ["<u2"] = "<I2", [">u4"] = ">I4", ["<u8"] = "<I8", ["|b1"] = "B" } do
      assert.equal(ns.vector { 1, 0, 1 }, load(descr, "(3,)", format:pack(1) .. format:pack(0) .. format:pack(1)), descr)
    end
    assert.equal(ns.vector { 255 }, load("|u1", "(1,)", "\255"))
    assert.equal(ns.vector { 2 ^ 64 }, load("<u8", "(1,)", ("\255"):rep(8)))
    assert.equal(ns.vector { -1 }, load("<i8", "(1,)", ("\255"):rep(8)))
  end)

  it("knows both orders, both kinds of header, scalars and empty arrays", function()
    local bytes = ("<dddddd"):pack(1, 2, 3, 4, 5, 6)
    assert.equal(ns.matrix { { 1, 2, 3 }, { 4, 5, 6 } }, load("<f8", "(2, 3)", bytes, false, 1))
    assert.equal(ns.matrix { { 1, 3, 5 }, { 2, 4, 6 } }, load("<f8", "(2, 3)", bytes, true, 3))
    assert.equal(ns.vector { 1 }, load("<f8", "()", bytes))
    assert.equal(0, #load("<f8", "(0,)", ""))
    assert.equal(0, load("<f8", "(0, 4)", ""):rows())
  end)
end)
