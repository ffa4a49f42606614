-- nslua.sweep.manifest: what identifies a sweep, as a text: version, arguments, code, values, parameters, seed; and
-- what differs.
--
-- The text has a line "key value" for each fact. The text of the first file, which is the script, is kept beside it,
-- so that a difference can be shown by its line.
local content = require "nslua.sweep.content"
local core = require "nslua.core"
local settings = require "nslua.sweep.settings"
local tasks = require "nslua.sweep.tasks"

local manifest = {}

local LONGEST = 60 -- characters of a value that is told as it is; of others there is a hash

-- The arguments of the script.
local function arguments()
  local words = {}
  for i, word in ipairs(settings.command and settings.rest or settings.words) do
    words[i] = "'" .. word:gsub("%c", "?") .. "'"
  end
  return table.concat(words, " ")
end

local function told(text)
  return #text <= LONGEST and not text:find "%c" and text or "hash " .. tasks.hash_of(text)
end

-- The values of one name in the order in which they are met.
local function values_of(list)
  local by_name, names = {}, {}
  for _, value in ipairs(list) do
    if not by_name[value.name] then by_name[value.name], names[#names + 1] = {}, value.name end
    table.insert(by_name[value.name], value.text)
  end
  return names, by_name
end

-- The manifest of a plan (see nslua.sweep.worker): lines, and the script's text.
function manifest.of(plan)
  local found = content.of { plan.run, plan.setup }
  local lines = { "nslua-sweep 2", "version " .. core._VERSION, "arguments " .. arguments() }
  for _, file in ipairs(found.files) do
    lines[#lines + 1] = ("code %s %s"):format(file.path:gsub("%c", "?"), tasks.hash_of(file.text))
  end
  local names, by_name = values_of(found.values)
  for _, name in ipairs(names) do
    lines[#lines + 1] = ("value %s %s"):format(name, told(table.concat(by_name[name], "; ")))
  end
  lines[#lines + 1] = "seed " .. plan.seed
  lines[#lines + 1] = "tasks " .. plan.tasks.count
  for _, name in ipairs(plan.tasks.names) do
    lines[#lines + 1] = "parameter " .. name .. " " .. plan.tasks:hash(name)
  end
  local first = found.files[1]
  return table.concat(lines, "\n") .. "\n", first and first.readable and first.text or ""
end

local function facts_of(text)
  local facts, names = {}, {}
  for line in text:gmatch "[^\n]+" do
    local key, value = line:match "^(parameter [^\n]*) (%x+)$"
    if not key then key, value = line:match "^(code [^\n]*) (%x+)$" end
    if not key then key, value = line:match "^(value %S+) (.*)$" end
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

-- How the facts of a kind differ: change(key, old, new) for facts of both, gone(key), come(key).
local function compare(kind, old, new, change, come, gone)
  for _, key in ipairs(new.names) do
    local name = key:match("^" .. kind .. " (.*)$")
    local a, b = old.facts[key], new.facts[key]
    if name and not a then come(name, b) end
    if name and a and a ~= b then change(name, a, b) end
  end
  for _, key in ipairs(old.names) do
    local name = key:match("^" .. kind .. " (.*)$")
    if name and not new.facts[key] then gone(name, old.facts[key]) end
  end
end

-- Whether one of the facts has this value: a file that was moved is the same.
local function has(facts, value)
  for key, other in pairs(facts) do
    if key:find "^code " and other == value then return true end
  end
  return false
end

-- What differs, as a text, nil when nothing does. Each of `before` and `now` is { manifest text, script text }.
function manifest.difference(before, now)
  local old, new, list = {}, {}, {}
  old.facts, old.names = facts_of(before[1])
  new.facts, new.names = facts_of(now[1])
  local function say(text, ...) list[#list + 1] = text:format(...) end
  local function tell(key, text)
    local a, b = old.facts[key], new.facts[key]
    if a ~= b then say("%s: was %s, is %s", text, a and a ~= "" and a or "none", b and b ~= "" and b or "none") end
  end
  if old.facts["nslua-sweep"] ~= new.facts["nslua-sweep"] then return "it is of another version of nslua" end
  tell("version", "version")
  tell("arguments", "the script's arguments")
  local line = before[2] ~= "" and now[2] ~= "" and changed_line(before[2], now[2])
  compare("code", old, new, function(path)
    say("the script %s has changed%s", path, line and ": " .. line or "")
    line = nil -- the line of the first file
  end, function(path, hash)
    if not has(old.facts, hash) then say("it uses %s: it did not", path) end
  end, function(path, hash)
    if not has(new.facts, hash) then say("it used %s: it does not", path) end
  end)
  compare("value", old, new, function(name, a, b)
    if a:find "^hash" or b:find "^hash" then say("the value %s: it has changed", name)
    else say("the value %s: was %s, is %s", name, a, b) end
  end, function(name) say("the value %s: it was not there", name) end,
    function(name) say("the value %s: it is no more", name) end)
  tell("seed", "seed")
  tell("tasks", "the number of tasks")
  compare("parameter", old, new, function(name) say("parameter %s: other values", name) end,
    function(name) say("parameter %s: it was not there", name) end,
    function(name) say("parameter %s: it is no more", name) end)
  return #list > 0 and table.concat(list, "; ") or nil
end

return manifest
