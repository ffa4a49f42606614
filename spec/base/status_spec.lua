require "nslua"
local internal = require "nslua.internal"

describe("a status", function()
  it("has a name and a message of its own", function()
    local seen, n = {}, internal.status_count()
    assert.is_true(n > 10)
    for i = 0, n - 1 do
      local name, message = internal.status_name(i), internal.status_message(i)
      assert.matches("^NS_%u+$", name)
      assert.is_true(#message > 0)
      assert.is_nil(seen[name])
      assert.is_nil(seen[message])
      seen[name], seen[message] = true, true
    end
  end)

  it("of success is 0", function()
    assert.equal("NS_OK", internal.status_name(0))
    assert.equal("success", internal.status_message(0))
  end)

  it("that is none has words too", function()
    for _, i in ipairs { -1, internal.status_count(), 1000, -2 ^ 31 | 0 } do
      assert.equal("NS_?", internal.status_name(i))
      assert.equal("unknown status", internal.status_message(i))
    end
  end)
end)
