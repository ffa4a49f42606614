-- nslua.gradient: the cost of a run, and its derivatives by parameters.
--
--   local value, gradient, sol = simu:gradient { cost = function(t, x) return x[1] ^ 2 end, parameters = { "x0" } }
--
-- The run is recorded, and the derivatives come from the adjoint pass through it (gradient/backward.lua). Where a
-- record does not do, they come from S = dx / dp of a second run (gradient/forward.lua); the ones of a time-stepping
-- run are in gradient/stepped.lua.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local where = require "nslua.base.where"
local stepped = require "nslua.gradient.stepped"

local fail, describe, optional, reject = arguments.fail, arguments.describe, arguments.optional, arguments.reject
local back = core.adjoint

local CHANGED = "gradient: the simulation was run again, or changed, by a function of the cost"

-- Bytes that a record may take: 256 MB, about 100,000 steps of a model of 30 states.
local MEMORY = 2 ^ 28

local function take_options(simu, options)
  reject(not arguments.is_simulation(simu), simu,
    "gradient: expected a simulation before a colon, as in simu:gradient{...}")
  options = arguments.options(options, ":gradient")
  for _, name in ipairs { "cost", "terminal" } do
    optional(options[name], "function", "gradient: %s: expected a function", name)
  end
  if not options.cost and not options.terminal then fail("gradient: expected cost, or terminal, or both") end
  if options.parameters == nil then fail("gradient: parameters: expected a list of parameters, got nil") end
  local method = options.method
  if method ~= nil and method ~= "adjoint" and method ~= "forward" then
    fail("gradient: method: expected \"adjoint\" or \"forward\", got %s", describe(method))
  end
  local memory = options.memory
  if memory ~= nil and not (type(memory) == "number" and memory > 0) then
    fail("gradient: memory: expected a positive number of bytes, got %s",
      type(memory) == "number" and memory or describe(memory))
  end
  return options
end

-- A copy of the list of parameters without "T"; whether "T" was in it, and whether it was alone: then the copy has
-- x0.
local function take_parameters(list)
  local copy, free = {}, false
  if type(list) ~= "table" then return list, false, false end
  for key, value in pairs(list) do
    if math.type(key) ~= "integer" then copy[key] = value end
  end
  local count = 0
  for _, value in ipairs(list) do
    count = count + 1
    if value == "T" then free = true else copy[#copy + 1] = value end
  end
  for key in pairs(list) do
    if math.type(key) == "integer" and (key < 1 or key > count) then
      fail("gradient: parameters: expected a list; there is an element %d, but none %d", key, count + 1)
    end
  end
  local alone = free and #copy == 0
  if alone then copy[1] = "x0" end
  return copy, free, alone
end

-- Makes the simulation ready for a second run, with S. why: what the record can not do.
local function repeat_run(run, why)
  if not run.fresh then
    fail("gradient: %s: the run needs forward derivatives, and can not be repeated, since a script has set states; "
      .. "use method = \"forward\"", why)
  end
  run.simu:reset()
end

-- Runs with a record; nil: this run needs S.
local function recorded(run, parameters)
  if type(parameters) ~= "table" then where.call("run", run.simu.run, run.simu, { sensitivities = parameters }) end
  run.values = where.call("run", back.values, run.simu, parameters) -- before actions of clocks write over them
  local asked = {}
  run.fresh = back.fresh(run.simu)
  for key, value in pairs(parameters) do asked[key] = value end
  asked.adjoint, asked.memory = true, run.options.memory or MEMORY
  local good, sol = pcall(run.simu.run, run.simu, { sensitivities = asked })
  if good then return sol end
  local why = back.refused(run.simu)
  back.close(run.simu)
  if not why then where.call("run", error, sol, 0) end
  repeat_run(run, why)
end

-- Gives the memory of the record back. Returns whether the record is still the model's: a function of the cost
-- may have changed it.
local function close_record(run)
  local open, same = pcall(back.same, run.simu)
  if not open then fail(CHANGED) end
  back.close(run.simu)
  return same
end

-- Raises when a function of the cost has closed the simulation, or moved it from its end.
local function check_end(run)
  local open, more = pcall(run.simu.hasNextEvent, run.simu)
  if not open or more then fail(CHANGED) end
end

-- The name of the event of the script that ended the run.
local function ending(sol) return sol.message and sol.message:match "^event '(.*)' ended the run" end

local function by_adjoint(run, parameters)
  run.sol = recorded(run, parameters)
  if not run.sol then return nil end
  local good, slopes, moved = pcall(require "nslua.gradient.backward", run, ending(run.sol))
  close_record(run)
  if not good then error(slopes, 0) end
  if not slopes then repeat_run(run, "events are simultaneous") end
  return slopes, moved
end

-- By the record of a time-stepping run; nil: this run needs S. A step that has no derivative is told by the run with
-- S, which ends at the first one.
local function by_recorded_steps(run, parameters)
  run.sol = recorded(run, parameters)
  if not run.sol then return nil end
  local good, slopes = pcall(stepped.backward, run)
  local same = close_record(run)
  if good then
    check_end(run)
    return slopes
  end
  if not (run.stepping and run.fresh and same) then error(slopes, 0) end
  run.value = 0
  run.simu:reset()
end

local function by_steps(run, parameters)
  if run.free then fail("gradient: T: the end of a time-stepping run is no parameter; use EventDriven") end
  if run.options.method ~= "forward" then
    local slopes = by_recorded_steps(run, parameters)
    if slopes then return slopes end
  end
  run.values = where.call("run", back.values, run.simu, parameters)
  run.sol = where.call("run", run.simu.run, run.simu, { sensitivities = parameters })
  local slopes = stepped.forward(run)
  check_end(run)
  return slopes
end

local function by_forward(run, parameters)
  local asked = { sensitivities = parameters, dense = run.options.cost ~= nil }
  run.value = 0
  run.values = where.call("run", back.values, run.simu, parameters)
  run.sol = where.call("run", run.simu.run, run.simu, asked)
  local stop = ending(run.sol)
  if stop or run.free then
    fail("gradient: %s: forward derivatives are for a given end; let the run go to one, or use "
      .. "run{sensitivities = ...} and the dt of the event", stop and run.sol.message or "T")
  end
  return require "nslua.gradient.forward"(run)
end

return function(simu, options)
  options = take_options(simu, options)
  local parameters, free, alone = take_parameters(options.parameters)
  local run = { simu = simu, options = options, value = 0, free = free }
  local slopes, moved
  local recordable = where.call("gradient", back.drives, simu)
  if not recordable then slopes = by_steps(run, parameters)
  elseif run.options.method ~= "forward" then slopes, moved = by_adjoint(run, parameters) end
  if not slopes then slopes = by_forward(run, parameters) end
  local list = {}
  for j = 1, alone and 0 or #slopes do list[j] = slopes[j] end
  if free then list[#list + 1] = moved end
  return run.value, core.vector(list), run.sol, { memory = run.memory, again = run.again }
end
