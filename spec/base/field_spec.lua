-- Tables of fields: what is copied and what is walked.
require "nslua"
local internal = require "nslua.internal"

describe("a table of fields", function()
  local function full() return internal.probe(2, 0.5, -1, true, { 3, 4 }, { 5, 6 }, { { 1, 2 }, { 3, 4 }, { 5, 6 } }) end

  it("walks the fields that have a flag, with their bytes, and arrays that are made", function()
    assert.same({ rate = 8, level = 8, count = 4, flag = 1, bounds = 16 }, full():walk "state")
    assert.same({ speed = 8, weights = 16, table = 48 }, full():walk "constant")
    assert.same({ rate = 8, level = 8, count = 4, flag = 1 }, internal.probe(2, 0.5):walk "state")
    assert.same({ speed = 8 }, internal.probe(2, 0.5):walk "constant")
  end)

  it("copies all of them, arrays into room of their own", function()
    local a = full()
    local b = a:copy()
    assert.same({ 2, 0.5, -1, -1, true }, { b:size(), b:rate(), b:speed(), b:velocity(), b:flag() })
    assert.same({ 3, 4 }, b:weights():totable())
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, b:table():totable())
    b:setBounds { 7, 8 }
    a:setRate(9)
    assert.same({ 5, 6 }, a:bounds():totable())
    assert.same({ 7, 8 }, b:bounds():totable())
    assert.same({ 9, 0.5 }, { a:rate(), b:rate() })
    assert.is_nil(internal.probe(2, 0.5):copy():weights())
  end)
end)
