-- nslua.repl.modules: which optional modules are there.
local host = require "host"

describe("the optional modules", function()
  local modules = require "nslua.repl.modules"

  it("are those that the build directory holds, in one line", function()
    local line = host.nslua_run("--version"):match "\n(.*)\n$"
    assert.equal(modules.line(), line)
    local with, without = (line:match "with ([^;]*)" or ""), (line:match "without (.*)$" or "")
    if line:find "^without" then with = "" end
    for _, entry in ipairs(modules.list) do
      local built = host.read(host.build .. "/lib/" .. entry[1]:gsub("%.", "/") .. ".so") ~= nil
      assert.equal(built, with:find(entry[2], 1, true) ~= nil, line)
      assert.equal(not built, without:find(entry[2], 1, true) ~= nil, line)
    end
  end)

  it("count as missing when there is none of the name, or when its library is", function()
    local version, message = modules.load "nslua.no_such_module"
    assert.is_nil(version)
    assert.is_nil(message)
    package.preload["nslua.broken"] = function() error("libx.so: cannot open shared object file\nmore", 0) end
    version = modules.load "nslua.broken"
    package.preload["nslua.broken"] = nil
    assert.is_nil(version)
  end)

  it("a program without its Lua files says so after its version", function()
    local place = host.new_directory()
    host.run(("mkdir %s/bin && cp %s %s/bin/"):format(place, host.quote(host.nslua), place))
    local out, err, code = host.run(place .. "/bin/nslua --version")
    assert.matches("^nslua %d+%.%d+%.%d+ %(Lua [^\n]+%)\n$", out)
    assert.matches("module 'nslua.repl.modules' not found", err)
    assert.equal(1, code)
    host.remove(place)
  end)
end)
