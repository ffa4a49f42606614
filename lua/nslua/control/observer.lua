-- nslua.control.observer: estimates of the state from a sensor: x^' = A x^ + b + B u + L e, e = C x^ - y, sampled
-- with held e and u.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local plant = require "nslua.control.plant"
local sensor = require "nslua.control.sensor"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local fail, describe = arguments.fail, arguments.describe

local observer = {}

local Observer = { __name = "observer", is_observer = true }
Observer.__index = Observer

-- correct(self, s, y, move, Lo): one sample; move(x) is the model's step with the input since the last one.
local function make(class, correct)
  return function(source, start, C, L, options)
    if not sensor.is(source) then fail("%s: expected a sensor, got %s", class, describe(source)) end
    options = arguments.options(options, class)
    local A = options.model or plant.matrix(source.ds)
    if A == nil then fail("%s: the plant is not linear: give model = A", class) end
    A = system.square(A, nil, class, "model")
    local n = A:rows()
    if C == nil then C = source.C end
    local self = { class = class, sensor = source, ds = source.ds, size = n, correct = correct, name = options.name,
      A = A, C = system.matrix(C, source.size, n, class, "C"), L = system.matrix(L, n, source.size, class, "L"),
      start = core.vector(arguments.numbers(start, n, class, "xhat0")) }
    return setmetatable(self, Observer)
  end
end

-- Adds the clock of an observer.
function Observer:declare(simu, period, link)
  local source = self.sensor
  local Ad, Ai = system.hold(self.A, core.eye(self.size), period)
  local Lo, C, correct = Ai * self.L, self.C, self.correct
  local own = plant.constant(self.ds):column(1)
  local rates
  local state = { x = self.start, e = core.zeros(source.size), y = core.zeros(source.size), begun = 0 }
  simu:every { name = self.name, period = period, state = state, act = function(_, s, simulation)
    local y = source:y(simulation)
    local function move(x)
      if not link.on then return Ad * x + Ai * own end
      rates = rates or plant.rates(self.ds, core.eye(link.on.size))
      return Ad * x + Ai * (own + rates * plant.forced(link.on, simulation))
    end
    correct(s, y, C, Lo, move)
    s.y:assign(y)
    s.begun = 1
  end }
end

function Observer:y(simu) return simu:discrete(self.name).x:copy() end

function Observer:__tostring() return ("%s of %d states"):format(self.class, self.size) end

where.strict(Observer, "name")

-- With the error of the last sample.
observer.LuenbergerObserver = make("LuenbergerObserver", function(s, _, C, Lo, move)
  if s.begun < 0.5 then return end
  local e = C * s.x - s.y
  s.x:assign(move(s.x) + Lo * e)
  s.e:assign(e)
end)

-- With the error of this sample; the first estimate is moved, by as little as possible, to where it explains the
-- measurement.
observer.SlidingReducedOrderObserver = make("SlidingReducedOrderObserver", function(s, y, C, Lo, move)
  if s.begun < 0.5 then
    local e = C * s.x - y
    s.x:assign(s.x - core.lstsq(C, e))
    s.e:assign(e)
    return
  end
  local x = move(s.x)
  local e = C * x - y
  s.x:assign(x + Lo * e)
  s.e:assign(e)
end)

return observer
