-- nslua.sweep.command: the command `nslua sweep SCRIPT [options] [-- arguments]`: runs a script with other settings
-- for its sweeps, or looks at them.
local backends = require "nslua.sweep.backends"
local manifest = require "nslua.sweep.manifest"
local settings = require "nslua.sweep.settings"
local spawn = require "nslua.sweep.spawn"
local stores = require "nslua.sweep.store"

local command = {}

local USAGE = [[
usage: nslua sweep SCRIPT [options] [-- arguments of the script]
  --workers N        number of worker processes
  --on NAME          where tasks run: local, here, slurm, mpi, parallel
  --detach           with slurm: submits the jobs, one of which writes the file, and does not wait
  --resume           goes on with what an interrupted sweep has left
  --anew             removes what an interrupted sweep has left
  --status           tells how far the script's sweep is, and runs nothing
  --cancel           stops the sweep that another process does, and runs nothing
  --quiet            shows no progress
  --part FIRST-LAST  only these tasks of a sweep that another process has begun
  --shard NAME       with --part: the name of the journal of this part (FIRST-LAST)
  --merge            writes the file of a sweep whose tasks are all finished
]]

local function refuse(text, ...)
  io.stderr:write("nslua sweep: ", text:format(...), "\n", USAGE)
  os.exit(1)
end

local function part_of(text)
  local first, last = text:match "^(%d+)%-(%d+)$"
  first, last = math.tointeger(first), math.tointeger(last)
  if not first or first < 1 or last < first then refuse("--part: expected FIRST-LAST, got '%s'", text) end
  settings.part, settings.shard = { first, last }, settings.shard or text
end

local with_value = {
  ["--workers"] = function(text)
    settings.workers = math.tointeger(text) or refuse("--workers: expected a number, got '%s'", text)
  end,
  ["--on"] = function(text) settings.on = text end,
  ["--part"] = part_of,
  ["--shard"] = function(text)
    if not text:find "^[%w_.-]+$" then refuse("--shard: expected letters and digits, got '%s'", text) end
    settings.shard = text
  end,
}

local flags = {
  ["--resume"] = function() settings.resume = true end,
  ["--anew"] = function() settings.resume = false end,
  ["--status"] = function() settings.look = "status" end,
  ["--cancel"] = function() settings.look = "cancel" end,
  ["--quiet"] = function() settings.progress = false end,
  ["--detach"] = function() settings.detach = true end,
  ["--merge"] = function() settings.merge = true end,
  ["--help"] = function()
    io.write(USAGE)
    os.exit(0)
  end,
}

-- Reads the words after "sweep". Returns the script and its arguments.
local function read(words)
  local script, rest, i = nil, {}, 1
  settings.progress = true
  while words[i] do
    local word = words[i]
    local name, value = word:match "^(%-%-%w+)=(.*)$"
    if word == "--" then
      table.move(words, i + 1, #words, 1, rest)
      break
    elseif with_value[name or word] then
      if not value then
        i = i + 1
        value = words[i] or refuse("%s needs a value", word)
      end
      with_value[name or word](value)
    elseif flags[word] then
      flags[word]()
    elseif word:find "^%-" then
      refuse("unknown option '%s'", word)
    elseif script then
      refuse("arguments of the script come after --, got '%s'", word)
    else
      script = word
    end
    i = i + 1
  end
  return script or refuse "which script?", rest
end

local function enter(name)
  local on = backends.find(name, "sweep")
  if on.enter then on.enter() end
end

-- Runs the command with the words after it; words.program is the path of nslua.
local function run(words)
  local script, rest = read(words)
  if settings.look or settings.part or settings.merge then settings.resume = true end
  settings.command = table.move(words, 1, #words, 1, { [-1] = words.program, [0] = "sweep" })
  settings.script, settings.rest = script, table.move(rest, 1, #rest, 1, {})
  rest[0] = script
  rawset(_G, "arg", rest)
  if settings.worker then
    spawn.hush()
  elseif settings.on then
    local good, message = pcall(enter, settings.on)
    if not good then
      io.stderr:write("nslua: ", message, "\n")
      os.exit(1)
    end
  end
  local chunk, message = loadfile(script)
  if not chunk then
    io.stderr:write("nslua: ", message, "\n")
    os.exit(1)
  end
  chunk(table.unpack(rest))
  return true
end

-- What --status or --cancel tells of a sweep, after doing it; and whether it is finished.
local function look_at(store, file, total, on)
  local done, failed = store:finished()
  local finished, more = done.count >= total, ""
  if not finished then
    local name = store:back_end()
    on = name and backends.find(name, "sweep") or on
    more = on and on[settings.look] and on[settings.look](store) or ""
  elseif not store:is_saved() then
    more = "; the file is not written: --resume writes it"
  end
  print(("%s: %d of %d tasks finished, %d failed%s"):format(file, done.count, total, failed, more))
  return finished
end

-- For --status and --cancel: tells of a sweep, and of those that the script has begun after it, up to the first one
-- that is not finished. It ends the script, which would go on with what comes after a sweep.
function command.look(sweep)
  local file, total, on = sweep.options.file, sweep.tasks.count, sweep.options.on
  if not file then error("sweep: --" .. settings.look .. ": this sweep has no file", 0) end
  local store = stores.existing(file)
  if not store then print(("%s: not begun, %d tasks"):format(file, total)) end
  while store and look_at(store, file, total, on) do
    store, file = store:next()
    total = store and manifest.count(store:manifest()[1])
  end
  os.exit(0)
end

-- Ends the script after the jobs of a sweep have been submitted.
function command.detach(sweep)
  local session = sweep.session
  if not session.detach then
    session:close()
    error(("sweep: --detach: on = \"%s\" needs this process"):format(sweep.options.on.name), 0)
  end
  local text = session:detach()
  sweep.store:finish()
  print(("%s: %s; --status tells how far they are"):format(sweep.options.file, text))
  os.exit(0)
end

-- Ends the script after a part of a sweep: what comes next needs all of it.
function command.end_of_part(sweep)
  local status = sweep:status()
  print(("part %d-%d: finished; %d of %d tasks"):format(settings.part[1], settings.part[2],
    sweep.store:finished().count, status.total))
  os.exit(0)
end

return setmetatable(command, { __call = function(_, words) return run(words) end })
