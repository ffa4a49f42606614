-- nslua.control.controller: what controllers share: a sensor (or an observer), B, options with setters, and the
-- actuator behind them: quantisation, dead zone, saturation, limit of the rate, delay.
--
-- A class of controllers is made by controller.class: its options, its states, and prepare(self, h, who), which
-- returns law(t, y, s, simulation) -> u. y is a vector; s are the discrete states of the controller's clock. A law
-- writes nothing else.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local line = require "nslua.control.line"
local lists = require "nslua.base.lists"
local plant = require "nslua.control.plant"
local sensor = require "nslua.control.sensor"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local fail, describe, expect, optional, reject =
  arguments.fail, arguments.describe, arguments.expect, arguments.optional, arguments.reject

local controller = {}

-- ---- the actuator ----

-- A limit as { lower, upper }: of a number s -s and s.
local function range(value, who, name)
  if value == nil then return nil end
  local low, high
  if type(value) == "number" then low, high = -value, value
  elseif type(value) == "table" then low, high = value[1], value[2] end
  local good = type(low) == "number" and type(high) == "number" and low <= high
  if not good then
    local pair = type(value) == "table" and type(low) == "number" and type(high) == "number"
    fail("%s: %s: expected a number of 0 or more or { lower, upper }, got %s", who, name,
      pair and core.number_support.format("{ %g, %g }", low, high) or describe(value))
  end
  return { low, high }
end

local function positive(value, who, name)
  reject(value ~= nil and arguments.number(value, who, name) < 0, value,
    "%s: %s: expected a number of 0 or more", who, name)
  return value
end

local function clip(x, low, high) return math.max(low, math.min(high, x)) end

controller.clip = clip

-- The stages of an actuator, or nil where there are none.
local function stages_of(options, h, who)
  local a = { steps = positive(options.quantisation, who, "quantisation"),
    zone = positive(options.dead_zone, who, "dead_zone"),
    range = range(options.saturation, who, "saturation"), rate = positive(options.rate, who, "rate") }
  a.k, a.rest = line.split(options.delay, h, who)
  if not (a.steps or a.zone or a.range or a.rate) and a.k == 0 and a.rest == 0 then return nil end
  return a
end

-- The output of an actuator for the command u, after the output `last`.
local function stage(a, u, last, h)
  local v = u:copy()
  for i = 1, #v do
    local x = v[i]
    if a.steps and a.steps > 0 then x = math.floor(x / a.steps + 0.5) * a.steps end
    if a.zone then x = x > a.zone and x - a.zone or x < -a.zone and x + a.zone or 0 end
    if a.range then x = clip(x, a.range[1], a.range[2]) end
    if a.rate then x = clip(x, last[i] - a.rate * h, last[i] + a.rate * h) end
    v[i] = x
  end
  return v
end

-- ---- a controller ----

-- Options of every controller.
local COMMON = { name = true, saturation = true, rate = true, dead_zone = true, quantisation = true, delay = true,
  model = true }

local function is_options(value)
  return type(value) == "table" and getmetatable(value) == nil and #value == 0 and next(value) ~= nil
end

-- The model of the plant that a controller computes with: A and B sampled with held inputs, and A.
function controller.model(self, h, who)
  local A = self.options.model or plant.matrix(self.sensor.ds)
  if A == nil then fail("%s: the plant is not linear: give model = A", who) end
  A = system.square(A, self.acts:rows(), who, "model")
  if self.sensor.size ~= A:rows() then
    fail("%s: sensor: expected one of the whole state, %d numbers, got %d", who, A:rows(), self.sensor.size)
  end
  local Ad, Ai = system.hold(A, core.eye(A:rows()), h)
  return A, Ad, Ai * self.acts, Ai
end

local Base = {}

-- The output that goes to the plant at present.
function Base:output(simu)
  local s = simu:discrete(self.name)
  return self.stages and s.out or s.u
end

-- The command of the last sample.
function Base:u(simu) return simu:discrete(self.name).u:copy() end

function Base:setB(B)
  self.given_B = B
  return self
end

Base.setBPtr = Base.setB

-- B, with as many rows as the input of the plant.
function controller.find_B(self, who)
  local kind, B = plant.kind(self.sensor.ds, who), self.given_B
  local rows = kind.size(self.sensor.ds)
  if B == nil and rows and kind.direct then B = core.eye(rows) end
  if B == nil then fail("%s: B is missing: how u acts on the plant", who) end
  return system.matrix(B, rows, rows and type(B) == "table" and type(B[1]) == "number" and 1 or nil, who, "B")
end

Base.prepare_input = controller.find_B

-- Checks all options, and makes the law.
function Base:prepare(period, who)
  self.B = self:prepare_input(who)
  self.acts = plant.rates(self.sensor.ds, self.B) -- on the state
  self.law = self.class.prepare(self, period, who)
  self.stages = stages_of(self.options, period, who)
end

-- Adds the clocks of a controller whose plant is ready.
function Base:declare(simu, period, on)
  local law, stages, size = self.law, self.stages, self.B:cols()
  local state = self.class.state and self.class.state(self, size) or {}
  state.u = core.zeros(size)
  local delayed = stages and (stages.k > 0 or stages.rest > 0)
  if stages then state.out = core.zeros(size) end
  if delayed then state.queue, state.last = line.new(stages.k, state.u), core.zeros(size) end
  local source, name = self.sensor, self.name
  simu:every { name = name, period = period, state = state, act = function(t, s, simulation)
    local u = law(t, source:y(simulation), s, simulation)
    if not where.try(s.u.assign, s.u, u) then
      fail("%s: law: expected %d numbers, got %s", name, size,
        type(u) == "table" and "a list of " .. #u or describe(u))
    end
    if stages then
      local v = stage(stages, s.u, delayed and s.last or s.out, period)
      if delayed then
        s.last:assign(v)
        line.push(s.queue, v)
        if stages.rest > 0 then return end
        v = line.last(s.queue, size)
      end
      s.out:assign(v)
    end
    plant.put(on, simulation)
  end }
  if stages and stages.rest > 0 then
    simu:every { name = name .. ".actuator", period = period, offset = simu:nsds():t0() + stages.rest,
      act = function(_, _, simulation)
        local s = simulation:discrete(name)
        s.out:assign(line.last(s.queue, size))
        plant.put(on, simulation)
      end }
  end
end

local function setter_name(option) return "set" .. option:sub(1, 1):upper() .. option:sub(2) end

-- Sets the options that a table names.
local function take_options(self, class, given)
  for key, value in pairs(given) do
    if key == "B" then
      self.given_B = value
    elseif class.options[key] ~= nil or COMMON[key] then
      self.options[key] = value
    else
      local known = lists.keys(lists.copy(class.options, COMMON))
      fail("%s: unknown option '%s' (known: %s)", class.name, tostring(key), "B, " .. table.concat(known, ", "))
    end
  end
end

-- Makes the constructor NAME(sensor [, B] [, options]) of a class. class: { name, options = { option = default or
-- NONE }, first = names of options that may stand behind the sensor in place of B, state(self, m), prepare(self, h,
-- who) }.
controller.NONE = {}

function controller.class(class)
  local methods = {}
  methods.__index, methods.__name = methods, class.name
  for key, f in pairs(Base) do methods[key] = f end
  for option in pairs(class.options) do
    local function set(self, value)
      if getmetatable(self) ~= methods then
        local name = setter_name(option)
        fail("%s: expected a %s before a colon, as in c:%s(...)", name, class.name, name)
      end
      self.options[option] = value
      return self
    end
    methods[setter_name(option)], methods[setter_name(option) .. "Ptr"] = set, set
  end
  for key, f in pairs(class.methods or {}) do methods[key] = f end
  function methods:__tostring() return ("%s '%s'"):format(class.name, self.name or class.name) end
  where.strict(methods, "name B sensor")
  return function(source, ...)
    reject(not (sensor.is(source) or type(source) == "table" and source.is_observer), source,
      "%s: expected a sensor or an observer", class.name)
    local self = setmetatable({ class = class, sensor = source, options = {} }, methods)
    local rest, given = table.pack(...), {}
    if is_options(rest[rest.n]) then given, rest.n = rest[rest.n], rest.n - 1 end
    for key, value in pairs(class.options) do
      if value ~= controller.NONE then self.options[key] = value end
    end
    local first = class.first or { "B" }
    if rest.n > #first then fail("%s: expected a sensor, %s and options", class.name, table.concat(first, ", ")) end
    for i = 1, rest.n do
      if first[i] == "B" then self.given_B = rest[i] else self.options[first[i]] = rest[i] end
    end
    take_options(self, class, given)
    self.name = self.options.name
    return self
  end
end

-- ---- plain laws ----

-- u = law(t, y, s): a law of the script, with its own discrete states.
controller.Actuator = controller.class { name = "Actuator",
  options = { law = controller.NONE, state = controller.NONE },
  state = function(self)
    local state = lists.copy(self.options.state)
    return state
  end,
  prepare = function(self, _, who)
    local law = self.options.law
    expect(law, "function", "%s: law: expected a function law(t, y, s)", who)
    local state = self.options.state
    optional(state, "table", "%s: state: expected a table", who)
    for _, key in ipairs { "u", "out", "queue", "last" } do
      if state and state[key] ~= nil then fail("%s: state: '%s' is one of the controller's own", who, key) end
    end
    return law
  end }

-- The velocity form of a PID controller: differences over the time `deltaT`, the period when it is not given.
controller.PID = controller.class { name = "PID",
  options = { ref = 0, K = controller.NONE, deltaT = controller.NONE },
  state = function() return { e1 = 0, e2 = 0, command = 0 } end,
  prepare = function(self, h, who)
    local K = core.vector(arguments.numbers(self.options.K, 3, who, "K"))
    local d, ref = self.options.deltaT or h, self.options.ref
    if arguments.number(d, who, "deltaT") <= 0 then
      fail("%s: deltaT: expected a number above 0, got %g", who, d)
    end
    local now, before, last = K[1] + K[3] / d + K[2] * d, -K[1] - 2 * K[3] / d, K[3] / d
    return function(t, y, s)
      local target = ref
      if type(ref) == "function" then target = ref(t) end
      if type(target) ~= "userdata" then arguments.number(target, who, "ref") end
      local e = target - y[1]
      local command = s.command + now * e + before * s.e1 + last * s.e2
      s.command, s.e1, s.e2 = command, e, s.e1
      return { command }
    end
  end }

return controller
