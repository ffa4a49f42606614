-- Traced numbers: arithmetic is recorded, what cannot be recorded is an error with its line.
local ns = require "nslua"
local traces = require "bind.traces"
local fails, same, tape = traces.fails, traces.same, traces.tape

local must = ": what a compiled callback does must not depend on the values"

describe("traced numbers", function()
  it("have the arithmetic of Lua, with numbers on either side", function()
    local x = { 1.25, -0.75, 3 }
    same(function(v) return v[1] + 2 + v[2] - 1 - (3 - v[3]) end, x)
    same(function(v) return v[1] * 2 * v[2] / 3 + 2 / v[3] end, x)
    same(function(v) return -v[1] ^ 3 + 2 ^ v[2] + v[3] ^ v[1] end, x)
    same(function(v) return { v[1] ^ 2, v[2] ^ 2.0, v[2] ^ 0, v[3] ^ -1, v[2] ^ 3 } end, x)
    same(function(v) return { v[1] % 2, 7 % v[3], v[1] // 0.5, 7 // v[3], v[2] % v[3] } end, x)
  end)

  it("may run loops, tables, closures and branches that do not depend on them", function()
    local coefficients, mode = { 3, -2, 0.5 }, "cubic"
    same(function(v)
      local sum, list = 0, {}
      for i, c in ipairs(coefficients) do sum = sum + c * v[1] ^ i end
      for i = 1, #v do list[i] = v[i] * sum end
      local function twice(a) return 2 * a end
      if mode == "cubic" then list[#list + 1] = twice(sum) end
      return list
    end, { 0.5, 2 })
  end)

  it("take what they are given for true, as numbers are", function()
    same(function(v) return v[1] and v[2] or 7 end, { 1, 2 })
    same(function(v) return not v[1] and 7 or v[2] end, { 1, 2 })
  end)

  it("refuse to become text", function()
    local text = "compile: the text of a traced value" .. must
    fails(function(x)
      local s = tostring(x)
      return #s
    end, 1, text, 1)
    fails(function(x) return "x = " .. x end, 0, text, 1)
    fails(function(x) return x .. "" end, 0, text, 1)
    fails(function(x) return ("%g"):format(x) end, 0, text, 1)
    fails(function(x) return (" "):rep(x) end, 0,
      "bad argument #1 to 'rep' (number expected, got traced value): compile: this takes no traced value", 1)
  end)

  it("bound a loop as integers do", function()
    fails(function(x)
      for i = x, 3 do x = x + i end
      return x
    end, 1, "compile: the first value of a loop is a traced value: it must be an integer, as math.floor makes it", 1)
    fails(function(x)
      for i = 1, 3, x do x = x + i end
      return x
    end, 1, "compile: the step of a loop is a traced value: it must be an integer, as math.floor makes it", 1)
    fails(function(x)
      for i = 0.5, x do x = x + i end
      return x
    end, 1, "compile: the limit of a loop is a traced value: its first value and its step must be integers", 1)
  end)

  it("refuse what only tables, functions, strings and integers can do", function()
    fails(function(x) return x.y end, 0, "compile: an index into a traced value" .. must, 1)
    fails(function(x) x.y = 1 end, 0, "compile: an index into a traced value" .. must, 1)
    fails(function(x) return x(1) end, 0, "compile: a call of a traced value" .. must, 1)
    fails(function(x) return #x end, 0, "compile: the length of a traced value" .. must, 1)
    for _, f in ipairs { function(x) return x | 1 end, function(x) return 1 & x end, function(x) return x ~ 1 end,
      function(x) return x << 1 end, function(x) return 1 >> x end, function(x) return ~x end } do
      fails(f, 0, "compile: a bitwise operation on a traced value" .. must, 1)
    end
    fails(function(x) return x + "a" end, 0,
      "traced value + string: expected a number, a vector or a matrix", 1)
    fails(function(x) return {} * x end, 0,
      "an empty table * traced value: expected a number, a vector or a matrix", 1)
  end)

  it("live for one trace", function()
    local kept = {}
    local keeps = tape(function(x)
      if kept[1] then return x + kept[1] end
      kept[1] = x
      return x
    end)
    local good, err = pcall(keeps, 1)
    assert.is_false(good)
    assert.matches("compile: a traced value is used after its trace %(the callback keeps it from one call to the next%)$", err)
    local stale = kept[1]
    for _, f in ipairs { function() return stale + 1 end, function() return 2 * stale end, function() return -stale end } do
      good, err = pcall(f)
      assert.is_false(good)
      assert.matches("used after its trace", err)
    end
  end)

  it("of an inner compiled function become part of the outer trace", function()
    local inner = ns.compile(function(a, b) return a * b + math.sin(a) end)
    same(function(x) return inner(x[1], x[2]) * inner(x[2], 2) end, { 0.5, 1.5 })
    assert.equal(1, #inner:traces()) -- of plain numbers alone
  end)

  it("leave no trace behind when a callback raises, in the middle of another trace too", function()
    local bad = tape(function(x) error({ code = x and 7 }) end)
    local outer = tape(function(x)
      local y = x * 3
      local good, err = pcall(bad, 2)
      assert(not good and err.code == 7)
      return y + x
    end)
    assert.equal(8, outer(2))
    assert.equal(12, outer(3))
  end)
end)
