-- nslua.control.manager: sensors, observers and controllers on a simulation, as clocks.
--
--   sim:addSensor(sensor, 0.05):addActuator(ns.PID(sensor, B, { K = { 1, 0.5, 0 } }), 0.05)
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local names = require "nslua.base.names"
local plant = require "nslua.control.plant"
local where = require "nslua.base.where"

local fail, describe, optional, reject = arguments.fail, arguments.describe, arguments.optional, arguments.reject

local manager = {}

local Manager = { __name = "ControlManager" }

-- ---- names ----

-- A name that no other part has: the given one, or the name of the class with a number.
local function free_name(self, given, class, who)
  local name, count = given or class, 1
  while not given and self.names[name] do
    count = count + 1
    name = ("%s %d"):format(class, count)
  end
  if self.names[name] then fail("%s: the name '%s' is taken", who, name) end
  return name
end

local function period_of(value, who)
  reject(not (type(value) == "number" and value > 0 and value < math.huge), value,
    "%s: period: expected a number above 0", who)
  return value
end

-- What is known of a system: a table whose field `on` is the record of its input, made at its first controller.
local function link_of(self, ds)
  self.links[ds] = self.links[ds] or {}
  return self.links[ds]
end

local function plant_of(self, ds, period, rows, who)
  local link = link_of(self, ds)
  if not link.on then
    local name = free_name(self, nil, ds:name(), who)
    link.on = plant.prepare(self.simulation, ds, name, self.hold or period, rows, self.hold ~= nil, who)
    self.names[name] = true
  end
  return link.on
end

local function check_new(self, part, kind, who)
  if type(part) ~= "table" or type(rawget(part, "declare") or getmetatable(part) and part.declare) ~= "function" then
    fail("%s: expected %s, got %s", who, kind, describe(part))
  end
  if self.parts[part] then fail("%s: it has been added before", who) end
end

-- A part that has its clocks belongs to the manager.
local function keep(self, part, list)
  self.parts[part], self.names[part.name] = true, true
  if list then list[#list + 1] = part end
  return self
end

-- Raises where a system is not in the graph of the simulation.
local function check_system(self, ds, who)
  local nsds = where.pass(self.simulation.nsds, self.simulation)
  for i = 1, nsds:numberOfDynamicalSystems() do
    if nsds:dynamicalSystem(i) == ds then return end
  end
  local name = ds:name()
  fail("%s: its system%s is not in the graph of the simulation%s", who, name == "" and "" or (", '%s',"):format(name),
    name == "" and ": add that before" or "")
end

function Manager:addSensor(sensor, period)
  local who = "addSensor"
  check_new(self, sensor, "a sensor", who)
  check_system(self, sensor.ds, who)
  sensor.name = free_name(self, sensor.name, "sensor", who)
  where.pass(sensor.declare, sensor, self.simulation, period_of(period, who), who)
  return keep(self, sensor)
end

-- Raises where the sensor or observer that a part reads has not been added.
local function check_source(self, part, who)
  if not self.parts[part.sensor] then fail("%s: its sensor comes first: add that before", who) end
end

function Manager:addObserver(observer, period)
  local who = "addObserver"
  check_new(self, observer, "an observer", who)
  check_source(self, observer, who)
  local link = link_of(self, observer.ds)
  if link.on then
    fail("%s: an observer of '%s' comes before its controllers: it works with the input since its last sample", who,
      link.on.name)
  end
  observer.name = free_name(self, observer.name, observer.class, who)
  where.pass(observer.declare, observer, self.simulation, period_of(period, who), link)
  return keep(self, observer, self.observers)
end

function Manager:addActuator(controller, period)
  local who = "addActuator"
  check_new(self, controller, "a controller", who)
  check_source(self, controller, who)
  period = period_of(period, who)
  controller.name = free_name(self, controller.name, controller.class.name, who)
  who = controller.name
  controller:prepare(period, who)
  local on = plant_of(self, controller.sensor.ds, period, controller.B:rows(), who)
  where.pass(controller.declare, controller, self.simulation, period, on)
  table.insert(on.controllers, controller)
  return keep(self, controller, self.controllers)
end

Manager.addSensorPtr, Manager.addObserverPtr, Manager.addActuatorPtr = Manager.addSensor, Manager.addObserver,
  Manager.addActuator

function Manager:initialize() return self end

local function new(simulation, meta, fields)
  local self = { simulation = simulation, names = {}, parts = {}, links = {}, observers = {}, controllers = {} }
  for key, value in pairs(fields or {}) do self[key] = value end
  return setmetatable(self, meta)
end

Manager.__index = Manager
function Manager:__tostring() return ("ControlManager with %d controllers"):format(#self.controllers) end
where.strict(Manager)

function manager.ControlManager(simulation)
  reject(not arguments.is_simulation(simulation), simulation, "ControlManager: expected a simulation")
  return new(simulation, Manager)
end

-- ---- simulations with a manager ----

local Simulation = { __name = "control simulation" }
for key, f in pairs(Manager) do
  if type(f) == "function" and not key:find "^__" then Simulation[key] = f end
end

function Simulation:addDynamicalSystem(ds, name)
  where.pass(function()
    self.simulation:nsds():insertDynamicalSystem(ds)
    if name then ds:setName(name) end
  end)
  return self
end

function Simulation:run(options)
  local own = { rows = "grid" }
  if getmetatable(self) ~= Simulation then
    fail "run: expected a control simulation before a colon, as in sim:run(...)"
  end
  optional(options, "table", "run: options: expected a table")
  for key, value in pairs(options or {}) do own[key] = value end
  self.solution = where.pass(self.simulation.run, self.simulation, own)
  return self.solution
end

-- The last run as a matrix, as Siconos has it: t, states, u of each controller, then the estimate and the error of
-- each observer.
function Simulation:data()
  local sol = self.solution
  if not sol then fail "data: there was no run" end
  local columns = { sol.t:column() }
  columns[2] = core.matrix(sol.x)
  local function add(name, key, n)
    for i = 1, n do columns[#columns + 1] = sol[("%s.%s[%d]"):format(name, key, i)]:column() end
  end
  for _, c in ipairs(self.controllers) do add(c.name, "u", c.B:cols()) end
  for _, o in ipairs(self.observers) do
    add(o.name, "x", o.size)
    add(o.name, "e", o.sensor.size)
  end
  return core.hstack(table.unpack(columns))
end

Simulation.__index = function(self, key)
  local own = Simulation[key]
  if own ~= nil or type(key) ~= "string" or where.is_ours(debug.getinfo(2, "S")) then return own end
  local method = core.simulation_methods[key]
  if not method then error(names.of_class("control simulation", Simulation, key), 2) end
  return function(_, ...) return method(self.simulation, ...) end
end

function Simulation:__tostring() return ("%s with %d controllers"):format(self.kind, #self.controllers) end

-- The accuracy of the motion between two samples: rounding.
local EXACT = 1e-14

local function simulation(kind, t0, T, h, hold, rtol, atol)
  for name, value in pairs { t0 = t0, T = T, h = h } do arguments.number(value, kind, name) end
  if t0 == nil or T == nil or h == nil then fail("%s: expected t0, T and h", kind) end
  local own = where.pass(function()
    local nsds = core.NonSmoothDynamicalSystem(t0, T)
    return core.EventDriven(nsds, core.TimeDiscretisation(t0, h), core.RungeKuttaOSI(rtol, atol))
  end)
  return new(own, Simulation, { hold = hold and h or nil, kind = kind })
end

-- Inputs are held exactly; a b that is a function of the time is held over each step of the grid.
function manager.ControlZOHSimulation(t0, T, h) return simulation("ControlZOHSimulation", t0, T, h, true, EXACT) end

-- b may be any function of the time.
function manager.ControlLsodarSimulation(t0, T, h, rtol, atol)
  return simulation("ControlLsodarSimulation", t0, T, h, false, rtol or 1e-12, atol)
end

return manager
