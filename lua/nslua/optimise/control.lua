-- nslua.optimise.control: optimal control of systems with relays (dry friction, switches), by collocation with finite
-- elements that end at the switches.
--
-- The time is divided into phases of free length, each phase into elements of one length with the collocation
-- points of Radau IIA. A relay s in Sgn(g): g = g+ - g-, g+ and g- >= 0; over a whole phase either all g+ are 0 or
-- s is at its upper level, and either all g- are 0 or s is at its lower one. So a switch is the end of a phase, and
-- within a phase everything is smooth (Nurkanovic, Sperl, Albrecht and Diehl, Numerische Mathematik 2024: finite
-- elements with switch detection). The conditions of a phase are two pairs of means; nslua.optimise.program solves
-- them.
local core = require "nslua.core"
local errors = require "nslua.optimise.control_error"
local point_functions = require "nslua.optimise.control_point"
local program = require "nslua.optimise.control_program"
local read = require "nslua.optimise.control_options"
local results = require "nslua.optimise.control_result"
local trouble = require "nslua.optimise.control_trouble"
local units_of = require "nslua.optimise.control_units"
local where = require "nslua.base.where"

local format = core.number_support.format
local build, choose_degree, LEAST = program.build, point_functions.choose_degree, program.LEAST

-- phases that are shorter than this part of the mean one after the relaxation are left out
local SHORT = 0.02
-- how many phases more than asked for the attempts of the first program have
local MORE_PHASES = { 0, 2, 4, 8 }

-- how often the phases are laid out anew by the jumps of controls
local JUMP_PASSES = 6
-- how much longer a phase may become in the first of these
local LONGEST = 2
-- by how much of an element the length of a phase may change in the others: by less than one, so that a jump stays at
-- the end of its phase and does not come to another end of an element, where the multipliers are not unique
local SHIFT = 0.5
-- part of the cost that an optimum is known to
local GAIN = 1e-9

-- what part of the accuracy the elements are made for, and by what factor their number may grow at once
local SAFETY, GROWTH = 0.5, 4

local function same_modes(a, b)
  for name, mode in pairs(a) do
    if b[name] ~= mode then return false end
  end
  return true
end

-- The modes of the phases after the relaxation, without the short ones; neighbours with the same modes are joined.
local function modes_of(p, layout, x)
  local list = {}
  for _, phase in ipairs(layout.phases) do
    local part, modes = x[phase.h] * phase.count / x[layout.T], {}
    for i, relay in ipairs(p.relays) do
      local up, down = phase.pairs[2 * i - 1], phase.pairs[2 * i]
      local high = x[up.b] / up.size_b < x[up.a] / up.size_a
      local low = x[down.b] / down.size_b < x[down.a] / down.size_a
      modes[relay.name] = high and "high" or low and "low" or "between"
    end
    if part > SHORT / p.phases then
      local last = list[#list]
      if last and same_modes(last.modes, modes) then last.part = last.part + part
      else list[#list + 1] = { modes = modes, part = part } end
    end
  end
  return list
end

-- Divides the longest of the phases until there are enough, and gives each its elements.
local function plan_of(p, list)
  local sum, left = 0, p.elements
  for _, phase in ipairs(list) do sum = sum + phase.part end
  for _, phase in ipairs(list) do phase.part = phase.part / sum end
  while #list < math.min(p.phases, p.elements) do
    local longest = 1
    for k = 2, #list do
      if list[k].part > list[longest].part then longest = k end
    end
    local half = list[longest].part / 2
    list[longest].part = half
    table.insert(list, longest, { modes = list[longest].modes, part = half })
  end
  for k, phase in ipairs(list) do
    local rest = #list - k
    phase.count = k == #list and left or math.max(1, math.min(left - rest, math.floor(phase.part * p.elements + 0.5)))
    left = left - phase.count
  end
  return list
end

-- The solution as functions of the part of the time, where the second program starts.
local function guess_of(p, layout, x)
  local rows = results.collect(p, layout, x)
  local guess, T = { T = x[layout.T] }, x[layout.T]
  local function along(values, i)
    return function(part)
      local t, low, high = part * T, 1, #rows.t
      while high - low > 1 do
        local middle_row = (low + high) // 2
        if rows.t[middle_row] <= t then low = middle_row else high = middle_row end
      end
      local span = rows.t[high] - rows.t[low]
      local share = span > 0 and math.max(0, math.min(1, (t - rows.t[low]) / span)) or 0
      return values[low][i] + share * (values[high][i] - values[low][i])
    end
  end
  for i, name in ipairs(p.states) do guess[name] = along(rows.x, i) end
  for i, name in ipairs(p.controls) do guess[name] = along(rows.u, i) end
  for i, relay in ipairs(p.relays) do guess[relay.name] = along(rows.s, i) end
  return guess
end

-- The arcs of the second program (neighbours of the same modes joined) without those whose phases are all as short as
-- they may be, and whether there are such arcs.
local function arcs_that_last(layout, x)
  local arcs, list, fewer = {}, {}, false
  for k, planned in ipairs(layout.plan) do
    local phase, arc = layout.phases[k], arcs[#arcs]
    local length = x[phase.h] * phase.count / x[layout.T]
    local short = #layout.plan > 1 and length < 1.1 * LEAST * planned.part
    if not arc or not same_modes(arc.modes, planned.modes) then
      arc = { modes = planned.modes, part = 0, short = true }
      arcs[#arcs + 1] = arc
    end
    arc.part, arc.short = arc.part + length, arc.short and short
  end
  for _, arc in ipairs(arcs) do
    local last = list[#list]
    fewer = fewer or arc.short
    local joins = not arc.short and last and same_modes(last.modes, arc.modes)
    if joins then last.part = last.part + arc.part
    elseif not arc.short then list[#list + 1] = arc end
  end
  return list, fewer
end

-- The first program: it finds the modes of the phases. Where the relaxation does not come to its end, more phases
-- leave it more ways. Returns the last program, its solution, and the number of iterations of all.
local function find_modes(p)
  local layout, found, iterations, phases = nil, nil, 0, p.phases
  for _, more in ipairs(MORE_PHASES) do
    p.phases = math.min(phases + more, p.elements)
    layout = build(p, nil)
    found = layout.program:relax { tolerance = p.tolerance, max_iterations = p.max_iterations }
    iterations = iterations + found.iterations
    if found.success then break end
  end
  p.phases = math.min(p.phases, p.elements)
  return layout, found, iterations
end

-- Solves the program of a plan; near: its guess is near a solution. Where the time is free and the search ends at no
-- solution, it starts once more from motions that take a given time: these are easier to find, and may be longer than
-- the best one.
local function solve_plan(p, plan, near)
  local layout = build(p, plan)
  local limits = { tolerance = p.tolerance, max_iterations = p.max_iterations }
  local found = layout.program:solve { tolerance = p.tolerance, max_iterations = p.max_iterations, near = near }
  local low, high, guess = p.T_low, p.T_high, p.guess
  local iterations, T0 = found.iterations, layout.program.start[layout.T]
  for _, T in ipairs(low < high and { T0, math.min(2 * T0, high) } or {}) do
    if found.success then break end
    p.T_low, p.T_high = T, T
    local given = build(p, plan)
    local motion = given.program:solve(limits)
    p.T_low, p.T_high = low, high
    iterations = iterations + motion.iterations
    if motion.success then
      p.guess = guess_of(p, given, motion.x)
      local other = build(p, plan)
      local better = other.program:solve(limits)
      iterations, p.guess = iterations + better.iterations, guess
      if better.success then layout, found = other, better end
    end
  end
  found.iterations = iterations
  return layout, found
end

-- The second program, with fixed modes and all elements; once more when an arc is as short as it may be, without it.
local function solve_modes(p)
  local layout, found, list, fewer
  local iterations = 0
  p.degree = choose_degree(p)
  if #p.relays > 0 then
    local relaxed, first, count = find_modes(p)
    if not first.success then return relaxed, first end
    list, iterations = modes_of(p, relaxed, first.x), count
    p.guess = guess_of(p, relaxed, first.x)
  end
  list = list or { { modes = {}, part = 1 } }
  repeat
    layout, found = solve_plan(p, plan_of(p, list))
    iterations = iterations + found.iterations
    list, fewer = arcs_that_last(layout, found.x)
    fewer = found.success and fewer and #list > 0
    if fewer then p.guess = guess_of(p, layout, found.x) end
  until not fewer
  found.iterations = iterations
  return layout, found
end

-- Whether a switch of the solution is no end of a phase of its own.
local function misses_switches(arcs, layout, x)
  local ends, t, T = {}, 0, x[layout.T]
  for _, phase in ipairs(layout.phases) do
    t = t + x[phase.h] * phase.count
    ends[#ends + 1] = t
  end
  for k = 1, #arcs - 1 do
    local near = false
    for _, e in ipairs(ends) do near = near or math.abs(arcs[k].to - e) <= 1e-9 * T end
    if not near then return true end
  end
  return false
end

-- Whether a phase has become as long or as short as it may be: then it is not at its optimum.
local function is_held(layout, x)
  for k, planned in ipairs(layout.plan) do
    local length = x[layout.phases[k].h] * layout.phases[k].count / x[layout.T] / planned.part
    local long = planned.most and length > 0.99 * planned.most
    if #layout.plan > 1 and (long or length < 1.01 * (planned.least or LEAST)) then return true end
  end
  return false
end

-- Lets the phases of a plan change by a part of an element only. A phase of one element may become short.
local function hold_jumps(plan)
  for _, planned in ipairs(plan) do
    planned.most = 1 + SHIFT / planned.count
    planned.least = planned.count > 1 and 1 - SHIFT / planned.count or LEAST
  end
  return plan
end

-- What the costs of two solutions may differ by their collocation alone.
local function cost_doubt(p, first, second)
  local sum = 0
  for _, one in ipairs { first, second } do
    local of = errors.find(p, one[1], one[2])
    sum = sum + (of and of.cost or 0)
  end
  return sum
end

-- The third program: its phases are the arcs of the second one, so that each jump of a control may move, too. It
-- counts when it is no worse.
local function place_jumps(p, layout, found)
  local phases, best, cost = p.phases, { layout, found }, results.cost_of(layout, found)
  local least, iterations = GAIN * math.abs(found.objective), found.iterations
  for pass = 1, JUMP_PASSES do
    local arcs = results.arcs_of(p, layout, found.x)
    local wanted = pass == 1 and p.degree == 0 -- an element at a jump may have a value between
      or misses_switches(arcs, layout, found.x) or is_held(layout, found.x)
    if #arcs < 2 or #arcs > p.elements // 2 or not wanted then break end
    local list = {}
    for k, arc in ipairs(arcs) do
      list[k] = { modes = arc.modes, part = (arc.to - arc.from) / found.x[layout.T], most = LONGEST }
    end
    p.guess, p.phases = guess_of(p, layout, found.x), #list
    local plan = plan_of(p, list)
    layout = build(p, pass > 1 and hold_jumps(plan) or plan)
    found = layout.program:solve { tolerance = p.tolerance, max_iterations = p.max_iterations, near = true }
    iterations = iterations + found.iterations
    local gain = cost - results.cost_of(layout, found)
    if not found.success then break end
    local no_worse = gain >= -least or gain >= -cost_doubt(p, best, { layout, found })
    if no_worse then best, cost = { layout, found }, cost - gain end
    if not no_worse and not is_held(layout, found.x) then break end
    if pass > 1 and math.abs(gain) < least then break end
  end
  p.phases, best[2].iterations = phases, iterations
  return best[1], best[2]
end

local function elements_of(layout)
  local sum = 0
  for _, phase in ipairs(layout.phases) do sum = sum + phase.count end
  return sum
end

-- The plan of a solved program, with more elements in the phases whose error is too large.
local function finer_plan(p, layout, found)
  local list, total, share = {}, 0, SAFETY * p.accuracy / #layout.phases
  for k, phase in ipairs(layout.phases) do
    local growth = (found.errors.phases[k] / share) ^ (1 / (2 * p.stages - 1))
    local count = phase.count
    if growth > 1 then count = math.ceil(count * math.min(growth, GROWTH)) end
    local part = found.x[phase.h] * phase.count / found.x[layout.T]
    list[k] = { modes = layout.plan[k].modes, part = part, count = count }
    total = total + count
  end
  return list, total
end

-- Solves the program with more elements until the error of the collocation is as small as asked for.
local function refine(p, layout, found)
  while found.success do
    found.errors = errors.find(p, layout, found)
    if not found.errors or found.errors.largest <= p.accuracy then break end
    local plan, total = finer_plan(p, layout, found)
    local other, better
    if total <= p.max_elements then
      p.guess, p.elements = guess_of(p, layout, found.x), total
      other, better = solve_plan(p, plan, true)
    end
    if not better or not better.success then
      found.success, found.status = false, "inaccurate"
      local told = format("%.2g", found.errors.largest)
      found.trouble = ("%s with %d elements, not %s"):format(told, elements_of(layout), format("%g", p.accuracy))
      break
    end
    better.iterations = better.iterations + found.iterations
    layout, found = place_jumps(p, other, better)
  end
  return layout, found
end

local function solve(p)
  local layout, found = solve_modes(p)
  if not found.success then return layout, found end
  return refine(p, place_jumps(p, layout, found))
end

return function(options)
  local p, units = read(options), nil
  local layout, found
  where.call("optimal_control", function()
    p, units = units_of.divide(p)
    layout, found = solve(p)
    found.trouble = found.trouble or not found.success and trouble.find(p, units, layout, found.x) or nil
  end)
  return units_of.restore(results.make(p, layout, found), p, units)
end
