-- nslua.control.sensor: what a controller sees of a plant: y = C x + D z, with delay, noise, quantisation and
-- drop-outs.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local line = require "nslua.control.line"
local plant = require "nslua.control.plant"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local optional, reject = arguments.optional, arguments.reject

local sensor = {}

local Sensor = { __name = "sensor" }
Sensor.__index = Sensor

function sensor.LinearSensor(ds, C, D, options)
  local who = "LinearSensor"
  if options == nil and type(D) == "table" and #D == 0 then D, options = nil, D end
  options = arguments.options(options, who)
  plant.kind(ds, who)
  local n = #where.pass(plant.state, ds)
  C = C == nil and core.eye(n) or system.matrix(C, nil, n, who, "C")
  local p = C:rows()
  if D ~= nil then D = system.matrix(D, p, ds:z() and #ds:z() or 0, who, "D") end
  local dropout = options.dropout or 0
  reject(not (arguments.number(dropout, who, "dropout") >= 0 and dropout < 1), dropout,
    "%s: dropout: expected a probability below 1", who)
  optional(options.name, "string", "%s: name: expected a string", who)
  arguments.integer(options.seed or 0, 0, who, "seed")
  return setmetatable({ ds = ds, C = C, D = D, size = p, name = options.name, delay = options.delay,
    noise = options.noise and system.sizes(options.noise, p, who, "noise"),
    steps = options.quantisation and system.sizes(options.quantisation, p, who, "quantisation"),
    dropout = dropout, seed = options.seed or 0 }, Sensor)
end

local function measure(self, s)
  local y = self.C * plant.state(self.ds)
  if self.D then y = y + self.D * self.ds:z() end
  for i = 1, self.size do
    if self.noise then y[i] = y[i] + self.noise[i] * s.noise:normal() end
    if self.steps and self.steps[i] > 0 then y[i] = math.floor(y[i] / self.steps[i] + 0.5) * self.steps[i] end
  end
  return y
end

-- Adds the clocks of a sensor to a simulation.
function Sensor:declare(simu, period, who)
  local k, rest = line.split(self.delay, period, who)
  local t0 = simu:nsds():t0()
  local first = self.C * plant.state(self.ds)
  local name, size, dropout = self.name, self.size, self.dropout
  local sampler = rest > 0 and name .. ".sampler" or name
  local sampling = { noise = self.noise and core.rng(self.seed) or nil }
  local publishing = { y = first, luck = dropout > 0 and core.rng(self.seed, 1) or nil }
  local queued = k > 0 or rest > 0
  if queued then sampling.queue = line.new(k, first) end
  if rest > 0 then
    simu:every { name = sampler, period = period, offset = t0 + period - rest, state = sampling, act = function(_, s)
      line.push(s.queue, measure(self, s))
    end }
  else
    for key, value in pairs(sampling) do publishing[key] = value end
  end
  simu:every { name = name, period = period, state = publishing, act = function(_, s, simulation)
    local from = rest > 0 and simulation:discrete(sampler) or s
    local y = rest == 0 and measure(self, s)
    if queued and y then line.push(s.queue, y) end
    if dropout > 0 and s.luck:uniform() < dropout then return end
    s.y:assign(queued and line.last(from.queue, size) or y)
  end }
end

function Sensor:y(simu) return simu:discrete(self.name).y:copy() end

function Sensor:__tostring() return ("sensor with %d outputs"):format(self.size) end

where.strict(Sensor, "name C D")

function sensor.is(value) return getmetatable(value) == Sensor end

return sensor
