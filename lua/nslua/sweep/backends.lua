-- nslua.sweep.backends: the list of what can run a sweep's tasks (the option `on`).
--
-- A back end is a table in a file of its own:
--   name           what `on` says
--   start(sweep)   begins to work and returns a session; raises when it can not be used here
--   enter()        optional: called before the script when the command line names the back end
--   options(given, who)  optional: checks the sweep's option `with`, which is for the back end alone; start finds
--                  what it returns as sweep.options.with
--   starts_anew    true: its workers run the script anew; they want the records of sweeps before
--   shares_folder  true: its processes meet in the folder of the sweep, so that the sweep needs a file
--   status(store), cancel(store)  optional: for `nslua sweep --status` and `--cancel`; the text that is added
-- A session has methods:
--   session:advance(seconds)  goes on for at most so long; true: all is finished; false: not yet; nil, message, kind:
--                             it had to stop, by a "problem" or a signal ("INT", "TERM")
--   session:status()          { done =, failed =, running =, workers =, left = }, as far as it knows
--   session:close()           ends everything at once; called after the last advance, too
--   session:detach()          optional: makes all go on without this process, and returns the text that tells of it
-- `sweep` is a table: plan (what a worker needs: nslua.sweep.worker), store (nslua.sweep.store; begun, so that append
-- and sync work), options, first and last (the numbers of the tasks to do), done (finished tasks), failed (how many
-- of them), ordinal (the place of this sweep among the sweeps of the script), manifest (its text, for workers that
-- run the script anew). A back end that runs tasks on other machines starts `nslua sweep SCRIPT --part FIRST-LAST
-- --shard NAME` there, which does this part by "local" and writes the journal of that shard; the driver then finds
-- the records in the store.
local arguments = require "nslua.base.arguments"

local backends = { "local", "here", "slurm", "mpi", "parallel" }

-- The back end of a name.
function backends.find(name, who)
  for _, known in ipairs(backends) do
    if known == name then return require("nslua.sweep.on_" .. name) end
  end
  arguments.fail("%s: on: expected one of %s, got %s", who, table.concat(backends, ", "), arguments.describe(name))
end

return backends
