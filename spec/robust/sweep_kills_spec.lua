-- A sweep whose workers, and whose driver, are killed at random moments ends with the file of an undisturbed one.
-- NSLUA_KILLS: how many kills of each (default 4).
local host = require "host"
local ns = require "nslua"
local runs = require "sweep_runs"

local KILLS = tonumber(os.getenv "NSLUA_KILLS") or 4

describe("a sweep under kill -9 #long", function()
  local directory, run
  setup(function()
    directory = host.new_directory()
    run = runs.script(directory, [[
local clock = require "nslua.core".worker_support.clock
local s = ns.sweep { parameters = { k = ns.linspace(1, 400, 400) }, file = file, workers = workers, resume = true,
  run = function(p, task)
    local stop = clock() + 0.002 * task.rng:uniform()
    while clock() < stop do end
    if p.k % 50 == 0 then error("fails", 0) end
    return { x = p.k * task.rng:uniform(), v = task.rng:normal(3) }
  end }
print(s)]])
    run "whole.csv 1"
  end)
  teardown(function() host.remove(directory) end)

  local function compare(name)
    local want, errors = runs.bytes(directory .. "/whole.csv")
    local got, got_errors = runs.bytes(directory .. "/" .. name)
    assert.is_true(want == got and errors == got_errors)
  end

  it("of its workers, at random moments", function()
    local rng, left = ns.rng(os.time()), KILLS
    local round = 0
    while left > 0 do
      round = round + 1
      local name = ("workers%d.csv"):format(round)
      local kill = [[
(for wait in %s; do sleep $wait; worker=$(pgrep -f "[s]cript.lua %s" | tail -n +2 | shuf -n 1)
test -n "$worker" && kill -9 $worker && echo killed; done >kills.txt 2>/dev/null) &]]
      local waits = {}
      for i = 1, 10 do waits[i] = ("%.3f"):format(rng:uniform(0.01, 0.06)) end
      local out, err = run(name .. " 3", kill:format(table.concat(waits, " "), name))
      assert.equal("sweep of 400 tasks: 400 done, 8 failed\n", out .. err)
      compare(name)
      local _, count = host.read(directory .. "/kills.txt"):gsub("killed", "")
      left = left - math.max(count, 1)
    end
  end)

  it("of its driver, at random moments, again and again", function()
    local rng, left, round = ns.rng(os.time() + 1), KILLS, 0
    while left > 0 do
      round = round + 1
      local name = ("driver%d.csv"):format(round)
      while true do
        local _, _, status = run(name .. " 2", ("timeout -s KILL %.3f"):format(rng:uniform(0.02, 0.25)))
        if status == 0 then break end
        left = left - 1
      end
      left = left - (round % 2)
      compare(name)
    end
  end)
end)
