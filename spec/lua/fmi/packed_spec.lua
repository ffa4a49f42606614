-- Tables as texts, and back.
local packed = require "nslua.fmi.packed"

describe("packed tables", function()
  it("come back with all their bits", function()
    local value = { 1, 0.1, -0.0, math.huge, 2 ^ -1074, "a\0b\n", true, { x = { 3.0 } }, [2.5] = math.mininteger }
    local back = packed.read(packed.write(value))
    assert.same(value, back)
    assert.equal("float", math.type(back[8].x[1]))
    assert.equal(-math.huge, 1 / back[3])
  end)

  it("that have no text are told, and other texts give nil", function()
    local own = {}
    own.own = own
    assert.has_error(function() packed.write(own) end, "a table holds itself, or more than 100 levels of tables")
    assert.has_error(function() packed.write { print } end, "a function cannot be stored")
    assert.is_nil(packed.read "{")
    assert.is_nil(packed.read "error()")
  end)
end)
