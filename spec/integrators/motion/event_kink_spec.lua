-- A point that slides on two surfaces which are one up to x = 0, and part there: one of them bends away.
local ns = require "nslua"

-- The gap of (x, y) over a curve, which falls by x^2 / 2 from x = 0 on towards the side `bends`.
local function curve(bends, e)
  local function behind(x) return bends * x > 0 end
  local relation = ns.LagrangianScleronomousR {
    h = function(q, _, y) y[1] = q[2] + (behind(q[1]) and q[1] ^ 2 / 2 or 0) end,
    Jachq = function(q, _, C) C[1][1], C[1][2] = behind(q[1]) and q[1] or 0, 1 end,
    dotJachq = function(q, _, v, D) D[1][1] = behind(q[1]) and v[1] or 0 end,
  }
  return ns.Interaction(ns.NewtonImpactNSL(e), relation)
end

-- Slides from -0.3 for the time 1 with the velocity 1; `way`: the sign of the x axis. Returns q and v.
local function slide(h, way, order, e, unit)
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  local point = ns.LagrangianLinearTIDS({ -0.3 * way, 0 }, { way, 0 }, ns.diag { unit, unit })
  point:setFExtPtr { 0, -10 * unit }
  nsds:insertDynamicalSystem(point)
  for _, bends in ipairs { order, -order } do nsds:link(curve(bends, e), point) end
  local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI())
  for _ in simu:steps() do end
  return point:q(), point:velocity()
end

describe("a point on two surfaces that part", function()
  it("goes on along the one that holds it, whatever the step, the order, the side, restitution and the unit of mass", function()
    for _, h in ipairs { 1, 0.5, 0.1, 0.04 } do
      for _, way in ipairs { 1, -1 } do
        for _, order in ipairs { 1, -1 } do
          for _, e in ipairs { 0, 0.7 } do
            for _, unit in ipairs { 1, 1e-9, 1e9 } do
              local q, v = slide(h, way, order, e, unit)
              local what = ("h = %g, way %d, order %d, e = %g, unit %g"):format(h, way, order, e, unit)
              assert.near(0.7 * way, q[1], 1e-10, what)
              assert.near(0, q[2], 1e-11, what)
              assert.near(way, v[1], 1e-10, what)
              assert.near(0, v[2], 1e-9, what)
            end
          end
        end
      end
    end
  end)
end)
