-- nslua.optimise.parameters: numbers of a model's objects as the parameters of a fit or of an orbit.
--
--   { law, "mu" }, { ds, "x0", 2 }, { ds, "K", 1, 1 }, { name = "k", set = function(value) ... end, start = 1 }
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local where = require "nslua.base.where"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject

local parameters = {}

-- The methods that set a field where these are not "set" and the name: setQ0, setVelocity0.
local setters = { v0 = "setVelocity0", velocity0 = "setVelocity0" }
local getters = { v0 = "velocity0" }

local function method_of(object, name)
  local good, method = where.try(function() return object[name] end)
  return good and type(method) == "function" and method or nil
end

-- The text of { law, "mu" }: "mu", of { ds, "K", 1, 2 }: "K[1][2]".
local function name_of(entry)
  local name = entry[2]
  for i = 3, #entry do name = ("%s[%d]"):format(name, entry[i]) end
  return name
end

local function accessors(entry, what, who)
  local object, field = entry[1], entry[2]
  if type(object) ~= "userdata" or type(field) ~= "string" then
    fail("%s: %s: expected { object, field }, got { %s, %s }", who, what, describe(object), describe(field))
  end
  local get = method_of(object, getters[field] or field)
  local set = method_of(object, setters[field] or "set" .. field:gsub("^%l", string.upper))
    or method_of(object, "set" .. field)
  if not get or not set then fail("%s: %s: the object has no number '%s' that can be set", who, what, field) end
  local i, j = entry[3], entry[4]
  local function value() return get(object) end
  if i == nil then
    return function()
      local x = value()
      if type(x) ~= "number" and #x == 1 and type(x[1]) == "number" then x = x[1] end
      if type(x) ~= "number" then
        fail("%s: %s: '%s' is no number: tell which element, { object, '%s', i }", who, what, field, field)
      end
      return x
    end, function(x)
      if type(value()) == "number" then set(object, x) else set(object, { x }) end
    end
  end
  local function element()
    local x = value()
    return j == nil and x[i] or x[i][j]
  end
  return element, function(x)
    local all = value():copy()
    if j == nil then all[i] = x else all[i][j] = x end
    set(object, all)
  end
end

-- The parameter { name =, set =, start =, entry = } of { object, field }; what: its name in messages.
function parameters.number(entry, what, who)
  expect(entry, "table", "%s: %s: expected { object, field }", who, what)
  local get, set = accessors(entry, what, who)
  return { name = entry.name or name_of(entry), set = set, start = entry.start or get(), entry = entry }
end

-- The list of parameters { name =, set =, start = }.
function parameters.read(list, start, who)
  reject(type(list) ~= "table" or #list == 0, list, "%s: parameters: expected a list of { object, field }", who)
  if type(start) == "number" then start = { start } end
  if start ~= nil then start = arguments.numbers(start, #list, who, "start") end
  local out = {}
  for k, entry in ipairs(list) do
    local what = ("parameters[%d]"):format(k)
    local p
    if type(entry) == "table" and entry.set then
      p = { name = entry.name or what, set = entry.set, start = entry.start }
      if type(p.set) ~= "function" then fail("%s: %s: set: expected a function", who, what) end
    else
      p = parameters.number(entry, what, who)
    end
    p.start = start and start[k] or p.start
    if type(p.start) ~= "number" then fail("%s: %s: there is no start", who, what) end
    out[k] = p
  end
  return out
end

-- The values of the parameters as a vector.
function parameters.starts(list)
  local x = core.zeros(#list)
  for k, p in ipairs(list) do x[k] = p.start end
  return x
end

function parameters.set(list, x)
  for k, p in ipairs(list) do p.set(x[k]) end
end

return parameters
