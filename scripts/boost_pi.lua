-- A boost converter with a sampled PI controller of its voltage, through a change of the load: the current comes to
-- rest in each period (discontinuous conduction) when the load is light.
--
--   L i' = V - (1 - s) u + lambda,   C u' = (1 - s) i - u / R,   0 <= i _|_ lambda >= 0 (the diode)
--
-- s = 1, the switch is closed, while the duty d is above a saw-tooth of the period T. The controller samples u at the
-- start of each period: e = U - u, d = Kp e + Ki sum(e) T, within [0, 0.8]. V = 5, U = 12, L = 2e-5, C = 1e-4,
-- T = 2e-5; R is 10, and 40 from the half of the run on. In rest d = 1 - V / U with the current flowing, else
-- d = sqrt(2 L / (R T) (U / V) (U / V - 1)), to the ripple of u.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A boost converter with a sampled PI controller.",
  { "kp", default = 0.001, min = 0, max = 1, help = "proportional gain" },
  { "ki", default = 15, min = 0, max = 1000, help = "integral gain" },
  { "periods", default = 1600, min = 10, max = 10000, help = "length of the run" },
  pictures.motion, pictures.option,
})
local V, U, L, C, T = 5, 12, 2e-5, 1e-4, 2e-5
local last = opt.periods * T

local function matrix(R) return { { 0, -1 / L }, { 1 / C, -1 / (R * C) } } end

local circuit = ns.FirstOrderLinearTIDS({ 1.42, 12 }, matrix(10), { V / L, 0 })
local saw = ns.sawtooth { period = T }
local switch = ns.FirstOrderNonLinearR {
  h = function(t, _, _, z, y) y[1] = saw(t) - z[1] end,
  g = function(_, x, lambda, _, r) r[1], r[2] = lambda[1] * x[2] / L, -lambda[1] * x[1] / C end,
}
switch:setz { 0 }
local diode = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 / L }, { 0 } })
local nsds = ns.NonSmoothDynamicalSystem(0, last)
nsds:insertDynamicalSystem(circuit)
nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), switch, "switch"), circuit)
nsds:link(ns.Interaction(ns.ComplementarityConditionNSL(1), diode, "diode"), circuit)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, T), ns.RungeKuttaOSI())
ns.follow(simu, saw)
local pi = simu:every { name = "pi", period = T, state = { d = { 1 - V / U }, integral = 1 - V / U },
  act = function(_, s)
    local e = U - circuit:x()[2]
    s.integral = math.max(0, math.min(0.8, s.integral + opt.ki * e * T))
    s.d[1] = math.max(0, math.min(0.8, opt.kp * e + s.integral))
  end }
simu:every { name = "load", period = 2 * last, offset = last / 2, act = function() circuit:setA(matrix(40)) end }
switch:setzPtr(pi.d)
local sol = simu:run()

-- Duty and mean voltage in the last ten periods before a time; the shortest current there.
local function around(t)
  local count, d, u, least = 0, 0, 0, math.huge
  for k = 1, #sol do
    if sol.t[k] > t - 10 * T and sol.t[k] < t then
      count, d, u, least = count + 1, d + sol["pi.d[1]"][k], u + sol.x2[k], math.min(least, sol.x1[k])
    end
  end
  return d / count, u / count, least
end
print(("R = 10:  d = %.5f, u = %.4f, least current %.4f"):format(around(last / 2)))
print(("R = 40:  d = %.5f, u = %.4f, least current %.4f"):format(around(last)))

pictures.draw(opt.plot, {
  run = function(plot)
    local fig, axes = plot.subplots(3, 1, { figsize = { 7, 7 } })
    axes[1]:plot(sol.t, sol.x2):ylabel("$u$"):title "Boost converter with a sampled PI controller"
    axes[2]:plot(sol.t, sol.x1):ylabel "$i$"
    axes[3]:plot(sol.t, sol["pi.d[1]"]):ylabel("$d$"):xlabel "$t$"
    return fig
  end,
})

-- Current and voltage in their plane, the voltage and the duty in time.
pictures.animate(opt.animate, function()
  local rows = {}
  for i = 1, #sol do rows[i] = { i, sol.t[i], sol.x1[i], sol.x2[i], sol["pi.d[1]"][i] } end
  return {
    frames = pictures.frames(rows, 60 / (20 * T)), title = "Boost converter with a sampled PI controller",
    speed = 20 * T, axes = true, xlabel = "i", ylabel = "u",
    draw = function(row, canvas)
      canvas:trace("state", row[3], row[4], { color = "blue" })
      canvas:point(row[3], row[4], { color = "orange" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "u", { label = "u", y = pictures.column(rows, 4) } },
      { ylabel = "duty", { label = "d", y = pictures.column(rows, 5), step = true } } } },
  }
end)
