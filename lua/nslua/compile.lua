-- nslua.compile: simu:compile() compiles the callbacks of a whole model where their results stay the same to the bit.
--
-- A trace freezes what a callback reads besides its arguments. So the functions that a callback reaches are searched
-- for what they may read, through tables however deep: numbers, texts, tables and vectors are watched
-- (nsl_digest_list), and a callback that may read an object that moves by itself stays in Lua.
local core = require "nslua.core"
local still = require "nslua.base.still"
local where = require "nslua.base.where"

local support = core.compile_support

-- Values that a callback may read besides its arguments: they are hashed before each step by hand.
local MOST_READ = 50
-- How often one place in the source is compiled to native code: a compiler takes a tenth of a second.
local MOST_NATIVE = 8
local CHANGES = 4 -- a callback that reads something which has changed more often than this stays in Lua

local fixed = { ["compiled function"] = true, curve = true, surface = true, vector = true, matrix = true }

-- Whether a value is an object that may change without the script's doing.
local function moves(value)
  return type(value) == "userdata" and (not fixed[getmetatable(value)] or support.is_view(value))
end

-- The texts among the constants of a function and of the functions in it, that may be names: of globals, of fields.
-- In a dump a short text is the byte 4, its length + 1 with the highest bit set, and its bytes.
local function words_of(f)
  local dump, words, seen = string.dump(f, true), {}, {}
  for at, size in dump:gmatch "()\4([\x81-\xff])" do
    local word = dump:sub(at + 2, at + (size:byte() & 127))
    if not seen[word] then words[#words + 1], seen[word] = word, true end
  end
  return words
end

-- Modules whose functions have no state that a script changes; of their fields a callback's names are watched.
local function standard_modules()
  local standard = {}
  for name, module in pairs(package.loaded) do
    if name:find "^nslua" or (" string table math utf8 os io coroutine "):find(" " .. name .. " ", 1, true) then
      standard[module] = true
    end
  end
  return standard
end

-- Functions and modules by which a callback writes, or reads what is not known beforehand.
local open = { [print] = "it writes by '%s'", [io] = "it writes by '%s'" }
for _, f in ipairs { load, loadfile, dofile, require, debug, package } do open[f] = "it may read anything by '%s'" end

-- The core looks at the fields of an object, and at tables there that are in fewer others (src/bind/diff/digest.c).
local SEEN = 2

-- What a function may read: list is for nsl_digest_list; why, when it may read more than can be watched. fields: of
-- the object, when it is a method.
local function reads_of(f, fields)
  local reads, seen, count = { list = {} }, {}, 0
  local standard, read = standard_modules()

  local function refuse(text, ...) reads.why = reads.why or text:format(...) end

  local function watch(container, key) reads.list[#reads.list + 1] = { container, key } end

  -- An environment may inherit from the globals, as the environment of the prompt does. A global that is nil may get
  -- a value.
  local function read_global(env, word, words)
    local value = rawget(env, word)
    local parent = value == nil and (debug.getmetatable(env) or {}).__index
    if not standard[value] then watch(env, word) end
    if type(parent) == "table" then return read_global(parent, word, words) end
    if parent then
      value = parent(env, word)
      watch(_G, word)
    end
    if value == nil then return end
    if word == "print" then refuse(open[print], word) end
    if parent and type(value) ~= "function" and not standard[value] then
      refuse("it may read the global '%s'", word)
    end
    read(value, word)
    for _, field in ipairs(standard[value] and words or {}) do
      local member = rawget(value, field)
      if member ~= nil then
        watch(value, field)
        read(member, word .. "." .. field)
      end
    end
  end

  local function read_function(value, stays)
    if not stays then reads.list[#reads.list + 1] = value end
    local i, words = 1, words_of(value)
    repeat
      local name, upvalue = debug.getupvalue(value, i)
      if name == "_ENV" then
        for _, word in ipairs(words) do read_global(upvalue, word, words) end
      elseif name then
        read(upvalue, name, stays)
      end
      i = i + 1
    until not name
  end

  local function read_table(value, name, stays)
    if not stays then watch(value) end
    for key, element in next, value do
      local object = type(key) == "table" or type(key) == "userdata"
      if object and not stays then refuse("'%s' has objects as keys", name) end
      read(element, ("%s.%s"):format(name, object and "?" or key), stays)
      if reads.why then return end
    end
    if debug.getmetatable(value) then read(debug.getmetatable(value), name, stays) end
  end

  -- stays: what reads the value is of nslua, and settled (nslua.base.still).
  function read(value, name, stays)
    local kind = type(value)
    count = count + (kind ~= "function" and not standard[value] and not stays and 1 or 0)
    if count > MOST_READ then refuse("it may read more than %d values besides its arguments", MOST_READ) end
    if open[value] then refuse(open[value], name) end
    if moves(value) or kind == "thread" then refuse("it may read '%s', which may change by itself", name) end
    if kind ~= "function" and kind ~= "table" or value == _G then return end
    if seen[value] and (stays or seen[value] == "watched") or standard[value] or open[value] then return end
    seen[value] = stays and "settled" or "watched"
    if kind == "function" then
      local info = debug.getinfo(value, "S")
      if info.what ~= "C" then read_function(value, still.is(value) or stays and where.is_ours(info)) end
    else
      read_table(value, name, stays)
    end
  end

  local function read_deep(value, depth, name)
    if type(value) ~= "table" then return end
    if depth == 0 then return read(value, name) end
    for key, element in next, value do read_deep(element, depth - 1, ("%s.%s"):format(name, key)) end
  end

  read(f, "f")
  for key, value in next, fields or {} do read_deep(value, SEEN, "self." .. key) end
  reads.any = count > 1
  return reads
end

-- Why a method, which gets its object, can not be watched; nil when it can: its fields are, by the core.
local function why_of_method(f, object, fields)
  for key, value in pairs(fields) do
    if moves(value) and not key:find "^anchor " then
      return ("it may read 'self.%s', which may change by itself"):format(key)
    end
  end
  for _, word in ipairs(words_of(f)) do
    local good, method = pcall(function() return fields[word] == nil and object[word] end)
    if good and type(method) == "function" and debug.getinfo(method, "S").what == "C" then
      return ("it may call 'self:%s', whose result may change by itself"):format(word)
    end
  end
end

-- Compiled functions made here -> { why: nil, or why it runs in Lua again }.
local ours = setmetatable({}, { __mode = "k" })
local told = {} -- names of callbacks that a warning has told

local made = {} -- place in the source -> how many functions from there have been compiled

-- waits: for the compiler, before it runs; else it runs on a tape meanwhile.
local function compiled_of(f, options, waits)
  local info = debug.getinfo(f, "S")
  local place = info.source .. info.linedefined
  made[place] = (made[place] or 0) + 1
  if made[place] > MOST_NATIVE and not (options and options.native) then options = { native = false } end
  local compiled = core.compile(f, options)
  support.exact(compiled, waits)
  ours[compiled] = {}
  return compiled
end

-- One callback of an object. entry.how: "native", "tape" or "Lua".
local function compile_entry(entry, object, slot, at, options, shared)
  local f, reads = entry.plain, entry.reads
  entry.how, entry.compiled, entry.why = "Lua", nil, reads.why
  if entry.changes > CHANGES then entry.why = "what it reads has changed too often" end
  if entry.why then return end
  local before, compiled = support.digest(reads.list), shared[f] or compiled_of(f, options, shared.waits)
  local how, why = support.try(object, slot, compiled, at.t, at.interaction)
  entry.digest = support.digest(reads.list)
  if not how and tostring(why):find("interrupted!", 1, true) then error(why, 0) end
  if not how then
    entry.why = tostring(why):gsub("compile: ", "", 1)
  elseif entry.digest ~= before then
    entry.why = "it changes what it has captured"
  else
    shared[f], entry.compiled, entry.how = compiled, compiled, how == "tape" and "tape" or "native"
    return
  end
  support.try(object, slot, f, at.t)
end

local known = setmetatable({}, { __mode = "k" }) -- simulation -> { options, [object] = { [slot] = entry } }

-- Adds what a callback reads to what is watched, once.
local function add_watched(watched, list)
  for _, entry in ipairs(list) do
    local owner = type(entry) == "table" and entry[1] or entry
    local keys = watched.keys[owner] or {}
    local key = type(entry) == "table" and entry[2] or watched
    if not keys[key] then watched[#watched + 1] = entry end
    keys[key], watched.keys[owner] = true, keys
  end
end

local function visit(object, at, kept, report, watched, shared)
  kept[object] = kept[object] or {}
  for slot = 1, math.huge do
    local title, f, kind, fields = support.callback(object, slot, at.interaction)
    if not title then return end
    local entry = kept[object][slot]
    if kind == "Lua" and not (entry and entry.plain == f) then
      entry = { plain = f, changes = 0, reads = reads_of(f, fields), title = title }
      if fields then entry.reads.why = entry.reads.why or why_of_method(f, object, fields) end
      compile_entry(entry, object, slot, at, kept.options, shared)
    elseif kind == "compiled" and entry and entry.compiled == f
      and support.digest(entry.reads.list) ~= entry.digest then
      entry.changes, entry.reads = entry.changes + 1, reads_of(entry.plain, fields)
      support.try(object, slot, entry.plain, at.t)
      compile_entry(entry, object, slot, at, kept.options, shared)
    elseif kind == "compiled" and not (entry and entry.compiled == f) then
      entry = { title = title, how = "native", why = "compiled by the script" }
    elseif kind == "library" then
      entry = { title = title, how = "native", why = "a library" }
    elseif not kind then
      entry = nil
    elseif kind == "Lua" and entry.compiled then
      entry.how, entry.why, entry.compiled = "Lua", ours[entry.compiled].why, nil
    end
    kept[object][slot] = entry
    if entry then
      entry.row = { callback = title, how = entry.how, why = entry.why }
      report[#report + 1] = entry.row
    end
    if entry and entry.compiled then add_watched(watched, entry.reads.list) end
  end
end

-- A callback that writes to what is outside of it stays in Lua, and with it all that may read what it writes: that is
-- looked at between steps alone.
local function leave_readers(kept, report)
  local writes = false
  for _, row in ipairs(report) do
    writes = writes or row.why and row.why:find("must have no side effects", 1, true)
  end
  if not writes then return end
  for object, slots in pairs(kept) do
    for slot, entry in pairs(type(object) == "userdata" and slots or {}) do
      if entry.compiled and entry.reads.any then
        support.try(object, slot, entry.plain, 0)
        entry.how, entry.compiled, entry.why = "Lua", nil, "a callback with side effects may change what it reads"
        entry.row.how, entry.row.why = entry.how, entry.why
      end
    end
  end
end

local Report = { __name = "table of callbacks" }

function Report:__tostring()
  local widest, lines = 8, {}
  for _, row in ipairs(self) do widest = math.max(widest, #row.callback) end
  for _, row in ipairs(self) do
    local line = ("%-" .. widest .. "s  %-6s  %s"):format(row.callback, row.how, row.why or "")
    lines[#lines + 1] = line:gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

-- Compiles what can be, and has not been, of the model; what has changed is compiled anew.
local function compile_model(simulation, options, waits)
  local nsds, t = simulation:nsds(), simulation:startingTime()
  local report, watched, shared = {}, { keys = {} }, { waits = waits }
  local kept = known[simulation] or setmetatable({}, { __mode = "k" })
  known[simulation], kept.options = kept, options or kept.options
  for i = 1, nsds:numberOfDynamicalSystems() do
    local system = nsds:dynamicalSystem(i)
    visit(system, { t = t }, kept, report, watched, shared)
    local good, boundary = pcall(function() return system:boundaryConditions() end)
    if good and boundary then visit(boundary, { t = t }, kept, report, watched, shared) end
  end
  for i = 1, nsds:numberOfInteractions() do
    local interaction = nsds:interaction(i)
    local at = { t = t, interaction = interaction }
    visit(interaction:relation(), at, kept, report, watched, shared)
    visit(interaction:nonSmoothLaw(), at, kept, report, watched, shared)
  end
  visit(simulation, { t = t }, kept, report, watched, shared)
  leave_readers(kept, report)
  support.watch(simulation, watched)
  return setmetatable(report, Report)
end

local compile = {}

function compile.compile(simulation, options)
  core.compile(function() end, options) -- checks the options
  return where.pass(compile_model, simulation, options, true)
end

-- Before a call of a simulation that is to be compiled and is not, or whose callbacks read what has changed.
function compile.again(simulation)
  local first = not known[simulation]
  local report = compile_model(simulation)
  if first and debug.getregistry()["nslua.compile"] then
    io.stderr:write(tostring(report), #report > 0 and "\n" or "")
  end
end

-- Warns once for a title.
function compile.tell(title, why)
  if not told[title] then warn("nslua: ", title, " runs in Lua from here on: ", (why:gsub("compile: ", "", 1))) end
  told[title] = true
end

-- A path of a compiled callback could not be made in a run. Whether the callback was compiled here, and shall run in
-- Lua from there on.
function compile.lose(compiled, title, why)
  local mine = ours[compiled]
  if not mine then return false end
  mine.why = why:gsub("compile: ", "", 1)
  compile.tell(mine.title or title, mine.why)
  return true
end

-- ---- functions that belong to no object ----

local singles = setmetatable({}, { __mode = "k" }) -- function -> { title=, list=, why=, count=, [digest] = compiled }

local function stays(single, plain, why)
  single.why = why
  compile.tell(single.title, why)
  return plain
end

-- What is to run in place of a function of a solver now: a compiled one, another one when what it reads has changed,
-- or the function itself. by_flag: nslua --compile asks for it.
function compile.one(f, title, by_flag)
  local plain = ours[f] and ours[f].plain or f
  local info = type(plain) == "function" and debug.getinfo(plain, "S")
  if not info or info.what == "C" then return f end
  local single = singles[plain]
  if not single then
    local place = where.is_ours(info) and "" or (" (%s:%d)"):format(info.short_src, info.linedefined)
    single = { title = title .. place, count = 0 }
    singles[plain] = single
  end
  if single.why then return plain end
  local compiled = single.list and single[support.digest(single.list)]
  if not compiled then
    local reads = reads_of(plain)
    if reads.why then return stays(single, plain, reads.why) end
    if single.count > CHANGES then return stays(single, plain, "what it reads has changed too often") end
    local row = single.title .. "  compiled\n"
    if by_flag and not told[row] then io.stderr:write(row) end
    told[row] = true
    compiled, single.list, single.count = compiled_of(plain), reads.list, single.count + 1
    single[support.digest(reads.list)], ours[compiled] = compiled, { plain = plain, title = single.title }
  end
  return ours[compiled].why and plain or compiled
end

return compile
