-- nslua.sweep.on_local: the back end "local": worker processes of this machine.
local core = require "nslua.core"
local crew = require "nslua.sweep.crew"
local spawn = require "nslua.sweep.spawn"
local worker = require "nslua.sweep.worker"

local support = core.worker_support

local on_local = { name = "local" }

-- Whether this process can be copied: a copy has one thread only, and locks of others would stay closed in it.
local function can_fork(options)
  if options.start then return options.start == "fork" end
  return support.threads() <= 1
end

function on_local.starts_anew(options) return not can_fork(options) end

local function hire_copy(session)
  local handle, child = support.fork()
  if not handle then return nil, child end
  if child then
    for _, other in ipairs(session.handles) do other:release() end
    worker.serve(handle, session.sweep.plan)
  end
  return handle
end

local function hire_anew(session)
  local handle, message = spawn.start(session.sweep.ordinal)
  if handle then handle:send(session.sweep.fingerprint) end
  return handle, message
end

-- Starts to work on a sweep (see nslua.sweep.backends).
function on_local.start(sweep)
  return crew.session(sweep, { hire = can_fork(sweep.options) and hire_copy or hire_anew, wait = support.wait,
    count = function() return sweep.options.workers end })
end

-- For `nslua sweep --status`: which processes work on the tasks of a store.
function on_local.status(store)
  local list = {}
  for _, driver in ipairs(store:drivers()) do
    list[#list + 1] = ("process %d on %s"):format(driver.pid, driver.host)
  end
  return #list > 0 and "; " .. table.concat(list, ", ") or "; no process works on it"
end

-- For `nslua sweep --cancel`: stops those of this machine.
function on_local.cancel(store)
  local stopped, others = 0, 0
  for _, driver in ipairs(store:drivers()) do
    if driver.host == support.host() and support.signal_process(driver.pid, "TERM") then
      stopped = stopped + 1
    else
      others = others + 1
    end
  end
  return ("; %d processes told to stop%s"):format(stopped, others > 0 and (", %d on other machines"):format(others)
    or "")
end

return on_local
