-- Restitution and friction of a ball that is thrown along the floor, from its measured positions.
--
--   m q'' = (r_t, r_n - m g),     0 <= q_2 _|_ r_n >= 0,     |r_t| <= mu r_n, opposite to the slip
--   u_n after = -en u_n before an impact
--
-- The ball starts at (0, 1) with the velocity (8, 0), bounces with friction, infinitely often in a finite time, then
-- slides until it stops. The measurement is the run with en = 0.6 and mu = 0.3, with noise of the standard deviation
-- --noise on both coordinates (--seed: another noise). The fit starts at en = 0.5, mu = 0.2. EventDriven locates
-- every impact, so that the positions are smooth functions of en and mu.

local ns = require "nslua"
local options = require "nslua.options"
local pictures = require "nslua.pictures"

local opt = options.parse(arg, {
  about = "Fits restitution and friction of a bouncing, then sliding ball. Without --plot nothing is written.",
  { "noise", default = 0.005, above = 0, help = "standard deviation of the measurement" },
  { "seed", default = 1, min = 0, help = "of the random numbers" },
  pictures.option,
})

local ball = ns.LagrangianLinearTIDS({ 0, 1 }, { 8, 0 }, { { 1, 0 }, { 0, 1 } })
ball:setFExtPtr { 0, -9.81 }
local law = ns.NewtonImpactFrictionNSL(0.6, 0, 0.3, 2)
local nsds = ns.NonSmoothDynamicalSystem(0, 3)
nsds:insertDynamicalSystem(ball)
nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "floor"), ball)
local t = ns.linspace(0, 3, 61)
local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(t), ns.RungeKuttaOSI(1e-10, 1e-12))

local exact, rng = simu:run { dense = true }:at(t).x, ns.rng(math.tointeger(opt.seed))
local along, height = ns.zeros(#t), ns.zeros(#t)
for i = 1, #t do
  along[i], height[i] = exact[i][1] + opt.noise * rng:normal(), exact[i][2] + opt.noise * rng:normal()
end

local fit = ns.fit { simulation = simu, data = { t = t, q1 = along, q2 = height }, noise = opt.noise,
  parameters = { { law, "en" }, { law, "mu" } }, start = { 0.5, 0.2 } }
print(fit)
print(("  correlation = %.3f, chi2 = %.3f"):format(fit.correlation[1][2], fit.chi2))

pictures.draw(opt.plot, { fit = function() return fit:plot { title = "A ball that bounces, slides and stops" } end })
