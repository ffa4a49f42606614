-- nslua.sweep: ns.sweep: one function over many parameters, by worker processes, into one file.
--
--   local sweep = ns.sweep { parameters = { A = ns.linspace(0.1, 1, 500) }, run = function(p) return { x = p.A ^ 2 }
-- end,
--     file = "sweep.npz" }
--   sweep:table().x
local arguments = require "nslua.base.arguments"
local backends = require "nslua.sweep.backends"
local columns = require "nslua.sweep.columns"
local core = require "nslua.core"
local files = require "nslua.files"(core, core.file_support)
local manifest = require "nslua.sweep.manifest"
local option_names = require "nslua.base.option_names"
local progress = require "nslua.sweep.progress"
local settings = require "nslua.sweep.settings"
local spawn = require "nslua.sweep.spawn"
local stores = require "nslua.sweep.store"
local tasks_of = require "nslua.sweep.tasks"
local where = require "nslua.base.where"
local worker = require "nslua.sweep.worker"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local support = core.worker_support

local sweeps = {}

local Sweep = {}
Sweep.__index = Sweep
Sweep.__name = "sweep"

-- ---- options ----

local function optional(options, name, check, ...)
  if options[name] == nil then return nil end
  return check(options[name], ...)
end

local function positive(value, who, name)
  reject(type(value) ~= "number" or value ~= value or value <= 0, value,
    "%s: %s: expected a number above 0", who, name)
  return value
end

local function callable(value, who, name)
  return expect(value, "function", "%s: %s: expected a function", who, name)
end

local function one_of(value, list, who, name)
  for _, known in ipairs(list) do
    if value == known then return value end
  end
  local shown = {}
  for i, known in ipairs(list) do shown[i] = type(known) == "string" and '"' .. known .. '"' or tostring(known) end
  fail("%s: %s: expected %s, got %s", who, name, table.concat(shown, " or "), describe(value))
end

local ENDINGS = { csv = true, npz = true, h5 = true, hdf5 = true }

local function check_file(file, who)
  reject(type(file) ~= "string" or not ENDINGS[file:match "%.(%w+)$" or ""], file,
    "%s: file: expected a name that ends in .csv, .npz or .h5", who)
  if file:find "%z" then fail("%s: file: the name has a zero byte", who) end
  if core.journal_support.list_folder(file) then fail("%s: file: '%s' is a directory", who, file) end
  if file:find "%.h5$" or file:find "%.hdf5$" then require "nslua.hdf5" end
  return file
end

local function check_resume(value, who, file)
  one_of(value, { true, false, "failed" }, who, "resume")
  if value and not file then fail("%s: resume: it needs file =", who) end
  return value
end

local function check_progress(value, who)
  reject(type(value) ~= "boolean" and type(value) ~= "function", value,
    "%s: progress: expected true, false or a function", who)
  return value
end

local function worker_count(value, who)
  if value == nil or value == "auto" then return support.cores() end
  return arguments.integer(value, 1, who, "workers")
end

-- The options, checked, with what the command asks for. A part of a sweep is always done by "local", in order.
local function read_options(given, who)
  local o = arguments.options(given, who)
  callable(o.run, who, "run")
  local on = backends.find(not settings.part and (settings.on or o.on) or "local", who)
  local order = optional(o, "order", one_of, { "given", "shuffled" }, who, "order")
  local resume = optional(o, "resume", check_resume, who, o.file)
  if settings.resume ~= nil and not (settings.part and resume == "failed") then resume = settings.resume end
  local with = o.with
  arguments.optional(with, "table", "%s: with: expected a table", who)
  local shown = optional(o, "progress", check_progress, who)
  return {
    run = o.run,
    setup = optional(o, "setup", callable, who, "setup"),
    reduce = optional(o, "reduce", callable, who, "reduce"),
    file = optional(o, "file", check_file, who),
    workers = worker_count(settings.workers or o.workers, who),
    wanted_workers = math.tointeger(settings.workers or o.workers),
    on = on,
    with = on.options and on.options(with or {}, who),
    seed = o.seed == nil and 1 or arguments.integer(o.seed, math.mininteger, who, "seed"),
    resume = resume,
    timeout = optional(o, "timeout", positive, who, "timeout"),
    memory = optional(o, "memory", positive, who, "memory"),
    retries = o.retries == nil and 0 or arguments.integer(o.retries, 0, who, "retries"),
    chunk = optional(o, "chunk", arguments.integer, 1, who, "chunk"),
    order = not settings.part and order or nil,
    wait = optional(o, "wait", one_of, { true, false }, who, "wait"),
    progress = settings.progress == nil and shown or settings.progress,
  }
end

-- ---- the run ----

local function status_of(self)
  local s = self.session and self.session:status() or self.last_status
  local elapsed = (self.ended or support.clock()) - self.began
  local rate = elapsed > 0 and (s.done - self.before) / elapsed or 0
  return { total = self.tasks.count, done = s.done, failed = s.failed, running = s.running, workers = s.workers,
    elapsed = elapsed, rate = rate, eta = rate > 0 and (self.tasks.count - s.done) / rate or s.done < self.tasks.count
    and math.huge or 0 }
end

local function close(self)
  if self.session then
    self.last_status = self.session:status()
    self.session:close()
    self.session = nil
    support.unlisten()
  end
  self.ended = self.ended or support.clock()
  self.store:finish()
  self.last_status = self.last_status or { done = self.finished.count, failed = self.failed }
  self.last_status.running, self.last_status.workers = 0, 0
end

-- Writes the file.
local function save(self, names, arrays, failures)
  local good, message = pcall(columns.save, self.options.file, self.tasks, names, arrays, failures)
  if not good then
    local reason = tostring(message):gsub("^[^\n]-%.lua:%d+: ", "")
    if reason:find "^sweep: " then error(message, 0) end -- the columns do not fit: another attempt is of no use
    fail("sweep: %s; all %d tasks are kept in '%s'; resume = true writes the file", reason, self.tasks.count,
      self.store.folder)
  end
  self.store:note_saved()
end

-- Reads the records, once all are there; writes the file.
local function gather(self)
  if self.columns then return end
  local missing = self.tasks.count - self.store:finished().count
  if missing > 0 then fail("sweep: %d of %d tasks are not finished", missing, self.tasks.count) end
  local names, arrays, failures = columns.gather(self.tasks, self.store:records())
  if self.options.file then save(self, names, arrays, failures) end
  self.columns = files.columns(names, arrays)
  self.failed_rows = failures
  self.names, self.arrays = names, arrays
end

local function row_of(self, k)
  local row = self.tasks:row(k)
  for i, name in ipairs(self.names) do
    if row[name] == nil then row[name] = self.arrays[i][k] end
  end
  return row
end

local function reduce(self)
  if not self.options.reduce or self.is_reduced then return end
  for k = 1, self.tasks.count do self.reduced = self.options.reduce(self.reduced, row_of(self, k), k) end
  self.is_reduced = true
end

-- What a stop tells: how much is kept, and how to go on.
local function stopped(self, message, kind)
  local status = status_of(self)
  local kept = self.options.file and (" %d of %d tasks are kept in '%s'; resume = true goes on"):format(
    self.store:finished().count, status.total, self.store.folder) or ""
  if kind == "TERM" then
    io.stderr:write("nslua: sweep: ended by SIGTERM;", kept, "\n")
    support.die_by "TERM"
  end
  fail("sweep: %s%s", kind == "INT" and "interrupted" or message, kept ~= "" and ";" .. kept or "")
end

-- Goes on for a while; true when all tasks are finished.
local function advance(self, seconds)
  if not self.session then return true end
  local good, finished, message, kind = pcall(self.session.advance, self.session, seconds)
  if good and finished == false then
    self.show(status_of(self), false)
    return false
  end
  close(self)
  self.show(status_of(self), true)
  if not good then error(finished, 0) end
  if finished == nil then stopped(self, message, kind) end
  return true
end

function Sweep:wait()
  while not advance(self, 0.5) do end
  gather(self)
  reduce(self)
  return self
end

function Sweep:status()
  advance(self, 0)
  return status_of(self)
end

function Sweep:table()
  self:wait()
  return self.columns
end

function Sweep:failures()
  self:wait()
  local list = {}
  for i, one in ipairs(self.failed_rows) do
    list[i] = { task = one.task, parameters = self.tasks:row(one.task), error = one.error, traceback = one.traceback }
  end
  return list
end

function Sweep:pivot(x, y, name)
  self:wait()
  return require "nslua.sweep.pivot".pivot(self.columns, x, y, name, "pivot")
end

function Sweep:plot(options)
  self:wait()
  return require "nslua.sweep.picture".plot(self.columns, options, self.tasks.names)
end

function Sweep:close() close(self) end

Sweep.__close = close

function Sweep:__len() return self.tasks.count end

function Sweep:__tostring()
  local s = status_of(self)
  return ("sweep of %d tasks: %d done, %d failed"):format(s.total, s.done, s.failed)
end

where.methods(Sweep, "a sweep", "sweep")
setmetatable(Sweep, { __index = function(known, name)
  return where.missing(known, name, "sweep", { reduced = true })
end })

-- Adds the options o that a function passes on to its sweep.
function sweeps.pass_on(o, sweep)
  for name in option_names.sweep:gmatch "%S+" do
    if sweep[name] == nil then sweep[name] = o[name] end
  end
  return sweep
end

-- ---- ns.sweep ----

local driver, wanted -- of a process that was started as a worker; the manifest of its sweep

-- In such a process, at a sweep before its own: the records that the driver has of it. A sweep with a file has them
-- there.
local function take_over(self)
  self.options.resume, self.options.on = true, backends.find("here", "sweep")
  if self.options.file then return end
  driver:send("Q" .. self.ordinal)
  local answer, at = driver:receive() or "", 1
  while at <= #answer do
    self.records[#self.records + 1], at = string.unpack("<s4", answer, at)
  end
end

-- In a process that was started as the worker of one of the script's sweeps: this one, or one before it.
local function serve_if_worker(self)
  if not driver then
    local message
    driver, message = support.adopt()
    if not driver then fail("sweep: %s", message) end
    wanted = driver:receive()
  end
  if settings.worker ~= self.ordinal then return take_over(self) end
  local problem
  local difference = manifest.difference({ wanted, "" }, { manifest.of(self.plan), "" })
  if difference then
    problem = "a worker that runs the script anew has another sweep: " .. difference
  elseif not stores.is_there(self.options.file, self.plan) then
    problem = ("the folder '%s' of %s is another one: machines have to share one directory"):format(
      stores.folder(self.options.file), support.host())
  end
  if problem then
    driver:send("S" .. problem)
    support.leave(1)
  end
  spawn.speak()
  worker.serve(driver, self.plan)
end

local function start(self)
  local first, last = 1, self.tasks.count
  local on, file = self.options.on, self.options.file
  if settings.part and file then first, last = settings.part[1], math.min(last, settings.part[2]) end
  if self.finished.count >= self.tasks.count or settings.merge then return close(self) end
  if on.shares_folder and not file then
    fail('sweep: on = "%s": it needs a file, in a directory that its processes share', on.name)
  end
  self.store:begin(settings.shard or "driver", not settings.part and on.name)
  support.listen()
  local good, session = pcall(on.start, { plan = self.plan, store = self.store, options = self.options,
    first = first, last = last, done = self.finished, failed = self.failed, ordinal = self.ordinal,
    manifest = on.starts_anew and manifest.of(self.plan) })
  if not good then
    support.unlisten()
    close(self)
    fail("sweep: %s", (tostring(session):gsub("^.-sweep: ", "")))
  end
  self.session = session
  if settings.detach then require "nslua.sweep.command".detach(self) end
end

function sweeps.sweep(given)
  local who = "sweep"
  local options = read_options(given, who)
  local tasks = tasks_of.of(given.parameters, who .. ": parameters")
  if options.file then columns.check_names(tasks, options.file) end
  settings.ordinal = settings.ordinal + 1
  local plan = { run = options.run, setup = options.setup, tasks = tasks, seed = options.seed,
    memory = options.memory, taken = columns.taken(tasks) }
  local self = setmetatable({ options = options, tasks = tasks, plan = plan, ordinal = settings.ordinal,
    began = support.clock(), records = {} }, Sweep)
  plan.checkpoints = options.file and stores.checkpoints(options.file)
  if settings.worker then serve_if_worker(self) end
  if settings.look then require "nslua.sweep.command".look(self) end
  self.store = stores.open(options.file, plan, options.resume, self.records)
  local on = options.on
  if options.file and not settings.part then
    self.store:note_next(nil)
    if settings.before then settings.before:note_next(options.file) end
    settings.before = self.store
  end
  if not options.file and on.starts_anew then settings.kept[self.ordinal] = self.records end
  self.finished, self.failed = self.store:finished(options.resume == "failed")
  self.before = self.finished.count
  self.show = progress.of(options.progress)
  start(self)
  if settings.part and options.file and self.session then
    while not advance(self, 0.5) do end
    require "nslua.sweep.command".end_of_part(self)
  end
  if options.wait ~= false then self:wait() end
  return self
end

return sweeps
