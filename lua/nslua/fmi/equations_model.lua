-- nslua.fmi.equations_model: models for other tools that are given as equations, x' = rhs(t, x, v), with events that
-- change the state. The functions are as in ns.solve_ivp, which does the steps of co-simulation.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"

local fail, describe, expect, reject = arguments.fail, arguments.describe, arguments.expect, arguments.reject

local equations = { name = "equations", text = "a model by equations", keys = "rhs events method rtol atol" }

local WHO = "fmi.model"

local SIGNS = { up = 1, down = -1, both = 0 }

local function event_of(given, i)
  if type(given) == "function" then given = { g = given } end
  local what = ("%s: events[%d]"):format(WHO, i)
  expect(given, "table", "%s: expected a table with g", what)
  for _, key in ipairs { "g", "apply" } do
    reject(given[key] ~= nil and type(given[key]) ~= "function" or key == "g" and not given.g, given[key],
      "%s: %s: expected a function", what, key)
  end
  local direction = given.direction or 0
  local sign = SIGNS[direction] or type(direction) == "number" and (direction > 0 and 1 or direction < 0 and -1 or 0)
  if not sign then fail("%s: direction: expected up, down or both, got %s", what, describe(direction)) end
  return { g = given.g, apply = given.apply, direction = sign, name = given.name or ("event %d"):format(i) }
end

-- Checks the options of ns.solve_ivp, by a run of nothing.
local function check_options(options)
  local good, message = pcall(core.solve_ivp, function() return { 0 } end, { 0, 1 }, { 0 }, options)
  if not good then fail("%s: %s", WHO, (message:gsub("^.-solve_ivp: ", "", 1))) end
  return options
end

-- Checks the description; returns what open() needs.
function equations.declare(description)
  expect(description.rhs, "function", "%s: rhs: expected a function", WHO)
  if type(description.states) ~= "table" or next(description.states) == nil then
    fail("%s: states: expected at least one, with its start value", WHO)
  end
  local first, second = next(description.states), nil
  if type(first) == "string" then second = next(description.states, first) end
  if second then fail("%s: states: expected a list: x has its order", WHO) end
  check_options { method = description.method, rtol = description.rtol, atol = description.atol }
  local given, events = description.events or {}, {}
  if type(given) == "function" or given.g then given = { given } end
  for i, event in ipairs(given) do events[i] = event_of(event, i) end
  return { rhs = description.rhs, events = events, method = description.method or "RK45",
    rtol = description.rtol, atol = description.atol }
end

-- ---- one object: { model, v, t, x, signs } ----

function equations.open(model, v, run, values)
  local x = {}
  for _, record in ipairs(model.variables) do
    if record.state and record.start then x[#x + 1] = values[record.reference] end
  end
  local object = { model = model.data, v = v, t = run.start, x = core.vector(x), tolerance = run.tolerance }
  object.shown = object.x
  object.signs = {}
  return object
end

function equations.subject(object) return object.x end
function equations.time(object) return object.t end
function equations.close() end

-- f(t, x, v) as a vector of the right length.
local function rate(object)
  local n = #object.x
  local out = object.model.rhs(object.t, object.x, object.v)
  local good, vector = pcall(core.vector, out)
  if out == nil or not good or #vector ~= n then
    fail("%s: rhs: expected a vector of %d, got %s", WHO, n, good and out ~= nil and ("one of %d"):format(#vector)
      or describe(out))
  end
  return vector
end

local function state_after(object, event)
  local after = event.apply and event.apply(object.t, object.x, object.v)
  if after == nil then return false end
  local good, vector = pcall(core.vector, after)
  reject(not good or #vector ~= #object.x, after, "%s: %s: apply: expected %d numbers", WHO, event.name, #object.x)
  object.x = vector
  return true
end

-- Calls the functions of the equations once, so that their errors show.
function equations.look(object)
  for i, x in ipairs(rate(object):totable()) do
    if x - x ~= 0 then fail("%s: rhs: rate %d is %g at the start", WHO, i, x) end
  end
  equations.indicators(object)
end

-- Integrates to the time `target`.
function equations.advance(object, target)
  local model, events = object.model, {}
  for i, event in ipairs(model.events) do
    events[i] = { g = event.g, direction = event.direction, apply = event.apply, name = event.name }
  end
  local sol = core.solve_ivp(model.rhs, { object.t, target }, object.x, { method = model.method,
    rtol = model.rtol or object.tolerance or 1e-6, atol = model.atol or 1e-9, args = { object.v },
    events = #events > 0 and events or nil })
  local last, x = #sol.t, core.zeros(#object.x)
  for i = 1, #x do x[i] = sol.y[i][last] end
  object.t, object.x = sol.t[last], x
  if not sol.success then error(sol.message, 0) end
end

function equations.save(object)
  return { t = object.t, x = object.x:totable(), signs = { table.unpack(object.signs) } }
end

function equations.restore(object, saved)
  object.t, object.x, object.signs = saved.t, core.vector(saved.x), saved.signs
end

-- ---- model exchange ----

function equations.exchange(model)
  local states = {}
  for _, record in ipairs(model.variables) do
    if record.state then
      states[#states + 1] = { name = record.name }
      record.reinit = #model.data.events > 0 or nil
    end
  end
  return { states = states, indicators = #model.data.events }
end

function equations.set_time(object, t) object.t = t end

function equations.set_states(object, x)
  if #x ~= #object.x then error(("there are %d states, not %d"):format(#object.x, #x), 0) end
  object.x = core.vector(x)
end

function equations.states(object) return object.x:totable() end
function equations.derivatives(object) return rate(object):totable() end

function equations.indicators(object)
  local out = {}
  for i, event in ipairs(object.model.events) do
    out[i] = event.g(object.t, object.x, object.v)
    expect(out[i], "number", "%s: %s: g: expected a number", WHO, event.name)
  end
  return out
end

local function sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end

-- Keeps the signs of the indicators that have none yet. A sign that differs from the one kept is an event; an
-- indicator that is 0, as after an impact, gets its sign at the next step that the importer accepts.
function equations.completed(object)
  for i, z in ipairs(equations.indicators(object)) do
    if (object.signs[i] or 0) == 0 then object.signs[i] = sign(z) end
  end
  return false
end

function equations.changed() end
function equations.next() return nil, false end

-- Events happen whose indicator has changed its sign since completed(), in the event's direction. Returns whether one
-- did, and whether the states have changed. 0 belongs to the side that the indicator goes to.
function equations.update(object)
  local z, happened, changed = equations.indicators(object), false, false
  for i, event in ipairs(object.model.events) do
    local before, now = object.signs[i] or 0, sign(z[i])
    local way = now ~= 0 and now or -before
    if before ~= 0 and now ~= before and (event.direction == 0 or event.direction == way) then
      happened = true
      changed = state_after(object, event) or changed
    end
  end
  for i, now in ipairs(equations.indicators(object)) do object.signs[i] = sign(now) end
  return happened, changed
end

return equations
