-- The table of functions for optional modules: in the core, hidden from users.
local ns = require "nslua"

describe("the engine's table", function()
  it("is one for a process, and no name of ns", function()
    local engine = require "nslua.core".engine
    assert.equal("userdata", type(engine))
    assert.is_nil(getmetatable(engine))
    assert.is_nil(rawget(ns, "engine"))
  end)
end)
