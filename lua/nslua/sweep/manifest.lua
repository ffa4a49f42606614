-- nslua.sweep.manifest: what identifies a sweep, as a text: version, script, parameters, seed; and what differs.
--
-- The text has a line "key value" for each fact. The script's own text is kept beside it, so that a difference can be
-- shown by its line.
local core = require "nslua.core"
local tasks = require "nslua.sweep.tasks"

local manifest = {}

-- The text of the file that a function was written in; its code when there is no file.
local function source_of(f)
  local info = debug.getinfo(f, "S")
  local path = info.source:match "^@(.*)$"
  local file = path and io.open(path, "rb")
  if not file then return string.dump(f, true), path or info.short_src, false end
  local text = file:read "a"
  file:close()
  return text, path, true
end

-- The manifest of a plan (see nslua.sweep.worker): lines, and the script's text.
function manifest.of(plan)
  local text, path, readable = source_of(plan.run)
  local lines = { "nslua-sweep 1", "version " .. core._VERSION, "script " .. path, "code " .. tasks.hash_of(text),
    "seed " .. plan.seed, "tasks " .. plan.tasks.count }
  for _, name in ipairs(plan.tasks.names) do
    lines[#lines + 1] = "parameter " .. name .. " " .. plan.tasks:hash(name)
  end
  return table.concat(lines, "\n") .. "\n", readable and text or ""
end

local function facts_of(text)
  local facts, names = {}, {}
  for line in text:gmatch "[^\n]+" do
    local key, value = line:match "^(parameter [^\n]*) (%x+)$"
    if not key then key, value = line:match "^(%S+) (.*)$" end
    if key then facts[key], names[#names + 1] = value, key end
  end
  return facts, names
end

-- The number of tasks in a manifest.
function manifest.count(text) return math.tointeger(facts_of(text).tasks) or 0 end

-- The first line that differs between two texts.
local function changed_line(before, now)
  local number, old, new = 0, (before .. "\n"):gmatch "(.-)\n", (now .. "\n"):gmatch "(.-)\n"
  while true do
    local a, b = old(), new()
    number = number + 1
    if a ~= b then
      local function shown(line) return line and "'" .. line:gsub("^%s+", "") .. "'" or "the end" end
      return ("line %d was %s, is %s"):format(number, shown(a), shown(b))
    end
    if not a then return nil end
  end
end

-- What differs, as a text, nil when nothing does. Each of `before` and `now` is { manifest text, script text }.
function manifest.difference(before, now)
  local old, old_names = facts_of(before[1])
  local new, new_names = facts_of(now[1])
  local list = {}
  local function say(text, ...) list[#list + 1] = text:format(...) end
  if old.version ~= new.version then say("version: was %s, is %s", old.version, new.version) end
  if old.code ~= new.code then
    local line = before[2] ~= "" and now[2] ~= "" and changed_line(before[2], now[2])
    say("the script %s has changed%s", new.script, line and ": " .. line or "")
  end
  if old.seed ~= new.seed then say("seed: was %s, is %s", old.seed, new.seed) end
  if old.tasks ~= new.tasks then say("the number of tasks: was %s, is %s", old.tasks, new.tasks) end
  for _, key in ipairs(new_names) do
    if key:find "^parameter " and old[key] ~= new[key] then
      say(old[key] and "%s: other values" or "%s: it was not there", key)
    end
  end
  for _, key in ipairs(old_names) do
    if key:find "^parameter " and not new[key] then say("%s: it is no more", key) end
  end
  return #list > 0 and table.concat(list, "; ") or nil
end

return manifest
