-- A friction clutch under a motor whose torque pulsates, and its periodic motion over the clutch's largest torque mu:
-- the disks slip all the time, slip and stick, or stick all the time.
--
--   J1 w1' = T1 + A cos w t - c1 w1 - tau      J1 = 1     c1 = 1     T1 = 10   A = 8   w = 4
--   J2 w2' = tau - c2 w2                       J2 = 1/4   c2 = 1/2
--   tau in mu Sign(w1 - w2)                    the disks stick (w1 = w2) while |tau| <= mu
--
-- Inertias and mean torque are those of the clutch of clutch.lua. The orbit is found by Newton's method on the map of
-- one period 2 pi / w, runs go from event to event (EventDriven); it is followed in mu by pseudo-arclength
-- continuation from (w1, w2) = (7, 6) at mu = 1. Both changes of the sequence of events have closed forms:
--
--   slip touches 0:           mu = (T1 / c1 - A / |c1 + i w J1|) / (1 / c1 + 1 / c2)
--   stick reaches the limit:  mu = T1 c2 / (c1 + c2) + A |c2 + i w J2| / |c1 + c2 + i w (J1 + J2)|

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "The periodic motion of a clutch over its largest torque. Without --plot nothing is drawn.",
  { "A", default = 8, above = 0, max = 100, help = "amplitude of the motor's torque" },
  { "w", default = 4, above = 0, max = 100, help = "its frequency" },
  { "mu", default = 1, above = 0, max = 100, help = "first largest torque of the clutch" },
  { "to", default = 6, above = 0, max = 100, help = "last one" },
  pictures.option,
})
local J1, J2, c1, c2, T1, A, w = 1, 1 / 4, 1, 1 / 2, 10, opt.A, opt.w
local period = 2 * math.pi / w

local function clutch(mu)
  local disks = ns.FirstOrderLinearDS({ 7, 6 }, { { -c1 / J1, 0 }, { 0, -c2 / J2 } }, function(t, _, b)
    b[1], b[2] = (T1 + A * math.cos(w * t)) / J1, 0
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, 40 * period)
  nsds:insertDynamicalSystem(disks)
  local slip = ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 / J1 }, { -1 / J2 } }) -- C, B
  nsds:link(ns.Interaction(ns.RelayNSL(1, -mu, mu), slip, "clutch"), disks)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, period / 16), ns.RungeKuttaOSI())
end

local branch = ns.dynamics.continuation { simulation = clutch, guess = { 7, 6 }, period = period,
  transient = 8 * period, range = { opt.mu, opt.to } }
print(branch)

local function modulus(re, im) return math.sqrt(re * re + im * im) end
print(("closed forms: %.10g and %.10g"):format(
  (T1 / c1 - A / modulus(c1, w * J1)) / (1 / c1 + 1 / c2),
  T1 * c2 / (c1 + c2) + A * modulus(c2, w * J2) / modulus(c1 + c2, w * (J1 + J2))))
print "\n        mu            w1            w2        multipliers"
for _, found in ipairs(branch.bifurcations) do
  local m = found.multipliers
  print(("%10.6f %13.9f %13.9f    %.6f, %.6f"):format(found.p, found.x0[1], found.x0[2], m[1].re, m[2].re))
end

-- The motion at three values of mu, and the branch.
pictures.draw(opt.plot, {
  branch = function() return branch:plot { title = "Periodic motions of a clutch" } end,
  motion = function(plot)
    local fig = plot.figure { figsize = { 7, 7.5 }, title = "One period of the clutch" }
    for i, mu in ipairs { 2, 4, 5.5 } do
      local orbit = ns.dynamics.periodic { simulation = clutch, value = mu, guess = { 7, 6 }, period = period,
        transient = 8 * period }
      local t, rows = orbit:course()
      local w1, w2 = {}, {}
      for k, row in ipairs(rows) do w1[k], w2[k] = row[1], row[2] end
      local ax = fig:subplot(3, 1, i):title(("$\\mu = %g$"):format(mu))
      ax:plot(t, w1, { label = "$\\omega_1$" }):plot(t, w2, { label = "$\\omega_2$" }):legend()
    end
    return fig
  end,
})
