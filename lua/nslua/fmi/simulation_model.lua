-- nslua.fmi.simulation_model: models for other tools that are a simulation of nslua, which `setup` makes.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local modes = require "nslua.fmi.modes_exchange"

local fail, expect, reject = arguments.fail, arguments.expect, arguments.reject
local format = core.number_support.format

local kind = { name = "simulation", text = "a simulation", keys = "setup" }

local WHO = "fmi.model"

-- The times of a simulation and of the importer are the same when they differ by less than this part of a step of
-- the grid. The importer adds up its steps: a million of them have a rounding error of about 1e-10 of their sum, and
-- a time that is wrong by 1e-6 of a step changes no result that a step can have.
local SAME = 1e-6

function kind.declare(description)
  expect(description.setup, "function", "%s: setup: expected a function", WHO)
  if description.states ~= nil then fail("%s: states go with rhs; a simulation has its own", WHO) end
  return { setup = description.setup }
end

-- An object: what setup returned (made), its simulation, and the time at which it stops within a step of its grid
-- (stop).
function kind.open(model, v, run)
  local made = model.data.setup(v, run)
  local simulation = type(made) == "table" and made.simulation or made
  reject(not arguments.is_simulation(simulation), made,
    "%s: setup: expected a simulation, or a table with one as its field 'simulation'", WHO)
  local start, length = simulation:startingTime(), simulation:currentTimeStep()
  if math.abs(start - run.start) > SAME * length then
    fail("%s: setup: the simulation starts at t = %g and the experiment at t = %g: use run.start", WHO, start,
      run.start)
  end
  return { made = made, simulation = simulation, t = run.start }
end

-- Calls the functions of model exchange once, so that their errors show.
function kind.look(object)
  if not object.exchange then return end
  for i, rate in ipairs(modes.derivatives(object)) do
    if rate - rate ~= 0 then fail("fmi.export: the derivative of state %d is %g at the start", i, rate) end
  end
  modes.indicators(object)
end

function kind.subject(object)
  if object.modes then modes.place(object) end
  return object.made
end

function kind.time(object) return object.exchange and object.t or object.simulation:startingTime() end

function kind.close(object)
  if object.modes then modes.close(object) end
  object.simulation:close()
end

local STOP = "communication point"

-- The step of the grid that is under way ends at `time`; the next one goes on from there. nil: no such end.
local function stop_at(object, time)
  if object.stop then object.simulation:removeEvent(STOP) end
  object.stop = time
  if not time then return end
  object.simulation:addEvent { name = STOP, g = function(t) return t - time end, direction = "up", terminal = true }
end

-- Steps to the time `target`: by whole steps of the grid, and a part of one where the target is not on it.
function kind.advance(object, target)
  local simulation = object.simulation
  while true do
    local now, slack = simulation:startingTime(), SAME * simulation:currentTimeStep()
    if now >= target - slack then return end
    if object.stop then stop_at(object, nil) end
    if not simulation:hasNextEvent() then
      error(format("the simulation ends at t = %g: use run.stop in setup", now), 0)
    end
    if simulation:nextTime() > target + slack then stop_at(object, target) end
    simulation:computeOneStep()
    simulation:nextStep()
  end
end

-- The discrete states of the script's events and clocks: a list of { name, get }, named as the columns of a run.
function kind.discrete(object)
  local list = {}
  local function add(name, event, state, i)
    list[#list + 1] = { name = name, get = function(made)
      local simulation = type(made) == "table" and made.simulation or made
      local value = simulation:discrete(event)[state]
      return i and value[i] or value
    end }
  end
  for _, event in ipairs(object.simulation:userEvents()) do
    for state, value in pairs(object.simulation:discrete(event.name) or {}) do
      local name = ("%s.%s"):format(event.name, state)
      if type(value) == "number" then add(name, event.name, state) end
      if core.isvector(value) then
        for i = 1, #value do add(("%s[%d]"):format(name, i), event.name, state, i) end
      end
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end) -- the same in all instances
  return list
end

local function read(file)
  local handle <close> = assert(io.open(file, "rb"))
  return handle:read "a"
end

function kind.save(object)
  local file = os.tmpname()
  local good, message = pcall(object.simulation.save_state, object.simulation, file)
  local bytes = good and read(file)
  os.remove(file)
  os.remove(file .. ".previous")
  if not good then error(message, 0) end
  return { state = bytes, stop = object.stop or false, t = object.t,
    exchange = object.exchange and modes.save(object) or false }
end

function kind.restore(object, saved)
  local file = os.tmpname()
  do
    local handle <close> = assert(io.open(file, "wb"))
    assert(handle:write(saved.state))
  end
  if (saved.stop or nil) ~= object.stop then stop_at(object, saved.stop or nil) end
  local good, message = pcall(object.simulation.load_state, object.simulation, file, { constants = false })
  os.remove(file)
  if not good then error(message, 0) end
  object.t = saved.t
  if object.exchange and saved.exchange then modes.restore(object, saved.exchange) end
end

-- ---- model exchange ----

-- Makes the object ready for model exchange; returns its states and the number of indicators.
function kind.exchange(_, object)
  local found, reason = modes.open(object)
  if found then return found end
  fail("fmi.export: kind: model exchange goes from event to event, which this simulation cannot: %s; export it for "
    .. "co-simulation", reason)
end

for _, name in ipairs { "set_time", "set_states", "states", "derivatives", "indicators", "changed", "completed",
  "update", "next" } do
  kind[name] = modes[name]
end

return kind
