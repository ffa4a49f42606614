-- nslua.sweep.columns: the records of all tasks as columns, in the order of the tasks, and as a file.
--
-- The columns are: task, the parameters, the results in the order of their names, failed (0 or 1). A result with
-- several numbers is a matrix with a row for each task. What a task does not have is nan.
local core = require "nslua.core"
local fail = require "nslua.base.arguments".fail
local lists = require "nslua.base.lists"
local record = require "nslua.sweep.record"

local columns = {}

local NAN = 0 / 0

local function filled(count, width)
  return width > 1 and core.full(count, width, NAN) or core.full(count, NAN)
end

-- The column with room for `width` numbers in each row; those that it has stay. A column that grows again gets twice
-- its room, since each growth copies all rows.
local function widened(old, count, width)
  if not old then return { width = width, room = width, data = filled(count, width) } end
  local room = old.room > 1 and math.max(width, 2 * old.room) or width
  local column = { width = width, room = room, data = filled(count, room) }
  for i = 1, count do
    if old.room > 1 then
      local from, to = old.data[i], column.data[i]
      for j = 1, old.width do to[j] = from[j] end
    else
      column.data[i][1] = old.data[i]
    end
  end
  return column
end

local function put(found, count, task, name, list)
  local column = found[name]
  if not column or #list > column.room then
    column = widened(column, count, math.max(1, #list))
    found[name] = column
  end
  column.width = math.max(column.width, #list)
  if column.room == 1 then
    if list[1] then column.data[task] = list[1] end
    return
  end
  local row = column.data[task]
  for j = 1, #list do row[j] = list[j] end
end

local function blank(found, task)
  for _, column in pairs(found) do
    if column.room == 1 then column.data[task] = NAN end
    for j = 1, column.room > 1 and column.width or 0 do column.data[task][j] = NAN end
  end
end

-- Reads all records. Returns the names, the arrays, and the failures in the order of the tasks: { task =, error =,
-- traceback = }. A task without a record is nan in `failed`.
function columns.gather(tasks, records)
  local count, found, failures = tasks.count, {}, {}
  local failed = filled(count, 1)
  for bytes in records do
    local one = record.read(bytes)
    if failed[one.task] == failed[one.task] then blank(found, one.task) end
    failures[one.task] = one.error and one or nil
    failed[one.task] = one.error and 1 or 0
    for _, column in ipairs(one.columns or {}) do put(found, count, one.task, column[1], column[2]) end
  end
  local names, arrays = { "task" }, { core.linspace(1, count, count) }
  for _, name in ipairs(tasks.names) do names[#names + 1], arrays[#arrays + 1] = name, tasks:column(name) end
  local results = lists.keys(found)
  for _, name in ipairs(results) do
    local column = found[name]
    local data = column.data
    if column.room > column.width then data = data:slice(1, count, 1, column.width):copy() end
    names[#names + 1], arrays[#arrays + 1] = name, data
  end
  names[#names + 1], arrays[#arrays + 1] = "failed", failed
  local list = {}
  for _, one in pairs(failures) do list[#list + 1] = one end
  table.sort(list, function(a, b) return a.task < b.task end)
  return names, arrays, list
end

-- The names that results can not have.
function columns.taken(tasks)
  local taken = { task = true, failed = true }
  for _, name in ipairs(tasks.names) do taken[name] = true end
  return taken
end

-- Raises before the first task where the name of a parameter may be the name of another column in the file: in a .csv
-- file the elements of a vector x are columns x[1], x[2] and so on.
function columns.check_names(tasks, file)
  for _, name in ipairs(tasks.names) do
    local vector = file:find "%.csv$" and name:match "^(.+)%[%d+%]$"
    if vector then
      local message = "sweep: parameters: in a .csv file '%s' may be a column of a result '%s', too: rename it, or "
        .. "take .npz"
      fail(message, name, vector)
    end
  end
end

-- Matrices as one column for each of their columns: "x[1]", "x[2]".
local function flat(names, arrays)
  local flat_names, flat_arrays, known = {}, {}, {}
  for _, name in ipairs(names) do known[name] = true end
  for i, array in ipairs(arrays) do
    if core.isvector(array) then
      flat_names[#flat_names + 1], flat_arrays[#flat_arrays + 1] = names[i], array
    else
      for j = 1, array:cols() do
        local name = ("%s[%d]"):format(names[i], j)
        if known[name] then
          local message = "sweep: in a .csv file '%s' would be the name of two columns: rename one, or take .npz"
          fail(message, name)
        end
        flat_names[#flat_names + 1] = name
        flat_arrays[#flat_arrays + 1] = array:column(j)
      end
    end
  end
  return flat_names, flat_arrays
end

local function errors_text(tasks, failures)
  local lines = {}
  for _, one in ipairs(failures) do
    local words = {}
    for _, name in ipairs(tasks.names) do
      local x = tasks:value(one.task, name)
      words[#words + 1] = name .. " = " .. (math.type(x) == "float" and core.number_support.format("%.17g", x)
        or tostring(x))
    end
    lines[#lines + 1] = ("task %d (%s): %s"):format(one.task, table.concat(words, ", "), one.error)
    if one.traceback ~= "" then lines[#lines + 1] = one.traceback end
    lines[#lines + 1] = ""
  end
  return table.concat(lines, "\n")
end

-- Writes the file, and FILE.errors when tasks have failed. Each appears whole or not at all.
function columns.save(file, tasks, names, arrays, failures)
  local kind = file:match "%.(%w+)$"
  if kind == "csv" then names, arrays = flat(names, arrays) end
  core.file_support["save_" .. (kind == "hdf5" and "h5" or kind)](file, names, arrays)
  local errors = file .. ".errors"
  if #failures > 0 then
    core.process_support.save(errors, errors_text(tasks, failures))
  else
    os.remove(errors)
  end
end

return columns
