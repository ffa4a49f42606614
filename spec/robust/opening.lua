-- Opens the module, solves a sparse system of equations, and makes a few steps of a bouncing ball. Its weight is a method,
-- which gets the object back from the engine.
local ns = require "nslua"

print(ns.solve(ns.sparse { { 2, 1 }, { 0, 1 } }, { 3, 1 })[1])

local Ball = ns.class(ns.LagrangianDS, "ball")
function Ball:init() self.weight = -9.81 end
function Ball:computeFExt(_, _, f) f[1] = self.weight end

local ball = Ball { q0 = { 0.01 }, v0 = { 0 }, mass = { { 1 } } }
local nsds = ns.NonSmoothDynamicalSystem(0, 0.1)
nsds:insertDynamicalSystem(ball)
nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.5), ns.LagrangianLinearTIR { { 1 } }), ball)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.01), ns.MoreauJeanOSI(0.5), ns.LCP())
while simu:hasNextEvent() do
  simu:computeOneStep()
  simu:nextStep()
end
print(ball:q()[1], ball:velocity()[1])
