-- Four discs in a row with clutches between them: the example CoupledClutches of the Modelica Standard Library.
--
--   J wi' = tau_i - tau_(i-1),  J = 1 (i = 1 .. 4),  tau_0 = -10 sin(10 pi t): the torque on the first disc
--
-- tau_i is the torque of clutch i. With the slip s = w_(i+1) - w_i it is m_i(t) sign(s) while the clutch slips. While
-- it holds (s = 0) it has any value up to p m_i, with p = 1.1: static friction is above the kinetic one. Capacities:
-- m_1 = max(0, 10 cos(0.4 pi t)), m_2 = 10 from t = 0.4 on, m_3 = 10 from t = 0.9 on. Start: w_1 = 10, the others 0.
--
-- The run goes from event to event: it prints when a clutch begins to hold ("slide") and to slip ("leave").

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Four discs and three clutches. Without --csv and --plot nothing is written.",
  { "static", default = 1.1, min = 1, max = 10, help = "torque at which a clutch breaks away over the kinetic one" },
  { "T", default = 1.5, above = 0, max = 10, help = "end of the run" },
  { "csv", value = "FILE", help = "write the columns there" },
  pictures.option,
})

local d, static = ns.driveline(), { static = opt.static }
for i, speed in ipairs { 10, 0, 0, 0 } do d:inertia("J" .. i, "n" .. i, 1, { speed = speed }) end
d:torque("T", "n1", { amplitude = 10, frequency = 5 })
d:clutch("C1", "n1", "n2", function(t) return math.max(0, 10 * math.cos(0.4 * math.pi * t)) end, static)
d:clutch("C2", "n2", "n3", { step = 10, time = 0.4 }, static)
d:clutch("C3", "n3", "n4", { step = 10, time = 0.9 }, static)
local c, sol = d:run { stop = opt.T, step = 0.006 }

for _, event in ipairs(sol.events) do print(("%-12s %-6s %.9f"):format(event.name, event.kind, event.t)) end
local momentum, torque = 0, (1 - math.cos(10 * math.pi * opt.T)) / math.pi
for i = 1, 4 do momentum = momentum + c["w.n" .. i][#c] end
print(("momentum %.12f, of the start and the torque %.12f"):format(momentum, 10 + torque))
if opt.csv then ns.save(opt.csv, c) end

pictures.draw(opt.plot, { run = function(plot)
  local fig, axes = plot.subplots(2, 1, { figsize = { 7, 6 } })
  for i = 1, 4 do axes[1]:plot(c.t, c["w.n" .. i], { label = ("$w_%d$"):format(i) }) end
  for i = 1, 3 do axes[2]:plot(c.t, c["tau.C" .. i], { label = ("clutch %d"):format(i) }) end
  axes[1]:set_ylabel "speed [rad/s]"
  axes[2]:set_ylabel "torque [N m]"
  axes[2]:set_xlabel "t [s]"
  for _, ax in ipairs(axes) do ax:legend() end
  return fig
end })
