-- A gear with losses that gets stuck: the example LossyGearDemo1 of the Modelica Standard Library.
--
--   J1 w1' = T1 - tau,   J2 w2' = T2 + r (tau - L),   w1 = r w2,   r = 2, J1 = 1, J2 = 1.5
--
-- tau is the torque that enters the gear, L the part of it that is lost. With an efficiency eta in both directions:
--
--   w > 0:  L = (1 - eta) tau (tau >= 0),   L = (1 - 1 / eta) tau (tau < 0)     (power goes forward, backward)
--   w < 0:  the other one of the two;   w = 0: any L between them, which holds the gear where it can
--
-- so that L w >= 0 always. T1 = 10 sin(2 pi t), T2 = -10 + 2.5 t, and all starts at rest.
--
-- The run goes from event to event; it prints when the gear gets stuck ("slide") and loose ("leave").

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A gear that loses a part of its torque. Without --csv and --plot nothing is written.",
  { "eta", default = 0.5, above = 0, max = 1, help = "efficiency of the gear" },
  { "T", default = 0.5, above = 0, max = 10, help = "end of the run" },
  { "csv", value = "FILE", help = "write the columns there" },
  pictures.option,
})

local d = ns.driveline()
d:inertia("J1", "in", 1):inertia("J2", "out", 1.5):gear("G", "in", "out", 2, { efficiency = opt.eta })
d:torque("T1", "in", { amplitude = 10, frequency = 1 }):torque("T2", "out", function(t) return -10 + 2.5 * t end)
local c, sol = d:run { stop = opt.T, step = 0.005 }

for _, event in ipairs(sol.events) do print(("%s %-6s %.9f"):format(event.name, event.kind, event.t)) end
print(("the gear takes up to %.6f W"):format(c["p.G"]:max()))
if opt.csv then ns.save(opt.csv, c) end

pictures.draw(opt.plot, { run = function(plot)
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 6 } })
  axes[1]:plot(c.t, c["w.out"], { label = "$w_2$" })
  axes[1]:set_ylabel "speed [rad/s]"
  axes[2]:plot(c.t, c["tau.G"], { label = [[$\tau$]] })
  axes[2]:plot(c.t, c["mode.G"], { label = "mode" })
  axes[2]:set_ylabel "torque [N m], mode"
  axes[2]:set_xlabel "t [s]"
  for _, ax in ipairs(axes) do ax:legend() end
  return fig
end })
