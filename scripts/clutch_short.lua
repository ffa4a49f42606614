-- The clutch of clutch.lua in short: h and g alone. Their Jacobians are computed exactly from the callbacks
-- themselves, by evaluating them with dual numbers, and run() makes the loop.
--
--   c' = -1, w1' = 10 + tau, w2' = -40 - 4 tau, 0 = lambda tau + (1 - lambda) (w1 - w2), -(-+c) in N_[0,1](lambda)
--
-- from (c, w1, w2, tau) = (5, 10, 5, 0.5), by implicit Euler with h = 0.05 up to t = 20.

local ns = require "nslua"
local opt = require "nslua.options".parse(arg, {
  { "mode", default = "engage", choices = { "engage", "disengage" }, help = "what the clutch does at t = 5" },
  { "csv", value = "FILE.csv", help = "write every step there" },
})
local sign = opt.mode == "engage" and -1 or 1

local dyn = ns.FirstOrderLinearTIDS {
  x0 = { 5, 10, 5, 0.5 },
  A = { { 0, 0, 0, 0 }, { 0, 0, 0, 1 }, { 0, 0, 0, -4 }, { 0, 1, -1, 0 } },
  b = { -1, 10, -40, 0 },
  M = ns.diag { 1, 1, 1, 0 },
}
dyn:setNames { "c", "w1", "w2", "tau" }
local relation = ns.FirstOrderNonLinearR {
  h = function(_, x, _, _, y) y[1] = sign * x[1] end,
  g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
}
local nsds = ns.NonSmoothDynamicalSystem(0, 20)
nsds:insertDynamicalSystem(dyn)
nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), relation), dyn)

local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(1), ns.Relay())
local sol = simu:run()
print(sol, "\nat the end:", dyn:x(), "at most", sol.stats.max_newton_iterations, "Newton iterations a step")
if opt.csv then sol:save(opt.csv) end
