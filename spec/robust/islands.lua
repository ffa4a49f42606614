-- Three independent systems, of which two are linked and unlinked again; prints the one-step problem of all.
local ns = require "nslua"

local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
local systems = {}
for i = 1, 3 do
  systems[i] = ns.FirstOrderNonLinearDS({ i }, function(_, x, _, f) f[1] = -x[1] ^ 3 end)
  nsds:insertDynamicalSystem(systems[i])
  nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })), systems[i])
end
local problem = ns.Relay()
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1), problem)
simu:setMaxSubsteps(4)
local tie = ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR({ { 1, -1 } }, { { 1 }, { -1 } }))
for step = 1, 3 do
  if step == 2 then nsds:link(tie, systems[1], systems[3]) end
  if step == 3 then nsds:unlink(tie) end
  simu:computeOneStep()
  simu:nextStep()
  print(problem:M():rows(), problem:lambda()[1], systems[1]:x()[1], systems[2]:x()[1], systems[3]:x()[1])
end
