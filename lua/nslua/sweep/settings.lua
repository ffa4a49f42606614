-- nslua.sweep.settings: what the command `nslua sweep` and the starter of a worker ask of every ns.sweep of a script.
--
-- Fields, each nil when nobody asks: on, workers, resume, progress (they replace the options); look ("status",
-- "cancel": the first unfinished sweep only tells its status, or is cancelled, and the script ends); part ({ first,
-- last }) and shard (only these tasks, into the journal of that name); merge (no tasks: only the file is written);
-- detach (the jobs go on without this process); command, script, rest (the words of the command, the script, its
-- arguments).
-- `worker` is the number of the sweep that this process was started for, when it runs the script anew; `ordinal`
-- counts the sweeps of the script; `kept` has the records of sweeps without a file by that number, for workers of
-- later sweeps that run the script anew.
-- `before` is the store of the sweep before this one.
-- `words` are those that the process was started with, as the global `arg` has them at first: a script may take
-- words out of `arg`, and who runs it anew needs all of them.
local core = require "nslua.core"

local current = { ordinal = 0, kept = {}, worker = core.worker_support.ordinal() }

local settings = { words = debug.getregistry()["nslua.arg"] }

if not settings.words then -- another interpreter: what there is when nslua is loaded
  local given = rawget(_G, "arg")
  settings.words = {}
  for i, word in pairs(type(given) == "table" and given or {}) do settings.words[i] = tostring(word) end
end

local function back_to(outer, ...)
  current = outer
  return ...
end

-- Calls f as a part of a task: a sweep inside of it is one of its own, of which nobody asks anything, and which shows
-- no progress. f raises nothing.
function settings.in_task(f, ...)
  local outer = current
  current = { ordinal = 0, kept = {}, progress = false }
  return back_to(outer, f(...))
end

return setmetatable(settings, { __index = function(_, name) return current[name] end,
  __newindex = function(_, name, value) current[name] = value end })
