local ns = require "nslua"
local printer = require "nslua.repl.print"

local function shows(expected, value, width)
  assert.equal(expected, printer.value(value, width or 80))
end

local function widest(text)
  local most = 0
  for line in text:gmatch "[^\n]+" do most = math.max(most, utf8.len(line)) end
  return most
end

describe("the prompt shows", function()
  it("numbers, booleans and nil as tostring does", function()
    shows("462", 462)
    shows("1024.0", 2.0 ^ 10)
    shows("-inf", -math.huge)
    shows("true", true)
    shows("nil", nil)
  end)

  it("strings as they are, without control characters and bytes that are no text", function()
    shows("two\nlines\tand ∂λ", "two\nlines\tand ∂λ")
    shows("a\\x1B[31m\\r\\x7F\\x00", "a\27[31m\r\127\0")
    shows("\\xFF\\xFEx", "\xFF\xFEx")
    shows("\\xC2\\x9B1m", "\xC2\x9B1m")
  end)

  it("long strings shortened, at a character", function()
    local text = printer.value(("ä"):rep(10000), 80)
    assert.is_true(#text < 4100)
    assert.matches("%.%.%. %(20000 bytes in all%)$", text)
    assert.truthy(utf8.len(text))
  end)

  it("functions with their parameters and place", function()
    assert.matches("^function%(x, y, %.%.%.%) .*print_spec.lua:%d+$", printer.value(function(x, y, ...) end, 80))
    shows("function: builtin", print)
  end)

  describe("tables", function()
    it("on a line when they fit", function()
      shows("{}", {})
      shows('{ 1, 2.5, "x\\n", true, a = 1, ["end"] = 3, ["not a name"] = 2 }',
        { 1, 2.5, "x\n", true, a = 1, ["not a name"] = 2, ["end"] = 3 })
      shows("{ [true] = 3, [0] = 1, [2.5] = 2 }", { [0] = 1, [2.5] = 2, [true] = 3 })
      shows("{ { 1, 0 }, { 0, 1 } }", { { 1, 0 }, { 0, 1 } })
      shows("{ print = <function> }", { print = print })
    end)

    it("with cycles, and shared parts", function()
      local t = { name = "t" }
      t.self, t.list = t, { t }
      shows('{ list = { <cycle> }, name = "t", self = <cycle> }', t)
      local shared = { 1 }
      shows("{ { 1 }, { 1 } }", { shared, shared })
    end)

    it("not too deep, not too long", function()
      shows("{ { { {...} } } }", { { { { {} , 1 } } } })
      local long = {}
      for i = 1, 1000 do long[i] = i end
      local text = printer.value(long, 80)
      assert.matches("^{\n  1, 2, 3, .*%.%.%. %(976 more%)\n}$", text)
      local wide = {}
      for i = 1, 500 do wide["k" .. i] = long end
      assert.is_true(#printer.value(wide, 80) < 20000)
    end)

    it("on several lines within the width", function()
      local t = { first = ("x"):rep(50), second = ("y"):rep(50), third = { 1, 2 } }
      shows(('{\n  first = "%s",\n  second = "%s",\n  third = { 1, 2 }\n}'):format(t.first, t.second), t)
      for width = 40, 120, 20 do
        local numbers = {}
        for i = 1, 20 do numbers[i] = 1000 * i end
        assert.is_true(widest(printer.value(numbers, width)) <= width)
        assert.is_true(widest(printer.value(ns, width)) <= math.max(width, 50))
      end
    end)

    it("by their __tostring, whose errors do no harm, and of classes by name", function()
      shows("I am it", setmetatable({}, { __tostring = function() return "I am it" end }))
      shows("{ I am it }", { setmetatable({}, { __tostring = function() return "I am it" end }) })
      assert.matches("^<table, whose __tostring fails: .*no>$",
        printer.value(setmetatable({}, { __tostring = function() error "no" end }), 80))
      assert.matches("^<table, whose __tostring fails: .*must return a string>$",
        printer.value(setmetatable({}, { __tostring = function() return {} end }), 80))
      shows("class clutch {}", ns.class(ns.FirstOrderNonLinearR, "clutch"))
    end)

    it("without running metamethods for fields", function()
      local t = setmetatable({ 1 }, { __index = error, __pairs = error, __len = error })
      shows("{ 1 }", t)
    end)
  end)

  describe("objects", function()
    it("vectors on lines within the width", function()
      shows("[1, 2]", ns.vector { 1, 2 })
      local text = printer.value(ns.linspace(0, 1, 14), 60)
      assert.is_true(widest(text) <= 60)
      assert.equal(tostring(ns.linspace(0, 1, 14)), (text:gsub("\n", "")))
    end)

    it("matrices aligned, and cut in the middle where they are too wide", function()
      shows("[  1  -20\n   30  4 ]", "[  1  -20\n   30  4 ]")
      for _, size in ipairs { { 3, 12 }, { 1, 16 }, { 30, 30 }, { 2, 40 } } do
        local m = ns.zeros(size[1], size[2])
        for i = 1, size[1] do
          for j = 1, size[2] do m[i][j] = i - j / 7 end
        end
        local text = printer.value(m, 60)
        assert.is_true(widest(text) <= 60, text)
        assert.matches("  %.%.%.  ", text)
        assert.equal(text:match "^%[ +(%S+)", tostring(m):match "^%[ +(%S+)")
        assert.equal(text:match "(%S+) %]", tostring(m):match "(%S+) %]")
      end
      shows(tostring(ns.eye(5)), ns.eye(5))
    end)

    it("inside tables on one line", function()
      shows("{ [1, 2], <matrix of 2> }", { ns.vector { 1, 2 }, ns.eye(2) })
      shows("{ td = " .. tostring(ns.TimeDiscretisation(0, 0.1)) .. " }", { td = ns.TimeDiscretisation(0, 0.1) })
    end)
  end)

  it("several values beside each other, or below when they are long", function()
    assert.is_nil(printer.values({ n = 0 }, 80))
    assert.equal("nil", printer.values({ n = 1 }, 80))
    assert.equal("1\tnil\tx", printer.values({ 1, nil, "x", n = 3 }, 80))
    assert.equal("1\na\nb", printer.values({ 1, "a\nb", n = 2 }, 80))
    local long = ("z"):rep(50)
    assert.equal(long .. "\n" .. long, printer.values({ long, long, n = 2 }, 80))
  end)
end)
