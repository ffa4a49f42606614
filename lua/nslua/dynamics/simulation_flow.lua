-- nslua.dynamics.simulation_flow: the flow of a simulation. Its state is the states of all systems, in the order of
-- the graph; in mechanics q, then v; behind it what actions of clocks and events change, see
-- nslua.dynamics.sampled_flow.
--
-- A model is a function of the parameter that makes a simulation, or a simulation that is set back between runs. Its
-- runs end at the wanted time by an event of the script.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local flows = require "nslua.dynamics.flow"
local lists = require "nslua.base.lists"
local parameters = require "nslua.optimise.parameters"
local sampled = require "nslua.dynamics.sampled_flow"

local fail, describe = arguments.fail, arguments.describe
local format = core.number_support.format

local simulation = {}

local END, CROSSING = "nslua.dynamics.end", "nslua.dynamics.section" -- names of events of the script
-- A derivative by the time at the end of a run is a difference over this part of the run's time.
local TIME_STEP = 2 ^ -14

-- ---- making ----

-- The clock of each simulation that has the event END.
local clocks = setmetatable({}, { __mode = "k" })

-- The clock of a simulation: an event ends its runs at clock.t.
local function clock_of(simu)
  if clocks[simu] then return clocks[simu] end
  -- No run comes to the time `never`. An infinite one would make g infinite, and the search for its roots slow.
  local last = simu:nsds():T()
  local clock = { never = last + (last - simu:nsds():t0()) }
  clock.t = clock.never
  for _, event in ipairs(simu:userEvents()) do
    if event.name == END then simu:removeEvent(END) end -- a clone has it from its original
  end
  simu:addEvent { name = END, g = function(t) return t - clock.t end, direction = "up", terminal = true }
  core.discrete_support.first(simu, END) -- instants of clocks at the end belong to what comes after it
  clocks[simu] = clock
  return clock
end

-- The systems of a simulation, and their states' numbers.
local function systems_of(simu)
  local nsds, list, n = simu:nsds(), {}, 0
  for i = 1, nsds:numberOfDynamicalSystems() do
    local ds = nsds:dynamicalSystem(i)
    local size = #ds:x()
    list[i] = { ds = ds, first = n + 1, last = n + size }
    n = n + size
  end
  return list, n
end

-- A simulation made ready for runs: its systems, and the clock that ends a run.
local function prepared(simu)
  local model = { simu = simu, clock = clock_of(simu), start = simu:nsds():t0(), last = simu:nsds():T() }
  model.systems, model.n = systems_of(simu)
  model.acting = arguments.acting_event(simu)
  return model
end

-- The simulation at a value of the parameter, at its start.
local function model_at(flow, p)
  if flow.make_simulation then
    if flow.model and flow.model_p == p then return flow.model end
    local simu = flow.make_simulation(p)
    if not arguments.is_simulation(simu) then
      fail("%s: simulation: the function must return a simulation, it returned %s", flow.who, describe(simu))
    end
    if flow.model then flow.model.simu:close() end
    flow.model, flow.model_p, flow.anchors = prepared(simu), p, {}
    return flow.model
  end
  if p ~= nil and flow.set and flow.model_p ~= p then
    flow.set(p)
    flow.model_p, flow.anchors = p, {}
  end
  return flow.model
end

-- The model at its start, with no end of its runs.
local function fresh(flow, p)
  local model = model_at(flow, p)
  model.simu:reset()
  model.clock.t = model.clock.never
  return model
end

simulation.model = model_at

function simulation.make(flow, options)
  local model, who = options.simulation, flow.who
  if type(model) == "function" then
    flow.make_simulation = model
    if options.parameter ~= nil then
      fail("%s: parameter: a function of the parameter needs none, got %s; its number is value =", who,
        describe(options.parameter))
    end
  elseif arguments.is_simulation(model) then
    if options.parameter ~= nil then
      local parameter = parameters.number(options.parameter, "parameter", who)
      flow.set, flow.value, flow.parameter = parameter.set, parameter.start, parameter.entry
    end
    flow.model, flow.anchors = prepared(model), {}
  else
    fail("%s: simulation: expected a simulation or a function that returns one, got %s", who, describe(model))
  end
  if options.args ~= nil then fail("%s: args: it goes with rhs =; the parameter of a simulation is value =", who) end
  for _, name in ipairs { "events", "method", "rtol", "atol" } do
    if options[name] ~= nil then fail("%s: %s: it goes with rhs =; a simulation has its own", who, name) end
  end
  flow.nx = model_at(flow, options.value).n
  flow.t0 = options.t0 or flow.model.start
  flow.n = flow.nx + sampled.make(flow, options, fresh)
  flow.smooth = flow.model.simu:nsds():numberOfInteractions() == 0 and not flow.model.acting
end

-- ---- runs ----

local function put(systems, x, method)
  for _, system in ipairs(systems) do
    system.ds[method](system.ds, x:slice(system.first, system.last))
  end
end

-- The simulation at time t0 with the states x0. A time that is not the start of the simulation is reached by one run,
-- whose end is cloned for each use.
local function started(flow, x0, t0, p)
  local model = model_at(flow, p)
  if t0 == model.start then
    put(model.systems, x0, "setX0")
    model.simu:reset()
    sampled.put(flow, model, x0)
    return model
  end
  local anchor = flow.anchors[t0]
  if not anchor then
    model.clock.t = t0
    put(model.systems, x0, "setX0")
    model.simu:reset()
    model.simu:run()
    anchor = model.simu:clone()
    model.clock.t = model.clock.never
    flow.anchors[t0] = anchor
  end
  local copy = prepared(anchor:clone())
  copy.is_copy = true
  put(copy.systems, x0, "setX")
  sampled.put(flow, copy, x0)
  return copy
end

local function finish(model)
  if model.is_copy then model.simu:close() end
end

local function label_of(event) return event.name .. ":" .. event.kind end

-- Kinds of events after which a row is held at 0. A run whose start is held up to rounding has such an event within
-- the part AT_START of its time, which is none of the motion.
local HOLDS, AT_START = { rest = true, slide = true, stick = true }, 2 ^ -40

-- Events after t0 that are the model's own; a row that is held at the start is none. A copy begins with the modes
-- of the run that it is a copy of, so that changes of modes at its start are none, either. The rows of their sides
-- are found by their time. flow: the states at both sides have what actions change, which the run has observed.
local function occurrences(sol, t0, model, flow)
  local list, t, k = {}, sol.t, 1
  local start = t0 + AT_START * (t[#t] - t0)
  for _, event in ipairs(sol.events) do
    local at_start = event.t <= start and HOLDS[event.kind] or
      event.t == t0 and model.is_copy and not flows.is_impact(event)
    if event.name ~= END and event.name ~= CROSSING and event.t >= t0 and not at_start then
      while k < #t and t[k] < event.t do k = k + 1 end
      local last = k
      while last < #t and t[last + 1] == event.t do last = last + 1 end
      local row = lists.copy(event)
      row.label = label_of(event)
      row.velocity_before, row.velocity_after = event.before, event.after
      row.before, row.after = sol.x:row(k), sol.x:row(last)
      if flow then
        row.before, row.after = sampled.row(flow, sol, k, row.before), sampled.row(flow, sol, last, row.after)
      end
      list[#list + 1] = row
    end
  end
  return list
end

local function run_to(flow, model, t0, t1, options)
  if t1 > model.last * (1 + 2 ^ -50) and t1 - model.last > 2 ^ -40 * (t1 - t0) then
    fail("%s: simulation: it ends at T = %g, the flow goes on to t = %g: give it a later end", flow.who, model.last,
      t1)
  end
  model.clock.t = t1 < model.last and t1 or model.clock.never
  if flow.clocks and #flow.clocks > 0 then model.clock.t = t1 end -- no instant acts at the end
  local sol = model.simu:run(options)
  model.clock.t = model.clock.never
  if not model.is_copy then sampled.ends(flow, model, t1) end
  return sol
end

local function last_row(flow, model, sol) return sampled.last(flow, model, sol.x:row(#sol.t)) end

function simulation.run(flow, x0, t0, t1, p)
  if t1 == t0 then return { x = x0:copy(), t = t1, events = {} } end
  local model = started(flow, x0, t0, p)
  local sol = run_to(flow, model, t0, t1)
  local run = { x = last_row(flow, model, sol), t = t1, start = t0, from = x0, p = p }
  run.events = occurrences(sol, t0, model)
  finish(model)
  return run
end

-- The run, its derivative by the start, and the one by a list of parameters, fields of objects; nil for an empty
-- list.
local function with_sensitivities(flow, x0, t0, t1, p, list, sizes)
  local model = started(flow, x0, t0, p)
  local options = { sensitivities = { "x0", table.unpack(list) } }
  local function go() return run_to(flow, model, t0, t1, options) end
  local run_sampled = sampled.derivative(flow, sizes, options, model, #list)
  local function attempt()
    if run_sampled then return run_sampled(go) end
    return go()
  end
  local good, sol, S = pcall(attempt)
  if not good and tostring(sol):find("is closed where the run starts", 1, true) then
    options.sensitivities.on_grazing = "one-sided" -- it stays closed: the orbit begins while a contact rests
    model = started(flow, x0, t0, p)
    good, sol, S = true, attempt()
  end
  if not good then error(sol, 0) end
  local n = flow.n
  S = S or sol.S[#sol.t]
  local run = { x = last_row(flow, model, sol), t = t1, start = t0, from = x0, p = p }
  run.events = occurrences(sol, t0, model)
  return run, S:slice(1, n, 1, n), S:cols() > n and S:slice(1, n, n + 1, S:cols()) or nil
end

simulation.with_sensitivities = with_sensitivities

-- The run, its derivative by the start, and the one by the parameter where it is the field of an object and its runs
-- carry it; else the third is nil, and the fourth tells why. Nothing where the segment does not begin at the
-- simulation's start: there runs carry none.
function simulation.exact(flow, x0, t0, t1, p, sizes)
  local model = started(flow, x0, t0, p)
  if model.is_copy or t1 == t0 then
    finish(model)
    return nil, nil, nil, "the runs of a simulation carry derivatives from its start alone"
  end
  local reason
  if flow.parameter and p ~= nil then
    local good, run, S, slope = pcall(with_sensitivities, flow, x0, t0, t1, p, { flow.parameter }, sizes)
    if good then return run, S, slope:column(1) end
    reason = tostring(run)
  end
  local run, S = with_sensitivities(flow, x0, t0, t1, p, {}, sizes)
  return run, S, nil, reason
end

-- Rows of a course; the rows of the grid and of both sides of events, and `more` between.
function simulation.course(flow, x0, t0, t1, p)
  local model = started(flow, x0, t0, p)
  local sol = run_to(flow, model, t0, t1, { dense = true, observe = sampled.observer(flow, model) })
  local times, rows = {}, {}
  local points = 400
  for k = 1, #sol.t do
    local t = sol.t[k]
    if k > 1 and t > sol.t[k - 1] then
      local pieces = math.ceil(points * (t - sol.t[k - 1]) / (t1 - t0))
      for j = 1, pieces - 1 do
        local between = sol.t[k - 1] + j / pieces * (t - sol.t[k - 1])
        local good, at = pcall(sol.at, sol, between)
        if not good then break end
        times[#times + 1], rows[#rows + 1] = between, sampled.row(flow, sol, k - 1, at.x)
      end
    end
    times[#times + 1], rows[#rows + 1] = t, sampled.row(flow, sol, k, sol.x:row(k))
  end
  local events = occurrences(sol, t0, model)
  finish(model)
  return times, rows, events
end

-- The mode of the laws at the end of a run (core.mode); nil where it has a row that no script can follow.
function simulation.mode(flow, x0, t0, t1, p)
  local model = started(flow, x0, t0, p)
  run_to(flow, model, t0, t1)
  local mode = core.mode.present(core.mode.new(model.simu))
  finish(model)
  return mode
end

-- The outputs y of the interactions, at times of one distance. An output has the name of its interaction; the second
-- and third row of a contact are velocities of slip and no guards.
function simulation.guards(flow, x0, t0, t1, p, count)
  local model = started(flow, x0, t0, p)
  local sol = run_to(flow, model, t0, t1, { dense = true })
  local times, guards, nsds = {}, {}, model.simu:nsds()
  for k = 0, count do times[k + 1] = t0 + (t1 - t0) * k / count end
  local states = lists.map(times, function(t) return sol:at(math.min(math.max(t, sol.t[1]), sol.t[#sol.t])) end)
  local column = 1
  for i = 1, nsds:numberOfInteractions() do
    local interaction = nsds:interaction(i)
    local values = {}
    for k = 1, #times do values[k] = states[k].y[column] end
    guards[interaction:name()] = values
    column = column + #interaction:y()
  end
  finish(model)
  return times, guards
end

-- The velocity of the states at the end of a run is a one-sided difference of order 4 on the course of the run.
function simulation.field(flow, t, x, p)
  local span = flow.span or (model_at(flow, p).last - model_at(flow, p).start)
  local h = TIME_STEP * span
  local values = {}
  for k = 1, 4 do values[k] = simulation.run(flow, x, flow.t0, flow.t0 + k * h, p).x end
  local _ = t
  return (48 * values[1] - 36 * values[2] + 16 * values[3] - 3 * values[4] - 25 * x) * (1 / (12 * h))
end

-- ---- crossings ----

-- A jump, as of an impact, that takes the states across the section: the crossing has the time of the jump, which is
-- located apart from it. Times that differ by less than this part of the run's time are one.
local SAME_TIME = 2 ^ -40

local function jump_times(list, section, t0)
  for _, crossing in ipairs(list) do
    for _, event in ipairs(list.events) do
      local near = math.abs(crossing.t - event.t) <= SAME_TIME * (crossing.t - t0)
      if near and event.dt and section.g(event.t, event.before) * section.g(event.t, event.after) < 0 then
        crossing.dt = event.dt
      end
    end
  end
end

-- The options of a run that finds crossings: it has what actions change.
local function observed(flow, model, options)
  return lists.copy({ observe = sampled.observer(flow, model) }, options)
end

-- Crossings of a section g(t, x), by an event of the script. The second result is the solution of the run.
local function user_crossings(flow, x0, t0, section, p, options)
  local model = started(flow, x0, t0, p)
  local list = {}
  model.simu:addEvent { name = CROSSING, g = section.g, direction = section.direction, terminal = section.count }
  local good, sol = pcall(function() return model.simu:run(observed(flow, model, options)) end)
  if good then
    for _, event in ipairs(sol.events) do
      if event.name == CROSSING then list[#list + 1] = { t = event.t, dt = event.dt } end
    end
    list.events = occurrences(sol, t0, model, flow)
    jump_times(list, section, t0)
    local k = 1
    for _, crossing in ipairs(list) do
      while sol.t[k] < crossing.t do k = k + 1 end
      crossing.before = sampled.row(flow, sol, k, sol.x:row(k))
      while k < #sol.t and sol.t[k + 1] == crossing.t do k = k + 1 end
      crossing.x = sampled.row(flow, sol, k, sol.x:row(k))
    end
  end
  model.simu:removeEvent(CROSSING)
  finish(model)
  if not good then error(sol, 0) end
  return list, sol
end

-- A start on the section is no crossing: those within this part of the expected time are left out.
local START = 2 ^ -20
-- A run for occurrences of an event is a little longer than the expected time at first.
local FIRST = 9 / 8

-- Occurrences of an event of the model that has the name, after the start. The second result is the solution of the
-- run.
local function named_crossings(flow, x0, t0, section, p, options)
  local model = started(flow, x0, t0, p)
  local span, from = (model.last - t0) / 16, -math.huge
  if section.span then span, from = FIRST * section.span, t0 + START * section.span end
  local list, sol
  repeat
    local t1 = math.min(t0 + span, model.last)
    if list then model = started(flow, x0, t0, p) end
    sol = run_to(flow, model, t0, t1, observed(flow, model, options))
    list = { events = occurrences(sol, t0, model, flow) }
    for _, event in ipairs(list.events) do
      local named = event.name == section.name or event.label == section.name
      if named and event.t > from and #list < section.count then
        list[#list + 1] = { t = event.t, dt = event.dt, before = event.before, x = event.after, name = event.name }
      end
    end
    finish(model)
    span = 2 * span
  until #list >= section.count or t1 >= model.last
  return list, sol
end

local function without_start(list, t0, section)
  local kept = { events = list.events }
  for _, crossing in ipairs(list) do
    if not section.span or crossing.t - t0 > START * section.span then kept[#kept + 1] = crossing end
  end
  return kept, #list - #kept
end

-- The events up to the last crossing. A start on the section is on the surface of its interaction up to rounding:
-- what the run has there by which side it begins on is no event of the motion, whatever its kind.
local function up_to(list, t0, section)
  local kept, last, span = {}, list[section.count], section.span or 0
  for _, event in ipairs(list.events) do
    local at_start = event.name == last.name and event.t - t0 <= START * span
    if event.t <= last.t and not at_start then kept[#kept + 1] = event end
  end
  return kept
end

function simulation.crossings(flow, x0, t0, section, p, options)
  local find = section.g and user_crossings or named_crossings
  local list, sol = find(flow, x0, t0, section, p, options)
  local kept, left_out = without_start(list, t0, section)
  if left_out > 0 then
    local more = { g = section.g, direction = section.direction, name = section.name, span = section.span,
      count = section.count + left_out }
    list, sol = find(flow, x0, t0, more, p, options)
    kept = without_start(list, t0, section)
  end
  if #kept < section.count then
    error(format("section: %d of %d crossings up to the simulation's end", #kept, section.count), 0)
  end
  kept.events = up_to(kept, t0, section)
  return kept, sol
end

local function unknown(why) error("the velocity of the states is not known: " .. why, 0) end

-- x' at (t, x) with the multipliers lambda (in mechanics forces): M^-1 (f + r) of first order; q' = v and
-- v' = M^-1 (f + C' lambda) of mechanics.
local function rate_at(nsds, t, x, lambda)
  local systems = core.graph_support.parts(nsds, t)
  local mechanical = systems[1].mechanical
  for _, system in ipairs(systems) do
    if system.turns then unknown "a body with a quaternion" end
    if system.mechanical ~= mechanical then unknown "systems of first order and mechanics" end
  end
  local at = core.graph_support.terms(nsds, t, x, lambda, mechanical)
  local good, rate = pcall(core.solve, at.M, mechanical and #lambda > 0 and at.f + at.C:transpose() * lambda or at.f)
  if not good then unknown "a singular M" end
  local out, from = {}, 0
  for _, system in ipairs(mechanical and systems or {}) do
    for i = 1, system.n do out[#out + 1] = x[#out + system.n + 1] end
    for i = 1, system.n do out[#out + 1] = rate[from + i] end
    from = from + system.n
  end
  return mechanical and core.vector(out) or rate
end

-- The derivative of the state at a crossing, whose time moves by dt: S + x' dt, on the side after the event.
local function slopes_at(flow, sol, crossing)
  local k = #sol.t
  while sol.t[k] > crossing.t do k = k - 1 end
  local rate = rate_at(flow.model.simu:nsds(), crossing.t, crossing.x, sol.lambda:row(k))
  for i = 1, #crossing.dt do
    if crossing.dt[i] ~= crossing.dt[i] then error("the time of the crossing has no derivative", 0) end
  end
  return sol.S[k] + rate:outer(crossing.dt)
end

-- The crossings, the derivatives of the last one's state by the start and by the parameter where the run carries it,
-- its time's derivative; or nothing and why.
function simulation.exact_crossing(flow, x0, t0, section, p)
  local start = model_at(flow, p).start
  if t0 ~= start then return nil, "the runs of a simulation carry derivatives from its start alone" end
  if flow.n > flow.nx then return nil, "what actions change has no derivative at a section" end
  local n = #x0
  local function attempt(parameter)
    local list, sol = simulation.crossings(flow, x0, t0, section, p, { sensitivities = { "x0", parameter } })
    local last = list[section.count]
    local S = slopes_at(flow, sol, last)
    return list, S:slice(1, n, 1, n), S:cols() > n and S:column(n + 1) or nil, last.dt:slice(1, n)
  end
  if flow.parameter and p ~= nil then
    local good, list, S, by_parameter, dt = pcall(attempt, flow.parameter)
    if good then return list, S, by_parameter, dt end
  end
  return attempt(nil)
end

simulation.more_states, simulation.counter = sampled.more_states, sampled.counter

return simulation
