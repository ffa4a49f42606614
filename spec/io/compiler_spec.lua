-- The C compiler that is run for native code: where its files go, what its failures say.
local ns = require "nslua"
local host = require "host"

local build = require("nslua.internal").compiler_build

local lua_path = "LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;%s/spec/?.lua;;' "
lua_path = lua_path:format(host.root, host.root, host.root)

local source = "void twice(const double *in, double *out) { out[0] = 2 * in[0]; out[1] = in[0] * in[1] + in[0]; }\n"

local function fails(expected, ...)
  local good, err = pcall(build, ...)
  assert.is_false(good)
  assert.equal(expected, err)
end

-- A script for the shell that stands for a compiler.
local function pretend(directory, name, text)
  local path = directory .. "/" .. name
  host.write(path, "#!/bin/sh\n" .. text)
  os.execute("chmod 755 " .. host.quote(path))
  return path
end

-- Runs a chunk in an interpreter of its own, under the given settings of the environment.
local function run_under(settings, chunk)
  local directory = host.new_directory()
  host.write(directory .. "/chunk.lua", chunk)
  local out, err, code = host.run(("cd %s && export %s && %s %s %s/chunk.lua"):format(
    host.quote(host.root), lua_path, settings, host.quote(host.nslua), directory))
  host.remove(directory)
  assert.equal("", err)
  assert.equal(0, code)
  return out
end

local report = [[
local ns = require "nslua"
local f = ns.compile(function(x) return x^2 + math.sin(x) end)
assert(f(2) == 4 + math.sin(2))
local trace = f:traces()[1]
print(trace.native, trace.reason)
local good, err = pcall(ns.compile(function(x) return x^2 end, { native = true }), 2)
print(good, err)
]]

local installed = {}
for _, program in ipairs { "cc", "gcc", "clang", "tcc" } do
  if os.execute("command -v " .. program .. " >/dev/null 2>&1") then installed[#installed + 1] = program end
end

describe("io.compiler", function()
  local directory
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("compiles a source and opens it, with each compiler that is there #once", function()
    assert.is_true(#installed > 0)
    for _, program in ipairs(installed) do
      local used, out = build(source, program, "twice", ns.vector { 1.5, 4 }, 2)
      assert.equal(program, used)
      assert.same({ 3, 7.5 }, out:totable())
    end
    assert.matches("^t?cc$", (build(source, nil)))
  end)

  it("says which compiler cannot be run", function()
    fails("cannot run compiler 'no-such-compiler': No such file or directory", source, "no-such-compiler")
    fails("cannot run compiler '/no/such/cc': No such file or directory", source, "/no/such/cc")
  end)

  it("says what a compiler says that fails", function()
    local path = pretend(directory, "angry", "echo 'tape.c:1: it is all wrong' >&2\nexit 3\n")
    fails(("compiler '%s' failed: tape.c:1: it is all wrong"):format(path), source, path)
    path = pretend(directory, "mute", "exit 1\n")
    fails(("compiler '%s' failed: it said nothing"):format(path), source, path)
    path = pretend(directory, "killed", "kill -9 $$\n")
    fails(("compiler '%s' failed: it said nothing"):format(path), source, path)
    local good, err = pcall(build, "int f( {\n", nil)
    assert.is_false(good)
    assert.matches("^compiler 'cc' failed: .*tape%.c:1", err)
  end)

  it("says so when a compiler writes nothing, or no library", function()
    local path = pretend(directory, "idle", "exit 0\n")
    local good, err = pcall(build, source, path)
    assert.is_false(good)
    assert.matches("^cannot open library '.*/tape%.so': ", err)
    path = pretend(directory, "odd", [[while [ "$1" != -o ]; do shift; done; echo garbage >"$2"]])
    good, err = pcall(build, source, path)
    assert.is_false(good)
    assert.matches("^cannot open library '.*/tape%.so': .*file too short", err)
  end)

  it("gives words, not a line for a shell: the name of a program is only that", function()
    local flag = directory .. "/flag"
    fails(("cannot run compiler 'cc; touch %s': No such file or directory"):format(flag), source, "cc; touch " .. flag)
    assert.is_nil(host.read(flag))
    local odd = directory .. "/a name; with $(touch " .. "x)"
    os.execute("mkdir -p " .. host.quote(odd))
    local out = run_under("TMPDIR=" .. host.quote(odd), report)
    assert.matches("^t?cc\tnil\n", out)
    assert.equal("", host.list(odd))
  end)

  it("works in a directory of its own, for the user alone, and leaves nothing behind", function()
    local path = pretend(directory, "spy", ([[
while [ "$1" != -o ]; do shift; done
ls -ld "$(dirname "$2")" >%s/ls
ls -l "$(dirname "$2")" >>%s/ls
cat "$(dirname "$2")/tape.c" >%s/source
exit 1
]]):format(directory, directory, directory))
    pcall(build, source, path)
    assert.equal(source, host.read(directory .. "/source"))
    assert.matches("^drwx%-%-%-%-%-%-", host.read(directory .. "/ls"))
    os.execute("mkdir " .. directory .. "/tmp")
    run_under(("TMPDIR=%s/tmp"):format(directory), report)
    assert.equal("", host.list(directory .. "/tmp"))
    run_under(("PATH=%s TMPDIR=%s/tmp"):format(directory, directory), report)
    assert.equal("", host.list(directory .. "/tmp"))
  end)

  it("ends with a process that a signal ends, with its files", function()
    local path = host.quote(os.getenv "PATH")
    local slow = "PATH=%s\ncd %s\necho $$ >new\nmv new pid\nexec sleep 9\n"
    pretend(directory, "cc", slow:format(path, directory))
    os.execute("mkdir -p " .. directory .. "/tmp")
    for _, name in ipairs { "TERM", "HUP" } do
      os.remove(directory .. "/pid")
      host.write(directory .. "/chunk.lua", ([[
        local ns = require "nslua"
        ns.solve_ivp(function(_, y) return -y[1] end, { 0, 1 }, { 1 }, { compile = true })
        repeat local file = io.open "%s/pid" until file
        os.execute "kill -%s $PPID"
        while true do end]]):format(directory, name))
      host.run(("export %s && PATH=%s TMPDIR=%s/tmp %s %s/chunk.lua"):format(lua_path, directory, directory,
        host.quote(host.nslua), directory))
      assert.equal("", host.list(directory .. "/tmp"))
      assert.matches("^gone", host.run(("kill -0 $(cat %s/pid) 2>/dev/null || echo gone"):format(directory)))
    end
  end)

  it("is looked for in the absolute directories of PATH alone", function()
    pretend(directory, "cc", ("echo run >%s/flag\nexit 1\n"):format(directory))
    local out = run_under(("cd %s && %s PATH=.::"):format(directory, lua_path), report)
    assert.matches("^false\tno C compiler %(cc, tcc%)\nfalse\t[^\n]*compile: no C compiler %(cc, tcc%)\n$", out)
    assert.is_nil(host.read(directory .. "/flag"))
  end)

  it("is done without where there is none: the tape is interpreted, and the reason told", function()
    for _, path in ipairs { "PATH=", "PATH=/no/such/directory", "env -u PATH" } do
      local out = run_under(path, report)
      assert.matches("^false\tno C compiler %(cc, tcc%)\nfalse\t[^\n]*compile: no C compiler %(cc, tcc%)\n$", out)
    end
  end)

  it("is done without where it fails, tcc taking the place of cc", function()
    pretend(directory, "cc", "echo 'cc: out of order'\nexit 1\n")
    local out = run_under("PATH=" .. directory, report)
    assert.matches("^false\tcompiler 'cc' failed: cc: out of order\nfalse\t[^\n]*compile: compiler 'cc' failed", out)
    pretend(directory, "tcc", "echo 'tcc: out of order'\nexit 1\n")
    out = run_under("PATH=" .. directory, report)
    assert.matches("^false\tcompiler 'cc' failed: cc: out of order\n", out)
    pretend(directory, "tcc", ("PATH=%s\nshift\nexec cc \"$@\"\n"):format(host.quote(os.getenv "PATH")))
    out = run_under("PATH=" .. directory, report)
    assert.matches("^tcc\tnil\ntrue\t4", out)
  end)

  it("is done without where no file can be written", function()
    local out = run_under("TMPDIR=/no/such/directory", report)
    assert.matches("^false\tcannot make a directory in '/no/such/directory': No such file or directory\nfalse\t", out)
    -- What a full disk looks like: no file may have any length; its output goes through a pipe.
    host.write(directory .. "/chunk.lua", report)
    local limited = "export %s && (trap '' XFSZ; ulimit -f 0; TMPDIR=%s %s %s/chunk.lua) | cat"
    out = host.run(limited:format(lua_path, directory, host.quote(host.nslua), directory))
    assert.matches("^false\tcannot write '.*/tape%.c': File too large\nfalse\t[^\n]*compile: cannot write ", out)
    assert.equal("chunk.lua", host.list(directory))
  end)
end)
