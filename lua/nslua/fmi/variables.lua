-- nslua.fmi.variables: the variables of a model for other tools, as records in the order of modelDescription.xml.
--
-- A record has name, causality, variability, initial, type, start, unit, description, min, max, nominal, quantity,
-- get, set, and `reference`, its number from 0. Its place among the ScalarVariables is reference + 1.
local arguments = require "nslua.base.arguments"
local lists = require "nslua.base.lists"
local option_tables = require "nslua.base.option_tables"

local fail, describe, expect, optional, reject =
  arguments.fail, arguments.describe, arguments.expect, arguments.optional, arguments.reject

local variables = {}

local WHO = "fmi.model"

local TYPES = { Real = true, Integer = true, Boolean = true, String = true }

-- What each part of the description makes: the causality, the keys that a variable may have, the field that a
-- function or a plain value stands for, and whether a start value is needed.
local groups = {
  parameters = { causality = "parameter",
    keys = "name start unit description min max nominal quantity type variability set",
    short = "start", starts = true },
  inputs = { causality = "input", keys = "name start unit description min max nominal quantity type variability set",
    short = "start", starts = true },
  outputs = { causality = "output", keys = "name get unit description min max nominal quantity type variability",
    short = "get" },
  locals = { causality = "local", keys = "name get unit description min max nominal quantity type variability",
    short = "get" },
  states = { causality = "local", keys = "name start unit description min max nominal quantity", short = "start",
    starts = true, state = true },
}
variables.order = { "parameters", "inputs", "outputs", "locals", "states" }

-- Whether a value is one of a type.
local is = {
  Real = function(x) return type(x) == "number" and x - x == 0 end,
  Integer = function(x)
    local n = type(x) == "number" and math.tointeger(x)
    return n and n >= -2 ^ 31 and n < 2 ^ 31
  end,
  Boolean = function(x) return type(x) == "boolean" end,
  String = function(x) return type(x) == "string" and not x:find "\0" end,
}

-- Checks a text of the description: modelDescription.xml is in UTF-8.
function variables.text(value, what)
  expect(value, "string", "%s: expected a text", what)
  local _, at = utf8.len(value)
  if at then fail("%s: expected a text in UTF-8; byte %d is not", what, at) end
  return value
end

local words = { Real = "a finite number", Integer = "an integer of 32 bits", Boolean = "true or false",
  String = "a text" }

-- The value as one of the type (2.0 as the integer 2); what: whose value it is, for the message.
function variables.value(kind, value, what)
  if not is[kind](value) then fail("%s: expected %s, got %s", what, words[kind], describe(value)) end
  if kind == "String" then variables.text(value, what) end
  if kind == "Integer" then return math.tointeger(value) end
  return kind == "Real" and value + 0.0 or value
end

-- The entries of a part in its order: a list as written, a table by name in the order of the names.
local function entries_of(part, group, given)
  expect(given, "table", "%s: %s: expected a table", WHO, part)
  local list = {}
  for i, entry in ipairs(given) do
    if type(entry) ~= "table" or type(entry.name) ~= "string" then
      fail("%s: %s[%d]: expected a table with a name, as { name = \"u\", start = 0 }", WHO, part, i)
    end
    list[i] = entry
  end
  for _, name in ipairs(lists.keys(given, function(key) return type(key) == "string" end)) do
    local entry, copy = given[name], { name = name }
    if type(entry) == "table" then
      for key, value in pairs(entry) do copy[key] = value end
    else
      copy[group.short] = entry
    end
    list[#list + 1] = copy
  end
  return list
end

local function type_of(entry, what)
  reject(entry.type ~= nil and not TYPES[entry.type], entry.type,
    "%s: type: expected one of Real, Integer, Boolean, String", what)
  if entry.type then return entry.type end
  return type(entry.start) == "boolean" and "Boolean" or type(entry.start) == "string" and "String" or "Real"
end

local VARIABILITY = { parameter = { fixed = true, tunable = true }, other = { continuous = true, discrete = true } }

local function variability_of(entry, causality, kind, what)
  local parameter = causality == "parameter"
  local default = parameter and "fixed" or kind == "Real" and "continuous" or "discrete"
  local chosen = entry.variability or default
  if not VARIABILITY[parameter and "parameter" or "other"][chosen] or chosen == "continuous" and kind ~= "Real" then
    fail("%s: variability: expected %s, got %s", what, parameter and "fixed or tunable"
      or kind == "Real" and "continuous or discrete" or "discrete", describe(entry.variability))
  end
  return chosen
end

local function check_function(entry, key, what)
  optional(entry[key], "function", "%s: %s: expected a function", what, key)
end

local function check_limits(entry, record, what)
  for _, key in ipairs { "min", "max", "nominal" } do
    local value = entry[key]
    if value ~= nil then
      if record.type ~= "Real" and (record.type ~= "Integer" or key == "nominal") then
        fail("%s: %s: a %s has none", what, key, record.type)
      end
      record[key] = variables.value(record.type, value, what .. ": " .. key)
    end
  end
  if record.nominal and record.nominal <= 0 then
    fail("%s: nominal: expected a positive number, got %g", what, record.nominal)
  end
  local low, high, start = record.min or -math.huge, record.max or math.huge, record.start
  if low > high then fail("%s: min = %g is above max = %g", what, low, high) end
  if type(start) == "number" and (start < low or start > high) then
    fail("%s: start = %g is not between min = %g and max = %g", what, start, low, high)
  end
end

local function check_texts(entry, record, what)
  for _, key in ipairs { "unit", "description", "quantity" } do
    if entry[key] ~= nil then record[key] = variables.text(entry[key], what .. ": " .. key) end
  end
  if record.unit and record.type ~= "Real" then fail("%s: unit: only a Real has one", what) end
  if record.quantity and (record.type == "Boolean" or record.type == "String") then
    fail("%s: quantity: a %s has none", what, record.type)
  end
end

local function record_of(part, group, entry)
  local what = ("%s: %s: '%s'"):format(WHO, part, entry.name)
  option_tables.need(entry, group.keys, what, fail)
  if entry.name == "" or entry.name:find "[%c]" then fail("%s: a name has printable characters", what) end
  variables.text(entry.name, what)
  if entry.name == "time" and group.starts and not group.state then
    fail("%s: v.time is the time: choose another name", what)
  end
  local kind = type_of(entry, what)
  local record = { name = entry.name, causality = group.causality, type = kind, get = entry.get, set = entry.set,
    state = group.state }
  record.variability = variability_of(entry, group.causality, kind, what)
  check_function(entry, "get", what)
  check_function(entry, "set", what)
  if group.starts then
    if entry.start == nil then fail("%s: start: a value is needed", what) end
    record.start = variables.value(kind, entry.start, what .. ": start")
    record.initial = group.causality ~= "input" and "exact" or nil
  else
    if not entry.get then fail("%s: get: expected a function that returns the value", what) end
    record.initial = "calculated"
  end
  check_texts(entry, record, what)
  check_limits(entry, record, what)
  return record
end

-- The records of a description.
function variables.of(description)
  local list, seen = {}, {}
  for _, part in ipairs(variables.order) do
    local group = groups[part]
    for _, entry in ipairs(entries_of(part, group, description[part] or {})) do
      local record = record_of(part, group, entry)
      if seen[record.name] then fail("%s: there are two variables '%s'", WHO, record.name) end
      seen[record.name] = true
      record.reference = #list
      list[#list + 1] = record
    end
  end
  return list
end

-- Adds a record for each state that the list does not have, and one for its derivative; states: a list of { name,
-- reinit }. Returns the records of the derivatives, in the order of the states.
function variables.add_derivatives(list, states)
  local by_name, derivatives = {}, {}
  for _, record in ipairs(list) do by_name[record.name] = record end
  local function add(record)
    if by_name[record.name] then fail("%s: there are two variables '%s'", WHO, record.name) end
    by_name[record.name] = record
    record.reference = #list
    list[#list + 1] = record
    return record
  end
  for _, state in ipairs(states) do
    local record = by_name[state.name]
    if not record or not record.state then
      add { name = state.name, causality = "local", variability = "continuous", type = "Real", initial = "calculated",
        state = true, reinit = state.reinit }
    end
  end
  for _, state in ipairs(states) do
    derivatives[#derivatives + 1] = add { name = ("der(%s)"):format(state.name), causality = "local",
      variability = "continuous", type = "Real", initial = "calculated", derivative_of = by_name[state.name] }
  end
  return derivatives
end

-- Adds a record for each discrete state, { name, get }, whose name no variable has.
function variables.add_discrete(list, states)
  local seen = {}
  for _, record in ipairs(list) do seen[record.name] = true end
  for _, state in ipairs(states) do
    if not seen[state.name] then
      list[#list + 1] = { name = state.name, get = state.get, causality = "local", variability = "discrete",
        type = "Real", initial = "calculated", reference = #list }
    end
  end
end

return variables
