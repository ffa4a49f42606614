-- nslua.sweep.store: the folder of a sweep, FILE.sweep: manifest, script, journals of finished tasks, checkpoints,
-- a note "saved" when the file has been written, and one "next" with the file of the script's next sweep.
--
-- Each process that finishes tasks has a journal of its own, "journal-NAME" (NAME is its shard). Together they hold
-- the record of every finished task. Each resumption that repeats failed tasks begins a round, whose number is in the
-- file "round"; its journals are "journal-NAME~ROUND". The last record of a task in the last round counts. A sweep
-- without a file keeps its records in memory.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local manifest = require "nslua.sweep.manifest"
local record = require "nslua.sweep.record"
local settings = require "nslua.sweep.settings"

local support, files, workers = core.journal_support, core.process_support, core.worker_support
local fail = arguments.fail

local store = {}

local Store = {}
Store.__index = Store

-- The folder of a sweep with a file, and in it the folder of checkpoints.
function store.folder(file) return file .. ".sweep" end
function store.checkpoints(file) return store.folder(file) .. "/checkpoints" end

local function read_file(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

local function saved_note(self) return self.folder .. "/saved" end

local function checked(good, message)
  if not good then fail("sweep: %s", message) end
  return good
end

-- The finished tasks as intervals from 1 on: all up to `frontier`, and those in `beyond`. It stays small when tasks
-- end in about their order.
local Done = {}
Done.__index = Done

function Done:add(task)
  if self:has(task) then return end
  self.count = self.count + 1
  self.beyond[task] = true
  while self.beyond[self.frontier + 1] do
    self.frontier = self.frontier + 1
    self.beyond[self.frontier] = nil
  end
end

function Done:has(task) return task <= self.frontier or self.beyond[task] == true end

function store.done() return setmetatable({ frontier = 0, beyond = {}, count = 0 }, Done) end

-- ---- the folder ----

-- The journals in the order in which their records count: { path =, round = }.
function Store:journals()
  local list = {}
  for _, name in ipairs(support.list_folder(self.folder) or {}) do
    if name:find "^journal%-" then
      list[#list + 1] = { path = self.folder .. "/" .. name, round = math.tointeger(name:match "~(%d+)$") or 0 }
    end
  end
  table.sort(list, function(a, b)
    if a.round ~= b.round then return a.round < b.round end
    return a.path < b.path
  end)
  return list
end

-- Walks over all records, each with its round: of the journals, or in memory.
function Store:records()
  if not self.folder then
    local i = 0
    return function()
      i = i + 1
      return self.memory[i]
    end
  end
  local list, i, next_record = self:journals(), 0, function() end
  return function()
    while true do
      local bytes = next_record()
      if bytes then return bytes, list[i].round end
      i = i + 1
      if not list[i] then return nil end
      next_record = checked(support.read(list[i].path))
    end
  end
end

-- The finished tasks and how many of them failed. again: tasks that failed before this round do not count as
-- finished.
function Store:finished(again)
  local done, failures, earlier = store.done(), {}, 0
  for bytes, round in self:records() do
    local task, kind = record.task(bytes)
    failures[task] = kind == "F" and (round or 0) or nil
    done:add(task)
  end
  local failed = 0
  for _, round in pairs(failures) do
    failed = failed + 1
    earlier = earlier + (round < self.round and 1 or 0)
  end
  if not again or earlier == 0 then return done, failed end
  local good = store.done()
  for bytes in self:records() do
    local task = record.task(bytes)
    if (failures[task] or self.round) >= self.round then good:add(task) end
  end
  return good, failed - earlier
end

-- Removes what an earlier sweep of this file has left.
function Store:clear()
  for _, folder in ipairs { self.folder .. "/checkpoints", self.folder } do
    for _, name in ipairs(support.list_folder(folder) or {}) do os.remove(folder .. "/" .. name) end
  end
end

function Store:manifest()
  return { read_file(self.folder .. "/manifest"), read_file(self.folder .. "/script") or "" }
end

function Store:read_round()
  self.round = math.tointeger((read_file(self.folder .. "/round") or ""):match "^%d+") or 0
end

local function journal_of(self, shard) return self.folder .. "/journal-" .. shard end

-- Begins anew, where nobody works on what there is, and keeps the journal from others from then on.
local function begin_anew(self, now)
  for _, journal in ipairs(self:journals()) do
    if support.holder(journal.path) then fail("sweep: another process writes '%s'", journal.path) end
  end
  self:clear()
  self.round = 0
  checked(support.make_folder(self.folder))
  checked(support.make_folder(self.folder .. "/checkpoints"))
  self.journal = checked(support.open(journal_of(self, settings.shard or "driver")))
  files.save(self.folder .. "/script", now[2])
  files.save(self.folder .. "/manifest", now[1])
end

-- Opens the store of a file (nil: memory) for a plan. resume: true goes on with what there is, false begins anew,
-- "failed" goes on and repeats the failed tasks, nil raises when there is an unfinished sweep. memory: a list for the
-- records of a sweep without a file.
function store.open(file, plan, resume, memory)
  local self = setmetatable({ file = file, memory = memory, round = 0, folder = file and store.folder(file) }, Store)
  if not file then return self end
  local now = { manifest.of(plan) }
  local before = self:manifest()
  if not before[1] and settings.part then
    fail("sweep: '%s' is not there: the process that begins a sweep makes it, and its parts use it", self.folder)
  end
  if not before[1] or resume == false then
    begin_anew(self, now)
    return self
  end
  local difference = manifest.difference(before, now)
  self:read_round()
  if resume == nil then
    local done = self:finished()
    if done.count > 0 and not self:is_saved() then -- what the file holds may be replaced
      fail("sweep: '%s' holds %d finished tasks of an earlier sweep%s: %sresume = false begins anew", self.folder,
        done.count, difference and ", and " .. difference or "", difference and "" or "resume = true goes on, ")
    end
    begin_anew(self, now)
  elseif difference then
    fail("sweep: '%s' can not be resumed: %s (resume = false begins anew)", self.folder, difference)
  end
  if resume == "failed" and not settings.part then -- a part belongs to the round of the process that has started it
    self.round, self.is_new_round = self.round + 1, true
  end
  return self
end

-- The store of a sweep's file, to look at; nil when there is none.
function store.existing(file)
  local self = setmetatable({ file = file, memory = {}, folder = store.folder(file) }, Store)
  self:read_round()
  return self:manifest()[1] and self or nil
end

-- Whether the folder of a sweep can be seen from here; a sweep without a file needs none.
function store.is_there(file, plan)
  local self = not file or store.existing(file)
  return self == true or self and not manifest.difference(self:manifest(), { manifest.of(plan) })
end

-- ---- writing ----

-- Notes that the file holds all records. Without this note the next sweep asks before it begins anew.
function Store:note_saved() pcall(files.save, saved_note(self), self.file .. "\n") end

function Store:is_saved() return read_file(saved_note(self)) ~= nil end

-- Begins to write records into the journal of a shard. back_end: the name of what the whole sweep runs on.
function Store:begin(shard, back_end)
  if not self.folder then return end
  if back_end then files.save(self.folder .. "/back-end", back_end .. "\n") end
  local path = journal_of(self, shard)
  self.journal = self.journal or checked(support.open(path))
  if self.is_new_round then
    files.save(self.folder .. "/round", self.round .. "\n")
    os.remove(saved_note(self))
  end
  if self.round > 0 then -- the journal without a round stays open: no other process of this name can begin
    self.first_journal, self.journal = self.journal, checked(support.open(path .. "~" .. self.round))
  end
  self.driver = self.folder .. "/driver-" .. shard
  files.save(self.driver, ("%d %s\n"):format(workers.pid(), workers.host()))
end

-- The name of what the sweep was begun on; nil when it was not.
function Store:back_end() return (read_file(self.folder .. "/back-end") or ""):match "%S+" end

-- The processes that write: { { pid =, host = } }. Those of this machine are those that have a journal: the number in
-- the file of one that was killed may belong to another program by now.
function Store:drivers()
  local list = {}
  for _, name in ipairs(support.list_folder(self.folder) or {}) do
    local shard = name:match "^driver%-(.*)$"
    local pid, host = (shard and read_file(self.folder .. "/" .. name) or ""):match "^(%d+) (%S+)"
    pid = math.tointeger(pid)
    if pid and host == workers.host() then pid = support.holder(journal_of(self, shard)) end
    if pid then list[#list + 1] = { pid = pid, host = host } end
  end
  return list
end

-- Notes which sweep the script does after this one; for --status, which does not run the script on. nil: none yet.
function Store:note_next(file)
  if file then pcall(files.save, self.folder .. "/next", file .. "\n") else os.remove(self.folder .. "/next") end
end

-- The store of the next sweep, and its file; nil when there is none.
function Store:next()
  local file = (read_file(self.folder .. "/next") or ""):match "^[^\n]+"
  return file and store.existing(file), file
end

function Store:append(bytes)
  if self.journal then self.journal:append(bytes) else self.memory[#self.memory + 1] = bytes end
end

-- Waits until all records are on the disk; nil and a message when that fails.
function Store:sync()
  if not self.journal then return true end
  return self.journal:sync()
end

function Store:finish()
  if not self.journal then return end
  self.journal:close()
  if self.first_journal then self.first_journal:close() end
  if self.driver then os.remove(self.driver) end
  self.journal = nil
end

return store
