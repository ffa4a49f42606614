-- nslua.sweep.settings: what the command `nslua sweep` and the starter of a worker ask of every ns.sweep of a script.
--
-- Fields, each nil when nobody asks: on, workers, resume, progress (they replace the options); look ("status",
-- "cancel": the first unfinished sweep only tells its status, or is cancelled, and the script ends); part ({ first,
-- last }) and shard (only these tasks, into the journal of that name); merge (no tasks: only the file is written);
-- detach (the jobs go on without this process); command, script, rest (the words of the command, the script, its
-- arguments).
-- `worker` is the number of the sweep that this process is a worker of; `ordinal` counts the sweeps of the script.
return { ordinal = 0, worker = tonumber(os.getenv "NSLUA_SWEEP_WORKER" or "") }
