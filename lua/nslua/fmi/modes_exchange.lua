-- nslua.fmi.modes_exchange: model exchange of a simulation. Its modes are the modes of EventDriven: the importer
-- integrates the states in a mode and looks at the event indicators, which are positive in the mode; impacts and
-- changes of mode are events, and so are events and clocks of the script. A smooth model has one mode and no
-- indicators.
local core = require "nslua.core"

local exchange = core.exchange_support

local modes = {}

-- ---- the model ----

-- The EventDriven that has the modes, beside the simulation of the script. A simulation that locates events lends its
-- integrator with the options.
local function event_driven(simulation, start)
  local nsds, step = simulation:nsds(), simulation:currentTimeStep()
  local grid = core.TimeDiscretisation(start, step)
  local good, own = pcall(core.EventDriven, nsds, grid, simulation:osi())
  return good and own or core.EventDriven(nsds, grid, core.RungeKuttaOSI()), step
end

-- The names of the states as a solution has them: q1, ..., v1, ..., x1, ... over all systems; s1, ... for
-- combinations of the states x of a singular M.
local function names_of(nsds, states)
  local before, counts, combinations, names = {}, { q = 0, v = 0, x = 0 }, 0, {}
  for k = 1, nsds:numberOfDynamicalSystems() do
    local system = nsds:dynamicalSystem(k)
    before[k] = { q = counts.q, v = counts.v, x = counts.x }
    local mechanical, q = pcall(function() return system:q() end)
    if mechanical then
      counts.q, counts.v = counts.q + #q, counts.v + #system:x() - #q
    else
      counts.x = counts.x + #system:x()
    end
  end
  for i, state in ipairs(states) do
    local letter, number = state.letter, state.number
    if letter == "s" then
      combinations = combinations + 1
      number = combinations
    else
      number = before[state.system][letter] + number
    end
    names[i] = { name = ("%s%d"):format(letter, number), reinit = true }
  end
  return names
end

-- Starts the modes at the time of the object.
local function begin(object)
  local t = object.exchange and object.t or object.simulation:startingTime()
  object.z, object.guards = exchange.begin(object.engine, t, object.step)
  object.placed, object.renew = false, false
end

-- Makes the object ready. Returns its states and the number of indicators; or nil and why it has no modes.
function modes.open(object)
  local simulation = object.simulation
  local good, own, step = pcall(event_driven, simulation, simulation:startingTime())
  if not good then return nil, own end
  object.modes, object.step = own, step
  object.engine = exchange.new(own, simulation)
  local started, message = pcall(begin, object)
  if not started then return nil, message end
  return { states = names_of(simulation:nsds(), exchange.names(object.engine)), indicators = object.guards }
end

function modes.close(object) object.modes:close() end

-- ---- the state ----

function modes.set_time(object, t) object.t, object.placed = t, false end

function modes.set_states(object, x)
  if #x ~= #object.z then error(("there are %d states, not %d"):format(#object.z, #x), 0) end
  object.z, object.placed = x, false
end

-- A value has changed. Rates follow at once; laws, and M, are read anew at the next event.
function modes.changed(object) object.placed, object.renew = false, true end

-- Writes the state into the objects of the graph, for functions of the script.
function modes.place(object)
  if object.placed or not object.exchange then return end
  exchange.place(object.engine, object.t, object.z)
  object.placed = true
end

-- In co-simulation the steps give the states.
local function present(object)
  if not object.exchange then begin(object) end
  return object.exchange and object.t or object.simulation:startingTime()
end

function modes.states(object)
  present(object)
  return object.z
end

function modes.derivatives(object) return exchange.rate(object.engine, present(object), object.z) end
function modes.indicators(object) return exchange.guards(object.engine, present(object), object.z) end

-- ---- steps and events ----

-- The importer has accepted a step. Returns whether there is an event that no indicator tells.
function modes.completed(object) return exchange.accept(object.engine, object.t, object.z) end

function modes.update(object)
  local before = object.z
  local happened, z = exchange.event(object.engine, object.t, before, object.renew)
  local changed = false
  for i = 1, #z do changed = changed or z[i] ~= before[i] end
  object.z, object.renew, object.placed = z, false, false
  return happened, changed
end

-- The next instant of a clock of the script, or nil; whether an event of the script has ended the run.
function modes.next(object) return exchange.next(object.engine) end

-- ---- stored states ----

function modes.save(object) return { z = object.z, mode = exchange.save(object.engine) } end

function modes.restore(object, saved)
  exchange.load(object.engine, saved.mode)
  object.z, object.placed, object.renew = saved.z, false, false
end

return modes
