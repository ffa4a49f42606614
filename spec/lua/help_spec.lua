-- help(x): every public name has a text, out of the reference.
local help = require "nslua.help"
local entries = require "nslua.help.entry"
local pages = require "nslua.help.pages"
local ns = require "nslua"

local function public_names()
  local names = {}
  for name, value in pairs(ns) do
    names[#names + 1] = "ns." .. name
    if type(value) == "table" then
      for member in pairs(value) do
        if type(member) == "string" then names[#names + 1] = ("ns.%s.%s"):format(name, member) end
      end
    end
  end
  return names
end

describe("help.text", function()
  it("refuses a width that is none", function()
    for _, width in ipairs { 0, -5, 1.5, "wide" } do
      assert.error_matches(function() help.text("lcp", width) end, "help: width: expected a number of characters, got " ..
        tostring(width):gsub("%-", "%%-"))
    end
  end)

  it("has a text for every public name", function()
    local missing = {}
    for _, name in ipairs(public_names()) do
      local text = help.text(name)
      if not text or not text:find(name:match "[%w_]+$", 1, true) then missing[#missing + 1] = name end
    end
    assert.equal("", table.concat(missing, " "))
  end)

  it("has a text for every function itself", function()
    for name, value in pairs(ns) do
      if type(value) == "function" then
        local text, alias = help.text(value), false
        for other, same in pairs(ns) do alias = alias or same == value and help.text(other) == text end
        assert.is_true(text ~= nil and alias, name)
      end
    end
  end)

  it("knows objects by their class", function()
    assert.equal(help.text "vector", help.text(ns.zeros(2)))
    assert.equal(help.text "matrix", help.text(ns.eye(2)))
    local ds = ns.LagrangianDS({ 0 }, { 0 })
    local text = help.text(ds)
    assert.equal(help.text "LagrangianDS", text)
    assert.truthy(text:find(":computeMass([q])", 1, true))
    assert.truthy(text:find("fInt(t, q, v, z, f)", 1, true))
  end)

  it("knows methods by their names, with and without the class", function()
    assert.equal(1, (help.text("run"):find(help.text "TimeStepping:run", 1, true)))
    assert.truthy(help.text("vector:dot"):find "^v:dot%(w%)\nv:cross%(w%)\nv:outer%(w%)\n  of vector\n")
    assert.truthy(help.text("setNames"):find("of FirstOrderLinearTIDS, FirstOrderLinearDS", 1, true))
    assert.is_nil((help.text "vector:run"))
  end)

  it("knows a method that is handed over", function()
    assert.truthy(help.text(ns.zeros(1).argmax):find(":argmax()", 1, true))
  end)

  it("shows what belongs to a function after its first paragraph, and not the next function", function()
    local text = help.text "solve_ivp"
    assert.truthy(text:find("\n* options.dense_output (boolean, default false): true:", 1, true))
    assert.truthy(text:find("\n* t_events (list of vectors): with events", 1, true))
    assert.is_nil(text:find("ns.root", 1, true))
  end)

  it("shows the methods of objects that have no class", function()
    assert.truthy(help.text("model"):find("^ns.numerics.model%(%)\n\nMakes an empty model.\n"))
    assert.truthy(help.text("model"):find("Methods of model:\n  :variable{lower=, upper=, start=, name=}", 1, true))
    assert.truthy(help.text(ns.numerics.model()):find("Methods of model:", 1, true))
  end)

  it("shows a section by its heading, in any case of letters", function()
    local text = help.text "half-planes"
    assert.truthy(text:find "^Half%-planes\n")
    assert.truthy(text:find("\n\npolygon:contains(x, y [, margin])\n    Returns whether a point is in the polygon.\n", 1, true))
  end)

  it("knows the functions of its tables by their last names too, one at a time", function()
    local text = help.text "savefig"
    assert.equal(help.text "ns.plot.savefig", text)
    assert.is_nil(text:find("ns.plot.scatter", 1, true))
    assert.truthy(text:find("(help \"Pictures\" shows the page)", 1, true))
  end)

  it("lists a table of functions", function()
    assert.truthy(help.text(ns.numerics):find("ns.numerics.lcp", 1, true))
    assert.equal(help.text(ns.numerics), help.text "numerics")
  end)

  it("lists the methods that a class has, and no others", function()
    local relay, friction = help.text "RelayNSL", help.text(ns.NewtonImpactFrictionNSL(0, 0, 0.3, 3))
    assert.truthy(relay:find(":setLb(lb)", 1, true))
    for _, method in ipairs { ":e()", ":mu()", ":setMu(mu)", ":H()" } do assert.is_nil(relay:find(method, 1, true)) end
    assert.truthy(friction:find(":setMu(mu)", 1, true))
    assert.is_nil(friction:find(":H()", 1, true))
    assert.is_nil((help.text "RelayNSL:mu"))
    assert.truthy(help.text("NormalConeNSL:H"):find "^law:H%(%)\nlaw:K%(%)\n  of NormalConeNSL\n\nReturns copies of the rows")
  end)

  it("tells of an entry without the rows around it", function()
    local friction = help.text "NewtonImpactFrictionNSL"
    assert.truthy(friction:find("Makes a law of contacts: Newton's impact law for the normal", 1, true))
    assert.truthy(help.text("FirstOrderLinearR", 200):find("C x + D lambda + F z + e", 1, true))
    assert.truthy(help.text "FixedBC":find("velocities that are 0", 1, true))
    assert.truthy(help.text "FirstOrderLinearTIDS:setA":find("* b (vector or function, b(t, z, b)): n;", 1, true))
  end)

  it("knows load and save, under Files, and a solution, under Runs", function()
    local load = help.text "load"
    assert.truthy(load:find "^ns.load%(file %[, options%]%)\n\nReads a file, by the ending of its name")
    assert.truthy(load:find('(help "Files" shows the page)', 1, true))
    assert.equal(load, help.text(ns.load))
    assert.truthy(help.text(nil, 100):find "\nFiles\n  save +%S[^\n]+\n  load +Reads a file, by the ending of its name")
    local text = help.text "solution"
    assert.truthy(text:find("^run gives a solution"))
    assert.truthy(text:find('(help "Runs" shows the page)', 1, true))
  end)

  it("has a line on each name in the overview, within the width", function()
    local lines = 0
    for line in help.text(nil, 70):gmatch "\n  ([^\n]*)" do
      lines = lines + 1
      assert.matches("^[%w_.]+ +%S", line)
      assert.is_true(utf8.len(line) <= 68, line)
    end
    assert.is_true(lines > 150)
  end)

  it("tells how functions, classes and methods are called", function()
    assert.same({ "ns.linspace(a, b [, n])" }, help.signatures(ns.linspace))
    assert.same(help.signatures "linspace", help.signatures(ns.linspace))
    assert.same({ "grid:at(k)" }, help.signatures "TimeDiscretisation:at")
    assert.equal(2, #help.signatures(ns.TimeStepping))
    for _, other in ipairs { "no_such_name", "TimeDiscretisation:no", print, 7 } do assert.same({}, help.signatures(other)) end
  end)

  it("knows the objects of mechanics and their methods", function()
    local sys = ns.mechanics.system { gravity = { 0, -9.81 } }
    local text = help.text(sys)
    assert.truthy(text:find("^ns.mechanics.system{"))
    assert.truthy(text:find(":pin(one, p1, other [, p2 [, o]])", 1, true))
    assert.truthy(help.text "mechanics.system:pin":find "^sys:pin%(one, p1, other %[, p2 %[, o%]%]%)\n  of mechanics.system\n")
    assert.truthy(help.text(sys.ground):find "^particle, body and free_body of a system give a body")
    assert.truthy(help.text(ns.mechanics):find("ns.mechanics.Point", 1, true))
  end)

  it("takes what stands before a colon for a variable when it is no class", function()
    assert.truthy(help.text "thing:argmax":find(":argmax()", 1, true))
    assert.is_nil((help.text "thing:nothing"))
  end)

  it("tells of the methods of classes first, and after them of texts that mention the variable", function()
    for _, name in ipairs { "simu:run", "simu:clone", "sol:animate" } do
      local class = name:find "^simu" and "TimeStepping" or "solution"
      assert.equal(1, (help.text(name):find(help.text(class .. name:match ":.*"), 1, true)), name)
    end
    assert.equal(help.text "EventDriven:events", help.text "TimeStepping:events")
    assert.is_nil(help.text("line:distance"):find("plane:distance", 1, true))
    assert.truthy(help.text("line:distance"):find("line:distance(x, y)", 1, true))
  end)

  it("gives the index for ns", function()
    assert.equal(help.text(), help.text(ns))
    assert.equal(help.text(), help.text "ns")
  end)

  it("gives an overview that has every name", function()
    local text = help.text()
    for name in pairs(help.book().entries) do
      assert.truthy(text:find(name, 1, true), name)
    end
  end)

  it("keeps to the width", function()
    for _, width in ipairs { 40, 80 } do
      for line in help.text("Mechanical systems", width):gmatch "[^\n]+" do
        local code = line:find "^    " and line:find "[=%(%-]"
        local signature = line:find "^%s*[%w_]+[.:][%w_.]+[%({]"
        local single = not line:gsub("^%s*%* ", ""):find "%S%s+%S" -- a word, with its bullet or without
        assert.is_true(code ~= nil or single or signature ~= nil or utf8.len(line) <= width, line)
      end
    end
  end)

  it("shows no marks of Markdown", function()
    for name in pairs(help.book().entries) do
      local text = help.text(name)
      assert.is_nil(text:find "`", name)
      assert.is_nil(text:find "%]%(", name)
    end
  end)
end)

describe("what help says of the unknown", function()
  local function second(x)
    return select(2, help.text(x))
  end

  it("names what is near", function()
    assert.is_nil((help.text "lagrangia"))
    assert.truthy(second("lagrangia"):find("^help: there is no 'lagrangia'; it occurs in\n  Lagrangian"))
    assert.truthy(second("Zeno accumulation") == "help: nothing is known of 'Zeno accumulation'; ns.help() lists the names")
    assert.truthy(second("broad phase") == "help: nothing is known of 'broad phase'; ns.help() lists the names")
  end)

  it("says what stands in the place of a name of Siconos", function()
    local lemke = [[help: 'SICONOS_LCP_LEMKE' is a name of Siconos; in its place: ns.LCP { solver = "lemke" }]]
    assert.equal(lemke, second "SICONOS_LCP_LEMKE")
    assert.equal(lemke, second "ns.SICONOS_LCP_LEMKE")
    assert.matches("^help: 'setNewtonOptions' is a name of Siconos; nothing is needed in its place: a linear model",
      second "simu:setNewtonOptions")
    assert.equal("help: 'OSNSMultipleImpact' is a name of Siconos; in its place: ns.MultipleImpactNSL with ns.EventDriven",
      second "OSNSMultipleImpact")
  end)

  it("names the nearest of the names and methods", function()
    assert.equal("help: nothing is known of 'ns.TimeSteping'; the nearest is 'TimeStepping'; ns.help() lists the names",
      second "ns.TimeSteping")
    assert.equal("help: nothing is known of 'simu:setNewtonTolerence'; the nearest is 'setNewtonTolerance'; "
      .. "ns.help() lists the names", second "simu:setNewtonTolerence")
  end)

  it("names the type of a value", function()
    assert.equal("help: nothing is known of this table; ns.help() lists the names", second {})
    assert.equal("help: nothing is known of this number; ns.help() lists the names", second(3))
    assert.equal("help: nothing is known of this function; ns.help() lists the names", second(function() end))
  end)
end)

describe("help(x)", function()
  local lines, print_before

  before_each(function()
    lines, print_before = {}, print
    rawset(_G, "print", function(...) lines[#lines + 1] = table.concat({ ... }, "\t") end)
  end)
  after_each(function() rawset(_G, "print", print_before) end)

  it("prints, also as ns.help", function()
    help "solve_ivp"
    ns.help(ns.solve_ivp)
    help "nonsense"
    rawset(_G, "print", print_before)
    assert.equal(help.text "solve_ivp", lines[1])
    assert.equal(lines[1], lines[2])
    assert.equal("help: nothing is known of 'nonsense'; ns.help() lists the names", lines[3])
  end)
end)

describe("help_pages", function()
  local book = pages.parse { [[
# Page

Some words.

| name | law |
|---|---|
| `One` | a \ b |
| `Two` | `p | q` |

## `ns.One(a [, b])`, `ns.One{a=, ...}`

Makes a one,
see [there](other.md#place).

More words.

* `a` (number or vector, n, in m, default {1, 2}): the first.
* `b`, `c` (list of strings, optional): the others,
  in two lines.
* `o.d` ("x" or "y", default "x"): a field.

Returns: `one` (`One`), `size` (integer): both.

Raises: "a: no".

```lua
ns.four()
```

## Methods of `One`, `Two`

### `one:go(n)`, `one:run()`

Goes on; **now**.

* `n` (integer): steps.

### `one:rest()`

Rests.

Of: all but `One`.

## `film:save()`

Writes a film.

Returns: (table) with:

* `file` (string), `size` (integer, in bytes): of both.
]] }

  it("finds names, methods and their classes", function()
    assert.same({ "One" }, book.names)
    assert.same({ "One", "Two" }, book.methods.go[1].classes)
    assert.same({ "One", "Two" }, book.methods.run[1].classes)
    assert.same({ "Two" }, book.methods.rest[1].classes)
    assert.same({ "film" }, book.methods.save[1].classes)
  end)

  it("takes an entry apart", function()
    local e = book.entries.One.entry
    assert.same({ "ns.One(a [, b])", "ns.One{a=, b=, c=}" }, e.signatures)
    assert.equal("Makes a one, see [there](other.md#place).", e.summary)
    assert.same({ { name = "a", type = "number or vector", shape = "n", unit = "m", default = "{1, 2}", text = "the first." },
      { name = "b", type = "list of strings", optional = true, text = "the others, in two lines." },
      { name = "c", type = "list of strings", optional = true, text = "the others, in two lines." },
      { name = "o.d", type = '"x" or "y"', default = '"x"', text = "a field." } }, e.parameters)
    assert.same({ { name = "one", type = "One" }, { name = "size", type = "integer" } }, e.results)
    assert.equal('"a: no".', e.raises)
    assert.equal("ns.four()", e.example[1])
    assert.equal("film", book.methods.save[1].entry.receiver)
    assert.same({ { name = "file", type = "string", text = "of both." },
      { name = "size", type = "integer", unit = "bytes", text = "of both." } }, book.methods.save[1].entry.fields)
  end)

  it("reads arguments", function()
    assert.same({ { name = "a", optional = false }, { name = "b", optional = true }, { name = "...", optional = true } },
      (entries.arguments "ns.f(a [, b [, ...]])"))
    assert.same({ { name = "a", optional = false }, { name = "b", optional = false } }, (entries.arguments "x:f{a=, b={1}}"))
    assert.is_true(select(2, entries.arguments "ns.f{a=}"))
    assert.same({}, (entries.arguments "ns.f()"))
    assert.is_nil((entries.arguments "ns.f"))
  end)

  it("answers in plain text", function()
    assert.equal("one:go(n)\none:run()\n  of One, Two\n\nGoes on; now.\n\n* n (integer): steps.",
      pages.answer(book, "go", 80))
    assert.equal(pages.answer(book, "go", 80), pages.answer(book, "Two:run", 80))
    assert.equal("film:save()\n\nWrites a film.\n\nReturns: (table) with:\n\n* file (string), size (integer, in bytes): of both.",
      pages.answer(book, "film:save", 80))
    assert.equal("ns.One(a [, b])\nns.One{a=, ...}\n\nMakes a one, see there.\n\nMore words.\n\n" ..
      "* a (number or vector, n, in m, default {1, 2}): the first.\n" ..
      "* b, c (list of strings, optional): the others, in two lines.\n" ..
      '* o.d ("x" or "y", default "x"): a field.\n\nReturns: one (One), size (integer): both.\n\nRaises: "a: no".\n\n' ..
      "    ns.four()\n\nMethods of One:\n  :go(n)  :run()\n\n(help \"Page\" shows the page)", pages.answer(book, "ns.One", 80))
    assert.equal("Methods of Two:\n  :go(n)  :run()  :rest()\n\n(help \"Page\" shows the page)", pages.answer(book, "Two", 80))
    assert.is_nil(pages.answer(book, "One:rest", 80))
    assert.is_nil(pages.answer(book, "four", 80))
  end)

  it("shows a page with the first words of its entries, and its tables", function()
    assert.equal("Page\n\nSome words.\n\nOne\n    law: a \\ b\nTwo\n    law: p | q\n\n" ..
      "ns.One(a [, b]), ns.One{a=, ...}\n    Makes a one, see there.\n\nMethods of One, Two\n\n" ..
      "one:go(n), one:run()\n    Goes on; now.\n\none:rest()\n    Rests.\n\nfilm:save()\n    Writes a film.",
      pages.answer(book, "page", 80))
  end)

  it("wraps words and keeps a list's texts whole", function()
    assert.equal("- a b\n  c d", pages.wrap("a b c d", 5, "- ", "  "))
    assert.equal("a b\nc d", pages.wrap({ "a b", "c d" }, 5, "", "", "  "))
    assert.equal("λλ λλ", pages.wrap("λλ λλ", 5, "", ""))
  end)
end)

describe("help_annotations", function()
  local text = require "nslua.help.annotations".text(help.book(), ns)

  it("is Lua, and has a field for every public name and a class for every class", function()
    assert.truthy(load(text))
    local missing = {}
    for _, name in ipairs(public_names()) do
      if not text:find("---@field " .. name:match "[%w_]+$" .. " ", 1, true) then missing[#missing + 1] = name end
    end
    assert.equal("", table.concat(missing, " "))
    for class in pairs(help.book().of_class) do
      assert.truthy(text:find("---@class nslua." .. class:gsub("%s", "_") .. "\n", 1, true), class)
    end
  end)

  it("takes arguments, options and results from the signatures", function()
    assert.truthy(text:find("---@field TimeStepping (fun(nsds: nslua.NonSmoothDynamicalSystem, grid: nslua.TimeDiscretisation, " ..
      "integrator: nslua.integrator, problem?: nslua.problem, options?: { rtol?: number, atol?: number, h_min?: number, " ..
      "h_max?: number, compile?: boolean }): nslua.TimeStepping)|(fun(options: { nsds?: nslua.NonSmoothDynamicalSystem, ", 1, true))
    assert.truthy(text:find("---@field relation fun(self: any): nslua.relation", 1, true))
    assert.truthy(text:find("---@field setNewtonTolerance fun(self: any, relative: number, absolute?: number)", 1, true))
    assert.truthy(text:find("---@field replay fun(file: string, options?: table): table, table", 1, true))
    assert.truthy(text:find("---@field lcp fun(options: { M?: nslua.matrix|number[][]|nslua.sparse_matrix, " ..
      "q?: nslua.vector|number[], ", 1, true))
    assert.truthy(text:find("---@field zeros (fun(n: integer): nslua.vector|nslua.matrix)|(fun(", 1, true))
    assert.truthy(text:find("---@alias nslua.grid nslua.TimeDiscretisation\n", 1, true))
    assert.truthy(text:find("---@class nslua.film\n", 1, true) == nil and text:find("---@class nslua.polygon\n", 1, true))
  end)
end)
