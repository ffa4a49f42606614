-- A block with dry friction on an inclined plate that is shaken along its slope; (r, n): along the plate, upwards, and normal.
local ns = require "nslua"

local g, alpha, mu, w = 9.81, math.rad(5), 0.3, 40

local function simulation(T, h)
  local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, 0 }, ns.eye(2))
  block:setComputeFExtFunction(function(t, _, f)
    f[1], f[2] = -g * math.sin(alpha) + 5 * math.sin(w * t), -g * math.cos(alpha)
  end)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(block)
  nsds:link(ns.Interaction(ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR { { 0, 1 }, { 1, 0 } }, "plate"), block)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()), block
end

local simu, block = simulation(1, 0.1)
simu:run()
local result = { r_1 = block:q()[1], v_1 = block:velocity()[1], times = {}, kinds = {} }
for _, event in ipairs(simu:events()) do
  local i = #result.times + 1
  if i <= 12 and event.kind ~= "rest" then -- the block rests on the plate from t = 0 on
    result.times[i] = event.t
    result.kinds[i] = event.kind == "stick" and "stick" or event.kind .. (event.after < 0 and " up" or " down")
  end
end

local period = 2 * math.pi / w
local t, sol = result.times, simulation(6 * period, period):run()
result.drift = sol:at(5 * period).x[1] - sol:at(4 * period).x[1]
result.stick_fraction = (t[6] - t[5]) / period -- stick, then slip
return result
