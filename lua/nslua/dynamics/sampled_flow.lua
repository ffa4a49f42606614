-- nslua.dynamics.sampled_flow: what actions of clocks and events change beside the states of systems, as part of the
-- state of a flow (nslua.dynamics.simulation_flow): the discrete states, then the numbers of the model that actions
-- write, such as z, b or a bound.
--
-- Bounds that are infinite at times, as the bounds of gates and thyristors, are on or off: no states.
--
-- These numbers are found by a run of the model; each later run must change the same ones. A number is held between
-- instants. The derivative over a run goes through its instants (nslua.dynamics.sampled_slope).
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local slope = require "nslua.dynamics.sampled_slope"

local fail = arguments.fail
local format = core.number_support.format
local support = core.discrete_support

local sampled = {}

local COLUMN = "nslua.dynamics.places"
-- Times that differ by this part of their size are one; so are a period and a multiple of a clock's period.
local SAME = 2 ^ -40

-- ---- making ----

-- Refuses a time that is no multiple of the periods of all clocks.
local function checker(flow, clocks)
  return function(T, what)
    flow.period = T
    for _, clock in ipairs(clocks) do
      local count = T / clock.period
      if math.abs(count - math.floor(count + 0.5)) > SAME * count or count < 0.5 then
        fail("%s: %s: expected a multiple of the period of the clock '%s', %g, got %g", flow.who, what, clock.name,
          clock.period, T)
      end
      if clock.offset >= flow.t0 + clock.period then
        fail("%s: simulation: the clock '%s' begins at %g: give an offset in the first period, [%g, %g)", flow.who,
          clock.name, clock.offset, flow.t0, flow.t0 + clock.period)
      end
    end
  end
end

local function check_options(flow, options, clocks)
  if #clocks == 0 then return end
  flow.check_period = checker(flow, clocks)
  local name = clocks[1].name
  if options.section ~= nil or options.autonomous then
    fail("%s: simulation: its clock '%s' makes the motion depend on time: give period =, a multiple of the periods "
      .. "of all clocks", flow.who, name)
  end
  if type(options.window) == "number" then flow.check_period(options.window, "window") end
end

-- What actions have changed so far.
local function places_of(flow, simu)
  local places, draws, other = support.places(simu)
  if draws then fail("%s: simulation: '%s' draws random numbers: no run repeats another", flow.who, draws) end
  if other then fail("%s: simulation: an action changes %s, which is carried by no state", flow.who, other) end
  return places
end

-- Divides the places into numbers, and bounds that are infinite at times in a run: these are on or off, no states.
local function divide(simu, all)
  local infinite, numbers, switches = {}, {}, {}
  local function look()
    local values = support.get(simu, all)
    for k = 1, #all do infinite[k] = infinite[k] or math.abs(values[k]) == math.huge end
    return { [COLUMN] = 0 }
  end
  simu:reset()
  if #all > 0 then simu:run { observe = look } end
  for k, key in ipairs(all) do table.insert(infinite[k] and switches or numbers, key) end
  return numbers, switches
end

-- Finds the numbers that actions change, by a run from the start and from the guess. Returns how many they are.
-- fresh(flow, p): the model at its start.
function sampled.make(flow, options, fresh)
  local model = flow.model
  local clocks = {}
  for _, event in ipairs(model.simu:userEvents()) do
    if event.period then clocks[#clocks + 1] = event end
  end
  if not model.acting then return 0 end
  check_options(flow, options, clocks)
  model = fresh(flow, options.value)
  local simu = model.simu
  simu:run()
  local count = pcall(function() return #options.guess end) and #options.guess or 0
  if count >= flow.nx then -- a run that begins at 0 may change nothing
    simu:reset()
    for _, system in ipairs(model.systems) do
      local list = {}
      for i = system.first, system.last do list[#list + 1] = options.guess[i] end
      system.ds:setX(list)
    end
    simu:run()
  end
  local all = places_of(flow, simu)
  flow.places, flow.switches = divide(simu, all)
  simu:reset()
  flow.initial = support.get(simu, flow.places)
  flow.known = {}
  for _, key in ipairs(all) do flow.known[key] = true end
  flow.names = support.names(simu, flow.places)
  flow.clocks = clocks
  return #flow.places
end

-- The states that a user gives, with the initial values of what actions change where these are not given; nil: as
-- they are.
function sampled.more_states(flow, value)
  local known, count = pcall(function() return #value end)
  if not flow.places or not known or count ~= flow.nx then return nil end
  return core.concatenate { core.vector(value), flow.initial }
end

-- ---- runs ----

function sampled.put(flow, model, x0)
  if flow.places then support.put(model.simu, flow.places, x0:slice(flow.nx + 1, flow.n)) end
  if flow.ended and not model.is_copy then support.put(model.simu, flow.switches, flow.ended) end
end

-- A run from the start has ended at t: the next one begins with the switches as they are after a period.
function sampled.ends(flow, model, t)
  if flow.switches and #flow.switches > 0 and flow.period == t - model.start then
    flow.ended = support.get(model.simu, flow.switches)
  end
end

-- The state at the end of a run, whose systems have the states x.
function sampled.last(flow, model, x)
  if not flow.places then return x end
  for _, key in ipairs(places_of(flow, model.simu)) do
    if not flow.known[key] then
      fail("%s: simulation: an action changes %s, which it did not change in the first run: let a discrete state "
        .. "hold it", flow.who, support.names(model.simu, { key })[1])
    end
  end
  return core.concatenate { x, support.get(model.simu, flow.places) }
end

-- An observe = of a run, for sampled.row; nil: there is nothing to observe.
function sampled.observer(flow, model)
  if not flow.places or #flow.places == 0 then return nil end
  return function() return { [COLUMN] = support.get(model.simu, flow.places) } end
end

-- The state of row k, whose systems have the states x.
function sampled.row(flow, sol, k, x)
  if not flow.places or #flow.places == 0 then return x end
  local held = core.zeros(#flow.places)
  for i = 1, #held do held[i] = sol[#held == 1 and COLUMN or format("%s[%d]", COLUMN, i)][k] end
  return core.concatenate { x, held }
end

-- Names a discrete state whose row of the Jacobian J of the shooting equations is 0: it grows by the same in each
-- period. keep: the states of the rows; nil: there is none.
function sampled.counter(flow, J, keep, regular)
  for k, i in ipairs(flow.names and keep or {}) do
    if i > flow.nx and J:row(k):norm() <= regular then
      return format("; the Jacobian is singular: '%s' counts from period to period, and drift = { %d } leaves it out",
        flow.names[i - flow.nx], i)
    end
  end
end

-- ---- derivatives ----

-- Prepares the options of a run for a derivative; returns run(go), which gives the solution of go(), and S by the
-- states and then by the other parameters. nil: there are no places. count: of the other parameters.
function sampled.derivative(flow, sizes, options, model, count)
  if not flow.places then return nil end
  local nx, nd, n = flow.nx, #flow.places, flow.n
  local held = core.zeros(nd, n + count)
  for i = 1, nd do held[i][nx + count + i] = 1 end
  options.sensitivities.places, options.sensitivities.held, options.sensitivities.rtol = flow.places, held, 1e-12
  return function(go)
    local at = slope.carry(model.simu, flow.places, sizes, held, flow.fixed)
    local good, sol = pcall(go)
    slope.carry(model.simu, nil)
    if not good then error(sol, 0) end
    local S = core.vstack(sol.S[#sol.t], at.held)
    return sol, core.hstack(S:slice(1, n, 1, nx), S:slice(1, n, nx + count + 1, n + count),
      count > 0 and S:slice(1, n, nx + 1, nx + count) or core.zeros(n, 0))
  end
end

return sampled
