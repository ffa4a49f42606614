-- ns.load and ns.save: vectors, matrices and named columns in .csv, .npy, .npz, .h5, .nc and .mat files
-- (these by the module nslua.hdf5).
--
--   sol:save "run.npz"
-- local run = ns.load "run.npz"      -- columns by name: run.t, run.x1; run:names(), #run
--                                    -- run:plot(), run:html(file), run:save(file)
--   run.S, run:sensitivity "z[1]"      -- derivatives that were saved in .npz and .h5 files
--   ns.save("A.npy", A)                -- a vector or a matrix
--   ns.save("both.npz", { A = A, b = b })

local core = require "nslua.core"
local lists = require "nslua.base.lists"
local results = require "nslua.results"
local series = require "nslua.base.series"
local where = require "nslua.base.where"

local Columns = {}
Columns.__name = "columns"

-- The contents of each record: names, arrays by name, number of rows, attributes by name, and for a name that could
-- not be read the reason.
local fields = setmetatable({}, { __mode = "k" })

local methods = {}

local function check(self)
  local record = fields[self]
  if not record then error("columns expected, got " .. type(self), 3) end
  return record
end

-- :names(): the names of all columns, in the order of the file.
function methods.names(self) return table.move(check(self).names, 1, #check(self).names, 1, {}) end

-- Raises for a name that is in the file but could not be read.
local function check_read(record, name, level)
  local reason = record.unread[name]
  if reason then error(("column: '%s' was not read: %s"):format(name, reason), level + 1) end
end

-- :attributes(): the attributes of a .h5 file, numbers and texts by name; an empty table for other files.
function methods.attributes(self)
  local copy = lists.copy(check(self).attributes)
  return copy
end

-- :unread(): for each name in the file that was not read, the reason.
function methods.unread(self)
  local copy = lists.copy(check(self).unread)
  return copy
end

-- :column(name) or :column(number): raises when there is no such column.
function methods.column(self, name)
  local record = check(self)
  local found = record.arrays[math.type(name) == "integer" and record.names[name] or name]
  if found == nil then
    check_read(record, name, 2)
    error(series.unknown(name, record.names), 2)
  end
  return found
end

results.give(methods, check)

-- ---- derivatives ----

-- A file has the derivatives of the states by a parameter as a matrix under this and the parameter's name: a row for
-- each row of the file, a column for each state. sol:save writes it so, too.
local stem = "S/"

-- Whether a name and an array are such derivatives of a record with so many rows.
local function is_derivative(name, array, rows)
  return name:sub(1, #stem) == stem and core.ismatrix(array) and array:rows() == rows
end

-- The parameters of a record and the derivatives by them; nil where the file has none.
local function derivatives_of(record)
  if record.parameters == nil then
    local names, by = {}, {}
    for i, name in ipairs(record.names) do
      local array = record.list[i]
      if is_derivative(name, array, record.rows) and (#by == 0 or array:cols() == by[1]:cols()) then
        names[#names + 1], by[#by + 1] = name:sub(#stem + 1), array
      end
    end
    record.parameters, record.by = #names > 0 and names or false, by
  end
  return record.parameters, record.by
end

-- The list of the matrices of all rows: states x parameters.
local function rows_of(record)
  local parameters, by = derivatives_of(record)
  if not parameters then return nil end
  if not record.S then
    local S, states = {}, by[1]:cols()
    for k = 1, record.rows do
      local row = core.zeros(states, #parameters)
      for j = 1, #parameters do
        for i = 1, states do row[i][j] = by[j][k][i] end
      end
      S[k] = row
    end
    record.S = S
  end
  return record.S
end

-- :sensitivity(name or number): the derivatives by a parameter, as of a solution.
function methods.sensitivity(self, which)
  local parameters, by = derivatives_of(check(self))
  if not parameters then error("sensitivity: the file has no derivatives", 2) end
  return (results.of_parameter(parameters, which, function(j) return by[j] end))
end

-- Fields that a record makes when they are asked for; an array of the file with the same name goes first.
local made = {
  S = rows_of,
  sensitivities = function(record) return derivatives_of(record) or nil end,
}

-- Raises, for code of the user, that a record has neither a column nor a method of the name.
local function no_column(record, key)
  if type(key) ~= "string" or key:find "^_" or where.is_ours(debug.getinfo(2, "S")) then return nil end
  local known = {}
  for name in pairs(methods) do known[name] = true end
  for name in pairs(record.arrays) do known[name] = true end
  error(require "nslua.base.names".of_object("columns", "column or method ", known, key, true), 2)
end

-- run.name is the column of that name. A column with the name of a method is returned by run:column(name) only.
function Columns:__index(key)
  local record = fields[self]
  local found = methods[key] or record.arrays[key]
  if found == nil then check_read(record, key, 2) end
  if found == nil and made[key] then return made[key](record) end
  if found == nil then return no_column(record, key) end
  return found
end

function Columns:__newindex(key)
  error(("columns: %s: what has been loaded cannot be changed"):format(tostring(key)), 2)
end

function Columns:__len() return fields[self].rows end

-- pairs(run): the columns by name, in the order of the file.
function Columns:__pairs()
  local record, i = fields[self], 0
  return function()
    i = i + 1
    local name = record.names[i]
    if name ~= nil then return name, record.arrays[name] end
  end
end

function Columns:__tostring()
  local record = fields[self]
  local unread = {}
  for name, reason in pairs(record.unread) do -- a dimension of netCDF has no values that could be missed
    if reason ~= "a dimension of netCDF" then unread[#unread + 1] = tostring(name) end
  end
  table.sort(unread)
  return ("columns (%d row%s): %s%s"):format(record.rows, record.rows == 1 and "" or "s",
    table.concat(record.names, ", "), #unread > 0 and "; not read: " .. table.concat(unread, ", ") or "")
end

local function new_columns(names, arrays, extras)
  local self, by_name, rows = {}, {}, 0
  for i, name in ipairs(names) do
    if by_name[name] == nil then by_name[name] = arrays[i] end
    rows = math.max(rows, #arrays[i])
  end
  fields[self] = { names = names, arrays = by_name, list = arrays, rows = rows,
    attributes = extras and extras.attributes or {},
    unread = extras and extras.unread or {} }
  return setmetatable(self, Columns)
end

-- The format of each ending: which function of file_support reads and writes it.
local formats = { csv = "csv", npy = "npy", npz = "npz", h5 = "h5", hdf5 = "h5", nc = "h5", mat = "h5" }

local function kind_of(who, file)
  if type(file) ~= "string" then error(("%s: file: expected a string, got %s"):format(who, type(file)), 3) end
  local kind = formats[file:match "%.(%w+)$" or ""]
  if not kind then
    error(("%s: '%s': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat"):format(who, file), 3)
  end
  return kind
end

-- ---- options of load ----

local function is_one_of(...)
  local list = { ... }
  return function(x)
    for _, known in ipairs(list) do
      if x == known then return true end
    end
    return false
  end
end

local function is_size(x) return math.type(x) and x >= 0 and x < 2 ^ 53 end

-- The options of each kind of file, in the order in which the reader takes them: name, test, what is expected.
local load_options = {
  csv = {
    { "separator", is_one_of(",", ";", "\t"), '",", ";" or "\\t"' },
    { "decimal", is_one_of(".", ","), '"." or ","' },
  },
  npz = { { "limit", is_size, "a number of bytes" } },
}

-- The values for the reader of a kind of file.
local function take_options(kind, options)
  if options == nil then options = {} end
  if type(options) ~= "table" then
    error(("load: options: expected a table, got %s"):format(type(options)), 3)
  end
  local list, names, values = load_options[kind] or {}, {}, { n = 0 }
  for i, option in ipairs(list) do
    local name, good, expected = table.unpack(option)
    local value = options[name]
    if value ~= nil and not good(value) then
      error(("load: %s: expected %s, got %s"):format(name, expected, type(value) == "string" and ("%q"):format(value)
        or tostring(value)), 3)
    end
    names[name], values[i], values.n = true, value, i
  end
  for name in pairs(options) do
    if not names[name] then
      local known = #list == 0 and "there is none" or "known: " .. (kind == "csv" and "separator, decimal" or "limit")
      error(("load: unknown option '%s' of a .%s file (%s)"):format(tostring(name), kind, known), 3)
    end
  end
  if values[1] == "," and values[2] == "," then
    error("load: decimal: a comma cannot stand both between cells and in numbers: give another separator", 3)
  end
  return values
end

-- Returns what f returns. An error gets the line that calls ns.load or ns.save.
local function call(f, ...)
  local good, first, second, third = pcall(f, ...)
  if not good then error(first, 3) end
  return first, second, third
end

local function is_solution(data) return getmetatable(data) == "solution" end

-- The names and columns of a solution.
local function columns_of(solution)
  local names, arrays = solution:names(), {}
  for c = 1, #names do arrays[c] = solution:column(c) end
  return names, arrays
end

return function(ns, support)
  local public = {}

  local function is_array(x) return ns.isvector(x) or ns.ismatrix(x) end

  -- The names and arrays of a table: sorted, t first.
  local function sorted(data)
    local names, arrays = {}, {}
    for name, array in pairs(data) do
      if type(name) ~= "string" then
        error(("save: data: expected names as keys, got %s"):format(tostring(name)), 3)
      end
      if name:find("\0", 1, true) then
        error(("save: data: expected names without a zero byte, got %q"):format(name), 3)
      end
      if not is_array(array) and type(array) ~= "table" then
        error(("save: %s: expected a vector or a matrix, got %s"):format(name, type(array)), 3)
      end
      names[#names + 1] = name
    end
    table.sort(names, function(a, b) return (a == "t") ~= (b == "t") and a == "t" or (a ~= "t" and b ~= "t" and
      a < b) end)
    for i, name in ipairs(names) do
      arrays[i] = data[name]
      if type(data[name]) == "table" and type(data[name][1]) == "table" then
        local good, A = pcall(ns.matrix, data[name])
        if not good then error(("save: %s: %s"):format(name, (A:gsub("^.-argument", "rows"))), 3) end
        arrays[i] = A
      end
    end
    return names, arrays
  end

  -- The names and arrays of data: of an object with columns, of a table of arrays by name, or the columns of a
  -- matrix. columns: without the derivatives of a result or a record.
  local function parts_of(data, columns)
    local names, arrays = series.columns(data)
    if is_solution(data) then names, arrays = columns_of(data) end
    if names and not columns then
      local parameters, by = results.derivatives(data)
      for j, parameter in ipairs(parameters) do
        names[#names + 1] = stem .. parameter
        arrays[#names] = by[j]
      end
    end
    local record = fields[data]
    if record then
      names, arrays = {}, {}
      for i, name in ipairs(record.names) do
        if not columns or not is_derivative(name, record.list[i], record.rows) then
          names[#names + 1], arrays[#arrays + 1] = name, record.list[i]
        end
      end
    end
    if names then return names, arrays end
    if ns.isvector(data) then return { "c1" }, { data } end
    if ns.ismatrix(data) then
      names, arrays = {}, {}
      for j = 1, data:cols() do names[j], arrays[j] = "c" .. j, data:column(j) end
      return names, arrays
    end
    if type(data) ~= "table" then
      error(("save: data: expected a vector, a matrix or a table of them by name, got %s"):format(type(data)), 3)
    end
    return sorted(data)
  end

  -- The attributes of a solution in a file of HDF5: its counts, and no times, so that equal runs give equal files.
  local function attributes_of(solution)
    local attributes = { status = solution.status, message = solution.message }
    local met = solution.stats and solution.stats.methods
    if met then attributes.methods = table.concat(met, " ") end
    for name, count in pairs(solution.stats or {}) do
      if math.type(count) == "integer" then attributes[name] = count end
    end
    return attributes
  end

  -- The columns of a solution, side by side.
  local function as_matrix(solution)
    local _, columns = columns_of(solution)
    local all = ns.zeros(#solution, #columns)
    for j, column in ipairs(columns) do all:column(j):assign(column) end
    return all
  end

  -- save(file, data): a .npy file holds a vector or a matrix, a .csv file columns, a .npz or .h5 file arrays by
  -- name.
  function public.save(file, data)
    local kind = kind_of("save", file)
    local solution = is_solution(data)
    if kind == "npy" then
      if solution then data = as_matrix(data) end
      if type(data) == "table" and type(data[1]) == "table" then data = ns.matrix(data) end
      if not is_array(data) and (type(data) ~= "table" or fields[data] or next(data) ~= nil and data[1] == nil) then
        error(("save: '%s': expected a vector or a matrix, got %s; .npz holds arrays by name"):format(file,
          type(data)), 2)
      end
      call(support.save_npy, file, data)
      return
    end
    if (kind == "npz" or kind == "h5") and is_array(data) then
      error(("save: '%s': expected a table of arrays by name, got one array; .npy holds one"):format(file), 2)
    end
    local names, arrays = parts_of(data, kind == "csv")
    call(support["save_" .. kind], file, names, arrays, solution and attributes_of(data)
      or fields[data] and fields[data].attributes)
  end

  methods.save = function(self, file)
    check(self)
    return public.save(file, self)
  end

  -- load(file [, options]): returns a vector or a matrix from a .npy file, columns by name from the other kinds.
  function public.load(file, options)
    local kind = kind_of("load", file)
    local given = take_options(kind, options)
    if kind == "npy" then return (call(support.load_npy, file)) end
    return new_columns(call(support["load_" .. kind], file, table.unpack(given, 1, given.n)))
  end

  -- columns(names, arrays): an object with named columns, as load gives it.
  function public.columns(names, arrays) return new_columns(names, arrays) end

  return public
end
