-- ns.fmi: descriptions of models, modelDescription.xml, what is packed.
local expect = require "expect"
local host = require "host"
local ns = require "nslua"
local rules = require "fmu.description_rules"
local units = require "fmu.unit"

local SIMULATION = [[
local ns = require "nslua"
%s
return ns.fmi.model {
  %s
  setup = function(v, run)
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    local nsds = ns.NonSmoothDynamicalSystem(run.start, run.stop)
    nsds:insertDynamicalSystem(ds)
    return { simulation = ns.TimeStepping(nsds, ns.TimeDiscretisation(run.start, 0.1), ns.EulerMoreauOSI(1)), ds = ds }
  end,
}
]]

describe("ns.fmi.model", function()
  local function setup_of() end

  local function fails(expected, description)
    assert.equal("fmi.model: " .. expected, expect.message(ns.fmi.model, description))
  end

  it("tells what is wrong in a description", function()
    fails("expected a table, got nil", nil)
    fails("expected setup, a function that makes a simulation, or rhs and states, the equations of a model", {})
    fails("setup: expected a function, got 1", { setup = 1, outputs = { y = setup_of } })
    fails("rhs: expected a function, got 1", { rhs = 1 })
    fails("states: expected at least one, with its start value", { rhs = setup_of, outputs = { y = setup_of } })
    fails("states go with rhs; a simulation has its own", { setup = setup_of, states = { x = 1 } })
    fails("name: expected a text, got 1", { setup = setup_of, name = 1, inputs = { u = 0 } })
    fails("rhs does not go with setup", { setup = setup_of, rhs = setup_of })
    fails("expected parameters, inputs, outputs or states: a unit has variables", { setup = setup_of })
    fails("inputs: 'u': start: a value is needed", { setup = setup_of, inputs = { u = {} } })
    fails("inputs: expected a table, got 1", { setup = setup_of, inputs = 1 })
    fails("inputs[1]: expected a table with a name, as { name = \"u\", start = 0 }", { setup = setup_of, inputs = { 1 } })
    fails("inputs: 'u': unknown option 'begin' (known: name, start, unit, description, min, max, nominal, quantity, type, "
      .. "variability, set)", { setup = setup_of, inputs = { u = { start = 1, begin = 2 } } })
    fails("outputs: 'y': get: expected a function that returns the value", { setup = setup_of, outputs = { y = {} } })
    fails("outputs: 'y': get: expected a function, got 1", { setup = setup_of, outputs = { y = 1 } })
    fails("there are two variables 'q'", { setup = setup_of, outputs = { q = setup_of }, inputs = { q = 1 } })
    fails("parameters: 'p': start: expected a finite number, got inf", { setup = setup_of, parameters = { p = math.huge } })
    fails("parameters: 'p': start: expected an integer of 32 bits, got 0.5",
      { setup = setup_of, parameters = { p = { start = 0.5, type = "Integer" } } })
    fails("parameters: 'p': type: expected one of Real, Integer, Boolean, String, got 'Float'",
      { setup = setup_of, parameters = { p = { start = 0.5, type = "Float" } } })
    fails("parameters: 'p': variability: expected fixed or tunable, got 'free'",
      { setup = setup_of, parameters = { p = { start = 0.5, variability = "free" } } })
    fails("parameters: 'p': start = 3 is not between min = 0 and max = 1",
      { setup = setup_of, parameters = { p = { start = 3, min = 0, max = 1 } } })
    fails("parameters: 'p': unit: only a Real has one", { setup = setup_of, parameters = { p = { start = true, unit = "m" } } })
    fails("parameters: 'p': nominal: expected a positive number, got 0",
      { setup = setup_of, parameters = { p = { start = 1, nominal = 0 } } })
    fails("step: expected a positive number, got 0", { setup = setup_of, step = 0 })
    fails("author: expected a text, got 1", { setup = setup_of, author = 1 })
    fails("save: expected a function, got 1", { setup = setup_of, save = 1 })
    fails("events[1]: g: expected a function, got nil", { rhs = setup_of, states = { x = 1 }, events = { {} } })
    fails("events[1]: direction: expected up, down or both, got 'left'",
      { rhs = setup_of, states = { x = 1 }, events = { { g = setup_of, direction = "left" } } })
    fails("states: expected a list: x has its order", { rhs = setup_of, states = { x = 1, y = 1 } })
    local method = expect.message(ns.fmi.model, { rhs = setup_of, states = { x = 1 }, method = "Euler" })
    assert.matches("^fmi%.model: method: expected one of RK45, DOP853, .*, got 'Euler'$", method) -- with SUNDIALS two more
    fails("rtol: expected 0 or more, got -1.0", { rhs = setup_of, states = { x = 1 }, rtol = -1 })
    fails("stop = 1 is before start = 3", { rhs = setup_of, states = { x = 1 }, start = 3, stop = 1 })
    fails("parameters: 'time': v.time is the time: choose another name", { setup = setup_of, parameters = { time = 1 } })
    fails("author: expected a text in UTF-8; byte 2 is not", { setup = setup_of, author = "a\xff" })
    fails("parameters: 'p': unit: expected a text in UTF-8; byte 1 is not",
      { setup = setup_of, parameters = { p = { start = 1, unit = "\xb0C" } } })
  end)

  it("reads units of Modelica", function()
    local parse_unit = require "nslua.fmi.units".parse
    assert.same({ factor = 1, kg = 1, m = 2, s = -3 }, parse_unit "N.m/s")
    assert.same({ factor = 1, kg = 1, s = -3, K = -1 }, parse_unit "W/(m2.K)")
    assert.same({ factor = 1, s = -1 }, parse_unit "1/s")
    assert.same({ factor = 1, s = -2 }, parse_unit "s-2")
    assert.near(math.pi / 30, parse_unit "rpm".factor, 1e-15)
    assert.near(1e-3, parse_unit "mm".factor, 1e-18)
    assert.equal(273.15, parse_unit "degC".offset)
    assert.is_nil(parse_unit "J/degC".offset)
    assert.is_nil(parse_unit "furlong")
  end)
end)

describe("ns.fmi.export", function()
  local directory

  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)
  local test = units.here and it or function(name) pending(name .. " (nslua.fmu is not built: make fmu)") end

  local function write(name, text)
    host.write(directory .. "/" .. name, text)
    return directory .. "/" .. name
  end

  test("writes a description as the standard asks for it", function()
    local unit = units.make(directory, "all", SIMULATION:format("", [[
      name = "a <b> & 'c'", author = "A \"B\"", start = 1, stop = 2.5, step = 0.1, tolerance = 1e-6,
      parameters = { { name = "z", start = 0.1, unit = "N.m/rad", min = 0, max = 1, nominal = 2, description = "two\nlines" },
        a = true, s = "<&>\"", k = { start = 5, type = "Integer", min = 0, variability = "tunable" }, f = { start = 1,
          unit = "furlong" } },
      inputs = { u = { start = 1 / 3, quantity = "Force" } }, locals = { l = function() return 1 end },
      outputs = { y = function(m, v) return m.ds:x()[1] end, b = { type = "Boolean", get = function() return false end } },]]),
      { kind = "both" })
    local by_name, root = rules.check(unit.xml)
    assert.equal("a &lt;b&gt; &amp; 'c'", root.attributes.modelName)
    assert.equal("a__b_____c_", by_name.CoSimulation.attributes.modelIdentifier)
    local first = by_name.ModelVariables.children[1]
    assert.equal("z", first.attributes.name)
    assert.equal("two&#10;lines", first.attributes.description)
    assert.same({ unit = "N.m/rad", min = "0", max = "1", nominal = "2", start = "0.1" }, first.children[1].attributes)
    assert.same({ startTime = "1", stopTime = "2.5", stepSize = "0.1", tolerance = "1e-06" },
      by_name.DefaultExperiment.attributes)
    assert.truthy(unit.xml:find('start="0.3333333333333333"', 1, true))
    local out, err, code = host.run("command -v xmllint >/dev/null && xmllint --noout "
      .. host.quote(unit.place .. "/modelDescription.xml") .. " || command -v xmllint || echo none")
    assert.equal("", err)
    assert.equal(0, code)
    assert.truthy(out == "" or out == "none\n")
  end)

  test("describes equations", function()
    local unit = units.make(directory, "equations", [[
      return require "nslua".fmi.model { states = { { name = "x", start = 1 }, { name = "w", start = 2 } },
        outputs = { y = function(x) return x[1] end }, rhs = function(t, x) return { x[2], -x[1] } end,
        events = { function(t, x) return x[1] end, { g = function(t, x) return x[2] end } } }]], { kind = "modelexchange" })
    local by_name, root = rules.check(unit.xml)
    assert.equal("2", root.attributes.numberOfEventIndicators)
    assert.is_nil(by_name.CoSimulation)
  end)

  test("packs the modules and files that the script needs", function()
    write("gains.lua", 'return { gain = require "sub.more" }')
    os.execute("mkdir -p " .. host.quote(directory .. "/sub"))
    write("sub/more.lua", "return 21")
    write("table.txt", "2\n")
    local unit = units.make(directory, "modules", SIMULATION:format([[
      local gains = require "gains"
      local file = assert(io.open(ns.fmi.resource "table.txt"))
      local factor = file:read "n"
      file:close()]], "outputs = { y = function() return gains.gain * factor end },"), { files = { "table.txt" } })
    os.remove(directory .. "/gains.lua")
    os.remove(directory .. "/table.txt")
    local c = assert(units.instance(unit)):start(0, 1)
    assert.equal(42.0, (c:get "y"))
    assert.is_nil(package.loaded.gains)
  end)

  it("names a file in the working directory where nobody called", function()
    local call = coroutine.wrap(ns.fmi.resource)
    assert.equal("./table.txt", call "table.txt")
    local _, message = pcall(ns.fmi.resource, 1)
    assert.matches("fmi.resource: name: expected a string, got 1", message, 1, true)
  end)

  test("gives the same file again", function()
    local text = SIMULATION:format("", "outputs = { y = function() return 1 end },")
    local first = host.read(units.make(directory, "same", text).file)
    assert.is_true(first == host.read(units.make(directory, "same", text).file))
  end)

  test("packs the libraries of linear algebra, of which the unit can be alone #once", function()
    local unit = units.make(directory, "whole", SIMULATION:format("", "outputs = { y = function() return 1 end },"),
      { libraries = true })
    local names = host.list(unit.place .. "/binaries/linux64")
    assert.truthy(names:find "liblapacke%.so" and names:find "libopenblas%.so" and names:find "whole%.so")
    local out = host.run(("ldd '%s/binaries/linux64/whole.so' | grep liblapacke"):format(unit.place))
    assert.truthy(out:find(unit.place, 1, true), out)
    assert.truthy(units.instance(unit))
  end)

  test("tells what is wrong", function()
    local function fails(expected, ...)
      local message = expect.message(ns.fmi.export, ...)
      assert.truthy(message:find(expected, 1, true), message)
    end
    local good = write("good.lua", SIMULATION:format("", "outputs = { y = function() return 1 end },"))
    fails("fmi.export: script: expected the name of a file, got nil", nil, "a.fmu")
    fails("fmi.export: file: expected a name that ends in .fmu, got 'a.zip'", good, "a.zip")
    fails("fmi.export: kind: expected one of cosimulation, modelexchange, both, got 'me'", good, "a.fmu", { kind = "me" })
    fails("fmi.export: unknown option 'king' (known: kind, name, files, libraries)", good, "a.fmu", { king = 1 })
    fails("fmi.export: cannot read '/nowhere.lua': No such file or directory", "/nowhere.lua", "a.fmu")
    fails("fmi.export: files: expected a list of names, got 'a'", good, "a.fmu", { files = "a" })
    fails("fmi.export: files[1]: expected a name in the script's directory, got '/etc/passwd'", good, "a.fmu",
      { files = { "/etc/passwd" } })
    fails("fmi.export: cannot read '" .. directory .. "/none.csv': No such file or directory", good, "a.fmu",
      { files = { "none.csv" } })
    fails("fmi.export: cannot read '" .. directory .. "/.': Is a directory", good, "a.fmu", { files = { "." } })
    fails("fmi.export: 'nothing.lua' must return a model, as in: return ns.fmi.model { ... }; it returned nil",
      write("nothing.lua", "local x = 1"), "a.fmu")
    fails("<name> expected near '='", write("wrong.lua", "local = 1"), "a.fmu")
    fails("fmi.export: cannot read '" .. directory .. "': Is a directory", directory, "a.fmu")
    fails("fmi.export: cannot write '/nowhere/a.fmu': No such file or directory", good, "/nowhere/a.fmu", { libraries = false })
    fails("fmi.export: name: expected a text, got 3", good, "a.fmu", { name = 3 })
    fails("fmi.export: name: expected a name, got ''", good, "a.fmu", { name = "" })
    fails("fmi.export: libraries: expected true or false, got 'no'", good, "a.fmu", { libraries = "no" })
    local function equations(rhs, more)
      local text = 'return require "nslua".fmi.model { states = { x = 1 }, rhs = %s, %s }'
      return write("equations.lua", text:format(rhs, more or ""))
    end
    fails("fmi.model: rhs: expected a vector of 1, got one of 2", equations "function() return { 1, 2 } end", "a.fmu")
    fails("fmi.model: rhs: expected a vector of 1, got nil", equations "function() end", "a.fmu")
    fails("fmi.model: rhs: rate 1 is nan at the start", equations "function() return { 0 / 0 } end", "a.fmu")
    fails("fmi.model: event 1: g: expected a number, got nil",
      equations("function() return { 1 } end", "events = { g = function() end }"), "a.fmu")
    fails("output 'y': get: expected a finite number, got nil",
      write("nil.lua", SIMULATION:format("", "outputs = { y = function() end },")), "a.fmu")
    fails("there is no parameter or input 'q' (known: p, time)", write("v.lua", SIMULATION:format("",
      "parameters = { p = 1 }, outputs = { y = function(m, v) return v.q end },")), "a.fmu")
    fails("fmi.model: setup: expected a simulation, or a table with one as its field 'simulation', got nil",
      write("none.lua", 'return require "nslua".fmi.model { setup = function() end, outputs = { y = function() return 1 end } }'),
      "a.fmu")
    fails("fmi.model: setup: the simulation starts at t = 0 and the experiment at t = 1: use run.start",
      write("late.lua", (SIMULATION:format("", "start = 1, outputs = { y = function() return 1 end },"):gsub("run%.start", "0"))),
      "a.fmu")
  end)

  test("tells when its library is not there", function()
    local good = write("alone.lua", SIMULATION:format("", "outputs = { y = function() return 1 end },"))
    expect.with(package, "cpath", "", function()
      assert.equal("fmi.export: the library for units, nslua/fmu.so, is not there: install the package nslua-fmu, or run "
        .. "make fmu, which needs the static library of Lua (on Debian liblua5.4-dev)",
        expect.message(ns.fmi.export, good, "a.fmu"))
    end)
  end)

  test("is a command of nslua #once", function()
    local script = write("command.lua", SIMULATION:format("", "outputs = { y = function() return 1 end },"))
    local nslua = host.quote(host.nslua) .. " fmu "
    assert.equal(("written: %s/command.fmu, the model 'command' with 1 variables\n"):format(directory),
      (host.run(nslua .. script .. " --no-libraries")))
    assert.equal(("written: %s/b.fmu, the model 'B' with 1 variables\n"):format(directory),
      (host.run(("%s%s %s/b.fmu --no-libraries --name B --kind cosimulation"):format(nslua, script, directory))))
    local out, err, code = host.run(nslua .. script .. " --king")
    assert.equal("", out)
    assert.truthy(err:find "^nslua fmu: unrecognized option '%-%-king'\nusage: nslua fmu SCRIPT")
    assert.equal(1, code)
    assert.truthy(select(2, host.run(nslua .. script .. " --kind")):find "'%-%-kind' needs an argument")
    assert.truthy(select(2, host.run(nslua)):find "expected a script and at most one file")
    assert.truthy((host.run(nslua .. "--help")):find "^usage: nslua fmu SCRIPT")
    assert.truthy(select(2, host.run(nslua .. "/none.lua")):find("nslua: fmi.export: cannot read '/none.lua'", 1, true))
  end)
end)
