-- nslua.optimise.control_point: the functions of an optimal control problem at one point, compiled as functions of a
-- vector, and the first guess there.
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local lists = require "nslua.base.lists"
local where = require "nslua.base.where"

local fail, reject = arguments.fail, arguments.reject
local huge = math.huge
local who = "optimal_control"

-- Reads names from z at the places behind `at`; the values have numbers and names.
local function named(z, at, names)
  local out = {}
  for i, name in ipairs(names) do
    out[i] = z[at + i]
    out[name] = z[at + i]
  end
  return out
end

local function relay_names(p)
  local names = lists.map(p.relays, function(r) return r.name end)
  return names
end

-- z = { h, states, controls at the start and at the end of the element, relays, parameters }; the point is at the
-- part c of the element.
local function unpack_point(p, z, c)
  local nx, nu, ns = #p.states, #p.controls, #p.relays
  local u = {}
  for i, name in ipairs(p.controls) do
    local a, b = z[1 + nx + i], z[1 + nx + nu + i]
    u[i] = c == 0 and a or c == 1 and b or (1 - c) * a + c * b
    u[name] = u[i]
  end
  return named(z, 1, p.states), u, named(z, 1 + nx + 2 * nu, relay_names(p)),
    named(z, 1 + nx + 2 * nu + ns, p.parameters)
end

local function rates(p, x, u, s, q)
  local f, out = p.rhs(x, u, s, q), {}
  for i, name in ipairs(p.states) do
    local rate = type(f) == "table" and (f[i] or f[name])
    if not rate then
      fail("%s: rhs: expected the rates of %s, got none of '%s'", who, table.concat(p.states, ", "), name)
    end
    reject(type(rate) ~= "number" and type(rate) ~= "userdata", rate,
      "%s: rhs: the rate of '%s': expected a number", who, name)
    out[i] = rate
  end
  return out
end

-- h times the rates, and h times the cost.
local function dynamics(p, c)
  return core.compile(function(z)
    local x, u, s, q = unpack_point(p, z, c)
    local out = rates(p, x, u, s, q)
    for i = 1, #out do out[i] = out[i] * z[1] end
    if p.cost then out[#out + 1] = p.cost(x, u, s, q) * z[1] end
    return out
  end, { native = false, paths = 1 })
end

-- The functions of the relays of a point: of states, controls and parameters.
local function guards(p, c)
  return core.compile(function(z)
    local x, u, _, q = unpack_point(p, z, c)
    return lists.map(p.relays, function(r) return r.of(x, u, q) + 0 * z[1] end)
  end, { native = false, paths = 1 })
end

local function range_of(bounds, name)
  local b = bounds[name]
  if b then return b[1], b[2] end
  return -huge, huge
end

local function middle(low, high)
  if low > -huge and high < huge then return (low + high) / 2 end
  return math.max(low, math.min(high, 0))
end

-- Where the search starts: between start and goal, or as `guess` tells.
local function first_state(p, name, part)
  local guess = p.guess[name]
  if type(guess) == "function" then return guess(part) end
  if type(guess) == "number" then return guess end
  local a = p.start[name] and middle(p.start[name][1], p.start[name][2])
  local b = p.goal[name] and middle(p.goal[name][1], p.goal[name][2])
  a = a or b or middle(range_of(p.bounds, name))
  b = b or a
  return a + (b - a) * part
end

local function first_control(p, name, part)
  local guess = p.guess[name]
  if type(guess) == "function" then return guess(part) end
  return type(guess) == "number" and guess or middle(range_of(p.bounds, name))
end

-- The path constraints of a point as a list.
local function path_of(p, c)
  return function(z)
    local values, out = p.path(unpack_point(p, z, c)), {}
    if type(values) ~= "table" then values = { values } end
    for k = 1, #values do out[k] = values[k] + 0 * z[1] end
    return out
  end
end

-- A point between start and goal, to count what functions return.
local function first_point(p)
  local z = core.zeros(1 + #p.states + 2 * #p.controls + #p.relays + #p.parameters)
  for i, name in ipairs(p.states) do z[1 + i] = first_state(p, name, 0.5) end
  for i, name in ipairs(p.controls) do
    z[1 + #p.states + i] = first_control(p, name, 0.5)
    z[1 + #p.states + #p.controls + i] = z[1 + #p.states + i]
  end
  for i, name in ipairs(p.parameters) do z[#z - #p.parameters + i] = p.values[name][1] end
  return z
end

-- The compiled functions of each collocation point (guards[0]: of the start of an element).
local function make_functions(p)
  local functions = { dynamics = {}, guards = {}, path = {} }
  for i, c in ipairs(p.c) do
    functions.dynamics[i] = dynamics(p, c)
    if #p.relays > 0 then functions.guards[i] = guards(p, c) end
    if p.path then functions.path[i] = core.compile(path_of(p, c), { native = false, paths = 1 }) end
  end
  functions.guards[0] = #p.relays > 0 and guards(p, 0) or nil
  if p.path then functions.path_count = #path_of(p, 1)(first_point(p)) end
  return functions
end

-- Controls that the running cost does not depend on, or is linear in, jump between their bounds. In an element a
-- linear control can come to rest half way from one bound to the other, a constant one can't: the loss has its minima
-- where the switch is at the end of an element.
local function choose_degree(p)
  if p.degree then return p.degree end
  if not p.cost then return 0 end
  local first, slopes = 1 + #p.states, {}
  for k = 1, 2 do -- two points with other controls
    local z = first_point(p)
    for i = 1, #p.controls do z[first + i] = z[first + i] + (2 * k - 1) / 8 end
    local good
    good, slopes[k] = where.try(core.gradient, function(v)
      local x, u, s, q = unpack_point(p, v, 0)
      return p.cost(x, u, s, q) + 0 * v[1]
    end, z)
    if not good then return 1 end -- there is no derivative: the search tells where
  end
  for i = 1, #p.controls do
    local a, b = slopes[1][first + i], slopes[2][first + i]
    if math.abs(a - b) > 1e-9 * (math.abs(a) + math.abs(b)) then return 1 end
  end
  return 0
end

return { named = named, rates = rates, relay_names = relay_names, range_of = range_of, first_state = first_state,
  first_control = first_control, make_functions = make_functions, choose_degree = choose_degree }
