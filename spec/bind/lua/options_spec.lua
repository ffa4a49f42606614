-- Option tables: an unknown key is an error that lists the known ones.
local ns = require "nslua"

describe("an option table", function()
  local function f(x) return x end

  it("may hold known keys only", function()
    assert.has_error(function() ns.compile(f, { nativ = true }) end, "compile: unknown option 'nativ' (known: native, paths)")
    assert.has_error(function() ns.compile(f, { true }) end, "compile: unknown option '1' (known: native, paths)")
    assert.matches("unknown option 'boolean'", select(2, pcall(ns.compile, f, { [true] = 1 })))
  end)

  it("is a table", function()
    assert.matches("options: expected a table, got string", select(2, pcall(ns.compile, f, "native")))
  end)

  it("is told from an array by a text among its keys", function()
    local system = ns.FirstOrderLinearTIDS({ 1, 2 }, { { 0, 1 }, { -1, 0 } })
    assert.equal(2, #system:x())
    assert.matches("unknown option 'x1'", select(2, pcall(ns.FirstOrderLinearTIDS, { x1 = { 1, 2 } })))
  end)
end)
