-- Helpers of the specs of MPI: mpirun with ranks on this machine.
local host = require "host"

local mpi = {}

mpi.here = package.searchpath("nslua.mpi", package.cpath) and select(3, host.run "command -v mpirun") == 0

-- `it` when the module is built and mpirun is there, else a replacement that reports that it is not.
mpi.it = mpi.here and require "busted".it or function(name)
  require "busted".pending(name .. " (nslua.mpi is not built, or there is no mpirun: make mpi)")
end

-- The words before a program that start `count` ranks of it. More ranks than processors are allowed, and root, who tests in
-- containers.
function mpi.launcher(count, options)
  local root = host.run "id -u" == "0\n" and "--allow-run-as-root " or ""
  local leaks = host.sanitized and "env ASAN_OPTIONS=detect_leaks=0 " or "" -- Open MPI ends with memory of its own
  return ("%smpirun %s--oversubscribe %s -n %d"):format(leaks, root, options or "", count)
end

return mpi
