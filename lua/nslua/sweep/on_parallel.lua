-- nslua.sweep.on_parallel: the back end "parallel": parts of a sweep on hosts that ssh reaches, by GNU parallel.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local jobs = require "nslua.sweep.jobs"
local on_local = require "nslua.sweep.on_local"
local option_tables = require "nslua.base.option_tables"

local support, files = core.worker_support, core.process_support
local fail, reject = arguments.fail, arguments.reject

-- Seconds that parts get for their checkpoints when the sweep is stopped.
local GRACE = 15

local Parallel = { kind = "parallel" }

-- The words that name the hosts.
local function host_words(self)
  local words = {}
  for _, host in ipairs(self.with.hosts) do words[#words + 1] = "--sshlogin " .. jobs.quote(host) end
  return table.concat(words, " ")
end

-- Raises when a host does not see the folder of the sweep.
local function check_hosts(self)
  local mark = jobs.quote(self.folder .. "/jobs-name")
  local text = jobs.run(("parallel --will-cite --nonall --tag --workdir . %s cat %s"):format(host_words(self), mark))
  for _, host in ipairs(self.with.hosts) do
    local name, seen = host:gsub("^%d+/", ""), false
    for line in text:gmatch "[^\n]+" do
      seen = seen or line == name .. "\t" .. self.name
    end
    if not seen and not support.signalled() then
      fail("sweep: parallel: the host '%s' does not see the folder '%s': %s", name, self.folder,
        text:match "^%s*([^\n]*)")
    end
  end
end

function Parallel:submit()
  local list = self:list()
  local script = self.folder .. "/parallel-part.sh"
  files.save(script, "#!/bin/sh\npart=$1\n" .. self:check() .. "exec " .. self:part_command(1) .. "\n")
  local workers = self.sweep.options.wanted_workers
  local command = ("exec parallel --will-cite --workdir . --termseq TERM,%d,KILL,50 %s %s --arg-file %s "
    .. "sh %s {} >%s 2>&1"):format(1000 * (GRACE - 3), host_words(self), workers and "--jobs " .. workers or "",
      jobs.quote(list), jobs.quote(script), jobs.quote(("%s/log-parallel-%d"):format(self.folder, self.round)))
  local handle, message = support.spawn { "sh", "-c", command }
  if not handle then return nil, "parallel: " .. message end
  self.handle, self.handles, self.running = handle, { handle }, workers or 1
  return false
end

function Parallel:alive()
  if not self.handle then return 0 end
  support.wait(self.handles, 0)
  if not self.handle:ended() then return 1 end
  self.handle:close()
  self.handle, self.handles, self.running = nil, nil, 0
  return 0
end

-- GNU parallel starts no more jobs after a first SIGTERM, and stops those that run after a second one.
function Parallel:close()
  if not self.handle then return end
  local deadline = support.clock() + GRACE
  for _ = 1, 2 do
    support.signal_process(self.handle:pid(), "TERM")
    support.wait(self.handles, 0.2)
  end
  while not self.handle:ended() and support.clock() < deadline do support.wait(self.handles, 0.5) end
  self.handle:close()
  self.handle, self.handles = nil, nil
end

local on_parallel = { name = "parallel", shares_folder = true }

-- The options of `with`, checked.
function on_parallel.options(given, who)
  who = who .. ": with"
  local o = option_tables.need(given, "hosts", who, fail)
  local hosts = o.hosts == nil and { ":" } or o.hosts
  reject(type(hosts) ~= "table" or #hosts == 0, hosts, "%s: hosts: expected a list of hosts", who)
  for i, host in ipairs(hosts) do
    reject(type(host) ~= "string" or not host:find "^[%w_.@:/-]+$", host,
      '%s: hosts[%d]: expected a host that ssh knows, or ":"', who, i)
  end
  return { hosts = hosts }
end

function on_parallel.start(sweep)
  local _, good = jobs.run "parallel --version"
  if not good then fail "sweep: parallel: the program is missing: sudo apt-get install parallel" end
  local self = jobs.session(sweep, Parallel)
  self.with = sweep.options.with
  check_hosts(self)
  if support.signalled() then return self end -- its first advance tells
  local started, message = self:submit()
  if started == nil then fail("sweep: %s", message) end
  return self
end

on_parallel.status, on_parallel.cancel = on_local.status, on_local.cancel

return on_parallel
