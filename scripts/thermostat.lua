-- A thermostat: a heater that is switched on at T_low and off at T_high.
--
--   T' = -(T - Ta) / tau + P s,   s = 1 from T = T_low to T = T_high, 0 on the way back
--
-- The state s of the heater is a discrete state of two events, so that the motion can be run again, cloned, kept in a
-- checkpoint. In the cycle the heater is on for tau ln((Th - T_low) / (Th - T_high)), Th = Ta + tau P, and off for
-- tau ln((T_high - Ta) / (T_low - Ta)).

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A thermostat with hysteresis.",
  { "low", default = 19, above = 5, max = 30, help = "temperature at which the heater goes on" },
  { "high", default = 21, above = 5, max = 30, help = "temperature at which it goes off" },
  { "days", default = 1, above = 0, max = 30, help = "end of the run" },
  pictures.motion, pictures.option,
})
local Ta, tau, P = 5, 4, 8 -- degrees, hours, degrees per hour
if opt.low >= opt.high then
  io.stderr:write "thermostat.lua: --low must be below --high\n"
  os.exit(2, true)
end

local room = ns.FirstOrderLinearTIDS({ 12 }, { { -1 / tau } }, { Ta / tau })
local nsds = ns.NonSmoothDynamicalSystem(0, 24 * opt.days)
nsds:insertDynamicalSystem(room)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 24 * opt.days / 200), ns.RungeKuttaOSI())
local heat = simu:addEvent { name = "off", direction = "up", g = function(_, x) return x[1] - opt.high end,
  state = { b = { Ta / tau + P } }, action = function(_, s) s.b[1] = Ta / tau end }
simu:addEvent { name = "on", direction = "down", g = function(_, x) return x[1] - opt.low end,
  action = function(simulation) simulation:discrete("off").b[1] = Ta / tau + P end }
room:setbPtr(heat.b)
local sol = simu:run()

local times, on, off = { on = {}, off = {} }, 0, 0
for _, event in ipairs(sol.events) do
  if times[event.name] then table.insert(times[event.name], event.t) end
end
for k, t in ipairs(times.on) do
  off = t - times.off[k]
  if times.off[k + 1] then on = times.off[k + 1] - t end
end
print(("%d cycles; the heater is on for %.9f h, off for %.9f h"):format(#times.on, on, off))

pictures.draw(opt.plot, {
  run = function(plot)
    local fig, axes = plot.subplots(2, 1, { figsize = { 7, 5 } })
    axes[1]:plot(sol.t, sol.x1):axhline(opt.low, { linestyle = "--" }):axhline(opt.high, { linestyle = "--" })
    axes[1]:ylabel("temperature"):title "Thermostat"
    axes[2]:plot(sol.t, sol["off.b[1]"] - Ta / tau):xlabel("hours"):ylabel "heating"
    return fig
  end,
})

-- A thermometer, and the heater below it.
pictures.animate(opt.animate, function()
  local rows = {}
  for i = 1, #sol do rows[i] = { i, sol.t[i], sol.x1[i], sol["off.b[1]"][i] > Ta / tau and 1 or 0 } end
  return {
    frames = pictures.frames(rows, 20), title = "Thermostat", speed = 2,
    draw = function(row, canvas)
      local height = (row[3] - 10) / 4
      canvas:rectangle(0, 2, 0.6, 4, { color = "ink" })
      canvas:rectangle(0, height / 2, 0.5, math.max(height, 0.01), { fill = "orange" })
      for _, at in ipairs { opt.low, opt.high } do canvas:line(-0.5, (at - 10) / 4, 0.5, (at - 10) / 4) end
      canvas:circle(0, -0.6, 0.4, { fill = row[4] > 0 and "orange" or "muted" })
      canvas:text(1.2, 2, ("%.1f"):format(row[3]))
    end,
    plot = { t = pictures.column(rows, 2), panels = {
      { ylabel = "temperature", { label = "room", y = pictures.column(rows, 3) } },
      { ylabel = "heater", { label = "on", y = pictures.column(rows, 4), step = true } } } },
  }
end)
