-- Several Lua states in threads of one process: simultaneous runs, Ctrl-C, and the host's signal handler afterwards.
local host = require "host"

local script
setup(function()
  host.make "robust/threads"
  script = host.new_directory()
end)
teardown(function() host.remove(script) end)

-- Runs `code` in `count` threads for so many seconds; returns the host's output and its exit status.
local function threads(code, count, seconds, signal)
  local file = script .. "/script.lua"
  host.write(file, code)
  local command = ("cd %s && LUA_PATH='lua/?.lua;lua/?/init.lua' LUA_CPATH=%s timeout 60 %s/robust/threads %g %d %d %s"):format(
    host.quote(host.root), host.quote(host.build .. "/lib/?.so"), host.quote(host.build), seconds, count, signal, host.quote(file))
  return host.run(command)
end

local run = [[
  local ns = require "nslua"
  local ds = ns.FirstOrderLinearTIDS({ 2, -1 }, { { 0, 1 }, { -1, 0 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(2, -1, 1), ns.FirstOrderLinearTIR(ns.eye(2), ns.eye(2))), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1e-3), ns.EulerMoreauOSI(0.5))
  simu:run()
  local f = ns.compile(function(x) return math.sin(x[1]) * x[2] end, { native = false })
  local J = ns.jacobian(function(v) return { f(v), v[1] ^ 2 } end, { 0.5, 2 })
  return ("%a %a"):format(ds:x()[1], J[1][1])]]

describe("Lua states in threads of one process", function()
  it("run at the same time with the results of one, and leave the host's handler of SIGINT", function()
    local one, err, status = threads(run, 1, 0, 0)
    assert.equal("", err)
    assert.equal(0, status)
    local line = one:match "^[^\n]*"
    for _ = 1, 2 do
      local out
      out, err, status = threads(run, 4, 1, 0)
      assert.equal("", err)
      assert.equal(0, status)
      assert.equal((line .. "\n"):rep(4) .. "host 0\n", out)
    end
  end)

  it("sweep, each with workers of its own, while the others run", function()
    -- malloc of glibc may be used after a fork, that of AddressSanitizer only if no other thread held its lock
    if host.sanitized then return pending "the sanitizer's malloc does not bear fork beside threads" end
    local out, err, status = threads([[
      local ns = require "nslua"
      local s = ns.sweep { parameters = { k = ns.linspace(1, 20, 20) }, workers = 2, chunk = 1, run = function(p)
        local t = {}
        for i = 1, 2000 do t[i] = ("x"):rep(i % 50) .. p.k end
        return ns.eye(20):inv()[1][1] * p.k
      end }
      return ("%s %g"):format(s, s:table().value:sum())]], 4, 0, 0)
    assert.equal("", err)
    assert.equal(0, status)
    assert.equal(("sweep of 20 tasks: 20 done, 0 failed 210\n"):rep(4) .. "host 0\n", out)
  end)

  it("are all stopped by one SIGINT: in Lua code, in a solver, in a coroutine", function()
    for _, code in ipairs {
      [[local ns = require "nslua"
        local function F() if ready then ready() ready = nil end while true do end end
        local ok, why = pcall(ns.numerics.mcp, { F = F, z0 = { 1 } })
        return tostring(why):match "interrupted"]],
      [[local ns = require "nslua"
        local n = 20
        local M, q = ns.zeros(n, n), ns.vector(n)
        for i = 1, n do
          q[i] = -1 - i / 7
          for j = 1, n do M[i][j] = -math.sin(i * j + 0.3) end
        end
        ready()
        for _ = 1, 1000 do
          local good, why = pcall(ns.numerics.lcp, { M = M, q = q, solver = "enumerate" })
          if not good and tostring(why):find "interrupted" then return "interrupted" end
        end]],
      [[local ns = require "nslua"
        local function f() if ready then ready() ready = nil end while true do end end
        local ok, why = pcall(ns.solve_ivp, f, { 0, 1 }, { 1 })
        return tostring(why):match "interrupted"]],
    } do
      local out, err, status = threads(code, 3, 0, 1)
      assert.equal("", err)
      assert.equal(0, status)
      assert.equal(("interrupted\n"):rep(3) .. "host 0\n", out)
    end
  end)

  it("share nothing that changes but what is meant for all of them", function()
    if not os.execute "command -v readelf >/dev/null 2>&1" then return pending "needs readelf" end
    local shared = { -- of core.so: name -> why two threads may have it
      requests = "atomic", allocations = "atomic", inside = "atomic", last = "atomic",
      runs = "under the lock, atomics for the handler",
      lock = "a lock", hooks = "under the lock, the same in each", running = "under the lock",
      installed = "under the lock", host_action = "under the lock",
      allocate = "set before there are threads", allocator_context = "set before there are threads",
      plain_norm = "atomic, the same in each", signal_came = "a signal is the process's", listeners = "atomic",
      before_listening = "the first listener's, of the process", worker_stops = "a worker has one thread",
      worker_is_busy = "a worker has one thread",
      pool = "under its locks, its number of threads is atomic", blas_turn = "a lock",
      begun = "under the lock", begun_lock = "a lock", exit_is_watched = "under the lock", }
    local library = host.quote(host.build .. "/lib/nslua/core.so")
    local sections = host.run("readelf -SW " .. library)
    local data = assert(sections:match "%[ *(%d+)%] %.data%s")
    local bss = assert(sections:match "%[ *(%d+)%] %.bss%s")
    local found = 0
    for line in host.run("readelf -sW " .. library):gmatch "[^\n]+" do
      local kind, section, name = line:match "^%s*%d+: %x+%s+%w+%s+(%u+)%s+%u+%s+%u+%s+(%d+) (%S+)"
      name = name and name:gsub("%.lto_priv%.%d+$", "")
      if kind == "OBJECT" and (section == data or section == bss) and not name:find "^_" and name ~= "completed.0" then
        assert.truthy(shared[name], name .. " is a static that changes: a race between two Lua states")
        found = found + 1
      end
    end
    assert.is_true(found > 8)
  end)

  it("come and go while signals are not theirs: a run that starts after the signal is not stopped", function()
    local code = [[
      local ns = require "nslua"
      local function F() if ready then ready() ready = nil end while true do end end
      local ok, why = pcall(ns.numerics.mcp, { F = F, z0 = { 1 } })
      local r = ns.numerics.lcp { M = { { 2 } }, q = { -1 } }
      return tostring(why):match "interrupted" .. " " .. tostring(r.success)]]
    local out, err, status = threads(code, 2, 0, 1)
    assert.equal("", err)
    assert.equal(0, status)
    assert.equal(("interrupted true\n"):rep(2) .. "host 0\n", out)
  end)
end)
