-- A gear shift under load: an engine, a planetary gear with a brake (first gear) and a clutch (second), a vehicle.
--
--   (1 + k) w_c = w_s + k w_r      sun s: the engine, carrier c: the shaft to the wheel, ring r; k = 2
--
-- First gear: the brake holds the ring, w_c = w_s / (1 + k). Second: the clutch locks sun and carrier, w_c = w_s.
-- From the time ts on the brake lets go and the clutch closes, both linearly within --ramp; a controller could do it
-- with d:set. Engine 0.2 kg m^2 with the torque 60 - 0.1 w_s, ring 0.02 kg m^2, wheel of radius 0.3 m on a vehicle of
-- 200 kg with rolling friction 40 N and a drag of 0.4 v |v|.
--
-- The run goes from event to event, and prints when brake and clutch hold and slip, and the work that they have lost.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A gear shift under load. Without --csv and --plot nothing is written.",
  { "ts", default = 2, min = 0.1, max = 10, help = "begin of the shift" },
  { "ramp", default = 0.3, min = 0.01, max = 2, help = "time in which the capacities change" },
  { "T", default = 5, min = 0.5, max = 60, help = "end of the run" },
  { "csv", value = "FILE", help = "write the columns there" },
  pictures.option,
})

local times = { opt.ts, opt.ts + opt.ramp }
local d = ns.driveline()
d:inertia("E", "engine", 0.2, { speed = 150 }):torque("T", "engine", function(_, _, w) return 60 - 0.1 * w end)
d:planetary("P", "engine", "shaft", "ring", 2):inertia("R", "ring", 0.02)
d:brake("B", "ring", { times = times, values = { 300, 0 } })
d:clutch("C", "engine", "shaft", { times = times, values = { 0, 300 } })
d:rack("W", "shaft", "car", 0.3):mass("m", "car", 200):friction("F", "car", { coulomb = 40 })
d:damper("D", "0", "car", function(v) return 0.4 * v * ns.abs(v) end)
local c, sol = d:run { stop = opt.T, step = 0.01 }

for _, event in ipairs(sol.events) do print(("%s %-6s %.9f"):format(event.name, event.kind, event.t)) end
local function work(name) -- by the trapezoidal rule
  local sum = 0
  for k = 2, #c do sum = sum + (c.t[k] - c.t[k - 1]) * (c[name][k] + c[name][k - 1]) / 2 end
  return sum
end
print(("lost in the brake %.1f J, in the clutch %.1f J"):format(work "p.B", work "p.C"))
print(("engine %.6f rad/s, vehicle %.6f m/s"):format(c["w.engine"][#c], c["v.car"][#c]))
if opt.csv then ns.save(opt.csv, c) end

pictures.draw(opt.plot, { run = function(plot)
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 6 } })
  for _, node in ipairs { "engine", "shaft", "ring" } do axes[1]:plot(c.t, c["w." .. node], { label = node }) end
  axes[2]:plot(c.t, c["tau.B"], { label = "brake" })
  axes[2]:plot(c.t, c["tau.C"], { label = "clutch" })
  axes[1]:set_ylabel "speed [rad/s]"
  axes[2]:set_ylabel "torque [N m]"
  axes[2]:set_xlabel "t [s]"
  for _, ax in ipairs(axes) do ax:legend() end
  return fig
end })
