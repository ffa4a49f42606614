-- A ball of mass m falls on the floor:
--
--   m q'' = -m g + lambda,     0 <= q _|_ lambda >= 0,     q' after = -e q' before an impact
--
-- from q(0) = H at rest, with m = 1, g = 9.81. It hits the floor at sqrt(2 H / g); the flights after that are shorter
-- by e each, so that infinitely many impacts end at the time (1 + e) / (1 - e) sqrt(2 H / g): then the ball rests.
--
-- Moreau and Jean's scheme does not look for impacts. A step has an impulse P and Newton's law for its velocities,
--
--   m (v_{k+1} - v_k) = -h m g + P,   q_{k+1} = q_k + h (theta v_{k+1} + (1 - theta) v_k),
--   0 <= v_{k+1} + e v_k _|_ P >= 0   if q_k + h v_k / 2 <= 0, else P = 0,
--
-- and so passes the end of the impacts, and rests after it, with steps of one length.

local ns = require "nslua"
local options = require "nslua.options"

local opt = options.parse(arg, {
  about = "A ball that bounces until it rests. Without --csv nothing is written.",
  { "e", default = 0.9, min = 0, max = 1, help = "restitution" },
  { "H", default = 1, min = 0, help = "height at the start" },
  { "h", default = 5e-3, min = 1e-6, max = 1, help = "length of a step" },
  { "T", default = 10, above = 0, max = 1000, help = "end of the run" },
  { "theta", default = 0.5, min = 0.5, max = 1, help = "weight of the end of a step" },
  { "csv", value = "FILE", help = "write every step there" },
})
local m, g = 1, 9.81

local ball = ns.LagrangianLinearTIDS({ opt.H }, { 0 }, { { m } })
ball:setFExtPtr { -m * g }
local floor = ns.Interaction(ns.NewtonImpactNSL(opt.e), ns.LagrangianLinearTIR { { 1 } })
local nsds = ns.NonSmoothDynamicalSystem(0, opt.T)
nsds:insertDynamicalSystem(ball)
nsds:link(floor, ball)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, opt.h), ns.MoreauJeanOSI(opt.theta), ns.LCP())

local start = simu:energy()
local rows = { { 0, 0, opt.H, 0, 0, 0 } }
local impacts, deepest, rest = 0, 0, nil
for k, t in simu:steps() do
  local q, v, p, lambda = ball:q()[1], ball:velocity()[1], ball:p(1)[1], floor:lambda(1)[1]
  rows[#rows + 1] = { k, t, q, v, p, lambda }
  deepest = math.max(deepest, -q)
  if lambda > 0 and v > g * opt.h then impacts = impacts + 1 end -- a flight of more than a step begins
  rest = lambda > 0 and math.abs(v) < 1e-12 and (rest or t) or nil
end
local energy = simu:energy()

print(("e = %g, h = %g, %d steps: %d impacts with a rebound"):format(opt.e, opt.h, #rows - 1, impacts))
if opt.e < 1 then
  print(("the impacts end at %.6g"):format((1 + opt.e) / (1 - opt.e) * math.sqrt(2 * opt.H / g)))
end
print(rest and ("at rest from %.6g on"):format(rest) or "not at rest yet")
print(("deepest penetration: %.1e"):format(deepest))
print(("energy: %.12g at the start, %.12g at the end; impacts took %.12g, the scheme %.3g, the rest is %.1e"):format(
  start.total, energy.total, -energy.impacts, -energy.numerical,
  energy.total - start.total - energy.impacts - energy.numerical - energy.forces))

if opt.csv then
  options.write_csv(opt.csv, { "row", "t", "q", "v", "p", "lambda" }, rows)
  print(("written: %d rows to %s"):format(#rows, opt.csv))
end
