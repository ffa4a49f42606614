-- nslua.sweep.crew: the session that hands out tasks to worker processes in chunks and takes their records, wherever
-- the workers are.
--
-- A back end gives it `staff`, a table of functions:
--   hire(session)           starts a worker. Returns its handle, with the methods next, send, ended, stop and close
--                           of worker_support; or nil and a message. session.handles has the workers of the others. A
--                           third result of ended: the worker is lost with its machine
--   wait(handles, seconds)  waits until a worker has sent something or has ended, or a signal came
--   count()                 how many workers there should be; it may change
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local record = require "nslua.sweep.record"
local settings = require "nslua.sweep.settings"

local support = core.worker_support
local fail = arguments.fail
local format = core.number_support.format

-- Seconds of work that a worker has in hand: a journey of a message (100 us) is 0.5 % of it, and what a kill of the
-- worker costs is small.
local IN_HAND = 0.02
-- Most tasks in one chunk: an order has 20 bytes, a chunk of this size that is lost 4096 short tasks.
local MOST_CHUNK = 4096
-- How often another process may kill the worker of a task before the task counts as failed.
local MOST_LOSSES = 5
-- Share of the driver's time that waiting for the disk may take, while tasks end faster than the disk writes.
local DISK_SHARE = 0.1
-- Seconds that workers get for their checkpoints after a SIGTERM or Ctrl-C.
local GRACE = 10

local Session = {}
Session.__index = Session

-- ---- workers ----

local function start_worker(self)
  local w = { queue = {}, queued = 0, ready = false, since = support.clock() }
  local handle, message = self.staff.hire(self)
  if not handle then fail("sweep: %s", message) end
  w.handle = handle
  self.workers[#self.workers + 1], self.handles[#self.handles + 1] = w, handle
end

-- ---- which task comes next ----

-- The next tasks: first and last number and the attempt; nil when there are none.
local function take(self, most)
  local again = table.remove(self.again)
  if again then return again.task, again.task, again.attempt end
  local done, tasks = self.done, self.tasks
  local first = self.cursor
  while first <= self.last and done:has(tasks(first)) do first = first + 1 end
  if first > self.last then
    self.cursor = first
    return nil
  end
  local last = first
  while not self.shuffled and last < self.last and last - first + 1 < most and not done:has(last + 1) do
    last = last + 1
  end
  self.cursor = last + 1
  return tasks(first), tasks(last), 1
end

-- How many tasks a worker should have in hand.
local function chunk_of(self, w)
  if self.options.chunk then return self.options.chunk end
  local by_time = w.pace and math.min(MOST_CHUNK, IN_HAND // w.pace) or 1
  local fair = (self.last - self.cursor + 1) // (2 * math.max(1, self.staff.count()))
  return math.max(1, math.min(by_time, fair) // 1 | 0)
end

local function hand_out(self)
  for _, w in ipairs(self.workers) do
    local chunk = w.ready and not w.dying and chunk_of(self, w) or 0
    if chunk > 0 and w.queued <= chunk // 2 then
      local words, number = {}, 0
      while number < chunk do
        local first, last, attempt = take(self, chunk - number)
        if not first then break end
        if w.queued == 0 and number == 0 then w.since = support.clock() end
        w.queue[#w.queue + 1] = { first = first, last = last, attempt = attempt }
        words[#words + 1] = string.pack("<I8I8", first, last)
        number = number + last - first + 1
        if attempt > 1 or #self.again > 0 then break end -- tasks that failed once go out alone
      end
      if number > 0 then
        w.queued = w.queued + number
        w.handle:send(string.pack("<I4", w.queue[#w.queue].attempt) .. table.concat(words))
      end
    end
  end
end

-- ---- what comes back ----

local function settle(self, task, bytes, is_failure)
  if self.done:has(task) then return end
  self.done:add(task)
  self.left = self.left - 1
  self.store:append(bytes)
  self.waiting = self.waiting + 1
  if is_failure then self.failed = self.failed + 1 end
end

-- A task failed in its attempt: it is tried again, or its record is kept.
local function failure(self, task, attempt, bytes)
  if attempt <= self.options.retries then
    self.again[#self.again + 1] = { task = task, attempt = attempt + 1 }
  else
    settle(self, task, bytes, true)
  end
end

local function take_record(self, w, bytes)
  local task, kind = record.task(bytes)
  local range = w.queue[1]
  range.first = range.first + 1
  w.queued = w.queued - 1
  if range.first > range.last then table.remove(w.queue, 1) end
  if kind == "F" then
    failure(self, task, range.attempt, bytes)
  else
    settle(self, task, bytes, false)
  end
end

local function take_messages(self, w)
  local number, now = 0, support.clock()
  for bytes in function() return w.handle:next() end do
    local kind = bytes:sub(1, 1)
    if kind == "R" then
      w.ready, w.in_setup, self.bad_starts = true, nil, 0
    elseif kind == "B" then
      w.in_setup = true
    elseif kind == "Q" then
      local parts = {}
      for i, one in ipairs(settings.kept[math.tointeger(bytes:sub(2))] or {}) do
        parts[i] = string.pack("<s4", one)
      end
      w.handle:send(table.concat(parts))
    elseif kind == "S" then
      self.problem = bytes:sub(2)
    else
      number = number + 1
      take_record(self, w, bytes)
    end
    w.heard = true
  end
  if number > 0 then
    local pace = (now - w.since) / number
    w.pace = w.pace and 0.5 * (w.pace + pace) or pace
  end
  if w.heard then w.since, w.heard = now, nil end
end

local OUTSIDE = { [1] = true, [2] = true, [9] = true, [15] = true } -- HUP, INT, KILL, TERM: somebody else's wish

-- A worker has ended: the task that it was at has failed, unless somebody else killed it; the others wait again.
local function bury(self, i, how, signal)
  local w = self.workers[i]
  table.remove(self.workers, i)
  table.remove(self.handles, i)
  w.handle:close()
  local range = w.queue[1]
  if self.stopping then return end
  if not w.ready then
    self.bad_starts = self.bad_starts + 1
    if self.bad_starts >= MOST_LOSSES then self.problem = self.problem or "setup: a worker ended: " .. how end
  end
  for k = #w.queue, 1, -1 do
    for task = w.queue[k].last, w.queue[k].first + (k == 1 and 1 or 0), -1 do
      self.again[#self.again + 1] = { task = task, attempt = w.queue[k].attempt }
    end
  end
  if not range then return end
  local task, message = range.first, nil
  if w.dying == task then
    message = format("timeout: the task took more than %g s", self.options.timeout)
  elseif OUTSIDE[signal] and not w.dying then
    self.losses[task] = (self.losses[task] or 0) + 1
    if self.losses[task] >= MOST_LOSSES then
      message = ("its worker was killed %d times: %s"):format(MOST_LOSSES, how)
    end
  elseif not w.dying then
    message = "the task ended its process: " .. how
  end
  if message then
    failure(self, task, range.attempt, record.failed(task, message))
  else
    self.again[#self.again + 1] = { task = task, attempt = range.attempt }
  end
end

local function take_all(self)
  for i = #self.workers, 1, -1 do
    take_messages(self, self.workers[i])
    local how, signal, is_lost = self.workers[i].handle:ended()
    if how then
      take_messages(self, self.workers[i])
      if is_lost then self.workers[i].dying = nil end -- whether its task was too long can not be told
      bury(self, i, how, signal)
    end
  end
end

-- Kills the workers whose task or setup takes too long. Returns the time until the next one can be late.
local function watch(self, most)
  local timeout = self.options.timeout
  if not timeout then return most end
  local now = support.clock()
  for _, w in ipairs(self.workers) do
    if (w.in_setup or w.ready and w.queue[1]) and not w.dying then
      local left = w.since + timeout - now
      if left <= 0 then
        if w.in_setup then self.problem = format("setup: timeout: it took more than %g s", timeout) end
        w.dying = w.in_setup or w.queue[1].first
        w.handle:stop "KILL"
      else
        most = math.min(most, left + 1e-3)
      end
    end
  end
  return most
end

-- ---- the journal ----

-- Writes what has come when the disk's share of the time allows it. Returns the seconds until it does.
local function write(self, at_once)
  if self.waiting == 0 then return 1 end
  local now = support.clock()
  local due = self.synced + self.sync_time / DISK_SHARE - now
  if due > 0 and not at_once then return due end
  local good, message = self.store:sync()
  if not good then
    self.problem = message
    return 1
  end
  self.synced, self.waiting = support.clock(), 0
  self.sync_time = self.synced - now
  return 1
end

-- ---- the session ----

-- Stops the workers. kindly: they get the time to write checkpoints.
local function stop_all(self, kindly)
  self.stopping = true
  local deadline = support.clock() + (kindly and GRACE or 0)
  for _, w in ipairs(self.workers) do w.handle:stop(kindly and "TERM" or "KILL") end
  while kindly and #self.workers > 0 and support.clock() < deadline do
    self.staff.wait(self.handles, 0.5)
    take_all(self)
  end
  for _, w in ipairs(self.workers) do w.handle:close() end
  self.workers, self.handles = {}, {}
end

-- Goes on for at most `seconds`. Returns true when all tasks are finished; nil, a message and the kind of the end
-- ("problem" or a signal) when the sweep has to stop.
function Session:advance(seconds)
  while #self.workers < math.min(self.staff.count(), self.left) and not self.problem do start_worker(self) end
  hand_out(self)
  local patience = math.min(seconds, watch(self, seconds), write(self))
  if self.left > 0 and not self.problem then self.staff.wait(self.handles, patience) end
  take_all(self)
  local signal = support.signalled()
  if signal or self.problem then
    if signal then write(self, true) end -- first: who stops a job may leave it a second only
    stop_all(self, true)
    local problem = self.problem
    if not problem then
      write(self, true)
      problem = self.problem
    end
    return nil, problem or signal, problem and "problem" or signal
  end
  if self.left > 0 then return false end
  write(self, true)
  if self.problem then return nil, self.problem, "problem" end
  return true
end

function Session:close() stop_all(self, false) end

function Session:status()
  local running = 0
  for _, w in ipairs(self.workers) do
    if w.queue[1] then running = running + 1 end
  end
  return { done = self.done.count, failed = self.failed, running = running, workers = #self.workers,
    left = self.left }
end

local crew = {}

-- Makes the session that does the tasks first to last of a sweep (see nslua.sweep.backends) that are not done yet.
function crew.session(sweep, staff)
  local options, plan = sweep.options, sweep.plan
  local self = { sweep = sweep, options = options, staff = staff, store = sweep.store, workers = {}, handles = {},
    again = {}, losses = {}, done = sweep.done, failed = sweep.failed, cursor = sweep.first, last = sweep.last,
    waiting = 0, synced = -math.huge, sync_time = 0, bad_starts = 0 }
  self.shuffled = options.order == "shuffled"
  local order = self.shuffled and core.rng(plan.seed, -1):permutation(plan.tasks.count)
  function self.tasks(i) return order and order[i] // 1 | 0 or i end
  self.left = 0
  for k = sweep.first, sweep.last do
    if not self.done:has(self.tasks(k)) then self.left = self.left + 1 end
  end
  return setmetatable(self, Session)
end

return crew
