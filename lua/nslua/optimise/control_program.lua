-- nslua.optimise.control_program: an optimal control problem as a nonlinear program, by collocation.
local core = require "nslua.core"
local point_functions = require "nslua.optimise.control_point"
local Program = require "nslua.optimise.program"

local huge = math.huge
local who = "optimal_control"
local named, range_of = point_functions.named, point_functions.range_of
local first_state, first_control = point_functions.first_state, point_functions.first_control

-- part of the cost that a phase of double length has while the pairs are relaxed: without it phases shrink to nothing
local EVENNESS = 1e-3
-- part of the cost that a phase of double length has in the two solutions of the second program: in the last one
-- small against what moves a switch to the end of an element, and enough to make an optimum that does not depend on
-- the lengths one point
local NEARNESS = { 1e-4, 1e-8 }
-- least length of a phase of the second program, in parts of what the first one has found
local LEAST = 0.05
-- most elements of the first program, which only finds the modes
local COARSE = 40

-- Radau IIA: nodes and the inverse of its matrix, with the weights (the last row of the matrix).
local function radau(stages)
  local r6 = math.sqrt(6)
  local tables = {
    { c = { 1 }, A = { { 1 } } },
    { c = { 1 / 3, 1 }, A = { { 5 / 12, -1 / 12 }, { 3 / 4, 1 / 4 } } },
    { c = { (4 - r6) / 10, (4 + r6) / 10, 1 }, A = {
      { (88 - 7 * r6) / 360, (296 - 169 * r6) / 1800, (-2 + 3 * r6) / 225 },
      { (296 + 169 * r6) / 1800, (88 + 7 * r6) / 360, (-2 - 3 * r6) / 225 },
      { (16 - r6) / 36, (16 + r6) / 36, 1 / 9 } } },
  }
  local t = tables[stages]
  return t.c, core.inv(t.A), t.A[stages]
end

-- The square of a difference, for what holds the lengths of phases.
local evenness = core.compile(function(z) return (z[1] - z[2]) ^ 2 end, { native = false })

-- A point of the collocation: its variables. The relays of the start of the motion are the next point's.
local function add_point(p, program, part, next_relays)
  local point = { x = {}, s = {}, up = {}, down = {} }
  for i, name in ipairs(p.states) do
    local low, high = range_of(p.bounds, name)
    point.x[i] = program:variable(low, high, first_state(p, name, part))
  end
  for i, r in ipairs(p.relays) do
    local guess = p.guess[r.name]
    local s0 = type(guess) == "function" and guess(part) or (r.low + r.high) / 2
    if not next_relays then point.s[i] = program:variable(r.low, r.high, s0) end
    point.up[i], point.down[i] = program:variable(0, huge, 0.1), program:variable(0, huge, 0.1)
  end
  return point
end

-- The controls of an element: linear from `a` to `b`; of degree 0 both are the same variables.
local function add_controls(p, program, part, length)
  local controls = { a = {}, b = {} }
  for i, name in ipairs(p.controls) do
    local low, high = range_of(p.bounds, name)
    controls.a[i] = program:variable(low, high, first_control(p, name, part))
    controls.b[i] = p.degree == 0 and controls.a[i]
      or program:variable(low, high, first_control(p, name, part + length))
  end
  return controls
end

-- The inputs { h, x, u at both ends, s, parameters } of a point.
local function inputs(p, h, point, controls, relays)
  local list = { h }
  for _, group in ipairs { point.x, controls.a, controls.b, relays or point.s, p.parameter } do
    for _, i in ipairs(group) do list[#list + 1] = i end
  end
  return list
end

-- g - g+ + g- = 0 at a point.
local function add_guards(p, program, f, h, point, controls, relays)
  if #p.relays == 0 then return end
  local rows, weights = {}, {}
  for i = 1, #p.relays do
    rows[i], weights[i] = program:constraint(0, 0, { point.up[i], -1, point.down[i], 1 }), 1
  end
  program:term(f, inputs(p, h, point, controls, relays), rows, weights)
end

-- The collocation equations of an element from the point `from` on, and its cost.
local function add_element(p, program, functions, h, from, points, controls)
  for i, point in ipairs(points) do
    local rows, weights = {}, {}
    for k = 1, #p.states do
      local row, sum = program:constraint(0, 0), 0
      for j, other in ipairs(points) do
        program:entry(row, other.x[k], p.D[i][j])
        sum = sum + p.D[i][j]
      end
      program:entry(row, from.x[k], -sum)
      rows[k], weights[k] = row, -1
    end
    point.rows, point.rates = table.move(rows, 1, #p.states, 1, {}), functions.dynamics[i]
    point.inputs = inputs(p, h, point, controls)
    if p.cost then rows[#rows + 1], weights[#weights + 1] = 0, p.b[i] end
    program:term(point.rates, point.inputs, rows, weights)
    add_guards(p, program, functions.guards[i], h, point, controls)
    if p.path then
      local count = functions.path_count
      rows, weights = {}, {}
      for k = 1, count do rows[k], weights[k] = program:constraint(0, huge), 1 end
      program:term(functions.path[i], inputs(p, h, point, controls), rows, weights)
    end
  end
end

-- A variable that is sign times (the mean of others minus a level).
local function add_mean(program, list, sign, level)
  local mean = program:variable(0, huge, 0.5)
  local row = program:constraint(sign * level, sign * level, { mean, -1 })
  for _, i in ipairs(list) do program:entry(row, i, sign / #list) end
  return mean
end

-- The pairs of a relay in a phase: g+ or the distance of s from its upper level; g- or that from its lower one.
local function add_pairs(program, relay, i, boundary, points)
  local up, down, s = { boundary.up[i] }, { boundary.down[i] }, {}
  for _, point in ipairs(points) do
    up[#up + 1], down[#down + 1], s[#s + 1] = point.up[i], point.down[i], point.s[i]
  end
  local width = relay.high - relay.low
  local below, above = add_mean(program, s, -1, relay.high), add_mean(program, s, 1, relay.low)
  return program:complement(add_mean(program, up, 1, 0), below, { 1, width }),
    program:complement(add_mean(program, down, 1, 0), above, { 1, width })
end

-- Rows that hold variables at intervals; rows[name] is the row of one that has a fixed value.
local function add_values(program, names, variables, given)
  local rows = {}
  for i, name in ipairs(names) do
    local g = given[name]
    if g then
      local row = program:constraint(g[1], g[2], { variables[i], 1 })
      if g[1] == g[2] then rows[name] = row end
    end
  end
  return rows
end

-- What holds the length of a phase: near the mean while the pairs are relaxed, near its last value in the end. So an
-- optimum that does not depend on it is still one point.
local function add_evenness(program, layout, h, T0, elements)
  if not layout.mean then
    layout.mean = program:variable(-huge, huge, T0 / elements)
    program:constraint(0, 0, { layout.mean, elements, layout.T, -1 })
  end
  local last = program:variable(program.start[h], program.start[h], program.start[h])
  local even, near = { 0 }, { 0 }
  program:term(evenness, { h, layout.mean }, { 0 }, even)
  program:term(evenness, { h, last }, { 0 }, near)
  layout.held[#layout.held + 1] = { h = h, last = last, even = even, near = near }
end

local function hold_phases(p, program, layout)
  if layout.planned then
    function program.before(x, objective, pass)
      local weight = NEARNESS[pass] * math.abs(objective or 1) * (p.elements / x[layout.T]) ^ 2
      for _, held in ipairs(layout.held) do
        held.even[1], held.near[1] = 0, weight
        program.lower[held.last], program.upper[held.last] = x[held.h], x[held.h]
        x[held.last] = x[held.h]
      end
    end
    return
  end
  function program.after(_, objective, x)
    local weight = EVENNESS * math.abs(objective) * (p.elements / x[layout.T]) ^ 2
    for _, held in ipairs(layout.held) do held.even[1] = weight end
  end
  program.after(nil, 1, program.start)
end

-- Fixes the modes of a phase: s at a level, or g = 0.
local function fix_modes(p, program, modes, boundary, points)
  for i, relay in ipairs(p.relays) do
    local mode = modes[relay.name]
    local function hold(list, value)
      for _, k in ipairs(list) do
        program.lower[k], program.upper[k], program.start[k] = value, value, value
      end
    end
    if mode ~= "high" then hold({ boundary.up[i] }, 0.0) end
    if mode ~= "low" then hold({ boundary.down[i] }, 0.0) end
    for _, point in ipairs(points) do
      if mode ~= "high" then hold({ point.up[i] }, 0.0) end
      if mode ~= "low" then hold({ point.down[i] }, 0.0) end
      if mode == "high" then hold({ point.s[i] }, relay.high) end
      if mode == "low" then hold({ point.s[i] }, relay.low) end
    end
  end
end

-- Without a plan all phases have pairs. A plan is a list of phases { count =, part = (of the time), modes =, most =,
-- least = (the largest and the least length, in parts of `part`, optional) }.
local function build(p, plan)
  local program = Program.new(who)
  local layout = { phases = {}, program = program, planned = plan ~= nil }
  local elements = p.elements
  if plan == nil then
    plan, elements = {}, math.min(elements, math.max(COARSE, p.phases))
    for k = 1, p.phases do
      plan[k] = { count = elements // p.phases + (k <= elements % p.phases and 1 or 0) }
      plan[k].part = plan[k].count / elements
    end
  end
  p.c, p.D, p.b = radau(p.stages)
  p.parameter = {}
  for i, name in ipairs(p.parameters) do p.parameter[i] = program:variable(-huge, huge, p.values[name][1]) end
  layout.parameter_rows = add_values(program, p.parameters, p.parameter, p.values)
  local functions = point_functions.make_functions(p)
  local T0 = type(p.guess.T) == "number" and p.guess.T
  if not T0 then T0 = p.T_high < huge and (p.T_low + p.T_high) / 2 or math.max(p.T_low, 1) end
  layout.T = program:variable(0, huge, T0)
  layout.T_row = program:constraint(p.T_low, p.T_high, { layout.T, 1 })
  local total = program:constraint(0, 0, { layout.T, -1 })
  local boundary = add_point(p, program, 0, true)
  layout.first = boundary
  layout.start_rows = add_values(program, p.states, boundary.x, p.start)
  layout.plan = plan
  local done = 0
  layout.held = {}
  for k, planned in ipairs(plan) do
    local count = planned.count
    local h = program:variable(0, huge, T0 * planned.part / count)
    local phase = { h = h, elements = {}, count = count, from = boundary }
    program:entry(total, h, count)
    local from, all, length = boundary, {}, planned.part / count
    for e = 1, count do
      local points, part = {}, done + (e - 1) * length
      local controls = add_controls(p, program, part, length)
      for i = 1, p.stages do
        points[i] = add_point(p, program, part + p.c[i] * length)
        all[#all + 1] = points[i]
      end
      if k == 1 and e == 1 then add_guards(p, program, functions.guards[0], h, boundary, controls, points[1].s) end
      add_element(p, program, functions, h, from, points, controls)
      points.controls = controls
      phase.elements[e], from = points, points[p.stages]
    end
    phase.pairs = {}
    if planned.modes then fix_modes(p, program, planned.modes, boundary, all)
    else
      for i, relay in ipairs(p.relays) do
        phase.pairs[2 * i - 1], phase.pairs[2 * i] = add_pairs(program, relay, i, boundary, all)
      end
    end
    if #plan > 1 then
      add_evenness(program, layout, h, T0, elements)
      if planned.modes then program:constraint(0, huge, { h, 1, layout.T, -(planned.least or LEAST) * length }) end
      if planned.most then program:constraint(-huge, 0, { h, 1, layout.T, -planned.most * length }) end
    end
    layout.phases[k], boundary, done = phase, from, done + planned.part
  end
  layout.last = boundary
  layout.goal_rows = add_values(program, p.states, boundary.x, p.goal)
  if p.terminal then
    local f = core.compile(function(z)
      local x = named(z, 1, p.states)
      return { p.terminal(x, z[1], named(z, 1 + #p.states, p.parameters)) + 0 * z[1] }
    end, { native = false, paths = 1 })
    local list = { layout.T, table.unpack(boundary.x) }
    for _, i in ipairs(p.parameter) do list[#list + 1] = i end
    program:term(f, list, { 0 }, { 1 })
  end
  hold_phases(p, program, layout)
  return layout
end

return { build = build, LEAST = LEAST }
