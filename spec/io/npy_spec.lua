local host = require "host"

local write = require("nslua.internal").npy_write

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
    assert.matches("^{'descr': '[<>]f8', 'fortran_order': False, 'shape': %(2, 3%), } *\n$", array.header)
  end)

  it("writes rows in C order, columns in Fortran order", function()
    for order, flag in pairs { C = "False", Fortran = "True" } do
      write(path, { { 1, 2, 3 }, { 4, 5, 6 } }, order)
      local array = parse(host.read(path))
      assert.equal(flag, array.fortran)
      assert.equal(order == "C" and "(2, 3)" or "(3, 2)", array.shape)
      assert.equal(6, array.count)
      for k = 0, 5 do assert.equal(k + 1, array.number(k)) end
    end
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
    write(path, { { 1, 2, 3 }, { 4, 5, 6.5 } }, "Fortran")
    local out = host.run(("/usr/bin/python3 -c 'import numpy; print(numpy.load(\"%s\").tolist())'"):format(path))
    assert.equal("[[1.0, 4.0], [2.0, 5.0], [3.0, 6.5]]\n", out)
  end)

  it("fails on a full disk and where it cannot write", function()
    assert.has_error(function() write("/dev/full", { 1 }) end, "cannot write '/dev/full': No space left on device")
    assert.has_error(function() write(directory .. "/no/a.npy", { 1 }) end,
      ("cannot write '%s/no/a.npy': No such file or directory"):format(directory))
  end)
end)
