-- nslua.sweep.on_mpi: the back end "mpi": worker processes on the ranks that mpirun has started together.
--
-- Rank 0 runs the script and hands out tasks; each rank starts workers of its own machine, of rank 0 too, and
-- passes on what they send. So a task that crashes ends its worker, not the rank, and one that hangs is ended by its
-- timeout. Ranks other than 0 never get beyond the first sweep with on = "mpi".
--
-- Messages have a letter, the number of a worker and a text. To a rank: "H" hires a worker for the sweep of a number,
-- "M" is a message for a worker, "T" and "K" stop it, "C" lets go of it. From a rank: "M" are messages of a worker,
-- "E" tells how it ended. Both ways: "A" tells that the rank is there. An empty message ends a rank, "lost" ends it
-- after a loss.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local crew = require "nslua.sweep.crew"
local option_tables = require "nslua.base.option_tables"
local on_local = require "nslua.sweep.on_local"
local spawn = require "nslua.sweep.spawn"

local support = core.worker_support
local fail, reject = arguments.fail, arguments.reject
local pack, unpack = string.pack, string.unpack

-- Seconds between two looks for messages, as MPI has nothing to wait on: while they come, when none came for QUIET
-- seconds, and in a rank without workers. A look takes about a microsecond.
local LOOK = { busy = 1e-3, calm = 5e-3, idle = 2e-2 }
local QUIET = 0.2
-- Seconds after which a rank that has nothing to tell says that it is there.
local SIGN = 1
-- Seconds without a sign after which a rank counts as lost.
local PATIENCE = 30
-- Seconds after the end of rank 0 in which its last messages may still come. A launcher ends the other ranks itself,
-- but for one that is told to let ranks recover.
local LAST_WORDS = 1
-- Seconds without a sign of rank 0 after which a rank with workers ends, where it can not know that rank 0 has ended:
-- rank 0 gives signs whenever it waits for its workers, and a function of the user's may take long in between.
local ORPHAN = 600
-- Seconds between two looks of the driver that show that it was itself asleep: then silence tells nothing.
local ASLEEP = 5

local SIGN_OF_LIFE = pack("<c1I4", "A", 0)

local on_mpi = { name = "mpi", starts_anew = true }

local mpi -- the module nslua.mpi, once it has started
local rank, ranks
local lost, last_id = {}, 0 -- ranks that are lost; workers of other ranks are numbered through all sweeps

-- ---- the ranks ----

-- How many processes a launcher says that it has started together.
local function launched()
  for _, name in ipairs { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS" } do
    local count = math.tointeger(os.getenv(name) or "")
    if count and count > 1 then return count end
  end
  return 1
end

local function join()
  if mpi then return end
  local good, module = pcall(require, "nslua.mpi")
  if not good then
    local there = package.searchpath("nslua.mpi", package.cpath)
    fail("sweep: mpi: %s", there and tostring(module):match "^[^\n]*"
      or "nslua was built without it: sudo apt-get install libopenmpi-dev openmpi-bin, then make and make install")
  end
  rank, ranks = module.start()
  if not rank then fail("sweep: mpi: %s", ranks) end
  if ranks == 1 and launched() > 1 then
    fail("sweep: mpi: a launcher has started %d processes that do not know of each other: take the mpirun of %s",
      launched(), module.version)
  end
  mpi = module
end

-- Passes on what a worker of this rank has sent. Returns whether there was anything.
local function report(id, handle)
  local parts = {}
  for bytes in function() return handle:next() end do parts[#parts + 1] = pack("<s4", bytes) end
  if #parts > 0 then mpi.send(0, pack("<c1I4", "M", id) .. table.concat(parts)) end
  local how, signal = handle:ended()
  if not how then return #parts > 0 end
  mpi.send(0, pack("<c1I4i4", "E", id, signal) .. how)
  handle:close()
  return true, true
end

-- What rank 0 asks for.
local orders = {}

function orders.H(workers, id, text)
  local handle, message = spawn.start(unpack("<I4", text))
  if handle then workers[id] = handle else mpi.send(0, pack("<c1I4i4", "E", id, 0) .. message) end
end

function orders.M(workers, id, text) if workers[id] then workers[id]:send(text) end end
function orders.T(workers, id) if workers[id] then workers[id]:stop "TERM" end end
function orders.K(workers, id) if workers[id] then workers[id]:stop "KILL" end end

function orders.A() end

function orders.C(workers, id)
  if workers[id] then workers[id]:close() end
  workers[id] = nil
end

-- Ends this rank, as rank 0 is lost. One rank is enough to tell it.
local function give_up()
  if rank == 1 then
    io.stderr:write "nslua: sweep: mpi: rank 0 is lost, and the others end; a sweep with a file goes on by --resume\n"
  end
  mpi.lose(0)
  os.exit(1, true)
end

-- What a rank other than 0 does, to its end. It does not return.
local function attend()
  local workers, last_message, last_sign = {}, -math.huge, support.clock()
  local looked, last_order, abandoned = last_sign, last_sign, nil
  support.listen() -- rank 0 gets the signal, too, and decides
  while true do
    local now, any = support.clock(), false
    for from, message in mpi.receive do
      if not from then fail("sweep: mpi: rank %d: %s", rank, message) end
      if message == "lost" then mpi.lose(rank) end
      if message == "" or message == "lost" then os.exit(0, true) end
      local order, id, at = unpack("<c1I4", message)
      orders[order](workers, id, message:sub(at))
      any, last_order = order ~= "A", now
    end
    if next(workers) == nil or now - looked > ASLEEP then last_order = now end
    looked = now
    abandoned = mpi.abandoned() and (abandoned or now)
    if now - last_order > ORPHAN or abandoned and now - abandoned > LAST_WORDS then give_up() end
    local handles = {}
    for id, handle in pairs(workers) do
      local sent, ended = report(id, handle)
      if ended then workers[id] = nil else handles[#handles + 1] = handle end
      if sent then any, last_sign = true, now end
    end
    if any then last_message = now end
    if now - last_sign > SIGN then
      mpi.send(0, SIGN_OF_LIFE)
      last_sign = now
    end
    support.wait(handles, now - last_message < QUIET and LOOK.busy or #handles > 0 and LOOK.calm or LOOK.idle)
  end
end

-- Called as soon as it is known that sweeps run by MPI. Only rank 0 comes back from it.
function on_mpi.enter()
  join()
  if rank > 0 then attend() end
end

-- ---- workers of other ranks, as rank 0 sees them ----

local Remote = {}
Remote.__index = Remote

local function order(self, letter, text)
  if not self.how then mpi.send(self.rank, pack("<c1I4", letter, self.id) .. (text or "")) end
end

function Remote:send(text) order(self, "M", text) end
function Remote:stop(signal) order(self, signal == "TERM" and "T" or "K") end
function Remote:ended() return self.how, self.signal, self.is_lost end

function Remote:next()
  local message = self.inbox[self.at]
  if not message then
    self.inbox, self.at = {}, 1
    return nil
  end
  self.at = self.at + 1
  return message
end

function Remote:close()
  order(self, "C")
  self.how, self.staff.remotes[self.id] = self.how or "it was closed", nil
end

-- ---- the staff of a session ----

local Staff = {}

local function new_remote(ordinal, place, staff)
  last_id = last_id + 1
  local remote = setmetatable({ rank = place, id = last_id, inbox = {}, at = 1, staff = staff }, Remote)
  staff.remotes[remote.id] = remote
  order(remote, "H", pack("<I4", ordinal))
  return remote
end

-- The rank with the fewest workers.
local function place_of(staff, handles)
  local number, best = {}, nil
  for _, handle in ipairs(handles) do
    local place = staff.here[handle] and 0 or handle.rank
    number[place] = (number[place] or 0) + 1
  end
  for place = 0, ranks - 1 do
    if not lost[place] and (not best or (number[place] or 0) < (number[best] or 0)) then best = place end
  end
  return best
end

function Staff.hire(staff, session)
  local place, ordinal = place_of(staff, session.handles), session.sweep.ordinal
  local handle, message = (place > 0 and new_remote or spawn.start)(ordinal, place, staff)
  if not handle then return nil, message end
  if place == 0 then staff.here[handle] = true end
  handle:send(session.sweep.manifest)
  return handle
end

-- Takes one message of a rank in.
local function take_in(staff, from, text)
  if lost[from] then return end
  staff.heard[from] = support.clock()
  local kind, id, at = unpack("<c1I4", text)
  local remote = staff.remotes[id]
  if not remote or remote.rank ~= from then return end
  if kind == "E" then
    remote.signal, at = unpack("<i4", text, at)
    remote.how = text:sub(at)
  end
  while kind == "M" and at <= #text do
    remote.inbox[#remote.inbox + 1], at = unpack("<s4", text, at)
  end
end

-- Takes in all that has come. Returns whether there was anything for the session.
local function collect(staff)
  local any = false
  for from, text in mpi.receive do
    if not from then fail("sweep: mpi: %s", text) end
    take_in(staff, from, text)
    any = any or text:sub(1, 1) ~= "A"
  end
  return any
end

-- Gives up the ranks that have been silent for too long: their workers count as killed. Tells the others that rank 0
-- is there.
local function look_for_losses(staff)
  local now, any = support.clock(), false
  if now - staff.looked > ASLEEP then
    for place in pairs(staff.heard) do staff.heard[place] = now end
  end
  if now - staff.told > SIGN then
    for place in pairs(staff.heard) do mpi.send(place, SIGN_OF_LIFE) end
    staff.told = now
  end
  staff.looked = now
  for place, heard in pairs(staff.heard) do
    if now - heard > staff.patience and not lost[place] then
      lost[place], any = true, true
      staff.ranks = staff.ranks - 1
      mpi.lose(place)
      io.stderr:write(core.number_support.format("nslua: sweep: mpi: rank %d has been silent for %g s: its tasks are "
        .. "done by others\n", place, staff.patience))
      for _, remote in pairs(staff.remotes) do
        if remote.rank == place then remote.how, remote.signal, remote.is_lost = "its rank is lost", 9, true end
      end
    end
  end
  return any
end

function Staff.wait(staff, handles, seconds)
  local here = {}
  for _, handle in ipairs(handles) do
    if staff.here[handle] then here[#here + 1] = handle end
  end
  local start = support.clock()
  local now = start
  repeat
    if collect(staff) then staff.news, seconds = now, 0 end
    if look_for_losses(staff) then seconds = 0 end
    local pause = math.max(0, math.min(now - staff.news < QUIET and LOOK.busy or LOOK.calm, start + seconds - now))
    support.wait(here, pause)
    local before = now
    now = support.clock()
    if now - before < pause then return end -- a worker of this machine, or a signal
  until now >= start + seconds
end

-- The staff of a sweep: `each` workers on every rank.
local function new_staff(each, patience)
  local now = support.clock()
  local staff = { ranks = ranks, remotes = {}, here = setmetatable({}, { __mode = "k" }), heard = {},
    looked = now, told = now, news = now, patience = patience }
  for place = 1, ranks - 1 do
    if lost[place] then staff.ranks = staff.ranks - 1 else staff.heard[place] = now end
  end
  return {
    hire = function(session) return Staff.hire(staff, session) end,
    wait = function(handles, seconds) return Staff.wait(staff, handles, seconds) end,
    count = function() return staff.ranks * each end,
  }
end

-- ---- the back end ----

-- The options of `with`, checked.
function on_mpi.options(given, who)
  who = who .. ": with"
  local o = option_tables.need(given, "patience", who, fail)
  local patience = o.patience == nil and PATIENCE or o.patience
  reject(type(patience) ~= "number" or patience ~= patience or patience < 2 * SIGN, patience,
    "%s: patience: expected a number of %d or more", who, 2 * SIGN)
  return { patience = patience }
end

function on_mpi.start(sweep)
  on_mpi.enter()
  return crew.session(sweep, new_staff(sweep.options.wanted_workers or 1, sweep.options.with.patience))
end

on_mpi.status, on_mpi.cancel = on_local.status, on_local.cancel

return on_mpi
