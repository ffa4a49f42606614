-- nslua.control.response: what a linear system answers to a step and to sines.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local spectrum = require "nslua.dynamics.spectrum"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local fail, describe, reject = arguments.fail, arguments.describe, arguments.reject

local response = {}

-- The numbers of the input and the output that a response is of.
function response.channel(sys, options, who)
  local input, output = options.input or 1, options.output or 1
  for name, pair in pairs { input = { input, sys.B:cols() }, output = { output, sys.C:rows() } } do
    reject(math.type(pair[1]) ~= "integer" or pair[1] < 1 or pair[1] > pair[2], pair[1],
      "%s: %s: expected a number from 1 to %d", who, name, pair[2])
  end
  return input, output
end

-- ---- in time ----

-- A time after which the slowest mode has fallen by 1000, or an integrator has been seen.
local function long_enough(sys)
  local slowest = math.huge
  for _, pole in ipairs(spectrum.values(sys.A)) do
    local rate, least = math.abs(pole.re), 1e-6 * pole.abs
    if sys.dt then rate, least = pole.abs > 0 and math.abs(math.log(pole.abs)) / sys.dt or 0, 1e-6 / sys.dt end
    if rate > least then slowest = math.min(slowest, rate) end
  end
  return slowest < math.huge and 7 / slowest or sys.dt and 50 * sys.dt or 10
end

-- The instants: a vector of them in equal steps, or the end.
local function instants(sys, T, who)
  if type(T) == "table" or core.isvector(T) then
    local list = arguments.increasing(T, 2, who, "T")
    local h = (list[#list] - list[1]) / (#list - 1)
    for i = 2, #list do
      if math.abs(list[i] - list[i - 1] - h) > 2 ^ -20 * h then fail("%s: T: expected equal steps", who) end
    end
    if sys.dt and math.abs(h - sys.dt) > 2 ^ -20 * h then
      fail("%s: T: expected steps of %g, the period of the system, got %g", who, sys.dt, h)
    end
    return core.vector(list), h
  end
  T = T == nil and long_enough(sys) or arguments.number(T, who, "T")
  if not (T > 0 and T < math.huge) then fail("%s: T: expected an end above 0, got %s", who, describe(T)) end
  local count = sys.dt and math.max(1, math.floor(T / sys.dt + 0.5)) or 200
  local h = sys.dt or T / count
  return core.linspace(0, count * h, count + 1), h
end

-- The outputs after a unit step of one input, from rest: t, and y, a vector for one output, else a matrix with a row
-- for each instant. They are exact at the instants.
function response.step_response(sys, T, options)
  local who = "control.step_response"
  sys = system.of(sys, who)
  options = arguments.options(options, who)
  local input = response.channel(sys, options, who)
  local t, h = instants(sys, T, who)
  local A, B = sys.A, sys.B:slice(1, sys.B:rows(), input, input)
  if not sys.dt then A, B = system.hold(A, B, h) end
  local x, b, d = core.zeros(A:rows()), B:column(1), sys.D:column(input)
  local y = core.zeros(#t, sys.C:rows())
  for k = 1, #t do
    y:row(k):assign(sys.C * x + d)
    x = A * x + b
  end
  return t, y:cols() == 1 and y:column(1):copy() or y
end

-- ---- in frequency ----

-- Real and imaginary part of C (s I - A)^-1 b + d.
local function value(sys, re, im, b, c, d)
  local n = sys.A:rows()
  local one = core.eye(n)
  local M = core.block { { re * one - sys.A, -im * one }, { im * one, re * one - sys.A } }
  local good, x = where.try(core.solve, M, core.concatenate { b, core.zeros(n) })
  if not good then return math.huge, 0 end -- a pole
  return c:dot(x:slice(1, n)) + d, c:dot(x:slice(n + 1, 2 * n))
end

-- From a tenth of the slowest pole to ten times the fastest one; up to half the sampling rate.
local function frequencies(sys)
  local low, high = math.huge, 0
  for _, pole in ipairs(spectrum.values(sys.A)) do
    local size = pole.abs
    if sys.dt and size > 0 then size = math.sqrt(math.log(size) ^ 2 + math.atan(pole.im, pole.re) ^ 2) / sys.dt end
    if size > 0 then low, high = math.min(low, size), math.max(high, size) end
  end
  if high == 0 then low, high = 1, 1 end
  low, high = low / 10, 10 * high
  if sys.dt then high = math.pi / sys.dt end
  local omega = core.zeros(200)
  for k = 1, 200 do omega[k] = math.min(low, high / 100) * (high / math.min(low, high / 100)) ^ ((k - 1) / 199) end
  return omega
end

-- Real and imaginary parts at the frequencies.
function response.values(sys, omega, options, who)
  local input, output = response.channel(sys, options, who)
  omega = omega == nil and frequencies(sys) or core.vector(arguments.increasing(omega, 1, who, "omega"))
  local re, im = core.zeros(#omega), core.zeros(#omega)
  local b, c, d = sys.B:column(input), sys.C:row(output), sys.D[output][input]
  for k = 1, #omega do
    local angle = sys.dt and omega[k] * sys.dt
    re[k], im[k] = value(sys, angle and math.cos(angle) or 0, angle and math.sin(angle) or omega[k], b, c, d)
  end
  return re, im, omega
end

-- Gain and phase (radians, without jumps of 2 pi) of one output by one input, and the frequencies (radians per unit
-- of time).
function response.frequency_response(sys, omega, options)
  local who = "control.frequency_response"
  sys = system.of(sys, who)
  options = arguments.options(options, who)
  local re, im
  re, im, omega = response.values(sys, omega, options, who)
  local gain, phase = core.zeros(#omega), core.zeros(#omega)
  for k = 1, #omega do
    gain[k], phase[k] = math.sqrt(re[k] ^ 2 + im[k] ^ 2), math.atan(im[k], re[k])
    if k > 1 then phase[k] = phase[k] - 2 * math.pi * math.floor((phase[k] - phase[k - 1]) / (2 * math.pi) + 0.5) end
  end
  return gain, phase, omega
end

return response
