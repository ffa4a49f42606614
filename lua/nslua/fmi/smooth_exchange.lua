-- nslua.fmi.smooth_exchange: model exchange of a simulation whose model is smooth: the states of its systems and
-- their derivatives. The importer integrates them; the scheme and the grid of the simulation play no part.
local core = require "nslua.core"
local rates = require "nslua.dynamics.simulation_rate"

local exchange = {}

-- The systems of the graph, each with the number of its states and whether it is mechanical.
local function systems_of(nsds)
  local list = {}
  for k = 1, nsds:numberOfDynamicalSystems() do
    local system = nsds:dynamicalSystem(k)
    list[k] = { system = system, mechanical = pcall(function() return system:q() end), n = #system:x() }
  end
  return list
end

-- The states in the order of the graph, with the names that a solution has: x1, ... or q1, ..., v1, ...
local function names_of(systems)
  local names, x, q = {}, 0, 0
  for _, one in ipairs(systems) do
    local half = one.mechanical and one.n // 2 or one.n
    for i = 1, half do
      names[#names + 1] = { name = one.mechanical and ("q%d"):format(q + i) or ("x%d"):format(x + i) }
    end
    if one.mechanical then
      for i = 1, half do names[#names + 1] = { name = ("v%d"):format(q + i) } end
      q = q + half
    else
      x = x + half
    end
  end
  return names
end

local function point_of(object)
  local x, at = core.zeros(object.n), 0
  for _, one in ipairs(object.systems) do
    local own = one.system:x()
    for i = 1, one.n do x[at + i] = own[i] end
    at = at + one.n
  end
  return x
end

-- Makes the object ready. Returns its states and the number of indicators; or nil and why the model is not smooth.
function exchange.open(object)
  local nsds = object.simulation:nsds()
  if nsds:numberOfInteractions() > 0 then return nil, "interactions" end
  object.systems, object.n = systems_of(nsds), 0
  for _, one in ipairs(object.systems) do object.n = object.n + one.n end
  local rate, reason = rates.at(nsds, object.t, point_of(object), core.zeros(0))
  if not rate then return nil, reason end
  return { states = names_of(object.systems), indicators = 0 }
end

function exchange.close() end

function exchange.set_time(object, t) object.t = t end

function exchange.set_states(object, x)
  if #x ~= object.n then error(("there are %d states, not %d"):format(object.n, #x), 0) end
  local at = 0
  for _, one in ipairs(object.systems) do
    local own = one.system:x()
    for i = 1, one.n do own[i] = x[at + i] end
    at = at + one.n
  end
end

function exchange.states(object) return point_of(object):totable() end

function exchange.derivatives(object)
  local t = object.exchange and object.t or object.simulation:startingTime()
  return rates.at(object.simulation:nsds(), t, point_of(object), core.zeros(0)):totable()
end

function exchange.indicators() return {} end
function exchange.changed() end
function exchange.place() end
function exchange.completed() return false end
function exchange.update() return false, false end
function exchange.save() end
function exchange.restore() end

return exchange
