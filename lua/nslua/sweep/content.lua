-- nslua.sweep.content: what the results of functions depend on, as far as Lua can see it.
--
--   local c = content.of { run, setup }
--   c.files   -- { { path =, text =, readable = } }: of the functions and of those that they reach, as they are met
--   c.values  -- { { name =, text = } }: the plain values that they reach, by the names of upvalues and globals
--
-- Reached are upvalues and the globals that a function names, and what tables and models hold, also in modules that
-- were required. Of a model the functions count, not its numbers; of nslua itself nothing does, but the functions
-- that it calls for the user, such as the `run` of ns.basins.
local core = require "nslua.core"
local where = require "nslua.base.where"

local exact = core.number_support.exact

local content = {}

local directory = debug.getinfo(1, "S").source:match "^(.*[/\\])sweep[/\\]content%.lua$" or "\0"

local function is_own(f)
  local source = type(f) == "function" and debug.getinfo(f, "S").source or ""
  return source:sub(1, #directory) == directory
end

-- The tables of Lua and of nslua: nobody's script.
local function known_tables()
  local known = { [_G] = true, [package.loaded] = true }
  for name, module in pairs(package.loaded) do
    local is_lua = type(module) == "table" and module == rawget(_G, name)
    if is_lua and not package.searchpath(name, package.path) or name:find "^nslua" then known[module] = true end
  end
  return known
end

-- ---- code ----

-- Notes where a function was written: the whole text of the file; its code where there is no text.
local function note_code(self, f)
  local info = debug.getinfo(f, "S")
  local path = info.source:match "^@(.*)$"
  local id = path or info.short_src
  local one = self.by_path[id]
  if one and one.readable then return end
  if not one then
    local file = path and io.open(path, "rb")
    one = { path = id, readable = file ~= nil, text = file and file:read "a" or "" }
    if file then file:close() end
    self.by_path[id], self.files[#self.files + 1] = one, one
  end
  if not one.readable then one.text = one.text .. string.dump(f, true) end
end

-- ---- values ----

local function text_of(value)
  if math.type(value) == "float" then return exact(value) end
  return (("%q"):format(value):gsub("\n", "n"))
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do
    if type(key) == "string" or type(key) == "number" then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  return keys
end

local walk

local function value_of(globals, name) return globals[name] end

-- The globals that a function names are among the names in its code. Those of a prompt are read through a function.
local function walk_globals(self, f, globals)
  for name in string.dump(f, true):gmatch "[%a_][%w_]*" do
    local good, value = where.try(value_of, globals, name)
    if good and value ~= nil and not self.names[name] then
      self.names[name] = true
      walk(self, value, { name = name })
    end
  end
end

local function walk_function(self, f)
  local own = is_own(f)
  if debug.getinfo(f, "S").what == "C" then return end
  if not own then note_code(self, f) end
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if not name then break end
    local id = debug.upvalueid(f, i)
    if own then
      if type(value) == "function" then walk(self, value) end
    elseif name == "_ENV" and type(value) == "table" then
      walk_globals(self, f, value)
    elseif not self.seen[id] then
      self.seen[id] = true
      walk(self, value, { name = name })
    end
  end
end

-- out: the parts of the text of the value that is told; nil where only functions count.
local function walk_table(self, t, out, path)
  local meta = debug.getmetatable(t)
  local own = false
  for _, f in next, meta or {} do own = own or is_own(f) end
  if own then out = nil end
  for _, key in ipairs(own and {} or sorted_keys(t)) do
    walk(self, rawget(t, key), out, path .. "." .. tostring(key))
  end
  if type(meta) ~= "table" then return end
  if not own then return walk(self, meta, out, path .. ".metatable") end
  local methods = rawget(meta, "__index") -- of a class by ns.class
  for _, f in next, type(methods) == "table" and methods or {} do
    if type(f) == "function" and not is_own(f) then walk(self, f) end
  end
end

local function walk_userdata(self, value, out, path)
  if core.isvector(value) or core.ismatrix(value) then return walk_table(self, value:totable(), out, path) end
  for i = 1, math.huge do
    local held, there = debug.getuservalue(value, i)
    if not there then return end
    walk(self, held)
  end
end

-- Walks a value; out: where it is told, nil where only functions count.
function walk(self, value, out, path)
  local kind = type(value)
  path = path or ""
  if out and out.name and path == "" then self.values[#self.values + 1] = out end
  if kind == "string" or kind == "number" or kind == "boolean" or kind == "nil" then
    if out then out[#out + 1] = (path == "" and "" or path .. "=") .. text_of(value) end
    return
  end
  if kind == "thread" or self.seen[value] then return end
  self.seen[value] = true
  if kind == "function" then walk_function(self, value)
  elseif kind == "table" then walk_table(self, value, out, path)
  else walk_userdata(self, value, out, path) end
end

function content.of(functions)
  local self = { files = {}, values = {}, by_path = {}, seen = known_tables(), names = {} }
  for _, f in ipairs(functions) do walk(self, f) end
  local told = {}
  for _, value in ipairs(self.values) do
    if #value > 0 then told[#told + 1] = { name = value.name, text = table.concat(value, "; ") } end
  end
  return { files = self.files, values = told }
end

return content
