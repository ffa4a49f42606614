-- nslua.contact.features: boxes and polygons in the plane: where they touch, against all pairs of points; and their motion.
local ns = require "nslua"
local campaign = require "campaign"
local simulate = require "models".moving

local random, cos, sin = math.random, math.cos, math.sin
local law = ns.NewtonImpactFrictionNSL(0, 0, 0.5, 2)
local g = 9.81

local function body(q0, v0, force)
  local ds = ns.LagrangianLinearTIDS(q0, v0 or { 0, 0, 0 }, ns.diag { 1, 1, 1 / 6 })
  ds:setFExtPtr(force or { 0, 0, 0 })
  return ds
end

-- Shapes as points with a rounding; how they are added.
local function random_shape()
  local kind = random(4)
  if kind == 1 then
    local R = 0.2 + random()
    return { { 0, 0 } }, R, function(m, ds) m:add_disk(ds, R) end
  elseif kind == 2 then
    local R, l = 0.1 + 0.3 * random(), 0.5 + random()
    return { { l / 2, 0 }, { -l / 2, 0 } }, R, function(m, ds) m:add_capsule(ds, R, l) end
  elseif kind == 3 then
    local w, h = 0.5 + random(), 0.5 + random()
    local corners = { { w / 2, h / 2 }, { -w / 2, h / 2 }, { -w / 2, -h / 2 }, { w / 2, -h / 2 } }
    return corners, 0, function(m, ds) m:add_box(ds, w, h) end
  end
  local points, rounding = {}, random(0, 1) * 0.2
  for i = 1, random(3, 8) do points[i] = { 2 * random() - 1, 2 * random() - 1 } end
  return points, rounding, function(m, ds) m:add_polygon(ds, points, rounding) end
end

local function placed(points, q)
  local list, c, s = {}, cos(q[3]), sin(q[3])
  for i, p in ipairs(points) do list[i] = { q[1] + c * p[1] - s * p[2], q[2] + s * p[1] + c * p[2] } end
  return list
end

-- The separation along the direction n, from b to a.
local function along(a, b, nx, ny)
  local least, most = math.huge, -math.huge
  for _, p in ipairs(a) do least = math.min(least, p[1] * nx + p[2] * ny) end
  for _, p in ipairs(b) do most = math.max(most, p[1] * nx + p[2] * ny) end
  return least - most
end

-- The largest separation over all directions: the distance, below 0 the depth. It is found in steps of angles and by the
-- golden section near the best ones.
local function separation(a, b)
  local best, at = -math.huge, 0
  local function f(angle) return along(a, b, cos(angle), sin(angle)) end
  for i = 1, 720 do
    local d = f(i * math.pi / 360)
    if d > best then best, at = d, i * math.pi / 360 end
  end
  local low, high = at - math.pi / 360, at + math.pi / 360
  for _ = 1, 60 do
    local p, q = low + (high - low) / 3, high - (high - low) / 3
    if f(p) > f(q) then high = q else low = p end
  end
  return math.max(best, f((low + high) / 2))
end

describe("shapes in the plane", function()
  it("touch where they are near, with the distance as the least gap", function()
    math.randomseed(8)
    local near, apart = 0, 0
    for _ = 1, campaign(60, 1) do
      local points_a, Ra, add_a = random_shape()
      local points_b, Rb, add_b = random_shape()
      local qa, qb = { 3 * random() - 1.5, 3 * random() - 1.5, 7 * random() }, { 0, 0, 7 * random() }
      local core = separation(placed(points_a, qa), placed(points_b, qb))
      local d = core - Ra - Rb
      local reach = 0.4
      local a, b = body(qa), body(qb)
      local simu, nsds = simulate(1, 0.1, { a, b })
      local contacts = ns.contact.manager { nsds = nsds, law = law, reach = reach }
      add_a(contacts, a)
      add_b(contacts, b)
      local count, least = contacts:update(), math.huge
      if count > 0 then simu:initialize() end
      for _, inter in ipairs(contacts:interactions()) do least = math.min(least, inter:y(0)[1]) end
      if d > reach + 1e-9 then
        apart = apart + 1
        assert.equal(0, count)
      elseif #points_a > 2 or #points_b > 2 or core > 0 then -- disks and capsules do not touch from inside of each other
        near = near + 1
        assert.is_true(count >= 1 and count <= 4)
        assert.near(d, least, 1e-7)
      end
    end
    assert.is_true(near > 15 and apart > 5)
  end)

  -- The rows are velocities of the bodies' points: two bodies that move as one have none at a contact that is closed.
  it("have the rates of their gaps in their first rows, and no slip where two bodies move as one", function()
    math.randomseed(9)
    local looked = 0
    for _ = 1, campaign(40, 1) do
      local _, _, add_a = random_shape()
      local _, _, add_b = random_shape()
      local q = { { 2.4 * random() - 1.2, 2.4 * random() - 1.2, 7 * random() }, { 0, 0, 7 * random() } }
      local v = { { random(), random(), random() }, { random(), random(), random() } }
      local w = random()
      local function manage(qa, va, qb, vb)
        local a, b = body(qa, va), body(qb, vb)
        local simu, nsds = simulate(1, 0.1, { a, b })
        local contacts = ns.contact.manager { nsds = nsds, law = law, reach = 0.5 }
        add_a(contacts, a)
        add_b(contacts, b)
        local list = {}
        if contacts:update() > 0 then simu:initialize() end
        for _, inter in ipairs(contacts:interactions()) do
          list[inter:name()] = { inter:y(0)[1], inter:y(1)[1], inter:y(1)[2] }
        end
        return list
      end
      local d = 1e-6
      local function moved(k, sign)
        return { q[k][1] + sign * d * v[k][1], q[k][2] + sign * d * v[k][2], q[k][3] + sign * d * v[k][3] }
      end
      local now = manage(q[1], v[1], q[2], v[2])
      local later, before = manage(moved(1, 1), v[1], moved(2, 1), v[2]), manage(moved(1, -1), v[1], moved(2, -1), v[2])
      local as_one = manage(q[1], { -w * q[1][2], w * q[1][1], w }, q[2], { 0, 0, w })
      for name, one in pairs(now) do
        if later[name] and before[name] and as_one[name] and name:find "point" then
          looked = looked + 1
          assert.near((later[name][1] - before[name][1]) / (2 * d), one[2], 1e-5)
          assert.near(0, as_one[name][2], 1e-12)
          assert.near(w * one[1], math.abs(as_one[name][3]), 1e-12 + 2 * w * math.max(0, -one[1]))
        end
      end
    end
    assert.is_true(looked > 10)
  end)

  -- Contacts are looked for between steps: one of two corners has to hold when one corner has come over a side.
  it("of two corners have the distance of the shapes also where a step has brought one over a side", function()
    math.randomseed(11)
    local looked, over = 0, 0
    for _ = 1, campaign(1200, 1) do
      local points_a, Ra, add_a = random_shape()
      local points_b, Rb, add_b = random_shape()
      local qb, turn, way, gap = { 0, 0, 7 * random() }, 7 * random(), 7 * random(), 0.1 * random()
      local p, r = placed({ points_a[1] }, { 0, 0, turn })[1], placed({ points_b[1] }, qb)[1]
      local off = Ra + Rb + gap
      local qa = { r[1] - p[1] + off * cos(way), r[2] - p[2] + off * sin(way), turn }
      local a, b = body(qa, { 2 * random() - 1, 2 * random() - 1, random() - 0.5 }), body(qb)
      local simu, nsds = simulate(0.1, 0.1, { a, b })
      local contacts = ns.contact.manager { nsds = nsds, law = law, reach = 0.4 }
      add_a(contacts, a)
      add_b(contacts, b)
      local inter = contacts:update() == 1 and contacts:interactions()[1]
      if inter and inter:name():find "point_point" and #points_a + #points_b > 3
        and separation(placed(points_a, qa), placed(points_b, qb)) > Ra + Rb then
        for _ in simu:steps() do end
        local core = separation(placed(points_a, a:q()), placed(points_b, b:q()))
        looked = looked + 1
        assert.near(core - Ra - Rb, inter:y(0)[1], 1e-7)
        contacts:update()
        local now = contacts:interactions()[1]
        if now and now:name():find "face" then over = over + 1 end
      end
    end
    assert.is_true(looked > 50 and over > 5)
  end)

  -- One step of the grid: at t = 0.1 the corner, or the disk, comes down on the side, beyond the corner that is nearest first.
  for name, fall in pairs {
    ["a disk"] = { { 0.55, 0.605 }, -0.05, function(m, ds) m:add_disk(ds, 0.1) end, 0.1 },
    ["a corner"] = { { 0.55, 0.66 }, -0.6, function(m, ds)
      m:add_polygon(ds, { { 0, 0.1 }, { 0.1, 0 }, { 0, -0.1 }, { -0.1, 0 } })
    end, 0.1 },
  } do
    it("stop " .. name .. " that comes over a side within a step of EventDriven", function()
      local q = fall[1]
      local ds = body({ q[1], q[2], 0 }, { -1, fall[2], 0 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.5)
      nsds:insertDynamicalSystem(ds)
      local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0, 2), reach = 0.3 }
      contacts:add_polygon(nil, { { -0.5, -0.5 }, { 0.5, -0.5 }, { 0.5, 0.5 }, { -0.5, 0.5 } })
      fall[3](contacts, ds)
      contacts:update()
      assert.matches("point_point", contacts:interactions()[1]:name())
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.25), ns.RungeKuttaOSI(1e-9, 1e-9))
      for _ in simu:steps() do contacts:update() end
      assert.near(q[1] - 0.5, ds:q()[1], 1e-9)
      assert.near(0.5 + fall[4], ds:q()[2], 1e-9)
      assert.near(0, ds:velocity()[2], 1e-9)
    end)
  end

  -- The end of a side within a step of EventDriven: the way does not depend on the steps between which contacts are looked for.
  local square = { { -0.5, -0.5 }, { 0.5, -0.5 }, { 0.5, 0.5 }, { -0.5, 0.5 } }
  local movers = {
    disk = function(m, ds) m:add_disk(ds, 0.1) end,
    diamond = function(m, ds) m:add_polygon(ds, { { 0.1, 0 }, { 0, 0.1 }, { -0.1, 0 }, { 0, -0.1 } }) end,
    box = function(m, ds) m:add_box(ds, 0.2, 0.1) end,
    ["rounded box"] = function(m, ds)
      m:add_polygon(ds, { { 0.1, 0.05 }, { -0.1, 0.05 }, { -0.1, -0.05 }, { 0.1, -0.05 } }, 0.02)
    end,
    capsule = function(m, ds) m:add_capsule(ds, 0.05, 0.2) end,
  }
  local function throw(add_fixed, add, q, v, mu, h)
    local ds = ns.LagrangianLinearTIDS(q, v, ns.diag { 1, 1, 0.01 })
    ds:setFExtPtr { 0, -g, 0 }
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.4)
    nsds:insertDynamicalSystem(ds)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, mu, 2), reach = 0.6 }
    add_fixed(contacts)
    add(contacts, ds)
    contacts:update()
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-9, 1e-9))
    for _ in simu:steps() do contacts:update() end
    return ds:q()
  end
  for mover, add in pairs(movers) do
    it(("let a %s pass the end of a side within a step of EventDriven"):format(mover), function()
      math.randomseed(5)
      local passed = 0
      for k = 1, campaign(6, 1) do
        local q = { 0.2 + 0.3 * random(), 0.65 + 0.2 * random(), random() - 0.5 }
        local v = { 0.5 + 2 * random(), -2 * random(), 2 * random() - 1 }
        local function fixed(m) m:add_polygon(nil, square, k % 3 == 0 and 0.05 or 0) end
        local few, many = throw(fixed, add, q, v, k % 2 * 0.3, 0.1), throw(fixed, add, q, v, k % 2 * 0.3, 0.004)
        for i = 1, 3 do assert.near(many[i], few[i], 1e-6) end
        if few[1] > 0.55 then passed = passed + 1 end
      end
      assert.is_true(passed >= 3)
    end)
  end

  it("slide off the end of a side at the time at which their corner passes it", function()
    local x, speed = 0.3, 1.5 -- a box that is pushed down flat, without friction: it tips from when its centre has passed
    local log
    local function run(h)
      local ds = body({ x, 0.55, 0 }, { speed, 0, 0 }, { 0, -g, 0 })
      local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
      nsds:insertDynamicalSystem(ds)
      local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0, 2), reach = 0.3 }
      contacts:add_polygon(nil, square)
      contacts:add_box(ds, 0.2, 0.1)
      contacts:update()
      local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, h), ns.RungeKuttaOSI(1e-10, 1e-10))
      for _ in simu:steps() do contacts:update() end
      log = simu:events()
      return ds:q()
    end
    local few, many = run(0.3), run(0.003)
    for i = 1, 3 do assert.near(many[i], few[i], 1e-7) end
    assert.is_true(few[3] < -0.02) -- it has tipped
    local release
    for _, event in ipairs(log) do release = release or (event.kind == "release" and event.t) end
    assert.near((0.5 - x) / speed, release, 1e-9)
  end)

  it("have no derivatives behind a sharp corner that slides off a side: an error says so", function()
    local ds = body({ 0.45, 0.6, math.pi / 4 }, { 1, 0, 0 }, { 0, -g, 0 })
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.3)
    nsds:insertDynamicalSystem(ds)
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0, 2), reach = 0.3 }
    contacts:add_polygon(nil, square)
    contacts:add_box(ds, 0.2 / math.sqrt(2), 0.2 / math.sqrt(2))
    contacts:update()
    local simu = ns.EventDriven(nsds, ns.TimeDiscretisation(0, 0.3), ns.RungeKuttaOSI(1e-9, 1e-9))
    local good, message = pcall(simu.run, simu, { sensitivities = { { ds, "velocity0", 1 } } })
    assert.is_false(good)
    assert.matches("the gap of '.*' has a kink: what follows has no derivatives here", message)
  end)

  it("stand as a tower of boxes, on a polygon of the world", function()
    local bodies = {}
    for k = 1, 5 do bodies[k] = body({ 0.05 * k, k - 0.5, 0 }, nil, { 0, -g, 0 }) end
    local simu, nsds = simulate(0.5, 5e-3, bodies)
    local contacts = ns.contact.manager { nsds = nsds, law = law, reach = 0.05 }
    contacts:add_polygon(nil, { { -3, 0 }, { 3, 0 }, { 2, -1 }, { -2, -1 } })
    for _, ds in ipairs(bodies) do contacts:add_box(ds, 1, 1) end
    assert.equal(10, contacts:update())
    for _ in simu:steps() do contacts:update() end
    for k, ds in ipairs(bodies) do
      for i, x in ipairs { 0.05 * k, k - 0.5, 0 } do assert.near(x, ds:q()[i], 1e-9) end
    end
  end)

  it("keep momentum and angular momentum when a corner hits a side", function()
    local a, b = body({ 0, 0, 0.3 }, { 1, 0.2, 1 }), body({ 1.3, 0.2, 1.1 }, { -1, 0, 0 })
    local simu, nsds = simulate(0.6, 1e-3, { a, b })
    local contacts = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0.4, 0, 0.3, 2), reach = 0.05 }
    contacts:add_box(a, 1, 1)
    contacts:add_polygon(b, { { 0.5, 0 }, { -0.4, 0.4 }, { -0.4, -0.4 } })
    local function angular()
      local sum = 0
      for _, ds in ipairs { a, b } do
        local q, v = ds:q(), ds:velocity()
        sum = sum + q[1] * v[2] - q[2] * v[1] + v[3] / 6
      end
      return sum
    end
    local before, hit = angular(), 0
    contacts:update()
    for _ in simu:steps() do
      contacts:update()
      for _, inter in ipairs(contacts:interactions()) do hit = math.max(hit, inter:lambda(1)[1]) end
    end
    assert.is_true(hit > 0.1)
    assert.near(0, a:velocity()[1] + b:velocity()[1], 1e-12)
    assert.near(0.2, a:velocity()[2] + b:velocity()[2], 1e-12)
    assert.near(before, angular(), 2e-2 * hit) -- the gap at the impact has a lever: a step's way
  end)

  it("say what is wrong", function()
    local ds = body { 0, 0, 0 }
    local _, nsds = simulate(1, 0.1, { ds })
    local m = ns.contact.manager { nsds = nsds, law = law, reach = 0.1 }
    local t = { { 0, 0 }, { 1, 0 }, { 0, 1 } }
    for text, f in pairs {
      ["add_polygon: points: expected a list of at least three points, got an empty table"] = function() m:add_polygon(ds, {}) end,
      ["add_polygon: points%[2%]: expected two finite numbers, got 3"] = function() m:add_polygon(ds, { t[1], 3, t[2] }) end,
      ["add_polygon: points%[3%]: expected two finite numbers, got { 0, 1, 5 }"] = function()
        m:add_polygon(ds, { t[1], t[2], { 0, 1, 5 } })
      end,
      ["add_polygon: points%[2%]: expected two finite numbers, got nil"] = function()
        m:add_polygon(ds, { t[1], nil, t[2], t[3] })
      end,
      ["add_polygon: rounding: expected a number, 0 or more, got %-1"] = function() m:add_polygon(ds, t, -1) end,
      ["polygon: expected points that are not all on a line"] = function()
        m:add_polygon(ds, { t[1], t[2], { 3, 0 } })
      end,
      ["add_disk: ds: expected a mechanical system with the coordinates %(x, y, angle%), got nil"] = function()
        m:add_disk(nil, 1)
      end,
    } do assert.error_matches(f, text) end
  end)
end)
