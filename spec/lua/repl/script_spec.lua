local host = require "host"
local script = require "nslua.repl.script"

describe("a script before the prompt", function()
  local directory

  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  -- Runs a script; its locals, whether it went well, and what it returned or raised.
  local function run(text, ...)
    local path = directory .. "/script.lua"
    host.write(path, text)
    local chunk, message = script.load(path)
    if not chunk then return nil, message end
    script.begin()
    local results = table.pack(xpcall(chunk, function(err)
      script.look(chunk)
      return err
    end, ...))
    local locals = {}
    for name, variable in pairs(script.finish()) do locals[name] = variable.value == nil and "nil" or variable.value end
    return locals, table.unpack(results, 1, results.n)
  end

  it("leaves its top-level locals, with their last values", function()
    local locals, good, result = run("local a, b = 1\na = a + 1\ndo local inner = 3 end\nlocal a2 <const> = a\nreturn a, ...", "x")
    assert.same({ a = 2, b = "nil", a2 = 2 }, locals)
    assert.is_true(good)
    assert.equal(2, result)
  end)

  it("leaves those that were there when it failed", function()
    local locals, good, message = run "local a = 1\nlocal function f(hidden) error 'boom' end\nf(2)\nlocal late = 1"
    assert.equal(1, locals.a)
    assert.equal("function", type(locals.f))
    assert.is_nil(locals.hidden)
    assert.is_nil(locals.late)
    assert.is_false(good)
    assert.matches("script.lua:2: boom$", message)
  end)

  it("keeps its lines, its arguments and its first line for the system", function()
    local _, _, line, count = run("#!/usr/bin/env nslua\nreturn debug.getinfo(1, 'l').currentline, select('#', ...)", nil, nil)
    assert.same({ 2, 2 }, { line, count })
  end)

  it("runs also with as many locals as there can be, or when compiled, without leaving them", function()
    local many = {}
    for i = 1, 200 do many[i] = ("local x%d = %d\n"):format(i, i) end
    local locals, good, result = run(table.concat(many) .. "return x200")
    assert.same({ {}, true, 200 }, { locals, good, result })
    locals, good, result = run(string.dump(load "local y = 3 return y"))
    assert.same({ {}, true, 3 }, { locals, good, result })
  end)

  it("that cannot be read or compiled is a message", function()
    local chunk, message = script.load(directory .. "/missing.lua")
    assert.is_nil(chunk)
    assert.equal(("cannot open %s/missing.lua: No such file or directory"):format(directory), message)
    chunk, message = run "x = = 1"
    assert.is_nil(chunk)
    assert.equal(("%s/script.lua:1: unexpected symbol near '='"):format(directory), message)
  end)
end)
