-- nslua.driveline.motions: the motions of sources: position(t), speed(t), acceleration(t). A speed that has no
-- integral in closed form has no position(t): it is a state of the model.

local arguments = require "nslua.base.arguments"
local values = require "nslua.network.values"

local fail = arguments.fail

local motions = {}

local function none() return {} end

-- The first derivatives of a function of time, exactly.
local function derivatives(ns, f)
  local function of_list(x) return f(x[1]) end
  return function(t) return ns.gradient(of_list, { t })[1] end,
    function(t) return ns.hessian(of_list, { t })[1][1] end
end

-- A sine: its function, derivative, second derivative and integral.
local function sine(value, f, slope)
  local w, offset = 2 * math.pi * value.frequency, value.offset or 0
  return f, slope, function(t) return -w * w * (f(t) - offset) end,
    function(t) return offset * t - slope(t) / (w * w) end
end

-- Lines between points: slope and integral, constant beyond them.
local function lines(value, f)
  local xs, sums = value.times, { 0 }
  for i = 2, #xs do sums[i] = sums[i - 1] + (f(xs[i - 1]) + f(xs[i])) / 2 * (xs[i] - xs[i - 1]) end
  local function piece(t)
    local i = 0
    while i < #xs and xs[i + 1] <= t do i = i + 1 end
    return i
  end
  return function(t)
    local i = piece(t)
    return i > 0 and i < #xs and (f(xs[i + 1]) - f(xs[i])) / (xs[i + 1] - xs[i]) or 0
  end, function(t)
    local i = piece(t)
    if i == 0 then return f(xs[1]) * (t - xs[1]) end
    return sums[i] + (f(xs[i]) + f(t)) / 2 * (t - xs[i])
  end
end

-- A motion by its speed: a number, a function, a sine or lines.
function motions.by_speed(ns, value, who)
  local f, slope, corners = values.read(value, who)
  if type(f) == "number" then
    return { position = function(t) return f * t end, speed = function() return f end,
      acceleration = function() return 0 end }, none
  end
  if type(value) == "function" then return { speed = f, acceleration = (derivatives(ns, f)) }, none end
  if slope then
    local _, acceleration, _, position = sine(value, f, slope)
    return { position = position, speed = f, acceleration = acceleration }, none
  end
  if value.times == nil then fail("%s: expected a number, a function, a sine or lines, got a pulse", who) end
  local acceleration, position = lines(value, f)
  return { position = position, speed = f, acceleration = acceleration }, corners
end

-- A motion by its position: a function or a sine.
function motions.by_position(ns, value, who)
  local f, slope = values.read(value, who)
  if type(value) == "function" then
    local speed, acceleration = derivatives(ns, f)
    return { position = f, speed = speed, acceleration = acceleration }
  end
  if type(f) == "number" then
    return { position = function() return f end, speed = function() return 0 end,
      acceleration = function() return 0 end }
  end
  if not slope then fail("%s: expected a number, a function or a sine: lines and pulses have corners", who) end
  local position, speed, acceleration = sine(value, f, slope)
  return { position = position, speed = speed, acceleration = acceleration }
end

return motions
