-- nslua.optimise.control_trouble: what is wrong with the functions of an optimal control problem: errors that they
-- raise, and points at which they or their derivatives have no value.
local core = require "nslua.core"
local point_functions = require "nslua.optimise.control_point"
local where = require "nslua.base.where"

local format = core.number_support.format
local huge = math.huge
local who = "optimal_control"

local trouble = {}

-- f with the name of the option in the messages of its errors.
function trouble.named(f, option)
  local function told(good, first, ...)
    if good then return first, ... end
    if type(first) ~= "string" then error(first, 0) end
    error(where.bare(first, who):find("^" .. who .. ": ") and first or ("%s: %s: %s"):format(who, option, first), 0)
  end
  return f and function(...) return told(where.try(f, ...)) end
end

-- ---- points without values ----

-- z = { states, controls, relays, parameters, T } in units of the program as the functions take them.
local function values_of(p, z)
  local nx, nu, ns = #p.states, #p.controls, #p.relays
  return point_functions.named(z, 0, p.states), point_functions.named(z, nx, p.controls),
    point_functions.named(z, nx + nu, point_functions.relay_names(p)),
    point_functions.named(z, nx + nu + ns, p.parameters), z[nx + nu + ns + #p.parameters + 1]
end

-- The functions with numbers, as { text, f(z) }, and their names for each number; of a point, or of the end.
local function functions_of(p, at_end)
  local list = {}
  local function add(option, names, f) list[#list + 1] = { option = option, names = names, f = f } end
  if at_end then
    if p.terminal then
      add("terminal", { "the cost" }, function(z)
        local x, _, _, q, T = values_of(p, z)
        return { p.terminal(x, T, q) }
      end)
    end
    return list
  end
  local rates, guards = {}, {}
  for i, name in ipairs(p.states) do rates[i] = ("the rate of '%s'"):format(name) end
  for i, relay in ipairs(p.relays) do guards[i] = ("the function of '%s'"):format(relay.name) end
  add("rhs", rates, function(z)
    local x, u, s, q = values_of(p, z)
    return p.rhs(x, u, s, q)
  end)
  if p.cost then
    add("cost", { "the rate of the cost" }, function(z)
      local x, u, s, q = values_of(p, z)
      return { p.cost(x, u, s, q) }
    end)
  end
  if p.path then
    add("path", {}, function(z)
      local x, u, s, q = values_of(p, z)
      return p.path(x, u, s, q)
    end)
  end
  if #p.relays > 0 then
    add("relays", guards, function(z)
      local x, u, _, q = values_of(p, z)
      local out = {}
      for i, relay in ipairs(p.relays) do out[i] = relay.of(x, u, q) end
      return out
    end)
  end
  return list
end

-- The names of the numbers of z and their units.
local function quantities(p, units)
  local names, sizes = {}, {}
  for _, group in ipairs { { p.states, units.x }, { p.controls, units.u },
    { point_functions.relay_names(p), units.s }, { p.parameters, units.p }, { { "T" }, { units.T } } } do
    for i, name in ipairs(group[1]) do names[#names + 1], sizes[#sizes + 1] = name, group[2][i] end
  end
  return names, sizes
end

local function is_bad(value) return type(value) == "number" and (value ~= value or math.abs(value) == huge) end

local function shown(value) return value ~= value and "nan" or value > 0 and "infinite" or "-infinite" end

-- The first number of a function that has no value or no derivative at z, as a text; nil: all have.
local function bad_number(one, z, names)
  local good, values = pcall(one.f, z)
  if not good then return nil end
  for i, value in ipairs(values) do
    local what = one.names[i] or ("number %d"):format(i)
    if is_bad(value) then return ("%s: %s is %s"):format(one.option, what, shown(value)) end
  end
  local message
  good, message = where.try(core.jacobian, function(v)
    local list = one.f(v)
    for i = 1, #list do list[i] = list[i] + 0 * v[1] end
    return list
  end, z)
  local i, j = tostring(message):match "f%[(%d+)%]: the derivative by x%[(%d+)%] is "
  if good or not i then return nil end
  local what = one.names[tonumber(i)] or ("number %d"):format(i)
  return ("%s: %s has no derivative by '%s'"):format(one.option, what, names[tonumber(j)])
end

local function text_of(p, units, one, z, t, last)
  local names, sizes = quantities(p, units)
  local bad = bad_number(one, z, names)
  if not bad then return nil end
  local list = {}
  for j = 1, #names - (last and 0 or 1) do list[j] = names[j] .. "=" .. format("%.6g", z[j] * sizes[j]) end
  return ("%s at t=%s (%s)"):format(bad, format("%.6g", t * units.T), table.concat(list, ", "))
end

-- Calls visit(point, controls, c, t, relays) for the collocation points in their order, until it returns something.
-- The start (c = 0) comes first: there only the functions of the relays are evaluated.
local function each_point(p, layout, x, visit)
  local t = 0
  for _, phase in ipairs(layout.phases) do
    local h = x[phase.h]
    for e, points in ipairs(phase.elements) do
      if e == 1 and phase.from == layout.first then
        local found = visit(phase.from, points.controls, 0, t, points[1].s)
        if found then return found end
      end
      for i, point in ipairs(points) do
        local found = visit(point, points.controls, p.c[i], t + (e - 1 + p.c[i]) * h, point.s)
        if found then return found end
      end
    end
    t = t + h * phase.count
  end
end

-- Where a function has no value at the point x of the program: a text; nil: nowhere.
local function find_at(p, units, layout, x)
  local nx, nu = #p.states, #p.controls
  local z = core.zeros(nx + nu + #p.relays + #p.parameters + 1)
  local at_point = functions_of(p, false)
  for i, k in ipairs(p.parameter) do z[nx + nu + #p.relays + i] = x[k] end
  z[#z] = x[layout.T]
  local found = each_point(p, layout, x, function(point, controls, c, t, relays)
    for i = 1, nx do z[i] = x[point.x[i]] end
    for i = 1, nu do z[nx + i] = (1 - c) * x[controls.a[i]] + c * x[controls.b[i]] end
    for i = 1, #p.relays do z[nx + nu + i] = x[relays[i]] end
    for _, one in ipairs(at_point) do
      local text = (c > 0 or one.option == "relays") and text_of(p, units, one, z, t, false)
      if text then return text end
    end
  end)
  if found then return found end
  for _, one in ipairs(functions_of(p, true)) do
    local text = text_of(p, units, one, z, x[layout.T], true)
    if text then return text end
  end
end

-- What a search without success has met: where the functions have no value at its start or at its end; nil: nothing.
function trouble.find(p, units, layout, x)
  local text = find_at(p, units, layout, core.vector(layout.program.start))
  if text then return text .. ", where the search starts" end
  text = find_at(p, units, layout, x)
  return text and text .. ", where the search ended"
end

return trouble
