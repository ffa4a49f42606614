-- Event-driven runs with closed forms, and the refusals of their gradients.
local assert = require "luassert"
local ns = require "nslua"

local closed = {}

-- x' = 2 - sign x from x0 < 0: x = x0 + 3 t up to the time -x0 / 3, then x = t + x0 / 3.
function closed.switched(T)
  local ds, law = ns.FirstOrderLinearTIDS({ -1 }, { { 0 } }, { 2 }), ns.RelayNSL(1, -1, 1)
  local nsds = ns.NonSmoothDynamicalSystem(0, T or 2)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } }), "relay"), ds)
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.5), ns.RungeKuttaOSI()), ds, law
end

-- A ball above a floor, with unit mass, weight 8 and height 1: it lands at t = 1/2 with speed 4.
function closed.ball(heights, T)
  local nsds, balls, law = ns.NonSmoothDynamicalSystem(0, T or 1), {}, ns.NewtonImpactNSL(0.5)
  for i, height in ipairs(heights) do
    balls[i] = ns.LagrangianLinearTIDS({ height }, { 0 }, { { 1 } })
    balls[i]:setFExtPtr(ns.vector { -8 })
    nsds:insertDynamicalSystem(balls[i])
    nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR({ { 1 } }), "floor" .. i), balls[i])
  end
  return ns.EventDriven(nsds, ns.TimeDiscretisation(0, (T or 1) / 2), ns.RungeKuttaOSI()), balls, law
end

-- Asserts that simu:gradient(options) raises an error with exactly this text.
function closed.refuses(text, simu, options)
  local good, message = pcall(simu.gradient, simu, options)
  assert.is_false(good)
  assert.equal(text, (tostring(message):gsub("^[^\n]-:%d+: ", "", 1)))
end

return closed
