-- ns.sweep: results, bits, failures, resumption.
local expect = require "expect"
local host = require "host"
local ns = require "nslua"
local runs = require "sweep_runs"
local support = require "nslua.core".worker_support

local has_hdf5 = pcall(require, "nslua.hdf5")

-- Asserts that f raises the message, without its position.
local function raises(message, f) assert.equal(message, expect.message(f)) end

local directory
before_each(function() directory = host.new_directory() end)
after_each(function() host.remove(directory) end)

local grid = { A = ns.linspace(0.1, 1, 30), e = { 0.5, 0.8 } }

local function product(p, task)
  if p.A > 0.9 and p.e > 0.6 then error("A is too large", 0) end
  return { x = p.A * p.e, r = task.rng:uniform(), v = { p.A, 2, task.rng:normal() }, flag = p.A > 0.5 }
end

local function swept(options)
  local all = { parameters = grid, run = product, workers = 2, progress = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return ns.sweep(all)
end

describe("a sweep", function()
  it("gives a row for each task, with named columns, in the order of the tasks", function()
    local t = swept():table()
    assert.same({ "task", "A", "e", "flag", "r", "v", "x", "failed" }, t:names())
    assert.equal(60, #t)
    for k = 1, 60 do
      assert.equal(k, t.task[k])
      assert.equal(grid.A[(k - 1) // 2 + 1], t.A[k])
      assert.equal(grid.e[(k - 1) % 2 + 1], t.e[k])
      if t.failed[k] == 0 then
        assert.equal(t.A[k] * t.e[k], t.x[k])
        assert.equal(t.A[k], t.v[k][1])
        assert.equal(t.A[k] > 0.5 and 1 or 0, t.flag[k])
        assert.equal(ns.rng(1, k):uniform(), t.r[k])
      else
        assert.is_true(t.x[k] ~= t.x[k] and t.v[k][2] ~= t.v[k][2])
      end
    end
  end)

  it("has the same bits with 1, 2 and 8 workers, shuffled, in chunks, in this process", function()
    local want
    for i, options in ipairs { { workers = 1 }, { workers = 2 }, { workers = 8 }, { order = "shuffled" }, { chunk = 7 },
      { on = "here" }, { retries = 2 } } do
      for _, kind in ipairs { "csv", "npz", has_hdf5 and "h5" or nil } do
        options.file = ("%s/%d.%s"):format(directory, i, kind)
        swept(options)
        local bytes, errors = runs.bytes(options.file)
        want = want or {}
        want[kind] = want[kind] or { bytes, errors }
        assert.is_true(bytes == want[kind][1], kind)
        assert.is_true(errors == want[kind][2], kind)
      end
    end
  end)

  it("writes files that ns.load reads", function()
    local sweep = swept { file = directory .. "/a.npz" }
    local t, loaded = sweep:table(), ns.load(directory .. "/a.npz")
    assert.same(t:names(), loaded:names())
    assert.equal(30, loaded.v:cols() * 10)
    assert.equal(t.x[17], loaded.x[17])
    sweep = swept { file = directory .. "/a.csv" }
    loaded = ns.load(directory .. "/a.csv")
    assert.same({ "task", "A", "e", "flag", "r", "v[1]", "v[2]", "v[3]", "x", "failed" }, loaded:names())
    assert.equal(sweep:table().v[5][3], loaded:column "v[3]"[5])
  end)

  it("tells its failures, with the parameters and the lines of the script alone", function()
    local sweep = ns.sweep { parameters = { k = { 1, 2, 3 } }, workers = 2,
      run = function(p) if p.k == 2 then error "no" end return p.k end }
    local list = sweep:failures()
    assert.equal(1, #list)
    assert.same({ 2, { k = 2 } }, { list[1].task, list[1].parameters })
    assert.truthy(list[1].error:find "sweep_spec.lua:%d+: no$")
    assert.falsy(list[1].traceback:find "nslua/sweep")
    assert.truthy(list[1].traceback:find "sweep_spec.lua:%d+: in ")
    assert.same({ 0, 1, 0 }, sweep:table().failed:totable())
    assert.equal("sweep of 3 tasks: 3 done, 1 failed", tostring(sweep))
    assert.equal(3, #sweep)
  end)

  it("makes the model once in each worker and resets it before each task", function()
    local t = ns.sweep { parameters = { k = ns.linspace(1, 40, 40) }, workers = 2, chunk = 1,
      setup = function()
        local model = { made = support.clock(), steps = 0 }
        function model:reset() self.steps = 0 end
        return model
      end,
      run = function(_, task)
        task.model.steps = task.model.steps + 1
        return { made = task.model.made, steps = task.model.steps, pid = support.pid() }
      end }:table()
    local made = {}
    for k = 1, 40 do
      made[t.pid[k]] = made[t.pid[k]] or t.made[k]
      assert.equal(made[t.pid[k]], t.made[k])
      assert.equal(1, t.steps[k])
    end
  end)

  it("resets a simulation", function()
    local t = ns.sweep { parameters = { k = { 1, 2, 3, 4 } }, workers = 1,
      setup = function()
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))
        return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
      end,
      run = function(_, task) return { x = task.model:run().x1[11] } end }:table()
    for k = 1, 4 do assert.equal(1.1 ^ -10, t.x[k] + (1.1 ^ -10 - t.x[1])) end
    assert.equal(t.x[1], t.x[4])
  end)

  -- A sampled controller of x' = z1 - z2 x, by a clock or by an event.
  local function sampled(clock)
    local ds = ns.FirstOrderNonLinearDS { x0 = { 1 }, z = ns.vector { 0, 1 },
      f = function(_, x, z, f) f[1] = z[1] - z[2] * x[1] end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 3)
    nsds:insertDynamicalSystem(ds)
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI())
    local function act(s) ds:z()[1], s.k = 0.5 + 0.2 * ds:x()[1], s.k + 1 end
    if clock then
      simu:every { name = "sample", period = 1, offset = 0.5, state = { k = 0 }, act = function(_, s) act(s) end }
    else
      simu:addEvent { name = "sample", state = { k = 0 }, g = function(t, _, s) return t - (s.k + 0.5) end, direction = "up",
        action = function(_, s) act(s) end }
    end
    return simu, ds
  end

  it("runs the same controller in each task, whatever the workers", function()
    for clock = 0, 1 do
      local want = sampled(clock == 1):run()["x1"][13]
      for _, workers in ipairs { 1, 2 } do
        local t = ns.sweep { parameters = { a = { 1, 1, 1, 2 } }, workers = workers, progress = false, chunk = 1,
          setup = function() return (sampled(clock == 1)) end,
          run = function(p, task)
            task.model:nsds():dynamicalSystem(1):z()[2] = p.a
            local sol = task.model:run()
            return { x = sol.x[#sol][1], k = sol["sample.k"][#sol] }
          end }:table()
        assert.same({ 3, 3, 3, 3 }, t.k:totable())
        for k = 1, 3 do assert.equal(t.x[1], t.x[k]) end
        assert.is_true(math.abs(want - t.x[1]) < 0.5)
      end
    end
  end)

  it("and a fit finds the parameter of a sampled loop", function()
    for clock = 0, 1 do
      local simu, ds = sampled(clock == 1)
      local sol, t, x = simu:run(), {}, {}
      for i = 1, 13 do t[i], x[i] = (i - 1) * 0.25, sol:at((i - 1) * 0.25).x[1] end
      for _, sensitivities in ipairs { true, false } do
        local fit = ns.fit { simulation = simu, data = { t = t, x1 = x }, parameters = { { ds, "z", 2 } }, start = { 1.3 },
          sensitivities = sensitivities }
        assert.is_true(fit.success and math.abs(fit.x[1] - 1) < 1e-6, tostring(fit.x[1]))
      end
    end
  end)

  it("tells results that have no form", function()
    local function told(message, run)
      for _, on in ipairs { "local", "here" } do
        local list = ns.sweep { parameters = { k = { 1 } }, run = run, on = on, workers = 1 }:failures()
        assert.equal(message, list[1].error)
      end
    end
    told(("run: expected names as keys of the result, got '%s'"):format(("n"):rep(40)),
      function() return { [("n"):rep(1000)] = 1 } end)
    told("the error is a table without a text", function() error {} end)
    told("the error is nil", function() error() end)
    told("no pairs", function() return setmetatable({}, { __pairs = function() error("no pairs", 0) end }) end)
  end)

  it("tells columns that are not there at the place of the call", function()
    local s = ns.sweep { parameters = { k = { 1, 2 } }, run = function(p) return p.k end, on = "here" }
    raises("column: no column is called 'z' (known: task, k, value, failed)", function() s:pivot("k", "k", "z") end)
    raises("column: no column is called 'z' (known: task, k, value, failed)", function() s:plot { x = "z" } end)
    raises("pivot: expected the name of a column, got nil", function() s:pivot("k") end)
    raises("plot: expected the name of a column, got 3", function() s:plot { x = "k", y = 3 } end)
    raises("plot: bins: expected an integer from 1 to 100000, got 1e+09", function() s:plot { x = "k", bins = 1e9 } end)
    local _, message = pcall(function() s:pivot("k", "k", "z") end)
    assert.truthy(message:find("sweep_spec.lua", 1, true))
  end)

  it("raises what setup raises", function()
    raises("sweep: setup: no model", function()
      ns.sweep { parameters = { k = { 1 } }, run = function() end, setup = function() error("no model", 0) end }
    end)
    raises("sweep: setup: no", function()
      ns.sweep { parameters = { k = { 1 } }, run = function() end, on = "here", setup = function() error("no", 0) end }
    end)
  end)

  it("seeds math.random for each task, and leaves the script's own numbers alone", function()
    local function numbers(options)
      math.randomseed(7)
      local first = math.random()
      local t = swept { run = function() return math.random() end, setup = function() return { m = math.random() } end,
        workers = options.workers, on = options.on, chunk = options.chunk }:table()
      return { first, t.value:totable(), math.type(math.random(0)) }
    end
    local want = numbers { on = "here" }
    assert.same(want, numbers { workers = 1 })
    assert.same(want, numbers { workers = 3, chunk = 1 })
    assert.is_true(want[2][1] ~= want[2][2])
  end)

  it("ends a setup that takes too long", function()
    raises("sweep: setup: timeout: it took more than 0.2 s", function()
      swept { timeout = 0.2, workers = 1, setup = function() while true do end end }
    end)
  end)

  it("tells integers that a column can not hold", function()
    local long = (1 << 53) + 1
    raises("sweep: parameters: k[2]: expected a number or a boolean, got the integer 9007199254740993, which has more digits "
      .. "than a column holds", function() swept { parameters = { k = { long - 1, long } } } end)
    local list = ns.sweep { parameters = { k = { 1, 2 } }, on = "here",
      run = function(p) return { x = p.k == 1 and long or long - 1 } end }
    assert.same({ 1, "run: x: expected a number, a boolean, a vector, a matrix or a list of numbers, got the integer "
      .. "9007199254740993, which has more digits than a column holds" }, { #list:failures(), list:failures()[1].error })
  end)

  it("takes lists of rows, functions, designs and booleans", function()
    local function run(p) return p.a + (p.b and 1 or 0) end
    local rows = { { a = 1, b = true }, { a = 5, b = false } }
    assert.same({ 2, 5 }, ns.sweep { parameters = rows, run = run, on = "here" }:table().value:totable())
    local i = 0
    local t = ns.sweep { run = run, on = "here", parameters = function()
      i = i + 1
      return rows[i]
    end }:table()
    assert.same({ 2, 5 }, t.value:totable())
    assert.same({ 1, 0 }, t.b:totable())
  end)

  it("pads rows of different lengths with nan, and rows without a column", function()
    local t = ns.sweep { parameters = { k = { 1, 2, 3 } }, on = "here", run = function(p)
      return { v = p.k == 2 and { 1, 2, 3 } or p.k == 1 and 7 or nil, M = ns.matrix { { p.k, 2 }, { 3, 4 } } }
    end }:table()
    assert.same({ 7, 1, 2, 3 }, { t.v[1][1], t.v[2][1], t.v[2][2], t.v[2][3] })
    assert.is_true(t.v[1][2] ~= t.v[1][2] and t.v[3][1] ~= t.v[3][1])
    assert.same({ 2, 2, 3, 4 }, t.M[2]:totable())
  end)

  it("takes rows that get longer and longer, also when a shorter one comes again", function()
    local file = directory .. "/a.csv"
    local t = ns.sweep { parameters = { k = ns.linspace(1, 9, 9) }, on = "here", run = function(p)
      return { v = ns.linspace(p.k, 1, p.k % 7 // 1 | 0) }
    end, file = file }:table()
    assert.same({ 9, 6 }, { t.v:rows(), t.v:cols() })
    for k = 1, 9 do
      local n = k % 7
      for j = 1, 6 do
        if j > n then assert.is_true(t.v[k][j] ~= t.v[k][j])
        else assert.equal(ns.linspace(k, 1, n)[j], t.v[k][j]) end
      end
    end
    assert.same({ "task", "k", "v[1]", "v[2]", "v[3]", "v[4]", "v[5]", "v[6]", "failed" }, ns.load(file):names())
    local calls = 0
    raises("sweep: parameters: in a .csv file 'v[2]' may be a column of a result 'v', too: rename it, or take .npz", function()
      ns.sweep { parameters = { ["v[2]"] = { 1 } }, on = "here", file = file, run = function() calls = calls + 1 end }
    end)
    assert.equal(0, calls)
    raises("sweep: in a .csv file 'v[2]' would be the name of two columns: rename one, or take .npz", function()
      ns.sweep { parameters = { k = { 1 } }, on = "here", file = file,
        run = function() return { v = { 1, 2 }, ["v[2]"] = 1 } end }
    end)
  end)

  it("reduces the rows in the order of the tasks", function()
    local sweep = swept { workers = 4, order = "shuffled", reduce = function(text, row, k)
      return (text or "") .. k .. ":" .. ("%d"):format(row.failed // 1)
    end }
    assert.truthy(sweep.reduced:find "^1:02:03:0")
    assert.truthy(sweep.reduced:find "60:1$")
  end)

  it("makes matrices of a column over two parameters", function()
    local z, A, e = swept():pivot("A", "e", "x")
    assert.same({ 2, 30 }, { z:rows(), z:cols() })
    assert.equal(A[7] * e[1], z[1][7])
    assert.is_true(z[2][30] ~= z[2][30])
    raises("pivot: 'v' has 3 numbers in each row: a pivot takes columns of one", function()
      swept():pivot("A", "e", "v")
    end)
  end)

  it("goes on bit by bit without waiting", function()
    local sweep <close> = swept { wait = false }
    local status = sweep:status()
    assert.equal(60, status.total)
    assert.is_true(status.done <= 60)
    sweep:wait()
    status = sweep:status()
    assert.same({ 60, 4, 0, 0 }, { status.done, status.failed, status.eta, status.workers })
  end)

  it("tells its progress to a function", function()
    local seen = {}
    swept { progress = function(status) seen[#seen + 1] = status.done end }
    assert.equal(60, seen[#seen])
  end)

  it("reads a function of the result that has no form as a failure", function()
    local function failure(result, message)
      local list = ns.sweep { parameters = { k = { 1 } }, on = "here", run = function() return result end }:failures()
      assert.equal(message, list[1].error)
    end
    failure({ x = "text" }, "run: x: expected a number, a boolean, a vector, a matrix or a list of numbers, got string")
    failure("text", "run: expected a table of results by name, or a number, got string")
    failure({ 1, 2, x = 3 }, "run: expected a table of results by name, or a number, got table")
    failure({ v = { 1, 2, x = 3 } }, "run: v: expected a number, a boolean, a vector, a matrix or a list of numbers, got table")
    failure({ ["a,b"] = 1 }, "run: names of results hold no comma, quote or line end, got 'a,b'")
    failure({ k = 1 }, "run: 'k' is already the name of a column: rename the result")
    failure({ [true] = 1 }, "run: expected names as keys of the result, got true")
  end)
end)

describe("a sweep in processes of its own #once", function()
  local kinds = [[
local s = ns.sweep { parameters = { k = { 1, 2, 3, 4, 5, 6, 7 } }, file = file, workers = workers, timeout = 1.5, memory = 1.5e8,
  retries = 1,
  run = function(p, task)
    if p.k == 2 then os.exit(3) end
    if p.k == 3 then while true do end end
    if p.k == 4 then return ns.zeros(5000, 5000)[1][1] end
    if p.k == 5 then os.execute("kill -SEGV " .. require "nslua.core".worker_support.pid()) end
    if p.k == 6 and task.attempt == 1 then error "not now" end
    if p.k == 7 then
      io.open("kills", "a"):write("x"):close()
      os.execute("kill -KILL " .. require "nslua.core".worker_support.pid())
    end
    return p.k
  end }
for _, f in ipairs(s:failures()) do print(f.task, f.error) end
]]

  it("a task that exits, hangs, takes all memory or crashes is a failed row; the others complete", function()
    if host.sanitized then return end -- it catches the signal, and its memory is not limited
    local run = runs.script(directory, kinds)
    local out, err, status = run "a.csv 2"
    assert.same({ "", 0 }, { err, status })
    assert.equal("2\tthe task ended its process: exit status 3\n3\ttimeout: the task took more than 1.5 s\n"
      .. "4\tnot enough memory\n5\tthe task ended its process: signal 11 (Segmentation fault)\n"
      .. "7\tits worker was killed 5 times: signal 9 (Killed)\n", out)
    assert.equal("xxxxxx", host.read(directory .. "/kills")) -- five times, and once more in the second attempt
    assert.equal("task,k,value,failed\n1,1,1,0\n2,2,nan,1\n3,3,nan,1\n4,4,nan,1\n5,5,nan,1\n6,6,6,0\n7,7,nan,1\n",
      host.read(directory .. "/a.csv"))
    local bytes, errors = runs.bytes(directory .. "/a.csv")
    run "b.csv 1"
    assert.same({ bytes, errors }, { runs.bytes(directory .. "/b.csv") })
  end)

  -- What the script has done before the sweep is done once, and all workers see it.
  local before = [[
local gain = tonumber(table.remove(arg, 1))
local random, log = math.random(), io.open("log", "w")
log:write "begun\n"
io.write "banner\n"
local first = ns.sweep { parameters = { k = { 1, 2 } }, run = function(p)
  io.open("calls", "a"):write("x"):close()
  return p.k
end }
local s = ns.sweep { parameters = { k = { 1, 2, 3, 4 } }, workers = 2, chunk = 1, run = function(p)
  return { product = p.k * gain, random = random - p.k, first = first:table().value[2] }
end }
log:write "ended\n"
log:close()
local t = s:table()
for k = 1, 4 do io.write(tostring(t.random[k] == random - k), " ") end
print(t.product, t.first)]]
  local once = "banner\ntrue true true true [3, 6, 9, 12]\t[2, 2, 2, 2]\n"

  local function told_once(run)
    assert.same({ once, "", 0 }, { run "3" })
    assert.same({ "begun\nended\n", "xx" }, { host.read(directory .. "/log"), host.read(directory .. "/calls") })
  end

  it("does once what comes before the sweep; workers see it", function()
    told_once(runs.script(directory, before))
    host.run(("rm %s/log %s/calls"):format(directory, directory))
    told_once(function(words)
      return host.run(("cd %s && cat script.lua | %s - %s"):format(directory, host.quote(host.nslua), words))
    end)
  end)

  -- The library that Debian's libopenblas0-pthread has; NSLUA_OPENBLAS_PTHREAD is its directory where it was only unpacked.
  local blas = os.getenv "NSLUA_OPENBLAS_PTHREAD"
    or host.run("ls -d /usr/lib/*/openblas-pthread 2>/dev/null"):match "^[^\n]+"
  local with_blas = blas and it or function(name)
    pending(name .. " (it is missing: apt-get install libopenblas0-pthread)")
  end

  with_blas("the same with the threads of OpenBLAS; workers calculate with it", function()
    local count = [[
local function threads()
  local n = 0
  for line in io.lines "/proc/self/status" do n = n + (tonumber(line:match "^Threads:%s*(%d+)") or 0) end
  return n
end
local A = ns.eye(200) + ns.zeros(200, 200)
A[1][200] = 1
local many = threads()
]]
    local run = runs.script(directory, count .. before .. [[

local inverse = A:inv()[1][200]
local w = ns.sweep { parameters = { k = { 1, 2, 3 } }, workers = 2, run = function() return A:inv()[1][200] - inverse end }
print(many > 1, w:table().value, A:inv()[1][200] == inverse)]])
    local out, err, status = run("3", ("env LD_LIBRARY_PATH=%s OPENBLAS_NUM_THREADS=4"):format(blas))
    assert.same({ once .. "true\t[0, 0, 0]\ttrue\n", "", 0 }, { out, err, status })
  end)

  it("a sweep inside a task is a sweep of its own, whatever is asked of the outer one", function()
    local run = runs.script(directory, (([[
local function inner(factor)
  return ns.sweep { parameters = { b = { 1, 2, 3, 4 } }, workers = 1, run = function(q) return factor * q.b end }:table()
end
local s = ns.sweep { parameters = { a = ns.linspace(1, 20, 20) }, workers = 2, file = file, resume = true,
  setup = function() return { offset = inner(0).value:sum() } end,
  run = function(p, task)
    local m = ns.montecarlo { samples = 20, on = "here", run = function(t) return p.a + t.rng:normal() end }
    local program = io.popen "NSLUA other.lua"
    local other = program:read "n"
    program:close()
    return { sum = inner(p.a).value:sum() + task.model.offset, close = math.abs(m.value.mean - p.a) < 2, other = other }
  end }
local t = s:table()
print(s, ("%g %g %g"):format(t.sum:sum(), t.close:sum(), t.other:sum()))]]):gsub("NSLUA", host.nslua)))
    host.write(directory .. "/other.lua", [[
local ns = require "nslua"
print(ns.sweep { parameters = { b = { 1, 2 } }, workers = 1, run = function(q) return q.b end }:table().value:sum())]])
    local told = "sweep of 20 tasks: 20 done, 0 failed\t2100 20 60\n"
    assert.same({ told, "", 0 }, { run "a.csv" })
    local function command(words)
      return host.run(("cd %s && %s sweep script.lua --quiet %s -- b.csv"):format(directory, host.quote(host.nslua), words))
    end
    assert.same({ told, "", 0 }, { command "--anew --workers 1" })
    assert.same({ told, "", 0 }, { command "--anew --on here" })
  end)

  -- Sends the signal SIGNAL to the sweep itself, once `count` tasks are done.
  local signal = [[
local sent
local function send(count)
  return function(s)
    if sent or not os.getenv "SIGNAL" or s.done < count then return end
    sent = true
    os.execute(("(sleep 0.1; kill -%s %d) &"):format(os.getenv "SIGNAL", require "nslua.core".worker_support.pid()))
  end
end
]]

  local steady = signal .. [[
local s = ns.sweep { parameters = { k = ns.linspace(1, 40, 40) }, file = file, workers = workers, resume = RESUME,
  progress = send(5),
  run = function(p, task)
    local stop = require "nslua.core".worker_support.clock() + 0.05
    while require "nslua.core".worker_support.clock() < stop do end
    return p.k * task.rng:uniform()
  end }
print(s)
]]

  local function steady_script(resume, name)
    return runs.script(directory, (steady:gsub("RESUME", resume)), name)
  end

  it("stops cleanly on Ctrl-C, and goes on", function()
    local run = steady_script "true"
    run "whole.csv"
    local _, err, status = run("a.csv", "SIGNAL=INT")
    assert.equal(1, status)
    local kept = tonumber(err:match "sweep: interrupted; (%d+) of 40 tasks are kept in 'a.csv.sweep'; resume = true goes on")
    assert.is_true(kept > 2 and kept < 40, err)
    assert.is_nil(host.read(directory .. "/a.csv"))
    local out = run "a.csv"
    assert.equal("sweep of 40 tasks: 40 done, 0 failed\n", out)
    assert.equal(host.read(directory .. "/whole.csv"), host.read(directory .. "/a.csv"))
  end)

  it("asks before it overwrites finished tasks, and refuses what has changed", function()
    local run = steady_script "nil"
    run("a.csv", "SIGNAL=INT")
    local _, err, status = run "a.csv"
    assert.equal(1, status)
    assert.truthy(err:find("sweep: 'a.csv.sweep' holds %d+ finished tasks of an earlier sweep: resume = true goes on, "
      .. "resume = false begins anew"), err)
    run = steady_script "true"
    _, err = run "a.csv"
    assert.truthy(err:find("sweep: 'a.csv.sweep' can not be resumed: the script script.lua has changed: line 11 was "
      .. "'local s = ns.sweep", 1, true), err)
    assert.truthy(err:find("(resume = false begins anew)", 1, true), err)
  end)

  it("repeats failed tasks on request, and gives a finished sweep at once", function()
    local run = runs.script(directory, [[
local s = ns.sweep { parameters = { k = { 1, 2, 3 } }, file = file, resume = os.getenv "FAILED" and "failed" or true,
  run = function(p)
    print("task", p.k)
    if p.k == 2 and not io.open "there" then error "not there" end
    return p.k
  end }
print(s)]])
    run "a.csv 1"
    assert.equal("sweep of 3 tasks: 3 done, 1 failed\n", (run "a.csv 1"))
    host.write(directory .. "/there", "")
    assert.equal("task\t2.0\nsweep of 3 tasks: 3 done, 0 failed\n", (run("a.csv 1", "FAILED=1"):gsub("\t2\n", "\t2.0\n")))
    assert.equal("task,k,value,failed\n1,1,1,0\n2,2,2,0\n3,3,3,0\n", host.read(directory .. "/a.csv"))
    assert.is_nil(host.read(directory .. "/a.csv.errors"))
  end)

  it("takes the record of the last round, whatever the journals are called; two drivers can not repeat at one time", function()
    local run = runs.script(directory, [[
local s = ns.sweep { parameters = { k = { 1, 2, 3 } }, file = file, resume = os.getenv "FAILED" and "failed" or true,
  run = function(p)
    if os.getenv "SLOW" then os.execute "sleep 1" end
    if p.k > 1 and not io.open("there" .. p.k // 1) then error "not there" end
    return p.k
  end }
print(s)]])
    assert.equal("sweep of 3 tasks: 3 done, 2 failed\n", (run "a.csv 1"))
    assert(os.rename(directory .. "/a.csv.sweep/journal-driver", directory .. "/a.csv.sweep/journal-zzz"))
    host.write(directory .. "/there2", "")
    local slow = ("(sleep 0.3; FAILED=1 %s script.lua a.csv 1 >second 2>&1) & SLOW=1 FAILED=1"):format(host.quote(host.nslua))
    assert.equal("sweep of 3 tasks: 3 done, 1 failed\n", (run("a.csv 1", slow)))
    assert.truthy(host.read(directory .. "/second"):find("another process writes 'a.csv.sweep/journal-driver'", 1, true))
    assert(os.rename(directory .. "/a.csv.sweep/journal-driver~1", directory .. "/a.csv.sweep/journal-zzz~1"))
    host.write(directory .. "/there3", "")
    assert.equal("sweep of 3 tasks: 3 done, 0 failed\n", (run("a.csv 1", "FAILED=1")))
    assert.equal("sweep of 3 tasks: 3 done, 0 failed\n", (run "a.csv 1"))
    assert.equal("task,k,value,failed\n1,1,1,0\n2,2,2,0\n3,3,3,0\n", host.read(directory .. "/a.csv"))
    assert.equal("sweep of 3 tasks: 3 done, 0 failed\n", host.run(("cd %s && %s sweep script.lua --anew --quiet -- a.csv 1"):format(
      directory, host.quote(host.nslua))))
    assert.is_nil(host.read(directory .. "/a.csv.sweep/round"))
  end)

  it("on SIGTERM running tasks write their checkpoints and are taken up again", function()
    if host.sanitized then return end -- it takes too long to begin
    local body = signal .. [[
local function model()
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }))
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-7), ns.EulerMoreauOSI(1))
end
local s = ns.sweep { parameters = { k = { 1, 2 } }, file = file, workers = workers, resume = true, progress = send(0),
  run = function(p, task)
    local simu = model()
    local there = io.open(task.checkpoint)
    if there then there:close() print(p.k, simu:load_state(task.checkpoint), simu:step() > 0) simu = model() end
    simu:run { checkpoint = task.checkpoint, resume = true, record = 1000000, progress = false }
    return { x = simu:nsds():dynamicalSystem(1):x()[1] }
  end }
]]
    body = body:gsub("simu:nsds%(%):dynamicalSystem%(1%):x%(%)%[1%]", "simu:run().x1[1]")
    local run = runs.script(directory, body)
    run "whole.csv"
    local _, err, status = run("a.csv", "SIGNAL=TERM")
    assert.equal(143, status)
    assert.truthy(err:find("ended by SIGTERM; 0 of 2 tasks are kept in 'a.csv.sweep'; resume = true goes on", 1, true), err)
    local out = run "a.csv"
    assert.truthy(out:find "true", out)
    assert.equal(host.read(directory .. "/whole.csv"), host.read(directory .. "/a.csv"))
    assert.equal("", host.list(directory .. "/a.csv.sweep/checkpoints"))
  end)

  it("tells a full disk and keeps what was done", function()
    local body = [[
local s = ns.sweep { parameters = { k = ns.linspace(1, 3000, 3000) }, file = file, workers = workers, resume = true,
  run = function(p) return { v = ns.linspace(p.k, 0, 100) } end }
print(s)]]
    local run = runs.script(directory, body)
    run "whole.npz"
    local _, err, status = run("a.npz", "trap '' XFSZ; ulimit -f 1000;")
    assert.equal(1, status)
    local kept = err:match "cannot write 'a.npz.sweep/journal%-driver': File too large; (%d+) of 3000 tasks are kept"
    assert.is_true(tonumber(kept) > 100, err)
    assert.equal("sweep of 3000 tasks: 3000 done, 0 failed\n", (run "a.npz"))
    assert.is_true(host.read(directory .. "/whole.npz") == host.read(directory .. "/a.npz"))
  end)

  it("tells a disk that has no room for the file, and keeps what was done until the file is there", function()
    local run = runs.script(directory, [[
local s = ns.sweep { parameters = { k = ns.linspace(1, 1000, 1000) }, file = file, workers = workers,
  resume = os.getenv "RESUME" == "true" or nil,
  run = function(p, task) return { v = ns.linspace(p.k, task.rng:uniform(), 100) } end }
print(s)]])
    run "whole.csv"
    local _, err, status = run("a.csv", "trap '' XFSZ; ulimit -f 2400;")
    assert.equal(1, status)
    assert.truthy(err:find("^nslua: script.lua:3: sweep: cannot write 'a.csv': File too large; all 1000 tasks are kept in "
      .. "'a.csv.sweep'; resume = true writes the file"), err)
    _, err = run "a.csv"
    assert.truthy(err:find("sweep: 'a.csv.sweep' holds 1000 finished tasks of an earlier sweep: resume = true goes on, ", 1,
      true), err)
    local told = "sweep of 1000 tasks: 1000 done, 0 failed\n"
    assert.equal(told, (run("a.csv", "RESUME=true")))
    assert.is_true(host.read(directory .. "/whole.csv") == host.read(directory .. "/a.csv"))
    assert.equal(told, (run "a.csv")) -- what the file holds is replaced
  end)

  it("tells that its directory has vanished", function()
    local run = steady_script "true"
    local _, err, status = run("a.csv", "(sleep 0.4; rm -rf a.csv.sweep) & ")
    assert.equal(1, status)
    assert.truthy(err:find("cannot write 'a.csv.sweep/journal-driver': it has been removed or renamed", 1, true), err)
  end)

  it("refuses a second driver", function()
    local run = steady_script "true"
    local _, err = run("a.csv", ("(sleep 0.4; %s script.lua a.csv 2>err.txt) &"):format(host.quote(host.nslua)))
    assert.equal("", err)
    assert.truthy(host.read(directory .. "/err.txt"):find("another process writes 'a.csv.sweep/journal-driver'", 1, true))
  end)

  it("takes at most 100 us a task and constant memory", function()
    local count = tonumber(os.getenv "NSLUA_SWEEP_TASKS") or 50000
    local body = ([[
local N = %d
local function memory()
  for line in io.lines "/proc/self/status" do
    if line:find "^VmRSS" then return tonumber(line:match "%%d+") end
  end
end
local clock = require "nslua.core".worker_support.clock
local start = clock()
local s = ns.sweep { parameters = { k = ns.linspace(1, N, N) }, file = file, workers = workers, wait = false,
  run = function(p) return p.k end }
local early
repeat
  local status = s:status()
  if not early and status.done > N / 10 then early = memory() end
until status.done == N
print((clock() - start) / N * 1e6, memory() - early)]]):format(count)
    local out, err = runs.script(directory, body)("a.npz 2")
    local micro, growth = out:match "(%S+)\t(%S+)"
    assert(micro, err)
    if host.sanitized then return end
    assert.is_true(tonumber(micro) < 100 * math.max(1, tonumber(host.read '/proc/loadavg':match '%S+') / 2), out)
    assert.is_true(tonumber(growth) < 2000, out)
  end)
end)

describe("the options of a sweep", function()
  local function refused(options, message)
    local all = { parameters = { k = { 1 } }, run = function() end }
    for name, value in pairs(options) do all[name] = value end
    raises(message, function() ns.sweep(all) end)
  end

  it("are checked", function()
    refused({ run = 3 }, "sweep: run: expected a function, got 3")
    refused({ file = "a.txt" }, "sweep: file: expected a name that ends in .csv, .npz or .h5, got 'a.txt'")
    refused({ workers = 0 }, "sweep: workers: expected an integer of 1 or more, got 0")
    refused({ on = "moon" }, "sweep: on: expected one of local, here, slurm, mpi, parallel, got 'moon'")
    refused({ timeout = 0 }, "sweep: timeout: expected a number above 0, got 0")
    refused({ resume = 1 }, "sweep: resume: expected true or false or \"failed\", got 1")
    refused({ order = "up" }, "sweep: order: expected \"given\" or \"shuffled\", got 'up'")
    refused({ retries = -1 }, "sweep: retries: expected an integer of 0 or more, got -1")
    refused({ parameters = 3 },
      "sweep: parameters: expected values by name, a list of rows, a design or a function, got 3")
    refused({ parameters = {} }, "sweep: parameters: there are no parameters")
    refused({ parameters = { k = {} } }, "sweep: parameters: k: the list has no values")
    local wide, many = {}, ns.linspace(0, 1, 1000)
    for i = 1, 10 do wide["p" .. i] = many end
    refused({ parameters = { a = many, b = many, c = many } },
      "sweep: parameters: a sweep has at most 100000000 tasks, got 1e+09")
    refused({ parameters = wide }, "sweep: parameters: a sweep has at most 100000000 tasks, got 1e+30")
    refused({ parameters = { ["a\nb"] = { 1 } } },
      "sweep: parameters: names of parameters hold no comma, quote or line end, got 'a?b'")
    refused({ parameters = { k = { 1, step = 2 } } },
      "sweep: parameters: k: expected a list, got a table with the key 'step'")
    refused({ parameters = { k = ns.matrix { { 1, 2 } } } },
      "sweep: parameters: k: expected a vector or a list of numbers, got matrix")
    refused({ parameters = { { k = 1 }, k = { 2 } } }, "sweep: parameters: expected a list, got a table with the key 'k'")
    refused({ parameters = { { k = 1 }, nil, { k = 3 } } },
      "sweep: parameters: expected a list, but element 2 of 3 is nil")
    refused({ parameters = { { k = { 1, 2 } } } },
      "sweep: parameters: row 1: k: expected a number or a boolean, got table")
    refused({ parameters = { task = { 1 } } },
      "sweep: parameters: 'task' is the name of a column that every sweep has: rename the parameter")
    refused({ parameters = { { failed = true } } },
      "sweep: parameters: row 1: 'failed' is the name of a column that every sweep has: rename the parameter")
    refused({ progress = "bar" }, "sweep: progress: expected true, false or a function, got 'bar'")
    refused({ resume = true }, "sweep: resume: it needs file =")
    refused({ file = "a\0b.csv" }, "sweep: file: the name has a zero byte")
    local folder = os.tmpname()
    os.remove(folder)
    folder = folder .. ".csv"
    assert.is_true(require "nslua.core".journal_support.make_folder(folder))
    refused({ file = folder }, ("sweep: file: '%s' is a directory"):format(folder))
    os.remove(folder)
    refused({ parameters = { k = { 1, "a" } } }, "sweep: parameters: k[2]: expected a number or a boolean, got 'a'")
    refused({ parameters = { { a = 1 }, { b = 1 } } }, "sweep: parameters: row 2 has the names b; row 1 has a")
    refused({ parameters = function() end }, "sweep: parameters: there are no tasks")
    refused({ size = 1 }, "sweep: unknown option 'size' (known: parameters, run, setup, file, workers, on, with, seed, resume, "
      .. "timeout, retries, memory, chunk, order, progress, reduce, wait)")
  end)
end)
