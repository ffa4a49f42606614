-- Sweeps on the ranks of mpirun: the file of "local", bit for bit, whatever is killed.
local host = require "host"
local mpi = require "mpi"
local runs = require "sweep_runs"

local directory

-- Task 7 raises, 8 never ends, 9 crashes; with KILL=kill one kills the rank 2, with KILL=coordinator the rank 0.
local body = [[
print "here"
local support = require "nslua.core".worker_support
local s = ns.sweep { parameters = { k = ns.linspace(1, 120, 120) }, file = file, timeout = 0.4, with = WITH,
  run = function(p, task)
    local victim = ({ kill = "2", coordinator = "0" })[os.getenv "KILL" or ""]
    if victim and p.k > 20 and os.getenv "OMPI_COMM_WORLD_RANK" == victim and not io.open "killed" then
      io.open("killed", "w"):write(os.time()):close() -- kills its rank, which is its parent
      os.execute("kill -KILL " .. io.open "/proc/self/stat":read "a":match "%) %a (%d+)")
    end
    if p.k == 7 then error("no seven", 0) end
    if p.k == 8 then while true do end end
    if p.k == 9 then os.execute("kill -SEGV " .. support.pid()) end
    local stop = support.clock() + (tonumber(os.getenv "PAUSE") or 0)
    while support.clock() < stop do end
    return { x = p.k * task.rng:uniform(), v = { p.k, task.rng:normal() }, folder = task.checkpoint and 1 or 0 }
  end }
print(s)
]]

local function run(words, launcher)
  return host.run(("cd %s || exit; %s %s sweep script.lua %s"):format(host.quote(directory), launcher or "",
    host.quote(host.nslua), words))
end

local whole = {} -- the bytes of the file of local workers, and of its errors

local function same_file(name) assert.same(whole, { runs.bytes(directory .. "/" .. name) }) end

local told = "here\nsweep of 120 tasks: 120 done, 3 failed\n"

describe("a sweep by MPI #once", function()
  setup(function()
    directory = host.new_directory()
    runs.script(directory, (body:gsub("WITH", "nil")))
    if mpi.here and not host.sanitized then
      assert.same({ told, "", 0 }, { run "--on local --quiet -- a.csv" })
      whole = { runs.bytes(directory .. "/a.csv") }
    end
    host.remove(directory)
  end)
  before_each(function()
    directory = host.new_directory()
    runs.script(directory, (body:gsub("WITH", "nil")))
  end)
  after_each(function() host.remove(directory) end)

  mpi.it("writes the file of local workers with any number of ranks; tasks that hang or crash end no rank", function()
    if host.sanitized then return end -- it catches the crash
    for count = 1, 4, 3 do
      local out, err, status = run("--on mpi --quiet -- a.csv", mpi.launcher(count))
      assert.same({ told, "", 0 }, { out, err, status })
      same_file "a.csv"
    end
    local out = run "--on mpi --workers 2 --anew --quiet -- b.csv" -- without a launcher
    assert.equal(told, out)
    same_file "b.csv"
  end)

  mpi.it("is taken up by --resume after the loss of a rank", function()
    if host.sanitized then return end
    local _, _, status = run("--on mpi --quiet -- a.csv", "PAUSE=0.02 KILL=kill " .. mpi.launcher(3))
    assert.equal(137, status)
    local out = run "--status -- a.csv"
    assert.truthy(out:find "a.csv: %d+ of 120 tasks finished, ", out)
    out = run("--on mpi --resume --quiet -- a.csv", mpi.launcher(2))
    assert.equal(told, out)
    same_file "a.csv"
  end)

  mpi.it("does the tasks of a lost rank again where the launcher lets the others live", function()
    if host.sanitized then return end
    runs.script(directory, (body:gsub("WITH", 'os.getenv "KILL" and { patience = 2 }')))
    local out, err, status = run("--on mpi --quiet -- a.csv",
      "PAUSE=0.02 KILL=kill " .. mpi.launcher(3, "--enable-recovery"))
    assert.same({ told, 0 }, { out, status })
    assert.truthy(err:find("nslua: sweep: mpi: rank 2 has been silent for 2 s: its tasks are done by others\n", 1, true), err)
    same_file "a.csv"
  end)

  mpi.it("ends soon after the loss of rank 0, and is taken up by --resume", function()
    if host.sanitized then return end
    local out, err = run("--on mpi --quiet -- a.csv",
      "PAUSE=0.02 KILL=coordinator " .. mpi.launcher(3, "--enable-recovery"))
    local killed = tonumber(host.read(directory .. "/killed"))
    assert.is_true(os.time() - killed < 10)
    assert.equal("here\n", out)
    assert.truthy(err:find("nslua: sweep: mpi: rank 0 is lost, and the others end; a sweep with a file goes on by "
      .. "--resume\n", 1, true), err)
    assert.equal(told, (run("--on mpi --resume --quiet -- a.csv", mpi.launcher(2))))
    same_file "a.csv"
  end)

  mpi.it("does several sweeps of one script, with and without files, by on = in the script", function()
    local before = whole
    runs.script(directory, [[
for i = 1, 3 do
  local s = ns.sweep { parameters = { k = { 1, 2, 3, 4, 5 } }, file = i == 2 and file or nil, on = "mpi",
    run = function(p, task) return p.k + task.rng:uniform() end }
  io.stdout:write(s:table().value:totable()[i], "\n")
end
error("enough", 0)]])
    local want = run "--on here --quiet -- local.csv"
    whole = { runs.bytes(directory .. "/local.csv") }
    local out, err, status = run("--quiet -- a.csv", mpi.launcher(3))
    assert.equal(1, status)
    assert.truthy(err:find("nslua: enough\n", 1, true), err)
    assert.equal(want, out)
    same_file "a.csv"
    whole = before
  end)

  mpi.it("its workers run the script anew, with all its words, quietly, and know what came before", function()
    runs.script(directory, [[
local gain = tonumber(table.remove(arg, 1))
print "begin" io.write "it" io.stdout:write "!"
local first = ns.sweep { parameters = { k = { 1, 2 } }, on = "mpi", run = function(p)
  io.open("calls", "a"):write("x"):close()
  return p.k
end }
local second = ns.sweep { parameters = { k = { 1, 2, 3 } }, file = "a.csv", on = "mpi", workers = 2, run = function(p, task)
  if p.k == 1 then io.stdout:write("task\n"):flush() end
  local inner = ns.sweep { parameters = { b = { 1, 2 } }, workers = 1, run = function(q) return p.k * q.b end }
  return { x = gain * p.k + first:table().value[2], inner = inner:table().value[2],
    c = task.checkpoint == "a.csv.sweep/checkpoints/task-" .. task.index, clean = not os.getenv "NSLUA_SWEEP_WORKER" }
end }
local t = second:table()
print(t.x, t.inner, t.c, t.clean)]])
    local out, err, status = run("--quiet -- 10", mpi.launcher(2))
    local said
    out, said = out:gsub("task\n", "") -- it comes before or after what the script prints
    -- in the script, on = "mpi" lets each rank run it up to its first sweep
    assert.same({ 1, "", 0 }, { said, err, status })
    assert.truthy(out:find("[12, 22, 32]\t[2, 4, 6]\t[1, 1, 1]\t[1, 1, 1]\n", 1, true), out)
    assert.equal("xx", host.read(directory .. "/calls"))
  end)

  mpi.it("tells what is wrong with the launcher and the options", function()
    local _, err, status = run("--on mpi -- a.csv", "PMI_SIZE=3")
    assert.equal(1, status)
    assert.truthy(err:find("^nslua: sweep: mpi: a launcher has started 3 processes that do not know of each other: take the "
      .. "mpirun of Open MPI %d"), err)
    runs.script(directory, (body:gsub("WITH", "{ patience = 1 }")))
    _, err = run "--on mpi -- a.csv"
    assert.truthy(err:find("sweep: with: patience: expected a number of 2 or more, got 1", 1, true), err)
    runs.script(directory, (body:gsub("WITH", "{ hosts = 1 }")))
    _, err = run "--on mpi -- a.csv"
    assert.truthy(err:find("sweep: with: unknown option 'hosts' (known: patience)", 1, true), err)
  end)

  it("tells how to come by the module", function()
    local lone = directory .. "/lone"
    os.execute((("mkdir -p LONE/bin LONE/lib/lua/5.4/nslua LONE/share/lua/5.4 && cp %s LONE/bin && "
      .. "ln -s %s/lua/nslua LONE/share/lua/5.4 && cp %s/lib/nslua/core.so LONE/lib/lua/5.4/nslua"):format(host.nslua, host.root,
      host.build):gsub("LONE", lone)))
    local _, err, status = host.run(("cd %s && LUA_CPATH='%s/lib/lua/5.4/?.so' %s/bin/nslua sweep script.lua --on mpi"):format(
      directory, lone, lone))
    assert.same({ "nslua: sweep: mpi: nslua was built without it: sudo apt-get install libopenmpi-dev openmpi-bin, then make and "
      .. "make install\n", 1 }, { err, status })
  end)
end)
