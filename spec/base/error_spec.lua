require "nslua"
local internal = require "nslua.internal"

describe("an error text", function()
  it("is stored with its status", function()
    for i = 0, internal.status_count() - 1 do
      local returned, stored, text = internal.fail(i, "what %s went wrong")
      assert.same({ i, i, "what %s went wrong" }, { returned, stored, text })
    end
    assert.equal("", (select(3, internal.fail(1, ""))))
  end)

  it("is cut at its 512 bytes, the last of them the end", function()
    for _, n in ipairs { 510, 511, 512, 513, 5000 } do
      local long = ("0123456789"):rep(n // 10 + 1):sub(1, n)
      local _, _, text = internal.fail(2, long)
      assert.equal(long:sub(1, 511), text)
    end
  end)
end)
