local host = require "host"

describe("make install", function()
  local directory, prefix

  local function make(arguments)
    local out, err, code = host.run(("cd %s && make %s BUILD=%s DESTDIR=%s PREFIX=/opt/nslua"):format(
      host.quote(host.root), arguments, host.quote((host.build:gsub("^" .. host.root:gsub("%p", "%%%0") .. "/", ""))),
      directory))
    assert.equal("", err)
    assert.equal(0, code)
    return out
  end

  setup(function()
    directory = host.new_directory()
    prefix = directory .. "/opt/nslua"
    make "install"
  end)
  teardown(function() host.remove(directory) end)

  it("puts binary, module and Lua files where they belong", function()
    for _, name in ipairs { "/bin/nslua", "/lib/lua/5.4/nslua/core.so", "/share/lua/5.4/nslua/init.lua" } do
      assert.truthy(host.read(prefix .. name), name)
    end
  end)

  it("has the scripts of pages, which are found from there", function()
    assert.truthy(host.read(prefix .. "/share/lua/5.4/nslua/web/player.js"))
    local code = 'local a = require "nslua".animation { frames = 1, draw = function() end } print(#a:html() > 30000)'
    local out, err = host.run(("cd / && %s/bin/nslua -e '%s'"):format(prefix, code))
    assert.equal("", err)
    assert.equal("true\n", out)
  end)

  it("works from another directory, with no variable set", function()
    local code = 'print(require "nslua".vector ~= nil, package.searchpath("nslua", package.path))'
    local out, err, status = host.run(("cd / && %s/bin/nslua -e '%s'"):format(prefix, code))
    assert.equal("", err)
    assert.equal("true\t" .. prefix .. "/share/lua/5.4/nslua/init.lua\n", out)
    assert.equal(0, status)
  end)

  it("holds no hidden functions, unlike the build", function()
    local code = " -e 'print(type((require \"nslua\")), (pcall(require, \"nslua.internal\")))'"
    assert.equal("table\tfalse\n", (host.run(prefix .. "/bin/nslua" .. code)))
    assert.equal("table\ttrue\n", (host.nslua_run(code)))
  end)

  it("has its help and the annotations for editors", function()
    local out = host.run(prefix .. "/bin/nslua -e 'print((require \"nslua.help\".text \"EventDriven\"))'")
    assert.matches("^ns.EventDriven%(nsds, grid", out)
    assert.matches("---@class nslua.vector", host.read(prefix .. "/share/nslua/library/nslua.lua"), 1, true)
  end)

  it("has a prompt", function()
    local out = host.run(prefix .. "/bin/nslua -i", "1+1\n")
    assert.matches("\n> 2\n", out)
  end)

  it("survives a move of its directory", function()
    os.execute(("mv %s/opt %s/elsewhere"):format(directory, directory))
    local out = host.run(directory .. "/elsewhere/nslua/bin/nslua -e 'print(type(require \"nslua\"))'")
    os.execute(("mv %s/elsewhere %s/opt"):format(directory, directory))
    assert.equal("table\n", out)
  end)

  it("is undone by make uninstall", function()
    make "uninstall"
    assert.equal("", (host.run("find " .. prefix .. " -type f")))
  end)
end)
