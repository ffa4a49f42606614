-- nslua.sweep.jobs: what back ends share that start `nslua sweep SCRIPT --part FIRST-LAST` on machines with one
-- common directory: the list of the parts, the script that does one of them, and the session that
-- waits for their records.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local settings = require "nslua.sweep.settings"

local support, files = core.worker_support, core.process_support
local fail = arguments.fail

local jobs = {}

-- Parts of a sweep when the option `chunk` is not given: enough to keep some hundred processors busy; the start of a
-- job takes about a second, and so many files in one folder are no burden.
local PARTS = 200
-- Most parts at one time: each has a journal and a log in the folder of the sweep.
local MOST_PARTS = 10000
-- Seconds between two looks at the records: at first, and at most. In between, a share of the time that has passed.
local LOOK = { first = 0.5, most = 30, share = 0.05 }
-- Seconds in which records of jobs that have ended may still appear in a network's directory.
local LINGER = 3

-- A word for the shell.
function jobs.quote(word)
  if word:find "^[%w_./=:,+-]+$" then return word end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- Runs a command; its output with that on the error output, and whether its exit status is 0.
function jobs.run(command)
  local pipe = io.popen("{ " .. command .. "; } 2>&1 </dev/null")
  local text = pipe:read "a" or ""
  return text, pipe:close() == true
end

-- The command that runs this script as `nslua sweep`, with options.
local function command_of(options)
  local given = settings.command
  local words
  if given then
    words = { given[-1], "sweep" }
  else
    given = settings.words
    words = { given[-1] or "nslua", "sweep", given[0] or fail "sweep: this process runs no script" }
    if not words[1]:find "nslua[^/]*$" then words[1] = "nslua" end
  end
  local script = settings.command and settings.script or words[3]
  words[3] = script
  for _, option in ipairs(options) do words[#words + 1] = option end
  words[#words + 1] = "--"
  local rest = settings.command and settings.rest or given
  for i = 1, #rest do words[#words + 1] = rest[i] end
  for i, word in ipairs(words) do words[i] = jobs.quote(word) end
  return table.concat(words, " ")
end

-- A name that no other sweep has: of this one's jobs and of the file by which a machine knows its folder.
local function new_name(folder)
  local clock = math.floor(support.clock() * 1e9) -- in ns
  local text = ("%s %d %d %s"):format(folder, support.pid(), clock, support.host())
  return "nslua-" .. require "nslua.sweep.tasks".hash_of(text):sub(1, 12)
end

-- The first line of a file; nil when there is none.
function jobs.read_line(path)
  local file = io.open(path, "r")
  local line = file and file:read "l"
  if file then file:close() end
  return line
end

-- The name of the jobs of a store; nil when it never had any.
function jobs.name(store) return jobs.read_line(store.folder .. "/jobs-name") end

local function cancel_mark(store) return store.folder .. "/jobs-cancelled" end

-- Tells the driver of a store, wherever it runs, that its jobs are not wanted any more.
function jobs.cancel(store) files.save(cancel_mark(store), "cancelled\n") end

function jobs.is_cancelled(store) return jobs.read_line(cancel_mark(store)) ~= nil end

-- The parts, as "FIRST-LAST", that hold tasks of a sweep that are not done.
local function parts_of(sweep)
  local total = sweep.last - sweep.first + 1
  local size = math.max(sweep.options.chunk or (total + PARTS - 1) // PARTS, (total + MOST_PARTS - 1) // MOST_PARTS)
  local list = {}
  for first = sweep.first, sweep.last, size do
    local last = math.min(first + size - 1, sweep.last)
    for k = first, last do
      if not sweep.done:has(k) then
        list[#list + 1] = ("%d-%d"):format(first, last)
        break
      end
    end
  end
  return list
end

-- ---- a session ----

local Session = {}
Session.__index = Session

-- Writes the list of the parts that are left to do. Returns its name and how many there are.
function Session:list()
  self.round = self.round + 1
  local list = parts_of(self.sweep)
  local path = ("%s/%s-%d.list"):format(self.folder, self.name, self.round)
  files.save(path, table.concat(list, "\n") .. "\n")
  self.before = self.sweep.done.count
  return path, #list
end

-- The lines of a shell script that stop it where the folder of the sweep is another one.
function Session:check()
  local mark = jobs.quote(self.folder .. "/jobs-name")
  return ([[
if [ "$(cat %s 2>/dev/null)" != %s ]; then
  echo "nslua: sweep: the folder "%s" of $(hostname) is another one: machines have to share one directory"
  exit 3
fi
]]):format(mark, self.name, jobs.quote(self.folder))
end

-- The command that does the part that the shell has as $part, with so many workers.
function Session:part_command(workers)
  local text = command_of { "--part", "PART", "--quiet", "--workers", tostring(workers) }
  return (text:gsub("PART", '"$part"', 1))
end

-- The command that writes the file of the sweep.
function Session:merge_command() return command_of { "--merge", "--quiet" } end

-- The end of the last log that tells of a problem.
local function last_words(self)
  local names = core.journal_support.list_folder(self.folder) or {}
  table.sort(names)
  local any = false
  for i = #names, 1, -1 do
    if names[i]:find "^log%-" then
      any = true
      local file = io.open(self.folder .. "/" .. names[i], "rb")
      local text = file and file:read "a" or ""
      if file then file:close() end
      local line = text:match "([^\n]*)%s*$"
      if line ~= "" and not line:find "^part %d" then
        return ("'%s/%s' ends with: %s"):format(self.folder, names[i], line)
      end
    end
  end
  return any and "its logs tell no reason"
    or ("the jobs wrote nothing into '%s': machines have to share one directory"):format(self.folder)
end

-- Whether all is finished, after a look at the records; nil and a message when it can not be.
local function look(self)
  if jobs.is_cancelled(self.store) then return nil, self.kind .. ": it was cancelled" end
  local alive = self:alive() -- before the records: a job that has ended has written all of its own
  local sweep = self.sweep
  local whole, failed = self.store:finished()
  self.failed = failed
  sweep.done = self.again and self.store:finished(true) or whole
  self.count = whole.count
  if sweep.done.count >= sweep.last then return true end
  if alive ~= 0 then
    self.alone = nil
    return false
  end
  self.alone = self.alone or support.clock()
  if sweep.done.count > self.before then
    self.alone = nil
    return self:submit() -- what a time limit or a lost machine has left
  elseif support.clock() - self.alone < LINGER then
    return false
  end
  return nil, ("%s: no job is left, and %d tasks are not finished; %s"):format(self.kind,
    sweep.last - sweep.done.count, last_words(self))
end

function Session:advance(seconds)
  local signal = support.signalled()
  if signal then return nil, signal, signal end
  local now = support.clock()
  if now < self.next_look then
    support.wait(self.handles or {}, math.min(seconds, self.next_look - now))
  else
    local finished, message = look(self)
    if finished == nil then return nil, message, "problem" end
    if finished then return true end
    now = support.clock()
    self.next_look = now + math.min(LOOK.most, math.max(LOOK.first, LOOK.share * (now - self.begun)))
  end
  return false
end

function Session:status()
  return { done = self.count, failed = self.failed, running = self.running or 0, workers = self.running or 0 }
end

-- Makes a session for a sweep. methods: kind (the name of the back end), alive() (how many jobs are there, nil when
-- that can not be told), submit() (starts jobs for what is left; false, or nil and a message), close().
function jobs.session(sweep, methods)
  local self = setmetatable({ sweep = sweep, store = sweep.store, folder = sweep.store.folder, round = 0,
    begun = support.clock(), next_look = 0, count = sweep.done.count, failed = sweep.failed, before = -1,
    again = sweep.options.resume == "failed" }, { __index = function(_, key)
      if methods[key] ~= nil then return methods[key] end
      return Session[key]
    end })
  os.remove(cancel_mark(self.store))
  self.name = jobs.name(self.store)
  if not self.name then
    self.name = new_name(self.folder)
    files.save(self.folder .. "/jobs-name", self.name .. "\n")
  end
  return self
end

return jobs
