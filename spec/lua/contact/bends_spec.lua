-- Bodies in event-driven runs on surfaces with slight bends: on a valley or on a ridge of two faces, which differ by any angle.
local ns = require "nslua"

local c, g, mu = ns.contact, 9.81, 0.3
local L, T = 3, 0.3

-- Each: the shape, the height of its centre, half its width.
local shapes = {
  { "box", c.box(1, 0.6, 0.4), 0.2, 0.5 },
  { "rounded box", c.box(0.9, 0.5, 0.3, 0.05), 0.2, 0.5 },
  { "hull", c.hull { { -0.5, -0.3, -0.2 }, { 0.5, -0.3, -0.2 }, { 0.5, 0.3, -0.2 }, { -0.5, 0.3, -0.2 }, { 0, 0, 0.3 } },
    0.2, 0.5 },
  { "compound", c.compound { c.box(0.4, 0.4, 0.4):placed { -0.4, 0, 0 }, c.box(0.4, 0.4, 0.4):placed { 0.4, 0, 0 } }, 0.2, 0.6 },
}

-- Two faces that fall from x = 0 by the angle `bend` (below 0: they rise).
local function roof(bend)
  local low, points, triangles = -L * math.tan(bend), {}, { { 1, 3, 2 }, { 2, 3, 4 }, { 3, 5, 4 }, { 4, 5, 6 } }
  for i, z in ipairs { low, 0, low } do
    for y = -L, L, 2 * L do points[#points + 1] = { (i - 2) * L, y, z } end
  end
  return c.mesh(points, triangles)
end

-- Where a body is after T that slides from x0 with the velocity v; its velocity; how often forces were computed; the deepest gap.
local function slide(shape, bend, x0, v)
  local nsds, count, deepest = ns.NonSmoothDynamicalSystem(0, T), 0, 0
  local contacts = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 3), reach = 0.05 }
  local z = shape[3] + math.max(0, -math.tan(bend)) * shape[4]
  local ds = ns.NewtonEulerDS({ x0, 0.1, z, 1, 0, 0, 0 }, { v[1], v[2], 0, 0, 0, 0 }, 1, ns.diag { 0.05, 0.06, 0.07 })
  ds:setComputeFExtFunction(function(_, _, f) f[3], count = -g, count + 1 end)
  nsds:insertDynamicalSystem(ds)
  contacts:add(ds, shape[2])
  contacts:add(nil, roof(bend))
  contacts:update()
  for _ in ns.EventDriven(nsds, ns.TimeDiscretisation(0, T / 15), ns.RungeKuttaOSI(1e-9, 1e-11)):steps() do
    contacts:update()
    for _, inter in ipairs(contacts:interactions()) do deepest = math.min(deepest, inter:y(0)[1]) end
  end
  return ds:q(), ds:velocity(), count, deepest
end

-- Friction stops it on a plane after v^2 / (2 mu g).
local function on_a_plane(x0, v)
  local speed = math.sqrt(v[1] ^ 2 + v[2] ^ 2)
  local way = speed / (2 * mu * g)
  return x0 + way * v[1], 0.1 + way * v[2]
end

describe("a slight bend", function()
  for i, shape in ipairs(shapes) do
    it(("lets a %s slide to where it stops on a plane, in few steps #once"):format(shape[1]), function()
      for _, bend in ipairs { 1e-3, -1e-3, -5e-5, 1e-6, -1e-7, 1e-9, 0 } do
        for k, v in ipairs { { 0.5, 0.4 }, { 0.7, 0 } } do
          local x0 = bend > 0 and (i + k) % 2 * 0.05 or 0
          local what = ("bend %g, v %g %g"):format(bend, v[1], v[2])
          local q, u, count, deepest = slide(shape, bend, x0, v)
          local x, y = on_a_plane(x0, v)
          assert.near(x, q[1], 1e-9 + math.abs(bend), what)
          assert.near(y, q[2], 1e-9 + math.abs(bend), what)
          assert.is_true(u:norm() < 1e-12 and deepest > -1e-12 and count < 40000,
            ("%s: %g %g %d"):format(what, u:norm(), deepest, count))
        end
      end
    end)
  end
end)
