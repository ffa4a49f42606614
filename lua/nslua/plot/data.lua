-- nslua.plot.data: checks and copies the arguments of plotting functions.

local core = require "nslua.core"
local number = core.number_support
local arguments = require "nslua.base.arguments"
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"

local data = {}

local range = core.process_support.range

-- Raises an error at the line of the innermost caller outside the files of nslua.plot.
function data.fail(message, ...)
  local level = 2
  while true do
    local info = debug.getinfo(level, "S")
    if not info or not info.source:find "nslua[/\\]plot[%w_/\\]*%.lua$" then break end
    level = level + 1
  end
  error(number.format(message, ...), level)
end

local fail = data.fail

-- A value in words, for messages.
function data.describe(x)
  if core.isvector(x) then return ("vector of %d"):format(#x) end
  if core.ismatrix(x) then return ("matrix of %d x %d"):format(x:rows(), x:cols()) end
  if type(x) == "number" then return x ~= x and "nan" or "number " .. tostring(x) end
  if type(x) == "string" then return ("'%s'"):format(x) end
  if type(x) == "table" then return #x > 0 and ("a list of %d"):format(#x) or arguments.tell(x) end
  return type(x)
end

local describe = data.describe

-- Raises the text and what x is, where it is wrong.
function data.reject(wrong, x, text, ...)
  if wrong then fail("%s, got %s", number.format(text, ...), describe(x)) end
end

-- The same, unless x is of this type of Lua.
function data.expect(x, kind, text, ...) data.reject(type(x) ~= kind, x, text, ...) end

function data.optional(x, ...) if x ~= nil then data.expect(x, ...) end end

-- Returns x, which must be one of the words of a text, "left, center, right"; for others the message begins with the
-- text, and tells the words.
function data.one_of(x, words, text, ...)
  if type(x) == "string" and (", " .. words .. ","):find(", " .. x .. ",", 1, true) then return x end
  fail("%s: expected one of %s, got %s", number.format(text, ...), words, describe(x))
end

-- Whether t is a table of options: it is not empty and has no element 1.
function data.is_options(t)
  return type(t) == "table" and t[1] == nil and next(t) ~= nil
end

-- The options of a function with other spellings replaced; {} for nil. Raises for an unknown one. known: the names,
-- when they are not in nslua.base.option_names.
function data.options(who, options, known)
  known = known or option_names["axes:" .. who] or option_names["figure:" .. who] or option_names["plot." .. who]
  if options == nil then return {} end
  data.expect(options, "table", "%s: options: expected a table", who)
  local result, message = option_tables.check(options, known, who)
  if not result then fail("%s", message) end
  return result
end

-- Raises unless x is nil: it is an argument too many, or a table of options for a function without options.
function data.nothing(who, x)
  if x == nil then return end
  if data.is_options(x) then return data.options(who, x, "") end
  fail("%s: expected no further argument, got %s", who, describe(x))
end

-- A copy of a vector or a table of numbers as a vector. NaN and infinity are gaps.
function data.column(who, what, x)
  if core.isvector(x) then return x:copy() end
  if core.ismatrix(x) and (x:rows() == 1 or x:cols() == 1) then return core.vector(x) end
  if type(x) == "number" then return core.vector { x } end
  if type(x) ~= "table" then fail("%s: %s: expected a vector or a table of numbers, got %s", who, what,
    describe(x)) end
  for i = 1, #x do
    data.expect(x[i], "number", "%s: %s[%d]: expected a number", who, what, i)
  end
  return core.vector(x)
end

-- A vector of n numbers from a number or from n of them.
function data.spread(who, what, x, n)
  if type(x) == "number" then return core.full(n, data.number(who, what, x)) end
  x = data.column(who, what, x)
  if #x ~= n then fail("%s: %s: expected %d numbers, got %d", who, what, n, #x) end
  return x
end

-- The positions and widths of `count` boxes or violins from the options: finite, and widths not below 0.
function data.seats(who, options, count)
  local at = data.spread(who, "positions", options.positions or core.linspace(1, count, count), count)
  local wide = data.spread(who, "widths", options.widths or 0.5, count)
  for i = 1, count do
    data.number(who, ("positions[%d]"):format(i), at[i])
    data.number(who, ("widths[%d]"):format(i), wide[i], 0)
  end
  return at, wide
end

-- A copy of a matrix or a table of rows; `rows` x `cols` when they are given.
function data.matrix(who, what, x, rows, cols)
  if type(x) == "table" and (type(x[1]) == "table" or core.isvector(x[1])) then
    local list = {}
    for i = 1, #x do list[i] = data.column(who, ("%s[%d]"):format(what, i), x[i]):totable() end
    for i = 2, #x do
      if #list[i] ~= #list[1] then
        fail("%s: %s[%d]: expected %d numbers as in row 1, got %d", who, what, i, #list[1], #list[i])
      end
    end
    x = core.matrix(list)
  end
  if not core.ismatrix(x) or (rows and (x:rows() ~= rows or x:cols() ~= cols)) then
    local size = rows and ("matrix of %d x %d"):format(rows, cols) or "matrix"
    fail("%s: %s: expected a %s, got %s", who, what, size, describe(x))
  end
  return x:copy()
end

function data.is_matrix(x)
  return core.ismatrix(x) or (type(x) == "table" and (type(x[1]) == "table" or core.isvector(x[1])))
end

-- The lists of numbers of a plot of samples: one, several, or the columns of a matrix.
function data.samples(who, x)
  if core.ismatrix(x) then
    local list = {}
    for j = 1, x:cols() do list[j] = x:column(j):copy() end
    return list
  end
  if type(x) == "table" and type(x[1]) ~= "number" then
    local list = {}
    for i = 1, #x do list[i] = data.column(who, ("x[%d]"):format(i), x[i]) end
    return list
  end
  return { data.column(who, "x", x) }
end

-- Raises unless all columns have the same length.
function data.same_length(who, names, columns)
  for i = 2, #columns do
    if #columns[i] ~= #columns[1] then
      fail("%s: %s has %d elements, %s has %d", who, names[1], #columns[1], names[i], #columns[i])
    end
  end
end

function data.number(who, what, x, least)
  if type(x) ~= "number" or x ~= x or (least and x < least) or x == math.huge then
    fail("%s: %s: expected a %s, got %s", who, what,
      least and number.format("number, at least %g", least) or "number",
      describe(x))
  end
  return x
end

function data.text(who, what, x)
  if type(x) == "number" then x = number.tostring(x) end
  data.expect(x, "string", "%s: %s: expected a text", who, what)
  return x
end

-- The two numbers of a point {x, y}.
function data.point(who, what, p)
  if type(p) ~= "table" and not core.isvector(p) or #p ~= 2 then
    fail("%s: %s: expected a point {x, y}, got %s", who, what, data.describe(p))
  end
  return data.number(who, what, p[1]), data.number(who, what, p[2])
end

-- Two finite numbers, the first below the second; with `any_order` they must only differ.
function data.interval(who, what, x, any_order)
  local good = type(x) ~= "number" and (type(x) == "table" or core.isvector(x)) and #x == 2
  local a, b
  if good then a, b = x[1], x[2] end
  good = good and type(a) == "number" and type(b) == "number" and math.abs(a) < math.huge and math.abs(b) < math.huge
  if not good or a == b or (a > b and not any_order) then
    fail("%s: %s: expected two numbers, the first %s, got %s", who, what, any_order and "not the second" or
      "below the second", good and number.format("%g and %g", a, b) or describe(x))
  end
  return a, b
end

-- Values of a function or a matrix on the grid x, y: a matrix with a row for each y. Raises when a
-- function returns no number; an error in the function is passed on.
function data.grid(who, what, z, x, y)
  if type(z) ~= "function" then return data.matrix(who, what, z, #y, #x) end
  local result = core.matrix(#y, #x)
  for i = 1, #y do
    local row = result[i]
    for j = 1, #x do
      local value = z(x[j], y[i])
      if type(value) ~= "number" then
        fail("%s: %s: expected the function to return a number, got %s at (%g, %g)", who, what, describe(value),
          x[j], y[i])
      end
      row[j] = value
    end
  end
  return result
end

-- The two numbers that a field f returns at (x, y), as two results or as a list of two.
function data.pair(who, f, x, y)
  local a, b = f(x, y)
  local pair = type(a) == "table" or core.isvector(a)
  if pair then a, b = a[1], a[2] end
  if type(a) ~= "number" or type(b) ~= "number" then
    fail("%s: expected the function to return two numbers, got %s and %s at (%g, %g)", who, describe(a),
      describe(b), x, y)
  end
  return a, b
end

-- The least and the largest finite element of columns; nil when there is none. With `positive` only elements above
-- 0.
function data.range(columns, positive)
  local lo, hi
  for _, column in ipairs(columns) do
    local a, b = range(column, positive)
    if a then lo, hi = math.min(lo or a, a), math.max(hi or b, b) end
  end
  return lo, hi
end

-- Whether all elements of a vector are finite and none is below the one before.
data.rises = core.thin_support.rises

return data
