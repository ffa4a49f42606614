-- nslua.optimise.control_units: the sizes of all quantities of an optimal control problem, and the problem divided by
-- them. So the units of a problem change nothing: all sizes are powers of two.
--
-- The size of a state or a control comes from its values in start, goal, bounds and guess. Where there are none it
-- comes from the rates: a term of the rate of a state counts as much as the state's size divided by the time, or as
-- much as the largest other term.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local lists = require "nslua.base.lists"
local point_functions = require "nslua.optimise.control_point"
local where = require "nslua.base.where"

-- What a function of the script has returned: a number, or one that carries derivatives.
local function numeric(value, name)
  if type(value) ~= "number" and type(value) ~= "userdata" then
    arguments.fail("optimal_control: %s: expected a number, got %s", name, arguments.describe(value))
  end
  return value
end

local huge = math.huge
local first_state, first_control = point_functions.first_state, point_functions.first_control

local PARTS = { 0, 0.25, 0.5, 0.75, 1 } -- of the time, at which guesses are looked at
local SHIFTS = { 0, 1, -1 } -- of states and controls at sample points, in parts of their sizes

-- The power of two nearest to x > 0; 1 where there is none.
local function power_of_two(x)
  if not (x > 0 and x < huge) then return 1 end
  return 2.0 ^ math.floor(math.log(x, 2) + 0.5)
end

-- ---- values of the user ----

local function largest(most, value)
  if type(value) ~= "number" then return most end
  value = math.abs(value)
  return value < huge and value > most and value or most
end

-- The largest of the values that are given for a state or a control; 0: none.
local function given_size(p, name)
  local most, guess = 0, p.guess[name]
  for _, group in ipairs { p.start, p.goal, p.bounds } do
    for _, value in ipairs(group[name] or {}) do most = largest(most, value) end
  end
  for _, part in ipairs(PARTS) do
    most = largest(most, type(guess) == "function" and guess(part) or guess)
  end
  return most
end

local function time_of(p)
  if type(p.guess.T) == "number" and p.guess.T > 0 then return p.guess.T end
  return p.T_high < huge and (p.T_low + p.T_high) / 2 or p.T_low > 0 and p.T_low or 1
end

-- ---- derivatives at samples ----

-- z: states, controls, relays, parameters.
local function layout_of(p)
  local names, at = {}, {}
  local function add(list, kind)
    for i, one in ipairs(list) do
      names[#names + 1] = { kind = kind, i = i, name = type(one) == "table" and one.name or one }
    end
    at[kind] = #names
  end
  add(p.states, "x")
  add(p.controls, "u")
  add(p.relays, "s")
  add(p.parameters, "p")
  return names, at
end

local function unpack_sample(p, z, at)
  return point_functions.named(z, 0, p.states), point_functions.named(z, at.x, p.controls),
    point_functions.named(z, at.u, point_functions.relay_names(p)), point_functions.named(z, at.s, p.parameters)
end

local function within(bounds, value)
  if not bounds then return value end
  return math.max(bounds[1], math.min(bounds[2], value))
end

local function beside(first)
  return function(p, one, part, shift, size)
    return within(p.bounds[one.name], first(p, one.name, part) + shift * (size or 0))
  end
end

-- The value of a quantity in a sample, by its kind. part: of the way from the start to the goal; shift: in its sizes.
local value_in_sample = {
  x = beside(first_state), u = beside(first_control),
  s = function(p, one, _, shift)
    local relay = p.relays[one.i]
    return shift == 0 and (relay.low + relay.high) / 2 or shift < 0 and relay.low or relay.high
  end,
  p = function(p, one) return p.values[one.name][1] end,
}

local function size_from_bounds(p, one) return given_size(p, one.name) end

-- The size of a quantity that its kind tells; 0: none.
local known_size = {
  x = size_from_bounds, u = size_from_bounds,
  s = function(p, one) return math.max(math.abs(p.relays[one.i].low), math.abs(p.relays[one.i].high)) end,
  p = function(p, one) return math.abs(p.values[one.name][1]) end,
}

-- Points between start and goal, and beside them by the sizes that are known.
local function samples_of(p, names, size)
  local list = {}
  for _, part in ipairs { 0, 0.5, 1 } do
    for _, shift in ipairs(SHIFTS) do
      local z = core.zeros(#names)
      for k, one in ipairs(names) do z[k] = value_in_sample[one.kind](p, one, part, shift, size[k]) end
      list[#list + 1] = z
    end
  end
  return list
end

-- The largest |d f_i / d z_j| of all samples; samples where f has no derivatives are left out.
local function largest_slopes(f, samples)
  local most
  for _, z in ipairs(samples) do
    local good, J = where.try(core.jacobian, f, z)
    if good then
      most = most and core.maximum(most, J:abs()) or J:abs()
    end
  end
  return most
end

-- ---- sizes ----

-- The size of quantity j from the rates of states of known sizes; nil where it is in none of them.
local function from_rates(D, size, states, T, j)
  local best
  for i = 1, states do
    if D[i][j] > 0 and size[i] and i ~= j then
      local other = size[i] / T
      for k = 1, #size.names do
        if k ~= j and size[k] then other = math.max(other, D[i][k] * size[k]) end
      end
      best = math.max(best or 0, other / D[i][j])
    end
  end
  return best
end

-- The size of a state from its own rate: what the known quantities do in the time.
local function from_own_rate(D, size, T, i)
  local sum = 0
  for k = 1, #size.names do
    if k ~= i and size[k] then sum = sum + D[i][k] * size[k] * T end
  end
  return sum > 0 and sum or nil
end

-- One more size; whether there was one to find.
local function find_one(D, size, states, T)
  for j = 1, #size.names do
    if not size[j] then
      size[j] = from_rates(D, size, states, T, j)
      if size[j] then return true end
    end
  end
  for i = 1, states do
    if not size[i] then
      size[i] = from_own_rate(D, size, T, i)
      if size[i] then return true end
    end
  end
  return false
end

local function known_sizes(p, names)
  local size = { names = names }
  for k, one in ipairs(names) do
    local value = known_size[one.kind](p, one)
    if value > 0 then size[k] = value end
  end
  return size
end

-- The size of each value of f: what the quantities change in it.
local function sizes_of_values(f, samples, size)
  local D, out = largest_slopes(f, samples), {}
  for i = 1, D and D:rows() or 0 do
    local most = 0
    for j = 1, #size.names do most = math.max(most, D[i][j] * size[j]) end
    out[i] = power_of_two(most)
  end
  return out
end

local function list_of(value) return type(value) == "table" and value or { value } end

-- The units: x, u, s, p (lists), T, cost, guard (list), path (list).
local function find(p)
  local names, at = layout_of(p)
  local size, T = known_sizes(p, names), time_of(p)
  local function rates(z) return point_functions.rates(p, unpack_sample(p, z, at)) end
  rates(samples_of(p, names, size)[1]) -- its errors are told; those at other samples are not
  for _ = 1, #names do
    local D = largest_slopes(rates, samples_of(p, names, size))
    if not D or not find_one(D, size, at.x, T) then break end
  end
  for k = 1, #names do size[k] = power_of_two(size[k] or 1) end
  local units = { T = power_of_two(T), x = {}, u = {}, s = {}, p = {}, guard = {}, path = {} }
  for k, one in ipairs(names) do units[one.kind][one.i] = size[k] end
  local samples = samples_of(p, names, size)
  if #p.relays > 0 then
    units.guard = sizes_of_values(function(z)
      local x, u, _, q = unpack_sample(p, z, at)
      local out = lists.map(p.relays, function(relay) return relay.of(x, u, q) + 0 * z[1] end)
      return out
    end, samples, size)
  end
  if p.path then
    units.path = sizes_of_values(function(z)
      local out = lists.map(list_of(p.path(unpack_sample(p, z, at))), function(value) return value + 0 * z[1] end)
      return out
    end, samples, size)
  end
  local cost = 0
  if p.cost then
    local D = largest_slopes(function(z) return { p.cost(unpack_sample(p, z, at)) + 0 * z[1] } end, samples)
    for j = 1, D and #names or 0 do cost = math.max(cost, D[1][j] * size[j] * T) end
  end
  if p.terminal then
    for _, z in ipairs(samples) do
      local good, slope = where.try(core.gradient, function(y)
        local x, _, _, q = unpack_sample(p, y, at)
        return p.terminal(x, y[#names + 1], q) + 0 * y[1]
      end, core.concatenate { z, core.vector { T } })
      for j = 1, good and #names or 0 do cost = math.max(cost, math.abs(slope[j]) * size[j]) end
      cost = good and math.max(cost, math.abs(slope[#names + 1]) * T) or cost
    end
  end
  units.cost = power_of_two(cost)
  return units
end

-- ---- the problem in these units ----

-- The quantities in the user's units, by number and by name.
local function restored(values, names, units)
  local out = {}
  for i, name in ipairs(names) do
    out[i] = units[i] == 1 and values[i] or values[i] * units[i]
    out[name] = out[i]
  end
  return out
end

local function divided_intervals(given, names, units)
  local out = {}
  for i, name in ipairs(names) do
    local g = given[name]
    if g then out[name] = { g[1] / units[i], g[2] / units[i] } end
  end
  return out
end

local function divided_guess(p, units)
  local out = { T = type(p.guess.T) == "number" and p.guess.T / units.T or nil }
  local function add(names, sizes)
    for i, name in ipairs(names) do
      local guess = p.guess[name]
      if type(guess) == "number" then out[name] = guess / sizes[i]
      elseif type(guess) == "function" then out[name] = function(part) return guess(part) / sizes[i] end end
    end
  end
  add(p.states, units.x)
  add(p.controls, units.u)
  add(point_functions.relay_names(p), units.s)
  return out
end

-- The problem p with all quantities divided by their sizes, and these.
local function divide(p)
  local units = find(p)
  local relay_names, scaled = point_functions.relay_names(p), {}
  for key, value in pairs(p) do scaled[key] = value end
  local function original(x, u, s, q)
    return restored(x, p.states, units.x), restored(u, p.controls, units.u), restored(s, relay_names, units.s),
      restored(q, p.parameters, units.p)
  end
  function scaled.rhs(...)
    local f = point_functions.rates(p, original(...))
    for i = 1, #f do f[i] = f[i] * (units.T / units.x[i]) end
    return f
  end
  scaled.cost = p.cost and function(...) return numeric(p.cost(original(...)), "cost") * (units.T / units.cost) end
  scaled.terminal = p.terminal and function(x, T, q)
    local value = p.terminal(restored(x, p.states, units.x), T * units.T, restored(q, p.parameters, units.p))
    return numeric(value, "terminal") * (1 / units.cost)
  end
  scaled.path = p.path and function(...)
    local out = {}
    for k, value in ipairs(list_of(p.path(original(...)))) do
      out[k] = numeric(value, "path") * (1 / (units.path[k] or 1))
    end
    return out
  end
  scaled.relays = {}
  for i, relay in ipairs(p.relays) do
    scaled.relays[i] = { name = relay.name, low = relay.low / units.s[i], high = relay.high / units.s[i],
      of = function(x, u, q)
        return relay.of(restored(x, p.states, units.x), restored(u, p.controls, units.u),
          restored(q, p.parameters, units.p)) * (1 / (units.guard[i] or 1))
      end }
  end
  local both, sizes = {}, {}
  for i, name in ipairs(p.states) do both[#both + 1], sizes[#sizes + 1] = name, units.x[i] end
  for i, name in ipairs(p.controls) do both[#both + 1], sizes[#sizes + 1] = name, units.u[i] end
  scaled.bounds = divided_intervals(p.bounds, both, sizes)
  scaled.start = divided_intervals(p.start, p.states, units.x)
  scaled.goal = divided_intervals(p.goal, p.states, units.x)
  scaled.values = divided_intervals(p.values, p.parameters, units.p)
  scaled.T_low, scaled.T_high = p.T_low / units.T, p.T_high / units.T
  scaled.guess = divided_guess(p, units)
  return scaled, units
end

-- ---- the answer in the user's units ----

local function multiply_columns(A, units)
  for k = 1, A and A:rows() or 0 do
    for i, unit in ipairs(units) do A[k][i] = A[k][i] * unit end
  end
end

local function multiply_slopes(slopes, names, units, cost)
  for i, name in ipairs(names) do
    if slopes[name] then slopes[name] = slopes[name] * (cost / units[i]) end
  end
end

-- Multiplies the fields of a result by their units.
local function restore(result, p, units)
  result.cost, result.T, result.t = result.cost * units.cost, result.T * units.T, result.t * units.T
  local cost_error = rawget(result, "cost_error")
  result.cost_error = cost_error and cost_error * units.cost
  multiply_columns(rawget(result, "x"), units.x)
  multiply_columns(rawget(result, "u"), units.u)
  multiply_columns(rawget(result, "s"), units.s)
  for k, t in ipairs(result.switches) do result.switches[k] = t * units.T end
  for _, arc in ipairs(result.phases) do arc.from, arc.to = arc.from * units.T, arc.to * units.T end
  local slopes = result.slopes
  multiply_slopes(slopes.start, p.states, units.x, units.cost)
  multiply_slopes(slopes.goal, p.states, units.x, units.cost)
  multiply_slopes(slopes.parameters, p.parameters, units.p, units.cost)
  if slopes.T then slopes.T = slopes.T * (units.cost / units.T) end
  return result
end

return { divide = divide, restore = restore }
