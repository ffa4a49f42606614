-- The module is opened, and used for a few steps of a ball that bounces.
local ns = require "nslua"

local ball = ns.LagrangianLinearTIDS({ 0.01 }, { 0 }, { { 1 } })
ball:setFExtPtr { -9.81 }
local nsds = ns.NonSmoothDynamicalSystem(0, 0.1)
nsds:insertDynamicalSystem(ball)
nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5), ns.LCP())
while simu:hasNextEvent() do
  simu:computeOneStep()
  simu:nextStep()
end
print(ball:q()[1], ball:velocity()[1])
