-- nslua.sweep.record: the outcome of one task as bytes, for pipes and journals.
--
--   record.done(7, { x = 1.5, path = v })  -- "D", the number of the task, the columns
--   record.failed(7, message, traceback)   -- "F", the number of the task, two texts
--   record.task(bytes)                      -- 7, "D" or "F"
--   record.read(bytes)                      -- { task = 7, columns = { { name, numbers } } } or { error =, traceback
-- = } A column is a list of numbers; one number is a list of one. Numbers keep all their bits.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"

local record = {}

local pack, unpack = string.pack, string.unpack

-- Whether a column holds all digits of a number: of an integer it may not.
function record.is_exact(x) return math.type(x) == "float" or x == x + 0.0 end

-- The numbers of a value that run returned; nil for a value that has no form, and for one number.
local function numbers_of(value)
  local kind = type(value)
  if kind == "number" then return nil end
  if kind == "boolean" then return { value and 1 or 0 } end
  if core.isvector(value) then return value:totable() end
  if core.ismatrix(value) then
    local list = {}
    for i = 1, value:rows() do
      for j = 1, value:cols() do list[#list + 1] = value[i][j] end
    end
    return list
  end
  if kind ~= "table" then return nil end
  local list = {}
  for i = 1, #value do
    local x = value[i]
    if type(x) == "boolean" then x = x and 1 or 0 end
    if type(x) ~= "number" or not record.is_exact(x) then return nil end
    list[i] = x
  end
  local keys = 0
  for _ in pairs(value) do keys = keys + 1 end
  if keys ~= #list then return nil end -- names beside the list would be lost
  return list
end

local function put(parts, name, value)
  if type(value) == "number" and record.is_exact(value) then
    parts[#parts + 1] = pack("<s1I4d", name, 1, value)
    return true
  end
  local list = numbers_of(value)
  if not list then return false end
  parts[#parts + 1] = pack("<s1I4", name, #list)
  for i = 1, #list do parts[#parts + 1] = pack("<d", list[i]) end
  return true
end

local function kind_of(value)
  if math.type(value) == "integer" then return record.long(value) end
  return type(value) == "userdata" and tostring(value):match "^[^\n]*" or type(value)
end

-- What a message says of an integer that is not exact.
function record.long(x) return ("the integer %d, which has more digits than a column holds"):format(x) end

-- The record of a result: what run returned. Columns are in the order of their names. taken[name]: the name is that
-- of a parameter or of a column that every table has. Returns nil and a message for a result that has no form.
function record.done(task, result, taken)
  local parts = { pack("<c1I8", "D", task) }
  if type(result) ~= "table" or result[1] ~= nil then
    if result == nil then return parts[1] end
    if put(parts, "value", result) then return table.concat(parts) end
    local message = "run: expected a table of results by name, or a number, got %s"
    return nil, message:format(kind_of(result))
  end
  local names = {}
  for name in pairs(result) do
    if type(name) ~= "string" or name == "" or #name > 255 or name:find "[%c,\"]" then
      local shown = type(name) == "string" and arguments.describe(name:sub(1, 40)) or tostring(name)
      if type(name) == "string" and name:find "[%c,\"]" then
        return nil, ("run: names of results hold no comma, quote or line end, got %s"):format((shown:gsub("%c", "?")))
      end
      return nil, ("run: expected names as keys of the result, got %s"):format(shown)
    end
    if taken[name] then return nil, ("run: '%s' is already the name of a column: rename the result"):format(name) end
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    if not put(parts, name, result[name]) then
      local message = "run: %s: expected a number, a boolean, a vector, a matrix or a list of numbers, got %s"
      return nil, message:format(name, kind_of(result[name]))
    end
  end
  return table.concat(parts)
end

function record.failed(task, message, traceback)
  return pack("<c1I8s4s4", "F", task, message, traceback or "")
end

-- The number of the task and "D" (done) or "F" (failed).
function record.task(bytes)
  local kind, task = unpack("<c1I8", bytes)
  return task, kind
end

function record.read(bytes)
  local kind, task, at = unpack("<c1I8", bytes)
  if kind == "F" then
    local message, traceback = unpack("<s4s4", bytes, at)
    return { task = task, error = message, traceback = traceback }
  end
  local columns = {}
  while at <= #bytes do
    local name, n, list
    name, n, at = unpack("<s1I4", bytes, at)
    list = {}
    for i = 1, n do list[i], at = unpack("<d", bytes, at) end
    columns[#columns + 1] = { name, list }
  end
  return { task = task, columns = columns }
end

return record
