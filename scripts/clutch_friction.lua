-- The friction clutch: the switched constraint of clutch.lua regularised by dry friction of bounded torque.
--
--   w1' = (T1 + tau) / J1     w1(0) = 10     J1 = 1     T1 = 10
--   w2' = (T2 - tau) / J2     w2(0) = 5      J2 = 1/4   T2 = -10
--   y = w1 - w2,  -y in N_[-alpha p, alpha p](tau):
--   the disks stick (y = 0) while |tau| <= alpha p, else they slip and tau = -alpha p sign(y)
--
-- p(t) in [0, 1] is the pressure on the disks, 0 when the clutch is free:
--   engage: 1 from t = 5 on;  disengage: 1 up to t = 5;  ramp: grows from 0 to 1 between t = 5 and t = 10.
--
-- The system is linear, x' = A x + b + B tau, y = C x; implicit Euler with h = 0.05 up to t = 20, or the (theta,
-- gamma) method  x - x_k = h (theta f + (1 - theta) f_k) + h B (gamma tau + (1 - gamma) tau_k).  The relay's bounds
-- are set before each step to the pressure at its end.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "A clutch with dry friction. Without --csv and --plot nothing is written.",
  { "mode", default = "engage", choices = { "engage", "disengage", "ramp" }, help = "what the pressure does" },
  { "alpha", default = 100, min = 0, help = "largest torque" },
  { "theta", default = 1, above = 0, max = 1, help = "weight of the new right-hand side" },
  { "gamma", default = 1, above = 0, max = 1, help = "weight of the new torque" },
  { "csv", value = "FILE", help = "write every step there" },
  pictures.option,
})

local J1, J2, T1, T2 = 1, 1 / 4, 10, -10

local pressure = {
  engage = function(t) return t > 5 and 1 or 0 end,
  disengage = function(t) return t <= 5 and 1 or 0 end,
  ramp = function(t) return math.min(math.max((t - 5) / 5, 0), 1) end,
}

local dyn = ns.FirstOrderLinearTIDS({ 10, 5 }, ns.zeros(2, 2), { T1 / J1, T2 / J2 })
local relation = ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 / J1 }, { -1 / J2 } }) -- C, B
local friction = ns.RelayNSL(1, 0, 0)
local contact = ns.Interaction(friction, relation)
local nsds = ns.NonSmoothDynamicalSystem(0, 20)
nsds:insertDynamicalSystem(dyn)
nsds:link(contact, dyn)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(opt.theta, opt.gamma),
  ns.Relay())

local x, tau, lb, ub = dyn:x(), contact:lambda(0), friction:lb(), friction:ub()
local rows = { { 0, x[1], x[2], tau[1] } }
while simu:hasNextEvent() do
  ub[1] = opt.alpha * pressure[opt.mode](simu:nextTime())
  lb[1] = 0 - ub[1]
  simu:computeOneStep()
  rows[#rows + 1] = { simu:nextTime(), x[1], x[2], tau[1] }
  simu:nextStep()
end

print(("%s: alpha = %g, theta = %g, gamma = %g, %d steps\n"):format(opt.mode, opt.alpha, opt.theta, opt.gamma,
  #rows - 1))
print("          t            w1            w2           tau")
local function sticks(row) return math.abs(row[2] - row[3]) < 1e-9 end
for k, row in ipairs(rows) do
  local before = rows[k - 1]
  if not before or k == #rows or sticks(row) ~= sticks(before) then
    print(("%11.6g %13.8g %13.8g %13.8g"):format(table.unpack(row)), sticks(row) and "stick" or "slip")
  end
end

if opt.csv then
  options.write_csv(opt.csv, { "t", "w1", "w2", "tau" }, rows)
  print(("\nwritten: %d rows to %s"):format(#rows, opt.csv))
end

-- Speeds, slip and torque with its bounds; the disks stick while the torque is between them.
pictures.draw(opt.plot, { [opt.mode] = function(plot)
  local t, w1, w2, slip, torque, least, most = {}, {}, {}, {}, {}, {}, {}
  for k, row in ipairs(rows) do
    t[k], w1[k], w2[k], torque[k] = table.unpack(row)
    slip[k], most[k] = w1[k] - w2[k], opt.alpha * pressure[opt.mode](row[1])
    least[k] = -most[k]
  end
  local fig = plot.figure { figsize = { 7, 7.5 }, title = ("Friction clutch: %s, $\\alpha = %g$"):format(opt.mode,
    opt.alpha) }
  local top = fig:subplot(3, 1, 1):title "speeds"
  top:plot(t, w1, { label = "$\\omega_1$" }):plot(t, w2, { label = "$\\omega_2$" }):legend()
  fig:subplot(3, 1, 2, { sharex = top }):title "slip $\\omega_1 - \\omega_2$":plot(t, slip)
  local below = fig:subplot(3, 1, 3, { sharex = top }):title "torque $\\tau$":xlabel "$t$"
  below:fill_between(t, least, most, { color = "C4", alpha = 0.15, label = "where they stick" })
  below:step(t, torque, { label = "$\\tau$" }):legend()
  return fig
end })
