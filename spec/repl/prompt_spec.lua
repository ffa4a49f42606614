-- The functions that the interpreter gives to the prompt, called from a module that stands in its place.
local host = require "host"

describe("the api of the interpreter #once", function()
  local directory

  setup(function()
    directory = host.new_directory()
    host.write(directory .. "/file", "")
    os.execute(("mkdir %s/sub && mkdir %s/locked && chmod 500 %s/locked"):format(directory, directory, directory))
  end)
  teardown(function() host.remove(directory) end)

  -- What a function body prints that gets the api.
  local function through(body)
    local code = ('package.preload["nslua.repl"] = function() return function(api, script) %s end end'):format(body)
    local out, err, status = host.nslua_run("-e " .. host.quote(code) .. " -i")
    assert.equal("", err)
    assert.equal(0, status)
    return (out:gsub("^[^\n]*\n", ""))
  end

  it("know that a pipe is no terminal, and libedit's version", function()
    assert.matches("^false\tfalse\t%d+%.%d+\tnil\n$", through "print(api.terminal, api.colour, api.libedit, script)")
    assert.equal("80\n", through "print(api.width())")
  end)

  it("evaluate: values, and errors through the handler where they are", function()
    assert.equal("true\t1\tnil\tx\n", through "print(api.evaluate(error, function(...) return 1, ... end, nil, 'x'))")
    assert.equal("true\n", through "print(api.evaluate(error, function() end))")
    assert.equal("false\thandled oops\ttrue\n", through [[
      local inside
      local function f() error('oops', 0) end
      local function handler(e)
        for level = 1, 20 do
          local info = debug.getinfo(level, 'f')
          inside = inside or info and info.func == f
        end
        return 'handled ' .. e
      end
      local good, message = api.evaluate(handler, f)
      print(good, message, inside)]])
    assert.equal("true\tfalse\tin\n", through [[
      print(api.evaluate(error, function() return api.evaluate(function(e) return e end, error, 'in', 0) end))]])
  end)

  it("clock: seconds that go on", function()
    assert.equal("true\tfloat\n", through "local a = api.clock() print(api.clock() >= a, math.type(a))")
  end)

  it("list: the names in a directory, directories with a slash", function()
    local names = through(("local t = api.list %q table.sort(t) print(table.concat(t, ' '))"):format(directory))
    assert.equal("file locked/ sub/\n", names)
    assert.equal("nil\tnil\n", through(("print(api.list %q, api.list %q)"):format(directory .. "/none", directory .. "/file")))
  end)

  it("make_directory: with its parents, for the user alone", function()
    local path = directory .. "/new/deep"
    assert.equal("true\ntrue\n", through(("print(api.make_directory %q) print(api.make_directory %q)"):format(path, path)))
    assert.equal("700 700\n", (host.run(("stat -c %%a %s/new %s | tr '\\n' ' '; echo"):format(directory, path)):gsub(" \n", "\n")))
    local file = directory .. "/file"
    assert.equal(("nil\t%s: Not a directory\n"):format(file),
      through(("local good, message = api.make_directory %q print(good, message)"):format(file .. "/x")))
    assert.matches("^nil\t.*: File name too long\n$",
      through(("local good, message = api.make_directory('/' .. ('x'):rep(5000)) print(good, message)")))
  end)

  it("private: files for the user alone, errors and values passed on", function()
    local path = directory .. "/secret"
    assert.equal("1\t2\nfalse\tno\n", through(([[
      print(api.private(function(...) io.open(%q, 'w'):close() return ... end, 1, 2))
      print(pcall(api.private, error, 'no', 0))]]):format(path)))
    assert.equal("600\n", (host.run("stat -c %a " .. path)))
  end)

  it("refuse wrong arguments", function()
    assert.equal("bad argument #1 to 'evaluate' (function expected, got number)\n",
      through "print((select(2, pcall(function() api.evaluate(1) end)):gsub('^.-: ', '')))")
  end)
end)
