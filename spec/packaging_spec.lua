-- What is made for other machines: the archive of make dist, the Debian packages, the container file.
-- NSLUA_PACKAGING=1 also makes the packages (minutes).
local host = require "host"

local long = os.getenv "NSLUA_PACKAGING" ~= nil

-- The values of variables of the Makefile, by their names.
local function read_variables(...)
  local lines, values = {}, {}
  for i, name in ipairs { ... } do lines[i] = ("\t@echo '%s: $(%s)'\n"):format(name, name) end
  local out, err = host.run(("cd %s && make -s -f Makefile -f - show"):format(host.quote(host.root)),
    "show:\n" .. table.concat(lines))
  assert.equal("", err)
  for name, value in out:gmatch "([^\n:]+): ([^\n]*)" do values[name] = value end
  return values
end

local makefile = read_variables("VERSION", "DIST_NAME", "BUILD_NEEDS", "HDF5_NEEDS", "NLOPT_NEEDS", "IPOPT_NEEDS", "MPI_NEEDS",
  "SUNDIALS_NEEDS")

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  table.sort(list)
  return list
end

describe("the Debian package #once", function()
  local control = host.read "debian/control"

  it("needs for building what the Makefile names", function()
    local needs = control:match "\nBuild%-Depends:(.-)\n\n":gsub("debhelper%-compat %b()", ""):gsub("%b<>", ""):gsub(",", "")
    local wanted = ""
    for _, name in ipairs { "BUILD_NEEDS", "HDF5_NEEDS", "NLOPT_NEEDS", "IPOPT_NEEDS", "MPI_NEEDS", "SUNDIALS_NEEDS" } do
      wanted = wanted .. " " .. makefile[name]
    end
    wanted = wanted:gsub("%f[%w]gcc%f[%s]", ""):gsub("libc6%-dev", "") -- build-essential brings these two
    assert.same(words(wanted), words(needs))
  end)

  it("has a package for each optional module", function()
    for _, entry in ipairs(require "nslua.repl.modules".list) do
      local name = entry[1]:match "[^.]+$"
      assert.truthy(control:find("\nPackage: nslua-" .. name .. "\n", 1, true), name)
      assert.equal(("usr/lib/*/lua/5.4/nslua/%s.so\n"):format(name), host.read(("debian/nslua-%s.install"):format(name)))
      assert.truthy(host.read "debian/rules":find(("off,%s)"):format(name), 1, true), name)
    end
  end)

  it("has the version of nslua", function()
    assert.equal(makefile.VERSION, host.read "debian/changelog":match "^nslua %((%S+)%)")
  end)
end)

describe("make bare #once", function()
  local place

  setup(function() place = host.new_directory() end)
  teardown(function() host.remove(place) end)

  -- Runs the script with programs (texts for the shell, by name) in place of the system's; its output.
  local function run(programs)
    for name, text in pairs(programs) do
      host.write(place .. "/" .. name, "#!/bin/sh\n" .. text .. "\n")
      os.execute(("chmod +x %s/%s"):format(place, name))
    end
    local out, err, status = host.run(("cd %s && PATH=%s:$PATH TMPDIR=%s sh spec/bare.sh"):format(host.quote(host.root), place,
      place))
    assert.equal("", err)
    assert.equal(0, status, out)
    return out
  end

  it("says why it tests nothing where it can't make a machine", function()
    assert.equal("bare.sh: skipped: only root can make a machine and enter it\n", run { id = "echo 1000" })
    if not host.run "command -v apt-get":find "apt" then return pending "no apt-get" end
    if not host.run "git rev-parse HEAD 2>/dev/null":find "%x" then return pending "no checkout of git" end
    local failing = ("echo try >>%s/tries; echo 'E: Failed to fetch x'; exit 100"):format(place)
    local out = run { id = "echo 0", sleep = "", mmdebstrap = failing }
    assert.matches("\n?== a machine with make, git\nE: Failed to fetch x\nbare.sh: skipped: the machine can't be made\n$", out)
    assert.equal("try\ntry\ntry\n", host.read(place .. "/tries"))
    assert.equal("", (host.run(("ls %s | grep -E 'nslua|tmp' || true"):format(place))))
  end)
end)

describe("an optional module that can not be built #once", function()
  it("is left out with a word, and stops nothing", function()
    local place = host.new_directory()
    local function make(header)
      host.write(place .. "/nlopt.h", header)
      local out, err, status = host.run(("cd %s && make optional CPPFLAGS=-I%s BUILD=%s/build SUNDIALS= HDF5= IPOPT= MPI= "
        .. "NLOPT=%s/build/lib/nslua/nlopt.so"):format(host.quote(host.root), place, place, place))
      assert.equal("", err)
      assert.equal(0, status)
      return out
    end
    for _, header in ipairs { "typedef int nlopt_opt;\n", "#error another version\n" } do
      local out = make(header)
      assert.matches("\nleft out, since it can not be built here (see " .. place .. "/build/optional.log): " .. place
        .. "/build/lib/nslua/nlopt.so\n", out, 1, true)
      assert.is_nil(host.read(place .. "/build/lib/nslua/nlopt.so"))
      assert.matches("error", host.read(place .. "/build/optional.log"))
    end
    host.remove(place)
  end)
end)

describe("the archive #once", function()
  local place

  setup(function() place = host.new_directory() end)
  teardown(function() host.remove(place) end)

  -- Runs the program of a directory with an empty environment.
  local function run(directory, arguments)
    local out, err, status = host.run(("cd / && env -i %s/bin/nslua %s"):format(host.quote(directory), arguments))
    assert.equal("", err)
    assert.equal(0, status)
    return out
  end

  it("runs wherever it is unpacked", function()
    local build = host.build:gsub("^" .. host.root:gsub("%p", "%%%0") .. "/", "")
    -- the library of units is in the archive where it is built
    local units = host.read(host.build .. "/lib/nslua/fmu.so") and "" or "FMU="
    local _, err, status = host.run(("cd %s && make dist %s PACK=cat BUILD=%s >%s/log"):format(host.quote(host.root), units, build,
      place))
    assert.equal("", err)
    assert.equal(0, status)
    local archive = build .. "/dist/" .. makefile.DIST_NAME .. ".tar.gz"
    local name = archive:match "([^/]+)%.tar%.gz$"
    host.run(("mkdir %s/here && tar -xf %s/%s -C %s/here"):format(place, host.quote(host.root), archive, place))
    local first
    for _, folder in ipairs { "here", "there, with blanks" } do
      if folder ~= "here" then os.execute(("mv '%s/here' '%s/%s'"):format(place, place, folder)) end
      local directory = ("%s/%s/%s"):format(place, folder, name)
      local out = run(directory, host.quote(directory .. "/share/nslua/scripts/clutch.lua"))
      first = first or out
      assert.equal(first, out)
      assert.matches("lambda switches at step 101", out)
      assert.matches("^nslua .*\nwith", run(directory, "--version"))
      assert.equal(directory .. "/share/lua/5.4/nslua/init.lua\n",
        run(directory, "-e 'print(package.searchpath(\"nslua\", package.path))'"))
      local code = 'require "nslua" for line in io.lines "/proc/self/maps" do print(line:match "/.*liblapacke[^/]*$") end'
      assert.truthy(run(directory, "-e " .. host.quote(code)):find(directory .. "/lib/nslua/liblapacke", 1, true))
    end
  end)

  it("make deb makes packages and leaves nothing else", function()
    if not long then return pending "NSLUA_PACKAGING is not set" end
    if not host.run "command -v dpkg-buildpackage lintian":find "lintian" then return pending "no dpkg-buildpackage" end
    local before = host.run("cd " .. host.quote(host.root) .. " && git status --short")
    local _, _, status = host.run(("cd %s && make deb >%s/log 2>&1"):format(host.quote(host.root), place))
    assert.equal(0, status, host.read(place .. "/log"))
    assert.equal(before, (host.run("cd " .. host.quote(host.root) .. " && git status --short")))
    local packages = host.run("cd " .. host.quote(host.root) .. " && ls build/deb")
    assert.matches("nslua_[%d.]+_%w+%.deb", packages)
    assert.matches("nslua%-doc_[%d.]+_all%.deb", packages)
    local files = host.run("cd " .. host.quote(host.root) .. " && dpkg-deb -c build/deb/nslua_*.deb")
    assert.matches("%./usr/lib/[%w_-]+/lua/5%.4/nslua/core%.so\n", files)
    assert.matches("%./usr/share/lua/5%.4/nslua/init%.lua\n", files)
  end)
end)

describe("the container file #once", function()
  it("uses targets of the Makefile", function()
    local text = host.read "Containerfile"
    for target in text:gmatch "make %f[%l]([%l-]+)" do
      assert.truthy(host.read "Makefile":find("\n" .. target .. ":", 1, true), target)
    end
  end)
end)
