-- nslua.sweep.on_slurm: the back end "slurm": parts of a sweep as job arrays of the batch system Slurm.
--
-- All jobs of a sweep have one name, so that they are found again when their driver is gone. A job that reaches its
-- time limit stops its workers, which write their checkpoints, and goes back into the queue.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local jobs = require "nslua.sweep.jobs"
local lists = require "nslua.base.lists"
local option_tables = require "nslua.base.option_tables"

local support, files = core.worker_support, core.process_support
local fail, expect, reject = arguments.fail, arguments.expect, arguments.reject
local format = core.number_support.format

-- Seconds before the time limit of a job at which it stops: 10 for checkpoints, the others for a slow disk.
local LEAD = 30
-- How often a job goes back into the queue: with a limit of an hour, that is about a day.
local MOST_REQUEUES = 24
-- Slurm's own default for MaxArraySize.
local ARRAY_SIZE = 1001
-- Seconds without an answer of Slurm after which the driver gives up.
local SILENCE = 600
-- Seconds in which jobs that were cancelled may come to their end; Slurm kills them after 30 s by default.
local ENDING = 60
-- Seconds after which a job counts as lost that runs, as Slurm says, but has not begun its script: a network's
-- directory shows a new file within a minute. Slurm itself looks for such jobs every half hour only.
local PATIENCE = 120

local Slurm = { kind = "slurm" }

-- The jobs of a name: { id = "22_6", state = "RUNNING", restarts = 0 }; nil and a message when Slurm does not tell.
local function jobs_of(name)
  local text, good = jobs.run("squeue --noheader --array --name=" .. name
    .. " --Format=ArrayJobID,ArrayTaskID,State,RestartCnt")
  if not good then return nil, text:match "[^\n]*" end
  local list = {}
  for array, element, state, restarts in text:gmatch "(%d+) +(%S+) +(%S+) +(%d+)" do
    list[#list + 1] = { id = array .. "_" .. element, state = state, restarts = math.tointeger(restarts) }
  end
  return list
end

-- How many of the jobs are in each state.
local function states_of(list)
  local states = {}
  for _, job in ipairs(list) do states[job.state] = (states[job.state] or 0) + 1 end
  return states
end

-- "3 RUNNING, 2 PENDING"
local function listed(states)
  local names = lists.keys(states)
  for i, state in ipairs(names) do names[i] = ("%d %s"):format(states[state], state:lower()) end
  return table.concat(names, ", ")
end

-- The file that the script of a job writes when it begins: the number of restarts of the job.
local function mark_of(self, id) return self.folder .. "/begun-" .. id end

-- Whether a job has not begun, though it has been running for too long. When slurmd is killed while it starts a job,
-- nobody runs the job, and Slurm counts it as running.
local function is_lost(self, job)
  local key = job.id .. "." .. job.restarts
  local since = self.since[key] or support.clock()
  self.since[key] = since
  if since == true or support.clock() - since < self.with.patience then return false end
  if jobs.read_line(mark_of(self, job.id)) ~= tostring(job.restarts) then return true end
  self.since[key] = true
  return false
end

-- Puts lost jobs back into the queue. The merging job after all others is no element of an array and leaves no mark.
local function take_up_lost(self, list)
  for _, job in ipairs(list) do
    if job.state == "RUNNING" and job.id:find "_%d" and job.restarts < self.with.requeues and is_lost(self, job) then
      local text, good = jobs.run("scontrol requeue " .. job.id)
      io.stderr:write(format("nslua: sweep: slurm: job %s has not begun for %g s: %s\n", job.id, self.with.patience,
        good and "it goes back into the queue" or text:match "[^\n]*"))
    end
  end
end

function Slurm:alive()
  local list, message = jobs_of(self.name)
  if not list then
    self.silent = self.silent or support.clock()
    if support.clock() - self.silent > SILENCE then fail("sweep: slurm: %s", message) end
    return nil
  end
  take_up_lost(self, list)
  self.silent, self.running = nil, states_of(list).RUNNING or 0
  return #list
end

local function array_size()
  local text = jobs.run "scontrol show config"
  return (math.tointeger(text:match "MaxArraySize%s*=%s*(%d+)") or ARRAY_SIZE) - 1
end

-- The script of a job: $1 is the list of parts, $2 is added to the number of the element.
local function job_script(self)
  return "#!/bin/sh\n" .. self:check() .. ([[
echo "${SLURM_RESTART_COUNT:-0}" >%s"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
part=$(sed -n "$((SLURM_ARRAY_TASK_ID + $2))p" "$1")
trap 'late=1; kill -TERM $child' USR1
trap 'kill -TERM $child' TERM
%s &
child=$!
wait $child
status=$?
while kill -0 $child 2>/dev/null; do
  wait $child
  status=$?
done
if [ -n "$late" ] && [ $status -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt %d ]; then
  echo "part $part: out of time, goes back into the queue"
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit $status
]]):format(jobs.quote(mark_of(self, "")), self:part_command(self.sweep.options.wanted_workers or 1),
    self.with.requeues)
end

local function sbatch(words)
  for i, word in ipairs(words) do words[i] = jobs.quote(word) end
  local text, good = jobs.run("sbatch --parsable " .. table.concat(words, " "))
  local id = good and text:match "(%d+)[^\n]*%s*$"
  if id then return id end
  return nil, text:match "([^\n]*)%s*$"
end

local function add_options(words, self, script, ...)
  for _, option in ipairs(self.with.sbatch) do words[#words + 1] = option end
  for _, word in ipairs { script, ... } do words[#words + 1] = word end
  return words
end

-- Submits the parts that are left, as arrays of allowed size. With a throttle, one array begins when that before it
-- has ended.
function Slurm:submit()
  local list, count = self:list()
  local script, size, last_id = self.folder .. "/slurm-part.sh", array_size(), nil
  files.save(script, job_script(self))
  for offset = 0, count - 1, size do
    local words = { "--job-name=" .. self.name, "--requeue", "--open-mode=append", "--signal=B:USR1@" .. LEAD,
      "--output=" .. self.folder .. "/log-%A_%a", ("--array=1-%d%s"):format(math.min(size, count - offset),
        self.with.throttle and "%" .. self.with.throttle or "") }
    local workers = self.sweep.options.wanted_workers
    if workers and workers > 1 then words[#words + 1] = "--cpus-per-task=" .. workers end
    if self.with.throttle and last_id then words[#words + 1] = "--dependency=afterany:" .. last_id end
    local id, message = sbatch(add_options(words, self, script, list, tostring(offset)))
    if not id then
      if offset == 0 then return nil, "slurm: " .. message end
      break -- the queue is full: the others follow when these have ended
    end
    last_id, self.ids = id, (self.ids and self.ids .. ":" or "") .. id
  end
  return false
end

-- Leaves the jobs alone: one more, after them, writes the file. Returns what to tell.
function Slurm:detach()
  local script = self.folder .. "/slurm-merge.sh"
  files.save(script, "#!/bin/sh\n" .. self:check() .. "exec " .. self:merge_command() .. "\n")
  local words = { "--job-name=" .. self.name, "--output=" .. self.folder .. "/log-merge-%j" }
  if self.ids then words[#words + 1] = "--dependency=afterany:" .. self.ids end
  local id, message = sbatch(add_options(words, self, script))
  if not id then fail("sweep: slurm: %s", message) end
  return ("slurm: jobs %s work; job %s writes the file after them"):format(self.ids or self.name, id)
end

function Slurm:close() jobs.run("scancel --quiet --name=" .. self.name) end

local on_slurm = { name = "slurm", shares_folder = true }

-- The options of `with`, checked.
function on_slurm.options(given, who)
  who = who .. ": with"
  local o = option_tables.need(given, "sbatch throttle requeues patience", who, fail)
  local list = o.sbatch == nil and {} or o.sbatch
  expect(list, "table", "%s: sbatch: expected a list of words", who)
  for i, word in ipairs(list) do
    reject(type(word) ~= "string" or not word:find "^%-", word,
      "%s: sbatch[%d]: expected an option of sbatch", who, i)
  end
  local patience = o.patience == nil and PATIENCE or o.patience
  reject(type(patience) ~= "number" or patience ~= patience or patience <= 0, patience,
    "%s: patience: expected a number above 0", who)
  return { sbatch = list, patience = patience,
    throttle = o.throttle and arguments.integer(o.throttle, 1, who, "throttle"),
    requeues = o.requeues == nil and MOST_REQUEUES or arguments.integer(o.requeues, 0, who, "requeues") }
end

-- The jobs of a name that an earlier driver has submitted and that nobody has cancelled. Those that come to their end
-- are waited for.
local function jobs_to_adopt(name)
  local deadline = support.clock() + ENDING
  while true do
    local list, message = jobs_of(name)
    local live = {}
    for _, job in ipairs(list or {}) do
      if job.state ~= "COMPLETING" then live[#live + 1] = job end
    end
    if not list or #live > 0 or #list == 0 or support.clock() > deadline or support.signalled() then
      return list and live, message
    end
    support.wait({}, 0.5)
  end
end

-- The numbers of the arrays that jobs belong to, as sbatch wants them for a dependency.
local function arrays_of(list)
  local known, ids = {}, {}
  for _, job in ipairs(list) do
    local array = job.id:match "^%d+"
    if not known[array] then ids[#ids + 1] = array end
    known[array] = true
  end
  return table.concat(ids, ":")
end

function on_slurm.start(sweep)
  local self = jobs.session(sweep, Slurm)
  self.with, self.since = sweep.options.with, {}
  local list, problem = jobs_to_adopt(self.name)
  if not list then fail("sweep: slurm: %s", problem) end
  if #list > 0 then
    self.ids = arrays_of(list)
    return self
  end
  local good, message = self:submit()
  if good == nil then fail("sweep: %s", message) end
  return self
end

-- For `nslua sweep --status`: the jobs in the queue; where Slurm keeps accounts, also those that did not end well.
function on_slurm.status(store)
  local name = jobs.name(store)
  local list, message = jobs_of(name or "nslua-none")
  if not list then return "; slurm: " .. message end
  local text = "; slurm: " .. (#list > 0 and listed(states_of(list)) or "no job is in the queue")
  local ended = {}
  local accounts = jobs.run(("sacct -X -n -P --name=%s -o State 2>/dev/null"):format(name or "nslua-none"))
  for state in accounts:gmatch "[^\n]+" do
    local word = state:match "^[A-Z_]+"
    if word and not (" COMPLETED RUNNING PENDING REQUEUED "):find(" " .. word .. " ", 1, true) then
      ended[word] = (ended[word] or 0) + 1
    end
  end
  return text .. (next(ended) and "; ended: " .. listed(ended) or "")
end

-- For `nslua sweep --cancel`.
function on_slurm.cancel(store)
  local name = jobs.name(store)
  local list, message = jobs_of(name or "nslua-none")
  if not list then return "; slurm: " .. message end
  jobs.cancel(store) -- before scancel: else its driver might submit them again
  if name then jobs.run("scancel --quiet --name=" .. name) end
  return ("; slurm: %d jobs cancelled"):format(#list)
end

return on_slurm
