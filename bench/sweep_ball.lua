-- The task of bench_sweep.lua: a bouncing ball for 2,000 steps; where it is at the end, by its restitution.
-- As a program: nslua bench/sweep_ball.lua 0.8
local ns = require "nslua"

local ball = {}

local h, STEPS = 5e-3, 2000

-- A simulation of the ball and a function that sets the restitution.
function ball.make()
  local ds = ns.LagrangianLinearTIDS({ 1, 0, 0 }, { 0, 0, 0 }, ns.diag { 1, 1, 0.004 })
  ds:setFExtPtr { -9.81, 0, 0 }
  local law = ns.NewtonImpactNSL(0.9)
  local nsds = ns.NonSmoothDynamicalSystem(0, STEPS * h)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1, 0, 0 } }), ds)
  local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
  return simu, function(e) law:setE(e) end, ds
end

-- Steps the simulation to its end as often as it is told to; returns the height.
function ball.run(simu, ds, times)
  for i = 1, times do
    if i > 1 then simu:reset() end
    while simu:hasNextEvent() do
      simu:computeOneStep()
      simu:nextStep()
    end
  end
  return ds:q()[1]
end

if arg and arg[0]:find "sweep_ball%.lua$" then
  local simu, set, ds = ball.make()
  set(tonumber(arg[1]))
  print(ball.run(simu, ds, tonumber(arg[2] or 1)))
end

return ball
