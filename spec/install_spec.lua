local host = require "host"

-- The library of units is installed where it is built.
local without_units = host.read(host.build .. "/lib/nslua/fmu.so") and "" or " FMU="

describe("make install #once", function()
  local directory, prefix

  local function make(arguments)
    local out, err, code = host.run(("cd %s && make %s BUILD=%s DESTDIR=%s PREFIX=/opt/nslua"):format(
      host.quote(host.root), arguments .. without_units,
      host.quote((host.build:gsub("^" .. host.root:gsub("%p", "%%%0") .. "/", ""))), directory))
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

  it("has the optional module where it is built", function()
    local built = host.read(host.build .. "/lib/nslua/sundials.so")
    assert.equal(built, host.read(prefix .. "/lib/lua/5.4/nslua/sundials.so"))
    local code = " -e 'print((pcall(require \"nslua\".dae, \"ida\", print)))'"
    assert.equal(built and "true\n" or "false\n", (host.run("cd / && " .. prefix .. "/bin/nslua" .. code)))
  end)

  it("has the module of HDF5 files where it is built", function()
    assert.equal(host.read(host.build .. "/lib/nslua/hdf5.so"), host.read(prefix .. "/lib/lua/5.4/nslua/hdf5.so"))
    local code = (" -e 'local ns = require \"nslua\" ns.save(\"%s/a.h5\", { x = { 7 } }) print(ns.load \"%s/a.h5\".x)'"):format(
      directory, directory)
    local out, err = host.run("cd / && " .. prefix .. "/bin/nslua" .. code)
    if require "hdf5".here then assert.equal("[7]\n", out)
    else assert.matches("which is not installed", err) end
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
    local code = " -e 'local core = package.searchpath(\"nslua.core\", package.cpath)\n" ..
      "print(type(package.loadlib(core, \"luaopen_nslua_core\")), (package.loadlib(core, \"luaopen_nslua_internal\")))'"
    assert.equal("function\tnil\n", (host.run(prefix .. "/bin/nslua" .. code)))
    assert.matches("^function\tfunction", (host.nslua_run(code)))
  end)

  it("has its help and the annotations for editors", function()
    local out = host.run(prefix .. "/bin/nslua -e 'print((require \"nslua.help\".text \"EventDriven\"))'")
    assert.matches("^ns.EventDriven%(nsds, grid", out)
    assert.matches("---@class nslua.vector", host.read(prefix .. "/share/nslua/library/nslua.lua"), 1, true)
  end)

  it("has a page of the manual that troff takes", function()
    local page = prefix .. "/share/man/man1/nslua.1"
    assert.matches("^%.TH NSLUA 1 ", host.read(page))
    local out = host.run("command -v mandoc >/dev/null && mandoc -T lint -W warning " .. page .. " || true")
    assert.equal("", out)
  end)

  it("tells Jupyter of its kernel", function()
    local text = host.read(prefix .. "/share/jupyter/kernels/nslua/kernel.json")
    assert.equal('{"argv":["python3","/opt/nslua/share/lua/5.4/nslua/notebook/nslua_kernel.py","-f","{connection_file}"],'
      .. '"display_name":"nslua","env":{"NSLUA":"/opt/nslua/bin/nslua"},"interrupt_mode":"signal","language":"lua"}\n', text)
    assert.truthy(host.read(prefix .. "/share/lua/5.4/nslua/notebook/nslua_kernel.py"))
  end)

  it("has the library of units where it is built", function()
    if without_units ~= "" then return pending "make fmu has not been run" end
    assert.equal(host.read(host.build .. "/lib/nslua/fmu.so"), host.read(prefix .. "/lib/lua/5.4/nslua/fmu.so"))
    local script = directory .. "/unit.lua"
    host.write(script, [[local ns = require "nslua"
      return ns.fmi.model { states = { x = 1 }, outputs = { y = function(x) return x[1] end },
        rhs = function(t, x) return { -x[1] } end }]])
    local out, err = host.run(("cd / && %s/bin/nslua fmu %s"):format(prefix, script))
    assert.equal("", err)
    assert.equal(("written: %s/unit.fmu, the model 'unit' with 2 variables\n"):format(directory), out)
  end)

  it("has a completion for bash", function()
    local function complete(...)
      local words = {}
      for i, word in ipairs { ... } do words[i] = host.quote(word) end
      local command = (". %s/share/bash-completion/completions/nslua; COMP_WORDS=(%s); COMP_CWORD=%d; _nslua; "
        .. "printf '%%s\n' \"${COMPREPLY[@]}\" | sort"):format(prefix, table.concat(words, " "), #words - 1)
      return (host.run(("cd %s && bash -c %s"):format(host.quote(host.root), host.quote(command))))
    end
    assert.equal("--doctor\n", complete("nslua", "--d"))
    assert.equal("scripts/impact_diagram.lua\nscripts/impact_orbit.lua\nscripts/impacting_bar.lua\n",
      complete("nslua", "scripts/imp"))
    assert.equal("--theta\n", complete("nslua", "-i", "scripts/pendulum.lua", "--t"))
    assert.matches("%-%-csv\n.*%-%-help\n", complete("nslua", "scripts/clutch.lua", "--"))
    assert.equal("\n", complete("nslua", "-e", "x"))
  end)

  it("can be described to luarocks", function()
    local spec = {}
    assert(loadfile(host.run("ls *.rockspec"):match "[^\n]+", "t", spec))()
    assert.equal("nslua", spec.package)
    assert.equal("make", spec.build.type)
    assert.truthy(host.read "Makefile":find("LUADIR ?=", 1, true))
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

describe("make install to a directory with blanks #once", function()
  it("puts all there and nothing elsewhere; uninstall takes away that alone", function()
    local place = host.new_directory()
    local build = host.build:gsub("^" .. host.root:gsub("%p", "%%%0") .. "/", "")
    -- what stands where the words of the paths would lead
    for _, name in ipairs { "a/share/nslua", "dir/opt/lib/lua/5.4/nslua", "a dir/opt/my/share/nslua" } do
      os.execute(("mkdir -p '%s/%s' && echo mine >'%s/%s/kept'"):format(place, name, place, name))
    end
    local before = host.run(("cd %s && find . -type f | sort"):format(place))
    local function make(target)
      local _, err, status = host.run(("cd %s && make %s BUILD=%s DESTDIR='%s/a dir' PREFIX=\"/opt/my o'neill things\""):format(
        host.quote(host.root), target .. without_units, build, place))
      assert.equal("", err)
      assert.equal(0, status)
    end
    make "install"
    local prefix = place .. "/a dir/opt/my o'neill things"
    local out, err = host.run(("cd / && %s/bin/nslua -e 'print(#require \"nslua\".vector { 1, 2 })'"):format(host.quote(prefix)))
    assert.equal("", err)
    assert.equal("2\n", out)
    assert.matches("---@class nslua.vector", host.read(prefix .. "/share/nslua/library/nslua.lua"), 1, true)
    for line in host.run(("cd %s && find . -type f"):format(place)):gmatch "[^\n]+" do
      assert.is_true(before:find(line .. "\n", 1, true) ~= nil or line:find("./a dir/opt/my o'neill things/", 1, true) == 1, line)
    end
    make "uninstall"
    assert.equal(before, (host.run(("cd %s && find . -type f | sort"):format(place))))
    host.remove(place)
  end)
end)
