-- nslua sweep: the command.
local host = require "host"
local runs = require "sweep_runs"

describe("nslua sweep #once", function()
  local directory
  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  local function command(words, after)
    return host.run(("cd %s || exit; %s sweep %s %s"):format(host.quote(directory), host.quote(host.nslua), words,
      after or ""))
  end

  local function script(pause)
    runs.script(directory, ([[
local clock = require "nslua.core".worker_support.clock
local s = ns.sweep { parameters = { k = ns.linspace(1, 40, 40) }, file = "a.csv", workers = 1,
  run = function(p, task)
    local stop = clock() + %g
    while clock() < stop do end
    return p.k * task.rng:uniform()
  end }
print(s, s:status().total, arg[1])]]):format(pause))
  end

  it("runs a script with other settings and its arguments", function()
    script(0)
    local out, err, status = command "script.lua --workers=2 --quiet -- word"
    assert.same({ "sweep of 40 tasks: 40 done, 0 failed\t40\tword\n", "", 0 }, { out, err, status })
    out = command "script.lua --resume --on here -- word"
    assert.equal("sweep of 40 tasks: 40 done, 0 failed\t40\tword\n", out)
  end)

  it("shows a line in a log", function()
    script(0)
    local _, err = command "script.lua"
    assert.truthy(err:find "^sweep: 40 of 40 tasks, [%d.]+/s, 0 s to go, 0 failed\n$", err)
  end)

  it("tells how far a sweep is, stops it and goes on with it", function()
    script(0.05)
    assert.equal("a.csv: not begun, 40 tasks\n", (command "script.lua --status"))
    local after = ("(sleep 0.7; %s sweep script.lua --status; %s sweep script.lua --cancel; ) &"):format(
      host.quote(host.nslua), host.quote(host.nslua))
    local out, err, status = host.run(("cd %s || exit; %s %s sweep script.lua --quiet; e=$?; wait; exit $e"):format(
      host.quote(directory), after, host.quote(host.nslua)))
    assert.truthy(out:find "a.csv: %d+ of 40 tasks finished, 0 failed; process %d+ on ", out)
    assert.truthy(out:find "a.csv: %d+ of 40 tasks finished, 0 failed; 1 processes told to stop\n", out)
    assert.truthy(err:find("ended by SIGTERM", 1, true), err)
    assert.equal(143, status)
    out = command "script.lua --status"
    assert.truthy(out:find "finished, 0 failed; no process works on it\n$", out)
    out = command "script.lua --resume --quiet"
    assert.equal("sweep of 40 tasks: 40 done, 0 failed\t40\tnil\n", out)
  end)

  it("tells of finished sweeps without going on with the script, up to the first unfinished one", function()
    runs.script(directory, [[
local function swept(name, last) return ns.sweep { parameters = { k = { 1, 2 } }, file = name, run = function(p)
  if p.k == 2 and name == last then
    os.execute("kill -TERM " .. io.open "/proc/self/stat":read "a":match "%) %a (%d+)")
    while true do end
  end
  return p.k
end } end
swept "a.csv" swept "b.csv" print "more" swept("c.csv", arg[1]) print "end"]])
    assert.equal("more\nend\n", (command "script.lua --quiet"))
    host.write(directory .. "/a.csv", "mine")
    local finished = "%s.csv: 2 of 2 tasks finished, 0 failed\n"
    local all = finished:format "a" .. finished:format "b" .. finished:format "c"
    assert.same({ all, "", 0 }, { command "script.lua --status" })
    assert.same({ all, "", 0 }, { command "script.lua --cancel" })
    assert.equal("mine", host.read(directory .. "/a.csv"))
    command "script.lua --quiet --anew -- c.csv"
    local out = command "script.lua --status"
    assert.truthy(out:find("b.csv: 2 of 2 tasks finished, 0 failed\nc.csv: %d of 2 tasks finished, 0 failed; no process works "
      .. "on it\n$"), out)
    os.remove(directory .. "/a.csv.sweep/saved")
    assert.truthy(command "script.lua --status":find("a.csv: 2 of 2 tasks finished, 0 failed; the file is not written: --resume "
      .. "writes it\n", 1, true))
  end)

  it("cancels no other program that has the number of a driver that was killed", function()
    script(0.02)
    local driver = directory .. "/a.csv.sweep/driver-driver"
    host.run(("cd %s; %s sweep script.lua --quiet & until [ -s %s ]; do sleep 0.05; done; kill -KILL $!; wait $!"):format(
      host.quote(directory), host.quote(host.nslua), driver))
    local name = host.read(driver):match " (%S+)"
    local out = host.run(([[cd %s; sleep 100 & echo "$! %s" >a.csv.sweep/driver-driver; %s sweep script.lua --cancel
%s sweep script.lua --status; kill $! && echo alive]]):format(host.quote(directory), name, host.quote(host.nslua),
      host.quote(host.nslua)))
    assert.truthy(out:find "; 0 processes told to stop\n.*; no process works on it\nalive\n$", out)
  end)

  it("begins anew only what nobody works on", function()
    script(0.1)
    local out, err, status = host.run(([[cd %s; %s sweep script.lua --quiet & until [ -s a.csv.sweep/driver-driver ]; do
sleep 0.05; done; %s sweep script.lua --anew --quiet 2>anew; %s script.lua 2>again; wait $!]]):format(host.quote(directory),
      host.quote(host.nslua), host.quote(host.nslua), host.quote(host.nslua)))
    assert.same({ "sweep of 40 tasks: 40 done, 0 failed\t40\tnil\n", "", 0 }, { out, err, status })
    local told = "sweep: another process writes 'a.csv.sweep/journal-driver'"
    assert.truthy(host.read(directory .. "/anew"):find(told, 1, true))
    local again = host.read(directory .. "/again")
    assert.truthy(again:find(told, 1, true) or again:find("finished tasks of an earlier sweep", 1, true), again)
  end)

  it("does parts, each with a journal of its own, and merges them to the same file", function()
    script(0)
    command "script.lua --quiet"
    local whole = host.read(directory .. "/a.csv")
    os.remove(directory .. "/a.csv")
    os.remove(directory .. "/a.csv.sweep/journal-driver")
    assert.equal("part 21-40: finished; 20 of 40 tasks\n", (command "script.lua --part 21-40 --quiet"))
    local _, err = command "script.lua --merge --quiet"
    assert.truthy(err:find("sweep: 20 of 40 tasks are not finished", 1, true), err)
    assert.equal("part 1-20: finished; 40 of 40 tasks\n", (command "script.lua --part 1-20 --shard one --quiet"))
    assert.equal("sweep of 40 tasks: 40 done, 0 failed\t40\tnil\n", (command "script.lua --merge --quiet"))
    assert.equal(whole, host.read(directory .. "/a.csv"))
    assert.truthy(host.read(directory .. "/a.csv.sweep/journal-one"))
    host.run(("rm -r %s/a.csv.sweep"):format(directory))
    _, err = command "script.lua --part 1-20 --quiet"
    assert.truthy(err:find("sweep: 'a.csv.sweep' is not there: the process that begins a sweep makes it, and its parts "
      .. "use it", 1, true), err)
  end)

  it("refuses what it does not know", function()
    local function refused(words, message)
      local out, err, status = command(words)
      assert.same({ "", "nslua sweep: " .. message, 1 }, { out, err:match "^[^\n]*", status })
    end
    refused("", "which script?")
    refused("a.lua --foo", "unknown option '--foo'")
    refused("a.lua --workers x", "--workers: expected a number, got 'x'")
    refused("a.lua --workers", "--workers needs a value")
    refused("a.lua --part 5", "--part: expected FIRST-LAST, got '5'")
    refused("a.lua b", "arguments of the script come after --, got 'b'")
    refused("a.lua --shard a/b", "--shard: expected letters and digits, got 'a/b'")
    local _, err = command "absent.lua"
    assert.truthy(err:find "^nslua: cannot open absent.lua")
    assert.truthy(command "--help":find "^usage: nslua sweep SCRIPT")
  end)
end)
