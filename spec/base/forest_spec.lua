-- Union and find: sets numbered in the order of their smallest members.
require "nslua.core"
local internal = require "nslua.internal"

describe("a forest", function()
  it("numbers its sets by their smallest members", function()
    assert.same({ 0, {}, 0 }, { internal.forest(0, {}) })
    assert.same({ 3, { 1, 2, 3 }, 0 }, { internal.forest(3, {}) })
    assert.same({ 2, { 1, 2, 1, 2, 1 }, 3 }, { internal.forest(5, { { 5, 3 }, { 4, 2 }, { 3, 1 } }) })
    assert.same({ 1, { 1, 1, 1 }, 2 }, { internal.forest(3, { { 3, 2 }, { 2, 3 }, { 1, 3 }, { 2, 1 } }) })
  end)

  it("has as many sets as things less joins, and joined things in one set, whatever the order", function()
    math.randomseed(5)
    for _ = 1, 100 do
      local n, pairs_ = math.random(1, 30), {}
      for k = 1, math.random(0, n) do pairs_[k] = { math.random(n), math.random(n) } end
      local count, of, joins = internal.forest(n, pairs_)
      assert.equal(n - joins, count)
      for _, pair in ipairs(pairs_) do assert.equal(of[pair[1]], of[pair[2]]) end
      for k = #pairs_, 2, -1 do
        local j = math.random(k)
        pairs_[k], pairs_[j] = pairs_[j], pairs_[k]
      end
      assert.same(of, select(2, internal.forest(n, pairs_)))
      local most = 0
      for i = 1, n do
        assert.is_true(of[i] <= most + 1)
        most = math.max(most, of[i])
      end
    end
  end)
end)
