-- nslua.optimise.control_error: the error of the collocation of an optimal control problem, and what that changes in
-- the cost.
local core = require "nslua.core"
local point_functions = require "nslua.optimise.control_point"
local where = require "nslua.base.where"

-- Where the goal is reached tangentially the cost follows the square root of an error: then the slope gives half of
-- what the cost is off. One half more is for what is neither linear nor a root.
local ROOT = 3

-- A relay of an element at a part of it: its polynomial. Part 0 is the start of the element.
local function continued(p, x, points, i, part)
  local value = 0
  for a = 1, p.stages do
    local weight = 1
    for b = 1, p.stages do
      if b ~= a then weight = weight * (part - p.c[b]) / (p.c[a] - p.c[b]) end
    end
    value = value + weight * x[points[a].s[i]]
  end
  return value
end

-- The states at the end of an element of length h with the controls and relays that were found, and its cost,
-- integrated to 1e-10.
local function integrated(p, x, from, points, h)
  local q, start = {}, {}
  for i, name in ipairs(p.parameters) do
    q[i] = x[p.parameter[i]]
    q[name] = q[i]
  end
  for i = 1, #p.states do start[i] = x[from.x[i]] end
  start[#start + 1] = p.cost and 0 or nil
  local controls = points.controls
  local solution = core.solve_ivp(function(part, y)
    local states, u, s = {}, {}, {}
    for i, name in ipairs(p.states) do states[i], states[name] = y[i], y[i] end
    for i, name in ipairs(p.controls) do
      u[i] = (1 - part) * x[controls.a[i]] + part * x[controls.b[i]]
      u[name] = u[i]
    end
    for i, relay in ipairs(p.relays) do
      s[i] = continued(p, x, points, i, part)
      s[relay.name] = s[i]
    end
    local rates = point_functions.rates(p, states, u, s, q)
    rates[#rates + 1] = p.cost and p.cost(states, u, s, q)
    for i = 1, #rates do rates[i] = rates[i] * h end
    return rates
  end, { 0, 1 }, start, { method = "Radau", rtol = 1e-10, atol = 1e-10 })
  if not solution.success then return nil end
  local last = {}
  for i = 1, #start do last[i] = solution.y[i][#solution.t] end
  return last
end

-- The cost of an element by the collocation.
local function collocated_cost(p, x, points)
  local sum = 0
  for i, point in ipairs(points) do
    local z = core.zeros(#point.inputs)
    for k, index in ipairs(point.inputs) do z[k] = x[index] end
    sum = sum + p.b[i] * point.rates(z)[#p.states + 1]
  end
  return sum
end

-- What the cost gains where the end of an element moves by a unit of state i: by the multipliers of its equations.
local function slope(p, multiplier, points, i)
  local sum = 0
  for k, point in ipairs(points) do sum = sum + multiplier[point.rows[i]] * p.D[k][p.stages] end
  return sum
end

-- The errors of a solved program. An element is off by the difference of its end to the motion that begins at its
-- start, in parts of the sizes of the states. phases: the sums over the elements of each phase, the largest of all
-- states; largest: the same of the whole time; cost: the sum of what these differences change in the cost. nil where
-- there is no such motion.
local function find(p, layout, found)
  local x, multiplier = found.x, found.multiplier
  local sums, result = core.zeros(#p.states), { phases = {}, largest = 0, cost = 0 }
  for n, phase in ipairs(layout.phases) do
    local from, before = phase.from, sums:copy()
    for _, points in ipairs(phase.elements) do
      local last = points[p.stages]
      local good, y = where.try(integrated, p, x, from, points, x[phase.h])
      if not good or not y then return nil end
      for i = 1, #p.states do
        local off = math.abs(y[i] - x[last.x[i]])
        sums[i] = sums[i] + off
        result.cost = result.cost + ROOT * off * math.abs(slope(p, multiplier, points, i))
      end
      if p.cost then result.cost = result.cost + math.abs(y[#y] - collocated_cost(p, x, points)) end
      from = last
    end
    result.phases[n] = (sums - before):max()
  end
  result.largest = sums:max()
  return result
end

return { continued = continued, find = find }
