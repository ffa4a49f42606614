local source = require "nslua.repl.source"

describe("tokens of the prompt", function()
  local function words(text)
    local list = {}
    for i, token in ipairs((source.tokens(text))) do list[i] = token.text end
    return table.concat(list, " ")
  end

  it("are those of Lua, without comments", function()
    assert.equal("a . b = 0x1p4 + 1e-5 .. 'x y' ; --", words "a.b=0x1p4+1e-5 ..'x y'; --[[ no ]] -- neither" .. " --")
    assert.equal("[[long ]x]] [=[ ]] ]=] \"a\\\"b\" ... :: // >= ~= << # t",
      words '[[long ]x]] [=[ ]] ]=] "a\\"b" ... :: // >= ~= << #t')
  end)

  it("tell what is open at the end, and where a string's contents start", function()
    local _, open, contents = source.tokens "f('abc"
    assert.same({ "string", 4 }, { open, contents })
    _, open, contents = source.tokens "x = [==[ab"
    assert.same({ "string", 9 }, { open, contents })
    assert.equal("comment", select(2, source.tokens "x -- to the end"))
    assert.equal("comment", select(2, source.tokens "x --[[ open"))
    assert.is_nil((select(2, source.tokens "x = 'closed'")))
  end)

  it("cover a text without gaps but blanks and comments", function()
    local text = "local t = { [1] = 'a', b = 0x.8p1 } goto done ::done:: return t.b // 2"
    for _, token in ipairs((source.tokens(text))) do
      assert.equal(token.text, text:sub(token.from, token.to))
    end
    assert.equal((text:gsub("%s", "")), (words(text):gsub("%s", "")))
  end)
end)

describe("a semicolon at the end", function()
  it("is found behind comments, and not inside strings and comments", function()
    assert.is_true(source.silent "f();")
    assert.is_true(source.silent "f() ;  -- loud")
    assert.is_false(source.silent "f() -- quiet;")
    assert.is_false(source.silent "';'")
    assert.is_false(source.silent "")
  end)
end)

describe("locals that are kept", function()
  -- The texts mean the same, K being where locals go.
  local function becomes(expected, text)
    assert.equal(expected, (source.keep_locals(text, "K"):gsub("  +", " "):gsub(" *\n *", "\n")))
    assert(load(source.keep_locals(text, "K")))
  end

  it("become fields", function()
    becomes("K.x = 5", "local x = 5")
    becomes("K.a, K.b = 1, 2 print(a)", "local a, b <const> = 1, 2 print(a)")
    becomes("K.x = nil;\n(print)(1)", "local x\n(print)(1)")
    becomes("function K.f(n) return f(n - 1) end K.y = 2", "local function f(n) return f(n - 1) end local y = 2")
  end)

  it("are those of the top level alone", function()
    for _, text in ipairs {
      "if x then local y = 2 end", "for i = 1, 2 do local y = i end", "repeat local y = 1 until y",
      "f(function() local y end)", "t = { f = function() local y return y end }", "while x do local y end",
      "s = 'local x = 1' -- local y", "t.x = [[local y]]", "do local x <close> = nil end", "local x <close> = nil",
    } do
      assert.equal(text, source.keep_locals(text, "K"))
    end
    becomes("if a then local b end K.c = 1", "if a then local b end local c = 1")
    becomes("function f() repeat local b until b end K.c = nil;", "function f() repeat local b until b end local c")
  end)

  it("stay on their lines", function()
    local text = "local a, -- first\n  b\n  = 1,\n 2\nlocal function\nf() end\nerror 'here'"
    local kept = source.keep_locals(text, "K")
    assert.equal(select(2, text:gsub("\n", "")), select(2, kept:gsub("\n", "")))
    local _, message = pcall(assert(load(kept, "=x", "t", { K = {}, error = error })))
    assert.equal("x:7: here", message)
  end)
end)

describe("compiling", function()
  it("takes expressions, =expressions and statements", function()
    assert.equal(3, source.compile("1 + 2", _G, "K")())
    assert.equal(3, source.compile("  = 1 + 2", _G, "K")())
    assert.equal(3, source.compile("1 + 2;", _G, "K")())
    assert.is_nil(source.compile("local x = 1", { K = {} }, "K")())
  end)

  it("tells chunks that go on from those that are wrong", function()
    for _, text in ipairs {
      "for i = 1, 2 do", "f(", "x = [[long", "t = {", "1 +", "= 1 +", "--[[ comment", "local", "'goes on \\",
    } do
      local chunk, message, more = source.compile(text, _G, "K")
      assert.is_nil(chunk)
      assert.is_true(more, text)
      assert.equal("string", type(message))
    end
    for _, text in ipairs { "x = = 2", "end", "'open", "1 2" } do
      local chunk, _, more = source.compile(text, _G, "K")
      assert.is_nil(chunk)
      assert.is_falsy(more, text)
    end
  end)
end)

describe("source.compile_cell", function()
  local function value(text)
    local env = setmetatable({ f = function(x) return x end }, { __index = _G })
    env.keep = env
    local chunk, message, more = source.compile_cell(text, env, "keep", "cell")
    if not chunk then return nil, message, more end
    return chunk()
  end

  it("returns the last expression after statements", function()
    assert.equal(3, value "local a = 1\na + 2")
    assert.equal(4, value "x = 3; x + 1")
    assert.equal(5, value "x = 3\nf(x + 2)")
    assert.equal(6, value "f(1)\nf(\n  6\n)")
    assert.equal(2, value "t = { 1, 2 }\n#t")
    assert.equal("a", value "x = 1\n('a')")
    assert.equal(7, value "-- a comment\n7")
    assert.equal(8, value "= 8")
  end)

  it("does not change statements, texts and blocks", function()
    assert.is_nil(value "x = 5\n-- f(1)")
    assert.is_nil(value "s = [[\nf(1)\n]]")
    assert.is_nil(value "for i = 1, 2 do\n  f(i)\nend")
    assert.is_nil(value "x = 5\n- 3")
    assert.is_nil(value "x = f\n(2)")
    assert.is_nil(value "function g()\n  return 1\nend")
  end)

  it("tells errors and what is incomplete", function()
    local _, message, more = value "for i = 1, 2 do\nf(i)"
    assert.matches("'end' expected", message)
    assert.is_true(more)
    _, message, more = value "x = = 1"
    assert.equal("cell:1: unexpected symbol near '='", message)
    assert.is_false(more)
  end)

  it("indents by open blocks and brackets", function()
    assert.equal("  ", source.indent "for i = 1, 2 do")
    assert.equal("    ", source.indent "f(function()")
    assert.equal("", source.indent "if x then y() end")
  end)
end)

describe("a line in the manner of another language", function()
  local habits = require "nslua.repl.habits"

  local function advice(text) return habits.advice((source.tokens(text))) end

  it("is answered with what Lua has", function()
    for text, expected in pairs {
      ["x != 3"] = "x ~= y", ["x = 3 ** 2"] = "x ^ y", ["x += 1"] = "x = x + 1", ["x++"] = "x = x + 1",
      ["if a && b then"] = "a and b", ["if a || b then"] = "a or b", ["x /= 2"] = "x = x / 2",
      ["A @ B"] = "A * B for the product of matrices",
      ["import numpy as np"] = 'local ns = require "nslua"', ["from nslua import ns"] = 'local ns = require "nslua"',
      ["print x"] = "print(x)", ["def f(x):"] = "function f(x) ... end", ["def f(x): return x"] = "function f(x) ... end",
      ["for i in range(3):"] = "for i = 1, 3 do ... end", ["while x > 0:"] = "while x > 0 do ... end",
      ["if x > 0:"] = "if x > 0 then ... end", ["elif x > 0:"] = "elseif x > 0 then", ["else:"] = "else",
    } do
      assert.equal(expected, advice(text), text)
      assert.is_nil(load(text), text) -- no Lua
    end
    for _, text in ipairs { "x = [1, 2]", "f([1, 2])", "[1, 2]" } do assert.matches("^{ 1, 2, 3 } for a list", advice(text)) end
  end)

  it("is none where Lua may read it", function()
    for _, text in ipairs { "", 'x = "a != b"', "-- x += 1", "x = [[", "t = { [1] = 2, [2] = 3", "print", "import(numpy)",
      "a - -b", "a ~= b", "for i = 1, 3 do sol:", "if x then simu:", "x = 3 3" } do
      assert.is_nil(advice(text), text)
    end
  end)

  it("may be a name that nslua has under another name", function()
    for code, expected in pairs { ["x = np.array"] = "ns, as in ns.linspace", ["len(x)"] = "#x",
      ["for i in range(3) do end"] = "for i = 1, n do ... end", ["plt.plot(x)"] = "ns.plot, as in ns.plot.plot(x, y)" } do
      local _, message = pcall(assert(load(code, "=[1]", "t", {})))
      assert.equal(expected, habits.of_message(message))
    end
    assert.is_nil(habits.of_message "[1]:1: attempt to call a nil value (global 'foo')")
    assert.is_nil(habits.of_message "[1]:1: attempt to index a nil value (local 'np')")
    assert.is_nil(habits.of_message "wrong\nattempt to call a nil value (global 'len')")
  end)

  it("is no text that more lines complete", function()
    local chunk, message, more = source.compile("for i in range(3):", {}, "K")
    assert.same({ nil, false }, { chunk, more })
    assert.equal("stdin:1: <name> expected near <eof>; in Lua: for i = 1, 3 do ... end", message)
    assert.is_true(select(3, source.compile("for i = 1, 3 do sol:", {}, "K")))
  end)
end)
