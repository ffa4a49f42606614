-- Columns of numbers as text, their range, and files that appear whole.
local host = require "host"
local ns = require "nslua"
local process = require "nslua.core".process_support

describe("process_support", function()
  it("writes columns as lines that read back exactly", function()
    local x, y = ns.vector { 1, 0.1, -1e-300 }, { 2 ^ 53 + 2, 1 / 3, 5e-324 }
    local text, i = process.rows { x, y }, 0
    for a, b in text:gmatch "(%S+) (%S+)\n" do
      i = i + 1
      assert.is_true(tonumber(a) == x[i] and tonumber(b) == y[i])
    end
    assert.equal(3, i)
    assert.equal("1\n3\n5\n", process.rows { ns.vector { 1, 2, 3, 4, 5 }(1, 5, 2) })
    assert.equal("NaN 1\n2 NaN\nNaN 3\n", process.rows { { 0 / 0, 2, -1 / 0 }, { 1, 1 / 0, 3 } })
    assert.equal("", process.rows { {} })
    assert.equal("", process.rows {})
    assert.has_error(function() process.rows { { 1, 2 }, { 1 } } end, "rows: column: expected a vector of 2, got a list of 1")
  end)

  it("finds the least and the largest finite number", function()
    assert.same({ -2, 7 }, { process.range { 3, 0 / 0, 7, -2, 1 / 0, -1 / 0 } })
    assert.same({ 3, 7 }, { process.range({ 3, 0 / 0, 7, -2, 0, 1 / 0 }, true) })
    assert.same({}, { process.range { 0 / 0 } })
    assert.same({}, { process.range({ -1 }, true) })
  end)

  it("saves bytes whole or not at all", function()
    local directory = host.new_directory()
    local path = directory .. "/a b'\"|.png"
    process.save(path, "\0\255\n")
    assert.equal("\0\255\n", host.read(path))
    assert.has_error(function() process.save(directory .. "/no/a", "") end,
      ("cannot write '%s/no/a': No such file or directory"):format(directory))
    assert.has_error(function() process.save("/dev/full", "x") end, "cannot write '/dev/full': No space left on device")
    host.remove(directory)
  end)
end)
