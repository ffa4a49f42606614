-- nslua.base.arguments: checks of arguments, each raising a message that names the function and the argument.
local core = require "nslua.core"
local format = core.number_support.format
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

local arguments = {}

-- Raises a message. C writes some nans as -nan; their sign means nothing.
function arguments.fail(text, ...) where.fail((format(text, ...):gsub("%f[%S]%-nan%f[%W]", "nan"))) end

local fail = arguments.fail

-- What a message says of a value.
function arguments.describe(value)
  if value ~= value then return "nan" end
  if type(value) == "number" then return format("%g", value) end
  return type(value) == "string" and "'" .. value .. "'" or type(value)
end

-- Lists of at most so many numbers, texts and truth values are shown as they are written: a place and a quaternion.
local SHOWN = 7

-- What a message says of a plain table.
local function tell_table(t)
  local n, key, words = #t, nil, {}
  for k in pairs(t) do
    local own = math.type(k) ~= "integer" or k < 1 or k > n
    if own and (key == nil or tostring(k) < tostring(key)) then key = k end
  end
  if key ~= nil then return ("a table with the key %s"):format(arguments.describe(key)) end
  if n == 0 then return "an empty table" end
  for i = 1, math.min(n, SHOWN + 1) do
    if type(t[i]) == "table" or type(t[i]) == "userdata" or i > SHOWN then return ("a list of %d"):format(n) end
    words[i] = type(t[i]) == "boolean" and tostring(t[i]) or arguments.describe(t[i])
  end
  return "{ " .. table.concat(words, ", ") .. " }"
end

-- What a message says of a value whose contents may be what is wrong: a short list is shown, an object told by its
-- name.
function arguments.tell(value)
  if type(value) == "table" and not getmetatable(value) then return tell_table(value) end
  if type(value) == "userdata" or type(value) == "table" then return (tostring(value):gsub(": 0?x?%x+$", "")) end
  return type(value) == "boolean" and tostring(value) or arguments.describe(value)
end

-- Returns a value of this type of Lua. For others it raises the text, as "%s: file: expected a string", and what it
-- got.
function arguments.expect(value, kind, text, ...)
  arguments.reject(type(value) ~= kind, value, text, ...)
  return value
end

-- Raises the text and what a value is, where it is wrong.
function arguments.reject(wrong, value, text, ...)
  if wrong then fail("%s, got %s", format(text, ...), arguments.describe(value)) end
end

-- As expect(), for a value that may be nil.
function arguments.optional(value, ...) return value ~= nil and arguments.expect(value, ...) or value end

-- The content of a file; or nil and the reason, which does not name the file.
function arguments.content(path)
  local handle, message = io.open(path, "rb")
  local text
  if handle then
    text, message = handle:read "a"
    handle:close()
  end
  return text, message and message:match "[^:]*$":gsub("^ ", "")
end

-- Whether f can be called as a function. Vectors and matrices are no functions, although a call gives their slices.
function arguments.is_callable(f)
  local name, meta = getmetatable(f), debug.getmetatable(f)
  if type(name) == "string" and (name:find "vector" or name:find "matrix") then return false end
  return type(f) == "function" or meta ~= nil and meta.__call ~= nil
end

function arguments.number(value, who, name)
  if type(value) == "number" and value == value then return value end
  fail("%s: %s: expected a number, got %s", who, name, arguments.describe(value))
end

function arguments.finite(value, who, name)
  if arguments.number(value, who, name) - value == 0 then return value end
  fail("%s: %s: expected a finite number, got %s", who, name, arguments.describe(value))
end

function arguments.positive(value, who, name)
  if arguments.number(value, who, name) > 0 and value < math.huge then return value end
  fail("%s: %s: expected a number above 0, got %s", who, name, arguments.describe(value))
end

function arguments.integer(value, least, who, name)
  local n = type(value) == "number" and math.tointeger(value)
  if not n or n < least then
    fail("%s: %s: expected an integer of %d or more, got %s", who, name, least, arguments.describe(value))
  end
  return n
end

-- The numbers of a vector or a list as a table; n: how many there must be. All must be finite.
function arguments.numbers(value, n, who, name)
  local good, v = where.try(core.vector, value)
  if not good or type(value) == "number" then
    fail("%s: %s: expected a vector, got %s", who, name, arguments.tell(value))
  end
  local list = v:totable()
  if n and #list ~= n then fail("%s: %s: expected a vector of %d, got one of %d", who, name, n, #list) end
  for i, x in ipairs(list) do
    if x - x ~= 0 then fail("%s: %s[%d] is %s", who, name, i, x ~= x and "nan" or "infinite") end
  end
  return list
end

-- As numbers(), and each number must be larger than the one before it; at least `least` of them.
function arguments.increasing(value, least, who, name)
  local list = arguments.numbers(value, nil, who, name)
  if #list < least then fail("%s: %s: expected at least %d numbers, got %d", who, name, least, #list) end
  for i = 2, #list do
    if list[i] <= list[i - 1] then
      fail("%s: %s must increase: %s[%d] = %g, %s[%d] = %g", who, name, name, i - 1, list[i - 1], name, i, list[i])
    end
  end
  return list
end

-- The options, checked against nslua.base.option_names. The name of a method there begins with ":"; messages tell
-- functions of numerics by their last name.
function arguments.options(options, name)
  local who = name:gsub("^:", ""):gsub("^numerics%.", "")
  options = options == nil and {} or options
  if type(options) ~= "table" then fail("%s: options: expected a table, got %s", who, type(options)) end
  return option_tables.need(options, option_names[name], who, fail)
end

-- Whether the value is a simulation.
function arguments.is_simulation(value)
  if type(value) ~= "userdata" then return false end
  local good, run = where.try(function() return value.run end)
  return good and run == core.simulation_methods.run
end

-- The name of the first event of the script with an action in a simulation; nil: there is none. A reset does not
-- bring back what an action changes outside of the state.
function arguments.acting_event(simu)
  for _, event in ipairs(simu:userEvents()) do
    if event.acts then return event.name end
  end
end

-- f(x) for a number x, or for each element of a vector or a table x.
function arguments.at_each(x, f, who)
  if type(x) == "number" then return f(x) end
  local out = core.vector(arguments.numbers(x, nil, who, "x"))
  for i = 1, #out do out[i] = f(out[i]) end
  return out
end

return arguments
