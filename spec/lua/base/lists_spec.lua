-- Tests of nslua.base.lists.
local lists = require "nslua.base.lists"

describe("nslua.base.lists", function()
  it("copies a table, with entries that replace others, and leaves the table as it is", function()
    local t = { a = 1, b = 2 }
    local copy = lists.copy(t, { b = 3, c = 4 })
    assert.same({ a = 1, b = 3, c = 4 }, copy)
    assert.same({ a = 1, b = 2 }, t)
    assert.same({}, lists.copy(nil))
  end)

  it("gives keys in their order, all or those of a test", function()
    local t = { north = 1, east = 2, south = 3 }
    assert.same({ "east", "north", "south" }, lists.keys(t))
    assert.same({ "east", "south" }, lists.keys(t, function(_, value) return value > 1 end))
  end)

  it("maps elements with their numbers", function()
    assert.same({ "1a", "2b" }, lists.map({ "a", "b" }, function(x, i) return i .. x end))
  end)

  it("finds the parts that random pairs tie together", function()
    math.randomseed(31)
    for _ = 1, 20 do
      local n, i, j, of = math.random(1, 12), {}, {}, {}
      for k = 1, n do of[k] = k end
      for e = 1, math.random(0, n) do
        i[e], j[e] = math.random(n), math.random(n)
        local from, to = of[i[e]], of[j[e]]
        for k = 1, n do of[k] = of[k] == from and to or of[k] end
      end
      local count = 0
      for _, part in ipairs(lists.parts(n, i, j)) do
        for at, k in ipairs(part) do
          assert.equal(of[part[1]], of[k])
          assert.is_true(at == 1 or part[at - 1] < k)
          count = count + 1
        end
        for k = 1, n do
          local inside = false
          for _, one in ipairs(part) do inside = inside or one == k end
          assert.equal(of[k] == of[part[1]], inside)
        end
      end
      assert.equal(n, count)
    end
  end)
end)
