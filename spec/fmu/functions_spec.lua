-- Units for co-simulation, called as a tool calls them.
local host = require "host"
local ns = require "nslua"
local units = require "fmu.unit"

-- A mass on a spring with dry friction, which a force u drives.
local OSCILLATOR = [[
local ns = require "nslua"
local function model(v, t0, T, h)
  local ds = ns.FirstOrderNonLinearDS({ v.q0, 0 }, function(t, x, z, f) f[1] = x[2]; f[2] = (-x[1] + v.u) / v.m end)
  local nsds = ns.NonSmoothDynamicalSystem(t0, T)
  nsds:insertDynamicalSystem(ds)
  local friction = ns.FirstOrderNonLinearR {
    h = function(t, x, lambda, z, y) y[1] = x[2] end,
    g = function(t, x, lambda, z, r) r[2] = lambda[1] * v.mu / v.m end,
  }
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), friction), ds)
  return { simulation = ns.TimeStepping(nsds, ns.TimeDiscretisation(t0, h), ns.EulerMoreauOSI(0.5)), ds = ds }
end
local description = {
  description = "A mass with dry friction",
  parameters = {
    m = { start = 2, unit = "kg" }, q0 = { start = 1, unit = "m" },
    mu = { start = 0.5, unit = "N", variability = "tunable" },
    label = "a < b", on = true, n = { start = 3, type = "Integer" },
  },
  inputs = { u = { start = 0, unit = "N", description = "force" } },
  outputs = {
    q = function(m) return m.ds:x()[1] end, v = { unit = "m/s", get = function(m) return m.ds:x()[2] end },
    slips = { type = "Boolean", get = function(m) return math.abs(m.ds:x()[2]) > 1e-9 end },
    text = { type = "String", get = function(m, v) return v.label .. " " .. v.n end },
    count = { type = "Integer", get = function(m, v) return v.n + (v.on and 1 or 0) end },
    bad = function(m, v) return v.time < 0.25 and 1 or 0 / 0 end,
  },
  stop = 2, step = 0.1,
  setup = function(v, run)
    if v.m > 1000 then error "the mass is too large" end
    return model(v, run.start, run.stop, 0.01)
  end,
}
return ns.fmi.model(description)
]]

-- The same by a loop of nslua: q and v at each 0.1 s.
local function plain(u_of, values)
  local v = setmetatable({ u = 0, m = 2, q0 = 1, mu = 0.5 }, nil)
  for name, value in pairs(values or {}) do v[name] = value end
  local ds = ns.FirstOrderNonLinearDS({ v.q0, 0 }, function(_, x, _, f) f[1] = x[2]; f[2] = (-x[1] + v.u) / v.m end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 2)
  nsds:insertDynamicalSystem(ds)
  local friction = ns.FirstOrderNonLinearR {
    h = function(_, x, _, _, y) y[1] = x[2] end,
    g = function(_, _, lambda, _, r) r[2] = lambda[1] * v.mu / v.m end,
  }
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), friction), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.EulerMoreauOSI(0.5))
  local rows = {}
  for k = 1, 20 do
    v.u = u_of((k - 1) * 0.1)
    for _ = 1, 10 do
      simu:computeOneStep()
      simu:nextStep()
    end
    rows[k] = { ds:x()[1], ds:x()[2] }
  end
  return rows
end

describe("a unit for co-simulation", function()
  local directory, unit

  setup(function()
    directory = host.new_directory()
    if units.here then unit = units.make(directory, "oscillator", OSCILLATOR) end
  end)
  teardown(function() host.remove(directory) end)
  local test = units.here and it or function(name) pending(name .. " (nslua.fmu is not built: make fmu)") end

  local function steps(c, from, to, u_of, each)
    for k = from, to do
      if u_of then assert.equal("OK", c:set("u", u_of((k - 1) * 0.1))) end
      assert.equal("OK", (c.c:step((k - 1) * 0.1, 0.1)))
      if each then each(k) end
    end
  end

  test("gives the bits of a run without it", function()
    local rows = plain(math.sin)
    local c = assert(units.instance(unit)):start(0, 2)
    steps(c, 1, 20, math.sin, function(k)
      assert.equal(rows[k][1], (c:get "q"))
      assert.equal(rows[k][2], (c:get "v"))
    end)
    assert.equal("", c:log())
  end)

  test("exports the functions of FMI and nothing else", function()
    local library = units.open(unit)
    assert.equal("2.0", library:text "fmi2GetVersion")
    assert.equal("default", library:text "fmi2GetTypesPlatform")
    for _, name in ipairs { "lua_newstate", "luaL_newstate", "luaopen_nslua_core", "ns_ts_new", "nsi_interpreter", "fmu_open" } do
      local out = host.run(("nm -D --defined-only %s | grep -w %s"):format(host.quote(
        unit.place .. "/binaries/linux64/" .. unit.identifier .. ".so"), name))
      assert.equal("", out)
    end
    assert.is_true(library:has "fmi2DoStep")
  end)

  test("is small: its files are deflated, and its library has no debug information #once", function()
    local library = unit.place .. "/binaries/linux64/" .. unit.identifier .. ".so"
    local unpacked = tonumber(host.run(("du -sb %s"):format(host.quote(unit.place))):match "^%d+")
    assert.is_true(#host.read(unit.file) < 0.5 * unpacked)
    local debug = host.run(("readelf -S %s | grep debug_info"):format(host.quote(library)))
    if not host.build:find "asan" then assert.equal("", debug) end
  end)

  test("has several instances, each with its own values, also of copies of the unit", function()
    local copy = units.unpack(unit.file, directory .. "/copy")
    local a = assert(units.instance(unit)):start(0, 2)
    local b = assert(units.instance(unit)):start(0, 2, { m = 3, label = "b" })
    local c = assert(units.instance(copy)):start(0, 2, { m = 3 })
    local light, heavy = plain(math.sin), plain(math.sin, { m = 3 })
    for k = 1, 20 do
      for _, one in ipairs { a, b, c } do steps(one, k, k, math.sin) end
      assert.equal(light[k][1], (a:get "q"))
      assert.equal(heavy[k][1], (b:get "q"))
      assert.equal(heavy[k][1], (c:get "q"))
    end
    a.c:free()
    assert.equal("b 3", (b:get "text"))
    assert.equal("a < b 3", (c:get "text"))
  end)

  test("runs in a process without Lua #once", function()
    if host.run "command -v /usr/bin/python3" == "" or host.sanitized then pending "there is no plain Python" end
    local words = { host.root .. "/spec/fmu/plain.py", ("%s/binaries/linux64/%s.so"):format(unit.place, unit.identifier),
      unit.guid, units.resources(unit), tostring(unit.references.q) }
    for i, word in ipairs(words) do words[i] = host.quote(word) end
    local out, err = host.run("/usr/bin/python3 " .. table.concat(words, " "))
    assert.equal("", err)
    local q = plain(function() return 0 end)[20][1]
    assert.equal(q, tonumber(out:match "^(-?0x%x%.%x+p[+-]%d+)\n$"))
  end)

  test("goes to times that are not on the grid of its simulation", function()
    local c = assert(units.instance(unit)):start(0, 2)
    local t = 0
    for _, h in ipairs { 0.033, 0.0041, 0.1, 0.0629, 0.0001, 0.2999 } do
      assert.equal("OK", (c.c:step(t, h)))
      t = t + h
      local status, time = c.c:last_time()
      assert.equal("OK", status)
      assert.near(t, time, 1e-12)
    end
    local fine = assert(units.instance(unit)):start(0, 2)
    for k = 1, 5 do fine.c:step((k - 1) * 0.1, 0.1) end
    assert.near(fine:get "q", c:get "q", 1e-5) -- the scheme's own error at h = 0.01
  end)

  test("has all types of values, start values, and tunable parameters", function()
    local c = assert(units.instance(unit))
    assert.same({ 2.0, "a < b", true, 3 }, { (c:get "m"), (c:get "label"), (c:get "on"), (c:get "n") })
    c:start(0, nil, { on = false, n = 7, label = "#1", q0 = -1 })
    assert.equal(-1.0, (c:get "q"))
    assert.equal(false, (c:get "slips"))
    assert.equal("#1 7", (c:get "text"))
    assert.equal(7, (c:get "count"))
    steps(c, 1, 3)
    assert.equal(true, (c:get "slips"))
    assert.equal("OK", c:set("mu", 50))
    steps(c, 4, 6)
    assert.equal(false, (c:get "slips"))
    assert.equal("Error", c:set("m", 4))
    assert.equal("one Error logStatusError: 'm' can only be set before the initialization ends", c:log())
  end)

  test("keeps and restores states, also as bytes in another instance", function()
    local c = assert(units.instance(unit)):start(0, 2)
    steps(c, 1, 7, math.sin)
    assert.equal("OK", c.c:get_state(1))
    local status, bytes = c.c:serialize(1)
    assert.equal("OK", status)
    steps(c, 8, 20, math.sin)
    local q = c:get "q"
    assert.equal("OK", c.c:set_state(1))
    steps(c, 8, 20, math.sin)
    assert.equal(q, (c:get "q"))
    local other = assert(units.instance(unit))
    assert.equal("OK", other.c:deserialize(bytes, 2))
    assert.equal("OK", other.c:set_state(2))
    steps(other, 8, 20, math.sin)
    assert.equal(q, (other:get "q"))
    assert.equal("OK", c.c:free_state(1))
    assert.equal("Error", other.c:deserialize(bytes:sub(1, 10), 3))
    assert.equal("one Error logStatusError: fmi2DeSerializeFMUstate: the bytes are no stored state", other:log())
  end)

  test("keeps a state inside of a step of the grid", function()
    local c = assert(units.instance(unit)):start(0, 2)
    c.c:step(0, 0.1234)
    c.c:get_state(0)
    c.c:step(0.1234, 0.05)
    local q = c:get "q"
    assert.equal("OK", c.c:set_state(0))
    assert.equal("OK", (c.c:step(0.1234, 0.05)))
    assert.equal(q, (c:get "q"))
  end)

  test("begins again after a reset", function()
    local c = assert(units.instance(unit)):start(0, 2, { m = 3 })
    steps(c, 1, 5, math.sin)
    assert.equal("OK", c.c:call "Reset")
    assert.equal(2.0, (c:get "m"))
    c:start(0, 2)
    steps(c, 1, 20, math.sin)
    assert.equal(plain(math.sin)[20][1], (c:get "q"))
    assert.equal("OK", c.c:call "Terminate")
    assert.is_number((c:get "q"))
    assert.equal("Error", (c.c:step(2, 0.1)))
    assert.equal("one Error logStatusError: fmi2DoStep: it cannot be called now (co-simulation: terminated)", c:log())
  end)

  test("tells the logger what is wrong, and can be used afterwards", function()
    local c = assert(units.instance(unit))
    assert.equal("Error", (c.c:step(0, 0.1)))
    assert.equal("one Error logStatusError: fmi2DoStep: it cannot be called now (co-simulation: instantiated)", c:log())
    assert.equal("OK", c:set("m", 5000))
    assert.equal("OK", c.c:call "EnterInitializationMode")
    assert.equal("Error", c.c:call "ExitInitializationMode")
    assert.equal("one Error logStatusError: oscillator.lua:30: the mass is too large", c:log())
    assert.equal("OK", c:set("m", 2))
    assert.equal("OK", c.c:call "ExitInitializationMode")
    assert.equal("Error", (c.c:get("Real", { 99 })))
    assert.equal("one Error logStatusError: there is no Real with the value reference 99", c:log())
    assert.equal("Error", (c.c:step(0.5, 0.1)))
    assert.equal("one Error logStatusError: fmi2DoStep: the step begins at t = 0.5, and the model is at t = 0", c:log())
    assert.equal("Error", c:set("q", 1))
    assert.equal("one Error logStatusError: 'q' is computed by the model: it cannot be set", c:log())
    assert.equal("Error", c:set("u", 0 / 0))
    assert.equal("one Error logStatusError: 'u': expected a finite number, got nan", c:log())
    steps(c, 1, 3)
    local value, status = c:get "bad"
    assert.same({ nil, "Error" }, { value, status })
    assert.equal("one Error logStatusError: output 'bad': get: expected a finite number, got nan", c:log())
    assert.equal("OK", (c.c:step(0.3, 0.1)))
  end)

  test("discards a step that ends early, and tells how far it came", function()
    local c = assert(units.instance(unit)):start(0, 0.25)
    steps(c, 1, 2)
    assert.equal("Discard", (c.c:step(0.2, 0.1)))
    local status, time = c.c:last_time()
    assert.equal("OK", status)
    assert.near(0.25, time, 1e-12)
    assert.equal("one Discard logStatusDiscard: the simulation ends at t = 0.25: use run.stop in setup", c:log())
  end)

  test("refuses what is not its own", function()
    local library = units.open(unit)
    local function refused(kind, guid, resources)
      local c, log = library:instantiate("x", kind, guid, resources)
      assert.is_nil(c)
      return log[1]
    end
    local here = units.resources(unit)
    assert.equal(("x Error logStatusError: fmi2Instantiate: the guid is %s, and the importer's is {0}"):format(unit.guid),
      refused("cosimulation", "{0}", here))
    assert.equal("x Error logStatusError: fmi2Instantiate: the unit has no model exchange",
      refused("modelexchange", unit.guid, here))
    assert.matches("is not a directory of this machine", refused("cosimulation", unit.guid, "http://a/b"))
    assert.matches("module 'nslua.fmi.unit' not found", refused("cosimulation", unit.guid, "file:///nowhere"))
  end)

  test("finds its resources beside itself when the importer does not tell", function()
    local library = units.open(unit)
    assert.truthy((library:instantiate("x", "cosimulation", unit.guid)))
    assert.truthy((library:instantiate("x", "cosimulation", unit.guid, unit.place .. "/resources")))
    assert.truthy((library:instantiate("x", "cosimulation", unit.guid, "file://localhost" .. units.resources(unit):sub(8))))
  end)
end)
