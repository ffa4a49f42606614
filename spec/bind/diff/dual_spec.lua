-- A dual number as scripts meet it: comparison, texts, arithmetic with what is none.
local ns = require "nslua"

describe("a dual number", function()
  it("compare as plain numbers do", function()
    local function all(a, b)
      return { a < b, a <= b, a > b, a >= b, b < a, 1 < a, a <= 2, a > 2, 2 >= b, a == a, a ~= a + 0 }
    end
    for _, pair in ipairs { { 1, 2 }, { 2, 2 }, { 3, -1 }, { 2 ^ 53, 2 } } do
      local seen
      ns.gradient(function(x) seen = all(x[1], x[2]); return x[1] end, pair)
      assert.same(all(pair[1], pair[2]), seen)
    end
    local exact
    ns.gradient(function(x) exact = x[1] < 9007199254740993; return x[1] end, { 2 ^ 53 })
    assert.is_true(exact)
  end)

  it("say what they are in texts, so that none comes back as a number", function()
    local text
    ns.gradient(function(x)
      text = x[1] .. "|" .. tostring(x[1]) .. "|" .. ("%.3f"):format(x[1])
      return x[1]
    end, { 2.5 })
    assert.equal("2.5 (dual)|2.5 (dual)|2.500 (dual)", text)
    for _, back in ipairs { function(x) return tonumber(tostring(x[1])) end, function(x) return tostring(x[1]) + 0 end,
                            function(x) return tonumber(("%.17g"):format(x[1])) end } do
      assert.is_false((pcall(ns.gradient, back, { 2.5 })))
    end
  end)
end)
