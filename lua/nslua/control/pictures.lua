-- nslua.control.pictures: Bode, Nyquist, root locus, step. Each returns a figure.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local plot = require "nslua.plot"
local response = require "nslua.control.response"
local spectrum = require "nslua.dynamics.spectrum"
local system = require "nslua.control.system"
local where = require "nslua.base.where"

local fail, describe = arguments.fail, arguments.describe

local pictures = {}

-- The system and the options of a picture, its figure and, for one axes, these.
local function begin(sys, options, who, rows)
  options = arguments.options(options, who)
  local fig, axes = where.pass(plot.subplots, rows or 1, 1, { figsize = options.figsize, dpi = options.dpi })
  local first = rows and axes[1] or axes
  if options.title then first:title(options.title) end
  return system.of(sys, who), options, fig, axes
end

function pictures.bode_plot(sys, options)
  local own, fig, axes
  sys, own, fig, axes = begin(sys, options, "control.bode_plot", 2)
  local gain, phase, omega = response.frequency_response(sys, own.omega, { input = own.input, output = own.output })
  axes[1]:semilogx(omega, gain:map(function(g) return 20 * math.log(g, 10) end)):ylabel("Gain (dB)"):grid(true)
  axes[2]:semilogx(omega, phase * (180 / math.pi)):ylabel("Phase (degrees)"):grid(true)
    :xlabel(sys.dt and "Frequency (rad per time, sampled)" or "Frequency (rad per time)")
  return fig
end

function pictures.nyquist_plot(sys, options)
  local own, fig, axes
  sys, own, fig, axes = begin(sys, options, "control.nyquist_plot")
  local re, im = response.values(sys, own.omega, own, "control.nyquist_plot")
  axes:plot(re, im, { label = "positive frequencies" }):plot(re, im * -1, "--", { label = "negative frequencies" })
  axes:plot({ -1 }, { 0 }, "+", { color = "black", markersize = 10, label = "-1" })
  axes:xlabel("Real part"):ylabel("Imaginary part"):grid(true):legend()
  return fig
end

-- Gains from small to large against the entries of A and B C.
local function gains_of(sys, b, c)
  local loop, size, list = b:outer(c):norm(), sys.A:norm(), { 0 }
  local unit = size > 0 and loop > 0 and size / loop or 1
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
  local own, fig, axes
  sys, own, fig, axes = begin(sys, options, "control.root_locus_plot")
  local list = pictures.root_locus(sys, own.gains, own, "control.root_locus_plot")
  local re, im, re0, im0 = {}, {}, {}, {}
  for k, poles in ipairs(list) do
    for _, pole in ipairs(poles) do
      re[#re + 1], im[#im + 1] = pole.re, pole.im
      if k == 1 then re0[#re0 + 1], im0[#im0 + 1] = pole.re, pole.im end
    end
  end
  axes:plot(re, im, ".", { markersize = 3 })
  axes:plot(re0, im0, "x", { color = "black", markersize = 9, label = "first gain" })
  axes:xlabel("Real part"):ylabel("Imaginary part"):grid(true):legend()
  return fig
end

function pictures.step_plot(sys, options)
  local own, fig, axes
  sys, own, fig, axes = begin(sys, options, "control.step_plot")
  local t, y = response.step_response(sys, own.T, { input = own.input })
  if core.isvector(y) then y = y:column() end
  for i = 1, y:cols() do
    axes[sys.dt and "step" or "plot"](axes, t, y:column(i), { label = ("$y_{%d}$"):format(i) })
  end
  axes:xlabel("Time"):ylabel("Step response"):grid(true)
  if y:cols() > 1 then axes:legend() end
  return fig
end

return pictures
