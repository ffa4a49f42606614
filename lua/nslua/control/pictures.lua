-- nslua.control.pictures: Bode, Nyquist, root locus, step. Each returns a figure.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local plot = require "nslua.plot"
local response = require "nslua.control.response"
local spectrum = require "nslua.dynamics.spectrum"
local system = require "nslua.control.system"

local fail, describe = arguments.fail, arguments.describe

local pictures = {}

-- The options of a picture: those of the figure, and the others.
local function split(options, who)
  options = arguments.options(options, who)
  return { figsize = options.figsize, dpi = options.dpi }, options
end

function pictures.bode_plot(sys, options)
  local who = "control.bode_plot"
  local figure, own = split(options, who)
  sys = system.of(sys, who)
  local gain, phase, omega = response.frequency_response(sys, own.omega, { input = own.input, output = own.output })
  local db, degrees = core.zeros(#omega), phase * (180 / math.pi)
  for k = 1, #omega do db[k] = 20 * math.log(gain[k], 10) end
  local fig, axes = plot.subplots(2, 1, figure)
  axes[1]:semilogx(omega, db):ylabel("Gain (dB)"):grid(true)
  if own.title then axes[1]:title(own.title) end
  axes[2]:semilogx(omega, degrees)
    :xlabel(sys.dt and "Frequency (rad per time, sampled)" or "Frequency (rad per time)")
    :ylabel("Phase (degrees)"):grid(true)
  return fig
end

function pictures.nyquist_plot(sys, options)
  local who = "control.nyquist_plot"
  local figure, own = split(options, who)
  sys = system.of(sys, who)
  local re, im = response.values(sys, own.omega, own, who)
  local fig = plot.figure(figure)
  local axes = fig:add_subplot(1, 1, 1)
  axes:plot(re, im, { label = "positive frequencies" }):plot(re, im * -1, "--", { label = "negative frequencies" })
  axes:plot({ -1 }, { 0 }, "+", { color = "black", markersize = 10, label = "-1" })
  axes:xlabel("Real part"):ylabel("Imaginary part"):grid(true):legend()
  if own.title then axes:title(own.title) end
  return fig
end

-- Gains from small to large against the entries of A and B C.
local function gains_of(sys, b, c)
  local n = sys.A:rows()
  local loop, size = 0, sys.A:norm()
  for i = 1, n do
    for j = 1, n do loop = loop + (b[i] * c[j]) ^ 2 end
  end
  local unit = size > 0 and loop > 0 and size / math.sqrt(loop) or 1
  local list = { 0 }
  for k = 0, 400 do list[#list + 1] = unit * 10 ^ (-3 + 5 * k / 400) end
  return list
end

-- The poles of the loop u = -k y for each gain k.
function pictures.root_locus(sys, gains, own, who)
  local input, output = response.channel(sys, own, who)
  local b, c, d = sys.B:column(input), sys.C:row(output), sys.D[output][input]
  gains = gains == nil and gains_of(sys, b, c) or arguments.numbers(gains, nil, who, "gains")
  local list = {}
  for _, k in ipairs(gains) do
    if 1 + k * d == 0 then fail("%s: gains: at %s the loop has no solution: 1 + k D is 0", who, describe(k)) end
    list[#list + 1] = spectrum.values(sys.A - (b * (k / (1 + k * d))):outer(c))
  end
  return list, gains
end

function pictures.root_locus_plot(sys, options)
  local who = "control.root_locus_plot"
  local figure, own = split(options, who)
  sys = system.of(sys, who)
  local list = pictures.root_locus(sys, own.gains, own, who)
  local re, im, re0, im0 = {}, {}, {}, {}
  for k, poles in ipairs(list) do
    for _, pole in ipairs(poles) do
      re[#re + 1], im[#im + 1] = pole.re, pole.im
      if k == 1 then re0[#re0 + 1], im0[#im0 + 1] = pole.re, pole.im end
    end
  end
  local fig = plot.figure(figure)
  local axes = fig:add_subplot(1, 1, 1)
  axes:plot(re, im, ".", { markersize = 3 })
  axes:plot(re0, im0, "x", { color = "black", markersize = 9, label = "first gain" })
  axes:xlabel("Real part"):ylabel("Imaginary part"):grid(true):legend()
  if own.title then axes:title(own.title) end
  return fig
end

function pictures.step_plot(sys, options)
  local who = "control.step_plot"
  local figure, own = split(options, who)
  sys = system.of(sys, who)
  local t, y = response.step_response(sys, own.T, { input = own.input })
  local fig = plot.figure(figure)
  local axes = fig:add_subplot(1, 1, 1)
  local draw = sys.dt and axes.step or axes.plot
  local count = core.ismatrix(y) and y:cols() or 1
  for i = 1, count do
    draw(axes, t, core.ismatrix(y) and y:column(i) or y, { label = ("$y_{%d}$"):format(i) })
  end
  axes:xlabel("Time"):ylabel("Step response"):grid(true)
  if count > 1 then axes:legend() end
  if own.title then axes:title(own.title) end
  return fig
end

return pictures
