-- Twisting control of an unstable plant of second order, sampled: explicit, and implicit in two ways.
--
--   x' = [0 1; 19 -2] x + [0 0; G G beta] u,   x(0) = (-15, 20),   G = 300, beta = 0.2, h = 0.05
--
-- explicit:  u_i = -sign(x_i) at the sample;
-- regular:   -F in the normal cone at u of the square |u_i| <= 1, where F = Ad x + Bd u is the next state;
-- twisting:  the same, in the polygon |u_1| <= 1, |u_2 - u_1 h / 2| <= 1.
--
-- Model and numbers are those of a test of Siconos; the laws are in Huber, Acary, Brogliato and Plestan, Control
-- Eng. Practice 46, 2016.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Explicit and implicit twisting control.",
  { "h", default = 0.05, above = 0, max = 0.2, help = "period of the controller" },
  { "T", default = 20, min = 1, max = 100, help = "end of the run" },
  pictures.motion, pictures.option,
})

local function run(class)
  local plant = ns.FirstOrderLinearTIDS({ -15, 20 }, { { 0, 1 }, { 19, -2 } })
  local sim, sensor = ns.ControlZOHSimulation(0, opt.T, opt.h), ns.LinearSensor(plant)
  sim:addDynamicalSystem(plant)
  sim:addSensor(sensor, opt.h)
  sim:addActuator(ns[class](sensor, 300, 0.2, { name = "twisting" }), opt.h)
  return sim:run()
end

local runs, classes = {}, { "ExplicitTwisting", "RegularTwisting", "Twisting" }
for _, class in ipairs(classes) do
  local sol = run(class)
  local last, rest = #sol, 0
  for k = 1, last do
    if sol.t[k] >= 0.8 * opt.T then rest = math.max(rest, sol.x[k]:norm()) end
  end
  runs[class] = sol
  print(("%-17s x(%g) = (%.12f, %.12f), |x| <= %.4f in the end"):format(class, sol.t[last], sol.x1[last],
    sol.x2[last], rest))
end

pictures.draw(opt.plot, {
  portrait = function(plot)
    local fig = plot.figure { figsize = { 6, 5 } }
    local axes = fig:add_subplot(1, 1, 1)
    for i, class in ipairs(classes) do
      axes:plot(runs[class].x1, runs[class].x2, { label = class, color = "C" .. i - 1 })
    end
    axes:xlabel("$x_1$"):ylabel("$x_2$"):title("Twisting"):grid(true):legend()
    return fig
  end,
})

-- The states in their plane.
pictures.animate(opt.animate, function()
  return pictures.plane("Twisting: explicit, regular, implicit", {
    runs.ExplicitTwisting, runs.RegularTwisting, runs.Twisting })
end)
