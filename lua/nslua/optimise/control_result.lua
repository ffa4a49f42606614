-- nslua.optimise.control_result: what a solved optimal control problem shows: rows over the time, arcs, switches.
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"
local errors = require "nslua.optimise.control_error"
local point_functions = require "nslua.optimise.control_point"
local Program = require "nslua.optimise.program"
local where = require "nslua.base.where"

local fail = arguments.fail
local huge = math.huge
local relay_names = point_functions.relay_names

local Control = {}
Control.__index, Control.__name = Control, "optimal control"

-- Rows of a phase that has a length: its start, then every collocation point.
local function collect(p, layout, x)
  local rows, phases, t = { t = {}, x = {}, u = {}, s = {} }, {}, 0
  local function add(time, point, u, s)
    local k = #rows.t + 1
    rows.t[k], rows.x[k], rows.u[k], rows.s[k] = time, {}, u, s
    for i = 1, #p.states do rows.x[k][i] = x[point.x[i]] end
  end
  local T = x[layout.T]
  for _, phase in ipairs(layout.phases) do
    local h = x[phase.h]
    if h * phase.count > 1e-9 * T then
      local begin, from = t, phase.from
      for e, points in ipairs(phase.elements) do
        local u, s = {}, {}
        local controls = points.controls
        for i = 1, #p.controls do u[i] = x[controls.a[i]] end
        for i = 1, #p.relays do s[i] = errors.continued(p, x, points, i, 0) end
        local last = rows.u[#rows.u]
        local jump = e == 1
        for i = 1, #p.controls do
          jump = jump or math.abs(u[i] - last[i]) > 1e-3 * math.max(math.abs(u[i]), math.abs(last[i]))
        end
        if jump then add(t, from, u, s) end
        for i, point in ipairs(points) do
          u, s = {}, {}
          for k = 1, #p.controls do u[k] = (1 - p.c[i]) * x[controls.a[k]] + p.c[i] * x[controls.b[k]] end
          for k = 1, #p.relays do s[k] = x[point.s[k]] end
          add(t + h * p.c[i], point, u, s)
        end
        t, from = begin + h * e, points[p.stages]
      end
      phases[#phases + 1] = { from = begin, to = t, first = phase.from, elements = phase.elements }
    end
  end
  return rows, phases
end

-- The mode of a relay in a phase: "high", "low" or "between".
local function mode_of(x, elements, i, relay)
  local sum, count = 0, 0
  for _, points in ipairs(elements) do
    for _, point in ipairs(points) do sum, count = sum + x[point.s[i]], count + 1 end
  end
  local part = (sum / count - relay.low) / (relay.high - relay.low)
  return part > 1 - 1e-9 and "high" or part < 1e-9 and "low" or "between"
end

-- The largest difference of each control: jumps are measured by it.
local function spreads(p, rows)
  local out = {}
  for i = 1, #p.controls do
    local low, high = huge, -huge
    for _, u in ipairs(rows.u) do low, high = math.min(low, u[i]), math.max(high, u[i]) end
    local size = math.max(math.abs(low), math.abs(high))
    out[i] = high - low > 1e-4 * size and high - low or 0 -- else rounding of a constant
  end
  return out
end

-- A jump is a change by more than this part of the largest difference of a control (controls of degree 0 change at
-- each element, controls of degree 1 don't). It is no part that levels of controls usually have (-1, 0, 1: 1/2;
-- -1, 0, 2: 1/3), so that rounding does not decide.
local JUMP = { [0] = 0.3, [1] = 0.05 }
-- A smaller change of a constant control is a jump where it is this many times the changes around it: changes of a
-- smooth control are alike.
local ALONE = 5

-- Whether a control jumps at the start of the element `after`. A constant control may come to its new value in an
-- element between: then both changes are one jump, where the larger one is. Elements: before_that, before, after and
-- after_that; the first and the last may be nil.
local function jumps(p, x, elements, spread)
  for i = 1, #p.controls do
    local least = JUMP[p.degree] * spread[i]
    local function change(k)
      local from, to = elements[k], elements[k + 1]
      return from and to and x[to.controls.a[i]] - x[from.controls.b[i]] or 0
    end
    local here, others = change(2), { change(1), change(3) }
    if spread[i] > 0 and math.abs(here) > least then return true end
    local around = ALONE * math.max(math.abs(others[1]), math.abs(others[2]))
    if math.abs(here) > math.max(JUMP[1] * spread[i], around) and spread[i] > 0 then return true end
    for k, other in ipairs(p.degree == 0 and spread[i] > 0 and others or {}) do
      local smaller = math.abs(other) < math.abs(here) or k == 2 and other == here
      if smaller and here * other > 0 and math.abs(here + other) > least then return true end
    end
  end
  return false
end

-- The arcs, in which neither a mode changes nor a control jumps, and the switches between them.
local function find_switches(p, rows, phases, x)
  local arcs, switches, spread, last = {}, {}, spreads(p, rows), nil
  for _, phase in ipairs(phases) do
    local modes, length = {}, (phase.to - phase.from) / #phase.elements
    for i, relay in ipairs(p.relays) do modes[relay.name] = mode_of(x, phase.elements, i, relay) end
    for e, points in ipairs(phase.elements) do
      local arc, t = arcs[#arcs], phase.from + (e - 1) * length
      local around = { phase.elements[e - 2], last, points, phase.elements[e + 1] }
      local differs = not arc or jumps(p, x, around, spread)
      for name, mode in pairs(modes) do differs = differs or arc.modes[name] ~= mode end
      if differs then
        if arc then switches[#switches + 1] = t end
        arcs[#arcs + 1] = { from = t, to = t + length, modes = modes }
      else
        arc.to = t + length
      end
      last = points
    end
  end
  return arcs, switches
end

-- d cost / d value of the rows that hold a value: minus their multiplier.
local function slopes(rows, multiplier)
  local out = {}
  for name, row in pairs(rows) do out[name] = -multiplier[row] end
  return out
end

local function matrix_of(list, columns)
  if columns == 0 then return nil end
  return core.matrix(list)
end

-- The objective without the parts that hold the lengths of phases.
local function cost_of(layout, found)
  local cost = found.objective
  for _, held in ipairs(layout.held) do
    local x = found.x
    cost = cost - held.near[1] * (x[held.h] - x[held.last]) ^ 2 - held.even[1] * (x[held.h] - x[layout.mean]) ^ 2
  end
  return cost
end

-- The result of a solved program.
local function make(p, layout, found)
  local x = found.x
  local rows, phases = collect(p, layout, x)
  local self = setmetatable({ success = found.success, status = found.status,
    message = Program.messages[found.status] .. (found.trouble and ": " .. found.trouble or ""),
    cost = cost_of(layout, found), T = x[layout.T],
    complementarity = found.residual, iterations = found.iterations, t = core.vector(rows.t),
    error = found.errors and found.errors.largest, cost_error = found.errors and found.errors.cost,
    states = p.states, controls = p.controls, relays = relay_names(p) }, Control)
  self.x, self.u, self.s = matrix_of(rows.x, #p.states), matrix_of(rows.u, #p.controls), matrix_of(rows.s, #p.relays)
  self.phases, self.switches = find_switches(p, rows, phases, x)
  self.slopes = { start = slopes(layout.start_rows, found.multiplier),
    goal = slopes(layout.goal_rows, found.multiplier), parameters = slopes(layout.parameter_rows, found.multiplier),
    T = p.T_low == p.T_high and -found.multiplier[layout.T_row] or nil }
  return self
end

-- A column by its name: "t", a state, a control or a relay.
function Control:column(name)
  if name == "t" then return self.t end
  for _, group in ipairs { { "states", "x" }, { "controls", "u" }, { "relays", "s" } } do
    for i, known in ipairs(self[group[1]]) do
      if known == name then
        local out = core.zeros(#self.t)
        for k = 1, #self.t do out[k] = self[group[2]][k][i] end
        return out
      end
    end
  end
  fail("column: no column is called '%s' (known: t, %s)", tostring(name), table.concat(self:names(), ", "))
end

function Control:names()
  local list = {}
  for _, group in ipairs { self.states, self.controls, self.relays } do
    for _, name in ipairs(group) do list[#list + 1] = name end
  end
  return list
end

-- A figure: states, controls and relays over the time, with lines at the switches.
function Control:plot(options)
  local plot = require "nslua.plot"
  options = options or {}
  local groups = {}
  for _, group in ipairs { self.states, self.controls, self.relays } do
    if #group > 0 then groups[#groups + 1] = group end
  end
  local figure = plot.figure { title = options.title, figsize = options.figsize or { 7, 2.2 * #groups } }
  for k, group in ipairs(groups) do
    local axes = figure:add_subplot(#groups, 1, k)
    for _, t in ipairs(self.switches) do axes:axvline(t, { color = "gray", linestyle = "--", linewidth = 1 }) end
    for _, name in ipairs(group) do axes:plot(self.t, self:column(name), { label = name }) end
    axes:legend()
    if k == #groups then axes:set_xlabel "t" end
  end
  return figure
end

function Control:__tostring()
  local format = core.number_support.format
  return ("optimal control (%s): cost = %s, T = %s, %d switch%s"):format(self.message, format("%.10g", self.cost),
    format("%.10g", self.T), #self.switches, #self.switches == 1 and "" or "es")
end

where.methods(Control, "an optimal control", "best")
where.strict(Control, "u s error cost_error")

-- The arcs of a solved program: { from =, to =, modes = }.
local function arcs_of(p, layout, x)
  local rows, phases = collect(p, layout, x)
  return (find_switches(p, rows, phases, x))
end

return { make = make, collect = collect, arcs_of = arcs_of, cost_of = cost_of }
