-- nslua.optimise.control_options: the options of ns.optimal_control, checked.
local arguments = require "nslua.base.arguments"
local trouble = require "nslua.optimise.control_trouble"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject
local huge = math.huge
local who = "optimal_control"

local function names_of(list, what, optional)
  if list == nil and optional then return {} end
  reject(type(list) ~= "table" or #list == 0, list, "%s: %s: expected a list of names", who, what)
  local seen = {}
  for i, name in ipairs(list) do
    expect(name, "string", "%s: %s[%d]: expected a name", who, what, i)
    if seen[name] then fail("%s: %s: '%s' is there twice", who, what, name) end
    seen[name] = true
  end
  return list
end

-- An interval from a number, or from { low, high }.
local function interval(value, what)
  if type(value) == "number" and value - value == 0 then return value, value end
  if type(value) == "table" then
    local low, high = value[1] or -huge, value[2] or huge
    if type(low) == "number" and type(high) == "number" and low <= high then return low, high end
  end
  fail("%s: %s: expected a number or { low, high }, got %s", who, what, describe(value))
end

-- The intervals by name; `names`: those that may occur.
local function intervals(given, names, what)
  local out, known = {}, {}
  if given == nil then return out end
  expect(given, "table", "%s: %s: expected a table by names", who, what)
  for i, name in ipairs(names) do known[name] = i end
  for key, value in pairs(given) do
    local name = known[key] and key or names[key]
    if not name then
      fail("%s: %s: there is no '%s' (known: %s)", who, what, tostring(key), table.concat(names, ", "))
    end
    out[name] = { interval(value, what .. "." .. name) }
  end
  return out
end

local function need_function(f, what, optional)
  if f == nil and optional then return nil end
  expect(f, "function", "%s: %s: expected a function", who, what)
  return trouble.named(f, what)
end

local function read_relays(given)
  local list = {}
  arguments.optional(given, "table", "%s: relays: expected a list of { name =, of = }", who)
  for i, r in ipairs(given or {}) do
    local what = ("relays[%d]"):format(i)
    expect(r, "table", "%s: %s: expected { name =, of = }", who, what)
    local name, of = r.name or r[1], r.of or r[2]
    expect(name, "string", "%s: %s: name: expected a name", who, what)
    local low, high = r.low or -1, r.high or 1
    if type(low) ~= "number" or type(high) ~= "number" or low >= high then
      fail("%s: %s: low: expected a number below high", who, what)
    end
    list[i] = { name = name, of = need_function(of, what .. ".of"), low = low + 0.0, high = high + 0.0 }
  end
  return list
end

-- The guess, whose functions are asked for finite numbers.
local function read_guess(given)
  local out = {}
  for name, value in pairs(given or {}) do
    local what = "guess." .. tostring(name)
    if type(value) == "function" then
      local f = trouble.named(value, what)
      out[name] = function(part)
        local found = f(part)
        if type(found) ~= "number" or found - found ~= 0 then
          fail("%s: %s: expected a finite number, got %s at the part %g of the time", who, what, describe(found),
            part)
        end
        return found
      end
    else
      out[name] = value
    end
  end
  return out
end

local function read(options)
  expect(options, "table", "%s: expected a table of options", who)
  local o = arguments.options(options, who)
  local p = { states = names_of(o.states, "states"), controls = names_of(o.controls, "controls", true),
    relays = read_relays(o.relays), rhs = need_function(o.rhs, "rhs"), cost = need_function(o.cost, "cost", true),
    terminal = need_function(o.terminal, "terminal", true), path = need_function(o.path, "path", true) }
  p.parameters = {}
  for name in pairs(o.parameters or {}) do p.parameters[#p.parameters + 1] = name end
  table.sort(p.parameters)
  p.values = intervals(o.parameters, p.parameters, "parameters")
  local both = { table.unpack(p.states) }
  for _, name in ipairs(p.controls) do both[#both + 1] = name end
  p.bounds = intervals(o.bounds, both, "bounds")
  p.start, p.goal = intervals(o.start, p.states, "start"), intervals(o.goal, p.states, "goal")
  p.T_low, p.T_high = interval(o.T, "T")
  if p.T_low < 0 or p.T_high <= 0 then fail("%s: T: expected a time above 0, got %g", who, p.T_high) end
  p.elements = arguments.integer(o.elements or 60, 1, who, "elements")
  p.phases = arguments.integer(o.phases or 4, 1, who, "phases")
  p.stages = arguments.integer(o.stages or 3, 1, who, "stages")
  p.degree = o.control_degree and arguments.integer(o.control_degree, 0, who, "control_degree")
  if p.degree and p.degree > 1 then fail("%s: control_degree: expected 0 or 1, got %d", who, p.degree) end
  if p.stages > 3 then fail("%s: stages: expected 1, 2 or 3, got %d", who, p.stages) end
  if p.elements < p.phases then fail("%s: %d elements are too few for %d phases", who, p.elements, p.phases) end
  if not p.cost and not p.terminal then fail("%s: expected a cost or a terminal cost", who) end
  p.guess = read_guess(o.guess)
  reject(o.tol ~= nil and not (type(o.tol) == "number" and o.tol > 0 and o.tol < huge), o.tol,
    "%s: tol: expected a number above 0", who)
  p.accuracy = o.accuracy == nil and 1e-6 or o.accuracy
  reject(not (type(p.accuracy) == "number" and p.accuracy > 0), p.accuracy,
    "%s: accuracy: expected a number above 0", who)
  p.max_elements = o.max_elements and arguments.integer(o.max_elements, 1, who, "max_elements") or 10 * p.elements
  p.tolerance = o.tol
  p.max_iterations = o.max_iterations and arguments.integer(o.max_iterations, 1, who, "max_iterations")
  return p
end

return read
