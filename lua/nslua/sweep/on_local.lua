-- nslua.sweep.on_local: the back end "local": worker processes of this machine.
local core = require "nslua.core"
local crew = require "nslua.sweep.crew"
local worker = require "nslua.sweep.worker"

local support = core.worker_support

local on_local = { name = "local" }

-- A worker is a copy of this process, so that run finds all variables as they are.
local function hire(session)
  local handle, child = support.fork()
  if not handle then return nil, child end
  if child then
    for _, other in ipairs(session.handles) do other:release() end
    worker.serve(handle, session.sweep.plan)
  end
  return handle
end

-- Starts to work on a sweep (see nslua.sweep.backends).
function on_local.start(sweep)
  return crew.session(sweep, { hire = hire, wait = support.wait,
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

-- For `nslua sweep --cancel`: stops the workers of this machine.
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
