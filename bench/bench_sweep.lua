--
-- bench_sweep.lua
-- One sweep, the same work in the same minute: nslua sweep with 1 and 2 workers, by mpirun, GNU parallel over single
-- runs, Siconos from Python by multiprocessing. Times are those of a clock on the wall.
--
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
package.path = directory .. "?.lua;" .. package.path
local ns = require "nslua"
local common = dofile(directory .. "common.lua")
local ball = require "sweep_ball"
local clock = require "nslua.core".worker_support.clock

local TASKS = tonumber(arg[1]) or 200
local PEER_TASKS = math.max(4, TASKS // 10) -- of peers whose tasks take longer
local ROUNDS = 3
local LONG = 24 -- runs of the ball in a task of about 20 ms
local nslua = arg[-1]

local function restitutions(count) return ns.linspace(0.5, 0.9, count) end

-- Seconds on the wall of f().
local function timed(f)
  local start = clock()
  f()
  return clock() - start
end

local function shell(command)
  return timed(function() assert(os.execute("{ " .. command .. "; } >/dev/null 2>&1")) end)
end

local function there(program) return os.execute("command -v " .. program .. " >/dev/null") end

-- The sum of the heights, and the seconds of a sweep; each task runs the ball `times` times.
local function swept(count, workers, times, file)
  local sum
  local seconds = timed(function()
    local simu, set, ds
    local t = ns.sweep { parameters = { e = restitutions(count) }, workers = workers, file = file,
      resume = file and false, progress = false, setup = function()
        simu, set, ds = ball.make()
        return simu
      end, run = function(p)
        set(p.e)
        return { q = ball.run(simu, ds, times) }
      end }:table()
    sum = t.q:sum()
  end)
  return seconds, sum
end

-- The script of the sweep for mpirun.
local script = os.tmpname()
do
  local file = assert(io.open(script, "w"))
  file:write(([[
package.path = %q .. package.path
local ns, ball = require "nslua", require "sweep_ball"
local simu, set, ds
ns.sweep { parameters = { e = ns.linspace(0.5, 0.9, %d) }, progress = false,
  setup = function() simu, set, ds = ball.make() return simu end,
  run = function(p) set(p.e) return { q = ball.run(simu, ds, 1) } end }
]]):format(directory .. "?.lua;", TASKS))
  file:close()
end

local least = {}
local function note(name, seconds, tasks)
  local each = seconds / tasks
  least[name] = math.min(least[name] or math.huge, each)
end

local python, no_python = common.siconos "sweep.py"
local root = io.popen "id -u":read "l" == "0" and "--allow-run-as-root " or ""
local has_parallel, has_mpi = there "parallel", there "mpirun" and package.searchpath("nslua.mpi", package.cpath)
local values = {}
for i, e in ipairs(restitutions(TASKS):totable()) do values[i] = ("%.17g"):format(e) end

local ours, theirs
for _ = 1, ROUNDS do
  for workers = 1, 2 do
    local seconds
    seconds, ours = swept(TASKS, workers, 1)
    note("nslua " .. workers, seconds, TASKS)
    note("long " .. workers, (swept(TASKS // 2, workers, LONG)), TASKS // 2)
  end
  note("file 2", (swept(TASKS, 2, 1, os.tmpname() .. ".npz")), TASKS)
  if has_mpi then
    note("mpirun", shell(("mpirun %s--oversubscribe -n 2 %s sweep %s --on mpi --quiet"):format(root, nslua, script)),
      TASKS)
  end
  if has_parallel then
    note("parallel", shell(("parallel --will-cite -j 2 %s %ssweep_ball.lua ::: %s"):format(nslua, directory,
      table.concat(values, " "))), TASKS)
  end
  if python then
    for workers = 1, 2 do
      local peer = common.peer(python, tostring(workers), tostring(PEER_TASKS))
      if peer.seconds then note("siconos " .. workers, peer.seconds, PEER_TASKS) end
      theirs = peer.sum
    end
  end
  -- What two processes can gain on this machine now: one task of a second, twice, one after the other and at once.
  local one = ("%s %ssweep_ball.lua 0.8 %d"):format(nslua, directory, 25 * LONG)
  note("after", shell(one .. "; " .. one), 2)
  note("at once", shell(("(%s) & %s; wait"):format(one, one)), 2)
end
os.remove(script)

local function row(name, key)
  local each = least[key]
  return { name, each and ("%.3f"):format(1e3 * each) or "-", common.ratio(each, least["nslua 2"]) }
end
common.table(("a sweep of %d tasks, each a ball for 2,000 steps: ms a task on the wall, best of %d"):format(TASKS,
  ROUNDS), { "", "ms a task", "over 2 workers" }, {
    row("nslua, 1 worker", "nslua 1"), row("nslua, 2 workers", "nslua 2"),
    row("nslua, 2 workers, journal and .npz", "file 2"),
    row("nslua by mpirun -n 2, with its start", "mpirun"), row("GNU parallel -j 2 over nslua", "parallel"),
    row("Siconos from Python, Pool(1)", "siconos 1"), row("Siconos from Python, Pool(2)", "siconos 2"),
  })
common.table("2 workers over 1", { "", "times faster" }, {
  { ("tasks of %.1f ms"):format(1e3 * least["nslua 1"]), common.ratio(least["nslua 1"], least["nslua 2"]) },
  { ("tasks of %.1f ms"):format(1e3 * least["long 1"]), common.ratio(least["long 1"], least["long 2"]) },
  { "two plain processes at once, not one after the other", common.ratio(least["after"], least["at once"]) },
  { "Siconos, Pool(2) over Pool(1)", common.ratio(least["siconos 1"], least["siconos 2"]) },
})
if theirs then
  local _, sum = swept(PEER_TASKS, 1, 1)
  print(("sum of the heights of %d tasks: nslua %.12g, Siconos %.12g"):format(PEER_TASKS, sum, theirs))
end
assert(ours)
local left_out = { no_python }
if not has_parallel then left_out[#left_out + 1] = "no GNU parallel here" end
if not has_mpi then left_out[#left_out + 1] = "no mpirun or no nslua.mpi here" end
common.skipped(table.unpack(left_out))
