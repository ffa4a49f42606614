-- nslua.sweep.manifest, nslua.sweep.content: what a sweep is, and what differs.
local campaign = require "campaign"
local content = require "nslua.sweep.content"
local host = require "host"
local manifest = require "nslua.sweep.manifest"
local ns = require "nslua"
local runs = require "sweep_runs"
local tasks = require "nslua.sweep.tasks"

local here = tasks.of({ k = { 1, 2 } }, "spec")

local function facts(run, setup) return { (manifest.of { run = run, setup = setup, tasks = here, seed = 1 }), "" } end

local function difference(a, b) return manifest.difference(facts(a), facts(b)) end

describe("the manifest of a sweep", function()
  it("tells the values that a function reaches, by their names", function()
    local function made(gain, table_of) return function(p) return gain * p.k + #table_of end end
    assert.is_nil(difference(made(1, {}), made(1, {})))
    assert.equal("the value gain: was 1, is 2", difference(made(1, {}), made(2, {})))
    assert.equal("the value gain: was 1, is 1.0000000000000002", difference(made(1, {}), made(1 + 2.0 ^ -52, {})))
    assert.equal("the value table_of: was .1=3, is .1=3; .b=true", difference(made(1, { 3 }), made(1, { 3, b = true })))
    assert.equal("the value table_of: it was not there", difference(made(1, {}), made(1, { "x" })))
    assert.equal("the value table_of: it has changed",
      difference(made(1, ns.linspace(0, 1, 50)), made(1, ns.linspace(0, 2, 50))))
  end)

  it("reaches through functions, tables, models, classes, nslua's own functions and cycles", function()
    local function reached(make)
      local difference_of = difference(make(1), make(2))
      assert.truthy(difference_of and difference_of:find "^the value %w+: was 1, is 2$", difference_of)
    end
    local function inner(constant) return function(_, x, _, f) f[1] = constant * x[1] end end
    reached(function(c) local f = inner(c) return function() return f end end)
    reached(function(c) local t = { a = { f = inner(c) } } t.a.t = t return function() return t end end)
    reached(function(c)
      local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, f = inner(c) }
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      return function() return simu end
    end)
    reached(function(c)
      local class = ns.class(ns.FirstOrderNonLinearDS)
      class.computef = function(_, ...) return inner(c)(...) end
      return function() return class end
    end)
    reached(function(c)
      local object = setmetatable({}, { __index = { f = inner(c) } })
      return function() return object end
    end)
    for _, env in ipairs { function(c) return { constant = c } end, function(c)
      return setmetatable({}, { __index = function(_, name) return assert(name == "constant" and c) end })
    end } do
      reached(function(c) return assert(load("return function() return { k = constant } end", "=spec", "t", env(c)))() end)
    end
  end)

  it("leaves out what is Lua's or nslua's own", function()
    local sweep = ns.sweep { parameters = { k = { 1 } }, on = "here", run = function() return 1 end }
    local found = content.of { function() return ns, sweep, math, string.format, package.loaded, ns.sweep, ns.plot end }
    assert.equal(1, #found.files)
    assert.truthy(found.files[1].path:find "manifest_spec.lua$")
    assert.same({}, found.values)
  end)

  it("tells code without a file by the code", function()
    local function made(text) return assert(load(text, "=chunk")) end
    assert.is_nil(difference(made "return 1", made "return  1"))
    assert.equal("the script chunk has changed", difference(made "return 1", made "return 2"))
  end)

  it("of a random structure changes with each of its values, and not by itself", function()
    local rng = ns.rng(29)
    -- A random structure of functions and tables with `count` leaves; the leaf of the number `place` is another one.
    local function structure(seed, place)
      local dice, count = ns.rng(seed), 0
      local function grow(depth)
        local kind = depth > 4 and 1 or dice:integers(1, 4)
        if kind == 1 then
          count = count + 1
          local value = dice:integers(1, 3) == 1 and "text" .. count or count / 8
          if count == place then value = type(value) == "string" and value .. "!" or -value end
          return value
        end
        local a, b = grow(depth + 1), grow(depth + 1)
        if kind == 2 then return { a, named = b } end
        if kind == 3 then return function() return a, b end end
        return setmetatable({ a }, { __index = function() return b end })
      end
      local root = grow(1)
      return function() return root end, count
    end
    for _ = 1, campaign(10, 20) do
      local seed = rng:integers(1, 1000000)
      local plain, count = structure(seed, 0)
      assert.is_nil(difference(plain, (structure(seed, 0))))
      for place = 1, count do
        assert.is_string(difference(plain, (structure(seed, place))), ("seed %d, leaf %d"):format(seed, place))
      end
    end
  end)
end)

describe("a sweep that is resumed #once", function()
  local directory
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  -- Runs the script until its task 3 ends the process, then with `change` done; the message.
  local function resumed(script, change, words, files)
    for name, text in pairs(files or {}) do host.write(directory .. "/" .. name, text) end
    local body = "package.path = './?.lua;' .. package.path\nlocal function last(p) if p.k == 3 and not io.open 'again' then "
      .. "os.execute('kill -TERM ' .. io.open '/proc/self/stat':read 'a':match '%) %a (%d+)') os.execute 'sleep 5' end end\n"
    local run = runs.script(directory, body .. script)
    local _, err = run(words and words[1] or "a.csv 1")
    assert.truthy(err:find "2 of 4 tasks are kept", err)
    host.write(directory .. "/again", "")
    change()
    _, err = run(words and words[2] or "a.csv 1")
    return err:match "can not be resumed: (.-) %(resume = false begins anew%)" or err
  end

  local function edit(name, from, to)
    return function()
      local path = directory .. "/" .. name
      host.write(path, (host.read(path):gsub(from, to)))
    end
  end

  local parameters = "file = file, workers = workers, resume = true, parameters = { k = { 1, 2, 3, 4 } }, "

  it("is refused when a constant of the script has changed, also behind ns.basins", function()
    for _, name in ipairs { "sweep", "basins" } do
      local call = name .. " { %s run = function(p) last(p) return c end }"
      local message = resumed("local c = 3.0\nns." .. call:format(parameters), edit("script.lua", "c = 3.0", "c = 4.0"))
      assert.equal("the script script.lua has changed: line 5 was 'local c = 3.0', is 'local c = 4.0'; "
        .. "the value c: was 3, is 4", message)
      host.run(("rm -r %s/*"):format(directory))
    end
  end)

  it("is refused when a module has changed that its functions come from, or what it was given", function()
    local module = "local M = {}\nfunction M.run(c) return function(p, last) last(p) return M.scale() * c end end\n"
      .. "local other = require 'other'\nfunction M.scale() return other() end\nreturn M"
    local files = { ["model.lua"] = module, ["other.lua"] = "return function() return 2 end" }
    local script = ("local c = 5\nlocal run = require 'model'.run(c)\n"
      .. "ns.sweep { %s run = function(p) return run(p, last) end }"):format(parameters)
    assert.equal("the script ./other.lua has changed", resumed(script, edit("other.lua", "2", "3"), nil, files))
    host.run(("rm -r %s/*"):format(directory))
    assert.equal("the script script.lua has changed: line 5 was 'local c = 5', is 'local c = 6'; the value c: was 5, is 6",
      resumed(script, edit("script.lua", "c = 5", "c = 6"), nil, files))
  end)

  it("is refused when the script's arguments have changed", function()
    local script = ("local c = tonumber(table.remove(arg, 3))\n"
      .. "ns.sweep { %s run = function(p) last(p) return c end }"):format(parameters)
    assert.equal("the script's arguments: was 'a.csv' '1' '0.1', is 'a.csv' '1' '0.2'; the value c: was 0.1, is 0.2",
      resumed(script, function() end, { "a.csv 1 0.1", "a.csv 1 0.2" }))
  end)

  it("goes on when nothing has changed, also a sweep whose values come from an earlier one", function()
    local script = ("local first = ns.sweep { parameters = { k = { 7 } }, run = function(p) return p.k end }\n"
      .. "local n, t = first:table().value[1], first:table()\nns.sweep { %s run = function(p) last(p) return n + #t end }"):format(
      parameters)
    assert.equal("", resumed(script, function() end))
    assert.equal("task,k,value,failed\n1,1,8,0\n2,2,8,0\n3,3,8,0\n4,4,8,0\n", host.read(directory .. "/a.csv"))
  end)
end)
