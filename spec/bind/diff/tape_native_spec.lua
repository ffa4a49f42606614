-- Native code for compiled functions.
local ns = require "nslua"
local ex = require "expressions"
local host = require "host"

local directory, compiler
local have_cc = os.execute "command -v cc >/dev/null 2>&1"

-- How often the compiler was run.
local function runs() return #(host.read(directory .. "/log") or "") end

local function native(c) return c:traces()[1].native end

describe("native code", function()
  setup(function() -- a compiler that keeps count
    directory = host.new_directory()
    compiler = directory .. "/counted"
    host.write(compiler, ("#!/bin/sh\nprintf x >>%s/log\nexec cc \"$@\"\n"):format(directory))
    os.execute("chmod 755 " .. compiler)
  end)
  teardown(function() host.remove(directory) end)

  it("is that of cc or tcc when there is one, of none when that is asked for", function()
    local function f(x) return x * 3 end
    local any = ns.compile(f)
    assert.equal(15, any(5))
    assert.matches("^t?cc$", native(any))
    local a, b, c = ns.compile(f, { native = true }), ns.compile(f, { native = compiler }), ns.compile(f, { native = false })
    assert.same({ 15, 15, 15 }, { a(5), b(5), c(5) })
    assert.equal(compiler, native(b))
    assert.is_false(native(c))
    assert.is_nil(c:traces()[1].reason)
    collectgarbage()
    assert.equal(compiler, native(b))
  end)

  it("is made once for one source, in this process", function()
    local function make() return ns.compile(function(x, y) return x * 0.12345 + math.sin(y) end, { native = compiler }) end
    local before, first = runs(), make()
    assert.equal(0.12345 + math.sin(2), first(1, 2))
    assert.equal(before + 1, runs())
    for i = 1, 5 do
      local again = make()
      assert.equal(i * 0.12345 + math.sin(2), again(i, 2))
      assert.equal(compiler, native(again))
    end
    assert.equal(before + 1, runs())
    assert.equal(0.54321, ns.compile(function(x, y) return x * 0.54321 + math.sin(y) end, { native = compiler })(1, 0))
    assert.equal(before + 2, runs())
    first = nil -- luacheck: ignore
    collectgarbage() collectgarbage()
    assert.equal(0.12345, make()(1, 0))
    assert.equal(before + 2, runs())
  end)

  it("gives the values of Lua to the last bit, and the derivatives of the tape", function()
    math.randomseed(20240614)
    local checked = 0
    for _ = 1, 2 do
      local e = ex.random { inputs = 5, entries = 120, outputs = 30 }
      local f = ex.compile(e.inputs, e.entries, e.outputs)
      local c, tape = ns.compile(f), ns.compile(f, { native = false })
      for _ = 1, 10 do
        local x = ns.vector(5)
        for j = 1, 5 do x[j] = math.random() * 4 - 2 end
        local good, want = pcall(f, x)
        if good and pcall(c, x) then
          checked = checked + 1
          local got, J, K = c(x), c:jacobian(1, x), tape:jacobian(1, x)
          for i = 1, 30 do
            assert.is_true(ex.same(want[i], got[i]))
            for j = 1, 5 do assert.is_true(ex.same(K[i][j], J[i][j])) end
          end
        end
      end
      if have_cc and #c:traces() > 0 then assert.is_string(native(c)) end
    end
    assert.is_true(checked > 10)
  end)

  it("is demanded: a failure is an error then, else its reason is told", function()
    local function f(x) return x * 7 end
    local bad = directory .. "/bad"
    host.write(bad, "#!/bin/sh\necho 'out of order'\nexit 1\n")
    os.execute("chmod 755 " .. bad)
    local good, err = pcall(ns.compile(f, { native = bad }), 1)
    assert.is_false(good)
    assert.matches(("compile: compiler '%s' failed: out of order"):format(bad), err, 1, true)
    good, err = pcall(ns.compile(f, { native = "no-such-compiler" }), 1)
    assert.is_false(good)
    assert.matches("compile: cannot run compiler 'no%-such%-compiler': No such file or directory$", err)
  end)

  it("is not made for a tape that is long", function()
    local function long(x)
      for i = 1, 2500 do x = math.sin(x) + i end
      return x
    end
    local c = ns.compile(long)
    assert.equal(long(0.5), c(0.5))
    assert.is_false(native(c))
    assert.equal("5000 operations are too many for native code", c:traces()[1].reason)
    local good, err = pcall(ns.compile(long, { native = true }), 0.5)
    assert.is_false(good)
    assert.matches("compile: 5000 operations are too many for native code$", err)
  end)

  it("finds a compiler out that gives other values", function()
    local wrong = directory .. "/wrong"
    host.write(wrong, ([[#!/bin/sh
d=%s
while [ "$1" != -o ]; do shift; done
echo 'void tape_value(const double *in, double *out) { out[0] = 42; }
void tape_jacobian(const double *in, double *jac) { jac[0] = 0; }' >$d/wrong.c
exec cc -shared -fPIC -o "$2" $d/wrong.c
]]):format(directory))
    os.execute("chmod 755 " .. wrong)
    local good, err = pcall(ns.compile(function(x) return x + 1 end, { native = wrong }), 1)
    assert.is_false(good)
    assert.matches("compile: value 1 is 42 by the trace and 1 by the callback where all inputs are 0", err)
  end)

  it("of a path that is met later is made meanwhile, and takes over with the same bits #once", function()
    if not have_cc then return pending "there is no cc" end
    local function f(x) if x > 0 then return { x * 0.4321, x / 3 } else return { math.sin(x), x * x } end end
    local c = ns.compile(f)
    c(1)
    local function path() return c:traces()[1].paths[2] end
    local start, calls = os.time(), 0
    repeat
      for i = 1, 1000 do
        calls = calls + 1
        local want, got = f(-i / 7), c(-i / 7)
        assert.is_true(want[1] == got[1] and want[2] == got[2])
      end
      local at = path()
      assert.equal(not at.native and "a compiler is at work" or nil, at.reason)
    until path().native or os.time() - start > 60
    assert.equal("cc", path().native)
    assert.equal(math.cos(-2), c:jacobian(1, -2)[1][1])
    assert.equal(calls, path().count)
  end)

  it("that is not taken leaves no process and no files, and a compiler that fails leaves the tape #once", function()
    local script, bin = directory .. "/later.lua", directory .. "/bin"
    host.write(script, [[
      local ns = require "nslua"
      local function f(_, y) return { y[2], -3.25 * y[1] } end
      local sol
      for _ = 1, 40 do sol = ns.solve_ivp(f, { 0, tonumber(arg[1]) }, { 1, 0 }, { compile = true, rtol = 1e-6 }) end
      print(#sol.t)
      os.exit(0)]])
    os.execute(("mkdir -p %s/empty %s"):format(directory, bin))
    host.write(bin .. "/cc", "#!/bin/sh\necho 'out of order'\nexit 1\n")
    os.execute("chmod 755 " .. bin .. "/cc")
    for _, way in ipairs { { "", 1 }, { "PATH=" .. bin .. " ", 50 } } do
      local out, err = host.run(("TMPDIR=%s/empty %s%s %s %d"):format(directory, way[1], host.nslua, script, way[2]))
      assert.matches("^%d+\n$", out, err)
      assert.equal("", host.list(directory .. "/empty"))
    end
  end)
end)
