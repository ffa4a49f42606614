-- nslua.sweep.tasks: the tasks of a sweep as a table of parameters: one row a task, one column a parameter.
--
--   local t = tasks.of({ A = { 1, 2 }, e = { 0.5, 0.8 } }, "sweep")   -- a grid: 4 rows; the last name varies fastest
--   t.count, t.names, t:row(3), t:value(3, "A"), t:hash "A"
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local record = require "nslua.sweep.record"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject

local tasks = {}

-- Most tasks of a sweep: the driver keeps about 50 bytes for each, and a column of the result takes 8.
local MOST = 1e8

local function check_count(count, who)
  if count > MOST then
    fail("%s: a sweep has at most %s tasks, got %s", who, core.number_support.format("%.0f", MOST),
      core.number_support.format("%g", count))
  end
end

local Tasks = {}
Tasks.__index = Tasks
Tasks.__name = "design"

-- Whether a value is a design.
function tasks.is_design(value) return getmetatable(value) == Tasks end

-- The parameters of task k by name.
function Tasks:row(k)
  reject(math.type(k) ~= "integer" or k < 1 or k > self.count, k, "row: expected an integer from 1 to %d", self.count)
  local row = {}
  for _, name in ipairs(self.names) do row[name] = self:value(k, name) end
  return row
end

function Tasks:__len() return self.count end

function Tasks:__tostring()
  return ("design of %d points: %s"):format(self.count, table.concat(self.names, ", "))
end

-- The values of one parameter as a vector; false and true are 0 and 1.
function Tasks:column(name)
  if not self.axes[name] then
    fail("column: no column is called '%s' (known: %s)", tostring(name), table.concat(self.names, ", "))
  end
  local v = core.zeros(self.count)
  for k = 1, self.count do
    local x = self:value(k, name)
    v[k] = x == true and 1 or x or 0
  end
  return v
end

where.methods(Tasks, "a design", "design")
where.strict(Tasks, "names count axes")

-- ---- hashes ----

local FACTOR = 0x9E3779B97F4A7C15 -- 2^64 divided by the golden ratio, odd: Knuth's multiplicative hash

local function mixed(h, word)
  h = (h ~ word) * FACTOR
  return h ~ (h >> 29)
end

-- A hash of a text, as 16 digits.
function tasks.hash_of(text)
  local h = #text
  for at = 1, #text - 7, 8 do h = mixed(h, (string.unpack("<i8", text, at))) end
  for at = #text - #text % 8 + 1, #text do h = mixed(h, text:byte(at)) end
  return ("%016x"):format(h)
end

-- A hash of the values of one parameter in all tasks.
function Tasks:hash(name)
  local axis, h = self.axes[name], self.count
  for k = 1, #axis do
    local x = axis[k]
    if type(x) == "boolean" then x = x and 1 or 0 end
    h = mixed(h, (string.unpack("<i8", (string.pack("<d", x)))))
  end
  return ("%016x"):format(h)
end

-- ---- forms ----

local function value_of(x, who, name)
  reject(type(x) ~= "number" and type(x) ~= "boolean" or x ~= x, x,
    "%s: %s: expected a number or a boolean", who, name)
  if type(x) == "number" and not record.is_exact(x) then
    fail("%s: %s: expected a number or a boolean, got %s", who, name, record.long(x))
  end
  return x
end

-- Raises where a list has a hole, or other keys than 1, 2, ...: elements would be left out.
local function check_keys(list, who)
  for i = 1, #list do
    if list[i] == nil then fail("%s: expected a list, but element %d of %d is nil", who, i, #list) end
  end
  for key in pairs(list) do
    if math.type(key) ~= "integer" or key < 1 or key > #list then
      fail("%s: expected a list, got a table with the key %s", who, describe(key))
    end
  end
end

local function values_of(list, who, name)
  if type(list) == "number" or type(list) == "boolean" then list = { list } end
  local copy = {}
  if core.isvector(list) then
    copy = arguments.numbers(list, nil, who, name)
  elseif type(list) == "table" then
    check_keys(list, who .. ": " .. name)
    for i = 1, #list do copy[i] = value_of(list[i], who, ("%s[%d]"):format(name, i)) end
  else
    fail("%s: %s: expected a vector or a list of numbers, got %s", who, name,
      core.ismatrix(list) and "matrix" or describe(list))
  end
  if #copy == 0 then fail("%s: %s: the list has no values", who, name) end
  return copy
end

local function sorted_names(by_name, who)
  local names = {}
  for name in pairs(by_name) do
    if type(name) == "string" and name:find "[%c,\"]" then
      fail("%s: names of parameters hold no comma, quote or line end, got %s", who, describe((name:gsub("%c", "?"))))
    end
    reject(type(name) ~= "string" or name == "", name, "%s: expected names of parameters as keys", who)
    if name == "task" or name == "failed" then
      fail("%s: '%s' is the name of a column that every sweep has: rename the parameter", who, name)
    end
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- All combinations of the values; the last name varies fastest.
function tasks.grid(axes, who)
  expect(axes, "table", "%s: expected a table of values by name", who)
  local names, count = sorted_names(axes, who), 1
  if #names == 0 then fail("%s: there are no parameters", who) end
  local lists, steps, total = {}, {}, 1.0 -- a product of integers would wrap around
  for i = #names, 1, -1 do
    local name = names[i]
    lists[name] = values_of(axes[name], who, name)
    steps[name] = count
    count, total = count * #lists[name], total * #lists[name]
  end
  check_count(total, who)
  local t = { names = names, count = count, axes = lists }
  function t.value(_, k, name)
    local list = lists[name]
    return list[(k - 1) // steps[name] % #list + 1]
  end
  return setmetatable(t, Tasks)
end

-- A task for each element of lists of the same length, by name.
function tasks.columns(columns, names, count)
  local t = { names = names, count = count, axes = columns }
  function t.value(_, k, name) return columns[name][k] end
  return setmetatable(t, Tasks)
end

-- A task for each table of parameters that next_row() returns, until it returns nil.
local function of_rows(next_row, who)
  local columns, names, count = {}, nil, 0
  for row in next_row do
    count = count + 1
    check_count(count, who)
    expect(row, "table", "%s: row %d: expected a table", who, count)
    local here = sorted_names(row, ("%s: row %d"):format(who, count))
    names = names or here
    if table.concat(here, ",") ~= table.concat(names, ",") then
      fail("%s: row %d has the names %s; row 1 has %s", who, count, table.concat(here, ", "),
        table.concat(names, ", "))
    end
    for _, name in ipairs(names) do
      columns[name] = columns[name] or {}
      columns[name][count] = value_of(row[name], ("%s: row %d"):format(who, count), name)
    end
  end
  if count == 0 then fail("%s: there are no tasks", who) end
  return tasks.columns(columns, names, count)
end

-- The tasks of a list of rows.
function tasks.list(rows, who)
  check_keys(rows, who)
  local k = 0
  return of_rows(function()
    k = k + 1
    return rows[k]
  end, who)
end

-- The tasks of the option `parameters`: a design, values by name (a grid), a list of rows, or a function that returns
-- one row after the other, then nil.
function tasks.of(parameters, who)
  if getmetatable(parameters) == Tasks then return parameters end
  if type(parameters) == "function" then return of_rows(parameters, who) end
  expect(parameters, "table", "%s: expected values by name, a list of rows, a design or a function", who)
  if parameters[1] ~= nil then return tasks.list(parameters, who) end
  return tasks.grid(parameters, who)
end

return tasks
