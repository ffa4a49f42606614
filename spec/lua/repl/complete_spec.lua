local complete = require "nslua.repl.complete"
local ns = require "nslua"
local session_of = require "nslua.repl.session"

describe("completion at the prompt", function()
  local session
  local directory = {
    ["."] = { "data.csv", "data_two.csv", ".hidden", "sub/", "it's.txt", "größe.txt", "grün.txt" },
    ["sub/"] = { "inner.lua" },
  }
  local host = { list = function(path) return directory[path] end }

  setup(function()
    session = session_of()
    session.declare("ns", ns)
    session.declare("mine", { deep = { value = 1, list = { { leaf = 1 } }, ["not a name"] = 2 }, call = print })
    session.declare("text", "words")
    session.declare("td", ns.TimeDiscretisation(0, 0.1))
    session.declare("v", ns.vector { 1, 2 })
    local read = ns.zeros(2)
    for _ = 1, 500 do assert(read[1]) end
    session.declare("read", read)
    local Clutch = ns.class(ns.FirstOrderNonLinearR, "clutch")
    function Clutch:computeh() end
    function Clutch:my_own() end
    session.declare("clutch", Clutch())
    session.declare("Clutch", Clutch)
    session.declare("trap", setmetatable({ real = 1 }, { __index = function() error "run" end, __pairs = error }))
    session.declare("child", setmetatable({ own = 1 }, { __index = { inherited = print } }))
  end)

  local function at(text) return complete.at(text, session, host, 80) end

  local function inserts(expected, text)
    local insert, list = at(text)
    assert.equal(expected, insert)
    assert.is_nil(list)
  end

  local function lists(expected, text)
    local insert, list = at(text)
    assert.is_nil(insert)
    assert.equal(expected, (list:gsub("%s+", " ")))
  end

  local function offers(name, text)
    local _, list = at(text)
    assert.truthy((" " .. list:gsub("%s+", " ") .. " "):find(" " .. name .. " ", 1, true), name)
  end

  local function nothing(text)
    assert.same({}, { at(text) })
  end

  it("knows globals, locals and keywords", function()
    inserts("table", "x = sets and setmeta")
    inserts("ction", "fun")
    inserts("ne", "mi")
    inserts("utch", "x = cl")
    nothing "no_such_name"
    offers("print", "p")
  end)

  it("knows fields, as deep as can be told without running anything", function()
    inserts("p", "mine.dee")
    inserts("lue", "mine.deep.va")
    lists("list value", "mine.deep.")
    inserts("af", "mine.deep.list[1].le")
    inserts("lue", "mine['deep'].va")
    inserts("nspace", "ns.li")
    inserts("ll", "print(mine.ca")
    nothing "mine.deep.value."
    nothing "f().x"
    nothing "mine[i].x"
    nothing "nobody.x"
  end)

  it("knows methods: of objects, of their classes, of strings", function()
    lists("at close display h t0", "td:")
    inserts("splay", "td:di")
    offers("assign", "v:")
    offers("assign", "read:")
    offers("upper", "text:")
    inserts("_own", "clutch:my")
    offers("setName", "clutch:set")
    inserts("mputeh", "Clutch.co")
    inserts("ll", "mine:ca")
    nothing "mine:dee"
  end)

  it("runs no code of the user", function()
    inserts("al", "trap.re")
    nothing "trap.x"
    nothing "trap.x.y"
    inserts("herited", "child.in")
  end)

  it("hides names with an underscore until one is typed", function()
    local _, list = at "_"
    assert.truthy(not list or list:find "_G")
    assert.is_nil((complete.at("", session, host, 80) or ""):find "_G")
  end)

  it("shows how a function is called after (, and after a comma between arguments", function()
    session.declare("own", function(a, b, ...) return a, b, ... end)
    lists("ns.linspace(a, b [, n])", "ns.linspace(")
    lists("ns.linspace(a, b [, n])", "x = ns.linspace(0, f(1), ")
    lists("grid:at(k)", "td:at(")
    lists("own(a, b, ...)", "own(")
    offers("print", "print(") -- nothing is known of it
    inserts("t", "own(prin") -- a name that has begun is completed
  end)

  describe("of options", function()
    it("names those of the constructor, less those that are there", function()
      lists("Jachlambda Jachx", "r = ns.FirstOrderNonLinearR{ h = f, Jach")
      inserts("lambda = ", "ns.FirstOrderNonLinearR({ h = f, Jacg = 1, Jacgx = g, Jacg")
      inserts("x = ", "ns.FirstOrderNonLinearR { Jachlambda = f(1, { 2 }),\n  Jach")
      inserts("me = ", "ns.LagrangianDS { q0 = {}, na")
      inserts("step = ", "ns.solve_ivp(f, { 0, 1 }, { 1 }, { first_")
    end)

    it("knows methods and functions of rooms", function()
      inserts("gress = ", "simu:run { pro")
      inserts("wer = ", "ns.numerics.box { M = M, lo")
      lists("linestyle linewidth", "ns.plot.plot(t, x, { label = 'x', line")
      inserts("size = ", "ns.plot.figure { fig")
      inserts("ground = ", "ns.animation { draw = f, back")
      inserts("rdinates = ", "ns.mechanics.system { coo")
    end)

    it("knows the methods of an object by its class", function()
      session.declare("ax", ns.plot.figure():subplot(1, 1, 1))
      session.declare("sys", ns.mechanics.system { coordinates = 1, gravity = { 0, 0 } })
      lists("linestyle linewidth", "ax:plot(t, x, { label = 'x', line")
      inserts("jection = ", "ns.plot.subplot(1, 1, 1, { pro")
      inserts("ss = ", "sys:particle { name = 'a', ma")
      assert.is_nil(at "nobody:plot(t, x, { linest") -- of whose class nothing is known
    end)

    it("offers other names for values, and where no options are known", function()
      inserts("ne", "ns.FirstOrderNonLinearR { h = mi")
      inserts("ne", "{ mi")
      inserts("ne", "other { mi")
    end)
  end)

  describe("of files", function()
    it("works inside strings of either kind", function()
      inserts("a", "io.open('dat")
      lists("data.csv data_two.csv", 'f("data')
      inserts("o.csv'", "f('data_tw")
      inserts("/", "f('sub") -- a directory goes on
      inserts("er.lua'", "f('sub/inn")
    end)

    it("hides hidden ones until asked, leaves out names that need escapes, splits no character", function()
      local _, list = at "f('"
      assert.is_nil(list:find("hidden", 1, true))
      assert.is_nil(list:find("it's", 1, true))
      inserts("idden'", "f('.h")
      lists("größe.txt grün.txt", "f('gr")
      nothing "f('nothing_here"
      nothing "f('no/such/dir/"
    end)
  end)

  it("indents an empty line, and is quiet in comments", function()
    inserts("  ", "")
    inserts("  ", "for i = 1, 2 do\n  ")
    nothing "x = 1 -- pri"
  end)

  it("works after commands and =", function()
    inserts("nspace", "?ns.li")
    inserts("nspace", "= ns.li")
    inserts("nspace", ":time ns.li")
  end)

  it("lists in columns within the width, a hundred names at most", function()
    local names = {}
    for i = 1, 150 do names[i] = ("name%03d"):format(i) end
    local text = complete.columns(names, 80)
    assert.matches("\n%.%.%. and 50 more$", text)
    for line in text:gmatch "[^\n]+" do assert.is_true(#line < 80) end
    assert.equal("a\nb", complete.columns({ "a", "b" }, 3))
  end)
end)
