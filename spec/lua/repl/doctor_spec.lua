local host = require "host"

describe("nslua --doctor #once", function()
  local directory

  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  -- Most programs that doctor asks for their versions take long to start: but for the first test there are none.
  local function doctor(environment)
    return host.run(("env XDG_STATE_HOME=%s/state %s %s --doctor"):format(directory, environment or "PATH=/nowhere",
      host.quote(host.nslua)))
  end

  it("names what nslua runs with", function()
    local out, err, code = doctor "LC_ALL=C"
    assert.equal("", err)
    assert.equal(0, code)
    assert.matches("^nslua %d+%.%d+%.%d+ %(Lua 5%.4%.%d+%)\n", out)
    assert.matches("\n  found    Lua          5%.4%.%d+\n", out)
    assert.truthy(out:find("found    module       " .. host.build .. "/lib/nslua/core.so", 1, true))
    assert.matches("\n  found    LAPACK       %d+%.%d+%.%d+\n", out)
    assert.matches("\n  found    BLAS         %S", out)
    assert.matches("\n  found    SuiteSparse  %d+%.%d+%.%d+ %(KLU%)\n", out)
    assert.matches("\n  found    cminpack     linked\n", out)
    assert.matches("\n  found    libedit      %d+%.%d+\n", out)
    assert.truthy(out:find("history      " .. directory .. "/state/nslua/history", 1, true))
    assert.matches("\nall that nslua needs is there\n$", out)
  end)

  it("names the modules that are built, and how to come by the others", function()
    local out = doctor()
    for name, line in pairs {
      hdf5 = "HDF5         %d+%.%d+%.%d+ %(%.h5, %.nc and %.mat files%)",
      sundials = "SUNDIALS     linked %(a second",
      nlopt = "NLopt        %d+%.%d+%.%d+ %(ns%.minimize%)", ipopt = "IPOPT        linked %(model:minimize and",
      mpi = "MPI          Open MPI %d+%.%d+%.%d+ %(sweeps by mpirun%)" } do
      local there = package.searchpath("nslua." .. name, package.cpath)
      assert.matches("\n  " .. (there and "found    " .. line or "missing  " .. line:match "^%S+"), out)
    end
    local lone = directory .. "/lone"
    os.execute((("mkdir -p LONE/bin LONE/lib/lua/5.4/nslua LONE/share/lua/5.4 && cp %s LONE/bin && "
      .. "cp -R %s/lua/nslua LONE/share/lua/5.4 && cp %s/lib/nslua/core.so LONE/lib/lua/5.4/nslua"):format(host.nslua, host.root,
      host.build):gsub("LONE", lone)))
    local function lone_doctor(path)
      return host.run(("XDG_STATE_HOME=%s PATH=%s LUA_CPATH='%s/lib/lua/5.4/?.so' %s/bin/nslua --doctor"):format(directory,
        path or "/nowhere", lone, lone))
    end
    local err, code
    out, err, code = lone_doctor()
    assert.equal("", err)
    assert.equal(0, code)
    local remedy = "%s: sudo apt-get install %s, then make and make install\n"
    assert.truthy(out:find("\n  missing  HDF5         for " .. remedy:format(".h5, .nc and .mat files", "libhdf5-dev"), 1, true))
    assert.truthy(out:find("\n  missing  SUNDIALS     for " .. remedy:format("a second solver of DAEs", "libsundials-dev"), 1,
      true))
    assert.truthy(out:find("\n  missing  NLopt        for " .. remedy:format("ns.minimize", "libnlopt-dev"), 1, true))
    -- Where nslua came as a package of Debian, the module is one, too.
    os.execute(("mkdir -p %s/packaged"):format(lone))
    host.write(lone .. "/packaged/dpkg-query", "#!/bin/sh\necho nslua: $2\n")
    os.execute(("chmod +x %s/packaged/dpkg-query"):format(lone))
    out = lone_doctor(lone .. "/packaged")
    assert.truthy(out:find("\n  missing  HDF5         for .h5, .nc and .mat files: sudo apt-get install nslua-hdf5\n", 1, true))
    assert.truthy(out:find("\n  missing  SUNDIALS     for a second solver of DAEs: sudo apt-get install nslua-sundials\n", 1, true))
    host.write(lone .. "/lib/lua/5.4/nslua/hdf5.so", "no")
    out = lone_doctor()
    assert.matches("\n  missing  HDF5         error loading module 'nslua.hdf5' from file", out)
  end)

  it("names what is missing, and how to install it; optional programs are no failure", function()
    local out, err, code = doctor "PATH=/nowhere"
    assert.equal("", err)
    assert.equal(0, code)
    assert.truthy(out:find("\n  missing  gnuplot      for plots: sudo apt-get install gnuplot-qt", 1, true))
    assert.truthy(out:find("\n  missing  tcc          for native code from callbacks, fast to compile: sudo apt-get install tcc\n",
      1, true))
    assert.truthy(out:find("\n  missing  cc           for native code from callbacks, fast to run: sudo apt-get install gcc\n", 1,
      true))
    assert.truthy(out:find("\n  missing  ffmpeg       for animations as MP4: sudo apt-get install ffmpeg\n", 1, true))
  end)

  it("shows the versions of programs that are there", function()
    local program = directory .. "/bin/gnuplot"
    os.execute(("mkdir -p %s/bin && printf '#!/bin/sh\\necho gnuplot 9.9 patchlevel 1\\n' >%s && chmod +x %s"):format(
      directory, program, program))
    assert.matches("\n  found    gnuplot      gnuplot 9.9 patchlevel 1\n", (doctor("PATH=" .. directory .. "/bin")))
  end)

  it("says where no history can be kept", function()
    local out = host.run(("env -u XDG_STATE_HOME -u HOME PATH=/nowhere %s --doctor"):format(host.quote(host.nslua)))
    assert.truthy(out:find("missing  history      neither HOME nor XDG_STATE_HOME is set: lines typed are not kept", 1, true))
    host.write(directory .. "/file", "")
    out = host.run(("env XDG_STATE_HOME=%s/file PATH=/nowhere %s --doctor"):format(directory, host.quote(host.nslua)))
    assert.matches("\n  missing  history      [^\n]*Not a directory\n", out)
  end)

  it("fails when the module is not there or does not load", function()
    local prefix = directory .. "/prefix"
    os.execute(("mkdir -p %s/bin %s/share/lua/5.4 && cp %s %s/bin && cp -R %s/lua/nslua %s/share/lua/5.4"):format(
      prefix, prefix, host.nslua, prefix, host.root, prefix))
    local out, _, code = host.run(("XDG_STATE_HOME=%s PATH=/nowhere %s/bin/nslua --doctor"):format(directory, prefix))
    assert.equal(1, code)
    assert.matches("\n  MISSING  module       module 'nslua.core' not found:", out)
    assert.truthy(out:find("build it with make, or install it with make install", 1, true))
    assert.matches("\nnslua cannot run: see MISSING above\n$", out)
    os.execute(("mkdir -p %s/lib/lua/5.4/nslua && echo no >%s/lib/lua/5.4/nslua/core.so"):format(prefix, prefix))
    out, _, code = host.run(("XDG_STATE_HOME=%s PATH=/nowhere %s/bin/nslua --doctor"):format(directory, prefix))
    assert.equal(1, code)
    assert.matches("\n  MISSING  module       error loading module 'nslua.core' from file", out)
    assert.truthy(out:find("a library it needs may be missing: sudo apt-get install liblapacke", 1, true))
  end)
end)
