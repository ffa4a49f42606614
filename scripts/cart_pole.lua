-- A pendulum on a cart between two stops is swung up and balanced by a sampled controller.
--
--   (M + m) x'' + m l (a'' cos a - a'^2 sin a) = F,   l a'' + x'' cos a - g sin a = 0,   |x| <= w
--
-- a is the angle from the top. At a stop the cart rebounds with the restitution e. Far from the top the controller
-- gives the pendulum energy (Astroem and Furuta, Automatica 36, 2000), F = F_max sign((E - E_top) a' cos a) with a
-- part that leads the cart back to the middle; near it, by an LQR that is designed at the top. M = 1, m = 0.2, l =
-- 0.5, g = 9.81.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Swing-up of a pendulum on a cart between stops.",
  { "h", default = 0.01, above = 0, max = 0.1, help = "period of the controller" },
  { "w", default = 0.6, above = 0.05, max = 10, help = "the cart moves between -w and w" },
  { "e", default = 0.5, min = 0, max = 1, help = "restitution at the stops" },
  { "T", default = 12, min = 1, max = 100, help = "end of the run" },
  pictures.motion, pictures.option,
})
local M, m, l, g, most = 1, 0.2, 0.5, 9.81, 8

local cart = ns.LagrangianDS { q0 = { 0, math.pi - 0.05 }, v0 = { 0, 0 },
  mass = function(q, z, mass)
    mass[1][1], mass[1][2], mass[2][1], mass[2][2] = M + m, m * l * math.cos(q[2]), m * l * math.cos(q[2]), m * l * l
  end,
  fGyr = function(q, v, z, f)
    f[1], f[2] = -m * l * v[2] ^ 2 * math.sin(q[2]), -m * g * l * math.sin(q[2])
  end }
cart:setFExtPtr { 0, 0 }
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(cart)
local K = ns.control.lqr(ns.dynamics.linearise { nsds = nsds, at = { q = { 0, 0 }, x = { 0, 0, 0, 0 } },
  inputs = { { cart, "fExt", 1 } } }, ns.diag { 4, 20, 1, 1 }, 0.2)
for i, name in ipairs { "right", "left" } do
  local side = i == 1 and -1 or 1
  local relation = ns.LagrangianLinearTIR({ { side, 0 } }, { opt.w })
  nsds:link(ns.Interaction(ns.NewtonImpactNSL(opt.e), relation, name), cart)
end
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, opt.h), ns.RungeKuttaOSI())

local function law(_, y)
  local x, a, v, w = y[1], y[2] - 2 * math.pi * math.floor(y[2] / (2 * math.pi) + 0.5), y[3], y[4]
  if math.abs(a) < 0.4 and math.abs(w) < 4 then return K * ns.vector { x, a, v, w } * -1 end
  local energy = 0.5 * m * l * l * w * w + m * g * l * (math.cos(a) - 1)
  return { most * math.max(-1, math.min(1, 3 * energy * w * math.cos(a))) - 6 * x - 2 * v }
end

local manager, sensor = ns.ControlManager(simu), ns.LinearSensor(cart)
manager:addSensor(sensor, opt.h)
manager:addActuator(ns.Actuator(sensor, { 1, 0 }, { law = law, saturation = most, name = "motor" }), opt.h)
local sol = simu:run()
local last, impacts, up = #sol, 0, nil
for _, event in ipairs(sol.events) do impacts = impacts + (event.kind == "impact" and 1 or 0) end
for k = last, 1, -1 do
  if math.abs(math.cos(sol.q2[k]) - 1) > 0.01 then
    up = sol.t[k]
    break
  end
end
print("gain " .. tostring(K))
print(("%d impacts at the stops; the pendulum is up from t = %.3f on"):format(impacts, up or 0))
print(("at the end x = %.6f, cos a = %.9f"):format(sol.q1[last], math.cos(sol.q2[last])))

pictures.draw(opt.plot, {
  run = function(plot)
    local fig, axes = plot.subplots(3, 1, { figsize = { 7, 7 } })
    axes[1]:plot(sol.t, sol.q1):axhline(opt.w, { linestyle = "--" }):axhline(-opt.w, { linestyle = "--" })
    axes[1]:ylabel("$x$"):title "Swing-up between two stops"
    axes[2]:plot(sol.t, sol.q2):ylabel "$a$"
    axes[3]:plot(sol.t, sol["motor.out[1]"]):ylabel("$F$"):xlabel "$t$"
    return fig
  end,
})

pictures.animate(opt.animate, function()
  local rows = {}
  for i = 1, last do rows[i] = { i, sol.t[i], sol.q1[i], sol.q2[i], sol["motor.out[1]"][i] } end
  return {
    frames = pictures.frames(rows, 60), title = "Swing-up of a pendulum on a cart between stops",
    background = function(canvas)
      canvas:ground(-opt.w - 0.2, 0, opt.w + 0.2, 0)
      for _, side in ipairs { -1, 1 } do
        canvas:rectangle(side * (opt.w + 0.15), 0.1, 0.1, 0.2, { fill = "muted" })
      end
    end,
    draw = function(row, canvas)
      local x, a = row[3], row[4]
      canvas:rectangle(x, 0.1, 0.2, 0.12, { fill = "blue", color = "ink" })
      canvas:line(x, 0.1, x + l * math.sin(a), 0.1 + l * math.cos(a), { linewidth = 4 })
      canvas:circle(x + l * math.sin(a), 0.1 + l * math.cos(a), 0.04, { fill = "orange" })
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "x", { label = "x", y = pictures.column(rows, 3) } },
      { ylabel = "F", { label = "F", y = pictures.column(rows, 5), step = true } } } },
  }
end)
