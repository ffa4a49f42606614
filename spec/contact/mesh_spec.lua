-- contact/mesh.h: distances from meshes against all triangles; spec/contact/touch_spec.lua has the contacts.
local ns = require "nslua"
local numbers = require "random_numbers"

describe("meshes", function()
  it("are as far as the nearest of their triangles, written as hulls that are thin", function()
    math.randomseed(3)
    local heights, c = {}, ns.contact
    for i = 1, 5 do
      heights[i] = {}
      for j = 1, 6 do heights[i][j] = numbers.uniform(0, 0.5) end
    end
    local mesh = c.heightfield(heights, 0.5, 0.4)
    local points = mesh:corners()
    for _ = 1, 20 do
      local x, y = numbers.uniform(0, 2), numbers.uniform(0, 2)
      local ball = c.sphere(0.1):placed { x, y, 1.5 }
      local least = math.huge
      for _, t in ipairs(mesh.mesh.triangles) do
        local corners = {}
        for k = 1, 3 do
          corners[k], corners[k + 3] = points[t[k]], { points[t[k]][1], points[t[k]][2], -9 }
        end
        least = math.min(least, (c.distance(ball, c.hull(corners))))
      end
      local d, pa, pb, n = c.distance(ball, mesh)
      assert.near(least, d, 1e-12)
      for k = 1, 3 do assert.near(pa[k] - pb[k], d * n[k], 1e-12) end
    end
  end)

  local c, uniform = ns.contact, numbers.uniform
  local shapes = {
    sphere = function() return c.sphere(uniform(0.1, 0.3)) end,
    box = function() return c.box(uniform(0.2, 0.5), uniform(0.2, 0.5), uniform(0.2, 0.5)) end,
    capsule = function() return c.capsule(uniform(0.1, 0.3), uniform(0.1, 0.5)) end,
    cylinder = function() return c.cylinder(uniform(0.1, 0.3), uniform(0.1, 0.5)) end,
  }

  -- A body over a mesh or a plane, and its contacts.
  local function linked(shape, q, mesh, reach)
    local ds, nsds = ns.NewtonEulerDS(q, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3)), ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    local space = c.space { nsds = nsds, law = ns.NewtonImpactNSL(0), reach = reach }
    if getmetatable(mesh).__name == "plane" then space:add_plane(mesh) else space:add(nil, mesh) end
    space:add(ds, shape)
    space:update()
    ns.TimeSteppingDirectProjection(nsds, ns.TimeDiscretisation(0, 1e-9), ns.MoreauJeanOSI(0.5)):computeOneStep()
    local gaps = {}
    for i, contact in ipairs(space:interactions()) do gaps[i] = contact:y(0)[1] end
    table.sort(gaps)
    return gaps
  end

  local function turned()
    local e, square = numbers.vector_within(4, 1), 0
    for k = 1, 4 do square = square + e[k] ^ 2 end
    for k = 1, 4 do e[k] = e[k] / math.sqrt(square) end
    return e
  end

  it("have no contact nearer than they are, wherever their faces go on, and the nearest one", function()
    math.randomseed(4)
    for case = 1, require "campaign"(12, 1) do
      local heights, high = {}, case % 3 == 0 and 0.02 or 0.2
      for i = 1, 7 do
        heights[i] = {}
        for j = 1, 7 do heights[i][j] = uniform(-high, high) end
      end
      local mesh = c.heightfield(heights, 0.3, 0.3):placed { -0.9, -0.9, 0 }
      for name, make in pairs(shapes) do
        local shape, e, wanted, d = make(), turned(), uniform(0, 0.05), nil
        local q = { uniform(-0.3, 0.3), uniform(-0.3, 0.3), 1, e[1], e[2], e[3], e[4] }
        for _ = 1, 40 do
          local _, n
          d, _, _, n = c.distance(shape:placed(q), mesh)
          if math.abs(d - wanted) < 1e-10 then break end
          q[3] = q[3] - (d - wanted) / math.max(0.2, math.abs(n[3]))
        end
        assert.near(d, linked(shape, q, mesh, 0.15)[1], 1e-6, name)
      end
    end
  end)

  it("that are flat have the contacts of a plane with all corners that are near, however fine they are", function()
    math.randomseed(6)
    local mesh, plane = c.heightfield(ns.zeros(12, 12), 0.1, 0.13):placed { -0.61, -0.63, 0 }, c.plane({ 0, 0, 0 }, { 0, 0, 1 })
    for _ = 1, require "campaign"(5, 1) do
      for name, make in pairs(shapes) do
        local shape, e = make(), turned()
        for _, above in ipairs { 0.001, -0.003, -0.02 } do -- also corners that are behind the surface
          local q = { 0.01, 0.02, 1, e[1], e[2], e[3], e[4] }
          q[3] = 1 + above - c.distance(shape:placed(q), mesh)
          local gaps = linked(shape, q, mesh, 0.2)
          for i, gap in ipairs(linked(shape, q, plane, 0.2)) do assert.near(gap, gaps[i] or math.huge, 1e-12, name) end
        end
      end
    end
  end)

  it("that are flat keep a corner that is behind them while it goes over from triangle to triangle", function()
    local mesh, plane = c.heightfield(ns.zeros(12, 12), 0.1, 0.13):placed { -0.61, -0.63, 0 }, c.plane({ 0, 0, 0 }, { 0, 0, 1 })
    local box = c.box(0.4, 0.3, 0.2)
    for i = 0, 24 do
      local q = { 0.01 + i * 0.005, 0.02 - i * 0.003, 0.09, math.cos(0.01), 0.6 * math.sin(0.01), 0.8 * math.sin(0.01), 0 }
      local gaps = linked(box, q, mesh, 0.05)
      for k, gap in ipairs(linked(box, q, plane, 0.05)) do assert.near(gap, gaps[k] or math.huge, 1e-12) end
    end
  end)

  -- A body that is thrown: on a plane, or on a mesh that lies in it.
  local function thrown(make, shape, q, v, law, on_mesh)
    local ds, nsds = ns.NewtonEulerDS(q, v, 2, ns.diag { 0.02, 0.03, 0.04 }), ns.NonSmoothDynamicalSystem(0, 0.6)
    ds:setFExtPtr { 0, 0, -2 * 9.81 }
    nsds:insertDynamicalSystem(ds)
    local space = c.space { nsds = nsds, law = law, reach = 0.1 }
    if on_mesh then space:add(nil, c.heightfield(ns.zeros(24, 24), 0.1, 0.13):placed { -1.01, -1.53, 0 })
    else space:add_plane(c.plane({ 0, 0, 0 }, { 0, 0, 1 })) end
    space:add(ds, shape)
    space:update()
    local touched, places = 0, {}
    for k in make(nsds, ns.TimeDiscretisation(0, 4e-3), ns.MoreauJeanOSI(0.5)):steps() do
      for _, contact in ipairs(space:interactions()) do touched = touched + (contact:lambda(1)[1] > 0 and 1 or 0) end
      places[k] = ds:x():totable()
      space:update()
    end
    return places, touched
  end

  it("that are flat carry a body as a plane does, bit for bit, also where four corners with friction land at once #once", function()
    math.randomseed(7)
    local function hull()
      local points = {}
      for i = 1, 12 do points[i] = { uniform(-0.2, 0.2), uniform(-0.2, 0.2), uniform(-0.2, 0.2) } end
      return c.hull(points)
    end
    local level, spin = { 0.013, 0.027, 0.3, math.cos(0.3), 0, 0, math.sin(0.3) }, { 1, 0.3, 0, 0, 0, 2 }
    for _, make in ipairs { ns.TimeStepping, ns.TimeSteppingDirectProjection, ns.TimeSteppingCombinedProjection } do
      for _, name in ipairs { "box", "capsule", "cylinder", "hull", "sphere" } do
        for k = 1, require "campaign"(2, 1) do
          local e, shape = turned(), shapes[name] or hull
          local q = name == "box" and k == 1 and level or { 0.05, -0.03, 0.6, e[1], e[2], e[3], e[4] }
          local v = k == 1 and spin or { uniform(-1, 1), uniform(-1, 1), 0, uniform(-3, 3), uniform(-3, 3), uniform(-3, 3) }
          local law, solid = ns.NewtonImpactFrictionNSL(uniform(0, 0.4), 0, uniform(0.1, 0.8), 3), shape()
          local wanted, touched = thrown(make, solid, q, v, law, false)
          assert.is_true(touched > 0, name)
          assert.same(wanted, thrown(make, solid, q, v, law, true), name)
        end
      end
    end
  end)

  -- A body slides, or rolls, from a flat part over bends towards it.
  local function slide(shape, e, high, v, h, events)
    local heights, slope, z = {}, 0, 0
    for i = 1, 24 do
      heights[i] = {}
      for j = 1, 6 do heights[i][j] = z end
      if i > 5 and i < 14 then slope = slope + math.random() ^ 3 * 0.3 end
      z = z + 0.2 * slope
    end
    local ds = ns.NewtonEulerDS({ -0.25, 0.013, high, e[1], e[2], e[3], e[4] }, { v, uniform(-0.1, 0.1), 0, 0, 0, 0 }, 1,
      0.004 * ns.eye(3))
    ds:setFExtPtr { 0, 0, -9.81 }
    local mesh, nsds = c.heightfield(heights, 0.2, 0.4):placed { -1, -1, 0 }, ns.NonSmoothDynamicalSystem(0, 12 * h)
    nsds:insertDynamicalSystem(ds)
    local space = c.space { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0.2 * math.random(0, 1), 3), reach = 0.1 }
    space:add(nil, mesh)
    space:add(ds, shape)
    space:update()
    local osi, deepest = events and ns.RungeKuttaOSI() or ns.MoreauJeanOSI(0.5), 0
    local simu = ns[events and "EventDriven" or "TimeStepping"](nsds, ns.TimeDiscretisation(0, h), osi)
    for _ in simu:steps() do
      space:update()
      local q = ds:q()
      deepest = math.max(deepest, -c.distance(shape:placed { q[1], q[2], q[3], q[4], q[5], q[6], q[7] }, mesh))
    end
    local w, q = ds:velocity(), ds:q()
    local gained = 9.81 * (q[3] - high) + 0.5 * (w[1] ^ 2 + w[2] ^ 2 + w[3] ^ 2 + 0.004 * (w[4] ^ 2 + w[5] ^ 2 + w[6] ^ 2) - v * v)
    assert.is_true(gained < 0.02, "energy grows") -- that of the velocity across, which is not counted at the start
    return deepest
  end

  it("that bend towards a body are met before it has gone through them #once", function()
    local lies, stands = { math.sqrt(0.5), math.sqrt(0.5), 0, 0 }, { 1, 0, 0, 0 }
    local bodies = { sphere = { c.sphere(0.1), stands }, box = { c.box(0.2, 0.2, 0.2), stands },
      capsule = { c.capsule(0.1, 0.2), lies }, wheel = { c.cylinder(0.1, 0.2), lies }, tin = { c.cylinder(0.1, 0.2), stands } }
    for name, one in pairs(bodies) do
      for _, events in ipairs { true, false } do
        math.randomseed(4)
        local v, h = uniform(1, 6), uniform(0.004, 0.008)
        assert.is_true(slide(one[1], one[2], 0.1, v, h, events) < (events and 1e-9 or 0.2 * v * h), name)
      end
    end
  end)
end)
