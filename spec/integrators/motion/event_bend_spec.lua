-- Derivatives of runs against differences: rigid bodies in lasting contact, slip rows, parameters z beside curved constraints.
local ns = require "nslua"
local graph = require("models").graph
local comparison = require "sensitive_comparison"

local inertia = { { 0.03, 0, 0 }, { 0, 0.04, 0 }, { 0, 0, 0.035 } }

local function body(q, v, mass)
  local ds = ns.NewtonEulerDS(q, v, mass, inertia)
  ds:setFExtPtr(ns.vector { 0, 0, -9.81 * mass })
  return ds
end

local function event_driven(nsds, h) return ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI()) end
local function plane() return ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }) end

-- A ball that falls, slides and rolls: p = friction, two velocities.
local function rolls(p)
  local ds, law = body({ 0, 0, 0.35, 1, 0, 0, 0 }, { p[2], 0.5, 0, 1, p[3], 0 }, 1), ns.NewtonImpactFrictionNSL(0, 0, p[1], 3)
  local nsds = graph(0.8, ds)
  nsds:link(ns.Interaction(law, ns.contact.sphere_plane(0.3, plane()), "floor"), ds)
  return event_driven(nsds, 0.2), { { { 1, law, "mu" } }, { { 1, ds, "velocity0", 1 } }, { { 1, ds, "velocity0", 5 } } }
end

-- A ball that lands on another one and rolls down: p = friction, its place and its spin.
local function stack(p)
  local low, high = body({ 0, 0, 0.3, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 3),
    body({ p[2], 0.01, 0.95, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, p[3] }, 1)
  local law, nsds = ns.NewtonImpactFrictionNSL(0, 0, p[1], 3), graph(0.4, low, high)
  nsds:link(ns.Interaction(law, ns.contact.sphere_plane(0.3, plane()), "floor"), low)
  nsds:link(ns.Interaction(law, ns.contact.sphere_sphere(0.3, 0.3), "both"), low, high)
  return event_driven(nsds, 0.1), { { { 1, law, "mu" } }, { { 1, high, "q0", 1 } }, { { 1, high, "velocity0", 6 } } }
end

-- A cube that falls on a corner: p = restitution, friction, height.
local function cube(p)
  local c, s = math.cos(0.3), math.sin(0.3)
  local ds = body({ 0, 0, p[3], c, 0.6 * s, 0.8 * s, 0 }, { 0.5, 0.2, 0, 1, 0.4, 0.3 }, 1)
  ds:setComputeMIntFunction(function(_, q, v, _, m) for i = 1, 3 do m[i] = 0.01 * v[3 + i] + 0.02 * q[4 + i] end end)
  local law, nsds = ns.NewtonImpactFrictionNSL(p[1], 0, p[2], 3), graph(0.4, ds)
  for k = 0, 7 do
    local corner = { (k % 2 - 0.5) * 0.4, (k // 2 % 2 - 0.5) * 0.4, (k // 4 - 0.5) * 0.4 }
    nsds:link(ns.Interaction(law, ns.contact.corner_plane(corner, plane()), "corner" .. k), ds)
  end
  return event_driven(nsds, 0.1), { { { 1, law, "en" } }, { { 1, law, "mu" } }, { { 1, ds, "q0", 3 } } }
end

-- Two disks on a line: p = restitution, friction, a velocity.
local function disks(p)
  local function disk(q, v)
    local ds = ns.LagrangianLinearTIDS(q, v, { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0.05 } })
    ds:setFExtPtr(ns.vector { 0, -9.81, 0 })
    return ds
  end
  local low, high = disk({ 0, 0.5, 0 }, { p[3], 0, 1 }), disk({ 0.1, 1.2, 0 }, { 0, 0, 0 })
  local law, line, nsds = ns.NewtonImpactFrictionNSL(p[1], 0, p[2], 2), ns.contact.line({ 0, 0 }, { 0, 1 }), graph(0.4, low, high)
  nsds:link(ns.Interaction(law, ns.contact.disk_line(0.3, line), "floor1"), low)
  nsds:link(ns.Interaction(law, ns.contact.disk_line(0.3, line), "floor2"), high)
  nsds:link(ns.Interaction(law, ns.contact.disk_disk(0.3, 0.3), "both"), low, high)
  return event_driven(nsds, 0.1), { { { 1, law, "en" } }, { { 1, law, "mu" } }, { { 1, low, "velocity0", 1 } } }
end

-- A pendulum with the force z[1] cos t; its constraint takes z[2], a square of its length, or (alone) no z.
local function pendulum(alone)
  return function(p)
    local ds = ns.LagrangianLinearTIDS({ 0.6, -0.8 }, { 0.4, 0.3 }, ns.eye(2))
    ds:setzPtr(ns.vector(p))
    ds:setComputeFExtFunction(function(t, z, f) f[1], f[2] = z[1] * math.cos(t), -9.81 - 0.1 * z[2] end)
    local h = function(q, z, y) y[1] = (q[1] * q[1] + q[2] * q[2]) * (1 + (z[2] - 0.7) * (q[1] - 0.6)) / 2 - 0.5 end
    if alone then h = function(q, _, y) y[1] = (q[1] * q[1] + q[2] * q[2] - 1) / 2 end end
    local nsds = graph(1, ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), ns.LagrangianScleronomousR { h = h }, "rod"), ds)
    return event_driven(nsds, 0.25), { { { 1, ds, "z", 1 } }, { { 1, ds, "z", 2 } } }
  end
end

describe("closed forms of contacts that last", function()
  for name, case in pairs { ["a ball that slides and rolls"] = { rolls, { 0.15, 2, 2 } },
    ["a ball on another one"] = { stack, { 0.3, 0.02, 1 } }, ["a cube on its corners"] = { cube, { 0.4, 0.3, 0.6 } },
    ["disks in the plane"] = { disks, { 0.5, 0.3, 0.3 } } } do
    it("agree with differences of runs: " .. name .. " #once", function()
      local count, states, times = comparison.compare({ build = case[1], p = case[2] }, 3)
      assert.equal(3, count)
      assert.is_true(states < 1e-7, ("states %.1e"):format(states))
      assert.is_true(times < 1e-6, ("times %.1e"):format(times))
    end)
  end

  it("know when a constraint takes a number of z #once", function()
    for _, alone in ipairs { true, false } do
      local one = { build = pendulum(alone), p = { 0.5, 0.7 } }
      if not alone then one.p[2] = nil end
      if not alone then -- by z[1] alone: z[2] moves the start off the constraint
        local build = one.build
        one.build = function(p)
          local simu, parameters = build { p[1], 0.7 }
          return simu, { parameters[1] }
        end
      end
      local count, states = comparison.compare(one)
      assert.equal(#one.p, count)
      assert.is_true(states < 1e-7, ("states %.1e"):format(states))
    end
  end)
end)
