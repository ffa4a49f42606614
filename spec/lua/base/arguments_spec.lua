-- The checks are met through the functions: spec/lua/analysis. Here: options in a table of another spelling.
local ns = require "nslua"

describe("analysis.arguments", function()
  it("takes tables, vectors, views and rows of matrices alike", function()
    local A = ns.matrix { { 0, 1, 2 }, { 5, 6, 9 } }
    local x, y = ns.vector { 0, 1, 2 }, { 5, 6, 9 }
    local wide = ns.vector { 0, 7, 1, 7, 2 }(1, 5, 2)
    for _, s in ipairs { ns.spline(A[1], A[2]), ns.spline(x, y), ns.spline(wide, A[2]) } do assert.equal(7.25, s(1.5)) end
  end)

  it("tells what it expected and what it got", function()
    local arguments = require "nslua.base.arguments"
    local function message(f, ...)
      local good, text = pcall(f, ...)
      return not good and text:gsub("^[^\n]-:%d+: ", "") or nil
    end
    assert.equal("f: file: expected a string, got 1.5",
      (message(arguments.expect, 1.5, "string", "%s: file: expected a string", "f")))
    assert.equal("s", arguments.expect("s", "string", "f: expected a string"))
    assert.equal(false, arguments.optional(false, "boolean", "f: on: expected true or false"))
    assert.is_nil(arguments.optional(nil, "boolean", "f: on: expected true or false"))
    assert.equal("f: on: expected true or false, got 'yes'",
      (message(arguments.optional, "yes", "boolean", "f: on: expected true or false")))
    assert.equal("f: n: expected 3, got nan", (message(arguments.reject, true, 0 / 0, "f: n: expected %d", 3)))
    assert.is_nil(message(arguments.reject, nil, 3, "f: n: expected 3"))
    assert.equal("f: n: expected a finite number, got inf", (message(arguments.finite, math.huge, "f", "n")))
    assert.equal("f: n: expected a number above 0, got inf", (message(arguments.positive, math.huge, "f", "n")))
    assert.equal("f: n: expected a number above 0, got 0", (message(arguments.positive, 0, "f", "n")))
  end)

  it("shows short lists, and tells of other values what they are", function()
    local tell = require "nslua.base.arguments".tell
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    for _, one in ipairs { { "{ 0, nan, 'a', true }", { 0, 0 / 0, "a", true } }, { "an empty table", {} },
      { "a list of 2", { {}, {} } },
      { "a list of 8", { 1, 2, 3, 4, 5, 6, 7, 8 } }, { "{ 1, 2, 3, 4, 5, 6, 7 }", { 1, 2, 3, 4, 5, 6, 7 } },
      { "a list of 1", { ds } },
      { "a table with the key 'a'", { 1, x = 1, b = 1, a = 1 } }, { "FirstOrderLinearTIDS with 1 state", ds }, { "true", true },
      { "[1, 2]", ns.vector { 1, 2 } }, { "function", print }, { "'a'", "a" }, { "-1.5", -1.5 } } do
      assert.equal(one[1], tell(one[2]))
    end
    assert.equal("nil", tell(nil))
    for _ = 1, 20 do -- the order of keys does not matter
      local t = {}
      for _, key in ipairs { "z", "y", "x", "w", "v" } do t[key .. math.random(9)] = 1 end
      t.a = 1
      assert.equal("a table with the key 'a'", tell(t))
    end
  end)
end)
