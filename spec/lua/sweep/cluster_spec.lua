-- Sweeps by Slurm and by GNU parallel: the file of "local", bit for bit. Slurm is started on this machine alone;
-- NSLUA_CLUSTER=1000 makes it an array of a thousand jobs, NSLUA_KILLS=100 kills its slurmd so many times, and
-- NSLUA_ACCOUNTS=1 lets slurmdbd and a database keep its accounts.
local host = require "host"
local ns = require "nslua"
local runs = require "sweep_runs"

local function is_there(program)
  return select(3, host.run("PATH=$PATH:/usr/sbin command -v " .. program)) == 0
end

local jobs = tonumber(os.getenv "NSLUA_CLUSTER") or 8

-- How many times slurmd is killed, and how many times at most in one sweep.
local kills, most_kills = tonumber(os.getenv "NSLUA_KILLS") or 1, 10

-- Whether Slurm keeps accounts, so that sacct tells of jobs that have ended.
local accounts = os.getenv "NSLUA_ACCOUNTS"

local directory, cluster
local started = false

local function run(words) return host.run(("cd %s || exit; export SLURM_CONF=%s/slurm.conf; %s"):format(
  host.quote(directory), cluster or "", words)) end

local function sweep(words, before)
  return run(("%s %s sweep %s"):format(before or "", host.quote(host.nslua), words))
end

-- What "local" says of so many tasks, and the bytes that it writes.
local wanted, whole = {}, nil

-- A sweep of `count` tasks, each of `pause` seconds; task 7 raises, task 8 never ends. Returns what it says at its end.
local function script(count, pause, chunk, with)
  runs.script(directory, ([[
local clock = require "nslua.core".worker_support.clock
print(ns.sweep { parameters = { k = ns.linspace(1, %d, %d) }, file = file, workers = 1, timeout = 0.5, chunk = %d,
  order = "shuffled", %s run = function(p, task)
    local stop = clock() + (task.index == 8 and math.huge or tonumber(os.getenv "PAUSE") or %g)
    while clock() < stop do end
    if task.index == 7 then error("no seven", 0) end
    return { x = p.k * task.rng:uniform(), v = { p.k, task.rng:normal() } }
  end })]]):format(count, count, chunk, with or "", pause))
  local out = ("sweep of %d tasks: %d done, 2 failed\n"):format(count, count)
  if not wanted[count] then
    assert.same({ out, "", 0 }, { sweep("script.lua --on local --quiet -- local.csv", "PAUSE=0") })
    wanted[count] = { runs.bytes(directory .. "/local.csv") }
  end
  whole = wanted[count]
  return out
end

local function same_file(name) assert.same(whole, { runs.bytes(directory .. "/" .. name) }) end

describe("a sweep by Slurm #once #long", function()
  if not is_there "slurmctld" or not is_there "munged" then
    pending("runs where the packages slurm-wlm and munge are (make cluster)")
    return
  end

  setup(function()
    cluster = host.new_directory()
    local out, err, status = host.run(("%s sh %s/spec/cluster.sh start %s"):format(accounts and "ACCOUNTS=1" or "",
      host.quote(host.root), cluster))
    started = status == 0
    assert.same(0, status, out .. err)
  end)
  teardown(function()
    if started then host.run(("sh %s/spec/cluster.sh stop %s"):format(host.quote(host.root), cluster)) end
    host.remove(cluster)
    cluster = nil
  end)
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("writes the file of local workers, whatever time limits and a requeue do", function()
    local count = math.max(jobs, 160)
    local told = script(count, 0.02, count // jobs)
    run(host.quote(host.nslua) .. " sweep script.lua --on slurm --quiet -- a.csv >out 2>err & echo $! >pid; n=0; "
      .. "until id=$(squeue -h -r -t R -o %F_%K | head -n 1); [ -n \"$id\" ] || [ $n -gt 100 ]; do sleep 0.1; "
      .. "n=$((n + 1)); done; scontrol requeue $id; sleep 0.3; scontrol update JobId=$id StartTime=now; wait $(cat pid)")
    assert.same({ told, "" }, { host.read(directory .. "/out"), host.read(directory .. "/err") })
    same_file "a.csv"
    assert.truthy(run("cat a.csv.sweep/log-*"):find("REQUEUE", 1, true))
  end)

  it("goes on without its driver: the last job writes the file, and --status tells how far it is", function()
    script(160, 0.002, 40, 'with = { throttle = 2, sbatch = { "--time=5" } },')
    local out = sweep "script.lua --on slurm --detach -- a.csv"
    assert.truthy(out:find("^a.csv: slurm: jobs %d+ work; job %d+ writes the file after them; %-%-status tells how far "
      .. "they are\n$"), out)
    out = sweep "script.lua --status -- a.csv"
    assert.truthy(out:find "^a.csv: %d+ of 160 tasks finished, %d failed; slurm: %d+ %l+", out)
    -- What a Slurm with accounts would tell.
    host.write(directory .. "/sacct", "#!/bin/sh\nprintf 'COMPLETED\\nTIMEOUT\\nRUNNING\\nCANCELLED by 7\\nTIMEOUT\\n'\n")
    out = run(("chmod +x sacct; PATH=.:$PATH; %s sweep script.lua --status -- a.csv"):format(host.quote(host.nslua)))
    assert.truthy(out:find("; ended: 1 cancelled, 2 timeout\n", 1, true), out)
    run "n=0; until [ -f a.csv.errors ] || [ $n -gt 300 ]; do sleep 0.1; n=$((n + 1)); done; sleep 0.2"
    same_file "a.csv"
  end)

  it("is taken up again after a kill of its driver, and is cancelled", function()
    script(160, 0.05, 40)
    -- long tasks: the jobs are still there when the busy machine comes to --status
    run("PAUSE=0.3 " .. host.quote(host.nslua) .. " sweep script.lua --on slurm --quiet -- a.csv & n=0; "
      .. "until [ -f a.csv.sweep/journal-1-40 ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done; kill -KILL $!; wait")
    assert.truthy(sweep "script.lua --status -- a.csv":find("; slurm: .*running"))
    local out = sweep "script.lua --cancel -- a.csv"
    assert.truthy(out:find "; slurm: %d jobs cancelled\n$", out)
    if accounts then
      run(("n=0; until sacct -X -n -P -o State | grep -q CANCELLED || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done"))
      assert.truthy(sweep "script.lua --status -- a.csv":find "; slurm: no job is in the queue; ended: %d cancelled\n$")
    end
    -- Cancelled jobs that are about to end are none to wait for; those that go on are.
    for _ = 1, 2 do
      out = sweep("script.lua --on slurm --resume --detach --quiet -- a.csv", "PAUSE=0.01")
      assert.truthy(out:find "slurm: jobs %d+", out)
    end
    run "n=0; until [ -f a.csv.errors ] || [ $n -gt 300 ]; do sleep 0.1; n=$((n + 1)); done; sleep 0.2"
    same_file "a.csv"
  end)

  it("writes the same file when slurmd is killed while jobs run", function()
    local rng, crash = ns.rng(os.time()), "sh " .. host.quote(host.root .. "/spec/cluster.sh") .. " crash " .. cluster
    while kills > 0 do
      local waits = {}
      for i = 1, math.min(kills, most_kills) do waits[i] = ("%.2f"):format(rng:uniform(0, 1.2)) end
      local count = 160 * #waits
      local told = script(count, 0.02, 20, "with = { patience = 2 },")
      local out, err = run(("(sleep 0.8; for wait in %s; do sleep $wait; %s && echo killed; done) >crashes 2>&1 & "):format(
        table.concat(waits, " "), crash) .. host.quote(host.nslua) .. " sweep script.lua --on slurm --quiet --anew -- a.csv; "
        .. "wait")
      assert.equal(told, out)
      assert.equal("", (err:gsub("nslua: sweep: slurm: job %d+_%d+ has not begun for 2 s: it goes back into the queue\n", "")))
      same_file "a.csv"
      local _, number = host.read(directory .. "/crashes"):gsub("killed", "")
      kills = kills - math.max(number, 1)
    end
  end)

  it("tells what Slurm refuses, and why jobs do not finish", function()
    script(160, 0, 160, 'with = { sbatch = { "--partition=none" } },')
    local _, err = sweep "script.lua --on slurm --quiet -- a.csv"
    assert.truthy(err:find("sweep: slurm: sbatch: error: Batch job submission failed: Invalid partition name", 1, true),
      err)
    script(160, 0, 160)
    host.run(("cd %s && sed -i 's/^local ns/if os.getenv \"SLURM_JOB_ID\" then error \"no model\" end local ns/' script.lua")
      :format(host.quote(directory)))
    _, err = sweep "script.lua --on slurm --quiet -- b.csv"
    assert.truthy(err:find("sweep: slurm: no job is left, and 160 tasks are not finished; 'b.csv.sweep/log-", 1, true), err)
    assert.truthy(err:find("0 of 160 tasks are kept in 'b.csv.sweep'; resume = true goes on", 1, true), err)
  end)
end)

describe("a sweep by GNU parallel #once #long", function()
  if not is_there "parallel" then
    pending("runs where the package parallel is")
    return
  end
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("writes the file of local workers", function()
    local told = script(160, 0, 40, 'with = { hosts = { ":" } },')
    assert.equal(told, (sweep "script.lua --on parallel --workers 2 --quiet -- a.csv"))
    same_file "a.csv"
  end)

  it("stops when it is told to, and goes on", function()
    local told = script(160, 0.05, 40)
    local _, _, status = run(host.quote(host.nslua) .. " sweep script.lua --on parallel --workers 2 --quiet -- a.csv "
      .. "2>err & n=0; until [ -f a.csv.sweep/journal-1-40 ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done; "
      .. "sleep 0.2; kill -TERM $!; wait $!")
    assert.equal(143, status)
    assert.truthy(host.read(directory .. "/err"):find("ended by SIGTERM", 1, true))
    assert.equal(told, (sweep("script.lua --on parallel --workers 2 --resume --quiet -- a.csv", "PAUSE=0")))
    same_file "a.csv"
  end)

  it("tells which host does not see the folder", function()
    script(160, 0, 160, 'with = { hosts = { ":", "4/nowhere.invalid" } },')
    local _, err = sweep "script.lua --on parallel --quiet -- a.csv"
    assert.truthy(err:find("sweep: parallel: the host 'nowhere.invalid' does not see the folder 'a.csv.sweep': ", 1, true),
      err)
  end)
end)

describe("a sweep on other machines #once", function()
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("refuses what it can not use", function()
    local function refused(options, message)
      host.write(directory .. "/script.lua", 'require "nslua".sweep { parameters = { k = { 1 } }, run = function() end, '
        .. options .. " }")
      local _, err = sweep "script.lua --quiet"
      assert.truthy(err:find(message, 1, true), err)
    end
    refused('on = "slurm"', 'sweep: on = "slurm": it needs a file, in a directory that its processes share')
    refused('on = "slurm", with = 3', "sweep: with: expected a table, got 3")
    refused('on = "slurm", with = { sbatch = 3 }', "sweep: with: sbatch: expected a list of words, got 3")
    refused('on = "slurm", with = { sbatch = { "x" } }', "sweep: with: sbatch[1]: expected an option of sbatch, got 'x'")
    refused('on = "slurm", with = { throttle = 0 }', "sweep: with: throttle")
    refused('on = "slurm", with = { hosts = {} }',
      "sweep: with: unknown option 'hosts' (known: sbatch, throttle, requeues, patience)")
    refused('on = "slurm", with = { patience = 0 }', "sweep: with: patience: expected a number above 0, got 0")
    refused('on = "parallel", with = { hosts = {} }', "sweep: with: hosts: expected a list of hosts, got")
    refused('on = "parallel", with = { hosts = { "a b" } }',
      [[sweep: with: hosts[1]: expected a host that ssh knows, or ":", got 'a b']])
    host.write(directory .. "/script.lua", 'require "nslua".sweep { parameters = { k = { 1 } }, run = function() end, '
      .. 'file = "a.csv" }')
    local _, err = sweep "script.lua --detach --quiet"
    assert.truthy(err:find('sweep: --detach: on = "local" needs this process', 1, true), err)
  end)

  it("puts a job of Slurm back into the queue that has not begun", function()
    local told = script(160, 0, 160, 'with = { patience = 0.1, sbatch = { "--account=none" } },')
    -- A Slurm that loses its job once: the job runs, as squeue says, and begins when it is put back into the queue.
    host.write(directory .. "/sbatch", "#!/bin/sh\necho '1 1 RUNNING 0' >queue; echo \"$@\" >submitted; echo 1\n")
    host.write(directory .. "/squeue", "#!/bin/sh\ncat queue 2>/dev/null; exit 0\n")
    host.write(directory .. "/scontrol", "#!/bin/sh\ntest \"$*\" = 'requeue 1_1' || exit 0\nrm queue; set -- $(cat submitted)\n"
      .. "while [ $# -gt 3 ]; do shift; done\n"
      .. "SLURM_ARRAY_JOB_ID=1 SLURM_ARRAY_TASK_ID=1 SLURM_RESTART_COUNT=1 sh \"$@\" >log 2>&1\n")
    host.write(directory .. "/scancel", "#!/bin/sh\n")
    local out, err = run("chmod +x sbatch squeue scontrol scancel; PATH=$PWD:$PATH; " .. host.quote(host.nslua)
      .. " sweep script.lua --on slurm --quiet -- a.csv")
    assert.same({ told, "nslua: sweep: slurm: job 1_1 has not begun for 0.1 s: it goes back into the queue\n" }, { out, err })
    assert.equal("1\n", host.read(directory .. "/a.csv.sweep/begun-1_1"))
    same_file "a.csv"
  end)
end)
